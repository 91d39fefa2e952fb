//! LIVE and SANDBOX: calls of every kind with each `environment`, copies either way and back again. Each environment has
//! items, levels and special permissions of its own, beside a plain model of both: a call shows and changes what is in the
//! one that it means, for those who may, and nothing in the other.

use super::{
    editions::{PATHS, Shown, ok},
    search::Frequencies,
    *,
};
use crate::async_jobs::ended;
use std::{sync::Arc, time::Duration};
use stoa_content::CopyWish;
use stoa_kernel::{Caller as Known, KeyId};
use stoa_store::{Environment, Site};

const TWINS: usize = 2;
const ASKED: [Option<&str>; 4] = [None, Some("LIVE"), Some("SANDBOX"), Some("SANDBOX_PREFERRED")];
const LIVE: usize = 0;
const SANDBOX: usize = 1;
/// The kinds of calls that write, by number.
pub const WRITES: [&str; 13] = [
    "/v2/items",
    "/v2/items/update",
    "/v2/items/save",
    "/v2/items/patch",
    "/v2/items/remove",
    "/v2/bulk/items/insert",
    "/v2/bulk/items/update",
    "/v2/bulk/items/save",
    "/v2/bulk/items/patch",
    "/v2/bulk/items/remove",
    "/v2/bulk/items/async-patch-by-filter",
    "/v2/bulk/items/async-remove-by-filter",
    "/v2/items/truncate",
];
/// The kinds of calls that read: those of [`Shown`] and the older form of aggregations.
pub const READS: usize = PATHS.len() + 1;

on_both_engines! {
    async fn environments_show_and_change_what_the_rules_allow(engine) {
        let app = TestApp::with_nodes(engine, NODES).await;
        let callers = callers(&app).await;
        let (sandbox, _serving) = (sandbox_of(&app).await, app.searched().await);
        let (fresh, mut tally) = (from_environment().unwrap_or_else(fresh_seed), BTreeMap::new());
        for (seed, twins) in [(31_009, 0..TWINS), (fresh, TWINS..TWINS + rounds(TWINS))] {
            let mut random = Random(seed);
            for number in twins {
                let name = format!("seed {seed}, twin {number}");
                let mut twin = Twin::make(&app, &sandbox, &callers, &mut random, name).await;
                for _ in 0..CALLS {
                    let caller = &callers[random.below(callers.len())];
                    *tally.entry(twin.call(caller, &callers, &mut random).await).or_insert(0) += 1;
                }
            }
        }
        let _ = writeln!(std::io::stdout(), "\noracle of environments on {engine:?}, seed {fresh}: {tally:?}");
    }
}

fn operator() -> Known {
    Known::App { id: KeyId::from("command-line") }
}

/// A sandbox whose words are searched.
pub async fn sandbox_of(app: &TestApp) -> Arc<Site> {
    app.app.content.environment_create(&app.kit.store, &app.site, &operator()).await.unwrap();
    let sandbox = app.kit.store.sandbox(&app.site).await.unwrap().unwrap();
    app.app.content.search_subscribe(&sandbox).await.unwrap();
    sandbox
}

/// Which content a call is about, or how it is refused: the beginning of the verdict.
enum Place {
    At(usize),
    Refused(&'static str),
}

/// A collection in both environments.
pub struct Twin<'a> {
    app: &'a TestApp,
    sandbox: &'a Arc<Site>,
    id: String,
    /// LIVE and SANDBOX; LIVE always has it.
    pub sides: [Option<Side>; 2],
    /// The copies that can be undone, each with what it replaced.
    kept: [Option<(String, Option<Side>)>; 2],
    /// The special permissions of the collection that was deleted last in the sandbox.
    gone: Vec<(String, [bool; 4])>,
    name: String,
}

