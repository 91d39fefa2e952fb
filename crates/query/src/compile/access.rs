//! Which index serves a plan, and what is known of the rows that are read through it.
//!
//! An index of a collection keeps, for each of its fields, the sort key of the value ([`stoa_sql::key`]),
//! and at the end the item's id, so that it has equality, ranges and the order of pages in one. A key
//! needs a field with one value: of an item that holds an array there (or one too long for three keys in
//! an index entry) the first key is NULL. These are the *array-valued* items. A statement reads the *scalar* ones
//! by their keys and the array-valued ones by the general condition, each select served by the same index.

use super::{
    keyed,
    parts::{self, suffix, through_arrays},
};
use crate::{
    plan::{Field, Filter, Key, Order, Scalar, Test},
    schema::IndexSpec,
};
use stoa_sql::{Dialect, Direction, DocumentPath, key::LONGEST};

/// Conditions beyond which a statement is written once and not once for each select.
const MOST_TESTS: usize = 30;

/// The sort key of `_owner`, in which items without an owner come first.
pub(super) const OWNER_KEY: &str = "(case when owner is null then '' else '2' || owner end)";

/// The rows that a select reads.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    All,
    Scalar(&'a Serving<'a>),
    ArrayValued(&'a Serving<'a>),
}

/// The index that serves a statement, and its columns, which stand at several places of the text.
pub(super) struct Serving<'p> {
    index: &'p IndexSpec,
    columns: Vec<String>,
}

/// How the rows of an answer are reached.
pub(super) struct Access<'p> {
    serving: Option<Serving<'p>>,
    /// Whether an index has the rows in the order of the plan.
    is_ordered: bool,
}

/// The index that serves best.
pub(super) fn best<'p>(indexes: &'p [IndexSpec], filter: &Filter, order: Option<&Order>) -> Option<&'p IndexSpec> {
    let asked = Asked::of(filter);
    let ranked = indexes.iter().filter_map(|it| Some((asked.rank(it, order)?, it)));
    let best = ranked.max_by_key(|(rank, _)| *rank).filter(|_| !asked.is_by_id() && tests(filter) <= MOST_TESTS);
    best.map(|(_, index)| index)
}

impl<'p> Access<'p> {
    pub(super) fn choose(
        dialect: &dyn Dialect,
        indexes: &'p [IndexSpec],
        filter: &Filter,
        order: Option<&Order>,
    ) -> Self {
        let (asked, best) = (Asked::of(filter), best(indexes, filter, order));
        let is_ordered = order.is_some_and(|order| match best {
            Some(index) => asked.order(index, order),
            None => asked.is_by_columns(order),
        });
        let columns = |index: &IndexSpec| (0..index.fields.len()).map(|n| column(dialect, index, n)).collect();
        Self { serving: best.map(|index| Serving { index, columns: columns(index) }), is_ordered }
    }

    /// The number of the index, if one serves.
    pub(super) fn number(&self) -> Option<i64> {
        self.serving.as_ref().map(|it| it.index.number)
    }

    pub(super) fn rows(&self) -> Vec<Rows<'_>> {
        match &self.serving {
            None => vec![Rows::All],
            Some(it) if !has_array_valued_items(it.index) => vec![Rows::Scalar(it)],
            Some(it) => vec![Rows::Scalar(it), Rows::ArrayValued(it)],
        }
    }

    /// Whether an index has these rows in the order of the plan, and so can look up what lies beyond a position,
    /// one range for each column of the order.
    pub(super) fn is_ordered(&self, rows: Rows<'_>) -> bool {
        self.is_ordered && !matches!(rows, Rows::ArrayValued(_))
    }
}

impl<'a> Rows<'a> {
    /// Where the index has the sort key of a field, and whether it is folded.
    pub(super) fn key(self, field: &Field) -> Option<(&'a str, bool)> {
        let Self::Scalar(Serving { index, columns }) = self else { return None };
        let n = index.fields.iter().position(|it| it.field == *field)?;
        Some((columns.get(n)?, is_folded(index, field)))
    }

