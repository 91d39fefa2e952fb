//! Why a command failed, for a person and for a script.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stoa_kernel::{Code, Fault};

/// The code of what is wrong with the words that were typed.
pub const USAGE: &str = "USAGE";
/// The code of what has none of its own.
const FAILED: &str = "COMMAND_FAILED";

/// Why a command failed, as it also travels from a running server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// A code of the server's table, [`USAGE`] or `COMMAND_FAILED`.
    pub code: String,
    /// For people; may have several lines.
    pub message: String,
    /// Places and values, as data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code: code.name().to_owned(), message: message.into(), data: Map::new() }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE.to_owned(), message: message.into(), data: Map::new() }
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }

    /// Whether the same may succeed a little later: a server that is gone, or that is busy.
    pub fn may_pass(&self) -> bool {
        [FAILED, Code::Unavailable.name(), Code::Throttled.name()].contains(&self.code.as_str())
    }

    /// `{"error":{"code","message",…}}`.
    pub fn to_json(&self) -> Value {
        json!({ "error": self })
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { code: FAILED.to_owned(), message, data: Map::new() }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::from(message.to_owned())
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let (code, mut data) = (fault.code().name().to_owned(), fault.data().clone());
        if !fault.violations().is_empty() {
            data.insert("violations".to_owned(), json!(fault.violations()));
        }
        Self { code, message: sentence(fault), data }
    }
}

/// What a person at the terminal reads of a fault: all that breaks rules, or its sentence. The terminal belongs to
/// who runs the server.
pub fn sentence(fault: Fault) -> String {
    let violations = fault.violations().iter().map(|it| format!("{}: {}", it.field, it.description));
    match fault.log() {
        _ if !fault.violations().is_empty() => violations.collect::<Vec<_>>().join("; "),
        Some(log) => format!("{} ({log})", fault.message()),
        None => fault.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_tells_a_script_what_a_person_reads() {
        let violation = stoa_kernel::Violation::new("origins[0]", "FORMAT", "no origin");
        let failure = Failure::from(Fault::invalid(vec![violation]));
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("INVALID_ARGUMENT", "origins[0]: no origin"));
        assert_eq!(failure.to_json()["error"]["data"]["violations"][0]["field"], "origins[0]");
        assert_eq!(Failure::from("no").to_json(), json!({ "error": { "code": "COMMAND_FAILED", "message": "no" } }));
    }
}