impl<'a> Twin<'a> {
    /// One whose two sides differ.
    pub async fn make(
        app: &'a TestApp,
        sandbox: &'a Arc<Site>,
        callers: &[Caller<'_>],
        random: &mut Random,
        name: String,
    ) -> Self {
        let id = format!("twin{}", random.below(1_000_000_000));
        let mut live = Side::open(app, callers, random, id.clone(), json!([{ "key": "n", "type": "NUMBER" }])).await;
        live.close(app, callers, random).await;
        let mut twin = Self { app, sandbox, id, sides: [Some(live), None], kept: [None, None], gone: Vec::new(), name };
        twin.copy(SANDBOX).await;
        let everyone = Caller { kind: Kind::App, id: String::new(), client: app.app() };
        for kind in 1..10 {
            twin.write(&everyone, random, kind, Some("SANDBOX")).await;
        }
        while twin.count_of_first(SANDBOX) == twin.count_of_first(LIVE) {
            twin.write(&everyone, random, 4, Some("SANDBOX")).await;
        }
        twin
    }

    /// How many of the items are there with which it began.
    fn count_of_first(&self, place: usize) -> usize {
        self.sides[place].iter().flat_map(|it| it.items.keys()).filter(|it| it.starts_with('i')).count()
    }

    async fn call(&mut self, caller: &Caller<'_>, callers: &[Caller<'_>], random: &mut Random) -> String {
        if self.sides[SANDBOX].is_none() && random.one_in(3) {
            self.copy(SANDBOX).await;
        }
        let environment = ASKED[random.below(ASKED.len())];
        let call = match random.below(16) {
            0..7 => {
                let kind = random.below(READS);
                self.read(caller, random, kind, environment).await
            }
            7..12 => {
                // Seldom all items.
                let kinds = WRITES.len() - usize::from(!random.one_in(4));
                let kind = random.below(kinds);
                let call = self.write(caller, random, kind, environment).await;
                self.fill_again(random).await;
                call
            }
            12 => {
                let to = random.below(2);
                self.copy(to).await
            }
            13 => {
                let to = random.below(2);
                self.undo(to).await
            }
            14 => self.permit(callers, random).await,
            _ if random.one_in(4) => self.delete().await,
            _ => self.walk_elsewhere(random).await,
        };
        if call != "read" {
            self.check(&format!("{call} with {environment:?} of {:?} {}", caller.kind, caller.id)).await;
        }
        match call {
            "read" | "write" | "by filter" => format!("{call} {}", environment.unwrap_or("without")),
            call => call.to_owned(),
        }
    }

    fn place(&self, caller: &Caller<'_>, environment: Option<&str>) -> Place {
        let works_here = matches!(caller.kind, Kind::Editor | Kind::Owner | Kind::App);
        let place = match environment {
            Some("SANDBOX") if !works_here => return Place::Refused(refusal(caller)),
            Some("SANDBOX") => SANDBOX,
            Some("SANDBOX_PREFERRED") if works_here && self.sides[SANDBOX].is_some() => SANDBOX,
            _ => LIVE,
        };
        match &self.sides[place] {
            Some(_) => Place::At(place),
            // It was never there, or was deleted.
            None => Place::Refused("404 WDE002"),
        }
    }

    /// Both environments are as the model has them.
    pub async fn check(&self, after: &str) {
        for (name, side) in ["LIVE", "SANDBOX"].into_iter().zip(&self.sides) {
            let query = json!({ "paging": { "limit": 1000 } });
            let body = json!({ "dataCollectionId": self.id, "environment": name, "query": query });
            let reply = self.app.app().post("/v2/items/query", &body).await;
            let context = format!("{}: {name} after {after}: {:?}", self.name, reply.body);
            let Some(side) = side else {
                assert!(reply.verdict().starts_with("404 WDE002"), "{context}");
                continue;
            };
            let page = ok(reply);
            let items = page["dataItems"].as_array().unwrap().iter();
            let stored: BTreeMap<_, _> =
                items.map(|it| (it["data"]["_id"].as_str().unwrap().to_owned(), plain(&it["data"]))).collect();
            assert_eq!(stored, side.items, "{context}");
        }
    }

