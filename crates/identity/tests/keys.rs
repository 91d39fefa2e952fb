//! Keys of applications and sealing keys, on both engines: each signs, opens and ends when it is said to, on every node,
//! however many ask at once and wherever a rotation is cut off.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use common::{Kit, attempt, config};
use ring::{rsa::PublicKeyComponents, signature::RSA_PKCS1_2048_8192_SHA256};
use serde_json::{Map, Value, json};
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use stoa_identity::{
    Identity,
    app_key::{AppKey, KeyOrigin, KeyState, SigningKey},
    client::NewClient,
    defence::captcha_provider::ProviderSettings,
};
use stoa_kernel::{Caller, ClientId, Code, Result, Secret, SiteId};
use stoa_outbound::{Letter, Mailer, Recorder, Sending, Undelivered};
use stoa_store::{Database, ReaderPool, Site, boxed};
use stoa_testkit::{TestStore, local_reach, on_both_engines};

const IMPORTED: &str = include_str!("keys/pkcs8.pem");
const IMPORTED_ID: &str = "NYgVWm1naVMDZ_FCd3Fe0RrG4H5-8M26pm9LAHilQWg";
const DAY: i64 = 24 * 60 * 60_000;

/// A client with a secret.
async fn application(identity: &Identity, site: &SiteId) -> ClientId {
    let new = NewClient { name: "Application".to_owned(), with_secret: true, ..NewClient::default() };
    identity.client_create(site, new).await.unwrap().0.id
}

fn claims() -> Map<String, Value> {
    let claims = json!({ "aud": "app", "exp": 1_999_999_999, "data": "{\"ü\":1}" });
    claims.as_object().unwrap().clone()
}

/// The id of the key that signed a token, once the key of that id among those that are shown has accepted it.
fn signer(jwks: &Value, token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    let decode = |it: &str| URL_SAFE_NO_PAD.decode(it).unwrap();
    let header: Value = serde_json::from_slice(&decode(header)).unwrap();
    assert_eq!((&header["alg"], &header["typ"]), (&json!("RS256"), &json!("JWT")));
    assert_eq!(serde_json::from_slice::<Value>(&decode(payload)).unwrap(), Value::Object(claims()));
    let key = jwks["keys"].as_array().unwrap().iter().find(|it| it["kid"] == header["kid"]);
    let key = key.unwrap_or_else(|| panic!("{header} is not shown: {jwks}"));
    assert_eq!((&key["kty"], &key["use"], &key["alg"]), (&json!("RSA"), &json!("sig"), &json!("RS256")));
    let [n, e] = ["n", "e"].map(|it| decode(key[it].as_str().unwrap()));
    let public = PublicKeyComponents { n, e };
    public.verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &decode(signature)).unwrap();
    key["kid"].as_str().unwrap().to_owned()
}

/// Who signs at a node, as everybody can check.
async fn signs(identity: &Identity, app: &ClientId, key: SigningKey) -> Result<String> {
    let token = identity.app_sign(app, key, &claims()).await?;
    Ok(signer(&identity.app_jwks(app).await.unwrap(), &token))
}

async fn states(kit: &Kit, app: &ClientId) -> Vec<(String, KeyState)> {
    let keys = kit.identity.app_key_list(&kit.site.id, app).await.unwrap();
    keys.into_iter().map(|it| (it.id, it.state)).collect()
}

fn code<T>(result: Result<T>) -> Option<Code> {
    result.err().map(|it| it.code())
}

async fn rotated(kit: &Kit, app: &ClientId) -> AppKey {
    kit.identity.app_key_rotate(&kit.site.id, app).await.unwrap()
}

async fn activated(kit: &Kit, app: &ClientId) -> AppKey {
    kit.identity.app_key_activate(&kit.site.id, app, None).await.unwrap()
}

async fn ask(database: &Database, sql: &'static str) -> i64 {
    let read =
        database.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)));
    read.await.unwrap().unwrap()
}

async fn change(database: &Database, sql: &'static str) -> u64 {
    database.write(move |tx| boxed!(Ok(tx.execute(sql, &[]).await?))).await.unwrap()
}

/// A mail server that is away until it comes back.
#[derive(Default)]
struct MailServer {
    is_back: AtomicBool,
    kept: Recorder,
}

