//! Calls of content that fields come to, as the members of its requests (docs/protocol/content.md §3).

use crate::{
    error::{Error, ErrorCode},
    name::LIMIT,
    print::Selection,
    types::Write,
    wanted::{Wanted, wanted},
};
use serde_json::{Map, Value, json};

/// What answers a field at the top.
#[derive(Debug)]
pub(crate) enum Call {
    /// It is known already: JSON text.
    Known(String),
    /// The schema, which is printed with the document at hand.
    Introspection,
    Page {
        members: Map<String, Value>,
        fields: Vec<(String, PageField)>,
    },
    Item {
        members: Map<String, Value>,
        selection: Selection,
    },
    Count(Map<String, Value>),
    Write {
        write: Write,
        /// The request, as JSON.
        body: Value,
        /// What is answered of each item; for one item alone it is the only member.
        outcome: Vec<(String, OutcomeField)>,
        /// The query for what the items refer to, but for their ids.
        reread: Option<Map<String, Value>>,
    },
}

/// A field of a page.
#[derive(Debug)]
pub(crate) enum PageField {
    Items(Selection),
    TotalCount,
    HasNext,
    Next,
    Prev,
    TypeName(String),
}

/// A field of what became of an item.
#[derive(Debug)]
pub(crate) enum OutcomeField {
    Item(Selection),
    Action,
    Id,
    /// Names in the answer and of members.
    Error(Vec<(String, String)>),
    TypeName(String),
}

/// A query for a page.
///
/// # Errors
/// A cursor together with what it holds itself.
pub(crate) fn page(
    collection: &str,
    mut arguments: Map<String, Value>,
    fields: &[(String, PageField)],
) -> Result<Map<String, Value>, Error> {
    let has = |is: fn(&PageField) -> bool| fields.iter().any(|it| is(&it.1));
    let cursor = arguments.remove("cursor");
    if let (Some(_), Some(other)) =
        (&cursor, ["filter", "sort", "offset"].into_iter().find(|it| arguments.contains_key(*it)))
    {
        let text = format!("A cursor continues the page that it is of; {other} can't be given beside it.");
        return Err(Error::new(ErrorCode::Input, text));
    }
    let limit = arguments.remove("limit").unwrap_or_else(|| json!(LIMIT));
    let offset = arguments.remove("offset");
    let is_by_cursor =
        cursor.is_some() || offset.is_none() && has(|it| matches!(it, PageField::Next | PageField::Prev));
    let mut wants = Wanted { fields: Some(vec!["_id".to_owned()]), ..Wanted::default() };
    for (_, it) in fields {
        if let PageField::Items(selection) = it {
            wants.add(wanted(selection));
        }
    }
    let mut query = Map::new();
    if let Some(filter) = arguments.remove("filter") {
        query.insert("filter".to_owned(), filter);
    }
    if let Some(Value::Array(keys)) = arguments.remove("sort") {
        let key = |it: Value| json!({ "fieldName": it["field"], "order": it["order"] });
        query.insert("sort".to_owned(), keys.into_iter().map(key).collect());
    }
    let paging = match (is_by_cursor, cursor) {
        (true, Some(cursor)) => ("cursorPaging", json!({ "limit": limit, "cursor": cursor })),
        (true, None) => ("cursorPaging", json!({ "limit": limit })),
        (false, _) => ("paging", json!({ "limit": limit, "offset": offset.unwrap_or_else(|| json!(0)) })),
    };
    query.insert(paging.0.to_owned(), paging.1);
    let mut members = request(collection, query, &wants);
    if has(|it| matches!(it, PageField::TotalCount)) {
        members.insert("returnTotalCount".to_owned(), json!(true));
    }
    Ok(members)
}

/// A query for one item.
pub(crate) fn one(collection: &str, arguments: Map<String, Value>, wants: &Wanted) -> Map<String, Value> {
    let filter = json!({ "_id": { "$eq": arguments.get("id") } });
    let query = json!({ "filter": filter, "paging": { "limit": 1 } });
    request(collection, into_object(query), wants)
}

/// A query for items whose ids are put into it by [`with_ids`].
pub(crate) fn by_ids(collection: &str, wants: &Wanted) -> Map<String, Value> {
    request(collection, Map::new(), wants)
}

