//! Indexes of collections (docs/protocol/content.md §7): what one is, its life, and how it looks on the wire.
//!
//! ```text
//!            ┌───────── begun again ────────┐
//!            ▼                              │
//! create ─▶ BUILDING ── built ──▶ ACTIVE    │ lock, restart
//!            │  │  └────────────────────────┘
//!            │  └─── can't be ──▶ FAILED ──┐
//!            │                    ACTIVE ──┤ drop
//!            └──────── drop ───────────────┴─▶ DROPPING ── removed ──▶ DROPPED: the row is gone
//! ```
//!
//! A row of `stoa.content_index` says where an index stands, and [`crate::index::build`] does what follows
//! from it. Only an ACTIVE index is part of the schema that queries are planned with. INVALID is a status
//! of the protocol that this server has no use for: what is invalid is built again or FAILED.

use crate::{
    fault::{invalid, missing},
    limits::ContentLimits,
    wire::validator::{Validator, check},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashSet;
use stoa_kernel::{Result, SiteId, clock::Millis};
use stoa_query::{
    Schema,
    plan::{Field, Key},
    resolve,
    schema::IndexSpec,
};
use stoa_sql::{Direction, params};
use stoa_store::{Row, Tx};

/// An index that a manager asked for, or that the server made by itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Index {
    pub id: String,
    /// Names it in the database.
    pub number: i64,
    pub name: String,
    pub definition: IndexDefinition,
    pub source: Source,
    pub status: Status,
    pub failure: Option<Failure>,
    /// What made the server make it.
    pub why: Option<Why>,
    pub used: Millis,
}

