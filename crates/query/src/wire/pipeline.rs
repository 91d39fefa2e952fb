//! The stages of a pipeline as they were written (docs/protocol/content.md §3.11).

use super::{
    Filter, Paging,
    expression::{Named, Reader},
    member::{flag, present},
    page,
    report::Report,
};
use crate::{
    QueryLimits,
    stages::{Expression, Function},
};
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Result};

/// The members of a request that say what becomes of the items.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    pub stages: Vec<Stage>,
    pub paging: Paging,
    pub total: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    Filter(Filter),
    Project(Vec<Member>),
    Group {
        keys: Vec<(Named, Expression<Named>)>,
        accumulators: Vec<(Named, Function, Expression<Named>)>,
    },
    Unwind(Named),
    /// Each with whether it descends.
    Sort(Vec<(Named, bool)>),
    Limit(u64),
    Skip(u64),
    ObjectToArray {
        from: Named,
        to: Named,
    },
}

/// A member of a projection.
#[derive(Debug, Clone, PartialEq)]
pub enum Member {
    Include(Named),
    Exclude(Named),
    Reshape(Named, Expression<Named>),
    Nested(Named, Vec<Member>),
}

const STAGES: &[&str] = &["filter", "projection", "group", "unwindArray", "sort", "limit", "skip", "objectToArray"];
const MEMBERS: &[&str] = &["include", "exclude", "reshape", "projectNested"];
const FUNCTIONS: &[(&str, Function)] = &[
    ("sum", Function::Sum),
    ("avg", Function::Average),
    ("min", Function::Min),
    ("max", Function::Max),
    ("first", Function::First),
    ("last", Function::Last),
    ("push", Function::Push),
];
/// Projections within each other.
const MAX_NESTED: usize = 16;

impl Pipeline {
    /// Reads the body of a request; members that it doesn't know are left to others.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let mut report = Report::default();
        let empty = Map::new();
        let mut reader = Reader::new(&mut report);
        let pipeline = reader.inside("pipeline", |reader| match present(request, "pipeline") {
            Some(it) => reader.object(it),
            None => reader.wrong(Code::BadRequest, "pipeline must be an object"),
        });
        let pipeline = pipeline.unwrap_or(&empty);
        let stages = reader.inside("pipeline", |reader| {
            if present(pipeline, "stages").and_then(Json::as_array).is_some_and(|it| it.len() > limits.pipeline_stages)
            {
                let text = format!("the pipeline has more than {} stages", limits.pipeline_stages);
                reader.inside("stages", |it| it.wrong::<()>(Code::BadRequest, text));
                return Vec::new();
            }
            reader.list(pipeline, "stages", |reader, it| stage(reader, it, limits))
        });
        let mark = report.enter("pipeline");
        let most = limits.pipeline_results;
        let mut paging = page::paging_within(pipeline, most, most, &mut report);
        if let Paging::Offset { limit: limit @ None, .. } = &mut paging {
            *limit = u32::try_from(most).ok();
        }
        report.leave(mark);
        let total = report.member("returnTotalCount", flag(request, "returnTotalCount"));
        report.finish(Self { stages, paging, total })
    }
}

impl Pipeline {
    /// All that holds before the first other stage.
    pub fn leading_filter(&self) -> Filter {
        let filters =
            self.stages.iter().map_while(|it| if let Stage::Filter(it) = it { Some(it.clone()) } else { None });
        Filter::And(filters.collect())
    }
}

fn stage(reader: &mut Reader<'_>, value: &Json, limits: &QueryLimits) -> Option<Stage> {
    // A number that isn't one leaves clients as null.
    if let Some(object) = value.as_object().filter(|it| it.len() == 1)
        && let Some(name) = ["limit", "skip"].into_iter().find(|it| object.contains_key(*it))
    {
        return window(reader, object, name);
    }
    let (name, inner) = reader.one_of("a stage", value, STAGES)?;
    let object = reader.object(value)?;
    if name == "filter" {
        return Some(Stage::Filter(Filter::read_member(object, limits, reader.report)));
    }
    if let "limit" | "skip" = name {
        return window(reader, object, name);
    }
    reader.inside(name, |reader| {
        let object = reader.object(inner)?;
        match name {
            "projection" => Some(Stage::Project(members(reader, object, 0))),
            "group" => group(reader, object),
            "unwindArray" => reader.name(object, "arrayFieldName").map(Stage::Unwind),
            "sort" => {
                let values = reader.list(object, "values", sort_key);
                if values.is_empty() && !reader.report.is_wrong() {
                    return reader.inside("values", |it| it.wrong(Code::BadRequest, "a sort needs a field"));
                }
                Some(Stage::Sort(values))
            }
            _ => {
                let from = reader.name(object, "objectFieldName");
                let to = reader.name(object, "destinationFieldName");
                Some(Stage::ObjectToArray { from: from?, to: to? })
            }
        }
    })
}

