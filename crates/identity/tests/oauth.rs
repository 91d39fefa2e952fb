//! The grants, their replays and their races, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use stoa_identity::{
    Config,
    client::NewClient,
    oauth::{
        TokenRequest, pkce,
        rotation::{AGAIN, GRACE},
    },
    sign_in::SignOn,
};
use stoa_kernel::{Caller, Code};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

fn code_of<T: std::fmt::Debug>(result: stoa_kernel::Result<T>) -> Code {
    result.expect_err("refused").code()
}

on_both_engines! {
    async fn visitor_lives_on_its_refresh_token(engine) {
        let kit = Kit::new(engine).await;
        let first = kit.visitor().await;
        assert_eq!((first.expires_in, first.token_type), (14_400, "Bearer"));
        assert!(first.access_token.len() < 1_000 && !first.access_token.contains(','));
        let caller = kit.caller(&first.access_token).await.unwrap();
        assert!(matches!(&caller, Caller::Visitor { client: Some(it), .. } if *it == kit.client.id));
        let refresh = first.refresh_token.unwrap();
        kit.base.clock.advance(86_400_000 - 1_000);
        let again = kit.refresh(&refresh).await.unwrap();
        assert_eq!(kit.caller(&again.access_token).await.unwrap(), caller);
        assert_eq!(again.refresh_token.as_deref(), Some(refresh.as_str()), "the same for a day");
        let named = TokenRequest { client_id: Some(kit.client.id.to_string()), ..refresh_request(&refresh) };
        assert!(kit.identity.token_grant(&named, None).await.is_ok());
        let (_, other) = kit.other_site().await;
        let foreign = TokenRequest { client_id: Some(other.id.to_string()), ..refresh_request(&refresh) };
        assert_eq!(code_of(kit.identity.token_grant(&foreign, None).await), Code::OauthInvalidGrant);
    }

    /// As `@wix/sdk` does, which has no other.
    async fn visitor_who_keeps_the_first_token_is_the_same_for_ten_years(engine) {
        let kit = Kit::new(engine).await;
        let day = 86_400_000;
        let first = kit.visitor().await;
        let visitor = kit.caller(&first.access_token).await.unwrap();
        let kept = first.refresh_token.unwrap();
        for _ in 0..10 {
            kit.base.clock.advance(364 * day);
            let again = kit.refresh(&kept).await.unwrap();
            assert_eq!(kit.caller(&again.access_token).await.unwrap(), visitor);
        }
        kit.base.clock.advance(10 * day);
        assert_eq!(code_of(kit.refresh(&kept).await), Code::OauthInvalidGrant);
    }

    async fn visitor_of_a_short_life_is_kept_by_who_calls(engine) {
        let (hour, day) = (3_600_000, 86_400_000);
        let kit = Kit::with(engine, Config { visitor_life: day, ..config() }).await;
        let first = kit.visitor().await;
        let visitor = kit.caller(&first.access_token).await.unwrap();
        let mut kept = first.refresh_token.unwrap();
        let mut renewed = 0;
        for _ in 0..20 {
            kit.base.clock.advance(7 * hour);
            let again = kit.refresh(&kept).await.unwrap();
            assert_eq!(kit.caller(&again.access_token).await.unwrap(), visitor);
            renewed += usize::from(again.refresh_token.as_deref() != Some(kept.as_str()));
            kept = again.refresh_token.unwrap();
        }
        assert_eq!(renewed, 10, "once half of its life is over");
        kit.base.clock.advance(day);
        assert_eq!(code_of(kit.refresh(&kept).await), Code::OauthInvalidGrant);
    }

    async fn visitor_that_does_not_call_ends(engine) {
        let day = 86_400_000;
        let kit = Kit::with(engine, Config { visitor_life: 400 * day, ..config() }).await;
        let first = kit.visitor().await;
        let visitor = kit.caller(&first.access_token).await.unwrap();
        let first = first.refresh_token.unwrap();
        let mut kept = first.clone();
        for _ in 0..3 {
            kit.base.clock.advance(130 * day);
            let again = kit.refresh(&kept).await.unwrap();
            assert_eq!(kit.caller(&again.access_token).await.unwrap(), visitor, "the same visitor");
            let next = again.refresh_token.unwrap();
            assert_ne!(next, kept, "each use makes another");
            kept = next;
        }
        assert!(kit.refresh(&first).await.is_ok(), "the first one counts from when it was made");
        kit.base.clock.advance(10 * day);
        assert_eq!(code_of(kit.refresh(&first).await), Code::OauthInvalidGrant);
        kit.base.clock.advance(390 * day - 1_000);
        assert!(kit.refresh(&kept).await.is_ok());
        kit.base.clock.advance(1_000);
        assert_eq!(code_of(kit.refresh(&kept).await), Code::OauthInvalidGrant);
        // A life that was made shorter counts for those that there are, one that was made longer for others.
        let young = kit.visitor().await.refresh_token.unwrap();
        kit.base.clock.advance(8 * day);
        let shorter = kit.node_with(Config { visitor_life: 7 * day, ..config() }).await;
        assert_eq!(code_of(shorter.token_grant(&refresh_request(&young), None).await), Code::OauthInvalidGrant);
        assert!(kit.refresh(&young).await.is_ok());
        let made_there = shorter.token_grant(&anonymous(&kit.client), None).await.unwrap().refresh_token.unwrap();
        kit.base.clock.advance(7 * day);
        assert_eq!(code_of(kit.refresh(&made_there).await), Code::OauthInvalidGrant, "it says when it ends");
    }

    async fn unknown_client_or_grant_is_refused(engine) {
        let kit = Kit::new(engine).await;
        let grant = async |request: TokenRequest| code_of(kit.identity.token_grant(&request, None).await);
        let unknown = TokenRequest { client_id: Some("nobody".to_owned()), ..anonymous(&kit.client) };
        assert_eq!(grant(unknown).await, Code::OauthInvalidClient);
        let nameless = TokenRequest { client_id: None, ..anonymous(&kit.client) };
        assert_eq!(grant(nameless).await, Code::OauthInvalidRequest);
        let password = TokenRequest { grant_type: "password".to_owned(), ..anonymous(&kit.client) };
        assert_eq!(grant(password).await, Code::OauthGrantType);
        assert_eq!(grant(TokenRequest::default()).await, Code::OauthInvalidRequest);
        assert_eq!(grant(refresh_request("")).await, Code::OauthInvalidRequest);
        assert_eq!(grant(refresh_request("r999.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")).await, Code::OauthInvalidGrant);
    }

    async fn code_becomes_a_member(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, browser, cookie) = kit.member("ada@example.org").await;
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        assert!(matches!(&caller, Caller::Member { id, .. } if *id == browser.member));
        let refresh = tokens.refresh_token.unwrap();
        assert!(refresh.starts_with(&format!("r{}.", kit.site.number)));
        let refreshes = (0..20).map(|_| {
            let (identity, refresh) = (kit.identity.clone(), refresh.clone());
            tokio::spawn(async move { identity.token_grant(&refresh_request(&refresh), None).await })
        });
        for answer in refreshes.collect::<Vec<_>>() {
            let answer = answer.await.unwrap().unwrap();
            assert_eq!(kit.caller(&answer.access_token).await.unwrap(), caller);
        }
        let seen = kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().unwrap();
        assert_eq!(seen.id, browser.id);
        assert!(kit.identity.session_by_cookie(&kit.site, &refresh).await.unwrap().is_none());
        assert_eq!(code_of(kit.refresh(cookie.expose()).await), Code::OauthInvalidGrant);
    }

    async fn standard_client_gets_new_refresh_tokens(engine) {
        let kit = Kit::new(engine).await;
        let (sdk, browser, _) = kit.member("ada@example.org").await;
        let rotating = async || {
            let code = kit.code_that(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER)), true).await;
            kit.identity.token_grant(&kit.code_request(&code), None).await.unwrap().refresh_token.unwrap()
        };
        let first = rotating().await;
        let second = kit.refresh(&first).await.unwrap().refresh_token.unwrap();
        assert_ne!(first, second);
        let third = kit.refresh(&second).await.unwrap().refresh_token.unwrap();
        // Many at once with one token: each goes on, none ends the family.
        let race = (0..30).map(|_| {
            let (identity, token) = (kit.identity.clone(), third.clone());
            tokio::spawn(async move { identity.token_grant(&refresh_request(&token), None).await })
        });
        let mut next = Vec::new();
        for answer in race.collect::<Vec<_>>() {
            next.push(answer.await.unwrap().unwrap().refresh_token.unwrap());
        }
        next.sort();
        next.dedup();
        assert_eq!(next.len(), 30, "each got a token of its own");
        assert!(kit.refresh(&next[7]).await.is_ok());
        // Later the same token is a copy in somebody else's hands: the whole family ends, the thief's part too.
        kit.base.clock.advance(GRACE + 1);
        assert_eq!(code_of(kit.refresh(&third).await), Code::OauthInvalidGrant);
        assert_eq!(code_of(kit.refresh(&next[3]).await), Code::OauthInvalidGrant);
        assert_eq!(code_of(kit.refresh(&sdk.refresh_token.unwrap()).await), Code::OauthInvalidGrant, "one browser, one family");
    }

    async fn used_refresh_token_is_never_forgotten(engine) {
        let kit = Kit::new(engine).await;
        for stolen in [0, 1, 2] {
            let (_, browser, _) = kit.member(&format!("ada{stolen}@example.org")).await;
            let code = kit.code_that(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER)), true).await;
            let mut all = vec![kit.identity.token_grant(&kit.code_request(&code), None).await.unwrap().refresh_token.unwrap()];
            for _ in 0..4 {
                kit.base.clock.advance(40 * 86_400_000);
                kit.identity.retention_run(&kit.site).await;
                all.push(kit.refresh(all.last().unwrap()).await.unwrap().refresh_token.unwrap());
            }
            kit.base.clock.advance(40 * 86_400_000);
            kit.identity.retention_run(&kit.site).await;
            assert_eq!(code_of(kit.refresh(&all[stolen]).await), Code::OauthInvalidGrant, "{stolen}");
            assert_eq!(code_of(kit.refresh(&all[4]).await), Code::OauthInvalidGrant, "{stolen}: the family ends");
        }
    }

    async fn refresh_storm_ends_no_session(engine) {
        let kit = Kit::new(engine).await;
        let (_, browser, _) = kit.member("ada@example.org").await;
        let code = kit.code_that(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER)), true).await;
        let first = kit.identity.token_grant(&kit.code_request(&code), None).await.unwrap().refresh_token.unwrap();
        let mut last = String::new();
        for n in 0..AGAIN + 20 {
            match kit.refresh(&first).await {
                Ok(answer) => last = answer.refresh_token.unwrap(),
                Err(fault) => assert!(n >= AGAIN && fault.code() == Code::OauthInvalidGrant, "{n}: {fault:?}"),
            }
        }
        assert!(kit.refresh(&last).await.is_ok(), "the family goes on");
    }

    async fn session_keeps_few_refresh_tokens(engine) {
        let kit = Kit::new(engine).await;
        let (_, browser, _) = kit.member("ada@example.org").await;
        let code = kit.code_that(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER)), true).await;
        let mut token = kit.identity.token_grant(&kit.code_request(&code), None).await.unwrap().refresh_token.unwrap();
        // Many tabs refresh at once, and of what they get they use the last only.
        for _ in 0..5 {
            let mut next = token.clone();
            for _ in 0..20 {
                next = kit.refresh(&token).await.unwrap().refresh_token.unwrap();
            }
            token = next;
            kit.base.clock.advance(GRACE + 1);
        }
        assert!(kit.refresh(&token).await.is_ok());
        let site = kit.site.id.clone();
        let sql = "select count(*) from stoa.refresh_token where site = $1";
        let kept = kit.site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![&site], |row| row.get(0)).await?)));
        let kept: i64 = kept.await.unwrap().unwrap();
        assert_eq!(kept, AGAIN + 2, "the first one, the one just used, and those that nobody has used");
    }

    async fn sdk_keeps_its_refresh_token(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, ..) = kit.member("ada@example.org").await;
        let refresh = tokens.refresh_token.unwrap();
        for _ in 0..3 {
            kit.base.clock.advance(60_000);
            assert_eq!(kit.refresh(&refresh).await.unwrap().refresh_token.as_deref(), Some(refresh.as_str()));
        }
    }

    async fn session_token_works_once(engine) {
        let kit = Kit::new(engine).await;
        let token = success(kit.register("ada@example.org").await.unwrap());
        assert!(kit.browser_session(&token).await.is_some());
        assert!(kit.browser_session(&token).await.is_none());
        let late = success(kit.login("ada@example.org", PASSWORD).await.unwrap());
        kit.base.clock.advance(10 * 60_000);
        assert!(kit.browser_session(&late).await.is_none());
    }

    async fn code_used_twice_ends_its_session(engine) {
        let kit = Kit::new(engine).await;
        let (_, browser, cookie) = kit.member("ada@example.org").await;
        let code = kit.code(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER))).await;
        let first = kit.identity.token_grant(&kit.code_request(&code), None).await.unwrap();
        assert!(kit.caller(&first.access_token).await.is_ok());
        assert_eq!(code_of(kit.identity.token_grant(&kit.code_request(&code), None).await), Code::OauthInvalidGrant);
        assert_eq!(code_of(kit.caller(&first.access_token).await), Code::Unauthenticated);
        assert_eq!(code_of(kit.refresh(&first.refresh_token.unwrap()).await), Code::OauthInvalidGrant);
        let still = kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap();
        assert!(still.is_some(), "the browser's own session stays");
    }

    async fn redemption_succeeds_once_of_a_hundred(engine) {
        let kit = Kit::new(engine).await;
        let (_, browser, _) = kit.member("ada@example.org").await;
        let code = kit.code(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER))).await;
        let tries = (0..100).map(|_| {
            let (identity, request) = (kit.identity.clone(), kit.code_request(&code));
            tokio::spawn(async move { identity.token_grant(&request, None).await })
        });
        let mut good = Vec::new();
        for answer in tries.collect::<Vec<_>>() {
            match answer.await.unwrap() {
                Ok(answer) => good.push(answer),
                Err(fault) => assert_eq!(fault.code(), Code::OauthInvalidGrant, "{fault:?}"),
            }
        }
        assert_eq!(good.len(), 1);
        assert_eq!(code_of(kit.caller(&good[0].access_token).await), Code::Unauthenticated);
        assert_eq!(code_of(kit.refresh(good[0].refresh_token.as_deref().unwrap()).await), Code::OauthInvalidGrant);
    }

    async fn code_is_bound_to_its_request(engine) {
        let kit = Kit::new(engine).await;
        let (_, browser, _) = kit.member("ada@example.org").await;
        let challenge = || Some(pkce::challenge_of(VERIFIER));
        let (other_site, other_client) = kit.other_site().await;
        let sibling = client(&kit.identity, &kit.site.id).await;
        let code = kit.code(&browser, Some(REDIRECT), challenge()).await;
        let good = kit.code_request(&code);
        let with = |change: fn(&mut TokenRequest)| {
            let mut request = good.clone();
            change(&mut request);
            request
        };
        let mut bad = vec![
            with(|it| it.redirect_uri = None),
            with(|it| it.redirect_uri = Some("https://app.example.org/callback?x".to_owned())),
            with(|it| it.code_verifier = None),
            with(|it| it.code_verifier = Some("a".repeat(43))),
            with(|it| it.code_verifier = Some(pkce::challenge_of(VERIFIER))),
        ];
        bad.extend([&sibling, &other_client].map(|it| TokenRequest { client_id: Some(it.id.to_string()), ..good.clone() }));
        for request in bad {
            assert_eq!(code_of(kit.identity.token_grant(&request, None).await), Code::OauthInvalidGrant, "{request:?}");
        }
        assert!(kit.identity.token_grant(&good, None).await.is_ok(), "wrong guesses don't burn the code");

        // Direct login: no address was given when the code was made, so none is compared.
        let code = kit.code(&browser, None, challenge()).await;
        let direct = TokenRequest { redirect_uri: None, ..kit.code_request(&code) };
        assert!(kit.identity.token_grant(&direct, None).await.is_ok());

        // Without a challenge a public client can't use a code, with or without a verifier.
        let code = kit.code(&browser, None, None).await;
        for verifier in [None, Some(VERIFIER.to_owned())] {
            let request = TokenRequest { code_verifier: verifier, ..kit.code_request(&code) };
            assert_eq!(code_of(kit.identity.token_grant(&request, None).await), Code::OauthInvalidGrant);
        }

        let code = kit.code(&browser, None, challenge()).await;
        kit.base.clock.advance(60_000);
        assert_eq!(code_of(kit.identity.token_grant(&kit.code_request(&code), None).await), Code::OauthInvalidGrant);
        let code = kit.code(&browser, None, challenge()).await;
        kit.identity.session_end(&kit.site, &browser.id).await.unwrap();
        assert_eq!(code_of(kit.identity.token_grant(&kit.code_request(&code), None).await), Code::OauthInvalidGrant);
        drop(other_site);
    }

    async fn app_gets_a_members_tokens(engine) {
        let kit = Kit::new(engine).await;
        let key = kit.api_key(&kit.site.id).await;
        let visitor = kit.visitor().await.access_token;
        let joined = format!("{visitor},{key}");
        let app = kit.identity.authenticate(Some(&joined), None).await.unwrap();
        assert_eq!(app.client.as_ref(), Some(&kit.client.id));
        let sign_on = SignOn {
            email: "eve@example.org".to_owned(),
            profile: serde_json::json!({ "nickname": "eve" }),
            verify_email: true,
        };
        let (member, session_token) =
            kit.identity.member_sign_on(&kit.site, &app.caller, app.visitor.as_ref(), &sign_on).await.unwrap();
        assert!(member.email_verified && !member.has_password());
        let request = TokenRequest {
            grant_type: "authorized_client".to_owned(),
            member_id: Some(member.id.to_string()),
            session_token: Some(session_token.expose().to_owned()),
            ..Default::default()
        };
        let tokens = kit.identity.token_grant(&request, Some(&joined)).await.unwrap();
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        assert!(matches!(&caller, Caller::Member { id, client: Some(it), .. } if *id == member.id && *it == kit.client.id));
        assert!(tokens.refresh_token.is_some());
        assert_eq!(code_of(kit.identity.token_grant(&request, Some(&joined)).await), Code::OauthInvalidGrant, "used");

        let by_id = TokenRequest { session_token: None, ..request.clone() };
        assert!(kit.identity.token_grant(&by_id, Some(&format!(",{key}"))).await.is_ok());
        let nobody = TokenRequest { member_id: Some("nobody".to_owned()), ..by_id.clone() };
        assert_eq!(code_of(kit.identity.token_grant(&nobody, Some(&joined)).await), Code::OauthInvalidGrant);
        assert_eq!(code_of(kit.identity.token_grant(&by_id, Some(&visitor)).await), Code::OauthUnauthorized);
        assert_eq!(code_of(kit.identity.token_grant(&by_id, None).await), Code::Unauthenticated);
        let (other, _) = kit.other_site().await;
        let foreign = kit.api_key(&other.id).await;
        let mixed = format!("{visitor},{foreign}");
        assert_eq!(code_of(kit.identity.token_grant(&by_id, Some(&mixed)).await), Code::Unauthenticated);
        let elsewhere = kit.identity.token_grant(&by_id, Some(&format!(",{foreign}"))).await;
        assert_eq!(code_of(elsewhere), Code::OauthInvalidGrant);
    }

    async fn client_with_a_secret_is_an_app(engine) {
        let kit = Kit::new(engine).await;
        let new = NewClient { name: "Server".to_owned(), with_secret: true, ..Default::default() };
        let (client, secret) = kit.identity.client_create(&kit.site.id, new).await.unwrap();
        let request = TokenRequest {
            grant_type: "client_credentials".to_owned(),
            client_id: Some(client.id.to_string()),
            client_secret: Some(secret.unwrap().expose().to_owned()),
            ..Default::default()
        };
        let tokens = kit.identity.token_grant(&request, None).await.unwrap();
        assert!(tokens.refresh_token.is_none());
        assert!(matches!(kit.caller(&tokens.access_token).await.unwrap(), Caller::App { .. }));
        let wrong = TokenRequest { client_secret: Some("wrong".to_owned()), ..request.clone() };
        assert_eq!(code_of(kit.identity.token_grant(&wrong, None).await), Code::OauthInvalidClient);
        let public = TokenRequest { client_id: Some(kit.client.id.to_string()), ..request.clone() };
        assert_eq!(code_of(kit.identity.token_grant(&public, None).await), Code::OauthInvalidClient);
        // No authentication of the client is as good as a wrong one (RFC 6749 section 5.2).
        let missing = TokenRequest { client_secret: None, ..request };
        assert_eq!(code_of(kit.identity.token_grant(&missing, None).await), Code::OauthInvalidClient);
        kit.identity.client_revoke(&kit.site.id, &client.id).await.unwrap();
        assert_eq!(code_of(kit.caller(&tokens.access_token).await), Code::Unauthenticated);
    }

    async fn idle_or_old_session_ends(engine) {
        let kit = Kit::new(engine).await;
        let day = 86_400_000;
        let (tokens, _, cookie) = kit.member("ada@example.org").await;
        let refresh = tokens.refresh_token.unwrap();
        for _ in 0..8 {
            kit.base.clock.advance(45 * day);
            assert!(kit.refresh(&refresh).await.is_ok(), "used within the idle time");
        }
        assert!(kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().is_some());
        kit.base.clock.advance(10 * day);
        assert_eq!(code_of(kit.refresh(&refresh).await), Code::OauthInvalidGrant, "a year is over");
        let (tokens, ..) = kit.member("bob@example.org").await;
        kit.base.clock.advance(60 * day);
        assert_eq!(code_of(kit.refresh(&tokens.refresh_token.unwrap()).await), Code::OauthInvalidGrant);
        kit.base.clock.advance(400 * day);
        kit.identity.retention_run(&kit.site).await;
    }

    async fn tokens_describe_themselves(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, browser, _) = kit.member("ada@example.org").await;
        let info = kit.identity.token_info(&tokens.access_token).await.unwrap();
        assert_eq!(info["active"], true);
        assert_eq!((info["subjectType"].as_str(), info["subjectId"].as_str()), (Some("MEMBER"), Some(browser.member.as_str())));
        assert_eq!(info["clientId"].as_str(), Some(kit.client.id.as_str()));
        assert_eq!(info["siteId"].as_str(), Some(kit.site.id.as_str()));
        assert_eq!(kit.identity.token_info("nonsense").await.unwrap(), serde_json::json!({ "active": false }));
        let key = kit.api_key(&kit.site.id).await;
        assert_eq!(kit.identity.token_info(&key).await.unwrap()["subjectType"], "APP");
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        let user = kit.identity.user_info(&kit.site, &caller).await.unwrap();
        assert_eq!(user, serde_json::json!({
            "sub": browser.member, "givenName": "Ada", "name": "Ada",
            "email": "ada@example.org", "emailVerified": false,
        }));
        let keys = kit.identity.jwks();
        assert_eq!(keys["keys"][0]["crv"], "Ed25519");
        assert!(!keys.to_string().contains("\"d\""));
    }

    async fn stolen_code_ends_no_session(engine) {
        let kit = Kit::new(engine).await;
        let (_, browser, _) = kit.member("ada@example.org").await;
        let sibling = client(&kit.identity, &kit.site.id).await;
        let code = kit.code(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER))).await;
        let good = kit.code_request(&code);
        let tokens = kit.identity.token_grant(&good, None).await.unwrap();
        for stolen in [
            TokenRequest { client_id: Some(sibling.id.to_string()), ..good.clone() },
            TokenRequest { redirect_uri: Some("https://evil.example/".to_owned()), ..good.clone() },
            TokenRequest { redirect_uri: None, ..good.clone() },
            TokenRequest { code_verifier: Some("a".repeat(43)), ..good.clone() },
            TokenRequest { code_verifier: None, ..good.clone() },
        ] {
            assert_eq!(code_of(kit.identity.token_grant(&stolen, None).await), Code::OauthInvalidGrant, "{stolen:?}");
            assert!(kit.caller(&tokens.access_token).await.is_ok(), "{stolen:?}");
        }
        // The client's own request, seen twice, is a replay however late.
        kit.base.clock.advance(10 * 60_000);
        assert_eq!(code_of(kit.identity.token_grant(&good, None).await), Code::OauthInvalidGrant);
        assert_eq!(code_of(kit.caller(&tokens.access_token).await), Code::Unauthenticated);
    }

    async fn confidential_client_shows_its_secret(engine) {
        let mut kit = Kit::new(engine).await;
        let new = NewClient {
            name: "Server".to_owned(),
            redirect_uris: vec![REDIRECT.to_owned()],
            with_secret: true,
            ..Default::default()
        };
        let (client, secret) = kit.identity.client_create(&kit.site.id, new).await.unwrap();
        let secret = Some(secret.unwrap().expose().to_owned());
        let token = success(kit.register("ada@example.org").await.unwrap());
        let (browser, _) = kit.browser_session(&token).await.unwrap();
        kit.client = client;
        let grant = async |request: TokenRequest| kit.identity.token_grant(&request, None).await;

        for challenge in [Some(pkce::challenge_of(VERIFIER)), None] {
            let code = kit.code(&browser, Some(REDIRECT), challenge.clone()).await;
            let request = TokenRequest { code_verifier: challenge.map(|_| VERIFIER.to_owned()), ..kit.code_request(&code) };
            for wrong in [None, Some(String::new()), Some("wrong".to_owned())] {
                let request = TokenRequest { client_secret: wrong, ..request.clone() };
                assert_eq!(code_of(grant(request).await), Code::OauthInvalidClient);
            }
            let tokens = grant(TokenRequest { client_secret: secret.clone(), ..request }).await.unwrap();
            let refresh = refresh_request(&tokens.refresh_token.unwrap());
            for named in [None, Some(kit.client.id.to_string())] {
                let request = TokenRequest { client_id: named, ..refresh.clone() };
                for wrong in [None, Some(String::new()), Some("wrong".to_owned())] {
                    let request = TokenRequest { client_secret: wrong, ..request.clone() };
                    assert_eq!(code_of(grant(request).await), Code::OauthInvalidClient);
                }
                let right = TokenRequest { client_secret: secret.clone(), ..request };
                assert!(grant(right).await.is_ok());
            }
        }
        // Neither half of the proof key can be left out on the way, the secret notwithstanding.
        for (challenge, verifier) in [(Some(pkce::challenge_of(VERIFIER)), None), (None, Some(VERIFIER.to_owned()))] {
            let code = kit.code(&browser, Some(REDIRECT), challenge).await;
            let request = TokenRequest { client_secret: secret.clone(), code_verifier: verifier, ..kit.code_request(&code) };
            assert_eq!(code_of(grant(request).await), Code::OauthInvalidGrant);
        }
        // Visitors of such a client refresh with the secret too.
        let visitor = refresh_request(&kit.visitor().await.refresh_token.unwrap());
        assert_eq!(code_of(grant(visitor.clone()).await), Code::OauthInvalidClient);
        assert!(grant(TokenRequest { client_secret: secret, ..visitor }).await.is_ok());
    }

    async fn oldest_sessions_are_evicted(engine) {
        let kit = Kit::new(engine).await;
        let (first, browser, cookie) = kit.member("ada@example.org").await;
        let (bystander, ..) = kit.member("bob@example.org").await;
        kit.base.clock.advance(1_000);
        let mut all = Vec::new();
        for _ in 0..49 {
            all.push(kit.exchange(&browser).await.unwrap());
        }
        assert!(kit.caller(&first.access_token).await.is_ok(), "fifty fit");
        kit.base.clock.advance(1_000);
        all.push(kit.exchange(&browser).await.unwrap());
        assert_eq!(code_of(kit.caller(&first.access_token).await), Code::Unauthenticated);
        assert_eq!(code_of(kit.refresh(&first.refresh_token.unwrap()).await), Code::OauthInvalidGrant);
        for tokens in &all {
            assert!(kit.caller(&tokens.access_token).await.is_ok());
        }
        assert!(kit.caller(&bystander.access_token).await.is_ok());
        assert!(kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().is_some());
        // All of them end at once.
        kit.identity.session_end(&kit.site, &browser.id).await.unwrap();
        for tokens in &all {
            assert_eq!(code_of(kit.caller(&tokens.access_token).await), Code::Unauthenticated);
        }
    }

    async fn new_secret_replaces_the_old_one_everywhere(engine) {
        let kit = Kit::new(engine).await;
        let new = NewClient { name: "Server".to_owned(), with_secret: true, ..Default::default() };
        let (client, first) = kit.identity.client_create(&kit.site.id, new).await.unwrap();
        let node = kit.second_node().await;
        let credentials = |secret: &stoa_kernel::Secret| TokenRequest {
            grant_type: "client_credentials".to_owned(),
            client_id: Some(client.id.to_string()),
            client_secret: Some(secret.expose().to_owned()),
            ..Default::default()
        };
        let first = credentials(&first.unwrap());
        let tokens = node.token_grant(&first, None).await.unwrap();
        let second = credentials(&kit.identity.client_secret_renew(&kit.site.id, &client.id).await.unwrap());
        assert_eq!(code_of(kit.identity.token_grant(&first, None).await), Code::OauthInvalidClient);
        assert!(kit.identity.token_grant(&second, None).await.is_ok());
        // The other node has the client in memory, but hears of it within two seconds.
        let mut looks = 0;
        while node.token_grant(&second, None).await.is_err() {
            looks += 1;
            assert!(looks < 400, "it never heard of it");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(code_of(node.token_grant(&first, None).await), Code::OauthInvalidClient);
        assert!(kit.caller(&tokens.access_token).await.is_ok(), "what was got with it lives on");
        for (site, id) in [(&kit.site.id, &kit.client.id), (&"elsewhere".into(), &client.id)] {
            assert_eq!(code_of(kit.identity.client_secret_renew(site, id).await), Code::NotFound);
        }
    }
}
