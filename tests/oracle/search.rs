//! Searches: what they find, in which order and on which pages, is what their caller may read.

use super::*;

const WORDS: [&str; 5] = ["red", "blue", "car", "boat", "bird"];

/// Some words.
pub fn text(random: &mut Random) -> String {
    (0..1 + random.below(3)).map(|_| WORDS[random.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
}

impl World<'_> {
    /// A page of what words find, in an order or by rank.
    pub async fn search_call(
        &self,
        caller: &Caller<'_>,
        random: &mut Random,
        is_source: bool,
    ) -> (&'static str, String) {
        match random.one_in(2) {
            true => ("search", self.search(caller, random, is_source).await),
            false => ("search by rank", self.search_by_rank(caller, random, is_source).await),
        }
    }

    async fn search(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, search, passes) = self.words(caller, random, is_source);
        let (limit, offset) = (1 + random.below(12), random.below(3));
        let body = json!({ "dataCollectionId": side.id, "search": { "filter": filter, "search": search,
            "sort": pages::sort(), "paging": { "limit": limit, "offset": offset } } });
        self.app.search_caught_up().await;
        let reply = caller.client.post("/v2/items/search", &body).await;
        let context = self.context(&format!("search {body}"), caller, side, &reply);
        if right(caller, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let found = side.found(caller, &passes);
        let shown: Vec<_> = found.iter().skip(offset).take(limit).map(|it| (*it).clone()).collect();
        assert_eq!(items_of(&reply, &context), shown, "{context}");
        assert_eq!(reply.json()["pagingMetadata"]["hasNext"], found.len() > offset + limit, "{context}");
        reply.verdict()
    }

    /// By pages, each by the cursor of the one before it.
    async fn search_by_rank(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, search, passes) = self.words(caller, random, is_source);
        let (limit, mut shown, mut cursor) = (1 + random.below(5), Vec::new(), Value::Null);
        self.app.search_caught_up().await;
        loop {
            let paging = json!({ "limit": limit, "cursor": cursor });
            let body = json!({ "dataCollectionId": side.id,
                "search": { "filter": filter, "search": search, "cursorPaging": paging } });
            let reply = caller.client.post("/v2/items/search", &body).await;
            let context = self.context(&format!("search {body}"), caller, side, &reply);
            if right(caller, side, READ) == Right::Refused {
                assert_eq!(reply.verdict(), refusal(caller), "{context}");
                return reply.verdict();
            }
            shown.extend(items_of(&reply, &context));
            cursor = reply.json()["pagingMetadata"]["cursors"]["next"].clone();
            if cursor.is_null() {
                let mut expected: Vec<Value> = side.found(caller, &passes).into_iter().cloned().collect();
                expected.sort_by_key(|it| it["_id"].to_string());
                shown.sort_by_key(|it| it["_id"].to_string());
                assert_eq!(shown, expected, "{context}");
                return reply.verdict();
            }
        }
    }

    /// A filter, words, and whether an item passes both.
    fn words(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> (Value, Value, Passes) {
        let (filter, passes) = self.question(caller, random, is_source);
        let (expression, is_and) = (text(random), random.one_in(2));
        let search = json!({ "expression": expression, "mode": if is_and { "AND" } else { "OR" } });
        let passes = move |it: &Value| {
            let text = it["text"].as_str().unwrap_or_default();
            let mut held = expression.split(' ').map(|word| text.split(' ').any(|it| it == word));
            passes(it) && if is_and { held.all(|it| it) } else { held.any(|it| it) }
        };
        (filter, search, Box::new(passes))
    }
}

fn items_of(reply: &Reply, context: &str) -> Vec<Value> {
    let json = reply.json();
    let items = json["dataItems"].as_array().unwrap_or_else(|| panic!("{context}"));
    items.iter().map(|it| plain(&it["data"])).collect()
}
