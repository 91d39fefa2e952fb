//! PostgreSQL 15 and newer.

use crate::{
    Dialect, Index, Operand, Probe, Sign, Table, Value,
    json::{self, Direction, DocumentPath, Root},
    pattern::{self, Part},
};

/// For the rest of a transaction that changes a table: all writers of its site wait for it, and who reads the table behind it.
const WAIT_SHORTLY: &str = "set local lock_timeout = '1s'";

pub struct Postgres;

impl Dialect for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn table(&self, table: Table) -> String {
        format!("site_{}.c{}", table.site, table.number)
    }

    fn create_items_table(&self, table: Table) -> Vec<String> {
        let (name, n) = (self.table(table), table.number);
        vec![
            format!("create schema if not exists site_{}", table.site),
            format!(
                "create table {name} (rid bigint generated always as identity primary key, \
                 id text collate \"C\" not null unique, created bigint not null, updated bigint not null, \
                 owner text collate \"C\", doc text collate \"C\" not null, \
                 body jsonb not null generated always as (doc::jsonb) stored)"
            ),
            format!("create index c{n}_created on {name} (created, id)"),
            format!("create index c{n}_owner on {name} (owner, created, id) where owner is not null"),
        ]
    }

    fn close_items_table(&self, table: Table) -> Vec<String> {
        let (name, n) = (self.table(table), table.number);
        let trigger = format!(
            "create trigger c{n}_closed before insert or update or delete on {name} \
             for each statement execute function stoa.refuse_write()"
        );
        vec![WAIT_SHORTLY.to_owned(), trigger]
    }

    fn open_items_table(&self, table: Table) -> Vec<String> {
        let (name, n) = (self.table(table), table.number);
        vec![WAIT_SHORTLY.to_owned(), format!("drop trigger if exists c{n}_closed on {name}")]
    }

    fn drop_items_table(&self, table: Table) -> Vec<String> {
        vec![WAIT_SHORTLY.to_owned(), format!("drop table {}", self.table(table))]
    }

    fn store_doc(&self, placeholder: &str) -> String {
        placeholder.to_owned()
    }

    fn merges_by_index(&self) -> bool {
        false
    }

    fn lock(&self, table: &str, condition: &str) -> Option<String> {
        // Counted, so that the rows are not sent.
        Some(format!("select count(*) from (select 1 from {table} where {condition} order by id for update) locked"))
    }

    fn any_of(&self, left: &str, placeholder: &str) -> String {
        format!("{left} = any({placeholder})")
    }

    fn any_number_of(&self, left: &str, placeholder: &str) -> String {
        format!("{left} = any({placeholder}::text[]::double precision[])")
    }

    fn any_row_of(&self, left: &str, placeholder: &str) -> String {
        format!("{left} = any({placeholder}::text[]::bigint[])")
    }

    fn listed(&self, placeholder: &str, columns: usize) -> String {
        let columns: String = (0..columns).map(|n| format!("value ->> {n} as c{n}, ")).collect();
        format!(
            "(select {columns}n from jsonb_array_elements({placeholder}::jsonb) with ordinality as listed(value, n)) k"
        )
    }

    fn number(&self, path: &DocumentPath) -> String {
        let value = value(path);
        format!("case jsonb_typeof({value}) when 'number' then ({value})::double precision end")
    }

    fn text(&self, path: &DocumentPath) -> String {
        let value = value(path);
        let text = scalar_text(path);
        format!("case jsonb_typeof({value}) when 'string' then {text} end collate \"C\"")
    }

    /// Nothing but a date has a member of this name, so its type needs no look.
    fn date(&self, path: &DocumentPath) -> String {
        format!("({} ->> '$date') collate \"C\"", value(path))
    }

    fn is_present(&self, path: &DocumentPath) -> String {
        format!("{} is not null", value(path))
    }

    fn is_empty(&self, path: &DocumentPath) -> String {
        format!("coalesce({}, 'null') = 'null'", value(path))
    }

    fn is_null(&self, path: &DocumentPath) -> String {
        format!("{} = 'null'", value(path))
    }

    fn is_array(&self, path: &DocumentPath) -> String {
        format!("jsonb_typeof({}) = 'array'", value(path))
    }

    fn holds(&self, _names: &[String], _probe: &Probe, placeholder: &str) -> String {
        format!("body @? {placeholder}")
    }

    /// A lax path takes an array for its elements, at each name and at the end, as asked. Elements that
    /// are arrays themselves would be opened once more when they are compared: the type tells them apart.
    fn probe(&self, names: &[String], probe: &Probe) -> Value {
        let sign = if probe.sign == Sign::Equal { "==" } else { probe.sign.sql() };
        let (kind, value, operand) = match &probe.operand {
            Operand::Number(it) => ("number", "@", format!("{it:e}")),
            Operand::Text(it) => ("string", "@", json::quoted(it)),
            Operand::Flag(it) => ("boolean", "@", it.to_string()),
            Operand::Date(it) => ("object", "@.\"$date\"", json::quoted(it)),
        };
        let test = format!(" ? ({value} {sign} {operand} && @.type() == \"{kind}\")");
        path(names, &test).into()
    }

    fn is_whole(&self, path: &DocumentPath, placeholder: &str) -> String {
        format!("{} = {placeholder}::text::jsonb", value(path))
    }

    fn elements(&self, path: &DocumentPath, alias: usize) -> String {
        let value = value(path);
        format!("jsonb_array_elements(case jsonb_typeof({value}) when 'array' then {value} end) e{alias}(value)")
    }

    /// A lax path goes through one level of array at each name, just as asked.
    fn leaves(&self, names: &[String], alias: usize) -> (String, DocumentPath) {
        (format!("jsonb_path_query(body, {}) e{alias}(value)", lax_path(names, "")), DocumentPath::element(alias))
    }

    /// A lax path takes what isn't an array for one with a single element.
    fn values(&self, names: &[String], alias: usize) -> (String, String) {
        let rows = format!("jsonb_path_query(body, {}) e{alias}(value)", lax_path(names, "[*]"));
        (rows, format!("stoa.value_key(e{alias}.value) collate \"C\""))
    }

    fn fold(&self, text: &str) -> String {
        format!("stoa.fold({text})")
    }

    fn starts_with(&self, text: &str, placeholder: &str, _count: usize) -> String {
        format!("starts_with({text}, {placeholder})")
    }

    fn ends_with(&self, text: &str, placeholder: &str, count: usize) -> String {
        format!("right({text}, {count}) = {placeholder}")
    }

    fn contains(&self, text: &str, placeholder: &str) -> String {
        format!("strpos({text}, {placeholder}) > 0")
    }

    fn fits(&self, text: &str, placeholder: &str) -> String {
        format!("{text} ~ {placeholder}")
    }

    fn pattern(&self, parts: &[Part]) -> String {
        pattern::regex(parts)
    }

    fn sort_key(&self, path: &DocumentPath, direction: Direction) -> String {
        match direction {
            Direction::Ascending => format!("stoa.least({}) collate \"C\"", value(path)),
            Direction::Descending => format!("stoa.greatest({}) collate \"C\"", value(path)),
        }
    }

    fn bounded(&self, key: &str) -> String {
        format!("stoa.bounded({key}) collate \"C\"")
    }

    fn indexed(&self, path: &DocumentPath, most: usize, fold: bool) -> String {
        format!("stoa.indexed({}, {most}, {fold}) collate \"C\"", value(path))
    }

    fn unique(&self, path: &DocumentPath, fold: bool) -> String {
        format!("stoa.unique({}, {fold}) collate \"C\"", value(path))
    }

    fn create_index(&self, index: &Index<'_>, columns: &str, online: bool) -> String {
        let (n, name, unique) = (index.table.number, index.name, if index.unique { "unique " } else { "" });
        let online = if online { "concurrently " } else { "" };
        format!("create {unique}index {online}c{n}_{name} on {} ({columns})", self.table(index.table))
    }

    fn drop_index(&self, index: &Index<'_>, online: bool) -> String {
        let online = if online { "concurrently " } else { "" };
        format!("drop index {online}if exists {}_{}", self.table(index.table), index.name)
    }

    fn random_key(&self, placeholder: &str) -> String {
        format!("encode(sha256(convert_to({placeholder}::text || id, 'UTF8')), 'hex') collate \"C\"")
    }

    /// By transaction first: of two rows the one with the lower number may be committed later, but none can
    /// come from a transaction older than the oldest that is running.
    fn outbox_after(&self, transaction: &str, number: &str) -> String {
        format!(
            "(tx, seq) > ({transaction}, {number}) and tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint \
             order by tx, seq"
        )
    }

    fn outbox_unread(&self, transaction: &str, number: &str) -> String {
        format!("(tx, seq) > ({transaction}, {number}) order by tx, seq")
    }

    fn outbox_until(&self, transaction: &str, number: &str) -> String {
        format!("(tx, seq) <= ({transaction}, {number})")
    }

    fn outbox_newest(&self) -> &'static str {
        "tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint order by tx desc, seq desc limit 1"
    }

    fn begin_snapshot(&self) -> &'static str {
        "begin isolation level repeatable read read only"
    }

    fn visible_transactions(&self) -> &'static str {
        "pg_current_snapshot()::text"
    }

    /// Two that leap at once could set the sequence back, so one waits for the other.
    fn outbox_leap(&self, least: &str) -> String {
        format!(
            "(with alone as materialized (select pg_advisory_xact_lock(7305812)) \
             select setval('stoa.outbox_seq_seq', greatest(nextval('stoa.outbox_seq_seq') + 4294967296, {least})) from alone)"
        )
    }
}

