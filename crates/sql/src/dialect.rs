//! Where the engines differ. No method has a default body: a gap does not compile.

use crate::{
    json::{Direction, DocumentPath},
    pattern::Part,
    probe::Probe,
    value::Value,
};

/// A collection's table: the site's number and the table's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Table {
    pub site: i64,
    pub number: i64,
}

/// An index of a collection's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index<'a> {
    pub table: Table,
    pub name: &'a str,
    pub unique: bool,
}

/// One engine's way of saying things. Fragments are SQL text; nothing a caller sent is ever in them,
/// except JSON path literals, which the dialect quotes itself.
///
/// Items live in tables of one shape on both engines:
/// `rid` (integer key in order of insertion), `id` (text, unique), `created`, `updated` (UTC
/// milliseconds), `owner` (text or null) and `doc`, the canonical text of the whole item. SQLite keeps
/// `doc` as JSONB, from which [`crate::jsonb::print`] gives the stored text back byte by byte; PostgreSQL
/// keeps the text and beside it `body`, a generated `jsonb` column that filters read.
///
/// The methods that read a [`DocumentPath`] answer NULL for a value of another type and for a missing one. They
/// print one text for one path, so that an expression index on that text is used.
pub trait Dialect: Send + Sync {
    fn name(&self) -> &'static str;

    /// The qualified name of a collection's table.
    fn table(&self, table: Table) -> String;

    /// Statements that make a collection's table with its system indexes.
    fn create_items_table(&self, table: Table) -> Vec<String>;

    /// Statements after which a collection's table refuses to be written to: what takes its place may be known to
    /// other transactions only later. What it refuses is known by [`crate::REPLACED`].
    fn close_items_table(&self, table: Table) -> Vec<String>;

    /// Statements that take this back.
    fn open_items_table(&self, table: Table) -> Vec<String>;

    /// Statements that remove a collection's table. These, and those that close and open one, wait but shortly for others
    /// that are at work on it: the transaction then fails as one that may be tried again.
    fn drop_items_table(&self, table: Table) -> Vec<String>;

    /// An expression that turns the bound text of a document into what `doc` stores.
    fn store_doc(&self, placeholder: &str) -> String;

    /// Whether a `union all` in an order reads each select through an index that has the order, only as far
    /// as the whole goes. Where it doesn't, each select needs an order and a limit of its own; where it
    /// does, those would have its rows sorted again.
    fn merges_by_index(&self) -> bool;

    /// A select that keeps the rows of a table of items for which the condition holds from all other writers, in
    /// the order of their ids, so that no two transactions wait for each other. Nothing where they run one at a
    /// time.
    fn lock(&self, table: &str, condition: &str) -> Option<String>;

    /// `left` is one of the texts of the list bound at `placeholder`.
    fn any_of(&self, left: &str, placeholder: &str) -> String;

    /// `left`, a double, is one of the numbers whose texts are in the list bound at `placeholder`.
    fn any_number_of(&self, left: &str, placeholder: &str) -> String;

    /// The same for `left` that is a number of a row.
    fn any_row_of(&self, left: &str, placeholder: &str) -> String;

    /// A row source `k` with what is listed in the bound JSON, an array of arrays of texts: columns `c0`,
    /// `c1` … and `n`, the position in the list.
    fn listed(&self, placeholder: &str, columns: usize) -> String;

    /// The number at a path, as a double.
    fn number(&self, path: &DocumentPath) -> String;

    /// The text at a path, compared by code point.
    fn text(&self, path: &DocumentPath) -> String;

    /// The date at a path, as its ISO text: these compare as the dates do.
    fn date(&self, path: &DocumentPath) -> String;

    /// Whether the path exists; null counts as present.
    fn is_present(&self, path: &DocumentPath) -> String;

    /// Whether the path is missing or holds null.
    fn is_empty(&self, path: &DocumentPath) -> String;

    /// Whether the path holds null.
    fn is_null(&self, path: &DocumentPath) -> String;

    fn is_array(&self, path: &DocumentPath) -> String;

    /// Whether one of the values of a field compares as [`Dialect::probe`], bound at `placeholder`, asks
    /// for: a value that the names reach, or an element of an array there, where each array on the way
    /// stands for its elements.
    fn holds(&self, names: &[String], probe: &Probe, placeholder: &str) -> String;

