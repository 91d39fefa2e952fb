use crate::common::*;
use serde_json::json;
use stoa_content::GetRequest;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn item_is_inserted_changed_and_removed(engine) {
        let world = World::open(engine).await;
        let ann = member("ann");
        let input = json!({
            "_id": "i1", "_owner": "eve", "_createdDate": { "$date": "1999-01-01T00:00:00.000Z" },
            "title": "Bär \"x\" \\ \n😀", "n": 1.50, "when": { "$date": "2024-03-05T06:07:08.009+01:00" },
            "id": "mine", "nested": { "createdDate": null, "list": [1, [2], {}] }, "big": 1e300,
        });
        let now = json!({ "$date": "2026-01-01T00:00:00.000Z" });
        let made = world.insert(&ann, input).await.unwrap();
        assert_eq!((&made["_id"], &made["_owner"]), (&json!("i1"), &json!("ann")), "an owner that a member sends is ignored");
        assert_eq!((&made["_createdDate"], &made["_updatedDate"]), (&now, &now));
        assert_eq!(made["when"], json!({ "$date": "2024-03-05T05:07:08.009Z" }));
        assert_eq!(world.get(&visitor("v"), "i1").await.unwrap(), made);
        assert_eq!(code(world.insert(&ann, json!({ "_id": "i1" })).await), "WDE0074");

        world.test.clock.advance(1_000);
        let after = world.update(&visitor("v"), json!({ "_id": "i1", "title": "new" }), None).await.unwrap();
        let later = json!({ "$date": "2026-01-01T00:00:01.000Z" });
        assert_eq!(after, json!({ "_id": "i1", "_createdDate": now, "_updatedDate": later, "_owner": "ann", "title": "new" }));
        assert_eq!(world.get(&ann, "i1").await.unwrap(), after);
        assert_eq!(code(world.update(&ann, json!({ "_id": "none" }), None).await), "WDE0073");
        assert_eq!(code(world.update(&ann, json!({ "title": "x" }), None).await), "WDE0007");

        let (saved, is_new) = world.save(&ann, json!({ "_id": "i1", "n": 1 })).await.unwrap();
        assert!(!is_new);
        assert_eq!(saved["_createdDate"], now);
        let (saved, is_new) = world.save(&ann, json!({ "n": 2 })).await.unwrap();
        assert!(is_new);
        assert_eq!(saved["_id"].as_str().unwrap().len(), 36);

        assert_eq!(world.remove(&ann, "i1", None).await.unwrap().unwrap()["n"], 1);
        assert_eq!(code(world.remove(&ann, "i1", None).await), "WDE0073");
        assert_eq!(code(world.get(&ann, "i1").await), "WDE0073");
    }

    async fn answer_is_the_stored_text(engine) {
        let world = World::open(engine).await;
        let input = r#"{"dataCollectionId":"c","dataItem":{"data":{ "b":1.0, "a" : 1e2,"_id":"x","b":2, "e":"\u00e9\/" }}}"#;
        let request = stoa_content::Request::parse(input.as_bytes()).unwrap();
        let made = world.content.item_insert(&world.site, &app(), &request).await.unwrap();
        let stamp = r#"{"$date":"2026-01-01T00:00:00.000Z"}"#;
        let wants = format!(r#"{{"_id":"x","_createdDate":{stamp},"_updatedDate":{stamp},"b":2,"a":100,"e":"é/"}}"#);
        assert_eq!(made.doc, wants);
        let request = GetRequest { collection: "c".to_owned(), id: "x".to_owned(), ..GetRequest::default() };
        assert_eq!(world.content.item_get(&world.site, &app(), &request).await.unwrap().doc, wants);
        let request = GetRequest { fields: vec!["a".to_owned(), "none".to_owned()], ..request };
        let some = world.content.item_get(&world.site, &app(), &request).await.unwrap();
        assert_eq!(some.doc, r#"{"_id":"x","a":100}"#);
    }

    async fn condition_decides_in_the_same_write(engine) {
        let world = World::open(engine).await;
        let ann = member("ann");
        world.insert(&ann, json!({ "_id": "a", "status": "new" })).await.unwrap();
        let after = json!({ "_id": "a", "status": "done" });
        let is_new = || Some(json!({ "status": "new" }));
        world.update(&ann, after.clone(), is_new()).await.unwrap();
        let reason = |fault: Option<stoa_kernel::Fault>| {
            let fault = fault.expect("a refusal");
            assert_eq!(fault.code().name(), "WDE0073");
            fault.data().get("reason").cloned()
        };
        assert_eq!(reason(world.update(&ann, after, is_new()).await.err()), Some(json!("CONDITION")));
        assert_eq!(reason(world.remove(&ann, "a", is_new()).await.err()), Some(json!("CONDITION")));
        assert_eq!(reason(world.update(&ann, json!({ "_id": "b" }), is_new()).await.err()), None, "it isn't there");
        assert_eq!(reason(world.remove(&ann, "b", is_new()).await.err()), None);
        assert!(world.remove(&ann, "a", Some(json!({ "status": { "$ne": "new" } }))).await.unwrap().is_some());
    }

    async fn conditional_updates_at_once_let_one_win(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "n": 0 })).await.unwrap();
        let world = std::sync::Arc::new(world);
        let calls: Vec<_> = (1..9)
            .map(|n| {
                let world = world.clone();
                tokio::spawn(async move {
                    code(world.update(&app(), json!({ "_id": "a", "n": n }), Some(json!({ "n": 0 }))).await)
                })
            })
            .collect();
        let mut wins = 0;
        for it in calls {
            wins += usize::from(it.await.unwrap() == "ok");
        }
        assert_eq!(wins, 1);
    }

    async fn owners_are_given_by_the_privileged_only(engine) {
        let world = World::open(engine).await;
        let given = json!({ "_id": "a", "_owner": "ann" });
        assert_eq!(world.insert(&app(), given.clone()).await.unwrap()["_owner"], "ann");
        let taken = json!({ "_id": "a", "_owner": "bob" });
        assert_eq!(world.update(&editor(), taken.clone(), None).await.unwrap()["_owner"], "ann");
        assert_eq!(world.update(&owner(), taken, None).await.unwrap()["_owner"], "bob");
        assert_eq!(world.insert(&app(), json!({ "_id": "b" })).await.unwrap().get("_owner"), None);
    }

    async fn writes_leave_one_event_each(engine) {
        let world = World::open(engine).await;
        let ann = member("ann");
        world.insert(&ann, json!({ "_id": "a", "n": 1, "m": 1 })).await.unwrap();
        let _ = world.insert(&ann, json!({ "_id": "a" })).await;
        world.update(&ann, json!({ "_id": "a", "n": 2, "m": 1 }), None).await.unwrap();
        world.bulk(&ann, "insert", &many((0..3).map(|n| json!({ "n": n })))).await.unwrap();
        world.bulk(&ann, "save", &many([json!({ "_id": "a" }), json!({ "_id": "b" })])).await.unwrap();
        world.remove(&ann, "a", None).await.unwrap();
        let outbox = world.outbox().await;
        let kinds: Vec<_> = outbox.iter().map(|(kind, _)| kind.trim_start_matches("data_item_")).collect();
        assert_eq!(kinds, ["created", "updated", "created", "created", "updated", "deleted"]);
        assert_eq!(outbox[0].1["items"][0]["_id"], "a");
        assert_eq!(outbox[0].1["identity"], json!({ "type": "MEMBER", "id": "ann" }));
        assert_eq!(outbox[1].1["modified"], json!([["n"]]));
        assert_eq!(outbox[2].1["items"].as_array().unwrap().len(), 3);
        assert_eq!(outbox[4].1["modified"], json!([["m", "n"]]));
        assert_eq!(outbox[5].1["ids"], json!(["a"]));
    }
}
