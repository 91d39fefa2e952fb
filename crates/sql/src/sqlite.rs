//! SQLite 3.45 and newer (JSONB).

use crate::{
    Dialect, Index, Probe, Table, Value,
    json::{Direction, DocumentPath, Root},
    pattern::{self, Part},
    probe,
};

pub use crate::functions::FUNCTIONS;

/// What a table that is closed refuses.
const WRITES: [&str; 3] = ["insert", "update", "delete"];

pub struct Sqlite;

impl Dialect for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    /// One file a site, so the site's number is not needed.
    fn table(&self, table: Table) -> String {
        format!("stoa.c{}", table.number)
    }

    fn create_items_table(&self, table: Table) -> Vec<String> {
        let n = table.number;
        vec![
            format!(
                "create table stoa.c{n} (rid integer primary key, id text not null unique, \
                 created integer not null, updated integer not null, owner text, doc blob not null)"
            ),
            format!("create index stoa.c{n}_created on c{n} (created, id)"),
            format!("create index stoa.c{n}_owner on c{n} (owner, created, id) where owner is not null"),
        ]
    }

    fn close_items_table(&self, table: Table) -> Vec<String> {
        let n = table.number;
        let trigger = |it: &&str| {
            format!(
                "create trigger stoa.c{n}_no_{it} before {it} on c{n} begin select raise(abort, '{}'); end",
                crate::REPLACED
            )
        };
        WRITES.iter().map(trigger).collect()
    }

    fn open_items_table(&self, table: Table) -> Vec<String> {
        let n = table.number;
        WRITES.iter().map(|it| format!("drop trigger if exists stoa.c{n}_no_{it}")).collect()
    }

    fn drop_items_table(&self, table: Table) -> Vec<String> {
        vec![format!("drop table {}", self.table(table))]
    }

    fn store_doc(&self, placeholder: &str) -> String {
        format!("jsonb({placeholder})")
    }

    fn merges_by_index(&self) -> bool {
        true
    }

    fn lock(&self, _table: &str, _condition: &str) -> Option<String> {
        None
    }

    fn any_of(&self, left: &str, placeholder: &str) -> String {
        format!("{left} in (select value from json_each({placeholder}))")
    }

    fn any_number_of(&self, left: &str, placeholder: &str) -> String {
        format!("{left} in (select cast(value as real) from json_each({placeholder}))")
    }

    fn any_row_of(&self, left: &str, placeholder: &str) -> String {
        format!("{left} in (select cast(value as integer) from json_each({placeholder}))")
    }

    fn listed(&self, placeholder: &str, columns: usize) -> String {
        let columns: String = (0..columns).map(|n| format!("value ->> {n} as c{n}, ")).collect();
        format!("(select {columns}key as n from json_each({placeholder})) k")
    }

    /// The cast matters: an integer of more than 53 bits is not the double that it stands for.
    fn number(&self, path: &DocumentPath) -> String {
        let (kind, value) = (kind(path), value(path));
        format!("case when {kind} in ('integer', 'real') then cast({value} as real) end")
    }

    fn text(&self, path: &DocumentPath) -> String {
        format!("case {} when 'text' then {} end", kind(path), value(path))
    }

    /// Nothing but a date has a member of this name, so its type needs no look.
    fn date(&self, path: &DocumentPath) -> String {
        let mut member = path.clone();
        member.names.push("$date".to_owned());
        value(&member)
    }

    fn is_present(&self, path: &DocumentPath) -> String {
        format!("{} is not null", kind(path))
    }

    fn is_empty(&self, path: &DocumentPath) -> String {
        format!("ifnull({}, 'null') = 'null'", kind(path))
    }

    fn is_null(&self, path: &DocumentPath) -> String {
        format!("{} = 'null'", kind(path))
    }

    fn is_array(&self, path: &DocumentPath) -> String {
        format!("{} = 'array'", kind(path))
    }

    /// Names hold no dots, so they are distinct.
    fn holds(&self, names: &[String], probe: &Probe, placeholder: &str) -> String {
        let path = names.join(".").replace('\'', "''");
        format!("{}(doc, '{path}', '{}', {placeholder})", probe::FUNCTION, probe.test())
    }

    fn probe(&self, _names: &[String], probe: &Probe) -> Value {
        Value::from(&probe.operand)
    }

    fn is_whole(&self, path: &DocumentPath, placeholder: &str) -> String {
        let (kind, value) = (kind(path), value(path));
        format!("case when {kind} in ('object', 'array') then stoa_sorted({value}) end = {placeholder}")
    }

    fn elements(&self, path: &DocumentPath, alias: usize) -> String {
        match (json_path(&path.names), path.root) {
            (Some(path), root) => format!("json_each({}, {path}) e{alias}", container(root)),
            (None, Root::Document) => format!("json_each(doc) e{alias}"),
            (None, Root::Element(n)) => {
                format!("json_each(case e{n}.type when 'array' then e{n}.value end) e{alias}")
            }
        }
    }

    /// For `a.b.c`: the elements of `a` (or `a` itself), of their `b`, and in those the path `c`.
    fn leaves(&self, names: &[String], alias: usize) -> (String, DocumentPath) {
        let mut path = DocumentPath::field(&[]);
        let mut rows = Vec::new();
        for (n, name) in names.iter().enumerate() {
            path.names.push(name.clone());
            if n + 1 < names.len() {
                let (kind, json) = (kind(&path), json(&path));
                let list = format!("case {kind} when 'array' then {json} else json_array({json}) end");
                rows.push(format!("json_each({list}) e{}", alias + n));
                path = DocumentPath::element(alias + n);
            }
        }
        (rows.join(", "), path)
    }

    /// The keys are made of the whole list at once: an element of `json_each` knows neither booleans nor all digits
    /// of a number, and to look each up in the list takes the square of their number.
    fn values(&self, names: &[String], alias: usize) -> (String, String) {
        let (rows, leaf) = self.leaves(names, alias);
        let (json, alias) = (json(&leaf), alias + names.len());
        let comma = if rows.is_empty() { "" } else { ", " };
        (format!("{rows}{comma}json_each(stoa_keys({json})) e{alias}"), format!("e{alias}.value"))
    }

    fn fold(&self, text: &str) -> String {
        format!("stoa_fold({text})")
    }

    fn starts_with(&self, text: &str, placeholder: &str, count: usize) -> String {
        format!("substr({text}, 1, {count}) = {placeholder}")
    }

    fn ends_with(&self, text: &str, placeholder: &str, count: usize) -> String {
        format!("substr({text}, -{count}) = {placeholder}")
    }

    fn contains(&self, text: &str, placeholder: &str) -> String {
        format!("instr({text}, {placeholder}) > 0")
    }

    fn fits(&self, text: &str, placeholder: &str) -> String {
        format!("stoa_matches({text}, {placeholder}) = 1")
    }

    fn pattern(&self, parts: &[Part]) -> String {
        pattern::print(parts)
    }

    fn sort_key(&self, path: &DocumentPath, direction: Direction) -> String {
        match direction {
            Direction::Ascending => format!("stoa_least({})", json(path)),
            Direction::Descending => format!("stoa_greatest({})", json(path)),
        }
    }

    fn bounded(&self, key: &str) -> String {
        format!("stoa_bounded({key})")
    }

    fn indexed(&self, path: &DocumentPath, most: usize, fold: bool) -> String {
        let name = if fold { "stoa_indexed_folded" } else { "stoa_indexed" };
        format!("{name}({}, '{most}')", json(path))
    }

    fn unique(&self, path: &DocumentPath, fold: bool) -> String {
        let name = if fold { "stoa_unique_folded" } else { "stoa_unique" };
        format!("{name}({})", json(path))
    }

    /// The index is in the schema of its table, and says so in front of its own name.
    fn create_index(&self, index: &Index<'_>, columns: &str, _online: bool) -> String {
        let (n, name, unique) = (index.table.number, index.name, if index.unique { "unique " } else { "" });
        format!("create {unique}index stoa.c{n}_{name} on c{n} ({columns})")
    }

    fn drop_index(&self, index: &Index<'_>, _online: bool) -> String {
        format!("drop index if exists stoa.c{}_{}", index.table.number, index.name)
    }

    fn random_key(&self, placeholder: &str) -> String {
        format!("stoa_random({placeholder}, id)")
    }

    /// One writer: numbers are given in the order of commits, and the transaction is always 0.
    fn outbox_after(&self, transaction: &str, number: &str) -> String {
        format!("tx >= {transaction} and seq > {number} order by seq")
    }

    fn outbox_unread(&self, transaction: &str, number: &str) -> String {
        self.outbox_after(transaction, number)
    }

    fn outbox_until(&self, transaction: &str, number: &str) -> String {
        format!("tx <= {transaction} and seq <= {number}")
    }

    fn outbox_newest(&self) -> &'static str {
        "tx >= 0 order by seq desc limit 1"
    }

    fn begin_snapshot(&self) -> &'static str {
        "begin"
    }

    fn visible_transactions(&self) -> &'static str {
        "''"
    }

    fn outbox_leap(&self, least: &str) -> String {
        format!("(select max(coalesce(max(seq), 0) + 4294967296, {least}) from stoa.outbox)")
    }
}

