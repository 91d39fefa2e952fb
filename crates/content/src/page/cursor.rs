//! Cursors: how far a walk over pages has come, and the question it began with (protocol/content.md 5).
//!
//! A cursor is authenticated with a key of the site, and bound to the site, the collection's table (of
//! which each environment has one), what it continues and the kind of caller. It holds no permission:
//! who comes with one is asked again who they are, and the question is resolved again with today's
//! schema. It is signed, not hidden, and holds nothing but the question and the sort keys of an item
//! that the caller has been shown.

use crate::{Collection, Content};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use quick_cache::sync::Cache;
use ring::hmac;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result, SiteId};
use stoa_query::plan::{Mark, Order, Position, Start};
use stoa_store::{Lane, Site, boxed, setting};

/// The name of the setting with the site's key.
const SETTING: &str = "cursor key";
/// Bytes of an HMAC-SHA256.
const TAG: usize = 32;
/// Keys kept in memory.
const KEYS: usize = 10_000;

/// The keys of sites that cursors were made for.
pub(crate) struct Keys(Cache<SiteId, Arc<hmac::Key>>);

impl Default for Keys {
    fn default() -> Self {
        Self(Cache::new(KEYS))
    }
}

/// Makes and reads the cursors of one kind for one kind of caller.
pub(crate) struct Sealer {
    key: Arc<hmac::Key>,
    /// What is signed along, without being in the cursor.
    bound: Vec<u8>,
}

/// A walk, and how far it has come.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Walk {
    /// The members that cursor requests leave out, as [`Kept`] has taken them.
    #[serde(rename = "q")]
    pub request: Map<String, Json>,
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    is_backward: bool,
    /// Set when the item itself is on the page as well.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    is_included: bool,
    #[serde(rename = "m")]
    marks: Vec<Json>,
    #[serde(rename = "i")]
    id: String,
}

/// Which members of a request live on in the cursor.
pub(crate) struct Kept {
    pub outer: &'static [&'static str],
    /// Those inside `query`, where the paging is then as well.
    pub inner: &'static [&'static str],
}

/// The cursors of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursors {
    pub next: Option<String>,
    pub prev: Option<String>,
}

impl Content {
    /// What makes and reads the cursors of `purpose` over this collection for such a caller.
    pub(crate) async fn sealer(
        &self,
        site: &Site,
        caller: &Caller,
        collection: &Collection,
        purpose: &str,
    ) -> Result<Sealer> {
        let kind = match caller {
            Caller::Visitor { .. } => "visitor",
            Caller::Member { .. } => "member",
            Caller::User { .. } => "user",
            Caller::App { .. } => "app",
        };
        let bound = (purpose, site.id.as_str(), collection.table.number, collection.id.as_str(), kind);
        let bound = serde_json::to_vec(&bound).map_err(Fault::internal)?;
        Ok(Sealer { key: self.cursor_key(site).await?, bound })
    }

    /// The site's key, made on first use and the same on all nodes.
    async fn cursor_key(&self, site: &Site) -> Result<Arc<hmac::Key>> {
        if let Some(it) = self.cursor_keys().0.get(&site.id) {
            return Ok(it);
        }
        let id = site.id.clone();
        let known = site.read(Lane::Point, move |tx| boxed!(Ok(setting::get(tx, &id, SETTING).await?))).await?;
        let text = match known {
            Some(it) => it,
            None => {
                let (id, fresh) = (site.id.clone(), Json::from(self.world().token::<32>()).to_string());
                let made = site.write(move |tx| {
                    let (id, fresh) = (id.clone(), fresh.clone());
                    boxed!(Ok(setting::put_first(tx, &id, SETTING, fresh).await?))
                });
                made.await?
            }
        };
        let secret: String = serde_json::from_str(&text).map_err(Fault::internal)?;
        let key = Arc::new(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
        self.cursor_keys().0.insert(site.id.clone(), key.clone());
        Ok(key)
    }
}

impl Sealer {
    /// A cursor that holds this.
    pub(crate) fn seal(&self, payload: &impl Serialize) -> Result<String> {
        let payload = serde_json::to_vec(payload).map_err(Fault::internal)?;
        let mut bytes = hmac::sign(&self.key, &self.signed(&payload)).as_ref().to_vec();
        bytes.extend(payload);
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// What a cursor of this server holds.
    ///
    /// # Errors
    /// WDE0151 for any other text, and for a cursor of another site, collection, purpose or kind of caller.
    pub(crate) fn open<T: DeserializeOwned>(&self, cursor: &str) -> Result<T> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
        let (tag, payload) = bytes.split_at_checked(TAG).ok_or_else(invalid)?;
        hmac::verify(&self.key, &self.signed(payload), tag).map_err(|_| invalid())?;
        serde_json::from_slice(payload).map_err(|_| invalid())
    }

