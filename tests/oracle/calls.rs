//! Calls on single items, on many, and questions.

use super::*;

impl Side {
    /// What a person finds in this collection, in the order of [`pages::sort`].
    pub fn found(&self, person: &Person<'_>, passes: &Passes) -> Vec<&Value> {
        let mut found: Vec<_> = self.readable(person).into_iter().map(|it| it.1).filter(|it| passes(it)).collect();
        found.sort_by_cached_key(|it| pages::rank(it));
        found
    }
}

impl World<'_> {
    /// One random call, with everything about it checked.
    pub async fn call(
        &mut self,
        person: &Person<'_>,
        people: &[Person<'_>],
        random: &mut Random,
    ) -> (&'static str, String) {
        let is_near = random.one_in(2);
        let (call, verdict) = match random.below(36) {
            0 => ("get", self.get(person, random, is_near).await),
            1 | 2 => ("query", self.query(person, random, is_near).await),
            3 | 5 => ("count", self.count(person, random, is_near).await),
            4 => ("distinct", self.distinct(person, is_near).await),
            6 => ("insert", self.write(person, random, is_near, "insert").await),
            7 => ("update", self.write(person, random, is_near, "update").await),
            8 => ("save", self.write(person, random, is_near, "save").await),
            9 => ("bulk insert", self.write_many(person, random, is_near, "insert").await),
            10 => ("bulk update", self.write_many(person, random, is_near, "update").await),
            11 => ("bulk save", self.write_many(person, random, is_near, "save").await),
            12 => ("remove", self.remove(person, random, is_near).await),
            13 => ("bulk remove", self.remove_many(person, random, is_near).await),
            14 => ("conditional update", self.write_if(person, random, is_near).await),
            15 => ("patch", self.patch(person, random, is_near).await),
            16 => ("bulk patch", self.patch_many(person, random, is_near).await),
            17..=22 => self.link_call(person, random).await,
            23..=27 => self.saving_call(person, random).await,
            28..=33 => self.page_call(person, people, random, is_near).await,
            34 => ("give", self.give(person, people, random, is_near).await),
            _ => ("truncate", self.truncate(person, people, random, is_near).await),
        };
        // What a question changed against all rules is still there after the next write.
        let is_question =
            ["get", "query", "count", "distinct", "walk", "include"].iter().any(|it| call.starts_with(it));
        if !is_question || random.one_in(4) {
            self.check(call, person).await;
        }
        (call, verdict)
    }

    pub fn side(&self, is_near: bool) -> &Side {
        if is_near { &self.near } else { &self.far }
    }

    pub fn items(&mut self, is_near: bool) -> &mut BTreeMap<String, Value> {
        if is_near { &mut self.near.items } else { &mut self.far.items }
    }

    async fn get(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let (c, id) = (&side.id, side.any_id(random));
        let reply = person.asker.get(&format!("/v2/items/{id}?dataCollectionId={c}&dataItemId={id}")).await;
        let context = self.context("get", person, side, &reply);
        match side.items.get(&id) {
            _ if right(person, side, READ) == Right::Refused => {
                assert_eq!(reply.verdict(), refusal(person), "{context}")
            }
            Some(it) if may(person, side, READ, it) => {
                assert_eq!(plain(&reply.json()["dataItem"]["data"]), *it, "{context}");
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn query(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let (filter, passes) = self.filter(person, random, is_near);
        let (limit, offset, only_n) = (1 + random.below(12), random.below(3), random.one_in(3));
        let fields = if only_n { json!(["n", "missing"]) } else { json!([]) };
        let (sort, paging) = (pages::sort(), json!({ "limit": limit, "offset": offset }));
        let body = json!({ "dataCollectionId": side.id, "returnTotalCount": true,
            "query": { "filter": filter, "sort": sort, "paging": paging, "fields": fields } });
        let reply = person.asker.post("/v2/items/query", &body).await;
        let context = self.context(&format!("query {body}"), person, side, &reply);
        if right(person, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            return reply.verdict();
        }
        let found = side.found(person, &passes);
        let page = found.iter().skip(offset).take(limit);
        let shown = page.map(|it| if only_n { json!({ "_id": it["_id"], "n": it["n"] }) } else { (*it).clone() });
        let json = reply.json();
        let items = json["dataItems"].as_array().unwrap_or_else(|| panic!("{context}"));
        let answered: Vec<_> = items.iter().map(|it| plain(&it["data"])).collect();
        assert_eq!(answered, shown.collect::<Vec<_>>(), "{context}");
        assert_eq!(json["pagingMetadata"]["total"], found.len(), "{context}");
        assert_eq!(json["pagingMetadata"]["hasNext"], found.len() > offset + limit, "{context}");
        reply.verdict()
    }

    async fn count(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let (filter, passes) = self.filter(person, random, is_near);
        let reply =
            person.asker.post("/v2/items/count", &json!({ "dataCollectionId": side.id, "filter": filter })).await;
        let context = self.context(&format!("count {filter}"), person, side, &reply);
        match right(person, side, READ) {
            Right::Refused => assert_eq!(reply.verdict(), refusal(person), "{context}"),
            _ => {
                let found = side.readable(person).into_iter().filter(|(_, it)| passes(it)).count();
                assert_eq!(reply.json()["totalCount"], found, "{context}");
            }
        }
        reply.verdict()
    }

    async fn distinct(&self, person: &Person<'_>, is_near: bool) -> String {
        let side = self.side(is_near);
        let body = json!({ "dataCollectionId": side.id, "fieldName": "n", "returnTotalCount": true });
        let reply = person.asker.post("/v2/items/query-distinct-values", &body).await;
        let context = self.context("distinct", person, side, &reply);
        match right(person, side, READ) {
            Right::Refused => assert_eq!(reply.verdict(), refusal(person), "{context}"),
            _ => {
                let mut values: Vec<_> =
                    side.readable(person).into_iter().filter_map(|(_, it)| it["n"].as_u64()).collect();
                values.sort_unstable();
                values.dedup();
                let json = reply.json();
                assert_eq!(json["distinctValues"], json!(values), "{context}");
                assert_eq!(json["pagingMetadata"]["total"], values.len(), "{context}");
            }
        }
        reply.verdict()
    }

    /// What a write of this item by this person must come to: whether it is stored, and as whose.
    pub fn stored_by(&self, person: &Person<'_>, side: &Side, id: &str, how: &str) -> Option<String> {
        let may_insert = matches!(right(person, side, INSERT), Right::All | Right::Own);
        match (side.items.get(id), how) {
            (None, "insert" | "save") if may_insert => Some(person.id.clone()),
            (Some(it), "update" | "save") if may(person, side, UPDATE, it) => Some(owner(it)),
            _ => None,
        }
    }

    /// What an app writes is nobody's.
    pub fn as_stored(&self, mut data: Value, owner: String) -> Value {
        if !owner.is_empty() {
            data["_owner"] = owner.into();
        }
        data
    }

    async fn write(&mut self, person: &Person<'_>, random: &mut Random, is_near: bool, how: &str) -> String {
        let side = self.side(is_near);
        let id = side.any_id(random);
        let data = side.data(random, &id);
        let mut sent = data.clone();
        // Somebody else's name on it: only who has the owner's rights could do that, so they don't try.
        if matches!(person.kind, Kind::Visitor | Kind::Member) && random.one_in(3) {
            sent["_owner"] = "somebody-else".into();
        }
        let body = json!({ "dataCollectionId": side.id, "dataItem": { "id": id, "data": sent } });
        let path = if how == "insert" { "/v2/items".to_owned() } else { format!("/v2/items/{how}") };
        let reply = person.asker.post(&path, &body).await;
        let context = self.context(&format!("{how} {id}"), person, side, &reply);
        let (old, insert) = (side.items.get(&id), right(person, side, INSERT));
        match self.stored_by(person, side, &id, how) {
            Some(owner) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                let item = self.as_stored(data, owner);
                self.items(is_near).insert(id, item);
            }
            None if how == "insert" && insert != Right::Refused => {
                assert_eq!(reply.verdict(), "409 WDE0074", "{context}")
            }
            None if how == "update" && right(person, side, UPDATE) != Right::Refused => {
                assert_eq!(reply.verdict(), "404 WDE0073", "{context}");
            }
            None if how == "save" && person.kind != Kind::Nobody => {
                assert_ne!(reply.verdict(), "200", "{context} {old:?}");
            }
            None => assert_eq!(reply.verdict(), refusal(person), "{context}"),
        }
        reply.verdict()
    }

    async fn write_many(&mut self, person: &Person<'_>, random: &mut Random, is_near: bool, how: &str) -> String {
        let side = self.side(is_near);
        let mut all: Vec<_> = (0..3).map(|_| side.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let sent: Vec<_> = all.iter().map(|id| side.data(random, id)).collect();
        let items: Vec<_> = sent.iter().map(|it| json!({ "id": it["_id"], "data": it })).collect();
        let body = json!({ "dataCollectionId": side.id, "dataItems": items });
        let reply = person.asker.post(&format!("/v2/bulk/items/{how}"), &body).await;
        let context = self.context(&format!("bulk {how} {all:?}"), person, side, &reply);
        let stored: Vec<_> = all.iter().map(|id| self.stored_by(person, side, id, how)).collect();
        if reply.status != 200 {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            assert!(stored.iter().all(Option::is_none), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        for (n, (data, owner)) in sent.into_iter().zip(stored).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], owner.is_some(), "{context}");
            if let Some(owner) = owner {
                let item = self.as_stored(data, owner);
                self.items(is_near).insert(all[n].clone(), item);
            }
        }
        reply.verdict()
    }

    async fn patch(&mut self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let (id, mark) = (side.any_id(random), random.below(1_000_000));
        let body = json!({ "dataCollectionId": side.id, "patch": patch(&id, mark) });
        let reply = person.asker.post("/v2/items/patch", &body).await;
        let context = self.context(&format!("patch {id}"), person, side, &reply);
        match side.items.get(&id) {
            _ if right(person, side, UPDATE) == Right::Refused => {
                assert_eq!(reply.verdict(), refusal(person), "{context}")
            }
            Some(it) if may(person, side, UPDATE, it) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                let mut item = it.clone();
                item["mark"] = mark.into();
                let shown = plain(&reply.json()["dataItem"]["data"]);
                // Who may not read sees of the item what they sent.
                match may(person, side, READ, it) {
                    true => assert_eq!(shown, item, "{context}"),
                    false => assert!(shown.get("n").is_none() && shown.get("one").is_none(), "{context}"),
                }
                self.items(is_near).insert(id, item);
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn patch_many(&mut self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let mut all: Vec<_> = (0..3).map(|_| side.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let mark = random.below(1_000_000);
        let patches: Vec<_> = all.iter().map(|id| patch(id, mark)).collect();
        let body = json!({ "dataCollectionId": side.id, "patches": patches });
        let reply = person.asker.post("/v2/bulk/items/patch", &body).await;
        let context = self.context(&format!("bulk patch {all:?}"), person, side, &reply);
        if right(person, side, UPDATE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        let done: Vec<_> =
            all.iter().map(|id| side.items.get(id).is_some_and(|it| may(person, side, UPDATE, it))).collect();
        for (n, (id, done)) in all.iter().zip(done).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], done, "{context}");
            if let (true, Some(it)) = (done, self.items(is_near).get_mut(id)) {
                it["mark"] = mark.into();
            }
        }
        reply.verdict()
    }

    /// A filter, and whether an item passes it for this person. Some of them try to get around a scope,
    /// and some ask for links.
    pub fn filter(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> (Value, Passes) {
        let n = random.below(4) as u64;
        let field = if is_near { "many" } else { "back" };
        // The links that this person may know of, seen from this side.
        let linked = |other: Option<&str>| {
            let is_asked = |it: &&Value| other.is_none_or(|id| it["_id"] == id);
            let is_linked = |it: &&String| self.linked_items(person, is_near, it).iter().any(is_asked);
            self.side(is_near).items.keys().filter(is_linked).cloned().collect::<Vec<_>>()
        };
        match random.below(7) {
            0 => (json!({}), Box::new(|_| true)),
            1 => (json!({ "n": { "$gte": n } }), Box::new(move |it| it["n"].as_u64() >= Some(n))),
            2 => (json!({ "$or": [{}, { "_owner": { "$exists": true } }] }), Box::new(|_| true)),
            3 => (json!({ "$not": [{ "n": n }] }), Box::new(move |it| it["n"].as_u64() != Some(n))),
            4 => (json!({ "$or": [{ "n": n }, { "_owner": { "$ne": "x" } }] }), Box::new(|_| true)),
            5 => {
                let other = self.side(!is_near).any_id(random);
                let linked = linked(Some(&other));
                let passes = move |it: &Value| linked.iter().any(|id| it["_id"] == id.as_str());
                (json!({ field: { "$hasSome": [other] } }), Box::new(passes))
            }
            _ => {
                let linked = linked(None);
                let passes = move |it: &Value| !linked.iter().any(|id| it["_id"] == id.as_str());
                (json!({ field: { "$exists": false } }), Box::new(passes))
            }
        }
    }

    /// A condition must not tell anything of an item that its writer can't read.
    async fn write_if(&mut self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let id = side.any_id(random);
        let data = side.data(random, &id);
        let (filter, passes) = self.filter(person, random, is_near);
        let body = json!({ "dataCollectionId": side.id, "dataItem": { "id": id, "data": data }, "condition": { "filter": filter } });
        let reply = person.asker.post("/v2/items/update", &body).await;
        let context = self.context(&format!("update {id} if {filter}"), person, side, &reply);
        let rights = [right(person, side, READ), right(person, side, UPDATE)];
        match side.items.get(&id) {
            _ if rights.contains(&Right::Refused) => assert_eq!(reply.verdict(), refusal(person), "{context}"),
            Some(it) if may(person, side, UPDATE, it) && may(person, side, READ, it) && passes(it) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                let item = self.as_stored(data, owner(it));
                self.items(is_near).insert(id, item);
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn remove(&mut self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let id = side.any_id(random);
        let reply =
            person.asker.post("/v2/items/remove", &json!({ "dataCollectionId": side.id, "dataItemId": id })).await;
        let context = self.context(&format!("remove {id}"), person, side, &reply);
        match side.items.get(&id) {
            _ if right(person, side, REMOVE) == Right::Refused => {
                assert_eq!(reply.verdict(), refusal(person), "{context}")
            }
            Some(it) if may(person, side, REMOVE, it) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                // What is gone is shown only to who could have read it.
                match reply.json().get("dataItem") {
                    Some(shown) if may(person, side, READ, it) => assert_eq!(plain(&shown["data"]), *it, "{context}"),
                    shown => assert!(shown.is_none_or(Value::is_null) && !may(person, side, READ, it), "{context}"),
                }
                self.forget(is_near, &id);
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn remove_many(&mut self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let mut all: Vec<_> = (0..2).map(|_| side.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let body = json!({ "dataCollectionId": side.id, "dataItemIds": all });
        let reply = person.asker.post("/v2/bulk/items/remove", &body).await;
        let context = self.context(&format!("bulk remove {all:?}"), person, side, &reply);
        if right(person, side, REMOVE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        let gone: Vec<_> =
            all.iter().map(|id| side.items.get(id).is_some_and(|it| may(person, side, REMOVE, it))).collect();
        for (n, (id, gone)) in all.iter().zip(gone).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], gone, "{context}");
            if gone {
                self.forget(is_near, id);
            }
        }
        reply.verdict()
    }

    /// An item is gone, and its links with it.
    pub fn forget(&mut self, is_near: bool, id: &str) {
        self.items(is_near).remove(id);
        self.links.retain(|(near, far)| if is_near { near != id } else { far != id });
    }
}

fn patch(id: &str, mark: usize) -> Value {
    let set = json!({ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": mark } });
    json!({ "dataItemId": id, "fieldModifications": [set] })
}

pub fn owner(item: &Value) -> String {
    item["_owner"].as_str().unwrap_or_default().to_owned()
}
