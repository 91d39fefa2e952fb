//! Fields of a collection: what managers may send, and what the server adds when it shows them.
//!
//! A field is kept as it was sent, without what only the server knows. The tables are
//! docs/protocol/content.md §6.3. Whether items fit their fields is another matter: see `strictMode`.

use crate::{
    fault::{Faults, invalid, invalid_as, missing},
    limits::ContentLimits,
    wire::validator::{Validator, check},
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Code, Fault, Result};

/// A field's definition as it was sent.
pub type Field = Map<String, Value>;

/// Fields every item has; the server gives them their values.
pub const SYSTEM: [(&str, &str, &str); 4] = [
    ("_id", "ID", "TEXT"),
    ("_createdDate", "Created Date", "DATETIME"),
    ("_updatedDate", "Updated Date", "DATETIME"),
    ("_owner", "Owner", "TEXT"),
];

/// Names of field types.
pub const TYPES: &[&str] = &[
    "TEXT",
    "NUMBER",
    "DATE",
    "DATETIME",
    "IMAGE",
    "BOOLEAN",
    "DOCUMENT",
    "URL",
    "RICH_TEXT",
    "VIDEO",
    "ANY",
    "ARRAY_STRING",
    "ARRAY_DOCUMENT",
    "AUDIO",
    "TIME",
    "LANGUAGE",
    "RICH_CONTENT",
    "MEDIA_GALLERY",
    "ADDRESS",
    "PAGE_LINK",
    "REFERENCE",
    "MULTI_REFERENCE",
    "OBJECT",
    "ARRAY",
    "SLUG",
    "EMAIL",
    "SECURED_MEDIA",
    "MEDIA_IMAGE",
    "MEDIA_VECTOR_ART",
    "LEGACY_TIME",
    "LEGACY_BOOK",
    "LEGACY_EXTERNAL_URL",
    "LEGACY_BROKEN_REFERENCE",
    "LEGACY_IMAGE",
    "LEGACY_COLOR",
    "LEGACY_EXTERNAL_VIDEO",
];

/// Members that only the server sets; they come back on a round trip and are ignored.
const READ_ONLY: [&str; 4] = ["systemField", "capabilities", "deleted", "condition"];

static FIELD: Validator = Validator::Object(&[
    ("key", Validator::Text(1, 1000)),
    ("displayName", Validator::Text(0, 1000)),
    ("type", Validator::OneOf(TYPES)),
    ("typeMetadata", Validator::Of(&TYPE_METADATA)),
    ("encrypted", Validator::Flag),
    ("description", Validator::TextTo(0, |it| it.field_description)),
    ("readOnly", Validator::Flag),
    ("immutable", Validator::Flag),
    ("required", Validator::Flag),
    ("plugins", Validator::List(100, &FIELD_PLUGIN)),
    ("numberRange", Validator::Object(&[("min", Validator::Number), ("max", Validator::Number)])),
    ("stringLengthRange", Validator::Object(&[("minLength", Validator::Count), ("maxLength", Validator::Count)])),
    ("arraySizeRange", Validator::Object(&[("minSize", Validator::Count), ("maxSize", Validator::Count)])),
]);

static FIELD_PLUGIN: Validator = Validator::Object(&[
    ("type", Validator::OneOf(&["UNKNOWN", "CMS", "CATEGORY_FIELD", "CATEGORY_CONSUMER", "PRIMARY_CATEGORY_FIELD"])),
    ("cmsOptions", Validator::Object(&[("internal", Validator::Flag)])),
    ("categoryFieldOptions", Validator::Object(&[("isPrimary", Validator::Flag)])),
]);

static OBJECT_FIELD: Validator = Validator::Object(&[
    ("key", Validator::Text(1, 1000)),
    ("displayName", Validator::Text(0, 1000)),
    ("type", Validator::OneOf(TYPES)),
    ("typeMetadata", Validator::Of(&TYPE_METADATA)),
]);

