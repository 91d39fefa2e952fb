//! What the server sends by itself: the messages of webhooks, as the document's `webhooks` has them (docs/webhooks.md).

use serde_json::{Value, json};

/// The member `webhooks` of the document.
pub(super) fn webhooks() -> Value {
    json!({
        "event": {
            "post": {
                "operationId": "webhookEventReceive",
                "summary": "What an endpoint is sent of an event, at least once",
                "description": "Any 2xx within the endpoint's time takes it. Redirects are not followed. A receiver tells \
                    events that it has seen by `webhook-id`, which stays the same however often one is sent.",
                "parameters": [
                    header("webhook-id", "The id of the event.", json!({ "type": "string" })),
                    header("webhook-timestamp", "When this attempt was made, in seconds since 1970.", json!({ "type": "string", "pattern": "^[0-9]+$" })),
                    header("webhook-signature", "`v1,` and an HMAC-SHA256 in base64 of id, timestamp and body with dots between \
                        them; one for each secret of the endpoint, with spaces between.", json!({ "type": "string" })),
                ],
                "requestBody": {
                    "required": true,
                    "content": {
                        "text/plain": { "schema": { "$ref": "#/components/schemas/WebhookToken" } },
                        "application/json": { "schema": { "$ref": "#/components/schemas/WebhookMessage" } },
                    },
                },
                "responses": {
                    "2XX": { "description": "The event is taken." },
                    "410": { "description": "The endpoint is gone: it is disabled." },
                    "413": { "description": "Too large: the event is sent again without its data." },
                    "429": { "description": "Later, when `retry-after` says; so is 503." },
                    "default": { "description": "The event is tried again later." },
                },
            },
        },
    })
}

fn header(name: &str, about: &str, schema: Value) -> Value {
    json!({ "name": name, "in": "header", "required": true, "description": about, "schema": schema })
}
