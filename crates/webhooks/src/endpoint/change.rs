//! What an endpoint is changed by, and how it is resumed.

use crate::endpoint::{Endpoint, wish::Fields};
use serde_json::Value;
use stoa_kernel::{Millis, Result};

/// What is changed; what is left out stays. `{"url"?, "types"?, "collections"? (null for all), "maxBytes"?,
/// "timeoutMs"?}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointChange {
    pub(crate) url: Option<String>,
    pub(crate) types: Option<Vec<String>>,
    pub(crate) collections: Option<Option<Vec<String>>>,
    pub(crate) max_bytes: Option<usize>,
    pub(crate) timeout: Option<Millis>,
}

const NAMES: [&str; 8] = ["url", "types", "collections", "maxBytes", "timeoutMs", "appId", "format", "environment"];
/// What an endpoint is for good: who wants another makes another.
const FIXED: [&str; 3] = ["appId", "format", "environment"];

impl EndpointChange {
    /// Reads a body.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] with a violation for each member that is of the wrong form, none, or can't be
    /// changed.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut fields = Fields::of(body, "an endpoint", &NAMES)?;
        for name in FIXED.into_iter().filter(|it| body.get(*it).is_some()) {
            fields.add(name, "IMMUTABLE_FIELD", "can't be changed; make another endpoint");
        }
        let change = Self {
            url: fields.url(),
            types: fields.types(),
            collections: fields.collections(),
            max_bytes: fields.max_bytes(),
            timeout: fields.timeout(),
        };
        fields.refuse()?;
        Ok(change)
    }

    /// The endpoint as it is then.
    pub(crate) fn apply(&self, endpoint: &mut Endpoint) {
        let Self { url, types, collections, max_bytes, timeout } = self.clone();
        endpoint.url = url.unwrap_or_else(|| endpoint.url.clone());
        endpoint.types = types.unwrap_or_else(|| endpoint.types.clone());
        endpoint.collections = collections.unwrap_or_else(|| endpoint.collections.clone());
        endpoint.max_bytes = max_bytes.unwrap_or(endpoint.max_bytes);
        endpoint.timeout = timeout.unwrap_or(endpoint.timeout);
    }
}

/// From where an endpoint goes on: `{"fromNow"?}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resumption {
    /// With what comes from now on, instead of where it was.
    pub from_now: bool,
}

impl Resumption {
    /// Reads a body.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`]: a member that is misspelt would send what is not to be sent any more.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut fields = Fields::of(body, "a resumption", &["fromNow"])?;
        let from_now = fields.flag("fromNow");
        fields.refuse()?;
        Ok(Self { from_now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn resumption_is_read_strictly() {
        let parse = |body: Value| Resumption::parse(&body);
        assert_eq!(parse(json!({})).expect("one"), Resumption { from_now: false });
        assert_eq!(parse(json!({ "fromNow": true })).expect("one"), Resumption { from_now: true });
        for wrong in [json!({ "fromnow": true }), json!({ "fromNow": "yes" })] {
            let fault = parse(wrong).expect_err("refused");
            assert!(fault.violations()[0].field.eq_ignore_ascii_case("fromNow"), "{fault:?}");
        }
    }

    #[test]
    fn change_names_what_it_changes() {
        let change = EndpointChange::parse(&json!({ "collections": null, "timeoutMs": 2_000 })).expect("a change");
        assert_eq!(
            change,
            EndpointChange { collections: Some(None), timeout: Some(2_000), ..EndpointChange::default() }
        );
        assert_eq!(EndpointChange::parse(&json!({})).expect("none"), EndpointChange::default());
        let fault = EndpointChange::parse(&json!({ "appId": "b", "types": [], "state": "ACTIVE" })).expect_err("wrong");
        let wrong: Vec<_> = fault.violations().iter().map(|it| (it.field.as_str(), it.violated_rule)).collect();
        assert_eq!(wrong, [("state", "UNKNOWN_FIELD"), ("appId", "IMMUTABLE_FIELD"), ("types", "MIN_ITEMS")]);
    }
}