    /// The field that the index behind these rows has first.
    pub(super) fn first_field(self) -> Option<&'a Field> {
        let (Self::Scalar(it) | Self::ArrayValued(it)) = self else { return None };
        it.index.fields.first().map(|it| &it.field)
    }

    /// The column behind a field as a test should name it. Array-valued items are few, but SQLite would rather
    /// trust an index on a bare column.
    pub(super) fn column(self, field: &Field) -> &'static str {
        match (self, field) {
            (Self::ArrayValued(_), Field::Owner) => "(owner || '')",
            (Self::ArrayValued(_), Field::Id) => "(id || '')",
            (Self::ArrayValued(_), Field::Created) => "(created + 0)",
            _ => parts::column(field),
        }
    }

    /// What makes a row one of these, unless the filter says so anyway.
    pub(super) fn condition(self, filter: &Filter) -> Option<String> {
        let (Self::Scalar(Serving { index, columns }) | Self::ArrayValued(Serving { index, columns })) = self else {
            return None;
        };
        let (first, field) = (columns.first()?, &index.fields.first()?.field);
        match self {
            Self::ArrayValued(_) => Some(format!("{first} is null")),
            _ if Asked::of(filter).serves(index, field).next().is_some() => None,
            _ if is_time(field) => Some(format!("{first} > -9223372036854775807")),
            _ => Some(format!("{first} >= ''")),
        }
    }
}

/// The conditions that all hold.
struct Asked<'f> {
    all: &'f [Filter],
}

impl<'f> Asked<'f> {
    fn of(filter: &'f Filter) -> Self {
        Self { all: if let Filter::And(list) = filter { list } else { std::slice::from_ref(filter) } }
    }

    /// How well an index serves: by how many fields that are given, then by order, then by a range.
    fn rank(&self, index: &IndexSpec, order: Option<&Order>) -> Option<(usize, bool, bool)> {
        let fixed = self.fixed(index);
        let is_ordered = order.is_some_and(|it| self.order(index, it));
        let is_ranged = index.fields.get(fixed).is_some_and(|it| self.serves(index, &it.field).next().is_some());
        // For owners alone every table has an index, and one in the default order at that.
        let is_fixed = fixed > 1 || index.fields.first().is_some_and(|it| fixed > 0 && it.field != Field::Owner);
        let is_usable = index.fields.iter().all(|it| it.field != Field::Id) && (is_fixed || is_ordered || is_ranged);
        is_usable.then_some((fixed, is_ordered, is_ranged))
    }

    /// How many of the index's first fields have one given value.
    fn fixed(&self, index: &IndexSpec) -> usize {
        index.fields.iter().take_while(|it| self.is_fixed(index, &it.field)).count()
    }

    fn is_fixed(&self, index: &IndexSpec, field: &Field) -> bool {
        self.serves(index, field).any(|it| it == keyed::Use::Value)
    }

    /// What the index can do for the conditions on a field.
    fn serves(&self, index: &IndexSpec, field: &Field) -> impl Iterator<Item = keyed::Use> {
        let is_folded = is_folded(index, field);
        self.tests(field).filter_map(move |it| if is_time(field) { time_use(it) } else { keyed::use_of(it, is_folded) })
    }

    /// Whether the first fields of the index decide everything: each has one given value, and the one behind them has
    /// a bound on either side at most.
    fn is_decided_by(&self, index: &IndexSpec) -> bool {
        let fixed = self.fixed(index);
        let is_decided = |field: &Field| {
            let Some(n) = index.fields.iter().position(|it| it.field == *field) else { return false };
            match self.tests(field).collect::<Vec<_>>().as_slice() {
                [one] if n < fixed => self.serves(index, field).eq([keyed::Use::Value]) && !is_long(one),
                [one] => n == fixed && is_bound(one),
                [a, b] => {
                    let other = Filter::Test(field.clone(), (*b).clone());
                    n == fixed && is_bound(a) && is_bound(b) && keyed::closes(&other, field, a)
                }
                _ => false,
            }
        };
        let is_served = |field: &Field| self.serves(index, field).next().is_some();
        self.all.iter().all(|it| match it {
            Filter::True => true,
            Filter::Test(field, _) => is_served(field) && is_decided(field),
            _ => false,
        })
    }

