//! Calls on single items, on many, and questions.

use super::*;

impl Side {
    /// What a caller finds in this collection, in the order of [`pages::sort`].
    pub fn found(&self, caller: &Caller<'_>, passes: &Passes) -> Vec<&Value> {
        let mut found: Vec<_> = self.readable(caller).into_iter().map(|it| it.1).filter(|it| passes(it)).collect();
        found.sort_by_cached_key(|it| pages::rank(it));
        found
    }
}

impl World<'_> {
    /// One random call, with everything about it checked.
    pub async fn call(
        &mut self,
        caller: &Caller<'_>,
        callers: &[Caller<'_>],
        random: &mut Random,
    ) -> (&'static str, String) {
        let is_source = random.one_in(2);
        let (call, verdict) = match random.below(49) {
            0 => ("get", self.get(caller, random, is_source).await),
            1 | 2 => ("query", self.query(caller, random, is_source).await),
            3 | 5 => ("count", self.count(caller, random, is_source).await),
            4 => ("distinct", self.distinct(caller, is_source).await),
            6 => ("insert", self.write(caller, random, is_source, "insert").await),
            7 => ("update", self.write(caller, random, is_source, "update").await),
            8 => ("save", self.write(caller, random, is_source, "save").await),
            9 => ("bulk insert", self.write_many(caller, random, is_source, "insert").await),
            10 => ("bulk update", self.write_many(caller, random, is_source, "update").await),
            11 => ("bulk save", self.write_many(caller, random, is_source, "save").await),
            12 => ("remove", self.remove(caller, random, is_source).await),
            13 => ("bulk remove", self.remove_many(caller, random, is_source).await),
            14 => ("conditional update", self.write_if(caller, random, is_source).await),
            15 => ("patch", self.patch(caller, random, is_source).await),
            16 => ("bulk patch", self.patch_many(caller, random, is_source).await),
            17..=22 => self.link_call(caller, random).await,
            23..=27 => self.save_with_links(caller, random).await,
            28..=33 => self.page_call(caller, callers, random, is_source).await,
            34 | 35 => self.aggregate_call(caller, random, is_source).await,
            36..=39 => self.graphql_call(caller, random, is_source).await,
            42 => ("patch by filter", self.patch_by_filter(caller, random, is_source).await),
            43 => ("remove by filter", self.remove_by_filter(caller, random, is_source).await),
            44..=46 => self.search_call(caller, random, is_source).await,
            47 | 48 => self.extras_call(caller, random, is_source).await,
            40 => ("give", self.give(caller, callers, random, is_source).await),
            _ => ("truncate", self.truncate(caller, callers, random, is_source).await),
        };
        // What a question changed against all rules is still there after the next write.
        let is_question = [
            "get",
            "query",
            "count",
            "distinct",
            "aggregate",
            "pipeline",
            "search",
            "walk",
            "include",
            "graphql query",
        ]
        .iter()
        .any(|it| call.starts_with(it));
        if !is_question || random.one_in(4) {
            self.check(call, caller).await;
        }
        (call, verdict)
    }

    pub fn side(&self, is_source: bool) -> &Side {
        if is_source { &self.source } else { &self.target }
    }

    pub fn items(&mut self, is_source: bool) -> &mut BTreeMap<String, Value> {
        if is_source { &mut self.source.items } else { &mut self.target.items }
    }

    async fn get(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (c, id) = (&side.id, side.any_id(random));
        let reply = caller.client.get(&format!("/v2/items/{id}?dataCollectionId={c}&dataItemId={id}")).await;
        let context = self.context("get", caller, side, &reply);
        let read = if self.has_hooks { hooks::READ_INSTEAD } else { id.as_str() };
        match side.items.get(read) {
            _ if right(caller, side, READ) == Right::Refused => {
                assert_eq!(reply.verdict(), refusal(caller), "{context}")
            }
            Some(it) if may(caller, side, READ, it) => {
                assert_eq!(plain(&reply.json()["dataItem"]["data"]), *it, "{context}");
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn query(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, passes) = self.question(caller, random, is_source);
        let (limit, offset, only_n) = (1 + random.below(12), random.below(3), random.one_in(3));
        let fields = if only_n { json!(["n", "missing"]) } else { json!([]) };
        let (sort, paging) = (pages::sort(), json!({ "limit": limit, "offset": offset }));
        let body = json!({ "dataCollectionId": side.id, "returnTotalCount": true,
            "query": { "filter": filter, "sort": sort, "paging": paging, "fields": fields } });
        let reply = caller.client.post("/v2/items/query", &body).await;
        let context = self.context(&format!("query {body}"), caller, side, &reply);
        if right(caller, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let found = side.found(caller, &passes);
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

    async fn count(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, passes) = self.question(caller, random, is_source);
        let reply =
            caller.client.post("/v2/items/count", &json!({ "dataCollectionId": side.id, "filter": filter })).await;
        let context = self.context(&format!("count {filter}"), caller, side, &reply);
        match right(caller, side, READ) {
            Right::Refused => assert_eq!(reply.verdict(), refusal(caller), "{context}"),
            _ => {
                let found = side.readable(caller).into_iter().filter(|(_, it)| passes(it)).count();
                assert_eq!(reply.json()["totalCount"], found, "{context}");
            }
        }
        reply.verdict()
    }

    async fn distinct(&self, caller: &Caller<'_>, is_source: bool) -> String {
        let side = self.side(is_source);
        let body = json!({ "dataCollectionId": side.id, "fieldName": "n", "returnTotalCount": true });
        let reply = caller.client.post("/v2/items/query-distinct-values", &body).await;
        let context = self.context("distinct", caller, side, &reply);
        match right(caller, side, READ) {
            Right::Refused => assert_eq!(reply.verdict(), refusal(caller), "{context}"),
            _ => {
                let mut values: Vec<_> =
                    side.readable(caller).into_iter().filter_map(|(_, it)| it["n"].as_u64()).collect();
                values.sort_unstable();
                values.dedup();
                let json = reply.json();
                assert_eq!(json["distinctValues"], json!(values), "{context}");
                assert_eq!(json["pagingMetadata"]["total"], values.len(), "{context}");
            }
        }
        reply.verdict()
    }

    /// What a write of this item by this caller must come to: whether it is stored, and as whose.
    pub fn stored_by(&self, caller: &Caller<'_>, side: &Side, id: &str, how: &str) -> Option<String> {
        let may_insert = matches!(right(caller, side, INSERT), Right::All | Right::Own);
        match (side.items.get(id), how) {
            (None, "insert" | "save") if may_insert => Some(caller.id.clone()),
            (Some(it), "update" | "save") if may(caller, side, UPDATE, it) => Some(owner(it)),
            _ => None,
        }
    }

    /// What an app writes has no owner.
    pub fn as_stored(&self, mut data: Value, owner: String) -> Value {
        if !owner.is_empty() {
            data["_owner"] = owner.into();
        }
        data
    }

    async fn write(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool, how: &str) -> String {
        let side = self.side(is_source);
        let id = side.any_id(random);
        let data = side.data(random, &id);
        let mut written = data.clone();
        // Somebody else's name on it: only who has the owner's rights could do that, so they don't try.
        if matches!(caller.kind, Kind::Visitor | Kind::Member) && random.one_in(3) {
            written["_owner"] = "somebody-else".into();
        }
        let body = json!({ "dataCollectionId": side.id, "dataItem": { "id": id, "data": written } });
        let path = if how == "insert" { "/v2/items".to_owned() } else { format!("/v2/items/{how}") };
        let reply = caller.client.post(&path, &body).await;
        let context = self.context(&format!("{how} {id}"), caller, side, &reply);
        let (old, insert) = (side.items.get(&id), right(caller, side, INSERT));
        match self.stored_by(caller, side, &id, how) {
            Some(owner) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                let item = self.as_stored(data, owner);
                self.items(is_source).insert(id, item);
            }
            None if how == "insert" && insert != Right::Refused => {
                assert_eq!(reply.verdict(), "409 WDE0074", "{context}")
            }
            None if how == "update" && right(caller, side, UPDATE) != Right::Refused => {
                assert_eq!(reply.verdict(), "404 WDE0073", "{context}");
            }
            None if how == "save" && caller.kind != Kind::Anonymous => {
                assert_ne!(reply.verdict(), "200", "{context} {old:?}");
            }
            None => assert_eq!(reply.verdict(), refusal(caller), "{context}"),
        }
        reply.verdict()
    }

    async fn write_many(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool, how: &str) -> String {
        let side = self.side(is_source);
        let mut all: Vec<_> = (0..3).map(|_| side.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let written: Vec<_> = all.iter().map(|id| side.data(random, id)).collect();
        let items: Vec<_> = written.iter().map(|it| json!({ "id": it["_id"], "data": it })).collect();
        let body = json!({ "dataCollectionId": side.id, "dataItems": items });
        let reply = caller.client.post(&format!("/v2/bulk/items/{how}"), &body).await;
        let context = self.context(&format!("bulk {how} {all:?}"), caller, side, &reply);
        let stored: Vec<_> = all.iter().map(|id| self.stored_by(caller, side, id, how)).collect();
        if reply.status != 200 {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            assert!(stored.iter().all(Option::is_none), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        for (n, (data, owner)) in written.into_iter().zip(stored).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], owner.is_some(), "{context}");
            if let Some(owner) = owner {
                let item = self.as_stored(data, owner);
                self.items(is_source).insert(all[n].clone(), item);
            }
        }
        reply.verdict()
    }

    async fn patch(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (id, value) = (side.any_id(random), random.below(1_000_000));
        let body = json!({ "dataCollectionId": side.id, "patch": patch(&id, value) });
        let reply = caller.client.post("/v2/items/patch", &body).await;
        let context = self.context(&format!("patch {id}"), caller, side, &reply);
        match side.items.get(&id) {
            _ if right(caller, side, UPDATE) == Right::Refused => {
                assert_eq!(reply.verdict(), refusal(caller), "{context}")
            }
            Some(it) if may(caller, side, UPDATE, it) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                let mut item = it.clone();
                item["mark"] = value.into();
                let shown = plain(&reply.json()["dataItem"]["data"]);
                // Who may not read sees of the item what they sent.
                match may(caller, side, READ, it) {
                    true => assert_eq!(shown, item, "{context}"),
                    false => assert!(shown.get("n").is_none() && shown.get("one").is_none(), "{context}"),
                }
                self.items(is_source).insert(id, item);
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn patch_many(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let mut all: Vec<_> = (0..3).map(|_| side.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let value = random.below(1_000_000);
        let patches: Vec<_> = all.iter().map(|id| patch(id, value)).collect();
        let body = json!({ "dataCollectionId": side.id, "patches": patches });
        let reply = caller.client.post("/v2/bulk/items/patch", &body).await;
        let context = self.context(&format!("bulk patch {all:?}"), caller, side, &reply);
        if right(caller, side, UPDATE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        let done: Vec<_> =
            all.iter().map(|id| side.items.get(id).is_some_and(|it| may(caller, side, UPDATE, it))).collect();
        for (n, (id, done)) in all.iter().zip(done).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], done, "{context}");
            if let (true, Some(it)) = (done, self.items(is_source).get_mut(id)) {
                it["mark"] = value.into();
            }
        }
        reply.verdict()
    }

    /// A filter, and whether an item passes it for this caller. Some of them try to get around a scope,
    /// and some ask for links.
    pub fn filter(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> (Value, Passes) {
        let n = random.below(4) as u64;
        let field = if is_source { "many" } else { "back" };
        // The links that this caller may know of, seen from this side.
        let linked = |other: Option<&str>| {
            let is_asked = |it: &&Value| other.is_none_or(|id| it["_id"] == id);
            let is_linked = |it: &&String| self.linked_items(caller, is_source, it).iter().any(is_asked);
            self.side(is_source).items.keys().filter(is_linked).cloned().collect::<Vec<_>>()
        };
        match random.below(7) {
            0 => (json!({}), Box::new(|_| true)),
            1 => (json!({ "n": { "$gte": n } }), Box::new(move |it| it["n"].as_u64() >= Some(n))),
            2 => (json!({ "$or": [{}, { "_owner": { "$exists": true } }] }), Box::new(|_| true)),
            3 => (json!({ "$not": [{ "n": n }] }), Box::new(move |it| it["n"].as_u64() != Some(n))),
            4 => (json!({ "$or": [{ "n": n }, { "_owner": { "$ne": "x" } }] }), Box::new(|_| true)),
            5 => {
                let other = self.side(!is_source).any_id(random);
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
    async fn write_if(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let id = side.any_id(random);
        let data = side.data(random, &id);
        let (filter, passes) = self.filter(caller, random, is_source);
        let body = json!({ "dataCollectionId": side.id, "dataItem": { "id": id, "data": data }, "condition": { "filter": filter } });
        let reply = caller.client.post("/v2/items/update", &body).await;
        let context = self.context(&format!("update {id} if {filter}"), caller, side, &reply);
        let rights = [right(caller, side, READ), right(caller, side, UPDATE)];
        match side.items.get(&id) {
            _ if rights.contains(&Right::Refused) => assert_eq!(reply.verdict(), refusal(caller), "{context}"),
            Some(it) if may(caller, side, UPDATE, it) && may(caller, side, READ, it) && passes(it) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                let item = self.as_stored(data, owner(it));
                self.items(is_source).insert(id, item);
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn remove(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let id = side.any_id(random);
        let reply =
            caller.client.post("/v2/items/remove", &json!({ "dataCollectionId": side.id, "dataItemId": id })).await;
        let context = self.context(&format!("remove {id}"), caller, side, &reply);
        match side.items.get(&id) {
            _ if right(caller, side, REMOVE) == Right::Refused => {
                assert_eq!(reply.verdict(), refusal(caller), "{context}")
            }
            Some(it) if may(caller, side, REMOVE, it) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                // What is gone is shown only to who could have read it.
                match reply.json().get("dataItem") {
                    Some(shown) if may(caller, side, READ, it) => assert_eq!(plain(&shown["data"]), *it, "{context}"),
                    shown => assert!(shown.is_none_or(Value::is_null) && !may(caller, side, READ, it), "{context}"),
                }
                self.forget(is_source, &id);
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        reply.verdict()
    }

    async fn remove_many(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let mut all: Vec<_> = (0..2).map(|_| side.any_id(random)).collect();
        all.sort_unstable();
        all.dedup();
        let body = json!({ "dataCollectionId": side.id, "dataItemIds": all });
        let reply = caller.client.post("/v2/bulk/items/remove", &body).await;
        let context = self.context(&format!("bulk remove {all:?}"), caller, side, &reply);
        if right(caller, side, REMOVE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let results = reply.json()["results"].clone();
        let gone: Vec<_> =
            all.iter().map(|id| side.items.get(id).is_some_and(|it| may(caller, side, REMOVE, it))).collect();
        for (n, (id, gone)) in all.iter().zip(gone).enumerate() {
            assert_eq!(results[n]["itemMetadata"]["success"], gone, "{context}");
            if gone {
                self.forget(is_source, id);
            }
        }
        reply.verdict()
    }

    /// An item is gone, and its links with it.
    pub fn forget(&mut self, is_source: bool, id: &str) {
        self.items(is_source).remove(id);
        self.links.retain(|(source, target)| if is_source { source != id } else { target != id });
    }
}

fn patch(id: &str, value: usize) -> Value {
    let set = json!({ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": value } });
    json!({ "dataItemId": id, "fieldModifications": [set] })
}

pub fn owner(item: &Value) -> String {
    item["_owner"].as_str().unwrap_or_default().to_owned()
}
