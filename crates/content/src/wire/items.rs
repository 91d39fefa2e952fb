//! Bodies of item calls, read in one pass: items stay the text that was sent, other members are parsed.

use crate::limits::ContentLimits;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, value::RawValue};
use std::fmt;
use stoa_kernel::{Code, Fault, Result, json::Budget};
use stoa_query::{CanonicalItem, RawId};

/// An item as it was sent, or what was sent instead.
#[derive(Debug)]
pub(crate) enum RawItem<'a> {
    Item { id: Option<Value>, data: Option<&'a RawValue> },
    NotObject,
    Null,
}

#[derive(Debug)]
pub(crate) enum Items<'a> {
    List(Vec<RawItem<'a>>),
    NotList,
}

impl RawItem<'_> {
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
    pub(crate) fn canonical(&self, limits: &ContentLimits) -> Result<(Option<String>, CanonicalItem)> {
        let Self::Item { id: beside, data: Some(data) } = self else {
            return Err(Fault::because(Code::ItemNotObject, "The item and its data must be objects."));
        };
        let mut item = stoa_query::canonical(data.get(), limits.query.item())?;
        let id = match (std::mem::replace(&mut item.id, RawId::Absent), beside) {
            (RawId::Text(id), None | Some(Value::Null)) => Some(id),
            (RawId::Text(id), Some(beside)) if beside.as_str() == Some(&id) => Some(id),
            (RawId::Text(_), Some(_)) => {
                return Err(Fault::because(Code::BadRequest, "dataItem.id and data._id differ."));
            }
            (RawId::Absent, None | Some(Value::Null)) => None,
            (RawId::Absent, Some(Value::String(id))) => Some(id.clone()),
            (RawId::Absent | RawId::Null | RawId::Other, _) => return Err(Fault::new(Code::ItemIdInvalid)),
        };
        if let Some(id) = &id {
            check_id(id, limits)?;
        }
        Ok((id, item))
    }
}

/// Ids that a request can carry in its path (docs/protocol/content.md §1.4).
pub(crate) fn check_id(id: &str, limits: &ContentLimits) -> Result<()> {
    let is_short = id.len() <= limits.item_id || id.chars().count() <= limits.item_id;
    let is_plain = || id.bytes().all(|it| it >= b' ' && it != 0x7f && it != b'?' && it != b'#');
    if id.is_empty() || !is_short || !is_plain() {
        let text = format!("An item id has 1 to {} characters, without ?, # and control characters.", limits.item_id);
        return Err(Fault::because(Code::ItemIdRefused, text));
    }
    Ok(())
}

/// The body of a request.
pub(crate) enum RequestBody<'a> {
    Object(BodyMembers<'a>),
    Other,
}

/// The members of a body, items apart from the others.
#[derive(Debug, Default)]
pub(crate) struct BodyMembers<'a> {
    /// Every member but `dataItem` and `dataItems`.
    pub others: Map<String, Value>,
    pub item: Option<RawItem<'a>>,
    pub items: Option<Items<'a>>,
}

/// Reads any JSON value, of which all but a few kinds are the same to us, and counts what it keeps.
macro_rules! reader {
    ($name:ident => $value:ty, other $other:expr, null $null:expr, { $($body:tt)* }) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name<'b>(pub(crate) &'b Budget);
        impl<'de> Visitor<'de> for $name<'_> {
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
        impl<'de> DeserializeSeed<'de> for $name<'_> {
            type Value = $value;
            fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<$value, D::Error> {
                from.deserialize_any(self)
            }
        }
    };
}

/// What an item that stays text counts as.
const ITEM: usize = 2;

fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

reader!(BodyReader => RequestBody<'de>, other RequestBody::Other, null RequestBody::Other, {
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip_list(list)?;
        Ok(RequestBody::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut body = BodyMembers::default();
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "dataItem" => body.item = Some(members.next_value_seed(RawItemReader(self.0))?),
                "dataItems" => body.items = members.next_value_seed(ItemsReader(self.0))?.0,
                _ => {
                    let value = members.next_value_seed(self.0)?;
                    body.others.insert(name, value);
                }
            }
        }
        Ok(RequestBody::Object(body))
    }
});

pub(crate) struct OptionalItems<'a>(Option<Items<'a>>);

reader!(ItemsReader => OptionalItems<'de>, other OptionalItems(Some(Items::NotList)), null OptionalItems(None), {
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(it) = list.next_element_seed(RawItemReader(self.0))? {
            self.0.take(ITEM)?;
            items.push(it);
        }
        Ok(OptionalItems(Some(Items::List(items))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(OptionalItems(Some(Items::NotList)))
    }
});

reader!(RawItemReader => RawItem<'de>, other RawItem::NotObject, null RawItem::Null, {
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip_list(list)?;
        Ok(RawItem::NotObject)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut id, mut data) = (None, None);
        while let Some(name) = members.next_key::<Name>()? {
            match name {
                Name::Id => id = Some(members.next_value_seed(self.0)?),
                Name::Data => data = Some(members.next_value()?),
                Name::Other => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(RawItem::Item { id, data })
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
