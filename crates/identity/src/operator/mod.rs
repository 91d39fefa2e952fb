//! The people who run sites: Owners and Editors. They live in the catalogue, not in a site, and sign
//! in on the same account pages as members, with a cookie and tokens of their own kind.

pub mod invite;
pub mod manage;
pub(crate) mod owners;
pub(crate) mod role;
mod standing;

use crate::{
    Core, Identity,
    browser::Browser,
    operator::role::{role_name, role_of},
    password::{Fingerprint, Match, Share},
    token::{self, Access, Kind, operator_use, revocation},
};
use std::net::IpAddr;
use stoa_kernel::{Caller, Code, Email, Fault, Millis, Result, Role, Secret, SessionId, SiteId, TokenHash, UserId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, boxed};

/// A person who runs at least one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    pub id: UserId,
    pub email: String,
    /// Of the password that they have just shown or set: another one set meanwhile opens no session for them.
    pub(crate) password: Option<Fingerprint>,
}

impl Operator {
    /// One of whom no password was asked for.
    pub fn new(id: UserId, email: impl Into<String>) -> Self {
        Self { id, email: email.into(), password: None }
    }
}

/// An operator as sign-in needs them.
pub(crate) struct KnownOperator {
    pub(crate) operator: Operator,
    pub(crate) password_hash: Option<String>,
}

/// A browser in which an operator is signed in to one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorSession {
    pub id: SessionId,
    pub site: SiteId,
    pub operator: Operator,
    pub role: Role,
}

impl OperatorSession {
    pub fn caller(&self) -> Caller {
        Caller::User { id: self.operator.id.clone(), role: self.role, session: self.id.clone() }
    }
}

impl Identity {
    /// How many owners a site has.
    pub async fn owner_count(&self, site: &SiteId) -> Result<i64> {
        let core = &self.core;
        let site = site.clone();
        let sql = "select count(*) from stoa.person_role where site = $1 and role = $2";
        let count = core
            .store()
            .catalog()
            .read(ReaderPool::Point, move |tx| {
                boxed!(Ok(tx.row(sql, &params![&site, role_name(Role::Owner)], |row| row.get(0)).await?))
            })
            .await?;
        Ok(count.unwrap_or(0))
    }

    /// Checks an operator's password for a site; `from` is the network address that asks.
    ///
    /// # Errors
    /// [`Code::PasswordWrong`] alike for an unknown address, a wrong password and an operator who has no
    /// role on this site, after an equal hash.
    pub async fn operator_sign_in(
        &self,
        site: &SiteId,
        email: &Email,
        secret: &Secret,
        from: IpAddr,
    ) -> Result<OperatorSession> {
        sign_in(&self.core, site, email, secret, from).await
    }

    /// The session that a cookie stands for, with the role as it is today; `None` when there is none.
    pub async fn operator_session_by_cookie(&self, cookie: &str) -> Result<Option<OperatorSession>> {
        session_by_cookie(&self.core, cookie).await
    }

    /// Ends a session; its access tokens are refused from now on.
    pub async fn operator_session_end(&self, session: &OperatorSession) -> Result<()> {
        end_session(&self.core, session).await
    }

    /// An access token of an operator's session.
    pub async fn operator_access(&self, session: &OperatorSession) -> Result<Access> {
        token::issue_access(&self.core, &session.site, &session.caller(), None).await
    }
}

/// What [`Identity::operator_sign_in`] does.
pub(crate) async fn sign_in(
    core: &Core,
    site: &SiteId,
    email: &Email,
    secret: &Secret,
    from: IpAddr,
) -> Result<OperatorSession> {
    let share = core.passwords.share(from, site.as_str(), &format!("person:{}", email.folded()));
    let permit = core.passwords.permit(share).await?;
    let known = find_by_email(core, email).await?;
    let stored = known.as_ref().and_then(|it| it.password_hash.as_deref());
    let is_right = !matches!(permit.check(secret, stored).await?, Match::Wrong);
    drop(permit);
    let refused = || Fault::new(Code::PasswordWrong);
    let mut known = known.filter(|_| is_right).ok_or_else(refused)?;
    known.operator.password = Some(Fingerprint::of(known.password_hash.as_deref()));
    let role = role_at(core, &known.operator.id, site).await?.ok_or_else(refused)?;
    Ok(OperatorSession { id: SessionId::from(core.world().uuid()), site: site.clone(), operator: known.operator, role })
}

