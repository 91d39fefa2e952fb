//! Calls on references: who may link what, and whose items show through a link.

use super::*;

impl World<'_> {
    pub async fn link_call(&mut self, person: &Person<'_>, random: &mut Random) -> (&'static str, String) {
        match random.below(8) {
            0 | 1 => ("insert reference", self.link(person, random).await),
            2 => ("remove reference", self.unlink(person, random).await),
            3 => ("replace references", self.relink(person, random).await),
            4 => ("query referenced", self.referenced(person, random).await),
            5 => ("query referenced singly", self.referenced_by_one(person, random).await),
            _ => {
                let is_near = !random.one_in(3);
                ("include references", self.include(person, random, is_near).await)
            }
        }
    }

    /// The links as they are: those of each item in the order in which they were made.
    pub async fn check_links(&self, call: &str, person: &Person<'_>) {
        let body = json!({ "dataCollectionId": self.near.id, "includeReferences": [{ "field": "many", "limit": 100 }],
            "query": { "paging": { "limit": 1000 } } });
        let reply = self.app.app().post("/v2/items/query", &body).await.json();
        for it in reply["dataItems"].as_array().unwrap_or_else(|| panic!("{reply}")) {
            let (id, expected) = (it["data"]["_id"].as_str().unwrap_or_default(), self.linked(&it["data"]["_id"]));
            let links: Vec<_> = ids(&it["data"]["many"]);
            assert_eq!(links, expected, "{}: {call} of {:?} {}, links of {id}", self.name, person.kind, person.id);
        }
    }

    pub fn linked(&self, near: &Value) -> Vec<String> {
        self.links.iter().filter(|it| *near == it.0.as_str()).map(|it| it.1.clone()).collect()
    }

    /// Whether the person may change what the item refers to, and whether these are theirs to refer to.
    fn may_link(&self, person: &Person<'_>, near: &str, far: &[String]) -> bool {
        self.near.items.get(near).is_some_and(|it| may(person, &self.near, UPDATE, it))
            && far.iter().all(|far| self.far.items.get(far).is_some_and(|it| may(person, &self.far, READ, it)))
    }

    fn entry(near: &str, far: &str) -> Value {
        json!({ "referringItemFieldName": "many", "referringItemId": near, "referencedItemId": far })
    }

    async fn link(&mut self, person: &Person<'_>, random: &mut Random) -> String {
        let (near, far) = (self.near.any_id(random), self.far.any_id(random));
        let body = json!({ "dataCollectionId": self.near.id, "dataItemReferences": [Self::entry(&near, &far)] });
        let reply = person.asker.post("/v2/bulk/items/insert-references", &body).await;
        let context = self.context(&format!("link {near} {far}"), person, &self.near, &reply);
        let pair = (near, far);
        let is_new = !self.links.contains(&pair);
        let is_allowed = self.may_link(person, &pair.0, std::slice::from_ref(&pair.1));
        assert_eq!(reply.verdict() == "200", is_allowed && is_new, "{context}");
        if right(person, &self.near, UPDATE) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
        }
        if is_allowed && is_new {
            self.links.push(pair);
        }
        reply.verdict()
    }

    async fn unlink(&mut self, person: &Person<'_>, random: &mut Random) -> String {
        let (near, far) = match self.links.get(random.below(self.links.len() + 1)) {
            Some(it) => it.clone(),
            None => (self.near.any_id(random), self.far.any_id(random)),
        };
        let body = json!({ "dataCollectionId": self.near.id, "dataItemReferences": [Self::entry(&near, &far)] });
        let reply = person.asker.post("/v2/bulk/items/remove-references", &body).await;
        let context = self.context(&format!("unlink {near} {far}"), person, &self.near, &reply);
        if self.may_link(person, &near, std::slice::from_ref(&far)) {
            assert_eq!(reply.verdict(), "200", "{context}");
        }
        if !self.may_link(person, &near, &[]) {
            assert_ne!(reply.verdict(), "200", "{context}");
        }
        if reply.status == 200 {
            self.take_link(person, &near, &far);
        }
        reply.verdict()
    }

    async fn relink(&mut self, person: &Person<'_>, random: &mut Random) -> String {
        let near = self.near.any_id(random);
        let mut far: Vec<_> = (0..random.below(3)).map(|_| self.far.any_id(random)).collect();
        far.sort_unstable();
        far.dedup();
        let body = json!({ "dataCollectionId": self.near.id, "referringItemFieldName": "many",
            "referringItemId": near, "newReferencedItemIds": far });
        let reply = person.asker.post("/v2/items/replace-references", &body).await;
        let context = self.context(&format!("replace {near} {far:?}"), person, &self.near, &reply);
        let far_is_read = right(person, &self.far, READ) != Right::Refused;
        let is_allowed = self.may_link(person, &near, &far) && (far_is_read || !far.is_empty());
        if far_is_read || !far.is_empty() {
            assert_eq!(reply.verdict() == "200", is_allowed, "{context}");
        }
        if reply.status == 200 {
            assert!(self.may_link(person, &near, &far), "{context}");
            self.set_links(person, &near, &far);
        }
        reply.verdict()
    }

    async fn referenced(&self, person: &Person<'_>, random: &mut Random) -> String {
        let (near, probe) = (self.near.any_id(random), self.far.any_id(random));
        let body = json!({ "dataCollectionId": self.near.id, "referringItemFieldName": "many", "referringItemId": near,
            "returnTotalCount": true });
        let reply = person.asker.post("/v2/items/query-referenced", &body).await;
        let context = self.context(&format!("referenced by {near}, {:?}", self.far.levels), person, &self.near, &reply);
        let mut asked = Self::entry(&near, &probe);
        asked["dataCollectionId"] = self.near.id.as_str().into();
        let is_referenced = person.asker.post("/v2/items/is-referenced", &asked).await;
        if [&self.near, &self.far].iter().any(|it| right(person, it, READ) == Right::Refused) {
            assert_eq!(
                (reply.verdict().as_str(), is_referenced.verdict().as_str()),
                (refusal(person), refusal(person)),
                "{context}"
            );
            return reply.verdict();
        }
        let shown = self.through(person, &near);
        let json = reply.json();
        let results: Vec<_> =
            json["results"].as_array().unwrap().iter().map(|it| plain(&it["dataItem"]["data"])).collect();
        assert_eq!(results, shown, "{context}");
        assert_eq!(json["pagingMetadata"]["total"], shown.len(), "{context}");
        let is_shown = shown.iter().any(|it| it["_id"] == probe.as_str());
        assert_eq!(is_referenced.json()["isReferenced"], is_shown, "{context}");
        reply.verdict()
    }

    /// A single reference that leads nowhere, or where the person may not look, is told of by its id alone.
    async fn referenced_by_one(&self, person: &Person<'_>, random: &mut Random) -> String {
        let near: Vec<_> = (0..3).map(|_| self.near.any_id(random)).collect();
        let body = json!({ "dataCollectionId": self.near.id, "referringItemFieldName": "one",
            "referringItemIds": near, "returnTotalCount": true });
        let reply = person.asker.post("/v2/items/query-referenced", &body).await;
        let context = self.context(&format!("one of {near:?}, {:?}", self.far.levels), person, &self.near, &reply);
        if [&self.near, &self.far].iter().any(|it| right(person, it, READ) == Right::Refused) {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            return reply.verdict();
        }
        let mut expected = Vec::new();
        for (n, id) in near.iter().enumerate().filter(|(n, id)| !near[..*n].contains(id)) {
            let item = self.near.items.get(id).filter(|it| may(person, &self.near, READ, it));
            let Some(far) = item.and_then(|it| it["one"].as_str()) else { continue };
            let shown = self.far.items.get(far).filter(|it| may(person, &self.far, READ, it));
            expected.push((near[n].clone(), far.to_owned(), shown.cloned()));
        }
        let json = reply.json();
        let told = json["results"].as_array().into_iter().flatten().map(|it| {
            let item = it.get("dataItem").map(|it| plain(&it["data"]));
            let far = item.as_ref().map_or(&it["unresolvedReference"]["referencedItemId"], |it| &it["_id"]);
            let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
            (text(&it["referringItemId"]), text(far), item)
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{context}");
        assert_eq!(json["pagingMetadata"]["total"], expected.len(), "{context}");
        reply.verdict()
    }

    /// The items that the person may see through the links of an item that they may see.
    fn through(&self, person: &Person<'_>, near: &str) -> Vec<Value> {
        if !self.near.items.get(near).is_some_and(|it| may(person, &self.near, READ, it)) {
            return Vec::new();
        }
        self.linked_items(person, true, near).into_iter().cloned().collect()
    }

    /// Where the links of an item of one side lead, as far as the person may see.
    pub fn linked_items(&self, person: &Person<'_>, is_near: bool, id: &str) -> Vec<&Value> {
        let ends = self.links.iter().map(|(near, far)| if is_near { (near, far) } else { (far, near) });
        let other = self.side(!is_near);
        let there = ends.filter(|it| it.0 == id).filter_map(|it| other.items.get(it.1));
        there.filter(|it| may(person, other, READ, it)).collect()
    }

    /// With its references, and with theirs, an item shows no more of a collection than a query there would.
    async fn include(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let limit = 1 + random.below(3);
        let (references, tree) = match (is_near, random.below(3)) {
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
        let reply = person.asker.post("/v2/items/query", &body).await;
        let levels = [self.near.levels, self.far.levels];
        let context = self.context(&format!("include {references} {levels:?} {:?}", self.links), person, side, &reply);
        if right(person, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            return reply.verdict();
        }
        let json = reply.json();
        let items = json["dataItems"].as_array().unwrap_or_else(|| panic!("{context}"));
        let shown: Vec<_> = items.iter().map(|it| plain(&it["data"])).collect();
        let readable = side.readable(person).into_iter();
        assert_eq!(
            shown,
            readable.map(|(_, it)| self.composed(person, is_near, it, &tree)).collect::<Vec<_>>(),
            "{context}"
        );
        reply.verdict()
    }

    /// An item with what it refers to, as far as the person may see; the tree says what is wanted.
    pub fn composed(&self, person: &Person<'_>, is_near: bool, item: &Value, tree: &Value) -> Value {
        let mut composed = item.clone();
        let below = |it: &Value, tree: &Value| self.composed(person, !is_near, it, tree);
        for (name, tree) in tree.as_object().into_iter().flatten() {
            match name.as_str() {
                "one" => {
                    let one = item["one"].as_str().and_then(|it| self.far.items.get(it));
                    if let Some(it) = one.filter(|it| may(person, &self.far, READ, it)) {
                        composed["one"] = below(it, tree);
                    }
                }
                "many" | "back" => {
                    let limit = tree["limit"].as_u64().unwrap_or(50) as usize;
                    let id = item["_id"].as_str().unwrap_or_default();
                    let linked = self.linked_items(person, is_near, id).into_iter().take(limit);
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
