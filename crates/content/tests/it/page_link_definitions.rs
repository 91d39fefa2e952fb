//! What collections may say of page links, and what becomes of links when collections change.

use crate::{
    common::*,
    page_links::{editable, link},
};
use serde_json::{Value, json};
use stoa_kernel::{Fault, Result};
use stoa_testkit::on_both_engines;

fn text(key: &str) -> Value {
    json!({ "key": key, "type": "TEXT" })
}

fn collection(id: &str, fields: Value, plugins: Value) -> Value {
    json!({ "id": id, "fields": fields, "plugins": plugins, "dataPermissions": { "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE" } })
}

/// The code of a refusal and what it is about.
fn refusal<T>(result: Result<T>) -> (&'static str, String) {
    let fault: Fault = result.err().expect("a refusal");
    (fault.code().name(), fault.violations().first().map(|it| it.field.clone()).unwrap_or_default())
}

on_both_engines! {
    async fn links_that_cannot_be_made_are_refused(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        let pattern = |pattern: &str| link("link", pattern);
        let with = |name: &str, value: Value| {
            let mut field = link("link", "/{title}");
            field[name] = value;
            field
        };
        let metadata = |metadata: Value| json!({ "key": "link", "type": "PAGE_LINK", "typeMetadata": metadata });
        let inner = json!({ "pageLink": { "calculator": { "fieldsPattern": { "pattern": "/{title}" } } } });
        let at_pattern = "collection.fields[4].typeMetadata.pageLink.calculator.fieldsPattern.pattern";
        for (field, code, place) in [
            (pattern(""), "WDE0075", at_pattern),
            (pattern("/"), "WDE0075", at_pattern),
            (pattern("//{title}"), "WDE0075", at_pattern),
            (pattern("/{title}/"), "WDE0075", at_pattern),
            (pattern("/../{title}"), "WDE0075", at_pattern),
            (pattern("/a?b={title}"), "WDE0075", at_pattern),
            (pattern("/a#{title}"), "WDE0075", at_pattern),
            (pattern("/{title"), "WDE0075", at_pattern),
            (pattern("/title}"), "WDE0075", at_pattern),
            (pattern("/{none}"), "WDE0075", at_pattern),
            (pattern("/{link}"), "WDE0075", at_pattern),
            (pattern("/{pin}"), "WDE0075", at_pattern),
            (pattern("/{tags}"), "WDE0075", at_pattern),
            (pattern("/{_owner}"), "WDE0075", at_pattern),
            (pattern("/{_createdDate}"), "WDE0075", at_pattern),
            (pattern("/{title.a}"), "WDE0075", at_pattern),
            (pattern(&"/{title}".repeat(11)), "WDE0075", at_pattern),
            (pattern(&"/a".repeat(21)), "WDE0075", at_pattern),
            (pattern(&"a".repeat(1_001)), "WDE0075", at_pattern),
            (metadata(json!({ "pageLink": { "calculator": { "fieldsPattern": {} } } })), "WDE0075", at_pattern),
            (metadata(json!({ "pageLink": { "calculator": { "fieldsPattern": { "pattern": 7 } } } })), "WDE0075", at_pattern),
            (metadata(json!({ "pageLink": { "pageLinkType": "ROUTER_DEFINED" } })), "WDE0119", "collection.fields[4].typeMetadata.pageLink.pageLinkType"),
            (with("required", json!(true)), "WDE0075", "collection.fields[4].required"),
            (with("encrypted", json!(true)), "WDE0119", "collection.fields[4].encrypted"),
            (with("key", json!("_link")), "WDE0075", "collection.fields[4].key"),
            (json!({ "key": "list", "type": "ARRAY", "typeMetadata": { "array": { "elementType": "PAGE_LINK", "typeMetadata": inner } } }), "WDE0119", "collection.fields[4].typeMetadata"),
            (json!({ "key": "object", "type": "OBJECT", "typeMetadata": { "object": { "fields": [{ "key": "link", "type": "PAGE_LINK", "typeMetadata": inner }] } } }), "WDE0119", "collection.fields[4].typeMetadata"),
        ] {
            let mut pin = text("pin");
            pin["encrypted"] = json!(true);
            let tags = json!({ "key": "tags", "type": "ARRAY_STRING" });
            let fields = json!([text("title"), pin, tags, { "key": "n", "type": "NUMBER" }, field]);
            let made = content.collection_create(site, &owner(), &collection("c", fields, json!([]))).await;
            assert_eq!(refusal(made), (code, place.to_owned()), "{field}");
            assert_eq!(code_of_get(&world).await, "WDE0025", "nothing was made");
        }
        let links = |count: usize| (0..count).map(|n| link(&format!("link{n}"), "/{title}")).chain([text("title")]).collect::<Value>();
        let many = content.collection_create(site, &owner(), &collection("c", links(21), json!([]))).await;
        assert_eq!(refusal(many), ("WDE0075", "collection.fields".to_owned()));
        content.collection_create(site, &owner(), &collection("c", links(20), json!([]))).await.unwrap();
        let one_more = content.field_create(site, &owner(), "c", &link("more", "/{title}")).await;
        assert_eq!(refusal(one_more), ("WDE0075", "collection.fields".to_owned()));
        let made = world.insert(&visitor("v"), json!({ "title": "x" })).await.unwrap();
        assert_eq!((0..20).filter(|n| made[format!("link{n}")] == "/x").count(), 20);
    }

    async fn fields_that_a_link_names_are_needed(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        let fields = json!([text("title"), text("other"), link("link", "/{title}")]);
        content.collection_create(site, &owner(), &collection("c", fields, json!([]))).await.unwrap();
        world.insert(&visitor("v"), json!({ "_id": "a", "title": "x", "other": "y" })).await.unwrap();
        let at_pattern = |n: usize| format!("collection.fields[{n}].typeMetadata.pageLink.calculator.fieldsPattern.pattern");
        let deleted = content.field_delete(site, &owner(), "c", "title").await;
        assert_eq!(refusal(deleted), ("WDE0075", at_pattern(1)));
        for kind in ["OBJECT", "ARRAY_STRING", "RICH_CONTENT", "PAGE_LINK"] {
            let changed = content.field_update(site, &owner(), "c", &json!({ "key": "title", "type": kind }), false).await;
            assert_eq!(refusal(changed), ("WDE0075", at_pattern(2)), "{kind}");
        }
        let mut hidden = text("title");
        hidden["encrypted"] = json!(true);
        assert_eq!(refusal(content.field_update(site, &owner(), "c", &hidden, false).await).0, "WDE0075");
        let whole = content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
        let mut without = whole.clone();
        without["fields"].as_array_mut().unwrap().retain(|it| it["key"] != "title");
        assert_eq!(refusal(content.collection_update(site, &owner(), &without).await), ("WDE0075", at_pattern(1)));
        let same = content.collection_update(site, &owner(), &whole).await.unwrap();
        assert_eq!(same["fields"], whole["fields"], "a round trip keeps it");
        assert_eq!(world.get(&visitor("v"), "a").await.unwrap()["link"], "/x", "nothing has changed");
        // With another pattern the field may go, and with the link the pattern.
        content.field_update(site, &owner(), "c", &link("link", "/{other}"), false).await.unwrap();
        content.field_delete(site, &owner(), "c", "title").await.unwrap();
        assert_eq!(world.get(&visitor("v"), "a").await.unwrap()["link"], "/y");
        content.field_delete(site, &owner(), "c", "link").await.unwrap();
        content.field_delete(site, &owner(), "c", "other").await.unwrap();
        assert_eq!(world.get(&visitor("v"), "a").await.unwrap().get("link"), None);
    }

    async fn fields_with_an_index_become_no_links(engine) {
        let world = World::open(engine).await;
        let (content, site) = (&world.content, &world.site);
        let index = json!({ "name": "by_slug", "fields": [{ "path": "slug" }], "unique": true });
        content.field_create(site, &owner(), "c", &text("slug")).await.unwrap();
        content.index_create(site, &owner(), "c", &index).await.unwrap();
        let at = "collection.fields[3].typeMetadata.pageLink.calculator".to_owned();
        let refused = content.field_update(site, &owner(), "c", &link("slug", "/{title}"), false).await;
        assert_eq!(refusal(refused), ("WDE0119", at));
    }

    async fn mutable_links_of_older_versions_are_sent_back(engine) {
        let mut world = World::open(engine).await;
        let alone = json!({ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": { "isMutable": true } });
        world.keep_plugin(alone.clone()).await;
        let (content, site) = (&world.content, &world.site);
        let whole = content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
        assert_eq!(content.collection_update(site, &owner(), &whole).await.unwrap()["plugins"], json!([alone]));
        content.field_create(site, &owner(), "c", &link("link", "/{title}")).await.unwrap();
        assert_eq!(world.insert(&app(), json!({ "title": "x", "link": "/mine" })).await.unwrap()["link"], "/x");
    }

    async fn links_of_older_versions_stay_and_are_not_made(engine) {
        let mut world = World::open(engine).await;
        let old = json!([
            { "key": "title", "type": "TEXT" }, link("link", "/{gone}"),
            { "key": "routed", "type": "PAGE_LINK", "typeMetadata": { "pageLink": { "pageLinkType": "ROUTER_DEFINED" } } },
        ]);
        world.keep_fields(old).await;
        let (content, site, visitor) = (&world.content, &world.site, visitor("v"));
        let made = world.insert(&visitor, json!({ "_id": "a", "title": "x", "link": "as sent", "routed": "/r" })).await.unwrap();
        assert_eq!((&made["link"], &made["routed"]), (&json!("as sent"), &json!("/r")));
        assert_eq!(world.ids(&visitor, json!({ "filter": { "link": "as sent" } })).await.unwrap(), ["a"]);
        let named = json!({ "id": "c", "displayName": "Named" });
        content.collection_patch(site, &owner(), &named).await.unwrap();
        let wrong = content.field_update(site, &owner(), "c", &link("link", "/{missing}"), false).await;
        assert_eq!(refusal(wrong).0, "WDE0075", "another pattern is looked at");
        content.field_update(site, &owner(), "c", &link("link", "/{title}"), false).await.unwrap();
        assert_eq!(world.get(&visitor, "a").await.unwrap()["link"], "/x");
    }

    async fn links_are_not_translated(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        let plugin = |keys: Value| json!([{ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": keys } }]);
        let fields = json!([text("title"), link("link", "/{title}")]);
        let refused = content.collection_create(site, &owner(), &collection("c", fields.clone(), plugin(json!(["link"])))).await;
        assert_eq!(refusal(refused), ("WDE0075", "multilingualOptions.translatableFieldKeys[0]".to_owned()));
        content.collection_create(site, &owner(), &collection("c", fields, plugin(json!(["title"])))).await.unwrap();
        world.insert(&app(), json!({ "_id": "a", "title": "Haus" })).await.unwrap();
        // Read, changed and sent back in a language: the link is that of the primary text.
        let mut update = single(json!({ "_id": "a", "title": "house", "link": "/stale" }));
        update["language"] = json!("en");
        let text = update.to_string();
        let request = stoa_content::Request::parse(text.as_bytes()).unwrap();
        content.item_update(site, &app(), &request).await.unwrap();
        let query = json!({ "dataCollectionId": "c", "language": "en", "query": {} });
        let page = world.page(&visitor("v"), query).await.unwrap();
        let item: Value = serde_json::from_str(&page.elements).unwrap();
        assert_eq!((&item["data"]["title"], &item["data"]["link"]), (&json!("house"), &json!("/haus")));
    }

    async fn drafts_have_the_links_of_their_collection(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        let plugins = json!([{ "type": "DRAFT_ITEMS" }, editable(true), { "type": "URLIZED", "urlizedOptions": { "format": "PLAIN" } }]);
        content.collection_create(site, &owner(), &collection("c", json!([text("title"), link("link", "/{title}")]), plugins)).await.unwrap();
        let made = world.insert(&app(), json!({ "_id": "a", "title": "First One" })).await.unwrap();
        assert_eq!(made["link"], "/First%20One");
        let body = json!({ "dataCollectionId": "c", "dataItemId": "a" }).to_string();
        let request = stoa_content::Request::parse(body.as_bytes()).unwrap();
        let draft: Value = serde_json::from_str(&content.item_draft_create(site, &app(), &request).await.unwrap().doc).unwrap();
        assert_eq!(draft["link"], "/First%20One");
        let mut update = single(json!({ "_id": "a", "title": "Second", "link": "/second-one" }));
        update["dataCollectionId"] = json!("c__drafts");
        let text = update.to_string();
        content.item_update(site, &app(), &stoa_content::Request::parse(text.as_bytes()).unwrap()).await.unwrap();
        assert_eq!(world.get(&visitor("v"), "a").await.unwrap()["link"], "/First%20One", "until it is published");
        let published = content.item_draft_publish(site, &app(), &request).await.unwrap();
        let published: Value = serde_json::from_str(&published.doc).unwrap();
        assert_eq!((&published["title"], &published["link"]), (&json!("Second"), &json!("/second-one")));
        assert_eq!(world.get(&visitor("v"), "a").await.unwrap()["link"], "/second-one");
    }
}

async fn code_of_get(world: &World) -> &'static str {
    code(world.content.collection_get(&world.site, &app(), "c", &[], false).await)
}
