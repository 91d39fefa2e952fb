//! Whatever is sent, the answer is documented, has the documented shape, and is never a 500.

use crate::{
    interface::{calls_with_bodies, operation},
    matrix::members::{ROUTES, World, send},
};
use axum::http::Method;
use serde_json::{Value, json};
use stoa_http::{Opening, openapi::Listed};
use stoa_testkit::{Reply, TestApp, on_both_engines};

/// An error a client can read: status 4xx, text, code, and no word of the inside.
fn documented(reply: &Reply, what: &str) {
    assert!(reply.status.is_client_error() || reply.status == 428, "{what}: {} {:?}", reply.status, reply.body);
    let json = reply.json();
    let details = &json["details"];
    let application =
        details["applicationError"]["code"].is_string() && details["applicationError"]["description"].is_string();
    let validation = details["validationError"]["fieldViolations"].is_array();
    let oauth = json["error"].is_string();
    assert!(application || validation || oauth, "{what}: {json}");
    assert!(reply.headers.contains_key("x-wix-request-id"), "{what}");
    assert_eq!(reply.headers["content-type"], "application/json", "{what}");
    let text = json.to_string();
    for inside in ["SQLITE", "sqlite", "syntax error", "stoa.", "postgres", "panicked", "/src/"] {
        assert!(!text.contains(inside), "{what} lets the inside show: {text}");
    }
}

