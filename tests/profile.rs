//! Identities and their profiles (docs/protocol/identity.md §10.2, §10.3): what is written comes back to the
//! letter, and what is malformed is named.

use crate::oracle::{Random, fresh_seed};
use axum::http::Method;
use serde_json::{Map, Value, json};
use stoa_testkit::{Engine, Reply, TestApp, on_both_engines, rounds};

/// Random profiles of one seed, unless [`rounds`] asks for more.
const PROFILES: usize = 60;
/// Characters that have been trouble somewhere: quotes, backslashes, escapes, signs beyond the first plane.
const CHARS: [char; 16] =
    ['a', 'Z', '0', ' ', '"', '\\', '/', '\'', '\n', '\u{1f}', '\u{7f}', 'ß', 'ﬁ', '\u{202e}', '中', '😀'];

on_both_engines! {
    async fn profile_comes_back_as_written(engine) {
        for seed in [10_310, fresh_seed()] {
            round_trips(engine, seed).await;
        }
    }

    async fn registration_keeps_the_whole_profile(engine) {
        let app = TestApp::new(engine).await;
        let (visitor, mut random) = (app.visitor().await, Random(7));
        for n in 0..3 {
            let profile = random.profile(n);
            let body = json!({ "loginId": { "email": format!("r{n}@example.org") }, "password": "correct horse battery", "profile": profile });
            assert_shows(&visitor.post("/v2/register", &body).await, &profile, "registered");
            assert_shows(&visitor.post("/v2/login", &body).await, &profile, "signed in");
        }
    }

    async fn contacts_come_back_as_written(engine) {
        let app = TestApp::new(engine).await;
        let (key, mut random) = (app.app(), Random(fresh_seed()));
        let seed = random.0;
        let mut kept = Vec::new();
        for n in 0..20 {
            let email = format!("c{n}@example.org");
            let member = random.member(n, &email);
            let made = key.post("/members/v1/members", &json!({ "member": member })).await.json()["member"].clone();
            kept.push((made["id"].as_str().unwrap_or_else(|| panic!("{seed}: {made}")).to_owned(), member));
            if random.one_in(2) {
                let (id, member) = kept.last_mut().unwrap();
                let before = std::mem::replace(member, random.member(n, &email));
                let body = json!({ "member": member }).to_string();
                // Custom fields that are not named stay.
                for (name, field) in before["contact"]["customFields"].as_object().unwrap() {
                    member["contact"]["customFields"].as_object_mut().unwrap().entry(name).or_insert_with(|| field.clone());
                }
                let reply = key.send(Method::PATCH, &format!("/members/v1/members/{id}"), Some(body.into())).await;
                assert_eq!(reply.verdict(), "200", "{seed}: {:?}", reply.body);
            }
        }
        for (id, member) in kept {
            let shown = key.get(&format!("/members/v1/members/{id}?fieldsets=FULL")).await.json()["member"].clone();
            for name in ["loginEmail", "contact", "profile", "privacyStatus"] {
                assert_eq!(shown[name], member[name], "seed {seed}: {name}");
            }
        }
    }

    async fn malformed_profiles_are_named(engine) {
        let app = TestApp::new(engine).await;
        let key = app.app();
        for (profile, field, rule) in malformed() {
            let body = json!({ "loginId": { "email": "m@example.org" }, "profile": profile });
            let reply = key.post("/v2/sign-on", &body).await;
            assert_eq!(reply.verdict(), "400 validationError", "{profile}: {:?}", reply.body);
            let json = reply.json();
            let violation = &json["details"]["validationError"]["fieldViolations"][0];
            assert_eq!((violation["field"].as_str(), violation["violatedRule"].as_str()), (Some(field), Some(rule)), "{profile}");
        }
        let large = json!({ "loginId": { "email": "m@example.org" }, "profile": { "customAttributes": { "a": "x".repeat(70_000) } } });
        assert_eq!(key.post("/v2/sign-on", &large).await.verdict(), "413 WDE0109");
        let found = key.post("/members/v1/members/query", &json!({ "query": {} })).await.json();
        assert_eq!(found["metadata"]["total"], 0, "nobody was made: {found}");
    }

    async fn statuses_and_their_reasons(engine) {
        let app = TestApp::new(engine).await;
        let (visitor, key) = (app.visitor().await, app.app());
        let (by_mail, by_owner) = ("PENDING_EMAIL_VERIFICATION_REQUIRED", "PENDING_ADMIN_APPROVAL_REQUIRED");
        for (n, (verify, approve, status, reasons)) in [
            (false, false, "ACTIVE", vec![]),
            (true, false, "PENDING", vec![by_mail]),
            (false, true, "PENDING", vec![by_owner]),
            (true, true, "PENDING", vec![by_mail, by_owner]),
        ].into_iter().enumerate() {
            let policy = json!({ "signOnPolicy": { "requireEmailVerification": verify, "requireOwnerApproval": approve } });
            assert_eq!(key.send(Method::PATCH, "/v1/sign-on-policies", Some(policy.to_string().into())).await.verdict(), "200");
            let body = json!({ "loginId": { "email": format!("s{n}@example.org") }, "password": "correct horse battery" });
            let mut state = visitor.post("/v2/register", &body).await.json();
            assert_eq!(state["identity"]["status"], json!({ "name": status, "reasons": reasons }));
            assert_envelope(&state["identity"], &format!("s{n}@example.org"));
            if verify {
                let code = app.mail.last_to(&format!("s{n}@example.org")).and_then(|it| it.code).unwrap();
                state = visitor.post("/v1/auth/verify", &json!({ "code": code, "stateToken": state["stateToken"] })).await.json();
                let (status, reasons) = if approve { ("PENDING", vec![by_owner]) } else { ("ACTIVE", vec![]) };
                assert_eq!(state["identity"]["status"], json!({ "name": status, "reasons": reasons }));
                assert_eq!(state["identity"]["email"]["isVerified"], true);
            }
            if approve {
                let id = state["identity"]["id"].as_str().unwrap();
                assert_eq!(key.post(&format!("/members/v1/members/{id}/approve"), &json!({})).await.verdict(), "200");
                state = visitor.post("/v2/login", &body).await.json();
                assert_eq!((&state["state"], &state["identity"]["status"]), (&json!("SUCCESS"), &json!({ "name": "ACTIVE", "reasons": [] })));
            }
        }
    }

    async fn profiles_stay_private_where_the_site_is_closed(engine) {
        let app = TestApp::new(engine).await;
        let (visitor, key) = (app.visitor().await, app.app());
        let closed = json!({ "memberPrivacySettings": { "publicMemberCandidates": "NO_ONE", "publicMemberVisibility": "VISIBLE_TO_ALL" } });
        assert_eq!(key.post("/members/v1/privacy-settings", &closed).await.verdict(), "200");
        let body = json!({ "loginId": { "email": "a@example.org" }, "password": "correct horse battery", "profile": { "privacyStatus": "PUBLIC" } });
        let made = visitor.post("/v2/register", &body).await.json();
        assert_eq!(made["identity"]["identityProfile"]["privacyStatus"], "PRIVATE");
        let id = made["identity"]["id"].as_str().unwrap();
        assert_eq!(visitor.get(&format!("/members/v1/members/{id}")).await.verdict(), "404 NOT_FOUND");
        let on = json!({ "loginId": { "email": "b@example.org" }, "profile": { "privacyStatus": "PUBLIC" } });
        assert_eq!(key.post("/v2/sign-on", &on).await.json()["identity"]["identityProfile"]["privacyStatus"], "PRIVATE");
        let member = json!({ "member": { "loginEmail": "c@example.org", "privacyStatus": "PUBLIC" } });
        assert_eq!(key.post("/members/v1/members", &member).await.verdict(), "403 COMMUNITY_JOIN_IMPOSSIBLE");
    }
}