    /// A call that reads, with everything about its answer checked.
    pub async fn read(
        &self,
        caller: &Caller<'_>,
        random: &mut Random,
        kind: usize,
        environment: Option<&'static str>,
    ) -> &'static str {
        let place = self.place(caller, environment);
        let side = match place {
            Place::At(place) => self.sides[place].as_ref(),
            Place::Refused(verdict) if verdict.starts_with("404") => {
                let body = json!({ "dataCollectionId": self.id, "environment": environment, "query": {} });
                let reply = caller.client.post("/v2/items/query", &body).await;
                assert!(reply.verdict().starts_with(verdict), "{}: {:?}", self.name, reply.body);
                return "read";
            }
            Place::Refused(_) => None,
        };
        let right = side.map_or(Right::Refused, |it| right(caller, it, READ));
        let shown = Shown {
            name: &self.name,
            collection: &self.id,
            language: None,
            environment,
            with_drafts: false,
            right,
            items: side.iter().flat_map(|it| it.readable(caller)).map(|it| it.1.clone()).collect(),
            frequencies: side.filter(|_| right == Right::All).map(|it| Frequencies::of(it.items.values())),
        };
        // Nodes learn of a copy one after another, and a cursor is about the collection that it was made for.
        let kind = match kind {
            8 => PATHS.len(),
            9 => 1,
            kind => kind,
        };
        if kind == PATHS.len() {
            self.aggregate(caller, &shown).await;
            return "read";
        }
        if PATHS[kind].ends_with("search") {
            self.search_caught_up().await;
        }
        shown.read(caller, random, Some(kind)).await;
        "read"
    }

    async fn aggregate(&self, caller: &Caller<'_>, shown: &Shown<'_>) {
        let operations = json!([{ "resultFieldName": "count", "itemCount": {} }, { "resultFieldName": "marks", "sum": { "itemFieldName": "mark" } }]);
        let body = json!({ "dataCollectionId": self.id, "environment": shown.environment, "aggregation": { "operations": operations } });
        let reply = caller.client.post("/v2/items/aggregate", &body).await;
        let context = format!("{}: /v2/items/aggregate {body} of {:?}: {:?}", self.name, caller.kind, reply.body);
        if shown.right == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return;
        }
        assert_eq!(reply.verdict(), "200", "{context}");
        let result = &reply.json()["results"][0];
        let marks: u64 = shown.items.iter().filter_map(|it| it["mark"].as_u64()).sum();
        let told = [&result["count"], &result["marks"]].map(|it| it.as_f64().unwrap_or_default());
        assert_eq!(told, [shown.items.len() as f64, marks as f64], "{context}");
    }

    /// Waits until searches in both environments find what was written before.
    async fn search_caught_up(&self) {
        self.app.search_caught_up().await;
        let client = self.app.app();
        for _ in 0..6_000 {
            if client.get("/_api/search/v1/lag?environment=SANDBOX").await.json()["isCurrent"] == true {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the index of words of the sandbox has not caught up within a minute");
    }

    /// A cursor leads nowhere in the other environment.
    async fn walk_elsewhere(&self, random: &mut Random) -> &'static str {
        let (from, to) = if random.one_in(2) { ("LIVE", "SANDBOX") } else { ("SANDBOX", "LIVE") };
        let page = async |environment: &str, paging: Value| {
            let body = json!({ "dataCollectionId": self.id, "environment": environment,
                "query": { "filter": {}, "sort": [], "cursorPaging": paging } });
            self.app.app().post("/v2/items/query", &body).await
        };
        if self.sides.iter().flatten().filter(|it| it.items.len() > 1).count() == 2 {
            let cursor = ok(page(from, json!({ "limit": 1 })).await)["pagingMetadata"]["cursors"]["next"].clone();
            let reply = page(to, json!({ "limit": 1, "cursor": cursor })).await;
            assert_eq!(reply.status, 400, "{}: from {from} to {to}: {:?}", self.name, reply.body);
            ok(page(from, json!({ "limit": 1, "cursor": cursor })).await);
        }
        "cursor elsewhere"
    }

    async fn copy(&mut self, to: usize) -> &'static str {
        let (content, store) = (&self.app.app.content, &self.app.kit.store);
        let source = if to == LIVE { Environment::Sandbox } else { Environment::Live };
        let wish = CopyWish { source, collections: vec![self.id.clone()] };
        let begun = content.environment_copy_begin(store, &self.app.site, &operator(), &wish).await;
        let Some(copied) = self.sides[1 - to].clone() else {
            assert_eq!(begun.err().map(|it| it.code().name()), Some("WDE0025"), "{}", self.name);
            return "copy of nothing";
        };
        let (copy, _) = begun.unwrap();
        let id = copy.id.clone();
        content.environment_work(store, copy).await.unwrap();
        // Whom single rights were given stays as it was where it is copied to.
        let replaced = self.sides[to].take();
        let special = replaced.as_ref().map(|it| it.special.clone()).unwrap_or_default();
        self.sides[to] = Some(Side { special, ..copied });
        self.kept[to] = Some((id, replaced));
        "copy"
    }

    async fn undo(&mut self, to: usize) -> &'static str {
        let Some((id, before)) = self.kept[to].take() else { return "undo of nothing" };
        let (content, store) = (&self.app.app.content, &self.app.kit.store);
        let copy = content.environment_undo_begin(store, &self.app.site, &operator(), Some(&id)).await.unwrap();
        content.environment_work(store, copy).await.unwrap();
        let special = self.sides[to].take().map_or_else(|| self.gone.clone(), |it| it.special);
        self.sides[to] = before.map(|it| Side { special, ..it });
        "undo"
    }

    /// The collection goes from the sandbox.
    async fn delete(&mut self) -> &'static str {
        let (content, store) = (&self.app.app.content, &self.app.kit.store);
        let ids = [self.id.clone()];
        let deleted = content.environment_delete(store, &self.app.site, &operator(), &ids).await;
        match self.sides[SANDBOX].take() {
            Some(side) => {
                deleted.unwrap();
                self.gone = side.special;
                "delete"
            }
            None => {
                assert_eq!(deleted.err().map(|it| it.code().name()), Some("WDE0025"), "{}", self.name);
                "delete nothing"
            }
        }
    }

    /// Other levels in one of the environments, and perhaps single rights.
    async fn permit(&mut self, callers: &[Caller<'_>], random: &mut Random) -> &'static str {
        let place = random.below(2);
        let Some(side) = &mut self.sides[place] else { return "permit nothing" };
        side.levels = [(); 4].map(|()| LEVELS[random.below(5)]);
        // Editors as well: levels may keep them out of a sandbox.
        let kind = [Kind::Member, Kind::Editor][random.below(2)];
        let person = callers.iter().find(|it| it.kind == kind && side.special.iter().all(|of| of.0 != it.id));
        let person = person.filter(|_| random.one_in(2)).map(|it| it.id.clone());
        let allowed = [(); 4].map(|()| random.one_in(2));
        let (mut levels, mut special) = (json!({ "id": side.id }), json!({ "userId": person }));
        for (n, name) in OPERATIONS.into_iter().enumerate() {
            levels[name] = side.levels[n].into();
            special[name] = if allowed[n] { "ALLOWED" } else { "UNSPECIFIED" }.into();
        }
        let site = if place == LIVE { &self.app.site } else { self.sandbox };
        let content = &self.app.app.content;
        content.permissions_update(site, &operator(), &levels).await.unwrap();
        if let Some(id) = person {
            content.special_add(site, &operator(), &self.id, &special).await.unwrap();
            side.special.push((id, allowed));
        }
        "permit"
    }
}

/// What a call that writes does to one item.
#[derive(Clone, Copy)]
enum Change {
    Insert,
    Update,
    Save,
    Patch,
    Remove,
}

/// Calls that write.
impl Twin<'_> {
    /// A call of this kind; the model is changed as the rules say.
    pub async fn write(
        &mut self,
        caller: &Caller<'_>,
        random: &mut Random,
        kind: usize,
        environment: Option<&'static str>,
    ) -> &'static str {
        let place = self.place(caller, environment);
        let side = match place {
            Place::At(it) => it,
            Place::Refused(_) => LIVE,
        };
        let side = self.sides[side].as_ref().unwrap();
        let mut ids: Vec<_> = (0..if kind < 5 { 1 } else { 2 }).map(|_| side.any_id(random)).collect();
        ids.sort_unstable();
        ids.dedup();
        let (n, value) = (random.below(4) as u64, random.below(1_000_000));
        let data: Vec<_> = ids.iter().map(|id| side.data(random, id)).collect();
        let set = json!([{ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": value } }]);
        let item = |n: usize| json!({ "id": ids[n], "data": data[n] });
        let patch = |id: &String| json!({ "dataItemId": id, "fieldModifications": set });
        let mut body = match kind {
            0..3 => json!({ "dataItem": item(0) }),
            3 => json!({ "patch": patch(&ids[0]) }),
            4 => json!({ "dataItemId": ids[0] }),
            5..8 => json!({ "dataItems": (0..ids.len()).map(item).collect::<Vec<_>>() }),
            8 => json!({ "patches": ids.iter().map(patch).collect::<Vec<_>>() }),
            9 => json!({ "dataItemIds": ids }),
            10 => json!({ "filter": { "n": { "$gte": n } }, "fieldModifications": set }),
            11 => json!({ "filter": { "$and": [{ "n": { "$gte": n } }, { "_id": ids[0] }] } }),
            _ => json!({}),
        };
        body["dataCollectionId"] = self.id.as_str().into();
        if let Some(it) = environment {
            body["environment"] = it.into();
        }
        let reply = caller.client.post(WRITES[kind], &body).await;
        let context =
            format!("{}: {} {body} of {:?} {}: {:?}", self.name, WRITES[kind], caller.kind, caller.id, reply.body);
        let place = match place {
            Place::Refused(verdict) => {
                assert!(reply.verdict().starts_with(verdict), "{context}");
                return "write";
            }
            Place::At(place) => place,
        };
        let side = self.sides[place].as_mut().unwrap();
        let change = match kind {
            0 | 5 => Change::Insert,
            1 | 6 => Change::Update,
            2 | 7 => Change::Save,
            3 | 8 | 10 => Change::Patch,
            4 | 9 | 11 => Change::Remove,
            _ => {
                let may_empty = matches!(caller.kind, Kind::Owner | Kind::App);
                assert_eq!(reply.verdict(), if may_empty { "200" } else { refusal(caller) }, "{context}");
                if may_empty {
                    side.items.clear();
                }
                return "truncate";
            }
        };
        if kind >= 10 {
            let id = (kind == 11).then(|| ids[0].as_str());
            let passes = |it: &Value| it["n"].as_u64() >= Some(n) && id.is_none_or(|id| it["_id"] == id);
            let operation = if kind == 10 { UPDATE } else { REMOVE };
            if [READ, operation].iter().any(|it| right(caller, side, *it) == Right::Refused) {
                assert_eq!(reply.verdict(), refusal(caller), "{context}");
                return "by filter";
            }
            let may_both = |it: &Value| may(caller, side, READ, it) && may(caller, side, operation, it);
            let found: Vec<_> =
                side.items.iter().filter(|it| may_both(it.1) && passes(it.1)).map(|it| it.0.clone()).collect();
            // The job is asked for without a word of where it is.
            let job = ended(&caller.client, &reply).await;
            assert_eq!((&job["status"], &job["successCount"]), (&json!("SUCCEEDED"), &json!(found.len())), "{context}");
            found.iter().for_each(|id| side.change(caller, change, id, &Value::Null, value));
            return "by filter";
        }
        let allowed: Vec<_> = ids.iter().map(|id| side.may_change(caller, change, id)).collect();
        match reply.verdict().as_str() {
            "200" if kind >= 5 => {
                let results = reply.json()["results"].clone();
                let done: Vec<_> = (0..ids.len()).map(|n| results[n]["itemMetadata"]["success"] == true).collect();
                assert_eq!(done, allowed, "{context}");
            }
            "200" => assert_eq!(allowed, [true], "{context}"),
            _ => assert!(allowed.iter().all(|it| !it), "{context}"),
        }
        for (n, id) in ids.iter().enumerate().filter(|it| allowed[it.0]) {
            side.change(caller, change, id, &data[n], value);
        }
        "write"
    }

    /// Items again, where there are few.
    async fn fill_again(&mut self, random: &mut Random) {
        for (environment, side) in ["LIVE", "SANDBOX"].into_iter().zip(&mut self.sides) {
            let Some(side) = side.as_mut().filter(|it| it.items.len() < 3) else { continue };
            let new: Vec<_> = (0..ITEMS).map(|n| side.data(random, &format!("i{n}"))).collect();
            let items: Vec<_> = new.iter().map(|it| json!({ "id": it["_id"], "data": it })).collect();
            let body = json!({ "dataCollectionId": self.id, "environment": environment, "dataItems": items });
            let reply = self.app.app().post("/v2/bulk/items/save", &body).await;
            assert_eq!(ok(reply)["bulkActionMetadata"]["totalFailures"], 0);
            let everyone = Caller { kind: Kind::App, id: String::new(), client: self.app.app() };
            for it in new {
                side.change(&everyone, Change::Save, it["_id"].as_str().unwrap(), &it, 0);
            }
        }
    }
}

impl Side {
    fn may_change(&self, caller: &Caller<'_>, change: Change, id: &str) -> bool {
        let may_insert = matches!(right(caller, self, INSERT), Right::All | Right::Own);
        let there = self.items.get(id);
        let may_do = |operation: usize| there.is_some_and(|it| may(caller, self, operation, it));
        match change {
            Change::Insert => there.is_none() && may_insert,
            Change::Save if there.is_none() => may_insert,
            Change::Update | Change::Save | Change::Patch => may_do(UPDATE),
            Change::Remove => may_do(REMOVE),
        }
    }

    /// Changes an item as the call does: what is new is the caller's, and what was there stays whose it was.
    fn change(&mut self, caller: &Caller<'_>, change: Change, id: &str, data: &Value, value: usize) {
        match change {
            Change::Remove => drop(self.items.remove(id)),
            Change::Patch => self.items.get_mut(id).unwrap()["mark"] = value.into(),
            Change::Insert | Change::Update | Change::Save => {
                let owner = self.items.get(id).map_or_else(|| caller.id.clone(), calls::owner);
                let mut item = data.clone();
                if !owner.is_empty() {
                    item["_owner"] = owner.into();
                }
                self.items.insert(id.to_owned(), item);
            }
        }
    }
}
