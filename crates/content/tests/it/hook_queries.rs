//! What hooks make of queries, and of the items that come with others.

use crate::{
    common::{World, app, editor, members, owner, visitor},
    hooks::host,
};
use serde_json::{Value, json};
use stoa_content::{
    Request,
    transfer::{Event, FileOf, Format, ImportOptions},
};
use stoa_kernel::Caller;
use stoa_testkit::{Engine, on_both_engines};

/// A site whose collection `c` refers to `makers`, all of it everyone's to read: four items of one maker.
async fn with_makers(engine: Engine) -> World {
    let world = World::new(engine).await;
    let anyone = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE" });
    let reference = json!({ "reference": { "referencedCollectionId": "makers" } });
    let fields = json!([
        { "key": "title", "type": "TEXT" }, { "key": "maker", "type": "REFERENCE", "typeMetadata": reference },
    ]);
    world.create("makers", anyone.clone()).await;
    world.create_with("c", json!({ "fields": fields, "dataPermissions": anyone })).await;
    world.content.keep_hooks(host());
    for id in ["a", "b", "c", "d"] {
        world.insert(&app(), json!({ "_id": id, "title": id, "maker": "m" })).await.unwrap();
    }
    let maker =
        json!({ "dataCollectionId": "makers", "dataItem": { "data": { "_id": "m", "title": "made" } } }).to_string();
    world.content.item_insert(&world.site, &app(), &Request::parse(maker.as_bytes()).unwrap()).await.unwrap();
    world
}

async fn deploy(world: &World, source: &str) {
    world.content.hooks_deploy(&world.site, &app(), source).await.unwrap();
}

