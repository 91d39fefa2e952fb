//! Requests of item calls. Whatever arrives gets a documented code.
//!
//! Types are checked where a member is used, so that a call isn't refused for a member that it doesn't
//! know. How a body is read is in [`crate::wire::items`].

use crate::{
    drafts::Drafts,
    fault::{self, Faults},
    language::Language,
    limits::ContentLimits,
    wire::{
        items::{BodyReader, Items, RawItem, RequestBody},
        options::{Options, flag, present},
    },
};
use serde::de::DeserializeSeed;
use serde_json::{Map, Value};
use std::fmt;
use stoa_kernel::{
    Caller, Code, Fault, Result,
    json::{self, Budget},
};
use stoa_query::wire;

/// A request with its items still in the text.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// Every member but `dataItem` and `dataItems`.
    pub members: Map<String, Value>,
    pub(crate) item: Option<RawItem<'a>>,
    pub(crate) items: Option<Items<'a>>,
}

/// The members of a get (docs/protocol/content.md §3.1).
#[derive(Debug, Clone, Default)]
pub struct GetRequest {
    pub collection: String,
    pub id: String,
    /// Dotted names; empty for all fields.
    pub fields: Vec<String>,
    /// Reference fields whose items are wanted in place of their ids.
    pub references: Vec<wire::Reference>,
    pub options: Options,
}

impl<'a> Request<'a> {
    /// Reads a body; an empty one counts as `{}`.
    ///
    /// # Errors
    /// MALFORMED_JSON when it isn't JSON in UTF-8, WDE0080 when it isn't an object.
    pub fn parse(body: &'a [u8]) -> Result<Self> {
        Self::parse_within(body, &Budget::of(usize::MAX))
    }

    /// The same of a body from strangers.
    ///
    /// # Errors
    /// As for [`Request::parse`]; any when the budget of values is exceeded.
    pub fn parse_within(body: &'a [u8], budget: &Budget) -> Result<Self> {
        let text = std::str::from_utf8(body).map_err(|it| malformed(&it))?;
        if text.is_empty() {
            return Ok(Self::default());
        }
        let mut parser = serde_json::Deserializer::from_str(text);
        let read = BodyReader(budget).deserialize(&mut parser).and_then(|it| parser.end().map(|()| it));
        match read.map_err(|it| unreadable(&it))? {
            RequestBody::Object(it) => Ok(Self { members: it.others, item: it.item, items: it.items }),
            RequestBody::Other => Err(Fault::because(Code::BadRequest, "The request body must be an object.")),
        }
    }

    /// Whether the call is about drafts too.
    pub(crate) fn drafts(&self) -> Drafts {
        Drafts::of(&self.members)
    }

    /// A request without items, whose members came another way.
    pub fn of(members: Map<String, Value>) -> Self {
        Self { members, item: None, items: None }
    }

    /// The id of the collection that is written to.
    ///
    /// # Errors
    /// As for [`collection`], and WDE0119 for a language, in which such a call can't be.
    pub fn collection(&self, caller: &Caller) -> Result<&str> {
        let (id, options) = (collection_id(&self.members)?, Options::parse(&self.members)?);
        options.refuse_language()?;
        options.refuse_sandbox(caller)?;
        Ok(id)
    }

    /// The same for a call that may be in a language.
    ///
    /// # Errors
    /// As for [`collection`].
    pub(crate) fn collection_in_language(&self, caller: &Caller) -> Result<&str> {
        collection(&self.members, caller)
    }

