//! What members have beside their account, by URL: pages, filters and lists beyond the first thousand.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use stoa_identity::community::{Assignable, EntityFilter, Interaction, RelationFilter, Side, kind};
use stoa_kernel::{Caller, Code, MemberId, Role};
use stoa_sql::params;
use stoa_store::boxed;
use stoa_testkit::{TestApp, TestClient, on_both_engines};

/// More relations than any one page has.
const MANY: i64 = 1_100;

/// Writes relations in bulk; `holder` and `target` are made of the number `i`, from 1 to `count`.
pub(crate) async fn relation(app: &TestApp, kind: &'static str, (holder, target): (&str, &str), count: i64) {
    let sql = format!(
        "insert into stoa.member_tie (site, kind, holder, target, id, doc, created) \
         with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < $1) \
         select $2, $3, {holder}, {target}, {holder} || ' ' || {target}, '{{}}', i from n"
    );
    let write = app.site.write_with((app.site.id.clone(), sql), move |tx, (site, sql)| {
        boxed!(Ok(tx.execute(sql, &params![count, site, kind]).await?))
    });
    assert_eq!(write.await.unwrap(), count as u64);
}

/// A member who shows themselves.
async fn shown(who: &TestClient<'_>) -> String {
    let me = who.post("/members/v1/members/join-community", &json!({})).await.json();
    me["member"]["id"].as_str().unwrap().to_owned()
}

/// What a call answers that has to go well.
async fn post(who: &TestClient<'_>, path: &str, body: Value) -> Value {
    let reply = who.post(path, &body).await;
    assert_eq!(reply.verdict(), "200", "{path} {body}");
    reply.json()
}

async fn badge(app: &TestApp, title: &str) -> String {
    let made = post(&app.app(), "/badges/v4/badges", json!({ "badge": { "title": title } })).await;
    made["badge"]["id"].as_str().unwrap().to_owned()
}

async fn assign(app: &TestApp, badge: &str, member: &str) {
    let assignment = json!({ "badgeId": badge, "memberId": member });
    post(&app.app(), "/badges/v4/assignments", json!({ "badgeAssignment": assignment })).await;
}

/// The values of one member of every object in a list.
fn all(list: &Value, name: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|it| it[name].as_str().unwrap().to_owned()).collect()
}

/// A hundred members by direct writes, each with eleven roles or badges `r1`, `r2` …
async fn hundred(app: &TestApp, kind: &'static str) -> Vec<String> {
    relation(app, kind, ("'m' || (1000 + (i - 1) / 11)", "'r' || (1 + (i - 1) % 11)"), MANY).await;
    (1_000..1_100).map(|n| format!("m{n}")).collect()
}

