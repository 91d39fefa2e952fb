//! A question that needs no more answers before it can be asked: names are fields, operands have types.
//!
//! Every plan holds a [`Scope`]. There is no other way to make one, so a query without the caller's
//! permission can't be written.

use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};
use stoa_kernel::Millis;
use stoa_sql::{Direction, Table, pattern::Part};

/// Items in an order, a page of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Find {
    pub scope: Scope,
    pub filter: Filter,
    pub order: Order,
    pub page: PageSpec,
    /// Applied to each document after it is read: [`crate::item::project`].
    pub projection: Projection,
    /// Whether the caller also asked for [`Find::count`].
    pub total: bool,
    /// Those that may serve. They change the way to the answer and never the answer.
    pub indexes: Arc<[IndexSpec]>,
}

/// How many items there are.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    pub scope: Scope,
    pub filter: Filter,
    pub indexes: Arc<[IndexSpec]>,
}

/// The different values of a field, each element of an array for itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Distinct {
    pub scope: Scope,
    pub filter: Filter,
    pub field: Field,
    pub direction: Direction,
    pub page: PageSpec,
    pub total: bool,
}

/// What the caller's permission lets through, whatever the filter says. `Debug` stays derived: keys of those who are told
/// the same changes are made of it (decision 30).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    Everything,
    /// Only items with this `_owner`.
    OwnedBy(String),
    /// Only items within another scope that are published: [`Scope::published`].
    Published {
        within: Box<Scope>,
        /// Whether an item that has no [`PUBLISH_STATUS`] is published.
        unmarked: bool,
    },
    Nothing,
}

/// The field of an item that says whether it is published: PUBLISHED or DRAFT.
pub const PUBLISH_STATUS: &str = "_publishStatus";

/// Which items are wanted. `Debug` stays derived, as for [`Scope`].
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    True,
    False,
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Test(Field, Test),
    /// In one of these rows of the table: what an index of words has found. No request says so, and no document in
    /// memory is in a row.
    Rows(Arc<[i64]>),
}

/// What is asked of a field.
///
/// Values compare with values of their own type and with nothing else. Where the field holds an array,
/// the tests from [`Test::Equal`] on hold if they hold for one of its elements; where the way to the
/// field leads through arrays, all tests look at what each of their objects has there.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Missing or null.
    Empty,
    /// Not missing; null counts as present.
    Present,
    Array,
    Equal(Scalar),
    /// An object or array, equal by content.
    Whole(Json),
    In(Vec<Scalar>),
    Compare(Comparison, Scalar),
    StartsWith(Folded),
    EndsWith(Folded),
    Contains(Folded),
    /// `true`: the text is folded first, as the pattern is.
    Matches(Vec<Part>, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An operand of a type that has an order.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Number(f64),
    Text(String),
    Flag(bool),
    Date(Millis),
}

/// A text in its folded form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded(String);

/// Where a value comes from: a column of the table, or the document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Field {
    Id,
    Owner,
    Created,
    Updated,
    /// At least one name, at most [`crate::item::MAX_DEPTH`].
    Path(Vec<String>),
    /// The ids that a multi-reference leads to. Only filters ask for it, and only with [`Test::Empty`],
    /// [`Test::Present`], [`Test::Array`], [`Test::Equal`] and [`Test::In`].
    Links(Arc<Links>),
}

/// Always total: what the keys leave open, `_id` decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// In order of importance. `_id` follows, in the direction of the last of them, unless it is among
    /// them: so one index serves an order and its reverse.
    Keys(Vec<Key>),
    /// The same seed gives the same order.
    Random { seed: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub field: Field,
    pub direction: Direction,
}

/// Which part of the ordered items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSpec {
    pub start: Start,
    /// The page's size. One row more is read, which tells whether another page follows.
    pub limit: u32,
}

