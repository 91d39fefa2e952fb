use crate::common::*;
use serde_json::{Value, json};
use stoa_content::Request;
use stoa_kernel::{Caller, Result};
use stoa_testkit::on_both_engines;

fn set(path: &str, value: impl Into<Value>) -> Value {
    json!({ "fieldPath": path, "action": "SET_FIELD", "setFieldOptions": { "value": value.into() } })
}

fn increment(path: &str, by: f64) -> Value {
    json!({ "fieldPath": path, "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": by } })
}

async fn patch(world: &World, caller: &Caller, id: &str, list: Value, condition: Option<Value>) -> Result<Value> {
    let mut body = json!({ "dataCollectionId": "c", "patch": { "dataItemId": id, "fieldModifications": list } });
    if let Some(it) = condition {
        body["condition"] = json!({ "filter": it });
    }
    call(world, caller, &body).await
}

async fn call(world: &World, caller: &Caller, body: &Value) -> Result<Value> {
    let body = body.to_string();
    let item = world.content.item_patch(&world.site, caller, &Request::parse(body.as_bytes())?).await?;
    Ok(serde_json::from_str(&item.doc).unwrap())
}

on_both_engines! {
    async fn patch_changes_named_fields_and_no_others(engine) {
        let world = World::open(engine).await;
        let made = world.insert(&member("ann"), json!({ "_id": "i", "title": "x", "n": 1, "o": { "p": 1 } })).await.unwrap();
        world.test.clock.advance(1_000);
        let list = json!([set("o.q", 2), increment("n", 4.5), { "fieldPath": "title", "action": "REMOVE_FIELD" }]);
        let after = patch(&world, &visitor("v"), "i", list, None).await.unwrap();
        let later = json!({ "$date": "2026-01-01T00:00:01.000Z" });
        let wants = json!({
            "_id": "i", "_createdDate": made["_createdDate"], "_updatedDate": later, "_owner": "ann", "n": 5.5, "o": { "p": 1, "q": 2 },
        });
        assert_eq!(after, wants);
        assert_eq!(world.get(&app(), "i").await.unwrap(), wants);
        assert_eq!(world.count(&app(), json!({ "n": 5.5, "o.q": 2, "_owner": "ann" })).await.unwrap(), 1);
        let (kind, event) = world.outbox().await.pop().unwrap();
        assert_eq!((kind.as_str(), &event["modified"]), ("data_item_updated", &json!([["n", "o", "title"]])));

        world.test.clock.advance(1_000);
        for list in [json!([]), json!(null)] {
            let renewed = patch(&world, &app(), "i", list, None).await.unwrap();
            assert_eq!((&renewed["_updatedDate"], &renewed["n"]), (&json!({ "$date": "2026-01-01T00:00:02.000Z" }), &json!(5.5)));
        }
        let without = json!({ "dataCollectionId": "c", "patch": { "dataItemId": "i" } });
        assert_eq!(call(&world, &app(), &without).await.unwrap()["n"], 5.5);
    }

    async fn patch_condition_is_checked_in_its_transaction(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "i", "n": 0 })).await.unwrap();
        assert_eq!(code(patch(&world, &app(), "i", json!([set("n", 9)]), Some(json!({ "n": { "$gt": 0 } }))).await), "WDE0073");
        assert_eq!(world.get(&app(), "i").await.unwrap()["n"], 0);
        // A hundred at once: each of ten tickets is sold once.
        let mut buyers = Vec::new();
        for _ in 0..100 {
            let (content, site) = (world.content.clone(), world.site.clone());
            buyers.push(tokio::spawn(async move {
                let body = json!({
                    "dataCollectionId": "c", "condition": { "filter": { "n": { "$lt": 10 } } },
                    "patch": { "dataItemId": "i", "fieldModifications": [increment("n", 1.0)] },
                }).to_string();
                loop {
                    let result = content.item_patch(&site, &app(), &Request::parse(body.as_bytes()).unwrap()).await;
                    // So many at once may be refused for a retry.
                    if code(result.as_ref().map_err(|it| stoa_kernel::Fault::new(it.code()))) != "UNAVAILABLE" {
                        return code(result);
                    }
                }
            }));
        }
        let mut sold = 0;
        for it in buyers {
            match it.await.unwrap() {
                "ok" => sold += 1,
                it => assert_eq!(it, "WDE0073"),
            }
        }
        assert_eq!((sold, &world.get(&app(), "i").await.unwrap()["n"]), (10, &json!(10)));
    }

    async fn patch_needs_the_right_to_update(engine) {
        let world = World::with_levels(engine, "PRIVILEGED", "ANYONE", "SITE_MEMBER_AUTHOR", "PRIVILEGED").await;
        world.insert(&member("ann"), json!({ "_id": "hers", "secret": 1, "n": 1 })).await.unwrap();
        let list = || json!([increment("n", 1.0)]);
        assert_eq!(code(patch(&world, &visitor("v"), "hers", list(), None).await), "WDE0027");
        assert_eq!(code(patch(&world, &member("bob"), "hers", list(), None).await), "WDE0073");
        assert_eq!(code(patch(&world, &member("ann"), "hers", list(), Some(json!({ "n": 1 }))).await), "WDE0027", "a condition reads");
        let blind = patch(&world, &member("ann"), "hers", list(), None).await.unwrap();
        assert_eq!(blind, json!({ "_id": "hers" }), "who may not read isn't shown the rest");
        assert_eq!(world.get(&app(), "hers").await.unwrap()["n"], 2);
        assert_eq!(code(patch(&world, &member("ann"), "hers", json!([set("_owner", "bob")]), None).await), "WDE0027");
        let given = patch(&world, &owner(), "hers", json!([set("_owner", "bob")]), None).await.unwrap();
        assert_eq!(given["_owner"], "bob");
        assert_eq!(code(patch(&world, &member("ann"), "hers", list(), None).await), "WDE0073");
        for (list, wants) in [
            (json!([set("_owner", 7)]), "WDE0080"),
            (json!([set("_owner", "")]), "WDE0080"),
            (json!([set("_owner.x", "a")]), "WDE0080"),
            (json!([{ "fieldPath": "_owner", "action": "REMOVE_FIELD" }]), "WDE0080"),
            (json!([set("_id", "x")]), "WDE0080"),
            (json!([set("_createdDate", "x")]), "WDE0080"),
            (json!([increment("_updatedDate.$date", 1.0)]), "WDE0134"),
        ] {
            assert_eq!(code(patch(&world, &app(), "hers", list.clone(), None).await), wants, "{list}");
        }
    }

    async fn malformed_patches_have_their_codes(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "i", "n": 1, "t": "x" })).await.unwrap();
        let action = |it: Value| json!({ "patch": { "dataItemId": "i", "fieldModifications": [it] } });
        for (mut body, wants) in [
            (json!({}), "WDE0080"),
            (json!({ "patch": null }), "WDE0080"),
            (json!({ "patch": 7 }), "WDE0080"),
            (json!({ "patch": {} }), "WDE0002"),
            (json!({ "patch": { "dataItemId": 7 } }), "WDE0002"),
            (json!({ "patch": { "dataItemId": "" } }), "WDE0073"),
            (json!({ "patch": { "dataItemId": "none" } }), "WDE0073"),
            (json!({ "patch": { "dataItemId": "a\u{0}" } }), "WDE0073"),
            (json!({ "patch": { "dataItemId": "i", "fieldModifications": "x" } }), "WDE0080"),
            (json!({ "patch": { "dataItemId": "i" }, "condition": { "filter": 7 } }), "WDE0016"),
            (action(json!(7)), "WDE0080"),
            (action(json!({})), "WDE0080"),
            (action(json!({ "fieldPath": "n" })), "WDE0080"),
            (action(json!({ "fieldPath": "n", "action": "UNKNOWN_ACTION" })), "WDE0080"),
            (action(json!({ "fieldPath": 7, "action": "REMOVE_FIELD" })), "WDE0080"),
            (action(json!({ "fieldPath": "", "action": "REMOVE_FIELD" })), "WDE0080"),
            (action(json!({ "fieldPath": "a..b", "action": "REMOVE_FIELD" })), "WDE0080"),
            (action(json!({ "fieldPath": "a.".repeat(500_000) + "b", "action": "REMOVE_FIELD" })), "WDE0168"),
            (action(json!({ "fieldPath": "$n", "action": "REMOVE_FIELD" })), "WDE0134"),
            (action(json!({ "fieldPath": "n", "action": "INCREMENT_FIELD" })), "WDE0080"),
            (action(json!({ "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": "1" } })), "WDE0080"),
            (action(json!({ "fieldPath": "t", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } })), "WDE0080"),
            (action(json!({ "fieldPath": "t", "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": 1 } })), "WDE0080"),
            (action(json!({ "fieldPath": "t", "action": "REMOVE_FROM_ARRAY", "removeFromArrayOptions": { "value": 1 } })), "WDE0080"),
            (action(set("a", json!({ "b": { "$c": 1 } }))), "WDE0134"),
            (action(set("a\u{0}", 1)), "WDE0080"),
        ] {
            body["dataCollectionId"] = "c".into();
            assert_eq!(code(call(&world, &app(), &body).await), wants, "{}", body.to_string().chars().take(200).collect::<String>());
        }
        let body = br#"{"dataCollectionId":"c","patch":{"dataItemId":"i","fieldModifications":[{"fieldPath":"a","action":"SET_FIELD","setFieldOptions":{"value":"\ud800"}}]}}"#;
        assert_eq!(code(Request::parse(body)), "WDE0080");
        assert_eq!(world.get(&app(), "i").await.unwrap()["n"], 1);
    }

    async fn patches_have_an_answer_each(engine) {
        let world = World::open(engine).await;
        world.bulk(&app(), "insert", &many((0..3).map(|n| json!({ "_id": n.to_string(), "n": n })))).await.unwrap();
        let one = |id: Value, list: Value| json!({ "dataItemId": id, "fieldModifications": list });
        let body = json!({ "dataCollectionId": "c", "returnEntity": true, "patches": [
            one(json!("0"), json!([increment("n", 10.0)])), one(json!("none"), json!([])), one(json!(7), json!([])), json!("x"),
            one(json!("1"), json!([set("n", "text")])), one(json!("1"), json!([increment("n", 1.0)])), one(json!("0"), json!([increment("n", 10.0)])),
        ]});
        let outcomes = world.bulk(&app(), "patch", &body).await.unwrap();
        assert_eq!(verdicts(&outcomes), ["PATCH", "WDE0073", "WDE0002", "WDE0080", "PATCH", "WDE0080", "PATCH"]);
        assert_eq!(outcomes[1].id.as_deref(), Some("none"));
        assert!(outcomes[6].item.as_ref().unwrap().doc.contains("\"n\":20"), "the second finds what the first left");
        assert_eq!(world.get(&app(), "0").await.unwrap()["n"], 20);
        assert_eq!(world.get(&app(), "1").await.unwrap()["n"], "text");

        let body = json!({ "dataCollectionId": "c", "condition": { "filter": { "n": 2 } },
            "patches": [one(json!("1"), json!([set("n", 0)])), one(json!("2"), json!([set("n", 0)]))] });
        assert_eq!(verdicts(&world.bulk(&app(), "patch", &body).await.unwrap()), ["WDE0073", "PATCH"]);

        let patches = |count: usize| json!({ "dataCollectionId": "c", "patches": vec![one(json!("2"), json!([increment("m", 1.0)])); count] });
        assert_eq!(code(world.bulk(&app(), "patch", &patches(101)).await), "WDE0006");
        assert_eq!(code(world.bulk(&app(), "patch", &patches(0)).await), "WDE0080");
        assert_eq!(code(world.bulk(&app(), "patch", &json!({ "dataCollectionId": "c" })).await), "WDE0080");
        assert_eq!(code(world.bulk(&app(), "patch", &json!({ "dataCollectionId": "c", "patches": {} })).await), "WDE0080");
        world.bulk(&app(), "patch", &patches(100)).await.unwrap();
        assert_eq!(world.get(&app(), "2").await.unwrap()["m"], 100);
    }
}
