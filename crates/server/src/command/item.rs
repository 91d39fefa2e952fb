//! `stoa item …`

use super::terminal::Terminal;
use crate::{
    cli::{Item, ItemVerb, Verb},
    failure::Failure,
    print::print,
    services::{Services, operator},
};
use serde_json::{Map, Value, json};
use std::{io::Read, path::Path};
use stoa_content::{GetRequest, Request};
use stoa_store::Site;

/// Characters of a value that a table shows.
const CELL: usize = 40;

/// Where an item is read from that isn't in the command itself.
pub fn file(verb: &ItemVerb) -> Option<&Path> {
    match verb {
        ItemVerb::Insert { item, .. } if item == "-" => Some(Path::new(item)),
        _ => None,
    }
}

pub async fn run(
    services: &Services,
    site: &Site,
    verb: &ItemVerb,
    input: Box<dyn Read + Send>,
) -> Result<Value, Failure> {
    let (content, operator) = (&services.content, operator());
    match verb {
        ItemVerb::Get { collection, id } => {
            let request = GetRequest { collection: collection.clone(), id: id.clone(), ..GetRequest::default() };
            read(&content.item_get(site, &operator, &request).await?.doc)
        }
        ItemVerb::Query { collection, filter, sort, limit, skip } => {
            let members = query(collection, filter.as_deref(), sort, *limit, *skip)?;
            let page = content.item_query(site, &operator, None, &members).await?;
            let elements = read(&format!("[{}]", page.elements))?;
            let items: Value = elements.as_array().into_iter().flatten().map(|it| it["data"].clone()).collect();
            Ok(json!({ "items": items, "hasNext": page.has_next }))
        }
        ItemVerb::Insert { collection, item } => {
            let text = match item.as_str() {
                "-" => std::io::read_to_string(input).map_err(|it| it.to_string())?,
                text => text.to_owned(),
            };
            let data: Value =
                serde_json::from_str(&text).map_err(|it| Failure::usage(format!("the item is not JSON: {it}")))?;
            if !data.is_object() {
                return Err(Failure::usage("the item must be a JSON object"));
            }
            let body = json!({ "dataCollectionId": collection, "dataItem": { "data": data } }).to_string();
            let item = content.item_insert(site, &operator, &Request::parse(body.as_bytes())?).await?;
            Ok(json!({ "itemId": read(&item.doc)?["_id"] }))
        }
        ItemVerb::Remove { collection, id } => {
            let members = object(json!({ "dataCollectionId": collection, "dataItemId": id }));
            content.item_remove(site, &operator, &Request::of(members)).await?;
            Ok(json!({ "removed": id }))
        }
    }
}

/// The members of a query on the wire.
fn query(
    collection: &str,
    filter: Option<&str>,
    sort: &[String],
    limit: u32,
    skip: u32,
) -> Result<Map<String, Value>, Failure> {
    let mut query = json!({ "paging": { "limit": limit, "offset": skip } });
    if let Some(text) = filter {
        query["filter"] =
            serde_json::from_str(text).map_err(|it| Failure::usage(format!("--filter is not JSON: {it}")))?;
    }
    let order = |it: &String| match it.strip_prefix('-') {
        Some(field) => json!({ "fieldName": field, "order": "DESC" }),
        None => json!({ "fieldName": it, "order": "ASC" }),
    };
    if !sort.is_empty() {
        query["sort"] = sort.iter().map(order).collect();
    }
    Ok(object(json!({ "dataCollectionId": collection, "query": query })))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(it) => it,
        _ => Map::new(),
    }
}

fn read(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|it| it.to_string().into())
}

/// Prints a page: a table without the ends of long values, or all of it for scripts.
#[expect(clippy::print_stderr, reason = "a hint beside the table")]
pub fn query_typed(terminal: &mut Terminal<'_>, typed: Item) -> Result<(), Failure> {
    let page = terminal.run(&Verb::Item(typed), None)?;
    if terminal.as_json {
        print(&page, true);
        return Ok(());
    }
    let short = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Object(it) if it.len() == 1 && it.contains_key("$date") => {
                it["$date"].as_str().unwrap_or_default().to_owned()
            }
            Value::Null => String::new(),
            other => other.to_string(),
        };
        match text.chars().count() > CELL {
            true => format!("{}…", text.chars().take(CELL - 1).collect::<String>()),
            false => text,
        }
    };
    let row = |it: &Value| {
        let members = it.as_object().into_iter().flatten();
        Value::Object(members.map(|(key, value)| (key.clone(), json!(short(value)))).collect())
    };
    print(&page["items"].as_array().into_iter().flatten().map(row).collect(), false);
    if page["hasNext"] == true {
        eprintln!("there are more; see --limit and --skip");
    }
    Ok(())
}