/// Where a page begins. All but an offset are pages by cursor, whose rows tell their sort keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    Offset(u64),
    /// The first page by cursor.
    First,
    /// What follows on a position in the order.
    After(Position),
    /// What stands before a position in the order, the nearest first.
    Before(Position),
}

/// A position in an order: where an item stood when it was met, whatever became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// One for each sort key but `_id`, none in a random order.
    pub keyset: Vec<KeysetValue>,
    /// Whether an item right at the position belongs to the page.
    pub is_included: bool,
    /// The item's `_id`; nothing among different values, whose one keyset value is enough.
    pub id: String,
}

/// A value of a sort key as the engines compare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeysetValue {
    /// `stoa_sql::key`, bounded.
    Key(String),
    Time(i64),
}

/// Which fields of the items the caller wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Projection {
    All,
    Fields(Mask),
}

/// A tree of names; one without members below it stands for all that is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mask {
    /// Names as they stand in canonical text, quotes and escapes included.
    members: BTreeMap<String, Mask>,
}

/// Where the links of a multi-reference field are, and which of them the caller may know of.
///
/// To a filter the field is the array of the ids of the items that it leads to, and missing when there
/// are none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Links {
    pub field: String,
    pub site: String,
    pub relation: i64,
    /// The column of `stoa.item_link` with the ids of the items that have the field.
    pub source_column: &'static str,
    /// The column with the ids of the items that it leads to.
    pub target_column: &'static str,
    /// The table of those items.
    pub table: Table,
    /// Which of those items the caller may read.
    pub scope: Scope,
}

/// An index that somebody asked for (docs/protocol/content.md §7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Its number within the collection, of which its name is made.
    pub number: i64,
    /// One to three, and perhaps `_owner` before them.
    pub fields: Vec<Key>,
    /// No two items have the same value. Missing and null are no values; an array counts as a whole.
    pub unique: bool,
    /// Texts are folded: it serves what is asked of folded texts, and no order.
    pub case_insensitive: bool,
}

impl Find {
    /// The question behind `returnTotalCount`.
    pub fn count(&self) -> Count {
        Count { scope: self.scope.clone(), filter: self.filter.clone(), indexes: self.indexes.clone() }
    }
}

impl Order {
    /// The direction in which `_id` decides what the keys leave open; nothing if `_id` is a key.
    pub fn by_id(&self) -> Option<Direction> {
        match self {
            Self::Random { .. } => Some(Direction::Ascending),
            Self::Keys(keys) if keys.iter().any(|it| it.field == Field::Id) => None,
            Self::Keys(keys) => Some(keys.last().map_or(Direction::Ascending, |it| it.direction)),
        }
    }

    /// The keys that a position has a value for.
    pub fn keyset_keys(&self) -> impl Iterator<Item = &Key> {
        let keys: &[Key] = if let Self::Keys(keys) = self { keys } else { &[] };
        keys.iter().filter(|it| it.field != Field::Id)
    }
}

impl Start {
    /// How many items of the order are passed over and counted.
    pub fn offset(&self) -> u64 {
        if let Self::Offset(it) = self { *it } else { 0 }
    }

    pub fn position(&self) -> Option<&Position> {
        match self {
            Self::After(it) | Self::Before(it) => Some(it),
            Self::Offset(_) | Self::First => None,
        }
    }

    /// Whether the rows come against the order.
    pub fn is_backward(&self) -> bool {
        matches!(self, Self::Before(_))
    }
}

impl Filter {
    /// How many tests it has.
    pub fn tests(&self) -> usize {
        match self {
            Self::True | Self::False | Self::Rows(_) => 0,
            Self::And(list) | Self::Or(list) => list.iter().map(Self::tests).sum(),
            Self::Not(it) => it.tests(),
            Self::Test(..) => 1,
        }
    }

