//! Aggregation as a plan: which items are read, and the stages that they pass (docs/protocol/content.md §3.10,
//! §3.11). Both forms of the wire come to this one, and [`crate::pipeline`] runs it.
//!
//! ```text
//! items ── filter, order, window (SQL) ──▶ rows ── stage ──▶ stage ──▶ … ──▶ page of results
//! ```

use crate::plan::{Filter, Find, Key, PageSpec};
use stoa_sql::Direction;

/// What is read, what becomes of it, and which of the results are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The scope, the leading filters, and the order: that of a sort right behind those filters, else the default one.
    /// Its page has all items: [`crate::pipeline::Reading`] decides what a statement cuts.
    pub source: Find,
    pub stages: Vec<Stage>,
    /// Of the results.
    pub page: PageSpec,
    /// Whether results are counted to the end.
    pub total: bool,
}

/// The way to a value: the names of members, at least one.
pub type FieldPath = Vec<String>;

/// What happens to the rows one after another.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// With the outermost names that it reads.
    Filter(Filter, Vec<String>),
    Project(Projected),
    Group(Group),
    /// A row for each element of the array, which stands in its place. Rows without elements end here; what is no
    /// array stays.
    Unwind(FieldPath),
    Sort(Vec<SortKey>),
    Limit(u64),
    Skip(u64),
    /// The members of an object as a list of `{k, v}`.
    ObjectToArray {
        from: FieldPath,
        to: String,
    },
}

/// A key of an order of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    pub path: FieldPath,
    pub direction: Direction,
}

/// What a projection leaves of an object, and what it makes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Projected {
    pub kept: Kept,
    /// Taken out of what is kept.
    pub excluded: Vec<FieldPath>,
    /// In the order of the request.
    pub made: Vec<(String, Made)>,
}

/// Which members of the object stay.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Kept {
    #[default]
    All,
    /// None but these.
    Only(Vec<FieldPath>),
}

/// How a projection makes a member.
#[derive(Debug, Clone, PartialEq)]
pub enum Made {
    Value(Expression<FieldPath>),
    /// What another projection leaves of the member of this name. Expressions read from the whole row.
    Nested(Projected),
}

/// Rows of equal keys become one.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub keys: Vec<(String, Expression<FieldPath>)>,
    pub accumulators: Vec<(String, Accumulator)>,
    pub form: GroupForm,
}

/// What the results of a group look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupForm {
    /// The keys are members of `_id`.
    Pipeline,
    /// They are repeated beside it, and without keys there is one group though there are no rows.
    Aggregate,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Accumulator {
    /// How many rows.
    Count,
    Of(Function, Expression<FieldPath>),
}

/// What an accumulator makes of the values of a group's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    Sum,
    Average,
    Min,
    Max,
    First,
    Last,
    Push,
}

/// A value that is worked out for each row; `F` is how it names a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression<F> {
    Field(F),
    Text(String),
    Number(f64),
    One(One, Box<Self>),
    Two(Two, Box<[Self; 2]>),
    Many(Many, Vec<Self>),
    Substring { text: Box<Self>, start: Box<Self>, length: Option<Box<Self>> },
}

/// Of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum One {
    Abs,
    Floor,
    Ceil,
    Stringify,
    Lower,
    Upper,
    Length,
}

/// Of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Two {
    Subtract,
    Divide,
    Modulo,
}

/// Of as many as are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Many {
    Add,
    Sum,
    Multiply,
    Concat,
}

