//! The people who run sites: Owners and Editors. They live in the catalogue, not in a site, and sign
//! in on the same account pages as members, with a cookie and tokens of their own kind.

pub mod invite;

use crate::{
    Core, Identity,
    browser::Browser,
    operator::invite::{role_name, role_of},
    password::Match,
    token::{self, Access, Kind, revocation},
};
use stoa_kernel::{Caller, Code, Email, Fault, Millis, Result, Role, Secret, SessionId, SiteId, TokenHash, UserId};
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};

/// A person's browser stays signed in for this long at most.
const SESSION_LIFE: Millis = 14 * 24 * 60 * 60 * 1000;

/// Somebody who runs at least one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: UserId,
    pub email: String,
}

/// A person as sign-in needs them.
pub(crate) struct KnownPerson {
    pub(crate) person: Person,
    pub(crate) password_hash: Option<String>,
}

/// A browser in which a person is signed in to one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonSession {
    pub id: SessionId,
    pub site: SiteId,
    pub person: Person,
    pub role: Role,
}

impl PersonSession {
    pub fn caller(&self) -> Caller {
        Caller::User { id: self.person.id.clone(), role: self.role, session: self.id.clone() }
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
            .read(Lane::Point, move |tx| {
                boxed!(Ok(tx.row(sql, &params![&site, role_name(Role::Owner)], |row| row.get(0)).await?))
            })
            .await?;
        Ok(count.unwrap_or(0))
    }

    /// Checks a person's password for a site.
    ///
    /// # Errors
    /// [`Code::PasswordWrong`] alike for an unknown address, a wrong password and a person who has no
    /// role on this site, after an equal hash.
    pub async fn person_sign_in(&self, site: &SiteId, email: &Email, secret: &Secret) -> Result<PersonSession> {
        sign_in(&self.core, site, email, secret).await
    }

    /// Opens the session that [`Identity::person_sign_in`] or an invitation allowed; the secret is the cookie.
    pub async fn person_session_create(
        &self,
        site: &SiteId,
        person: &Person,
        role: Role,
    ) -> Result<(PersonSession, Secret)> {
        create_session(&self.core, site, person, role).await
    }

    /// The session that a cookie stands for, with the role as it is today; `None` when there is none.
    pub async fn person_session_by_cookie(&self, cookie: &str) -> Result<Option<PersonSession>> {
        session_by_cookie(&self.core, cookie).await
    }

    /// Ends a session; its access tokens are refused from now on.
    pub async fn person_session_end(&self, session: &PersonSession) -> Result<()> {
        end_session(&self.core, session).await
    }

    /// An access token of a person's session.
    pub fn person_access(&self, session: &PersonSession) -> Result<Access> {
        token::issue_access(&self.core, &session.site, &session.caller(), None)
    }
}

/// What [`Identity::person_sign_in`] does.
pub(crate) async fn sign_in(core: &Core, site: &SiteId, email: &Email, secret: &Secret) -> Result<PersonSession> {
    let turn = core.passwords.turn().await?;
    let known = find_by_email(core, email).await?;
    let stored = known.as_ref().and_then(|it| it.password_hash.as_deref());
    let is_right = !matches!(turn.check(secret, stored).await?, Match::Wrong);
    drop(turn);
    let refused = || Fault::new(Code::PasswordWrong);
    let known = known.filter(|_| is_right).ok_or_else(refused)?;
    let role = role_at(core, &known.person.id, site).await?.ok_or_else(refused)?;
    Ok(PersonSession { id: SessionId::from(core.world().uuid()), site: site.clone(), person: known.person, role })
}