fn window(reader: &mut Reader<'_>, object: &Map<String, Json>, name: &str) -> Option<Stage> {
    reader.inside(name, |reader| {
        let number = page::integer(object, name);
        let number = reader.report.keep(number)??;
        match (name, u64::try_from(number)) {
            ("limit", Ok(it @ 1..)) => Some(Stage::Limit(it)),
            ("limit", _) => reader.wrong(Code::NotPositive, "limit must be positive"),
            (_, Ok(it)) => Some(Stage::Skip(it)),
            (_, Err(_)) => reader.wrong(Code::Negative, "skip must not be negative"),
        }
    })
}

fn members(reader: &mut Reader<'_>, object: &Map<String, Json>, depth: usize) -> Vec<Member> {
    if depth > MAX_NESTED {
        reader.wrong::<()>(Code::BadRequest, format!("projections are nested deeper than {MAX_NESTED} levels"));
        return Vec::new();
    }
    let members = reader.list(object, "fields", |reader, it| member(reader, it, depth));
    if members.is_empty() && !reader.report.is_wrong() {
        reader.inside("fields", |it| it.wrong::<()>(Code::BadRequest, "a projection needs a field"));
    }
    members
}

fn member(reader: &mut Reader<'_>, value: &Json, depth: usize) -> Option<Member> {
    let (name, inner) = reader.one_of("a field of a projection", value, MEMBERS)?;
    reader.inside(name, |reader| {
        let object = reader.object(inner)?;
        match name {
            "include" => reader.name(object, "fieldName").map(Member::Include),
            "exclude" => reader.name(object, "fieldName").map(Member::Exclude),
            "reshape" => {
                let name = reader.name(object, "resultFieldName");
                let value = reader.expression(object, "expression", 0);
                Some(Member::Reshape(name?, value?))
            }
            _ => {
                let name = reader.name(object, "resultFieldName");
                let inner = members(reader, object, depth + 1);
                Some(Member::Nested(name?, inner))
            }
        }
    })
}

fn group(reader: &mut Reader<'_>, object: &Map<String, Json>) -> Option<Stage> {
    let keys = reader.list(object, "groupIds", |reader, it| {
        let object = reader.object(it)?;
        let (name, value) = (reader.name(object, "key"), reader.expression(object, "expression", 0));
        Some((name?, value?))
    });
    let accumulators = reader.list(object, "accumulators", accumulator);
    Some(Stage::Group { keys, accumulators })
}

fn accumulator(reader: &mut Reader<'_>, value: &Json) -> Option<(Named, Function, Expression<Named>)> {
    let object = reader.object(value)?;
    let name = reader.name(object, "resultFieldName");
    let others: Map<_, _> =
        object.iter().filter(|it| it.0 != "resultFieldName").map(|(n, it)| (n.clone(), it.clone())).collect();
    let known: Vec<_> = FUNCTIONS.iter().map(|it| it.0).collect();
    let others = Json::Object(others);
    let (kind, inner) = reader.one_of("an accumulator", &others, &known)?;
    let function = FUNCTIONS.iter().find(|it| it.0 == kind)?.1;
    let value = reader.inside(kind, |reader| {
        let object = reader.object(inner)?;
        reader.expression(object, "expression", 0)
    });
    Some((name?, function, value?))
}

fn sort_key(reader: &mut Reader<'_>, value: &Json) -> Option<(Named, bool)> {
    let Json::Object(object) = value else {
        return reader.wrong(Code::SortElement, "elements of values must be objects");
    };
    let name = match present(object, "fieldName") {
        Some(Json::String(_)) => reader.name(object, "fieldName"),
        _ => reader.inside("fieldName", |it| it.wrong(Code::SortNotText, "fieldName in sort must be a string")),
    };
    let descends = reader.report.member("order", page::descending(object, "order"));
    Some((name?, descends))
}
