//! Three must agree: SQLite, PostgreSQL and the matcher in memory, on random collections and questions.
//!
//! `STOA_QUERY_RUNS` sets how many questions each of the two seeds asks; `STOA_QUERY_SEED` replaces the
//! fresh one, to ask again what failed.

mod support;

use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, hash_map::RandomState};
use std::hash::{BuildHasher, Hasher};
use stoa_query::plan::{Distinct, Find, Start};
use stoa_query::{Context, Schema, Scope, compile, matches, order, resolve, wire};
use stoa_sql::{Postgres, Sqlite, Table};
use support::values::{self, Random};
use support::{OnPostgres, OnSqlite, Row};

const ITEMS: usize = 60;
/// Questions asked of one collection before the next is made.
const QUESTIONS: usize = 100;
const OWNERS: &[Option<&str>] = &[None, Some("m1"), Some("m2")];

#[test]
fn the_fixed_seed() {
    ask_many(20_240_305);
}

#[test]
fn a_fresh_seed() {
    let given = from_environment("STOA_QUERY_SEED");
    // The standard library seeds its hash tables with chance; nothing here needs more than that.
    let fresh = RandomState::new().build_hasher().finish();
    ask_many(given.unwrap_or(fresh));
}

#[expect(clippy::disallowed_methods, reason = "the environment says how much to ask")]
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn ask_many(seed: u64) {
    let runs = from_environment("STOA_QUERY_RUNS").unwrap_or(1000);
    let mut tally = Tally::default();
    let mut random = Random::new(seed);
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    for number in 0..(runs as i64 + QUESTIONS as i64 - 1) / QUESTIONS as i64 {
        let table = Table { site: postgres.site, number };
        let rows = collection(&mut random);
        sqlite.create(table, &rows);
        postgres.create(table, &rows);
        let world = World {
            table,
            documents: rows.iter().map(Row::json).collect(),
            rows,
            sqlite: &sqlite,
            postgres: &postgres,
        };
        for _ in 0..QUESTIONS {
            world.ask(&mut random, &mut tally, seed);
        }
    }
    tally.print(seed);
}

#[derive(Default)]
struct Tally {
    operators: BTreeMap<&'static str, usize>,
    questions: usize,
    proper: usize,
}

impl Tally {
    fn print(&self, seed: u64) {
        #[allow(clippy::print_stdout, reason = "the report of a test")]
        {
            println!("seed {seed}: {} questions, {} with a proper part as answer", self.questions, self.proper);
            println!("{:?}", self.operators);
        }
    }
}

fn collection(random: &mut Random) -> Vec<Row> {
    (0..ITEMS)
        .map(|n| {
            let mut data = Map::new();
            for name in ["a", "b", "c", "d'", "e\"f"] {
                if !random.one_in(4) {
                    data.insert(name.to_owned(), values::value(random, 3));
                }
            }
            let (created, updated) = (random.below(5) as i64 * 1000, random.below(3) as i64 - 1);
            Row::stamped(&Json::Object(data).to_string(), &format!("i{n:02}"), *random.pick(OWNERS), created, updated)
        })
        .collect()
}

struct World<'a> {
    table: Table,
    rows: Vec<Row>,
    documents: Vec<Json>,
    sqlite: &'a OnSqlite,
    postgres: &'a OnPostgres,
}

