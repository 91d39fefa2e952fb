//! Webhooks.

use crate::{
    endpoint::{Line, delete, get, patch, post, post_read},
    openapi::operations::webhooks::*,
    webhooks,
};

/// All of them.
pub(super) fn routes() -> Vec<Line> {
    vec![
        get("/_api/webhooks/v1/event-types", webhooks::event_types, &WEBHOOK_EVENT_TYPE_LIST),
        get("/_api/webhooks/v1/endpoints", webhooks::list, &WEBHOOK_ENDPOINT_LIST),
        post("/_api/webhooks/v1/endpoints", webhooks::create, &WEBHOOK_ENDPOINT_CREATE),
        get("/_api/webhooks/v1/endpoints/{id}", webhooks::get, &WEBHOOK_ENDPOINT_GET),
        patch("/_api/webhooks/v1/endpoints/{id}", webhooks::update, &WEBHOOK_ENDPOINT_UPDATE),
        delete("/_api/webhooks/v1/endpoints/{id}", webhooks::delete, &WEBHOOK_ENDPOINT_DELETE),
        post("/_api/webhooks/v1/endpoints/{id}/pause", webhooks::pause, &WEBHOOK_ENDPOINT_PAUSE),
        post("/_api/webhooks/v1/endpoints/{id}/resume", webhooks::resume, &WEBHOOK_ENDPOINT_RESUME),
        post("/_api/webhooks/v1/endpoints/{id}/test", webhooks::test, &WEBHOOK_ENDPOINT_TEST),
        post("/_api/webhooks/v1/endpoints/{id}/replay", webhooks::replay, &WEBHOOK_ENDPOINT_REPLAY),
        post("/_api/webhooks/v1/endpoints/{id}/rotate-secret", webhooks::rotate_secret, &WEBHOOK_SECRET_ROTATE),
        get("/_api/webhooks/v1/endpoints/{id}/events", webhooks::events, &WEBHOOK_EVENT_LIST),
        post_read("/_api/webhooks/v1/pull", webhooks::pull, &WEBHOOK_PULL),
    ]
}
