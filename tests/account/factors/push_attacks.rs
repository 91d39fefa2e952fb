//! Web Push as others try it: who has the password, a token of another question, another site, or an address inside the network.

use super::{
    phone::field,
    push::{MINUTE, Pushes, at},
    *,
};
use std::net::{Ipv4Addr, SocketAddr};
use stoa_identity::{Identity, factor::Subscription};
use stoa_kernel::{Caller, Code};
use stoa_outbound::{Exceptions, Reach, ReachConfig};
use tokio::net::UdpSocket;

on_both_engines! {
    async fn denial_ends_the_questions_of_all_sign_ins_that_had_begun(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        // Tokens of before the first question, whose next question would have another name.
        let (state, other) = (world.waiting(&anna).await, world.waiting(&anna).await);
        let first = world.asked_with(&state).await;
        assert_eq!(world.deny(&first).await, "200");
        world.app.kit.clock.advance(1);
        for token in [&state, &other, &first.state] {
            let refused = world.ask(token).await;
            assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!("factorType")));
        }
        // The question of a later sign-in stands in the place of the one that was denied.
        let later = world.asked(&anna).await;
        for token in [&state, &other, &first.state] {
            assert_eq!(world.ask(token).await.status, StatusCode::BAD_REQUEST);
        }
        assert!(world.service.is_quiet().await);
        assert_eq!(world.approve(&later).await, "200");
        assert_eq!(world.stands(&later.state, &later.id).await.json()["state"], "SUCCESS");
    }

    async fn denied_proof_can_be_asked_for_once_more(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let asked = world.post_own(&anna.access, "proof", json!({ "pushData": {} })).await.json();
        let content = world.service.next(1).await.remove(0).content;
        assert_eq!(content["for"], "CHANGE");
        let token = text(&content["token"]);
        assert_eq!(world.question(&token).await.json()["for"], "CHANGE");
        let wrong = (text(&asked["hint"]).parse::<u32>().unwrap() + 1) % 100;
        assert_eq!(world.answer(&token, json!({ "number": format!("{wrong:02}") })).await.verdict(), WRONG);
        assert_eq!(world.subjects().await, ["A change to your account at Test was refused"]);
        let audit = world.app.app().get(&format!("{OWN}/audit?event=push_deny")).await.json();
        let detail = text(&audit["entries"][0]["detail"]);
        assert!(detail.starts_with("wrong number; CHANGE asked from an unknown browser at "), "{detail}");
        assert_eq!(world.prove_by_push(&anna.access).await, "200");
    }

    async fn denial_in_a_flow_ends_with_the_next_sign_in_there(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        let token = text(&view["token"]);
        assert_eq!(at(&browser.ask_push(&view, false).await), ("AWAIT_PUSH", None));
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&pushed, json!({ "denied": true })).await.verdict(), "200");
        let denied = browser.flow_view(&token).await.json();
        assert_eq!(at(&denied), ("SECOND_FACTOR", Some("PUSH_DENIED")));
        world.app.kit.clock.advance(1);
        assert_eq!(at(&browser.answer(&token, json!({ "type": "BACK" })).await), ("SIGN_IN", None));
        let again = json!({ "type": "SIGN_IN", "email": anna.email, "password": PASSWORD });
        let again = browser.answer(&token, again).await;
        assert_eq!((at(&again), &again["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["PUSH", "RECOVERY_CODE"])));
        assert_eq!(at(&browser.ask_push(&again, false).await), ("AWAIT_PUSH", None));
        world.service.next(1).await;
    }

    async fn denial_elsewhere_is_told_in_a_flow_that_had_begun(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        let asked = world.asked(&anna).await;
        assert_eq!(world.deny(&asked).await, "200");
        let denied = browser.ask_push(&view, false).await;
        assert_eq!((at(&denied), &denied["step"]["factors"]), (("SECOND_FACTOR", Some("PUSH_DENIED")), &json!(["RECOVERY_CODE"])));
    }

    async fn names_that_lead_inside_are_answered_as_those_that_lead_nowhere(engine) {
        let world = Pushes::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (store, mail, time) = (world.app.kit.store.clone(), world.app.mail.clone(), world.app.kit.world.clone());
        let reach = ReachConfig { exceptions: Exceptions::default(), name_servers: vec![names().await], ..ReachConfig::default() };
        let reach = Reach::new(&reach, time.clone()).unwrap();
        let strict = Identity::open(store, time, mail, reach, Config::default()).await.unwrap();
        let sql = "select id, member from stoa.session where proved is not null";
        let caller = world.app.site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let read = |row: &stoa_store::Row<'_>| {
                    Ok(Caller::Member { id: row.text(1)?.into(), session: row.text(0)?.into(), client: None })
                };
                Ok(tx.row(sql, &[], read).await?)
            })
        });
        let caller = caller.await.unwrap().unwrap();
        let keys = world.service.subscribe("laptop")["keys"].clone();
        let mut answers = Vec::new();
        for host in ["inside", "nowhere"] {
            let endpoint = format!("https://{host}.example/push");
            let subscription = Subscription::parse(&endpoint, keys["p256dh"].as_str().unwrap(), keys["auth"].as_str().unwrap());
            let from = (Ipv4Addr::LOCALHOST.into(), None);
            let begun = strict.factor_begin_push(&world.app.site, &caller, (subscription.unwrap(), None), from).await;
            let fault = begun.unwrap_err();
            assert_eq!(fault.code(), Code::Unavailable, "{host}: {fault:?}");
            answers.push((fault.message().to_owned(), fault.data().clone(), fault.violations().to_vec()));
        }
        assert_eq!(answers[0], answers[1]);
    }

    async fn wrong_number_denies_and_no_other_is_taken(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let asked = world.asked(&anna).await;
        for (answer, name) in [
            (json!({}), "number"),
            (json!({ "number": "1" }), "number"),
            (json!({ "number": "123" }), "number"),
            (json!({ "number": "-1" }), "number"),
            (json!({ "number": "٤٢" }), "number"),
            (json!({ "number": asked.number, "denied": true }), "number"),
        ] {
            let refused = world.answer(&asked.token, answer.clone()).await;
            assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!(name)), "{answer}");
        }
        assert_eq!(world.question(&asked.token).await.verdict(), "200", "nothing of that has answered");
        let wrong = json!({ "number": asked.wrong_number() });
        assert_eq!(world.answer(&asked.token, wrong).await.verdict(), WRONG);
        assert_eq!(world.approve(&asked).await, "404 NOT_FOUND", "one try");
        assert_eq!(world.stands(&asked.state, &asked.id).await.verdict(), WRONG);
        assert_eq!(world.events("push_deny").await, 1);
    }

    async fn question_is_answered_once_and_counts_once_among_a_hundred(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let asked = world.asked(&anna).await;
        let wrong = asked.wrong_number();
        let answers = (0..100).map(|n| {
            let number = if n % 2 == 0 { &asked.number } else { &wrong };
            world.answer(&asked.token, json!({ "number": number }))
        });
        let answers: Vec<String> = join_all(answers).await.iter().map(Reply::verdict).collect();
        let heard = answers.iter().filter(|it| *it != "404 NOT_FOUND").collect::<Vec<_>>();
        assert!(heard == ["200"] || heard == [WRONG], "{heard:?}");

        world.app.kit.clock.advance(61 * MINUTE);
        let asked = world.asked(&anna).await;
        let approvals = join_all((0..100).map(|_| world.approve(&asked))).await;
        assert_eq!(approvals.iter().filter(|it| *it == "200").count(), 1);
        let before = world.events("member_sign_in").await;
        let taken = join_all((0..100).map(|_| world.stands(&asked.state, &asked.id))).await;
        assert_eq!(taken.iter().filter(|it| it.verdict() == "200").count(), 1);
        assert!(taken.iter().all(|it| ["200", WRONG].contains(&it.verdict().as_str())));
        assert_eq!(world.events("member_sign_in").await, before + 1);
    }

    async fn question_is_of_one_sign_in(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let ben = world.holder("ben@example.org").await;
        let (annas, bens) = (world.asked(&anna).await, world.asked(&ben).await);
        assert_eq!(world.approve(&annas).await, "200");
        // Another sign-in of hers, the one of another member, one that has asked nothing, and an id that is none.
        let (fresh, asked) = (world.waiting(&anna).await, annas.id.as_str());
        for (state, id) in [(&bens.state, asked), (&fresh, asked), (&annas.state, bens.id.as_str()), (&annas.state, "x")] {
            assert_eq!(world.stands(state, id).await.verdict(), WRONG, "{id}");
        }
        // A later question takes its place, for the one who asks as well as for the others.
        let later = world.asked_with(&fresh).await;
        assert_eq!(world.stands(&annas.state, &annas.id).await.verdict(), WRONG);
        assert_eq!(world.question(&annas.token).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.approve(&later).await, "200");
        assert_eq!(world.stands(&annas.state, &later.id).await.verdict(), WRONG);
        assert_eq!(world.stands(&later.state, &later.id).await.json()["state"], "SUCCESS");
        // A question of a sign-in proves nothing in a session, nor the other way round.
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
        let transaction = json!({ "pushData": { "transactionId": asked.id } });
        assert_eq!(world.prove(&anna.access, transaction).await, WRONG);
        let proof = world.post_own(&anna.access, "proof", json!({ "pushData": {} })).await.json();
        let token = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&token, json!({ "number": proof["hint"] })).await.verdict(), "200");
        assert_eq!(world.stands(&asked.state, &text(&proof["pushData"]["transactionId"])).await.verdict(), WRONG);
        let other = world.access_of_another_session(&anna.email, &anna.recovery_codes[0]).await;
        assert_eq!(world.prove(&other, json!({ "pushData": proof["pushData"] })).await, WRONG, "another session");
        assert_eq!(world.prove(&anna.access, json!({ "pushData": proof["pushData"] })).await, "200");
    }

    async fn question_ends_with_its_time_and_with_the_factors(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let asked = world.asked(&anna).await;
        world.app.kit.clock.advance(2 * MINUTE);
        assert_eq!(world.question(&asked.token).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.approve(&asked).await, "404 NOT_FOUND");
        assert_eq!(world.stands(&asked.state, &asked.id).await.verdict(), WRONG);
        // An approval is taken within a minute.
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
        world.app.kit.clock.advance(MINUTE);
        assert_eq!(world.stands(&asked.state, &asked.id).await.verdict(), WRONG);
        let asked = world.asked(&anna).await;
        assert_eq!(world.post_own(&anna.access, "recovery-codes", json!({})).await.verdict(), "200");
        assert_eq!(world.question(&asked.token).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.approve(&asked).await, "404 NOT_FOUND");
        assert_eq!(world.stands(&asked.state, &asked.id).await.verdict(), GONE);
    }

    async fn token_is_of_one_site_and_goes_by_post_from_pages_alone(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let asked = world.asked(&anna).await;
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let (_, random) = asked.token.split_once('.').unwrap();
        let made_up = format!("q{}.{}", world.app.site.number, "A".repeat(43));
        for token in [format!("q{}.{random}", other.number), made_up, format!("u{}", &asked.token[1..]), String::new(), "x".repeat(10_000)] {
            assert_eq!(world.question(&token).await.verdict(), "404 NOT_FOUND", "{token}");
            assert_eq!(world.answer(&token, json!({ "denied": true })).await.verdict(), "404 NOT_FOUND", "{token}");
        }
        let path = "/_api/identity/v1/push-questions";
        let body = json!({ "token": asked.token });
        let elsewhere = [("content-type", "application/json"), ("origin", APP), ("sec-fetch-site", "cross-site")];
        assert_eq!(send(&world.app, Method::POST, path, &elsewhere, Some(&body)).await.verdict(), "403 PERMISSION_DENIED");
        let form = [("content-type", "text/plain"), ("sec-fetch-site", "same-origin")];
        assert_eq!(send(&world.app, Method::POST, path, &form, Some(&body)).await.status, StatusCode::BAD_REQUEST);
        // The state token of one site is none of another.
        let headers = world.app.app.identity.api_key_create(&other.id, "other").await.unwrap().1;
        let headers = [("authorization", headers.expose()), ("content-type", "application/json")];
        let body = json!({ "stateToken": asked.state, "pushData": { "transactionId": asked.id } });
        assert_eq!(send(&world.app, Method::POST, "/v2/PUSH/verify", &headers, Some(&body)).await.verdict(), GONE);
        assert_eq!(world.approve(&asked).await, "200");
        assert_eq!(send(&world.app, Method::POST, "/v2/PUSH/verify", &headers, Some(&body)).await.verdict(), GONE);
        assert_eq!(world.stands(&asked.state, &asked.id).await.json()["state"], "SUCCESS");
    }

    async fn subscriptions_that_are_none_or_lead_inside_are_refused(engine) {
        let world = Pushes::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let right = world.service.subscribe("laptop");
        let with = |name: &str, value: Value| {
            let mut other = right.clone();
            *other.pointer_mut(name).unwrap() = value;
            other
        };
        let inside = ["https://10.0.0.1/push", "https://192.168.0.1/", "https://169.254.169.254/", "https://[fd00::1]/", "http://example.org/"];
        for endpoint in inside {
            let body = json!({ "type": "PUSH", "subscription": with("/endpoint", json!(endpoint)) });
            let reply = world.post_own(&access, "factors", body).await;
            assert_eq!((reply.status, field(&reply)), (StatusCode::BAD_REQUEST, json!("subscription.endpoint")), "{endpoint}");
            assert!(!reply.json().to_string().contains("private"), "what is inside is not told");
        }
        for (subscription, name) in [
            (json!(null), "subscription.endpoint"),
            (json!("x"), "subscription.endpoint"),
            (with("/endpoint", json!(7)), "subscription.endpoint"),
            (with("/endpoint", json!("https://a@example.org/")), "subscription.endpoint"),
            (with("/endpoint", json!(format!("https://example.org/{}", "x".repeat(5_000)))), "subscription.endpoint"),
            (with("/keys", json!([])), "subscription.keys.p256dh"),
            (with("/keys/p256dh", json!("BA")), "subscription.keys.p256dh"),
            (with("/keys/p256dh", json!("B".repeat(87))), "subscription.keys.p256dh"),
            (with("/keys/auth", json!("AAAA")), "subscription.keys.auth"),
        ] {
            let body = json!({ "type": "PUSH", "subscription": subscription });
            let reply = world.post_own(&access, "factors", body.clone()).await;
            assert_eq!((reply.status, field(&reply)), (StatusCode::BAD_REQUEST, json!(name)), "{body}");
        }
        for (body, name) in [
            (json!({ "type": "TOTP", "subscription": right }), "subscription"),
            (json!({ "type": "PUSH", "subscription": right, "phone": "+4915112345678" }), "phone"),
            (json!({ "type": "PUSH", "subscription": right, "name": "x".repeat(101) }), "name"),
        ] {
            let reply = world.post_own(&access, "factors", body.clone()).await;
            assert_eq!((reply.status, field(&reply)), (StatusCode::BAD_REQUEST, json!(name)), "{body}");
        }
        assert!(world.service.is_quiet().await && world.count("factor").await == 0);
    }

    async fn steps_out_of_order_lead_nowhere(engine) {
        let world = Pushes::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        // A browser that waits for its code is asked nothing, and asks for nothing.
        let begun = world.begin(&access, "laptop").await.json();
        let code = world.service.next(1).await.remove(0).content["code"].clone();
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        let refused = world.post_own(&access, "proof", json!({ "pushData": {} })).await;
        assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!("pushData")));
        let confirm = format!("factors/{}/confirm", text(&begun["factor"]["id"]));
        // The code of another session's browser, or of one that was begun before, is none.
        let again = world.begin(&access, "laptop").await.json();
        let newer = world.service.next(1).await.remove(0).content["code"].clone();
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": code })).await.verdict(), "404 NOT_FOUND");
        let ben = world.member_access("ben@example.org").await;
        assert_eq!(world.prove(&ben, json!({ "password": PASSWORD })).await, "200");
        let confirm = format!("factors/{}/confirm", text(&again["factor"]["id"]));
        assert_eq!(world.post_own(&ben, &confirm, json!({ "code": newer })).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": newer })).await.verdict(), "200");
        // Before the password there is nothing to ask with.
        let begun = world.login_begun("anna@example.org").await;
        assert_eq!(world.ask(&begun).await.verdict(), GONE);
        assert_eq!(world.stands(&begun, "x").await.verdict(), GONE);
        assert!(world.service.is_quiet().await);
        // Nothing outlives the member.
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(world.ask(&asked["stateToken"]).await.verdict(), "200");
        let path = format!("/members/v1/members/{}", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().delete(&path).await.verdict(), "200");
        for table in ["factor", "push_question"] {
            assert_eq!(world.count(table).await, 0, "{table}");
        }
    }
}