impl World<'_> {
    fn ask(&self, random: &mut Random, tally: &mut Tally, seed: u64) {
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
        let schema = Schema::default();
        let context = Context { schema: &schema, scope, seed: 0 };
        let body = request.as_object().expect("an object");
        let query = wire::Query::parse(body).unwrap_or_else(|it| panic!("seed {seed}: {it:?}\n{request}"));
        let plan = resolve::find(&query, context.clone()).unwrap_or_else(|it| panic!("seed {seed}: {it:?}\n{request}"));

        let (expected, total) = self.find(&plan);
        let (on_sqlite, on_postgres) = (
            self.sqlite.rows(&compile::find(&Sqlite, self.table, &plan)),
            self.postgres.rows(&compile::find(&Postgres, self.table, &plan)),
        );
        if on_sqlite != expected || on_postgres != expected {
            let ids =
                |rows: &[Vec<Option<String>>]| rows.iter().filter_map(|it| it[0].clone()).collect::<Vec<_>>().join(" ");
            panic!(
                "seed {seed}\n{request:#}\n{:?}\nmemory     {}\nSQLite     {}\nPostgreSQL {}\n{:#?}\n{}\n{}",
                plan.scope,
                ids(&expected),
                ids(&on_sqlite),
                ids(&on_postgres),
                self.relevant(&expected, &on_sqlite, &on_postgres),
                compile::find(&Sqlite, self.table, &plan).0,
                compile::find(&Postgres, self.table, &plan).0,
            );
        }
        let count = plan.count();
        let counted = [
            self.sqlite.rows(&compile::count(&Sqlite, self.table, &count)),
            self.postgres.rows(&compile::count(&Postgres, self.table, &count)),
        ];
        for it in counted {
            assert_eq!(it, [[Some(total.to_string())]], "seed {seed}\n{request:#}");
        }
        tally.questions += 1;
        tally.proper += usize::from(total > 0 && total < ITEMS);

        if random.one_in(4) {
            self.ask_distinct(random, &request, context, seed);
        }
    }

    fn ask_distinct(&self, random: &mut Random, request: &Json, context: Context<'_>, seed: u64) {
        let order = *random.pick(&["ASC", "DESC"]);
        let request = json!({
            "fieldName": self.field(random), "filter": request["query"]["filter"], "order": order, "paging": { "limit": 500 },
        });
        let wire = wire::Distinct::parse(request.as_object().expect("an object")).expect("a request");
        let plan = resolve::distinct(&wire, context).expect("a plan");
        let expected = self.distinct(&plan);
        for rows in [
            self.sqlite.rows(&compile::distinct(&Sqlite, self.table, &plan)),
            self.postgres.rows(&compile::distinct(&Postgres, self.table, &plan)),
        ] {
            let keys: Vec<_> = rows.into_iter().map(|it| it[0].clone().unwrap_or_default()).collect();
            assert_eq!(keys, expected, "seed {seed}\n{request:#}");
        }
        for rows in [
            self.sqlite.rows(&compile::distinct_count(&Sqlite, self.table, &plan)),
            self.postgres.rows(&compile::distinct_count(&Postgres, self.table, &plan)),
        ] {
            assert_eq!(rows, [[Some(expected.len().to_string())]], "seed {seed}\n{request:#}");
        }
    }

    /// The page as memory finds it, and how many items match.
    fn find(&self, plan: &Find) -> (Vec<Vec<Option<String>>>, usize) {
        let scope = plan.scope.filter();
        let mut found: Vec<_> = (0..self.rows.len())
            .filter(|&n| matches(&scope, &self.documents[n]) && matches(&plan.filter, &self.documents[n]))
            .collect();
        found.sort_by(|&a, &b| order::compare(&plan.order, &self.documents[a], &self.documents[b]));
        let Start::Offset(offset) = plan.window.start;
        let page = found.iter().skip(offset as usize).take(plan.window.limit as usize + 1);
        let row = |&n: &usize| vec![Some(self.rows[n].id.clone()), Some(self.rows[n].document.clone())];
        (page.map(row).collect(), found.len())
    }

    fn distinct(&self, plan: &Distinct) -> Vec<String> {
        let scope = plan.scope.filter();
        let found = self.documents.iter().filter(|it| matches(&scope, it) && matches(&plan.filter, it));
        let mut keys: Vec<_> = found.flat_map(|it| order::values(&plan.field, it)).collect();
        keys.sort();
        keys.dedup();
        if plan.direction == stoa_sql::Direction::Descending {
            keys.reverse();
        }
        keys
    }

    /// The documents that one answer has and another hasn't.
    fn relevant(&self, a: &[Vec<Option<String>>], b: &[Vec<Option<String>>], c: &[Vec<Option<String>>]) -> Vec<&str> {
        let has = |list: &[Vec<Option<String>>], row: &Row| list.iter().any(|it| it[0].as_deref() == Some(&row.id));
        let is_odd = |row: &&Row| {
            let answers = [has(a, row), has(b, row), has(c, row)];
            answers.contains(&true) && answers.contains(&false)
        };
        self.rows.iter().filter(is_odd).map(|it| it.document.as_str()).collect()
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
        Json::Array((0..random.below(3)).map(|_| key(random)).collect())
    }

    /// A filter; most of those that let all or nothing through are passed over.
    fn telling_filter(&self, random: &mut Random, tally: &mut Tally) -> Json {
        loop {
            let mut operators = Tally::default();
            let filter = self.filter(random, &mut operators, 2);
            let plan = wire::Filter::parse(&filter).and_then(|it| resolve::filter(&it, &Schema::default()));
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
        match random.below(12) {
            0 if depth > 0 => json!({ "$and": list(random, tally) }),
            1 if depth > 0 => {
                let mut list = list(random, tally);
                list.push(self.filter(random, tally, depth - 1));
                json!({ "$or": list })
            }
            2 if depth > 0 => json!({ "$not": [self.filter(random, tally, depth - 1)] }),
            3 if depth > 0 => json!({ "$not": self.filter(random, tally, depth - 1) }),
            4 => {
                let (field, operators) = (self.field(random), self.operator(random, tally, "a"));
                json!({ field: { "$not": operators } })
            }
            5 => {
                let field = self.field(random);
                *tally.operators.entry("implicit").or_default() += 1;
                json!({ &field: self.operand(random, &field) })
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
        let path = stoa_query::plan::Field::parse(field);
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
        *tally.operators.entry(operator).or_default() += 1;
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
