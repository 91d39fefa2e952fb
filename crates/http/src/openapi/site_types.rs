//! A site's own document: the collections that the caller may know of, as types of items.
//!
//! What a caller learns of a collection is what `GET /v2/collections` shows to the same caller: it asks the same, so
//! that permission and scopes decide there.

use super::Document;
use crate::{App, Call, Problem, body};
use axum::response::Response;
use serde_json::{Map, Value, json};
use stoa_content::ListOptions;

/// Levels of objects and lists within a field that are described; what lies deeper may be anything.
const DEPTH: usize = 8;

/// The document for a caller.
///
/// # Errors
/// As for [`stoa_content::Content::collection_list`].
pub(crate) async fn answer(app: &App, call: &Call, document: &Document) -> Result<Response, Problem> {
    let options = ListOptions {
        sort: Some("id".to_owned()),
        limit: Some(app.content.limits().collections),
        fields: ["displayName", "fields"].map(str::to_owned).into(),
        ..ListOptions::default()
    };
    let list = app.content.collection_list(&call.site, &call.caller, &options).await?;
    let types: Map<String, Value> = list.collections.iter().map(of_collection).collect();
    if types.is_empty() {
        return Ok(body::ok_bytes(document.text().clone()));
    }
    let references = types.keys().map(|it| json!({ "$ref": format!("#/components/schemas/{it}") }));
    let any = json!({ "description": "What an item of one of the site's collections holds.", "anyOf": references.collect::<Value>() });
    Ok(body::ok_bytes(document.with_items(&any, &types)))
}

/// The name of a collection's type, and the type.
fn of_collection(collection: &Value) -> (String, Value) {
    let id = collection["id"].as_str().unwrap_or_default();
    let fields = collection["fields"].as_array().into_iter().flatten();
    let members = fields.filter_map(|it| Some((it["key"].as_str()?.to_owned(), of_field(it, 0))));
    let schema = json!({
        "title": collection.get("displayName").cloned().unwrap_or_else(|| json!(id)),
        "description": "An item can hold more than the fields that are defined, and values of other types where the \
                        collection isn't strict.",
        "x-collection-id": id,
        "type": "object",
        "properties": members.collect::<Map<_, _>>(),
        "additionalProperties": true,
    });
    (format!("Item.{}", escaped(id)), schema)
}

/// An id as names of components can have it: other characters as `_` with their number. Two ids have two names.
fn escaped(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for it in id.chars() {
        match it {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' => name.push(it),
            _ => name.push_str(&format!("_{:x}_", u32::from(it))),
        }
    }
    name
}

fn of_field(field: &Value, depth: usize) -> Value {
    let kind = field["type"].as_str().unwrap_or_default();
    let mut schema = of_kind(kind, &field["typeMetadata"], depth);
    schema["x-field-type"] = json!(kind);
    if let Some(name) = field["displayName"].as_str().filter(|it| !it.is_empty()) {
        schema["title"] = json!(name);
    }
    schema
}

/// The values of a type of field, as they are sent and answered; each may be missing or null.
fn of_kind(kind: &str, metadata: &Value, depth: usize) -> Value {
    if depth > DEPTH {
        return json!({});
    }
    match kind {
        "TEXT" | "URL" | "EMAIL" | "SLUG" | "LANGUAGE" | "RICH_TEXT" | "IMAGE" | "DOCUMENT" | "VIDEO" | "AUDIO" => {
            json!({ "type": ["string", "null"] })
        }
        "DATE" => json!({ "type": ["string", "null"], "description": "YYYY-MM-DD" }),
        "TIME" => json!({ "type": ["string", "null"], "description": "HH:mm:ss.SSS" }),
        "NUMBER" => json!({ "type": ["number", "null"] }),
        "BOOLEAN" => json!({ "type": ["boolean", "null"] }),
        "DATETIME" => json!({
            "type": ["object", "null"], "properties": { "$date": { "type": "string", "format": "date-time" } },
        }),
        "ARRAY_STRING" => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        "REFERENCE" => json!({
            "type": ["string", "object", "null"],
            "description": "The id of an item, or the item where the call includes it.",
            "x-referenced-collection": metadata["reference"]["referencedCollectionId"],
        }),
        "MULTI_REFERENCE" => json!({
            "type": ["array", "null"], "items": { "type": ["string", "object"] },
            "description": "Where the call includes them.",
            "x-referenced-collection": metadata["multiReference"]["referencedCollectionId"],
        }),
        "OBJECT" => {
            let fields = metadata["object"]["fields"].as_array().into_iter().flatten();
            let members = fields.filter_map(|it| Some((it["key"].as_str()?.to_owned(), of_field(it, depth + 1))));
            json!({ "type": ["object", "null"], "properties": members.collect::<Map<_, _>>(), "additionalProperties": true })
        }
        "ARRAY" => {
            let own = &metadata["array"];
            let element = of_kind(own["elementType"].as_str().unwrap_or("ANY"), &own["typeMetadata"], depth + 1);
            json!({ "type": ["array", "null"], "items": element })
        }
        "ADDRESS" | "RICH_CONTENT" => json!({ "type": ["object", "null"] }),
        "ARRAY_DOCUMENT" | "MEDIA_GALLERY" => {
            json!({ "type": ["array", "null"], "items": { "type": ["string", "object"] } })
        }
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_names_of_components_and_differ() {
        assert_eq!(escaped("cities-2"), "cities-2");
        let ids = ["a/b", "a_2f_b", "a_b", "é", "e", "a b"];
        let names: Vec<String> = ids.into_iter().map(escaped).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(name.bytes().all(|it| it.is_ascii_alphanumeric() || b".-_".contains(&it)), "{name}");
            assert!(!names[..index].contains(name), "{name}");
        }
    }

    #[test]
    fn fields_become_members() {
        let inner = json!([{ "key": "street", "type": "TEXT" }]);
        let fields = json!([
            { "key": "title", "displayName": "Title", "type": "TEXT" },
            { "key": "where", "type": "OBJECT", "typeMetadata": { "object": { "fields": inner } } },
            { "key": "marks", "type": "ARRAY", "typeMetadata": { "array": { "elementType": "NUMBER" } } },
            { "key": "rest", "type": "ANY" },
        ]);
        let (name, schema) = of_collection(&json!({ "id": "places", "displayName": "Places", "fields": fields }));
        let members = &schema["properties"];
        assert_eq!((name.as_str(), &schema["title"]), ("Item.places", &json!("Places")));
        assert_eq!(members["title"], json!({ "type": ["string", "null"], "x-field-type": "TEXT", "title": "Title" }));
        assert_eq!(members["where"]["properties"]["street"]["type"], json!(["string", "null"]));
        assert_eq!(members["marks"]["items"]["type"], json!(["number", "null"]));
        assert_eq!(members["rest"], json!({ "x-field-type": "ANY" }));
    }

    #[test]
    fn types_within_types_come_to_an_end() {
        let mut field = json!({ "key": "x", "type": "NUMBER" });
        for _ in 0..100 {
            field = json!({ "key": "x", "type": "OBJECT", "typeMetadata": { "object": { "fields": [field] } } });
        }
        assert!(of_field(&field, 0).to_string().len() < 2_000);
    }
}
