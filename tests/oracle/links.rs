//! Calls on references: who may link what, and whose items show through a link.

use super::*;

impl World<'_> {
    pub async fn link_call(&mut self, caller: &Caller<'_>, random: &mut Random) -> (&'static str, String) {
        match random.below(8) {
            0 | 1 => ("insert reference", self.link(caller, random).await),
            2 => ("remove reference", self.unlink(caller, random).await),
            3 => ("replace references", self.relink(caller, random).await),
            4 => ("query referenced", self.referenced(caller, random).await),
            5 => ("query referenced singly", self.referenced_by_one(caller, random).await),
            _ => {
                let is_source = !random.one_in(3);
                ("include references", self.include(caller, random, is_source).await)
            }
        }
    }

    /// The links as they are: those of each item in the order in which they were made.
    pub async fn check_links(&self, call: &str, caller: &Caller<'_>) {
        let body = json!({ "dataCollectionId": self.source.id, "includeReferences": [{ "field": "many", "limit": 100 }],
            "query": { "paging": { "limit": 1000 } } });
        let reply = self.app.app().post("/v2/items/query", &body).await.json();
        for it in reply["dataItems"].as_array().unwrap_or_else(|| panic!("{reply}")) {
            let (id, expected) = (it["data"]["_id"].as_str().unwrap_or_default(), self.linked(&it["data"]["_id"]));
            let links: Vec<_> = ids(&it["data"]["many"]);
            assert_eq!(links, expected, "{}: {call} of {:?} {}, links of {id}", self.name, caller.kind, caller.id);
        }
    }

    pub fn linked(&self, source: &Value) -> Vec<String> {
        self.links.iter().filter(|it| *source == it.0.as_str()).map(|it| it.1.clone()).collect()
    }

    /// Whether the caller may change what the item refers to, and whether these are theirs to refer to.
    fn may_link(&self, caller: &Caller<'_>, source: &str, target: &[String]) -> bool {
        self.source.items.get(source).is_some_and(|it| may(caller, &self.source, UPDATE, it))
            && target
                .iter()
                .all(|target| self.target.items.get(target).is_some_and(|it| may(caller, &self.target, READ, it)))
    }

    fn entry(source: &str, target: &str) -> Value {
        json!({ "referringItemFieldName": "many", "referringItemId": source, "referencedItemId": target })
    }

    async fn link(&mut self, caller: &Caller<'_>, random: &mut Random) -> String {
        let (source, target) = (self.source.any_id(random), self.target.any_id(random));
        let body = json!({ "dataCollectionId": self.source.id, "dataItemReferences": [Self::entry(&source, &target)] });
        let reply = caller.client.post("/v2/bulk/items/insert-references", &body).await;
        let context = self.context(&format!("link {source} {target}"), caller, &self.source, &reply);
        let link = (source, target);
        let is_new = !self.links.contains(&link);
        let is_allowed = self.may_link(caller, &link.0, std::slice::from_ref(&link.1));
        assert_eq!(reply.verdict() == "200", is_allowed && is_new, "{context}");
        if right(caller, &self.source, UPDATE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
        }
        if is_allowed && is_new {
            self.links.push(link);
        }
        reply.verdict()
    }

    async fn unlink(&mut self, caller: &Caller<'_>, random: &mut Random) -> String {
        let (source, target) = match self.links.get(random.below(self.links.len() + 1)) {
            Some(it) => it.clone(),
            None => (self.source.any_id(random), self.target.any_id(random)),
        };
        let body = json!({ "dataCollectionId": self.source.id, "dataItemReferences": [Self::entry(&source, &target)] });
        let reply = caller.client.post("/v2/bulk/items/remove-references", &body).await;
        let context = self.context(&format!("unlink {source} {target}"), caller, &self.source, &reply);
        if self.may_link(caller, &source, std::slice::from_ref(&target)) {
            assert_eq!(reply.verdict(), "200", "{context}");
        }
        if !self.may_link(caller, &source, &[]) {
            assert_ne!(reply.verdict(), "200", "{context}");
        }
        if reply.status == 200 {
            self.take_link(caller, &source, &target);
        }
        reply.verdict()
    }

    async fn relink(&mut self, caller: &Caller<'_>, random: &mut Random) -> String {
        let source = self.source.any_id(random);
        let mut target: Vec<_> = (0..random.below(3)).map(|_| self.target.any_id(random)).collect();
        target.sort_unstable();
        target.dedup();
        let body = json!({ "dataCollectionId": self.source.id, "referringItemFieldName": "many",
            "referringItemId": source, "newReferencedItemIds": target });
        let reply = caller.client.post("/v2/items/replace-references", &body).await;
        let context = self.context(&format!("replace {source} {target:?}"), caller, &self.source, &reply);
        let target_is_read = right(caller, &self.target, READ) != Right::Refused;
        let is_allowed = self.may_link(caller, &source, &target) && (target_is_read || !target.is_empty());
        if target_is_read || !target.is_empty() {
            assert_eq!(reply.verdict() == "200", is_allowed, "{context}");
        }
        if reply.status == 200 {
            assert!(self.may_link(caller, &source, &target), "{context}");
            self.set_links(caller, &source, &target);
        }
        reply.verdict()
    }

    async fn referenced(&self, caller: &Caller<'_>, random: &mut Random) -> String {
        let (source, probe) = (self.source.any_id(random), self.target.any_id(random));
        let body = json!({ "dataCollectionId": self.source.id, "referringItemFieldName": "many", "referringItemId": source,
            "returnTotalCount": true });
        let reply = caller.client.post("/v2/items/query-referenced", &body).await;
        let context =
            self.context(&format!("referenced by {source}, {:?}", self.target.levels), caller, &self.source, &reply);
        let mut asked = Self::entry(&source, &probe);
        asked["dataCollectionId"] = self.source.id.as_str().into();
        let is_referenced = caller.client.post("/v2/items/is-referenced", &asked).await;
        if [&self.source, &self.target].iter().any(|it| right(caller, it, READ) == Right::Refused) {
            assert_eq!(
                (reply.verdict().as_str(), is_referenced.verdict().as_str()),
                (refusal(caller), refusal(caller)),
                "{context}"
            );
            return reply.verdict();
        }
        let shown = self.through(caller, &source);
        let json = reply.json();
        let results: Vec<_> =
            json["results"].as_array().unwrap().iter().map(|it| plain(&it["dataItem"]["data"])).collect();
        assert_eq!(results, shown, "{context}");
        assert_eq!(json["pagingMetadata"]["total"], shown.len(), "{context}");
        let is_shown = shown.iter().any(|it| it["_id"] == probe.as_str());
        assert_eq!(is_referenced.json()["isReferenced"], is_shown, "{context}");
        reply.verdict()
    }

    /// A single reference that leads nowhere, or where the caller may not look, is shown as its id alone.
    async fn referenced_by_one(&self, caller: &Caller<'_>, random: &mut Random) -> String {
        let source: Vec<_> = (0..3).map(|_| self.source.any_id(random)).collect();
        let body = json!({ "dataCollectionId": self.source.id, "referringItemFieldName": "one",
            "referringItemIds": source, "returnTotalCount": true });
        let reply = caller.client.post("/v2/items/query-referenced", &body).await;
        let context =
            self.context(&format!("one of {source:?}, {:?}", self.target.levels), caller, &self.source, &reply);
        if [&self.source, &self.target].iter().any(|it| right(caller, it, READ) == Right::Refused) {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let mut expected = Vec::new();
        for (n, id) in source.iter().enumerate().filter(|(n, id)| !source[..*n].contains(id)) {
            let item = self.source.items.get(id).filter(|it| may(caller, &self.source, READ, it));
            let Some(target) = item.and_then(|it| it["one"].as_str()) else { continue };
            let shown = self.target.items.get(target).filter(|it| may(caller, &self.target, READ, it));
            expected.push((source[n].clone(), target.to_owned(), shown.cloned()));
        }
        let json = reply.json();
        let results = json["results"].as_array().into_iter().flatten().map(|it| {
            let item = it.get("dataItem").map(|it| plain(&it["data"]));
            let target = item.as_ref().map_or(&it["unresolvedReference"]["referencedItemId"], |it| &it["_id"]);
            let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
            (text(&it["referringItemId"]), text(target), item)
        });
        assert_eq!(results.collect::<Vec<_>>(), expected, "{context}");
        assert_eq!(json["pagingMetadata"]["total"], expected.len(), "{context}");
        reply.verdict()
    }

    /// The items that the caller may see through the links of an item that they may see.
    fn through(&self, caller: &Caller<'_>, source: &str) -> Vec<Value> {
        if !self.source.items.get(source).is_some_and(|it| may(caller, &self.source, READ, it)) {
            return Vec::new();
        }
        self.linked_items(caller, true, source).into_iter().cloned().collect()
    }

    /// Where the links of an item of one side lead, as far as the caller may see.
    pub fn linked_items(&self, caller: &Caller<'_>, is_source: bool, id: &str) -> Vec<&Value> {
        let ends =
            self.links.iter().map(|(source, target)| if is_source { (source, target) } else { (target, source) });
        let other = self.side(!is_source);
        let there = ends.filter(|it| it.0 == id).filter_map(|it| other.items.get(it.1));
        there.filter(|it| may(caller, other, READ, it)).collect()
    }

    /// With its references, and with theirs, an item shows no more of a collection than a query there would.
    async fn include(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let limit = 1 + random.below(3);
        let (references, tree) = match (is_source, random.below(3)) {
            (true, 0) => (json!([{ "field": "one" }, { "field": "many" }]), json!({ "one": {}, "many": {} })),
            (true, 1) => (
                json!([{ "field": "one.back", "limit": limit }, { "field": "many" }]),
                json!({ "one": { "back": { "limit": limit } }, "many": {} }),
            ),
            (true, _) => (
                json!([{ "field": "many", "limit": limit }, { "field": "many.back.one" }]),
                json!({ "many": { "limit": limit, "back": { "one": {} } } }),
            ),
            (false, 0) => (json!([{ "field": "back", "limit": limit }]), json!({ "back": { "limit": limit } })),
            (false, _) => (
                json!([{ "field": "back.one" }, { "field": "back.many.back" }]),
                json!({ "back": { "one": {}, "many": { "back": {} } } }),
            ),
        };
        let body = json!({ "dataCollectionId": side.id, "includeReferences": references,
            "query": { "sort": [{ "fieldName": "_id" }] } });
        let reply = caller.client.post("/v2/items/query", &body).await;
        let levels = [self.source.levels, self.target.levels];
        let context = self.context(&format!("include {references} {levels:?} {:?}", self.links), caller, side, &reply);
        if right(caller, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let json = reply.json();
        let items = json["dataItems"].as_array().unwrap_or_else(|| panic!("{context}"));
        let shown: Vec<_> = items.iter().map(|it| plain(&it["data"])).collect();
        let readable = side.readable(caller).into_iter();
        assert_eq!(
            shown,
            readable.map(|(_, it)| self.composed(caller, is_source, it, &tree)).collect::<Vec<_>>(),
            "{context}"
        );
        reply.verdict()
    }

    /// An item with what it refers to, as far as the caller may see; the tree says what is wanted.
    pub fn composed(&self, caller: &Caller<'_>, is_source: bool, item: &Value, tree: &Value) -> Value {
        let mut composed = item.clone();
        let below = |it: &Value, tree: &Value| self.composed(caller, !is_source, it, tree);
        for (name, tree) in tree.as_object().into_iter().flatten() {
            match name.as_str() {
                "one" => {
                    let one = item["one"].as_str().and_then(|it| self.target.items.get(it));
                    if let Some(it) = one.filter(|it| may(caller, &self.target, READ, it)) {
                        composed["one"] = below(it, tree);
                    }
                }
                "many" | "back" => {
                    let limit = tree["limit"].as_u64().unwrap_or(50) as usize;
                    let id = item["_id"].as_str().unwrap_or_default();
                    let linked = self.linked_items(caller, is_source, id).into_iter().take(limit);
                    composed[name.as_str()] = linked.map(|it| below(it, tree)).collect();
                }
                _ => {}
            }
        }
        composed
    }
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|it| it["_id"].as_str().unwrap_or_default().to_owned()).collect()
}