on_both_engines! {
    async fn faults_of_a_request_are_told_at_once(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        let told = async |path: &str, body: Value| {
            let reply = app.app().post(path, &body).await;
            documented(&reply, path);
            let json = reply.json();
            let violations = json["details"]["applicationError"]["data"]["fieldViolations"].as_array().cloned();
            let fields: Vec<String> =
                violations.into_iter().flatten().map(|it| it["field"].as_str().unwrap().to_owned()).collect();
            (reply.verdict(), fields.join(" "))
        };
        let answer = |verdict: &str, fields: &str| (verdict.to_owned(), fields.to_owned());
        let query = json!({ "filter": { "t": { "$foo": 1 } }, "sort": {}, "paging": { "limit": 0, "offset": "x" } });
        let body = json!({ "dataCollectionId": "things", "query": query });
        let fields = "query.filter.t.$foo query.sort query.paging.offset query.paging.limit";
        assert_eq!(told("/v2/items/query", body).await, answer("400 WDE0093", fields));
        let filter = json!({ "$or": [{ "t": { "$gt": null } }, { "t": { "$in": 5 } }] });
        let body = json!({ "dataCollectionId": "things", "filter": filter });
        assert_eq!(told("/v2/items/count", body).await, answer("400 WDE0045", "filter.$or[0].t.$gt filter.$or[1].t.$in"));
        let body = json!({ "dataCollectionId": "things", "fieldName": 1, "order": "up", "paging": { "limit": 0 } });
        assert_eq!(told("/v2/items/query-distinct-values", body).await, answer("400 WDE0003", "fieldName order paging.limit"));
        let body = json!({ "dataCollectionId": "things", "dataItemIds": ["a", 1, "b", null] });
        assert_eq!(told("/v2/bulk/items/remove", body).await, answer("400 WDE0068", "dataItemIds[1] dataItemIds[3]"));
        let condition = json!({ "filter": { "t": { "$foo": 1, "$bar": 2 } } });
        let item = json!({ "data": { "_id": "x" } });
        let body = json!({ "dataCollectionId": "things", "dataItem": item, "condition": condition });
        let (verdict, fields) = told("/v2/items/update", body).await;
        assert_eq!(verdict, "400 WDE0093");
        assert_eq!(fields.split(' ').count(), 2, "{fields}");
        assert!(fields.contains("condition.filter.t.$foo") && fields.contains("condition.filter.t.$bar"), "{fields}");
    }

    async fn faults_of_a_call_about_members_are_told_at_once(engine) {
        let app = TestApp::new(engine).await;
        let told = async |path: &str, body: Value| {
            let reply = app.app().post(path, &body).await;
            documented(&reply, path);
            let json = reply.json();
            let violations = json["details"]["validationError"]["fieldViolations"].as_array().cloned();
            let fields: Vec<_> = violations.iter().flatten().map(|it| it["field"].as_str().unwrap().to_owned()).collect();
            (reply.status.as_u16(), fields.join(" "))
        };
        let filter = json!({ "id": 5, "status": { "$eq": "x", "$near": 1 }, "$or": [{ "shoe": 1 }, 7] });
        let sort = json!([{ "fieldName": "shoe", "order": "up" }]);
        let query = json!({ "filter": filter, "sort": sort, "paging": { "limit": "x", "offset": -1 } });
        let body = json!({ "query": query, "search": { "expression": 1, "fields": 2 }, "fieldsets": ["ALL"] });
        let fields = "query.filter.id query.filter.status query.filter.status query.filter.shoe query.filter \
                      search.expression search.fields query.sort[0].fieldName query.sort[0].order \
                      query.paging.limit query.paging.offset fieldsets";
        let mut wanted: Vec<_> = fields.split_whitespace().collect();
        wanted.sort_unstable();
        let (status, fields) = told("/members/v1/members/query", body).await;
        let mut found: Vec<_> = fields.split(' ').collect();
        found.sort_unstable();
        assert_eq!((status, found), (400, wanted));
        let profile = json!({ "photo": 1, "cover": "x", "title": [], "nickname": 5 });
        let member = json!({ "loginEmail": "x", "profile": profile, "contact": 3, "privacyStatus": "SHY" });
        let fields = "member.loginEmail member.contact member.privacyStatus member.profile.photo member.profile.cover \
                      member.profile.title member.profile.nickname";
        let mut wanted: Vec<_> = fields.split_whitespace().collect();
        wanted.sort_unstable();
        let (status, fields) = told("/members/v1/members", json!({ "member": member })).await;
        let mut found: Vec<_> = fields.split(' ').collect();
        found.sort_unstable();
        assert_eq!((status, found), (400, wanted));
        let (status, fields) = told("/badges/v4/badges", json!({ "badge": { "description": 5 } })).await;
        assert_eq!((status, fields.as_str()), (400, "badge.description badge.title"));
    }

    async fn broken_bodies_are_refused(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100), close.repeat(100));
        let nested = [
            "not json".to_owned(), "{".to_owned(), "[]".to_owned(), "\"x\"".to_owned(), "7".to_owned(), "null".to_owned(),
            "{\"dataCollectionId\":".to_owned(), "{\"a\":1,}".to_owned(), "{'a':1}".to_owned(), "NaN".to_owned(),
            deep("[", "]"), deep("{\"a\":", "}"),
            format!("{{\"dataCollectionId\":\"things\",\"dataItem\":{{\"data\":{}}}}}", deep("{\"a\":", "}")),
            format!("{{\"dataCollectionId\":\"things\",\"query\":{{\"filter\":{}}}}}", deep("{\"$not\":", "}")),
            format!("{{\"dataCollectionId\":\"things\",\"filter\":{}}}", deep("{\"$and\":[", "]}")),
            format!("{{\"grantType\":{}}}", deep("[", "]")),
            format!("{{\"collection\":{}}}", deep("{\"id\":", "}")),
        ];
        let mut bodies: Vec<Vec<u8>> = nested.into_iter().map(String::into_bytes).collect();
        bodies.push(vec![0xff, 0xfe, b'{', b'}']);
        bodies.push(b"{\"dataCollectionId\":\"\xc3\x28\"}".to_vec());
        bodies.push(b"{\"dataCollectionId\":\"things\",\"dataItem\":{\"data\":{\"a\":\"\\ud800\"}}}".to_vec());
        bodies.push(b"{\"dataCollectionId\":\"things\",\"dataItem\":{\"data\":{\"a\":\"\\u0000\"}}}".to_vec());
        bodies.push(vec![b' '; 5 << 20]);
        bodies.push([&b"{\"a\":\""[..], &vec![b'x'; 10 << 20], b"\"}"].concat());
        for (Listed { method, .. }, path) in calls_with_bodies(|_| true) {
            for body in &bodies {
                let reply = app.app().send(method.clone(), &path, Some(body.clone().into())).await;
                if reply.status == 200 {
                    // A member that the call doesn't know may hold anything that is JSON.
                    assert!(body.starts_with(b"{\"") && std::str::from_utf8(body).is_ok(), "{path} took {body:?}");
                    continue;
                }
                documented(&reply, &format!("{path} {}", String::from_utf8_lossy(&body[..body.len().min(80)])));
                assert!(body.len() < 5 << 20 || reply.status == 413, "{path}: a body too large is 413, not {}", reply.status);
            }
        }
    }

    /// Half of a surrogate pair is JSON and nothing that an engine keeps: one answer, whichever call it
    /// comes to and wherever it stands.
    async fn lone_surrogates_are_refused(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        for (Listed { method, .. }, path) in calls_with_bodies(|it| it.route.opening == Opening::Collections) {
            for half in ["\\ud800", "\\udc00", "x\\udbffx", "\\ud83d\\u0041"] {
                for body in [
                    format!("{{\"dataCollectionId\":\"{half}\"}}"),
                    format!("{{\"dataCollectionId\":\"things\",\"{half}\":1}}"),
                    format!("{{\"dataCollectionId\":\"things\",\"filter\":{{\"n\":[\"{half}\"]}}}}"),
                ] {
                    let reply = app.app().send(method.clone(), &path, Some(body.clone().into())).await;
                    assert_eq!(reply.verdict(), "400 WDE0080", "{method} {path} {body} {:?}", reply.body);
                }
            }
        }
        for path in ["/v2/items", "/v2/items/update", "/v2/items/save"] {
            let body = "{\"dataCollectionId\":\"things\",\"dataItem\":{\"data\":{\"_id\":\"x\",\"a\":\"\\ud800\"}}}";
            assert_eq!(app.app().send(Method::POST, path, Some(body.into())).await.verdict(), "400 WDE0080", "{path}");
        }
        for call in ["insert", "update", "save"] {
            let body = "{\"dataCollectionId\":\"things\",\"dataItems\":[{\"data\":{\"_id\":\"x\",\"a\":\"\\ud800\"}}]}";
            let reply = app.app().send(Method::POST, &format!("/v2/bulk/items/{call}"), Some(body.into())).await.json();
            assert_eq!(reply["results"][0]["itemMetadata"]["error"]["code"], "WDE0080", "{call} {reply}");
        }
        // {"dataCollectionId":"\ud800"}
        let get = "/v2/items/query?.r=eyJkYXRhQ29sbGVjdGlvbklkIjoiXHVkODAwIn0";
        assert_eq!(app.app().get(get).await.verdict(), "400 WDE0080");
    }

    async fn wrong_types_are_refused_everywhere(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        let wrong = [json!(null), json!(7), json!(-1), json!(1e300), json!("x"), json!(""), json!(true), json!([]), json!([null]), json!({}), json!({"$date": 1}), json!({"a": {"b": [1]}})];
        for (path, body) in requests() {
            for pointer in pointers(&body) {
                for value in &wrong {
                    let mut broken = body.clone();
                    *broken.pointer_mut(&pointer).unwrap() = value.clone();
                    let reply = app.app().post(path, &broken).await;
                    if reply.status != 200 {
                        documented(&reply, &format!("{path} {pointer} = {value}"));
                    }
                }
            }
        }
    }

    async fn wrong_types_in_calls_around_members(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let world = World::new(&app, &ada, &bob).await;
        let many = json!(vec!["x"; 5_000]);
        let wrong = [json!(null), json!(7), json!([[]]), json!({ "a": { "b": [1] } }), json!("a\u{0}b")];
        for (id, path, template) in ROUTES {
            let method = &operation(id).method;
            let (at, body) = world.fill(path, template).await;
            let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
            for pointer in pointers(&body) {
                let is_list = body.pointer(&pointer).is_some_and(Value::is_array);
                for value in wrong.iter().chain(is_list.then_some(&many)) {
                    let mut broken = body.clone();
                    *broken.pointer_mut(&pointer).unwrap() = value.clone();
                    let reply = send(&app.app(), method.as_str(), &at, &broken.to_string()).await;
                    if reply.status != 200 {
                        let shown: String = value.to_string().chars().take(40).collect();
                        documented(&reply, &format!("{method} {path} {pointer} = {shown}"));
                    }
                }
            }
        }
    }

    async fn tricks_in_paths_and_queries_around_members(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let world = World::new(&app, &ada, &bob).await;
        let long = "x".repeat(3_000);
        let tricks = ["%00", "%27%3B%20drop%20table%20member%3B--", "..%2f..%2fetc", "%ff%fe", "%F0%9F%98%80", "my", "%25", long.as_str()];
        let queries = [".r=%%%", ".r=W10", ".r=e30", "paging.limit=-1", "paging.limit=x", "paging.offset=99999999999", "query.cursorPaging.cursor=%00", "cursorPaging.cursor=AA", "fieldsets=%00", "revision=x", "roleKey=%00", "memberIds=%00", "before=%00", "a.b.c.d.e.f.g.h.i.j=1"];
        for (id, path, template) in ROUTES.iter().filter(|it| it.0 != "memberDeleteMy") {
            let method = &operation(id).method;
            let (plain, body) = world.fill(path, template).await;
            let parameter = path.split('/').find(|it| it.starts_with('{'));
            let tricked = tricks.iter().filter_map(|it| Some(path.replace(parameter?.split('?').next()?, it).replace("{ada}", "x").replace("{role}", "x")));
            let asked = queries.iter().map(|it| format!("{plain}{}{it}", if plain.contains('?') { "&" } else { "?" }));
            for address in tricked.chain(asked) {
                let reply = send(&app.app(), method.as_str(), &address, &body).await;
                if reply.status != 200 {
                    let shown: String = address.chars().take(120).collect();
                    documented(&reply, &format!("{method} {shown}"));
                }
            }
        }
    }

    async fn tricks_in_names_and_ids(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        let tricks = ["'; drop table member; --", "\" or 1=1 --", "../../etc/passwd", "..\\..", "%00", "a\u{0}b", "$where", "a.b.c'", "c1", "rid", "doc", "\u{202e}x", "x\"]}", "$.a", "*", "a'||'b"];
        let before = total(&app).await;
        for trick in tricks {
            for filter in [json!({ trick: 1 }), json!({ trick: { "$gt": "a" } }), json!({ "n": { trick: 1 } }), json!({ "n": trick }), json!({ "n": { "$contains": trick } })] {
                let query = json!({ "dataCollectionId": "things", "query": { "filter": filter, "sort": [{ "fieldName": trick }], "fields": [trick] } });
                let reply = app.app().post("/v2/items/query", &query).await;
                if reply.status != 200 {
                    documented(&reply, &format!("filter {filter}"));
                }
            }
            let reply = app.app().post("/v2/items/query", &json!({ "dataCollectionId": trick })).await;
            documented(&reply, &format!("collection {trick:?}"));
            let insert = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": trick, trick: trick } } });
            let reply = app.app().post("/v2/items", &insert).await;
            match reply.status.as_u16() {
                200 => {
                    let stored = reply.json()["dataItem"]["data"].clone();
                    assert_eq!((&stored["_id"], &stored[trick]), (&json!(trick), &json!(trick)), "stored as it was sent");
                    let remove = json!({ "dataCollectionId": "things", "dataItemId": trick });
                    assert_eq!(app.app().post("/v2/items/remove", &remove).await.status, 200, "{trick}");
                }
                _ => documented(&reply, &format!("id {trick:?}")),
            }
        }
        assert_eq!(total(&app).await, before, "nothing else was touched");
    }

    async fn broken_addresses(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        for path in [
            "/v2/items/query?.r=%%%", "/v2/items/query?.r=e30", "/v2/items/query?.r=", "/v2/items/query?.r=AAAA", "/v2/items/query?.r=eyJhIjo",
            "/v2/items/x", "/v2/items/?dataCollectionId=things&dataItemId=", "/v2/items/a/b?c", "/v2/items/x?dataCollectionId=%ff&dataItemId=x",
            "/v2/items/query?.r=W10", "/v2/nothing", "/v2/items/x?dataCollectionId=nope&dataItemId=x", "/v2/collections/none?dataCollectionId=none",
        ] {
            documented(&app.app().get(path).await, path);
        }
        for (method, path) in [(Method::PUT, "/v2/items/query"), (Method::DELETE, "/oauth2/token"), (Method::POST, "/v2/unknown")] {
            documented(&app.app().send(method, path, None).await, path);
        }
        for token in ["", "nonsense", "a.b.c", "Bearer", "Bearer x", ",", "x,y", "eyJhbGciOiJub25lIn0.e30."] {
            let reply = app.with_token(token).post("/v2/items/query", &json!({ "dataCollectionId": "things" })).await;
            documented(&reply, &format!("token {token:?}"));
            assert_eq!(reply.status, 401, "{token:?}");
        }
    }

    async fn unknown_calls_are_refused(engine) {
        let app = TestApp::new(engine).await;
        for path in [
            "/v1/x", "/v2/x", "/_api/x", "/oauth/x", "/oauth2/x", "/members/x", "/badges/x", "/wix-sm/x", "/installer/x",
            "/graphql/x/y", "/wix-data/v2/x", "/_api/members/x", "/badges/v4/bulk/badge-assignments/x/y",
        ] {
            let reply = app.app().get(path).await;
            documented(&reply, path);
            assert_eq!(reply.verdict(), "404 NOT_FOUND", "{path}");
        }
        for page in ["/", "/badges", "/members", "/account/x", "/anywhere/else"] {
            let reply = app.app().get(page).await;
            assert_ne!(reply.headers["content-type"], "application/json", "{page}");
        }
    }

    async fn documented_codes_are_produced(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        let query = |query: Value| json!({ "dataCollectionId": "things", "query": query });
        let item = |data: Value| json!({ "dataCollectionId": "things", "dataItem": { "data": data } });
        let many: Vec<_> = (0..1001).map(|n| json!({ "data": { "n": n } })).collect();
        let mut deep = json!(1);
        for _ in 0..40 {
            deep = json!({ "a": deep });
        }
        for (path, body, wants) in [
            ("/v2/items/query", json!({ "dataCollectionId": 7 }), "400 WDE0001"),
            ("/v2/items/query", json!({ "dataCollectionId": "nope" }), "404 WDE0025"),
            ("/v2/items/query", query(json!({ "filter": { "a": { "$regex": "x" } } })), "400 WDE0070"),
            ("/v2/items/query", query(json!({ "filter": { "$or": [{ "a": { "$not": { "$regex": "x" } } }] } })), "400 WDE0070"),
            ("/v2/items/query", query(json!({ "filter": { "a": { "$foo": 1 } } })), "400 WDE0093"),
            ("/v2/items/query", query(json!({ "paging": { "limit": -1 } })), "400 WDE0033"),
            ("/v2/items/query", query(json!({ "paging": { "offset": -1 } })), "400 WDE0034"),
            ("/v2/items/query", query(json!({ "paging": { "limit": "x" } })), "400 WDE0032"),
            ("/v2/items/query", query(json!({ "paging": { "limit": 1.5 } })), "400 WDE0035"),
            ("/v2/items/query", query(json!({ "sort": [{ "fieldName": "a", "order": "up" }] })), "400 WDE0067"),
            ("/v2/items", item(json!([])), "400 WDE0004"),
            ("/v2/items", item(json!({ "_id": 7 })), "400 WDE0007"),
            ("/v2/items", item(json!({ "_id": "one" })), "409 WDE0074"),
            ("/v2/items", item(json!({ "$a": 1 })), "400 WDE0134"),
            ("/v2/items", item(deep), "400 WDE0168"),
            ("/v2/items", item(json!({ "a": "x".repeat(600_000) })), "400 WDE0009"),
            ("/v2/items/update", item(json!({ "_id": "none" })), "404 WDE0073"),
            ("/v2/items/remove", json!({ "dataCollectionId": "things", "dataItemId": "none" }), "404 WDE0073"),
            ("/v2/bulk/items/insert", json!({ "dataCollectionId": "things", "dataItems": many }), "400 WDE0006"),
            ("/v2/bulk/items/insert", json!({ "dataCollectionId": "things", "dataItems": 7 }), "400 WDE0005"),
            ("/v2/items/aggregate", json!({ "dataCollectionId": "things" }), "400 WDE0080"),
            ("/v2/items/aggregate-pipeline", json!({ "dataCollectionId": "things" }), "400 WDE0080"),
            ("/v2/items/search", json!({ "dataCollectionId": "things", "search": 7 }), "400 WDE0080"),
            ("/v2/items/search", json!({ "dataCollectionId": "things", "search": { "search": { "expression": "x ".repeat(51) } } }), "400 WDE0080"),
            ("/v2/items/search", json!({ "dataCollectionId": "things", "search": { "search": { "fields": ["n"] } } }), "400 WDE0147"),
            ("/v2/items/search", json!({ "dataCollectionId": "things", "search": { "highlight": { "fields": ["n"] } } }), "400 WDE0147"),
            ("/v2/items/search", json!({ "dataCollectionId": "things", "search": { "highlight": { "maxLength": 1001 } } }), "400 WDE0080"),
            ("/v2/items/search", json!({ "dataCollectionId": "things", "search": { "highlight": { "maxFragments": 1.5 } } }), "400 WDE0035"),
            ("/v2/items/search", json!({ "dataCollectionId": "things", "returnSuggestions": "yes" }), "400 WDE0018"),
        ] {
            let reply = app.app().post(path, &body).await;
            assert_eq!(reply.verdict(), wants, "{path} {:?}", reply.body);
        }
    }
}

