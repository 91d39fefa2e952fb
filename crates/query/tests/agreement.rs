//! Three must agree: SQLite, PostgreSQL and the matcher in memory, on random collections and questions.
//!
//! `STOA_EFFORT` multiplies how many questions the fresh seed asks; `STOA_QUERY_SEED` replaces it, to ask
//! again what failed. What a run finds becomes a case in `cases/`.

mod support;

use serde_json::{Map, Value as Json, json};
use std::cmp::Ordering;
use std::collections::{BTreeMap, hash_map::RandomState};
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use stoa_query::compile::Statement;
use stoa_query::plan::{Distinct, Field, Find, Key, Start};
use stoa_query::schema::IndexSpec;
use stoa_query::{Context, QueryLimits, Schema, Scope, compile, matches, order, resolve, wire};
use stoa_sql::{Direction, Postgres, Sqlite, Table};
use support::values::{self, Random};
use support::{OnPostgres, OnSqlite, Row};

/// Questions that each of the two seeds asks.
const RUNS: usize = 3_000;
const ITEMS: usize = 60;
/// Questions asked of one collection before the next is made.
const QUESTIONS: usize = 100;
/// Questions that travel to PostgreSQL together.
const TOGETHER: usize = 10;
const OWNERS: &[Option<&str>] = &[None, Some("m1"), Some("m2")];
/// Ways to join or turn conditions, counted like operators.
const COMPOSITIONS: &[&str] =
    &["$and", "$or", "$not [...]", "$not {...}", "field: {$not}", "implicit =", "implicit and", "between"];

#[test]
fn engines_agree_on_a_fixed_seed() {
    ask_many(20_240_305, RUNS);
}

#[test]
fn engines_agree_on_a_fresh_seed() {
    let given = from_environment("STOA_QUERY_SEED");
    // The standard library seeds its hash tables with chance; nothing here needs more than that.
    let fresh = RandomState::new().build_hasher().finish();
    ask_many(given.unwrap_or(fresh), support::rounds(RUNS));
}

#[expect(clippy::disallowed_methods, reason = "the environment says how much to ask")]
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn ask_many(seed: u64, runs: usize) {
    let mut tally = Tally::default();
    let mut random = Random::new(seed);
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    for number in 0..runs.div_ceil(QUESTIONS) as i64 {
        let table = Table { site: postgres.site, number };
        // In every second one all is scalar: how many there are is not left to chance.
        let rows = collection(&mut random, number % 2 == 0);
        sqlite.create(table, &rows);
        postgres.create(table, &rows);
        let indexes: Vec<_> = (1..=1 + random.below(4) as i64).map(|it| index(&mut random, it)).collect();
        for it in &indexes {
            compile::index(&Sqlite, table, it, false).iter().for_each(|it| sqlite.execute(it));
            compile::index(&Postgres, table, it, false).iter().for_each(|it| postgres.execute(it));
        }
        let schema = Schema { indexes: indexes.into(), ..Schema::default() };
        let world = World { table, schema, documents: rows.iter().map(Row::json).collect(), rows };
        for _ in 0..QUESTIONS / TOGETHER {
            let questions = (0..TOGETHER).flat_map(|_| world.questions(&mut random, &mut tally, seed));
            tally.scalar += world.ask(&questions.collect::<Vec<_>>(), &sqlite, &postgres, seed);
        }
    }
    tally.check(seed);
}

#[derive(Default)]
struct Tally {
    operators: BTreeMap<&'static str, usize>,
    questions: usize,
    proper: usize,
    /// Pages that one select had.
    scalar: usize,
    /// Pages that were counted while they were read.
    counted: usize,
}

impl Tally {
    fn add(&mut self, name: &'static str) {
        *self.operators.entry(name).or_default() += 1;
    }

