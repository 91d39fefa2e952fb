//! Each change of people writes its row of the log, by ids alone: one for each call, none for what was refused.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use serde_json::{Map, Value, json};
use std::{net::IpAddr, time::Duration};
use stoa_identity::{
    community::{Assignable, Interaction, kind::BADGE, kind::ROLE},
    event::{IdentityChange, IdentityEntry},
    manage::{ImportedMember, MemberChange},
    member::Move,
    policy::PolicyChange,
    redirect::RequestContext,
};
use stoa_kernel::{
    Caller, Code, DomainEvent,
    EntryKind::{self, *},
    MemberId, Result, Secret,
};
use stoa_store::{
    ReaderPool, Site, boxed,
    outbox::{Entry, Position},
};
use stoa_testkit::on_both_engines;

const NONE: [(EntryKind, Value); 0] = [];

fn app() -> Caller {
    Caller::App { id: "key".into() }
}

fn code_of<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.expect_err("refused").code()
}

impl Kit {
    /// The rows of a site's log, oldest first.
    async fn log_of(&self, site: &Site) -> Vec<(EntryKind, Value)> {
        let id = site.id.clone();
        let read = site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let sql = "select kind, payload from stoa.outbox where site = $1 order by seq";
                let row = stoa_sql::params![&id];
                Ok(tx.rows(sql, &row, |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?))).await?)
            })
        });
        let rows = read.await.unwrap().into_iter();
        rows.map(|(kind, it)| (EntryKind::parse(&kind).unwrap(), serde_json::from_str(&it).unwrap())).collect()
    }

    async fn log(&self) -> Vec<(EntryKind, Value)> {
        self.log_of(&self.site).await
    }

    /// The rows that something writes: their kinds and what else than their author they hold.
    async fn rows_of<T>(&self, work: impl Future<Output = T>) -> (T, Vec<(EntryKind, Value)>) {
        let before = self.log().await.len();
        let done = work.await;
        let rows = self.log().await.split_off(before);
        (done, rows)
    }

    /// The one row that something writes, without its author.
    async fn row_of<T>(&self, work: impl Future<Output = Result<T>>) -> (T, EntryKind, Value) {
        let (done, mut rows) = self.rows_of(work).await;
        assert_eq!(rows.len(), 1, "{rows:?}");
        let (kind, mut payload) = rows.remove(0);
        payload.as_object_mut().unwrap().remove("identity").expect("who did it");
        (done.unwrap(), kind, payload)
    }

    /// What a reader of the log gets, at least so many rows. On PostgreSQL a transaction of another database holds
    /// readers up.
    async fn entries(&self, made: usize) -> Vec<Entry> {
        let kinds: Vec<_> = EntryKind::ALL.iter().map(|it| it.name()).collect();
        for _ in 0..2_000 {
            let entries = self.site.outbox().read(Position::default(), &kinds, 1_000).await.unwrap().entries;
            if entries.len() >= made {
                return entries;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{made} rows can't be read");
    }

    /// The events of all rows.
    async fn events(&self) -> Vec<DomainEvent> {
        let mut events = Vec::new();
        for entry in self.entries(self.log().await.len()).await {
            events.extend(self.identity.log_events(&self.site, &entry).await.unwrap());
        }
        events
    }

    /// A member who is shown to others, as a caller.
    async fn shown(&self, email: &str) -> (Caller, MemberId) {
        let (tokens, session, _) = self.member(email).await;
        let caller = self.caller(&tokens.access_token).await.unwrap();
        self.identity.member_show(&self.site, &caller, true).await.unwrap();
        (caller, session.member)
    }
}

fn profile(name: &str, value: &str) -> MemberChange {
    MemberChange { profile: Map::from_iter([(name.to_owned(), json!(value))]), ..MemberChange::default() }
}

fn ids(list: &[&str]) -> Value {
    json!({ "ids": list })
}

on_both_engines! {
    async fn members_are_told_by_their_ids(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site);
        let (registered, rows) = kit.rows_of(kit.register("ada@example.org")).await;
        success(registered.unwrap());
        let ada = rows[0].1["ids"][0].as_str().unwrap().to_owned();
        assert_eq!(rows, [(MemberCreated, json!({ "identity": { "type": "MEMBER", "id": ada }, "ids": [ada] }))]);
        let (signed_in, rows) = kit.rows_of(kit.login("ada@example.org", PASSWORD)).await;
        success(signed_in.unwrap());
        assert_eq!(rows, NONE, "a sign-in changes no member");

        let (bob, kind, row) = kit.row_of(identity.member_create(site, &app(), "bob@example.org", profile("nickname", "Bob"))).await;
        let bob = bob.id;
        assert_eq!((kind, row), (MemberCreated, ids(&[bob.as_str()])));
        let (_, kind, row) = kit.row_of(identity.member_change(site, &app(), &bob, profile("nickname", "Bobby"))).await;
        assert_eq!((kind, row), (MemberUpdated, ids(&[bob.as_str()])));
        assert_eq!(kit.row_of(identity.member_mute(site, &app(), &bob, true)).await.1, MemberUpdated);
        assert_eq!(kit.row_of(identity.member_block(site, &app(), &bob)).await.1, MemberUpdated);
        assert_eq!(kit.row_of(identity.member_unblock(site, &app(), &bob)).await.1, MemberUpdated);
        assert_eq!(kit.row_of(identity.member_move(site, &app(), &bob, Move::Disconnect)).await.1, MemberUpdated);
        let (_, kind, row) = kit.row_of(identity.member_delete(site, &app(), &bob)).await;
        assert_eq!((kind, row), (MemberDeleted, ids(&[bob.as_str()])));

        let sent = |n: usize| ImportedMember::parse(&json!({ "id": format!("m{n}"), "email": format!("m{n}@example.org") })).unwrap();
        let (_, kind, row) = kit.row_of(identity.member_import(site, &app(), (0..3).map(sent).collect())).await;
        assert_eq!((kind, row), (MemberCreated, ids(&["m0", "m1", "m2"])));
        let (_, rows) = kit.rows_of(identity.member_import(site, &app(), (0..3).map(sent).collect())).await;
        assert_eq!(rows, NONE, "they are known");
    }

    async fn badges_are_told_by_their_ids(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site);
        let (_, ada) = kit.shown("ada@example.org").await;
        let (badge, kind, row) = kit.row_of(identity.definition_create(site, &app(), &BADGE, &json!({ "title": "Gold" }))).await;
        let id = badge.id.as_str();
        assert_eq!((kind, row), (BadgeCreated, ids(&[id])));
        let (_, kind, row) = kit.row_of(identity.definition_update(site, &app(), &BADGE, id, &json!({ "title": "Silver" }))).await;
        assert_eq!((kind, row), (BadgeUpdated, ids(&[id])));

        let (made, kind, row) = kit.row_of(identity.badge_assign(site, &app(), id, ada.as_str(), &json!({}))).await;
        let relation = json!({ "id": made.id, "holder": ada, "target": id });
        assert_eq!((kind, &row), (BadgeAssigned, &json!({ "relations": [relation] })));
        let (_, rows) = kit.rows_of(identity.assign(site, &app(), Assignable::Badge, id, &[ada.to_string()])).await;
        assert_eq!(rows, NONE, "who has it already keeps it");
        let (_, kind, gone) = kit.row_of(identity.badge_unassign(site, &app(), &[made.id.clone(), "none".to_owned()])).await;
        assert_eq!((kind, gone), (BadgeUnassigned, row));
        kit.row_of(identity.assign(site, &app(), Assignable::Badge, id, &[ada.to_string()])).await;
        let (_, kind, _) = kit.row_of(identity.unassign(site, &app(), Assignable::Badge, id, &[ada.to_string()])).await;
        assert_eq!(kind, BadgeUnassigned);
        let (_, kind, row) = kit.row_of(identity.definition_delete(site, &app(), &BADGE, id, None)).await;
        assert_eq!((kind, row), (BadgeDeleted, ids(&[id])));

        let roles = async {
            identity.definition_create(site, &app(), &ROLE, &json!({ "roleKey": "r" })).await.unwrap();
            identity.assign(site, &app(), Assignable::Role, "r", &[ada.to_string()]).await.unwrap();
            identity.definition_delete(site, &app(), &ROLE, "r", None).await.unwrap();
        };
        assert_eq!(kit.rows_of(roles).await.1, NONE, "the log has no kinds for roles");
    }

    async fn what_members_do_is_told_by_ids(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site);
        let (ada, ada_id) = kit.shown("ada@example.org").await;
        let (bob, bob_id) = kit.shown("bob@example.org").await;
        let (ada_id, bob_id) = (ada_id.as_str(), bob_id.as_str());
        let pair = |row: &Value| (row["relations"][0]["holder"].clone(), row["relations"][0]["target"].clone());

        let (_, kind, row) = kit.row_of(identity.interaction_create(site, &ada, Interaction::Follow, bob_id)).await;
        assert_eq!((kind, pair(&row)), (MemberFollowed, (json!(ada_id), json!(bob_id))));
        let (_, rows) = kit.rows_of(identity.interaction_create(site, &ada, Interaction::Follow, bob_id)).await;
        assert_eq!(rows, NONE, "following again changes nothing");
        let (_, kind, gone) = kit.row_of(identity.interaction_delete(site, &ada, Interaction::Follow, bob_id)).await;
        assert_eq!((kind, gone), (MemberUnfollowed, row));
        kit.row_of(identity.interaction_create(site, &ada, Interaction::Follow, bob_id)).await;
        kit.row_of(identity.interaction_create(site, &bob, Interaction::Follow, ada_id)).await;
        let (_, kind, row) = kit.row_of(identity.interaction_create(site, &ada, Interaction::Block, bob_id)).await;
        assert_eq!((kind, row["relations"].as_array().map(Vec::len)), (MemberUnfollowed, Some(2)), "a block ends both, and is told to no one");

        let reason = json!({ "category": "SPAM", "description": "rude words" });
        let (_, rows) = kit.rows_of(identity.member_report(site, &bob, ada_id, &reason)).await;
        assert_eq!((rows[0].0, pair(&rows[0].1)), (MemberReported, (json!(bob_id), json!(ada_id))));
        assert_eq!((rows.len(), rows[1].0, &rows[1].1["ids"]), (2, FirstReported, &json!([ada_id])));
        assert_eq!(kit.row_of(identity.interaction_delete(site, &bob, Interaction::Report, ada_id)).await.1, ReportDeleted);
        kit.rows_of(identity.member_report(site, &bob, ada_id, &reason)).await.0.unwrap();
        let (carol, carol_id) = kit.shown("carol@example.org").await;
        let (_, kind, _) = kit.row_of(identity.member_report(site, &carol, ada_id, &reason)).await;
        assert_eq!(kind, MemberReported, "not the first report on her");
        let (_, rows) = kit.rows_of(identity.reports_delete(site, &app(), ada_id)).await;
        let mut holders = [0, 1].map(|n| rows[0].1["relations"][n]["holder"].clone());
        holders.sort_by_key(|it| it != bob_id);
        assert_eq!((rows[0].0, holders), (ReportDeleted, [json!(bob_id), json!(carol_id)]));
        assert_eq!((rows.len(), rows[1].0, &rows[1].1["ids"]), (2, ReportsDeleted, &json!([ada_id])));
        assert_eq!(kit.rows_of(identity.reports_delete(site, &app(), ada_id)).await.1, NONE, "there are none");

        let about = json!({ "content": { "nodes": [{ "text": "gardening" }] } });
        assert_eq!(kit.row_of(identity.about_write(site, &ada, None, &about)).await.1, AboutCreated);
        let (_, kind, row) = kit.row_of(identity.about_write(site, &ada, Some(ada_id), &about)).await;
        assert_eq!((kind, row), (AboutUpdated, ids(&[ada_id])));
        assert_eq!(kit.row_of(identity.about_delete(site, &ada, ada_id)).await.1, AboutDeleted);
    }

    async fn policy_and_redirect_sessions_are_told(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site);
        let change = |is_on: bool| PolicyChange { require_owner_approval: Some(is_on), ..PolicyChange::default() };
        let (_, kind, row) = kit.row_of(identity.policy_update(site, &app(), change(true))).await;
        assert_eq!((kind, &row["signOnPolicy"]["requireOwnerApproval"]), (PolicyUpdated, &json!(true)));
        assert_eq!(kit.rows_of(identity.policy_update(site, &app(), change(true))).await.1, NONE, "nothing changed");

        let visitor = kit.caller(&kit.visitor().await.access_token).await.unwrap();
        let redirect = async || {
            let address = IpAddr::from([127, 0, 0, 1]);
            let context = RequestContext { caller: &visitor, address, origin: None, base_url: "http://localhost" };
            identity.redirect_session_create(site, context, &json!({ "login": {} })).await
        };
        assert_eq!(kit.rows_of(redirect()).await.1, NONE, "unless the site asks for it");
        identity.redirect_session_log_set(site, true).await.unwrap();
        assert!(identity.redirect_session_log(site).await.unwrap());
        let (made, kind, row) = kit.row_of(redirect()).await;
        assert_eq!((kind, row), (RedirectSessionCreated, ids(&[&made.id])));
        let payloads = kit.log().await.iter().map(|it| it.1.to_string()).collect::<String>();
        assert!(!payloads.contains(made.token.expose()), "its address is good for a sign-in");
        identity.redirect_session_log_set(site, false).await.unwrap();
        assert_eq!(kit.rows_of(redirect()).await.1, NONE);
    }

    async fn refused_changes_and_other_sites_have_no_rows(engine) {
        let kit = Kit::new(engine).await;
        let (other, _) = kit.other_site().await;
        let (identity, site) = (&kit.identity, &kit.site);
        let (ada, ada_id) = kit.shown("ada@example.org").await;
        let badge = identity.definition_create(site, &app(), &BADGE, &json!({ "title": "Gold" })).await.unwrap();
        let refused = async {
            assert_eq!(code_of(kit.register("ada@example.org").await), Code::EmailTaken);
            assert_eq!(code_of(identity.member_create(site, &app(), "ada@example.org", MemberChange::default()).await), Code::EmailTaken);
            assert_eq!(code_of(identity.member_delete(site, &app(), &MemberId::from("none")).await), Code::NotFound);
            let both = [ada_id.to_string(), "none".to_owned()];
            assert_eq!(code_of(identity.assign(site, &app(), Assignable::Badge, &badge.id, &both).await), Code::NotFound, "the first was given");
            assert_eq!(code_of(identity.definition_delete(site, &app(), &BADGE, &badge.id, Some(7)).await), Code::RevisionOld);
            assert_eq!(code_of(identity.interaction_create(site, &ada, Interaction::Follow, "none").await), Code::NotFound);
            assert_eq!(code_of(identity.interaction_delete(site, &ada, Interaction::Follow, "none").await), Code::NotFound);
            assert_eq!(code_of(identity.about_delete(site, &ada, ada_id.as_str()).await), Code::NotFound);
            assert_eq!(code_of(kit.login("ada@example.org", "a wrong phrase").await), Code::PasswordWrong);
        };
        assert_eq!(kit.rows_of(refused).await.1, NONE);
        assert_eq!(kit.log_of(&other).await, NONE);
    }

    /// What events tell is read when they are told; both versions of the badges API hear of an assignment.
    async fn events_show_entities_as_they_are(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site);
        let (ada, ada_id) = kit.shown("ada@example.org").await;
        let (bob, bob_id) = kit.shown("bob@example.org").await;
        let badge = identity.definition_create(site, &app(), &BADGE, &json!({ "title": "Gold" })).await.unwrap();
        identity.badge_assign(site, &app(), &badge.id, ada_id.as_str(), &json!({})).await.unwrap();
        identity.interaction_create(site, &ada, Interaction::Follow, bob_id.as_str()).await.unwrap();
        identity.member_report(site, &bob, ada_id.as_str(), &json!({ "category": "SPAM" })).await.unwrap();
        identity.member_change(site, &app(), &ada_id, profile("nickname", "Lovelace")).await.unwrap();

        let events = kit.events().await;
        let of = |name: &str| events.iter().filter(|it| it.event_type == name).collect::<Vec<_>>();
        let created = of("wix.members.v1.member_created")[0];
        let entity = &created.body["createdEvent"]["entity"];
        assert_eq!((&entity["id"], &entity["loginEmail"], &entity["profile"]["nickname"]), (&json!(ada_id), &json!("ada@example.org"), &json!("Lovelace")));
        assert_eq!((&entity["status"], entity["contact"].is_object()), (&json!("APPROVED"), true));
        assert_eq!(created.identity, json!({ "identityType": "MEMBER", "memberId": ada_id }));
        let updated = *of("wix.members.v1.member_updated").last().unwrap();
        assert_eq!(updated.body["updatedEvent"]["currentEntity"]["id"], json!(ada_id));
        assert_eq!(of("wix.badges.v4.badge_created")[0].body["createdEvent"]["entity"]["title"], "Gold");
        let assigned = &of("wix.badges.v4.badge_assignment_created")[0].body;
        assert_eq!((&assigned["createdEvent"]["entity"]["badgeId"], &assigned["createdEvent"]["entity"]["memberId"]), (&json!(badge.id), &json!(ada_id)));
        let older = &of("wix.badges.v3.badge_badge_assigned")[0].body;
        assert_eq!((&older["entityId"], &older["actionEvent"]["body"]), (&json!(badge.id), &json!({ "memberId": ada_id })));
        let followed = &of("wix.members.v3.follow_member_followed")[0].body["actionEvent"]["body"];
        assert_eq!(*followed, json!({ "memberConnection": { "memberId": ada_id, "affectedMemberId": bob_id } }));
        let report = &of("wix.members.v1.member_report_created")[0].body["createdEvent"]["entity"];
        assert_eq!((&report["reportedMemberId"], &report["reason"]["category"]), (&json!(ada_id), &json!("SPAM")));
        let reported = &of("wix.members.v1.member_report_reported_member_created")[0].body;
        let shown = &reported["actionEvent"]["body"]["reportedMember"];
        assert_eq!((&shown["reportedMemberId"], &shown["reportCount"]), (&json!(ada_id), &json!("1")));
        assert!(shown["lastReportDate"].is_string());
        let names: std::collections::HashSet<_> = events.iter().map(|it| it.body["id"].to_string()).collect();
        assert_eq!(names.len(), events.len(), "each event has an id of its own");
    }

    /// Erasing a member leaves no word about the person in the log, and no event that would tell one.
    async fn erased_member_leaves_ids_alone(engine) {
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site);
        let (ada, ada_id) = kit.shown("erase-me@example.org").await;
        let (bob, _) = kit.shown("bob@example.org").await;
        let email = identity.member_change_email(site, &app(), &ada_id, "erase-me-too@example.org").await;
        assert!(email.is_ok());
        for (name, value) in [("firstName", "erase-first"), ("nickname", "erase-nick"), ("slug", "erase-slug"), ("company", "erase-company")] {
            identity.member_change(site, &ada, &ada_id, profile(name, value)).await.unwrap();
        }
        identity.about_write(site, &ada, None, &json!({ "content": { "nodes": [{ "text": "erase-about" }] } })).await.unwrap();
        let reason = json!({ "category": "OTHER", "description": "erase-report" });
        identity.member_report(site, &bob, ada_id.as_str(), &reason).await.unwrap();
        let badge = identity.definition_create(site, &app(), &BADGE, &json!({ "title": "Gold" })).await.unwrap();
        let tags = json!({ "tags": { "tagIds": ["erase-tag"] } });
        identity.badge_assign(site, &app(), &badge.id, ada_id.as_str(), &tags).await.unwrap();
        identity.password_change(site, &ada, IpAddr::from([127, 0, 0, 1]), &Secret::new("another long phrase")).await.unwrap();
        identity.member_delete(site, &app(), &ada_id).await.unwrap();

        let rows = kit.log().await;
        let told = rows.iter().map(|it| it.1.to_string()).collect::<String>();
        assert!(told.contains(ada_id.as_str()) && !told.contains("erase-"), "{told}");
        let events = kit.events().await;
        let about_ada: Vec<_> = events.iter().filter(|it| it.body["entityId"] == json!(ada_id)).map(|it| it.event_type).collect();
        assert_eq!(about_ada, ["wix.members.v1.member_deleted"]);
        assert!(events.iter().all(|it| !it.body.to_string().contains("erase-")));
        let last = kit.entries(rows.len()).await.pop().unwrap();
        let read = IdentityEntry::parse(&last).unwrap().unwrap();
        assert_eq!((read.kind, read.change), (MemberDeleted, IdentityChange::Entities(vec![ada_id.to_string()])));
    }
}
