//! The members API by URL: who may do what, what others see, and lists that an index serves.

use axum::http::Method;
use serde_json::{Value, json};
use stoa_identity::manage::{AT_ONCE, ImportedMember};
use stoa_kernel::Caller;
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

pub const MEMBERS: &str = "/members/v1/members";

pub async fn patch(who: &TestClient<'_>, path: &str, body: &Value) -> Reply {
    who.send(Method::PATCH, path, Some(body.to_string().into())).await
}

pub async fn id_of(who: &TestClient<'_>) -> String {
    let me = who.get(&format!("{MEMBERS}/my")).await.json();
    me["member"]["id"].as_str().unwrap().to_owned()
}

pub fn ids(found: &Value) -> Vec<&str> {
    found["members"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_str()).collect()
}

/// Members moved in, at the same millisecond.
pub async fn arrive(app: &TestApp, members: impl Iterator<Item = Value>) {
    let arrivals: Vec<ImportedMember> = members.map(|it| ImportedMember::parse(&it).unwrap()).collect();
    for some in arrivals.chunks(AT_ONCE) {
        let key = Caller::App { id: "key".into() };
        app.app.identity.member_import(&app.site, &key, some.to_vec()).await.unwrap();
    }
}

on_both_engines! {
    async fn member_calls_need_their_permission(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let (visitor, editor, owner) = (app.visitor().await, app.editor().await, app.owner().await);
        let (a, b) = (id_of(&ada).await, id_of(&bob).await);
        let mut seen = Vec::new();
        let callers =
            [("visitor", &visitor), ("other", &bob), ("editor", &editor), ("self", &ada), ("owner", &owner), ("app", &app.app())];
        for (name, who) in callers {
            let post = async |path: String, body: Value| who.post(&path, &body).await.status.as_u16();
            let get = who.get(&format!("{MEMBERS}/{a}")).await.status.as_u16();
            let list = who.get(MEMBERS).await.status.as_u16();
            let update = patch(who, &format!("{MEMBERS}/{a}"), &json!({ "member": { "profile": { "nickname": name } } })).await.status.as_u16();
            let mute = post(format!("{MEMBERS}/{a}/mute"), json!({})).await;
            let create = post(MEMBERS.to_owned(), json!({ "member": { "loginEmail": format!("{name}@example.net") } })).await;
            let role = post("/members/v1/roles/definitions".to_owned(), json!({ "roleKey": name, "roleTitle": name })).await;
            let audit = who.get("/_api/identity/v1/audit").await.status.as_u16();
            let bulk = post(format!("{MEMBERS}/bulk/approve-by-filter"), json!({ "filter": { "id": b } })).await;
            let block = post(format!("{MEMBERS}/{b}/block"), json!({})).await;
            assert_eq!(block == 200, matches!(name, "owner" | "app"), "{name}");
            if block == 200 {
                assert_eq!(post(format!("{MEMBERS}/{b}/approve"), json!({})).await, 200);
            }
            seen.push(format!("{name}: get {get} list {list} update {update} mute {mute} create {create} role {role} audit {audit} bulk {bulk}"));
        }
        assert_eq!(seen, [
            "visitor: get 404 list 403 update 403 mute 403 create 403 role 403 audit 403 bulk 403",
            "other: get 404 list 200 update 403 mute 403 create 403 role 403 audit 403 bulk 403",
            "editor: get 200 list 200 update 403 mute 403 create 403 role 403 audit 403 bulk 403",
            "self: get 200 list 200 update 200 mute 403 create 403 role 403 audit 403 bulk 403",
            "owner: get 200 list 200 update 200 mute 200 create 200 role 200 audit 200 bulk 200",
            "app: get 200 list 200 update 200 mute 200 create 200 role 200 audit 200 bulk 200",
        ]);
    }

    async fn members_see_public_fields_of_others(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob, visitor) = (app.member("ada@example.org").await, app.member("bob@example.org").await, app.visitor().await);
        let (a, b) = (id_of(&ada).await, id_of(&bob).await);
        let change = json!({ "member": { "profile": { "nickname": "Ada" }, "contact": { "phones": ["1"] } } });
        assert_eq!(patch(&ada, &format!("{MEMBERS}/{a}"), &change).await.verdict(), "200");
        assert_eq!(ids(&bob.get(MEMBERS).await.json()), Vec::<&str>::new(), "private members are in nobody's list");
        assert_eq!(ada.post(&format!("{MEMBERS}/join-community"), &json!({})).await.json()["member"]["privacyStatus"], "PUBLIC");
        let shown = bob.get(&format!("{MEMBERS}/{a}?fieldsets=FULL")).await.json()["member"].clone();
        assert_eq!((&shown["profile"]["nickname"], &shown["status"]), (&json!("Ada"), &json!("UNKNOWN")));
        assert!(shown["loginEmail"].is_null() && shown["contact"].is_null(), "{shown}");
        let found = bob.post(&format!("{MEMBERS}/query"), &json!({ "fieldsets": ["FULL"], "query": { "filter": { "nickname": "ADA" } } })).await.json();
        assert_eq!(ids(&found), [a.as_str()]);
        assert!(found["members"][0]["loginEmail"].is_null());
        let by_mail = json!({ "query": { "filter": { "loginEmail": "ada@example.org" } } });
        assert_eq!(bob.post(&format!("{MEMBERS}/query"), &by_mail).await.verdict(), "428 WDE0119");
        // Places in an order tell as much as a filter does.
        for name in ["loginEmail", "lastLoginDate"] {
            let sorted = json!({ "query": { "sort": [{ "fieldName": name, "order": "ASC" }] } });
            assert_eq!(bob.post(&format!("{MEMBERS}/query"), &sorted).await.verdict(), "428 WDE0119", "{name}");
            assert_eq!(app.app().post(&format!("{MEMBERS}/query"), &sorted).await.verdict(), "200", "{name}");
        }
        // Visitors only where the site says so.
        assert_eq!(visitor.get(&format!("{MEMBERS}/{a}")).await.verdict(), "404 NOT_FOUND");
        let open = json!({ "memberPrivacySettings": { "publicMemberVisibility": "VISIBLE_TO_ALL" } });
        assert_eq!(bob.post("/members/v1/privacy-settings", &open).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(app.app().post("/members/v1/privacy-settings", &open).await.verdict(), "200");
        assert_eq!(visitor.get(&format!("{MEMBERS}/{a}")).await.verdict(), "200");
        // A blocked member sees nothing more, and follows no more.
        assert_eq!(bob.post(&format!("/members/v3/followers/{a}"), &json!({})).await.verdict(), "200");
        assert_eq!(ada.post("/members/v1/member-to-member-blocks/members/my", &json!({ "memberId": b })).await.verdict(), "200");
        assert_eq!(bob.get(&format!("{MEMBERS}/{a}")).await.verdict(), "403 MEMBER_TO_MEMBER_BLOCKED");
        let by_id = json!({ "query": { "filter": { "id": a } } });
        for (who, count) in [(&bob, 0), (&ada, 1), (&visitor, 1), (&app.app(), 1)] {
            let found = who.post(&format!("{MEMBERS}/query"), &by_id).await.json();
            assert_eq!((ids(&found).len(), found["metadata"]["total"].as_u64()), (count, Some(count as u64)));
        }
        assert_eq!(ids(&bob.get(MEMBERS).await.json()), Vec::<&str>::new());
        assert_eq!(bob.post(&format!("/members/v3/followers/{a}"), &json!({})).await.verdict(), "403 MEMBER_TO_MEMBER_BLOCKED");
        assert_eq!(ada.get("/members/v3/followers/my").await.json()["memberIds"], json!([]));
        for path in ["/members/v3/followers", "/members/v2/abouts"] {
            assert_eq!(bob.get(&format!("{path}/{a}")).await.verdict(), "403 MEMBER_TO_MEMBER_BLOCKED", "{path}");
        }
        assert_eq!(ada.post("/members/v1/member-to-member-blocks/members/my", &json!({ "memberId": a })).await.verdict(), "400 MEMBER_SELF_BLOCK_FORBIDDEN");
        // No member joins where none may.
        let closed = json!({ "memberPrivacySettings": { "publicMemberCandidates": "NO_ONE" } });
        assert_eq!(app.app().post("/members/v1/privacy-settings", &closed).await.verdict(), "200");
        assert_eq!(bob.post(&format!("{MEMBERS}/join-community"), &json!({})).await.verdict(), "403 COMMUNITY_JOIN_IMPOSSIBLE");
    }

    async fn lists_by_filter_order_and_cursor(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        for n in 0..7 {
            let member = json!({ "loginEmail": format!("m{n}@example.org"), "profile": { "nickname": format!("Nick{n}"), "slug": format!("s-{n}") } });
            assert_eq!(key.post(MEMBERS, &json!({ "member": member })).await.verdict(), "200");
        }
        let taken = json!({ "member": { "loginEmail": "x@example.org", "profile": { "slug": "S-1" } } });
        assert_eq!(key.post(MEMBERS, &taken).await.verdict(), "409 SLUG_ALREADY_EXISTS");
        let query = async |body: Value| key.post(&format!("{MEMBERS}/query"), &json!({ "query": body, "fieldsets": ["EXTENDED"] })).await.json();
        for (filter, count) in [
            (json!({ "profile.slug": "s-3" }), 1),
            (json!({ "profile.slug": { "$ne": "s-3" } }), 6),
            (json!({ "nickname": { "$startsWith": "NICK" } }), 7),
            (json!({ "$or": [{ "nickname": "nick1" }, { "loginEmail": "M2@example.org" }] }), 2),
            (json!({ "$not": [{ "nickname": "nick1" }] }), 6),
            (json!({ "createdDate": { "$lt": "2000-01-01T00:00:00.000Z" } }), 0),
            (json!({ "status": { "$in": ["APPROVED", "BLOCKED"] }, "activityStatus": "ACTIVE" }), 7),
            (json!({ "lastLoginDate": { "$gt": "2001-01-01" } }), 0),
        ] {
            assert_eq!(query(json!({ "filter": filter })).await["metadata"]["total"], count, "{filter}");
        }
        let sorted = query(json!({ "sort": [{ "fieldName": "profile.nickname", "order": "DESC" }], "paging": { "limit": 2, "offset": 1 } })).await;
        let names: Vec<&Value> = sorted["members"].as_array().unwrap().iter().map(|it| &it["profile"]["nickname"]).collect();
        assert_eq!(names, ["Nick5", "Nick4"]);
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = query(json!({ "cursorPaging": { "limit": 3, "cursor": cursor } })).await;
            all.extend(ids(&page).into_iter().map(str::to_owned));
            match page["metadata"]["cursors"]["next"].as_str() {
                Some(next) => cursor = next.to_owned(),
                None => break,
            }
        }
        let distinct: std::collections::HashSet<&String> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (7, 7));
        let bad = json!({ "query": { "cursorPaging": { "cursor": "%" } } });
        assert_eq!(key.post(&format!("{MEMBERS}/query"), &bad).await.verdict(), "400 WDE0151");
        let deep = (0..20).fold(json!({}), |it, _| json!({ "$not": it }));
        assert_eq!(key.post(&format!("{MEMBERS}/query"), &json!({ "query": { "filter": deep } })).await.verdict(), "400 WDE0169");
    }

    async fn changes_are_in_the_audit_log(engine) {
        let app = TestApp::new(engine).await;
        let ada = app.member("ada@example.org").await;
        let id = id_of(&ada).await;
        assert_eq!(app.app().post(&format!("{MEMBERS}/{id}/block"), &json!({})).await.verdict(), "200");
        let entries = app.app().get(&format!("/_api/identity/v1/audit?member={id}")).await.json();
        let events: Vec<&str> = entries["entries"].as_array().unwrap().iter().filter_map(|it| it["event"].as_str()).collect();
        assert!(events.contains(&"member_block") && events.contains(&"member_register"), "{events:?}");
        let block = entries["entries"].as_array().unwrap().iter().find(|it| it["event"] == "member_block").unwrap().clone();
        assert_eq!(block["actorKind"], "APP");
    }

    async fn calls_by_filter_reach_every_member(engine) {
        let app = TestApp::new(engine).await;
        let (key, ada) = (app.app(), app.member("ada@example.org").await);
        let members = (0..1_100).map(|n| json!({ "email": format!("m{n}@example.org"), "slug": format!("s-{n}") }));
        arrive(&app, members).await;
        let all = json!({ "loginEmail": { "$startsWith": "m" } });
        let count = async |filter: Value| key.post(&format!("{MEMBERS}/query"), &json!({ "query": { "filter": filter } })).await.json()["metadata"]["total"].clone();
        let with = |status: &str| json!({ "$and": [all, { "status": status }] });
        let bulk = async |verb: &str| {
            let reply = key.post(&format!("{MEMBERS}/bulk/{verb}-by-filter"), &json!({ "filter": all })).await;
            assert!(reply.json()["jobId"].is_string(), "{verb}: {:?}", reply.body);
        };
        let blocks = async || {
            let path = "/_api/identity/v1/audit?event=member_block&paging.limit=1000";
            let page = key.get(path).await.json()["entries"].clone();
            page.as_array().map_or(0, Vec::len)
        };
        assert_eq!(key.post(&format!("{MEMBERS}/bulk/block-by-filter"), &json!({ "filter": { "slug": "s-7" } })).await.verdict(), "200");
        assert_eq!(blocks().await, 1);
        bulk("block").await;
        assert_eq!((count(with("BLOCKED")).await, count(with("APPROVED")).await), (json!(1_100), json!(0)));
        // Who is blocked already is not blocked again.
        let before = app.app.identity.member_by_email(&app.site, &stoa_kernel::Email::parse("m7@example.org").unwrap()).await.unwrap().unwrap();
        assert_eq!(before.revision, 2);
        bulk("delete").await;
        assert_eq!(count(all.clone()).await, json!(0));
        assert_eq!(ada.get(&format!("{MEMBERS}/my")).await.verdict(), "200", "whom the filter does not find stays");
        // Sessions of those who are blocked end.
        let whom = json!({ "filter": { "loginEmail": "ada@example.org" } });
        assert_eq!(key.post(&format!("{MEMBERS}/bulk/block-by-filter"), &whom).await.verdict(), "200");
        assert_eq!(ada.get(&format!("{MEMBERS}/my")).await.status, 401);
        assert_eq!(ada.post(&format!("{MEMBERS}/bulk/block-by-filter"), &whom).await.status, 401);
    }
}
