//! What members have agreed to: which clients of others may act for them, and how far (docs/scopes.md, decision 62).
//!
//! It is written in the transaction of the answer, and read in each transaction that makes a code, or a session of a code, for
//! a client of others (RFC 6749 section 10.2). Reading locks the row: who takes the consent back finds
//! whatever was made of it before.

use crate::{Core, audit, client, mail::notice, oauth::authorization::Authorization};
use std::net::IpAddr;
use stoa_kernel::{ClientId, MemberId, Millis, Result, Scopes, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Site, Tx, boxed};

/// What a member has agreed to for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Consent {
    pub client: ClientId,
    /// All that was agreed to so far.
    pub scopes: Scopes,
    /// When it was agreed to first, and last.
    pub created: Millis,
    pub agreed: Millis,
}

/// Whether the member has agreed to all that a request asks for. For the site's own clients no one is asked.
pub(crate) async fn covers(tx: &mut Tx<'_>, site: &SiteId, request: &Authorization, member: &MemberId) -> Result<bool> {
    match request.of_others {
        true => allows(tx, site, member, (&request.client, request.granted().as_ref())).await,
        false => Ok(true),
    }
}

/// Whether the member has agreed to what a client of others holds. No consent is to the whole right.
pub(super) async fn allows(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (client, held): (&ClientId, Option<&Scopes>),
) -> Result<bool> {
    let agreed = find_locked(tx, site, member, client).await?;
    Ok(agreed.zip(held).is_some_and(|(agreed, held)| agreed.and(held) == *held))
}

/// Writes down that the member agrees to all that a request asks for, beside what they agreed to before, and tells
/// them by mail where it is more than that. `name` is the client's, `from` the network address that answers.
pub(crate) async fn give(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    (request, member): (&Authorization, &MemberId),
    (name, from): (&str, IpAddr),
) -> Result<()> {
    let asked = request.granted().unwrap_or_default();
    let before = find_locked(tx, site, member, &request.client).await?;
    let is_more = before.as_ref().is_none_or(|it| it.and(&asked) != asked);
    let scopes = before.map_or_else(|| asked.clone(), |it| it.or(&asked));
    let sql = "insert into stoa.consent (site, member, client, scopes, created, agreed) values ($1, $2, $3, $4, $5, $5) \
               on conflict (site, member, client) do update set scopes = excluded.scopes, agreed = excluded.agreed";
    tx.send(sql, params![site, member, &request.client, scopes.to_string(), core.now()]).await?;
    if is_more {
        notice::application_allowed(core, tx, site, member, (name, &scopes)).await?;
    }
    let detail = format!("{} {asked}", request.client);
    let entry = audit::Entry::by_oneself(member, audit::Event::ApplicationAllowed).at_address(Some(from));
    audit::record(core, tx, site, audit::Entry { detail: Some(detail.trim_end()), ..entry }).await
}

/// Takes a consent back, if there is one. What was made of it is to end after this in the same transaction.
pub(super) async fn take_back(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, client: &ClientId) -> Result<bool> {
    let sql = "delete from stoa.consent where site = $1 and member = $2 and client = $3";
    Ok(tx.execute(sql, &params![site, member, client]).await? > 0)
}

/// Takes back inside a transaction what a member has agreed to at a time or later: another person than the owner of the
/// address may have done so. Sessions that were made of it are to end in the same transaction.
pub(crate) async fn end_since(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, since: Millis) -> Result<()> {
    let sql = "delete from stoa.consent where site = $1 and member = $2 and agreed >= $3";
    tx.send(sql, params![site, member, since]).await?;
    Ok(())
}

/// Takes a consent back that was given while its client was revoked: whether it was. To be asked when the consent is
/// written, so that either this or what revokes the client finds the other.
pub(crate) async fn end_if_revoked(core: &Core, site: &Site, member: &MemberId, client: &ClientId) -> Result<bool> {
    if !client::is_revoked(core, client).await? {
        return Ok(false);
    }
    let input = (site.id.clone(), member.clone(), client.clone());
    site.write_with(input, |tx, (site, member, client)| boxed!(take_back(tx, site, member, client).await)).await?;
    Ok(true)
}

/// What a member has agreed to, the last first; `most` at most.
pub(super) async fn of_member(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, most: i64) -> Result<Vec<Consent>> {
    let sql = "select client, scopes, created, agreed from stoa.consent where site = $1 and member = $2 \
               order by agreed desc, client limit $3";
    let read = |row: &Row<'_>| {
        Ok(Consent {
            client: ClientId::from(row.text(0)?),
            scopes: Scopes::among(row.text(1)?),
            created: row.get(2)?,
            agreed: row.get(3)?,
        })
    };
    Ok(tx.rows(sql, &params![site, member, most], read).await?)
}

/// What the member has agreed to for the client. Its row is locked until the transaction ends.
async fn find_locked(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, client: &ClientId) -> Result<Option<Scopes>> {
    let sql =
        "update stoa.consent set agreed = agreed where site = $1 and member = $2 and client = $3 returning scopes";
    Ok(tx.row(sql, &params![site, member, client], |row| Ok(Scopes::among(row.text(0)?))).await?)
}
