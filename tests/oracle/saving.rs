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
    pub async fn saving_call(&mut self, person: &Person<'_>, random: &mut Random) -> (&'static str, String) {
        match random.below(7) {
            0 => ("insert with links", self.write_linked(person, random, "insert").await),
            1 => ("update with links", self.write_linked(person, random, "update").await),
            2 => ("save with links", self.write_linked(person, random, "save").await),
            3 => ("bulk with links", self.write_linked_many(person, random).await),
            4 => ("patch of links", self.patch_links(person, random, false).await),
            5 => ("bulk patch of links", self.patch_links(person, random, true).await),
            _ => ("write and show", self.write_shown(person, random).await),
        }
    }

    /// Up to two items to refer to; whole items count as their ids.
    fn targets(&self, random: &mut Random) -> (Vec<String>, Value) {
        let mut ids: Vec<_> = (0..random.below(3)).map(|_| self.far.any_id(random)).collect();
        ids.sort_unstable();
        ids.dedup();
        let sent = ids.iter().map(|it| if random.one_in(3) { json!({ "_id": it, "n": 77 }) } else { json!(it) });
        (ids.clone(), sent.collect())
    }

    /// Whether the person may link to these, if to anything.
    fn may_refer(&self, person: &Person<'_>, far: &[String]) -> bool {
        right(person, &self.far, READ) != Right::Refused
            && far.iter().all(|far| self.far.items.get(far).is_some_and(|it| may(person, &self.far, READ, it)))
    }

    /// Links of which the person can't know stay.
    fn step(&mut self, person: &Person<'_>, near: &str, far: &[String], step: Step) {
        let items = &self.far.items;
        let side = &self.far;
        let is_known = |far: &String| items.get(far).is_some_and(|it| may(person, side, READ, it));
        match step {
            Step::Set | Step::Clear => self.links.retain(|it| it.0 != near || !is_known(&it.1)),
            Step::TakeOut => self.links.retain(|it| it.0 != near || !far.contains(&it.1) || !is_known(&it.1)),
            Step::Add => {}
        }
        if matches!(step, Step::Set | Step::Add) {
            for it in far {
                let pair = (near.to_owned(), it.clone());
                if !self.links.contains(&pair) {
                    self.links.push(pair);
                }
            }
        }
    }

    /// Puts these links in the place of those that the person knows of.
    pub fn set_links(&mut self, person: &Person<'_>, near: &str, far: &[String]) {
        self.step(person, near, far, Step::Set);
    }

    /// Takes away a link that the person knows of.
    pub fn take_link(&mut self, person: &Person<'_>, near: &str, far: &str) {
        self.step(person, near, &[far.to_owned()], Step::TakeOut);
    }

    async fn write_linked(&mut self, person: &Person<'_>, random: &mut Random, how: &str) -> String {
        let id = self.near.any_id(random);
        let data = self.near.data(random, &id);
        let (far, many) = self.targets(random);
        let saves = !random.one_in(4);
        let mut sent = data.clone();
        sent["many"] = many;
        let body = json!({ "dataCollectionId": self.near.id, "saveReferences": saves,
            "dataItem": { "id": id, "data": sent } });
        let path = if how == "insert" { "/v2/items".to_owned() } else { format!("/v2/items/{how}") };
        let reply = person.asker.post(&path, &body).await;
        let context =
            self.context(&format!("{how} {id}, {saves}, {far:?} {:?}", self.far.levels), person, &self.near, &reply);
        let stored = self.stored_by(person, &self.near, &id, how).filter(|_| !saves || self.may_refer(person, &far));
        assert_eq!(reply.verdict() == "200", stored.is_some(), "{context}");
        if let Some(owner) = stored {
            let item = self.as_stored(data, owner);
            self.near.items.insert(id.clone(), item);
            if saves {
                self.set_links(person, &id, &far);
            }
        }
        reply.verdict()
    }

    async fn write_linked_many(&mut self, person: &Person<'_>, random: &mut Random) -> String {
        let how = ["insert", "update", "save"][random.below(3)];
        let mut all: Vec<_> = (0..3).map(|_| self.near.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let mut items = Vec::new();
        let (mut sent, shows) = (Vec::new(), random.one_in(2));
        for id in &all {
            let (data, (far, many)) = (self.near.data(random, id), self.targets(random));
            let mut whole = data.clone();
            whole["many"] = many;
            items.push(json!({ "id": id, "data": whole }));
            sent.push((data, far));
        }
        let body = json!({ "dataCollectionId": self.near.id, "saveReferences": true, "returnEntity": shows,
            "dataItems": items });
        let reply = person.asker.post(&format!("/v2/bulk/items/{how}"), &body).await;
        let context = self.context(&format!("bulk {how} {body} {:?}", self.far.levels), person, &self.near, &reply);
        let done = all
            .iter()
            .zip(&sent)
            .map(|(id, (_, far))| self.stored_by(person, &self.near, id, how).filter(|_| self.may_refer(person, far)));
        let done: Vec<_> = done.collect();
        if reply.status != 200 {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            assert!(done.iter().all(Option::is_none), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        for (n, ((data, far), owner)) in sent.into_iter().zip(done).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], owner.is_some(), "{context}");
            let Some(owner) = owner else { continue };
            let (id, item) = (all[n].clone(), self.as_stored(data, owner));
            if shows {
                self.check_shown(person, &id, &item, &results[n]["dataItem"]["data"], &context);
            }
            self.near.items.insert(id.clone(), item);
            self.set_links(person, &id, &far);
        }
        reply.verdict()
    }

    async fn patch_links(&mut self, person: &Person<'_>, random: &mut Random, is_bulk: bool) -> String {
        let mut all: Vec<_> = (0..if is_bulk { 2 } else { 1 }).map(|_| self.near.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let mark = random.below(1_000_000);
        let (mut patches, mut steps) = (Vec::new(), Vec::new());
        for id in &all {
            let (step, mut far) = match random.below(4) {
                0 => (Step::Set, self.targets(random).0),
                1 => (Step::Add, vec![self.far.any_id(random)]),
                2 => (Step::TakeOut, vec![self.far.any_id(random)]),
                _ => (Step::Clear, Vec::new()),
            };
            // What is linked is the more interesting to take out.
            if let (Step::TakeOut, Some(it)) = (step, self.links.iter().find(|it| it.0 == *id)) {
                far = vec![it.1.clone()];
            }
            let change = match step {
                Step::Set => json!({ "action": "SET_FIELD", "setFieldOptions": { "value": far } }),
                Step::Add => json!({ "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": far[0] } }),
                Step::TakeOut => {
                    json!({ "action": "REMOVE_FROM_ARRAY", "removeFromArrayOptions": { "value": far[0] } })
                }
                Step::Clear => json!({ "action": "REMOVE_FIELD" }),
            };
            let mut change = change;
            change["fieldPath"] = "many".into();
            let set = json!({ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": mark } });
            patches.push(json!({ "dataItemId": id, "fieldModifications": [set, change] }));
            steps.push((step, far));
        }
        let (path, body) = match is_bulk {
            true => ("/v2/bulk/items/patch", json!({ "dataCollectionId": self.near.id, "patches": patches })),
            false => ("/v2/items/patch", json!({ "dataCollectionId": self.near.id, "patch": patches[0] })),
        };
        let reply = person.asker.post(path, &body).await;
        let context = self.context(&format!("{path} {body} {:?}", self.far.levels), person, &self.near, &reply);
        if right(person, &self.near, UPDATE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            return reply.verdict();
        }
        let done = all.iter().zip(&steps).map(|(id, (step, far))| {
            let wanted = if matches!(step, Step::TakeOut) { &[] } else { far.as_slice() };
            self.near.items.get(id).is_some_and(|it| may(person, &self.near, UPDATE, it))
                && self.may_refer(person, wanted)
        });
        let done: Vec<_> = done.collect();
        match is_bulk {
            true => {
                let results = reply.json()["results"].clone();
                let told: Vec<_> = (0..all.len()).map(|n| results[n]["itemMetadata"]["success"] == true).collect();
                assert_eq!(told, done, "{context}");
            }
            false => assert_eq!(reply.verdict() == "200", done[0], "{context}"),
        }
        for ((id, (step, far)), _) in all.iter().zip(&steps).zip(done).filter(|it| it.1) {
            if let Some(it) = self.near.items.get_mut(id) {
                it["mark"] = mark.into();
            }
            self.step(person, id, far, *step);
        }
        reply.verdict()
    }

    /// A write whose answer is to show what the item refers to.
    async fn write_shown(&mut self, person: &Person<'_>, random: &mut Random) -> String {
        let how = ["update", "save"][random.below(2)];
        let id = match self.links.get(random.below(self.links.len() + 1)) {
            Some(it) => it.0.clone(),
            None => self.near.any_id(random),
        };
        let data = self.near.data(random, &id);
        let body = json!({ "dataCollectionId": self.near.id, "includeReferencedItems": true,
            "dataItem": { "id": id, "data": data } });
        let reply = person.asker.post(&format!("/v2/items/{how}"), &body).await;
        let context = self.context(&format!("{how} {id} and show, {:?}", self.far.levels), person, &self.near, &reply);
        let stored = self.stored_by(person, &self.near, &id, how);
        assert_eq!(reply.verdict() == "200", stored.is_some(), "{context}");
        let Some(owner) = stored else { return reply.verdict() };
        let item = self.as_stored(data, owner);
        let shown = plain(&reply.json()["dataItem"]["data"]);
        if self.near.items.contains_key(&id) && !may(person, &self.near, READ, &item) {
            self.check_shown(person, &id, &item, &shown, &context);
        } else {
            let tree = json!({ "one": {}, "many": {} });
            let expected = self.composed(person, true, &item, &tree);
            assert_eq!(shown, expected, "{context}");
        }
        self.near.items.insert(id, item);
        reply.verdict()
    }

    /// What the answer to a write shows of an item that was there: to who may read it all of it, to others
    /// what they sent.
    fn check_shown(&self, person: &Person<'_>, id: &str, item: &Value, shown: &Value, context: &str) {
        let mut expected = item.clone();
        if self.near.items.contains_key(id) && !may(person, &self.near, READ, item) {
            expected.as_object_mut().unwrap().remove("_owner");
            assert!(shown.get("_createdDate").is_none(), "{context}");
        }
        assert_eq!(plain(shown), expected, "{context} {}", owner(item));
    }
}