impl Mailer for MailServer {
    fn send<'a>(&'a self, letter: &'a Letter) -> Sending<'a> {
        match self.is_back.load(Ordering::SeqCst) {
            true => self.kept.send(letter),
            false => Box::pin(async { Err(Undelivered::Later("away".to_owned())) }),
        }
    }
}

/// A site with something sealed of each kind: a message that waits, a secret of a provider, a key that signs.
struct Sealed {
    base: TestStore,
    identity: Identity,
    mail: Arc<MailServer>,
    site: Arc<Site>,
    app: ClientId,
    key: String,
}

impl Sealed {
    async fn new(engine: stoa_testkit::Engine) -> Self {
        let base = TestStore::new(engine).await;
        let mail = Arc::new(MailServer::default());
        let identity = Identity::open(base.store.clone(), base.world.clone(), mail.clone(), local_reach(), config())
            .await
            .unwrap();
        let site = base.store.site_create("Test", &base.world).await.unwrap();
        let app = application(&identity, &site.id).await;
        let key = identity.app_key_rotate(&site.id, &app).await.unwrap().id;
        identity.app_key_activate(&site.id, &app, None).await.unwrap();
        let provider = ProviderSettings {
            url: "https://captcha.example/siteverify".to_owned(),
            secret: Secret::new("a-secret-of-the-provider"),
            visible_key: Some("v".to_owned()),
            invisible_key: None,
            minimum_score: None,
            script_url: None,
        };
        identity.captcha_provider_set(&site, &provider).await.unwrap();
        let kit = Self { base, identity, mail, site, app, key };
        let registration = common::registration("ann@example.org", common::PASSWORD);
        kit.identity.member_register(&kit.site, &attempt(), &registration).await.unwrap();
        kit.ask_for_a_link(&kit.identity).await;
        kit
    }

