//! Values as PostgreSQL reads them: one at a time, or a column of many rows as an array.

use bytes::BytesMut;
use stoa_sql::Value;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

type Encoded = Result<IsNull, Box<dyn std::error::Error + Sync + Send>>;

#[derive(Debug)]
pub(super) struct Bound<'v>(pub(super) &'v Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match (self.0, ty) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Int(it), &Type::INT4) => i32::try_from(*it)?.to_sql(ty, out),
            (Value::Int(it), &Type::FLOAT8) => (*it as f64).to_sql(ty, out),
            (Value::Int(it), &Type::BOOL) => (*it != 0).to_sql(ty, out),
            (Value::Int(it), _) => it.to_sql(&Type::INT8, out),
            (Value::Real(it), _) => it.to_sql(&Type::FLOAT8, out),
            (Value::Text(it), &Type::JSONB | &Type::JSONPATH) => {
                out.extend_from_slice(&[1]);
                it.as_str().to_sql(&Type::TEXT, out)
            }
            (Value::Text(it), _) => it.as_str().to_sql(&Type::TEXT, out),
            (Value::Bytes(it), _) => it.as_slice().to_sql(&Type::BYTEA, out),
            (Value::Texts(it), _) => it.to_sql(&Type::TEXT_ARRAY, out),
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}

/// One column of many rows.
#[derive(Debug)]
pub(super) struct Column<'r> {
    rows: &'r [&'r [Value]],
    index: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Int,
    Real,
    Text,
    Bytes,
}

impl<'r> Column<'r> {
    pub(super) fn of(rows: &'r [&'r [Value]], index: usize) -> Self {
        let kind = rows.iter().find_map(|row| match &row[index] {
            Value::Int(_) => Some(Kind::Int),
            Value::Real(_) => Some(Kind::Real),
            Value::Bytes(_) => Some(Kind::Bytes),
            Value::Text(_) | Value::Texts(_) => Some(Kind::Text),
            Value::Null => None,
        });
        Self { rows, index, kind: kind.unwrap_or(Kind::Text) }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Int => "bigint",
            Kind::Real => "float8",
            Kind::Text => "text",
            Kind::Bytes => "bytea",
        }
    }

    /// What an order by this column needs to be that of the tables, whose texts compare byte by byte.
    pub(super) fn order(&self) -> &'static str {
        if matches!(self.kind, Kind::Text) { " collate \"C\"" } else { "" }
    }

    fn cells(&self) -> impl Iterator<Item = &Value> {
        self.rows.iter().map(|row| &row[self.index])
    }
}

impl ToSql for Column<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match self.kind {
            Kind::Int => {
                let cells = self.cells().map(|it| if let Value::Int(it) = it { Some(*it) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
            Kind::Real => {
                let cells = self.cells().map(|it| if let Value::Real(it) = it { Some(*it) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
            Kind::Text => {
                let cells = self.cells().map(|it| if let Value::Text(it) = it { Some(it.as_str()) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
            Kind::Bytes => {
                let cells = self.cells().map(|it| if let Value::Bytes(it) = it { Some(it.as_slice()) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}
