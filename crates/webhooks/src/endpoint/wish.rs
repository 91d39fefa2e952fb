//! What an endpoint is made from: a body of JSON, read strictly.

use crate::endpoint::{Format, types};
use serde_json::{Map, Value};
use std::collections::HashSet;
use stoa_kernel::{ClientId, Fault, Millis, Result, Violation, nearest::hint};
use stoa_outbound::Target;

/// Bytes of a body unless an endpoint says otherwise: receivers that read their body as text take 100 kB by default.
const MAX_BYTES: usize = 96 * 1024;
const BYTES: std::ops::RangeInclusive<u64> = 4_096..=4 * 1024 * 1024;
/// How long a receiver may take, in milliseconds.
const TIMEOUT: Millis = 10_000;
const TIMEOUTS: std::ops::RangeInclusive<u64> = 1_000..=30_000;
/// Collections of an endpoint, and bytes of the id of one.
const COLLECTIONS: usize = 100;
const LONGEST_COLLECTION: usize = 1_024;

/// What an endpoint is made from:
///
/// ```json
/// {"appId": "…", "url": "https://…", "types": ["wix.data.v2.data_item_created"], "collections": ["cars"],
///  "environment": "LIVE", "format": "jwt", "maxBytes": 98304, "timeoutMs": 10000}
/// ```
///
/// `appId`, `url` and `types` are required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointWish {
    pub(crate) app: ClientId,
    pub(crate) url: String,
    pub(crate) types: Vec<String>,
    pub(crate) collections: Option<Vec<String>>,
    pub(crate) format: Format,
    pub(crate) max_bytes: usize,
    pub(crate) timeout: Millis,
}

const NAMES: [&str; 8] = ["appId", "url", "types", "collections", "environment", "format", "maxBytes", "timeoutMs"];

impl EndpointWish {
    /// Reads a body.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] with a violation for each member that is missing, of the wrong form, or none.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut fields = Fields::of(body, "an endpoint", &NAMES)?;
        let app = fields.app();
        let url = fields.url();
        fields.require("url");
        let types = fields.required_types();
        let collections = fields.collections();
        fields.environment();
        let format = fields.format();
        let (max_bytes, timeout) = (fields.max_bytes(), fields.timeout());
        fields.refuse()?;
        let missing = || Fault::internal("a member is missing that was not told of");
        Ok(Self {
            app: app.ok_or_else(missing)?,
            url: url.ok_or_else(missing)?,
            types: types.ok_or_else(missing)?,
            collections: collections.flatten(),
            format: format.unwrap_or(Format::Jwt),
            max_bytes: max_bytes.unwrap_or(MAX_BYTES),
            timeout: timeout.unwrap_or(TIMEOUT),
        })
    }
}

/// The members of a body, and what is wrong with them.
pub(crate) struct Fields<'b> {
    members: &'b Map<String, Value>,
    wrong: Vec<Violation>,
}

impl<'b> Fields<'b> {
    /// Those of a body that may have these; `what` it is stands in refusals.
    ///
    /// # Errors
    /// A body that is no object.
    pub(crate) fn of(body: &'b Value, what: &str, known: &[&str]) -> Result<Self> {
        let Value::Object(members) = body else {
            return Err(Fault::invalid(vec![Violation::new("", "FORMAT", "an object is expected")]));
        };
        let mut fields = Self { members, wrong: Vec::new() };
        for name in members.keys().filter(|it| !known.contains(&it.as_str())).take(20) {
            let hint = hint(name, known.iter().copied());
            fields.add(name, "UNKNOWN_FIELD", format!("{what} has no such member{hint}"));
        }
        Ok(fields)
    }

    pub(crate) fn refuse(self) -> Result<()> {
        if self.wrong.is_empty() { Ok(()) } else { Err(Fault::invalid(self.wrong)) }
    }

    pub(crate) fn add(&mut self, field: &str, rule: &'static str, why: impl Into<String>) {
        self.wrong.push(Violation::new(field, rule, why));
    }

    /// A member that is there and not null.
    fn get(&self, name: &str) -> Option<&'b Value> {
        self.members.get(name).filter(|it| !it.is_null())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    fn require(&mut self, name: &str) {
        if self.get(name).is_none() {
            self.add(name, "REQUIRED_FIELD", "is required");
        }
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<&'b str> {
        match self.get(name)? {
            Value::String(it) => Some(it),
            _ => {
                self.add(name, "FORMAT", "a text is expected");
                None
            }
        }
    }

    /// The application, which is required.
    pub(crate) fn app(&mut self) -> Option<ClientId> {
        self.require("appId");
        let text = self.text("appId")?;
        let is_id = (1..=100).contains(&text.len()) && !text.contains('\0');
        if !is_id {
            self.add("appId", "FORMAT", "an id is expected");
        }
        is_id.then(|| ClientId::from(text))
    }

    pub(crate) fn required_types(&mut self) -> Option<Vec<String>> {
        self.require("types");
        self.types()
    }

    pub(crate) fn url(&mut self) -> Option<String> {
        let text = self.text("url")?;
        match Target::parse(text) {
            Ok(_) => Some(text.to_owned()),
            Err(why) => {
                self.add("url", "FORMAT", why);
                None
            }
        }
    }

