//! Rotation of the keys that sign tokens (decision 51), and of them and of those that seal by age (decision 56).

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use common::*;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};
use stoa_identity::{Config, Identity, token::signing_rotation::TokenKey};
use stoa_kernel::World;
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

const DAY: i64 = 24 * 60 * 60_000;
/// How long a key that follows one by age is shown before it signs.
const NOTICE: i64 = 30 * 60_000;

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

/// How many keys of tokens each look makes, when so many nodes look at the same moment for those that are too old.
async fn look_at_once(nodes: &[&Identity]) -> Vec<usize> {
    let looks: Vec<_> = nodes
        .iter()
        .map(|it| {
            let node = Identity::clone(it);
            tokio::spawn(async move { node.token_keys_rotate_by_age().await.unwrap().len() })
        })
        .collect();
    let mut made = Vec::new();
    for look in looks {
        made.push(look.await.unwrap());
    }
    made.sort_unstable();
    made
}

/// Days on which a node looks for keys that are too old, and has none sign.
async fn pass(kit: &Kit, days: usize) {
    for _ in 0..days {
        kit.base.clock.advance(DAY);
        assert!(kit.identity.token_keys_rotate_by_age().await.unwrap().is_empty());
    }
}

async fn keys_of(kit: &Kit) -> usize {
    kit.identity.token_keys().await.unwrap().len()
}

