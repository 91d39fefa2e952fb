//! Items in other languages: each caller is shown the texts of items that they may read, and those who work on the site
//! write them for items that they may change.

use super::{
    editions::{Shown, ok},
    search::Frequencies,
    *,
};

const BOOKS: usize = 2;
const WRITTEN: [&str; 3] = ["de", "de-AT", "fr"];
const ASKED: [Option<&str>; 5] = [None, Some("de"), Some("de-AT"), Some("fr-CA"), Some("it")];

on_both_engines! {
    async fn languages_show_and_change_what_the_rules_allow(engine) {
        let app = TestApp::with_nodes(engine, NODES).await;
        let callers = callers(&app).await;
        let _serving = app.searched().await;
        let (fresh, mut tally) = (from_environment().unwrap_or_else(fresh_seed), BTreeMap::new());
        for (seed, books) in [(31_007, 0..BOOKS), (fresh, BOOKS..BOOKS + rounds(BOOKS))] {
            let mut random = Random(seed);
            for number in books {
                let mut book = Book::make(&app, &callers, &mut random, format!("seed {seed}, book {number}")).await;
                for _ in 0..CALLS {
                    let caller = &callers[random.below(callers.len())];
                    *tally.entry(book.call(caller, &mut random).await).or_insert(0) += 1;
                }
            }
        }
        let _ = writeln!(std::io::stdout(), "\noracle of languages on {engine:?}, seed {fresh}: {tally:?}");
    }
}

/// A collection whose texts are translated.
pub struct Book<'a> {
    app: &'a TestApp,
    pub side: Side,
    /// By item and language.
    texts: BTreeMap<String, BTreeMap<&'static str, String>>,
    name: String,
}

