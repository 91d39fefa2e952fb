//! What those who run the installation do with the people who run a site: list them, give other roles, take the site
//! away, end sessions, refuse passwords. A site that has an owner keeps at least one.
//!
//! Whatever takes a right away ends the person's sessions on the site in the same transaction: access tokens carry the
//! role, and are refused from then on.

use crate::{
    Identity,
    operator::role::{role_name, role_of},
    session::{self, SessionSelector},
    token::revocation,
};
use stoa_kernel::{Code, Email, Fault, Millis, Result, Role, SessionId, SiteId, UserId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Tx, boxed};

/// A person who runs a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorEntry {
    pub email: String,
    pub role: Role,
    pub has_password: bool,
    /// Browsers in which they are signed in to the site.
    pub sessions: i64,
}

/// An invitation that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invited {
    /// Absent in a link that is for the first owner.
    pub email: Option<String>,
    pub role: Role,
    pub expires: Millis,
}

/// A person at a site, inside a transaction.
struct Seat {
    person: UserId,
    role: Role,
}

impl Identity {
    /// The people who run a site, by address.
    pub async fn operator_list(&self, site: &SiteId) -> Result<Vec<OperatorEntry>> {
        let (site, now) = (site.clone(), self.core.now());
        let idle_since = now - self.core.config().operator_idle;
        let sql = "select p.email, r.role, p.password_hash is not null, \
                   (select count(*) from stoa.person_session s where s.person = r.person and s.site = r.site \
                    and s.ended is null and s.expires > $1 and coalesce(s.used, s.created) > $2) \
                   from stoa.person_role r join stoa.person p on p.id = r.person \
                   where r.site = $3 order by p.email_folded";
        let read = self.core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let values = params![now, idle_since, &site];
                let rows = tx.rows(sql, &values, |row| {
                    let has_password = row.get(2)?;
                    let (email, role) = (row.get(0)?, role_of(row.text(1)?));
                    Ok(OperatorEntry { email, role, has_password, sessions: row.get(3)? })
                });
                Ok(rows.await?)
            })
        });
        read.await
    }

    /// The invitations of a site that can still be used, the latest first.
    pub async fn invite_list(&self, site: &SiteId) -> Result<Vec<Invited>> {
        let (site, now) = (site.clone(), self.core.now());
        let sql = "select email, role, expires from stoa.invite where site = $1 and used is null and expires > $2 \
                   order by expires desc";
        let read = self.core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let values = params![&site, now];
                let rows = tx.rows(sql, &values, |row| {
                    Ok(Invited { email: row.get(0)?, role: role_of(row.text(1)?), expires: row.get(2)? })
                });
                Ok(rows.await?)
            })
        });
        read.await
    }

    /// Gives a person another role; their sessions on the site end.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a person who has no role there; [`Code::Forbidden`] where no owner would be left.
    pub async fn operator_role_set(&self, site: &SiteId, email: &Email, role: Role) -> Result<()> {
        self.change(site, email, move |tx, site, seat| {
            boxed!({
                if seat.role == Role::Owner && role != Role::Owner {
                    keep_an_owner(tx, site).await?;
                }
                let sql = "update stoa.person_role set role = $1 where person = $2 and site = $3";
                tx.execute(sql, &params![role_name(role), &seat.person, site]).await?;
                Ok(())
            })
        })
        .await
        .map(drop)
    }

    /// Takes a site away from a person: role, sessions and open invitations.
    ///
    /// # Errors
    /// As for [`Identity::operator_role_set`].
    pub async fn operator_remove(&self, site: &SiteId, email: &Email) -> Result<()> {
        let (folded, now) = (email.folded().to_owned(), self.core.now());
        self.change(site, email, move |tx, site, seat| {
            let folded = folded.clone();
            boxed!({
                if seat.role == Role::Owner {
                    keep_an_owner(tx, site).await?;
                }
                let sql = "delete from stoa.person_role where person = $1 and site = $2";
                tx.execute(sql, &params![&seat.person, site]).await?;
                end_invitations(tx, site, &folded, now).await
            })
        })
        .await
        .map(drop)
    }

    /// Ends a person's sessions on a site, and answers how many those were.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a person who has no role there.
    pub async fn operator_sessions_end(&self, site: &SiteId, email: &Email) -> Result<usize> {
        self.change(site, email, |_, _, _| boxed!(Ok(()))).await
    }

    /// Refuses a person's password from now on, on all sites of the installation, and ends their sessions on all. The
    /// next invitation lets them set another one. Answers their role on the site.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a person who has no role on the site.
    pub async fn operator_password_forget(&self, site: &SiteId, email: &Email) -> Result<Role> {
        let core = &self.core;
        let (catalog, now, end) = (core.store().catalog(), core.now(), revocation::end(core));
        let written = catalog.write_with((site.clone(), email.folded().to_owned()), move |tx, (site, folded)| {
            boxed!({
                let seat = find(tx, site, folded).await?;
                let sql = "update stoa.person set password_hash = null where id = $1";
                tx.execute(sql, &params![&seat.person]).await?;
                Ok((seat.role, end_sessions(tx, &seat.person, None, now, end).await?))
            })
        });
        let (role, ended) = written.await?;
        revocation::announce_sessions(core, &ended).await?;
        Ok(role)
    }

    /// Changes a person's place at a site and ends their sessions there, and answers how many those were. What they do as
    /// members ends as well: a role that comes back must not bring it back.
    async fn change<F>(&self, site: &SiteId, email: &Email, change: F) -> Result<usize>
    where
        F: for<'t> Fn(&'t mut Tx<'_>, &'t SiteId, &'t Seat) -> stoa_store::TxFuture<'t, ()> + Send + Sync + 'static,
    {
        let core = &self.core;
        let (catalog, now, end) = (core.store().catalog(), core.now(), revocation::end(core));
        let written = catalog.write_with((site.clone(), email.folded().to_owned(), change), move |tx, it| {
            let (site, folded, change) = it;
            boxed!({
                let seat = find(tx, site, folded).await?;
                change(tx, site, &seat).await?;
                let ended = end_sessions(tx, &seat.person, Some(site), now, end).await?;
                Ok((seat.person, ended))
            })
        });
        let (person, ended) = written.await?;
        revocation::announce_sessions(core, &ended).await?;
        let site = core.store().site(site).await?;
        session::end_all(core, &site, SessionSelector::ImpersonationsByOwner(person)).await?;
        Ok(ended.len())
    }
}

