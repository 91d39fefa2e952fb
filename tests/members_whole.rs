//! Members read, written back, moved in and searched for: what was there stays, what is wrong is named.

use crate::members_api::{MEMBERS, arrive, id_of, ids, patch};
use axum::http::Method;
use serde_json::{Value, json};
use stoa_identity::manage::ImportedMember;
use stoa_kernel::Email;
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

const OLD: &str = "/wix-sm/api/v1/auth/api/v1";
const PASSWORD: &str = "correct horse battery";

fn rich() -> Value {
    json!({
        "firstName": "Ada", "lastName": "L", "company": "c", "position": "p", "birthdate": "1815-12-10",
        "picture": "https://x.example/a.png",
        "secondaryEmails": [{ "email": "x@y.co", "tag": "WORK" }],
        "phonesV2": [{ "countryCode": "DE", "phone": "1", "tag": "MOBILE" }, { "phone": "2", "tag": "FAX" }],
        "addresses": [
            { "address": { "city": "Berlin", "country": "DE", "hint": "h", "formattedAddress": "f", "addressLine2": null,
                "geocode": { "latitude": 1.5, "longitude": 2.5 }, "streetAddress": { "name": "n", "apt": null } }, "tag": "BILLING" },
            { "address": { "city": "Paris", "hint": "second" }, "tag": "HOME" },
        ],
        "customFields": [
            { "name": "a", "value": { "dateValue": "2024-01-02T03:04:05.006Z" } },
            { "name": "b", "value": { "dateValue": 1_704_164_645_006_i64 } },
            { "name": "c", "value": { "numValue": "NaN" } },
            { "name": "d", "value": { "listValue": { "value": [{ "dateValue": "2024-02-29" }, { "strValue": "2024-02-29" }] } } },
            { "name": "e", "value": { "mapValue": { "value": { "k": { "dateValue": "2024-02-29" }, "l": { "numValue": "Infinity" } } } } },
        ],
    })
}

async fn violations(reply: Reply) -> Vec<String> {
    assert_eq!(reply.verdict(), "400 validationError", "{:?}", reply.body);
    let violations_found = reply.json()["details"]["validationError"]["fieldViolations"].clone();
    violations_found.as_array().unwrap().iter().filter_map(|it| it["field"].as_str().map(str::to_owned)).collect()
}

async fn set_privacy(app: &TestApp, settings: Value) {
    let reply = app.app().post("/members/v1/privacy-settings", &json!({ "memberPrivacySettings": settings })).await;
    assert_eq!(reply.verdict(), "200");
}

async fn privacy(who: &TestClient<'_>, id: &Value) -> String {
    let shown = who.get(&format!("{MEMBERS}/{}", id.as_str().unwrap_or_default())).await.json();
    shown["member"]["privacyStatus"].as_str().unwrap_or_default().to_owned()
}

