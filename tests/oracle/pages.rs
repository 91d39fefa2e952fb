//! Walks by cursor. A cursor is a question and a place, never a permission: who comes with one sees what
//! they may see now, whoever began the walk and whatever was allowed then.

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

/// How a walk is asked and answered: the call, and the member of the answer that the page is in.
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
        person: &Person<'_>,
        people: &[Person<'_>],
        random: &mut Random,
        is_near: bool,
    ) -> (&'static str, String) {
        match random.below(7) {
            0 | 1 => ("walk", self.walk_items(person, random, is_near).await),
            2 => ("walk through values", self.walk_values(person, random, is_near).await),
            3 => ("walk through links", self.walk_links(person, random, is_near).await),
            _ => ("go on elsewhere", self.go_on(person, people, random, is_near).await),
        }
    }

    async fn walk_items(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let (filter, passes) = self.filter(person, random, is_near);
        let limit = 1 + random.below(4);
        let begin = json!({ "dataCollectionId": side.id, "returnTotalCount": true,
            "query": { "filter": filter, "sort": sort(), "cursorPaging": { "limit": limit } } });
        let found = side.found(person, &passes).into_iter().cloned().collect();
        let is_refused = right(person, side, READ) == Right::Refused;
        self.there_and_back(person, side, &QUERY, (begin, limit), found, is_refused).await
    }

    async fn walk_values(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let side = self.side(is_near);
        let (filter, passes) = self.filter(person, random, is_near);
        let (limit, falls) = (1 + random.below(2), random.one_in(2));
        let order = if falls { "DESC" } else { "ASC" };
        let begin = json!({ "dataCollectionId": side.id, "fieldName": "n", "filter": filter, "order": order,
            "returnTotalCount": true, "cursorPaging": { "limit": limit } });
        let mut values: Vec<_> = side.found(person, &passes).into_iter().map(|it| it["n"].as_u64()).collect();
        values.dedup();
        if !falls {
            values.reverse();
        }
        let is_refused = right(person, side, READ) == Right::Refused;
        let values = values.into_iter().map(Value::from).collect();
        self.there_and_back(person, side, &DISTINCT, (begin, limit), values, is_refused).await
    }

    /// Of one item, or of several together: then in the order in which all of their links were made.
    async fn walk_links(&self, person: &Person<'_>, random: &mut Random, is_near: bool) -> String {
        let (side, other) = (self.side(is_near), self.side(!is_near));
        let field = if is_near { "many" } else { "back" };
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
        for (near, far) in &self.links {
            let (here, there) = if is_near { (near, far) } else { (far, near) };
            let may_read = |side: &Side, id: &String| side.items.get(id).is_some_and(|it| may(person, side, READ, it));
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
        let is_refused = [side, other].iter().any(|it| right(person, it, READ) == Right::Refused);
        self.there_and_back(person, side, &REFERENCED, (begin, limit), found, is_refused).await
    }

    /// Walks to the end and back again: each way meets everything that is expected, once and in order.
    async fn there_and_back(
        &self,
        person: &Person<'_>,
        side: &Side,
        way: &Way,
        (begin, limit): (Value, usize),
        expected: Vec<Value>,
        is_refused: bool,
    ) -> String {
        let first = person.asker.post(way.path, &begin).await;
        let context = self.context(&format!("walk {begin}"), person, side, &first);
        if is_refused {
            assert_eq!(first.verdict(), refusal(person), "{context}");
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
                let reply = person.asker.post(way.path, &way.go_on(&side.id, cursor, limit)).await;
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

    /// A walk that somebody begins and perhaps another goes on with, while levels or owners change.
    async fn go_on(
        &mut self,
        person: &Person<'_>,
        people: &[Person<'_>],
        random: &mut Random,
        is_near: bool,
    ) -> String {
        let side = self.side(is_near);
        // Without links: whose these are is not told by the item, and the other may know of others.
        let n = random.below(4) as u64;
        let begin = json!({ "dataCollectionId": side.id, "query": { "filter": { "n": { "$lte": n } }, "sort": sort(),
            "cursorPaging": { "limit": 1 + random.below(2) } } });
        let first = person.asker.post(QUERY.path, &begin).await;
        if right(person, side, READ) == Right::Refused {
            assert_eq!(first.verdict(), refusal(person));
            return first.verdict();
        }
        let page = first.json();
        let Some(cursor) = page["pagingMetadata"]["cursors"]["next"].as_str() else { return first.verdict() };
        let last = QUERY.shown(&page).last().map(rank);
        let ask = QUERY.go_on(&side.id, cursor, 50);
        match random.below(4) {
            0 => self.change_levels(random, is_near).await,
            1 | 2 => self.change_owners(people, random, is_near).await,
            _ => {}
        }
        let other = if random.one_in(3) { person } else { &people[random.below(people.len())] };
        let side = self.side(is_near);
        let reply = other.asker.post(QUERY.path, &ask).await;
        let context = self.context(&format!("go on after {last:?} of {:?}", person.kind), other, side, &reply);
        if other.kind.of_cursors() != person.kind.of_cursors() {
            let expected = if other.kind == Kind::Nobody { refusal(other) } else { "400 WDE0151" };
            assert_eq!(reply.verdict(), expected, "{context}");
        } else if right(other, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(other), "{context}");
        } else {
            let rest: Passes = Box::new(move |it| it["n"].as_u64() <= Some(n) && Some(rank(it)) > last);
            assert_eq!(
                QUERY.shown(&reply.json()),
                side.found(other, &rest).into_iter().cloned().collect::<Vec<_>>(),
                "{context}"
            );
        }
        reply.verdict()
    }

    /// New levels for a collection; special permissions stay.
    async fn change_levels(&mut self, random: &mut Random, is_near: bool) {
        let levels = [(); 4].map(|()| LEVELS[random.below(5)]);
        let side = if is_near { &mut self.near } else { &mut self.far };
        side.levels = levels;
        side.close(self.app).await;
    }

    /// Some items become another's.
    async fn change_owners(&mut self, people: &[Person<'_>], random: &mut Random, is_near: bool) {
        for _ in 0..3 {
            let app = people.iter().find(|it| it.kind == Kind::App).unwrap();
            self.give(app, people, random, is_near).await;
        }
    }
}

impl Kind {
    /// Kinds that cursors tell apart.
    fn of_cursors(self) -> Self {
        if self == Self::Owner { Self::Editor } else { self }
    }
}
