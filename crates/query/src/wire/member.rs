//! Members of a request, each with the fault of its kind when it is something else.

use super::report::Report;
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Fault, Result};

const MAX_NAME: usize = 1000;

/// A member that is there; null counts as absent everywhere in a request.
pub(super) fn present<'a>(object: &'a Map<String, Json>, name: &str) -> Option<&'a Json> {
    object.get(name).filter(|it| !it.is_null())
}

pub(super) fn flag(object: &Map<String, Json>, name: &str) -> Result<bool> {
    match present(object, name) {
        None => Ok(false),
        Some(Json::Bool(it)) => Ok(*it),
        Some(_) => Err(Fault::because(Code::OptionsInvalid, format!("{name} must be true or false"))),
    }
}

/// A list of names of fields.
pub(super) fn names(object: &Map<String, Json>, member: &str, most: usize, report: &mut Report) -> Vec<String> {
    let wrong = || Fault::because(Code::FieldNotText, format!("{member} must be a list of strings"));
    let list = match present(object, member) {
        None => Ok(&[][..]),
        Some(Json::Array(list)) if list.len() > most => {
            Err(Fault::because(Code::BadRequest, format!("{member} has more than {most} elements")))
        }
        Some(Json::Array(list)) => Ok(list.as_slice()),
        Some(_) => Err(wrong()),
    };
    let list = report.member(member, list);
    let mark = report.enter(member);
    let mut names = Vec::with_capacity(list.len());
    for (n, it) in list.iter().enumerate() {
        let element = report.enter_element(n);
        names.extend(report.keep(it.as_str().ok_or_else(wrong).and_then(field_name)));
        report.leave(element);
    }
    report.leave(mark);
    names
}

/// A name in a request: any text that could be a field's.
pub(super) fn field_name(text: &str) -> Result<String> {
    if text.contains('\0') {
        return Err(Fault::because(Code::BadRequest, "a field name contains the character NUL"));
    }
    if text.len() > MAX_NAME {
        return Err(Fault::because(Code::BadRequest, format!("a field name is longer than {MAX_NAME} bytes")));
    }
    Ok(text.to_owned())
}