    /// The end of JSON text is known from itself, so nothing can move over from one part to the other.
    fn signed(&self, payload: &[u8]) -> Vec<u8> {
        [&self.bound, payload].concat()
    }
}

impl Kept {
    /// The cursor that a request comes with.
    pub(crate) fn cursor<'m>(&self, members: &'m Map<String, Json>) -> Option<&'m str> {
        let holder = if self.inner.is_empty() { members } else { members.get("query")?.as_object()? };
        holder.get("cursorPaging")?.get("cursor")?.as_str()
    }

    /// What a walk that begins with this request must remember.
    pub(crate) fn take(&self, members: &Map<String, Json>) -> Map<String, Json> {
        let mut kept = some_of(members, self.outer);
        let inner = members.get("query").and_then(Json::as_object).map(|it| some_of(it, self.inner));
        if let Some(inner) = inner.filter(|it| !it.is_empty()) {
            kept.insert("query".to_owned(), Json::Object(inner));
        }
        kept
    }

    /// The request with what it left out, in place of the cursor.
    pub(crate) fn put(&self, kept: &Map<String, Json>, mut members: Map<String, Json>) -> Map<String, Json> {
        replace(&mut members, kept, self.outer);
        let none = Map::new();
        let holder = match self.inner {
            [] => Some(&mut members),
            _ => members.get_mut("query").and_then(Json::as_object_mut),
        };
        let Some(holder) = holder else { return members };
        replace(holder, kept.get("query").and_then(Json::as_object).unwrap_or(&none), self.inner);
        if let Some(Json::Object(paging)) = holder.get_mut("cursorPaging") {
            paging.remove("cursor");
        }
        members
    }
}

fn some_of(members: &Map<String, Json>, names: &[&str]) -> Map<String, Json> {
    let some = names.iter().filter_map(|name| Some(((*name).to_owned(), members.get(*name)?.clone())));
    some.filter(|(_, it)| !it.is_null()).collect()
}

fn replace(members: &mut Map<String, Json>, kept: &Map<String, Json>, names: &[&str]) {
    for name in names {
        match kept.get(*name) {
            Some(it) => members.insert((*name).to_owned(), it.clone()),
            None => members.remove(*name),
        };
    }
}

impl Walk {
    /// Where the page of the cursor begins.
    pub(crate) fn start(&self, order: Option<&Order>) -> Result<Start> {
        let marks: Option<Vec<_>> = self.marks.iter().map(mark).collect();
        let marks = marks.filter(|it| order.is_none_or(|order| order.marked().count() == it.len()));
        let marks = marks.ok_or_else(invalid)?;
        let position = Position { marks, id: self.id.clone(), is_included: self.is_included };
        Ok(if self.is_backward { Start::Before(position) } else { Start::After(position) })
    }
}

fn mark(json: &Json) -> Option<Mark> {
    match json {
        Json::String(it) => Some(Mark::Key(it.clone())),
        it => it.as_i64().map(Mark::Time),
    }
}

/// The cursors of a page that began there: its first and last places, and whether more follows the way
/// it was read.
pub(crate) fn around(
    sealer: &Sealer,
    request: &Map<String, Json>,
    start: &Start,
    ends: Option<(Position, Position)>,
    more: bool,
) -> Result<Cursors> {
    // What was there may be gone. Then the way back leads from where this page would have begun, and
    // the item there is on it.
    let came_from = |is_included| start.position().map(|it| Position { is_included, ..it.clone() });
    let (has_prev, has_next) = match start {
        Start::Before(_) => (more, true),
        Start::After(_) => (true, more),
        Start::Offset(_) | Start::First => (false, more),
    };
    let (first, last) = match ends {
        Some((first, last)) => (Some(first), Some(last)),
        None => (came_from(true), came_from(true)),
    };
    let seal = |at: Option<Position>, is_backward: bool| {
        let Some(Position { marks, id, is_included }) = at else { return Ok(None) };
        let marks = marks.into_iter().map(|it| match it {
            Mark::Key(it) => Json::from(it),
            Mark::Time(it) => it.into(),
        });
        let walk = Walk { request: request.clone(), is_backward, is_included, marks: marks.collect(), id };
        sealer.seal(&walk).map(Some)
    };
    Ok(Cursors { next: seal(last.filter(|_| has_next), false)?, prev: seal(first.filter(|_| has_prev), true)? })
}

pub(crate) fn invalid() -> Fault {
    Fault::because(Code::CursorInvalid, "The cursor is not one of this server, or not for this request.")
}
