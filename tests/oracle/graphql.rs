//! The same questions asked in GraphQL: a document shows what the calls on items show, and no collection exists in it that
//! the caller may not know of.

use super::*;

impl World<'_> {
    pub async fn graphql_call(
        &mut self,
        caller: &Caller<'_>,
        random: &mut Random,
        is_source: bool,
    ) -> (&'static str, String) {
        match random.below(3) {
            0 => ("graphql mutation", self.graphql_write(caller, random, is_source).await),
            _ => ("graphql query", self.graphql_query(caller, random, is_source).await),
        }
    }

    pub async fn graphql_query(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let (side, other) = (self.side(is_source), self.side(!is_source));
        let (filter, passes) = self.question(caller, random, is_source);
        let (limit, offset) = (1 + random.below(12), random.below(3));
        let knows_other = knows(caller, other);
        let references = match (is_source, knows_other) {
            (true, true) => "one {_id n} many {_id n}",
            (true, false) => "one",
            (false, true) => "back {_id n}",
            (false, false) => "",
        };
        let c = &side.id;
        let document = format!(
            "query($f: JSON) {{
                {c}(filter: $f, sort: [{{field: \"n\", order: DESC}}, {{field: \"_id\"}}], limit: {limit}, offset: {offset}) {{
                    totalCount hasNext items {{_data {references}}}
                }}
                {c}Count(filter: $f)
                {c}Item(id: \"i0\") {{_data}}
            }}"
        );
        let body = json!({ "query": document, "variables": { "f": filter } });
        let reply = caller.client.post("/graphql/v1", &body).await;
        let context = self.context(&format!("graphql {body}"), caller, side, &reply);
        if caller.kind == Kind::Anonymous {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        assert_eq!(reply.status, 200, "{context}");
        let answer = reply.json();
        if !knows(caller, side) || right(caller, side, READ) == Right::Refused {
            assert_eq!(answer.get("data"), None, "{context}");
            assert_eq!(answer["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{context}");
            return "refused".to_owned();
        }
        assert_eq!(answer.get("errors"), None, "{context}");
        let (found, data) = (side.found(caller, &passes), &answer["data"]);
        let page = &data[c.as_str()];
        let shown: Vec<Value> = found.iter().skip(offset).take(limit).map(|it| (*it).clone()).collect();
        let items = page["items"].as_array().unwrap_or_else(|| panic!("{context}"));
        let mut answered = Vec::new();
        for it in items {
            let mut item = plain(&it["_data"]);
            // Where it leads is in the place of the id, if it may be read.
            if let (Some(id), Some(object)) = (item["one"]["_id"].as_str().map(str::to_owned), item.as_object_mut()) {
                object.insert("one".to_owned(), id.into());
            }
            for many in ["many", "back"] {
                item.as_object_mut().unwrap().remove(many);
            }
            answered.push(item);
        }
        assert_eq!(answered, shown, "{context}");
        for (it, item) in items.iter().zip(&shown) {
            if is_source {
                self.check_one(caller, other, it, item, &context);
            }
            if knows_other {
                self.check_links_of(caller, other, it, item, is_source, &context);
            }
        }
        assert_eq!(page["totalCount"], found.len(), "{context}");
        assert_eq!(page["hasNext"], found.len() > offset + limit, "{context}");
        assert_eq!(data[format!("{c}Count")], found.len(), "{context}");
        // An item by its id is a query as well, so that hooks which widen it have the first of all found.
        let is_asked = |id: &str| self.has_hooks || id == "i0";
        let is_found = side.readable(caller).into_iter().any(|it| is_asked(it.0));
        assert_eq!(data[format!("{c}Item")].is_object(), is_found, "{context}");
        "200".to_owned()
    }

    fn check_one(&self, caller: &Caller<'_>, other: &Side, shown: &Value, item: &Value, context: &str) {
        let id = item["one"].as_str();
        if !knows(caller, other) {
            assert_eq!(shown["one"].as_str(), id, "{context}");
            return;
        }
        let led = id.and_then(|id| other.items.get(id)).filter(|it| may(caller, other, READ, it));
        let wants = led.map_or(Value::Null, |it| json!({ "_id": it["_id"], "n": it["n"] }));
        assert_eq!(shown["one"], wants, "{context}");
    }

    fn check_links_of(
        &self,
        caller: &Caller<'_>,
        other: &Side,
        shown: &Value,
        item: &Value,
        is_source: bool,
        context: &str,
    ) {
        let id = item["_id"].as_str().unwrap_or_default();
        let ends = self.links.iter().map(|(a, b)| if is_source { (a, b) } else { (b, a) });
        let linked = ends.filter(|it| it.0 == id).filter_map(|it| other.items.get(it.1));
        let wants: Vec<_> = linked
            .filter(|it| may(caller, other, READ, it))
            .map(|it| json!({ "_id": it["_id"], "n": it["n"] }))
            .collect();
        let field = if is_source { "many" } else { "back" };
        assert_eq!(shown[field], Value::from(wants), "{context}");
    }

    /// A patch, which asks to be shown the whole item.
    pub async fn graphql_write(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (id, n) = (side.any_id(random), random.below(4));
        let name = side.id[..1].to_ascii_uppercase() + &side.id[1..];
        let document = format!("mutation {{w: patch{name}(id: \"{id}\", set: {{n: {n}}}) {{_id _data}}}}");
        let reply = caller.client.post("/graphql/v1", &json!({ "query": document })).await;
        let context = self.context(&document, caller, side, &reply);
        if caller.kind == Kind::Anonymous {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        assert_eq!(reply.status, 200, "{context}");
        let answer = reply.json();
        if matches!(right(caller, side, UPDATE), Right::Refused | Right::Nothing) {
            assert_eq!(answer.get("data"), None, "{context}");
            return "refused".to_owned();
        }
        let before = side.items.get(&id).filter(|it| may(caller, side, UPDATE, it)).cloned();
        let Some(mut item) = before else {
            assert_eq!(answer["data"]["w"], Value::Null, "{context}");
            assert_eq!(answer["errors"][0]["extensions"]["code"], "WDE0073", "{context}");
            return "missing".to_owned();
        };
        assert_eq!(answer.get("errors"), None, "{context}");
        item["n"] = n.into();
        let shown = plain(&answer["data"]["w"]["_data"]);
        match may(caller, side, READ, &item) {
            true => assert_eq!(shown, item, "{context}"),
            false => assert_eq!(shown, json!({ "_id": id }), "{context}"),
        }
        self.items(is_source).insert(id, item);
        "200".to_owned()
    }
}

/// Whether the collection exists for the caller: managers know of all, others of those in which they have any right.
fn knows(caller: &Caller<'_>, side: &Side) -> bool {
    let has_any = (READ..=REMOVE).any(|it| matches!(right(caller, side, it), Right::All | Right::Own));
    matches!(caller.kind, Kind::Editor | Kind::Owner | Kind::App) || has_any
}
