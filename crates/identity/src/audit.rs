//! What happened to accounts and by whom: written with what it tells of, read by those who run the site.

use crate::{Core, Identity, member::Move};
use serde::Serialize;
use std::net::IpAddr;
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, SessionId, SiteId};
use stoa_sql::{Writer, params};
use stoa_store::{Lane, Site, Tx, boxed};

/// What is noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Registered,
    SignedIn,
    Created,
    Changed,
    PasswordChanged,
    /// Those who run the site want another password.
    PasswordRefused,
    /// It was of somebody who may not have had the address that an app vouches for.
    PasswordDropped,
    Imported,
    Moved(Move),
    /// Tries at an account have to wait from now on, except in browsers that it knows.
    SignInSlowed,
    /// Somebody who runs the site signed in.
    PersonSignedIn,
    /// A member's sessions were ended from the list of them.
    SessionsEnded,
    /// A refresh token came a second time: its sessions ended.
    TokenReused,
}

impl Event {
    fn name(self) -> String {
        match self {
            Self::Registered => "member_register".to_owned(),
            Self::SignedIn => "member_sign_in".to_owned(),
            Self::Created => "member_create".to_owned(),
            Self::Changed => "member_change".to_owned(),
            Self::PasswordChanged => "password_change".to_owned(),
            Self::PasswordRefused => "password_refuse".to_owned(),
            Self::PasswordDropped => "password_drop".to_owned(),
            Self::Imported => "member_import".to_owned(),
            Self::Moved(step) => format!("member_{}", step.name()),
            Self::SignInSlowed => "sign_in_slowed".to_owned(),
            Self::PersonSignedIn => "person_sign_in".to_owned(),
            Self::SessionsEnded => "session_end".to_owned(),
            Self::TokenReused => "token_reuse".to_owned(),
        }
    }
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub id: String,
    /// UTC milliseconds.
    pub created: Millis,
    pub event: String,
    pub actor_kind: String,
    pub actor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// Which entries are wanted: those that are all of this, at most `limit`.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    pub member: Option<String>,
    /// The name of the event, for example `member_sign_in`.
    pub event: Option<String>,
    pub since: Option<Millis>,
    pub before: Option<Millis>,
    pub limit: u32,
}

/// Writes an entry inside the transaction that it tells of.
pub(crate) async fn note(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    event: Event,
    actor: &Caller,
    member: Option<&MemberId>,
    address: Option<IpAddr>,
) -> Result<()> {
    let actor_id = match actor {
        Caller::Visitor { id, .. } => id.as_str(),
        Caller::Member { id, .. } => id.as_str(),
        Caller::User { id, .. } => id.as_str(),
        Caller::App { id } => id.as_str(),
    };
    let sql = "insert into stoa.audit (site, id, created, event, actor_kind, actor, member, address) \
               values ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = params![
        site,
        core.world().uuid(),
        core.now(),
        event.name(),
        actor.identity_type(),
        actor_id,
        member,
        address.map(|it| it.to_string())
    ];
    tx.send(sql, values).await?;
    Ok(())
}

/// A member who does something to their own account.
pub(crate) fn oneself(id: &MemberId) -> Caller {
    Caller::Member { id: id.clone(), session: SessionId::from(""), client: None }
}

impl Identity {
    /// Entries, the latest first.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner.
    pub async fn audit_list(&self, site: &Site, caller: &Caller, query: AuditQuery) -> Result<Vec<Entry>> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let site_id = site.id.clone();
        // Entries of one event among many others have to be looked for.
        let lane = if query.event.is_some() { Lane::Scan } else { Lane::Point };
        site.read(lane, move |tx| {
            boxed!({
                let AuditQuery { member, event, since, before, limit } = query;
                let mut sql = Writer::new(tx.dialect());
                sql.push("select id, created, event, actor_kind, actor, member, address from stoa.audit where site = ");
                sql.bind(&site_id);
                if let Some(member) = member {
                    sql.push(" and member = ").bind(member);
                }
                if let Some(event) = event {
                    sql.push(" and event = ").bind(event);
                }
                if let Some(since) = since {
                    sql.push(" and created >= ").bind(since);
                }
                if let Some(before) = before {
                    sql.push(" and created < ").bind(before);
                }
                sql.push(" order by created desc, id desc limit ").bind(limit.clamp(1, 1_000));
                let (text, values) = sql.finish();
                let read = |row: &stoa_store::Row<'_>| {
                    Ok(Entry {
                        id: row.get(0)?,
                        created: row.get(1)?,
                        event: row.get(2)?,
                        actor_kind: row.get(3)?,
                        actor: row.get(4)?,
                        member: row.get(5)?,
                        address: row.get(6)?,
                    })
                };
                Ok(tx.rows(&text, &values, read).await?)
            })
        })
        .await
    }
}