/// A stage of each kind, and expressions of each form.
fn stages(filter: &Value) -> Value {
    let difference =
        json!({ "subtract": { "firstExpression": { "fieldPath": "n" }, "secondExpression": { "numeric": 1 } } });
    let part = json!({ "substring": { "expression": { "text": "xyz" }, "startExpression": { "numeric": 0 }, "lengthExpression": { "numeric": 2 } } });
    let joined = json!({ "concat": { "expressions": [{ "toUpper": { "expression": { "text": "x" } } }, part] } });
    json!([
        { "filter": filter },
        { "projection": { "fields": [{ "include": { "fieldName": "n" } }, { "exclude": { "fieldName": "t" } }, { "reshape": { "resultFieldName": "j", "expression": joined } },
            { "projectNested": { "resultFieldName": "o", "fields": [{ "include": { "fieldName": "p" } }] } }] } },
        { "objectToArray": { "objectFieldName": "o", "destinationFieldName": "l" } },
        { "unwindArray": { "arrayFieldName": "l" } },
        { "group": { "groupIds": [{ "key": "j", "expression": { "fieldPath": "j" } }], "accumulators": [{ "resultFieldName": "s", "sum": { "expression": difference } }] } },
        { "sort": { "values": [{ "fieldName": "s", "order": "DESC" }] } },
        { "skip": 0 },
        { "limit": 5 },
    ])
}

