//! Tasks of the data client from outside: who may have them, what they do, and what is published at its time and not before.

use crate::{answers::assert_known_by_its_tag, permissions::futures};
use serde_json::{Value, json};
use std::time::Duration;
use stoa_kernel::{Caller, clock::Clock, date};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

const HOUR: i64 = 3_600_000;

/// A collection that anyone may read and write, whose items are drafts until they are published.
async fn news(app: &TestApp, items: usize) {
    let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([
        { "key": "n", "type": "NUMBER" }, { "key": "text", "type": "TEXT" }, { "key": "tags", "type": "ARRAY_STRING" },
        { "key": "pin", "type": "TEXT", "encrypted": true },
    ]);
    let plugin = json!({ "type": "PUBLISH", "publishOptions": { "defaultStatus": "DRAFT" } });
    let object = json!({ "id": "news", "fields": fields, "dataPermissions": open, "plugins": [plugin] });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    let items: Value =
        (0..items).map(|n| json!({ "data": { "_id": format!("i{n}"), "n": n, "tags": ["a", "b"] } })).collect();
    let filling = json!({ "dataCollectionId": "news", "dataItems": items });
    assert_eq!(app.app().post("/v2/bulk/items/insert", &filling).await.verdict(), "200");
}

async fn create(client: &TestClient<'_>, kind: &str, mut options: Value) -> Reply {
    let member = match kind {
        "DELETE_BY_QUERY" => "deleteByQueryOptions",
        "COPY_FIELD_DATA" => "copyFieldDataOptions",
        "EDIT_FIELD_DATA" => "editFieldDataOptions",
        _ => "updatePublishStatusOptions",
    };
    if options.get("dataCollectionId").is_none() {
        options["dataCollectionId"] = "news".into();
    }
    client.post("/cms/v1/tasks", &json!({ "task": { "type": kind, member: options } })).await
}

/// A task that sets a status, at a time if there is one.
async fn status(client: &TestClient<'_>, operation: &str, filter: Value, at: Option<i64>) -> Reply {
    let mut options = json!({ "operation": operation, "filter": filter });
    if let Some(at) = at {
        let member = match operation {
            "SCHEDULE_DRAFT_STATUS" => "scheduleDraftStatusOptions",
            _ => "schedulePublishedStatusOptions",
        };
        options[member] = json!({ "date": date::print(at) });
    }
    create(client, "UPDATE_PUBLISH_STATUS", options).await
}

fn id_of(reply: &Reply) -> String {
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()["task"]["id"].as_str().unwrap().to_owned()
}

async fn task(client: &TestClient<'_>, id: &str) -> Value {
    let reply = client.get(&format!("/cms/v1/tasks/{id}?taskId={id}")).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()["task"].clone()
}

