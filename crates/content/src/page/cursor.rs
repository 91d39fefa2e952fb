//! Cursors: how far cursor pagination has come, and the request it began with (docs/protocol/content.md §5).
//!
//! A cursor is authenticated with a key of the site, and bound to the site, the collection's table (of
//! which each environment has one), the call that it continues and the kind of caller. It holds no
//! permission: the caller who comes with one is authenticated again, and the request is resolved again with
//! today's schema. It is signed, not hidden, and holds nothing but the request and the keyset values of an
//! item that the caller has been shown; a number that nobody is told is hidden in it ([`CursorPaging::hidden`]).

use crate::{Content, RequestContext, collection::Collection, fault};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use quick_cache::sync::Cache;
use ring::hmac;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};
use std::{borrow::Cow, sync::Arc};
use stoa_kernel::{Caller, Fault, Result, SiteId};
use stoa_query::plan::{KeysetValue, Order, Position, Start};
use stoa_store::{Site, setting};

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

/// A call that has cursors.
pub(crate) struct CursorCall {
    /// Its name, which its cursors are bound to.
    pub name: &'static str,
    /// The members of a request that live on in its cursors.
    pub outer: &'static [&'static str],
    /// The member of a request that has the inner ones.
    pub within: &'static str,
    /// Those inside of it, where the paging is then as well.
    pub inner: &'static [&'static str],
}

/// The cursors of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursors {
    pub next: Option<String>,
    pub prev: Option<String>,
}

/// The positions of a page's first and last elements; nothing of an empty page.
pub(crate) type Ends = Option<(Position, Position)>;

/// A request by cursor: how its cursors are signed, and what it continues.
pub(crate) struct CursorPaging {
    signer: CursorSigner,
    state: Option<CursorState>,
}

/// Signs and reads the cursors of one call for one kind of caller.
struct CursorSigner {
    key: Arc<hmac::Key>,
    /// What is signed along, without being in the cursor.
    bound: Vec<u8>,
}

/// What a cursor holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CursorState {
    /// The members that cursor requests leave out, as [`CursorCall::take`] has taken them.
    #[serde(rename = "q")]
    request: Map<String, Json>,
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    is_backward: bool,
    /// Set when the item itself is on the page as well.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    is_included: bool,
    #[serde(rename = "m")]
    keyset: Vec<Json>,
    #[serde(rename = "i")]
    id: String,
}

/// What a request by cursor needs, and the whole request; nothing and the request itself if it goes by offset.
///
/// # Errors
/// WDE0151 for a cursor that isn't one of this call.
pub(crate) async fn paging<'m>(
    context: RequestContext<'_>,
    collection: &Collection,
    call: &CursorCall,
    members: &'m Map<String, Json>,
) -> Result<(Option<CursorPaging>, Cow<'m, Map<String, Json>>)> {
    if call.paging_holder(members).and_then(|it| it.get("cursorPaging")).is_none_or(Json::is_null) {
        return Ok((None, Cow::Borrowed(members)));
    }
    let signer = CursorSigner::new(context, collection, call.name).await?;
    let state: Option<CursorState> = call.cursor(members).map(|it| signer.open(it)).transpose()?;
    let members = match &state {
        Some(state) => Cow::Owned(call.put(&state.request, members.clone())),
        None => Cow::Borrowed(members),
    };
    Ok((Some(CursorPaging { signer, state }), members))
}

impl CursorPaging {
    /// Where the page begins; nothing when the paging begins with it.
    pub(crate) fn start(&self, order: Option<&Order>) -> Result<Option<Start>> {
        self.state.as_ref().map(|it| it.start(order)).transpose()
    }

    /// A number as it can stand in a cursor, and the number again from that: only the site's key tells one from the other.
    /// `once`: another number for each, else two that are hidden tell how far they are apart.
    pub(crate) fn hidden(&self, number: i64, once: i64) -> i64 {
        // What is signed begins with a bracket.
        let mask = hmac::sign(&self.signer.key, format!("hidden {once}").as_bytes());
        let mask: [u8; 8] = std::array::from_fn(|n| mask.as_ref()[n]);
        number ^ i64::from_le_bytes(mask)
    }

    /// The cursors of a page that began there: its first and last positions, and whether more follows the way
    /// it was read.
    pub(crate) fn around(
        self,
        request: impl FnOnce() -> Map<String, Json>,
        start: &Start,
        ends: Ends,
        has_more: bool,
    ) -> Result<Cursors> {
        let request = self.state.map_or_else(request, |it| it.request);
        // What was there may be gone. Then the way back leads from where this page would have begun, and
        // the item there is on it.
        let origin = |is_included| start.position().map(|it| Position { is_included, ..it.clone() });
        let (has_prev, has_next) = match start {
            Start::Before(_) => (has_more, true),
            Start::After(_) => (true, has_more),
            Start::Offset(_) | Start::First => (false, has_more),
        };
        let (first, last) = match ends {
            Some((first, last)) => (Some(first), Some(last)),
            None => (origin(true), origin(true)),
        };
        let sign = |position: Option<Position>, is_backward: bool| {
            let Some(Position { keyset, id, is_included }) = position else { return Ok(None) };
            let keyset = keyset.into_iter().map(|it| match it {
                KeysetValue::Key(it) => Json::from(it),
                KeysetValue::Time(it) => it.into(),
            });
            let state =
                CursorState { request: request.clone(), is_backward, is_included, keyset: keyset.collect(), id };
            self.signer.sign(&state).map(Some)
        };
        Ok(Cursors { next: sign(last.filter(|_| has_next), false)?, prev: sign(first.filter(|_| has_prev), true)? })
    }
}

