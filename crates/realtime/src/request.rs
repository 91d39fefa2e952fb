//! What a client asks for when it opens a stream.

use crate::limits::RealtimeLimits;
use serde_json::{Map, Value};
use stoa_content::{ContentLimits, feed::FeedRequest};
use stoa_kernel::{Code, Fault, Faults, Result, Violation};

/// The subscriptions of a stream.
#[derive(Debug)]
pub struct StreamRequest {
    pub(crate) subscriptions: Vec<Subscription>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// What the client calls it, as a JSON string.
    pub quoted_key: String,
    pub feed: FeedRequest,
    pub begin: Begin,
}

/// Where a subscription begins.
#[derive(Debug, Clone)]
pub(crate) enum Begin {
    /// With the items that are there.
    Snapshot,
    /// With what has come since another stream ended: behind the place that this text is, if it is one.
    Resume(String),
    /// With what comes from now on.
    Now,
}

/// Characters of a subscription's key.
const LONGEST_KEY: usize = 100;
const MEMBERS: [&str; 8] = ["key", "dataCollectionId", "filter", "fields", "snapshot", "limit", "sort", "resume"];

impl StreamRequest {
    /// Reads the body of a request.
    ///
    /// ```json
    /// {"subscriptions":[{"key":"a","dataCollectionId":"cars","filter":{"color":"red"},"fields":["title"],
    ///   "snapshot":true,"limit":100,"sort":[{"fieldName":"title","order":"ASC"}]},
    ///  {"key":"b","dataCollectionId":"brands","resume":"<id of a message>"}]}
    /// ```
    ///
    /// # Errors
    /// All that is wrong, with the path of each; the first decides on the code. Members that aren't known are refused by
    /// name.
    pub fn parse(body: &Value, limits: &RealtimeLimits, content: &ContentLimits) -> Result<Self> {
        let Some(body) = body.as_object() else {
            return Err(Fault::because(Code::BadRequest, "The request body must be an object."));
        };
        let mut faults = Faults::default();
        for name in body.keys().filter(|it| *it != "subscriptions") {
            faults.add(unknown(shortened(name)));
        }
        let list = faults.take(list(body, limits)).unwrap_or_default();
        let mut subscriptions: Vec<Subscription> = Vec::with_capacity(list.len());
        for (n, element) in list.iter().enumerate() {
            if faults.is_full() {
                break;
            }
            let path = format!("subscriptions[{n}]");
            let Some(read) = Subscription::parse(element, &path, content, &mut faults) else { continue };
            if subscriptions.iter().any(|it| it.quoted_key == read.quoted_key) {
                faults.add(wrong(Code::BadRequest, &format!("{path}.key"), "is that of another subscription"));
            }
            subscriptions.push(read);
        }
        faults.refuse()?;
        Ok(Self { subscriptions })
    }

    /// How many subscriptions there are, at least one.
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }
}

fn list<'b>(body: &'b Map<String, Value>, limits: &RealtimeLimits) -> Result<&'b [Value]> {
    let (path, most) = ("subscriptions", limits.stream_subscriptions);
    match body.get(path) {
        Some(Value::Array(list)) if list.is_empty() => Err(wrong(Code::BadRequest, path, "must not be empty")),
        Some(Value::Array(list)) if list.len() > most => {
            Err(wrong(Code::AboveMaximum, path, &format!("has more than {most} elements")))
        }
        Some(Value::Array(list)) => Ok(list),
        _ => Err(wrong(Code::BadRequest, path, "must be a list of objects")),
    }
}

impl Subscription {
    fn parse(element: &Value, path: &str, content: &ContentLimits, faults: &mut Faults) -> Option<Self> {
        let Some(object) = element.as_object() else {
            faults.add(wrong(Code::BadRequest, path, "must be an object"));
            return None;
        };
        for name in object.keys().filter(|it| !MEMBERS.contains(&it.as_str())) {
            faults.add(unknown(&format!("{path}.{}", shortened(name))));
        }
        let key = faults.take(key(object, path));
        let begin = faults.take(begin(object, path));
        let feed = faults.take(FeedRequest::parse(object, path, content));
        Some(Self { quoted_key: stoa_sql::json::quoted(&key?), feed: feed?, begin: begin? })
    }
}

fn key(object: &Map<String, Value>, path: &str) -> Result<String> {
    match object.get("key").and_then(Value::as_str) {
        Some(it) if (1..=LONGEST_KEY).contains(&it.chars().count()) => Ok(it.to_owned()),
        _ => {
            let rule = format!("must be a string of 1 to {LONGEST_KEY} characters");
            Err(wrong(Code::BadRequest, &format!("{path}.key"), &rule))
        }
    }
}

