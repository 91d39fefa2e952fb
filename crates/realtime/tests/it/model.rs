//! Clients against random writes, changes of rights, disconnects and nodes: each holds at every quiet moment exactly what
//! a query answers to it, and never held anything that no query would have shown it.

use crate::kit::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use stoa_content::transfer::{FileOf, Format};
use stoa_kernel::{Caller, World};
use stoa_testkit::{Engine, rounds};
use tokio::runtime::Runtime;

/// What happens in a round.
const STEPS: usize = 60;
const CLIENTS: usize = 8;
const ITEMS: u64 = 8;
const LEVELS: [&str; 4] = ["ANYONE", "SITE_MEMBER", "SITE_MEMBER_AUTHOR", "CMS_EDITOR"];

#[test]
fn realtime_model_holds_on_sqlite() {
    (0..rounds(3)).for_each(|seed| check(Engine::Sqlite, seed as u64));
}

#[test]
fn realtime_model_holds_on_postgres() {
    (0..rounds(2)).for_each(|seed| check(Engine::Postgres, seed as u64));
}

fn check(engine: Engine, seed: u64) {
    Runtime::new().unwrap().block_on(async {
        let mut model = Model::new(engine, seed).await;
        for step in 0..STEPS {
            model.step().await;
            if step % 6 == 5 {
                model.compare().await;
            }
        }
        model.compare().await;
    });
}

