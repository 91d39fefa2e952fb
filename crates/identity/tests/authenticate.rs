//! Which tokens are accepted for which caller: confusion, forgery, age, revocation, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use common::*;
use ring::{
    hmac,
    signature::{Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use stoa_identity::{Config, Identity, oauth::TokenRequest};
use stoa_kernel::{Caller, Code};
use stoa_sql::params;
use stoa_store::{ReaderPool, SiteChange, boxed};
use stoa_testkit::on_both_engines;

async fn refused(identity: &Identity, token: &str) -> bool {
    match identity.authenticate(Some(token), None).await {
        Err(fault) => fault.code() == Code::Unauthenticated,
        Ok(_) => false,
    }
}

fn segment(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn open(segment: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(segment).unwrap()).unwrap()
}

on_both_engines! {
    async fn tokens_do_not_pass_for_one_another(engine) {
        let kit = Kit::new(engine).await;
        let visitor = kit.visitor().await;
        let (member, _, cookie) = kit.member("ada@example.org").await;
        let session_token = success(kit.login("ada@example.org", PASSWORD).await.unwrap());
        let (visitor_refresh, member_refresh) = (visitor.refresh_token.unwrap(), member.refresh_token.unwrap());
        for token in [&visitor_refresh, &member_refresh, &session_token, cookie.expose(), "", ",", "Bearer ", "x.y.z"] {
            assert!(refused(&kit.identity, token).await, "{token}");
        }
        for token in [&visitor.access_token, &member.access_token, &session_token, &kit.api_key(&kit.site.id).await] {
            let answer = kit.refresh(token).await;
            assert_eq!(answer.expect_err("refused").code(), Code::OauthInvalidGrant, "{token}");
            let code = TokenRequest { code: Some(token.clone()), ..kit.code_request("") };
            let answer = kit.identity.token_grant(&code, None).await;
            assert_eq!(answer.expect_err("refused").code(), Code::OauthInvalidGrant, "{token}");
        }
        assert!(kit.browser_session(&member_refresh).await.is_none());
        assert!(kit.browser_session(&session_token.replace(&format!("s{}", kit.site.number), "s9")).await.is_none());
    }

    async fn token_belongs_to_its_site(engine) {
        let kit = Kit::new(engine).await;
        let (other, other_client) = kit.other_site().await;
        let (here, there) = (kit.visitor().await, kit.identity.token_grant(&anonymous(&other_client), None).await.unwrap());
        let site_of = async |token: &str, hint| kit.identity.authenticate(Some(token), hint).await.map(|it| it.site);
        assert_eq!(site_of(&here.access_token, None).await.unwrap(), kit.site.id);
        assert_eq!(site_of(&there.access_token, None).await.unwrap(), other.id);
        assert_eq!(site_of(&there.access_token, Some(other.id.as_str())).await.unwrap(), other.id);
        assert!(site_of(&there.access_token, Some(kit.site.id.as_str())).await.is_err());
        let key = kit.api_key(&other.id).await;
        assert_eq!(site_of(&key, Some(other.id.as_str())).await.unwrap(), other.id);
        assert_eq!(site_of(&key, Some("")).await.unwrap(), other.id);
        assert!(site_of(&key, Some(kit.site.id.as_str())).await.is_err());
        assert!(site_of(&format!("{},{key}", here.access_token), None).await.is_err());
        assert!(site_of(&format!("Bearer {}", here.access_token), None).await.is_ok());
        assert!(site_of(&format!(",{}", here.access_token), None).await.is_err(), "the second half must be a key");
        let moved = key.replacen(&format!("k{}.", other.number), &format!("k{}.", kit.site.number), 1);
        assert!(site_of(&moved, None).await.is_err());
        let session_token = success(kit.register("ada@example.org").await.unwrap());
        let redeemed = other.write_with((kit.identity.clone(), other.clone(), session_token), |tx, (identity, site, token)| {
            stoa_store::boxed!(identity.session_token_redeem(tx, site, token).await)
        });
        assert!(redeemed.await.unwrap().is_none());
    }

    async fn forged_tokens_are_refused(engine) {
        let kit = Kit::new(engine).await;
        let token = kit.visitor().await.access_token;
        let refresh = kit.visitor().await.refresh_token.unwrap();
        assert!(!refused(&kit.identity, &token).await, "it is in the cache from here on");
        let parts: Vec<&str> = token.split('.').collect();
        let (header, claims, signature) = (parts[0], parts[1], parts[2]);
        let header_of = |change: &dyn Fn(&mut Value)| {
            let mut it = open(header);
            change(&mut it);
            segment(&it)
        };
        let claims_of = |change: &dyn Fn(&mut Value)| {
            let mut it = open(claims);
            change(&mut it);
            segment(&it)
        };
        let as_member = claims_of(&|it| it["knd"] = json!("m"));
        let as_app = claims_of(&|it| it["knd"] = json!("a"));
        let later = claims_of(&|it| it["exp"] = json!(9_999_999_999_i64));
        let none = header_of(&|it| it["alg"] = json!("none"));
        let hs256 = header_of(&|it| it["alg"] = json!("HS256"));
        let jwks = kit.identity.jwks();
        let public = URL_SAFE_NO_PAD.decode(jwks["keys"][0]["x"].as_str().unwrap()).unwrap();
        let by_public_key = {
            let signed = format!("{hs256}.{claims}");
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), signed.as_bytes());
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag))
        };
        let own = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let sign = |header: &str| {
            let signed = format!("{header}.{as_app}");
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(own.sign(signed.as_bytes())))
        };
        let x = URL_SAFE_NO_PAD.encode(own.public_key());
        let with_key = header_of(&|it| it["jwk"] = json!({ "kty": "OKP", "crv": "Ed25519", "x": x }));
        let with_address = header_of(&|it| it["jku"] = json!("https://evil.example/jwks"));
        let kid_path = header_of(&|it| it["kid"] = json!("../../dev/null"));
        let kid_sql = header_of(&|it| it["kid"] = json!("' or 1=1 --"));
        let refresh_parts: Vec<&str> = refresh.split('.').collect();
        let forged = vec![
            format!("{none}.{as_app}."),
            format!("{none}.{as_app}"),
            format!("{none}.{as_app}.{signature}"),
            by_public_key,
            sign(header), sign(&with_key), sign(&with_address), sign(&kid_path), sign(&kid_sql),
            format!("{header}.{as_member}.{signature}"),
            format!("{header}.{as_app}.{signature}"),
            format!("{header}.{later}.{signature}"),
            format!("{header}.{claims}.{}", refresh_parts[2]),
            format!("{}.{}.{}", refresh_parts[0], claims, signature),
            format!("{header}.{}.{}", refresh_parts[1], refresh_parts[2]),
            format!("{header}.{claims}."),
            format!("{header}..{signature}"),
            format!("{header}.{claims}.{signature}."),
            format!("{header}.{claims}.{signature}A"),
            format!("{header}.{claims}.{}", &signature[..80]),
            format!("{header} .{claims}.{signature}"),
            token.to_uppercase(),
            "a".repeat(100_000),
        ];
        for token in forged {
            assert!(refused(&kit.identity, &token).await, "{token}");
        }
        assert!(!refused(&kit.identity, &token).await);
    }

    async fn token_is_good_for_its_life_and_a_little_longer(engine) {
        let kit = Kit::new(engine).await;
        let token = kit.visitor().await.access_token;
        let again = kit.second_node().await;
        kit.base.clock.advance(14_400_000 + 59_000);
        assert!(!refused(&kit.identity, &token).await && !refused(&again, &token).await, "also after a restart");
        kit.base.clock.advance(1_000);
        assert!(refused(&kit.identity, &token).await && refused(&again, &token).await);
    }

    async fn ended_session_is_refused_everywhere(engine) {
        let kit = Kit::new(engine).await;
        let elsewhere = kit.second_node().await;
        let (tokens, browser, cookie) = kit.member("ada@example.org").await;
        let second = kit.exchange(&browser).await.unwrap();
        let (other, ..) = kit.member("bob@example.org").await;
        for token in [&tokens.access_token, &second.access_token, &other.access_token] {
            assert!(!refused(&kit.identity, token).await && !refused(&elsewhere, token).await);
        }
        let session = session_of(&kit.caller(&tokens.access_token).await.unwrap());
        kit.identity.session_end(&kit.site, &session).await.unwrap();
        assert!(refused(&kit.identity, &tokens.access_token).await);
        assert!(refused(&kit.identity, &second.access_token).await, "the family ends together");
        assert!(kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().is_none());
        assert!(kit.refresh(second.refresh_token.as_deref().unwrap()).await.is_err());
        assert!(!refused(&kit.identity, &other.access_token).await);

        let mut waited = 0;
        while !refused(&elsewhere, &tokens.access_token).await {
            assert!(waited < 2_000, "another node must refuse within two seconds");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            waited += 50;
        }
        assert!(refused(&kit.second_node().await, &second.access_token).await, "loaded before the first request");
        assert!(!refused(&elsewhere, &other.access_token).await);
    }

    async fn session_ended_twice_is_refused_on_every_node(engine) {
        let kit = Kit::new(engine).await;
        let nodes = kit.other_nodes().await;
        for n in 0..5 {
            let (tokens, browser, _) = kit.member(&format!("m{n}@example.org")).await;
            for node in &nodes {
                assert!(!refused(node, &tokens.access_token).await);
            }
            let session = session_of(&kit.caller(&tokens.access_token).await.unwrap());
            // One node has ended it, and still waits for the others.
            let ended = kit.site.write_with((kit.site.id.clone(), browser.id.clone()), |tx, (site, id)| {
                boxed!({
                    let sql = "update stoa.session set ended = 1 where site = $1 and root = $2";
                    tx.execute(sql, &params![site, id]).await?;
                    Ok(())
                })
            });
            ended.await.unwrap();
            let row = kit.base.store.catalog().write_with((session.clone(), kit.base.world.now()), |tx, (id, now)| {
                boxed!({
                    let sql = "insert into stoa.revocation (subject, created, expires) values ($1, $2, $3)";
                    tx.execute(sql, &params![id, *now, now + 86_400_000]).await?;
                    Ok(())
                })
            });
            row.await.unwrap();
            kit.identity.session_end(&kit.site, &session).await.unwrap();
            for node in &nodes {
                assert!(refused(node, &tokens.access_token).await, "the second answer waits for them as well");
            }
        }
    }

    async fn revocation_list_that_is_too_old_is_not_trusted(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, browser, _) = kit.member("ada@example.org").await;
        let elsewhere = kit.second_node().await;
        assert!(!refused(&elsewhere, &tokens.access_token).await);
        kit.identity.session_end(&kit.site, &browser.id).await.unwrap();
        kit.base.clock.advance(2_001);
        assert!(refused(&elsewhere, &tokens.access_token).await, "checked in the catalogue, not in memory");
    }

    async fn revoked_key_or_client_is_refused(engine) {
        let kit = Kit::new(engine).await;
        let (key, secret) = kit.identity.api_key_create(&kit.site.id, "Key").await.unwrap();
        assert_eq!(kit.caller(secret.expose()).await.unwrap(), Caller::App { id: key.id.clone() });
        let (other, _) = kit.other_site().await;
        let foreign = kit.identity.api_key_revoke(&other.id, &key.id).await;
        assert_eq!(foreign.expect_err("refused").code(), Code::NotFound);
        assert!(!refused(&kit.identity, secret.expose()).await);
        kit.identity.api_key_revoke(&kit.site.id, &key.id).await.unwrap();
        assert!(refused(&kit.identity, secret.expose()).await);
        let list = kit.identity.api_key_list(&kit.site.id).await.unwrap();
        assert!(list.len() == 1 && list[0].revoked.is_some());

        let visitor = kit.visitor().await;
        let (member, ..) = kit.member("ada@example.org").await;
        kit.identity.client_revoke(&kit.site.id, &kit.client.id).await.unwrap();
        assert!(refused(&kit.identity, &visitor.access_token).await);
        assert!(refused(&kit.identity, &member.access_token).await);
        for refresh in [visitor.refresh_token.unwrap(), member.refresh_token.unwrap()] {
            assert_eq!(kit.refresh(&refresh).await.expect_err("refused").code(), Code::OauthInvalidGrant);
        }
        let new = kit.identity.token_grant(&anonymous(&kit.client), None).await;
        assert_eq!(new.expect_err("refused").code(), Code::OauthInvalidClient);
        assert!(kit.identity.client_list(&kit.site.id).await.unwrap().is_empty());
    }

    async fn tokens_name_their_site_as_issuer(engine) {
        let kit = Kit::new(engine).await;
        let (other, other_client) = kit.other_site().await;
        kit.identity.url_set("https://www.example.org:8443");
        let issuer = |token: &str| open(token.split('.').nth(1).unwrap())["iss"].as_str().unwrap().to_owned();
        let of = async |client: &stoa_identity::client::Client| {
            let tokens = kit.identity.token_grant(&anonymous(client), None).await.unwrap();
            assert_eq!(issuer(&tokens.access_token), issuer(tokens.refresh_token.as_ref().unwrap()));
            issuer(&tokens.access_token)
        };
        assert_eq!(of(&kit.client).await, format!("https://www.example.org:8443/s/{}", kit.site.id));
        assert_eq!(of(&other_client).await, format!("https://www.example.org:8443/s/{}", other.id));
        let hosts = SiteChange { add_hosts: vec!["shop.example.org".to_owned()], ..SiteChange::default() };
        kit.base.store.site_update(&other.id, hosts, kit.base.world.now()).await.unwrap();
        kit.base.clock.advance(10_000);
        assert_eq!(of(&other_client).await, "https://shop.example.org:8443", "its own origin");
        let (member, ..) = kit.member("ada@example.org").await;
        let own = format!("https://www.example.org:8443/s/{}", kit.site.id);
        assert_eq!(issuer(&member.access_token), own);
        let key = kit.api_key(&kit.site.id).await;
        let request = TokenRequest { token: Some(member.access_token), ..TokenRequest::default() };
        assert_eq!(kit.identity.token_introspect(&request, Some(&key)).await.unwrap()["iss"], own.as_str());
    }

    /// Visitors' refresh tokens last for years, and a server's address may change. Those of before they had an end don't
    /// say when they end.
    async fn tokens_of_an_earlier_version_are_read(engine) {
        let day = 86_400_000;
        let kit = Kit::with(engine, Config { visitor_life: day, ..config() }).await;
        let tokens = kit.visitor().await;
        let (access, refresh) = (tokens.access_token, tokens.refresh_token.unwrap());
        let sql = "select private from stoa.signing_key where purpose = $1";
        let seed = async |purpose: &'static str| {
            let read = kit.base.store.catalog().read(ReaderPool::Point, move |tx| {
                boxed!(Ok(tx.row(sql, &stoa_sql::params![purpose], |row| row.get::<Vec<u8>>(0)).await?))
            });
            read.await.unwrap().unwrap()
        };
        let old = |token: &str| {
            let mut parts = token.split('.');
            let (header, mut claims) = (parts.next().unwrap(), open(parts.next().unwrap()));
            claims["iss"] = json!("stoa");
            if claims["knd"] == "v" && token == refresh {
                claims.as_object_mut().unwrap().remove("exp").unwrap();
            }
            format!("{header}.{}", segment(&claims))
        };
        let (old_access, old_refresh) = (old(&access), old(&refresh));
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed("access").await).unwrap();
        let old_access = format!("{old_access}.{}", URL_SAFE_NO_PAD.encode(pair.sign(old_access.as_bytes())));
        let key = hmac::Key::new(hmac::HMAC_SHA256, &seed("visitor").await);
        let key = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, b"stoa token mac").as_ref());
        let old_refresh = format!("{old_refresh}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, old_refresh.as_bytes())));
        kit.identity.url_set("https://elsewhere.example");
        for token in [&access, &old_access] {
            assert_eq!(kit.caller(token).await.unwrap(), kit.caller(&access).await.unwrap());
        }
        for token in [&refresh, &old_refresh] {
            assert!(kit.refresh(token).await.is_ok());
        }
        kit.base.clock.advance(4 * 3_600_000 + 60_000);
        assert!(refused(&kit.identity, &old_access).await, "it ends as it would have");

        // Who calls for the first time since then is known, and answered a token that ends like others.
        kit.base.clock.advance(500 * day);
        assert!(kit.refresh(&refresh).await.is_err());
        let answered = kit.refresh(&old_refresh).await.unwrap();
        let of = |token: &str| open(token.split('.').nth(1).unwrap());
        let (before, after) = (of(&refresh), of(answered.refresh_token.as_ref().unwrap()));
        assert_eq!((&after["sub"], after["exp"].as_i64().unwrap() - after["iat"].as_i64().unwrap()), (&before["sub"], 86_400));
        kit.base.clock.advance(3_149 * day);
        assert!(kit.refresh(&old_refresh).await.is_ok());
        kit.base.clock.advance(day);
        assert!(kit.refresh(&old_refresh).await.is_err(), "but not for ever");
    }
}
