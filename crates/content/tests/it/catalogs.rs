//! Catalogues: the plugin CATALOG names fields that there are, of the types that a shop needs.

use crate::common::*;
use serde_json::{Value, json};
use stoa_testkit::on_both_engines;

fn catalog(options: Value) -> Value {
    json!({ "type": "CATALOG", "catalogOptions": options })
}

/// A collection `c` with a field for each option, called by its name.
async fn world(engine: stoa_testkit::Engine) -> World {
    let fields: Vec<Value> = [
        ("name", "TEXT"),
        ("price", "NUMBER"),
        ("url", "URL"),
        ("description", "RICH_TEXT"),
        ("image", "IMAGE"),
        ("quantity", "NUMBER"),
        ("digitalFile", "DOCUMENT"),
        ("weight", "NUMBER"),
        ("sku", "TEXT"),
        ("shippable", "BOOLEAN"),
        ("spare", "ARRAY_STRING"),
    ]
    .into_iter()
    .map(|(key, kind)| json!({ "key": key, "type": kind }))
    .collect();
    let world = World::new(engine).await;
    let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE" });
    world.create_with("c", json!({ "fields": fields, "dataPermissions": levels })).await;
    world
}

async fn options(world: &World) -> Value {
    let collection = world.content.collection_get(&world.site, &owner(), "c", &[], false).await.unwrap();
    collection["plugins"][0]["catalogOptions"].clone()
}

const NAMES: [&str; 10] =
    ["name", "price", "url", "description", "image", "quantity", "digitalFile", "weight", "sku", "shippable"];

on_both_engines! {
    async fn catalogues_name_fields_of_their_collection(engine) {
        let world = world(engine).await;
        let (content, site) = (&world.content, &world.site);
        let all: Value = NAMES.iter().map(|it| (format!("{it}FieldKey"), json!(it))).collect::<serde_json::Map<_, _>>().into();
        let older: Value = NAMES.iter().map(|it| ((*it).to_owned(), json!(it))).collect::<serde_json::Map<_, _>>().into();
        for sent in [all.clone(), older, json!({ "nameFieldKey": "name", "name": "name" }), json!({})] {
            let made = content.plugin_add(site, &editor(), "c", &catalog(sent.clone()), None).await.unwrap();
            assert_eq!(made["plugins"], json!([catalog(sent)]));
            let whole = content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
            assert_eq!(content.collection_update(site, &owner(), &whole).await.unwrap()["plugins"], whole["plugins"]);
            content.plugin_delete(site, &editor(), "c", "CATALOG", None).await.unwrap();
        }
        // Visitors are shown which field is what.
        content.plugin_add(site, &owner(), "c", &catalog(all.clone()), None).await.unwrap();
        let seen = content.collection_get(site, &visitor("v"), "c", &[], false).await.unwrap();
        assert_eq!(seen["plugins"], json!([catalog(all)]));
        assert_eq!(code(content.plugin_add(site, &visitor("v"), "c", &catalog(json!({})), None).await), "WDE0027");
    }

    async fn other_names_are_refused(engine) {
        let world = world(engine).await;
        let (content, site) = (&world.content, &world.site);
        let mut hidden = json!({ "key": "hidden", "type": "TEXT" });
        hidden["encrypted"] = json!(true);
        content.field_create(site, &owner(), "c", &hidden).await.unwrap();
        for (option, key) in NAMES.iter().flat_map(|it| [(*it, "none"), (*it, "spare"), (*it, "hidden"), (*it, "_id"), (*it, "")]) {
            for option in [option.to_owned(), format!("{option}FieldKey")] {
                let added = content.plugin_add(site, &owner(), "c", &catalog(json!({ option.as_str(): key })), None).await;
                let fault = added.expect_err("a refusal");
                let place = fault.violations()[0].field.clone();
                assert_eq!((fault.code().name(), place), ("WDE0075", format!("catalogOptions.{option}")), "{key}");
            }
        }
        let differ = catalog(json!({ "nameFieldKey": "name", "name": "sku" }));
        assert_eq!(code(content.plugin_add(site, &owner(), "c", &differ, None).await), "WDE0075");
        let object = json!({ "id": "d", "dataPermissions": {}, "fields": [{ "key": "name", "type": "TEXT" }], "plugins": [catalog(json!({ "priceFieldKey": "name" }))] });
        assert_eq!(code(content.collection_create(site, &owner(), &object).await), "WDE0075");
        assert_eq!(code(content.collection_get(site, &owner(), "d", &[], false).await), "WDE0025");
    }

    async fn fields_that_go_leave_the_catalogue(engine) {
        let world = world(engine).await;
        let (content, site) = (&world.content, &world.site);
        let named = json!({ "nameFieldKey": "name", "priceFieldKey": "price", "sku": "sku" });
        content.plugin_add(site, &owner(), "c", &catalog(named), None).await.unwrap();
        content.field_delete(site, &owner(), "c", "sku").await.unwrap();
        assert_eq!(options(&world).await, json!({ "nameFieldKey": "name", "priceFieldKey": "price" }));
        content.field_update(site, &owner(), "c", &json!({ "key": "price", "type": "TEXT" }), false).await.unwrap();
        assert_eq!(options(&world).await, json!({ "nameFieldKey": "name" }));
        let back = json!({ "id": "c", "plugins": [catalog(json!({ "nameFieldKey": "name", "priceFieldKey": "price" }))] });
        assert_eq!(code(content.collection_patch(site, &owner(), &back).await), "WDE0075", "it is a text by now");
        let mut whole = content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
        whole["fields"] = json!([{ "key": "other", "type": "TEXT" }]);
        content.collection_update(site, &owner(), &whole).await.unwrap();
        assert_eq!(options(&world).await, json!({}));
    }
}