/// What [`Identity::operator_session_by_cookie`] does.
pub(crate) async fn session_by_cookie(core: &Core, cookie: &str) -> Result<Option<OperatorSession>> {
    if token::site_number(Kind::Operator, cookie).is_none() {
        return Ok(None);
    }
    let (hash, now) = (TokenHash::of(cookie), core.now());
    let sql = "select s.id, s.site, p.id, p.email, r.role, coalesce(s.used, s.created) from stoa.person_session s \
               join stoa.person p on p.id = s.person \
               join stoa.person_role r on r.person = s.person and r.site = s.site \
               where s.hash = $1 and s.ended is null and s.expires > $2";
    let found: Option<(OperatorSession, Millis)> = core
        .store()
        .catalog()
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let values = params![&hash, now];
                let found = tx.row(sql, &values, |row| {
                    let operator = Operator::new(UserId::from(row.text(2)?), row.text(3)?);
                    let (id, site) = (SessionId::from(row.text(0)?), SiteId::from(row.text(1)?));
                    let session = OperatorSession { id, site, operator, role: role_of(row.text(4)?) };
                    Ok((session, row.get(5)?))
                });
                Ok(found.await?)
            })
        })
        .await?;
    let Some((session, used)) = found else { return Ok(None) };
    Ok(operator_use::show(core, &session.id, used).await.then_some(session))
}

/// What [`Identity::operator_session_end`] does.
pub(crate) async fn end_session(core: &Core, session: &OperatorSession) -> Result<()> {
    let ended = core.store().catalog().write_with(
        (session.id.clone(), core.now(), revocation::end(core)),
        |tx, (id, now, end)| {
            boxed!({
                tx.send("update stoa.person_session set ended = $1 where id = $2", params![*now, id]).await?;
                revocation::insert(tx, id.as_str(), *now, *end).await
            })
        },
    );
    ended.await?;
    revocation::announce(core, session.id.as_str()).await
}

pub(crate) async fn find_by_email(core: &Core, email: &Email) -> Result<Option<KnownOperator>> {
    let folded = email.folded().to_owned();
    let sql = "select id, email, password_hash from stoa.person where email_folded = $1";
    core.store()
        .catalog()
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let values = params![folded];
                let found = tx.row(sql, &values, |row| {
                    let operator = Operator::new(UserId::from(row.text(0)?), row.text(1)?);
                    Ok(KnownOperator { operator, password_hash: row.get(2)? })
                });
                Ok(found.await?)
            })
        })
        .await
}

pub(crate) async fn find(core: &Core, id: &UserId) -> Result<Option<Operator>> {
    let id = id.clone();
    let read = core.store().catalog().read(ReaderPool::Point, move |tx| {
        boxed!({
            let values = params![&id];
            let each = |row: &Row<'_>| Ok(Operator::new(UserId::from(row.text(0)?), row.text(1)?));
            Ok(tx.row("select id, email from stoa.person where id = $1", &values, each).await?)
        })
    });
    read.await
}

pub(crate) async fn role_at(core: &Core, operator: &UserId, site: &SiteId) -> Result<Option<Role>> {
    let (operator, site) = (operator.clone(), site.clone());
    let sql = "select role from stoa.person_role where person = $1 and site = $2";
    core.store()
        .catalog()
        .read(ReaderPool::Point, move |tx| {
            boxed!(Ok(tx.row(sql, &params![&operator, &site], |row| Ok(role_of(row.text(0)?))).await?))
        })
        .await
}

/// # Errors
/// [`Code::PasswordWrong`].
pub(crate) async fn confirm_password(core: &Core, share: Share, secret: &Secret, stored: &str) -> Result<()> {
    match core.passwords.permit(share).await?.check(secret, Some(stored)).await? {
        Match::Wrong => Err(Fault::new(Code::PasswordWrong)),
        _ => Ok(()),
    }
}

/// The session of an operator of this site in a browser.
pub(crate) async fn session_of_browser(core: &Core, site: &Site, browser: &Browser) -> Result<Option<OperatorSession>> {
    let own = browser.operator.iter().find(|it| token::site_number(Kind::Operator, it) == Some(site.number));
    match own {
        Some(cookie) => session_by_cookie(core, cookie).await,
        None => Ok(None),
    }
}
