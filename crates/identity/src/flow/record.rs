//! A flow as it is stored: its token and the browser's cookie as hashes, its state as JSON.

use crate::{
    flow::{state::State, wire::FlowKind},
    oauth::authorization::Authorization,
    provider::ProviderPerson,
    sign_in::Outcome,
};
use serde::{Deserialize, Serialize};
use stoa_kernel::{ClientId, Code, Fault, MemberId, Millis, Result, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Life of a flow.
pub(super) const LIFE: Millis = 60 * 60_000;

/// Where a fault names the front end with which the person begins again.
pub(super) const CLIENT: &str = "clientId";

/// What a flow is for: decided when it begins, never changed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Context {
    /// The client that waits for a code.
    pub authorization: Option<Authorization>,
    /// The front end that the flow is for; only a site without any has none.
    pub client: Option<ClientId>,
    /// Where people find it.
    pub home_url: Option<String>,
    /// A checked address to go to at the end.
    pub return_url: Option<String>,
    /// Hash of the invitation (OWNER_SETUP) or recovery link (RECOVER), in hex.
    pub link: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Record {
    pub hash: TokenHash,
    pub kind: FlowKind,
    pub state: State,
    pub context: Context,
    pub revision: i64,
    /// What the end of the sign-in links.
    pub link: Option<Link>,
}

/// Who has come from a provider, and the member whose password was shown then, or whom the word of both sides means: linked when that
/// member's sign-in ends, and nobody else's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    pub person: ProviderPerson,
    pub member: MemberId,
}

impl Link {
    /// Of the member whose sign-in goes on so.
    pub(super) fn of(person: &ProviderPerson, outcome: &Outcome) -> Option<Self> {
        Some(Self { person: person.clone(), member: outcome.member_id()?.clone() })
    }

    /// Whom to link with a member who has signed in.
    pub(super) fn person_of(&self, member: &MemberId, now: Millis) -> Option<&ProviderPerson> {
        (self.member == *member && now < self.person.until).then_some(&self.person)
    }
}

pub(super) async fn insert(site: &Site, record: &Record, browser: TokenHash, now: Millis) -> Result<()> {
    let (kind, state, context) = (json(&record.kind)?, json(&record.state)?, json(&record.context)?);
    let values = params![&site.id, &record.hash, &browser, kind, state, context, record.revision, now + LIFE].to_vec();
    site.append_with(values, |tx, values| {
        boxed!({
            let sql = "insert into stoa.flow (site, hash, browser, kind, state, context, revision, expires) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8)";
            tx.send(sql, values.clone()).await?;
            Ok(())
        })
    })
    .await
}

/// The flow of this browser.
///
/// # Errors
/// [`Code::StateTokenInvalid`] when it is unknown, over, or another browser's; [`CLIENT`] when it is over.
pub(super) async fn find(site: &Site, hash: TokenHash, browser: Option<&str>, now: Millis) -> Result<Record> {
    let gone = || Fault::new(Code::StateTokenInvalid);
    let (id, key, browser) = (site.id.clone(), hash.clone(), TokenHash::of(browser.ok_or_else(gone)?));
    let found = site
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select kind, state, context, revision, link from stoa.flow \
                           where site = $1 and hash = $2 and browser = $3 and expires > $4";
                let values = params![&id, &key, &browser, now];
                let read = tx.row(sql, &values, |row| {
                    let texts: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
                    Ok((texts, row.get::<i64>(3)?, row.get::<Option<String>>(4)?))
                });
                Ok(read.await?)
            })
        })
        .await?;
    let ([kind, state, context], revision, link) = found.ok_or_else(gone)?;
    let state: State = serde_json::from_str(&state).map_err(Fault::internal)?;
    let context: Context = serde_json::from_str(&context).map_err(Fault::internal)?;
    if state == State::Ended {
        return Err(match context.client {
            Some(client) => gone().with(CLIENT, client.as_str()),
            None => gone(),
        });
    }
    let link = link.map(|it| serde_json::from_str(&it)).transpose().map_err(Fault::internal)?;
    Ok(Record { hash, kind: serde_json::from_str(&kind).map_err(Fault::internal)?, state, context, revision, link })
}

/// Writes the state when the flow has not moved on since it was read: `false` when it has. What was to be linked is forgotten with the
/// sign-in that it belongs to.
pub(super) async fn advance(tx: &mut Tx<'_>, site: &Site, record: &Record, state: &State) -> Result<bool> {
    let sql = match state.goes_on() {
        true => {
            "update stoa.flow set state = $1, revision = revision + 1 where site = $2 and hash = $3 and revision = $4"
        }
        false => {
            "update stoa.flow set state = $1, revision = revision + 1, link = null \
             where site = $2 and hash = $3 and revision = $4"
        }
    };
    let changed = tx.execute(sql, &params![json(state)?, &site.id, &record.hash, record.revision]).await?;
    Ok(changed == 1)
}

/// Notes what the end of the sign-in links, in a flow that has not moved on meanwhile.
pub(super) async fn link(tx: &mut Tx<'_>, site: &Site, record: &Record, link: &Link) -> Result<()> {
    let sql = "update stoa.flow set link = $1 where site = $2 and hash = $3 and revision = $4";
    tx.send(sql, params![json(link)?, &site.id, &record.hash, record.revision]).await?;
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(Fault::internal)
}