fn begin(object: &Map<String, Value>, path: &str) -> Result<Begin> {
    let present = |name: &str| object.get(name).filter(|it| !it.is_null());
    let has_snapshot = match present("snapshot") {
        None => false,
        Some(Value::Bool(it)) => *it,
        Some(_) => return Err(wrong(Code::OptionsInvalid, &format!("{path}.snapshot"), "must be true or false")),
    };
    if !has_snapshot && let Some(name) = ["sort", "limit"].into_iter().find(|it| present(it).is_some()) {
        return Err(wrong(Code::OptionsInvalid, &format!("{path}.{name}"), "is for a snapshot, which isn't asked for"));
    }
    match present("resume") {
        None if has_snapshot => Ok(Begin::Snapshot),
        None => Ok(Begin::Now),
        Some(_) if has_snapshot => {
            Err(wrong(Code::OptionsInvalid, &format!("{path}.resume"), "must not be there beside snapshot"))
        }
        Some(Value::String(it)) => Ok(Begin::Resume(it.clone())),
        Some(_) => Err(wrong(Code::BadRequest, &format!("{path}.resume"), "must be a string")),
    }
}

fn unknown(path: &str) -> Fault {
    wrong(Code::BadRequest, path, "is not known here")
}

fn wrong(code: Code, path: &str, rule: &str) -> Fault {
    let text = format!("{path} {rule}.");
    Fault::because(code, &text).violating(vec![Violation::new(path, "FORMAT", text)])
}

/// The beginning of a name, which is enough for who looks for it.
fn shortened(name: &str) -> &str {
    name.char_indices().nth(100).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(body: &Value) -> Result<StreamRequest> {
        StreamRequest::parse(body, &RealtimeLimits::default(), &ContentLimits::default())
    }

    fn one(mut members: Value) -> Value {
        members["key"] = json!("a");
        members["dataCollectionId"] = json!("cars");
        json!({ "subscriptions": [members] })
    }

    #[test]
    fn request_tells_where_subscriptions_begin() {
        let whole = json!({
            "filter": { "color": "red" }, "fields": ["title"], "snapshot": true, "limit": 100,
            "sort": [{ "fieldName": "title", "order": "DESC" }],
        });
        let read = parse(&one(whole)).expect("a request");
        assert!(matches!(read.subscriptions[0].begin, Begin::Snapshot));
        assert_eq!((read.subscriptions[0].quoted_key.as_str(), read.subscriptions()), ("\"a\"", 1));
        for (members, expected) in [
            (json!({}), "Now"),
            (json!({ "snapshot": false }), "Now"),
            (json!({ "resume": "whatever it was" }), "Resume"),
        ] {
            let begin = parse(&one(members.clone())).expect("a request").subscriptions.remove(0).begin;
            assert!(format!("{begin:?}").starts_with(expected), "{members} {begin:?}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_told_with_its_path() {
        let body = json!({ "language": "de", "subscriptions": [
            { "key": "a", "dataCollectionId": 7, "filter": { "$and": 1 }, "language": "de" },
            { "key": "", "dataCollectionId": "c", "limit": 5, "includeReferences": [] },
            { "key": "b", "dataCollectionId": "c", "snapshot": true, "limit": 5000, "sort": ["x"], "fields": [1] },
            7,
        ]});
        let fault = parse(&body).expect_err("much is wrong");
        let paths: Vec<&str> = fault.violations().iter().map(|it| it.field.as_str()).collect();
        let expected = [
            "language",
            "subscriptions[0].language",
            "subscriptions[0].dataCollectionId",
            "subscriptions[0].filter.$and",
            "subscriptions[1].includeReferences",
            "subscriptions[1].key",
            "subscriptions[1].limit",
            "subscriptions[2].sort[0]",
            "subscriptions[2].fields[0]",
            "subscriptions[2].limit",
            "subscriptions[3]",
        ];
        assert_eq!(paths, expected);
    }

    #[test]
    fn requests_are_bounded_and_unambiguous() {
        let subscription = |key: &str| json!({ "key": key, "dataCollectionId": "c" });
        let list = |count: usize| (0..count).map(|n| subscription(&n.to_string())).collect::<Vec<_>>();
        assert_eq!(parse(&json!({ "subscriptions": list(20) })).expect("as many as may be").subscriptions(), 20);
        let codes = [
            (json!([]), Code::BadRequest),
            (json!({}), Code::BadRequest),
            (json!({ "subscriptions": [] }), Code::BadRequest),
            (json!({ "subscriptions": list(21) }), Code::AboveMaximum),
            (json!({ "subscriptions": [subscription("a"), subscription("a")] }), Code::BadRequest),
            (one(json!({ "snapshot": "yes" })), Code::OptionsInvalid),
            (one(json!({ "snapshot": true, "resume": "x" })), Code::OptionsInvalid),
            (one(json!({ "resume": 7 })), Code::BadRequest),
            (json!({ "subscriptions": [subscription(&"x".repeat(101))] }), Code::BadRequest),
        ];
        for (body, code) in codes {
            assert_eq!(parse(&body).expect_err("refused").code(), code, "{body}");
        }
    }
}