impl CursorState {
    fn start(&self, order: Option<&Order>) -> Result<Start> {
        let keyset: Option<Vec<_>> = self.keyset.iter().map(keyset_value).collect();
        let keyset = keyset.filter(|it| order.is_none_or(|order| order.keyset_keys().count() == it.len()));
        let keyset = keyset.ok_or_else(fault::cursor_invalid)?;
        let position = Position { keyset, id: self.id.clone(), is_included: self.is_included };
        Ok(if self.is_backward { Start::Before(position) } else { Start::After(position) })
    }
}

fn keyset_value(json: &Json) -> Option<KeysetValue> {
    match json {
        Json::String(it) => Some(KeysetValue::Key(it.clone())),
        it => it.as_i64().map(KeysetValue::Time),
    }
}

impl CursorCall {
    /// The object of a request that has its paging.
    fn paging_holder<'m>(&self, members: &'m Map<String, Json>) -> Option<&'m Map<String, Json>> {
        if self.inner.is_empty() { Some(members) } else { members.get(self.within).and_then(Json::as_object) }
    }

    /// The cursor that a request comes with.
    fn cursor<'m>(&self, members: &'m Map<String, Json>) -> Option<&'m str> {
        self.paging_holder(members)?.get("cursorPaging")?.get("cursor")?.as_str()
    }

    /// What the cursors of a paging that begins with this request must keep.
    pub(crate) fn take(&self, members: &Map<String, Json>) -> Map<String, Json> {
        let mut kept = some_of(members, self.outer);
        let inner = members.get(self.within).and_then(Json::as_object).map(|it| some_of(it, self.inner));
        if let Some(inner) = inner.filter(|it| !it.is_empty()) {
            kept.insert(self.within.to_owned(), Json::Object(inner));
        }
        kept
    }

    /// The request with what it left out, in place of the cursor.
    fn put(&self, kept: &Map<String, Json>, mut members: Map<String, Json>) -> Map<String, Json> {
        replace(&mut members, kept, self.outer);
        let none = Map::new();
        let holder = match self.inner {
            [] => Some(&mut members),
            _ => members.get_mut(self.within).and_then(Json::as_object_mut),
        };
        let Some(holder) = holder else { return members };
        replace(holder, kept.get(self.within).and_then(Json::as_object).unwrap_or(&none), self.inner);
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

impl CursorSigner {
    async fn new(context: RequestContext<'_>, collection: &Collection, call: &str) -> Result<Self> {
        let RequestContext { content, site, caller, .. } = context;
        let kind = match caller.bare() {
            Caller::Visitor { .. } => "visitor",
            Caller::Member { .. } => "member",
            Caller::User { .. } => "user",
            Caller::App { .. } | Caller::Scoped(_) => "app",
        };
        let bound = (call, site.id.as_str(), collection.table.number, collection.id.as_str(), kind);
        let bound = serde_json::to_vec(&bound).map_err(Fault::internal)?;
        Ok(Self { key: site_key(content, site).await?, bound })
    }

    /// A cursor that holds this.
    fn sign(&self, payload: &impl Serialize) -> Result<String> {
        let payload = serde_json::to_vec(payload).map_err(Fault::internal)?;
        let mut bytes = hmac::sign(&self.key, &self.signed(&payload)).as_ref().to_vec();
        bytes.extend(payload);
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// What a cursor of this server holds.
    ///
    /// # Errors
    /// WDE0151 for any other text, and for a cursor of another site, collection, call or kind of caller.
    fn open<T: DeserializeOwned>(&self, cursor: &str) -> Result<T> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| fault::cursor_invalid())?;
        let (tag, payload) = bytes.split_at_checked(TAG).ok_or_else(fault::cursor_invalid)?;
        hmac::verify(&self.key, &self.signed(payload), tag).map_err(|_| fault::cursor_invalid())?;
        serde_json::from_slice(payload).map_err(|_| fault::cursor_invalid())
    }

    /// The end of JSON text is known from itself, so nothing can move over from one part to the other.
    fn signed(&self, payload: &[u8]) -> Vec<u8> {
        [&self.bound, payload].concat()
    }
}

/// The site's key, made on first use and the same on all nodes.
async fn site_key(content: &Content, site: &Site) -> Result<Arc<hmac::Key>> {
    let keys = &content.state.cursor_keys.0;
    if let Some(it) = keys.get(&site.id) {
        return Ok(it);
    }
    let secret = setting::secret(site, SETTING, &content.state.world).await?;
    let key = Arc::new(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    keys.insert(site.id.clone(), key.clone());
    Ok(key)
}
