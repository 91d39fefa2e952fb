//! The older form of an aggregation (docs/protocol/content.md §3.10).

use super::{
    Filter, Paging, SortKey,
    expression::{Named, Reader},
    member::{field_name, flag, present},
    page,
    report::Report,
};
use crate::{QueryLimits, stages::Function};
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Result};

/// The members of a request that say which items are grouped how, and which results are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    pub initial: Filter,
    pub fields: Vec<Named>,
    pub operations: Vec<Operation>,
    /// Of results.
    pub having: Filter,
    /// Of results.
    pub sort: Vec<SortKey>,
    pub paging: Paging,
    pub total: bool,
}

/// A member of the results.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    pub name: Named,
    pub kind: OperationKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum OperationKind {
    Count,
    Of(Function, Named),
}

const OPERATIONS: &[&str] = &["sum", "average", "min", "max", "itemCount"];

impl Aggregate {
    /// Reads the body of a request; members that it doesn't know are left to others.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let mut report = Report::default();
        let initial = Filter::read_named(request, "initialFilter", limits, &mut report);
        let having = Filter::read_named(request, "finalFilter", limits, &mut report);
        let mut reader = Reader::new(&mut report);
        let (fields, operations) = reader.inside("aggregation", |reader| match present(request, "aggregation") {
            None => {
                reader.wrong::<()>(Code::BadRequest, "aggregation must be an object");
                (Vec::new(), Vec::new())
            }
            Some(it) => reader.object(it).map_or_else(Default::default, |it| groups(reader, it)),
        });
        let sort = page::sort_keys(request, &mut report);
        let paging = page::paging(request, limits, &mut report);
        let total = report.member("returnTotalCount", flag(request, "returnTotalCount"));
        report.finish(Self { initial, fields, operations, having, sort, paging, total })
    }
}

fn groups(reader: &mut Reader<'_>, object: &Map<String, Json>) -> (Vec<Named>, Vec<Operation>) {
    let fields = reader.list(object, "groupingFields", |reader, it| match it {
        Json::String(name) if !name.is_empty() => {
            let name = reader.report.keep(field_name(name))?;
            Some(Named { name, path: reader.report.path().into() })
        }
        Json::String(_) => reader.wrong(Code::NameEmpty, "the name of a grouping field must not be empty"),
        _ => reader.wrong(Code::FieldNotText, "groupingFields must be a list of strings"),
    });
    (fields, reader.list(object, "operations", operation))
}

fn operation(reader: &mut Reader<'_>, value: &Json) -> Option<Operation> {
    let object = reader.object(value)?;
    let name = reader.name(object, "resultFieldName");
    let others: Map<_, _> =
        object.iter().filter(|it| it.0 != "resultFieldName").map(|(n, it)| (n.clone(), it.clone())).collect();
    let others = Json::Object(others);
    let (kind, inner) = reader.one_of("an operation", &others, OPERATIONS)?;
    let function = match kind {
        "sum" => Function::Sum,
        "average" => Function::Average,
        "min" => Function::Min,
        "max" => Function::Max,
        _ => {
            reader.inside(kind, |reader| reader.object(inner).map(drop))?;
            return Some(Operation { name: name?, kind: OperationKind::Count });
        }
    };
    let field = reader.inside(kind, |reader| {
        let object = reader.object(inner)?;
        reader.name(object, "itemFieldName")
    });
    Some(Operation { name: name?, kind: OperationKind::Of(function, field?) })
}
