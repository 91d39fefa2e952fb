//! Items in other languages beside the rest of what is done with them: pipelines, pages, hooks, bounds and files.

use crate::{
    common::*,
    hooks::host,
    translations::{data, get_in, multilingual, multilingual_world, patch_in, refusal, rows, set, update_in},
};
use serde_json::{Value, json};
use stoa_content::{
    Content, ContentLimits, Request,
    transfer::{Counts, Event, FileOf, Format, ImportOptions},
};
use stoa_kernel::Result;
use stoa_testkit::on_both_engines;

const LINES: FileOf<'static> = FileOf { collection: "c", format: Format::JsonLines };

/// The process started again with other limits.
fn limit(world: &mut World, change: impl FnOnce(&mut ContentLimits)) {
    let mut limits = ContentLimits::default();
    change(&mut limits);
    world.content = Content::new(world.test.world.clone(), limits);
}

/// Elements of a page of a pipeline, and its cursor.
async fn piped(world: &World, pipeline: Value, total: bool) -> Result<(Vec<Value>, Option<String>)> {
    let request = json!({ "dataCollectionId": "c", "language": "de", "returnTotalCount": total, "pipeline": pipeline });
    let request = members(request);
    let page = world.content.item_aggregate_pipeline(&world.site, &visitor("v"), None, &request).await?;
    let elements = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
    Ok((elements, page.cursors.and_then(|it| it.next)))
}

async fn exported(world: &World, format: Format) -> (Vec<u8>, Vec<u64>) {
    let (mut out, mut told) = (Vec::new(), Vec::new());
    let file = FileOf { collection: "c", format };
    world.content.export(&world.site, &app(), file, &mut out, |it| told.push(it)).await.unwrap();
    (out, told)
}

/// What an import comes to, and the codes of what it refuses.
async fn imported(world: &World, options: ImportOptions<'_>, file: &[u8]) -> (Counts, Vec<&'static str>) {
    let mut refused = Vec::new();
    let tell = |it: Event<'_>| {
        if let Event::Refused { fault, .. } = it {
            refused.push(fault.code().name());
        }
    };
    let done = world.content.import_with(&world.site, &app(), LINES, options, file, tell).await.unwrap();
    (done, refused)
}

