//! What only the engines can tell: that they fold as we do, and that indexes serve.

mod support;

use serde_json::json;
use stoa_kernel::fold::{fold, fold_char};
use stoa_query::{Context, Schema, Scope, compile, resolve, wire};
use stoa_sql::{Dialect, Place, Postgres, Sqlite, Table, Value, Writer, key};
use support::values::{self, Random};
use support::{OnPostgres, OnSqlite, Row};

/// All code points that a text can hold, in texts of 1,000.
fn all_code_points() -> Vec<String> {
    let all: Vec<char> = (1..=0x10_ffff_u32).filter_map(char::from_u32).collect();
    all.chunks(1000).map(|it| it.iter().collect()).collect()
}

#[test]
fn folding_is_the_same_for_every_code_point() {
    let texts = all_code_points();
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    // Alone, a character takes the shorter ways through PostgreSQL's function.
    let alone: Vec<String> =
        texts.iter().flat_map(|it| it.chars()).filter(|&c| fold_char(c) != c).map(String::from).collect();
    for texts in texts.chunks(50).chain(alone.chunks(1000)) {
        let list = Value::Texts(texts.to_vec());
        let on_sqlite =
            sqlite.rows(&("select stoa_fold(value) from json_each($1) order by key".into(), vec![list.clone()]));
        let on_postgres = postgres.rows(&(
            "select stoa.fold(it) from unnest($1::text[]) with ordinality as t(it, n) order by n".into(),
            vec![list],
        ));
        for (n, text) in texts.iter().enumerate() {
            assert_eq!(on_sqlite[n][0].as_deref(), Some(fold(text).as_ref()));
            assert_eq!(on_postgres[n][0].as_deref(), Some(fold(text).as_ref()));
        }
    }
}

#[test]
fn sort_keys_are_the_same_in_postgresql() {
    let postgres = OnPostgres::open();
    let mut random = Random::new(3);
    let values: Vec<_> = (0..20_000).map(|_| values::value(&mut random, 3)).collect();
    let texts: Vec<String> =
        values.iter().map(|it| stoa_query::item::value(it).expect("a value").to_string()).collect();
    let rows = postgres.rows(&(
        "select stoa.least(it::jsonb), stoa.greatest(it::jsonb), stoa.value_key(it::jsonb) \
         from unnest($1::text[]) with ordinality as t(it, n) order by n"
            .into(),
        vec![Value::Texts(texts.clone())],
    ));
    for (text, row) in texts.iter().zip(rows) {
        let json = Some(text.as_str());
        let expected = [key::least(json), key::greatest(json), key::own(json)].map(Some);
        assert_eq!(row, expected, "{text}");
    }
}

/// Enough items that an engine would rather use an index.
fn many(count: usize) -> Vec<Row> {
    (0..count)
        .map(|n| {
            let data = json!({ "price": n % 100, "name": format!("n{}", n % 77), "tags": [n % 5] }).to_string();
            Row::stamped(&data, &format!("i{n:05}"), Some(if n % 10 == 0 { "m1" } else { "m2" }), n as i64, n as i64)
        })
        .collect()
}

#[test]
fn indexes_serve() {
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    let table = Table { site: postgres.site, number: 1 };
    let rows = many(5000);
    sqlite.create(table, &rows);
    postgres.create(table, &rows);
    let indexes = |d: &dyn Dialect, on: &str, prefix: &str| {
        let key = d.sort_key(&Place::field(&["name".to_owned()]), stoa_sql::Direction::Ascending);
        [format!("create index {prefix}name_order on {on} (({key}), id)")]
    };
    for it in indexes(&Sqlite, "c1", "stoa.") {
        sqlite.execute(&it);
    }
    for it in indexes(&Postgres, &Postgres.table(table), "") {
        postgres.execute(&it);
    }
    sqlite.execute("analyze stoa");
    postgres.execute(&format!("analyze {}", Postgres.table(table)));

    let check = |request: serde_json::Value, scope: Scope, index: &str, is_sorted: bool| {
        let schema = Schema::default();
        let query = wire::Query::parse(request.as_object().expect("an object")).expect("a query");
        let plan = resolve::find(&query, Context { schema: &schema, scope, seed: 0 }).expect("a plan");
        let on_sqlite = sqlite.plan(&compile::find(&Sqlite, table, &plan));
        assert!(on_sqlite.contains(index), "{request}\n{on_sqlite}");
        assert_eq!(is_sorted, !on_sqlite.contains("TEMP B-TREE"), "{request}\n{on_sqlite}");
        let on_postgres = postgres.plan(&compile::find(&Postgres, table, &plan));
        assert!(on_postgres.contains(index), "{request}\n{on_postgres}");
        assert_eq!(is_sorted, !on_postgres.contains("Sort Key"), "{request}\n{on_postgres}");
    };
    check(json!({}), Scope::Everything, "c1_created", true);
    check(json!({}), Scope::OwnedBy("m1".into()), "c1_owner", true);
    check(json!({ "query": { "sort": [{ "fieldName": "name" }] } }), Scope::Everything, "name_order", true);

    let check = |filter: serde_json::Value, index: &str| {
        let schema = Schema::default();
        let wire = wire::Filter::parse(&filter).expect("a filter");
        let plan =
            resolve::count(&wire, Context { schema: &schema, scope: Scope::Everything, seed: 0 }).expect("a plan");
        let on_sqlite = sqlite.plan(&compile::count(&Sqlite, table, &plan));
        assert!(on_sqlite.contains(index) && !on_sqlite.contains("SCAN stoa."), "{filter}\n{on_sqlite}");
        let on_postgres = postgres.plan(&compile::count(&Postgres, table, &plan));
        assert!(on_postgres.contains(index) && !on_postgres.contains("Seq Scan"), "{filter}\n{on_postgres}");
    };
    check(json!({ "_id": { "$in": ["i00001", "i00002"] } }), "id");
    check(json!({ "_owner": "m1", "_createdDate": { "$lt": { "$date": 10 } } }), "c1_");
}

