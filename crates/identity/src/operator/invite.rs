//! Invitations to run a site: a one-time link with which an operator sets a password.

use crate::{
    Core, Identity,
    operator::{
        Operator,
        role::{role_name, role_of},
    },
    password::Fingerprint,
    token::{self, Kind},
};
use std::time::Duration;
use stoa_kernel::{Code, Email, Fault, Millis, Result, Role, SiteId, TokenHash, UserId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Tx, boxed};

/// What an invitation says. It is good until it is used or expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    pub site: SiteId,
    /// Absent in the very first link of a site: the person who opens it says who they are.
    pub email: Option<Email>,
    pub role: Role,
}

impl Identity {
    /// Makes an invitation and answers its link, `{base_url}/account/setup?invite=…`. One without an
    /// address takes the place of those that the site had.
    pub async fn invite_create(
        &self,
        site: &SiteId,
        email: Option<&Email>,
        role: Role,
        life: Duration,
        base_url: &str,
    ) -> Result<String> {
        let core = &self.core;
        let site = core.store().site(site).await?;
        let secret = token::opaque(core.world(), Kind::Invite, site.number);
        let (now, hash) = (core.now(), TokenHash::of(secret.expose()));
        let (email, expires) = (email.map(|it| it.as_str().to_owned()), now + life.as_millis() as Millis);
        let written =
            core.store().catalog().write_with((site.id.clone(), hash, email), move |tx, (site, hash, email)| {
                boxed!({
                    if email.is_none() {
                        use_up_open(tx, site, now).await?;
                    }
                    let sql = "insert into stoa.invite (hash, site, email, role, expires) values ($1, $2, $3, $4, $5)";
                    tx.send(sql, params![hash, site, email.clone(), role_name(role), expires]).await?;
                    Ok(())
                })
            });
        written.await?;
        Ok(format!("{base_url}/account/setup?invite={}", secret.expose()))
    }

    /// What an invitation says, without using it.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown, used or expired.
    pub async fn invite_get(&self, token: &str) -> Result<Invite> {
        get(&self.core, token).await
    }
}

/// What [`Identity::invite_get`] does.
pub(crate) async fn get(core: &Core, token: &str) -> Result<Invite> {
    get_hash(core, &TokenHash::of(token).to_vec()).await
}

pub(crate) async fn get_hash(core: &Core, hash: &[u8]) -> Result<Invite> {
    let (hash, now) = (hash.to_vec(), core.now());
    let found = core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(find(tx, &hash, now).await)).await?;
    found.ok_or_else(|| Fault::new(Code::LinkInvalid))
}

/// An invitation that is used by an operator whose password was checked or hashed before.
pub(crate) struct Acceptance {
    /// The hash of the invitation's token.
    pub link: Vec<u8>,
    pub email: Email,
    /// Of the password.
    pub hash: String,
    /// The id of an operator who is not known yet.
    pub fresh: UserId,
}

impl Acceptance {
    /// Uses the invitation inside a transaction of the catalogue.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`]; [`Code::PasswordWrong`] when another invitation has set another password meanwhile.
    pub(crate) async fn write(&self, tx: &mut Tx<'_>, now: Millis) -> Result<(Operator, Role)> {
        let Some(invite) = find(tx, &self.link, now).await? else { return Err(Fault::new(Code::LinkInvalid)) };
        if invite.email.is_none() && has_owner(tx, &invite.site).await? {
            return Err(Fault::new(Code::LinkInvalid).logged("the site has an owner"));
        }
        tx.send("update stoa.invite set used = $1 where hash = $2", params![now, self.link.clone()]).await?;
        if invite.email.is_none() || invite.role == Role::Owner {
            use_up_open(tx, &invite.site, now).await?;
        }
        let sql = "select password_hash from stoa.person where email_folded = $1";
        let stored: Option<Option<String>> = tx.row(sql, &params![self.email.folded()], |row| row.get(0)).await?;
        if stored.flatten().is_some_and(|it| it != self.hash) {
            // Set meanwhile by another invitation: this password was not compared with it.
            return Err(Fault::new(Code::PasswordWrong));
        }
        let sql = "insert into stoa.person (id, email, email_folded, password_hash, created) \
                   values ($1, $2, $3, $4, $5) on conflict (email_folded) do update \
                   set password_hash = coalesce(stoa.person.password_hash, excluded.password_hash) \
                   returning id, email";
        let values = params![&self.fresh, self.email.as_str(), self.email.folded(), self.hash.clone(), now];
        let operator = tx.row(sql, &values, |row| Ok(Operator::new(UserId::from(row.text(0)?), row.text(1)?))).await?;
        let mut operator = operator.ok_or_else(|| Fault::internal("an upsert answered no row"))?;
        operator.password = Some(Fingerprint::of(Some(&self.hash)));
        let sql = "insert into stoa.person_role (person, site, role) values ($1, $2, $3) \
                   on conflict (person, site) do update set role = \
                   case when stoa.person_role.role = 'OWNER' then 'OWNER' else excluded.role end \
                   returning role";
        let values = params![&operator.id, &invite.site, role_name(invite.role)];
        let role = tx.row(sql, &values, |row| Ok(role_of(row.text(0)?))).await?;
        Ok((operator, role.ok_or_else(|| Fault::internal("an upsert answered no row"))?))
    }
}

/// Ends the invitations of a site that have no address.
async fn use_up_open(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<()> {
    let sql = "update stoa.invite set used = $1 where site = $2 and email is null and used is null";
    tx.send(sql, params![now, site]).await?;
    Ok(())
}

async fn has_owner(tx: &mut Tx<'_>, site: &SiteId) -> Result<bool> {
    let sql = "select 1 from stoa.person_role where site = $1 and role = $2 limit 1";
    Ok(tx.row(sql, &params![site, role_name(Role::Owner)], |_| Ok(())).await?.is_some())
}

async fn find(tx: &mut Tx<'_>, hash: &[u8], now: Millis) -> Result<Option<Invite>> {
    let sql = "select site, email, role from stoa.invite where hash = $1 and used is null and expires > $2";
    let found = tx
        .row(sql, &params![hash.to_vec(), now], |row| {
            let (email, role): (Option<String>, String) = (row.get(1)?, row.get(2)?);
            Ok((SiteId::from(row.text(0)?), email, role))
        })
        .await?;
    Ok(found.map(|(site, email, role)| Invite {
        site,
        email: email.and_then(|it| Email::parse(&it)),
        role: role_of(&role),
    }))
}
