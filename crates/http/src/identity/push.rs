//! Web Push as second factor (decision 59): the `pushData` of a sign-in or a proof, the browser that a member enrols, and the answer
//! of one that is asked.
//!
//! `/_api/identity/v1/factors` has [`begin`] beside other second factors. `POST /_api/identity/v1/push-questions`: [`question`];
//! below it `answer`: [`answer`]. Those two take the token from the message in the body, and no session.

use super::{
    api_call::{Answer, ApiCall, done},
    approval::LinkBody,
    factor_view::secret,
    page_call::PageCall,
};
use crate::{App, RequestInfo};
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_identity::{
    factor::{FactorType, PushAnswer, PushEnrolment, Question, Subscription},
    token::Kind,
};
use stoa_kernel::{Code, Fault, Result, Violation, date::iso_from_millis};
use stoa_store::Site;

/// The name of the object.
const NAME: &str = "pushData";
/// Characters of a UUID.
const ID: usize = 36;
/// Characters of what a subscription holds; how long each may be is for the factor.
const LONGEST: usize = 4_096;

/// What `pushData` holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PushData {
    /// Nothing: the question is asked.
    Question,
    /// How the one of this id stands.
    Answer { transaction: String },
}

impl PushData {
    /// Reads the object of a body, where there is one.
    pub(super) fn read(body: &Value, violations: &mut Vec<Violation>) -> Option<Self> {
        let data = match &body[NAME] {
            Value::Null => return None,
            data @ Value::Object(_) => data,
            _ => {
                violations.push(Violation::new(NAME, "FORMAT", "an object is expected"));
                return None;
            }
        };
        let (rule, why) = match &data["transactionId"] {
            Value::Null => return Some(Self::Question),
            Value::String(id) if id.chars().count() > ID => ("MAX_LENGTH", format!("must be at most {ID} characters")),
            Value::String(id) if id.is_empty() => ("MIN_LENGTH", "must have a character".to_owned()),
            Value::String(id) => return Some(Self::Answer { transaction: id.to_owned() }),
            _ => ("FORMAT", "must be a string".to_owned()),
        };
        violations.push(Violation::new("pushData.transactionId", rule, why));
        None
    }
}

/// A question that waits for its answer, as who proves something is answered it.
pub(super) fn asked(question: &Question) -> Value {
    let Question { id, number, expires } = question;
    json!({ "hint": number, NAME: { "transactionId": id }, "expiresDate": iso_from_millis(*expires) })
}

/// A browser that waits for its first code.
pub(super) async fn begin(
    app: &App,
    info: &RequestInfo,
    user_agent: Option<&str>,
    name: Option<&str>,
    call: &ApiCall,
) -> Answer {
    let subscription = subscription(&call.data["subscription"])?;
    let (site, caller, from) = (&call.site, &call.caller, (info.address, user_agent));
    let begun = app.identity.factor_begin_push(site, caller, (subscription, name), from).await?;
    let PushEnrolment { id, name, expires } = begun;
    secret(&json!({
        "factor": { "id": id, "type": FactorType::Push.name(), "name": name },
        "expiresDate": iso_from_millis(expires),
    }))
}

/// `PushSubscription.toJSON()`; what else it has, as `expirationTime`, means nothing.
fn subscription(data: &Value) -> Result<Subscription> {
    let mut violations = Vec::new();
    let mut text = |value: &Value, path: &'static str| {
        let (rule, why) = match value {
            Value::String(text) if text.len() <= LONGEST => return text.to_owned(),
            Value::String(_) => ("MAX_LENGTH", format!("must be at most {LONGEST} characters")),
            Value::Null => ("REQUIRED_FIELD", "is required".to_owned()),
            _ => ("FORMAT", "must be a string".to_owned()),
        };
        violations.push(Violation::new(path, rule, why));
        String::new()
    };
    let endpoint = text(&data["endpoint"], "subscription.endpoint");
    let p256dh = text(&data["keys"]["p256dh"], "subscription.keys.p256dh");
    let auth = text(&data["keys"]["auth"], "subscription.keys.auth");
    if !violations.is_empty() {
        return Err(Fault::invalid(violations));
    }
    Subscription::parse(&endpoint, &p256dh, &auth).map_err(Fault::invalid)
}

/// `POST /_api/identity/v1/push-questions` `{token}`: the sign-in, or the change of the account, that asks.
pub(crate) async fn question(
    State(app): State<App>,
    info: RequestInfo,
    PageCall { body: link, .. }: PageCall<LinkBody>,
) -> Answer {
    let site = site_of(&app, &link.token).await?;
    let question = app.identity.push_question(&site, &link.token, info.address).await?;
    let face = app.identity.site_face(&site).await?;
    let mut view = json!({
        "site": face,
        "for": question.asked_for.name(),
        "address": question.address,
        "createdDate": iso_from_millis(question.created),
        "expiresDate": iso_from_millis(question.expires),
    });
    if let Some(device) = question.device {
        view["device"] = json!(device);
    }
    secret(&view)
}

#[derive(Deserialize)]
pub(crate) struct AnswerBody {
    token: String,
    number: Option<String>,
    #[serde(default)]
    denied: Option<bool>,
}

/// `POST /_api/identity/v1/push-questions/answer` `{token, number | denied}`: once.
pub(crate) async fn answer(
    State(app): State<App>,
    info: RequestInfo,
    PageCall { body, .. }: PageCall<AnswerBody>,
) -> Answer {
    let AnswerBody { token, number, denied } = body;
    let invalid = |field: &str, rule, why: &str| Fault::invalid(vec![Violation::new(field, rule, why)]);
    let answer = match (number.as_deref(), denied.unwrap_or_default()) {
        (None, true) => PushAnswer::Denied,
        (Some(number), false) if number.len() == 2 && number.bytes().all(|it| it.is_ascii_digit()) => {
            PushAnswer::Number(number.parse().map_err(Fault::internal)?)
        }
        (Some(_), false) => return Err(invalid("number", "FORMAT", "two digits are expected").into()),
        _ => {
            let why = "either a number or that it is denied is expected";
            return Err(invalid("number", "REQUIRED_ONE_OF_FIELD", why).into());
        }
    };
    let site = site_of(&app, &token).await?;
    app.identity.push_answer(&site, &token, answer, info.address).await?;
    done()
}

/// What is no token asks as little as one that is over.
async fn site_of(app: &App, token: &str) -> Result<Arc<Site>> {
    app.identity.site_of(Kind::Question, token).await.map_err(|it| match it.code() {
        Code::SiteUnknown => Fault::new(Code::NotFound),
        _ => it,
    })
}
