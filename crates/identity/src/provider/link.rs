//! Whom a provider knows as whom: by connection and subject, never by an address, which people change and lose.

use super::{Once, ProviderPerson, connection};
use crate::{
    Core, Identity, audit, factor,
    mail::{self, FactorChange},
    member::{self, Member, access::MemberWrite},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// A provider by which a member signs in, as they see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberConnection {
    /// Of the connection.
    pub id: String,
    pub label: String,
    /// What the provider calls the member.
    pub subject: String,
    pub email: Option<String>,
    pub created: Millis,
    pub used: Option<Millis>,
}

impl Identity {
    /// The providers by which the calling member signs in.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right.
    pub async fn member_connection_list(&self, site: &Site, caller: &Caller) -> Result<Vec<MemberConnection>> {
        let (member, _) = factor::oneself(caller)?;
        let id = site.id.clone();
        site.read(ReaderPool::Point, move |tx| boxed!(of_member(tx, &id, &member).await)).await
    }

    /// Ends that the calling member signs in by a provider, who has lately shown in this session who they are.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::ProofNeeded`]; [`Code::NotFound`];
    /// [`Code::LastWayIn`] where neither a password nor a passkey nor another provider would be left; [`Code::Throttled`].
    pub async fn member_connection_remove(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        address: IpAddr,
    ) -> Result<()> {
        let core = &self.core;
        let (member, session) = factor::oneself(caller)?;
        factor::count_change(core, site, &member, &session).await?;
        let input = (core.clone(), site.clone(), member, session, id.to_owned());
        let removed = site.write_with(input, move |tx, (core, site, member, session, id)| {
            boxed!({
                let mut person = factor::require(core, tx, site, member, session).await?;
                if !person.connections.iter().any(|it| it.0 == *id) {
                    return Err(Fault::new(Code::NotFound));
                }
                person.connections.retain(|it| it.0 != *id);
                let has_another = person.has_password()
                    || factor::passkey_count(tx, &site.id, member).await? > 0
                    || others(tx, &site.id, &person).await?;
                if !has_another {
                    return Err(Fault::new(Code::LastWayIn));
                }
                let sql = "delete from stoa.provider_link where site = $1 and member = $2 and provider = $3";
                tx.send(sql, params![&site.id, &*member, id.as_str()]).await?;
                member::write_connections(tx, &MemberWrite::shown_to_be(member), &site.id, &person).await?;
                if person.connections.is_empty() {
                    factor::drop_password(tx, &site.id, member).await?;
                }
                let entry = audit::Entry::by_oneself(member, audit::Event::ConnectionRemoved);
                audit::record(core, tx, &site.id, entry.at_address(Some(address))).await?;
                factor::tell_change(core, tx, &site.id, &person, FactorChange::ProviderRemoved).await
            })
        });
        removed.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(())
    }
}

/// Whether one of a member's connections can be used.
async fn others(tx: &mut Tx<'_>, site: &SiteId, person: &Member) -> Result<bool> {
    let all = connection::read_all(tx, site).await?;
    Ok(all.iter().any(|it| it.is_enabled && person.connections.iter().any(|of| of.0 == it.id)))
}

/// The member whom a provider means by a subject, whatever the status, and the address that it named when they were linked.
pub(crate) async fn find(
    tx: &mut Tx<'_>,
    site: &SiteId,
    provider: &str,
    subject: &str,
) -> Result<Option<(MemberId, Option<String>)>> {
    let sql = "select member, email from stoa.provider_link where site = $1 and provider = $2 and subject = $3";
    let read = |row: &Row<'_>| Ok((MemberId::from(row.text(0)?), row.get(1)?));
    Ok(tx.row(sql, &params![site, provider, subject], read).await?)
}

