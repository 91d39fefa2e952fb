//! Pages by cursor of what a filter finds. The public client asks for the next page by its cursor alone, without the filter
//! that the first page had (docs/protocol/identity.md §17), so the cursor has the filter in it.

use super::{
    api_call::ApiCall,
    filter::{self, Filterable},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use stoa_identity::member::Filter;
use stoa_kernel::{
    Code, Fault, Faults, Result,
    json::{self, Budget},
};

/// Bytes of a filter, as JSON text, that a cursor has in it; with a larger one the filter is to be sent again.
const MOST: usize = 8_192;
/// Values in such a filter.
const VALUES: usize = 4_096;
/// What a cursor with a filter begins with; no other one does.
const WITH_FILTER: &str = "~";
/// What a cursor begins with whose filter is to be sent again.
const WITHOUT_FILTER: &str = "~~";

/// Which page is asked for, and of what.
pub(super) struct FilteredPage {
    pub(super) limit: u32,
    /// Behind what; empty for the first page.
    pub(super) cursor: String,
    /// As it was sent, now or with the page before.
    pub(super) filter: Value,
}

impl FilteredPage {
    /// The page that a call asks for, and the filter that it is of.
    ///
    /// # Errors
    /// [`Code::Validation`]; [`Code::CursorInvalid`]; as [`filter::read`]: all that is wrong.
    pub(super) fn of<T: Filterable>(call: &ApiCall, most: u32, things: &T) -> Result<(Self, Filter<T::Field>)> {
        let sent = call.filter();
        let page = call.cursor_page(most).and_then(|(limit, cursor)| Self::read(limit, cursor, sent));
        let filter = filter::read(things, page.as_ref().map_or(sent, |it| &it.filter), "query.filter");
        Faults::both(page, filter)
    }

    fn read(limit: u32, cursor: &str, sent: &Value) -> Result<Self> {
        let is_sent = !is_empty(sent);
        let (cursor, carried) = match (cursor.strip_prefix(WITHOUT_FILTER), cursor.strip_prefix(WITH_FILTER)) {
            (Some(_), _) if !is_sent => {
                return Err(Fault::because(Code::CursorInvalid, "this cursor goes with the filter of the page before"));
            }
            (Some(cursor), _) => (cursor.to_owned(), Value::Null),
            (None, Some(text)) => decode(text).ok_or_else(|| Fault::new(Code::CursorInvalid))?,
            (None, None) => (cursor.to_owned(), Value::Null),
        };
        Ok(Self { limit, cursor, filter: if is_sent { sent.clone() } else { carried } })
    }

    /// The cursor of the next page, as the client gets it.
    pub(super) fn next(&self, cursor: Option<&str>) -> Option<String> {
        let cursor = cursor?;
        if is_empty(&self.filter) {
            return Some(cursor.to_owned());
        }
        let text = json!([cursor, self.filter]).to_string();
        Some(match text.len() <= MOST {
            true => format!("{WITH_FILTER}{}", URL_SAFE_NO_PAD.encode(text)),
            false => format!("{WITHOUT_FILTER}{cursor}"),
        })
    }
}

/// Whether a filter finds everything, as one does that isn't sent.
fn is_empty(filter: &Value) -> bool {
    filter.is_null() || filter.as_object().is_some_and(Map::is_empty)
}

/// The filter is read like one that is sent, so what stands in a cursor need not be believed.
fn decode(text: &str) -> Option<(String, Value)> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    match json::parse(&bytes, &Budget::of(VALUES)).ok()? {
        Value::Array(mut both) if both.len() == 2 => {
            let filter = both.pop()?;
            Some((both.pop()?.as_str()?.to_owned(), filter))
        }
        _ => None,
    }
}
