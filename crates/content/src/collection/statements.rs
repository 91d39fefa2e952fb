//! The statements of one collection's table that never change, written once when its definition is read.

use stoa_sql::{Dialect, Table};

/// SQL texts of one table. Columns of a row to insert: id, created, updated, owner, document.
pub(crate) struct Texts {
    /// The collection's id as a JSON string, for answers.
    pub quoted_id: String,
    pub name: String,
    /// `$1` the item's id; the row is the document.
    pub get: String,
    /// The same for items of owner `$2`.
    pub get_owned: String,
    /// `insert into …` for `stoa_store::InsertRows`.
    pub insert: String,
    pub values: Vec<String>,
    /// `$1` a list of ids; rows are id, created, owner, document.
    pub some: String,
    /// The same with an empty document, for those who don't need it.
    pub some_briefly: String,
    /// `$1` a list of ids.
    pub delete: String,
}

/// What an insert replaces of a row that is there.
pub(crate) const REPLACE: &str =
    "created = excluded.created, updated = excluded.updated, owner = excluded.owner, doc = excluded.doc";

impl Texts {
    pub(crate) fn new(dialect: &dyn Dialect, table: Table, id: &str) -> Self {
        let (name, some) = (dialect.table(table), dialect.any_of("id", "$1"));
        let values = ["$1".to_owned(), "$2".to_owned(), "$3".to_owned(), "$4".to_owned(), dialect.store_doc("$5")];
        Self {
            quoted_id: stoa_sql::json::quoted(id),
            get: format!("select doc from {name} where id = $1"),
            get_owned: format!("select doc from {name} where id = $1 and owner = $2"),
            insert: format!("insert into {name} (id, created, updated, owner, doc)"),
            values: values.into(),
            some: format!("select id, created, owner, doc from {name} where {some}"),
            some_briefly: format!("select id, created, owner, '' from {name} where {some}"),
            delete: format!("delete from {name} where {some}"),
            name,
        }
    }
}
