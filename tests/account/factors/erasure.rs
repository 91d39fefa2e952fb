//! What is left of members who were erased (docs/erasure.md): their words are put wherever the program keeps any, and after
//! the removal, the days of the retention and a compaction no table, dump or file of either engine has them.

use super::*;
use crate::environments::{copy, operator};
use stoa_content::READ_OUT;
use stoa_sql::params;
use stoa_store::{Environment, Site};
use stoa_testkit::passkey::Passkey;

mod tables;

/// With what each word of a member begins.
const MARK: &str = "quaxo";
const DAY: i64 = 24 * 60 * 60_000;
/// Longer than anything stays that has words of members: messages that could not be sent.
const LONGEST: i64 = 31 * DAY;

/// A member of whom there is something everywhere.
struct Known {
    name: &'static str,
    id: String,
    access: String,
    passkey: Passkey,
}

impl Known {
    /// The member's own word for a place.
    fn word(&self, place: &str) -> String {
        word(self.name, place)
    }
}

fn word(name: &str, place: &str) -> String {
    format!("{MARK}{name}{place}")
}

fn email(name: &str) -> String {
    format!("{}@example.org", word(name, "address"))
}

fn ok(reply: &Reply) -> Value {
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()
}

impl World {
    async fn key(&self, path: &str, body: Value) -> Value {
        ok(&self.app.app().post(path, &body).await)
    }

    /// Makes a collection that everyone may read and write.
    async fn open_collection(&self, id: &str, fields: Value, keeps_old: bool) {
        let open =
            json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let object = json!({ "id": id, "displayField": "title", "fields": fields, "dataPermissions": open, "logOldValues": keeps_old });
        self.key("/v2/collections", json!({ "collection": object })).await;
    }

    /// One whose items are searched, translated and linked, one with drafts, one that is deleted in the end, and one that is
    /// copied into the sandbox.
    async fn collections(&self) {
        for id in ["posts", "news", "old", "plain"] {
            let near = json!({ "multiReference": { "referencedCollectionId": "posts" } });
            let title = json!({ "key": "title", "type": "TEXT" });
            // With drafts, and for copies, there are no multi-references.
            let fields = match id {
                "news" | "plain" => json!([title]),
                _ => json!([title, { "key": "near", "type": "MULTI_REFERENCE", "typeMetadata": near }]),
            };
            self.open_collection(id, fields, true).await;
        }
        let languages = json!({ "translatableFieldKeys": ["title"] });
        self.key(
            "/v2/collections/add-multilingual-plugin",
            json!({ "dataCollectionId": "posts", "multilingualOptions": languages }),
        )
        .await;
        self.key("/v2/collections/add-draft-items-plugin", json!({ "dataCollectionId": "news" })).await;
    }

    /// What a member tells and is told, in everything that people can fill in.
    async fn known(&self, name: &'static str) -> Known {
        let access = self.member_access(&email(name)).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (passkey, _) = self.add_passkey(&access, &word(name, "passkey")).await;
        let member = Known { name, id: self.id_of(&email(name)).await, access, passkey };
        let word = |place: &str| member.word(place);
        let profile = json!({ "nickname": word("nickname"), "slug": word("slug"), "title": word("title"),
            "photo": { "id": "p", "url": format!("https://{}.example/p.png", word("photo")) },
            "cover": { "url": format!("https://{}.example/c.png", word("cover")) } });
        let contact = json!({ "firstName": word("first"), "lastName": word("last"), "company": word("company"),
            "jobTitle": word("job"), "phones": [word("phone")], "emails": [format!("{}@example.org", word("second"))],
            "addresses": [{ "id": "1", "addressLine": word("street"), "city": word("city"), "country": "DE" }],
            "customFields": { "custom.hat": { "name": "custom.hat", "value": word("custom") } } });
        let told =
            json!({ "member": { "profile": profile, "contact": contact, "privacyStatus": "PUBLIC" } }).to_string();
        let path = format!("/members/v1/members/{}", member.id);
        ok(&self.app.app().send(Method::PATCH, &path, Some(told.into())).await);
        let about = json!({ "nodes": [{ "type": "TEXT", "textData": { "text": word("about") } }] });
        ok(&self.call(&member.access, "/members/v2/abouts", &json!({ "memberAbout": { "content": about } })).await);
        // A sign-in that waits for the right password, and an authenticator of which no code was shown.
        let browser = self.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        browser
            .answer(&token, json!({ "type": "SIGN_IN", "email": email(name), "password": "not the right one" }))
            .await;
        ok(&self.post_own(&member.access, "factors", json!({ "name": word("factor") })).await);
        member
    }