    pub(crate) fn types(&mut self) -> Option<Vec<String>> {
        let most = types::names().len();
        let list = self.list("types", most)?;
        if list.is_empty() {
            self.add("types", "MIN_ITEMS", "at least one type is needed");
        }
        for (at, name) in list.iter().enumerate() {
            if let Some(why) = types::fault(name) {
                self.add(&format!("types[{at}]"), "FORMAT", why);
            }
        }
        Some(distinct(list))
    }

    /// Nothing where the member isn't there, and no list where it is null.
    pub(crate) fn collections(&mut self) -> Option<Option<Vec<String>>> {
        if !self.has("collections") {
            return None;
        }
        let Some(list) = self.list("collections", COLLECTIONS) else { return Some(None) };
        if list.is_empty() {
            self.add("collections", "MIN_ITEMS", "leave it out for all collections");
        }
        for (at, id) in list.iter().enumerate() {
            if !(1..=LONGEST_COLLECTION).contains(&id.len()) || id.contains('\0') {
                self.add(&format!("collections[{at}]"), "FORMAT", "the id of a collection is expected");
            }
        }
        Some(Some(distinct(list)))
    }

    /// Whether something is so; it isn't where the member isn't there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        match self.get(name) {
            None => false,
            Some(Value::Bool(it)) => *it,
            Some(_) => {
                self.add(name, "FORMAT", "true or false is expected");
                false
            }
        }
    }

    fn environment(&mut self) {
        let environment = self.text("environment");
        if environment.is_some_and(|it| it != "LIVE") {
            self.add("environment", "FORMAT", "only LIVE: nothing is told of what happens in a sandbox");
        }
    }

    pub(crate) fn format(&mut self) -> Option<Format> {
        let text = self.text("format")?;
        let format = Format::ALL.into_iter().find(|it| it.as_str() == text);
        if format.is_none() {
            self.add("format", "FORMAT", "jwt or standard is expected");
        }
        format
    }

    pub(crate) fn max_bytes(&mut self) -> Option<usize> {
        self.number("maxBytes", BYTES).and_then(|it| usize::try_from(it).ok())
    }

    pub(crate) fn timeout(&mut self) -> Option<Millis> {
        self.number("timeoutMs", TIMEOUTS).and_then(|it| Millis::try_from(it).ok())
    }

    pub(crate) fn number(&mut self, name: &str, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let number = self.get(name)?;
        let found = number.as_u64().filter(|it| range.contains(it));
        if found.is_none() {
            let why = format!("a whole number from {} to {} is expected", range.start(), range.end());
            self.add(name, "FORMAT", why);
        }
        found
    }

    /// A list of texts.
    fn list(&mut self, name: &str, most: usize) -> Option<Vec<String>> {
        let texts = match self.get(name)? {
            Value::Array(list) => list.iter().map(|it| it.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        let Some(texts) = texts else {
            self.add(name, "FORMAT", "a list of texts is expected");
            return None;
        };
        if texts.len() > most {
            self.add(name, "MAX_ITEMS", format!("there are at most {most}"));
            return None;
        }
        Some(texts)
    }
}

/// Without those that come twice.
fn distinct(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.retain(|it| seen.insert(it.clone()));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wrong(body: Value) -> Vec<String> {
        let fault = EndpointWish::parse(&body).expect_err("refused");
        fault.violations().iter().map(|it| format!("{} {}", it.field, it.violated_rule)).collect()
    }

    #[test]
    fn endpoint_is_read_with_its_defaults() {
        let wish = EndpointWish::parse(&json!({
            "appId": "a", "url": "https://example.org/hook", "types": ["AppRemoved", "AppInstalled", "AppRemoved"],
        }));
        let wish = wish.expect("a wish");
        assert_eq!(wish.types, ["AppRemoved", "AppInstalled"]);
        assert_eq!((wish.max_bytes, wish.timeout, wish.format), (98_304, 10_000, Format::Jwt));
        assert_eq!(wish.collections, None);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        assert_eq!(wrong(json!([])), [" FORMAT"]);
        assert_eq!(wrong(json!({})), ["appId REQUIRED_FIELD", "url REQUIRED_FIELD", "types REQUIRED_FIELD"]);
        let body = json!({
            "appId": 1, "url": "https://u:p@example.org/", "types": ["x", "AppRemoved"], "collections": [""],
            "environment": "SANDBOX", "format": "xml", "maxBytes": 4_194_305, "timeoutMs": 1.5, "secret": "s",
        });
        let expected = [
            "secret UNKNOWN_FIELD",
            "appId FORMAT",
            "url FORMAT",
            "types[0] FORMAT",
            "collections[0] FORMAT",
            "environment FORMAT",
            "format FORMAT",
            "maxBytes FORMAT",
            "timeoutMs FORMAT",
        ];
        assert_eq!(wrong(body), expected);
        let body = json!({ "appId": "a", "url": "ftp://example.org", "types": [], "collections": [] });
        assert_eq!(wrong(body), ["url FORMAT", "types MIN_ITEMS", "collections MIN_ITEMS"]);
        let body = json!({ "appId": "a\u{0}", "url": "https://example.org", "types": "AppRemoved" });
        assert_eq!(wrong(body), ["appId FORMAT", "types FORMAT"]);
        let body = json!({ "appId": "a", "url": "https://example.org", "types": vec!["x"; 1_000] });
        assert_eq!(wrong(body), ["types MAX_ITEMS"]);
    }
}