/// Requests that are right, to be broken one member at a time.
fn requests() -> Vec<(&'static str, Value)> {
    let item =
        json!({ "id": "one", "data": { "_id": "one", "n": 1, "when": { "$date": "2024-01-01T00:00:00.000Z" } } });
    let filter = json!({ "$and": [{ "n": { "$gt": 0, "$in": [1] } }, { "$or": [{ "t": { "$startsWith": "x" } }, { "n": { "$not": { "$eq": 3 } } }] }, { "$not": [{ "n": null }] }] });
    let query = json!({ "filter": filter, "sort": [{ "fieldName": "n", "order": "ASC" }], "fields": ["n"], "paging": { "limit": 5, "offset": 0 } });
    let patch = json!({ "dataItemId": "one", "fieldModifications": [
        { "fieldPath": "o.p", "action": "SET_FIELD", "setFieldOptions": { "value": { "x": [1] } } },
        { "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } },
        { "fieldPath": "l", "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": 1 } },
        { "fieldPath": "l", "action": "REMOVE_FROM_ARRAY", "removeFromArrayOptions": { "value": 1 } },
    ]});
    let profile = json!({ "firstName": "A", "emails": ["a@b.co"], "addresses": [{ "address": { "city": "X" }, "tag": "HOME" }], "customFields": [{ "name": "x", "value": { "numValue": 1 } }] });
    vec![
        (
            "/v2/items/query",
            json!({ "dataCollectionId": "things", "query": query, "returnTotalCount": true, "includeReferences": [], "consistentRead": true, "language": "en" }),
        ),
        ("/v2/items/count", json!({ "dataCollectionId": "things", "filter": filter })),
        (
            "/_api/realtime/v1/stream",
            json!({ "subscriptions": [
                { "key": "a", "dataCollectionId": "things", "filter": filter, "fields": ["n"], "snapshot": true, "limit": 5, "sort": [{ "fieldName": "n", "order": "ASC" }] },
                { "key": "b", "dataCollectionId": "things", "snapshot": false, "resume": "x" },
            ] }),
        ),
        (
            "/v2/items/query-distinct-values",
            json!({ "dataCollectionId": "things", "fieldName": "n", "filter": filter, "order": "ASC", "paging": { "limit": 5, "offset": 0 } }),
        ),
        (
            "/v2/items/aggregate",
            json!({ "dataCollectionId": "things", "initialFilter": filter, "finalFilter": { "count": { "$gt": 0 } }, "aggregation": { "groupingFields": ["t"],
                "operations": [{ "resultFieldName": "count", "itemCount": {} }, { "resultFieldName": "s", "sum": { "itemFieldName": "n" } }] },
                "sort": [{ "fieldName": "count", "order": "ASC" }], "paging": { "limit": 5, "offset": 0 }, "returnTotalCount": true }),
        ),
        (
            "/v2/items/aggregate-pipeline",
            json!({ "dataCollectionId": "things", "pipeline": { "stages": stages(&filter), "paging": { "limit": 5, "offset": 0 } }, "returnTotalCount": true }),
        ),
        (
            "/v2/items/search",
            json!({ "dataCollectionId": "things", "search": { "filter": filter, "sort": [{ "fieldName": "n", "order": "ASC" }], "fields": ["n", "word"],
                "search": { "expression": "x y~ z*", "mode": "AND", "fuzzy": true, "fields": ["word"] }, "paging": { "limit": 5, "offset": 0 },
                "highlight": { "fields": ["word"], "maxLength": 50, "maxFragments": 2 } }, "returnSuggestions": true,
                "includeReferences": [{ "field": "boss", "limit": 2 }], "consistentRead": true, "language": "en" }),
        ),
        ("/v2/items", json!({ "dataCollectionId": "things", "dataItem": { "data": { "n": 1, "o": { "p": [1] } } } })),
        (
            "/v2/items/update",
            json!({ "dataCollectionId": "things", "dataItem": item, "condition": { "filter": { "n": 1 } } }),
        ),
        ("/v2/items/save", json!({ "dataCollectionId": "things", "dataItem": item })),
        (
            "/v2/items/patch",
            json!({ "dataCollectionId": "things", "patch": patch, "condition": { "filter": { "n": 1 } } }),
        ),
        (
            "/v2/collections/add-plugin",
            json!({ "dataCollectionId": "things", "plugin": { "type": "CMS", "cmsOptions": { "siteSort": { "sort": [{ "fieldKey": "n", "direction": "ASC" }] } } } }),
        ),
        ("/v2/collections/delete-plugin", json!({ "dataCollectionId": "things", "pluginType": "CMS" })),
        (
            "/v2/collections/add-publish-plugin",
            json!({ "dataCollectionId": "things", "publishOptions": { "defaultStatus": "DRAFT" }, "draftItemsPluginConflictAction": "DISCARD_DRAFT_ITEMS" }),
        ),
        ("/v2/bulk/items/patch", json!({ "dataCollectionId": "things", "patches": [patch] })),
        ("/v2/bulk/items/insert", json!({ "dataCollectionId": "things", "dataItems": [{ "data": { "n": 1 } }, item] })),
        ("/v2/bulk/items/save", json!({ "dataCollectionId": "things", "dataItems": [item] })),
        ("/v2/bulk/items/remove", json!({ "dataCollectionId": "things", "dataItemIds": ["x", "y"] })),
        (
            "/v2/bulk/items/async-patch-by-filter",
            json!({ "dataCollectionId": "things", "filter": filter, "fieldModifications": patch["fieldModifications"] }),
        ),
        (
            "/v1/tasks",
            json!({ "task": { "type": "UPDATE_PUBLISH_STATUS", "updatePublishStatusOptions": { "dataCollectionId": "things", "environment": "LIVE", "filter": { "n": { "$lt": 0 } }, "operation": "SCHEDULE_DRAFT_STATUS", "scheduleDraftStatusOptions": { "date": "2030-01-01" } } } }),
        ),
        (
            "/v1/tasks",
            json!({ "task": { "type": "EDIT_FIELD_DATA", "editFieldDataOptions": { "dataCollectionId": "things", "filter": { "n": { "$lt": 0 } }, "fieldKey": "n", "operations": { "addItems": [1], "removeItems": [2], "replaceItems": [{ "from": 1, "to": 2 }], "removeDuplicates": true } } } }),
        ),
        (
            "/v1/tasks",
            json!({ "task": { "type": "COPY_FIELD_DATA", "copyFieldDataOptions": { "dataCollectionId": "things", "sourceFieldKey": "absent", "targetFieldKey": "word" } } }),
        ),
        (
            "/v2/bulk/items/async-remove-by-filter",
            json!({ "dataCollectionId": "things", "filter": { "n": { "$lt": 0 } }, "publishPluginOptions": { "includeDraftItems": true } }),
        ),
        (
            "/v2/items/query",
            json!({ "dataCollectionId": "things", "includeReferences": [{ "field": "peers.boss", "limit": 2 }], "includeReferencedItems": ["peers"], "query": { "filter": { "peers": { "$hasSome": ["one"] } } } }),
        ),
        (
            "/v2/items/save",
            json!({ "dataCollectionId": "things", "saveReferences": true, "includeReferencedItems": true, "dataItem": { "data": { "_id": "one", "boss": { "_id": "one" }, "peers": ["one", { "_id": "one" }] } } }),
        ),
        (
            "/v2/bulk/items/remove-references",
            json!({ "dataCollectionId": "things", "dataItemReferences": [{ "referringItemFieldName": "peers", "referringItemId": "one", "referencedItemId": "one" }] }),
        ),
        (
            "/v2/bulk/items/insert-references",
            json!({ "dataCollectionId": "things", "dataItemReferences": [{ "referringItemFieldName": "peers", "referringItemId": "one", "referencedItemId": "one" }] }),
        ),
        (
            "/v2/items/replace-references",
            json!({ "dataCollectionId": "things", "referringItemFieldName": "peers", "referringItemId": "one", "newReferencedItemIds": ["one"] }),
        ),
        (
            "/v2/items/is-referenced",
            json!({ "dataCollectionId": "things", "referringItemFieldName": "peers", "referringItemId": "one", "referencedItemId": "one", "consistentRead": true }),
        ),
        (
            "/v2/items/query-referenced",
            json!({ "dataCollectionId": "things", "referringItemFieldName": "peers", "referringItemIds": ["one"], "order": "ASC", "paging": { "limit": 5, "offset": 0 }, "fields": ["n"], "returnTotalCount": true }),
        ),
        (
            "/v2/collections",
            json!({ "collection": { "id": "more", "displayName": "M", "fields": [{ "key": "t", "type": "TEXT", "displayName": "T" }], "permissions": { "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" } } }),
        ),
        (
            "/v2/indexes",
            json!({ "dataCollectionId": "things", "index": { "name": "i", "fields": [{ "path": "n", "order": "ASC" }], "unique": false, "caseInsensitive": true } }),
        ),
        (
            "/v1/permissions",
            json!({ "dataPermissions": { "id": "things", "itemRead": "ANYONE", "draftItemsPluginPermissions": { "manageDrafts": "ANYONE" } } }),
        ),
        (
            "/v1/permissions/special",
            json!({ "dataCollectionId": "things", "specialPermissions": { "userId": "u", "itemRead": "ALLOWED", "draftItemsPluginPermissions": { "manageDrafts": "ALLOWED" } } }),
        ),
        ("/v1/permissions/special/x", json!({ "specialPermissions": { "id": "x", "itemRead": "ALLOWED" } })),
        (
            "/oauth2/token",
            json!({ "clientId": "x", "grantType": "authorization_code", "code": "c", "codeVerifier": "v", "redirectUri": "r" }),
        ),
        ("/oauth2/token", json!({ "refreshToken": "x", "grantType": "refresh_token" })),
        (
            "/v2/register",
            json!({ "loginId": { "email": "a@b.co" }, "password": "correct horse", "profile": profile, "captchaTokens": [{ "Recaptcha": "x" }] }),
        ),
        ("/v2/login", json!({ "loginId": { "email": "a@b.co" }, "password": "correct horse" })),
    ]
}