impl<F> Expression<F> {
    /// The same with fields named another way.
    pub fn map<G>(&self, each: &mut impl FnMut(&F) -> G) -> Expression<G> {
        match self {
            Self::Field(it) => Expression::Field(each(it)),
            Self::Text(it) => Expression::Text(it.clone()),
            Self::Number(it) => Expression::Number(*it),
            Self::One(operation, it) => Expression::One(*operation, Box::new(it.map(each))),
            Self::Two(operation, it) => {
                let [a, b] = &**it;
                Expression::Two(*operation, Box::new([a.map(each), b.map(each)]))
            }
            Self::Many(operation, list) => Expression::Many(*operation, list.iter().map(|it| it.map(each)).collect()),
            Self::Substring { text, start, length } => Expression::Substring {
                text: Box::new(text.map(each)),
                start: Box::new(start.map(each)),
                length: length.as_ref().map(|it| Box::new(it.map(each))),
            },
        }
    }

    /// Tells every field that it reads.
    pub fn fields<'e>(&'e self, each: &mut impl FnMut(&'e F)) {
        match self {
            Self::Field(it) => each(it),
            Self::Text(_) | Self::Number(_) => {}
            Self::One(_, it) => it.fields(each),
            Self::Two(_, list) => list.iter().for_each(|it| it.fields(each)),
            Self::Many(_, list) => list.iter().for_each(|it| it.fields(each)),
            Self::Substring { text, start, length } => {
                text.fields(each);
                start.fields(each);
                if let Some(it) = length {
                    it.fields(each);
                }
            }
        }
    }
}

impl Stage {
    /// Tells the outermost name of every member that it reads.
    pub fn reads<'s>(&'s self, each: &mut impl FnMut(&'s str)) {
        match self {
            Self::Filter(_, names) => names.iter().for_each(|it| each(it)),
            Self::Project(it) => it.reads(each),
            Self::Group(Group { keys, accumulators, .. }) => {
                keys.iter().for_each(|(_, it)| it.fields(&mut |it| outermost(it, each)));
                for (_, it) in accumulators {
                    if let Accumulator::Of(_, it) = it {
                        it.fields(&mut |it| outermost(it, each));
                    }
                }
            }
            Self::Unwind(it) | Self::ObjectToArray { from: it, .. } => outermost(it, each),
            Self::Sort(keys) => keys.iter().for_each(|it| outermost(&it.path, each)),
            Self::Limit(_) | Self::Skip(_) => {}
        }
    }

    /// Whether nothing of a row passes that the stage doesn't name.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Group(_) | Self::Project(Projected { kept: Kept::Only(_), .. }))
    }

    /// Whether each row leaves it as one row, in its place.
    pub fn keeps_rows(&self) -> bool {
        matches!(self, Self::Project(_) | Self::ObjectToArray { .. })
    }
}

impl Projected {
    fn reads<'s>(&'s self, each: &mut impl FnMut(&'s str)) {
        each("_id");
        if let Kept::Only(paths) = &self.kept {
            paths.iter().for_each(|it| outermost(it, each));
        }
        for (name, made) in &self.made {
            match made {
                Made::Value(it) => it.fields(&mut |it| outermost(it, each)),
                Made::Nested(it) => {
                    each(name);
                    it.reads_for_made(each);
                }
            }
        }
    }

    /// What a nested projection reads beside the member that it is of.
    fn reads_for_made<'s>(&'s self, each: &mut impl FnMut(&'s str)) {
        for (_, made) in &self.made {
            match made {
                Made::Value(it) => it.fields(&mut |it| outermost(it, each)),
                Made::Nested(it) => it.reads_for_made(each),
            }
        }
    }
}

impl SortKey {
    /// The key of an order of items.
    pub fn of(key: &Key) -> Self {
        let path = match &key.field {
            crate::plan::Field::Path(names) => names.clone(),
            it => vec![it.name().into_owned()],
        };
        Self { path, direction: key.direction }
    }
}

impl Accumulator {
    /// Whether its result depends on the order of the rows.
    pub fn shows_order(&self) -> bool {
        matches!(self, Self::Of(Function::First | Function::Last | Function::Push, _))
    }
}

fn outermost<'s>(path: &'s FieldPath, each: &mut impl FnMut(&'s str)) {
    if let Some(it) = path.first() {
        each(it);
    }
}