on_both_engines! {
    async fn member_written_back_as_read_is_unchanged(engine) {
        let app = TestApp::new(engine).await;
        let ada = app.member("ada@example.org").await;
        let (key, id) = (app.app(), id_of(&ada).await);
        let body = json!({ "loginId": { "email": "ada@example.org" }, "profile": rich() });
        assert_eq!(key.post("/v2/sign-on", &body).await.verdict(), "200");
        let kept = async || {
            let member = app.app.identity.member_get(&app.site, &id.as_str().into()).await.unwrap().unwrap();
            (member.profile.to_json(), Value::Object(member.card.clone()), member.is_public)
        };
        let was = kept().await;
        let read = key.get(&format!("{MEMBERS}/{id}?fieldsets=FULL")).await.json()["member"].clone();
        assert_eq!(patch(&key, &format!("{MEMBERS}/{id}"), &json!({ "member": read })).await.verdict(), "200");
        assert_eq!(kept().await, was);
        // One value of a list becomes another: what belongs to the others stays with them.
        let mut member = read.clone();
        member["contact"]["phones"] = json!(["1", "3"]);
        member["contact"]["emails"] = json!(["ada@example.org", "x@y.co", "z@y.co"]);
        member["contact"]["addresses"][0]["city"] = json!("Bonn");
        member["contact"]["customFields"]["d"]["value"] = json!(["2024-03-01", "x"]);
        member["contact"]["customFields"]["c"]["value"] = json!(7);
        assert_eq!(patch(&key, &format!("{MEMBERS}/{id}"), &json!({ "member": member })).await.verdict(), "200");
        let now = kept().await.0;
        assert_eq!(now["phonesV2"], json!([{ "countryCode": "DE", "phone": "1", "tag": "MOBILE" }]));
        assert_eq!(now["secondaryEmails"], was.0["secondaryEmails"]);
        let addresses = now["addresses"].as_array().unwrap();
        assert!(addresses.iter().all(|it| it["id"].is_string()), "{now}");
        assert_eq!((&addresses[1]["tag"], &addresses[1]["address"]), (&json!("HOME"), &was.0["addresses"][1]["address"]));
        assert_eq!(addresses[0]["address"]["city"], "Bonn");
        assert!(addresses[0]["address"]["geocode"].is_null(), "of the old place");
        assert_eq!(now["customFields"][3]["value"], json!({ "listValue": { "value": [{ "dateValue": "2024-03-01" }, { "strValue": "x" }] } }));
        assert_eq!(now["customFields"][2]["value"], json!({ "numValue": 7 }));
        let shown = key.get(&format!("{MEMBERS}/{id}?fieldsets=FULL")).await.json()["member"]["contact"].clone();
        assert_eq!((&shown["phones"], &shown["emails"]), (&json!(["1", "3"]), &member["contact"]["emails"]));
        // By its id an address is the same wherever it goes.
        let mut turned = shown.clone();
        turned["addresses"].as_array_mut().unwrap().reverse();
        turned["addresses"][1]["city"] = json!("Köln");
        assert_eq!(patch(&key, &format!("{MEMBERS}/{id}"), &json!({ "member": { "contact": turned } })).await.verdict(), "200");
        let now = kept().await.0;
        assert_eq!(now["addresses"][1]["id"], addresses[0]["id"]);
        assert_eq!((&now["addresses"][1]["tag"], &now["addresses"][1]["address"]["hint"]), (&json!("BILLING"), &json!("h")));
        // Custom fields are changed one by one.
        let one = json!({ "member": { "contact": { "customFields": { "a": null, "b": { "name": "b", "value": "x" }, "n": 1 } } } });
        assert_eq!(patch(&key, &format!("{MEMBERS}/{id}"), &one).await.verdict(), "200");
        let now = kept().await.0;
        let names: Vec<&Value> = now["customFields"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["b", "c", "d", "e", "n"]);
        assert_eq!(now["customFields"][0]["value"], json!({ "strValue": "x" }));
    }

    async fn violations_have_the_paths_of_the_request(engine) {
        let app = TestApp::new(engine).await;
        let ada = app.member("ada@example.org").await;
        let path = format!("{MEMBERS}/{}", id_of(&ada).await);
        let long = "x".repeat(2_000);
        for (member, field) in [
            (json!({ "contact": { "birthdate": "x" } }), "member.contact.birthdate"),
            (json!({ "contact": { "jobTitle": 1 } }), "member.contact.jobTitle"),
            (json!({ "contact": { "firstName": 1 } }), "member.contact.firstName"),
            (json!({ "contact": { "phones": [1] } }), "member.contact.phones[0]"),
            (json!({ "contact": { "addresses": [{ "city": 1 }] } }), "member.contact.addresses[0].city"),
            (json!({ "contact": { "addresses": 1 } }), "member.contact.addresses"),
            (json!({ "contact": { "customFields": { "a": { "value": "x".repeat(20_000) } } } }), "member.contact.customFields.a"),
            (json!({ "contact": { "customFields": { "a\0": 1 } } }), "member.contact.customFields.a\0"),
            (json!({ "contact": { "customFields": { "a": { "value": { "k\0": 1 } } } } }), "member.contact.customFields.a"),
            (json!({ "profile": { "photo": { "url": 1 } } }), "member.profile.photo.url"),
            (json!({ "profile": { "photo": { "url": "javascript:alert(1)" } } }), "member.profile.photo.url"),
            (json!({ "profile": { "photo": { "url": "java\nscript:alert(1)" } } }), "member.profile.photo.url"),
            (json!({ "profile": { "cover": { "url": "data:text/html,x" } } }), "member.profile.cover.url"),
            (json!({ "profile": { "cover": { "url": 1 } } }), "member.profile.cover.url"),
            (json!({ "profile": { "photo": { "id": "\0" } } }), "member.profile.photo"),
            (json!({ "profile": { "title": "\0" } }), "member.profile.title"),
            (json!({ "profile": { "nickname": long } }), "member.profile.nickname"),
            (json!({ "profile": { "slug": ".." } }), "member.profile.slug"),
            (json!({ "profile": { "slug": "." } }), "member.profile.slug"),
            (json!({ "privacyStatus": 5 }), "member.privacyStatus"),
            (json!({ "profile": 1 }), "member.profile"),
        ] {
            assert_eq!(violations(patch(&ada, &path, &json!({ "member": member })).await).await, [field]);
        }
        assert_eq!(violations(ada.post(&format!("{MEMBERS}/my/slug"), &json!({ "slug": ".." })).await).await, ["slug"]);
        let body = json!({ "email": "x", "password": PASSWORD, "contactInfo": { "firstName": 1, "customFields": [{ "name": "a", "strValue": 1 }] }, "profilePrivacyStatus": "PUBLIC" });
        let violations_found = violations(app.visitor().await.post(&format!("{OLD}/auth/register"), &body).await).await;
        assert_eq!(violations_found, ["email", "contactInfo.firstName", "contactInfo.customFields[0].strValue"]);
    }

    async fn profile_does_not_grow_by_many_changes(engine) {
        let app = TestApp::new(engine).await;
        let ada = app.member("ada@example.org").await;
        let path = format!("{MEMBERS}/{}", id_of(&ada).await);
        let fields = |part: usize| {
            let fields: serde_json::Map<_, _> = (0..4).map(|n| (format!("f{part}-{n}"), json!("x".repeat(9_000)))).collect();
            json!({ "member": { "contact": { "customFields": fields } } })
        };
        assert_eq!(patch(&ada, &path, &fields(0)).await.verdict(), "200");
        assert_eq!(violations(patch(&ada, &path, &fields(1)).await).await, ["member"]);
        let many = |from: usize| {
            let fields: serde_json::Map<_, _> = (from..from + 60).map(|n| (format!("m{n}"), json!(1))).collect();
            json!({ "member": { "contact": { "customFields": fields } } })
        };
        assert_eq!(patch(&ada, &path, &many(0)).await.verdict(), "200");
        assert_eq!(violations(patch(&ada, &path, &many(60)).await).await, ["member"]);
        let labels = |name: &str| json!({ "loginId": { "email": "big@example.org" }, "profile": { name: vec!["x".repeat(900); 50] } });
        assert_eq!(app.app().post("/v2/sign-on", &labels("labels")).await.verdict(), "200");
        assert_eq!(violations(app.app().post("/v2/sign-on", &labels("emails")).await).await, ["profile"]);
    }

    async fn searches_fieldsets_and_orders_are_read(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        let quiet = json!({ "loginEmail": "q@example.org", "contact": { "firstName": "Dora", "lastName": "Quiet" } });
        assert_eq!(key.post(MEMBERS, &json!({ "member": quiet })).await.verdict(), "200");
        let loud = json!({ "loginEmail": "dora@example.org", "profile": { "nickname": "Zoe" } });
        assert_eq!(key.post(MEMBERS, &json!({ "member": loud })).await.verdict(), "200");
        let query = async |body: Value| key.post(&format!("{MEMBERS}/query"), &body).await;
        let names = async |body: Value| {
            let found = query(body).await.json();
            let members = found["members"].as_array().cloned().unwrap_or_default();
            members.iter().map(|it| it["profile"]["nickname"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        for filter in [json!({ "profile.nickname": "Dora Quiet" }), json!({ "profile.nickname": { "$startsWith": "dora" } })] {
            assert_eq!(names(json!({ "query": { "filter": filter } })).await, ["Dora Quiet"], "{filter}");
        }
        let search = |fields: Value| json!({ "query": { "sort": [{ "fieldName": "nickname" }] }, "search": { "expression": "Dora", "fields": fields } });
        assert_eq!(names(search(json!([]))).await, ["Dora Quiet", "Zoe"]);
        assert_eq!(names(search(json!(["loginEmail"]))).await, ["Zoe"]);
        assert_eq!(names(search(json!(["profile.nickname"]))).await, ["Dora Quiet"]);
        for (search, field) in [
            (json!({ "expression": "x".repeat(101) }), "search.expression"),
            (json!({ "expression": 1 }), "search.expression"),
            (json!({ "expression": "x", "fields": ["loginEmail", "id", "slug", "nickname", "id"] }), "search.fields"),
        ] {
            assert_eq!(violations(query(json!({ "search": search })).await).await, [field]);
        }
        assert_eq!(query(json!({ "search": { "expression": "x", "fields": ["createdDate"] } })).await.verdict(), "428 WDE0119");
        for (fieldsets, is_good) in [
            (json!(["BOGUS"]), false), (json!(["FULL", "PUBLIC", "EXTENDED"]), true), (json!([1]), false),
            (json!(["FULL", "FULL", "FULL", "FULL"]), false), (json!("FULL"), true),
        ] {
            let reply = query(json!({ "fieldsets": fieldsets })).await;
            assert_eq!(reply.status == 200, is_good, "{fieldsets}");
        }
        let sorted = |sort: Value| json!({ "query": { "sort": sort } });
        let by = |order: Value| sorted(json!([{ "fieldName": "nickname", "order": order }]));
        assert_eq!(names(by(json!("desc"))).await, ["Zoe", "Dora Quiet"]);
        assert_eq!(names(by(json!("asc"))).await, ["Dora Quiet", "Zoe"]);
        for order in [json!("BOGUS"), json!(1)] {
            assert_eq!(violations(query(by(order)).await).await, ["query.sort[0].order"]);
        }
        let two = sorted(json!([{ "fieldName": "nickname" }, { "fieldName": "loginEmail" }]));
        assert_eq!(query(two).await.verdict(), "428 WDE0119");
    }

    async fn members_stay_private_where_the_site_is_closed(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        let register = async |email: &str, profile: Value| {
            let body = json!({ "loginId": { "email": email }, "password": PASSWORD, "profile": profile });
            app.visitor().await.post("/v2/register", &body).await.json()["identity"]["id"].clone()
        };
        let sign_on = async |email: &str, profile: Value| {
            let body = json!({ "loginId": { "email": email }, "profile": profile });
            key.post("/v2/sign-on", &body).await.json()["identity"]["id"].clone()
        };
        let imported = async |email: &str, status: Option<&str>| {
            arrive(&app, [json!({ "email": email, "privacyStatus": status })].into_iter()).await;
            let member = app.app.identity.member_by_email(&app.site, &Email::parse(email).unwrap()).await.unwrap();
            json!(member.unwrap().id)
        };
        let made = async |email: &str, status: Option<&str>| {
            let body = json!({ "member": { "loginEmail": email, "privacyStatus": status } });
            key.post(MEMBERS, &body).await.json()["member"]["id"].clone()
        };
        set_privacy(&app, json!({ "defaultPrivacy": "PUBLIC", "publicMemberCandidates": "ANYONE" })).await;
        let private = json!({ "privacyStatus": "PRIVATE" });
        for (id, shown) in [
            (register("a@example.org", json!({})).await, "PUBLIC"),
            (register("b@example.org", private.clone()).await, "PRIVATE"),
            (sign_on("c@example.org", json!({})).await, "PUBLIC"),
            (sign_on("d@example.org", private).await, "PRIVATE"),
            (imported("e@example.org", None).await, "PUBLIC"),
            (imported("f@example.org", Some("PRIVATE")).await, "PRIVATE"),
            (made("g@example.org", None).await, "PUBLIC"),
            (made("h@example.org", Some("PRIVATE")).await, "PRIVATE"),
        ] {
            assert_eq!(privacy(&key, &id).await, shown, "{id}");
        }
        set_privacy(&app, json!({ "defaultPrivacy": "PUBLIC", "publicMemberCandidates": "NO_ONE" })).await;
        let public = json!({ "privacyStatus": "PUBLIC" });
        for id in [
            register("i@example.org", json!({})).await,
            register("j@example.org", public.clone()).await,
            sign_on("k@example.org", json!({})).await,
            sign_on("l@example.org", public.clone()).await,
            sign_on("d@example.org", public).await,
            imported("m@example.org", None).await,
            imported("n@example.org", Some("PUBLIC")).await,
            made("o@example.org", None).await,
        ] {
            assert_eq!(privacy(&key, &id).await, "PRIVATE", "{id}");
        }
        let body = json!({ "member": { "loginEmail": "p@example.org", "privacyStatus": "PUBLIC" } });
        assert_eq!(key.post(MEMBERS, &body).await.verdict(), "403 COMMUNITY_JOIN_IMPOSSIBLE");
    }

    async fn import_takes_every_value_or_refuses_it(engine) {
        let app = TestApp::new(engine).await;
        let good = json!({
            "email": "n1@e.example", "id": 42, "createdDate": 1_500_000_000_000_i64, "emailVerified": "TRUE", "passwordReset": 1,
            "position": "p", "birthdate": "1815-12-10", "vatId": "v", "labels": ["x"], "subscription": "false",
            "addresses": "[{\"address\":{\"city\":\"Berlin\"}}]", "company": " c ",
            "picture": " https://x.example/p.png ",
        });
        arrive(&app, [good].into_iter()).await;
        let member = app.app.identity.member_get(&app.site, &"42".into()).await.unwrap().unwrap();
        assert_eq!((member.created, member.email_verified, member.must_reset), (1_500_000_000_000, true, true));
        assert_eq!(member.profile.to_json(), json!({
            "position": "p", "birthdate": "1815-12-10", "vatId": "v", "labels": ["x"], "subscription": false,
            "addresses": [{ "address": { "city": "Berlin" } }], "company": "c", "picture": "https://x.example/p.png",
        }));
        for (name, value) in [
            ("passwordHash", json!(5)), ("passwordHash", json!("$scrypt$ln=10,r=8,p=1$c2FsdA$AA")), ("status", json!(1)), ("emailVerified", json!("yes")),
            ("emailVerified", json!(2)), ("passwordReset", json!([])), ("createdDate", json!(true)), ("createdDate", json!(1.5)),
            ("id", json!(true)), ("id", json!(1.5)), ("id", json!("my")), ("id", json!("..")), ("id", json!("a?b#c %2f")), ("id", json!("a/b")), ("id", json!("a\0")),
            ("profile.labels", json!(5)), ("profile.birthdate", json!("x")), ("profile.picture", json!("javascript:alert(1)")),
        ] {
            let mut sent = json!({ "email": "x@e.example" });
            sent[name.trim_start_matches("profile.")] = value.clone();
            let fault = ImportedMember::parse(&sent).expect_err(name);
            assert_eq!(fault.violations().iter().map(|it| it.field.as_str()).collect::<Vec<_>>(), [name], "{value}");
        }
        for flag in [json!(true), json!("true"), json!("True"), json!("1"), json!(1), json!(""), json!(null), json!("0"), json!("FALSE"), json!(0)] {
            assert!(ImportedMember::parse(&json!({ "email": "x@e.example", "emailVerified": flag })).is_ok(), "{flag}");
        }
        assert!(ImportedMember::parse(&json!({ "email": "x@e.example", "id": "auth0|5f7c-_.~" })).is_ok());
    }

    async fn members_have_their_older_wire_form(engine) {
        let app = TestApp::new(engine).await;
        let (key, visitor) = (app.app(), app.visitor().await);
        let policy = Some(json!({ "signOnPolicy": { "requireOwnerApproval": true } }).to_string().into());
        assert_eq!(key.send(Method::PATCH, "/v1/sign-on-policies", policy).await.verdict(), "200");
        let fields = json!([{ "name": "a", "strValue": "x" }]);
        let body = json!({ "email": "ada@example.org", "password": PASSWORD, "contactInfo": { "customFields": fields } });
        let first = visitor.post(&format!("{OLD}/auth/register"), &body).await.json();
        assert_eq!(first["member"]["customFields"], fields);
        assert!(first["session"].is_null() && first["approvalToken"].is_string(), "{first}");
        let again = visitor.post(&format!("{OLD}/auth/login"), &body).await.json();
        let approve = async |who: &TestClient<'_>, token: &Value| who.post(&format!("{OLD}/members/approve"), &json!({ "token": token })).await.verdict();
        let good = &again["approvalToken"];
        // It names the member; its bearer may be the member.
        for who in [&visitor, &app.editor().await] {
            assert_eq!(approve(who, good).await, "403 PERMISSION_DENIED");
        }
        let link = json!({ "token": good, "link": good, "decision": "APPROVE" });
        for path in ["/_api/account/v1/approvals", "/_api/account/v1/approvals/decide"] {
            assert_ne!(visitor.post(path, &link).await.status, 200, "{path}");
        }
        let gone = approve(&key, &first["approvalToken"]).await;
        assert!(gone.starts_with('4'), "another came in its place: {gone}");
        assert_eq!(approve(&key, &json!("x")).await, gone);
        assert_eq!(approve(&key, good).await, "200");
        assert_eq!(approve(&key, good).await, gone);
        let signed = visitor.post(&format!("{OLD}/auth/login"), &body).await.json();
        assert!(signed["session"]["token"].is_string() && signed["approvalToken"].is_null(), "{signed}");
        let address = json!({ "member": { "contact": { "addresses": [{ "city": "Berlin" }] } } });
        let id = signed["member"]["id"].as_str().unwrap();
        assert_eq!(patch(&key, &format!("{MEMBERS}/{id}"), &address).await.verdict(), "200");
        let shown = visitor.post(&format!("{OLD}/auth/login"), &body).await.json()["member"]["addresses"].clone();
        assert_eq!((&shown[0]["city"], shown[0]["id"].is_string()), (&json!("Berlin"), true));
    }

    async fn bulk_delete_needs_the_right_to_every_member(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let (a, b) = (id_of(&ada).await, id_of(&bob).await);
        let path = format!("{MEMBERS}/bulk/delete");
        assert_eq!(bob.post(&path, &json!({ "memberIds": [b, a] })).await.verdict(), "403 PERMISSION_DENIED");
        let all = app.app().get(MEMBERS).await.json();
        assert_eq!(ids(&all).len(), 2);
        assert_eq!(bob.post(&path, &json!({ "memberIds": [b] })).await.json()["bulkActionMetadata"]["totalSuccesses"], 1);
        assert_eq!(app.app().post(&path, &json!({ "memberIds": [b, a] })).await.json()["bulkActionMetadata"]["totalSuccesses"], 1);
    }
}