    /// Puts one more message into the queue, and waits until it has been tried in vain.
    async fn ask_for_a_link(&self, identity: &Identity) {
        let waiting = "select count(*) from stoa.mail where kind = 'recovery' and attempts > 0";
        let before = ask(&self.site, waiting).await;
        let (app, here) = (Caller::App { id: "key".into() }, IpAddr::V4(Ipv4Addr::LOCALHOST));
        identity.recovery_send(&self.site, &app, here, &json!({ "email": "ann@example.org" })).await.unwrap();
        for _ in 0..1_000 {
            if ask(&self.site, waiting).await > before {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the message is not tried");
    }

    /// How much is under older keys: messages, secrets, keys of applications.
    async fn left(&self) -> (u64, u64, u64) {
        let left = self.identity.seal_left(&self.site).await.unwrap();
        (left.messages, left.captcha_secrets, self.identity.seal_left_catalog().await.unwrap().0)
    }

    /// Goes through everything, and answers how much was sealed again.
    async fn go_through(&self) -> u64 {
        self.identity.seal_catalog().await.unwrap() + self.identity.seal_site(&self.site).await.unwrap()
    }

    /// How many keys each purpose has.
    async fn keys(&self) -> Vec<usize> {
        let (_, keys) = self.identity.seal_status().await.unwrap();
        let purposes = ["mail", "captcha secret", "app key", "webhook secret", "factor"];
        purposes.map(|purpose| keys.iter().filter(|it| it.purpose == purpose).count()).to_vec()
    }

    /// Lets all messages that wait arrive, and counts them.
    async fn arrived(&self) -> usize {
        self.mail.is_back.store(true, Ordering::SeqCst);
        let mut mails = Vec::new();
        self.base.clock.advance(60_000);
        for _ in 0..1_500 {
            mails.extend(self.mail.kept.take());
            if self.identity.mail_waiting(&self.site).await.unwrap() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(self.identity.mail_failures(&self.site).await.unwrap().is_empty());
        mails.extend(self.mail.kept.take());
        mails.iter().filter(|it| it.to == "ann@example.org" && !it.links.is_empty()).count()
    }

    /// Another node, or this one after a restart.
    async fn second_node(&self) -> Identity {
        let (store, world) = (self.base.store.clone(), self.base.world.clone());
        Identity::open(store, world, self.mail.clone(), local_reach(), config()).await.unwrap()
    }
}

on_both_engines! {
    async fn key_of_an_application_is_shown_before_it_signs_and_after(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site.id);
        let app = application(identity, site).await;
        assert_eq!(identity.app_jwks(&app).await.unwrap(), json!({ "keys": [] }));
        for key in [SigningKey::Active, SigningKey::Next] {
            assert_eq!(code(signs(identity, &app, key).await), Some(Code::NotFound));
        }
        assert_eq!(code(identity.app_key_activate(site, &app, None).await), Some(Code::NotFound));

        let first = rotated(&kit, &app).await;
        assert_eq!((first.state, first.origin, first.bits()), (KeyState::Next, KeyOrigin::Made, 2048));
        assert_eq!(code(signs(identity, &app, SigningKey::Active).await), Some(Code::NotFound), "it is only shown");
        assert_eq!(signs(identity, &app, SigningKey::Next).await.unwrap(), first.id, "and can be tried");
        assert_eq!(code(identity.app_key_rotate(site, &app).await), Some(Code::AlreadyExists));
        assert_eq!(code(identity.app_key_import(site, &app, IMPORTED).await), Some(Code::AlreadyExists));
        assert_eq!((activated(&kit, &app).await.id, activated_again(&kit, &app).await), (first.id.clone(), Some(Code::NotFound)));
        assert_eq!(signs(identity, &app, SigningKey::Active).await.unwrap(), first.id);

        // What was signed before, between and after is accepted with what is shown then.
        let before = identity.app_sign(&app, SigningKey::Active, &claims()).await.unwrap();
        let second = rotated(&kit, &app).await;
        assert_ne!(first.id, second.id);
        let between = identity.app_sign(&app, SigningKey::Active, &claims()).await.unwrap();
        let wrong = identity.app_key_activate(site, &app, Some("another")).await;
        assert_eq!(code(wrong), Some(Code::NotFound));
        assert_eq!(states(&kit, &app).await, [(first.id.clone(), KeyState::Active), (second.id.clone(), KeyState::Next)]);
        assert_eq!(activated(&kit, &app).await.id, second.id);
        let after = identity.app_sign(&app, SigningKey::Active, &claims()).await.unwrap();
        let shown = identity.app_jwks(&app).await.unwrap();
        let signers = [&before, &between, &after].map(|it| signer(&shown, it));
        assert_eq!(signers, [first.id.clone(), first.id.clone(), second.id.clone()]);
        assert_eq!(identity.app_key_activate(site, &app, Some(&second.id)).await.unwrap().id, second.id, "as it is");
        assert_eq!(states(&kit, &app).await, [(first.id.clone(), KeyState::Retired), (second.id.clone(), KeyState::Active)]);
        let kept = "select count(*) from stoa.app_key where sealed is not null";
        assert_eq!(ask(kit.base.store.catalog(), kept).await, 1, "the private half of a retired key is gone");

        // A week later it is shown no more, and then its row goes.
        kit.base.clock.advance(7 * DAY - 1_000);
        assert_eq!(states(&kit, &app).await.len(), 2);
        kit.base.clock.advance(2_000);
        assert_eq!(states(&kit, &app).await, [(second.id.clone(), KeyState::Active)]);
        assert_eq!(identity.app_jwks(&app).await.unwrap()["keys"].as_array().unwrap().len(), 1);
        identity.retention_run_catalog().await;
        assert_eq!(ask(kit.base.store.catalog(), "select count(*) from stoa.app_key").await, 1);
        assert_eq!(signs(identity, &app, SigningKey::Active).await.unwrap(), second.id);
    }

    async fn key_is_removed_unless_it_signs(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site.id);
        let (app, other) = (application(identity, site).await, application(identity, site).await);
        let leaked = rotated(&kit, &app).await.id;
        identity.app_key_remove(site, &app, &leaked).await.unwrap();
        assert!(states(&kit, &app).await.is_empty());
        let first = rotated(&kit, &app).await.id;
        activated(&kit, &app).await;
        assert_eq!(code(identity.app_key_remove(site, &app, &first).await), Some(Code::Forbidden));
        for (app, key) in [(&app, "none"), (&app, leaked.as_str()), (&other, first.as_str())] {
            assert_eq!(code(identity.app_key_remove(site, app, key).await), Some(Code::NotFound), "{key}");
        }
        rotated(&kit, &app).await;
        activated(&kit, &app).await;
        identity.app_key_remove(site, &app, &first).await.unwrap();
        assert_eq!(states(&kit, &app).await.len(), 1);
        // As many retired ones as are shown at a time.
        rotated(&kit, &app).await;
        activated(&kit, &app).await;
        for _ in 0..3 {
            let more = "insert into stoa.app_key (id, client, site, state, origin, modulus, exponent, created, retired) \
                        select id || '+' || (select count(*) from stoa.app_key), client, site, state, origin, modulus, exponent, \
                        created, retired from stoa.app_key where state = 'RETIRED'";
            change(kit.base.store.catalog(), more).await;
        }
        assert_eq!(code(identity.app_key_rotate(site, &app).await), Some(Code::TooMany));
        assert_eq!(identity.app_jwks(&app).await.unwrap()["keys"].as_array().unwrap().len(), 9);
        kit.base.clock.advance(8 * DAY);
        rotated(&kit, &app).await;
    }

    async fn imported_key_belongs_to_one_application(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site.id);
        let (app, other) = (application(identity, site).await, application(identity, site).await);
        let refused = identity.app_key_import(site, &app, "-----BEGIN CERTIFICATE-----").await.unwrap_err();
        assert_eq!((refused.code(), refused.violations().len()), (Code::Validation, 1));
        let key = identity.app_key_import(site, &app, IMPORTED).await.unwrap();
        assert_eq!((key.id.as_str(), key.origin, key.public_pem().as_str()), (IMPORTED_ID, KeyOrigin::Imported, include_str!("keys/public.pem")));
        activated(&kit, &app).await;
        assert_eq!(signs(identity, &app, SigningKey::Active).await.unwrap(), IMPORTED_ID);
        for app in [&app, &other] {
            assert_eq!(code(identity.app_key_import(site, app, IMPORTED).await), Some(Code::AlreadyExists));
        }
        // No key is anybody's but an application's, and of its site.
        let (elsewhere, _) = kit.other_site().await;
        for (site, app) in [(site, &kit.client.id), (&elsewhere.id, &app), (site, &ClientId::from("none"))] {
            assert_eq!(code(identity.app_key_rotate(site, app).await), Some(Code::NotFound));
            assert_eq!(code(identity.app_key_list(site, app).await), Some(Code::NotFound));
        }
        identity.client_revoke(site, &app).await.unwrap();
        assert_eq!(code(signs_unshown(identity, &app).await), Some(Code::NotFound));
        assert_eq!(code(identity.app_jwks(&app).await), Some(Code::NotFound));
        assert_eq!(identity.app_key_import(site, &other, IMPORTED).await.unwrap().id, IMPORTED_ID, "it is free again");
    }