/// Written, read again, and merged with another: members that the second names are the second's.
async fn round_trips(engine: Engine, seed: u64) {
    let app = TestApp::new(engine).await;
    let (key, mut random) = (app.app(), Random(seed));
    let sign_on = async |n: usize, profile: &Value| {
        let login_id = json!({ "email": format!("p{n}@example.org") });
        key.post("/v2/sign-on", &json!({ "loginId": login_id, "profile": profile })).await
    };
    for n in 0..rounds(PROFILES) {
        let what = format!("seed {seed}, profile {n}");
        let mut profile = random.profile(n);
        assert_shows(&sign_on(n, &profile).await, &profile, &what);
        assert_shows(&sign_on(n, &json!({})).await, &profile, &what);
        let reply = sign_on(n, &Value::Null).await;
        assert_envelope(&reply.json()["identity"], &format!("p{n}@example.org"));
        if random.one_in(3) {
            let other = random.profile(n);
            profile.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
            assert_shows(&sign_on(n, &other).await, &profile, &what);
            assert_shows(&sign_on(n, &json!({ "firstName": null, "isAdmin": true })).await, &profile, &what);
        }
    }
}

/// The answer holds the profile byte by byte: no number rounded, no member moved.
fn assert_shows(reply: &Reply, profile: &Value, what: &str) {
    assert_eq!(reply.verdict(), "200", "{what}: {:?}", reply.body);
    let text = String::from_utf8_lossy(&reply.body);
    let wanted = format!("\"identityProfile\":{profile},");
    assert!(text.contains(&wanted), "{what}\nwanted {wanted}\nfound  {text}");
}

