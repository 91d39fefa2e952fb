//! Documents, pipelines and older aggregations by chance. What is drawn is right in its types, so that most of it
//! comes to an answer; what is counted shows that nothing is left out.

use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// splitmix64: a run repeats from its seed alone.
pub(super) struct Draw {
    state: u64,
    /// How often each stage, expression and accumulator was drawn.
    pub counts: BTreeMap<String, usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    /// Numbers of any size, for sums and orders alone.
    Wide,
    Text,
    Any,
    List,
    Object,
}

type Fields = Vec<(String, Kind)>;

const TEXTS: &[&str] = &["a", "A", "abc", "Straße", "İ", "ΑΣ", "ǆ", "😀é", "", "b", "zz", "1"];

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, counts: BTreeMap::new() }
    }

    /// Draws from another seed, and keeps what was counted.
    pub(super) fn go_on_from(&mut self, seed: u64) {
        self.state = seed;
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    fn number(&mut self) -> Json {
        match self.below(5) {
            0 => json!(self.below(7) as i64 - 3),
            1 => json!(self.below(1000) as f64 / 10.0),
            2 => json!(-(self.below(100_000) as f64) / 100.0),
            3 => json!(self.below(1 << 30)),
            _ => json!(0.1),
        }
    }

    fn wide(&mut self) -> Json {
        self.pick(&[1e308, -1e308, 1e16, -1e16, 1.0, 0.1, 5e-324, 1e-300, 1.7e308, -1.7e308, 2.5, 1e100, -1e100]).into()
    }

    fn any(&mut self, depth: usize) -> Json {
        match self.below(if depth > 1 { 6 } else { 8 }) {
            0 => Json::Null,
            1 | 2 => self.number(),
            3 => json!(self.pick(TEXTS)),
            4 => json!(self.one_in(2)),
            5 => json!({ "$date": self.pick(&["2024-03-05T06:07:08.009Z", "1999-12-31T23:59:59.999Z"]) }),
            6 => (0..self.below(4)).map(|_| self.any(depth + 1)).collect(),
            _ => json!({ "b": self.any(depth + 1), "a": self.any(depth + 1) }),
        }
    }

    pub(super) fn document(&mut self, n: usize) -> Json {
        let mut document = json!({ "_id": format!("i{n}") });
        let mut put = |name: &str, value: Json, is_there: bool| {
            if is_there {
                document[name] = value;
            }
        };
        for name in ["n", "m"] {
            let value = if self.one_in(8) { Json::Null } else { self.number() };
            put(name, value, !self.one_in(8));
        }
        let (wide, text, kind, any) =
            (self.wide(), json!(self.pick(TEXTS)), json!(self.pick(&["x", "y", "z"])), self.any(0));
        put("w", wide, !self.one_in(3));
        put("t", text, !self.one_in(6));
        put("kind", kind, !self.one_in(10));
        put("x", any, !self.one_in(5));
        let list = (0..self.below(4)).map(|_| self.any(1)).collect();
        put("list", list, !self.one_in(4));
        let object = |draw: &mut Self| match draw.one_in(2) {
            true => json!({ "a": draw.number(), "b": draw.pick(TEXTS) }),
            false => json!({ "b": draw.pick(TEXTS), "a": draw.number(), "deep": { "c": draw.number() } }),
        };
        let objects = (0..self.below(4)).map(|_| object(self)).collect();
        put("objs", objects, !self.one_in(4));
        let object = object(self);
        put("o", object, !self.one_in(5));
        document
    }

    fn fields() -> Fields {
        let of = |names: &[&str], kind| names.iter().map(|it| ((*it).to_owned(), kind)).collect::<Vec<_>>();
        [
            of(&["n", "m", "o.a", "o.deep.c"], Kind::Number),
            of(&["w"], Kind::Wide),
            of(&["t", "kind", "o.b", "_id"], Kind::Text),
            of(&["x", "objs.a", "_createdDate"], Kind::Any),
            of(&["list", "objs"], Kind::List),
            of(&["o"], Kind::Object),
        ]
        .concat()
    }

    fn named(&mut self, fields: &Fields, kinds: &[Kind]) -> Option<(String, Kind)> {
        let fit: Vec<_> = fields.iter().filter(|it| kinds.contains(&it.1)).cloned().collect();
        if fit.is_empty() { None } else { Some(self.pick(&fit)) }
    }

    fn numeric(&mut self, fields: &Fields, depth: usize) -> Json {
        let kind = if depth > 2 { self.below(2) } else { self.below(12) };
        let names = ["add", "sum", "multiply", "subtract", "divide", "mod", "abs", "floor", "ceil", "length"];
        match kind {
            0 => match self.named(fields, &[Kind::Number]) {
                Some((name, _)) => {
                    self.count("fieldPath");
                    json!({ "fieldPath": name })
                }
                None => json!({ "numeric": 2 }),
            },
            1 => {
                self.count("numeric");
                json!({ "numeric": self.number() })
            }
            n => {
                let name = names[n - 2];
                self.count(name);
                match name {
                    "add" | "sum" | "multiply" => {
                        let list: Vec<_> = (0..1 + self.below(3)).map(|_| self.numeric(fields, depth + 1)).collect();
                        json!({ name: { "expressions": list } })
                    }
                    "subtract" => {
                        let (a, b) = (self.numeric(fields, depth + 1), self.numeric(fields, depth + 1));
                        json!({ name: { "firstExpression": a, "secondExpression": b } })
                    }
                    "divide" | "mod" => {
                        let divisor =
                            if self.one_in(60) { json!(0) } else { json!(self.pick(&[2.0, -3.0, 0.7, 10.0])) };
                        let a = self.numeric(fields, depth + 1);
                        json!({ name: { "firstExpression": a, "secondExpression": { "numeric": divisor } } })
                    }
                    "length" => json!({ name: { "expression": self.textual(fields, depth + 1) } }),
                    _ => json!({ name: { "expression": self.numeric(fields, depth + 1) } }),
                }
            }
        }
    }

    fn textual(&mut self, fields: &Fields, depth: usize) -> Json {
        let kind = if depth > 2 { self.below(2) } else { self.below(7) };
        match kind {
            0 => match self.named(fields, &[Kind::Text]) {
                Some((name, _)) => {
                    self.count("fieldPath");
                    json!({ "fieldPath": name })
                }
                None => json!({ "text": "none" }),
            },
            1 => {
                self.count("text");
                json!({ "text": self.pick(TEXTS) })
            }
            2 => {
                self.count("concat");
                let list: Vec<_> = (0..1 + self.below(3)).map(|_| self.textual(fields, depth + 1)).collect();
                json!({ "concat": { "expressions": list } })
            }
            3 => {
                self.count("stringify");
                let inner = match self.named(fields, &[Kind::Any, Kind::List, Kind::Object]) {
                    Some((name, _)) if self.one_in(2) => json!({ "fieldPath": name }),
                    _ => self.plain_number(fields),
                };
                json!({ "stringify": { "expression": inner } })
            }
            4 | 5 => {
                let name = if kind == 4 { "toLower" } else { "toUpper" };
                self.count(name);
                json!({ name: { "expression": self.textual(fields, depth + 1) } })
            }
            _ => {
                self.count("substring");
                let number = |draw: &mut Self| json!({ "numeric": draw.pick(&[0.0, 1.0, 2.7, 5.0]) });
                let mut inner =
                    json!({ "expression": self.textual(fields, depth + 1), "startExpression": number(self) });
                if self.one_in(2) {
                    inner["lengthExpression"] = number(self);
                }
                json!({ "substring": inner })
            }
        }
    }

    /// A number whose text needs no exponent.
    fn plain_number(&mut self, fields: &Fields) -> Json {
        match self.named(fields, &[Kind::Number]) {
            Some((name, _)) if matches!(name.as_str(), "n" | "m" | "o.a") => json!({ "fieldPath": name }),
            _ => json!({ "numeric": self.number() }),
        }
    }

    /// Any expression, and the kind of what it comes to.
    fn expression(&mut self, fields: &Fields) -> (Json, Kind) {
        match self.below(4) {
            0 => (self.numeric(fields, 0), Kind::Number),
            1 => (self.textual(fields, 0), Kind::Text),
            _ => {
                self.count("fieldPath");
                let all = [Kind::Number, Kind::Wide, Kind::Text, Kind::Any, Kind::List, Kind::Object];
                let Some((name, kind)) = self.named(fields, &all) else {
                    return (json!({ "numeric": 1 }), Kind::Number);
                };
                (json!({ "fieldPath": name }), kind)
            }
        }
    }

    pub(super) fn filter(&mut self, fields: &[(String, Json)], depth: usize) -> Json {
        let (name, value) = self.pick(fields);
        match self.below(if depth > 1 { 5 } else { 8 }) {
            0 => json!({ name: { "$gt": value } }),
            1 => json!({ name: { "$gte": value } }),
            2 => json!({ name: { "$lt": value } }),
            3 => json!({ name: value }),
            4 => self.pick(&[json!({ name.clone(): null }), json!({ name.clone(): { "$exists": true } }), json!({})]),
            5 => json!({ "$not": self.filter(fields, depth + 1) }),
            n => {
                let list = [self.filter(fields, depth + 1), self.filter(fields, depth + 1)];
                json!({ if n == 6 { "$and" } else { "$or" }: list })
            }
        }
    }

    /// Names with values to compare with.
    fn operands(&mut self, fields: &Fields) -> Vec<(String, Json)> {
        let fit = fields.iter().filter(|it| !matches!(it.1, Kind::Object));
        let mut operands: Vec<_> = fit
            .map(|(name, kind)| {
                let value = match kind {
                    Kind::Text => json!(TEXTS[self.state as usize % TEXTS.len()]),
                    _ => json!(self.state % 100),
                };
                (name.clone(), value)
            })
            .collect();
        if operands.is_empty() {
            operands.push(("n".to_owned(), json!(1)));
        }
        operands
    }

    pub(super) fn pipeline(&mut self) -> Vec<Json> {
        let (mut fields, mut made) = (Self::fields(), 0);
        let count = self.below(6);
        let mut stages = Vec::new();
        for n in 0..count {
            let kind = if n == 0 && self.one_in(2) { 0 } else { self.below(8) };
            stages.extend(self.stage(kind, &mut fields, &mut made));
        }
        stages
    }

    fn stage(&mut self, kind: usize, fields: &mut Fields, made: &mut usize) -> Option<Json> {
        let mut fresh = || {
            *made += 1;
            format!("r{made}")
        };
        let (name, inner) = match kind {
            0 => {
                let operands = self.operands(fields);
                ("filter", self.filter(&operands, 0))
            }
            1 => ("limit", json!(1 + self.below(40))),
            2 => ("skip", json!(self.below(10))),
            3 => {
                let values: Vec<_> = (0..1 + self.below(2)).map(|_| self.sort_key(fields)).collect();
                ("sort", json!({ "values": values }))
            }
            4 => {
                let (name, _) = self.named(fields, &[Kind::List, Kind::Any])?;
                if name.contains('.') || name.starts_with('_') {
                    return None;
                }
                fields.retain(|it| it.0 != name && !it.0.starts_with(&format!("{name}.")));
                fields.push((name.clone(), Kind::Any));
                ("unwindArray", json!({ "arrayFieldName": name }))
            }
            5 => {
                let (name, _) = self.named(fields, &[Kind::Object])?;
                let to = fresh();
                fields.push((to.clone(), Kind::List));
                ("objectToArray", json!({ "objectFieldName": name, "destinationFieldName": to }))
            }
            6 => ("projection", json!({ "fields": self.projection(fields, &mut fresh) })),
            _ => ("group", self.group(fields, &mut fresh)),
        };
        self.count(name);
        Some(json!({ name: inner }))
    }

    fn sort_key(&mut self, fields: &Fields) -> Json {
        let all = [Kind::Number, Kind::Wide, Kind::Text, Kind::Any, Kind::List, Kind::Object];
        let name = self.named(fields, &all).map_or("n".to_owned(), |it| it.0);
        json!({ "fieldName": name, "order": self.pick(&["ASC", "DESC"]) })
    }

    fn projection(&mut self, fields: &mut Fields, fresh: &mut impl FnMut() -> String) -> Vec<Json> {
        let mut members = Vec::new();
        let tops: Vec<_> = fields.iter().filter(|it| !it.0.starts_with('_')).cloned().collect();
        let mut kept: Fields = Vec::new();
        let is_exclusion = self.one_in(3);
        if is_exclusion && !tops.is_empty() {
            self.count("exclude");
            let (name, _) = self.pick(&tops);
            members.push(json!({ "exclude": { "fieldName": name } }));
            kept = fields
                .iter()
                .filter(|it| {
                    it.0 != name && !it.0.starts_with(&format!("{name}.")) && !name.starts_with(&format!("{}.", it.0))
                })
                .cloned()
                .collect();
        } else {
            for (name, kind) in tops.into_iter().filter(|_| self.one_in(3)).collect::<Vec<_>>() {
                self.count("include");
                members.push(json!({ "include": { "fieldName": name } }));
                kept.push((name, kind));
            }
        }
        for _ in 0..self.below(3) {
            self.count("reshape");
            let ((value, kind), name) = (self.expression(fields), fresh());
            members.push(json!({ "reshape": { "resultFieldName": name, "expression": value } }));
            kept.push((name, kind));
        }
        if self.one_in(3) {
            self.count("projectNested");
            // A member is named once.
            let is_named = |member: &Json| {
                let names = ["include", "exclude"].into_iter().filter_map(|how| member[how]["fieldName"].as_str());
                names.into_iter().any(|it| it == "o" || it.starts_with("o."))
            };
            let is_of_object = fields.iter().any(|it| it.0 == "o") && !members.iter().any(is_named);
            let name = if is_of_object { "o".to_owned() } else { fresh() };
            let inner = match self.below(3) {
                0 => {
                    json!([{ "include": { "fieldName": "a" } }, { "reshape": { "resultFieldName": "z", "expression": self.numeric(fields, 1) } }])
                }
                1 => json!([{ "exclude": { "fieldName": "b" } }]),
                _ => json!([{ "reshape": { "resultFieldName": "z", "expression": self.textual(fields, 1) } }]),
            };
            kept.retain(|it| it.0 != name && !it.0.starts_with(&format!("{name}.")));
            kept.push((format!("{name}.z"), Kind::Any));
            members.push(json!({ "projectNested": { "resultFieldName": name, "fields": inner } }));
        }
        if members.is_empty() {
            members.push(json!({ "reshape": { "resultFieldName": "one", "expression": { "numeric": 1 } } }));
            kept.push(("one".to_owned(), Kind::Number));
        }
        *fields = kept;
        members
    }

    fn group(&mut self, fields: &mut Fields, fresh: &mut impl FnMut() -> String) -> Json {
        let (mut keys, mut accumulators, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.below(3) {
            let ((value, kind), name) = (self.expression(fields), fresh());
            results.push((format!("_id.{name}"), kind));
            keys.push(json!({ "key": name, "expression": value }));
        }
        for _ in 0..self.below(4) {
            let function = self.pick(&["sum", "avg", "min", "max", "first", "last", "push"]);
            self.count(function);
            let ((value, kind), name) = (self.expression(fields), fresh());
            results.push((
                name.clone(),
                match function {
                    // Sums of any numbers, and what may be one, have texts with exponents.
                    "sum" | "avg" => Kind::Wide,
                    "push" => Kind::List,
                    _ => kind,
                },
            ));
            accumulators.push(json!({ "resultFieldName": name, function: { "expression": value } }));
        }
        *fields = results;
        json!({ "groupIds": keys, "accumulators": accumulators })
    }

    /// A request of the older form without its collection.
    pub(super) fn aggregate(&mut self) -> Json {
        self.count("aggregate");
        let mut names = vec!["kind", "t", "n", "o.b", "x", "list", "objs.a"];
        let fields: Vec<_> = (0..self.below(3)).map(|_| names.remove(self.below(names.len()))).collect();
        let mut results: Vec<(String, Json)> = fields.iter().map(|it| ((*it).to_owned(), json!("x"))).collect();
        let mut operations = vec![json!({ "resultFieldName": "count", "itemCount": {} })];
        results.push(("count".to_owned(), json!(self.below(20))));
        for field in ["n", "w", "o.a", "x", "t"] {
            if self.one_in(2) {
                continue;
            }
            let (name, suffix) = self.pick(&[("sum", "Sum"), ("average", "Avg"), ("min", "Min"), ("max", "Max")]);
            let result = format!("{field}{suffix}");
            operations.push(json!({ "resultFieldName": result, name: { "itemFieldName": field } }));
            results.push((result, json!(self.below(50))));
        }
        let operands = self.operands(&Self::fields());
        let initial = if self.one_in(3) { json!({}) } else { self.filter(&operands, 0) };
        let having = if self.one_in(2) { json!({}) } else { self.filter(&results, 0) };
        let sort = (0..self.below(3)).map(|_| {
            let (name, _) = self.pick(&results);
            json!({ "fieldName": name, "order": self.pick(&["ASC", "DESC"]) })
        });
        let sort: Vec<_> = sort.collect();
        json!({ "initialFilter": initial, "finalFilter": having, "sort": sort,
            "aggregation": { "groupingFields": fields, "operations": operations } })
    }

    /// Members that are drawn from anything, to be refused or answered, but not to break.
    pub(super) fn nonsense(&mut self, value: &Json) -> Json {
        match value {
            _ if self.one_in(12) => {
                self.pick(&[json!(null), json!(7), json!(-1), json!("x"), json!([]), json!({}), json!(true)])
            }
            Json::Array(list) => list.iter().map(|it| self.nonsense(it)).collect(),
            Json::Object(members) => {
                let each = members.iter().map(|(name, it)| (name.clone(), self.nonsense(it)));
                Json::Object(each.collect::<Map<_, _>>())
            }
            it => it.clone(),
        }
    }
}
