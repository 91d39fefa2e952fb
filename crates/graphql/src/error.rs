//! Errors as GraphQL answers them.

use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::validation::DiagnosticList;
use serde_json::{Map, Value, json};
use stoa_kernel::Fault;

/// Errors of one kind that are told; what is wrong with a document is seen from the first of them.
const TOLD: usize = 20;
/// Characters of a text that repeats what was sent.
const MESSAGE: usize = 500;

/// An element of `errors`.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    pub message: String,
    /// Line and column in the document, from 1.
    pub location: Option<(usize, usize)>,
    /// Where in `data` something is missing.
    pub path: Vec<PathStep>,
    /// `extensions`: `code`, and what belongs to it.
    pub extensions: Box<Map<String, Value>>,
}

/// A step of a path into an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum PathStep {
    Field(String),
    Index(usize),
}

/// What kind of thing is wrong with a document (`extensions.code`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// The request isn't one of GraphQL: no text, variables that are no object.
    Request,
    Parse,
    Validation,
    /// A variable or an argument that the schema doesn't take.
    Input,
    /// More than a request may ask for.
    Limit,
    /// What was asked isn't for this caller.
    Forbidden,
    /// It took too long.
    Timeout,
    /// A stored value isn't of the type that its field declares.
    ValueType,
    /// The answer grew too large.
    AnswerTooLarge,
}

impl ErrorCode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "BAD_REQUEST",
            Self::Parse => "GRAPHQL_PARSE_FAILED",
            Self::Validation => "GRAPHQL_VALIDATION_FAILED",
            Self::Input => "BAD_USER_INPUT",
            Self::Limit => "GRAPHQL_LIMIT",
            Self::Forbidden => "INTROSPECTION_NOT_ALLOWED",
            Self::Timeout => "GRAPHQL_TIMEOUT",
            Self::ValueType => "VALUE_TYPE",
            Self::AnswerTooLarge => "ANSWER_TOO_LARGE",
        }
    }
}

impl Error {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let extensions = Box::new(Map::from_iter([("code".to_owned(), json!(code.name()))]));
        Self { message: message.into(), location: None, path: Vec::new(), extensions }
    }

    /// A document that asks for more than is let through.
    pub fn limit(limit: &'static str, what: &str, found: u64, most: usize) -> Self {
        let found_text = if found == u64::MAX { "far too many".to_owned() } else { found.to_string() };
        let mut error = Self::new(
            ErrorCode::Limit,
            format!("The document has {found_text} {what}; at most {most} are let through."),
        );
        error.extensions.insert("limit".to_owned(), json!(limit));
        error.extensions.insert("most".to_owned(), json!(most));
        if found != u64::MAX {
            error.extensions.insert("found".to_owned(), json!(found));
        }
        error
    }

    /// What content refuses, in the text and with the code that its other calls have.
    pub fn of_fault(fault: &Fault) -> Self {
        let code = fault.code().name();
        let message = match fault.code().is_content() {
            true => format!("{code}: {}", fault.message()),
            false => fault.message().to_owned(),
        };
        let mut extensions = Box::new(Map::from_iter([("code".to_owned(), json!(code))]));
        if !fault.data().is_empty() {
            extensions.insert("data".to_owned(), Value::Object(fault.data().clone()));
        }
        if !fault.violations().is_empty() {
            extensions.insert("fieldViolations".to_owned(), json!(fault.violations()));
        }
        Self { message, location: None, path: Vec::new(), extensions }
    }

    pub(crate) fn at(mut self, span: Option<SourceSpan>, sources: &SourceMap) -> Self {
        self.location = line_column(span, sources);
        self
    }

    pub(crate) fn in_field(mut self, key: &str) -> Self {
        self.path = vec![PathStep::Field(key.to_owned())];
        self
    }

    /// As an element of `errors`, appended to an answer.
    pub fn print(&self, out: &mut String) {
        let mut error = Map::from_iter([("message".to_owned(), json!(self.message))]);
        if let Some((line, column)) = self.location {
            error.insert("locations".to_owned(), json!([{ "line": line, "column": column }]));
        }
        if !self.path.is_empty() {
            let step = |it: &PathStep| match it {
                PathStep::Field(name) => json!(name),
                PathStep::Index(index) => json!(index),
            };
            error.insert("path".to_owned(), self.path.iter().map(step).collect());
        }
        error.insert("extensions".to_owned(), Value::Object((*self.extensions).clone()));
        out.push_str(&Value::Object(error).to_string());
    }
}

pub(crate) fn line_column(span: Option<SourceSpan>, sources: &SourceMap) -> Option<(usize, usize)> {
    span?.line_column(sources).map(|it| (it.line, it.column))
}

/// What a parser or a validator found: the first of it, and how much more there is.
pub(crate) fn of_diagnostics(code: ErrorCode, diagnostics: &DiagnosticList) -> Vec<Error> {
    let told = diagnostics.iter().take(TOLD).map(|it| {
        let json = it.to_json();
        let mut error = Error::new(code, shortened(json.message));
        error.location = json.locations.first().map(|it| (it.line, it.column));
        error
    });
    let mut errors: Vec<_> = told.collect();
    let more = diagnostics.len().saturating_sub(TOLD);
    if more > 0 {
        errors.push(Error::new(code, format!("There are {more} more errors.")));
    }
    errors
}

/// Names in a document may be as long as the document.
pub(crate) fn shortened(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE) {
        message.truncate(end);
        message.push('…');
    }
    message
}
