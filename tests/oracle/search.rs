//! Searches: what they find, in which order and on which pages, is what their caller may read.

use super::*;
use std::rc::Rc;

const WORDS: [&str; 5] = ["red", "blue", "car", "boat", "bird"];

/// What a search asks for.
pub struct Words {
    pub asked: Vec<String>,
    is_and: bool,
}

/// How many items there are, and how many hold each word.
pub struct Frequencies {
    items: usize,
    holding: BTreeMap<String, usize>,
}

impl Frequencies {
    pub fn of<'i>(items: impl Iterator<Item = &'i Value>) -> Self {
        let mut all = Self { items: 0, holding: BTreeMap::new() };
        for it in items {
            all.items += 1;
            let mut words: Vec<_> = words_of(it).collect();
            words.sort_unstable();
            words.dedup();
            words.into_iter().for_each(|it| *all.holding.entry(it.to_owned()).or_default() += 1);
        }
        all
    }

    /// How many items hold a word.
    pub fn holding(&self, word: &str) -> usize {
        self.holding.get(word).copied().unwrap_or_default()
    }

    /// 16 for a word that all items hold, and 16 more for each time that half as many do.
    fn rarity(&self, word: &str) -> u64 {
        let holding = self.holding.get(word).copied().unwrap_or(1) as u64;
        let times = 16 * self.items as u64 / holding;
        u64::from(16 * times.ilog2()) + ((times << 4 >> times.ilog2()) & 15) - 48
    }
}

fn words_of(item: &Value) -> impl Iterator<Item = &str> {
    item["text"].as_str().unwrap_or_default().split(' ')
}

impl Words {
    /// As the wire has it, and as it is read here.
    pub fn random(random: &mut Random) -> (Value, Self) {
        let (expression, is_and) = (text(random), random.one_in(2));
        let mut asked: Vec<_> = expression.split(' ').map(str::to_owned).collect();
        asked.sort_unstable();
        asked.dedup();
        let search = json!({ "expression": expression, "mode": if is_and { "AND" } else { "OR" } });
        (search, Self { asked, is_and })
    }

    pub fn of(asked: &[&str]) -> Self {
        Self { asked: asked.iter().map(|it| (*it).to_owned()).collect(), is_and: false }
    }

    pub fn are_in(&self, item: &Value) -> bool {
        let mut held = self.asked.iter().map(|word| words_of(item).any(|it| it == word));
        if self.is_and { held.all(|it| it) } else { held.any(|it| it) }
    }

    /// The best come first: who sees some items alone is told nothing of the others by the order.
    pub fn check_order(&self, shown: &[Value], frequencies: Option<&Frequencies>, context: &str) {
        let ranks: Vec<_> = shown.iter().map(|it| self.rank(it, frequencies)).collect();
        assert!(ranks.is_sorted_by(|a, b| a >= b), "{ranks:?} {context}");
    }

    /// How many of the words an item holds, and how much they matter in it.
    fn rank(&self, item: &Value, frequencies: Option<&Frequencies>) -> (usize, u64) {
        let length = words_of(item).count() as u64;
        let scores = self.asked.iter().filter_map(|word| {
            let often = 16 * words_of(item).filter(|it| it == word).count() as u64;
            let impact = 110 * often / (often + 4 + 2 * length);
            (often > 0).then(|| impact * frequencies.map_or(16, |it| it.rarity(word)))
        });
        let scores: Vec<_> = scores.collect();
        (scores.len(), scores.iter().sum())
    }
}

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

    pub async fn search(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, search, passes, _) = self.words(caller, random, is_source);
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
    pub async fn search_by_rank(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, search, passes, words) = self.words(caller, random, is_source);
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
                // Who sees all items is told how rare a word is.
                let sees_all = right(caller, side, READ) == Right::All;
                let frequencies = sees_all.then(|| Frequencies::of(side.items.values()));
                words.check_order(&shown, frequencies.as_ref(), &context);
                expected.sort_by_key(|it| it["_id"].to_string());
                shown.sort_by_key(|it| it["_id"].to_string());
                assert_eq!(shown, expected, "{context}");
                return reply.verdict();
            }
        }
    }

    /// A filter, words, and whether an item passes both.
    pub fn words(
        &self,
        caller: &Caller<'_>,
        random: &mut Random,
        is_source: bool,
    ) -> (Value, Value, Passes, Rc<Words>) {
        let (filter, passes) = self.question(caller, random, is_source);
        let (search, words) = Words::random(random);
        let words = Rc::new(words);
        let held = words.clone();
        (filter, search, Box::new(move |it: &Value| passes(it) && held.are_in(it)), words)
    }
}

fn items_of(reply: &Reply, context: &str) -> Vec<Value> {
    let json = reply.json();
    let items = json["dataItems"].as_array().unwrap_or_else(|| panic!("{context}"));
    items.iter().map(|it| plain(&it["data"])).collect()
}
