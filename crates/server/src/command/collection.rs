//! `stoa collection …`

use super::terminal::Terminal;
use crate::{
    cli::{Collection, CollectionChange, CollectionVerb, LevelName, Levels, NewCollection, NewField, Verb},
    failure::Failure,
    print::{count, print},
    services::{Services, operator},
};
use serde_json::{Map, Value, json};
use std::{io::Read, path::Path, sync::Arc};
use stoa_content::ListOptions;
use stoa_kernel::Code;
use stoa_store::Site;

/// The file with a definition.
pub fn file(verb: &CollectionVerb) -> Option<&Path> {
    match verb {
        CollectionVerb::Create(it) => it.from.as_deref(),
        _ => None,
    }
}

pub async fn run(
    services: &Services,
    site: &Arc<Site>,
    verb: &CollectionVerb,
    input: Box<dyn Read + Send>,
) -> Result<Value, Failure> {
    let (content, operator) = (&services.content, operator());
    match verb {
        CollectionVerb::Create(new) => {
            let object = match new.fields.is_empty() {
                true => definition(&new.name, &std::io::read_to_string(input).map_err(|it| it.to_string())?)?,
                false => definition_of(new),
            };
            let made = content.collection_create(site, &operator, &object).await?;
            Ok(json!({ "collectionId": made["id"], "fields": own_fields(&made).count() }))
        }
        CollectionVerb::List => {
            let options = ListOptions { limit: Some(usize::MAX), ..ListOptions::default() };
            let list = content.collection_list(site, &operator, &options).await?.collections;
            let mut rows = Vec::with_capacity(list.len());
            for it in &list {
                let id = it["id"].as_str().unwrap_or_default();
                let levels = &it["dataPermissions"];
                rows.push(json!({
                    "collectionId": id, "displayName": it["displayName"], "fields": own_fields(it).count(),
                    "items": items(services, site, id).await?, "read": levels["itemRead"],
                    "insert": levels["itemInsert"], "update": levels["itemUpdate"], "remove": levels["itemRemove"],
                }));
            }
            Ok(Value::Array(rows))
        }
        CollectionVerb::Show { name } => Ok(content.collection_get(site, &operator, name, &[], false).await?),
        CollectionVerb::Update(change) => {
            let before = content.collection_get(site, &operator, &change.name, &[], false).await?;
            let patch = patch(&before, change)?;
            let after = content.collection_patch(site, &operator, &patch).await?;
            Ok(json!({ "collectionId": after["id"], "fields": own_fields(&after).count() }))
        }
        CollectionVerb::Delete { name, yes } => {
            if yes.as_ref() != Some(name) {
                return Err(not_confirmed(name));
            }
            content.collection_delete(site, &operator, name).await?;
            Ok(json!({ "deleted": name }))
        }
        CollectionVerb::Restore { name } => {
            let back = content.collection_restore(site, &operator, name).await?;
            Ok(json!({ "collectionId": back["id"], "fields": own_fields(&back).count() }))
        }
    }
}

/// The fields that were defined, without those that every collection has.
fn own_fields(collection: &Value) -> impl Iterator<Item = &Value> {
    collection["fields"].as_array().into_iter().flatten().filter(|it| it["systemField"] != true)
}

async fn items(services: &Services, site: &Site, id: &str) -> Result<i64, Failure> {
    let members = Map::from_iter([("dataCollectionId".to_owned(), json!(id))]);
    Ok(services.content.item_count(site, &operator(), None, &members).await?)
}

/// A definition from a file, under the name that was typed.
fn definition(name: &str, text: &str) -> Result<Value, Failure> {
    let wrong = |it: String| Failure::new(Code::MalformedJson, format!("the definition is not JSON: {it}"));
    let mut object: Value = serde_json::from_str(text).map_err(|it| wrong(it.to_string()))?;
    // As an answer of the API has it.
    if let Some(inner) = object.get_mut("collection").filter(|it| it.is_object()) {
        object = inner.take();
    }
    if !object.is_object() {
        return Err(Failure::new(Code::MalformedJson, "the definition is not a JSON object"));
    }
    object["id"] = json!(name);
    Ok(object)
}

/// A collection as the API takes it.
pub fn definition_of(new: &NewCollection) -> Value {
    let Levels { read, insert, update, remove } = new.levels;
    let level = |it: Option<LevelName>| json!(it.unwrap_or(LevelName::CmsEditor));
    let mut object = json!({
        "id": new.name,
        "displayName": new.display_name.as_deref().unwrap_or(&new.name),
        "fields": new.fields.iter().map(field).collect::<Value>(),
        "dataPermissions": {
            "itemRead": level(read), "itemInsert": level(insert), "itemUpdate": level(update),
            "itemRemove": level(remove),
        },
    });
    if new.log_old_values {
        object["logOldValues"] = json!(true);
    }
    if new.realtime {
        object["realtime"] = json!(true);
    }
    object
}

fn field(new: &NewField) -> Value {
    let mut field = json!({ "key": new.key, "displayName": new.key, "type": new.kind });
    let target = |name: &str| json!({ name: { "referencedCollectionId": new.target } });
    match new.kind.as_str() {
        "REFERENCE" => field["typeMetadata"] = target("reference"),
        "MULTI_REFERENCE" => field["typeMetadata"] = target("multiReference"),
        _ => {}
    }
    field
}

