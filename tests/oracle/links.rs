//! Calls on references: who may link what, and whose items show through a link.

use super::*;

impl World<'_> {
    pub async fn link_call(&mut self, person: &Person<'_>, random: &mut Random) -> (&'static str, String) {
        match random.below(6) {
            0 | 1 => ("insert reference", self.link(person, random).await),
            2 => ("remove reference", self.unlink(person, random).await),
            3 => ("replace references", self.relink(person, random).await),
            4 => ("query referenced", self.referenced(person, random).await),
            _ => ("include references", self.include(person).await),
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

    fn linked(&self, near: &Value) -> Vec<String> {
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
            self.links.retain(|it| *it != (near.clone(), far.clone()));
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
            self.links.retain(|it| it.0 != near);
            self.links.extend(far.into_iter().map(|it| (near.clone(), it)));
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

    /// The items that the person may see through the links of an item.
    fn through(&self, person: &Person<'_>, near: &str) -> Vec<Value> {
        if !self.near.items.get(near).is_some_and(|it| may(person, &self.near, READ, it)) {
            return Vec::new();
        }
        let far = self.linked(&near.into()).into_iter().filter_map(|it| self.far.items.get(&it));
        far.filter(|it| may(person, &self.far, READ, it)).cloned().collect()
    }

    /// With its references, an item shows no more of the other collection than a query there would.
    async fn include(&self, person: &Person<'_>) -> String {
        let body = json!({ "dataCollectionId": self.near.id, "includeReferences": [{ "field": "one" }, { "field": "many" }],
            "query": { "sort": [{ "fieldName": "_id" }] } });
        let reply = person.asker.post("/v2/items/query", &body).await;
        let context = self.context(&format!("include {:?}", self.far.levels), person, &self.near, &reply);
        if right(person, &self.near, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(person), "{context}");
            return reply.verdict();
        }
        let json = reply.json();
        let items = json["dataItems"].as_array().unwrap_or_else(|| panic!("{context}"));
        let readable = self.near.readable(person);
        assert_eq!(items.len(), readable.len(), "{context}");
        for (shown, (id, item)) in items.iter().zip(readable) {
            let shown = &shown["data"];
            let one = item["one"].as_str().and_then(|it| self.far.items.get(it));
            match one.filter(|it| may(person, &self.far, READ, it)) {
                Some(it) => assert_eq!(plain(&shown["one"]), *it, "{context}"),
                None => assert_eq!(shown["one"], item["one"], "{context}"),
            }
            let expected: Vec<_> = self.through(person, id);
            let many = shown["many"].as_array().into_iter().flatten().map(plain).collect::<Vec<_>>();
            assert_eq!(many, expected, "{context}");
        }
        reply.verdict()
    }
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|it| it["_id"].as_str().unwrap_or_default().to_owned()).collect()
}
