//! What went wrong, with two messages: one for the caller and one for the log.

use crate::code::Code;
use serde_json::{Map, Value};
use std::fmt;

pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// An error on its way to the caller. Its [`Code`] decides the HTTP status and the wire code.
///
/// `Fault` doesn't implement `From` for engine errors: each is mapped by hand where it is understood.
pub struct Fault(Box<Inner>);

struct Inner {
    code: Code,
    message: String,
    log: Option<String>,
    data: Map<String, Value>,
    violations: Vec<Violation>,
}

/// One field that broke a rule (docs/protocol/identity.md §12.1, docs/protocol/content.md §14.1).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Violation {
    /// JSON path in the request, for example `loginId.email`.
    pub field: String,
    pub description: String,
    /// For example `FORMAT` or `REQUIRED_FIELD`.
    pub violated_rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_name: Option<&'static str>,
    /// Never null: clients read members of it.
    pub data: Map<String, Value>,
}

impl Fault {
    /// A fault with the code's own sentence.
    pub fn new(code: Code) -> Self {
        Self::because(code, code.sentence())
    }

    /// A fault that says what is wrong and where. The text is public.
    pub fn because(code: Code, message: impl Into<String>) -> Self {
        let inner = Inner { code, message: message.into(), log: None, data: Map::new(), violations: Vec::new() };
        Self(Box::new(inner))
    }

    /// An internal fault: the caller reads only that something failed, the log reads why.
    pub fn internal(log: impl fmt::Display) -> Self {
        Self::new(Code::Internal).logged(log)
    }

    /// A request that breaks field rules (`details.validationError`).
    pub fn invalid(violations: Vec<Violation>) -> Self {
        let mut fault = Self::new(Code::Validation);
        fault.0.violations = violations;
        fault
    }

    /// Names the fields that broke rules, beside the code's own text.
    pub fn violating(mut self, violations: Vec<Violation>) -> Self {
        self.0.violations = violations;
        self
    }

    /// Adds what only the log may say.
    pub fn logged(mut self, log: impl fmt::Display) -> Self {
        self.0.log = Some(log.to_string());
        self
    }

    /// Adds a member to `applicationError.data`.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.data.insert(name.to_owned(), value.into());
        self
    }

    pub fn code(&self) -> Code {
        self.0.code
    }
    pub fn message(&self) -> &str {
        &self.0.message
    }
    pub fn log(&self) -> Option<&str> {
        self.0.log.as_deref()
    }
    pub fn data(&self) -> &Map<String, Value> {
        &self.0.data
    }
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }
}

impl Violation {
    pub fn new(field: impl Into<String>, rule: &'static str, description: impl Into<String>) -> Self {
        let (field, description) = (field.into(), description.into());
        Self { field, description, violated_rule: rule, rule_name: None, data: Map::new() }
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.code, self.0.message)?;
        if let Some(log) = &self.0.log {
            write!(f, " [{log}]")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Fault {}
