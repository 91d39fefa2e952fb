//! Pages by cursor, forward and back, while somebody else writes between the pages.

mod support;

use serde_json::json;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use stoa_query::compile::Statement;
use stoa_query::plan::{Field, Find, Key, KeysetValue, Position, Start};
use stoa_query::schema::IndexSpec;
use stoa_query::{Context, QueryLimits, Schema, Scope, compile, resolve, wire};
use stoa_sql::{Dialect, Direction, Postgres, Sqlite, Table};
use support::values::{self, Random};
use support::{OnPostgres, OnSqlite, Row};

/// Items that are there throughout, and items that go away one by one.
const STAY: usize = 50;
const GO: usize = 15;
const NAMES: &[&str] = &["a", "b", "a.b", "_createdDate", "_owner", "_id", "missing"];

struct Both {
    sqlite: OnSqlite,
    postgres: OnPostgres,
    table: Table,
}

/// What the fixed seed finds is found again; the fresh one is printed.
#[test]
fn cursor_pages_show_what_stays_exactly_once() {
    let fresh = RandomState::new().build_hasher().finish();
    let _ = writeln!(std::io::stdout(), "\nwalks of seeds 7 and {fresh}");
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    let mut both = Both { table: Table { site: postgres.site, number: 0 }, sqlite, postgres };
    for seed in [7, fresh] {
        let mut random = Random::new(seed);
        for _ in 0..support::rounds(5) {
            both.table.number += 1;
            both.check_pages(&mut random, seed);
        }
    }
}

impl Both {
    fn check_pages(&self, random: &mut Random, seed: u64) {
        let stay: Vec<_> = (0..STAY).map(|n| row(random, &format!("s{n:03}"))).collect();
        let go: Vec<_> = (0..GO).map(|n| row(random, &format!("g{n:03}"))).collect();
        let all: Vec<_> = stay.iter().chain(&go).cloned().collect();
        self.sqlite.create(self.table, &all);
        self.postgres.create(self.table, &all);
        let indexes: Vec<_> = (0..random.below(3) as i64).map(|it| index(random, it + 1)).collect();
        for it in &indexes {
            compile::index(&Sqlite, self.table, it, false).iter().for_each(|it| self.sqlite.execute(it));
            compile::index(&Postgres, self.table, it, false).iter().for_each(|it| self.postgres.execute(it));
        }
        let schema = Schema { indexes: indexes.into(), ..Schema::default() };
        let sort: Vec<_> = (0..random.below(4))
            .map(|_| json!({ "fieldName": random.pick(NAMES), "order": random.pick(&["ASC", "DESC"]) }))
            .collect();
        let request = json!({ "query": { "sort": sort, "paging": { "limit": 4 + random.below(9) } } });
        let query =
            wire::Query::parse(request.as_object().expect("an object"), &QueryLimits::default()).expect("a query");
        let mut plan =
            resolve::find(&query, Context { schema: &schema, scope: Scope::Everything, seed: 0 }).expect("a plan");

        let mut others = Others { number: 0, gone: 0 };
        plan.page.start = Start::First;
        let forward = self.pages(&mut plan, random, &mut others, Start::After);
        let met = |met: &[Position], id: &str| met.iter().filter(|it| it.id == id).count();
        for it in &stay {
            assert_eq!(met(&forward, &it.id), 1, "seed {seed}, {} forward\n{request}", it.id);
        }
        let Some(last) = forward.last() else { panic!("seed {seed}: no item\n{request}") };
        plan.page.start = Start::Before(last.clone());
        let back = self.pages(&mut plan, random, &mut others, Start::Before);
        for it in stay.iter().filter(|it| it.id != last.id) {
            assert_eq!(met(&back, &it.id), 1, "seed {seed}, {} back\n{request}", it.id);
        }
        for it in &all {
            assert!(met(&forward, &it.id) <= 1 && met(&back, &it.id) <= 1, "seed {seed}, {} twice\n{request}", it.id);
        }
    }

    /// All pages from where the plan starts, the positions of their items in the order in which they are met.
    fn pages(
        &self,
        plan: &mut Find,
        random: &mut Random,
        others: &mut Others,
        next: fn(Position) -> Start,
    ) -> Vec<Position> {
        let (mut met, limit): (Vec<Position>, _) = (Vec::new(), plan.page.limit as usize);
        loop {
            let statements: [Statement; 2] =
                [compile::find(&Sqlite, self.table, plan), compile::find(&Postgres, self.table, plan)];
            let rows = self.sqlite.rows(&statements[0]);
            assert_eq!(rows, self.postgres.rows(&statements[1]), "{statements:?}");
            let page = rows.len().min(limit);
            met.extend(rows[..page].iter().map(|it| position(plan, it)));
            let Some(last) = met.last().filter(|_| rows.len() > limit) else { return met };
            plan.page.start = next(last.clone());
            others.write(self, random);
        }
    }
}

/// Concurrent writes: before each page an item comes, and one of those that may go has gone.
struct Others {
    number: usize,
    gone: usize,
}

impl Others {
    fn write(&mut self, both: &Both, random: &mut Random) {
        self.number += 1;
        let new = [row(random, &format!("n{:03}", self.number))];
        both.sqlite.insert(both.table, &new);
        both.postgres.insert(both.table, &new);
        if self.gone < GO {
            let delete = |table: String| format!("delete from {table} where id = 'g{:03}'", self.gone);
            both.sqlite.execute(&delete(Sqlite.table(both.table)));
            both.postgres.execute(&delete(Postgres.table(both.table)));
            self.gone += 1;
        }
    }
}

/// Many equal values, and values of every type.
fn row(random: &mut Random, id: &str) -> Row {
    let value = |random: &mut Random| match random.below(4) {
        0 => values::value(random, 2),
        _ => random.below(3).into(),
    };
    let data = json!({ "a": value(random), "b": value(random) });
    let owner = *random.pick(&[None, Some("m1"), Some("m2")]);
    let (created, updated) = (random.below(3) as i64, random.below(3) as i64);
    Row::stamped(&data.to_string(), id, owner, created, updated)
}

fn index(random: &mut Random, number: i64) -> IndexSpec {
    let mut fields: Vec<Key> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let field = Field::parse(NAMES[random.below(NAMES.len())]);
        let direction = *random.pick(&[Direction::Ascending, Direction::Descending]);
        if fields.iter().all(|it| it.field != field) && field != Field::Id {
            fields.push(Key { field, direction });
        }
    }
    if fields.is_empty() {
        fields.push(Key { field: Field::parse("a"), direction: Direction::Ascending });
    }
    IndexSpec { number, fields, unique: false, case_insensitive: false }
}

/// Where a row stands, from the id and the keyset values that follow on its document.
fn position(plan: &Find, row: &[Option<String>]) -> Position {
    let keyset_value = |(key, cell): (&Key, &Option<String>)| match key.field {
        Field::Created | Field::Updated => {
            KeysetValue::Time(cell.as_deref().and_then(|it| it.parse().ok()).expect("a time"))
        }
        _ => KeysetValue::Key(cell.clone().unwrap_or_default()),
    };
    let keyset = plan.order.keyset_keys().zip(&row[2..]).map(keyset_value).collect();
    Position { keyset, is_included: false, id: row[1].clone().expect("an id") }
}