    /// The negation, without stacking one on another.
    pub fn negated(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Not(it) => *it,
            it => Self::Not(Box::new(it)),
        }
    }

    /// True if all are; nested conjunctions become one list.
    pub fn all(filters: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = Vec::new();
        for it in filters {
            match it {
                Self::True => {}
                Self::False => return Self::False,
                Self::And(inner) => parts.extend(inner),
                it => parts.push(it),
            }
        }
        match parts.len() {
            0 => Self::True,
            1 => parts.remove(0),
            _ => Self::And(parts),
        }
    }

    /// True if one is; nested disjunctions become one list.
    pub fn any(filters: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = Vec::new();
        for it in filters {
            match it {
                Self::False => {}
                Self::True => return Self::True,
                Self::Or(inner) => parts.extend(inner),
                it => parts.push(it),
            }
        }
        match parts.len() {
            0 => Self::False,
            1 => parts.remove(0),
            _ => Self::Or(parts),
        }
    }
}

impl Scope {
    /// The scope as a filter: permission narrows the question, it never filters the answer.
    pub fn filter(&self) -> Filter {
        match self {
            Self::Everything => Filter::True,
            Self::Nothing => Filter::False,
            Self::OwnedBy(owner) => Filter::Test(Field::Owner, Test::Equal(Scalar::Text(owner.clone()))),
            Self::Published { within, unmarked } => {
                let has = |status: &str| {
                    let field = Field::Path(vec![PUBLISH_STATUS.to_owned()]);
                    Filter::Test(field, Test::Equal(Scalar::Text(status.to_owned())))
                };
                let is_published = if *unmarked { has("DRAFT").negated() } else { has("PUBLISHED") };
                Filter::all([within.filter(), is_published])
            }
        }
    }

    /// The published items of this scope.
    #[must_use]
    pub fn published(self, unmarked: bool) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            within => Self::Published { within: Box::new(within), unmarked },
        }
    }
}

impl Field {
    /// The field of a dotted name.
    pub fn parse(name: &str) -> Self {
        match name {
            "_id" => Self::Id,
            "_owner" => Self::Owner,
            "_createdDate" => Self::Created,
            "_updatedDate" => Self::Updated,
            _ => Self::Path(name.split('.').map(str::to_owned).collect()),
        }
    }

    /// The dotted name.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Id => "_id".into(),
            Self::Owner => "_owner".into(),
            Self::Created => "_createdDate".into(),
            Self::Updated => "_updatedDate".into(),
            Self::Path(names) => names.join(".").into(),
            Self::Links(links) => links.field.as_str().into(),
        }
    }
}

impl Folded {
    pub fn new(text: &str) -> Self {
        Self(stoa_kernel::fold::fold(text).into_owned())
    }
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Projection {
    /// The projection to these paths; none means all.
    pub fn of(fields: &[Vec<String>]) -> Self {
        if fields.is_empty() {
            return Self::All;
        }
        let mut mask = Mask::default();
        mask.add(&["_id".to_owned()]);
        fields.iter().for_each(|it| mask.add(it));
        Self::Fields(mask)
    }

    /// Whether anything of an item's member of this name, as it stands in canonical text, is wanted.
    pub fn shows(&self, quoted: &str) -> bool {
        match self {
            Self::All => true,
            Self::Fields(mask) => mask.members.contains_key(quoted),
        }
    }
}

impl Mask {
    fn add(&mut self, path: &[String]) {
        let Some((name, rest)) = path.split_first() else { return };
        match self.members.entry(stoa_sql::json::quoted(name)) {
            Entry::Vacant(it) => it.insert(Self::default()).add(rest),
            // What is wanted whole stays whole.
            Entry::Occupied(it) if it.get().is_whole() => {}
            Entry::Occupied(mut it) if rest.is_empty() => it.get_mut().members.clear(),
            Entry::Occupied(it) => it.into_mut().add(rest),
        }
    }

    pub(crate) fn get(&self, quoted: &str) -> Option<&Self> {
        self.members.get(quoted)
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.members.is_empty()
    }
}