    /// A run that asked too little of something shows nothing about it: both seeds together must ask each
    /// operator 500 times among 20,000 questions, and six in ten answers must be a proper part.
    fn check(&self, seed: u64) {
        // Past the test's own capture: a run that passes tells its seed and its counts as well.
        let _ = writeln!(
            std::io::stdout(),
            "\nseed {seed}: {} questions, {} with a proper part as answer, {} pages by one select\n{:?}",
            self.questions,
            self.proper,
            self.scalar,
            self.operators
        );
        assert!(self.proper * 10 >= self.questions * 6, "seed {seed}: too few answers are a proper part");
        assert!(
            self.questions < 1000 || self.scalar * 100 >= self.questions,
            "seed {seed}: too few pages by one select"
        );
        assert!(
            self.questions < 1000 || self.counted * 20 >= self.questions,
            "seed {seed}: too few pages counted on the way"
        );
        for name in wire::Operator::ALL.iter().map(|it| it.name()).chain(COMPOSITIONS.iter().copied()) {
            let asked = self.operators.get(name).copied().unwrap_or_default();
            assert!(self.questions < 1000 || asked * 40 >= self.questions, "seed {seed}: {name} only {asked} times");
        }
    }
}

/// One statement of a question, in both texts, and what memory answers.
struct Question {
    request: Json,
    scope: Scope,
    statements: [Statement; 2],
    /// The same page for less: [`compile::find_scalar`].
    scalar: Option<[Statement; 2]>,
    expected: Rows,
}

type Rows = Vec<Vec<Option<String>>>;

/// The rows, if they say that no item is array-valued, as wide as those that are expected.
fn all_scalar(rows: Rows, like: Option<&Vec<Option<String>>>) -> Option<Rows> {
    let is_array_valued = |row: &Vec<Option<String>>| row.last().and_then(Option::as_deref) != Some("0");
    let width = like.map_or(0, Vec::len);
    let is_scalar = !rows.is_empty() && !rows.iter().any(is_array_valued);
    is_scalar.then(|| rows.into_iter().map(|it| it[..width].to_vec()).collect())
}

/// A scalar one has no array and no long text: nothing in it is array-valued.
fn collection(random: &mut Random, is_scalar: bool) -> Vec<Row> {
    (0..ITEMS)
        .map(|n| {
            let mut data = Map::new();
            for name in ["a", "b", "c", "d'", "e\"f"] {
                if !random.one_in(4) {
                    let value = values::value(random, 3);
                    data.insert(name.to_owned(), if is_scalar { scalar(value) } else { value });
                }
            }
            let (created, updated) = (random.below(5) as i64 * 1000, random.below(3) as i64 - 1);
            Row::stamped(&Json::Object(data).to_string(), &format!("i{n:02}"), *random.pick(OWNERS), created, updated)
        })
        .collect()
}

/// The value, or one in its place that every index has in order.
fn scalar(value: Json) -> Json {
    match value {
        Json::Array(list) => list.len().into(),
        Json::Object(members) if members.len() > 2 => members.len().into(),
        Json::Object(members) => members.into_iter().map(|(name, it)| (name, scalar(it))).collect(),
        Json::String(text) => text.chars().take(10).collect::<String>().into(),
        it => it,
    }
}

/// An index on fields that questions ask about.
fn index(random: &mut Random, number: i64) -> IndexSpec {
    const NAMES: &[&str] = &["a", "b", "c", "d'", "e\"f", "a.b", "b.a", "a.b.c", "_owner", "_createdDate", "missing"];
    let mut fields: Vec<Key> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let field = Field::parse(NAMES[random.below(NAMES.len())]);
        let direction = *random.pick(&[Direction::Ascending, Direction::Descending]);
        if fields.iter().all(|it| it.field != field) {
            fields.push(Key { field, direction });
        }
    }
    IndexSpec { number, fields, unique: false, case_insensitive: random.one_in(4) }
}

struct World {
    table: Table,
    schema: Schema,
    rows: Vec<Row>,
    documents: Vec<Json>,
}

