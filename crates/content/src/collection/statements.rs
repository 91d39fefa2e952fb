//! The statements of one collection's table that never change, written once when its definition is read.

use stoa_kernel::{Result, clock::Millis};
use stoa_sql::{Dialect, Table, Value, params};
use stoa_store::{InsertRows, InsertWithEvent, Tx, outbox::PendingEntry};

/// The columns of a row, in the order of [`Row::values`].
const COLUMNS: &str = "id, created, updated, owner, doc";

/// A row of a table of items, ready to be bound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row([Value; 5]);

impl Row {
    pub(crate) fn new(id: String, created: Millis, updated: Millis, owner: Option<String>, doc: String) -> Self {
        Self([id.into(), created.into(), updated.into(), owner.into(), doc.into()])
    }

    /// The same row with another document.
    pub(crate) fn with_doc(mut self, doc: String) -> Self {
        self.0[4] = doc.into();
        self
    }

    /// A value a column, in the order of [`COLUMNS`].
    pub(crate) fn values(&self) -> &[Value] {
        &self.0
    }

    pub(crate) fn id(&self) -> &str {
        self.text(0).unwrap_or_default()
    }

    pub(crate) fn created(&self) -> Millis {
        if let Value::Int(it) = self.0[1] { it } else { 0 }
    }

    pub(crate) fn owner(&self) -> Option<&str> {
        self.text(3)
    }

    /// The document, as it is stored.
    pub(crate) fn doc(&self) -> &str {
        self.text(4).unwrap_or_default()
    }

    fn text(&self, column: usize) -> Option<&str> {
        if let Value::Text(it) = &self.0[column] { Some(it) } else { None }
    }
}

/// SQL texts of one table.
pub(crate) struct Statements {
    /// The collection's id as a JSON string, for answers.
    pub quoted_id: String,
    pub name: String,
    /// `$1` the item's id; the row is the document.
    pub get: String,
    /// The same for items of owner `$2`.
    pub get_owned: String,
    /// `insert into …` for [`InsertRows`].
    pub insert: String,
    /// For each column what is bound to it, in the order of [`Row::values`].
    pub values: Vec<String>,
    /// `$1` a list of ids; rows are id, created, owner, document, number of the row.
    pub some: String,
    /// The same with empty documents, for those who don't need them.
    pub some_without_documents: String,
    /// The same with the lengths of the documents in their place.
    pub some_lengths: String,
    /// `$1` and `$2` two numbers of rows: those behind the first, up to the second, whole.
    pub between: String,
    /// `$1` a list of ids.
    pub delete: String,
    /// The same; rows are id and document.
    pub delete_returning: String,
    /// The same: [`Statements::lock_rows`].
    lock: Option<String>,
}

/// What an insert replaces of a row that is there.
const REPLACE: &str =
    "created = excluded.created, updated = excluded.updated, owner = excluded.owner, doc = excluded.doc";

impl Statements {
    pub(crate) fn new(dialect: &dyn Dialect, table: Table, id: &str) -> Self {
        let (name, some) = (dialect.table(table), dialect.any_of("id", "$1"));
        let values = ["$1".to_owned(), "$2".to_owned(), "$3".to_owned(), "$4".to_owned(), dialect.store_doc("$5")];
        Self {
            quoted_id: stoa_sql::json::quoted(id),
            get: format!("select doc from {name} where id = $1"),
            get_owned: format!("select doc from {name} where id = $1 and owner = $2"),
            insert: format!("insert into {name} ({COLUMNS})"),
            values: values.into(),
            some: format!("select id, created, owner, doc, rid from {name} where {some}"),
            some_without_documents: format!("select id, created, owner, '', rid from {name} where {some}"),
            some_lengths: format!(
                "select id, created, owner, cast(octet_length(doc) as bigint), rid from {name} where {some}"
            ),
            between: format!("select {COLUMNS} from {name} where rid > $1 and rid <= $2"),
            delete: format!("delete from {name} where {some}"),
            delete_returning: format!("delete from {name} where {some} returning id, doc"),
            lock: dialect.lock(&name, &some),
            name,
        }
    }

    /// An insert of rows, which replaces those that are there if `replaces` is set. For `keeps_order` see
    /// [`InsertRows`].
    pub(crate) fn insert_rows<'r>(
        &'r self,
        replaces: bool,
        keeps_order: bool,
        rows: &'r [&'r [Value]],
    ) -> InsertRows<'r> {
        let replace = replaces.then_some(REPLACE);
        InsertRows { into: &self.insert, values: &self.values, key: "id", key_index: 0, replace, keeps_order, rows }
    }

    /// Locks the items with these ids, so that transactions that change several wait for each other in one order.
    pub(crate) async fn lock_rows(&self, tx: &mut Tx<'_>, ids: &[String]) -> Result<()> {
        if let Some(lock) = &self.lock {
            tx.send(lock, params![ids.to_vec()]).await?;
        }
        Ok(())
    }

    /// An insert of one row together with the event that announces it.
    pub(crate) fn insert_with_event(&self, row: &Row, event: PendingEntry) -> InsertWithEvent {
        let (into, values) = (self.insert.clone(), self.values.clone());
        InsertWithEvent { into, values, key: "id", row: row.values().to_vec(), event }
    }
}
