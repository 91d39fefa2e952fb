//! Drafts, those of the plugin PUBLISH and those in a collection of their own: nobody is shown one who may not be, by any
//! call, and no call that isn't about drafts shows one.

use super::{
    editions::{Shown, ok},
    search::Frequencies,
    *,
};
use crate::async_jobs::ended;

const PAPERS: usize = 2;

on_both_engines! {
    async fn drafts_are_seen_and_changed_as_the_rules_allow(engine) {
        let app = TestApp::with_nodes(engine, NODES).await;
        let callers = callers(&app).await;
        let _serving = app.searched().await;
        let (fresh, mut tally) = (from_environment().unwrap_or_else(fresh_seed), BTreeMap::new());
        for (seed, papers) in [(31_008, 0..PAPERS), (fresh, PAPERS..PAPERS + rounds(PAPERS))] {
            let mut random = Random(seed);
            for number in papers {
                let name = format!("seed {seed}, paper {number}");
                let mut paper = Paper::make(&app, &callers, &mut random, name.clone()).await;
                let mut pair = Pair::make(&app, &callers, &mut random, name).await;
                for _ in 0..CALLS {
                    let caller = &callers[random.below(callers.len())];
                    *tally.entry(paper.call(caller, &mut random).await).or_insert(0) += 1;
                    *tally.entry(pair.call(caller, &mut random).await).or_insert(0) += 1;
                }
            }
        }
        let _ = writeln!(std::io::stdout(), "\noracle of drafts on {engine:?}, seed {fresh}: {tally:?}");
    }
}

/// Whether a caller may see drafts and say which items are.
fn may_publish(caller: &Caller<'_>) -> bool {
    matches!(caller.kind, Kind::Editor | Kind::Owner | Kind::App)
}

async fn stored(app: &TestApp, collection: &str) -> BTreeMap<String, Value> {
    let body = json!({ "dataCollectionId": collection, "query": { "paging": { "limit": 1000 } },
        "publishPluginOptions": { "includeDraftItems": true } });
    let page = ok(app.app().post("/v2/items/query", &body).await);
    let items = page["dataItems"].as_array().unwrap().iter();
    items.map(|it| (it["data"]["_id"].as_str().unwrap().to_owned(), plain(&it["data"]))).collect()
}

/// A collection whose items say of themselves whether they are published.
pub struct Paper<'a> {
    app: &'a TestApp,
    pub side: Side,
    default: &'static str,
    name: String,
}