struct Model {
    kit: Kit,
    chance: World,
    seed: u64,
    followers: Vec<Follower>,
    collections: [&'static str; 2],
    /// Per caller and collection: every item that a query showed at some moment.
    shown: BTreeMap<(String, &'static str), BTreeSet<String>>,
}

/// A client and what it follows.
struct Follower {
    person: Person,
    caller: Caller,
    collection: &'static str,
    /// Of its subscriptions, by key.
    filters: BTreeMap<&'static str, Value>,
    node: usize,
    client: Option<Client>,
    /// By subscription where it was, and what it held.
    left: Option<BTreeMap<String, Held>>,
}

/// Two on one collection: a row tells both, one after the other.
const KEYS: [&str; 2] = ["a", "b"];

fn name(caller: &Caller) -> String {
    format!("{} {}", caller.identity_type(), caller.id())
}

fn callers() -> [Caller; 5] {
    [visitor(), member("ann"), member("bob"), editor(), app()]
}

fn filters() -> [Value; 5] {
    [
        json!({}),
        json!({ "color": "red" }),
        json!({ "n": { "$gte": 5 } }),
        json!({ "$or": [{ "color": "blue" }, { "n": { "$lt": 3 } }] }),
        json!({ "color": { "$ne": "red" }, "_owner": { "$exists": true } }),
    ]
}

impl Model {
    async fn new(engine: Engine, seed: u64) -> Self {
        let kit = Kit::with(engine, 3, Default::default()).await;
        let (chance, _) = World::fixed(0, seed + 1);
        let mut model =
            Self { kit, chance, seed, followers: Vec::new(), collections: ["c", "d"], shown: BTreeMap::new() };
        for id in model.collections {
            let level = LEVELS[model.draw(4)];
            model.kit.node().create(id, level, json!({})).await;
        }
        for n in 0..CLIENTS {
            let caller = callers()[model.draw(5)].clone();
            let follower = Follower {
                person: Person::new(caller.clone()),
                caller,
                collection: model.collections[model.draw(2)],
                filters: KEYS.map(|key| (key, filters()[model.draw(5)].clone())).into(),
                node: n % model.kit.nodes.len(),
                client: None,
                left: None,
            };
            model.followers.push(follower);
        }
        model.note().await;
        model
    }

    fn draw(&self, below: u64) -> usize {
        (u64::from_le_bytes(self.chance.bytes::<8>()) % below) as usize
    }

    fn item(&self, id: &str) -> Value {
        let color = ["red", "blue", "green"][self.draw(3)];
        let mut item = json!({ "_id": id, "n": self.draw(10), "color": color });
        if self.draw(2) == 0 {
            item["title"] = json!(format!("t{}", self.draw(3)));
        }
        item
    }

    fn id(&self) -> String {
        format!("i{}", self.draw(ITEMS))
    }

    /// Something happens, on some node.
    async fn step(&mut self) {
        let node = &self.kit.nodes[self.draw(self.kit.nodes.len() as u64)];
        let collection = self.collections[self.draw(2)];
        let caller = callers()[1 + self.draw(4)].clone();
        self.kit.test.clock.advance(1 + self.draw(1_000) as i64);
        match self.draw(24) {
            0..=3 => drop(node.put(&caller, "insert", collection, self.item(&self.id())).await),
            4..=6 => drop(node.put(&caller, "update", collection, self.item(&self.id())).await),
            7 => {
                let mut item = self.item(&self.id());
                item["_owner"] = Value::from(["ann", "bob"][self.draw(2)]);
                drop(node.put(&app(), "update", collection, item).await);
            }
            8 => {
                let set = json!({ "fieldPath": "color", "action": "SET_FIELD", "setFieldOptions": { "value": "red" } });
                let patch = json!({ "dataItemId": self.id(), "fieldModifications": [set] });
                drop(node.call(&caller, "patch", json!({ "dataCollectionId": collection, "patch": patch })).await);
            }
            9 | 10 => {
                let ids: BTreeSet<String> = (0..4).map(|_| self.id()).collect();
                node.bulk("bulk-save", collection, ids.iter().map(|it| self.item(it))).await;
            }
            11 => {
                let ids: Vec<String> = (0..3).map(|_| self.id()).collect();
                let body = json!({ "dataCollectionId": collection, "dataItemIds": ids });
                drop(node.call(&app(), "bulk-remove", body).await);
            }
            12 | 13 => {
                let body = json!({ "dataCollectionId": collection, "dataItemId": self.id() });
                drop(node.call(&app(), "remove", body).await);
            }
            14 if self.draw(3) == 0 => {
                node.call(&app(), "truncate", json!({ "dataCollectionId": collection })).await.unwrap();
            }
            14 if self.draw(2) == 0 => {
                let line = self.item(&self.id()).to_string();
                let file = FileOf { collection, format: Format::JsonLines };
                node.content.import(&node.site, &app(), file, line.as_bytes(), |_| ()).await.unwrap();
            }
            15 => node.levels(collection, LEVELS[self.draw(4)]).await,
            16 | 20 => self.take_rights_away().await,
            17..=19 => {
                let n = self.draw(CLIENTS as u64);
                self.followers[n].leave();
            }
            22 | 23 => {
                // The connection breaks somewhere within what a row tells both subscriptions.
                let n = self.draw(CLIENTS as u64);
                self.read(n, 50).await;
                let ids: BTreeSet<String> = (0..6).map(|_| self.id()).collect();
                let items = ids.iter().map(|it| self.item(it));
                self.kit.node().bulk("bulk-save", self.followers[n].collection, items).await;
                self.note().await;
                let most = 1 + self.draw(8);
                self.read(n, most).await;
                self.followers[n].leave();
            }
            _ => {
                let n = self.draw(CLIENTS as u64);
                self.read(n, 3).await;
            }
        }
        self.note().await;
    }

    /// Somebody becomes another; what they held is not theirs any more.
    async fn take_rights_away(&mut self) {
        let caller = callers()[self.draw(5)].clone();
        let (n, on) = (self.draw(CLIENTS as u64), self.draw(self.kit.nodes.len() as u64));
        // More often than not of somebody who is away, and comes back with a place.
        let away = self.followers.iter().position(|it| it.left.is_some()).filter(|_| self.draw(3) > 0);
        let n = away.unwrap_or(n);
        let follower = &mut self.followers[n];
        follower.person.becomes(Some(caller.clone()));
        follower.caller = caller;
        self.kit.nodes[on].announce().await;
    }

    /// What every caller is shown now.
    async fn note(&mut self) {
        for caller in callers() {
            for collection in self.collections {
                let there = self.kit.node().query(&caller, collection, &json!({})).await.unwrap_or_default();
                let shown = self.shown.entry((name(&caller), collection)).or_default();
                shown.extend(there.values().map(ToString::to_string));
            }
        }
    }

    /// A client reads some messages, having come back if it was away.
    async fn read(&mut self, n: usize, most: usize) {
        let (kit, follower, seed) = (&self.kit, &mut self.followers[n], self.seed);
        if follower.client.is_none() {
            follower.come(kit).await;
        }
        let caller = name(&follower.caller);
        for _ in 0..most {
            let client = follower.client.as_mut().unwrap();
            let Some(message) = client.next(std::time::Duration::from_millis(30)).await else { break };
            let single = message.data.get("item").into_iter();
            for item in single.chain(message.data["items"].as_array().into_iter().flatten()) {
                let shown = self.shown.get(&(caller.clone(), follower.collection));
                let was_shown = shown.is_some_and(|it| it.contains(&item.to_string()));
                assert!(was_shown, "seed {seed}: {caller} was told of {item}, which no query has shown");
            }
        }
        if follower.client.as_ref().is_some_and(|it| it.is_over || it.held.values().any(|it| it.ended.is_some())) {
            // The client asks for the items again.
            (follower.client, follower.left) = (None, None);
        }
    }

    /// Nothing happens until every client holds what a query answers, and then for a while.
    async fn compare(&mut self) {
        for n in 0..self.followers.len() {
            let mut last = String::new();
            let mut is_right = false;
            for _ in 0..200 {
                self.read(n, 50).await;
                let follower = &self.followers[n];
                let node = &self.kit.nodes[follower.node];
                is_right = true;
                for (key, filter) in &follower.filters {
                    let there = node.query(&follower.caller, follower.collection, filter).await;
                    let held = follower.client.as_ref().map(|it| &it.held[*key]);
                    let is_same = match held {
                        // It ended, and rightly so if there is nothing to follow.
                        None => there.is_err(),
                        Some(held) => held.is_ready && there.as_ref().is_ok_and(|it| *it == held.items),
                    };
                    if !is_same {
                        last = format!("{key} {held:?}\n{there:?}");
                    }
                    is_right &= is_same;
                }
                if is_right {
                    break;
                }
            }
            let follower = &self.followers[n];
            let (who, what) = (name(&follower.caller), (follower.collection, &follower.filters));
            assert!(is_right, "seed {}: {who} on {} holds of {what:?}\n{last}", self.seed, follower.node);
        }
    }
}

impl Follower {
    /// Goes away without reading what there is.
    fn leave(&mut self) {
        let Some(client) = self.client.take() else { return };
        self.left = Some(client.held).filter(|it| it.values().all(|it| it.place.is_some()));
    }

    /// Comes to another node, going on from where it was.
    async fn come(&mut self, kit: &Kit) {
        self.node = (self.node + 1) % kit.nodes.len();
        let begin = |key: &str| match &self.left {
            Some(left) => json!({ "resume": left[key].place }),
            None => json!({ "snapshot": true, "limit": 1000 }),
        };
        let subscriptions = self.filters.iter().map(|(key, filter)| {
            let mut it = begin(key);
            (it["key"], it["dataCollectionId"], it["filter"]) = (json!(key), json!(self.collection), filter.clone());
            it
        });
        let mut client = kit.open_on(self.node, &self.person, subscriptions.collect()).await.unwrap();
        for (key, left) in self.left.take().into_iter().flatten() {
            let held = client.held.get_mut(&key).unwrap();
            (held.items, held.place) = (left.items, left.place);
        }
        self.client = Some(client);
    }
}