/// What stands around the profile (docs/protocol/identity.md §10.2).
fn assert_envelope(identity: &Value, email: &str) {
    let names: Vec<&String> = identity.as_object().unwrap().keys().collect();
    let all = [
        "id",
        "revision",
        "createdDate",
        "updatedDate",
        "connections",
        "identityProfile",
        "metadata",
        "email",
        "status",
        "factors",
    ];
    assert_eq!(names, all, "{identity}");
    assert_eq!(identity["id"].as_str().map(str::len), Some(36));
    assert!(identity["revision"].as_str().is_some_and(|it| it.parse::<i64>().is_ok()));
    for date in ["createdDate", "updatedDate"] {
        let date = identity[date].as_str().unwrap();
        assert!(date.len() == 24 && date.ends_with('Z'), "{date}");
    }
    assert_eq!((&identity["connections"], &identity["metadata"]), (&json!([]), &json!({ "tags": [] })));
    assert_eq!(identity["email"]["address"], email);
}

/// A profile that holds almost nothing wrong: the place of the mistake, and the rule it breaks.
fn malformed() -> Vec<(Value, &'static str, &'static str)> {
    let field = |value: Value| json!({ "customFields": [{ "name": "x", "value": value }] });
    let address = |value: Value| json!({ "addresses": [{ "tag": "HOME" }, { "address": value }] });
    let deep = (0..10).fold(json!({ "numValue": 1 }), |it, _| json!({ "listValue": { "value": [it] } }));
    let long = |n: usize| "x".repeat(n);
    let value = "profile.customFields[0].value";
    let mut cases = vec![
        (json!(7), "profile", "FORMAT"),
        (json!([]), "profile", "FORMAT"),
        (json!("x"), "profile", "FORMAT"),
        (json!({ "labels": vec!["x"; 2_001] }), "profile.labels", "MAX_SIZE"),
        (json!({ "labels": ["x", null] }), "profile.labels[1]", "FORMAT"),
        (json!({ "emails": "a@b.co" }), "profile.emails", "FORMAT"),
        (json!({ "phones": [7] }), "profile.phones[0]", "FORMAT"),
        (json!({ "company": long(1_001) }), "profile.company", "MAX_LENGTH"),
        (json!({ "position": long(1_001) }), "profile.position", "MAX_LENGTH"),
        (json!({ "vatId": long(1_001) }), "profile.vatId", "MAX_LENGTH"),
        (json!({ "slug": long(256) }), "profile.slug", "MAX_LENGTH"),
        (json!({ "slug": "a/b" }), "profile.slug", "FORMAT"),
        (json!({ "nickname": "a\0b" }), "profile.nickname", "FORMAT"),
        (json!({ "subscription": "true" }), "profile.subscription", "FORMAT"),
        (json!({ "privacyStatus": "OPEN" }), "profile.privacyStatus", "INVALID_ENUM_VALUE"),
        (json!({ "birthdate": "2023-02-29" }), "profile.birthdate", "FORMAT"),
        (json!({ "birthdate": "2024-13-01" }), "profile.birthdate", "FORMAT"),
        (json!({ "birthdate": "2024-1-1" }), "profile.birthdate", "FORMAT"),
        (json!({ "birthdate": 0 }), "profile.birthdate", "FORMAT"),
        (json!({ "customAttributes": [] }), "profile.customAttributes", "FORMAT"),
        (json!({ "customAttributes": { "a": ["b\0"] } }), "profile.customAttributes", "FORMAT"),
        (
            json!({ "secondaryEmails": [{ "email": "a@b.co" }, { "email": "nobody" }] }),
            "profile.secondaryEmails[1].email",
            "FORMAT",
        ),
        (json!({ "secondaryEmails": [{ "tag": "MOBILE" }] }), "profile.secondaryEmails[0].tag", "INVALID_ENUM_VALUE"),
        (json!({ "secondaryEmails": ["a@b.co"] }), "profile.secondaryEmails[0]", "FORMAT"),
        (json!({ "phonesV2": [{ "countryCode": "Germany" }] }), "profile.phonesV2[0].countryCode", "FORMAT"),
        (json!({ "phonesV2": [{ "phone": "none" }] }), "profile.phonesV2[0].phone", "FORMAT"),
        (json!({ "phonesV2": [{ "phone": "1", "tag": "BILLING" }] }), "profile.phonesV2[0].tag", "INVALID_ENUM_VALUE"),
        (json!({ "addresses": [{ "tag": "MAIN" }] }), "profile.addresses[0].tag", "INVALID_ENUM_VALUE"),
        (json!({ "addresses": { "city": "X" } }), "profile.addresses", "FORMAT"),
        (address(json!("Berlin")), "profile.addresses[1].address", "FORMAT"),
        (address(json!({ "city": 1 })), "profile.addresses[1].address.city", "FORMAT"),
        (address(json!({ "hint": long(1_001) })), "profile.addresses[1].address.hint", "MAX_LENGTH"),
        (address(json!({ "geocode": { "latitude": "52" } })), "profile.addresses[1].address.geocode", "FORMAT"),
        (address(json!({ "geocode": [52, 13] })), "profile.addresses[1].address.geocode", "FORMAT"),
        (address(json!({ "streetAddress": "1 High St" })), "profile.addresses[1].address.streetAddress", "FORMAT"),
        (address(json!({ "streetAddress": { "apt": 3 } })), "profile.addresses[1].address.streetAddress.apt", "FORMAT"),
        (json!({ "customFields": { "x": 1 } }), "profile.customFields", "FORMAT"),
        (json!({ "customFields": vec![json!({ "name": "x" }); 101] }), "profile.customFields", "MAX_SIZE"),
        (json!({ "customFields": [null] }), "profile.customFields[0]", "FORMAT"),
        (json!({ "customFields": [{ "value": { "numValue": 1 } }] }), "profile.customFields[0].name", "REQUIRED_FIELD"),
        (json!({ "customFields": [{ "name": "" }] }), "profile.customFields[0].name", "REQUIRED_FIELD"),
        (field(json!("plain")), value, "FORMAT"),
        (field(json!({ "strValue": "x", "boolValue": true })), value, "ONE_OF_ALIGNMENT"),
    ];
    let inside = |name: &'static str| -> &'static str { Box::leak(format!("{value}.{name}").into_boxed_str()) };
    for (wrong, name, rule) in [
        (json!({ "strValue": 1 }), "strValue", "FORMAT"),
        (json!({ "strValue": long(10_001) }), "strValue", "MAX_LENGTH"),
        (json!({ "numValue": "1" }), "numValue", "FORMAT"),
        (json!({ "numValue": "-NaN" }), "numValue", "FORMAT"),
        (json!({ "boolValue": 1 }), "boolValue", "FORMAT"),
        (json!({ "dateValue": "yesterday" }), "dateValue", "FORMAT"),
        (json!({ "dateValue": "2024-02-30T00:00:00Z" }), "dateValue", "FORMAT"),
        (json!({ "dateValue": "2024-02-01T25:00:00Z" }), "dateValue", "FORMAT"),
        (json!({ "dateValue": "2024-02-01T05:00:00+1:00" }), "dateValue", "FORMAT"),
        (json!({ "dateValue": 8.65e15 }), "dateValue", "FORMAT"),
        (json!({ "dateValue": true }), "dateValue", "FORMAT"),
        (json!({ "listValue": [] }), "listValue", "FORMAT"),
        (json!({ "listValue": { "value": {} } }), "listValue.value", "FORMAT"),
        (json!({ "listValue": { "value": [null] } }), "listValue.value[0]", "FORMAT"),
        (
            json!({ "listValue": { "value": [{ "numValue": 1 }, { "numValue": "x" }] } }),
            "listValue.value[1].numValue",
            "FORMAT",
        ),
        (json!({ "mapValue": 7 }), "mapValue", "FORMAT"),
        (json!({ "mapValue": { "value": [] } }), "mapValue.value", "FORMAT"),
        (json!({ "mapValue": { "value": { "k": 1 } } }), "mapValue.value.k", "FORMAT"),
        (json!({ "mapValue": { "value": { "k": { "dateValue": "x" } } } }), "mapValue.value.k.dateValue", "FORMAT"),
        (json!({ "anyValue": 1 }), "anyValue", "ONE_OF_ALIGNMENT"),
    ] {
        cases.push((field(wrong), inside(name), rule));
    }
    let end = format!("{}listValue", "listValue.value[0].".repeat(9));
    cases.push((field(deep), inside(Box::leak(end.into_boxed_str())), "FORMAT"));
    cases
}