    /// The language of the call.
    pub(crate) fn language(&self) -> Language<'_> {
        Language::of(&self.members)
    }

    /// The filter of `condition`, if there is one (docs/protocol/content.md §3.0).
    ///
    /// # Errors
    /// WDE0016 for a condition that isn't an object or has no filter, and what makes a filter invalid.
    pub(crate) fn condition(&self, limits: &ContentLimits) -> Result<Option<wire::Filter>> {
        let wrong = |path: &str, what: &str| {
            Err(Fault::because(Code::FilterNotObject, format!("{path} {what}.")).with("path", path))
        };
        match present(&self.members, "condition") {
            None => Ok(None),
            Some(Value::Object(it)) => match present(it, "filter") {
                Some(it) => Ok(Some(wire::Filter::parse_at("condition.filter", it, &limits.query)?)),
                None => wrong("condition.filter", "is missing"),
            },
            Some(_) => wrong("condition", "must be an object"),
        }
    }

    /// `dataItems`.
    pub(crate) fn items(&self, limits: &ContentLimits) -> Result<&[RawItem<'a>]> {
        match &self.items {
            Some(Items::List(it)) if it.len() > limits.bulk_items => {
                Err(Fault::because(Code::TooManyItems, format!("At most {} items per request.", limits.bulk_items)))
            }
            Some(Items::List(it)) => Ok(it),
            Some(Items::NotList) => Err(Fault::because(Code::ItemsNotObjects, "dataItems must be a list of objects.")),
            None => Err(Fault::because(Code::ItemsNotObjects, "dataItems is missing.")),
        }
    }

    /// `dataItemId`.
    pub(crate) fn item_id(&self) -> Result<&str> {
        item_id(&self.members)
    }

    /// `dataItemIds`, not empty.
    pub(crate) fn item_ids(&self, limits: &ContentLimits) -> Result<Vec<&str>> {
        let wrong = || Fault::because(Code::RemoveIdsInvalid, "dataItemIds must be a list of strings.");
        let list = present(&self.members, "dataItemIds").and_then(Value::as_array).ok_or_else(wrong)?;
        if list.is_empty() {
            return Err(Fault::because(Code::BadRequest, "dataItemIds must not be empty."));
        }
        if list.len() > limits.bulk_items {
            return Err(Fault::because(Code::TooManyIds, format!("At most {} ids per request.", limits.bulk_items)));
        }
        let (mut ids, mut faults) = (Vec::with_capacity(list.len()), Faults::default());
        for (n, it) in list.iter().enumerate() {
            let id = it.as_str().ok_or_else(|| {
                fault::invalid_as(Code::RemoveIdsInvalid, &format!("dataItemIds[{n}]"), "must be a string")
            });
            ids.extend(faults.take(id));
        }
        faults.refuse().map(|()| ids)
    }

    /// `patch`, not read any further.
    pub(crate) fn patch(&self) -> Result<&Value> {
        let missing = || Fault::because(Code::BadRequest, "patch is missing.");
        present(&self.members, "patch").ok_or_else(missing)
    }

    /// `patches`, not empty; their elements aren't read any further.
    pub(crate) fn patches(&self, limits: &ContentLimits) -> Result<&[Value]> {
        let wrong = || Fault::because(Code::BadRequest, "patches must be a list.");
        let list = present(&self.members, "patches").and_then(Value::as_array).ok_or_else(wrong)?;
        if list.is_empty() {
            return Err(Fault::because(Code::BadRequest, "patches must not be empty."));
        }
        if list.len() > limits.bulk_patches {
            return Err(Fault::because(
                Code::TooManyItems,
                format!("At most {} patches per request.", limits.bulk_patches),
            ));
        }
        Ok(list)
    }

    /// `saveReferences`: whether values of multi-references become links.
    pub(crate) fn saves_references(&self) -> Result<bool> {
        flag(&self.members, "saveReferences")
    }

    /// `includeReferencedItems` of a write: whether its answer shows what the item refers to.
    pub(crate) fn includes_references(&self) -> Result<bool> {
        flag(&self.members, "includeReferencedItems")
    }

    /// `returnEntity`: whether a bulk answer shows the items.
    pub(crate) fn wants_items(&self) -> Result<bool> {
        flag(&self.members, "returnEntity")
    }
}

impl GetRequest {
    /// Reads the members of a get; in a query string a list of one is a single text.
    ///
    /// # Errors
    /// WDE0001, WDE0002, WDE0003, WDE0018 for options, and what makes `includeReferences` invalid.
    pub fn parse(members: &Map<String, Value>, limits: &ContentLimits) -> Result<Self> {
        let fields = match present(members, "fields") {
            None => Vec::new(),
            Some(Value::String(it)) => vec![it.clone()],
            Some(Value::Array(list)) => list.iter().map(field_name).collect::<Result<_>>()?,
            Some(it) => vec![field_name(it)?],
        };
        let references = wire::Reference::parse_all(members, &limits.query)?;
        let (collection, id) = (collection_id(members)?.to_owned(), item_id(members)?.to_owned());
        Ok(Self { collection, id, fields, references, options: Options::parse(members)? })
    }

    pub(crate) fn collection(&self, caller: &Caller) -> Result<&str> {
        self.options.refuse_sandbox(caller)?;
        Ok(&self.collection)
    }
}

/// Reads the body of a call that has no items; an empty one counts as `{}`.
///
/// # Errors
/// MALFORMED_JSON when it isn't JSON in UTF-8, WDE0080 when it has what no JSON that we keep has; any when the
/// budget of values is exceeded.
pub fn json(body: &[u8], budget: &Budget) -> Result<Value> {
    match body {
        [] => Ok(Value::Object(Map::new())),
        _ => json::parse(body, budget).map_err(|it| unreadable(&it)),
    }
}

fn malformed(why: &dyn fmt::Display) -> Fault {
    Fault::because(Code::MalformedJson, format!("The request body is not valid JSON: {why}"))
}

/// A body that can't be read. Half of a surrogate pair and a number beyond doubles are JSON all the
/// same, though nothing that we keep (WDE0080 as in an item).
fn unreadable(error: &serde_json::Error) -> Fault {
    let why = error.to_string();
    let is_value =
        why.contains("surrogate") || why.starts_with("unexpected end of hex") || why.starts_with("number out of range");
    if is_value { Fault::because(Code::BadRequest, format!("The request body: {why}")) } else { malformed(error) }
}

fn field_name(value: &Value) -> Result<String> {
    let wrong = || Fault::because(Code::FieldNotText, "fields must be a list of strings.");
    value.as_str().map(str::to_owned).ok_or_else(wrong)
}

/// `dataCollectionId`, for a caller who may use the environment that is asked for.
///
/// # Errors
/// WDE0001 when it is missing or not text; WDE0018 for options that are none, WDE0027 and WDE0179 for an environment
/// that isn't there.
pub(crate) fn collection<'m>(members: &'m Map<String, Value>, caller: &Caller) -> Result<&'m str> {
    let id = collection_id(members)?;
    Options::parse(members)?.refuse_sandbox(caller)?;
    Ok(id)
}

fn collection_id(members: &Map<String, Value>) -> Result<&str> {
    match members.get("dataCollectionId") {
        Some(Value::String(it)) => Ok(it),
        _ => Err(Fault::new(Code::CollectionNotText)),
    }
}

fn item_id(members: &Map<String, Value>) -> Result<&str> {
    match members.get("dataItemId") {
        Some(Value::String(it)) => Ok(it),
        _ => Err(Fault::new(Code::ItemIdNotText)),
    }
}
