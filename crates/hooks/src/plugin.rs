//! An application that is asked in place of code: what it is told, who tells it, and what its answer comes to.

use crate::{
    call::{Call, Context, Failure, Outcome, Thrown},
    hook::Hook,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::pin::Pin;
use stoa_kernel::{Result as KernelResult, SiteId};
use tokio::time::Instant;

/// Characters of a text that an error has.
const TEXT: usize = 4_096;

/// An application of the site, and where it answers: `url` followed by `/v1/data-hooks/HOOK`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plugin {
    pub app_id: String,
    pub url: String,
}

/// One request to an application, about one hook of one or more items.
pub struct Question<'a> {
    pub site: &'a SiteId,
    pub plugin: &'a Plugin,
    pub hook: Hook,
    /// `{collectionId, items, currentItems?, context}`.
    pub request: Box<RawValue>,
    pub context: &'a Context,
    pub until: Instant,
    /// Bytes of an answer that are read.
    pub answer_bytes: usize,
}

/// What came back, whatever it is.
pub struct PluginAnswer {
    pub status: u16,
    pub body: Vec<u8>,
    pub is_whole: bool,
}

pub type Asking<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who asks applications.
pub trait Plugins: Send + Sync {
    /// Sends a request and reads its answer.
    fn ask<'a>(&'a self, question: Question<'a>) -> Asking<'a, Result<PluginAnswer, Failure>>;

    /// Whether an application of the site may be asked there, as far as that can be said before it is.
    ///
    /// # Errors
    /// INVALID_ARGUMENT with what is wrong.
    fn check<'a>(&'a self, site: &'a SiteId, plugin: &'a Plugin) -> Asking<'a, KernelResult<()>>;
}

/// What is asked about calls of one hook of one collection by one caller.
pub fn request(calls: &[Call]) -> Option<Box<RawValue>> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Request<'a> {
        collection_id: &'a str,
        items: Vec<&'a RawValue>,
        /// The items as they are stored, where the hook is about a change or a removal.
        #[serde(skip_serializing_if = "Option::is_none")]
        current_items: Option<Vec<&'a RawValue>>,
        context: &'a Context,
    }
    let first = calls.first()?;
    let request = Request {
        collection_id: &first.collection,
        items: calls.iter().map(|it| &*it.argument).collect(),
        current_items: calls.iter().map(|it| it.current.as_deref()).collect(),
        context: &first.context,
    };
    serde_json::value::to_raw_value(&request).ok()
}

/// What an answer says of each of the calls that were asked about. Nothing of it is trusted.
///
/// # Errors
/// What holds for all of them: the application refused the request as a whole, or what it answered isn't of the form.
pub fn judge(
    answer: &PluginAnswer,
    hook: Hook,
    calls: usize,
    most: usize,
) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
    #[derive(Deserialize)]
    struct Results<'a> {
        #[serde(borrow)]
        results: Vec<Verdict<'a>>,
    }
    if !answer.is_whole {
        return Err(Failure::TooLarge);
    }
    match answer.status {
        200 => {}
        400..500 => return Err(refused(&answer.body)),
        _ => return Err(Failure::Died),
    }
    let Results { results } = serde_json::from_slice(&answer.body).map_err(|_| Failure::Died)?;
    match results.len() == calls {
        true => Ok(results.into_iter().map(|it| it.outcome(hook, most)).collect()),
        false => Err(Failure::Died),
    }
}

/// What is answered about one item.
#[derive(Deserialize)]
struct Verdict<'a> {
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Verdict<'_> {
    fn outcome(self, hook: Hook, most: usize) -> Result<Outcome, Failure> {
        let is_large = |it: &&RawValue| it.get().len() > most;
        match (self.error, self.item) {
            (error, item) if error.as_ref().is_some_and(is_large) || item.as_ref().is_some_and(is_large) => {
                Err(Failure::TooLarge)
            }
            (Some(error), _) => Err(Failure::Thrown(thrown(error))),
            (None, Some(item)) if hook.answers().include(item) => Ok(Outcome::Value(item.to_owned())),
            (None, _) => Ok(Outcome::Nothing),
        }
    }
}