/// Every place in a value, as JSON pointers.
fn pointers(value: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, found: &mut Vec<String>) {
        let mut visit = |key: String, child: &Value| {
            let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            found.push(at.clone());
            walk(child, &at, found);
        };
        match value {
            Value::Object(members) => members.iter().for_each(|(key, child)| visit(key.clone(), child)),
            Value::Array(elements) => elements.iter().enumerate().for_each(|(i, child)| visit(i.to_string(), child)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(value, "", &mut found);
    found
}

async fn things(app: &TestApp) {
    let collection = json!({ "collection": {
        "id": "things", "displayName": "Things", "fields": [
            { "key": "n", "type": "NUMBER" },
            { "key": "word", "type": "TEXT" },
            { "key": "boss", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "things" } } },
            { "key": "peers", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": { "referencedCollectionId": "things", "referencingFieldKey": "peersOf" } } },
        ],
        "dataPermissions": { "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" },
    }});
    let reply = app.app().post("/v2/collections", &collection).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": "one", "n": 1, "t": "xy" } } });
    assert_eq!(app.app().post("/v2/items", &item).await.verdict(), "200");
}

async fn total(app: &TestApp) -> Value {
    app.app().post("/v2/items/count", &json!({ "dataCollectionId": "things" })).await.json()["totalCount"].clone()
}