    /// Items of a member, with drafts, translations and links.
    async fn items(&self, member: &Known) {
        let insert = async |collection: &str| {
            let data = json!({ "_id": member.word(&format!("id{collection}")), "title": member.word(collection) });
            let body = json!({ "dataCollectionId": collection, "dataItem": { "id": data["_id"], "data": data } });
            ok(&self.call(&member.access, "/v2/items", &body).await);
        };
        for collection in ["posts", "news", "old", "plain"] {
            insert(collection).await;
        }
        let id = member.word("idposts");
        let german = json!({ "dataCollectionId": "posts", "language": "de",
            "dataItem": { "id": id, "data": { "_id": id, "title": member.word("german") } } });
        self.key("/v2/items/update", german).await;
        for collection in ["posts", "old"] {
            let from = member.word(&format!("id{collection}"));
            let link = json!({ "referringItemFieldName": "near", "referringItemId": from, "referencedItemId": id });
            self.key(
                "/v2/bulk/items/insert-references",
                json!({ "dataCollectionId": collection, "dataItemReferences": [link] }),
            )
            .await;
        }
        self.key("/v2/items/create-draft", json!({ "dataCollectionId": "news", "dataItemId": member.word("idnews") }))
            .await;
    }

    /// What the program writes down when something fails, with the words that it has at such moments.
    async fn failures(&self, member: &Known) {
        let (site, id, now) = (self.app.site.id.to_string(), member.id.clone(), self.app.kit.world.now());
        let key = |place: &str| format!("{}-{place}", member.name);
        let rows = [
            (
                "update stoa.member set vouched_email = $1 where site = $2 and id = $3",
                params![member.word("vouched"), &site, &id].to_vec(),
            ),
            (
                "insert into stoa.mail (site, id, kind, member, created, expires, attempts, error) values ($1, $2, 'verification', $3, $4, $4, 9, $5)",
                params![&site, key("mail"), &id, now, format!("550 no mailbox {}", email(member.name))].to_vec(),
            ),
            (
                "insert into stoa.verification (site, hash, member, email_folded, code_hash, code_expires, attempts, messages, created, expires) \
                 values ($1, $2, $3, $4, $2, $5, 0, 1, $5, $5)",
                params![&site, key("code").into_bytes(), &id, email(member.name), now].to_vec(),
            ),
            (
                "insert into stoa.link (site, hash, purpose, member, return_url, created, expires, email, email_folded) \
                 values ($1, $2, 'recovery', $3, $4, $5, $5, $6, $6)",
                params![
                    &site,
                    key("link").into_bytes(),
                    &id,
                    format!("https://app.example.org/{}", member.word("link")),
                    now,
                    email(member.name)
                ]
                .to_vec(),
            ),
            (
                "insert into stoa.provider_link (site, provider, subject, member, email, created) values ($1, 'p', $2, $3, $4, $5)",
                params![&site, member.word("subject"), &id, email(member.name), now].to_vec(),
            ),
            (
                "insert into stoa.webhook_event (site, id, endpoint, sequence, place, entity, type, state, kind, payload, happened, attempts, created, died) \
                 values ($1, $2, 'e', 1, 0, 'x', 'x', 'DEAD', 'data_item_created', $3, $4, 9, $4, $4)",
                params![&site, key("event"), member.word("webhook"), now].to_vec(),
            ),
            (
                "insert into stoa.hook_log (site, id, created, collection, hook, version, milliseconds, outcome, console) \
                 values ($1, $2, $3, 'posts', 'beforeInsert', 1, 1, 'FAILED', $4)",
                params![&site, key("hook"), now, member.word("console")].to_vec(),
            ),
            (
                "insert into stoa.async_job (site, id, collection, collection_id, kind, status, asker, asker_kind, asker_id, created, done, succeeded, \
                 failed, failures, touched, attempts, ended) \
                 values ($1, $2, 1, 'posts', 'REMOVE', 'SUCCEEDED', '{}', 'APP', 'a', $3, '', 0, 1, $4, $3, 1, $3)",
                params![&site, key("job"), now, json!([member.word("failure")]).to_string()].to_vec(),
            ),
        ];
        for (sql, row) in rows {
            let written = self.app.site.append_with(row, move |tx, row| {
                boxed!({
                    tx.execute(sql, row).await?;
                    Ok(())
                })
            });
            written.await.unwrap();
        }
    }

    /// Removes all items of a member in an environment, as docs/erasure.md says.
    async fn remove_items(&self, member: &Known, environment: &str) {
        let ask = |collection: &str| json!({ "dataCollectionId": collection, "environment": environment, "filter": { "_owner": member.id } });
        // Copies take along neither drafts nor what is translated or linked.
        let collections: &[&str] =
            if environment == "LIVE" { &["posts", "news", "news__drafts", "plain"] } else { &["plain"] };
        for collection in collections {
            self.key("/v2/bulk/items/async-remove-by-filter", ask(collection)).await;
            for n in 0.. {
                if self.key("/v2/items/count", ask(collection)).await["totalCount"] == 0 {
                    break;
                }
                assert!(n < 3_000, "items are removed");
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    }

    /// Something of the site's own that is written last in both environments: the newest row of a log stays.
    async fn write_last(&self, n: usize) {
        self.open_collection(&format!("last{n}"), json!([{ "key": "title", "type": "TEXT" }]), false).await;
        let item = json!({ "data": { "_id": format!("last{n}"), "title": "last" } });
        self.key("/v2/items/save", json!({ "dataCollectionId": "plain", "environment": "SANDBOX", "dataItem": item }))
            .await;
    }

    /// Waits until a statement counts nothing in the environments.
    async fn until_none(&self, sandbox: &Site, sql: &'static str) {
        for _ in 0..6_000 {
            let mut count = 0;
            for site in [&*self.app.site, sandbox] {
                let read = site
                    .read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)));
                count += read.await.unwrap().unwrap_or_default();
            }
            if count == 0 {
                return;
            }
            self.app.kit.store.logs_tend(self.app.kit.world.now()).await;
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("words of members stay: {sql}");
    }