static TYPE_METADATA: Validator = Validator::Union(&[
    ("reference", Validator::Object(&[("referencedCollectionId", Validator::Text(1, 256))])),
    (
        "multiReference",
        Validator::Object(&[
            ("referencedCollectionId", Validator::Text(1, 256)),
            ("referencingFieldKey", Validator::Text(0, 1000)),
            ("referencingDisplayName", Validator::Text(0, 1000)),
        ]),
    ),
    (
        "object",
        Validator::Object(&[("fields", Validator::List(1000, &OBJECT_FIELD)), ("defaultValue", Validator::Any)]),
    ),
    (
        "array",
        Validator::Object(&[
            ("elementType", Validator::OneOf(TYPES)),
            ("typeMetadata", Validator::Of(&TYPE_METADATA)),
            ("minSize", Validator::Count),
            ("maxSize", Validator::Count),
            ("defaultValue", Validator::Any),
        ]),
    ),
    (
        "pageLink",
        Validator::Object(&[
            (
                "calculator",
                Validator::Union(&[
                    (
                        "fieldsPattern",
                        Validator::Object(&[("pattern", Validator::Text(0, 1000)), ("lowercase", Validator::Flag)]),
                    ),
                    ("urlizedOnlyPattern", Validator::Object(&[("pattern", Validator::Text(0, 1000))])),
                ]),
            ),
            ("linkedRouterPage", Validator::Text(0, 1000)),
            ("pageLinkType", Validator::OneOf(&["COLLECTION_DEFINED", "ROUTER_DEFINED"])),
        ]),
    ),
    (
        "slug",
        Validator::Object(&[
            ("pattern", Validator::Text(1, 1000)),
            ("minLength", Validator::Count),
            ("maxLength", Validator::Count),
            ("defaultValue", Validator::Any),
        ]),
    ),
    (
        "text",
        Validator::Object(&[
            ("textValidation", Validator::Of(&TEXT_VALIDATION)),
            ("enumValues", Validator::Object(&[("values", Validator::ListTo(|it| it.enum_values, &ENUM_VALUE))])),
            ("defaultValue", Validator::Any),
        ]),
    ),
    (
        "number",
        Validator::Object(&[("defaultValue", Validator::Any), ("min", Validator::Number), ("max", Validator::Number)]),
    ),
    (
        "date",
        Validator::Object(&[
            ("defaultValueFixed", Validator::Time),
            ("defaultValueOffsetFromNowInDays", Validator::Whole),
            ("minDateFixed", Validator::Time),
            ("minValueOffsetFromNowInDays", Validator::Whole),
            ("maxDateFixed", Validator::Time),
            ("maxValueOffsetFromNowInDays", Validator::Whole),
        ]),
    ),
    (
        "datetime",
        Validator::Object(&[
            ("defaultValueFixed", Validator::Time),
            ("defaultValueOffsetFromNowInSeconds", Validator::Whole),
            ("minDateFixed", Validator::Time),
            ("minDateOffsetFromNowInSeconds", Validator::Whole),
            ("maxDateFixed", Validator::Time),
            ("maxDateOffsetFromNowInSeconds", Validator::Whole),
        ]),
    ),
    (
        "url",
        Validator::Object(&[
            ("defaultValue", Validator::Text(1, 2048)),
            ("textValidation", Validator::Of(&TEXT_VALIDATION)),
        ]),
    ),
    (
        "richText",
        Validator::Object(&[
            ("defaultValue", Validator::Any),
            ("minLength", Validator::Count),
            ("maxLength", Validator::Count),
        ]),
    ),
    (
        "arrayString",
        Validator::Object(&[
            ("defaultValue", Validator::Any),
            ("minSize", Validator::Count),
            ("maxSize", Validator::Count),
            ("minLengthForItem", Validator::Count),
            ("maxLengthForItem", Validator::Count),
        ]),
    ),
    (
        "arrayDocument",
        Validator::Object(&[
            ("defaultValue", Validator::Any),
            ("minSize", Validator::Count),
            ("maxSize", Validator::Count),
        ]),
    ),
    (
        "time",
        Validator::Object(&[
            ("defaultValue", Validator::Any),
            ("minTime", Validator::Text(5, 5)),
            ("maxTime", Validator::Text(5, 5)),
        ]),
    ),
    ("email", DEFAULT_ONLY),
    ("image", DEFAULT_ONLY),
    ("boolean", DEFAULT_ONLY),
    ("document", DEFAULT_ONLY),
    ("video", DEFAULT_ONLY),
    ("audio", DEFAULT_ONLY),
    ("richContent", DEFAULT_ONLY),
    ("mediaGallery", DEFAULT_ONLY),
    ("address", DEFAULT_ONLY),
    ("legacyColor", DEFAULT_ONLY),
]);

