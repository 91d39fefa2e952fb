//! Members of a request, each with the fault of its kind when it is something else.

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

pub(super) fn text_list(object: &Map<String, Json>, name: &str, code: Code, most: usize) -> Result<Vec<String>> {
    let wrong = || Fault::because(code, format!("{name} must be a list of strings"));
    match present(object, name) {
        None => Ok(Vec::new()),
        Some(Json::Array(list)) if list.len() > most => {
            let text = format!("{name} has more than {most} elements");
            Err(Fault::because(Code::BadRequest, text))
        }
        Some(Json::Array(list)) => list.iter().map(|it| field_name(it.as_str().ok_or_else(wrong)?)).collect(),
        Some(_) => Err(wrong()),
    }
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