impl World {
    fn ask(&self, questions: &[Question], sqlite: &OnSqlite, postgres: &OnPostgres, seed: u64) -> usize {
        let scalars: Vec<_> = questions.iter().filter_map(|it| Some((it, it.scalar.as_ref()?))).collect();
        let on_postgres = postgres.rows_of_all(scalars.iter().map(|(_, scalar)| &scalar[1]));
        let mut confirmed = 0;
        for ((it, scalar), on_postgres) in scalars.iter().zip(on_postgres) {
            let found = [sqlite.rows(&scalar[0]), on_postgres].map(|rows| all_scalar(rows, it.expected.first()));
            let is_right = |rows: &Option<Rows>| rows.as_ref().is_none_or(|rows| *rows == it.expected);
            assert!(
                found[0] == found[1] && found.iter().all(is_right),
                "seed {seed}\n{:#}\n{:?}\n{found:#?}\n{:#?}\n{scalar:?}",
                it.request,
                it.scope,
                it.expected
            );
            confirmed += usize::from(found[0].is_some());
        }
        let on_postgres = postgres.rows_of_all(questions.iter().map(|it| &it.statements[1]));
        for (it, on_postgres) in questions.iter().zip(on_postgres) {
            // Marks may follow on what was asked for.
            let width = it.expected.first().map_or(0, Vec::len);
            let asked = |rows: Rows| rows.into_iter().map(|it| it[..width].to_vec()).collect::<Rows>();
            let (on_sqlite, on_postgres) = (asked(sqlite.rows(&it.statements[0])), asked(on_postgres));
            if on_sqlite != it.expected || on_postgres != it.expected {
                let shown = |rows: &Rows| rows.iter().filter_map(|it| it[0].clone()).collect::<Vec<_>>().join(" ");
                panic!(
                    "seed {seed}\n{:#}\n{:?}\nmemory     {}\nSQLite     {}\nPostgreSQL {}\n{:#?}\n{:?}\n{:?}",
                    it.request,
                    it.scope,
                    shown(&it.expected),
                    shown(&on_sqlite),
                    shown(&on_postgres),
                    self.relevant(&it.expected, &on_sqlite, &on_postgres),
                    it.statements[0],
                    it.statements[1],
                );
            }
        }
        confirmed
    }

    /// A page and its count, and sometimes the different values of a field under the same filter.
    fn questions(&self, random: &mut Random, tally: &mut Tally, seed: u64) -> Vec<Question> {
        let filter = self.telling_filter(random, tally);
        let mut request = json!({ "query": { "filter": filter, "sort": self.sort(random) } });
        if random.one_in(3) {
            request["query"]["paging"] = json!({ "limit": 1 + random.below(20), "offset": random.below(10) });
        } else {
            request["query"]["paging"] = json!({ "limit": ITEMS });
        }
        if random.one_in(20) {
            request["sortMode"] = "RANDOM".into();
            request["randomOptions"] = json!({ "seed": random.below(3) });
        }
        let scope = match random.below(6) {
            0 => Scope::OwnedBy("m1".to_owned()),
            _ => Scope::Everything,
        };
        let context = Context { schema: &self.schema, scope, seed: 0 };
        let body = request.as_object().expect("an object");
        let query = wire::Query::parse(body, &QueryLimits::default())
            .unwrap_or_else(|it| panic!("seed {seed}: {it:?}\n{request}"));
        let mut plan =
            resolve::find(&query, context.clone()).unwrap_or_else(|it| panic!("seed {seed}: {it:?}\n{request}"));
        if random.one_in(3) {
            let position = order::position(&plan.order, random.pick(&self.documents));
            plan.page.start = if random.one_in(2) { Start::After(position) } else { Start::Before(position) };
        }

        let (page, total) = self.find(&plan);
        tally.questions += 1;
        tally.proper += usize::from(total > 0 && total < ITEMS);
        let (table, count) = (self.table, plan.count());
        let question = |statements, scalar, expected| Question {
            request: request.clone(),
            scope: context.scope.clone(),
            statements,
            scalar,
            expected,
        };
        let scalar =
            compile::find_scalar(&Sqlite, table, &plan, &[]).zip(compile::find_scalar(&Postgres, table, &plan, &[]));
        let mut questions = vec![
            question(
                [compile::find(&Sqlite, table, &plan), compile::find(&Postgres, table, &plan)],
                scalar.map(|(a, b)| [a.statement, b.statement]),
                page,
            ),
            question(
                [compile::count(&Sqlite, table, &count), compile::count(&Postgres, table, &count)],
                None,
                vec![vec![Some(total.to_string())]],
            ),
        ];
        // Page and count by one pass.
        plan.total = true;
        let counted = compile::find_counted(&Sqlite, table, &plan).zip(compile::find_counted(&Postgres, table, &plan));
        if let Some((on_sqlite, on_postgres)) = counted {
            tally.counted += 1;
            let page = self.find(&plan).0.into_iter().map(|it| [it, vec![Some(total.to_string())]].concat());
            questions.push(question([on_sqlite, on_postgres], None, page.collect()));
        }
        if random.one_in(4) {
            questions.extend(self.distinct_questions(random, &request, context));
        }
        questions
    }