impl Random {
    /// All members of 10.3, each left out now and then.
    fn profile(&mut self, n: usize) -> Value {
        let mut profile = Map::new();
        for name in self.shuffled() {
            if self.one_in(4) {
                continue;
            }
            let value = match name {
                "emails" | "phones" | "labels" => self.list(3, |it| it.text(20).into()),
                "language" => self.pick(&["en", "de", "pt-BR", ""]).into(),
                "privacyStatus" => self.pick(&["UNDEFINED", "PUBLIC", "PRIVATE"]).into(),
                "customFields" => self.list(5, |it| {
                    let value = if it.one_in(8) { Value::Null } else { it.custom_value(3) };
                    json!({ "name": format!("f{}", it.text(9)), "value": value })
                }),
                "secondaryEmails" => self.list(3, |it| json!({ "email": it.pick(&["a@b.co", "A.b+c@ex.example.org", ""]), "tag": it.pick(&["UNTAGGED", "MAIN", "HOME", "WORK"]) })),
                "phonesV2" => self.list(3, |it| json!({ "countryCode": it.pick(&["DE", "US", ""]), "phone": it.pick(&["+49 30 1234", "(555) 010-99", "٠١٢"]), "tag": it.pick(&["UNTAGGED", "MAIN", "HOME", "MOBILE", "WORK", "FAX"]) })),
                "addresses" => self.list(3, |it| json!({ "address": it.address(), "tag": it.pick(&["UNTAGGED", "HOME", "WORK", "BILLING", "SHIPPING"]) })),
                "picture" => self.web_address().into(),
                "birthdate" => self.pick(&["1815-12-10", "2000-02-29", "0001-01-01"]).into(),
                "slug" => format!("slug-{n}.{}", self.below(1000)).into(),
                "subscription" => self.one_in(2).into(),
                "customAttributes" => json!({ "a": [self.number(), null, { "b": self.text(9) }], "ä\"": {} }),
                _ => self.text(40).into(),
            };
            profile.insert(name.to_owned(), value);
        }
        Value::Object(profile)
    }

