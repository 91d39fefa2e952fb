//! What happened to accounts and by whom: written in the transaction of the event, read by the operators of the site.

use crate::{Core, Identity, member::Move};
use serde::Serialize;
use std::net::IpAddr;
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, SiteId, UserId, VisitorId};
use stoa_sql::{Writer, params};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Registered,
    SignedIn,
    Created,
    Changed,
    PasswordChanged,
    /// Operators of the site want another password.
    PasswordRefused,
    /// It was of a person who may not have had the address that an app vouches for.
    PasswordDropped,
    Imported,
    Moved(Move),
    /// Tries at an account have to wait from now on, except in browsers that it knows.
    SignInSlowed,
    /// An operator signed in.
    OperatorSignedIn,
    /// An operator chose another password with a recovery link.
    OperatorPasswordChanged,
    /// A member's sessions were ended from the list of them.
    SessionsEnded,
    /// A member agreed to what an application of others asks for.
    ApplicationAllowed,
    /// A member signed off an application of others.
    ApplicationEnded,
    /// A refresh token came a second time: its sessions ended.
    TokenReused,
    FactorAdded,
    FactorRemoved,
    /// A second factor has another name.
    FactorRenamed,
    /// An identity provider signs a member in from now on.
    ConnectionAdded,
    /// A member signs in by an identity provider no more.
    ConnectionRemoved,
    /// An identity provider has signed in.
    ConnectionUsed,
    /// A connection of the site to an identity provider was made, changed or removed; the detail is its name.
    ProviderChanged,
    /// A passkey has signed in, without a password.
    PasskeyUsed,
    /// A passkey was refused whose counter had not grown: there is a copy of it.
    PasskeyCopied,
    /// A question in an enrolled browser was denied, or answered by a wrong number; the detail says which.
    PushDenied,
    /// Operators of the site took all second factors of a member away.
    FactorsReset,
    RecoveryCodesRenewed,
    RecoveryCodeUsed,
    /// Answers to the question for a second factor have to wait from now on.
    FactorSlowed,
    /// A second factor is asked for in every browser again.
    BrowsersForgotten,
    /// A member has given the account another address, which they have shown to be theirs.
    EmailChanged,
    /// It has the address of before again, by the link that was sent there.
    EmailChangeUndone,
    /// A member wants the account to be deleted: it goes after some days.
    DeletionAsked,
    /// It stays, by the link that the member got or by those who run the site.
    DeletionUndone,
    /// A member has taken a copy of what is known of them.
    DataExported,
    /// An owner acts as a member from now on; the detail says how far, and why.
    ImpersonationStarted,
    /// No owner acts as the member any more.
    ImpersonationEnded,
    /// An owner who may change items as a member made a call that can; the detail is its route.
    ImpersonationWrote,
    /// What the site says of second factors; the detail says from what to what.
    FactorPolicyChanged,
    /// How far owners may act as members, and whether these are told; the detail says from what to what.
    ImpersonationPolicyChanged,
    /// In whose name messages are sent, or the domains in which a site's own address may be.
    MailSenderChanged,
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
            Self::OperatorSignedIn => "operator_sign_in".to_owned(),
            Self::OperatorPasswordChanged => "operator_password_change".to_owned(),
            Self::SessionsEnded => "session_end".to_owned(),
            Self::ApplicationAllowed => "application_allow".to_owned(),
            Self::ApplicationEnded => "application_end".to_owned(),
            Self::TokenReused => "token_reuse".to_owned(),
            Self::FactorAdded => "factor_add".to_owned(),
            Self::FactorRemoved => "factor_remove".to_owned(),
            Self::FactorRenamed => "factor_rename".to_owned(),
            Self::ConnectionAdded => "connection_add".to_owned(),
            Self::ConnectionRemoved => "connection_remove".to_owned(),
            Self::ConnectionUsed => "connection_use".to_owned(),
            Self::ProviderChanged => "provider_change".to_owned(),
            Self::PasskeyUsed => "passkey_use".to_owned(),
            Self::PasskeyCopied => "passkey_copy".to_owned(),
            Self::PushDenied => "push_deny".to_owned(),
            Self::FactorsReset => "factor_reset".to_owned(),
            Self::RecoveryCodesRenewed => "recovery_code_renew".to_owned(),
            Self::RecoveryCodeUsed => "recovery_code_use".to_owned(),
            Self::FactorSlowed => "factor_slowed".to_owned(),
            Self::BrowsersForgotten => "remembered_browser_forget".to_owned(),
            Self::EmailChanged => "email_change".to_owned(),
            Self::EmailChangeUndone => "email_change_undo".to_owned(),
            Self::DeletionAsked => "deletion_ask".to_owned(),
            Self::DeletionUndone => "deletion_undo".to_owned(),
            Self::DataExported => "data_export".to_owned(),
            Self::ImpersonationStarted => "impersonation_start".to_owned(),
            Self::ImpersonationEnded => "impersonation_end".to_owned(),
            Self::ImpersonationWrote => "impersonation_write".to_owned(),
            Self::FactorPolicyChanged => "factor_policy_change".to_owned(),
            Self::ImpersonationPolicyChanged => "impersonation_policy_change".to_owned(),
            Self::MailSenderChanged => "mail_sender_change".to_owned(),
        }
    }
}

