//! Highlights and suggestions of searches: texts of items that their caller is shown and nothing else, and words for those
//! who may read every item.

use super::{search::Frequencies, *};

/// Words that are in no item, and those that are meant by them.
const MISTYPED: [(&str, &str); 5] =
    [("rde", "red"), ("bleu", "blue"), ("cra", "car"), ("bota", "boat"), ("bidr", "bird")];

/// What is typed, and what is meant by it.
pub fn mistyped(random: &mut Random) -> (&'static str, &'static str) {
    MISTYPED[random.below(MISTYPED.len())]
}

/// The highlights of a page are those of the items that its caller is shown, in their order.
pub fn check_highlights<'i>(page: &Value, asked: &[String], items: impl Iterator<Item = &'i Value>, context: &str) {
    let shown: Vec<_> = page["dataItems"].as_array().unwrap().iter().map(|it| it["highlights"].clone()).collect();
    let expected: Vec<_> = items.map(|it| highlights(asked, it)).collect();
    assert_eq!(shown, expected, "highlights: {context}");
}

/// `holding`: how many items hold each word, where the caller may be told.
pub fn check_suggestions(page: &Value, typed: (&str, &str), holding: Option<&Frequencies>, context: &str) {
    let expected = holding.map(|it| suggestions(typed, it.holding(typed.1)));
    assert_eq!(page.get("suggestions"), expected.as_ref(), "suggestions: {context}");
}

/// The words of an item's text that are asked for, and all between them.
fn highlights(asked: &[String], item: &Value) -> Value {
    let (mut parts, mut between) = (Vec::new(), String::new());
    let mut put = |text: String, is_match: bool| {
        if !text.is_empty() {
            parts.push(json!({ "text": text, "isMatch": is_match }));
        }
    };
    let mut is_found = false;
    for (n, word) in item["text"].as_str().unwrap_or_default().split(' ').enumerate() {
        between.push_str(if n > 0 { " " } else { "" });
        if asked.iter().any(|it| it == word) {
            is_found = true;
            put(std::mem::take(&mut between), false);
            put(word.to_owned(), true);
        } else {
            between.push_str(word);
        }
    }
    put(between, false);
    match is_found {
        true => {
            json!([{ "fieldName": "text", "fragments": [{ "parts": parts, "hasTextBefore": false, "hasTextAfter": false }] }])
        }
        false => json!([]),
    }
}

fn suggestions((typed, meant): (&str, &str), items: usize) -> Value {
    match items {
        0 => json!({ "words": [] }),
        _ => json!({ "expression": meant,
            "words": [{ "word": typed, "alternatives": [{ "word": meant, "itemCount": items }] }] }),
    }
}

impl World<'_> {
    /// A search that asks for more than items.
    pub async fn extras_call(
        &self,
        caller: &Caller<'_>,
        random: &mut Random,
        is_source: bool,
    ) -> (&'static str, String) {
        match random.one_in(2) {
            true => ("search with highlights", self.highlight(caller, random, is_source).await),
            false => ("search with suggestions", self.suggest(caller, random, is_source).await),
        }
    }

    pub async fn highlight(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, search, passes, words) = self.words(caller, random, is_source);
        let search = json!({ "filter": filter, "search": search, "highlight": {}, "sort": pages::sort() });
        let body = json!({ "dataCollectionId": side.id, "search": search });
        let (reply, context) = self.ask_for_more(caller, side, &body).await;
        if reply.status.is_success() {
            let found = side.found(caller, &passes);
            check_highlights(&reply.json(), &words.asked, found.into_iter(), &context);
        }
        reply.verdict()
    }

    pub async fn suggest(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let (side, typed) = (self.side(is_source), mistyped(random));
        let search = json!({ "search": { "expression": typed.0 } });
        let body = json!({ "dataCollectionId": side.id, "search": search, "returnSuggestions": true });
        let (reply, context) = self.ask_for_more(caller, side, &body).await;
        if reply.status.is_success() {
            // Code of the site may show fewer items than the rules.
            let is_told = right(caller, side, READ) == Right::All && !self.has_hooks;
            let holding = is_told.then(|| Frequencies::of(side.items.values()));
            check_suggestions(&reply.json(), typed, holding.as_ref(), &context);
        }
        reply.verdict()
    }

    async fn ask_for_more(&self, caller: &Caller<'_>, side: &Side, body: &Value) -> (Reply, String) {
        self.app.search_caught_up().await;
        let reply = caller.client.post("/v2/items/search", body).await;
        let context = self.context(&format!("search {body}"), caller, side, &reply);
        let expected = if right(caller, side, READ) == Right::Refused { refusal(caller) } else { "200" };
        assert_eq!(reply.verdict(), expected, "{context}");
        (reply, context)
    }
}

#[test]
fn leaks_are_found() {
    let words = ["red".to_owned(), "car".to_owned()];
    let items = [json!({ "text": "red bird" }), json!({ "text": "boat" })];
    let page = |highlights: Value| json!({ "dataItems": [{ "highlights": highlights }, { "highlights": [] }] });
    let field = |name: &str, parts: Value| json!([{ "fieldName": name, "fragments": [{ "parts": parts, "hasTextBefore": false, "hasTextAfter": false }] }]);
    let red = json!({ "text": "red", "isMatch": true });
    let sound = json!([red, { "text": " bird", "isMatch": false }]);
    let is_refused = |highlights: Value| {
        let check = || check_highlights(&page(highlights), &words, items.iter(), "planted");
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err()
    };
    assert!(!is_refused(field("text", sound.clone())));
    for wrong in [
        json!([]),
        field("hush", sound),
        field("text", json!([red, { "text": " bird", "isMatch": true }])),
        field("text", json!([red, { "text": " bird not a word of this", "isMatch": false }])),
    ] {
        assert!(is_refused(wrong.clone()), "{wrong}");
    }

    let held = Frequencies::of(items.iter());
    let told = json!({ "suggestions": suggestions(("rde", "red"), 1) });
    let is_refused = |page: &Value, holding: Option<&Frequencies>| {
        let check = || check_suggestions(page, ("rde", "red"), holding, "planted");
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err()
    };
    assert!(!is_refused(&told, Some(&held)) && !is_refused(&json!({}), None));
    assert!(is_refused(&told, None), "who may not read all is told");
    assert!(is_refused(&json!({ "suggestions": suggestions(("rde", "red"), 2) }), Some(&held)), "another number");
    assert!(is_refused(&json!({ "suggestions": suggestions(("rde", "rod"), 1) }), Some(&held)), "another word");
}
