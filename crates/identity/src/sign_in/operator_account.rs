//! What those who run sites do with their own account: choose another password, see where they are signed in, end it
//! there. An operator has one password for all sites of the installation, and sees the sessions of all.

use crate::{
    Core, Identity, audit,
    defence::attempt::{self, Attempt},
    mail::{self, Message, QueuedMessage, Task, enqueue},
    operator::{Operator, OperatorSession},
    session::Ending,
    sign_in::{
        login,
        new_password::{self, Person},
        operator_factor::proof,
        operator_password,
    },
    token::revocation,
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Fault, Millis, Result, Secret, SessionId, SiteId, UserId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Sessions that are listed at most: the one that asks and the latest.
const MOST: i64 = 100;

/// A browser in which an operator is signed in to a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorBrowser {
    pub id: SessionId,
    pub site: SiteId,
    pub site_name: String,
    /// For example `Firefox · Linux`; absent when it is not known.
    pub device: Option<String>,
    /// The network address from which it began; absent of those that an earlier version made.
    pub address: Option<String>,
    pub created: Millis,
    /// It is the one that asks.
    pub is_current: bool,
}

impl Identity {
    /// Where an operator is signed in, at all sites: the session that asks, however old, and then the latest ones.
    pub async fn operator_browsers(&self, session: &OperatorSession) -> Result<Vec<OperatorBrowser>> {
        let (person, current, now) = (session.operator.id.clone(), session.id.clone(), self.core.now());
        let idle_since = now - self.core.config().operator_idle;
        let sql = "select s.id, s.site, t.name, s.device, s.created, s.address from stoa.person_session s \
                   join stoa.person_role r on r.person = s.person and r.site = s.site \
                   join stoa.site t on t.id = s.site \
                   where s.person = $1 and s.ended is null and s.expires > $2 \
                   and coalesce(s.used, s.created) > $3 and t.deleted is null \
                   order by case when s.id = $4 then 0 else 1 end, s.created desc, s.id limit $5";
        let read = self.core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let values = params![&person, now, idle_since, &current, MOST];
                let rows = tx.rows(sql, &values, |row| {
                    let (id, site) = (SessionId::from(row.text(0)?), SiteId::from(row.text(1)?));
                    let is_current = id == current;
                    let (site_name, device, created, address) = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
                    Ok(OperatorBrowser { id, site, site_name, device, address, created, is_current })
                });
                Ok(rows.await?)
            })
        });
        read.await
    }

    /// Ends one of an operator's own sessions, or all but the one that asks. Their tokens are refused from now on.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a session that is not theirs or has ended.
    pub async fn operator_browsers_end(&self, session: &OperatorSession, ending: Ending<'_>) -> Result<()> {
        let core = &self.core;
        let one = match ending {
            Ending::One(id) => Some(SessionId::from(id)),
            Ending::Others => None,
        };
        let (now, end) = (core.now(), revocation::end(core));
        let written = core.store().catalog().write_with((session.clone(), one), move |tx, (session, one)| {
            boxed!({
                let person = &session.operator.id;
                let ended = match one {
                    Some(one) => end_one(tx, person, one, now).await?,
                    None => end_all(tx, person, Some(&session.id), now).await?,
                };
                if one.is_some() && ended.is_empty() {
                    return Err(Fault::new(Code::NotFound));
                }
                for id in &ended {
                    revocation::insert(tx, id.as_str(), now, end).await?;
                }
                Ok(ended)
            })
        });
        revocation::announce_sessions(core, &written.await?).await
    }

    /// Sets an operator's password, who shows the one that was, and has lately shown in this session a second factor where they have
    /// one. All other sessions end, and all recovery links.
    ///
    /// # Errors
    /// [`Code::ProofNeeded`]; [`Code::Validation`] for the new password; [`Code::PasswordWrong`] for the old one; [`Code::Throttled`].
    pub async fn operator_password_change(
        &self,
        session: &OperatorSession,
        attempt: &Attempt,
        old: &Secret,
        new: &Secret,
    ) -> Result<()> {
        let (core, operator) = (&self.core, &session.operator);
        proof::require_of_enrolled(core, &operator.id, &session.id).await?;
        let site = core.store().site(&session.site).await?;
        let person = Person { email: &operator.email, profile: None };
        if let Some(violation) = new_password::violation_for(core, &site, person, new, "password").await? {
            return Err(Fault::invalid(vec![violation]));
        }
        let stored = operator_password::confirm(core, &site, operator, attempt, old).await?;
        let share = core.passwords.share(attempt.address, site.id.as_str(), &operator.device_subject());
        let hash = login::hash_password(core, share, new, "password").await?;
        let (now, end) = (core.now(), revocation::end(core));
        let written = core.store().catalog().write_with((session.clone(), stored, hash), move |tx, input| {
            boxed!({
                let (OperatorSession { id, operator, .. }, stored, hash) = input;
                let sql = "select 1 from stoa.person where id = $1 and password_hash = $2";
                // Set meanwhile in another way: this one was not compared with it.
                tx.row(sql, &params![&operator.id, stored.clone()], |_| Ok(()))
                    .await?
                    .ok_or_else(|| Fault::new(Code::PasswordWrong))?;
                set(tx, &operator.id, hash, Some(id), now, end).await
            })
        });
        finish(core, &site, operator, written.await?, attempt.address).await
    }
}