/// `{name?, message?, code?}` is an error; anything else is a value that was thrown.
fn thrown(error: &RawValue) -> Thrown {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Said<'a> {
        name: Option<String>,
        message: Option<String>,
        #[serde(borrow)]
        code: Option<&'a RawValue>,
    }
    match serde_json::from_str::<Said<'_>>(error.get()) {
        Ok(Said { name, message, code }) => Thrown::Error {
            name: cut(name.unwrap_or_else(|| "Error".to_owned())),
            message: cut(message.unwrap_or_default()),
            code: code.filter(|it| it.get().len() <= TEXT && crate::hook::is_code(it)).map(ToOwned::to_owned),
        },
        Err(_) => Thrown::Value(error.to_owned()),
    }
}

/// A request that was refused as a whole, as the public client prints an error of a plug-in's own kind.
fn refused(body: &[u8]) -> Failure {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Refusal {
        application_error: ApplicationError,
    }
    #[derive(Deserialize)]
    struct ApplicationError {
        code: String,
        #[serde(default)]
        data: serde_json::Value,
    }
    match serde_json::from_slice::<Refusal>(body) {
        Ok(Refusal { application_error: ApplicationError { code, data } }) => {
            let message = data.get("message").and_then(|it| it.as_str()).unwrap_or(&code).to_owned();
            let code = serde_json::value::to_raw_value(&cut(code)).ok();
            Failure::Thrown(Thrown::Error { name: "Error".to_owned(), message: cut(message), code })
        }
        Err(_) => Failure::Died,
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(TEXT) {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judged(status: u16, body: &str, calls: usize) -> Vec<String> {
        let answer = PluginAnswer { status, body: body.as_bytes().to_vec(), is_whole: true };
        let shown = |it: Result<Outcome, Failure>| match it {
            Ok(Outcome::Value(it)) => it.get().to_owned(),
            Ok(Outcome::Nothing) => "nothing".to_owned(),
            Err(Failure::Thrown(Thrown::Error { name, message, code })) => {
                format!("{name}: {message} {}", code.map_or(String::new(), |it| it.get().to_owned()))
            }
            Err(Failure::Thrown(Thrown::Value(it))) => format!("thrown {it}"),
            Err(other) => format!("{other:?}"),
        };
        match judge(&answer, Hook::BeforeInsert, calls, 50) {
            Ok(all) => all.into_iter().map(shown).collect(),
            Err(all) => vec![format!("all {}", shown(Err(all)))],
        }
    }

    #[test]
    fn answer_has_a_result_for_each_item_or_is_refused() {
        let body = r#"{"results":[{"item":{"a":1}},{},{"item":5},{"item":null},{"error":{"name":"E","message":"m","code":7}},
            {"error":{"message":"n"}},{"error":"why"},{"item":{},"error":{"code":{}}}]}"#;
        let all = [r#"{"a":1}"#, "nothing", "nothing", "nothing", "E: m 7", "Error: n ", r#"thrown "why""#, "Error:  "];
        assert_eq!(judged(200, body, 8), all);
        let large = format!(r#"{{"results":[{{"item":{{"a":"{}"}}}}]}}"#, "x".repeat(50));
        assert_eq!(judged(200, &large, 1), ["TooLarge"]);
        for body in ["", "{}", "[]", r#"{"results":[]}"#, r#"{"results":[{},{}]}"#, r#"{"results":[5]}"#] {
            assert_eq!(judged(200, body, 1), ["all Died"], "{body}");
        }
        for status in [201, 204, 301, 500, 503] {
            assert_eq!(judged(status, r#"{"results":[{}]}"#, 1), ["all Died"], "{status}");
        }
        let refusal = r#"{"applicationError":{"code":"NOT_NOW","data":{"message":"later"}}}"#;
        assert_eq!(judged(428, refusal, 3), [r#"all Error: later "NOT_NOW""#]);
        assert_eq!(judged(400, r#"{"applicationError":{"code":"NO"}}"#, 3), [r#"all Error: NO "NO""#]);
        assert_eq!(
            (judged(404, "not found", 1), judged(500, refusal, 1)),
            (vec!["all Died".to_owned()], vec!["all Died".to_owned()])
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), status in 100u16..600) {
            let _ = judge(&PluginAnswer { status, body: bytes, is_whole: true }, Hook::BeforeInsert, 1, 100);
        }
    }
}
