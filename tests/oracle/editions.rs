//! Items of which there is more than one edition: in other languages, and as drafts. Whatever reads them shows each caller
//! the edition that the rules give them, of items that they may read, and nothing else of any other.

use super::*;

/// The paths of the kinds of calls that read, by number.
pub const PATHS: [&str; 12] = [
    "/v2/items/i",
    "/v2/items/query ",
    "/v2/items/count",
    "/v2/items/query-distinct-values",
    "/v2/items/aggregate-pipeline",
    "/graphql/v1",
    "/v2/items/search",
    "/v2/items/search",
    "/v2/items/aggregate ",
    "/v2/items/query ",
    "/v2/items/search",
    "/v2/items/search",
];

/// What each call that reads must tell a caller.
pub struct Shown<'w> {
    pub name: &'w str,
    pub collection: &'w str,
    /// The language of the calls.
    pub language: Option<&'static str>,
    /// What they say of the environment.
    pub environment: Option<&'static str>,
    /// Whether they are about drafts too.
    pub with_drafts: bool,
    pub right: Right,
    /// The items as they are shown.
    pub items: Vec<Value>,
    /// How many items there are and hold each word, for the caller or not; nothing where that must not count, or be told.
    pub frequencies: Option<search::Frequencies>,
}

impl Shown<'_> {
    /// One call of a kind, or of any.
    pub async fn read(&self, caller: &Caller<'_>, random: &mut Random, kind: Option<usize>) -> &'static str {
        match kind.unwrap_or_else(|| random.below(PATHS.len())) {
            0 => self.get(caller, random).await,
            1 => self.query(caller, random).await,
            2 => self.count(caller, random).await,
            3 => self.distinct(caller, random).await,
            4 => self.pipeline(caller, random).await,
            5 => self.graphql(caller, random).await,
            6 => self.search(caller, random).await,
            7 => self.search_by_rank(caller, random).await,
            8 => self.aggregate(caller, random).await,
            9 => self.query_by_cursor(caller, random).await,
            10 => self.highlights(caller, random).await,
            _ => self.suggestions(caller, random).await,
        }
    }

    /// Sends a body with what the calls are about; nothing where it was refused, as it must have been.
    async fn ask(&self, caller: &Caller<'_>, path: &str, mut body: Value) -> Option<(Value, String)> {
        if let Some(it) = self.language {
            body["language"] = it.into();
        }
        if let Some(it) = self.environment {
            body["environment"] = it.into();
        }
        match path.ends_with("aggregate-pipeline") {
            _ if !self.with_drafts => {}
            true => body["showDrafts"] = true.into(),
            false => body["publishPluginOptions"] = json!({ "includeDraftItems": true }),
        }
        self.send(caller, path, body).await
    }

    async fn send(&self, caller: &Caller<'_>, path: &str, mut body: Value) -> Option<(Value, String)> {
        body["dataCollectionId"] = self.collection.into();
        let reply = caller.client.post(path, &body).await;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let context = format!("{}: {path} {body} of {:?} {}: {text}", self.name, caller.kind, caller.id);
        if self.right == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return None;
        }
        assert_eq!(reply.verdict(), "200", "{context}");
        Some((reply.json(), context))
    }

    async fn get(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let id = format!("i{}", random.below(12));
        let mut path = format!("/v2/items/{id}?dataCollectionId={}", self.collection);
        if let Some(it) = self.language {
            path.push_str(&format!("&language={it}"));
        }
        if let Some(it) = self.environment {
            path.push_str(&format!("&environment={it}"));
        }
        if self.with_drafts {
            path.push_str("&publishPluginOptions.includeDraftItems=true");
        }
        let reply = caller.client.get(&path).await;
        let context = format!("{}: {path} of {:?} {}: {:?}", self.name, caller.kind, caller.id, reply.body);
        match self.items.iter().find(|it| it["_id"] == id.as_str()) {
            _ if self.right == Right::Refused => assert_eq!(reply.verdict(), refusal(caller), "{context}"),
            Some(it) => assert_eq!(plain(&reply.json()["dataItem"]["data"]), *it, "{context}"),
            None => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
        }
        "get"
    }

    async fn query(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let (filter, found) = self.found(random);
        let (limit, offset) = (1 + random.below(12), random.below(3));
        let query = json!({ "filter": filter, "sort": pages::sort(), "paging": { "limit": limit, "offset": offset } });
        let body = json!({ "query": query, "returnTotalCount": true });
        if let Some((page, context)) = self.ask(caller, "/v2/items/query", body).await {
            let expected: Vec<_> = found.iter().skip(offset).take(limit).map(|it| (*it).clone()).collect();
            assert_eq!(items_of(&page, &context), expected, "{context}");
            assert_eq!(page["pagingMetadata"]["total"], found.len(), "{context}");
        }
        "query"
    }

    async fn count(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let (filter, found) = self.found(random);
        if let Some((counted, context)) = self.ask(caller, "/v2/items/count", json!({ "filter": filter })).await {
            assert_eq!(counted["totalCount"], found.len(), "{context}");
        }
        "count"
    }

    async fn distinct(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let (filter, found) = self.found(random);
        let body = json!({ "fieldName": "text", "filter": filter, "returnTotalCount": true });
        if let Some((page, context)) = self.ask(caller, "/v2/items/query-distinct-values", body).await {
            let mut values: Vec<_> = found.iter().map(|it| it["text"].as_str().unwrap_or_default()).collect();
            values.sort_unstable();
            values.dedup();
            assert_eq!(page["distinctValues"], json!(values), "{context}");
            assert_eq!(page["pagingMetadata"]["total"], values.len(), "{context}");
        }
        "distinct"
    }

    /// How many items have which text. The pages send nothing but the cursor of the one before, as those of the client.
    async fn aggregate(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let (filter, found) = self.found(random);
        let mut groups: BTreeMap<String, u64> = BTreeMap::new();
        for it in found {
            *groups.entry(it["text"].to_string()).or_default() += 1;
        }
        let limit = 1 + random.below(3);
        let count = json!([{ "resultFieldName": "count", "itemCount": {} }]);
        let body = json!({ "initialFilter": filter, "aggregation": { "groupingFields": ["text"], "operations": count },
            "cursorPaging": { "limit": limit } });
        let mut told = BTreeMap::new();
        let mut answer = self.ask(caller, "/v2/items/aggregate", body).await;
        while let Some((page, context)) = answer {
            for it in page["results"].as_array().unwrap_or_else(|| panic!("{context}")) {
                let before = told.insert(it["text"].to_string(), it["count"].as_u64().unwrap_or_default());
                assert_eq!(before, None, "{context}");
            }
            let next = &page["pagingMetadata"]["cursors"]["next"];
            if next.is_null() {
                assert_eq!(told, groups, "{context}");
                break;
            }
            let body = json!({ "cursorPaging": { "limit": limit, "cursor": next } });
            answer = self.send(caller, "/v2/items/aggregate", body).await;
        }
        "aggregate by cursor"
    }

    async fn query_by_cursor(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let (filter, found) = self.found(random);
        let (limit, mut shown) = (1 + random.below(5), Vec::new());
        let mut query = json!({ "filter": filter, "sort": pages::sort(), "cursorPaging": { "limit": limit } });
        while let Some((page, context)) = self.ask(caller, "/v2/items/query", json!({ "query": query })).await {
            shown.extend(items_of(&page, &context));
            let next = &page["pagingMetadata"]["cursors"]["next"];
            if next.is_null() {
                assert_eq!(shown.iter().collect::<Vec<_>>(), found, "{context}");
                break;
            }
            query = json!({ "cursorPaging": { "limit": limit, "cursor": next } });
        }
        "query by cursor"
    }

    /// The texts of items, in an order that they have no part in.
    async fn pipeline(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let (filter, found) = self.found(random);
        let texts = json!([{ "resultFieldName": "texts", "push": { "expression": { "fieldPath": "text" } } }]);
        let stages = json!([{ "filter": filter }, { "sort": { "values": pages::sort() } }, { "group": { "groupIds": [], "accumulators": texts } }]);
        let body = json!({ "pipeline": { "stages": stages } });
        if let Some((page, context)) = self.ask(caller, "/v2/items/aggregate-pipeline", body).await {
            let texts: Vec<_> = found.iter().map(|it| it["text"].clone()).collect();
            let expected = if texts.is_empty() { json!([]) } else { json!([{ "_id": {}, "texts": texts }]) };
            assert_eq!(page["results"], expected, "{context}");
        }
        "pipeline"
    }

    /// Has a word for neither languages, environments nor drafts, so it is asked where the calls are about none of them.
    async fn graphql(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        if self.language.or(self.environment).is_some() || self.with_drafts || self.right == Right::Refused {
            return self.query(caller, random).await;
        }
        let document = format!("{{ {}(limit: 100) {{ items {{ _data }} }} }}", self.collection);
        let reply = caller.client.post("/graphql/v1", &json!({ "query": document })).await;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let is_shown = |n: usize| text.contains(&format!("\"_id\":\"i{n}\""));
        let items = |n: usize| self.items.iter().any(|it| it["_id"] == format!("i{n}"));
        let wrong: Vec<_> = (0..12).filter(|n| is_shown(*n) != items(*n)).collect();
        let context = format!("{}: /graphql/v1 of {:?}: {text}", self.name, caller.kind);
        // Who is shown nothing may find no such collection in the schema.
        let is_unknown = self.items.is_empty() && text.contains("does not have a field");
        assert!(reply.verdict() == "200" && (is_unknown || reply.json().get("errors").is_none()), "{context}");
        assert!(wrong.is_empty(), "{wrong:?}: {context}");
        "graphql query"
    }

    async fn search(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let ((filter, found), (search, words)) = (self.found(random), search::Words::random(random));
        let (limit, offset) = (1 + random.below(12), random.below(3));
        let body = json!({ "search": { "filter": filter, "search": search,
            "sort": pages::sort(), "paging": { "limit": limit, "offset": offset } } });
        if let Some((page, context)) = self.ask(caller, "/v2/items/search", body).await {
            let found: Vec<_> = found.into_iter().filter(|it| words.are_in(it)).collect();
            let expected: Vec<_> = found.iter().skip(offset).take(limit).map(|it| (*it).clone()).collect();
            assert_eq!(items_of(&page, &context), expected, "{context}");
            assert_eq!(page["pagingMetadata"]["hasNext"], found.len() > offset + limit, "{context}");
        }
        "search"
    }

    async fn search_by_rank(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let ((filter, found), (search, words)) = (self.found(random), search::Words::random(random));
        let (limit, mut shown, mut cursor) = (1 + random.below(5), Vec::new(), Value::Null);
        loop {
            let paging = json!({ "limit": limit, "cursor": cursor });
            let body = json!({ "search": { "filter": filter, "search": search, "cursorPaging": paging } });
            let Some((page, context)) = self.ask(caller, "/v2/items/search", body).await else { break };
            shown.extend(items_of(&page, &context));
            cursor = page["pagingMetadata"]["cursors"]["next"].clone();
            if cursor.is_null() {
                let found: Vec<_> = found.into_iter().filter(|it| words.are_in(it)).collect();
                words.check_order(&shown, self.frequencies.as_ref(), &context);
                shown.sort_by_cached_key(pages::rank);
                assert_eq!(shown.iter().collect::<Vec<_>>(), found, "{context}");
                break;
            }
        }
        "search by rank"
    }

    async fn highlights(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let ((filter, found), (search, words)) = (self.found(random), search::Words::random(random));
        let search = json!({ "filter": filter, "search": search, "highlight": {}, "sort": pages::sort() });
        if let Some((page, context)) = self.ask(caller, "/v2/items/search", json!({ "search": search })).await {
            let found = found.into_iter().filter(|it| words.are_in(it));
            extras::check_highlights(&page, &words.asked, found, &context);
        }
        "search with highlights"
    }

    async fn suggestions(&self, caller: &Caller<'_>, random: &mut Random) -> &'static str {
        let typed = extras::mistyped(random);
        let body = json!({ "search": { "search": { "expression": typed.0 } }, "returnSuggestions": true });
        if let Some((page, context)) = self.ask(caller, "/v2/items/search", body).await {
            extras::check_suggestions(&page, typed, self.frequencies.as_ref(), &context);
        }
        "search with suggestions"
    }

    /// A filter, and what passes it, in the order of [`pages::sort`].
    fn found(&self, random: &mut Random) -> (Value, Vec<&Value>) {
        let n = random.below(4) as u64;
        let mut found: Vec<_> = self.items.iter().filter(|it| it["n"].as_u64() >= Some(n)).collect();
        found.sort_by_cached_key(|it| pages::rank(it));
        (json!({ "n": { "$gte": n } }), found)
    }
}

fn items_of(page: &Value, context: &str) -> Vec<Value> {
    let items = page["dataItems"].as_array().unwrap_or_else(|| panic!("{context}"));
    items.iter().map(|it| plain(&it["data"])).collect()
}

/// A call of the plugins of a collection.
pub fn ok(reply: Reply) -> Value {
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()
}
