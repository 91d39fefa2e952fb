//! A row of either engine, read in place: text is borrowed from the engine's own buffer.

use crate::Error;
use rusqlite::types::ValueRef;
use std::borrow::Cow;
use stoa_sql::jsonb;

/// The current row of a running statement. Columns are read by position.
pub enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    /// Column `index` as `T`; the wrong type is an internal error that names the column.
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, Error> {
        T::from_column(self, index)
    }

    /// A document of a collection's table, as its canonical text.
    pub fn doc(&self, index: usize) -> Result<Cow<'_, str>, Error> {
        match self.document(index)? {
            Document::Jsonb(it) => jsonb::print(it).map(Cow::Owned).ok_or_else(Document::unreadable),
            Document::Text(it) => Ok(Cow::Borrowed(it)),
        }
    }

    /// The same as it is stored, for those who only hand it on.
    pub fn document(&self, index: usize) -> Result<Document<'_>, Error> {
        if let Self::Sqlite(row) = self
            && let ValueRef::Blob(it) = row.get_ref(index).map_err(|it| Error::from_sqlite(&it))?
        {
            return Ok(Document::Jsonb(it));
        }
        self.text(index).map(Document::Text)
    }

    /// Text without a copy.
    pub fn text(&self, index: usize) -> Result<&str, Error> {
        match self {
            Self::Sqlite(row) => {
                let value = row.get_ref(index).map_err(|it| Error::from_sqlite(&it))?;
                value.as_str().map_err(|it| wrong(index, it))
            }
            Self::Postgres(row) => row.try_get(index).map_err(|it| wrong(index, it)),
        }
    }
}

/// A document as its engine stores it (`stoa_sql::Dialect`).
#[derive(Debug, Clone, Copy)]
pub enum Document<'r> {
    Jsonb(&'r [u8]),
    Text(&'r str),
}

impl Document<'_> {
    /// Appends the canonical text. JSONB has not been checked yet for UTF-8.
    pub fn print(self, out: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Self::Jsonb(it) => jsonb::print_to(it, out).ok_or_else(Self::unreadable),
            Self::Text(it) => {
                out.extend_from_slice(it.as_bytes());
                Ok(())
            }
        }
    }

    /// What stands in the place of a document can't be read as one.
    pub fn unreadable() -> Error {
        Error::Other("what is stored as a document is none".to_owned())
    }
}

/// The column types that both engines store alike, and their optional forms.
pub trait FromColumn: Sized {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, Error>;
}

macro_rules! columns {
    ($($type:ty),+) => {$(
        impl FromColumn for $type {
            fn from_column(row: &Row<'_>, index: usize) -> Result<Self, Error> {
                match row {
                    Row::Sqlite(row) => row.get(index).map_err(|it| wrong(index, it)),
                    Row::Postgres(row) => row.try_get(index).map_err(|it| wrong(index, it)),
                }
            }
        }
    )+};
}

columns!(i64, f64, String, Vec<u8>, Option<i64>, Option<f64>, Option<String>, Option<Vec<u8>>);

/// Flags are stored as 0 and 1 on both engines; PostgreSQL's own comparisons give `boolean`.
impl FromColumn for bool {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, Error> {
        match row {
            Row::Sqlite(row) => row.get(index).map_err(|it| wrong(index, it)),
            Row::Postgres(row) => match row.try_get::<_, bool>(index) {
                Ok(it) => Ok(it),
                Err(_) => row.try_get::<_, i64>(index).map(|it| it != 0).map_err(|it| wrong(index, it)),
            },
        }
    }
}

fn wrong(index: usize, error: impl std::fmt::Display) -> Error {
    Error::Other(format!("column {index}: {error}"))
}