async fn change(kit: &Kit, sql: &'static str, values: impl Into<Vec<stoa_sql::Value>>) {
    let catalog = kit.base.store.catalog();
    let changed = catalog.write_with(values.into(), move |tx, values| boxed!(Ok(tx.execute(sql, values).await?)));
    assert_eq!(changed.await.unwrap(), 1);
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

    async fn node_whose_clock_is_ahead_knows_each_key_that_signs(engine) {
        let kit = Kit::new(engine).await;
        let (ahead, _) = World::fixed(kit.base.world.now() + 2 * 60_000, 2);
        let others = kit.other_nodes_in(&ahead).await;
        let nodes: Vec<&Identity> = others.iter().collect();
        for _ in 0..2 {
            kit.identity.token_keys_rotate().await.unwrap();
            let visitor = kit.visitor().await;
            for node in &nodes {
                assert_eq!(signs_with(node, &kit).await, header(&visitor.access_token), "it has heard of them");
            }
            assert!(are_taken(&nodes, &[visitor.access_token], &[visitor.refresh_token.unwrap()]).await);
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

        // No visitor lives longer than ten years. What applications refresh with has no end.
        kit.base.clock.advance(3_650 * DAY);
        kit.identity.retention_run_catalog().await;
        let retired = purposes(|it| it.retired.is_some(), &kit.identity.token_keys().await.unwrap());
        assert_eq!(retired, ["instance", "instance", "instance"]);
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

    async fn keys_that_are_too_old_are_followed_by_those_of_one_node(engine) {
        let kit = Kit::new(engine).await;
        let others = kit.other_nodes().await;
        let nodes: Vec<&Identity> = std::iter::once(&kit.identity).chain(&others).collect();
        let looking: Vec<&Identity> = nodes.iter().copied().cycle().take(6).collect();
        let first = kit.identity.token_keys().await.unwrap();
        assert!(first.iter().all(|it| it.rotates == Some(it.created + 90 * DAY)), "{first:?}");
        let early = [kit.visitor().await.refresh_token.unwrap()];

        kit.base.clock.advance(90 * DAY - 1);
        assert_eq!(look_at_once(&looking).await, [0; 6], "none is old enough");
        kit.base.clock.advance(1);
        assert_eq!(look_at_once(&looking).await, [0; 6], "nodes of an earlier version have a week to be replaced");
        pass(&kit, 6).await;
        assert_eq!(keys_of(&kit).await, 5);
        kit.base.clock.advance(DAY);
        let (member, ..) = kit.member("ada@example.org").await;
        let visitor = kit.visitor().await;
        let access = [member.access_token, visitor.access_token];
        let refresh = [member.refresh_token.unwrap(), visitor.refresh_token.unwrap()];
        assert!(are_taken(&nodes, &access, &[&refresh[..], &early[..]].concat()).await);
        let before = header(&access[0]);

        assert_eq!(look_at_once(&looking).await, [0; 6]);
        assert_eq!(keys_of(&kit).await, 10, "one node made a key of each purpose");
        kit.base.clock.advance(NOTICE - 1);
        assert_eq!(look_at_once(&looking).await, [0; 6]);
        for node in &nodes {
            assert_eq!(node.jwks()["keys"].as_array().unwrap().len(), 2, "who checks tokens finds it before it signs");
            assert_eq!(signs_with(node, &kit).await, before);
        }
        kit.base.clock.advance(1);
        assert_eq!(look_at_once(&looking).await, [0, 0, 0, 0, 0, 5], "one node has them sign");
        assert!(are_taken(&nodes, &access, &[&refresh[..], &early[..]].concat()).await, "no one is signed out");
        for node in &nodes {
            assert_ne!(signs_with(node, &kit).await, before, "the next key signs on every node");
        }
        assert_eq!(look_at_once(&looking).await, [0; 6]);
        pass(&kit, 89).await;
        kit.base.clock.advance(DAY);
        assert_eq!(look_at_once(&looking).await, [0; 6]);
        assert_eq!(keys_of(&kit).await, 15, "the week passes once");
        kit.base.clock.advance(NOTICE);
        assert_eq!(look_at_once(&looking).await, [0, 0, 0, 0, 0, 5]);
        assert_eq!(kit.identity.token_keys().await.unwrap().iter().filter(|it| it.retired.is_none()).count(), 5);
        assert!(are_taken(&nodes, &[], &early).await);
    }

    async fn first_wait_starts_over_where_earlier_versions_may_have_run_again(engine) {
        let kit = Kit::new(engine).await;
        kit.base.clock.advance(91 * DAY);
        pass(&kit, 7).await;
        // Back at a version that doesn't look, for two days.
        kit.base.clock.advance(2 * DAY);
        assert!(kit.identity.token_keys_rotate_by_age().await.unwrap().is_empty());
        pass(&kit, 6).await;
        assert_eq!(keys_of(&kit).await, 5);
        pass(&kit, 1).await;
        assert_eq!(keys_of(&kit).await, 10);
    }

    async fn key_that_has_signed_is_no_next_one(engine) {
        let kit = Kit::new(engine).await;
        pass(&kit, 8).await;
        let now = kit.base.world.now();
        // Made on a node whose clock was far ahead, and followed by command because it leaked.
        change(&kit, "update stoa.signing_key set created = $1 where purpose = 'access'", params![now + 50 * DAY]).await;
        let leaked = kit.identity.token_keys().await.unwrap().remove(0).id;
        kit.identity.token_keys_rotate().await.unwrap();
        pass(&kit, 90).await;
        kit.base.clock.advance(NOTICE);
        let made = kit.identity.token_keys_rotate_by_age().await.unwrap();
        assert_eq!((made.len(), made.contains(&leaked)), (5, false));
    }

    async fn keys_of_tokens_are_as_old_as_each_is(engine) {
        let kit = Kit::new(engine).await;
        let never = kit.node_with(Config { signing_key_age: 0, ..config() }).await;
        let now = kit.base.world.now();
        let made = "update stoa.signing_key set created = $1 where purpose = $2";
        change(&kit, made, params![now - 91 * DAY, "captcha"]).await;
        change(&kit, made, params![now + DAY, "visitor"]).await;
        assert!(kit.identity.token_keys_rotate_by_age().await.unwrap().is_empty());
        pass(&kit, 7).await;
        kit.base.clock.advance(NOTICE);
        assert!(never.token_keys_rotate_by_age().await.unwrap().is_empty(), "it is left to the command");
        assert!(never.token_keys().await.unwrap().iter().all(|it| it.rotates.is_none()));
        let made = kit.identity.token_keys_rotate_by_age().await.unwrap();
        let keys = kit.identity.token_keys().await.unwrap();
        let of_captcha: Vec<_> = keys.iter().filter(|it| it.purpose == "captcha").collect();
        assert_eq!((keys.len(), of_captcha.len(), made), (6, 2, vec![of_captcha[1].id.clone()]));
        assert!(of_captcha[0].retired.is_some() && of_captcha[1].retired.is_none());
    }

    async fn node_that_died_while_it_replaced_keys_is_followed_by_another(engine) {
        let kit = Kit::new(engine).await;
        kit.base.clock.advance(91 * DAY);
        let nodes = [&kit.identity, &kit.second_node().await];
        assert_eq!(look_at_once(&nodes).await, [0, 0]);
        pass(&kit, 6).await;
        kit.base.clock.advance(DAY);
        let now = kit.base.world.now();
        let lease = "update stoa.key_upkeep set holder = 'gone', held_until = $1 where task = 'TOKENS'";
        change(&kit, lease, params![now + 5 * 60_000]).await;
        assert_eq!(look_at_once(&nodes).await, [0, 0]);
        assert_eq!(keys_of(&kit).await, 5, "it may still be at work");
        kit.base.clock.advance(5 * 60_000);
        assert_eq!(look_at_once(&nodes).await, [0, 0]);
        assert_eq!(keys_of(&kit).await, 10);
        // It died between the two steps as well.
        kit.base.clock.advance(NOTICE);
        change(&kit, lease, params![kit.base.world.now() + 5 * 60_000]).await;
        assert_eq!(look_at_once(&nodes).await, [0, 0]);
        kit.base.clock.advance(5 * 60_000);
        assert_eq!(look_at_once(&nodes).await, [0, 5]);
        assert_eq!(keys_of(&kit).await, 10, "no others were made");
        // A node whose clock was wrong holds no other up.
        pass(&kit, 89).await;
        kit.base.clock.advance(DAY);
        change(&kit, lease, params![kit.base.world.now() + 400 * DAY]).await;
        assert_eq!(look_at_once(&nodes).await, [0, 0]);
        assert_eq!(keys_of(&kit).await, 15);
    }

    async fn sealing_keys_that_are_too_old_are_followed_on_one_node(engine) {
        let kit = Kit::new(engine).await;
        let aged = || Config { sealing_key_age: 30 * DAY, ..config() };
        let (one, other) = (kit.node_with(aged()).await, kit.node_with(aged()).await);
        let begun = async |node: &Identity| node.seal_begin_by_age().await.unwrap();
        let (_, keys) = one.seal_status().await.unwrap();
        assert!(keys.iter().all(|it| it.rotates == Some(it.created + 30 * DAY)), "{keys:?}");
        kit.base.clock.advance(30 * DAY - 1);
        assert!(begun(&one).await.is_none());
        kit.base.clock.advance(1);
        assert!(begun(&one).await.is_none(), "the first wait");
        for _ in 0..6 {
            kit.base.clock.advance(DAY);
            assert!(begun(&one).await.is_none());
        }
        kit.base.clock.advance(DAY);
        assert!(begun(&kit.identity).await.is_none(), "by default it is left to the command");
        let (first, second) = tokio::join!(one.seal_begin_by_age(), other.seal_begin_by_age());
        let mut leases: Vec<_> = [first, second].into_iter().filter_map(Result::unwrap).collect();
        let (lost, rotation) = leases.pop().unwrap();
        assert!(leases.is_empty(), "one of them");
        assert_eq!(one.seal_status().await.unwrap().1.len(), 12, "each purpose has another key");

        // Cut off, it is gone on with, once the node that began it has had the time to.
        assert!(lost.renew().await.unwrap());
        assert!(begun(&one).await.is_none() && begun(&other).await.is_none());
        kit.base.clock.advance(61 * 60_000);
        let (lease, again) = begun(&other).await.unwrap();
        assert_eq!(again, rotation);
        assert!(!lost.renew().await.unwrap(), "who was held up stops");
        lost.end().await.unwrap();
        assert!(lease.renew().await.unwrap(), "and takes nothing from the other");
        other.seal_catalog().await.unwrap();
        other.seal_site(&kit.site).await.unwrap();
        other.seal_end(&again.id).await.unwrap();
        lease.end().await.unwrap();
        for _ in 0..29 {
            kit.base.clock.advance(DAY);
            assert!(begun(&one).await.is_none() && begun(&other).await.is_none());
        }
        kit.base.clock.advance(DAY);
        let (lease, next) = begun(&one).await.unwrap();
        assert_ne!(next.id, rotation.id);
        lease.end().await.unwrap();
        assert_eq!(one.seal_status().await.unwrap().1.len(), 18);
    }
}