    fn distinct_questions(&self, random: &mut Random, request: &Json, context: Context<'_>) -> [Question; 2] {
        let (order, limit) = (*random.pick(&["ASC", "DESC"]), *random.pick(&[500, 500, 3]));
        let request = json!({
            "fieldName": self.field(random), "filter": request["query"]["filter"], "order": order,
            "paging": { "limit": limit, "offset": if limit == 3 { random.below(4) } else { 0 } },
        });
        let scope = context.scope.clone();
        let wire =
            wire::Distinct::parse(request.as_object().expect("an object"), &QueryLimits::default()).expect("a request");
        let plan = resolve::distinct(&wire, context).expect("a plan");
        let (table, values) = (self.table, self.distinct(&plan));
        let offset = plan.page.start.offset();
        let page = values.iter().skip(offset as usize).take(limit as usize + 1);
        let question = |statements, expected| Question {
            request: request.clone(),
            scope: scope.clone(),
            statements,
            scalar: None,
            expected,
        };
        [
            question(
                [compile::distinct(&Sqlite, table, &plan), compile::distinct(&Postgres, table, &plan)],
                page.map(|it| vec![Some(it.clone())]).collect(),
            ),
            question(
                [compile::distinct_count(&Sqlite, table, &plan), compile::distinct_count(&Postgres, table, &plan)],
                vec![vec![Some(values.len().to_string())]],
            ),
        ]
    }

    /// The page as memory finds it, and how many items match.
    fn find(&self, plan: &Find) -> (Rows, usize) {
        let scope = plan.scope.filter();
        let mut found: Vec<_> = (0..self.rows.len())
            .filter(|&n| matches(&scope, &self.documents[n]) && matches(&plan.filter, &self.documents[n]))
            .collect();
        found.sort_by(|&a, &b| order::compare(&plan.order, &self.documents[a], &self.documents[b]));
        let offset = plan.page.start.offset();
        let total = found.len();
        if let Some(position) = plan.page.start.position() {
            // The item itself need not be among those found.
            let at = self.rows.iter().position(|it| it.id == position.id).expect("an item");
            let wanted = if plan.page.start.is_backward() { Ordering::Less } else { Ordering::Greater };
            found.retain(|&n| order::compare(&plan.order, &self.documents[n], &self.documents[at]) == wanted);
        }
        if plan.page.start.is_backward() {
            found.reverse();
        }
        let page = found.iter().skip(offset as usize).take(plan.page.limit as usize + 1);
        let row = |&n: &usize| vec![Some(self.rows[n].document.clone())];
        (page.map(row).collect(), total)
    }

