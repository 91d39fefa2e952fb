//! Bodies of item calls, read in one pass: items stay the text that was sent, everything else is parsed.
//!
//! Whatever arrives gets a documented code. Types are checked where a member is used, so that a call
//! isn't refused for a member that it doesn't know.

use crate::Limits;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, value::RawValue};
use std::fmt;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{CanonicalItem, SentId, wire};

/// A request with its items still in the text.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// Every member but `dataItem` and `dataItems`.
    pub members: Map<String, Value>,
    pub(crate) item: Option<Sent<'a>>,
    pub(crate) items: Option<Items<'a>>,
}

/// The members of a get (protocol/content.md 3.1).
#[derive(Debug, Clone, Default)]
pub struct GetRequest {
    pub collection: String,
    pub id: String,
    /// Dotted names; empty for all fields.
    pub fields: Vec<String>,
}

/// What stands in the place of an item.
#[derive(Debug)]
pub(crate) enum Sent<'a> {
    Item { id: Option<Value>, data: Option<&'a RawValue> },
    NotObject,
    Null,
}

#[derive(Debug)]
pub(crate) enum Items<'a> {
    List(Vec<Sent<'a>>),
    NotList,
}

impl<'a> Request<'a> {
    /// Reads a body; an empty one counts as `{}`.
    ///
    /// # Errors
    /// MALFORMED_JSON when it isn't JSON in UTF-8, WDE0080 when it isn't an object.
    pub fn parse(body: &'a [u8]) -> Result<Self> {
        let malformed = |it: &dyn fmt::Display| {
            Fault::because(Code::MalformedJson, format!("The request body is not valid JSON: {it}"))
        };
        let text = std::str::from_utf8(body).map_err(|it| malformed(&it))?;
        if text.is_empty() {
            return Ok(Self::default());
        }
        match serde_json::from_str::<Top<'_>>(text).map_err(|it| malformed(&it))? {
            Top::Request(it) => Ok(it),
            Top::Other => Err(Fault::because(Code::BadRequest, "The request body must be an object.")),
        }
    }

    /// A request without items, whose members came another way.
    pub fn of(members: Map<String, Value>) -> Self {
        Self { members, item: None, items: None }
    }

    /// The collection's id.
    ///
    /// # Errors
    /// WDE0001 when it is missing or not text; WDE0179 and WDE0018 for an environment that isn't there.
    pub fn collection(&self) -> Result<&str> {
        collection(&self.members)
    }

    /// The filter of `condition`, if there is one (protocol/content.md 3.0).
    pub(crate) fn condition(&self) -> Result<Option<wire::Filter>> {
        match present(&self.members, "condition") {
            None => Ok(None),
            Some(Value::Object(it)) => Ok(Some(wire::Filter::parse_member(it)?)),
            Some(_) => Err(Fault::because(Code::FilterNotObject, "condition must be an object.")),
        }
    }

    /// `dataItems`.
    pub(crate) fn items(&self, limits: &Limits) -> Result<&[Sent<'a>]> {
        match &self.items {
            Some(Items::List(it)) if it.len() > limits.bulk => {
                Err(Fault::because(Code::TooManyItems, format!("At most {} items per request.", limits.bulk)))
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
    pub(crate) fn item_ids(&self, limits: &Limits) -> Result<Vec<&str>> {
        let wrong = || Fault::because(Code::RemoveIdsInvalid, "dataItemIds must be a list of strings.");
        let list = present(&self.members, "dataItemIds").and_then(Value::as_array).ok_or_else(wrong)?;
        if list.is_empty() {
            return Err(Fault::because(Code::BadRequest, "dataItemIds must not be empty."));
        }
        if list.len() > limits.bulk {
            return Err(Fault::because(Code::TooManyIds, format!("At most {} ids per request.", limits.bulk)));
        }
        list.iter().map(|it| it.as_str().ok_or_else(wrong)).collect()
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
    /// WDE0001, WDE0002, WDE0003; WDE0119 for references, which this server doesn't resolve yet.
    pub fn parse(members: &Map<String, Value>) -> Result<Self> {
        let fields = match present(members, "fields") {
            None => Vec::new(),
            Some(Value::String(it)) => vec![it.clone()],
            Some(Value::Array(list)) => list.iter().map(field_name).collect::<Result<_>>()?,
            Some(it) => vec![field_name(it)?],
        };
        let is_empty = |it: &Value| it.as_array().is_some_and(Vec::is_empty);
        if present(members, "includeReferences").is_some_and(|it| !is_empty(it)) {
            return Err(not_resolved());
        }
        Ok(Self { collection: collection(members)?.to_owned(), id: item_id(members)?.to_owned(), fields })
    }
}

/// References are resolved by a later part of this crate.
pub(crate) fn not_resolved() -> Fault {
    Fault::because(Code::NotSupported, "Including referenced items is not supported yet.")
}

fn field_name(value: &Value) -> Result<String> {
    let wrong = || Fault::because(Code::FieldNotText, "fields must be a list of strings.");
    value.as_str().map(str::to_owned).ok_or_else(wrong)
}

/// `dataCollectionId`, and whether the environment is one that there is.
pub(crate) fn collection(members: &Map<String, Value>) -> Result<&str> {
    match present(members, "environment").map(Value::as_str) {
        None | Some(Some("LIVE" | "SANDBOX_PREFERRED" | "UNKNOWN_ENVIRONMENT")) => {}
        Some(Some("SANDBOX")) => return Err(Fault::new(Code::SandboxDisabled)),
        Some(_) => {
            let text = "environment must be LIVE, SANDBOX or SANDBOX_PREFERRED.";
            return Err(Fault::because(Code::OptionsInvalid, text));
        }
    }
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

fn flag(members: &Map<String, Value>, name: &str) -> Result<bool> {
    match present(members, name) {
        None => Ok(false),
        Some(Value::Bool(it)) => Ok(*it),
        Some(_) => Err(Fault::because(Code::OptionsInvalid, format!("{name} must be true or false."))),
    }
}

fn present<'m>(members: &'m Map<String, Value>, name: &str) -> Option<&'m Value> {
    members.get(name).filter(|it| !it.is_null())
}

impl Sent<'_> {
    /// The id beside the data, as far as it is text: what a refusal is shown with.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Item { id, .. } => id.as_ref().and_then(Value::as_str),
            _ => None,
        }
    }

    /// The item's canonical form and the id it was sent with.
    ///
    /// # Errors
    /// WDE0004 when it isn't an object; WDE0007 and WDE0079 for its id, WDE0080 when the id beside the data
    /// is another than the one in it; and what [`stoa_query::canonical`] refuses.
    pub(crate) fn canonical(&self, limits: &Limits) -> Result<(Option<String>, CanonicalItem)> {
        let Self::Item { id: beside, data: Some(data) } = self else {
            return Err(Fault::because(Code::ItemNotObject, "The item and its data must be objects."));
        };
        let mut item = stoa_query::canonical(data.get())?;
        let id = match (std::mem::replace(&mut item.id, SentId::Absent), beside) {
            (SentId::Text(id), None | Some(Value::Null)) => Some(id),
            (SentId::Text(id), Some(beside)) if beside.as_str() == Some(&id) => Some(id),
            (SentId::Text(_), Some(_)) => {
                return Err(Fault::because(Code::BadRequest, "dataItem.id and data._id differ."));
            }
            (SentId::Absent, None | Some(Value::Null)) => None,
            (SentId::Absent, Some(Value::String(id))) => Some(id.clone()),
            (SentId::Absent | SentId::Null | SentId::Other, _) => return Err(Fault::new(Code::ItemIdInvalid)),
        };
        if let Some(id) = &id {
            check_id(id, limits)?;
        }
        Ok((id, item))
    }
}