/// What is indexed, and how.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IndexDefinition {
    pub fields: Vec<IndexField>,
    #[serde(default)]
    pub unique: bool,
    #[serde(default)]
    pub case_insensitive: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct IndexField {
    pub path: String,
    #[serde(default)]
    pub order: IndexOrder,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum IndexOrder {
    #[default]
    Asc,
    Desc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Source {
    User,
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Status {
    Building,
    Active,
    Failed,
    Dropping,
}

/// Why a build can't come to an end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Failure {
    /// WDE0112, WDE0113 or WDE0114.
    pub code: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
}

/// The queries that the server saw before it made an index by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// Slow queries of this form.
    pub queries: u32,
    /// How long the slowest took.
    pub slowest_milliseconds: u64,
    /// Within this time.
    pub window_minutes: u64,
}

static INDEX: Validator = Validator::Object(&[
    ("name", Validator::Text(1, 128)),
    ("fields", Validator::List(3, &FIELD)),
    ("unique", Validator::Flag),
    ("caseInsensitive", Validator::Flag),
]);
static FIELD: Validator =
    Validator::Object(&[("path", Validator::Text(1, 128)), ("order", Validator::OneOf(&["ASC", "DESC"]))]);

const OWNER: &str = "_owner";

const COLUMNS: &str = "collection, number, id, name, definition, source, status, failure, why, used";

/// Reads the `index` of a request: its name and what it is of.
///
/// # Errors
/// WDE0075 with the path of what doesn't fit; WDE0134, WDE0147, WDE0119 for fields that no index can have.
pub(crate) fn parse(object: &Value, schema: &Schema, limits: &ContentLimits) -> Result<(String, IndexDefinition)> {
    check(object, &INDEX, "index", limits)?;
    let text = |it: &Value, name: &str| it.get(name).and_then(Value::as_str).map(str::to_owned);
    let flag = |name: &str| object.get(name).and_then(Value::as_bool).unwrap_or(false);
    let name = text(object, "name").ok_or_else(|| missing("index.name"))?;
    let requested_fields = object.get("fields").and_then(Value::as_array).filter(|it| !it.is_empty());
    let mut fields = Vec::new();
    for (n, it) in
        requested_fields.ok_or_else(|| invalid("index.fields", "must have at least one field"))?.iter().enumerate()
    {
        let path = text(it, "path").ok_or_else(|| missing(&format!("index.fields[{n}].path")))?;
        if path.split('.').any(str::is_empty) {
            return Err(invalid(&format!("index.fields[{n}].path"), "must be names with single dots between them"));
        }
        resolve::field(&path, schema)?;
        let order = if text(it, "order").as_deref() == Some("DESC") { IndexOrder::Desc } else { IndexOrder::Asc };
        fields.push(IndexField { path, order });
    }
    if fields.iter().map(|it| &it.path).collect::<HashSet<_>>().len() < fields.len() {
        return Err(invalid("index.fields", "must name each field once"));
    }
    let definition = IndexDefinition { fields, unique: flag("unique"), case_insensitive: flag("caseInsensitive") };
    if definition.unique && definition.fields.len() > 1 {
        return Err(invalid("index.fields", "of a unique index must be one field"));
    }
    // The owner of an item changes without a request: a visitor's items are transferred to the member.
    let is_system = |it: &IndexField| !matches!(Field::parse(&it.path), Field::Path(_));
    if definition.unique && definition.fields.iter().any(is_system) {
        return Err(invalid("index.fields", "of a unique index must not be a field of the system"));
    }
    Ok((name, definition))
}

/// The indexes of a collection, the oldest first.
pub(crate) async fn of_collection(
    tx: &mut Tx<'_>,
    site: &SiteId,
    collection: i64,
) -> Result<Vec<Index>, stoa_store::Error> {
    let sql = format!("select {COLUMNS} from stoa.content_index where site = $1 and collection = $2 order by number");
    Ok(tx.rows(&sql, &params![site, collection], read).await?.into_iter().map(|it| it.1).collect())
}

/// All indexes of a site, each with the number of its collection.
pub(crate) async fn of_site(
    tx: &mut Tx<'_>,
    site: &SiteId,
    only: &[Status],
) -> Result<Vec<(i64, Index)>, stoa_store::Error> {
    let among: Vec<String> = only.iter().map(|it| it.name().to_owned()).collect();
    let sql = format!(
        "select {COLUMNS} from stoa.content_index where site = $1 and {} order by collection, number",
        tx.dialect().any_of("status", "$2")
    );
    tx.rows(&sql, &params![site, among], read).await
}

fn read(row: &Row<'_>) -> Result<(i64, Index), stoa_store::Error> {
    let broken = |it: &dyn std::fmt::Display| stoa_store::Error::Other(format!("an index: {it}"));
    let (failure, why): (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
    let index = Index {
        number: row.get(1)?,
        id: row.get(2)?,
        name: row.get(3)?,
        definition: serde_json::from_str(row.text(4)?).map_err(|it| broken(&it))?,
        source: if row.text(5)? == "AUTO" { Source::Auto } else { Source::User },
        status: Status::parse(row.text(6)?).ok_or_else(|| broken(&"its status"))?,
        failure: failure.and_then(|it| serde_json::from_str(&it).ok()),
        why: why.and_then(|it| serde_json::from_str(&it).ok()),
        used: row.get(9)?,
    };
    Ok((row.get(0)?, index))
}

impl Index {
    /// As queries are planned with it.
    pub(crate) fn spec(&self) -> IndexSpec {
        self.definition.spec(self.number)
    }

    /// Whether it counts against the limit of indexes that managers make.
    pub(crate) fn takes_slot(&self, unique: bool) -> bool {
        self.source == Source::User && self.status != Status::Dropping && self.definition.unique == unique
    }

    pub(crate) fn view(&self) -> Value {
        let mut view = json!({
            "id": self.id, "name": self.name, "fields": self.definition.fields, "unique": self.definition.unique,
            "caseInsensitive": self.definition.case_insensitive, "status": self.status, "source": self.source,
        });
        if let Some(failure) = &self.failure {
            view["failure"] = json!(failure);
        }
        if let Some(why) = &self.why {
            view["why"] = json!(why);
        }
        view
    }
}

impl IndexDefinition {
    /// Whether it holds this field, or something inside it.
    pub(crate) fn is_of(&self, key: &str) -> bool {
        self.fields.iter().any(|it| it.path.split('.').next() == Some(key))
    }

    /// Whether this index does for another's queries as well: its fields come first, and it can be read from one end or
    /// from the other. Of an owner there is one, in whatever order.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let pairs = || self.fields.iter().zip(&other.fields);
        let turned = |is_turned: bool| {
            pairs().filter(|(it, _)| it.path != OWNER).all(|(a, b)| (a.order != b.order) == is_turned)
        };
        self.case_insensitive == other.case_insensitive
            && self.fields.len() >= other.fields.len()
            && pairs().all(|(a, b)| a.path == b.path)
            && (turned(false) || turned(true))
    }

    /// The index that has the items of each owner in the order of this one. It isn't unique.
    pub(crate) fn led_by_owner(&self) -> Self {
        let owner = IndexField { path: OWNER.to_owned(), order: IndexOrder::Asc };
        let others = self.fields.iter().filter(|it| it.path != OWNER).cloned();
        let fields = std::iter::once(owner).chain(others).collect();
        Self { fields, unique: false, case_insensitive: self.case_insensitive }
    }

    pub(crate) fn names(&self) -> String {
        self.fields.iter().map(|it| it.path.as_str()).collect::<Vec<_>>().join("-")
    }

    pub(crate) fn spec(&self, number: i64) -> IndexSpec {
        let direction = |it: IndexOrder| match it {
            IndexOrder::Asc => Direction::Ascending,
            IndexOrder::Desc => Direction::Descending,
        };
        let key = |it: &IndexField| Key { field: Field::parse(&it.path), direction: direction(it.order) };
        IndexSpec {
            number,
            fields: self.fields.iter().map(key).collect(),
            unique: self.unique,
            case_insensitive: self.case_insensitive,
        }
    }
}

impl Status {
    const ALL: [Self; 4] = [Self::Building, Self::Active, Self::Failed, Self::Dropping];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Building => "BUILDING",
            Self::Active => "ACTIVE",
            Self::Failed => "FAILED",
            Self::Dropping => "DROPPING",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The transitions of the diagram.
    pub(crate) fn leads_to(self, next: Self) -> bool {
        use Status::{Active, Building, Dropping, Failed};
        matches!((self, next), (Building, Active | Failed | Dropping) | (Active | Failed, Dropping))
    }
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "USER",
            Self::Auto => "AUTO",
        }
    }
}