impl<'a> Paper<'a> {
    pub async fn make(app: &'a TestApp, callers: &[Caller<'_>], random: &mut Random, name: String) -> Self {
        let (id, default) = (format!("paper{}", random.below(1_000_000_000)), ["PUBLISHED", "DRAFT"][random.below(2)]);
        let mut side = Side::open(app, callers, random, id, json!([{ "key": "n", "type": "NUMBER" }])).await;
        let options = json!({ "dataCollectionId": side.id, "publishOptions": { "defaultStatus": default } });
        ok(app.app().post("/v2/collections/add-publish-plugin", &options).await);
        side.close(app, callers, random).await;
        let mut paper = Self { app, side, default, name };
        // Some that were there before the plugin say nothing.
        for id in paper.side.items.keys().cloned().collect::<Vec<_>>() {
            if random.one_in(2) {
                let app = Caller { kind: Kind::App, id: String::new(), client: app.app() };
                paper.set_status(&app, &id, ["PUBLISHED", "DRAFT"][random.below(2)], true).await;
            }
        }
        paper
    }

    fn is_published(&self, item: &Value) -> bool {
        item["_publishStatus"].as_str().unwrap_or(self.default) == "PUBLISHED"
    }

    /// Whether an item is there for a call.
    fn is_there(&self, caller: &Caller<'_>, item: &Value, with_drafts: bool) -> bool {
        self.is_published(item) || with_drafts && may_publish(caller)
    }

    async fn call(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let with_drafts = random.one_in(2);
        let call = match random.below(10) {
            0 | 1 => {
                let (id, status) = (self.side.any_id(random), ["PUBLISHED", "DRAFT"][random.below(2)]);
                self.set_status(caller, &id, status, with_drafts).await
            }
            2 => self.save(caller, random, with_drafts).await,
            3 if random.one_in(3) => self.remove(caller, random, with_drafts).await,
            4 => self.change_by_filter(caller, random, with_drafts).await,
            _ => return self.read(caller, random, None).await,
        };
        let context = format!("{} after {call} of {:?} {}", self.name, caller.kind, caller.id);
        assert_eq!(stored(self.app, &self.side.id).await, self.side.items, "{context}");
        call
    }

    pub async fn read(&self, caller: &Caller<'_>, random: &mut Random, kind: Option<usize>) -> &'static str {
        let (with_drafts, right) = (random.one_in(2), right(caller, &self.side, READ));
        let items = self.side.readable(caller).into_iter().map(|it| it.1);
        // The order tells of all items where all are there for the call.
        let counts_all = right == Right::All && with_drafts && may_publish(caller);
        let shown = Shown {
            name: &self.name,
            collection: &self.side.id,
            language: None,
            environment: None,
            with_drafts,
            right,
            items: items.filter(|it| self.is_there(caller, it, with_drafts)).cloned().collect(),
            frequencies: counts_all.then(|| Frequencies::of(self.side.items.values())),
        };
        self.app.search_caught_up().await;
        shown.read(caller, random, kind).await
    }

    async fn set_status(&mut self, caller: &Caller<'_>, id: &str, status: &str, with_drafts: bool) -> &'static str {
        let set =
            json!({ "fieldPath": "_publishStatus", "action": "SET_FIELD", "setFieldOptions": { "value": status } });
        let body = json!({ "dataCollectionId": self.side.id, "patch": { "dataItemId": id, "fieldModifications": [set] },
            "publishPluginOptions": { "includeDraftItems": with_drafts } });
        let reply = caller.client.post("/v2/items/patch", &body).await;
        let item = self.side.items.get(id);
        let may_update =
            item.is_some_and(|it| may(caller, &self.side, UPDATE, it) && self.is_there(caller, it, with_drafts));
        let context = format!("{}: {body} of {:?} {}: {:?}", self.name, caller.kind, caller.id, reply.body);
        if may_publish(caller) {
            assert_eq!(reply.verdict() == "200", may_update, "{context}");
        } else if !may_update || status != self.default && item.is_some_and(|it| it["_publishStatus"] != status) {
            assert_ne!(reply.verdict(), "200", "{context}");
        }
        if reply.verdict() == "200"
            && may_publish(caller)
            && let Some(it) = self.side.items.get_mut(id)
        {
            it["_publishStatus"] = status.into();
        } else if reply.verdict() == "200" {
            // It has the default, or gets it: it was published, and is.
            let now = stored(self.app, &self.side.id).await.remove(id).unwrap_or_default();
            assert!(self.is_published(&now), "{context}");
            self.side.items.insert(id.to_owned(), now);
        }
        "publish or hide"
    }

    /// An item that is new gets the default, one that is replaced keeps what it has.
    async fn save(&mut self, caller: &Caller<'_>, random: &mut Random, with_drafts: bool) -> &'static str {
        let id = format!("i{}", random.below(12));
        let data = self.side.data(random, &id);
        let body = json!({ "dataCollectionId": self.side.id, "dataItem": { "id": id, "data": data },
            "publishPluginOptions": { "includeDraftItems": with_drafts } });
        let reply = caller.client.post("/v2/items/save", &body).await;
        let context = format!("{}: {body} of {:?} {}: {:?}", self.name, caller.kind, caller.id, reply.body);
        let old = self.side.items.get(&id);
        let may_write = match old {
            Some(it) => may(caller, &self.side, UPDATE, it) && self.is_there(caller, it, with_drafts),
            None => matches!(right(caller, &self.side, INSERT), Right::All | Right::Own),
        };
        assert_eq!(reply.verdict() == "200", may_write, "{context}");
        if may_write {
            let owner = old.map_or_else(|| caller.id.clone(), calls::owner);
            let status = old.map_or_else(|| json!(self.default), |it| it["_publishStatus"].clone());
            let mut item = data;
            if !owner.is_empty() {
                item["_owner"] = owner.into();
            }
            if !status.is_null() {
                item["_publishStatus"] = status;
            }
            self.side.items.insert(id, item);
        }
        "save"
    }

    async fn remove(&mut self, caller: &Caller<'_>, random: &mut Random, with_drafts: bool) -> &'static str {
        let id = self.side.any_id(random);
        let body = json!({ "dataCollectionId": self.side.id, "dataItemId": id,
            "publishPluginOptions": { "includeDraftItems": with_drafts } });
        let reply = caller.client.post("/v2/items/remove", &body).await;
        let may_remove = self
            .side
            .items
            .get(&id)
            .is_some_and(|it| may(caller, &self.side, REMOVE, it) && self.is_there(caller, it, with_drafts));
        assert_eq!(
            reply.verdict() == "200",
            may_remove,
            "{}: {body} of {:?}: {:?}",
            self.name,
            caller.kind,
            reply.body
        );
        if may_remove {
            self.side.items.remove(&id);
        }
        "remove"
    }
}

impl Paper<'_> {
    /// A job finds what a query of its caller finds, and changes what a call of theirs could.
    async fn change_by_filter(&mut self, caller: &Caller<'_>, random: &mut Random, with_drafts: bool) -> &'static str {
        let (n, mark) = (random.below(4) as u64, random.below(1_000_000));
        let (call, operation) = if random.one_in(6) { ("remove", REMOVE) } else { ("patch", UPDATE) };
        let set = json!([{ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": mark } }]);
        let mut body = json!({ "dataCollectionId": self.side.id, "filter": { "n": n },
            "publishPluginOptions": { "includeDraftItems": with_drafts } });
        if operation == UPDATE {
            body["fieldModifications"] = set;
        }
        let reply = caller.client.post(&format!("/v2/bulk/items/async-{call}-by-filter"), &body).await;
        let context = format!("{}: {call} {body} of {:?} {}: {:?}", self.name, caller.kind, caller.id, reply.body);
        if [READ, operation].iter().any(|it| right(caller, &self.side, *it) == Right::Refused) {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return "job by filter";
        }
        let job = ended(&caller.client, &reply).await;
        let may_both = |it: &Value| [READ, operation].iter().all(|right| may(caller, &self.side, *right, it));
        let is_met = |it: &Value| it["n"] == n && self.is_there(caller, it, with_drafts) && may_both(it);
        let met: Vec<_> = self.side.items.iter().filter(|it| is_met(it.1)).map(|it| it.0.clone()).collect();
        let counts = (&job["status"], &job["successCount"], &job["failureCount"]);
        assert_eq!(counts, (&json!("SUCCEEDED"), &json!(met.len()), &json!(0)), "{context} {met:?}");
        for id in met {
            match call {
                "remove" => drop(self.side.items.remove(&id)),
                _ => drop(self.side.items.entry(id).and_modify(|it| it["mark"] = mark.into())),
            }
        }
        "job by filter"
    }
}

/// A collection with drafts of their own, beside the collection of its drafts.
pub struct Pair<'a> {
    app: &'a TestApp,
    pub published: Side,
    drafts: Side,
    /// Who publishes.
    publish: &'static str,
    name: String,
}

impl<'a> Pair<'a> {
    pub async fn make(app: &'a TestApp, callers: &[Caller<'_>], random: &mut Random, name: String) -> Self {
        let id = format!("pair{}", random.below(1_000_000_000));
        let mut published = Side::open(app, callers, random, id, json!([{ "key": "n", "type": "NUMBER" }])).await;
        let manage = LEVELS[random.below(5)];
        let publish = LEVELS[random.below(5)];
        let levels = json!({ "manageDrafts": manage, "managePublishStatus": publish });
        let options = json!({ "dataCollectionId": published.id, "draftItemsOptions": { "draftPermissions": levels } });
        ok(app.app().post("/v2/collections/add-draft-items-plugin", &options).await);
        published.levels = [(); 4].map(|()| LEVELS[random.below(5)]);
        published.set_levels(app).await;
        let id = format!("{}__drafts", published.id);
        let drafts = Side { id, levels: [manage; 4], special: Vec::new(), items: BTreeMap::new() };
        Self { app, published, drafts, publish, name }
    }

    async fn call(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let call = match random.below(9) {
            0 | 1 => self.create(caller, random).await,
            2 => self.publish(caller, random).await,
            3 => self.unpublish(caller, random).await,
            4 => self.write(caller, random).await,
            _ => return self.read(caller, random, None).await,
        };
        let context = format!("{} after {call} of {:?} {}", self.name, caller.kind, caller.id);
        for side in [&self.published, &self.drafts] {
            assert_eq!(stored(self.app, &side.id).await, side.items, "{context} in {}, {}", side.id, self.levels());
        }
        call
    }

    fn levels(&self) -> String {
        format!("{:?}, drafts {}, publish {}", self.published.levels, self.drafts.levels[0], self.publish)
    }

    pub async fn read(&self, caller: &Caller<'_>, random: &mut Random, kind: Option<usize>) -> &'static str {
        let side = if random.one_in(2) { &self.published } else { &self.drafts };
        let right = right(caller, side, READ);
        let shown = Shown {
            name: &self.name,
            collection: &side.id,
            language: None,
            environment: None,
            // There is no draft in either: this is about another plugin.
            with_drafts: random.one_in(2),
            right,
            items: side.readable(caller).into_iter().map(|it| it.1.clone()).collect(),
            frequencies: (right == Right::All).then(|| Frequencies::of(side.items.values())),
        };
        self.app.search_caught_up().await;
        shown.read(caller, random, kind).await
    }

    /// Whether a caller may publish what becomes this item, or take it back.
    fn may_publish(&self, caller: &Caller<'_>, item: &Value) -> bool {
        let levels = Side { id: String::new(), levels: [self.publish; 4], special: Vec::new(), items: BTreeMap::new() };
        may(caller, &levels, UPDATE, item)
    }

    async fn move_item(&self, caller: &Caller<'_>, how: &str, id: &str) -> (Reply, String) {
        let body = json!({ "dataCollectionId": self.published.id, "dataItemId": id });
        let reply = caller.client.post(&format!("/v2/items/{how}"), &body).await;
        let context = format!(
            "{}: {how} {id} of {:?} {}, {}: {:?}",
            self.name,
            caller.kind,
            caller.id,
            self.levels(),
            reply.body
        );
        (reply, context)
    }

    async fn create(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let id = self.published.any_id(random);
        let (reply, context) = self.move_item(caller, "create-draft", &id).await;
        let item = self.published.items.get(&id).filter(|it| may(caller, &self.published, READ, it));
        let item = item.filter(|it| may(caller, &self.drafts, UPDATE, it) && !self.drafts.items.contains_key(&id));
        assert_eq!(reply.verdict() == "200", item.is_some(), "{context}");
        if let Some(item) = item.cloned() {
            assert_eq!(plain(&reply.json()["dataItem"]["data"]), item, "{context}");
            self.drafts.items.insert(id, item);
        }
        "create draft"
    }

    async fn publish(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let id = self.drafts.any_id(random);
        let (reply, context) = self.move_item(caller, "publish-draft", &id).await;
        let draft = self.drafts.items.get(&id).filter(|it| may(caller, &self.drafts, REMOVE, it));
        let mut draft = draft.cloned();
        // Whose an item is, is not the draft's to say.
        if let (Some(item), Some(old)) = (&mut draft, self.published.items.get(&id)) {
            match old.get("_owner") {
                Some(it) => item["_owner"] = it.clone(),
                None => drop(item.as_object_mut().unwrap().remove("_owner")),
            }
        }
        let published = draft.filter(|it| self.may_publish(caller, it));
        assert_eq!(reply.verdict() == "200", published.is_some(), "{context}");
        if let Some(item) = published {
            self.drafts.items.remove(&id);
            self.published.items.insert(id, item);
        }
        "publish draft"
    }

    async fn unpublish(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let id = self.published.any_id(random);
        let item = self.published.items.get(&id).filter(|it| self.may_publish(caller, it));
        // It may have to take the place of a draft.
        let may_change = |it: &Value| may(caller, &self.drafts, UPDATE, it);
        let item = item.filter(|it| may_change(it) && self.drafts.items.get(&id).is_none_or(may_change)).cloned();
        let (reply, context) = self.move_item(caller, "unpublish", &id).await;
        assert_eq!(reply.verdict() == "200", item.is_some(), "{context}");
        if let Some(item) = item {
            self.published.items.remove(&id);
            self.drafts.items.insert(id, item);
        }
        "unpublish"
    }

    /// Drafts are written as other items are, by those who manage them.
    async fn write(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let id = format!("i{}", random.below(12));
        let data = self.drafts.data(random, &id);
        let body = json!({ "dataCollectionId": self.drafts.id, "dataItem": { "id": id, "data": data } });
        let reply = caller.client.post("/v2/items/save", &body).await;
        let old = self.drafts.items.get(&id);
        let may_write = match old {
            Some(it) => may(caller, &self.drafts, UPDATE, it),
            None => matches!(right(caller, &self.drafts, INSERT), Right::All | Right::Own),
        };
        let context =
            format!("{}: {body} of {:?} {}, {}: {:?}", self.name, caller.kind, caller.id, self.levels(), reply.body);
        assert_eq!(reply.verdict() == "200", may_write, "{context}");
        if may_write {
            let owner = old.map_or_else(|| caller.id.clone(), calls::owner);
            let mut item = data;
            if !owner.is_empty() {
                item["_owner"] = owner.into();
            }
            self.drafts.items.insert(id, item);
        }
        "write draft"
    }
}
