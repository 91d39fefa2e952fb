//! Rotation of the keys that sign tokens (decision 51).

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use common::*;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};
use stoa_identity::{Identity, token::signing_rotation::TokenKey};
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

const DAY: i64 = 24 * 60 * 60_000;

fn header(token: &str) -> String {
    token.split('.').next().unwrap().to_owned()
}

/// Whether every node takes these tokens: of access, and to refresh with.
async fn are_taken(nodes: &[&Identity], access: &[String], refresh: &[String]) -> bool {
    for node in nodes {
        for token in access {
            if node.authenticate(Some(token), None).await.is_err() {
                return false;
            }
        }
        for token in refresh {
            if node.token_grant(&refresh_request(token), None).await.is_err() {
                return false;
            }
        }
    }
    true
}

/// A visitor's access token as who has the key makes it that signs now: it says that it is good for years.
async fn forge(kit: &Kit) -> String {
    let sql = "select private from stoa.signing_key where purpose = 'access' and retired is null";
    let read =
        kit.base.store.catalog().read(ReaderPool::Point, move |tx| {
            boxed!(Ok(tx.row(sql, &[], |row| row.get::<Vec<u8>>(0)).await?.unwrap()))
        });
    let key = Ed25519KeyPair::from_seed_unchecked(&read.await.unwrap()).unwrap();
    let token = kit.visitor().await.access_token;
    let parts: Vec<&str> = token.split('.').collect();
    let mut claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    let later = claims["exp"].as_i64().unwrap() + 100_000_000;
    (claims["iat"], claims["exp"]) = (json!(later), json!(later));
    let signed = format!("{}.{}", parts[0], URL_SAFE_NO_PAD.encode(claims.to_string()));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes())))
}

async fn signs_with(node: &Identity, kit: &Kit) -> String {
    header(&node.token_grant(&anonymous(&kit.client), None).await.unwrap().access_token)
}

