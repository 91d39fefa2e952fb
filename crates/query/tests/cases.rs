//! Golden cases, one file each in `cases/`: a request, what it becomes on each engine, and its rows.
//!
//! Every case runs on SQLite, on PostgreSQL and in memory, and the rows must be equal. `UPDATE_CASES=1`
//! writes the files again: read the difference before committing it.
//!
//! ```text
//! What the case is about, in a sentence.
//! == items          (optional) one JSON object a line; else cases/items.jsonl
//! == scope          (optional) an owner's id, or `nothing`
//! == indexes        (optional) one a line: `field`, `-field` for descending; several with commas
//! == page           (optional) `first`; `after` or `before` an item's id
//! == request        the body of the request
//! == sqlite         written by the test
//! == postgres       written by the test
//! == sqlite, even   written by the test, where there is such a statement
//! == postgres, even written by the test
//! == rows           written by the test
//! ```

mod support;

use serde_json::Value as Json;
use std::{fmt::Write, fs, path::Path};
use stoa_kernel::Result;
use stoa_query::compile::Statement;
use stoa_query::plan::{Field, Key, Order, Start};
use stoa_query::schema::IndexSpec;
use stoa_query::{Context, QueryLimits, Schema, Scope, compile, item, matches, order, resolve, wire};
use stoa_sql::{Direction, Postgres, Sqlite, Table, Value};
use support::{OnPostgres, OnSqlite, Row};

#[test]
#[expect(clippy::disallowed_methods, reason = "the environment says whether to write the files")]
fn cases_hold_on_every_engine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let standard = fs::read_to_string(folder.join("items.jsonl")).expect("the standard items");
    let (sqlite, postgres) = (OnSqlite::open(), OnPostgres::open());
    let mut files: Vec<_> = fs::read_dir(&folder).expect("a folder").map(|it| it.expect("a file").path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "case"));
    files.sort();
    assert!(files.len() > 20, "cases are missing from {}", folder.display());
    let mut failed = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let text = fs::read_to_string(file).expect("a case");
        let table = Table { site: postgres.site, number: number as i64 };
        let case = Case::read(&text, &standard);
        let written = case.run(&sqlite, &postgres, table).unwrap_or_else(|it| panic!("{}: {it}", file.display()));
        // Each case has a table of its own; the texts are the same for all.
        let written = written
            .replace(&format!("site_{}.c{number}", postgres.site), "items")
            .replace(&format!("stoa.c{number}"), "items");
        if update {
            fs::write(file, &written).expect("the case is written");
        } else if written != text {
            failed.push(format!("{}\n{}", file.display(), first_difference(&text, &written)));
        }
    }
    assert!(failed.is_empty(), "{} cases changed (UPDATE_CASES=1 accepts them):\n{}", failed.len(), failed.join("\n"));
}

struct Case<'a> {
    /// What stands before the parts that the test writes.
    head: &'a str,
    items: &'a str,
    scope: Scope,
    indexes: Vec<IndexSpec>,
    page: Option<&'a str>,
    request: Json,
}

impl<'a> Case<'a> {
    fn read(text: &'a str, standard: &'a str) -> Self {
        let part = |name: &str| {
            let start = text.find(&format!("== {name}\n"))? + name.len() + 4;
            let end = text[start..].find("\n== ").map_or(text.len(), |it| start + it);
            Some(text[start..end].trim())
        };
        Self {
            head: text.split("\n== sqlite\n").next().unwrap_or(text).trim_end(),
            items: part("items").unwrap_or(standard),
            scope: match part("scope") {
                None => Scope::Everything,
                Some("nothing") => Scope::Nothing,
                Some(owner) => Scope::OwnedBy(owner.to_owned()),
            },
            indexes: part("indexes").unwrap_or_default().lines().enumerate().map(|(n, it)| index(n, it)).collect(),
            page: part("page"),
            request: part("request").and_then(|it| serde_json::from_str(it).ok()).expect("a request in JSON"),
        }
    }

