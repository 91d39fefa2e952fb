use crate::common::*;
use serde_json::json;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn bulk_items_have_an_answer_each(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "there" })).await.unwrap();
        let mut body = many([
            json!({ "_id": "a" }), json!({ "_id": "there" }), json!({ "_id": "a" }), json!({ "_id": "" }),
            json!({ "_id": null }), json!({ "_id": "x?y" }), json!({ "$a": 1 }), json!({ "n": 1 }), json!({ "s": "a\u{0}b" }),
        ]);
        body["dataItems"].as_array_mut().unwrap().extend([
            json!("no item"), json!(null), json!({}), json!({ "data": [] }), json!({ "id": "b", "data": { "_id": "c" } }),
            json!({ "id": "d", "data": {} }),
        ]);
        let outcomes = world.bulk(&app(), "insert", &body).await.unwrap();
        assert_eq!(
            verdicts(&outcomes),
            [
                "INSERT", "WDE0074", "WDE0074", "WDE0079", "WDE0007", "WDE0079", "WDE0134", "INSERT", "WDE0080", "WDE0004",
                "WDE0004", "WDE0004", "WDE0004", "WDE0080", "INSERT",
            ]
        );
        assert_eq!(outcomes[14].id.as_deref(), Some("d"));
        assert_eq!(world.count(&app(), json!({})).await.unwrap(), 4);
    }

    async fn bulk_takes_a_thousand_and_no_more(engine) {
        let world = World::open(engine).await;
        let items = |count: usize| many((0..count).map(|n| json!({ "_id": format!("i{n}"), "n": n })));
        assert_eq!(code(world.bulk(&app(), "insert", &items(1001)).await), "WDE0006");
        assert!(world.bulk(&app(), "insert", &items(0)).await.unwrap().is_empty());
        let outcomes = world.bulk(&app(), "insert", &items(1000)).await.unwrap();
        assert!(verdicts(&outcomes).iter().all(|it| *it == "INSERT"));
        let again = world.bulk(&app(), "insert", &items(1000)).await.unwrap();
        assert!(verdicts(&again).iter().all(|it| *it == "WDE0074"));
        let updated = world.bulk(&app(), "update", &items(1000)).await.unwrap();
        assert!(verdicts(&updated).iter().all(|it| *it == "UPDATE"));
        assert_eq!(world.count(&app(), json!({ "n": { "$gte": 500 } })).await.unwrap(), 500);
        let ids: Vec<_> = (0..1001).map(|n| format!("i{n}")).collect();
        let remove = |ids: &[String]| json!({ "dataCollectionId": "c", "dataItemIds": ids });
        assert_eq!(code(world.bulk(&app(), "remove", &remove(&ids)).await), "WDE0069");
        assert_eq!(code(world.bulk(&app(), "remove", &remove(&[])).await), "WDE0080");
        let removed = world.bulk(&app(), "remove", &remove(&ids[1..])).await.unwrap();
        assert_eq!(removed.iter().filter(|it| it.fault.is_none()).count(), 999);
        assert_eq!(verdicts(&removed)[999], "WDE0073");
        assert_eq!(world.count(&app(), json!({})).await.unwrap(), 1);
    }

    async fn bulk_changes_of_one_id_follow_each_other(engine) {
        let world = World::open(engine).await;
        let twice = many([json!({ "_id": "a", "n": 1 }), json!({ "_id": "a", "n": 2 }), json!({ "n": 3 })]);
        let saved = world.bulk(&app(), "save", &twice).await.unwrap();
        assert_eq!(verdicts(&saved), ["INSERT", "UPDATE", "INSERT"]);
        assert_eq!(world.get(&app(), "a").await.unwrap()["n"], 2);
        let updated = world.bulk(&app(), "update", &twice).await.unwrap();
        assert_eq!(verdicts(&updated), ["UPDATE", "UPDATE", "WDE0007"]);
        let ids = json!({ "dataCollectionId": "c", "dataItemIds": ["a", "a", "b\u{0}"] });
        assert_eq!(verdicts(&world.bulk(&app(), "remove", &ids).await.unwrap()), ["DELETE", "WDE0073", "WDE0073"]);
    }

    async fn bulk_condition_and_returned_items(engine) {
        let world = World::open(engine).await;
        world.bulk(&app(), "insert", &many((0..4).map(|n| json!({ "_id": n.to_string(), "n": n })))).await.unwrap();
        let mut body = many((0..4).map(|n| json!({ "_id": n.to_string(), "n": n, "seen": true })));
        body["condition"] = json!({ "filter": { "n": { "$gt": 1 } } });
        body["returnEntity"] = true.into();
        let outcomes = world.bulk(&app(), "update", &body).await.unwrap();
        assert_eq!(verdicts(&outcomes), ["WDE0073", "WDE0073", "UPDATE", "UPDATE"]);
        assert!(outcomes[2].item.as_ref().unwrap().doc.contains("\"seen\":true"));
        let mut text = String::new();
        outcomes[0].print(0, &mut text, |_| "{}".to_owned());
        assert_eq!(text, r#"{"action":"UPDATE","itemMetadata":{"id":"0","originalIndex":0,"success":false,"error":{}}}"#);
        let ids = json!({ "dataCollectionId": "c", "dataItemIds": ["1", "3"], "condition": { "filter": { "seen": true } } });
        assert_eq!(verdicts(&world.bulk(&app(), "remove", &ids).await.unwrap()), ["WDE0073", "DELETE"]);
    }
}