/// How a task stands once it is so.
async fn until(client: &TestClient<'_>, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..2_000 {
        let state = task(client, id).await;
        if is_so(&state) {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{id} stands still: {}", task(client, id).await);
}

/// How a task has ended.
async fn ended(client: &TestClient<'_>, begun: &Reply) -> Value {
    until(client, &id_of(begun), |it| it["finishedAt"].is_string()).await
}

/// A task that waits for its time, once it does.
async fn waiting(client: &TestClient<'_>, begun: &Reply) -> Value {
    let waits = |it: &Value| it["status"] == "RUNNING" && it["estimatedItemCount"] != 0 && it["itemsSucceeded"] == 0;
    until(client, &id_of(begun), waits).await
}

/// The ids that a query finds.
async fn found(client: &TestClient<'_>, filter: Value, with_drafts: bool) -> Vec<String> {
    let body = json!({
        "dataCollectionId": "news", "query": { "filter": filter, "sort": [{ "fieldName": "n" }], "paging": { "limit": 1000 } },
        "publishPluginOptions": { "includeDraftItems": with_drafts },
    });
    let reply = client.post("/v2/items/query", &body).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()["dataItems"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

async fn item(app: &TestApp, id: &str) -> Value {
    let path = format!("/v2/items/{id}?dataCollectionId=news&publishPluginOptions.includeDraftItems=true");
    app.app().get(&path).await.json()["dataItem"]["data"].clone()
}

/// The members of an item that say when it is to be published or taken back.
fn marks(item: &Value) -> Vec<&'static str> {
    let all = ["_publishDate", "_publishTask", "_draftDate", "_draftTask"];
    all.into_iter().filter(|it| item.get(*it).is_some()).collect()
}

on_both_engines! {
    async fn tasks_are_created_told_listed_and_cancelled(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 40).await;
        let begun = create(&app.app(), "DELETE_BY_QUERY", json!({ "filter": { "n": { "$lt": 5 } }, "publishPluginOptions": { "includeDraftItems": true } })).await;
        let made = begun.json()["task"].clone();
        assert_eq!(made["deleteByQueryOptions"]["filter"], json!({ "n": { "$lt": 5 } }), "{made}");
        let state = ended(&app.app(), &begun).await;
        assert_eq!((&state["status"], &state["itemsSucceeded"], &state["itemsFailed"], &state["failures"]), (&json!("COMPLETED"), &json!(5), &json!(0), &json!([])));
        assert!(state["startedAt"].is_string() && state["type"] == "DELETE_BY_QUERY", "{state}");
        assert_eq!(found(&app.app(), json!({}), true).await.len(), 35);
        // Drafts are not meant where nothing says so.
        let published = create(&app.app(), "DELETE_BY_QUERY", json!({ "filter": { "n": { "$lt": 9 } } })).await;
        assert_eq!(ended(&app.app(), &published).await["itemsSucceeded"], 0);
        let list = async |query: &str| app.app().get(&format!("/_api/autocms/v1/tasks?{query}")).await.json();
        let all = list("").await;
        assert_eq!((all["tasks"].as_array().unwrap().len(), &all["metadata"]), (2, &json!({ "count": 2, "offset": 0, "total": 2, "tooManyToCount": false })));
        let second = list("paging.limit=1&paging.offset=1").await;
        assert_eq!((&second["metadata"]["total"], &second["tasks"].as_array().unwrap().len()), (&json!(2), &1));
        assert_eq!(app.app().get("/v1/tasks?paging.limit=101").await.verdict(), "400 WDE0152");
        // One that has ended stays as it is.
        let id = id_of(&begun);
        let cancelled = app.app().delete(&format!("/cms/v1/tasks/{id}?taskId={id}")).await.json();
        assert_eq!(cancelled["task"], state);
        for path in ["/v1/tasks?paging.limit=1".to_owned(), format!("/v1/tasks/{id}")] {
            assert_known_by_its_tag(&app, &path).await;
        }
        // A job is no task.
        let job = json!({ "dataCollectionId": "news", "filter": { "n": -1 } });
        let job = app.app().post("/v2/bulk/items/async-remove-by-filter", &job).await.json()["jobId"].as_str().unwrap().to_owned();
        assert_eq!(app.app().get(&format!("/v1/tasks/{job}")).await.verdict(), "404 NOT_FOUND");
        assert_eq!(list("").await["metadata"]["total"], 2);
        for path in ["/v1/tasks/none", "/v1/tasks/x?taskId=%00", "/v1/tasks/x?taskId="] {
            assert_eq!(app.app().get(path).await.verdict(), "404 NOT_FOUND", "{path}");
            assert_eq!(app.app().delete(path).await.verdict(), "404 NOT_FOUND", "{path}");
        }
        for (kind, options, wants) in [
            ("DELETE_BY_QUERY", json!({ "dataCollectionId": 7 }), "400 WDE0001"),
            ("DELETE_BY_QUERY", json!({ "dataCollectionId": "none" }), "404 WDE0025"),
            ("DELETE_BY_QUERY", json!({ "filter": "all" }), "400 WDE0016"),
            ("DELETE_BY_QUERY", json!({ "environment": "MOON" }), "400 WDE0018"),
            ("DELETE_BY_QUERY", json!({ "environment": "SANDBOX" }), "403 WDE0179"),
            ("DELETE_BY_QUERY", json!({ "filter": { "pin": "1" } }), "428 WDE0119"),
            ("COPY_FIELD_DATA", json!({ "sourceFieldKey": "pin", "targetFieldKey": "text" }), "428 WDE0119"),
            ("COPY_FIELD_DATA", json!({ "sourceFieldKey": "text", "targetFieldKey": "pin" }), "428 WDE0119"),
            ("COPY_FIELD_DATA", json!({ "sourceFieldKey": "text", "targetFieldKey": "_id" }), "400 WDE0080"),
            ("COPY_FIELD_DATA", json!({ "sourceFieldKey": "text", "targetFieldKey": "$a" }), "400 WDE0134"),
            ("COPY_FIELD_DATA", json!({ "sourceFieldKey": "text", "targetFieldKey": "a.b" }), "400 WDE0075"),
            ("COPY_FIELD_DATA", json!({ "sourceFieldKey": "text", "targetFieldKey": "_publishDate" }), "400 WDE0075"),
            ("EDIT_FIELD_DATA", json!({ "fieldKey": "tags", "operations": {} }), "400 WDE0075"),
            ("UPDATE_PUBLISH_STATUS", json!({ "operation": "SCHEDULE_DRAFT_STATUS" }), "400 WDE0075"),
        ] {
            assert_eq!(create(&app.app(), kind, options.clone()).await.verdict(), wants, "{kind} {options}");
        }
        assert_eq!(app.app().post("/v1/tasks", &json!({})).await.verdict(), "400 WDE0075");
        let plain = json!({ "id": "plain", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": { "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" } });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": plain })).await.verdict(), "200");
        let none = create(&app.app(), "UPDATE_PUBLISH_STATUS", json!({ "dataCollectionId": "plain", "operation": "SET_DRAFT_STATUS" })).await;
        assert_eq!(none.verdict(), "400 WDE0080", "there is no status without the plugin");
    }

    async fn task_is_for_who_may_and_told_to_few(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 3).await;
        let (ada, bob, visitor) = (app.member("ada@example.org").await, app.member("bob@example.org").await, app.visitor().await);
        let editor = app.editor().await;
        for client in [&ada, &visitor, &app.key("items:read").await] {
            for operation in ["SET_PUBLISHED_STATUS", "SCHEDULE_PUBLISHED_STATUS", "CANCEL_SCHEDULING"] {
                let at = (operation == "SCHEDULE_PUBLISHED_STATUS").then(|| app.kit.clock.now());
                assert_eq!(status(client, operation, json!({}), at).await.verdict(), "403 WDE0027", "{operation}");
            }
        }
        assert_eq!(create(&visitor, "DELETE_BY_QUERY", json!({})).await.verdict(), "403 WDE0027", "all items are for owners and apps");
        assert_eq!(found(&visitor, json!({}), true).await, Vec::<String>::new());
        let begun = create(&ada, "EDIT_FIELD_DATA", json!({ "fieldKey": "tags", "operations": { "addItems": ["c"] } })).await;
        assert_eq!(ended(&ada, &begun).await["itemsSucceeded"], 0, "drafts are not hers to change");
        let id = id_of(&begun);
        let path = format!("/v1/tasks/{id}");
        let total = async |client: &TestClient<'_>| client.get("/v1/tasks").await.json()["metadata"]["total"].clone();
        for client in [&ada, &app.owner().await, &app.app(), &app.key("items:write").await, &app.key("items:read:news").await] {
            assert_eq!((client.get(&path).await.verdict().as_str(), total(client).await), ("200", json!(1)));
        }
        for client in [&bob, &visitor, &editor, &app.key("items:write:others").await, &app.key("collections:write").await] {
            assert_eq!((client.get(&path).await.verdict().as_str(), total(client).await), ("404 NOT_FOUND", json!(0)));
            assert_eq!(client.delete(&path).await.verdict(), "404 NOT_FOUND");
        }
        assert_eq!(app.key("items:read:news").await.delete(&path).await.verdict(), "403 WDE0027", "who only reads cancels nothing");
        assert_eq!(app.anonymous().get(&path).await.verdict(), "401 UNAUTHENTICATED");
        // Editors set what is published.
        let begun = status(&editor, "SET_PUBLISHED_STATUS", json!({ "n": { "$gte": 1 } }), None).await;
        assert_eq!(ended(&editor, &begun).await["itemsSucceeded"], 2);
        assert_eq!(found(&visitor, json!({}), false).await, ["i1", "i2"]);
        let again = status(&editor, "SET_PUBLISHED_STATUS", json!({}), None).await;
        assert_eq!(ended(&editor, &again).await["itemsSucceeded"], 1, "the others are published");
        let back = status(&editor, "SET_DRAFT_STATUS", json!({ "n": 2 }), None).await;
        assert_eq!(ended(&editor, &back).await["itemsSucceeded"], 1);
        assert_eq!(found(&visitor, json!({}), false).await, ["i0", "i1"]);
    }

    async fn items_are_published_and_taken_back_at_their_time(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 150).await;
        let (editor, owner, key) = (app.editor().await, app.owner().await, app.app());
        let now = app.kit.clock.now();
        let few = status(&editor, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": { "$lt": 3 } }), Some(now + HOUR)).await;
        let many = status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": { "$gte": 30 } }), Some(now + HOUR)).await;
        let back = status(&app.app(), "SCHEDULE_DRAFT_STATUS", json!({ "_id": { "$in": ["i0", "i40"] } }), Some(now + 2 * HOUR)).await;
        assert_eq!(waiting(&editor, &few).await["estimatedItemCount"], 3);
        let told = waiting(&owner, &many).await;
        assert_eq!(told["estimatedItemCount"], 120);
        assert_eq!(told["updatePublishStatusOptions"].get("filter"), None, "the filter is of no use any more");
        waiting(&app.app(), &back).await;
        let marked = item(&app, "i0").await;
        assert_eq!(marked["_publishDate"], json!({ "$date": date::print(now + HOUR) }), "{marked}");
        assert_eq!((&marked["_publishTask"], &marked["_draftTask"]), (&json!(id_of(&few)), &json!(id_of(&back))));
        // Nothing is there before its time, whatever is asked.
        app.kit.clock.advance(HOUR - 1);
        task(&key, &id_of(&many)).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        let visitor = app.visitor().await;
        let counted = async |client: &TestClient<'_>| {
            client.post("/v2/items/count", &json!({ "dataCollectionId": "news" })).await.json()["totalCount"].clone()
        };
        assert_eq!((found(&visitor, json!({}), false).await.len(), counted(&visitor).await), (0, json!(0)));
        assert_eq!(found(&visitor, json!({ "_publishDate": { "$exists": true } }), true).await.len(), 0);
        app.kit.clock.advance(1);
        for (begun, count) in [(&few, 3), (&many, 120)] {
            let state = ended(&key, begun).await;
            assert_eq!((&state["status"], &state["itemsSucceeded"]), (&json!("COMPLETED"), &json!(count)), "{state}");
        }
        assert_eq!((found(&visitor, json!({}), false).await.len(), counted(&visitor).await), (123, json!(123)));
        assert_eq!(marks(&item(&app, "i1").await), Vec::<&str>::new());
        assert_eq!(marks(&item(&app, "i0").await), ["_draftDate", "_draftTask"]);
        app.kit.clock.advance(HOUR);
        assert_eq!(ended(&key, &back).await["itemsSucceeded"], 2);
        let visitor = app.visitor().await;
        assert_eq!(found(&visitor, json!({ "n": { "$in": [0, 1, 40] } }), false).await, ["i1"]);
        assert_eq!(marks(&item(&app, "i0").await), Vec::<&str>::new());
        // A time that is past is now, and where nothing is found nothing is waited for.
        let past = status(&key, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": 5 }), Some(now)).await;
        assert_eq!(ended(&key, &past).await["itemsSucceeded"], 1);
        assert_eq!(found(&visitor, json!({ "n": 5 }), false).await, ["i5"]);
        let none = status(&key, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": -1 }), Some(now + 100 * HOUR)).await;
        assert_eq!(ended(&key, &none).await["status"], "COMPLETED");
    }

    async fn schedules_are_cancelled_by_filter_and_by_task(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 130).await;
        let owner = app.app();
        let at = app.kit.clock.now() + HOUR;
        let begun = status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": { "$lt": 6 } }), Some(at)).await;
        waiting(&owner, &begun).await;
        let cancel = status(&owner, "CANCEL_SCHEDULING", json!({ "n": { "$lt": 2 } }), None).await;
        assert_eq!(ended(&owner, &cancel).await["itemsSucceeded"], 2);
        let cancel = status(&owner, "CANCEL_SCHEDULING", json!({ "n": { "$lt": 3 } }), None).await;
        assert_eq!(ended(&owner, &cancel).await["itemsSucceeded"], 1, "the others have none");
        // Another task takes the place of the first, and its time.
        let later = status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({ "_id": "i3" }), Some(at + HOUR)).await;
        waiting(&owner, &later).await;
        // Tasks that are cancelled take their marks away, be they few or many, and those of no other.
        let mut cancelled = Vec::new();
        for filter in [json!({ "n": { "$in": [10, 11] } }), json!({ "n": { "$gte": 20 } })] {
            let begun = status(&owner, "SCHEDULE_PUBLISHED_STATUS", filter, Some(at)).await;
            waiting(&owner, &begun).await;
            cancelled.push(begun);
        }
        let other = status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": 25 }), Some(at)).await;
        waiting(&owner, &other).await;
        for begun in &cancelled {
            let id = id_of(begun);
            let told = owner.delete(&format!("/cms/v1/tasks/{id}?taskId={id}")).await.json()["task"].clone();
            assert_eq!((&told["status"], &told["failures"][0]["code"]), (&json!("FAILED"), &json!("CANCELLED")), "{told}");
            assert_eq!(told["failures"][0].get("data"), None);
            assert_eq!(ended(&owner, begun).await["status"], "FAILED");
        }
        assert_eq!(found(&owner, json!({ "_publishTask": { "$exists": true } }), true).await, ["i3", "i4", "i5", "i25"]);
        app.kit.clock.advance(HOUR);
        assert_eq!(ended(&owner, &begun).await["itemsSucceeded"], 2);
        assert_eq!(ended(&owner, &other).await["itemsSucceeded"], 1);
        assert_eq!(found(&app.visitor().await, json!({}), false).await, ["i4", "i5", "i25"]);
        app.kit.clock.advance(HOUR);
        assert_eq!(ended(&owner, &later).await["itemsSucceeded"], 1);
        assert_eq!(found(&app.visitor().await, json!({}), false).await, ["i3", "i4", "i5", "i25"]);
    }

    async fn schedules_that_are_due_together_are_done_in_the_order_of_their_times(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 150).await;
        let (owner, now) = (app.app(), app.kit.clock.now());
        let mut tasks = Vec::new();
        // What is taken back was asked for before what is published, and after.
        for (operation, filter, hours) in [
            ("SCHEDULE_DRAFT_STATUS", json!({ "n": 10 }), 2),
            ("SCHEDULE_PUBLISHED_STATUS", json!({}), 1),
            ("SCHEDULE_DRAFT_STATUS", json!({ "n": 120 }), 2),
        ] {
            let begun = status(&owner, operation, filter, Some(now + hours * HOUR)).await;
            waiting(&owner, &begun).await;
            tasks.push(begun);
        }
        // As after a program was stopped for a while.
        app.kit.clock.advance(3 * HOUR);
        for begun in &tasks {
            assert_eq!(ended(&owner, begun).await["status"], "COMPLETED");
        }
        let visitor = app.visitor().await;
        assert_eq!(found(&visitor, json!({}), false).await.len(), 148);
        assert_eq!(found(&visitor, json!({ "n": { "$in": [10, 120] } }), false).await, Vec::<String>::new());
        for id in ["i10", "i120"] {
            assert_eq!(marks(&item(&app, id).await), Vec::<&str>::new());
        }
    }

    async fn what_is_asked_for_later_has_the_last_word(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 150).await;
        let (owner, at) = (app.app(), app.kit.clock.now() + HOUR);
        // All at once, while the first has still to mark the last of its items.
        let all = status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({}), Some(at)).await;
        let cancel = status(&owner, "CANCEL_SCHEDULING", json!({ "_id": "i149" }), None).await;
        let later = status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({ "_id": "i148" }), Some(at + HOUR)).await;
        assert_eq!(ended(&owner, &cancel).await["itemsSucceeded"], 1);
        waiting(&owner, &later).await;
        assert_eq!(marks(&item(&app, "i149").await), Vec::<&str>::new());
        app.kit.clock.advance(HOUR);
        assert_eq!(ended(&owner, &all).await["itemsSucceeded"], 148);
        let visitor = app.visitor().await;
        assert_eq!(found(&visitor, json!({ "n": { "$gte": 147 } }), false).await, ["i147"]);
        app.kit.clock.advance(HOUR);
        assert_eq!(ended(&owner, &later).await["itemsSucceeded"], 1);
        let publish = status(&owner, "SET_PUBLISHED_STATUS", json!({}), None).await;
        let back = status(&owner, "SET_DRAFT_STATUS", json!({ "$and": [{ "id": "i149" }] }), None).await;
        ended(&owner, &publish).await;
        assert_eq!(ended(&owner, &back).await["itemsSucceeded"], 1);
        assert_eq!(found(&app.visitor().await, json!({}), false).await.len(), 149);
    }

    async fn task_is_not_told_what_it_no_longer_needs(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 2).await;
        let owner = app.owner().await;
        let filter = json!({ "text": "ada@example.org" });
        let options = json!({ "filter": filter, "x": "much".repeat(100_000), "publishPluginOptions": { "includeDraftItems": true, "x": 1 } });
        let delete = create(&owner, "DELETE_BY_QUERY", options).await;
        let told = json!({ "dataCollectionId": "news", "filter": filter, "publishPluginOptions": { "includeDraftItems": true } });
        assert_eq!(delete.json()["task"]["deleteByQueryOptions"], told, "what no task has is dropped");
        let edit = create(&owner, "EDIT_FIELD_DATA", json!({ "fieldKey": "tags", "filter": filter, "operations": { "addItems": ["ada@example.org"] } })).await;
        let schedule = status(&owner, "SCHEDULE_DRAFT_STATUS", filter.clone(), Some(app.kit.clock.now() + HOUR)).await;
        for begun in [&delete, &edit, &schedule] {
            let state = ended(&owner, begun).await;
            assert_eq!(state["status"], "COMPLETED");
            assert!(!state.to_string().contains("ada@example.org"), "{state}");
        }
        let large = json!({ "filter": { "text": "x".repeat(65_536) } });
        assert_eq!(create(&owner, "DELETE_BY_QUERY", large).await.verdict(), "413 WDE0109");
    }

    async fn schedule_is_no_callers_to_write(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 3).await;
        let (owner, visitor) = (app.app(), app.visitor().await);
        let at = app.kit.clock.now() + HOUR;
        let begun = status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": { "$lt": 2 } }), Some(at)).await;
        waiting(&owner, &begun).await;
        let save = async |client: &TestClient<'_>, data: Value| {
            let body = json!({ "dataCollectionId": "news", "dataItem": { "data": data }, "publishPluginOptions": { "includeDraftItems": true } });
            client.post("/v2/items/save", &body).await.verdict()
        };
        let date = json!({ "$date": date::print(at) });
        // What is sent for it counts for nothing, and what is left out of it is kept.
        let sent = json!({ "_id": "i2", "n": 2, "_publishDate": date, "_publishTask": id_of(&begun) });
        assert_eq!(save(&owner, sent).await, "200");
        assert_eq!(save(&visitor, json!({ "_id": "new", "n": 9, "_publishDate": date, "_publishTask": id_of(&begun) })).await, "200");
        assert_eq!(save(&owner, json!({ "_id": "i0", "n": 0, "text": "edited" })).await, "200");
        assert_eq!(marks(&item(&app, "i2").await), Vec::<&str>::new());
        assert_eq!(marks(&item(&app, "new").await), Vec::<&str>::new());
        assert_eq!(marks(&item(&app, "i0").await), ["_publishDate", "_publishTask"]);
        for (path, action) in [("_publishDate", "REMOVE_FIELD"), ("_draftTask", "SET_FIELD"), ("_publishDate.$date", "SET_FIELD")] {
            let change = json!([{ "fieldPath": path, "action": action, "setFieldOptions": { "value": "x" } }]);
            let patch = json!({ "dataCollectionId": "news", "patch": { "dataItemId": "i0", "fieldModifications": change }, "publishPluginOptions": { "includeDraftItems": true } });
            let reply = owner.post("/v2/items/patch", &patch).await;
            let wants = if path.contains('$') { "400 WDE0134" } else { "400 WDE0075" };
            assert_eq!(reply.verdict(), wants, "{path}");
        }
        // Who publishes by hand has done what was to be done.
        assert_eq!(save(&owner, json!({ "_id": "i1", "n": 1, "_publishStatus": "PUBLISHED" })).await, "200");
        assert_eq!(marks(&item(&app, "i1").await), Vec::<&str>::new());
        assert_eq!(save(&owner, json!({ "_id": "i1", "n": 1, "_publishStatus": "DRAFT" })).await, "200");
        app.kit.clock.advance(HOUR);
        assert_eq!(ended(&owner, &begun).await["itemsSucceeded"], 1);
        assert_eq!(found(&app.visitor().await, json!({}), false).await, ["i0"], "what was taken back by hand stays so");
        assert_eq!(item(&app, "i0").await["text"], "edited");
    }

    async fn what_waits_ends_with_the_rights_of_who_asked(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 5).await;
        let (editor, owner, key) = (app.editor().await, app.owner().await, app.key("items:write").await);
        let at = app.kit.clock.now() + 40 * 24 * HOUR;
        let mut begun = Vec::new();
        for (n, client) in [&editor, &owner, &key, &app.app()].into_iter().enumerate() {
            let task = status(client, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": n }), Some(at)).await;
            waiting(client, &task).await;
            begun.push(task);
        }
        let dropped = status(&editor, "SCHEDULE_PUBLISHED_STATUS", json!({ "n": 4 }), Some(at)).await;
        waiting(&editor, &dropped).await;
        let identity = &app.app.identity;
        let caller = async |client: &TestClient<'_>| identity.authenticate(Some(&client.token), None).await.unwrap().caller;
        let (edda, olga) = (caller(&editor).await, caller(&owner).await);
        identity.api_key_revoke(&app.site.id, &caller(&key).await.id().into()).await.unwrap();
        let Caller::User { session, .. } = olga.bare() else { panic!("an operator") };
        let (person, session) = (edda.id().to_owned(), session.as_str().to_owned());
        let gone = app.kit.store.catalog().write_with((person, session), |tx, (person, session)| {
            stoa_store::boxed!({
                let role = stoa_sql::params![person.as_str()];
                tx.execute("delete from stoa.person_role where person = $1", &role).await?;
                let ended = stoa_sql::params![session.as_str()];
                tx.execute("update stoa.person_session set ended = 1 where id = $1", &ended).await?;
                Ok(())
            })
        });
        gone.await.unwrap();
        let path = format!("/v1/tasks/{}", id_of(&dropped));
        assert_eq!(app.app().delete(&path).await.verdict(), "200");
        let state = ended(&app.app(), &dropped).await;
        assert_eq!((&state["failures"][0]["code"], &state["itemsSucceeded"]), (&json!("CANCELLED"), &json!(0)));
        assert_eq!(marks(&item(&app, "i4").await), Vec::<&str>::new(), "whatever who asked may now");
        app.kit.clock.advance(40 * 24 * HOUR);
        let mut told = Vec::new();
        for task in &begun {
            let state = ended(&app.app(), task).await;
            told.push((state["status"].as_str().unwrap().to_owned(), state["failures"][0]["code"].clone()));
        }
        let failed = || ("FAILED".to_owned(), json!("WDE0027"));
        let done = || ("COMPLETED".to_owned(), Value::Null);
        assert_eq!(told, [failed(), done(), failed(), done()], "who signed out has still asked");
        assert_eq!(found(&app.visitor().await, json!({}), false).await, ["i1", "i3"]);
    }

    async fn collection_that_changed_ends_what_waits_for_it(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 2).await;
        let at = app.kit.clock.now() + HOUR;
        let begun = status(&app.app(), "SCHEDULE_PUBLISHED_STATUS", json!({}), Some(at)).await;
        waiting(&app.app(), &begun).await;
        let plugin = json!({ "dataCollectionId": "news", "pluginType": "PUBLISH" });
        assert_eq!(app.app().post("/v2/collections/delete-plugin", &plugin).await.verdict(), "200");
        let second = create(&app.app(), "DELETE_BY_QUERY", json!({ "filter": { "n": 1 } })).await;
        assert_eq!(ended(&app.app(), &second).await["status"], "COMPLETED", "others go on meanwhile");
        app.kit.clock.advance(HOUR);
        let state = ended(&app.app(), &begun).await;
        assert_eq!((&state["status"], &state["failures"][0]["code"]), (&json!("FAILED"), &json!("WDE0080")), "{state}");
    }

    async fn schedules_cancellations_and_edits_at_once_leave_nothing_half_done(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 30).await;
        let owner = app.app();
        let at = app.kit.clock.now() + HOUR;
        let mut tasks = Vec::new();
        for round in 0..4 {
            let schedule = async || status(&owner, "SCHEDULE_PUBLISHED_STATUS", json!({}), Some(at)).await;
            let cancel = async || status(&owner, "CANCEL_SCHEDULING", json!({ "n": { "$lt": 10 } }), None).await;
            let edit = |n: usize| {
                let data = json!({ "_id": format!("i{n}"), "n": n, "text": format!("round {round}") });
                let body = json!({ "dataCollectionId": "news", "dataItem": { "data": data }, "publishPluginOptions": { "includeDraftItems": true } });
                let owner = &owner;
                async move { owner.post("/v2/items/save", &body).await }
            };
            let (one, two, edits) = tokio::join!(schedule(), cancel(), futures((0..30).map(edit)));
            assert!(edits.iter().all(|it| it.verdict() == "200"));
            tasks.extend([one, two]);
            if round == 3 {
                // Cancelled while it marks, or when it has.
                let id = id_of(&tasks[4]);
                assert_eq!(owner.delete(&format!("/v1/tasks/{id}")).await.verdict(), "200");
            }
        }
        // All are marked, or done with, before the time has come.
        for begun in &tasks {
            let settled = |it: &Value| it["finishedAt"].is_string() || it["status"] == "RUNNING" && it["estimatedItemCount"] != 0 && it["itemsSucceeded"] == 0;
            until(&owner, &id_of(begun), settled).await;
        }
        let marked = found(&owner, json!({ "_publishTask": { "$exists": true } }), true).await;
        assert_eq!(found(&app.visitor().await, json!({}), false).await.len(), 0);
        app.kit.clock.advance(HOUR);
        let mut published = 0;
        for begun in tasks.iter().step_by(2) {
            let state = ended(&owner, begun).await;
            if state["status"] == "COMPLETED" {
                published += state["itemsSucceeded"].as_u64().unwrap();
            }
        }
        assert_eq!(found(&app.visitor().await, json!({}), false).await, marked, "what was marked is published, each by one task");
        assert_eq!(published, marked.len() as u64);
        assert_eq!(found(&owner, json!({ "_publishTask": { "$exists": true } }), true).await.len(), 0);
        for n in 0..30 {
            assert_eq!(item(&app, &format!("i{n}")).await["text"], "round 3", "no edit is lost");
        }
    }

    async fn fields_are_copied_and_edited(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 5).await;
        let owner = app.owner().await;
        let save = |n: usize, data: Value| {
            let mut data = data;
            data["_id"] = format!("i{n}").into();
            json!({ "dataCollectionId": "news", "dataItem": { "data": data }, "publishPluginOptions": { "includeDraftItems": true } })
        };
        assert_eq!(owner.post("/v2/items/save", &save(4, json!({ "tags": "no list", "text": "kept" }))).await.verdict(), "200");
        let copied = create(&owner, "COPY_FIELD_DATA", json!({ "sourceFieldKey": "n", "targetFieldKey": "text" })).await;
        assert_eq!(ended(&owner, &copied).await["itemsSucceeded"], 4);
        assert_eq!((&item(&app, "i3").await["text"], &item(&app, "i4").await["text"]), (&json!(3), &json!("kept")), "nothing is copied from nothing");
        let operations = json!({ "removeItems": ["a"], "replaceItems": [{ "from": "b", "to": "c" }], "addItems": ["d", "d"], "removeDuplicates": true });
        let edited = create(&owner, "EDIT_FIELD_DATA", json!({ "fieldKey": "tags", "filter": { "_id": { "$ne": "i0" } }, "operations": operations })).await;
        let state = ended(&owner, &edited).await;
        assert_eq!((&state["itemsSucceeded"], &state["itemsFailed"]), (&json!(3), &json!(1)), "{state}");
        assert_eq!((&state["failures"][0]["code"], &state["failures"][0]["data"]), (&json!("WDE0080"), &json!({ "itemId": "i4" })));
        assert_eq!((&item(&app, "i0").await["tags"], &item(&app, "i1").await["tags"]), (&json!(["a", "b"]), &json!(["c", "d"])));
        let replaced = create(&owner, "EDIT_FIELD_DATA", json!({ "fieldKey": "tags", "operations": { "replaceItems": [{ "from": "no list", "to": ["x"] }] } })).await;
        assert_eq!(ended(&owner, &replaced).await["status"], "COMPLETED");
        assert_eq!(item(&app, "i4").await["tags"], json!(["x"]));
    }

    async fn tasks_of_the_sandbox_stay_there(engine) {
        let app = TestApp::new(engine).await;
        news(&app, 2).await;
        let operator = Caller::App { id: "k".into() };
        app.app.content.environment_create(&app.kit.store, &app.site, &operator).await.unwrap();
        let sandbox = app.kit.store.sandbox(&app.site).await.unwrap().unwrap();
        let (owner, ada) = (app.owner().await, app.member("ada@example.org").await);
        let operation = json!({ "operation": "SET_PUBLISHED_STATUS", "environment": "SANDBOX" });
        let mut here = operation.clone();
        here["environment"] = "LIVE".into();
        let live = create(&owner, "UPDATE_PUBLISH_STATUS", here).await;
        assert_eq!(ended(&owner, &live).await["itemsSucceeded"], 2);
        let there = create(&owner, "UPDATE_PUBLISH_STATUS", operation.clone()).await;
        assert_eq!(there.verdict(), "404 WDE0025", "the sandbox has no such collection yet");
        let preferred = json!({ "operation": "SET_DRAFT_STATUS", "environment": "SANDBOX_PREFERRED" });
        assert_eq!(ended(&owner, &create(&owner, "UPDATE_PUBLISH_STATUS", preferred).await).await["itemsSucceeded"], 2);
        assert_eq!(create(&ada, "DELETE_BY_QUERY", json!({ "environment": "SANDBOX", "filter": { "n": 1 } })).await.verdict(), "403 WDE0027");
        let object = json!({ "id": "news", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": { "itemRead": "ANYONE" } });
        app.app.content.collection_create(&sandbox, &operator, &object).await.unwrap();
        let emptied = create(&owner, "DELETE_BY_QUERY", json!({ "environment": "SANDBOX" })).await;
        let state = ended(&owner, &emptied).await;
        assert_eq!((&state["itemsSucceeded"], &state["deleteByQueryOptions"]["environment"]), (&json!(0), &json!("SANDBOX")));
        assert_eq!(found(&owner, json!({}), true).await.len(), 2, "LIVE is left alone");
        let list = owner.get("/v1/tasks?paging.limit=2&paging.offset=1").await.json();
        assert_eq!((&list["metadata"]["total"], list["tasks"].as_array().unwrap().len()), (&json!(3), 2), "{list}");
        assert_eq!(list["tasks"][1]["id"], state["id"], "those of LIVE come first");
        let id = state["id"].as_str().unwrap();
        assert_eq!(owner.delete(&format!("/v1/tasks/{id}")).await.verdict(), "200");
    }
}