/// A name server for which `inside…` is 10.0.0.1 and all else unknown.
async fn names() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut datagram = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut datagram).await {
            let asked = &datagram[..length];
            // After the head of 12 bytes come the labels of the name, then its kind and class.
            let end = 12 + asked[12..].iter().position(|it| *it == 0).unwrap();
            let (is_inside, is_a) = (asked[13..19].eq_ignore_ascii_case(b"inside"), asked[end + 1..end + 3] == [0, 1]);
            let count = u8::from(is_inside && is_a);
            let mut answer = asked[..2].to_vec();
            answer.extend([0x81, if is_inside { 0x80 } else { 0x83 }, 0, 1, 0, count, 0, 0, 0, 0]);
            answer.extend(&asked[12..end + 5]);
            if count == 1 {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 10, 0, 0, 1]);
            }
            socket.send_to(&answer, from).await.unwrap();
        }
    });
    address
}

impl World {
    /// A session of a member who signs in by a recovery code.
    async fn access_of_another_session(&self, email: &str, code: &str) -> String {
        let asked = self.login(email, PASSWORD).await;
        let signed = self.verify_recovery(&asked["stateToken"], code).await.json();
        self.access_of(&signed["sessionToken"]).await
    }

    /// The state token of a sign-in that has shown an address alone.
    async fn login_begun(&self, email: &str) -> Value {
        let body = json!({ "loginId": { "email": email } });
        self.call(&self.visitor().await, "/v2/login", &body).await.json()["stateToken"].clone()
    }
}
