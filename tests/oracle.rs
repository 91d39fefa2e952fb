//! The permission oracle: random levels, special permissions, callers, items and calls, through HTTP.
//!
//! [`right`] is a plain reading of the rules (docs/protocol/content.md §8, §21.9), written without a look at
//! the server's. After each call the whole collection is read with the API key: what a call showed and what
//! it changed must be what that reading says, no more and no less. On PostgreSQL any of three nodes answers each
//! call, so what one has done holds on the others at once. `STOA_ORACLE_SEED` repeats a fresh run.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines, rounds};

mod aggregates;
mod by_filter;
mod calls;
mod drafts;
mod editions;
mod environments;
mod extras;
mod graphql;
mod hooks;
mod languages;
mod links;
mod many;
mod pages;
mod planted;
mod saving;
mod search;
mod whole;

/// Worlds of one seed, unless [`rounds`] asks for more of the fresh one, and calls in each of them.
const WORLDS: usize = 4;
const CALLS: usize = 80;
const NODES: usize = 3;
/// Items of a collection at the beginning.
const ITEMS: usize = 10;
const LEVELS: [&str; 5] = ["ANYONE", "SITE_MEMBER", "SITE_MEMBER_AUTHOR", "CMS_EDITOR", "PRIVILEGED"];
const OPERATIONS: [&str; 4] = ["itemRead", "itemInsert", "itemUpdate", "itemRemove"];
const HUSH: &str = "not a word of this";
const READ: usize = 0;
const INSERT: usize = 1;
const UPDATE: usize = 2;
const REMOVE: usize = 3;