/// Ids that a request can carry in its path (protocol/content.md 1.4).
pub(crate) fn check_id(id: &str, limits: &Limits) -> Result<()> {
    let is_short = id.len() <= limits.id || id.chars().count() <= limits.id;
    let is_plain = || id.bytes().all(|it| it >= b' ' && it != 0x7f && it != b'?' && it != b'#');
    if id.is_empty() || !is_short || !is_plain() {
        let text = format!("An item id has 1 to {} characters, without ?, # and control characters.", limits.id);
        return Err(Fault::because(Code::ItemIdRefused, text));
    }
    Ok(())
}

enum Top<'a> {
    Request(Request<'a>),
    Other,
}

/// Visits any JSON value, of which all but a few kinds are the same to us.
macro_rules! visitor {
    ($name:ident => $value:ty, other $other:expr, null $null:expr, { $($body:tt)* }) => {
        struct $name;
        impl<'de> Visitor<'de> for $name {
            type Value = $value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok($other)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok($other)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok($other)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok($other)
            }
            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok($other)
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok($null)
            }
            $($body)*
        }
        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any($name)
            }
        }
    };
}

fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

visitor!(TopVisitor => Top<'de>, other Top::Other, null Top::Other, {
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip_list(list)?;
        Ok(Top::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut request = Request::default();
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "dataItem" => request.item = Some(members.next_value()?),
                "dataItems" => request.items = members.next_value::<OptionalItems<'_>>()?.0,
                _ => {
                    let value = members.next_value()?;
                    request.members.insert(name, value);
                }
            }
        }
        Ok(Top::Request(request))
    }
});

struct OptionalItems<'a>(Option<Items<'a>>);

visitor!(ItemsVisitor => OptionalItems<'de>, other OptionalItems(Some(Items::NotList)), null OptionalItems(None), {
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(it) = list.next_element()? {
            items.push(it);
        }
        Ok(OptionalItems(Some(Items::List(items))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(OptionalItems(Some(Items::NotList)))
    }
});

visitor!(SentVisitor => Sent<'de>, other Sent::NotObject, null Sent::Null, {
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip_list(list)?;
        Ok(Sent::NotObject)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut id, mut data) = (None, None);
        while let Some(name) = members.next_key::<Name>()? {
            match name {
                Name::Id => id = Some(members.next_value()?),
                Name::Data => data = Some(members.next_value()?),
                Name::Other => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Sent::Item { id, data })
    }
});

/// The names of an item's wrapper.
enum Name {
    Id,
    Data,
    Other,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(match name {
                    "id" => Name::Id,
                    "data" => Name::Data,
                    _ => Name::Other,
                })
            }
        }
        from.deserialize_identifier(NameVisitor)
    }
}
