//! Applications of others to which a member has agreed or in which they are signed on: what they may do there, and ending it.

use crate::{
    Core, Identity, audit,
    client::{self, Client},
    mail::{self, notice},
    oauth::consent::{self, Consent},
    session::{self, SessionSelector},
};
use std::{collections::BTreeSet, net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, ClientId, Code, Fault, MemberId, Millis, Result, Scopes};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, boxed};

/// Sessions that are read, the newest ones.
const MOST: i64 = 1_000;

/// A client that others than those who run the site wrote, and what a member has let it do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    pub id: ClientId,
    pub name: String,
    /// Its first origin.
    pub home: Option<String>,
    /// What the member has agreed to and what its sessions are held to, all together, as text; nothing when one of them has the
    /// member's whole right.
    pub scopes: Option<Vec<String>>,
    /// When the member agreed first, or the first of its sessions began that is still open.
    pub created: Millis,
    /// Written down once an hour. When the member agreed last, of one that has no session.
    pub used: Millis,
}

/// A session of an application, as it is read.
struct Listed {
    client: ClientId,
    created: Millis,
    used: Millis,
    scopes: Option<Vec<String>>,
}

impl Identity {
    /// The applications of others in which the calling member is signed on, the one that was signed on last first; then those
    /// that hold the member's consent alone.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right.
    pub async fn application_list(&self, site: &Site, caller: &Caller) -> Result<Vec<Application>> {
        let core = &self.core;
        let (sessions, consents) = held(core, site, member_of(caller)?).await?;
        let agreed = consents.into_iter().map(|Consent { client, scopes, created, agreed }| Listed {
            client,
            created,
            used: agreed,
            scopes: Some(scopes.texts()),
        });
        let mut found: Vec<Application> = Vec::new();
        for Listed { client, created, used, scopes } in sessions.into_iter().chain(agreed) {
            if let Some(known) = found.iter_mut().find(|it| it.id == client) {
                (known.created, known.used) = (known.created.min(created), known.used.max(used));
                known.scopes = known.scopes.take().zip(scopes).map(|(all, more)| together(all, more));
            } else if let Some(known) = of_others(core, site, &client).await? {
                let (name, home) = (known.name.clone(), known.home());
                found.push(Application { id: client, name, home, scopes, created, used });
            }
        }
        Ok(found)
    }

    /// Signs the calling member off an application of others: the consent is taken back, its sessions end, and their tokens are
    /// refused from now on; they are told by mail. `from` is the network address that asks.
    ///
    /// # Errors
    /// As [`Identity::application_list`]; [`Code::NotFound`] for one that the list doesn't have.
    pub async fn application_end(&self, site: &Site, caller: &Caller, client: &ClientId, from: IpAddr) -> Result<()> {
        let core = &self.core;
        let member = member_of(caller)?;
        let (sessions, consents) = held(core, site, member).await?;
        let is_listed =
            sessions.iter().any(|it| it.client == *client) || consents.iter().any(|it| it.client == *client);
        if !is_listed {
            return Err(Fault::new(Code::NotFound));
        }
        let client = of_others(core, site, client).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
        let which = SessionSelector::Client(member.clone(), client.id.clone());
        let input = (self.core.clone(), site.id.clone(), (member.clone(), client), which.clone());
        session::end_in(core, site, Some(which), input, move |tx, (core, site, (member, client), which)| {
            boxed!({
                // Before what was made of it: what is made meanwhile waits, and finds none.
                let had_agreed = consent::take_back(tx, site, member, &client.id).await?;
                let ended = which.end(tx, site, core.now()).await?;
                // Another call may have ended all of it meanwhile, and told so.
                if had_agreed || !ended.is_empty() {
                    let entry = audit::Entry::by_oneself(member, audit::Event::ApplicationEnded).at_address(Some(from));
                    audit::record(core, tx, site, entry).await?;
                    notice::application_ended(core, tx, site, member, &client.name).await?;
                }
                Ok(((), ended))
            })
        })
        .await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(())
    }
}

/// # Errors
/// [`Code::Forbidden`]: an application is no member, whatever it was let do.
fn member_of(caller: &Caller) -> Result<&MemberId> {
    match caller {
        Caller::Member { id, .. } => Ok(id),
        _ => Err(Fault::new(Code::Forbidden)),
    }
}

/// The open sessions of a member that have a client, the newest first, and what the member has agreed to.
async fn held(core: &Core, site: &Site, member: &MemberId) -> Result<(Vec<Listed>, Vec<Consent>)> {
    let (id, member, now) = (site.id.clone(), member.clone(), core.now());
    let idle_since = now - core.config().session_idle;
    let read = |row: &Row<'_>| {
        let scopes: Option<String> = row.get(3)?;
        Ok(Listed {
            client: ClientId::from(row.text(0)?),
            created: row.get(1)?,
            used: row.get(2)?,
            scopes: scopes.map(|it| Scopes::among(&it).texts()),
        })
    };
    let found = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select client, created, used, scopes from stoa.session where site = $1 and member = $2 \
                       and client is not null and ended is null and expires > $3 and used > $4 \
                       order by created desc limit $5";
            let sessions = tx.rows(sql, &params![&id, &member, now, idle_since, MOST], read).await?;
            Ok((sessions, consent::of_member(tx, &id, &member, MOST).await?))
        })
    });
    found.await
}

/// A client of the site, if others wrote it and it is still there.
async fn of_others(core: &Core, site: &Site, id: &ClientId) -> Result<Option<Arc<Client>>> {
    match client::get(core, id).await {
        Ok(client) => Ok(Some(client).filter(|it| it.is_third_party && it.site == site.id)),
        Err(fault) if fault.code() == Code::ClientUnknown => Ok(None),
        Err(fault) => Err(fault),
    }
}

fn together(one: Vec<String>, other: Vec<String>) -> Vec<String> {
    one.into_iter().chain(other).collect::<BTreeSet<_>>().into_iter().collect()
}