    fn tests(&self, field: &Field) -> impl Iterator<Item = &'f Test> {
        self.all.iter().filter_map(move |it| match it {
            Filter::Test(on, test) if on == field => Some(test),
            _ => None,
        })
    }

    /// Whether the index has its scalar rows in this order, read from one end or from the other.
    fn order(&self, index: &IndexSpec, order: &Order) -> bool {
        let Order::Keys(keys) = order else { return false };
        let Some(last) = index.fields.last().filter(|_| !index.case_insensitive) else { return false };
        let wanted: Vec<&Key> =
            keys.iter().filter(|it| it.field != Field::Id && !self.is_one(Some(index), &it.field)).collect();
        let Some(skipped) = index.fields.len().checked_sub(wanted.len()) else { return false };
        let served = index.fields.get(skipped..).unwrap_or_default();
        let turned = |a: Direction, b: Direction| a != b;
        let is_turned = turned(by_id(order), last.direction);
        skipped <= self.fixed(index)
            && served
                .iter()
                .zip(&wanted)
                .all(|(a, b)| a.field == b.field && turned(a.direction, b.direction) == is_turned)
    }

    /// Whether the indexes that every table has are in this order.
    fn is_by_columns(&self, order: &Order) -> bool {
        let Order::Keys(keys) = order else { return false };
        let mut wanted = keys.iter().filter(|it| it.field != Field::Id && !self.is_one(None, &it.field));
        match (wanted.next(), wanted.next()) {
            (None, _) => true,
            (Some(it), None) => it.field == Field::Created && it.direction == by_id(order),
            _ => false,
        }
    }

    /// Whether all rows have the same value there.
    fn is_one(&self, index: Option<&IndexSpec>, field: &Field) -> bool {
        match index.filter(|it| it.fields.iter().any(|it| it.field == *field)) {
            Some(it) => self.is_fixed(it, field),
            None => !matches!(field, Field::Path(_)) && self.tests(field).any(|it| matches!(it, Test::Equal(_))),
        }
    }

    /// Whether the items are named one by one.
    fn is_by_id(&self) -> bool {
        self.tests(&Field::Id).any(|it| matches!(it, Test::Equal(_) | Test::In(_)))
    }
}

/// Whether an index has all items that pass next to each other, in this order.
pub(super) fn decides(indexes: &[IndexSpec], filter: &Filter, order: &Order) -> bool {
    let asked = Asked::of(filter);
    best(indexes, filter, Some(order)).is_some_and(|it| asked.order(it, order) && asked.is_decided_by(it))
}

/// Whether an index has all items that pass in this order, so that none is put in order.
pub(super) fn is_in_order(indexes: &[IndexSpec], filter: &Filter, order: &Order) -> bool {
    let asked = Asked::of(filter);
    match best(indexes, filter, Some(order)) {
        Some(index) => asked.order(index, order) && !has_array_valued_items(index),
        None => asked.is_by_columns(order),
    }
}

/// Whether indexes that every table has lead to the rows, which then are few.
pub(super) fn is_found(filter: &Filter) -> bool {
    let asked = Asked::of(filter);
    asked.is_by_id()
        || asked.all.iter().any(|it| {
            matches!(
                it,
                Filter::Test(Field::Owner, Test::Equal(_))
                    | Filter::Test(Field::Links(_), Test::Equal(_) | Test::In(_))
                    | Filter::False
            )
        })
}