    fn run(&self, sqlite: &OnSqlite, postgres: &OnPostgres, table: Table) -> Result<String> {
        let rows: Vec<_> = self.items.lines().enumerate().map(|(n, it)| row(n, it)).collect();
        sqlite.create(table, &rows);
        postgres.create(table, &rows);
        for index in &self.indexes {
            compile::index(&Sqlite, table, index, false).iter().for_each(|it| sqlite.execute(it));
            compile::index(&Postgres, table, index, false).iter().for_each(|it| postgres.execute(it));
        }
        let schema = Schema { indexes: self.indexes.clone().into(), ..Schema::default() };
        let context = Context { schema: &schema, scope: self.scope.clone(), seed: 1 };
        let request = self.request.as_object().expect("an object");
        let mut out = format!("{}\n", self.head);
        let answer = |statements: [&Statement; 2]| {
            let rows = sqlite.rows(statements[0]);
            assert_eq!(
                rows,
                postgres.rows(statements[1]),
                "SQLite (left) and PostgreSQL (right) differ\n{}",
                self.head
            );
            rows
        };
        if request.contains_key("fieldName") {
            let plan = resolve::distinct(&wire::Distinct::parse(request, &QueryLimits::default())?, context)?;
            let statements = [compile::distinct(&Sqlite, table, &plan), compile::distinct(&Postgres, table, &plan)];
            let found = answer([&statements[0], &statements[1]]);
            print(&mut out, ["sqlite", "postgres"], &statements);
            out.push_str("\n== rows\n");
            for it in found {
                let _ = writeln!(out, "{}", order::value(it[0].as_deref().unwrap_or_default()));
            }
            return Ok(out);
        }
        let mut plan = resolve::find(&wire::Query::parse(request, &QueryLimits::default())?, context)?;
        if let Some(page) = self.page {
            plan.page.start = start(&rows, &plan.order, page);
        }
        let statements = [compile::find(&Sqlite, table, &plan), compile::find(&Postgres, table, &plan)];
        let found = answer([&statements[0], &statements[1]]);
        let mut expected: Vec<_> = rows
            .iter()
            .map(|it| (it.json(), it))
            .filter(|(it, _)| matches(&plan.scope.filter(), it) && matches(&plan.filter, it))
            .collect();
        expected.sort_by(|(a, _), (b, _)| order::compare(&plan.order, a, b));
        let offset = plan.page.start.offset() as usize;
        let id = self.page.and_then(|it| it.split_once(' ')).map(|(_, id)| id);
        let at = expected.iter().position(|(_, it)| Some(it.id.as_str()) == id);
        let page: Vec<_> = match (at, plan.page.start.is_backward()) {
            (Some(at), true) => expected.into_iter().take(at).rev().collect(),
            (Some(at), false) => expected.into_iter().skip(at + 1).collect(),
            (None, _) => expected.into_iter().skip(offset).collect(),
        };
        let page = page.into_iter().take(plan.page.limit as usize + 1);
        let page: Vec<_> = page.map(|(_, it)| vec![Some(it.document.clone())]).collect();
        let found: Vec<_> = found.into_iter().map(|it| it[..1].to_vec()).collect();
        assert_eq!(found, page, "the engines (left) and memory (right) differ\n{}", self.head);
        print(&mut out, ["sqlite", "postgres"], &statements);
        let scalar =
            compile::find_scalar(&Sqlite, table, &plan, &[]).zip(compile::find_scalar(&Postgres, table, &plan, &[]));
        if let Some(statements) = scalar.map(|(a, b)| [a.statement, b.statement]) {
            let rows = answer([&statements[0], &statements[1]]);
            if rows.iter().all(|it| it.last() == Some(&Some("0".to_owned()))) {
                let rows: Vec<_> = rows.into_iter().map(|it| it[..1].to_vec()).collect();
                assert!(
                    rows.is_empty() || rows == page,
                    "the even items (left) and memory (right) differ\n{}",
                    self.head
                );
            }
            print(&mut out, ["sqlite, even", "postgres, even"], &statements);
        }
        out.push_str("\n== rows\n");
        for it in &found {
            let document = it[0].as_deref().unwrap_or_default();
            let _ = writeln!(out, "{}", shown(&item::project(document, &plan.projection)));
        }
        Ok(out)
    }
}

fn index(n: usize, line: &str) -> IndexSpec {
    let key = |it: &str| match it.trim().strip_prefix('-') {
        Some(name) => Key { field: Field::parse(name), direction: Direction::Descending },
        None => Key { field: Field::parse(it.trim()), direction: Direction::Ascending },
    };
    let (line, case_insensitive) = line.strip_suffix(" folded").map_or((line, false), |it| (it, true));
    let fields = line.split(',').map(key).collect();
    IndexSpec { number: n as i64 + 1, fields, unique: false, case_insensitive }
}

/// `first`, `after ID`, `before ID`.
fn start(rows: &[Row], order: &Order, page: &str) -> Start {
    let place = |id: &str| {
        let item = rows.iter().find(|it| it.id == id).expect("an item");
        order::position(order, &item.json())
    };
    match page.split_once(' ') {
        None => Start::First,
        Some(("after", id)) => Start::After(place(id)),
        Some((_, id)) => Start::Before(place(id)),
    }
}

/// Items are created a second apart in the order of their lines; `owner` in a line becomes its `_owner`.
fn row(n: usize, data: &str) -> Row {
    let json: Json = serde_json::from_str(data).unwrap_or_else(|it| panic!("{data}: {it}"));
    let created = 1_700_000_000_000 + n as i64 * 1000;
    let id = json["_id"].as_str().expect("an _id");
    Row::stamped(data, id, json["_owner"].as_str(), created, created + 500)
}

/// A document without the dates that every one has.
fn shown(document: &str) -> String {
    let mut json: Json = serde_json::from_str(document).expect("JSON");
    if let Some(it) = json.as_object_mut() {
        it.shift_remove("_createdDate");
        it.shift_remove("_updatedDate");
    }
    json.to_string()
}

fn print(out: &mut String, names: [&str; 2], statements: &[Statement; 2]) {
    for (name, (text, params)) in names.iter().zip(statements) {
        let _ = writeln!(out, "\n== {name}\n{}", broken(text));
        for (n, it) in params.iter().enumerate() {
            let shown = match it {
                Value::Text(it) => format!("{it:?}"),
                Value::Int(it) => it.to_string(),
                Value::Real(it) => format!("{it:?}"),
                Value::Texts(it) => format!("{it:?}"),
                it => format!("{it:?}"),
            };
            let _ = writeln!(out, "${} = {shown}", n + 1);
        }
    }
}

/// One line for each clause.
fn broken(text: &str) -> String {
    let mut text = text.replace(" union all ", "\nunion all ");
    for word in [" from items", " where ", " order by ", " limit "] {
        if let Some(at) = text.rfind(word).filter(|_| word != " where ").or_else(|| text.find(word)) {
            text.replace_range(at..=at, "\n");
        }
    }
    text
}

fn first_difference(old: &str, new: &str) -> String {
    let different = old.lines().zip(new.lines()).find(|(a, b)| a != b);
    let (a, b) = different.unwrap_or(("(one is longer)", ""));
    format!("  was {a}\n  is  {b}")
}
