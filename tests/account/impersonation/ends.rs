//! That it ends: whatever is cut off, crashes or comes back, and what is told of it.

use super::*;
use crate::{account::cut_off, async_jobs};
use std::collections::BTreeSet;
use stoa_identity::{manage::ImpersonationStart, policy::PolicyChange};
use stoa_kernel::Result;

/// Begins as the command does, in the name of the scene's owner.
async fn by_command(scene: &Scene<'_>, access: Impersonation) -> Result<ImpersonationStart> {
    let (owner, member) = (Email::parse("owner@example.org").unwrap(), MemberId::from(scene.id.as_str()));
    let request = ImpersonationRequest::new(access, "x").unwrap();
    scene.app.app.identity.impersonation_start_for(&scene.app.site, &owner, &member, request).await
}

/// Requires that a token of an owner works no longer than the member sees it, once what waits is written.
async fn no_more_than_listed(scene: &Scene<'_>, as_ada: &TestClient<'_>, why: &str, polls: usize) {
    // The writer of the one engine has no other turn before this; the other has ended or undone what was dropped.
    write(scene.app, "update stoa.session set used = used").await;
    scene.app.kit.clock.advance(2_001);
    let session = claims(&as_ada.token)["sid"].clone();
    let is_listed = scene.shown().await.iter().any(|it| it["id"] == session);
    let verdict = seen(as_ada).await;
    assert!(is_listed || verdict == ENDED, "{why}, after {polls}: {verdict}");
}

async fn write(app: &TestApp, sql: &str) {
    let written = app.site.write_with(sql.to_owned(), |tx, sql| {
        boxed!({
            tx.execute(sql, &[]).await?;
            Ok(())
        })
    });
    written.await.unwrap();
}