    /// What [`Dialect::holds`] takes as its parameter.
    fn probe(&self, names: &[String], probe: &Probe) -> Value;

    /// Whether the object or array at the path equals the one whose [`crate::key::sorted`] text is bound.
    fn is_whole(&self, path: &DocumentPath, placeholder: &str) -> String;

    /// A row source with the elements of the array at the path, named `e<alias>`; none if it isn't one.
    fn elements(&self, path: &DocumentPath, alias: usize) -> String;

    /// A row source with every value that the names reach when each array on the way stands for its
    /// elements (but not an array at the end), and the path of such a value in a row. It may use the
    /// aliases from `alias` on, one for each name.
    fn leaves(&self, names: &[String], alias: usize) -> (String, DocumentPath);

    /// A row source with every value of a field: as [`Dialect::leaves`], and an array at the end stands
    /// for its elements too; and the sort key of such a value as it is ([`crate::key::own`]) in a row. The work is
    /// that of reading the field once, however many values it has.
    fn values(&self, names: &[String], alias: usize) -> (String, String);

    /// The folded form of a text.
    fn fold(&self, text: &str) -> String;

    /// Whether a text begins with the bound text of `count` characters.
    fn starts_with(&self, text: &str, placeholder: &str, count: usize) -> String;

    /// Whether a text ends with the bound text of `count` characters, at least one.
    fn ends_with(&self, text: &str, placeholder: &str, count: usize) -> String;

    /// Whether a text contains the bound text.
    fn contains(&self, text: &str, placeholder: &str) -> String;

    /// Whether a whole text fits the bound pattern.
    fn fits(&self, text: &str, placeholder: &str) -> String;

    /// What [`Dialect::fits`] takes as its parameter.
    fn pattern(&self, parts: &[Part]) -> String;

    /// The sort key of the value at a path ([`crate::key`]); never NULL.
    fn sort_key(&self, path: &DocumentPath, direction: Direction) -> String;

    /// A key of [`Dialect::values`] cut to where it still fits into a cursor ([`crate::key::bounded`]).
    fn bounded(&self, key: &str) -> String;

    /// What an index keeps of the value at a path ([`crate::key::indexed`]); NULL for arrays and for
    /// keys of more than `most` characters.
    fn indexed(&self, path: &DocumentPath, most: usize, fold: bool) -> String;

    /// What a unique index keeps of it ([`crate::key::unique`]); NULL for missing and null.
    fn unique(&self, path: &DocumentPath, fold: bool) -> String;

    /// Makes an index, which is named within its table. Online, the statement must stand outside of any
    /// transaction, and writers go on meanwhile; where the engine has no such thing, it is the same.
    fn create_index(&self, index: &Index<'_>, columns: &str, online: bool) -> String;

    /// Removes an index that may be there.
    fn drop_index(&self, index: &Index<'_>, online: bool) -> String;

    /// The item's position in the random order of the bound seed text ([`crate::random`]).
    fn random_key(&self, placeholder: &str) -> String;

    /// The end of a query over the outbox: rows behind the position bound at two placeholders (transaction,
    /// number), in order, as far as no transaction that is still running can put another before them.
    fn outbox_after(&self, transaction: &str, number: &str) -> String;

    /// The same with rows that can't be read yet.
    fn outbox_unread(&self, transaction: &str, number: &str) -> String;

    /// Rows of the outbox up to and with the position bound at two placeholders.
    fn outbox_until(&self, transaction: &str, number: &str) -> String;

    /// The end of a query over the outbox: the last row in order that can be read.
    fn outbox_newest(&self) -> &'static str;

    /// How a read begins whose statements all see one state of the data.
    fn begin_snapshot(&self) -> &'static str;

    /// An expression for the transactions whose effect such a read sees, as PostgreSQL prints a snapshot; an empty text
    /// where rows of the outbox become visible in their order.
    fn visible_transactions(&self) -> &'static str;

    /// An expression for the number of a row of the outbox that leaves room for four thousand million numbers before
    /// it, and is not below `least`: what was given once, and then lost with a backup restored, isn't given again.
    fn outbox_leap(&self, least: &str) -> String;
}