const DEFAULT_ONLY: Validator = Validator::Object(&[("defaultValue", Validator::Any)]);

static ENUM_VALUE: Validator = Validator::TextTo(0, |it| it.enum_value);

static TEXT_VALIDATION: Validator = Validator::Object(&[
    ("minLength", Validator::Count),
    ("maxLength", Validator::Count),
    ("pattern", Validator::Text(0, 1000)),
]);

pub fn is_system(key: &str) -> bool {
    SYSTEM.iter().any(|it| it.0 == key)
}

/// Reads a list of fields: system fields are left out, keys must differ.
///
/// # Errors
/// WDE0075, WDE0119, WDE0134, WDE0147 with the path of what is wrong.
pub(crate) fn parse_all(list: &Value, path: &str, limits: &ContentLimits) -> Result<Vec<Field>> {
    let Some(list) = list.as_array() else {
        return Err(invalid(path, "must be a list"));
    };
    // Clients send the fields of the system along.
    let system = list.iter().filter(|it| it.get("key").and_then(Value::as_str).is_some_and(is_system));
    check_count(list.len() - system.count().min(SYSTEM.len()), path, limits)?;
    let (mut fields, mut faults) = (Vec::<Field>::with_capacity(list.len()), Faults::default());
    let mut keys = std::collections::HashSet::with_capacity(list.len());
    for (n, it) in list.iter().enumerate() {
        let path = format!("{path}[{n}]");
        if it.get("key").and_then(Value::as_str).is_some_and(is_system) {
            if it.get("encrypted") == Some(&Value::Bool(true)) {
                faults.add(refuse_encrypted(&path, "can't be for a field of the system"));
            }
            continue;
        }
        let Some(field) = faults.take(parse(it, &path, limits)) else { continue };
        if !keys.insert(key(&field).to_owned()) {
            faults.add(invalid(&format!("{path}.key"), "occurs twice"));
        }
        fields.push(field);
    }
    faults.refuse().map(|()| fields)
}

/// Refuses more fields than a collection may have.
///
/// # Errors
/// WDE0075.
pub(crate) fn check_count(count: usize, path: &str, limits: &ContentLimits) -> Result<()> {
    match count <= limits.fields {
        true => Ok(()),
        false => Err(invalid(path, &format!("must have at most {} elements", limits.fields))),
    }
}

/// Reads one field that isn't a system field.
pub(crate) fn parse(value: &Value, path: &str, limits: &ContentLimits) -> Result<Field> {
    let mut faults = Faults::default();
    faults.take(check(value, &FIELD, path, limits));
    let mut field = value.as_object().cloned().unwrap_or_default();
    field.retain(|name, it| !it.is_null() && !READ_ONLY.contains(&name.as_str()));
    if value.is_object() {
        faults.take(check_key(&field, path));
        faults.take(check_type(&field, path));
    }
    faults.refuse().map(|()| field)
}