/// The value as `jsonb`, NULL for a missing one. `->` with a text never takes it for an index.
fn value(path: &DocumentPath) -> String {
    path.names.iter().fold(root(path.root), |it, name| format!("{it} -> {}", literal(name)))
}

/// The value as text without quotes.
fn scalar_text(path: &DocumentPath) -> String {
    match path.names.split_last() {
        None => format!("{} #>> '{{}}'", root(path.root)),
        Some((last, inner)) => {
            let outer = DocumentPath { root: path.root, names: inner.to_vec() };
            format!("{} ->> {}", value(&outer), literal(last))
        }
    }
}

fn root(root: Root) -> String {
    match root {
        Root::Document => "body".to_owned(),
        Root::Element(n) => format!("e{n}.value"),
    }
}

/// `$."a"."b"` and what follows, as a literal.
fn lax_path(names: &[String], end: &str) -> String {
    literal(&path(names, end))
}

fn path(names: &[String], end: &str) -> String {
    let names: String = names.iter().map(|it| format!(".{}", json::quoted(it))).collect();
    format!("${names}{end}")
}

/// A text literal. The leading E keeps its meaning whatever `standard_conforming_strings` says.
fn literal(text: &str) -> String {
    if text.contains('\\') {
        return format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
    }
    format!("'{}'", text.replace('\'', "''"))
}
