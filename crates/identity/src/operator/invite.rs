//! Invitations to run a site: a one-time link with which a person sets a password.

use crate::{
    Core, Identity,
    operator::{self, Person},
    password,
    sign_in::login,
    token::{self, Kind},
};
use std::time::Duration;
use stoa_kernel::{Code, Email, Fault, Millis, Result, Role, Secret, SiteId, TokenHash, UserId};
use stoa_sql::params;
use stoa_store::{Lane, Tx, boxed};

/// What an invitation says. It is good until it is used or expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    pub site: SiteId,
    /// Absent in the very first link of a site: whoever opens it says who they are.
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
        let (id, hash) = (site.id.clone(), TokenHash::of(secret.expose()));
        let now = core.now();
        let (email, expires) = (email.map(|it| it.as_str().to_owned()), now + life.as_millis() as Millis);
        core.store()
            .catalog()
            .write(move |tx| {
                let values = params![&hash, &id, email.clone(), role_name(role), expires];
                let (is_open, id) = (email.is_none(), id.clone());
                boxed!({
                    if is_open {
                        use_up_open(tx, &id, now).await?;
                    }
                    let sql = "insert into stoa.invite (hash, site, email, role, expires) values ($1, $2, $3, $4, $5)";
                    tx.send(sql, values).await?;
                    Ok(())
                })
            })
            .await?;
        Ok(format!("{base_url}/account/setup?invite={}", secret.expose()))
    }

    /// What an invitation says, without using it.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown, used or expired.
    pub async fn invite_get(&self, token: &str) -> Result<Invite> {
        get(&self.core, token).await
    }

    /// Uses an invitation: sets the person's password and gives the role, or leaves a greater one as it
    /// is. An invitation without an address needs `email` and is good until the site has an owner; one
    /// with an address ignores `email`.
    ///
    /// A person who already has a password on this installation keeps it and must know it: an
    /// invitation by one site's owner must not open another site.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`], [`Code::EmailInvalid`], [`Code::PasswordWrong`], [`Code::Throttled`], and
    /// what makes a password unfit.
    pub async fn invite_accept(&self, token: &str, email: Option<&Email>, secret: &Secret) -> Result<(Person, Role)> {
        accept(&self.core, token, email, secret).await
    }
}

/// What [`Identity::invite_get`] does.
pub(crate) async fn get(core: &Core, token: &str) -> Result<Invite> {
    get_hash(core, &TokenHash::of(token).to_vec()).await
}

async fn get_hash(core: &Core, hash: &[u8]) -> Result<Invite> {
    let (hash, now) = (hash.to_vec(), core.now());
    let found = core.store().catalog().read(Lane::Point, move |tx| boxed!(find(tx, &hash, now).await)).await?;
    found.ok_or_else(|| Fault::new(Code::LinkInvalid))
}

/// What [`Identity::invite_accept`] does.
pub(crate) async fn accept(core: &Core, token: &str, email: Option<&Email>, secret: &Secret) -> Result<(Person, Role)> {
    accept_hash(core, &TokenHash::of(token).to_vec(), email, secret).await
}

pub(crate) async fn accept_hash(
    core: &Core,
    link: &[u8],
    email: Option<&Email>,
    secret: &Secret,
) -> Result<(Person, Role)> {
    if let Some(violation) = password::violation(secret, "password") {
        return Err(Fault::invalid(vec![violation]));
    }
    let invite = get_hash(core, link).await?;
    let email = invite.email.clone().or_else(|| email.cloned()).ok_or_else(|| Fault::new(Code::EmailInvalid))?;
    // An invitation that names nobody is counted itself: whoever has it chooses the address.
    let account = match &invite.email {
        Some(_) => format!("person:{}", email.folded()),
        None => format!("invite:{}", hex_of(link)),
    };
    login::password_attempt(core, &invite.site, &account)?;
    let known = operator::find_by_email(core, &email).await?;
    let hash = match known.as_ref().and_then(|it| it.password_hash.as_deref()) {
        Some(stored) => {
            operator::confirm_password(core, secret, stored).await?;
            stored.to_owned()
        }
        None => login::hash_password(core, secret).await?,
    };
    let fresh = UserId::from(core.world().uuid());
    let (token, now) = (link.to_vec(), core.now());
    core.store()
        .catalog()
        .write(move |tx| {
            let (token, email, hash, fresh) = (token.clone(), email.clone(), hash.clone(), fresh.clone());
            boxed!({
                let Some(invite) = find(tx, &token, now).await? else { return Err(Fault::new(Code::LinkInvalid)) };
                if invite.email.is_none() && has_owner(tx, &invite.site).await? {
                    return Err(Fault::new(Code::LinkInvalid).logged("the site has an owner"));
                }
                tx.send("update stoa.invite set used = $1 where hash = $2", params![now, token]).await?;
                if invite.email.is_none() || invite.role == Role::Owner {
                    use_up_open(tx, &invite.site, now).await?;
                }
                let sql = "select password_hash from stoa.person where email_folded = $1";
                let stored: Option<Option<String>> = tx.row(sql, &params![email.folded()], |row| row.get(0)).await?;
                if stored.flatten().is_some_and(|it| it != hash) {
                    // Set meanwhile by another invitation: this password was not compared with it.
                    return Err(Fault::new(Code::PasswordWrong));
                }
                let sql = "insert into stoa.person (id, email, email_folded, password_hash, created) \
                           values ($1, $2, $3, $4, $5) on conflict (email_folded) do update \
                           set password_hash = coalesce(stoa.person.password_hash, excluded.password_hash) \
                           returning id, email";
                let values = params![&fresh, email.as_str(), email.folded(), hash, now];
                let person = tx
                    .row(sql, &values, |row| Ok(Person { id: UserId::from(row.text(0)?), email: row.get(1)? }))
                    .await?;
                let person = person.ok_or_else(|| Fault::internal("an upsert answered no row"))?;
                let sql = "insert into stoa.person_role (person, site, role) values ($1, $2, $3) \
                           on conflict (person, site) do update set role = \
                           case when stoa.person_role.role = 'OWNER' then 'OWNER' else excluded.role end \
                           returning role";
                let values = params![&person.id, &invite.site, role_name(invite.role)];
                let role = tx.row(sql, &values, |row| Ok(role_of(row.text(0)?))).await?;
                Ok((person, role.ok_or_else(|| Fault::internal("an upsert answered no row"))?))
            })
        })
        .await
}

/// Ends the invitations of a site that name nobody.
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

pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => "OWNER",
        Role::Editor => "EDITOR",
    }
}

/// An unknown name counts as the lesser role.
pub(crate) fn role_of(name: &str) -> Role {
    if name == "OWNER" { Role::Owner } else { Role::Editor }
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