/// The columns of an index as its statement lists them.
pub(super) fn columns(dialect: &dyn Dialect, index: &IndexSpec) -> String {
    let mut columns: Vec<_> = (0..index.fields.len()).map(|n| column(dialect, index, n)).collect();
    columns.push("id".to_owned());
    let directions = index.fields.iter().chain(index.fields.last()).map(|it| it.direction);
    let columns = columns.iter().zip(directions).map(|(text, it)| format!("{text}{}", suffix(it)));
    columns.collect::<Vec<_>>().join(", ")
}

/// What a unique index keeps.
pub(super) fn unique(dialect: &dyn Dialect, index: &IndexSpec) -> Option<String> {
    Some(match &index.fields.first()?.field {
        Field::Path(names) => format!("({})", dialect.unique(&DocumentPath::field(names), index.case_insensitive)),
        it => parts::column(it).to_owned(),
    })
}

/// A key of the index; the first is NULL if any would be.
fn column(dialect: &dyn Dialect, index: &IndexSpec, n: usize) -> String {
    let key = |it: &Key| key(dialect, index, &it.field);
    let Some(own) = index.fields.get(n).map(key) else { return String::new() };
    let others: Vec<_> = index.fields.iter().skip(1).filter(|it| matches!(it.field, Field::Path(_))).map(key).collect();
    if n > 0 || others.is_empty() {
        return own;
    }
    let present: Vec<_> = others.iter().map(|it| format!("{it} is not null")).collect();
    format!("(case when {} then {own} end)", present.join(" and "))
}

fn key(dialect: &dyn Dialect, index: &IndexSpec, field: &Field) -> String {
    let Field::Path(names) = field else {
        return if *field == Field::Owner { OWNER_KEY.to_owned() } else { parts::column(field).to_owned() };
    };
    let here = dialect.indexed(&DocumentPath::field(names), longest(index), index.case_insensitive);
    match through_arrays(dialect, names) {
        None => format!("({here})"),
        Some(arrays) => format!("(case when {arrays} then null else {here} end)"),
    }
}

/// So many characters of each key that an entry with an id stays below the 2,704 bytes of PostgreSQL.
fn longest(index: &IndexSpec) -> usize {
    match index.fields.len() {
        0 | 1 => LONGEST,
        2 => 230,
        _ => 150,
    }
}

fn has_array_valued_items(index: &IndexSpec) -> bool {
    index.fields.iter().any(|it| matches!(it.field, Field::Path(_)))
}

fn is_folded(index: &IndexSpec, field: &Field) -> bool {
    index.case_insensitive && matches!(field, Field::Path(_))
}

pub(super) fn is_time(field: &Field) -> bool {
    matches!(field, Field::Created | Field::Updated)
}

fn is_bound(test: &Test) -> bool {
    matches!(test, Test::Compare(..)) && !is_long(test)
}

/// Whether an index cuts the operand, so that other values may have its key.
fn is_long(test: &Test) -> bool {
    matches!(test, Test::Equal(Scalar::Text(it)) | Test::Compare(_, Scalar::Text(it)) if it.len() >= LONGEST)
}

fn time_use(test: &Test) -> Option<keyed::Use> {
    match test {
        Test::Equal(_) => Some(keyed::Use::Value),
        Test::Compare(..) | Test::In(_) => Some(keyed::Use::Range),
        _ => None,
    }
}

fn by_id(order: &Order) -> Direction {
    let Order::Keys(keys) = order else { return Direction::Ascending };
    keys.last().map_or(Direction::Ascending, |it| it.direction)
}

fn tests(filter: &Filter) -> usize {
    match filter {
        Filter::True | Filter::False | Filter::Rows(_) => 0,
        Filter::Test(..) => 1,
        Filter::Not(it) => tests(it),
        Filter::And(list) | Filter::Or(list) => list.iter().map(tests).sum(),
    }
}