    fn distinct(&self, plan: &Distinct) -> Vec<String> {
        let scope = plan.scope.filter();
        let found = self.documents.iter().filter(|it| matches(&scope, it) && matches(&plan.filter, it));
        let mut keys: Vec<_> = found.flat_map(|it| order::values(&plan.field, it)).collect();
        keys.sort_by_cached_key(|it| stoa_sql::key::bounded(it.clone()));
        keys.dedup();
        if plan.direction == Direction::Descending {
            keys.reverse();
        }
        keys
    }

    /// The documents that one answer has and another hasn't.
    fn relevant(&self, a: &Rows, b: &Rows, c: &Rows) -> Vec<&str> {
        let has = |list: &Rows, row: &Row| list.iter().any(|it| it[0].as_deref() == Some(&row.document));
        let is_array_valued = |row: &&Row| {
            let answers = [has(a, row), has(b, row), has(c, row)];
            answers.contains(&true) && answers.contains(&false)
        };
        self.rows.iter().filter(is_array_valued).map(|it| it.document.as_str()).collect()
    }

    fn field(&self, random: &mut Random) -> String {
        match random.below(20) {
            0 => "_id".to_owned(),
            1 => "_owner".to_owned(),
            2 => "_createdDate".to_owned(),
            3 => "_updatedDate".to_owned(),
            4 => "missing".to_owned(),
            5..=7 => {
                format!("{}.{}.{}", random.pick(&["a", "b", "c"]), random.pick(&["a", "b"]), random.pick(values::NAMES))
            }
            8..=11 => format!("{}.{}", random.pick(&["a", "b", "c", "d'"]), random.pick(values::NAMES)),
            _ => (*random.pick(&["a", "b", "c", "d'", "e\"f"])).to_owned(),
        }
    }

    fn sort(&self, random: &mut Random) -> Json {
        let key =
            |random: &mut Random| json!({ "fieldName": self.field(random), "order": random.pick(&["ASC", "DESC"]) });
        // Every fifth in the order of an index, if there is one.
        if !self.schema.indexes.is_empty() && random.one_in(5) {
            let name = |it: Direction| if it == Direction::Ascending { "ASC" } else { "DESC" };
            let fields = random.pick(&self.schema.indexes).fields.iter();
            return fields.map(|it| json!({ "fieldName": it.field.name(), "order": name(it.direction) })).collect();
        }
        Json::Array((0..random.below(4)).map(|_| key(random)).collect())
    }

    /// A filter; most of those that let all or nothing through are passed over.
    fn telling_filter(&self, random: &mut Random, tally: &mut Tally) -> Json {
        loop {
            let mut operators = Tally::default();
            let filter = self.filter(random, &mut operators, 2);
            let plan = wire::Filter::parse(&filter, &QueryLimits::default())
                .and_then(|it| resolve::filter(&it, &Schema::default()));
            let plan = plan.unwrap_or_else(|it| panic!("{it:?}\n{filter}"));
            let found = self.documents.iter().filter(|it| matches(&plan, it)).count();
            if 0 < found && found < ITEMS || random.one_in(4) {
                for (name, count) in operators.operators {
                    *tally.operators.entry(name).or_default() += count;
                }
                return filter;
            }
        }
    }

