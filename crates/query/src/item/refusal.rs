//! Why an item was refused, and where in it the reason is.

use std::borrow::Cow;
use stoa_kernel::{Code, Fault};

/// Why the text was refused, and the names that lead to it, the innermost first.
pub(super) struct Refusal {
    code: Code,
    problem: Cow<'static, str>,
    path: Vec<String>,
}

pub(super) type Scanned<T = ()> = Result<T, Box<Refusal>>;

impl From<Box<Refusal>> for Fault {
    fn from(refusal: Box<Refusal>) -> Self {
        if refusal.code == Code::ItemTooLarge {
            return Self::because(refusal.code, refusal.problem);
        }
        let path: Vec<_> = refusal.path.iter().rev().map(String::as_str).collect();
        let place = if path.is_empty() { String::new() } else { format!(", at {}", path.join(".")) };
        Self::because(refusal.code, format!("{}{place}", refusal.problem))
    }
}

pub(super) fn refuse<T>(code: Code, problem: impl Into<Cow<'static, str>>) -> Scanned<T> {
    Err(Box::new(Refusal { code, problem: problem.into(), path: Vec::new() }))
}

pub(super) fn malformed<T>() -> Scanned<T> {
    refuse(Code::MalformedJson, "the item is not valid JSON")
}

/// Adds a name in front of the path of a refusal.
pub(super) fn inside(mut refusal: Box<Refusal>, name: impl FnOnce() -> String) -> Box<Refusal> {
    refusal.path.push(name());
    refusal
}
