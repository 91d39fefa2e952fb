//! Walks by cursor. A cursor is a question and a place, never a permission: who comes with one sees what
//! they may see now, no matter who began the pagination and whatever was allowed then.

use super::*;

/// More pages than there can be.
const MOST_PAGES: usize = 50;

/// What pages of items are sorted by.
pub fn sort() -> Value {
    json!([{ "fieldName": "n", "order": "DESC" }, { "fieldName": "_id" }])
}

/// Where an item stands in that order.
pub fn rank(item: &Value) -> (std::cmp::Reverse<Option<u64>>, String) {
    (std::cmp::Reverse(item["n"].as_u64()), item["_id"].as_str().unwrap_or_default().to_owned())
}

/// How pages are requested and answered: the call, and the member of the answer that the page is in.
struct Way {
    path: &'static str,
    elements: &'static str,
}

const QUERY: Way = Way { path: "/v2/items/query", elements: "dataItems" };
const DISTINCT: Way = Way { path: "/v2/items/query-distinct-values", elements: "distinctValues" };
const REFERENCED: Way = Way { path: "/v2/items/query-referenced", elements: "results" };

impl Way {
    /// The request of a page by its cursor: it repeats nothing of the question.
    fn go_on(&self, collection: &str, cursor: &str, limit: usize) -> Value {
        let paging = json!({ "cursor": cursor, "limit": limit });
        match self.elements {
            "dataItems" => {
                json!({ "dataCollectionId": collection, "query": { "filter": {}, "sort": [], "cursorPaging": paging } })
            }
            _ => json!({ "dataCollectionId": collection, "cursorPaging": paging }),
        }
    }

    /// What a page shows.
    fn shown(&self, page: &Value) -> Vec<Value> {
        let elements = page[self.elements].as_array().unwrap_or_else(|| panic!("{page}")).iter();
        elements.map(|it| it.get("data").map_or_else(|| plain(it), plain)).collect()
    }
}

