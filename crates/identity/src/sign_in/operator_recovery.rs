//! Recovery for those who run sites: a link to their address, with which they choose another password. As for members
//! it ends the wait that others' guesses have brought about, and every session.
//!
//! An operator has one password for all sites of the installation. So the message is in our words alone: a site's own
//! template could pass the link on to that site. A request is answered alike, and as fast, whether or not the address
//! is known.

use crate::{
    Core,
    mail::{self, Message, QueuedMessage, Task, enqueue},
    operator::{Operator, role::role_of},
    password::Fingerprint,
    sign_in::{
        login,
        new_password::{self, Person},
        operator_account::{self, PasswordSet},
        recovery,
    },
    token::{self, Kind, revocation},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Email, Fault, Millis, Result, Role, Secret, SiteId, TokenHash, UserId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Life of a link.
const LIFE: Millis = 60 * 60_000;
/// Links for one operator within [`LIFE`].
const MOST: i64 = 5;

/// Records that a link was asked for.
pub(crate) async fn ask(
    core: &Arc<Core>,
    site: &Arc<Site>,
    from: IpAddr,
    email: &Email,
    language: Option<String>,
) -> Result<()> {
    let task = Task::OperatorRecovery { email: email.as_str().to_owned(), language };
    recovery::ask_for(core, site, from, task).await
}

/// Answers [`Task::OperatorRecovery`]: a link, if the address is that of an operator of this site.
pub(super) async fn answer(
    core: &Arc<Core>,
    site: &Arc<Site>,
    task: String,
    email: String,
    language: Option<String>,
) -> Result<()> {
    let answered = async {
        let email = Email::parse(&email).ok_or_else(|| Fault::internal("an address was not kept as it was"))?;
        let link = token::opaque(core.world(), Kind::OperatorLink, site.number);
        let to = insert(core, &site.id, &email, &link).await?;
        let url = format!("{}/_api/account/v1/recover?token={}", mail::url(core), link.expose());
        let message = to.map(|to| {
            let message = Message::OperatorRecovery { link: url };
            QueuedMessage { to, language, own_language: None, message }
        });
        site.write_with((core.clone(), site.id.clone(), task, message), |tx, (core, site, task, message)| {
            boxed!({
                let is_first = mail::done(tx, site, task).await?;
                match message {
                    Some(message) if is_first => enqueue(core, tx, site, None, &Task::Message(message.clone())).await,
                    _ => Ok(()),
                }
            })
        })
        .await
    };
    let answered = answered.await;
    core.mail_queue.recovery_end();
    answered
}

/// Writes a link down for an operator of the site who did not get too many lately; answers their address.
async fn insert(core: &Core, site: &SiteId, email: &Email, link: &Secret) -> Result<Option<String>> {
    let (now, hash) = (core.now(), TokenHash::of(link.expose()));
    core.store()
        .catalog()
        .write_with((site.clone(), email.folded().to_owned(), hash), move |tx, (site, email, hash)| {
            boxed!({
                let sql = "select p.id, p.email from stoa.person p \
                           join stoa.person_role r on r.person = p.id and r.site = $1 where p.email_folded = $2";
                let values = params![site, email];
                let found = tx.row(sql, &values, |row| Ok((UserId::from(row.text(0)?), row.get::<String>(1)?))).await?;
                let Some((person, email)) = found else { return Ok(None) };
                let sql = "select count(*) from stoa.person_link where person = $1 and created > $2";
                let recent: Option<i64> = tx.row(sql, &params![&person, now - LIFE], |row| row.get(0)).await?;
                if recent.unwrap_or(0) >= MOST {
                    return Ok(None);
                }
                let sql = "insert into stoa.person_link (hash, person, site, created, expires) \
                           values ($1, $2, $3, $4, $5)";
                tx.send(sql, params![hash, &person, site, now, now + LIFE]).await?;
                Ok(Some(email))
            })
        })
        .await
}

/// The address of the operator for whom a link is, without using it.
///
/// # Errors
/// [`Code::LinkInvalid`].
pub(crate) async fn look_up(core: &Core, site: &Site, link: &str) -> Result<String> {
    Ok(get(core, &site.id, &TokenHash::of(link).to_vec()).await?.operator.email)
}

/// Sets the password with a link: who may go on as an operator of the site, and in which role. All links and sessions
/// of the operator end.
///
/// # Errors
/// [`Code::LinkInvalid`]; [`Code::Validation`] for the password, which leaves the link usable; [`Code::Throttled`].
pub(crate) async fn finish(
    core: &Arc<Core>,
    site: &Arc<Site>,
    link: &[u8],
    password: &Secret,
    from: IpAddr,
) -> Result<(Operator, Role)> {
    let found = get(core, &site.id, link).await?;
    let person = Person { email: &found.operator.email, profile: None };
    if let Some(violation) = new_password::violation_for(core, site, person, password, "password").await? {
        return Err(Fault::invalid(vec![violation]));
    }
    let account = found.operator.device_subject();
    login::password_attempt(core, &site.id, &account)?;
    let share = core.passwords.share(from, site.id.as_str(), &account);
    let hash = login::hash_password(core, share, password, "password").await?;
    let (catalog, now, end) = (core.store().catalog(), core.now(), revocation::end(core));
    let changed = catalog.write_with((site.id.clone(), link.to_vec(), hash), move |tx, (site, link, hash)| {
        boxed!(change(tx, site, link, hash, now, end).await)
    });
    let (Found { operator, role }, done) = changed.await?;
    operator_account::finish(core, site, &operator, done, from).await?;
    Ok((operator, role))
}

/// What a link that is good stands for.
struct Found {
    operator: Operator,
    role: Role,
}

async fn change(
    tx: &mut Tx<'_>,
    site: &SiteId,
    link: &[u8],
    hash: &str,
    now: Millis,
    end: Millis,
) -> Result<(Found, PasswordSet)> {
    let mut found = find(tx, site, link, now).await?.ok_or_else(|| Fault::new(Code::LinkInvalid))?;
    found.operator.password = Some(Fingerprint::of(Some(hash)));
    let sql = "update stoa.person_link set used = $1 where hash = $2 and used is null";
    if tx.execute(sql, &params![now, link.to_vec()]).await? == 0 {
        return Err(Fault::new(Code::LinkInvalid));
    }
    let done = operator_account::set(tx, &found.operator.id, hash, None, now, end).await?;
    Ok((found, done))
}

async fn get(core: &Core, site: &SiteId, link: &[u8]) -> Result<Found> {
    let (site, link, now) = (site.clone(), link.to_vec(), core.now());
    let found = core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(find(tx, &site, &link, now).await));
    found.await?.ok_or_else(|| Fault::new(Code::LinkInvalid))
}

/// A link of this site that was not used, for one who still has a role there.
async fn find(tx: &mut Tx<'_>, site: &SiteId, link: &[u8], now: Millis) -> Result<Option<Found>> {
    let sql = "select p.id, p.email, r.role from stoa.person_link l join stoa.person p on p.id = l.person \
               join stoa.person_role r on r.person = l.person and r.site = l.site \
               where l.hash = $1 and l.site = $2 and l.used is null and l.expires > $3";
    let values = params![link.to_vec(), site, now];
    let found = tx.row(sql, &values, |row| {
        let operator = Operator::new(UserId::from(row.text(0)?), row.text(1)?);
        Ok(Found { operator, role: role_of(row.text(2)?) })
    });
    Ok(found.await?)
}
