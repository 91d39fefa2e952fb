//! Filters of members and of what is around them, by URL: read whole or refused, on every page.

use crate::members_api::{MEMBERS, id_of};
use serde_json::{Value, json};
use stoa_testkit::{TestApp, TestClient, on_both_engines};

const ASSIGNMENTS: &str = "/badges/v4/assignments";

/// What a call answers that has to go well.
async fn post(who: &TestClient<'_>, path: &str, body: Value) -> Value {
    let reply = who.post(path, &body).await;
    assert_eq!(reply.verdict(), "200", "{path} {body}");
    reply.json()
}

async fn badge(app: &TestApp, badge: Value) -> String {
    let made = post(&app.app(), "/badges/v4/badges", json!({ "badge": badge })).await;
    made["badge"]["id"].as_str().unwrap().to_owned()
}

/// The values of one member of every object in a list, in an order of their own.
fn all(list: &Value, name: &str) -> Vec<String> {
    let mut all: Vec<String> =
        list.as_array().unwrap().iter().map(|it| it[name].as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

/// Three members, three badges, and an assignment of each to each.
async fn nine(app: &TestApp) -> ([String; 3], [String; 3]) {
    let (mut members, mut badges) = (Vec::new(), Vec::new());
    for name in ["ada", "bob", "eve"] {
        members.push(id_of(&app.member(&format!("{name}@example.org")).await).await);
        badges.push(badge(app, json!({ "title": name, "permissionsEnabled": name == "ada" })).await);
    }
    members.sort();
    badges.sort();
    for (badge, member) in badges.iter().flat_map(|badge| members.iter().map(move |member| (badge, member))) {
        post(&app.app(), ASSIGNMENTS, json!({ "badgeAssignment": { "badgeId": badge, "memberId": member } })).await;
    }
    let three = |list: Vec<String>| <[String; 3]>::try_from(list).unwrap();
    (three(members), three(badges))
}

on_both_engines! {
    async fn members_deleted_by_filter_are_those_asked_for(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        for name in ["ada", "alan", "bob", "eve"] {
            let member = json!({ "loginEmail": format!("{name}@example.org"), "profile": { "nickname": name } });
            post(&key, MEMBERS, json!({ "member": member })).await;
        }
        let nicknames = async || {
            let found = post(&key, &format!("{MEMBERS}/query"), json!({ "query": {} })).await;
            let mut names: Vec<String> =
                found["members"].as_array().unwrap().iter().map(|it| it["profile"]["nickname"].as_str().unwrap().to_owned()).collect();
            names.sort();
            names
        };
        let delete = async |body: Value| key.post(&format!("{MEMBERS}/bulk/delete-by-filter"), &body).await.verdict();
        for (body, verdict) in [
            (json!({ "search": { "expression": "ada" } }), "400 validationError"),
            (json!({ "filter": {}, "search": {} }), "400 validationError"),
            (json!({ "filter": {}, "search": { "expression": " " } }), "400 validationError"),
            (json!({ "filter": {}, "search": { "expression": null } }), "400 validationError"),
            (json!({ "filter": {}, "search": "ada" }), "400 validationError"),
            (json!({ "filter": {}, "search": { "term": "ada" } }), "428 WDE0119"),
            (json!({ "filter": {}, "search": { "expression": "ada", "fields": ["profile.title"] } }), "428 WDE0119"),
            (json!({ "filter": { "nickname": {} } }), "400 validationError"),
            (json!({ "filter": { "$and": [null] } }), "400 validationError"),
            (json!({ "filter": { "nickname": "ada" }, "contentAssigneeId": "x" }), "428 WDE0119"),
            (json!({ "filter": { "nickname": { "$startsWith": " " } } }), "200"),
            (json!({ "filter": { "nickname": { "$startsWith": "a " } } }), "200"),
            (json!({ "filter": { "nickname": "bob" }, "search": { "expression": "ada" } }), "200"),
        ] {
            assert_eq!(delete(body.clone()).await, verdict, "{body}");
            assert_eq!(nicknames().await, ["ada", "alan", "bob", "eve"], "{body}");
        }
        let searched = json!({ "filter": {}, "search": { "expression": "a", "fields": ["profile.nickname"] } });
        assert_eq!(delete(searched).await, "200");
        assert_eq!(nicknames().await, ["bob", "eve"]);
        let both = json!({ "filter": { "loginEmail": { "$in": ["bob@example.org", "eve@example.org"] } }, "search": { "expression": "EVE" } });
        assert_eq!(delete(both).await, "200");
        assert_eq!(nicknames().await, ["bob"]);
        let blocked = json!({ "filter": {}, "search": { "expression": "zoe" } });
        post(&key, &format!("{MEMBERS}/bulk/block-by-filter"), blocked).await;
        let found = post(&key, &format!("{MEMBERS}/query"), json!({ "query": { "filter": { "status": "BLOCKED" } } })).await;
        assert_eq!(found["members"], json!([]));

        let zoe = app.member("zoe@example.org").await;
        assert_eq!(zoe.delete(&format!("{MEMBERS}/my?contentAssigneeId=x")).await.verdict(), "428 WDE0119");
        assert_eq!(zoe.get(&format!("{MEMBERS}/my")).await.verdict(), "200");
    }

    async fn assignments_are_found_by_whole_filters(engine) {
        let app = TestApp::new(engine).await;
        let ([a, b, c], [x, y, z]) = nine(&app).await;
        let query = async |filter: Value| {
            let found = post(&app.app(), &format!("{ASSIGNMENTS}/query"), json!({ "query": { "filter": filter } })).await;
            let pair = |it: &Value| (it["memberId"].as_str().unwrap().to_owned(), it["badgeId"].as_str().unwrap().to_owned());
            found["badgeAssignments"].as_array().unwrap().iter().map(pair).collect::<Vec<_>>()
        };
        let pair = |member: &String, badge: &String| (member.clone(), badge.clone());
        // Two `.eq()` of the public client, and what else its builders make.
        for (filter, found) in [
            (json!({ "$and": [{ "memberId": a }, { "badgeId": x }] }), vec![pair(&a, &x)]),
            (json!({ "$and": [{ "memberId": a }, { "memberId": b }] }), vec![]),
            (json!({ "$or": [{ "$and": [{ "memberId": a }, { "badgeId": z }] }, { "$and": [{ "memberId": { "$gt": b } }, { "badgeId": x }] }] }),
                vec![pair(&a, &z), pair(&c, &x)]),
            (json!({ "memberId": b, "$not": { "badgeId": { "$in": [x, y] } } }), vec![pair(&b, &z)]),
            (json!({ "memberId": { "$eq": b, "$ne": b } }), vec![]),
            (json!({ "memberId": { "$nin": [a, b] }, "badgeId": { "$startsWith": y } }), vec![pair(&c, &y)]),
            (json!({ "memberId": { "$in": [] } }), vec![]),
            (json!({ "memberId": { "$exists": false } }), vec![]),
            (json!({ "memberId": "n\0" }), vec![]),
            (json!({ "memberId": a, "badgeId": { "$exists": true, "$lte": x } }), vec![pair(&a, &x)]),
            (json!({ "createdDate": { "$lt": "2000-01-01T00:00:00.000Z" } }), vec![]),
        ] {
            assert_eq!(query(filter.clone()).await, found, "{filter}");
        }
        assert_eq!(query(json!({ "memberId": { "$exists": true } })).await.len(), 9);
        assert_eq!(query(json!({})).await.len(), 9);
    }

    async fn unknown_conditions_are_refused(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        let paths = [
            ("/badges/v4/assignments/query", "memberId"),
            ("/badges/v4/badges/query", "title"),
            ("/members/v1/member-reports/query", "reportedMemberId"),
            ("/members/v1/member-reports/members/query", "reportedMemberId"),
            ("/members/v1/custom-field-suggestions/query", "name"),
            ("/members/v1/user-members/query", "userId"),
            ("/members/v1/roles/members/query", "memberId"),
            ("/members/v2/abouts/query", "memberId"),
            ("/members/v1/members/query", "nickname"),
        ];
        for (path, field) in paths {
            for (filter, verdict) in [
                (json!({ "shoe": "x" }), "428 WDE0119"),
                (json!({ "$and": [{ field: "x" }, { "shoe": "x" }] }), "428 WDE0119"),
                (json!({ field: { "$near": "x" } }), "428 WDE0119"),
                (json!({ "$nor": [{ field: "x" }] }), "428 WDE0119"),
                (json!({ field: {} }), "400 validationError"),
                (json!({ field: 7 }), "400 validationError"),
                (json!({ "$or": [null] }), "400 validationError"),
                (json!("x"), "400 validationError"),
                (json!([]), "400 validationError"),
            ] {
                let body = json!({ "query": { "filter": filter } });
                assert_eq!(key.post(path, &body).await.verdict(), verdict, "{path} {filter}");
            }
        }
        // A change by filter needs one, and all of it.
        let tags = async |filter: Value| {
            let body = json!({ "filter": filter, "assignTags": { "tags": { "tagIds": ["t"] } } });
            key.post("/badges/v4/bulk/assignments/update-tags-by-filter", &body).await.verdict()
        };
        for (filter, verdict) in [
            (Value::Null, "400 validationError"), (json!([]), "400 validationError"), (json!({ "shoe": 1 }), "428 WDE0119"),
            (json!({ "memberId": { "$near": "x" } }), "428 WDE0119"), (json!({ "memberId": "x" }), "200"),
        ] {
            assert_eq!(tags(filter.clone()).await, verdict, "{filter}");
        }
    }

    async fn tags_change_where_the_filter_says(engine) {
        let app = TestApp::new(engine).await;
        let ([a, ..], [x, y, _]) = nine(&app).await;
        let tagged = async |filter: Value, tag: &str| {
            let body = json!({ "filter": filter, "assignTags": { "tags": { "tagIds": [tag] } } });
            post(&app.app(), "/badges/v4/bulk/assignments/update-tags-by-filter", body).await;
            let found = post(&app.app(), &format!("{ASSIGNMENTS}/query"), json!({ "query": {} })).await;
            let has = |it: &&Value| it["tags"]["tags"]["tagIds"].as_array().is_some_and(|it| it.contains(&json!(tag)));
            found["badgeAssignments"].as_array().unwrap().iter().filter(has).count()
        };
        assert_eq!(tagged(json!({ "$and": [{ "memberId": a }, { "badgeId": x }] }), "one").await, 1);
        assert_eq!(tagged(json!({ "memberId": { "$in": [] } }), "none").await, 0);
        assert_eq!(tagged(json!({ "$or": [{ "memberId": a }, { "badgeId": y }] }), "five").await, 5);
        assert_eq!(tagged(json!({}), "all").await, 9);
    }

    async fn cursors_keep_their_filter(engine) {
        let app = TestApp::new(engine).await;
        let ([a, b, _], badges) = nine(&app).await;
        let pages = async |path: &str, list: &str, name: &str, filter: Value| {
            let first = json!({ "filter": filter, "cursorPaging": { "limit": 2 } });
            let (mut found, mut query) = (Vec::new(), first);
            loop {
                let page = post(&app.app(), path, json!({ "query": query })).await;
                found.extend(all(&page[list], name));
                let paging = if page["pagingMetadata"].is_object() { &page["pagingMetadata"] } else { &page["metadata"] };
                let Some(next) = paging["cursors"]["next"].as_str() else { return found };
                // As the public client asks for the next page.
                query = json!({ "cursorPaging": { "limit": 2, "cursor": next } });
            }
        };
        let path = "/badges/v4/assignments/query";
        assert_eq!(pages(path, "badgeAssignments", "badgeId", json!({ "memberId": a })).await, badges);
        assert_eq!(pages(path, "badgeAssignments", "badgeId", json!({})).await.len(), 9);
        let many = json!({ "memberId": a, "badgeId": { "$nin": vec!["x".repeat(400); 50] } });
        let page = post(&app.app(), path, json!({ "query": { "filter": many, "cursorPaging": { "limit": 2 } } })).await;
        let cursor = json!({ "limit": 2, "cursor": page["pagingMetadata"]["cursors"]["next"] });
        let alone = app.app().post(path, &json!({ "query": { "cursorPaging": cursor } })).await;
        assert_eq!(alone.verdict(), "400 WDE0151", "a filter too large for its cursor is sent again");
        let page = post(&app.app(), path, json!({ "query": { "filter": many, "cursorPaging": cursor } })).await;
        assert_eq!(all(&page["badgeAssignments"], "badgeId"), badges[2..]);
        let broken = json!({ "query": { "cursorPaging": { "cursor": "~x" } } });
        assert_eq!(app.app().post(path, &broken).await.verdict(), "400 WDE0151");

        let titled = json!({ "$and": [{ "title": { "$gt": "a" } }, { "$not": { "title": "bob" } }, { "title": { "$lt": "f" } }] });
        for n in 0..3 {
            badge(&app, json!({ "title": format!("b{n}") })).await;
        }
        assert_eq!(pages("/badges/v4/badges/query", "badges", "title", titled).await, ["ada", "eve", "b0", "b1", "b2"]);
        let users = pages("/members/v1/user-members/query", "userMembers", "memberId", json!({ "$or": [{ "userId": a }, { "memberId": b }] })).await;
        assert_eq!(users, [a, b]);
    }

    async fn badges_are_found_by_whole_filters(engine) {
        let app = TestApp::new(engine).await;
        let (_, [x, ..]) = nine(&app).await;
        let query = async |filter: Value| {
            all(&post(&app.app(), "/badges/v4/badges/query", json!({ "query": { "filter": filter } })).await["badges"], "title")
        };
        let title = app.app().get(&format!("/badges/v4/badges/{x}")).await.json()["badge"]["title"].clone();
        assert_eq!(query(json!({ "$and": [{ "id": x }, { "title": title }] })).await, [title.as_str().unwrap()]);
        for (filter, found) in [
            (json!({ "$and": [{ "id": x }, { "title": "other" }] }), &[][..]),
            (json!({ "permissionsEnabled": true }), &["ada"][..]),
            (json!({ "permissionsEnabled": { "$ne": true } }), &["bob", "eve"][..]),
            (json!({ "description": { "$exists": true } }), &[][..]),
            (json!({ "description": null, "title": { "$startsWith": "e" } }), &["eve"][..]),
            (json!({ "title": { "$in": ["ada", "zoe"] } }), &["ada"][..]),
        ] {
            let found: &[&str] = found;
            assert_eq!(query(filter.clone()).await, found, "{filter}");
        }
        let older = app.app().get("/members/v3/badges?filter.title=bob").await.json();
        assert_eq!(all(&older["badges"], "title"), ["bob"]);
    }

    async fn members_are_named_by_whole_filters(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let (a, b) = (id_of(&ada).await, id_of(&bob).await);
        for who in [&ada, &bob] {
            post(who, "/members/v2/abouts", json!({ "memberAbout": { "content": { "nodes": [] } } })).await;
        }
        let abouts = async |filter: Value| {
            let found = post(&app.app(), "/members/v2/abouts/query", json!({ "query": { "filter": filter } })).await;
            all(&found["memberAbouts"], "memberId")
        };
        let none: [&str; 0] = [];
        assert_eq!(abouts(json!({ "$and": [{ "memberId": { "$in": [a, b] } }, { "memberId": { "$ne": b } }] })).await, [a.as_str()]);
        assert_eq!(abouts(json!({ "$and": [{ "memberId": a }, { "memberId": b }] })).await, none);
        assert_eq!(abouts(json!({ "memberId": { "$in": [] } })).await, none);
        let others = json!({ "query": { "filter": { "memberId": { "$ne": a } } } });
        assert_eq!(app.app().post("/members/v2/abouts/query", &others).await.verdict(), "428 WDE0119");
        let many = json!({ "query": { "filter": { "$or": [{ "memberId": { "$in": vec!["x"; 100] } }, { "memberId": a }] } } });
        assert_eq!(app.app().post("/members/v2/abouts/query", &many).await.verdict(), "400 validationError");

        post(&app.app(), "/members/v1/roles/definitions", json!({ "roleKey": "mod", "roleTitle": "Mod" })).await;
        let roles = async |body: Value| {
            let found = post(&app.app(), "/members/v1/roles/members/query", body).await;
            let mut ids: Vec<String> = found["rolesByMemberId"].as_object().unwrap().keys().cloned().collect();
            ids.sort();
            ids
        };
        let (mut both, filtered) = (vec![a.clone(), b.clone()], |filter: Value| json!({ "query": { "filter": filter } }));
        both.sort();
        assert_eq!(roles(filtered(json!({ "$or": [{ "memberId": a }, { "memberId": b }] }))).await, both);
        assert_eq!(roles(filtered(json!({ "memberIds": [a] }))).await, std::slice::from_ref(&a));
        assert_eq!(roles(json!({ "memberIds": [a, b], "query": { "filter": { "memberId": b } } })).await, [b]);
    }

    async fn reports_are_found_by_whole_filters(engine) {
        let app = TestApp::new(engine).await;
        let mut members = Vec::new();
        for name in ["ada", "bob", "eve"] {
            let who = app.member(&format!("{name}@example.org")).await;
            members.push((id_of(&who).await, who));
        }
        for (id, who) in &members {
            for (other, _) in members.iter().filter(|it| it.0 != *id) {
                post(who, "/members/v1/member-reports", json!({ "memberReport": { "reportedMemberId": other } })).await;
            }
        }
        let (a, b) = (&members[0].0, &members[1].0);
        let count = async |path: &str, list: &str, filter: Value| {
            post(&app.app(), path, json!({ "query": { "filter": filter } })).await[list].as_array().unwrap().len()
        };
        for (filter, found) in [
            (json!({ "$and": [{ "reportedMemberId": a }, { "reportingMemberId": b }] }), 1),
            (json!({ "$and": [{ "reportedMemberId": a }, { "reportedMemberId": b }] }), 0),
            (json!({ "reportedMemberId": { "$ne": a } }), 4),
            (json!({ "createdDate": { "$gt": "2999-01-01" } }), 0),
            (json!({}), 6),
        ] {
            assert_eq!(count("/members/v1/member-reports/query", "memberReports", filter.clone()).await, found, "{filter}");
        }
        let path = "/members/v1/member-reports/members/query";
        assert_eq!(count(path, "reportedMembers", json!({ "reportedMemberId": { "$in": [a, b] } })).await, 2);
        assert_eq!(count(path, "reportedMembers", json!({})).await, 3);
    }

    async fn suggestions_are_found_by_whole_filters(engine) {
        let app = TestApp::new(engine).await;
        let names = async |filter: Value| {
            let body = json!({ "query": { "filter": filter } });
            all(&post(&app.app(), "/members/v1/custom-field-suggestions/query", body).await["suggestions"], "name")
        };
        assert_eq!(names(json!({ "$and": [{ "fieldType": "SOCIAL" }, { "name": { "$startsWith": "T" } }] })).await, ["TikTok"]);
        assert_eq!(names(json!({ "fieldType": { "$in": ["DATE", "URL"] } })).await, ["Birthdate", "Website"]);
        assert_eq!(names(json!({ "$and": [{ "name": "Phone" }, { "name": "Company" }] })).await, Vec::<String>::new());
    }
}