on_both_engines! {
    async fn key_that_leaked_forges_nothing_once_its_time_is_over(engine) {
        let kit = Kit::new(engine).await;
        let others = kit.other_nodes().await;
        let nodes: Vec<&Identity> = std::iter::once(&kit.identity).chain(&others).collect();
        let forged = [forge(&kit).await];
        assert!(are_taken(&nodes, &forged, &[]).await, "it is made well, and remembered from here on");
        kit.identity.token_keys_rotate().await.unwrap();
        assert!(are_taken(&nodes, &forged, &[]).await, "for two days, as others that it has signed");
        kit.base.clock.advance(3 * DAY);
        for node in nodes {
            assert!(node.authenticate(Some(&forged[0]), None).await.is_err(), "whether its row was deleted or not");
            assert_eq!(node.jwks()["keys"].as_array().unwrap().len(), 1);
        }
    }

    async fn key_that_is_deleted_verifies_nothing_on_any_node(engine) {
        let kit = Kit::new(engine).await;
        let others = kit.other_nodes().await;
        let nodes: Vec<&Identity> = std::iter::once(&kit.identity).chain(&others).collect();
        let (member, ..) = kit.member("ada@example.org").await;
        let (visitor, forged) = (kit.visitor().await, [forge(&kit).await]);
        assert!(are_taken(&nodes, &forged, &[]).await, "all nodes remember it");
        let before = kit.identity.token_keys().await.unwrap();
        let refusal = kit.identity.token_key_delete(&before[0].id).await.unwrap_err();
        assert_eq!(refusal.code().name(), "PERMISSION_DENIED", "it signs");
        kit.identity.token_keys_rotate().await.unwrap();
        for key in &before {
            kit.identity.token_key_delete(&key.id).await.unwrap();
        }
        for node in &nodes {
            for token in [&forged[0], &member.access_token, &visitor.access_token] {
                assert!(node.authenticate(Some(token), None).await.is_err());
            }
            let visitor = node.token_grant(&refresh_request(visitor.refresh_token.as_ref().unwrap()), None).await;
            assert!(visitor.is_err(), "its key was deleted too");
        }
        assert!(are_taken(&nodes, &[], &[member.refresh_token.unwrap()]).await, "members refresh");
        let missing = kit.identity.token_key_delete(&before[0].id).await.unwrap_err();
        assert_eq!(missing.code().name(), "NOT_FOUND");
    }

    async fn node_that_starts_amid_a_rotation_has_the_new_keys(engine) {
        let kit = Kit::new(engine).await;
        for _ in 0..8 {
            let (rotated, started) = tokio::join!(kit.identity.token_keys_rotate(), kit.second_node());
            rotated.unwrap();
            let mut turns = 0;
            while signs_with(&started, &kit).await != signs_with(&kit.identity, &kit).await {
                assert!(turns < 100, "it reads them within seconds");
                turns += 1;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            assert_eq!(started.jwks(), kit.identity.jwks());
        }
    }

    async fn tokens_of_before_and_after_a_rotation_count_on_every_node(engine) {
        let kit = Kit::new(engine).await;
        let others = kit.other_nodes().await;
        let nodes: Vec<&Identity> = std::iter::once(&kit.identity).chain(&others).collect();
        let (member, ..) = kit.member("ada@example.org").await;
        let (mut access, mut refresh) = (vec![member.access_token], vec![member.refresh_token.unwrap()]);
        let mut headers = BTreeSet::new();
        for turn in 0..3 {
            for node in &nodes {
                let visitor = node.token_grant(&anonymous(&kit.client), None).await.unwrap();
                headers.insert(header(&visitor.access_token));
                access.push(visitor.access_token);
                refresh.push(visitor.refresh_token.unwrap());
            }
            assert_eq!(headers.len(), turn + 1, "one key signs on all nodes");
            assert!(are_taken(&nodes, &access, &refresh).await, "before rotation {turn}");
            assert_eq!(nodes[turn % nodes.len()].token_keys_rotate().await.unwrap().len(), 5);
            assert!(are_taken(&nodes, &access, &refresh).await, "after rotation {turn}");
        }
        let shown = kit.identity.jwks()["keys"].as_array().unwrap().len();
        assert_eq!(shown, 4, "who checks tokens finds the keys of those that are out");

        // What a key has signed outlives it nowhere.
        kit.base.clock.advance(3 * DAY);
        kit.identity.retention_run_catalog().await;
        let purposes = |is: fn(&TokenKey) -> bool, keys: &[TokenKey]| {
            keys.iter().filter(|it| is(it)).map(|it| it.purpose.clone()).collect::<Vec<_>>()
        };
        let keys = kit.identity.token_keys().await.unwrap();
        assert_eq!(purposes(|it| it.retired.is_none(), &keys), ["access", "visitor", "stage", "captcha", "instance"]);
        let retired = purposes(|it| it.retired.is_some(), &keys);
        assert_eq!(retired, ["visitor", "visitor", "visitor", "instance", "instance", "instance"]);
        assert!(are_taken(&nodes, &[], &refresh).await, "visitors and members are who they were");
    }

    async fn rotations_at_once_leave_one_key_that_signs(engine) {
        let kit = Kit::new(engine).await;
        let others = kit.other_nodes().await;
        let all = std::iter::once(kit.identity.clone()).chain(others.iter().cloned()).cycle().take(6);
        let running: Vec<_> = all.map(|it| tokio::spawn(async move { it.token_keys_rotate().await.unwrap() })).collect();
        for it in running {
            it.await.unwrap();
        }
        let keys = kit.identity.token_keys().await.unwrap();
        assert_eq!(keys.iter().filter(|it| it.retired.is_none()).count(), 5);
        let visitor = kit.visitor().await;
        let nodes: Vec<&Identity> = std::iter::once(&kit.identity).chain(&others).collect();
        for node in &nodes {
            assert_eq!(signs_with(node, &kit).await, header(&visitor.access_token), "the same on every node");
        }
        assert!(are_taken(&nodes, &[visitor.access_token], &[visitor.refresh_token.unwrap()]).await);
    }
}