on_both_engines! {
    async fn changes_in_the_background_end_with_it(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "WRITE").await;
        async_jobs::collection(&app, async_jobs::open(), 10).await;
        let all = async_jobs::increments(json!({}));
        let untouched = async |n: i64| async_jobs::count(&app, json!({ "n": n })).await;
        let verdict = async |id: &str| {
            app.kit.clock.advance(3_001);
            let state = async_jobs::taken_up(&app, id).await;
            (text(&state["status"]), state["error"]["code"].clone())
        };
        let failed = ("FAILED".to_owned(), json!("WDE0027"));

        let as_ada = scene.begin("WRITE").await;
        let job = async_jobs::hold_a_job(&app, &as_ada, &all).await;
        assert_eq!(verdict(&job).await.0, "SUCCEEDED", "nothing has ended");
        assert_eq!(untouched(1).await, 10);

        let as_ada = scene.begin("WRITE").await;
        let job = async_jobs::hold_a_job(&app, &as_ada, &all).await;
        assert_eq!(scene.owner.delete(&scene.path()).await.json(), json!({ "ended": 1 }));
        assert_eq!(verdict(&job).await, failed, "the owner ended it");

        let as_ada = scene.begin("WRITE").await;
        let job = async_jobs::hold_a_job(&app, &as_ada, &all).await;
        write(&app, "update stoa.session set ended = 1 where impersonator is not null and ended is null").await;
        assert_eq!(verdict(&job).await, failed, "it has ended, and a crash came before the revocation");

        let as_ada = scene.begin("WRITE").await;
        let job = async_jobs::hold_a_job(&app, &as_ada, &all).await;
        app.kit.clock.advance(HALF_AN_HOUR);
        assert_eq!(verdict(&job).await, failed, "half an hour has passed");

        let as_ada = scene.begin("WRITE").await;
        let job = async_jobs::hold_a_job(&app, &as_ada, &all).await;
        let owner = Email::parse("owner@example.org").unwrap();
        assert!(app.app.identity.operator_sessions_end(&app.site.id, &owner).await.unwrap() > 0);
        assert_eq!(verdict(&job).await, failed, "the owner has signed out");

        let as_ada = app.with_token(&by_command(&scene, Impersonation::Write).await.unwrap().token.token);
        let job = async_jobs::hold_a_job(&app, &as_ada, &all).await;
        let gone = app.kit.store.catalog().write(|tx| {
            boxed!({
                tx.execute("update stoa.person_role set role = 'EDITOR'", &[]).await?;
                Ok(())
            })
        });
        gone.await.unwrap();
        assert_eq!(verdict(&job).await, failed, "the owner is an editor");
        assert_eq!(untouched(1).await, 10, "nothing was changed by those");
        let held = app.key("items:read").await;
        assert_ne!(held.post("/v2/bulk/items/async-patch-by-filter", &all).await.verdict(), "200");
    }

    async fn no_token_outlives_its_end_when_the_call_that_ends_it_is_cut_off(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "WRITE").await;
        let (identity, caller) = (&app.app.identity, Caller::App { id: "key".into() });
        let policy = |to: &str| PolicyChange::parse(&json!({ "signOnPolicy": { "impersonation": to } })).unwrap();
        let mut cut_off_begins = 0;
        for polls in (0..12).cycle().take(36) {
            let first = app.with_token(&by_command(&scene, Impersonation::Write).await.unwrap().token.token);
            assert_ne!(seen(&first).await, ENDED);
            // Something to wait for at the writer.
            let busy = insert(&scene.ada, "busy");
            let (_, second) = tokio::join!(busy, cut_off(by_command(&scene, Impersonation::Write), polls));
            cut_off_begins += usize::from(second.is_none());
            no_more_than_listed(&scene, &first, "begun again", polls).await;

            let first = app.with_token(&by_command(&scene, Impersonation::Write).await.unwrap().token.token);
            assert_ne!(seen(&first).await, ENDED);
            let busy = insert(&scene.ada, "busy");
            tokio::join!(busy, cut_off(identity.policy_update(&app.site, &caller, policy("OFF")), polls));
            no_more_than_listed(&scene, &first, "the policy", polls).await;
            identity.policy_update(&app.site, &caller, policy("WRITE")).await.unwrap();
        }
        assert!(cut_off_begins > 0);
    }

    async fn token_is_refused_by_its_row_where_a_crash_left_no_revocation(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        let scene = Scene::new(&app, "WRITE").await;
        let as_ada = scene.begin("WRITE").await;
        for _ in 0..4 {
            assert_eq!(seen(&as_ada).await, "1");
        }
        write(&app, "update stoa.session set ended = 1 where impersonator is not null").await;
        app.kit.clock.advance(2_001);
        for _ in 0..4 {
            assert_eq!(seen(&as_ada).await, ENDED);
            assert_eq!(insert(&as_ada, "late").await.verdict(), ENDED);
        }
    }

    async fn role_that_comes_back_does_not_bring_it_back(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        let scene = Scene::new(&app, "WRITE").await;
        let (identity, site) = (&app.app.identity, &app.site.id);
        let owner = Email::parse("owner@example.org").unwrap();
        // Another owner, so that the first can stop being one.
        app.installed("items:read").await;
        let begun = by_command(&scene, Impersonation::Write).await.unwrap();
        let as_ada = app.with_token(&begun.token.token);
        assert_eq!((seen(&as_ada).await.as_str(), scene.shown().await.len()), ("1", 1));
        identity.operator_role_set(site, &owner, Role::Editor).await.unwrap();
        assert!(scene.shown().await.is_empty(), "the member is not told of what is over");
        identity.operator_role_set(site, &owner, Role::Owner).await.unwrap();
        app.kit.clock.advance(2_001);
        for _ in 0..4 {
            assert_eq!(insert(&as_ada, "late").await.verdict(), ENDED);
        }
        let as_ada = app.with_token(&by_command(&scene, Impersonation::Write).await.unwrap().token.token);
        assert_eq!(identity.operator_sessions_end(site, &owner).await.unwrap(), 0);
        assert_eq!(seen(&as_ada).await, ENDED, "what an owner has open on the site is ended with their sessions");
    }

    async fn what_ended_it_and_who_was_told_is_in_the_log(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "WRITE").await;
        let owner_id = subject(&app, &scene.owner).await;
        let ends = async || {
            let entries = scene.audited("impersonation_end").await;
            entries.iter().map(|it| text(&it["actor"])).collect::<Vec<_>>()
        };
        scene.begin("WRITE").await;
        // The message says what may be changed, and leads to where it is ended.
        let mail = app.mail.take().pop().unwrap();
        let told = mail.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("change your content there"), "{told}");
        assert!(told.contains(&format!("/s/{}/account/sessions", app.site.id)), "{told}");
        assert!(ends().await.is_empty());
        scene.begin("READ").await;
        assert_eq!(ends().await, std::slice::from_ref(&owner_id), "begun again");
        let key = app.app.identity.authenticate(Some(&app.app().token), None).await.unwrap().caller.id().to_owned();
        scene.policy(json!({ "impersonation": "OFF" })).await;
        let by: BTreeSet<String> = ends().await.into_iter().collect();
        assert_eq!(by, BTreeSet::from([owner_id, key]), "the policy");

        scene.policy(json!({ "impersonation": "READ", "impersonationWithoutNotice": true })).await;
        scene.begin("READ").await;
        scene.policy(json!({ "impersonationWithoutNotice": false })).await;
        let details: BTreeSet<String> =
            scene.audited("impersonation_start").await.iter().map(|it| text(&it["detail"])).collect();
        assert!(details.contains("READ, member not told: Ticket 4711"), "{details:?}");

        // What is over by itself was not ended by anyone.
        app.kit.clock.advance(HALF_AN_HOUR);
        let before = ends().await.len();
        assert_eq!(scene.owner.delete(&scene.path()).await.json(), json!({ "ended": 0 }));
        assert_eq!(ends().await.len(), before);
    }

    async fn ending_it_costs_the_member_nothing_of_their_own(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "READ").await;
        let insert = format!(
            "insert into stoa.factor_guard (site, member, generation) values ('{}', '{}', 7)",
            app.site.id, scene.id
        );
        write(&app, &insert).await;
        let guard = async || {
            let sql = "select generation from stoa.factor_guard";
            let read = app.site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)));
            read.await.unwrap()
        };
        scene.begin("READ").await;
        app.mail.take();
        let session = text(&scene.shown().await[0]["id"]);
        assert_eq!(scene.ada.delete(&format!("{SESSIONS}/{session}")).await.verdict(), "200");
        assert_eq!((guard().await, app.mail.take().len()), (Some(7), 0), "no browser was signed out");
        assert_eq!(scene.ada.delete(SESSIONS).await.verdict(), "200");
        assert!(guard().await > Some(7), "all others are browsers too");
    }
}