    fn shuffled(&mut self) -> Vec<&'static str> {
        let mut names = vec![
            "firstName",
            "lastName",
            "nickname",
            "picture",
            "emails",
            "phones",
            "labels",
            "language",
            "privacyStatus",
            "customFields",
            "secondaryEmails",
            "phonesV2",
            "addresses",
            "company",
            "position",
            "birthdate",
            "slug",
            "subscription",
            "vatId",
            "customAttributes",
        ];
        for n in (1..names.len()).rev() {
            let other = self.below(n + 1);
            names.swap(n, other);
        }
        names
    }

    fn address(&mut self) -> Value {
        let mut address = Map::new();
        for name in
            ["country", "subdivision", "city", "postalCode", "addressLine", "addressLine2", "formattedAddress", "hint"]
        {
            if !self.one_in(4) {
                address.insert(name.to_owned(), if self.one_in(8) { Value::Null } else { self.text(20).into() });
            }
        }
        if self.one_in(2) {
            address.insert("geocode".to_owned(), json!({ "latitude": self.number(), "longitude": self.number() }));
        }
        if self.one_in(2) {
            let street =
                json!({ "name": self.text(9), "number": "1", "apt": self.text(3), "formattedAddressLine": null });
            address.insert("streetAddress".to_owned(), street);
        }
        Value::Object(address)
    }

    fn custom_value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => json!({ "strValue": self.text(30) }),
            1 => json!({ "numValue": self.number() }),
            2 => json!({ "boolValue": self.one_in(2) }),
            3 => {
                json!({ "dateValue": self.pick(&["2024-01-02T03:04:05.006Z", "2024-02-29", "1969-12-31T23:59:59Z", "2024-01-02T03:04:05.123456+05:30"]) })
            }
            4 => json!({ "numValue": self.pick(&["NaN", "Infinity", "-Infinity"]) }),
            5 => json!({ "listValue": { "value": self.list(3, |it| it.custom_value(depth - 1)) } }),
            _ => {
                let members: Map<String, Value> = (0..self.below(4))
                    .map(|n| (format!("{n}{}", self.text(5)), self.custom_value(depth - 1)))
                    .collect();
                json!({ "mapValue": { "value": members } })
            }
        }
    }

    /// What the members API writes and reads alike (docs/protocol/identity.md §17).
    fn member(&mut self, n: usize, email: &str) -> Value {
        let address = |it: &mut Self| match it.one_in(2) {
            true => json!({ "id": it.text(9), "addressLine": it.text(20), "city": it.text(9), "country": "DE" }),
            false => {
                json!({ "id": "1", "streetAddress": { "number": "1", "name": it.text(9) }, "postalCode": it.text(5) })
            }
        };
        let fields: Map<String, Value> = (0..self.below(4))
            .map(|n| (format!("custom.{n}"), json!({ "name": format!("custom.{n}"), "value": self.plain(3) })))
            .collect();
        json!({
            "loginEmail": email,
            "contact": {
                "firstName": self.text(9), "lastName": self.text(9), "company": self.text(9), "jobTitle": self.text(9),
                "birthdate": "1815-12-10", "phones": self.list(3, |it| it.text(9).into()),
                "emails": self.list(3, |it| it.text(9).into()), "addresses": self.list(3, address), "customFields": fields,
            },
            "profile": {
                "nickname": self.text(9), "slug": format!("s{n}-{}", self.below(1000)),
                "photo": { "id": "p", "url": "https://x.example/p.png", "height": 10, "width": 10, "offsetX": 0, "offsetY": -1 },
                "cover": { "url": self.web_address() }, "title": self.text(20),
            },
            "privacyStatus": self.pick(&["PUBLIC", "PRIVATE"]),
        })
    }

    /// Any JSON.
    fn plain(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 4 } else { 6 }) {
            0 => self.text(20).into(),
            1 => self.number(),
            2 => self.one_in(2).into(),
            3 => Value::Null,
            4 => self.list(3, |it| it.plain(depth - 1)),
            _ => (0..self.below(4))
                .map(|n| (format!("{n}{}", self.text(5)), self.plain(depth - 1)))
                .collect::<Map<_, _>>()
                .into(),
        }
    }

    fn number(&mut self) -> Value {
        match self.below(4) {
            0 => json!(self.below(2_000) as i64 - 1_000),
            1 => json!((self.below(1 << 53) as f64) / 1024.0),
            2 => json!(self.pick(&[0.1, -0.0, 1e300, 5e-324, 2.0])),
            _ => {
                let number = f64::from_bits(self.below(usize::MAX) as u64);
                if number.is_finite() { json!(number) } else { json!(1) }
            }
        }
    }

    fn text(&mut self, most: usize) -> String {
        (0..self.below(most + 1)).map(|_| self.pick(&CHARS)).collect()
    }

    fn web_address(&mut self) -> String {
        format!("https://x.example/{}", self.text(20).replace(char::is_control, "-"))
    }

    fn list(&mut self, most: usize, mut each: impl FnMut(&mut Self) -> Value) -> Value {
        (0..self.below(most + 1)).map(|_| each(self)).collect()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