/// Notes that a link has signed in.
pub(crate) async fn used(tx: &mut Tx<'_>, site: &SiteId, person: &ProviderPerson, now: Millis) -> Result<()> {
    let sql = "update stoa.provider_link set used = $1 where site = $2 and provider = $3 and subject = $4";
    tx.send(sql, params![now, site, person.provider.id.as_str(), person.subject.as_str()]).await?;
    Ok(())
}

/// Links a member with whom the provider has shown: whether that was free on both sides.
pub(crate) async fn insert(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &mut Member,
    (person, address): (&ProviderPerson, IpAddr),
) -> Result<bool> {
    let (provider, subject, now) = (person.provider.id.as_str(), person.subject.as_str(), core.now());
    if member.connections.iter().any(|it| it.0 == provider) || find(tx, site, provider, subject).await?.is_some() {
        return Ok(false);
    }
    let sql = "insert into stoa.provider_link (site, provider, subject, member, email, created, used) \
               values ($1, $2, $3, $4, $5, $6, $6)";
    tx.send(sql, params![site, provider, subject, &member.id, person.email.clone(), now]).await?;
    member.connections.push((provider.to_owned(), subject.to_owned()));
    member::write_connections(tx, &MemberWrite::shown_to_be(&member.id), site, member).await?;
    let entry = audit::Entry::by_oneself(&member.id, audit::Event::ConnectionAdded).at_address(Some(address));
    audit::record(core, tx, site, entry).await?;
    Ok(true)
}

/// The links of a member, the oldest first.
pub(crate) async fn of_member(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Vec<MemberConnection>> {
    let sql = "select l.provider, p.label, l.subject, l.email, l.created, l.used from stoa.provider_link l \
               join stoa.provider p on p.site = l.site and p.id = l.provider \
               where l.site = $1 and l.member = $2 order by l.created, l.provider";
    let read = |row: &Row<'_>| {
        Ok(MemberConnection {
            id: row.get(0)?,
            label: row.get(1)?,
            subject: row.get(2)?,
            email: row.get(3)?,
            created: row.get(4)?,
            used: row.get(5)?,
        })
    };
    Ok(tx.rows(sql, &params![site, member], read).await?)
}

/// How long before a recovery a link is too young to be believed.
const UNSURE: Millis = 7 * 24 * 60 * 60_000;
/// So long after an account was made a link is one of those by which it was.
const OF_REGISTRATION: Millis = 10_000;

/// The same of those that were made lately, by a session that may have been a thief's: what members have made their account by stays.
pub(crate) async fn drop_unsure(tx: &mut Tx<'_>, site: &SiteId, member: &mut Member, now: Millis) -> Result<()> {
    let since = (now - UNSURE).max(member.created + OF_REGISTRATION);
    drop_since(tx, site, member, since).await
}

/// Ends inside a transaction the links of a member that were made at a time or later: another person than the owner of the address may
/// have made them.
pub(crate) async fn drop_since(tx: &mut Tx<'_>, site: &SiteId, member: &mut Member, since: Millis) -> Result<()> {
    if member.connections.is_empty() {
        return Ok(());
    }
    let sql = "delete from stoa.provider_link where site = $1 and member = $2 and created >= $3";
    tx.send(sql, params![site, &member.id, since]).await?;
    let sql =
        "select provider, subject from stoa.provider_link where site = $1 and member = $2 order by created, provider";
    let pair = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    member.connections = tx.rows(sql, &params![site, &member.id], pair).await?;
    member::write_connections(tx, &MemberWrite::shown_to_be(&member.id), site, member).await?;
    if member.connections.is_empty() {
        factor::drop_password(tx, site, &member.id).await?;
    }
    Ok(())
}

/// Uses an answer of a provider up inside a transaction: whether it was not used before.
pub(crate) async fn take(tx: &mut Tx<'_>, site: &SiteId, once: &Once) -> Result<bool> {
    let sql = "insert into stoa.provider_answer (site, hash, expires) values ($1, $2, $3) \
               on conflict (site, hash) do nothing";
    Ok(tx.execute(sql, &params![site, &once.hash, once.expires]).await? == 1)
}