/// What a new password has changed.
pub(super) struct PasswordSet {
    /// Sessions that have ended.
    sessions: Vec<SessionId>,
    /// Where the operator has a role.
    sites: Vec<SiteId>,
}

/// Sets an operator's password inside a transaction of the catalogue: all links end, and all sessions but `keep`.
pub(super) async fn set(
    tx: &mut Tx<'_>,
    person: &UserId,
    hash: &str,
    keep: Option<&SessionId>,
    now: Millis,
    end: Millis,
) -> Result<PasswordSet> {
    tx.send("update stoa.person_link set used = $1 where person = $2 and used is null", params![now, person]).await?;
    tx.send("update stoa.person set password_hash = $1 where id = $2", params![hash, person]).await?;
    let sessions = end_all(tx, person, keep, now).await?;
    for session in &sessions {
        revocation::insert(tx, session.as_str(), now, end).await?;
    }
    let sql = "select site from stoa.person_role where person = $1";
    let sites = tx.rows(sql, &params![person], |row| Ok(SiteId::from(row.text(0)?))).await?;
    Ok(PasswordSet { sessions, sites })
}

/// What follows from [`set`] once it is durable: no one waits for others' guesses any more, and the owner of the
/// address is told.
pub(super) async fn finish(
    core: &Arc<Core>,
    site: &Arc<Site>,
    operator: &Operator,
    done: PasswordSet,
    from: IpAddr,
) -> Result<()> {
    let announced = revocation::announce_sessions(core, &done.sessions).await;
    attempt::unlock_operator(core, &done.sites, operator);
    site.write_with((core.clone(), site.id.clone(), operator.clone()), move |tx, (core, site, operator)| {
        boxed!({
            let (event, actor) = (audit::Event::OperatorPasswordChanged, audit::Actor::Operator(&operator.id));
            let entry = audit::Entry { event, actor, member: None, address: Some(from), detail: None };
            audit::record(core, tx, site, entry).await?;
            let message = Message::OperatorPasswordChanged { at: core.now() };
            let message = QueuedMessage { to: operator.email.clone(), language: None, own_language: None, message };
            enqueue(core, tx, site, None, &Task::Message(message)).await
        })
    })
    .await?;
    mail::deliver_soon(core, &site.id).await;
    // The password is set and told of, also where other nodes could not be waited for.
    announced
}

async fn end_one(tx: &mut Tx<'_>, person: &UserId, session: &SessionId, now: Millis) -> Result<Vec<SessionId>> {
    let sql = "update stoa.person_session set ended = $1 where person = $2 and ended is null and id = $3 returning id";
    Ok(tx.rows(sql, &params![now, person, session], |row| Ok(SessionId::from(row.text(0)?))).await?)
}

async fn end_all(tx: &mut Tx<'_>, person: &UserId, keep: Option<&SessionId>, now: Millis) -> Result<Vec<SessionId>> {
    let sql = "update stoa.person_session set ended = $1 where person = $2 and ended is null and id <> $3 returning id";
    let keep = keep.map_or("", SessionId::as_str);
    Ok(tx.rows(sql, &params![now, person, keep], |row| Ok(SessionId::from(row.text(0)?))).await?)
}