    fn filter(&self, random: &mut Random, tally: &mut Tally, depth: usize) -> Json {
        let list = |random: &mut Random, tally: &mut Tally| {
            (0..random.below(3)).map(|_| self.filter(random, tally, depth - 1)).collect::<Vec<_>>()
        };
        match random.below(14) {
            0 if depth > 0 => {
                tally.add("$and");
                json!({ "$and": list(random, tally) })
            }
            1 if depth > 0 => {
                tally.add("$or");
                let mut list = list(random, tally);
                list.push(self.filter(random, tally, depth - 1));
                json!({ "$or": list })
            }
            2 if depth > 0 => {
                tally.add("$not [...]");
                json!({ "$not": [self.filter(random, tally, depth - 1)] })
            }
            3 if depth > 0 => {
                tally.add("$not {...}");
                json!({ "$not": self.filter(random, tally, depth - 1) })
            }
            4 => {
                tally.add("field: {$not}");
                let (field, operators) = (self.field(random), self.operator(random, tally, "a"));
                json!({ field: { "$not": operators } })
            }
            5 => {
                let field = self.field(random);
                tally.add("implicit =");
                json!({ &field: self.operand(random, &field) })
            }
            6 => {
                tally.add("between");
                let field = self.field(random);
                let (from, to) = (self.scalar(random, &field), self.scalar(random, &field));
                json!({ field: { "$gte": from, "$lt": to } })
            }
            7 if depth > 0 => {
                tally.add("implicit and");
                let mut all = Map::new();
                for _ in 0..2 {
                    if let Json::Object(it) = self.filter(random, tally, depth - 1) {
                        all.extend(it);
                    }
                }
                Json::Object(all)
            }
            _ => {
                let field = self.field(random);
                let operators = self.operator(random, tally, &field);
                json!({ field: operators })
            }
        }
    }

    /// A value that is likely to be found at the field.
    fn operand(&self, random: &mut Random, field: &str) -> Json {
        if random.one_in(3) {
            return values::value(random, 2);
        }
        let path = Field::parse(field);
        for _ in 0..8 {
            let keys = order::values(&path, random.pick(&self.documents));
            if !keys.is_empty() {
                return stoa_sql::key::value(&keys[random.below(keys.len())]);
            }
        }
        values::scalar(random)
    }

    fn scalar(&self, random: &mut Random, field: &str) -> Json {
        match self.operand(random, field) {
            Json::Object(it) if !it.contains_key("$date") => "a".into(),
            Json::Null | Json::Array(_) => 1.into(),
            it => it,
        }
    }

    fn operator(&self, random: &mut Random, tally: &mut Tally, field: &str) -> Json {
        let operator = random.pick(wire::Operator::ALL).name();
        tally.add(operator);
        let element = |random: &mut Random| match self.scalar(random, field) {
            Json::Bool(_) => "a".into(),
            it => it,
        };
        let operand = match operator {
            "$eq" | "$ne" => self.operand(random, field),
            "$in" | "$nin" | "$hasSome" => Json::Array((0..random.below(4)).map(|_| element(random)).collect()),
            "$hasAll" => Json::Array((0..random.below(3)).map(|_| element(random)).collect()),
            "$exists" | "$isEmpty" => random.one_in(2).into(),
            "$startsWith" | "$endsWith" | "$contains" => self.part(random, field).into(),
            "$matches" => {
                let text = self.part(random, field);
                let (a, b): (String, String) = (text.chars().take(1).collect(), text.chars().skip(2).collect());
                let separators: String = text.chars().skip(1).take(1).chain([' ', '-', ']', '^', '\\']).collect();
                json!({ "ignoreCase": random.one_in(2), "spec": [
                    { "type": "literal", "value": a }, { "type": "anyOf", "value": separators }, { "type": "literal", "value": b },
                ] })
            }
            _ => self.scalar(random, field),
        };
        json!({ operator: operand })
    }

    /// Some of the characters of a text that is likely to be found at the field.
    fn part(&self, random: &mut Random, field: &str) -> String {
        let text = match self.operand(random, field) {
            Json::String(it) => it,
            _ => values::text(random),
        };
        let count = text.chars().count();
        let (skip, take) = (random.below(2), 1 + random.below(count.max(1)));
        let part: String = text.chars().skip(skip.min(count)).take(take).collect();
        if random.one_in(2) { part.to_uppercase() } else { part }
    }
}