    /// What housekeeping does from time to time.
    async fn housekeeping(&self, sandbox: &std::sync::Arc<Site>) {
        let (app, store) = (&self.app.app, &self.app.kit.store);
        for _ in 0..2 {
            for site in [&self.app.site, sandbox] {
                app.identity.retention_run(site).await;
                app.content.environment_tend(store, site).await.unwrap();
            }
            app.identity.retention_run_catalog().await;
            store.logs_tend(self.app.kit.world.now()).await;
            self.app.kit.clock.advance(READ_OUT + 1);
        }
    }
}

on_both_engines! {
    async fn nothing_of_erased_members_is_found(engine) {
        let world = World::with_factors(engine).await;
        let _serving = world.app.searched().await;
        world.collections().await;
        let (mut anna, bob) = (world.known("anna").await, world.known("bob").await);
        for (member, other) in [(&anna, &bob), (&bob, &anna)] {
            world.items(member).await;
            let reason = json!({ "category": "SPAM", "description": member.word("report") });
            let report = json!({ "memberReport": { "reportedMemberId": other.id, "reason": reason } });
            ok(&world.call(&member.access, "/members/v1/member-reports", &report).await);
            world.failures(member).await;
        }
        // Once its id is used again nothing restores a collection that was deleted.
        ok(&world.app.app().delete("/v2/collections/old?dataCollectionId=old").await);
        world.open_collection("old", json!([{ "key": "title", "type": "TEXT" }]), false).await;
        // What two copies replaced is kept for a while.
        let (app, store) = (&world.app.app, &world.app.kit.store);
        app.content.environment_create(store, &world.app.site, &operator()).await.unwrap();
        for _ in 0..2 {
            copy(&world.app, Environment::Live).await;
        }
        let sandbox = store.sandbox(&world.app.site).await.unwrap().unwrap();
        world.app.search_caught_up().await;

        let before = tables::dump(&world.app, engine).await;
        tables::assert_words_are_everywhere(&before, engine);
        let places = ["address", "nickname", "slug", "title", "photo", "cover", "first", "last", "company", "job", "phone", "second",
            "street", "city", "custom", "about", "factor", "posts", "news", "old", "plain", "german", "idposts", "report", "link", "webhook",
            "console", "failure", "vouched", "passkey"];
        for member in [&anna, &bob] {
            let words: Vec<String> = places.iter().map(|it| member.word(it)).collect();
            assert_eq!(tables::missing(&before, &words), [""; 0], "what is not there before proves nothing");
        }

        // One leaves, the other is deleted by those who run the site.
        for member in [&anna, &bob] {
            for environment in ["LIVE", "SANDBOX"] {
                world.remove_items(member, environment).await;
            }
        }
        assert_eq!(world.prove_by_passkey(&anna.access, &mut anna.passkey).await, "200");
        let leaves = ok(&world.post_own(&anna.access, "deletion", json!({})).await);
        assert_eq!(leaves["isDeleted"], false);
        ok(&world.app.app().delete(&format!("/members/v1/members/{}", bob.id)).await);

        world.app.search_caught_up().await;
        world.app.kit.clock.advance(DAY);
        world.write_last(1).await;
        world.until_none(&sandbox, "select count(*) from stoa.search_list where term like 'quaxo%'").await;
        world.app.kit.clock.advance(14 * DAY);
        world.housekeeping(&sandbox).await;
        world.app.kit.clock.advance(LONGEST);
        world.write_last(2).await;
        world.app.search_caught_up().await;
        world.housekeeping(&sandbox).await;
        // On PostgreSQL a transaction of another test may hold the log up for a moment.
        world.until_none(&sandbox, "select count(*) from stoa.outbox where payload like '%quaxo%'").await;
        store.compact(&mut |_| ()).await.unwrap();
        assert_eq!(tables::places(&world.app, engine).await, [""; 0], "words of members who are gone");
        // What stays is that there was somebody.
        let read = world.app.site.read(ReaderPool::Scan, |tx| {
            boxed!(Ok(tx.row("select count(*) from stoa.member where status = 'DELETED'", &[], |row| row.get::<i64>(0)).await?))
        });
        assert_eq!(read.await.unwrap(), Some(2));
    }
}