/// The type's name, NULL for a missing value.
fn kind(path: &DocumentPath) -> String {
    match (json_path(&path.names), path.root) {
        (Some(path), root) => format!("json_type({}, {path})", container(root)),
        (None, Root::Document) => "json_type(doc)".to_owned(),
        (None, Root::Element(n)) => format!("e{n}.type"),
    }
}

/// The value as SQL has it: text and numbers as such, arrays and objects as their JSON text.
fn value(path: &DocumentPath) -> String {
    match (json_path(&path.names), path.root) {
        (Some(path), root) => format!("json_extract({}, {path})", container(root)),
        (None, Root::Document) => "json(doc)".to_owned(),
        (None, Root::Element(n)) => format!("e{n}.value"),
    }
}

/// The JSON text of a value. That of an element is looked up once more: `e1.value` knows neither
/// booleans nor all digits of a number.
fn json(path: &DocumentPath) -> String {
    match (json_path(&path.names), path.root) {
        (Some(path), root) => format!("{} -> {path}", container(root)),
        (None, Root::Document) => "json(doc)".to_owned(),
        (None, Root::Element(n)) => format!("e{n}.json -> e{n}.fullkey"),
    }
}

/// What paths are applied to. An element that isn't an object may be no JSON text: reading into it would fail.
fn container(root: Root) -> String {
    match root {
        Root::Document => "doc".to_owned(),
        Root::Element(n) => format!("case e{n}.type when 'object' then e{n}.value end"),
    }
}

/// `'$."a"."b"'`, or nothing when no names are left.
fn json_path(names: &[String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let mut path = String::from("'$");
    for name in names {
        path.push('.');
        path.push_str(&crate::json::quoted(name).replace('\'', "''"));
    }
    path.push('\'');
    Some(path)
}