    async fn hundred_rotations_at_once_make_one_next_key(engine) {
        let kit = Kit::new(engine).await;
        let app = application(&kit.identity, &kit.site.id).await;
        let nodes: Vec<Identity> = [vec![kit.identity.clone()], kit.other_nodes().await].concat();
        for round in 0..2 {
            let calls = (0..100).map(|n| {
                let (node, site, app) = (nodes[n % nodes.len()].clone(), kit.site.id.clone(), app.clone());
                tokio::spawn(async move { code(node.app_key_rotate(&site, &app).await) })
            });
            let mut codes = Vec::new();
            for call in calls.collect::<Vec<_>>() {
                codes.push(call.await.unwrap());
            }
            assert_eq!(codes.iter().filter(|it| it.is_none()).count(), 1, "{codes:?}");
            assert!(codes.iter().flatten().all(|it| *it == Code::AlreadyExists), "{codes:?}");
            let next: Vec<_> = states(&kit, &app).await.into_iter().filter(|it| it.1 == KeyState::Next).collect();
            assert_eq!(next.len(), 1);

            // The same of activations: one counts, unless all mean the same key.
            let expected = (round == 1).then(|| next[0].0.clone());
            let calls = (0..100).map(|n| {
                let (node, site, app) = (nodes[n % nodes.len()].clone(), kit.site.id.clone(), app.clone());
                let expected = expected.clone();
                tokio::spawn(async move { code(node.app_key_activate(&site, &app, expected.as_deref()).await) })
            });
            let mut codes = Vec::new();
            for call in calls.collect::<Vec<_>>() {
                codes.push(call.await.unwrap());
            }
            let done = codes.iter().filter(|it| it.is_none()).count();
            assert_eq!(done, if round == 1 { 100 } else { 1 }, "{codes:?}");
            assert!(codes.iter().flatten().all(|it| *it == Code::NotFound), "{codes:?}");
            let active: Vec<_> = states(&kit, &app).await.into_iter().filter(|it| it.1 == KeyState::Active).collect();
            assert_eq!(active, [(next[0].0.clone(), KeyState::Active)]);
        }
    }

