//! Webhooks: endpoints that are told of what happens, and what became of that.

use super::DONE;
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const INVALID: &[Code] = &[Code::Validation, Code::Forbidden];
const OF_ENDPOINT: &[Code] = &[Code::Validation, Code::Forbidden, Code::NotFound];
const ENDPOINT: &[Answer] = &[Answer::json("WebhookEndpointResponse", "The endpoint.")];

const fn webhook(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Webhooks, Callers::Owners, summary)
}

pub(crate) const WEBHOOK_EVENT_TYPE_LIST: Operation =
    webhook("webhookEventTypeList", "Lists the types of event that an endpoint can name")
        .answers(&[Answer::json("WebhookEventTypeListResponse", "The types.")])
        .errors(&[INVALID]);

pub(crate) const WEBHOOK_ENDPOINT_LIST: Operation = webhook("webhookEndpointList", "Lists the endpoints of the site")
    .answers(&[Answer::json("WebhookEndpointListResponse", "The endpoints, at most 20, the oldest first.")])
    .errors(&[INVALID]);

pub(crate) const WEBHOOK_ENDPOINT_CREATE: Operation =
    webhook("webhookEndpointCreate", "Makes an endpoint, which is told of what happens from now on")
        .notes("The secret is answered this once.")
        .takes("WebhookEndpointCreateRequest")
        .answers(&[Answer::json("WebhookEndpointCreateResponse", "The endpoint and its secret.")])
        .errors(&[INVALID, &[Code::TooMany]]);

pub(crate) const WEBHOOK_ENDPOINT_GET: Operation =
    webhook("webhookEndpointGet", "Reads an endpoint").answers(ENDPOINT).errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_ENDPOINT_UPDATE: Operation = webhook("webhookEndpointUpdate", "Changes an endpoint")
    .notes("What is not sent stays.")
    .takes("WebhookEndpointUpdateRequest")
    .answers(ENDPOINT)
    .errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_ENDPOINT_DELETE: Operation =
    webhook("webhookEndpointDelete", "Deletes an endpoint, with all that waits for it")
        .answers(DONE)
        .errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_ENDPOINT_PAUSE: Operation =
    webhook("webhookEndpointPause", "Sends nothing until the endpoint is resumed; what happens meanwhile waits")
        .may_take("Empty")
        .answers(ENDPOINT)
        .errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_ENDPOINT_RESUME: Operation =
    webhook("webhookEndpointResume", "Goes on sending where it stopped, or with what happens from now on")
        .notes("After a pause, and after the server disabled the endpoint; an open breaker closes.")
        .may_take("WebhookEndpointResumeRequest")
        .answers(ENDPOINT)
        .errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_ENDPOINT_TEST: Operation =
    webhook("webhookEndpointTest", "Sends one signed message now and tells what the receiver answered")
        .may_take("Empty")
        .answers(&[Answer::json("WebhookTestResponse", "What came of it.")])
        .errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_ENDPOINT_REPLAY: Operation =
    webhook("webhookEndpointReplay", "Sends again what happened since a time, one event, or what was given up")
        .notes("The events keep their ids. They are sent again as far back as the log reaches.")
        .takes("WebhookReplayRequest")
        .answers(&[Answer::json("WebhookReplayResponse", "How many will be sent.")])
        .errors(&[OF_ENDPOINT, &[Code::TooMany]]);

pub(crate) const WEBHOOK_SECRET_ROTATE: Operation =
    webhook("webhookSecretRotate", "Makes another secret; the one before it signs as well for a day")
        .may_take("Empty")
        .answers(&[Answer::json("WebhookSecretResponse", "The secret, which is answered this once.")])
        .errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_EVENT_LIST: Operation =
    webhook("webhookEventList", "Lists events that were refused, those that wait behind them, or those given up")
        .query(&[
            Parameter::one_of("state", &["PARKED", "HELD", "DEAD"], "Which events; `PARKED` without it."),
            Parameter::number("limit", "As many on a page, 1 to 100; 50 without it."),
            Parameter::text("after", "Where the page before ended: its `next`."),
        ])
        .answers(&[Answer::json("WebhookEventListResponse", "A page of events, the oldest first.")])
        .errors(&[OF_ENDPOINT]);

pub(crate) const WEBHOOK_PULL: Operation =
    webhook("webhookPull", "Waits for messages and answers them signed, as an endpoint would be sent them")
        .notes(
            "For `stoa webhook listen`, which posts them to a receiver by itself. Without `after` it begins with what \
             happens from now on. A place whose rows are gone is answered with `gap`.",
        )
        .takes("WebhookPullRequest")
        .answers(&[Answer::json("WebhookPullResponse", "The messages, and the place after them.")])
        .errors(&[INVALID, &[Code::NotFound]]);
