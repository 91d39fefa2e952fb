//! The document of the interface (OpenAPI 3.1, decision 27): printed from the table of routes, whose lines each carry
//! what they are for those who call them.
//!
//! `operation.rs` has the types, `operations/` the operations, `schemas/` the JSON Schemas, by hand: items, filters and
//! collections are protocols, and most answers are printed bytes, so there are no types to derive them from.

mod cached;
mod document;
mod errors;
mod names;
mod operation;
pub(crate) mod operations;
mod page;
mod schemas;
mod sent;
pub(crate) mod served;
pub(crate) mod site_types;

pub use document::Document;
pub use operation::{
    Answer, Callers, Content, ErrorForm, Media, Operation, Parameter, ParameterValue, RequestBody, Throttle,
};

use crate::traffic::Route;
use axum::http::Method;

/// A method of a route, and what it is for those who call it.
#[derive(Debug, Clone)]
pub struct Listed {
    pub method: Method,
    pub route: Route,
    pub operation: &'static Operation,
}

impl Listed {
    /// The path with the names that it has in the document: `{id}` where the rest of the path is an id.
    pub fn path(&self) -> String {
        self.route.path.replace("{*", "{")
    }
}

/// Each operation once, at the path by which it comes first, with the other spellings of that path.
fn distinct(listed: &[Listed]) -> Vec<(&Listed, Vec<String>)> {
    let mut distinct: Vec<(&Listed, Vec<String>)> = Vec::new();
    for it in listed {
        match distinct.iter_mut().find(|before| before.0.operation.id == it.operation.id) {
            Some((_, spellings)) => spellings.push(it.path()),
            None => distinct.push((it, Vec::new())),
        }
    }
    distinct
}

#[cfg(test)]
mod tests;
