//! What a deletion that waits holds out: the message until the date, the date in every site, one address, nothing left.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use serde_json::json;
use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use stoa_identity::{Identity, factor::Proof, manage::Wish, member::Status, sign_in::SignOn};
use stoa_kernel::{Caller, Code, MemberId, Secret};
use stoa_outbound::{Letter, Mailer, Recorder, Sending, Undelivered};
use stoa_sql::params;
use stoa_store::{ReaderPool, Store, boxed};
use stoa_testkit::{TestStore, local_reach, on_both_engines};

const ADA: &str = "ada@example.org";
const DAY: i64 = 24 * 60 * 60_000;
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn app() -> Caller {
    Caller::App { id: "key".into() }
}

/// A mail server that takes no message that keeps an account until it is back.
#[derive(Default)]
struct Away {
    is_back: AtomicBool,
    kept: Arc<Recorder>,
}

impl Mailer for Away {
    fn send<'a>(&'a self, letter: &'a Letter) -> Sending<'a> {
        let keeps = letter.mail.links.iter().any(|it| it.contains("/account/keep#"));
        match keeps && !self.is_back.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(Undelivered::Later("away".to_owned())) }),
            false => self.kept.send(letter),
        }
    }

    fn is_local(&self) -> bool {
        true
    }
}

/// A store on the data of one that is closed, once all that worked on it have let go.
async fn opened(config: &stoa_store::Config) -> Store {
    for _ in 0..500 {
        if let Ok(store) = Store::open(config).await {
            return store;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the data is in use still")
}

impl Kit {
    async fn leave(&self, email: &str) -> MemberId {
        let (tokens, ..) = self.member(email).await;
        let caller = self.caller(&tokens.access_token).await.unwrap();
        let proof = Proof::Password(Secret::new(PASSWORD));
        self.identity.member_prove(&self.site, &caller, &attempt(), &proof).await.unwrap();
        let wish = self.identity.deletion_ask(&self.site, &caller, HERE, None).await.unwrap();
        assert!(matches!(wish, Wish::Waits(_)));
        MemberId::from(caller.id())
    }

    /// The token in the newest link that keeps an account, once it has arrived.
    async fn keep_token(&self, email: &str) -> String {
        for _ in 0..500 {
            let links = self.mail.last_to(email).map(|it| it.links).unwrap_or_default();
            if let Some((_, token)) = links.iter().find_map(|it| it.split_once("/account/keep#")) {
                return token.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no link to {email}");
    }

    async fn vouched(&self, id: &MemberId) -> Option<String> {
        let (site, id) = (self.site.id.clone(), id.clone());
        let read = self.site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select coalesce(vouched_email, '') from stoa.member where site = $1 and id = $2";
                Ok(tx.row(sql, &params![&site, &id], |row| row.get::<String>(0)).await?)
            })
        });
        read.await.unwrap()
    }
}

on_both_engines! {
    async fn message_is_tried_until_the_date(engine) {
        let base = TestStore::new(engine).await;
        let away = Arc::new(Away::default());
        let (store, world) = (base.store.clone(), base.world.clone());
        let identity = Identity::open(store, world, away.clone(), local_reach(), config()).await.unwrap();
        let site = base.store.site_create("Test", &base.world).await.unwrap();
        let client = client(&identity, &site.id).await;
        let kit = Kit { base, identity, mail: away.kept.clone(), site, client };
        let id = kit.leave(ADA).await;
        kit.base.clock.advance(13 * DAY);
        // A round in which it is tried in vain.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(kit.identity.mail_failures(&kit.site).await.unwrap(), [], "it is not given up");
        away.is_back.store(true, Ordering::SeqCst);
        kit.base.clock.advance(60 * 60_000);
        let token = kit.keep_token(ADA).await;
        assert_eq!(kit.identity.deletion_undo(&kit.site, &token, HERE).await.unwrap().id, id);
    }

    /// Housekeeping goes to sites that are not open as well.
    async fn day_comes_in_a_site_that_is_not_open(engine) {
        let kit = Kit::new(engine).await;
        let id = kit.leave(ADA).await;
        kit.base.clock.advance(14 * DAY);
        let Kit { base, identity, mail, site, .. } = kit;
        let (world, name) = (base.world.clone(), site.id.clone());
        drop((identity, site));
        let (config_before, _guards) = base.close();
        let one = stoa_store::Config { open_sites: 1, ..config_before };
        let store = Arc::new(opened(&one).await);
        let identity = Identity::open(store.clone(), world.clone(), mail, local_reach(), config()).await.unwrap();
        let other = store.site_create("Other", &world).await.unwrap();
        let mut is_open = true;
        for _ in 0..500 {
            store.site(&other.id).await.unwrap();
            is_open = store.open_sites().iter().any(|it| it.id == name);
            if !is_open {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!is_open, "the other site takes its place");
        identity.retention_run(&other).await;
        identity.retention_run_others(&HashSet::from([other.id.clone()])).await;
        let site = store.site(&name).await.unwrap();
        let gone = identity.member_get(&site, &id).await.unwrap().unwrap();
        assert_eq!((gone.status, gone.email.as_str(), gone.deletion), (Status::Deleted, "", None));
    }

    /// Other work may have it open for a moment, when those that are open have been seen to.
    async fn day_comes_in_a_site_that_is_opened_meanwhile(engine) {
        let kit = Kit::new(engine).await;
        let id = kit.leave(ADA).await;
        kit.base.clock.advance(14 * DAY);
        kit.identity.retention_run_others(&HashSet::from([kit.site.id.clone()])).await;
        let waits = kit.identity.member_get(&kit.site, &id).await.unwrap().unwrap();
        assert!(waits.deletion.is_some(), "it was seen to already");
        kit.identity.retention_run_others(&HashSet::new()).await;
        let gone = kit.identity.member_get(&kit.site, &id).await.unwrap().unwrap();
        assert_eq!((gone.status, gone.email.as_str(), gone.deletion), (Status::Deleted, "", None));
    }

    async fn link_ends_with_the_address_that_it_was_sent_to(engine) {
        let kit = Kit::new(engine).await;
        let id = kit.leave(ADA).await;
        let token = kit.keep_token(ADA).await;
        kit.identity.member_change_email(&kit.site, &app(), &id, "new@example.org").await.unwrap();
        let shown = kit.identity.deletion_get(&kit.site, &token).await;
        assert_eq!(shown.expect_err("it tells no address").code(), Code::LinkInvalid);
        let undone = kit.identity.deletion_undo(&kit.site, &token, HERE).await;
        assert_eq!(undone.expect_err("it keeps nothing").code(), Code::LinkInvalid);
        let kept = kit.identity.deletion_undo_for(&kit.site, &app(), &id).await.unwrap();
        assert_eq!((kept.status, kept.email.as_str()), (Status::Active, "new@example.org"));
    }

    async fn address_that_an_app_vouched_for_goes_too(engine) {
        let kit = Kit::new(engine).await;
        let sign_on = SignOn { email: ADA.to_owned(), profile: json!(null), verify_email: false };
        let (member, _) = kit.identity.member_sign_on(&kit.site, &app(), None, &sign_on).await.unwrap();
        assert_eq!(kit.vouched(&member.id).await.as_deref(), Some(ADA));
        kit.identity.member_delete(&kit.site, &app(), &member.id).await.unwrap();
        assert_eq!(kit.vouched(&member.id).await.as_deref(), Some(""));
    }
}