impl World<'_> {
    pub async fn page_call(
        &mut self,
        caller: &Caller<'_>,
        callers: &[Caller<'_>],
        random: &mut Random,
        is_source: bool,
    ) -> (&'static str, String) {
        match random.below(7) {
            0 | 1 => ("walk", self.page_items(caller, random, is_source).await),
            2 => ("walk through values", self.page_values(caller, random, is_source).await),
            3 => ("walk through links", self.page_links(caller, random, is_source).await),
            _ => ("go on elsewhere", self.go_on(caller, callers, random, is_source).await),
        }
    }

    async fn page_items(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, passes) = self.question(caller, random, is_source);
        let limit = 1 + random.below(4);
        let begin = json!({ "dataCollectionId": side.id, "returnTotalCount": true,
            "query": { "filter": filter, "sort": sort(), "cursorPaging": { "limit": limit } } });
        let found = side.found(caller, &passes).into_iter().cloned().collect();
        let is_refused = right(caller, side, READ) == Right::Refused;
        self.there_and_back(caller, side, &QUERY, (begin, limit), found, is_refused).await
    }

    async fn page_values(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, passes) = self.question(caller, random, is_source);
        let (limit, falls) = (1 + random.below(2), random.one_in(2));
        let order = if falls { "DESC" } else { "ASC" };
        let begin = json!({ "dataCollectionId": side.id, "fieldName": "n", "filter": filter, "order": order,
            "returnTotalCount": true, "cursorPaging": { "limit": limit } });
        let mut values: Vec<_> = side.found(caller, &passes).into_iter().map(|it| it["n"].as_u64()).collect();
        values.dedup();
        if !falls {
            values.reverse();
        }
        let is_refused = right(caller, side, READ) == Right::Refused;
        let values = values.into_iter().map(Value::from).collect();
        self.there_and_back(caller, side, &DISTINCT, (begin, limit), values, is_refused).await
    }

    /// Of one item, or of several together: then in the order in which all of their links were made.
    async fn page_links(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let (side, other) = (self.side(is_source), self.side(!is_source));
        let field = if is_source { "many" } else { "back" };
        let limit = 1 + random.below(3);
        let mut begin = json!({ "dataCollectionId": side.id, "referringItemFieldName": field,
            "returnTotalCount": true, "cursorPaging": { "limit": limit } });
        let several = random.one_in(2);
        let items: Vec<_> = (0..if several { 4 } else { 1 }).map(|_| side.any_id(random)).collect();
        match several {
            true => begin["referringItemIds"] = items.clone().into(),
            false => begin["referringItemId"] = items[0].clone().into(),
        }
        let mut found = Vec::new();
        for (source, target) in &self.links {
            let (here, there) = if is_source { (source, target) } else { (target, source) };
            let may_read = |side: &Side, id: &String| side.items.get(id).is_some_and(|it| may(caller, side, READ, it));
            if items.contains(here) && may_read(side, here) && may_read(other, there) {
                let item = json!({ "id": there, "dataCollectionId": other.id, "data": other.items[there] });
                found.push(match several {
                    true => json!({ "referringItemId": here, "dataItem": item }),
                    false => json!({ "dataItem": item }),
                });
            }
        }
        if random.one_in(2) {
            begin["order"] = "DESC".into();
            found.reverse();
        }
        let is_refused = [side, other].iter().any(|it| right(caller, it, READ) == Right::Refused);
        self.there_and_back(caller, side, &REFERENCED, (begin, limit), found, is_refused).await
    }

    /// Walks to the end and back again: each way meets everything that is expected, once and in order.
    async fn there_and_back(
        &self,
        caller: &Caller<'_>,
        side: &Side,
        way: &Way,
        (begin, limit): (Value, usize),
        expected: Vec<Value>,
        is_refused: bool,
    ) -> String {
        let first = caller.client.post(way.path, &begin).await;
        let context = self.context(&format!("walk {begin}"), caller, side, &first);
        if is_refused {
            assert_eq!(first.verdict(), refusal(caller), "{context}");
            return first.verdict();
        }
        let (mut page, verdict) = (first.json(), first.verdict());
        assert_eq!(page["pagingMetadata"]["total"], expected.len(), "{context}");
        let mut forward = way.shown(&page);
        let mut back = forward.clone();
        for direction in ["next", "prev"] {
            for n in 0.. {
                assert!(n < MOST_PAGES, "no end, {direction}: {context}");
                let metadata = &page["pagingMetadata"];
                assert_eq!(metadata["hasNext"] == true, metadata["cursors"]["next"].is_string(), "{context}");
                let Some(cursor) = metadata["cursors"][direction].as_str() else { break };
                let reply = caller.client.post(way.path, &way.go_on(&side.id, cursor, limit)).await;
                assert_eq!(reply.verdict(), "200", "{direction}: {context}");
                page = reply.json();
                let shown = way.shown(&page);
                match direction {
                    "next" => {
                        forward.extend(shown.clone());
                        back = shown;
                    }
                    _ => back = [shown, back].concat(),
                }
            }
        }
        assert_eq!(forward, expected, "{context}");
        assert_eq!(back, expected, "back: {context}");
        verdict
    }

    /// Pages that one caller begins and perhaps another continues, while levels or owners change.
    async fn go_on(
        &mut self,
        caller: &Caller<'_>,
        callers: &[Caller<'_>],
        random: &mut Random,
        is_source: bool,
    ) -> String {
        let side = self.side(is_source);
        // Without links: whose these are is not shown by the item, and the other may know of others.
        let n = random.below(4) as u64;
        let begin = json!({ "dataCollectionId": side.id, "query": { "filter": { "n": { "$lte": n } }, "sort": sort(),
            "cursorPaging": { "limit": 1 + random.below(2) } } });
        let first = caller.client.post(QUERY.path, &begin).await;
        if right(caller, side, READ) == Right::Refused {
            assert_eq!(first.verdict(), refusal(caller));
            return first.verdict();
        }
        let page = first.json();
        let Some(cursor) = page["pagingMetadata"]["cursors"]["next"].as_str() else { return first.verdict() };
        let last = QUERY.shown(&page).last().map(rank);
        let ask = QUERY.go_on(&side.id, cursor, 50);
        match random.below(4) {
            0 => self.change_levels(random, is_source).await,
            1 | 2 => self.change_owners(callers, random, is_source).await,
            _ => {}
        }
        let other = if random.one_in(3) { caller } else { &callers[random.below(callers.len())] };
        let side = self.side(is_source);
        let reply = other.client.post(QUERY.path, &ask).await;
        let context = self.context(&format!("go on after {last:?} of {:?}", caller.kind), other, side, &reply);
        if other.kind.of_cursors() != caller.kind.of_cursors() {
            // Who may read nothing reaches no hook: their right is looked at before the cursor.
            let is_refused = right(other, side, READ) == Right::Refused;
            let expected = if other.kind == Kind::Anonymous || is_refused { refusal(other) } else { "400 WDE0151" };
            assert_eq!(reply.verdict(), expected, "{context}");
        } else if right(other, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(other), "{context}");
        } else {
            let is_widened = self.has_hooks;
            let rest: Passes = Box::new(move |it| (is_widened || it["n"].as_u64() <= Some(n)) && Some(rank(it)) > last);
            assert_eq!(
                QUERY.shown(&reply.json()),
                side.found(other, &rest).into_iter().cloned().collect::<Vec<_>>(),
                "{context}"
            );
        }
        reply.verdict()
    }

    /// New levels for a collection; special permissions stay.
    async fn change_levels(&mut self, random: &mut Random, is_source: bool) {
        let levels = [(); 4].map(|()| LEVELS[random.below(5)]);
        let side = if is_source { &mut self.source } else { &mut self.target };
        side.levels = levels;
        side.set_levels(self.app).await;
    }

    /// Some items become another's.
    async fn change_owners(&mut self, callers: &[Caller<'_>], random: &mut Random, is_source: bool) {
        for _ in 0..3 {
            let app = callers.iter().find(|it| it.kind == Kind::App).unwrap();
            self.give(app, callers, random, is_source).await;
        }
    }
}

impl Kind {
    /// Kinds that cursors tell apart.
    fn of_cursors(self) -> Self {
        if self == Self::Owner { Self::Editor } else { self }
    }
}