/// What a key must be beside a text of the right length.
fn check_key(field: &Field, path: &str) -> Result<()> {
    let path = format!("{path}.key");
    match field.get("key").map(Value::as_str) {
        None => Err(missing(&path)),
        Some(Some(it)) if it.starts_with('$') => Err(invalid_as(Code::FieldNameDollar, &path, "must not begin with $")),
        Some(Some(it)) if it.contains('.') || it.chars().any(char::is_control) => {
            Err(invalid_as(Code::FieldInvalid, &path, "must not contain dots or control characters"))
        }
        Some(_) => Ok(()),
    }
}

/// What a type asks of the rest of its field.
fn check_type(field: &Field, path: &str) -> Result<()> {
    let target = match field.get("type").map(Value::as_str) {
        None => return Err(missing(&format!("{path}.type"))),
        Some(Some("REFERENCE")) => "reference",
        Some(Some("MULTI_REFERENCE")) => "multiReference",
        Some(_) => return Ok(()),
    };
    let mut faults = Faults::default();
    if is_encrypted(field) {
        faults.add(refuse_encrypted(path, "can't be for a reference, which is followed by its value"));
    }
    let options = field.get("typeMetadata").and_then(|it| it.get(target));
    if options.and_then(|it| it.get("referencedCollectionId")).is_none_or(Value::is_null) {
        faults.add(missing(&format!("{path}.typeMetadata.{target}.referencedCollectionId")));
    }
    faults.refuse()
}

pub fn key(field: &Field) -> &str {
    text(field, "key")
}

pub fn kind(field: &Field) -> &str {
    text(field, "type")
}

/// Whether its values are stored encrypted ([`crate::collection::cipher`]).
pub fn is_encrypted(field: &Field) -> bool {
    field.get("encrypted") == Some(&Value::Bool(true))
}

/// Whether its values are links, which are kept beside the items ([`crate::schema::relation`]).
pub(crate) fn is_multi(field: &Field) -> bool {
    kind(field) == "MULTI_REFERENCE"
}

/// The type of fields whose values are addresses of pages.
pub(crate) const PAGE_LINK: &str = "PAGE_LINK";

/// What makes the values of a page link ([`crate::schema::page_link`]), by its name; nothing for a field whose values
/// are what writers set.
pub(crate) fn calculator(field: &Field) -> Option<(&'static str, &Map<String, Value>)> {
    let link = field.get("typeMetadata").filter(|_| kind(field) == PAGE_LINK)?.get("pageLink")?;
    let named = |name| Some((name, link.get("calculator")?.get(name)?.as_object()?));
    named("fieldsPattern").or_else(|| named("urlizedOnlyPattern"))
}

/// The collection that a reference field was declared to lead to.
pub(crate) fn target_id(field: &Field) -> Option<&str> {
    let metadata = match kind(field) {
        "REFERENCE" => "reference",
        "MULTI_REFERENCE" => "multiReference",
        _ => return None,
    };
    field.get("typeMetadata")?.get(metadata)?.get("referencedCollectionId")?.as_str()
}

fn refuse_encrypted(path: &str, why: &str) -> Fault {
    invalid_as(Code::NotSupported, &format!("{path}.encrypted"), why)
}

fn text<'f>(field: &'f Field, name: &str) -> &'f str {
    field.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A field as managers read it: with what the server knows of it.
pub(crate) fn view(field: &Field) -> Value {
    let mut view = field.clone();
    view.insert("systemField".to_owned(), false.into());
    for flag in ["encrypted", "readOnly", "immutable", "required"] {
        view.entry(flag).or_insert(Value::Bool(false));
    }
    let capabilities = match is_encrypted(field) || calculator(field).is_some() {
        true => json!({ "sortable": false, "queryOperators": [] }),
        false => capabilities(kind(field)),
    };
    view.insert("capabilities".to_owned(), capabilities);
    Value::Object(view)
}

