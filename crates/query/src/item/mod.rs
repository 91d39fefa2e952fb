//! Items as they are stored: one canonical text, made in one pass over what the client sent.
//!
//! The rules (docs/protocol/content.md §2, §19; docs/hazards.md §Stored bytes, §Numbers, §Strings):
//! - every number is an IEEE double and prints as ECMAScript prints it; one beyond the range is refused;
//! - of a repeated name the last value wins, at the place of the first;
//! - NUL and lone surrogates are refused (WDE0080), since one of the engines can't keep them;
//! - an object `{"$date": …}` with that one member is a date: ISO text or milliseconds, stored in UTC to
//!   the millisecond. One that doesn't parse is refused (WDE0080), so that whatever is stored under
//!   `$date` is a date; the public client never sends such a thing (an invalid Date arrives as `{}`);
//! - other names that begin with `$` are refused (WDE0134);
//! - no white space, escapes as `JSON.stringify` writes them, names in the order of the client;
//! - no more levels (WDE0168), the item being the first, and no more bytes (WDE0009) than [`ItemLimits`] say.
//!
//! The four names that the server gives values to (`_id`, `_createdDate`, `_updatedDate`, `_owner`) are
//! taken out on the way and written in front by [`CanonicalItem::document`].

mod lex;
pub mod number;
mod project;
mod refusal;
mod scan;

pub use project::{Edit, edit, members, project, without};
pub use scan::{ItemLimits, RawId, value};

use stoa_kernel::{Code, Fault, Millis, Result, date};

/// The most levels that an item may be allowed: names in filters, sorts, indexes and patches lead no deeper.
pub const MAX_DEPTH: usize = 32;

/// What a client sent as an item's `data`, ready to be stamped and stored.
#[derive(Debug, Clone, PartialEq)]
pub struct CanonicalItem {
    /// `_id` as it was sent.
    pub id: RawId,
    /// `_owner` as it was sent, if it is text. Whether it counts is the caller's business.
    pub owner: Option<String>,
    /// `_createdDate` as it was sent, if it is a date. Whether it counts is the caller's business.
    pub created: Option<Millis>,
    /// All other members: `"a":1,"b":2`.
    members: String,
    limits: ItemLimits,
}

/// What the server puts on an item.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    pub id: &'a str,
    pub created: Millis,
    pub updated: Millis,
    pub owner: Option<&'a str>,
}

/// Reads an item's `data`, any JSON text.
///
/// Fails with WDE0004 if it isn't an object, MALFORMED_JSON if it isn't JSON, and as the module says.
pub fn canonical(json: &str, limits: ItemLimits) -> Result<CanonicalItem> {
    let scan::ScannedItem { id, owner, created, members } = scan::item(json, limits)?;
    Ok(CanonicalItem { id, owner, created, members, limits })
}

impl CanonicalItem {
    /// The item that has nothing but what the server puts on it.
    pub fn empty(limits: ItemLimits) -> Self {
        Self { id: RawId::Absent, owner: None, created: None, members: String::new(), limits }
    }

    /// All members but the server's own, as the text of an object.
    pub fn data(&self) -> String {
        format!("{{{}}}", self.members)
    }

    /// This item with more members at its end.
    ///
    /// # Errors
    /// As for [`canonical`].
    pub fn with(&self, more: &serde_json::Map<String, serde_json::Value>) -> Result<Self> {
        let more = serde_json::to_string(more).map_err(Fault::internal)?;
        let comma = if self.members.is_empty() || more == "{}" { "" } else { "," };
        let members = scan::item(&format!("{{{}{comma}{}", self.members, &more[1..]), self.limits)?.members;
        Ok(Self { id: self.id.clone(), owner: self.owner.clone(), members, ..*self })
    }

    /// Decides on each member, by its name and value as they stand in canonical text.
    ///
    /// # Errors
    /// What `each` answers; nothing is changed then.
    pub fn edit(&mut self, each: impl FnMut(&str, &str) -> Result<Edit>) -> Result<()> {
        self.members = project::edited(&self.members, each)?;
        Ok(())
    }

    /// The whole document as it is stored and answered.
    pub fn document(&self, stamp: Stamp<'_>) -> Result<String> {
        let mut text = String::with_capacity(self.members.len() + 200);
        text.push_str("{\"_id\":");
        lex::quote(stamp.id, &mut text);
        for (name, millis) in [("_createdDate", stamp.created), ("_updatedDate", stamp.updated)] {
            let iso = date::print(millis)
                .ok_or_else(|| Fault::because(Code::BadRequest, format!("{name} is out of range")))?;
            text.extend([",\"", name, "\":{\"$date\":\"", &iso, "\"}"]);
        }
        if let Some(owner) = stamp.owner {
            text.push_str(",\"_owner\":");
            lex::quote(owner, &mut text);
        }
        if !self.members.is_empty() {
            text.extend([",", &self.members]);
        }
        text.push('}');
        if text.len() > self.limits.bytes {
            return Err(Fault::because(Code::ItemTooLarge, self.limits.too_large()));
        }
        Ok(text)
    }
}