on_both_engines! {
    async fn connections_among_more_than_a_thousand(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let (a, b) = (shown(&ada).await, shown(&bob).await);
        // Their ids come before those of members.
        relation(&app, "follow", ("'!' || i", &format!("'{a}'")), MANY).await;
        relation(&app, "follow", (&format!("'{a}'"), "'!' || i"), MANY).await;
        post(&bob, &format!("/members/v3/followers/{a}"), json!({})).await;
        post(&ada, &format!("/members/v3/followers/{b}"), json!({})).await;
        let asked = json!({ "connectedMemberIds": [b, "!7", "nobody", "n\0", a] });
        let connection = |id: &str, is: bool| json!({ "connectedMemberId": id, "followedByMember": is, "followingMember": is });
        let expected = json!([connection(&b, true), connection("!7", true), connection("nobody", false), connection("n\0", false), connection(&a, false)]);
        let mine = post(&ada, "/members/v3/followers/my/connections", asked.clone()).await;
        assert_eq!(mine["connectedMembers"], expected);
        let others = post(&bob, &format!("/members/v3/followers/{a}/connections"), asked).await;
        assert_eq!(others["connectedMembers"], expected);
    }

    async fn lists_show_public_members_only(engine) {
        let app = TestApp::new(engine).await;
        let people = ["carl", "ada", "private", "blocked"].map(|it| format!("{it}@example.org"));
        let [carl, ada, private, blocked] = [&people[0], &people[1], &people[2], &people[3]].map(|it| app.member(it));
        let (carl, ada, private, blocked) = (carl.await, ada.await, private.await, blocked.await);
        let mut ids = Vec::new();
        for who in [&carl, &ada, &private, &blocked] {
            ids.push(shown(who).await);
        }
        let badge = badge(&app, "Wise").await;
        for (n, id) in ids.iter().enumerate() {
            assign(&app, &badge, id).await;
            if n > 1 {
                let who = [&private, &blocked][n - 2];
                post(who, &format!("/members/v3/followers/{}", ids[0]), json!({})).await;
            }
        }
        let tags = json!({ "filter": {}, "assignTags": { "privateTags": { "tagIds": ["secret"] } } });
        post(&app.app(), "/badges/v4/bulk/assignments/update-tags-by-filter", tags).await;
        post(&app.app(), "/members/v1/roles/definitions", json!({ "roleKey": "mod", "roleTitle": "Mod" })).await;
        post(&app.app(), &format!("/members/v1/roles/members/{}", ids[0]), json!({ "roleKey": "mod" })).await;
        let hidden = post(&app.app(), "/members/v1/custom-fields", json!({ "field": { "name": "Secret", "hidden": true } })).await;
        let patch = json!({ "member": { "id": ids[2], "privacyStatus": "PRIVATE" } }).to_string();
        let path = format!("/members/v1/members/{}", ids[2]);
        assert_eq!(app.app().send(axum::http::Method::PATCH, &path, Some(patch.into())).await.verdict(), "200");
        post(&app.app(), &format!("/members/v1/members/{}/block", ids[3]), json!({})).await;

        // What another member sees, and what those see who run the site.
        for (who, expected) in [(&ada, 2), (&app.app(), 4)] {
            let members = who.get(&format!("/members/v3/badges/{badge}/members")).await.json();
            assert_eq!(members["memberIds"].as_array().unwrap().len(), expected);
            let counts = who.get("/members/v3/badges/members/count").await.json();
            assert_eq!(counts["badgeMemberCounts"][0]["memberCount"], expected);
            let assigned = post(who, "/badges/v4/assignments/query", json!({ "query": {} })).await;
            assert_eq!(assigned["badgeAssignments"].as_array().unwrap().len(), expected);
            assert_eq!(assigned.to_string().contains("secret"), expected == 4);
            let badges = post(who, "/members/v3/badges/members", json!({ "memberIds": ids })).await;
            let with = badges["memberBadgeIds"].as_array().unwrap().iter().filter(|it| it["badgeIds"] != json!([]));
            assert_eq!(with.count(), expected);
            let followers = who.get(&format!("/members/v3/followers/{}", ids[0])).await.json();
            assert_eq!(followers["memberIds"].as_array().unwrap().len(), expected - 2);
            let fields = who.get("/members/v1/custom-fields").await.json();
            assert_eq!(fields.to_string().contains("Secret"), expected == 4);
        }
        let field = format!("/members/v1/custom-fields/{}", hidden["field"]["id"].as_str().unwrap());
        assert_eq!(ada.get(&field).await.verdict(), "404 NOT_FOUND");
        // Roles are one's own; following doesn't tell who is there.
        let roles = format!("/members/v1/roles/members/{}", ids[0]);
        assert_eq!(ada.get(&roles).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(carl.get(&roles).await.json()["roles"][0]["roleKey"], "mod");
        let follow = |id: &str| format!("/members/v3/followers/{id}");
        for id in [&ids[2], &ids[3], &"nobody".to_owned()] {
            assert_eq!(ada.post(&follow(id), &json!({})).await.verdict(), "404 NOT_FOUND");
        }
        // Who blocks somebody isn't shown to them.
        post(&carl, "/members/v1/member-to-member-blocks/members/my", json!({ "memberId": ids[1] })).await;
        let members = ada.get(&format!("/members/v3/badges/{badge}/members")).await.json();
        assert_eq!(members["memberIds"], json!([ids[1]]));
        let about = json!({ "memberAbout": { "memberId": "ghost", "content": {} } });
        assert_eq!(app.app().post("/members/v2/abouts", &about).await.verdict(), "404 NOT_FOUND");
    }

    async fn roles_of_many_members(engine) {
        let app = TestApp::new(engine).await;
        for n in 1..=11 {
            let role = json!({ "roleKey": format!("r{n}"), "roleTitle": format!("Role {n}") });
            post(&app.app(), "/members/v1/roles/definitions", role).await;
        }
        let ids = hundred(&app, "role").await;
        let found = post(&app.app(), "/members/v1/roles/members/query", json!({ "memberIds": ids })).await;
        for id in &ids {
            let roles = found["rolesByMemberId"][id]["roles"].as_array().unwrap();
            assert_eq!(roles.len(), 11, "{id}");
            assert!(roles.contains(&json!({ "roleKey": "r9", "title": "Role 9" })), "{roles:?}");
        }
    }

    async fn fields_of_many_members(engine) {
        let app = TestApp::new(engine).await;
        let field = post(&app.app(), "/members/v1/custom-fields", json!({ "field": { "name": "F" } })).await;
        let applications = json!({ "items": [{ "applicationType": "ROLE", "entityId": "r9" }] });
        let application = json!({ "customFieldId": field["field"]["id"], "applications": applications });
        post(&app.app(), "/members/v1/custom-fields-applications", json!({ "application": application })).await;
        let ids = hundred(&app, "role").await;
        let path = "/members/v1/custom-fields-applications/members";
        let found = post(&app.app(), path, json!({ "memberIds": ids })).await;
        for (result, id) in found["results"].as_array().unwrap().iter().zip(&ids) {
            assert_eq!((&result["memberId"], &result["applications"][0]["applies"]), (&json!(id), &json!(true)));
        }
    }

    async fn badges_of_many_members(engine) {
        let app = TestApp::new(engine).await;
        let ids = hundred(&app, "badge").await;
        let found = post(&app.app(), "/members/v3/badges/members", json!({ "memberIds": ids })).await;
        for (member, id) in found["memberBadgeIds"].as_array().unwrap().iter().zip(&ids) {
            assert_eq!((&member["memberId"], member["badgeIds"].as_array().unwrap().len()), (&json!(id), 11));
        }
    }

    async fn filter_finds_badges_on_every_page(engine) {
        let app = TestApp::new(engine).await;
        let mut wanted = Vec::new();
        for n in 0..10 {
            let id = badge(&app, if n % 3 == 2 { "Star" } else { "Other" }).await;
            wanted.extend((n % 3 == 2).then_some(id));
        }
        let query = async |paging: Value| {
            let mut query = paging;
            query["filter"] = json!({ "title": "Star" });
            post(&app.app(), "/badges/v4/badges/query", json!({ "query": query })).await
        };
        let page = query(json!({ "paging": { "limit": 2, "offset": 1 } })).await;
        assert_eq!(all(&page["badges"], "id"), wanted[1..]);
        assert_eq!((&page["metadata"]["total"], &page["metadata"]["count"]), (&json!(3), &json!(2)));
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = query(json!({ "cursorPaging": { "limit": 2, "cursor": cursor } })).await;
            found.push(all(&page["badges"], "id"));
            let paging = &page["pagingMetadata"];
            assert_eq!(paging["hasNext"], paging["cursors"]["next"].is_string());
            let Some(next) = paging["cursors"]["next"].as_str() else { break };
            cursor = next.to_owned();
        }
        assert_eq!(found, [&wanted[..2], &wanted[2..]]);
        let some = json!({ "query": { "filter": { "id": { "$in": [wanted[0], wanted[2]] } } } });
        assert_eq!(post(&app.app(), "/badges/v4/badges/query", some).await["metadata"]["total"], 2);
    }

    async fn icons_of_badges_in_both_versions(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        let (older, newer) = ("/members/v3/badges", "/badges/v4/badges");
        let url = "https://x.example/i.svg";
        // As the public client sends an address and one of its own images.
        let image = json!({ "id": "a.svg", "height": 20, "width": 10, "altText": "A", "filename": "A", "url": url });
        for (path, sent, address, object) in [
            (older, json!(url), json!(url), json!({ "url": url })),
            (newer, json!({ "url": url }), json!(url), json!({ "url": url })),
            (newer, image.clone(), json!(url), image.clone()),
            (newer, json!({ "id": "b.svg", "height": 0, "width": null }), Value::Null, json!({ "id": "b.svg", "height": 0, "width": null })),
        ] {
            let made = post(&key, path, json!({ "badge": { "title": "B", "icon": sent } })).await["badge"].clone();
            assert_eq!(made["icon"], if path == older { address.clone() } else { object.clone() });
            let id = made["id"].as_str().unwrap();
            for (path, icon) in [(older, &address), (newer, &object)] {
                let found = key.get(&format!("{path}/{id}")).await.json();
                assert_eq!(found["badge"]["icon"], *icon, "{path} {sent}");
                assert_eq!(found["badge"].get("icon").is_some(), !icon.is_null());
            }
            let only = json!({ "query": { "filter": { "id": id } } });
            assert_eq!(post(&key, "/badges/v4/badges/query", only).await["badges"][0]["icon"], object);
            let listed = key.get(&format!("{older}?filter.id={id}")).await.json();
            assert_eq!(listed["badges"][0]["icon"], address);
            let body = json!({ "badge": { "icon": null } }).to_string();
            let gone = key.send(axum::http::Method::PATCH, &format!("{path}/{id}"), Some(body.into())).await.json();
            assert!(gone["badge"].get("icon").is_none(), "{gone}");
        }
        for (icon, field) in [
            (json!(7), "badge.icon"), (json!([]), "badge.icon"), (json!("x".repeat(2_049)), "badge.icon"),
            (json!({ "url": 7 }), "badge.icon.url"), (json!({ "height": "x" }), "badge.icon.height"), (json!({ "width": -1 }), "badge.icon.width"),
            (json!({ "id": "x".repeat(1_001) }), "badge.icon.id"), (json!({ "more": "a\0" }), "badge.icon.more"),
        ] {
            let reply = key.post(newer, &json!({ "badge": { "title": "B", "icon": icon } })).await;
            assert_eq!(all(&reply.json()["details"]["validationError"]["fieldViolations"], "field"), [field]);
        }
    }

    async fn assignments_by_member_and_badge(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let (a, b) = (shown(&ada).await, shown(&bob).await);
        let mut badges = Vec::new();
        for n in 0..5 {
            badges.push(badge(&app, &format!("B{n}")).await);
            assign(&app, &badges[n], &a).await;
            assign(&app, &badges[n], &b).await;
        }
        badges.sort();
        let query = async |filter: Value, limit: u32| {
            let query = json!({ "filter": filter, "cursorPaging": { "limit": limit } });
            post(&app.app(), "/badges/v4/assignments/query", json!({ "query": query })).await
        };
        let last = query(json!({ "memberId": a, "badgeId": badges[4] }), 1).await;
        assert_eq!(all(&last["badgeAssignments"], "badgeId"), badges[4..]);
        assert_eq!((&last["badgeAssignments"][0]["memberId"], &last["pagingMetadata"]["hasNext"]), (&json!(a), &json!(false)));
        let two = query(json!({ "memberId": { "$in": [a, b] }, "badgeId": { "$in": [badges[1], badges[3]] } }), 3).await;
        assert_eq!((two["badgeAssignments"].as_array().unwrap().len(), &two["pagingMetadata"]["hasNext"]), (3, &json!(true)));
    }

    async fn tags_that_can_not_be_kept_are_refused(engine) {
        let app = TestApp::new(engine).await;
        let (badge, ada) = (badge(&app, "One").await, shown(&app.member("ada@example.org").await).await);
        let long = json!({ "tags": { "tagIds": vec!["x".repeat(2_000); 5] } });
        let many: Vec<String> = (0..101).map(|it| it.to_string()).collect();
        let at = "badgeAssignment.tags";
        for (tags, fields) in [
            (json!("x"), vec![at.to_owned()]),
            (json!(["x"]), vec![at.to_owned()]),
            (long.clone(), vec![at.to_owned()]),
            (json!({ "tags": "x" }), vec![format!("{at}.tags")]),
            (json!({ "tags": { "tagIds": [1] }, "privateTags": { "tagIds": 2 } }), vec![format!("{at}.privateTags.tagIds"), format!("{at}.tags.tagIds[0]")]),
            (json!({ "tags": { "tagIds": many } }), vec![format!("{at}.tags.tagIds")]),
        ] {
            let assignment = json!({ "badgeId": badge, "memberId": ada, "tags": tags });
            let reply = app.app().post("/badges/v4/assignments", &json!({ "badgeAssignment": assignment })).await;
            assert_eq!(reply.verdict(), "400 validationError", "{tags}");
            let mut told = all(&reply.json()["details"]["validationError"]["fieldViolations"], "field");
            told.sort();
            assert_eq!(told, fields);
            let each = json!({ "badgeAssignments": [assignment] });
            let done = post(&app.app(), "/badges/v4/bulk/assignments/create", each).await;
            let item = &done["results"][0]["itemMetadata"];
            assert_eq!((&item["success"], &item["error"]["code"]), (&json!(false), &json!("INVALID_ARGUMENT")), "{tags}");
            assert_eq!(item["error"]["data"]["fieldViolations"].as_array().map(Vec::len), Some(fields.len()));
        }
        for (change, tags) in [("assignTags", json!("x")), ("unassignTags", long), ("assignTags", json!({ "tags": { "tagIds": ["a", 1] } }))] {
            let by_id = json!({ "ids": ["x"], change: tags });
            assert_eq!(app.app().post("/badges/v4/bulk/assignments/bulk-update-tags", &by_id).await.verdict(), "400 validationError");
            let by_filter = json!({ "filter": {}, change: tags });
            let path = "/badges/v4/bulk/assignments/update-tags-by-filter";
            assert_eq!(app.app().post(path, &by_filter).await.verdict(), "400 validationError");
        }
        let kept = json!({ "tags": { "tagIds": ["a", "b"] }, "privateTags": { "tagIds": ["c"] } });
        let assignment = json!({ "badgeId": badge, "memberId": ada, "tags": kept });
        let made = post(&app.app(), "/badges/v4/assignments", json!({ "badgeAssignment": assignment })).await;
        assert_eq!(made["badgeAssignment"]["tags"], kept);
    }

    async fn tags_of_more_than_a_thousand_assignments(engine) {
        let app = TestApp::new(engine).await;
        let (one, other) = (badge(&app, "One").await, badge(&app, "Other").await);
        relation(&app, "badge", ("'!' || i", &format!("'{one}'")), MANY).await;
        relation(&app, "badge", ("'!' || i", &format!("'{other}'")), 7).await;
        let tagged = async |tag: &str| {
            let (site, tag) = (app.site.id.clone(), format!("%\"{tag}\"%"));
            let sql = "select count(*) from stoa.member_tie where site = $1 and kind = 'badge' and doc like $2";
            let read = app.site.read(stoa_store::ReaderPool::Scan, move |tx| {
                boxed!(Ok(tx.row(sql, &params![&site, tag], |row| row.get::<i64>(0)).await?.unwrap_or(0)))
            });
            read.await.unwrap()
        };
        let tags_update = async |filter: Value, tag: &str| {
            let body = json!({ "filter": filter, "assignTags": { "tags": { "tagIds": [tag] } } });
            post(&app.app(), "/badges/v4/bulk/assignments/update-tags-by-filter", body).await;
            tagged(tag).await
        };
        assert_eq!(tags_update(json!({ "badgeId": one }), "one").await, MANY);
        assert_eq!(tags_update(json!({}), "all").await, MANY + 7);
        assert_eq!(tags_update(json!({ "memberId": { "$in": ["!3", "!9"] } }), "some").await, 3);
        assert_eq!(tags_update(json!({ "memberId": { "$in": ["!3", "!9"] }, "badgeId": one }), "few").await, 2);
        let body = json!({ "filter": { "badgeId": one }, "unassignTags": { "tags": { "tagIds": ["all"] } } });
        post(&app.app(), "/badges/v4/bulk/assignments/update-tags-by-filter", body).await;
        assert_eq!((tagged("all").await, tagged("one").await), (7, MANY));
    }

    async fn blocks_of_both_directions_stand_on_one_page_each(engine) {
        let app = TestApp::new(engine).await;
        let ada = app.member("ada@example.org").await;
        let a = shown(&ada).await;
        let me = format!("'{a}'");
        // Ids on both sides of the member's own.
        for (text, count) in [("'!' || i", 4), ("'~' || i", 3)] {
            relation(&app, "block", (&me, text), count).await;
            relation(&app, "block", (text, &me), count).await;
        }
        let pages = async |who: &TestClient<'_>, limit: u32| {
            let (mut found, mut cursor, mut sizes) = (Vec::new(), String::new(), Vec::new());
            loop {
                let path = format!("/members/v1/member-to-member-blocks/members/{a}?cursorPaging.limit={limit}&cursorPaging.cursor={cursor}");
                let page = who.get(&path).await.json();
                let blocks = page["memberBlocks"].as_array().unwrap();
                assert_eq!(page["pagingMetadata"]["count"], blocks.len());
                sizes.push(blocks.len());
                found.extend(blocks.iter().map(|it| format!("{} {}", it["blockDirection"], it["memberId"])));
                let Some(next) = page["pagingMetadata"]["cursors"]["next"].as_str() else { return (found, sizes) };
                assert_eq!(page["pagingMetadata"]["hasNext"], true);
                cursor = next.to_owned();
            }
        };
        for (limit, wanted_sizes) in [(100, vec![14]), (7, vec![7, 7]), (14, vec![14]), (5, vec![5, 5, 4])] {
            let (found, sizes) = pages(&app.app(), limit).await;
            assert_eq!(sizes, wanted_sizes, "{limit}");
            let distinct: BTreeSet<&String> = found.iter().collect();
            assert_eq!((found.len(), distinct.len()), (14, 14), "{limit}");
            assert!(found[..7].iter().all(|it| it.starts_with("\"BLOCKING\"")), "{found:?}");
        }
        let (found, sizes) = pages(&ada, 4).await;
        assert_eq!(sizes, [4, 3]);
        assert!(found.iter().all(|it| it.starts_with("\"BLOCKING\"")), "who blocks her is not hers to see");
    }

    async fn badges_moved_at_once_are_all_moved(engine) {
        let app = TestApp::new(engine).await;
        let mut badges = Vec::new();
        for n in 0..20 {
            badges.push(badge(&app, &format!("B{n}")).await);
        }
        for round in 0..3 {
            let moved = &badges[round * 6..round * 6 + 6];
            let first = |id: &String| {
                let (path, key) = (format!("/badges/v4/badges/{id}/move"), app.app());
                async move { key.post(&path, &json!({ "position": "FIRST" })).await.verdict() }
            };
            let [a, b, c, d, e, f] = moved else { panic!() };
            let done = tokio::join!(first(a), first(b), first(c), first(d), first(e), first(f));
            let ok = || "200".to_owned();
            assert_eq!(done, (ok(), ok(), ok(), ok(), ok(), ok()));
            let list = app.app().get("/members/v3/badges?paging.limit=100").await.json();
            let order = all(&list["badges"], "id");
            let (front, wanted) = (order[..6].iter().collect::<BTreeSet<_>>(), moved.iter().collect::<BTreeSet<_>>());
            assert_eq!((order.len(), front), (20, wanted), "round {round}");
        }
    }

    async fn badges_are_moved_to_their_place(engine) {
        let app = TestApp::new(engine).await;
        let (a, b, c) = (badge(&app, "A").await, badge(&app, "B").await, badge(&app, "C").await);
        for (id, place, verdict, order) in [
            (&c, json!({ "position": "FIRST" }), "200", [&c, &a, &b]),
            (&c, json!({ "position": "AFTER", "moveAfterBadgeId": a }), "200", [&a, &c, &b]),
            (&a, json!({}), "200", [&c, &b, &a]),
            (&c, json!({ "position": "LAST" }), "200", [&b, &a, &c]),
            (&c, json!({ "position": "AFTER", "moveAfterBadgeId": c }), "404 NOT_FOUND", [&b, &a, &c]),
            (&c, json!({ "position": "AFTER" }), "404 NOT_FOUND", [&b, &a, &c]),
            (&"none".to_owned(), json!({ "position": "FIRST" }), "404 NOT_FOUND", [&b, &a, &c]),
        ] {
            assert_eq!(app.app().post(&format!("/badges/v4/badges/{id}/move"), &place).await.verdict(), verdict, "{place}");
            assert_eq!(all(&app.app().get("/members/v3/badges").await.json()["badges"], "id").iter().collect::<Vec<_>>(), order, "{place}");
        }
        let reply = app.app().post(&format!("/badges/v4/badges/{a}/move"), &json!({ "position": "UP" })).await;
        assert_eq!(reply.status, 400);
    }

    async fn operations_know_their_caller(engine) {
        let app = TestApp::new(engine).await;
        let (identity, site) = (&app.app.identity, &app.site);
        let ada = MemberId::from(shown(&app.member("ada@example.org").await).await);
        let member = Caller::Member { id: ada.clone(), session: "s".into(), client: None };
        let visitor = Caller::Visitor { id: "v".into(), client: None };
        let editor = Caller::User { id: "u".into(), role: Role::Editor, session: "s".into() };
        let (all, page) = (RelationFilter::default(), (10, ""));
        for (caller, expected) in [
            (&visitor, "badges definitions"),
            (&member, "badge-holders badges blocks definitions"),
            (&editor, "applications badge-holders badges blocked blocks definitions fields reports role-holders suggestions"),
        ] {
            let id = Some(ada.as_str());
            let asked = [
                ("definitions", identity.definition_list(site, caller, &kind::ROLE, &EntityFilter::default()).await.err()),
                ("badges", identity.definition_list(site, caller, &kind::BADGE, &EntityFilter::default()).await.err()),
                ("applications", identity.definition_list(site, caller, &kind::APPLICATION, &EntityFilter::default()).await.err()),
                ("role-holders", identity.assignment_list(site, caller, Assignable::Role, &all, page).await.err()),
                ("badge-holders", identity.assignment_list(site, caller, Assignable::Badge, &all, page).await.err()),
                ("blocks", identity.interaction_list(site, caller, (Interaction::Block, Side::Of), id, page).await.err()),
                ("blocked", identity.interaction_list(site, caller, (Interaction::Block, Side::To), id, page).await.err()),
                ("reports", identity.report_list(site, caller, &all, page).await.err()),
                ("fields", identity.fields_of_roles(site, caller, Vec::new()).await.err()),
                ("suggestions", identity.field_suggestions(site, caller, &EntityFilter::default()).await.err()),
            ];
            assert!(asked.iter().filter_map(|it| it.1.as_ref()).all(|it| it.code() == Code::Forbidden), "{caller:?}");
            let mut answered: Vec<&str> = asked.iter().filter(|it| it.1.is_none()).map(|it| it.0).collect();
            answered.sort_unstable();
            assert_eq!(answered.join(" "), expected, "{caller:?}");
        }
        // A member's text is not to be had as an entity like others.
        let found = identity.definition_get(site, &member, &kind::ABOUT, ada.as_str()).await;
        assert_eq!(found.err().map(|it| it.code()), Some(Code::Forbidden));
    }

    async fn privacy_settings_change_from_the_current_revision(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        let settings = "/members/v1/privacy-settings";
        let set = async |sent: Value| key.post(settings, &json!({ "memberPrivacySettings": sent })).await;
        let default = async |sent: Value| {
            let body = json!({ "defaultPrivacy": sent }).to_string();
            key.send(axum::http::Method::PATCH, "/members/v1/default-privacy-status", Some(body.into())).await
        };
        let now = async || {
            let now = key.get(settings).await.json()["memberPrivacySettings"].clone();
            (now["revision"].as_str().unwrap().to_owned(), now["publicMemberCandidates"].as_str().unwrap().to_owned())
        };
        let stale = |reply: &stoa_testkit::Reply, current: &str| {
            assert_eq!(reply.verdict(), "409 INVALID_REVISION");
            assert_eq!(reply.json()["details"]["applicationError"]["data"]["revision"], current);
        };
        stale(&set(json!({ "publicMemberCandidates": "NO_ONE", "revision": "1" })).await, "0");
        assert_eq!(now().await, ("0".to_owned(), "ANYONE".to_owned()));
        assert_eq!(set(json!({ "publicMemberCandidates": "NO_ONE", "revision": "0" })).await.verdict(), "200");
        stale(&set(json!({ "publicMemberCandidates": "ANYONE", "revision": "0" })).await, "1");
        stale(&default(json!({ "defaultPrivacy": "PUBLIC", "revision": 0 })).await, "1");
        assert_eq!(now().await, ("1".to_owned(), "NO_ONE".to_owned()));
        assert_eq!(default(json!({ "defaultPrivacy": "PUBLIC", "revision": "1" })).await.json()["defaultPrivacy"]["revision"], "2");
        // Without one it changes what is there.
        assert_eq!(set(json!({ "publicMemberCandidates": "ANYONE" })).await.json()["memberPrivacySettings"]["revision"], "3");
        let wrong = set(json!({ "publicMemberCandidates": "ALL", "revision": "x" })).await;
        assert_eq!(all(&wrong.json()["details"]["validationError"]["fieldViolations"], "field").len(), 2);
    }

    async fn applications_come_and_go_with_their_field(engine) {
        let app = TestApp::new(engine).await;
        let field = post(&app.app(), "/members/v1/custom-fields", json!({ "field": { "name": "Shoe size" } })).await;
        let id = field["field"]["id"].as_str().unwrap();
        for (name, value) in [("key", "custom.shoe-size"), ("fieldType", "TEXT"), ("section", "GENERAL"), ("fieldOrigin", "CUSTOM")] {
            assert_eq!(field["field"][name], value);
        }
        let path = "/members/v1/custom-fields-applications";
        let made = post(&app.app(), path, json!({ "application": { "customFieldId": id } })).await;
        assert_eq!(made["application"]["customFieldKey"], "custom.shoe-size");
        assert_eq!(app.app().post(path, &json!({ "application": { "customFieldId": id } })).await.status, 409);
        assert_eq!(app.app().delete(&format!("/members/v1/custom-fields/{id}")).await.verdict(), "200");
        assert_eq!(app.app().get(&format!("{path}/{id}")).await.verdict(), "404 NOT_FOUND");
        let none = json!({ "application": { "customFieldId": id } });
        assert_eq!(app.app().post(path, &none).await.verdict(), "404 NOT_FOUND");
    }

    async fn abouts_of_public_members(engine) {
        let app = TestApp::new(engine).await;
        let mut ids = Vec::new();
        let mut members = Vec::new();
        for name in ["ada", "bob", "eve", "zoe"] {
            let member = app.member(&format!("{name}@example.org")).await;
            ids.push(shown(&member).await);
            post(&member, "/members/v2/abouts", json!({ "memberAbout": { "content": { "nodes": [] } } })).await;
            members.push(member);
        }
        let [ada, bob, eve, zoe] = &members[..] else { panic!() };
        post(bob, "/members/v1/members/leave-community", json!({})).await;
        post(eve, "/members/v1/member-to-member-blocks/members/my", json!({ "memberId": ids[0] })).await;
        let query = async |who: &TestClient<'_>| {
            let wanted = json!([ids[3], ids[2], "none", ids[1], "n\0", ids[0], ids[3]]);
            let found = post(who, "/members/v2/abouts/query", json!({ "query": { "filter": { "memberId": { "$in": wanted } } } })).await;
            all(&found["memberAbouts"], "memberId")
        };
        let of = |indexes: &[usize]| indexes.iter().map(|it| ids[*it].clone()).collect::<Vec<_>>();
        assert_eq!(query(ada).await, of(&[3, 0, 3]), "neither who is hidden nor who has blocked her");
        assert_eq!(query(bob).await, of(&[3, 2, 1, 0, 3]), "one's own, hidden or not");
        assert_eq!(query(zoe).await, of(&[3, 2, 0, 3]));
        assert_eq!(query(&app.app()).await, of(&[3, 2, 1, 0, 3]));
        let visitor = app.visitor().await;
        assert_eq!(query(&visitor).await, of(&[]), "visitors where only members see each other");
        let open = json!({ "memberPrivacySettings": { "publicMemberVisibility": "VISIBLE_TO_ALL" } });
        post(&app.app(), "/members/v1/privacy-settings", open).await;
        assert_eq!(query(&visitor).await, of(&[3, 2, 0, 3]));
        let own = post(ada, "/members/v2/abouts/query", json!({})).await;
        assert_eq!(all(&own["memberAbouts"], "memberId"), of(&[0]));
    }
}