/// A field as everyone else reads it.
pub(crate) fn reduced_view(field: &Field) -> Value {
    let mut view = field.clone();
    view.retain(|name, _| matches!(name.as_str(), "key" | "displayName" | "type" | "typeMetadata"));
    Value::Object(view)
}

/// The four fields that every collection has.
pub(crate) fn system_views(is_reduced: bool) -> impl Iterator<Item = Value> {
    SYSTEM.into_iter().map(move |(key, name, kind)| match is_reduced {
        true => json!({ "key": key, "displayName": name, "type": kind }),
        false => json!({
            "key": key, "displayName": name, "type": kind, "systemField": true, "encrypted": false,
            "readOnly": true, "immutable": key != "_updatedDate", "required": false,
            "capabilities": capabilities(kind),
        }),
    })
}

fn capabilities(kind: &str) -> Value {
    let (sortable, operators): (bool, &[&str]) = match kind {
        "TEXT" | "URL" | "RICH_TEXT" | "SLUG" | "EMAIL" | "LANGUAGE" | "PAGE_LINK" | "IMAGE" | "DOCUMENT" | "VIDEO"
        | "AUDIO" | "DATE" | "TIME" => (
            true,
            &[
                "EQ",
                "NE",
                "LT",
                "LTE",
                "GT",
                "GTE",
                "STARTS_WITH",
                "ENDS_WITH",
                "CONTAINS",
                "HAS_SOME",
                "HAS_ALL",
                "EXISTS",
                "URLIZED",
            ],
        ),
        "NUMBER" | "DATETIME" => (true, &["EQ", "NE", "LT", "LTE", "GT", "GTE", "HAS_SOME", "HAS_ALL", "EXISTS"]),
        "BOOLEAN" | "REFERENCE" => (true, &["EQ", "NE", "HAS_SOME", "HAS_ALL", "EXISTS"]),
        "ARRAY_STRING" | "ARRAY_DOCUMENT" | "ARRAY" | "MULTI_REFERENCE" => {
            (false, &["EQ", "NE", "HAS_SOME", "HAS_ALL", "EXISTS"])
        }
        _ => (false, &["EQ", "NE", "EXISTS"]),
    };
    json!({ "sortable": sortable, "queryOperators": operators })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_their_metadata_are_kept_as_sent() {
        for kind in TYPES {
            let metadata = match *kind {
                "REFERENCE" => json!({ "reference": { "referencedCollectionId": "x" } }),
                "MULTI_REFERENCE" => json!({ "multiReference": { "referencedCollectionId": "x" } }),
                _ => json!({ "number": { "min": 1, "max": "Infinity" } }),
            };
            let sent = json!({ "key": "a", "type": kind, "typeMetadata": metadata, "required": true });
            let kept = parse(&sent, "field", &ContentLimits::default()).expect(kind);
            assert_eq!(Value::Object(kept), sent);
        }
    }

    #[test]
    fn refusals_have_their_codes() {
        for (sent, code) in [
            (json!(1), "WDE0075"),
            (json!({}), "WDE0075"),
            (json!({ "key": "a" }), "WDE0075"),
            (json!({ "key": "", "type": "TEXT" }), "WDE0075"),
            (json!({ "key": "a", "type": "NOVEL" }), "WDE0075"),
            (json!({ "key": "a", "type": "REFERENCE" }), "WDE0075"),
            (json!({ "key": "a", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {} } }), "WDE0075"),
            (json!({ "key": "$a", "type": "TEXT" }), "WDE0134"),
            (json!({ "key": "a.b", "type": "TEXT" }), "WDE0147"),
            (json!({ "key": "a", "type": "TEXT", "typeMetadata": { "text": {}, "number": {} } }), "WDE0075"),
            (json!({ "key": "a", "type": "NUMBER", "numberRange": { "min": "few" } }), "WDE0075"),
        ] {
            let fault = parse(&sent, "field", &ContentLimits::default()).expect_err(&sent.to_string());
            assert_eq!(fault.code().name(), code, "{sent}");
        }
    }
}