on_both_engines! {
    async fn calls_show_and_change_what_the_rules_allow(engine) {
        let app = TestApp::with_nodes(engine, NODES).await;
        let callers = callers(&app).await;
        let _serving = app.searched().await;
        run(&app, &callers, engine, 21_908, 0..WORLDS, false).await;
        let fresh = from_environment().unwrap_or_else(fresh_seed);
        run(&app, &callers, engine, fresh, WORLDS..WORLDS + rounds(WORLDS), false).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the environment repeats a run")]
fn from_environment() -> Option<u64> {
    std::env::var("STOA_ORACLE_SEED").ok()?.parse().ok()
}

/// The standard library seeds its hash tables with chance; nothing here needs more than that.
pub(crate) fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// What a caller and another come to in random worlds of these numbers, perhaps with hooks that try to widen.
async fn run(app: &TestApp, callers: &[Caller<'_>], engine: Engine, seed: u64, worlds: Range<usize>, has_hooks: bool) {
    let mut random = Random(seed);
    let mut tally = BTreeMap::new();
    for number in worlds {
        let mut world = World::make(app, callers, &mut random, number, seed).await;
        if has_hooks {
            world.deploy_hooks().await;
        }
        for _ in 0..CALLS {
            let caller = &callers[random.below(callers.len())];
            let (call, verdict) = world.call(caller, callers, &mut random).await;
            let is_allowed = if verdict == "200" { "allowed" } else { "refused" };
            *tally.entry(format!("{call} {is_allowed}")).or_insert(0) += 1;
        }
        world.export(callers).await;
    }
    let _ = writeln!(std::io::stdout(), "\noracle on {engine:?}, seed {seed}: {tally:?}");
}

/// splitmix64: a run repeats from its seed alone.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Anonymous,
    Visitor,
    Member,
    Editor,
    Owner,
    App,
}

struct Caller<'a> {
    kind: Kind,
    /// What the items of this caller have as `_owner`.
    id: String,
    client: TestClient<'a>,
}

/// One of each kind, and a second member. Whose an item is shows in an item that anyone may write.
async fn callers(app: &TestApp) -> Vec<Caller<'_>> {
    let open = OPERATIONS.iter().map(|it| (*it, "ANYONE")).collect::<BTreeMap<_, _>>();
    let body =
        json!({ "collection": { "id": "who", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": open } });
    let reply = app.app().post("/v2/collections", &body).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    let askers = [
        (Kind::Anonymous, app.anonymous()),
        (Kind::Visitor, app.visitor().await),
        (Kind::Member, app.member("ann@example.org").await),
        (Kind::Member, app.member("bob@example.org").await),
        (Kind::Editor, app.editor().await),
        (Kind::Owner, app.owner().await),
        (Kind::App, app.app()),
    ];
    let mut callers = Vec::new();
    for (kind, client) in askers {
        let body = json!({ "dataCollectionId": "who", "dataItem": { "data": {} } });
        let reply = client.post("/v2/items", &body).await;
        let id = reply.json()["dataItem"]["data"]["_owner"].as_str().unwrap_or_default().to_owned();
        callers.push(Caller { kind, id, client });
    }
    callers
}

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Right {
    /// To every item.
    All,
    /// To items whose `_owner` they are.
    Own,
    /// To none, without an error: reads under SITE_MEMBER_AUTHOR.
    Nothing,
    Refused,
}

/// A collection and, beside it, all that is true of its items.
#[derive(Clone)]
struct Side {
    id: String,
    levels: [&'static str; 4],
    /// Callers that special permissions allow which operations.
    special: Vec<(String, [bool; 4])>,
    items: BTreeMap<String, Value>,
}

fn right(caller: &Caller<'_>, side: &Side, operation: usize) -> Right {
    let is_special = side.special.iter().any(|(id, allowed)| *id == caller.id && allowed[operation]);
    match (caller.kind, side.levels[operation]) {
        (Kind::Anonymous, _) => Right::Refused,
        (Kind::Owner | Kind::App, _) | (_, "ANYONE") => Right::All,
        _ if is_special => Right::All,
        (Kind::Editor, it) if it != "PRIVILEGED" => Right::All,
        (Kind::Member, "SITE_MEMBER") => Right::All,
        (Kind::Member, "SITE_MEMBER_AUTHOR") => Right::Own,
        (_, "SITE_MEMBER_AUTHOR") if operation == READ => Right::Nothing,
        _ => Right::Refused,
    }
}

/// Whether the caller may do this to the item.
fn may(caller: &Caller<'_>, side: &Side, operation: usize, item: &Value) -> bool {
    match right(caller, side, operation) {
        Right::All => true,
        Right::Own => item["_owner"] == caller.id.as_str(),
        Right::Nothing | Right::Refused => false,
    }
}

/// How a call is answered whose right is missing altogether.
fn refusal(caller: &Caller<'_>) -> &'static str {
    if caller.kind == Kind::Anonymous { "401 UNAUTHENTICATED" } else { "403 WDE0027" }
}

impl Side {
    fn readable<'s>(&'s self, caller: &Caller<'_>) -> Vec<(&'s String, &'s Value)> {
        self.items.iter().filter(|(_, it)| may(caller, self, READ, it)).collect()
    }

    /// An id that is there, or one that isn't.
    fn any_id(&self, random: &mut Random) -> String {
        match self.items.keys().nth(random.below(self.items.len() + 4)) {
            Some(it) => it.clone(),
            None => format!("new{}", random.below(4)),
        }
    }
}

/// Two collections, of which `source` refers to `target` by `one` and by `many`.
struct World<'a> {
    app: &'a TestApp,
    source: Side,
    target: Side,
    /// The links of `many`, in the order in which they were made.
    links: Vec<(String, String)>,
    /// Whether the hooks of [`hooks`] are asked.
    has_hooks: bool,
    /// What to say when something is wrong.
    name: String,
}

/// Whether an item passes.
type Passes = Box<dyn Fn(&Value) -> bool>;

impl<'a> World<'a> {
    async fn make(app: &'a TestApp, callers: &[Caller<'_>], random: &mut Random, number: usize, seed: u64) -> Self {
        let (source, target) = (format!("near{number}"), format!("far{number}"));
        let target_side =
            Side::make(app, callers, random, target.clone(), json!([{ "key": "n", "type": "NUMBER" }])).await;
        let fields = json!([
            { "key": "n", "type": "NUMBER" },
            { "key": "one", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": target } } },
            { "key": "many", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {
                "referencedCollectionId": target, "referencingFieldKey": "back", "referencingDisplayName": "back" } } },
        ]);
        let source_side = Side::make(app, callers, random, source, fields).await;
        let name = format!("seed {seed}, world {number}");
        Self { app, source: source_side, target: target_side, links: Vec::new(), has_hooks: false, name }
    }

    /// The items of a collection as they are, without the dates.
    async fn stored(&self, collection: &str) -> BTreeMap<String, Value> {
        let query = json!({ "paging": { "limit": 1000 } });
        let body = json!({ "dataCollectionId": collection, "query": query, "suppressHooks": true });
        let reply = self.app.app().post("/v2/items/query", &body).await.json();
        let items = reply["dataItems"].as_array().unwrap_or_else(|| panic!("{reply}"));
        items.iter().map(|it| (it["data"]["_id"].as_str().unwrap().to_owned(), plain(&it["data"]))).collect()
    }

    /// Nothing changed but what was expected to.
    async fn check(&self, call: &str, caller: &Caller<'_>) {
        for side in [&self.source, &self.target] {
            let what = format!("{}: {call} of {:?} {} on {}", self.name, caller.kind, caller.id, side.id);
            assert_eq!(self.stored(&side.id).await, side.items, "{what}: {:?} {:?}", side.levels, side.special);
        }
        self.check_links(call, caller).await;
    }

    fn context(&self, call: &str, caller: &Caller<'_>, side: &Side, reply: &Reply) -> String {
        let context = format!(
            "{}: {call} of {:?} {} on {} {:?} {:?}\n{}",
            self.name,
            caller.kind,
            caller.id,
            side.id,
            side.levels,
            side.special,
            String::from_utf8_lossy(&reply.body)
        );
        let is_shown = matches!(caller.kind, Kind::Owner | Kind::App);
        assert!(is_shown || !context.contains(HUSH) && !context.contains("sealed:"), "{context}");
        context
    }
}

impl Side {
    /// A collection with random items of everybody, closed to random levels afterwards.
    /// Each item begins with a value that only owners and apps are shown.
    async fn make(app: &TestApp, callers: &[Caller<'_>], random: &mut Random, id: String, mut fields: Value) -> Self {
        let hush = json!({ "text": { "defaultValue": HUSH } });
        let hush = json!({ "key": "hush", "type": "TEXT", "encrypted": true, "typeMetadata": hush });
        fields.as_array_mut().unwrap().push(hush);
        let mut side = Self::open(app, callers, random, id, fields).await;
        let first = app.app().get(&format!("/v2/items/i0?dataCollectionId={}", side.id)).await;
        assert_eq!(first.json()["dataItem"]["data"]["hush"], HUSH);
        side.close(app, callers, random).await;
        side
    }

    /// One that is open still.
    async fn open(app: &TestApp, callers: &[Caller<'_>], random: &mut Random, id: String, mut fields: Value) -> Self {
        fields.as_array_mut().unwrap().push(json!({ "key": "text", "type": "TEXT" }));
        let open = OPERATIONS.iter().map(|it| (*it, "ANYONE")).collect::<BTreeMap<_, _>>();
        let body = json!({ "collection": { "id": id, "fields": fields, "dataPermissions": open } });
        let reply = app.app().post("/v2/collections", &body).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        let mut side = Self { id, levels: [LEVELS[0]; 4], special: Vec::new(), items: BTreeMap::new() };
        for n in 0..ITEMS {
            let author = &callers[1 + random.below(callers.len() - 1)];
            let data = side.data(random, &format!("i{n}"));
            let body = json!({ "dataCollectionId": side.id, "dataItem": { "data": data } });
            let reply = author.client.post("/v2/items", &body).await.json();
            side.items.insert(format!("i{n}"), plain(&reply["dataItem"]["data"]));
        }
        side
    }

    /// Random levels and special permissions.
    async fn close(&mut self, app: &TestApp, callers: &[Caller<'_>], random: &mut Random) {
        self.levels = [(); 4].map(|()| LEVELS[random.below(5)]);
        self.set_levels(app).await;
        for member in callers.iter().filter(|it| it.kind == Kind::Member) {
            if random.one_in(3) {
                let allowed = [(); 4].map(|()| random.one_in(3));
                let mut special = json!({ "userId": member.id });
                for (name, allowed) in OPERATIONS.iter().zip(allowed) {
                    special[*name] = if allowed { "ALLOWED" } else { "UNSPECIFIED" }.into();
                }
                let body = json!({ "dataCollectionId": self.id, "specialPermissions": special });
                let reply = app.app().post("/v1/permissions/special", &body).await;
                assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
                self.special.push((member.id.clone(), allowed));
            }
        }
    }

    async fn set_levels(&self, app: &TestApp) {
        let mut closed = json!({ "id": self.id });
        for (name, level) in OPERATIONS.iter().zip(self.levels) {
            closed[*name] = level.into();
        }
        let reply = app.app().post("/v1/permissions", &json!({ "dataPermissions": closed })).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    }

    /// Items of everybody again, in an empty collection.
    async fn fill(&mut self, app: &TestApp, callers: &[Caller<'_>], random: &mut Random) {
        for n in 0..ITEMS {
            let mut data = self.data(random, &format!("i{n}"));
            let author = &callers[1 + random.below(callers.len() - 1)];
            if !author.id.is_empty() {
                data["_owner"] = author.id.as_str().into();
            }
            self.items.insert(format!("i{n}"), data);
        }
        let items: Vec<_> = self.items.values().map(|it| json!({ "data": it })).collect();
        let body = json!({ "dataCollectionId": self.id, "dataItems": items });
        let reply = app.app().post("/v2/bulk/items/insert", &body).await;
        assert_eq!(reply.json()["bulkActionMetadata"]["totalFailures"], 0, "{:?}", reply.body);
    }

    /// What is written: a secret number, a mark that tells one write from another, perhaps a reference.
    fn data(&self, random: &mut Random, id: &str) -> Value {
        let mut data = json!({ "_id": id, "n": random.below(4), "mark": random.below(1_000_000) });
        data["text"] = search::text(random).into();
        if self.id.starts_with("near") && random.one_in(2) {
            data["one"] = format!("i{}", random.below(12)).into();
        }
        data
    }
}

/// An item without the dates that the server gave it and those that it refers to, without what is encrypted in it, and
/// without the member that hooks add.
fn plain(data: &Value) -> Value {
    match data {
        Value::Object(members) => {
            let is_kept = |name: &str| !matches!(name, "_createdDate" | "_updatedDate" | "hush" | "__proto__");
            let kept = members.iter().filter(|it| is_kept(it.0));
            Value::Object(kept.map(|(name, it)| (name.clone(), plain(it))).collect())
        }
        Value::Array(list) => list.iter().map(plain).collect(),
        it => it.clone(),
    }
}