/// The change of a definition that was read in this revision.
fn patch(before: &Value, change: &CollectionChange) -> Result<Value, Failure> {
    let CollectionChange { display_name, fields, no_fields, cache_seconds, levels, .. } = change;
    let flags = [
        ("logOldValues", change.log_old_values),
        ("realtime", change.realtime),
        ("realtimeWithoutHooks", change.realtime_without_hooks),
        ("search", change.search),
    ];
    let mut patch = json!({ "id": before["id"], "revision": before["revision"] });
    let has_fields = !fields.is_empty() || !no_fields.is_empty();
    let has_settings = cache_seconds.is_some() || flags.iter().any(|it| it.1.is_some());
    if display_name.is_none() && !has_fields && !has_settings && levels.is_empty() {
        return Err(Failure::usage("nothing is to be changed; see stoa collection update --help"));
    }
    if let Some(name) = display_name {
        patch["displayName"] = json!(name);
    }
    if let Some(seconds) = cache_seconds {
        patch["cacheSeconds"] = json!(seconds);
    }
    for (name, is_on) in flags.into_iter().filter_map(|(name, it)| Some((name, it?))) {
        patch[name] = json!(is_on);
    }
    if has_fields {
        let mut all: Vec<Value> = own_fields(before).cloned().collect();
        for key in no_fields {
            let known = all.len();
            all.retain(|it| it["key"] != key.as_str());
            if all.len() == known {
                let text = format!("the collection has no field {key}");
                return Err(Failure::new(Code::FieldInvalid, text).with("propertyName", key.as_str()));
            }
        }
        for new in fields {
            if all.iter().any(|it| it["key"] == new.key.as_str()) {
                let text = format!("the collection has a field {} already", new.key);
                return Err(Failure::new(Code::UniqueConflict, text).with("propertyName", new.key.as_str()));
            }
            all.push(field(new));
        }
        patch["fields"] = Value::Array(all);
    }
    if !levels.is_empty() {
        let mut wanted = before["dataPermissions"].clone();
        let Levels { read, insert, update, remove } = *levels;
        let all = [("itemRead", read), ("itemInsert", insert), ("itemUpdate", update), ("itemRemove", remove)];
        for (name, level) in all {
            if let Some(level) = level {
                wanted[name] = json!(level);
            }
        }
        patch["dataPermissions"] = wanted;
    }
    Ok(patch)
}

/// Prints a collection: for people what was defined, for scripts the whole of it.
pub fn show_typed(terminal: &mut Terminal<'_>, typed: Collection) -> Result<(), Failure> {
    let whole = terminal.run(&Verb::Collection(typed), None)?;
    if terminal.as_json {
        print(&whole, true);
        return Ok(());
    }
    let levels = &whole["dataPermissions"];
    let row = |it: &Value| {
        let metadata = it["typeMetadata"].as_object().into_iter().flatten();
        let target = metadata.map(|it| it.1["referencedCollectionId"].clone()).next().unwrap_or_default();
        json!({ "field": it["key"], "type": it["type"], "refersTo": target, "required": it["required"] })
    };
    let mut shown = json!({
        "collectionId": whole["id"], "displayName": whole["displayName"], "read": levels["itemRead"],
        "insert": levels["itemInsert"], "update": levels["itemUpdate"], "remove": levels["itemRemove"],
        "cacheSeconds": whole["cacheSeconds"], "logOldValues": whole["logOldValues"], "realtime": whole["realtime"],
        "realtimeWithoutHooks": whole["realtimeWithoutHooks"],
        "search": whole["search"], "created": whole["createdDate"], "updated": whole["updatedDate"],
        "fields": own_fields(&whole).map(row).collect::<Value>(),
    });
    if let Some(members) = shown.as_object_mut() {
        members.retain(|_, it| !it.is_null());
    }
    print(&shown, false);
    Ok(())
}

/// Says what goes, and wants the id typed.
pub fn delete_typed(terminal: &mut Terminal<'_>, mut typed: Collection) -> Result<(), Failure> {
    let CollectionVerb::Delete { name, yes } = &mut typed.verb else { return Err("this command deletes".into()) };
    if yes.is_none() {
        let list = Collection { site: typed.site.clone(), verb: CollectionVerb::List };
        let list = terminal.run(&Verb::Collection(list), None)?;
        let found = list.as_array().into_iter().flatten().find(|it| it["collectionId"] == name.as_str());
        let items = count(found.and_then(|it| it["items"].as_u64()).unwrap_or_default());
        let question = format!(
            "{name} goes with its {items} items. It can be restored until its id is used again.\n\
             Type its id to delete it:"
        );
        *yes = Some(terminal.ask(&question, &not_confirmed(name).message)?);
    }
    let value = terminal.run(&Verb::Collection(typed), None)?;
    print(&value, terminal.as_json);
    Ok(())
}

fn not_confirmed(name: &str) -> Failure {
    Failure::new(Code::Validation, format!("nothing was deleted; to delete the collection give its id: --yes {name}"))
}