on_both_engines! {
    async fn pipelines_are_in_the_order_of_the_primary_text(engine) {
        let world = multilingual_world(engine).await;
        let items = [("a", "A", "Z"), ("b", "B", "Y"), ("c", "C", "X"), ("d", "D", "W")];
        for (id, title, translated) in items {
            world.insert(&app(), json!({ "_id": id, "title": title, "n": 1 })).await.unwrap();
            update_in(&world, &app(), "de", json!({ "_id": id, "title": translated, "n": 1 })).await.unwrap();
        }
        let sort = json!({ "sort": { "values": [{ "fieldName": "title", "order": "ASC" }] } });
        // An order that no statement makes is made of the primary text as well.
        let renamed = json!({ "projection": { "fields": [{ "include": { "fieldName": "title" } }] } });
        for stages in [json!([sort, { "limit": 100 }]), json!([sort, { "limit": 20_000 }]), json!([sort]), json!([sort, renamed])] {
            let wants = ["Z", "Y", "X", "W"];
            for total in [false, true] {
                let paging = json!({ "limit": 10, "offset": 0 });
                let (page, _) = piped(&world, json!({ "stages": stages, "paging": paging }), total).await.unwrap();
                assert_eq!(page.iter().map(|it| it["title"].as_str().unwrap()).collect::<Vec<_>>(), wants, "{stages} {total}");
            }
            let (mut titles, mut paging) = (Vec::new(), json!({ "limit": 1 }));
            for _ in 0..5 {
                let first = paging.get("cursor").is_none();
                let pipeline = if first { json!({ "stages": stages, "cursorPaging": paging }) } else { json!({ "cursorPaging": paging }) };
                let (page, next) = piped(&world, pipeline, false).await.unwrap();
                titles.extend(page.iter().map(|it| it["title"].as_str().unwrap().to_owned()));
                let Some(next) = next else { break };
                paging = json!({ "limit": 1, "cursor": next });
            }
            assert_eq!(titles, wants, "{stages}");
        }
        // A sort that isn't right behind the filters is about what is shown.
        let (page, _) = piped(&world, json!({ "stages": [{ "limit": 100 }, sort] }), false).await.unwrap();
        assert_eq!(page[0]["title"], "W");
    }

    async fn aggregations_hold_only_the_translations_that_they_are_about(engine) {
        let mut world = multilingual_world(engine).await;
        let long = "x".repeat(1_000);
        for n in 0..30 {
            let id = format!("i{n}");
            world.insert(&app(), json!({ "_id": id, "title": "House", "n": n })).await.unwrap();
            update_in(&world, &app(), "de", json!({ "_id": id, "title": long, "n": n })).await.unwrap();
        }
        limit(&mut world, |it| it.pipeline_bytes = 20_000);
        let by = |field: &str| json!({ "group": { "groupIds": [{ "key": "k", "expression": { "fieldPath": field } }] } });
        let first = json!({ "filter": { "n": { "$lt": 2 } } });
        let (groups, _) = piped(&world, json!({ "stages": [first, by("title")] }), false).await.unwrap();
        assert!(groups[0].to_string().contains(&long) && groups.len() == 1);
        let counted = json!({ "group": { "groupIds": [], "accumulators": [{ "resultFieldName": "sum", "sum": { "expression": { "fieldPath": "n" } } }] } });
        let sum = piped(&world, json!({ "stages": [counted] }), false).await;
        assert!(sum.is_ok(), "{:?}", sum.err());
        assert_eq!(code(piped(&world, json!({ "stages": [by("title")] }), false).await), "WDE0092");
    }

    async fn pages_count_what_they_show(engine) {
        let mut world = multilingual_world(engine).await;
        let text = |length: usize| "x".repeat(length);
        for id in ["a", "b"] {
            world.insert(&app(), json!({ "_id": id, "title": "House", "tags": [text(20_000)] })).await.unwrap();
            update_in(&world, &app(), "de", json!({ "_id": id, "title": text(30_000) })).await.unwrap();
            update_in(&world, &app(), "de-AT", json!({ "_id": id, "title": text(30_000) })).await.unwrap();
            update_in(&world, &app(), "fr", json!({ "_id": id, "tags": [text(45_000)] })).await.unwrap();
        }
        let field = |key: &str| json!({ "key": key, "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": { "referencedCollectionId": "c" } } });
        let object = json!({ "id": "shelf", "fields": [field("all")], "dataPermissions": { "itemRead": "ANYONE" } });
        world.content.collection_create(&world.site, &owner(), &object).await.unwrap();
        for id in ["s", "t"] {
            let mut body = single(json!({ "_id": id, "all": ["a"] }));
            body["dataCollectionId"] = json!("shelf");
            body["saveReferences"] = json!(true);
            let body = body.to_string();
            world.content.item_insert(&world.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
        }
        // The texts of two items have 40 kB, in German 100, and in French 90, where those of the field go.
        let links = json!({ "dataCollectionId": "shelf", "language": "de", "referringItemIds": ["s", "t"], "referringItemFieldName": "all", "fields": ["title"] });
        let found = world.content.references_query(&world.site, &app(), None, &members(links.clone())).await.unwrap();
        let found: Vec<Value> = serde_json::from_str(&format!("[{}]", found.elements)).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|it| it["dataItem"]["data"]["title"] == json!(text(30_000))), "an item that is linked twice is shown twice");
        for (most, german, french) in [(110_000, "ok", "ok"), (95_000, "WDE0109", "ok"), (85_000, "WDE0109", "WDE0109")] {
            limit(&mut world, |it| it.page_bytes = most);
            let page = async |language: &str| {
                let request = json!({ "dataCollectionId": "c", "language": language, "query": { "fields": ["n"] } });
                world.page(&app(), request).await
            };
            assert_eq!((code(page("de").await), code(page("de-AT").await), code(page("fr").await)), (german, german, french), "{most}");
            let links = world.content.references_query(&world.site, &app(), None, &members(links.clone())).await;
            assert_eq!(code(links), german, "{most}");
        }
    }

    async fn hooks_are_told_the_primary_text_and_callers_are_answered_in_their_language(engine) {
        let world = multilingual_world(engine).await;
        world.content.keep_hooks(host());
        world.content.hooks_deploy(&world.site, &app(), "
            export function c_afterUpdate(item) {
                if (item.title != 'House') throw new Error('was told ' + item.title);
                if (item.n == 7) { delete item.title; item.tags = ['hook'] }
                item.after = true;
                return item
            }").await.unwrap();
        world.insert(&app(), json!({ "_id": "a", "title": "House", "tags": ["x"], "n": 1 })).await.unwrap();
        let wants = |it: &Value| assert_eq!((&it["title"], &it["tags"], &it["after"]), (&json!("Haus"), &json!(["x"]), &json!(true)));
        wants(&update_in(&world, &app(), "de", json!({ "_id": "a", "title": "Haus" })).await.unwrap());
        wants(&patch_in(&world, &app(), "de", ("a", set("title", json!("Haus")))).await.unwrap());
        let mut body = many([json!({ "_id": "a", "title": "Haus" })]);
        (body["language"], body["returnEntity"]) = (json!("de"), json!(true));
        let outcomes = world.bulk(&app(), "save", &body).await.unwrap();
        assert_eq!(verdicts(&outcomes), ["UPDATE"]);
        wants(&serde_json::from_str(&outcomes[0].item.as_ref().unwrap().doc).unwrap());
        // What the hook changes or takes away is so in the language as well.
        world.update(&app(), json!({ "_id": "a", "title": "House", "tags": ["x"], "n": 7 }), None).await.unwrap();
        let answer = update_in(&world, &app(), "de", json!({ "_id": "a", "title": "Haus", "tags": ["y"] })).await.unwrap();
        assert_eq!((answer.get("title"), &answer["tags"]), (None, &json!(["hook"])));
        assert_eq!(get_in(&world, &app(), "a", "de").await.unwrap()["tags"], json!(["y"]));
    }

    async fn all_languages_of_an_item_together_are_bounded(engine) {
        let mut world = multilingual_world(engine).await;
        limit(&mut world, |it| it.translations_bytes = 65_536);
        world.insert(&app(), json!({ "_id": "a", "title": "House", "tags": ["x"] })).await.unwrap();
        let half = |more: usize| json!({ "_id": "a", "title": "x".repeat(65_536 / 2 - 41 + more) });
        update_in(&world, &app(), "de", half(0)).await.unwrap();
        let refused = refusal(update_in(&world, &app(), "fr", half(1)).await);
        assert!(refused.code().name() == "WDE0009" && refused.message().contains("65536"), "{refused:?}");
        update_in(&world, &app(), "fr", half(0)).await.unwrap();
        assert_eq!(code(patch_in(&world, &app(), "it", ("a", set("title", json!("")))).await), "WDE0009");
        // What is there already can be made less, under a tighter limit as well.
        update_in(&world, &app(), "fr", json!({ "_id": "a", "title": "short" })).await.unwrap();
        update_in(&world, &app(), "it", json!({ "_id": "a", "title": "short" })).await.unwrap();
        let line = json!({ "_id": "a", "_translations": { "de": { "title": "x".repeat(40_000) }, "fr": { "title": "x".repeat(40_000) } } });
        assert_eq!(imported(&world, ImportOptions::default(), line.to_string().as_bytes()).await.1, ["WDE0009"]);
    }

    async fn files_carry_whatever_is_stored(engine) {
        let world = multilingual_world(engine).await;
        let text = |length: usize| "x".repeat(length);
        // The primary text grows after it was translated.
        world.insert(&app(), json!({ "_id": "a", "title": "House" })).await.unwrap();
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": text(400_000) })).await.unwrap();
        world.update(&app(), json!({ "_id": "a", "title": "House", "tags": [text(400_000)] }), None).await.unwrap();
        for id in ["b", "d", "e"] {
            world.insert(&app(), json!({ "_id": id, "title": "House" })).await.unwrap();
            for n in 0..8 {
                update_in(&world, &app(), &format!("x-l{n}"), json!({ "_id": id, "title": text(500_000) })).await.unwrap();
            }
        }
        let (file, told) = exported(&world, Format::JsonLines).await;
        assert!(told.len() > 1 && told.last() == Some(&4), "what is held at once is bounded: {told:?}");
        let other = multilingual_world(engine).await;
        let (done, refused) = imported(&other, ImportOptions::default(), &file).await;
        assert_eq!((done.inserted, refused), (4, vec![]));
        assert_eq!(rows(&other).await, rows(&world).await);
        // CSV has the column before any value is read.
        let (file, _) = exported(&multilingual_world(engine).await, Format::Csv).await;
        assert!(String::from_utf8(file).unwrap().contains("_translations"));
    }

    async fn a_member_of_the_name_that_files_have_is_no_translation(engine) {
        let world = World::open(engine).await;
        let own = json!({ "de": { "title": "Haus" } });
        world.insert(&visitor("v"), json!({ "_id": "a", "title": "House", "_translations": own })).await.unwrap();
        // Without translatable fields it is a member like any other, in files as well.
        let (file, _) = exported(&world, Format::JsonLines).await;
        let other = World::open(engine).await;
        assert_eq!(imported(&other, ImportOptions::default(), &file).await, (Counts { inserted: 1, ..Counts::default() }, vec![]));
        assert_eq!(other.get(&app(), "a").await.unwrap()["_translations"], own);

        world.content.plugin_add(&world.site, &owner(), "c", &multilingual(json!(["title"])), None).await.unwrap();
        let member = |id: &str| json!({ "_id": id, "title": "Home", "_translations": { "de": { "title": "x" } } });
        let refused = refusal(world.insert(&visitor("v"), member("b")).await);
        assert_eq!((refused.code().name(), &refused.data()["propertyName"]), ("WDE0080", &json!("_translations")));
        assert_eq!(code(world.save(&visitor("v"), member("b")).await), "WDE0080");
        assert_eq!(code(world.update(&visitor("v"), member("a"), None).await), "WDE0080");
        assert_eq!(verdicts(&world.bulk(&visitor("v"), "insert", &many([member("b")])).await.unwrap()), ["WDE0080"]);
        // One from before can stay as it is, and isn't taken for what it isn't.
        world.update(&visitor("v"), json!({ "_id": "a", "title": "Home", "_translations": own }), None).await.unwrap();
        let (file, _) = exported(&world, Format::JsonLines).await;
        assert!(!String::from_utf8(file).unwrap().contains("_translations"));
        world.update(&visitor("v"), json!({ "_id": "a", "title": "Home" }), None).await.unwrap();
    }

    async fn imports_by_key_leave_alone_what_is_translated_alike(engine) {
        let world = multilingual_world(engine).await;
        let line = |german: &str| json!({ "code": "a", "title": "House", "_translations": { "de": { "title": german }, "fr": {} } }).to_string();
        let options = ImportOptions { key: Some("code"), ..ImportOptions::default() };
        for (german, wants) in [("Haus", (1, 0, 0)), ("Haus", (0, 0, 1)), ("Heim", (0, 1, 0)), ("Heim", (0, 0, 1)), ("Zuhause", (0, 1, 0))] {
            let (it, refused) = imported(&world, options, line(german).as_bytes()).await;
            assert_eq!((it.inserted, it.updated, it.unchanged, refused), (wants.0, wants.1, wants.2, vec![]), "{german}");
        }
        assert_eq!(rows(&world).await, [("de".into(), "title".into(), "\"Zuhause\"".into())]);
        let dry = ImportOptions { is_dry_run: true, ..options };
        assert_eq!(imported(&world, dry, line("Zuhause").as_bytes()).await.0.unchanged, 1);
        assert_eq!(imported(&world, dry, line("Haus").as_bytes()).await.0.updated, 1);
    }

    async fn keys_of_translatable_fields_fit_into_an_index(engine) {
        let world = World::new(engine).await;
        let (fits, long) = ("é".repeat(250), "é".repeat(251));
        let fields: Vec<Value> = [fits.as_str(), long.as_str(), "a\"", "a#", "a"].iter().map(|it| json!({ "key": it, "type": "TEXT" })).collect();
        let create = |id: &str, keys: Value| {
            let object = json!({ "id": id, "fields": fields, "dataPermissions": { "itemRead": "ANYONE" }, "plugins": [multilingual(keys)] });
            let (content, site) = (&world.content, &world.site);
            async move { content.collection_create(site, &owner(), &object).await }
        };
        assert_eq!(code(create("d", json!([long])).await), "WDE0075");
        create("c", json!(["a#", "a\"", fits, "a"])).await.unwrap();
        world.insert(&app(), json!({ "_id": "i" })).await.unwrap();
        let german = json!({ "_id": "i", "a": "1", "a#": "2", "a\"": "3", fits.as_str(): "4" });
        update_in(&world, &app(), "de", german.clone()).await.unwrap();
        let read = get_in(&world, &app(), "i", "de").await.unwrap();
        for (key, value) in german.as_object().unwrap() {
            assert_eq!(read[key.as_str()], *value, "{key}");
        }
        let page = world.page(&app(), json!({ "dataCollectionId": "c", "language": "de" })).await.unwrap();
        assert_eq!(data(&page.elements)[0]["a#"], "2");
    }
}