impl<'a> Book<'a> {
    pub async fn make(app: &'a TestApp, callers: &[Caller<'_>], random: &mut Random, name: String) -> Self {
        let id = format!("book{}", random.below(1_000_000_000));
        let mut side = Side::open(app, callers, random, id, json!([{ "key": "n", "type": "NUMBER" }])).await;
        let options =
            json!({ "dataCollectionId": side.id, "multilingualOptions": { "translatableFieldKeys": ["text"] } });
        ok(app.app().post("/v2/collections/add-multilingual-plugin", &options).await);
        side.close(app, callers, random).await;
        Self { app, side, texts: BTreeMap::new(), name }
    }

    async fn call(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let call = match random.below(9) {
            0..3 => self.translate(caller, random).await,
            3 => self.write(caller, random).await,
            4 if random.one_in(3) => self.remove(caller, random).await,
            _ => return self.read(caller, random, None).await,
        };
        let everyone = Caller { kind: Kind::App, id: String::new(), client: self.app.app() };
        for language in [None, ASKED[random.below(ASKED.len())]] {
            let query = json!({ "dataCollectionId": self.side.id, "language": language, "query": { "paging": { "limit": 1000 } } });
            let stored = ok(everyone.client.post("/v2/items/query", &query).await);
            let mut stored: Vec<_> =
                stored["dataItems"].as_array().unwrap().iter().map(|it| plain(&it["data"])).collect();
            stored.sort_by_key(|it| it["_id"].to_string());
            let mut expected = self.items(&everyone, language);
            expected.sort_by_key(|it| it["_id"].to_string());
            assert_eq!(stored, expected, "{} after {call} of {:?} in {language:?}", self.name, caller.kind);
        }
        call
    }

    pub async fn read(&self, caller: &Caller<'_>, random: &mut Random, kind: Option<usize>) -> &'static str {
        let language = ASKED[random.below(ASKED.len())];
        let right = right(caller, &self.side, READ);
        let everyone = Caller { kind: Kind::App, id: String::new(), client: self.app.app() };
        let all = self.items(&everyone, language);
        let shown = Shown {
            name: &self.name,
            collection: &self.side.id,
            language,
            environment: None,
            with_drafts: false,
            right,
            items: self.items(caller, language),
            frequencies: (right == Right::All).then(|| Frequencies::of(all.iter())),
        };
        self.app.search_caught_up().await;
        shown.read(caller, random, kind).await
    }

    /// What a caller may read, as it is shown in a language.
    fn items(&self, caller: &Caller<'_>, language: Option<&str>) -> Vec<Value> {
        let shown = |(id, item): (&String, &Value)| {
            let mut item = item.clone();
            if let Some(text) = self.text(id, language) {
                item["text"] = text.into();
            }
            item
        };
        self.side.readable(caller).into_iter().map(shown).collect()
    }

    /// The nearest translation of a text.
    fn text(&self, id: &str, language: Option<&str>) -> Option<&str> {
        let texts = self.texts.get(id)?;
        let lookup: &[&str] = match language? {
            "de" => &["de"],
            "de-AT" => &["de-AT", "de"],
            "fr" | "fr-CA" => &["fr"],
            _ => &[],
        };
        lookup.iter().find_map(|it| texts.get(it)).map(String::as_str)
    }

    /// Writes a text in a language, whole or by a patch.
    async fn translate(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let (id, language, text) = (self.side.any_id(random), WRITTEN[random.below(3)], search::text(random));
        let is_whole = random.one_in(2);
        let set = json!({ "fieldPath": "text", "action": "SET_FIELD", "setFieldOptions": { "value": text } });
        let (path, mut body) = match is_whole {
            true => ("/v2/items/update", json!({ "dataItem": { "id": id, "data": { "_id": id, "text": text } } })),
            false => ("/v2/items/patch", json!({ "patch": { "dataItemId": id, "fieldModifications": [set] } })),
        };
        body["dataCollectionId"] = self.side.id.as_str().into();
        body["language"] = language.into();
        let reply = caller.client.post(path, &body).await;
        let context = format!("{}: {body} of {:?} {}: {:?}", self.name, caller.kind, caller.id, reply.body);
        let works_here = matches!(caller.kind, Kind::Editor | Kind::Owner | Kind::App);
        match self.side.items.get(&id) {
            _ if !works_here || right(caller, &self.side, UPDATE) == Right::Refused => {
                assert_eq!(reply.verdict(), refusal(caller), "{context}");
            }
            Some(it) if may(caller, &self.side, UPDATE, it) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                let shown = plain(&reply.json()["dataItem"]["data"]);
                // Who may not read is shown no more than they sent.
                let is_shown = may(caller, &self.side, READ, it);
                assert!(shown["text"] == text.as_str() || !is_shown && shown.get("text").is_none(), "{context}");
                assert!(is_shown || shown.get("n").is_none() && shown.get("mark").is_none(), "{context}");
                // What would be shown anyway is no translation, unless there is one.
                let has_own = self.texts.get(&id).is_some_and(|it| it.contains_key(language));
                let anyway = self.text(&id, Some(language)).map_or_else(|| it["text"].clone(), Value::from);
                if !is_whole || has_own || anyway != text.as_str() {
                    self.texts.entry(id).or_default().insert(language, text);
                }
            }
            _ => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        "translate"
    }

    /// Writes the primary text, or a new item.
    async fn write(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let id = format!("i{}", random.below(12));
        let data = self.side.data(random, &id);
        let body = json!({ "dataCollectionId": self.side.id, "dataItem": { "id": id, "data": data } });
        let reply = caller.client.post("/v2/items/save", &body).await;
        let old = self.side.items.get(&id);
        let may_write = match old {
            Some(it) => may(caller, &self.side, UPDATE, it),
            None => matches!(right(caller, &self.side, INSERT), Right::All | Right::Own),
        };
        assert_eq!(reply.verdict() == "200", may_write, "{}: {body} of {:?}: {:?}", self.name, caller.kind, reply.body);
        if may_write {
            let owner = old.map_or_else(|| caller.id.clone(), calls::owner);
            let mut item = data;
            if !owner.is_empty() {
                item["_owner"] = owner.into();
            }
            self.side.items.insert(id, item);
        }
        "write"
    }

    async fn remove(&mut self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let id = self.side.any_id(random);
        let body = json!({ "dataCollectionId": self.side.id, "dataItemId": id });
        let reply = caller.client.post("/v2/items/remove", &body).await;
        let may_remove = self.side.items.get(&id).is_some_and(|it| may(caller, &self.side, REMOVE, it));
        assert_eq!(
            reply.verdict() == "200",
            may_remove,
            "{}: {body} of {:?}: {:?}",
            self.name,
            caller.kind,
            reply.body
        );
        if may_remove {
            self.side.items.remove(&id);
            self.texts.remove(&id);
        }
        "remove"
    }
}