/// The person with this address at the site.
async fn find(tx: &mut Tx<'_>, site: &SiteId, folded: &str) -> Result<Seat> {
    let sql = "select r.person, r.role from stoa.person_role r join stoa.person p on p.id = r.person \
               where p.email_folded = $1 and r.site = $2";
    let each = |row: &stoa_store::Row<'_>| Ok(Seat { person: UserId::from(row.text(0)?), role: role_of(row.text(1)?) });
    let found = tx.row(sql, &params![folded.to_owned(), site], each).await?;
    found.ok_or_else(|| Fault::because(Code::NotFound, "no person with this address runs the site"))
}

/// Refuses to take away the last owner. Two removals at the same time are serialised: the second one counts again.
async fn keep_an_owner(tx: &mut Tx<'_>, site: &SiteId) -> Result<()> {
    let sql = "select count(*) from stoa.person_role where site = $1 and role = $2";
    let owners: Option<i64> = tx.row(sql, &params![site, role_name(Role::Owner)], |row| row.get(0)).await?;
    match owners {
        Some(2..) => Ok(()),
        _ => Err(Fault::because(Code::Forbidden, "this is the site's last owner; invite another one first")),
    }
}

/// Ends the invitations of a site that are for this address.
async fn end_invitations(tx: &mut Tx<'_>, site: &SiteId, folded: &str, now: Millis) -> Result<()> {
    let sql = "select hash, email from stoa.invite where site = $1 and used is null and email is not null";
    let open: Vec<(Vec<u8>, String)> = tx.rows(sql, &params![site], |row| Ok((row.get(0)?, row.get(1)?))).await?;
    for (hash, email) in open {
        if Email::parse(&email).is_some_and(|it| it.folded() == folded) {
            tx.execute("update stoa.invite set used = $1 where hash = $2", &params![now, hash]).await?;
        }
    }
    Ok(())
}

/// Ends a person's sessions, at one site or at all, and has their access tokens refused.
pub(crate) async fn end_sessions(
    tx: &mut Tx<'_>,
    person: &UserId,
    site: Option<&SiteId>,
    now: Millis,
    end: Millis,
) -> Result<Vec<SessionId>> {
    let sql = "select id, site from stoa.person_session where person = $1 and ended is null";
    let open: Vec<(SessionId, SiteId)> =
        tx.rows(sql, &params![person], |row| Ok((SessionId::from(row.text(0)?), SiteId::from(row.text(1)?)))).await?;
    let mut ended = Vec::new();
    for (id, _) in open.into_iter().filter(|it| site.is_none_or(|site| it.1 == *site)) {
        tx.execute("update stoa.person_session set ended = $1 where id = $2", &params![now, &id]).await?;
        revocation::insert(tx, id.as_str(), now, end).await?;
        ended.push(id);
    }
    Ok(ended)
}