/// What [`Identity::person_session_create`] does.
pub(crate) async fn create_session(
    core: &Core,
    site: &SiteId,
    person: &Person,
    role: Role,
) -> Result<(PersonSession, Secret)> {
    let site = core.store().site(site).await?;
    let secret = token::opaque(core.world(), Kind::Person, site.number);
    let id = SessionId::from(core.world().uuid());
    let session = PersonSession { id, site: site.id.clone(), person: person.clone(), role };
    let (row, hash, now) = (session.clone(), TokenHash::of(secret.expose()), core.now());
    core.store()
        .catalog()
        .append(move |tx| {
            let values = params![&row.id, &hash, &row.person.id, &row.site, now, now + SESSION_LIFE];
            boxed!({
                let sql = "insert into stoa.person_session (id, hash, person, site, created, expires) \
                           values ($1, $2, $3, $4, $5, $6)";
                tx.send(sql, values).await?;
                Ok(())
            })
        })
        .await?;
    Ok((session, secret))
}

/// What [`Identity::person_session_by_cookie`] does.
pub(crate) async fn session_by_cookie(core: &Core, cookie: &str) -> Result<Option<PersonSession>> {
    if token::site_number(Kind::Person, cookie).is_none() {
        return Ok(None);
    }
    let (hash, now) = (TokenHash::of(cookie), core.now());
    let sql = "select s.id, s.site, p.id, p.email, r.role from stoa.person_session s \
               join stoa.person p on p.id = s.person \
               join stoa.person_role r on r.person = s.person and r.site = s.site \
               where s.hash = $1 and s.ended is null and s.expires > $2";
    core.store()
        .catalog()
        .read(Lane::Point, move |tx| {
            boxed!({
                let values = params![&hash, now];
                let found = tx.row(sql, &values, |row| {
                    let person = Person { id: UserId::from(row.text(2)?), email: row.get(3)? };
                    let (id, site) = (SessionId::from(row.text(0)?), SiteId::from(row.text(1)?));
                    Ok(PersonSession { id, site, person, role: role_of(row.text(4)?) })
                });
                Ok(found.await?)
            })
        })
        .await
}

/// What [`Identity::person_session_end`] does.
pub(crate) async fn end_session(core: &Core, session: &PersonSession) -> Result<()> {
    let (id, now, end) = (session.id.clone(), core.now(), revocation::end(core));
    core.store()
        .catalog()
        .write(move |tx| {
            let id = id.clone();
            boxed!({
                tx.send("update stoa.person_session set ended = $1 where id = $2", params![now, &id]).await?;
                revocation::insert(tx, id.as_str(), now, end).await
            })
        })
        .await?;
    revocation::revoke_here(core, session.id.as_str());
    Ok(())
}

pub(crate) async fn find_by_email(core: &Core, email: &Email) -> Result<Option<KnownPerson>> {
    let folded = email.folded().to_owned();
    let sql = "select id, email, password_hash from stoa.person where email_folded = $1";
    core.store()
        .catalog()
        .read(Lane::Point, move |tx| {
            boxed!({
                let values = params![folded];
                let found = tx.row(sql, &values, |row| {
                    let person = Person { id: UserId::from(row.text(0)?), email: row.get(1)? };
                    Ok(KnownPerson { person, password_hash: row.get(2)? })
                });
                Ok(found.await?)
            })
        })
        .await
}

pub(crate) async fn role_at(core: &Core, person: &UserId, site: &SiteId) -> Result<Option<Role>> {
    let (person, site) = (person.clone(), site.clone());
    let sql = "select role from stoa.person_role where person = $1 and site = $2";
    core.store()
        .catalog()
        .read(Lane::Point, move |tx| {
            boxed!(Ok(tx.row(sql, &params![&person, &site], |row| Ok(role_of(row.text(0)?))).await?))
        })
        .await
}

/// # Errors
/// [`Code::PasswordWrong`].
pub(crate) async fn confirm_password(core: &Core, secret: &Secret, stored: &str) -> Result<()> {
    match core.passwords.turn().await?.check(secret, Some(stored)).await? {
        Match::Wrong => Err(Fault::new(Code::PasswordWrong)),
        _ => Ok(()),
    }
}

/// The session of an operator of this site in a browser.
pub(crate) async fn session_of_browser(core: &Core, site: &Site, browser: &Browser) -> Result<Option<PersonSession>> {
    let Some(cookie) = &browser.operator else { return Ok(None) };
    Ok(session_by_cookie(core, cookie).await?.filter(|it| it.site == site.id))
}