/// An entry of the log, as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
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
    /// Why it was done, or by which call. It goes with the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
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

/// The actor of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Actor<'a> {
    Caller(&'a Caller),
    /// A visitor; `None` when it is not known which one.
    Visitor(Option<&'a VisitorId>),
    Member(&'a MemberId),
    Operator(&'a UserId),
}

impl Actor<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Caller(caller) => caller.identity_type(),
            Self::Visitor(_) => "ANONYMOUS_VISITOR",
            Self::Member(_) => "MEMBER",
            Self::Operator(_) => "WIX_USER",
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Caller(caller) => caller.id(),
            Self::Visitor(id) => id.map_or("", VisitorId::as_str),
            Self::Member(id) => id.as_str(),
            Self::Operator(id) => id.as_str(),
        }
    }
}

/// An entry to be recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub event: Event,
    pub actor: Actor<'a>,
    /// The member it is about.
    pub member: Option<&'a MemberId>,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// Why it was done, or by which call.
    pub detail: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// What a caller did to a member.
    pub(crate) fn by(caller: &'a Caller, event: Event, member: &'a MemberId) -> Self {
        Self { event, actor: Actor::Caller(caller), member: Some(member), address: None, detail: None }
    }

    /// What somebody who runs the site did to a member.
    pub(crate) fn by_operator(operator: &'a UserId, event: Event, member: &'a MemberId) -> Self {
        Self { event, actor: Actor::Operator(operator), member: Some(member), address: None, detail: None }
    }

    /// What a member did to their own account.
    pub(crate) fn by_oneself(member: &'a MemberId, event: Event) -> Self {
        Self { event, actor: Actor::Member(member), member: Some(member), address: None, detail: None }
    }

    pub(crate) fn at_address(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    pub(crate) fn with_detail(self, detail: &'a str) -> Self {
        Self { detail: Some(detail), ..self }
    }
}

/// Writes an entry inside the transaction that it tells of.
pub(crate) async fn record(core: &Core, tx: &mut Tx<'_>, site: &SiteId, entry: Entry<'_>) -> Result<()> {
    let sql = "insert into stoa.audit (site, id, created, event, actor_kind, actor, member, address, detail) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = params![
        site,
        core.world().uuid(),
        core.now(),
        entry.event.name(),
        entry.actor.kind(),
        entry.actor.id(),
        entry.member,
        entry.address.map(|it| it.to_string()),
        entry.detail
    ];
    tx.send(sql, values).await?;
    Ok(())
}

/// Forgets inside a transaction what was written in words about a member who goes.
pub(crate) async fn forget(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    let sql = "update stoa.audit set detail = null where site = $1 and member = $2 and detail is not null";
    tx.send(sql, params![site, member]).await?;
    Ok(())
}

impl Identity {
    /// Entries, the latest first.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner.
    pub async fn audit_list(&self, site: &Site, caller: &Caller, query: AuditQuery) -> Result<Vec<Record>> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let site_id = site.id.clone();
        // Entries of one event among many others have to be searched for.
        let pool = if query.event.is_some() { ReaderPool::Scan } else { ReaderPool::Point };
        site.read(pool, move |tx| {
            boxed!({
                let AuditQuery { member, event, since, before, limit } = query;
                let mut sql = Writer::new(tx.dialect());
                sql.push("select id, created, event, actor_kind, actor, member, address, detail from stoa.audit where site = ");
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
                    Ok(Record {
                        id: row.get(0)?,
                        created: row.get(1)?,
                        event: row.get(2)?,
                        actor_kind: row.get(3)?,
                        actor: row.get(4)?,
                        member: row.get(5)?,
                        address: row.get(6)?,
                        detail: row.get(7)?,
                    })
                };
                Ok(tx.rows(&text, &values, read).await?)
            })
        })
        .await
    }
}