on_both_engines! {
    async fn paging_and_references_of_a_builder_count(engine) {
        let world = with_makers(engine).await;
        let ids = |page: &stoa_content::Page| -> Vec<String> {
            let items: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
            items.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
        };
        let (by_offset, by_cursor) = (json!({ "limit": 3 }), json!({ "limit": 3 }));
        let asked = |paging: Option<&Value>, cursor: Option<&Value>| {
            json!({ "dataCollectionId": "c", "query": { "sort": [{ "fieldName": "_id" }], "paging": paging, "cursorPaging": cursor } })
        };
        let visitor = visitor("v");

        deploy(&world, "export function c_beforeQuery(query) { return query.limit(2).skip(1) }
                export function c_beforeDistinct(query) { return query.limit(2).skip(1) }
                export function c_beforeCount(query) { return query.limit(1) }").await;
        assert_eq!(ids(&world.page(&visitor, asked(Some(&by_offset), None)).await.unwrap()), ["b", "c"]);
        assert_eq!(ids(&world.page(&visitor, asked(None, None)).await.unwrap()), ["b", "c"]);
        let refused = world.page(&visitor, asked(None, Some(&by_cursor))).await.err().unwrap();
        assert_eq!(refused.data()["jsErrorValue"]["message"], "skip is not for a query by cursor");
        let distinct = |more: Value| {
            let mut request = members(json!({ "dataCollectionId": "c", "fieldName": "title" }));
            request.extend(members(more));
            request
        };
        let found = world.content.item_distinct(&world.site, &visitor, None, &distinct(json!({ "paging": by_offset }))).await.unwrap();
        assert_eq!(found.elements, r#""b","c""#);
        assert_eq!(world.count(&visitor, json!({})).await.unwrap(), 4, "as with the client, a count has no pages");

        deploy(&world, "export function c_beforeQuery(query) { return query.limit(2) }
                export function c_beforeDistinct(query) { return query.limit(2) }").await;
        let mut request = asked(None, Some(&by_cursor));
        for expected in [["a", "b"], ["c", "d"]] {
            let page = world.page(&visitor, request.clone()).await.unwrap();
            assert_eq!(ids(&page), expected);
            if let Some(next) = page.cursors.as_ref().and_then(|it| it.next.as_ref()) {
                request = asked(None, Some(&json!({ "cursor": next, "limit": 3 })));
            }
        }
        let found = world.content.item_distinct(&world.site, &visitor, None, &distinct(json!({ "cursorPaging": by_cursor }))).await.unwrap();
        assert_eq!((found.elements.as_str(), found.cursors.is_some()), (r#""a","b""#, true));

        deploy(&world, "export function c_beforeQuery(query) { return query.include('maker') }").await;
        let page = world.page(&visitor, asked(None, None)).await.unwrap();
        assert!(page.elements.contains(r#""title":"made""#), "{}", page.elements);
        // The references that are read are those that the caller may read.
        let closed = json!({ "id": "makers", "dataPermissions": { "itemRead": "PRIVILEGED" } });
        world.content.collection_patch(&world.site, &owner(), &closed).await.unwrap();
        let page = world.page(&visitor, asked(None, None)).await;
        assert!(page.as_ref().map_or(true, |it| !it.elements.contains("made")), "{:?}", page.map(|it| it.elements));
        deploy(&world, "export function c_beforeQuery(query) { return query.include('title') }").await;
        assert!(world.page(&visitor, asked(None, None)).await.is_err(), "what can't be included is refused");
    }

    async fn items_that_others_refer_to_are_shown_as_in_a_query(engine) {
        let world = with_makers(engine).await;
        world.insert(&app(), json!({ "_id": "e", "title": "e", "maker": "gone" })).await.unwrap();
        deploy(&world, "export function makers_afterQuery(item, context) { return { name: item.title + ' for ' + context.userRole } }").await;
        let ask = async |caller: &Caller, more: Value| {
            let mut request = members(json!({ "dataCollectionId": "c", "referringItemFieldName": "maker" }));
            request.extend(members(more));
            let page = world.content.references_query(&world.site, caller, None, &request).await.unwrap();
            serde_json::from_str::<Value>(&format!("[{}]", page.elements)).unwrap()
        };
        let shown = json!({ "id": "m", "dataCollectionId": "makers", "data": { "_id": "m", "name": "made for anonymous" } });
        assert_eq!(ask(&visitor("v"), json!({ "referringItemId": "a" })).await, json!([{ "dataItem": shown }]));
        let several = ask(&visitor("v"), json!({ "referringItemIds": ["a", "e", "b"] })).await;
        assert_eq!(several[0], json!({ "referringItemId": "a", "dataItem": shown }));
        assert_eq!((&several[1]["referringItemId"], &several[1]["unresolvedReference"]["referencedItemId"]), (&json!("e"), &json!("gone")));
        assert_eq!(several[2], json!({ "referringItemId": "b", "dataItem": shown }));
        let bare = ask(&editor(), json!({ "referringItemId": "a", "suppressHooks": true })).await;
        assert_eq!(bare[0]["dataItem"]["data"]["title"], "made");
    }

    async fn import_asks_hooks_where_it_is_told_to(engine) {
        let world = World::open(engine).await;
        world.content.keep_hooks(host());
        let source = "
            export function c_beforeInsert(item) { if (item.n == 3) throw new Error('no'); item.title = 'in'; return { ...item, _owner: 'eve' } }
            export function c_beforeUpdate(item, context) { item.title = context.currentItem.title + ' again'; return item }
            export function c_afterUpdate(item) { console.log('told of', item._id); throw new Error('late') }
        ";
        deploy(&world, source).await;
        let lines: String = (0..250).map(|n| format!("{}\n", json!({ "_id": format!("i{n}"), "n": n, "_owner": "ann" }))).collect();
        let import = async |asks_hooks: bool, text: &str| {
            let (file, options) = (FileOf { collection: "c", format: Format::JsonLines }, ImportOptions { asks_hooks, ..ImportOptions::default() });
            let mut refused = Vec::new();
            let tell = |it: Event<'_>| {
                if let Event::Refused { line, fault } = it {
                    refused.push((line, fault.code().name()));
                }
            };
            let counts = world.content.import_with(&world.site, &app(), file, options, text.as_bytes(), tell).await.unwrap();
            (counts.inserted, counts.updated, counts.failed, refused)
        };
        assert_eq!(import(true, &lines).await, (249, 0, 1, vec![(4, "WDE0078")]));
        let item = world.get(&app(), "i249").await.unwrap();
        assert_eq!((&item["title"], &item["_owner"]), (&json!("in"), &json!("ann")));
        let again = lines.lines().skip(200).map(|it| format!("{it}\n")).collect::<String>();
        assert_eq!(import(true, &again).await, (0, 50, 0, vec![]), "after hooks undo nothing");
        assert_eq!(world.get(&app(), "i249").await.unwrap()["title"], "in again");
        world.content.hook_log_write(&world.site).await.unwrap();
        let log = world.content.hook_log_list(&world.site, &app(), None, 1).await.unwrap();
        assert_eq!((log[0].hook.as_str(), log[0].outcome.as_str()), ("afterUpdate", "THROWN"));
        assert_eq!(import(false, &lines).await, (1, 249, 0, vec![]));
        assert_eq!(world.get(&app(), "i249").await.unwrap()["title"], Value::Null);
    }
}