/// The indexes that every collection has from the start: their ids are fixed, for they have no rows.
pub(crate) fn system_views() -> impl Iterator<Item = Value> {
    const SYSTEM: [(&str, &str, &[&str]); 3] = [
        ("00000000-0000-4000-8000-000000000001", "_id", &["_id"]),
        ("00000000-0000-4000-8000-000000000002", "_createdDate", &["_createdDate"]),
        ("00000000-0000-4000-8000-000000000003", "_owner", &["_owner", "_createdDate"]),
    ];
    SYSTEM.into_iter().map(|(id, name, fields)| {
        let fields: Vec<_> = fields.iter().map(|path| json!({ "path": path, "order": "ASC" })).collect();
        json!({
            "id": id, "name": name, "fields": fields, "unique": name == "_id", "caseInsensitive": false,
            "status": Status::Active, "source": "SYSTEM",
        })
    })
}

/// Whether a system index has this name.
pub(crate) fn is_system(name: &str) -> bool {
    system_views().any(|it| it["name"] == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::Code;

    #[test]
    fn definitions_are_read_or_refused() {
        let read = |it: Value| parse(&it, &Schema::default(), &ContentLimits::default());
        let whole = json!({ "name": "n", "fields": [{ "path": "a.b", "order": "DESC" }, { "path": "c" }], "caseInsensitive": true, "source": "SYSTEM" });
        let (name, definition) = read(whole).expect("an index");
        assert_eq!((name.as_str(), definition.unique, definition.case_insensitive), ("n", false, true));
        assert_eq!(
            definition.fields.iter().map(|it| it.order).collect::<Vec<_>>(),
            [IndexOrder::Desc, IndexOrder::Asc]
        );
        let field = |it: &str| json!([{ "path": it }]);
        for (wrong, code) in [
            (json!({ "fields": field("a") }), Code::RequestInvalid),
            (json!({ "name": "", "fields": field("a") }), Code::RequestInvalid),
            (json!({ "name": "x".repeat(129), "fields": field("a") }), Code::RequestInvalid),
            (json!({ "name": "n" }), Code::RequestInvalid),
            (json!({ "name": "n", "fields": [] }), Code::RequestInvalid),
            (json!({ "name": "n", "fields": [{}] }), Code::RequestInvalid),
            (json!({ "name": "n", "fields": field("") }), Code::RequestInvalid),
            (json!({ "name": "n", "fields": field("a..b") }), Code::RequestInvalid),
            (json!({ "name": "n", "fields": field(&"x".repeat(129)) }), Code::RequestInvalid),
            (json!({ "name": "n", "fields": field("$a") }), Code::FieldNameDollar),
            (json!({ "name": "n", "fields": [{ "path": "a", "order": "UP" }] }), Code::RequestInvalid),
            (json!({ "name": "n", "fields": [{ "path": "a" }, { "path": "a" }] }), Code::RequestInvalid),
            (
                json!({ "name": "n", "fields": [{ "path": "a" }, { "path": "b" }], "unique": true }),
                Code::RequestInvalid,
            ),
            (
                json!({ "name": "n", "fields": [{ "path": "a" }, { "path": "b" }, { "path": "c" }, { "path": "d" }] }),
                Code::RequestInvalid,
            ),
            (json!({ "name": "n", "fields": field("a"), "unique": "yes" }), Code::RequestInvalid),
        ] {
            assert_eq!(read(wrong.clone()).expect_err("refused").code(), code, "{wrong}");
        }
    }

    #[test]
    fn transitions_are_those_of_the_diagram() {
        use Status::{Active, Building, Dropping, Failed};
        let transitions =
            [(Building, Active), (Building, Failed), (Building, Dropping), (Active, Dropping), (Failed, Dropping)];
        for from in Status::ALL {
            for to in Status::ALL {
                assert_eq!(from.leads_to(to), transitions.contains(&(from, to)), "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn longer_index_serves_for_a_shorter_one() {
        let definition = |paths: &[&str]| IndexDefinition {
            fields: paths.iter().map(|it| IndexField { path: (*it).to_owned(), order: IndexOrder::Asc }).collect(),
            unique: false,
            case_insensitive: false,
        };
        assert!(definition(&["a", "b"]).covers(&definition(&["a"])));
        assert!(!definition(&["a"]).covers(&definition(&["a", "b"])));
        assert!(!definition(&["b", "a"]).covers(&definition(&["a"])));
        let turn = |mut it: IndexDefinition, n: usize| {
            it.fields[n].order = IndexOrder::Desc;
            it
        };
        let [both, own] = [&["a", "b"], &["_owner", "a"]].map(|it| definition(it));
        assert!(turn(turn(both.clone(), 0), 1).covers(&both), "it is read from the other end");
        assert!(!turn(both.clone(), 1).covers(&both));
        assert!(turn(own.clone(), 1).covers(&own));
    }
}
