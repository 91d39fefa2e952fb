//! Links that come with items and patches: each needs the right to the item it leads to, and a write that
//! brings one it may not make is not done at all.

use super::calls::owner;
use super::*;

/// What becomes of an item's links.
#[derive(Debug, Clone, Copy)]
enum Step {
    Set,
    Add,
    TakeOut,
    Clear,
}

impl World<'_> {
    pub async fn save_with_links(&mut self, caller: &Caller<'_>, random: &mut Random) -> (&'static str, String) {
        match random.below(7) {
            0 => ("insert with links", self.write_linked(caller, random, "insert").await),
            1 => ("update with links", self.write_linked(caller, random, "update").await),
            2 => ("save with links", self.write_linked(caller, random, "save").await),
            3 => ("bulk with links", self.write_linked_many(caller, random).await),
            4 => ("patch of links", self.patch_links(caller, random, false).await),
            5 => ("bulk patch of links", self.patch_links(caller, random, true).await),
            _ => ("write and show", self.write_shown(caller, random).await),
        }
    }

    /// Up to two items to refer to; whole items count as their ids.
    fn targets(&self, random: &mut Random) -> (Vec<String>, Value) {
        let mut ids: Vec<_> = (0..random.below(3)).map(|_| self.target.any_id(random)).collect();
        ids.sort_unstable();
        ids.dedup();
        let written = ids.iter().map(|it| if random.one_in(3) { json!({ "_id": it, "n": 77 }) } else { json!(it) });
        (ids.clone(), written.collect())
    }

    /// Whether the caller may link to these, if to anything.
    fn may_refer(&self, caller: &Caller<'_>, target: &[String]) -> bool {
        right(caller, &self.target, READ) != Right::Refused
            && target
                .iter()
                .all(|target| self.target.items.get(target).is_some_and(|it| may(caller, &self.target, READ, it)))
    }

    /// Links of which the caller can't know stay.
    fn step(&mut self, caller: &Caller<'_>, source: &str, target: &[String], step: Step) {
        let items = &self.target.items;
        let side = &self.target;
        let is_known = |target: &String| items.get(target).is_some_and(|it| may(caller, side, READ, it));
        match step {
            Step::Set | Step::Clear => self.links.retain(|it| it.0 != source || !is_known(&it.1)),
            Step::TakeOut => self.links.retain(|it| it.0 != source || !target.contains(&it.1) || !is_known(&it.1)),
            Step::Add => {}
        }
        if matches!(step, Step::Set | Step::Add) {
            for it in target {
                let link = (source.to_owned(), it.clone());
                if !self.links.contains(&link) {
                    self.links.push(link);
                }
            }
        }
    }

    /// Puts these links in the place of those that the caller knows of.
    pub fn set_links(&mut self, caller: &Caller<'_>, source: &str, target: &[String]) {
        self.step(caller, source, target, Step::Set);
    }

    /// Takes away a link that the caller knows of.
    pub fn take_link(&mut self, caller: &Caller<'_>, source: &str, target: &str) {
        self.step(caller, source, &[target.to_owned()], Step::TakeOut);
    }

    async fn write_linked(&mut self, caller: &Caller<'_>, random: &mut Random, how: &str) -> String {
        let id = self.source.any_id(random);
        let data = self.source.data(random, &id);
        let (target, many) = self.targets(random);
        let saves = !random.one_in(4);
        let mut written = data.clone();
        written["many"] = many;
        let body = json!({ "dataCollectionId": self.source.id, "saveReferences": saves,
            "dataItem": { "id": id, "data": written } });
        let path = if how == "insert" { "/v2/items".to_owned() } else { format!("/v2/items/{how}") };
        let reply = caller.client.post(&path, &body).await;
        let context = self.context(
            &format!("{how} {id}, {saves}, {target:?} {:?}", self.target.levels),
            caller,
            &self.source,
            &reply,
        );
        let stored =
            self.stored_by(caller, &self.source, &id, how).filter(|_| !saves || self.may_refer(caller, &target));
        assert_eq!(reply.verdict() == "200", stored.is_some(), "{context}");
        if let Some(owner) = stored {
            let item = self.as_stored(data, owner);
            self.source.items.insert(id.clone(), item);
            if saves {
                self.set_links(caller, &id, &target);
            }
        }
        reply.verdict()
    }

    async fn write_linked_many(&mut self, caller: &Caller<'_>, random: &mut Random) -> String {
        let how = ["insert", "update", "save"][random.below(3)];
        let mut all: Vec<_> = (0..3).map(|_| self.source.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let mut items = Vec::new();
        let (mut written, shows) = (Vec::new(), random.one_in(2));
        for id in &all {
            let (data, (target, many)) = (self.source.data(random, id), self.targets(random));
            let mut whole = data.clone();
            whole["many"] = many;
            items.push(json!({ "id": id, "data": whole }));
            written.push((data, target));
        }
        let body = json!({ "dataCollectionId": self.source.id, "saveReferences": true, "returnEntity": shows,
            "dataItems": items });
        let reply = caller.client.post(&format!("/v2/bulk/items/{how}"), &body).await;
        let context =
            self.context(&format!("bulk {how} {body} {:?}", self.target.levels), caller, &self.source, &reply);
        let done = all.iter().zip(&written).map(|(id, (_, target))| {
            self.stored_by(caller, &self.source, id, how).filter(|_| self.may_refer(caller, target))
        });
        let done: Vec<_> = done.collect();
        if reply.status != 200 {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            assert!(done.iter().all(Option::is_none), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        for (n, ((data, target), owner)) in written.into_iter().zip(done).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], owner.is_some(), "{context}");
            let Some(owner) = owner else { continue };
            let (id, item) = (all[n].clone(), self.as_stored(data, owner));
            if shows {
                self.check_shown(caller, &id, &item, &results[n]["dataItem"]["data"], &context);
            }
            self.source.items.insert(id.clone(), item);
            self.set_links(caller, &id, &target);
        }
        reply.verdict()
    }

    async fn patch_links(&mut self, caller: &Caller<'_>, random: &mut Random, is_bulk: bool) -> String {
        let mut all: Vec<_> = (0..if is_bulk { 2 } else { 1 }).map(|_| self.source.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let value = random.below(1_000_000);
        let (mut patches, mut steps) = (Vec::new(), Vec::new());
        for id in &all {
            let (step, mut target) = match random.below(4) {
                0 => (Step::Set, self.targets(random).0),
                1 => (Step::Add, vec![self.target.any_id(random)]),
                2 => (Step::TakeOut, vec![self.target.any_id(random)]),
                _ => (Step::Clear, Vec::new()),
            };
            // What is linked is the more interesting to take out.
            if let (Step::TakeOut, Some(it)) = (step, self.links.iter().find(|it| it.0 == *id)) {
                target = vec![it.1.clone()];
            }
            let change = match step {
                Step::Set => json!({ "action": "SET_FIELD", "setFieldOptions": { "value": target } }),
                Step::Add => json!({ "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": target[0] } }),
                Step::TakeOut => {
                    json!({ "action": "REMOVE_FROM_ARRAY", "removeFromArrayOptions": { "value": target[0] } })
                }
                Step::Clear => json!({ "action": "REMOVE_FIELD" }),
            };
            let mut change = change;
            change["fieldPath"] = "many".into();
            let set = json!({ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": value } });
            patches.push(json!({ "dataItemId": id, "fieldModifications": [set, change] }));
            steps.push((step, target));
        }
        let (path, body) = match is_bulk {
            true => ("/v2/bulk/items/patch", json!({ "dataCollectionId": self.source.id, "patches": patches })),
            false => ("/v2/items/patch", json!({ "dataCollectionId": self.source.id, "patch": patches[0] })),
        };
        let reply = caller.client.post(path, &body).await;
        let context = self.context(&format!("{path} {body} {:?}", self.target.levels), caller, &self.source, &reply);
        if right(caller, &self.source, UPDATE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let done = all.iter().zip(&steps).map(|(id, (step, target))| {
            let wanted = if matches!(step, Step::TakeOut) { &[] } else { target.as_slice() };
            self.source.items.get(id).is_some_and(|it| may(caller, &self.source, UPDATE, it))
                && self.may_refer(caller, wanted)
        });
        let done: Vec<_> = done.collect();
        match is_bulk {
            true => {
                let results = reply.json()["results"].clone();
                let successes: Vec<_> = (0..all.len()).map(|n| results[n]["itemMetadata"]["success"] == true).collect();
                assert_eq!(successes, done, "{context}");
            }
            false => assert_eq!(reply.verdict() == "200", done[0], "{context}"),
        }
        for ((id, (step, target)), _) in all.iter().zip(&steps).zip(done).filter(|it| it.1) {
            if let Some(it) = self.source.items.get_mut(id) {
                it["mark"] = value.into();
            }
            self.step(caller, id, target, *step);
        }
        reply.verdict()
    }

    /// A write whose answer is to show what the item refers to.
    async fn write_shown(&mut self, caller: &Caller<'_>, random: &mut Random) -> String {
        let how = ["update", "save"][random.below(2)];
        let id = match self.links.get(random.below(self.links.len() + 1)) {
            Some(it) => it.0.clone(),
            None => self.source.any_id(random),
        };
        let data = self.source.data(random, &id);
        let body = json!({ "dataCollectionId": self.source.id, "includeReferencedItems": true,
            "dataItem": { "id": id, "data": data } });
        let reply = caller.client.post(&format!("/v2/items/{how}"), &body).await;
        let context =
            self.context(&format!("{how} {id} and show, {:?}", self.target.levels), caller, &self.source, &reply);
        let stored = self.stored_by(caller, &self.source, &id, how);
        assert_eq!(reply.verdict() == "200", stored.is_some(), "{context}");
        let Some(owner) = stored else { return reply.verdict() };
        let item = self.as_stored(data, owner);
        let shown = plain(&reply.json()["dataItem"]["data"]);
        if self.source.items.contains_key(&id) && !may(caller, &self.source, READ, &item) {
            self.check_shown(caller, &id, &item, &shown, &context);
        } else {
            let tree = json!({ "one": {}, "many": {} });
            let expected = self.composed(caller, true, &item, &tree);
            assert_eq!(shown, expected, "{context}");
        }
        self.source.items.insert(id, item);
        reply.verdict()
    }

    /// What the answer to a write shows of an item that was there: to who may read it all of it, to others
    /// what they sent.
    fn check_shown(&self, caller: &Caller<'_>, id: &str, item: &Value, shown: &Value, context: &str) {
        let mut expected = item.clone();
        if self.source.items.contains_key(id) && !may(caller, &self.source, READ, item) {
            expected.as_object_mut().unwrap().remove("_owner");
            assert!(shown.get("_createdDate").is_none(), "{context}");
        }
        assert_eq!(plain(shown), expected, "{context} {}", owner(item));
    }
}