/// The same, for these items.
pub(crate) fn with_ids(members: &Map<String, Value>, ids: &[&str]) -> Map<String, Value> {
    let mut members = members.clone();
    if let Some(Value::Object(query)) = members.get_mut("query") {
        query.insert("filter".to_owned(), json!({ "_id": { "$in": ids } }));
        query.insert("paging".to_owned(), json!({ "limit": ids.len().max(1) }));
    }
    members
}

/// How many items there are.
pub(crate) fn count(collection: &str, mut arguments: Map<String, Value>) -> Map<String, Value> {
    let mut members = Map::from_iter([("dataCollectionId".to_owned(), json!(collection))]);
    if let Some(filter) = arguments.remove("filter") {
        members.insert("filter".to_owned(), filter);
    }
    members
}

/// A write.
///
/// # Errors
/// Changes of a patch that are no objects.
pub(crate) fn write(
    write: Write,
    collection: &str,
    mut arguments: Map<String, Value>,
    shows_items: bool,
) -> Result<Value, Error> {
    let mut members = Map::from_iter([("dataCollectionId".to_owned(), json!(collection))]);
    let mut put = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    if let Some(it) = arguments.remove("saveReferences") {
        put("saveReferences", it);
    }
    if let Some(it) = arguments.remove("condition") {
        put("condition", json!({ "filter": it }));
    }
    if write.is_bulk() {
        put("returnEntity", json!(shows_items));
    }
    let item = |it: Value| Value::Object(Map::from_iter([("data".to_owned(), it)]));
    match write {
        Write::Insert | Write::Update | Write::Save => {
            put("dataItem", item(arguments.remove("item").unwrap_or_default()));
        }
        Write::Patch => put("patch", patch(&Value::Object(arguments))?),
        Write::Remove => put("dataItemId", arguments.remove("id").unwrap_or_default()),
        Write::BulkInsert | Write::BulkUpdate | Write::BulkSave => {
            put("dataItems", list(arguments.remove("items")).into_iter().map(item).collect());
        }
        Write::BulkPatch => {
            let patches = list(arguments.remove("patches"));
            put("patches", patches.iter().map(patch).collect::<Result<_, _>>()?);
        }
        Write::BulkRemove => put("dataItemIds", Value::Array(list(arguments.remove("ids")))),
    }
    Ok(Value::Object(members))
}

/// Changes of one item, in this order.
fn patch(arguments: &Value) -> Result<Value, Error> {
    let mut modifications = Vec::new();
    for (name, action, options) in [
        ("set", "SET_FIELD", "setFieldOptions"),
        ("inc", "INCREMENT_FIELD", "incrementFieldOptions"),
        ("append", "APPEND_TO_ARRAY", "appendToArrayOptions"),
        ("pull", "REMOVE_FROM_ARRAY", "removeFromArrayOptions"),
    ] {
        match arguments.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(fields)) => modifications.extend(
                fields
                    .iter()
                    .map(|(path, value)| json!({ "fieldPath": path, "action": action, options: { "value": value } })),
            ),
            Some(_) => {
                let text = format!("The argument {name} must be an object: fields and their values.");
                return Err(Error::new(ErrorCode::Input, text));
            }
        }
    }
    let unset = arguments.get("unset").and_then(Value::as_array).into_iter().flatten();
    modifications.extend(unset.map(|path| json!({ "fieldPath": path, "action": "REMOVE_FIELD" })));
    Ok(json!({ "dataItemId": arguments.get("id"), "fieldModifications": modifications }))
}

fn request(collection: &str, mut query: Map<String, Value>, wants: &Wanted) -> Map<String, Value> {
    if let Some(fields) = &wants.fields {
        query.insert("fields".to_owned(), json!(fields));
    }
    let mut members = into_object(json!({ "dataCollectionId": collection, "query": query }));
    if !wants.references.is_empty() {
        let reference = |(field, limit): (&String, &Option<usize>)| match limit {
            Some(limit) => json!({ "field": field, "limit": limit }),
            None => json!({ "field": field }),
        };
        members.insert("includeReferences".to_owned(), wants.references.iter().map(reference).collect());
    }
    members
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(it) => it,
        _ => Map::new(),
    }
}