    async fn activation_holds_on_every_node_when_answered(engine) {
        let kit = Kit::new(engine).await;
        let app = application(&kit.identity, &kit.site.id).await;
        let nodes: Vec<Identity> = [vec![kit.identity.clone()], kit.other_nodes().await].concat();
        for n in 0..4 {
            let (maker, activator) = (&nodes[n % nodes.len()], &nodes[(n + 1) % nodes.len()]);
            let next = maker.app_key_rotate(&kit.site.id, &app).await.unwrap().id;
            for node in &nodes {
                assert!(node.app_jwks(&app).await.unwrap().to_string().contains(&next), "shown everywhere at once");
            }
            activator.app_key_activate(&kit.site.id, &app, Some(&next)).await.unwrap();
            for node in &nodes {
                assert_eq!(signs(node, &app, SigningKey::Active).await.unwrap(), next);
            }
        }
        assert_eq!(signs(&kit.second_node().await, &app, SigningKey::Active).await.unwrap(), states(&kit, &app).await.pop().unwrap().0);
        // A revoked client is signed for nowhere.
        kit.identity.client_revoke(&kit.site.id, &app).await.unwrap();
        for node in &nodes {
            assert_eq!(code(signs_unshown(node, &app).await), Some(Code::NotFound));
        }
    }

    async fn rotation_of_sealing_keys_loses_nothing_wherever_it_is_cut_off(engine) {
        let kit = Sealed::new(engine).await;
        assert_eq!((kit.left().await, kit.keys().await), ((0, 0, 0), vec![1; 5]));
        let first = kit.identity.seal_begin().await.unwrap();
        assert_eq!((kit.left().await, kit.keys().await), ((1, 1, 1), vec![2; 5]));
        // Cut off here, all is read as before: by this process and by one that is started now.
        assert_eq!(signs(&kit.identity, &kit.app, SigningKey::Active).await.unwrap(), kit.key);
        let restarted = kit.second_node().await;
        assert_eq!(signs(&restarted, &kit.app, SigningKey::Active).await.unwrap(), kit.key);
        assert_eq!(restarted.seal_begin().await.unwrap().id, first.id, "it goes on");
        assert_eq!(kit.keys().await, [2; 5], "and makes nothing");
        // What is written meanwhile is under the new key.
        kit.ask_for_a_link(&restarted).await;
        kit.ask_for_a_link(&kit.identity).await;
        assert_eq!(kit.left().await, (1, 1, 1));
        assert_eq!(restarted.seal_catalog().await.unwrap(), 1);
        assert_eq!(kit.left().await, (1, 1, 0));
        assert_eq!(code(kit.identity.seal_forget().await), Some(Code::Forbidden), "not all is done");
        assert_eq!(kit.go_through().await, 2);
        assert_eq!((kit.left().await, kit.go_through().await), ((0, 0, 0), 0));
        kit.identity.seal_end(&first.id).await.unwrap();
        let (last, _) = kit.identity.seal_status().await.unwrap();
        assert!(last.is_some_and(|it| it.id == first.id && it.finished.is_some()));

        // The next one; then the older keys go, and all is there without them.
        assert_ne!(kit.identity.seal_begin().await.unwrap().id, first.id);
        assert_eq!((kit.left().await, kit.keys().await), ((3, 1, 1), vec![3; 5]));
        let second = kit.identity.seal_begin().await.unwrap();
        assert_eq!(kit.go_through().await, 5);
        kit.identity.seal_end(&second.id).await.unwrap();
        assert_eq!(code(kit.identity.seal_forget().await), Some(Code::Forbidden), "it may still be under way");
        kit.base.clock.advance(61 * 60_000);
        assert_eq!(kit.identity.seal_forget().await.unwrap(), 12);
        assert_eq!(kit.keys().await, [1; 5]);
        let restarted = kit.second_node().await;
        assert_eq!(signs(&restarted, &kit.app, SigningKey::Active).await.unwrap(), kit.key);
        restarted.seal_begin().await.unwrap();
        assert_eq!(restarted.seal_left(&kit.site).await.unwrap().captcha_secrets, 1);
        assert_eq!(restarted.seal_catalog().await.unwrap(), 1);
        restarted.seal_site(&kit.site).await.unwrap();
        assert_eq!(restarted.seal_left(&kit.site).await.unwrap().captcha_secrets, 0, "what opens is sealed again");
    }