/// The largest that `wire` lets through must fit into what SQLite takes: a million bytes of text, a
/// thousand levels of expression.
#[test]
fn the_largest_filters_fit() {
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    let table = Table { site: postgres.site, number: 2 };
    sqlite.create(table, &many(10));
    postgres.create(table, &many(10));
    let all_types = || json!({ "$in": ["x", "y", 1, 2, { "$date": 1 }, { "$date": 2 }] });
    let repeated =
        |name: &str, test: &serde_json::Value, count: usize| json!({ "$or": vec![json!({ name: test }); count] });
    let deep = vec!["n"; 32].join(".");
    let long = "n".repeat(1000);
    let long_and_deep = vec!["n".repeat(30); 32].join(".");
    let quotes = "'\"\\\u{1}".repeat(100);
    for name in ["a", "a.b", "a.b.c", &deep, &long, &long_and_deep, &quotes] {
        for test in [all_types(), json!({ "$eq": null }), json!({ "$not": { "$hasAll": ["1", 2, 3] } })] {
            let fits = |count: usize| wire::Filter::parse(&repeated(name, &test, count)).is_ok();
            let largest = (1..=500).rev().find(|&it| fits(it)).expect("one condition fits");
            let wire = wire::Filter::parse(&repeated(name, &test, largest)).expect("a filter");
            let context = Context { schema: &Schema::default(), scope: Scope::Everything, seed: 0 };
            let plan = resolve::count(&wire, context).expect("a plan");
            let (on_sqlite, on_postgres) =
                (compile::count(&Sqlite, table, &plan), compile::count(&Postgres, table, &plan));
            let length = on_sqlite.0.len();
            assert!(length < 500_000, "{largest} conditions on {name}: {length}");
            let counted = sqlite.rows(&on_sqlite);
            // Planning this on PostgreSQL takes its time, and its limits are further off.
            if name.len() < 4 {
                assert_eq!(counted, postgres.rows(&on_postgres));
            }
        }
    }
}

#[test]
fn a_condition_guards_a_write() {
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    let table = Table { site: postgres.site, number: 3 };
    let rows = many(10);
    sqlite.create(table, &rows);
    postgres.create(table, &rows);
    let removed = |dialect: &dyn Dialect, id: &str, condition: &serde_json::Value| {
        let wire = wire::Filter::parse(condition).expect("a filter");
        let filter = resolve::filter(&wire, &Schema::default()).expect("a filter");
        let mut sql = Writer::new(dialect);
        sql.push("delete from ").push(&dialect.table(table)).push(" where id = ").bind(id).push(" and ");
        compile::condition(&mut sql, &filter);
        sql.push(" returning id");
        sql.finish()
    };
    for (id, condition, happens) in [
        ("i00001", json!({ "price": { "$gt": 1 } }), false),
        ("i00001", json!({ "price": 1, "$or": [{ "name": "x" }, { "tags": 1 }] }), true),
        ("i00001", json!({}), false),
        ("i00002", json!({ "$not": {} }), false),
        ("i00002", json!({ "$or": [{ "missing": { "$lt": 5 } }, { "_owner": { "$ne": "m1" } }] }), true),
    ] {
        let expected: &[&[Option<String>]] = if happens { &[&[Some(id.to_owned())]] } else { &[] };
        assert_eq!(sqlite.rows(&removed(&Sqlite, id, &condition)), expected, "{condition}");
        assert_eq!(postgres.rows(&removed(&Postgres, id, &condition)), expected, "{condition}");
    }
}

#[test]
fn the_longest_patterns_fit() {
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    let table = Table { site: postgres.site, number: 4 };
    let text: String = "a \u{10400}-".repeat(50);
    let row = Row::stamped(&json!({ "t": text }).to_string(), "x", None, 0, 0);
    sqlite.create(table, std::slice::from_ref(&row));
    postgres.create(table, &[row]);
    let literal = |it: &str| json!({ "type": "literal", "value": it });
    let run = json!({ "type": "anyOf", "value": " -_.,;:!?[]^\\" });
    let parts: Vec<_> = (0..50).flat_map(|_| [literal("A"), run.clone(), literal("\u{10428}"), run.clone()]).collect();
    let filter = json!({ "t": { "$matches": { "ignoreCase": true, "spec": parts } } });
    let wire = wire::Filter::parse(&filter).expect("a filter");
    let context = Context { schema: &Schema::default(), scope: Scope::Everything, seed: 0 };
    let plan = resolve::count(&wire, context).expect("a plan");
    let found = [[Some("1".to_owned())]];
    assert_eq!(sqlite.rows(&compile::count(&Sqlite, table, &plan)), found);
    assert_eq!(postgres.rows(&compile::count(&Postgres, table, &plan)), found);
}