    async fn messages_arrive_whatever_becomes_of_their_keys(engine) {
        let kit = Sealed::new(engine).await;
        // As texts were before they named their key.
        let unmarked = change(&kit.site, "update stoa.mail set sealed = substr(sealed, 10) where sealed is not null").await;
        assert_eq!(unmarked, 1);
        let catalog = kit.base.store.catalog();
        assert_eq!(change(catalog, "update stoa.app_key set sealed = substr(sealed, 10)").await, 1);
        assert_eq!(kit.left().await, (1, 0, 1), "they are sealed again with the next rotation");
        let other = kit.second_node().await;
        let rotation = other.seal_begin().await.unwrap();
        kit.ask_for_a_link(&other).await;
        assert_eq!(other.seal_site(&kit.site).await.unwrap(), 2);
        assert_eq!(other.seal_catalog().await.unwrap(), 1);
        other.seal_end(&rotation.id).await.unwrap();
        kit.ask_for_a_link(&kit.identity).await;
        // By whichever node.
        assert_eq!(kit.arrived().await, 3);
        assert_eq!(signs(&kit.identity, &kit.app, SigningKey::Active).await.unwrap(), kit.key);
    }

    async fn text_under_a_key_that_a_node_has_not_heard_of_opens(engine) {
        let kit = Sealed::new(engine).await;
        let stale = kit.second_node().await;
        // What another node did that crashed before it told of it.
        let rotation = kit.identity.seal_begin().await.unwrap();
        kit.identity.app_key_rotate(&kit.site.id, &kit.app).await.unwrap();
        kit.identity.app_key_activate(&kit.site.id, &kit.app, None).await.unwrap();
        let key = signs(&kit.identity, &kit.app, SigningKey::Active).await.unwrap();
        assert_eq!(signs(&stale, &kit.app, SigningKey::Active).await.unwrap(), key);
        kit.go_through().await;
        kit.identity.seal_end(&rotation.id).await.unwrap();
        // Where it was told, other nodes seal with the new key from the answer on.
        let nodes = kit.base.nodes(3).await;
        let mut others = Vec::new();
        for node in nodes.iter().skip(1) {
            let opened = Identity::open(node.store.clone(), kit.base.world.clone(), kit.mail.clone(), local_reach(), config());
            others.push(opened.await.unwrap());
        }
        for other in &others {
            let rotation = kit.identity.seal_begin().await.unwrap();
            kit.go_through().await;
            let app = application(other, &kit.site.id).await;
            other.app_key_rotate(&kit.site.id, &app).await.unwrap();
            assert_eq!(kit.left().await, (0, 0, 0));
            kit.identity.seal_end(&rotation.id).await.unwrap();
        }
    }

    async fn hundred_rotations_of_sealing_keys_at_once_are_one(engine) {
        let kit = Sealed::new(engine).await;
        let calls: Vec<_> = (0..100)
            .map(|_| {
                let identity = kit.identity.clone();
                tokio::spawn(async move { identity.seal_begin().await.unwrap().id })
            })
            .collect();
        let mut ids = Vec::new();
        for call in calls {
            ids.push(call.await.unwrap());
        }
        assert!(ids.iter().all(|it| *it == ids[0]), "{ids:?}");
        assert_eq!(kit.keys().await, [2; 5]);
    }
}

async fn activated_again(kit: &Kit, app: &ClientId) -> Option<Code> {
    code(kit.identity.app_key_activate(&kit.site.id, app, None).await)
}

/// Signs for an application that may not be shown any more.
async fn signs_unshown(identity: &Identity, app: &ClientId) -> Result<String> {
    identity.app_sign(app, SigningKey::Active, &claims()).await
}
