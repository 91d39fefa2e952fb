//! The document, printed from the table of routes.

use super::{
    Answer, Callers, Content, ErrorForm, Listed, Media, Parameter, ParameterValue,
    cached::Cached,
    distinct,
    errors::{self, SHARED, SharedError, looks_at_tokens},
    page::Page,
    schemas::{self, ITEM_DATA},
    sent,
};
use crate::{aliases, opening::Opening, subject::Subject, traffic::Kind};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use stoa_kernel::Code;

/// Stands where a site's own document has the types of its items.
const ITEM_TYPES: &str = "\"@item-types\"";

/// The document as it is served.
pub struct Document {
    /// What stands before and after the types of items.
    around: (String, String),
    json: Cached,
    page: Page,
}

impl Document {
    /// What the table says; `not_built` are paths that are known and answer WDE0119.
    pub(crate) fn of(listed: &[Listed], not_built: &[&str]) -> Self {
        let mut value = whole(listed, not_built);
        let page = Page::of(listed, &value["components"]["schemas"]);
        value["components"]["schemas"][ITEM_DATA] = json!(ITEM_TYPES.trim_matches('"'));
        let text = value.to_string();
        let (before, after) = text.split_once(ITEM_TYPES).unwrap_or((&text, ""));
        let around = (before.to_owned(), after.to_owned());
        let text = Bytes::from(format!("{before}{}{after}", schemas::item_data()));
        Self { around, json: Cached::new(text, "application/json"), page }
    }

    /// The JSON on one line.
    pub fn text(&self) -> &Bytes {
        self.json.text()
    }

    /// The JSON as people read it, with a final line break.
    pub fn pretty(&self) -> String {
        let value: Value = serde_json::from_slice(self.text()).unwrap_or_default();
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        text
    }

    pub(super) fn cached(&self) -> &Cached {
        &self.json
    }

    pub(super) fn page(&self) -> &Page {
        &self.page
    }

    /// The document with other types of items: the schema of what an item holds, and more schemas by name.
    pub(super) fn with_items(&self, item_data: &Value, types: &Map<String, Value>) -> String {
        let (before, after) = &self.around;
        let mut text = String::with_capacity(self.text().len() + 1_024 * types.len());
        text.push_str(before);
        text.push_str(&item_data.to_string());
        for (name, schema) in types {
            text.push_str(&format!(",{}:{schema}", json!(name)));
        }
        text.push_str(after);
        text
    }
}

fn whole(listed: &[Listed], not_built: &[&str]) -> Value {
    let mut schemas = schemas::all();
    // The last of the last: see `with_items`.
    schemas.insert(ITEM_DATA.to_owned(), schemas::item_data());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Stoa",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Members and content for websites.",
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [
            { "url": "/", "description": "The site that the host name or the token says." },
            {
                "url": "/s/{site}",
                "description": "One of several sites of a host, by its id.",
                "variables": { "site": { "default": "SITE" } },
            },
        ],
        "tags": Subject::ALL.iter().map(|it| json!({ "name": it.name(), "description": it.about() })).collect::<Value>(),
        "paths": paths(listed),
        "webhooks": sent::webhooks(),
        "x-not-built": not_built.iter().map(|it| it.replace("{*", "{")).collect::<Value>(),
        "components": {
            "securitySchemes": security_schemes(),
            "headers": headers(),
            "responses": SHARED.iter().map(|it| (it.name.to_owned(), shared(it))).collect::<Map<_, _>>(),
            "x-codes": Code::ALL.iter().map(|it| (it.name().to_owned(), code(*it))).collect::<Map<_, _>>(),
            "schemas": schemas,
        },
    })
}

const ABOUT: &str = "Every answer has the header `x-wix-request-id`, by which its line in the log is found. \
    Members that a request has and that a call doesn't know are ignored; the public client packages repeat there what \
    stands in the path. What a `GET` or `DELETE` is asked may stand in \
    flat or dotted pairs of the query, or as a whole in `.r`: JSON in base64url.\n\n\
    Paths have other names, under which the public client packages know them: `x-aliases`. \
    `x-callers` says who is let in, `x-scope` which scope a key or client needs that is held to scopes, `x-body-limit` \
    which setting of the configuration bounds the body, `x-rate-limit` with what the call's attempts are counted. A response that refuses has its \
    codes in `x-codes`; their texts stand under `components`. `x-not-built` are calls of the protocol that answer \
    `WDE0119` until they are built. A schema with `x-free-form` takes and prints anything, and says why.";

fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "An access token or an API key, with or without `Bearer ` before it. A visitor's token and an \
                            API key go together as `token,key`.",
        },
        "client": {
            "type": "http", "scheme": "basic",
            "description": "The id and secret of a client; both may stand in the body instead.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "stoa-session",
            "description": "Cookies that the server sets for its own pages; their names carry the site and `__Host-`.",
        },
    })
}

fn headers() -> Value {
    json!({
        "RequestId": { "description": "By which the request is found in the log.", "schema": { "type": "string" } },
        "RetryAfter": { "description": "Seconds to wait.", "schema": { "type": "integer", "minimum": 0 } },
        "Location": { "description": "Where to go.", "schema": { "type": "string" } },
    })
}

fn code(code: Code) -> Value {
    json!({ "status": code.status(), "text": code.sentence() })
}

/// Paths in the order of the table, each with its methods.
fn paths(listed: &[Listed]) -> Map<String, Value> {
    let mut paths = Map::new();
    for (it, spellings) in distinct(listed) {
        let methods = paths.entry(it.path()).or_insert_with(|| json!({}));
        methods[it.method.as_str().to_ascii_lowercase()] = operation(it, spellings);
    }
    paths
}

fn operation(listed: &Listed, spellings: Vec<String>) -> Value {
    let it = listed.operation;
    let mut object = json!({ "operationId": it.id, "summary": it.summary, "tags": [it.subject.name()] });
    if !it.notes.is_empty() {
        object["description"] = json!(it.notes);
    }
    let parameters: Vec<Value> = path_parameters(&listed.path()).chain(it.query.iter().map(parameter)).collect();
    if !parameters.is_empty() {
        object["parameters"] = parameters.into();
    }
    if let Some(request) = &it.request {
        let content =
            request.media.iter().map(|media| (media.name().to_owned(), json!({ "schema": reference(request.schema) })));
        object["requestBody"] = json!({ "required": request.is_required, "content": content.collect::<Map<_, _>>() });
        let limit = if listed.route.kind == Kind::Content { "body_bytes" } else { "identity_body_bytes" };
        object["x-body-limit"] = json!(limit);
    }
    object["responses"] = responses(listed);
    object["security"] = security(listed);
    object["x-callers"] = json!(it.callers.name());
    if let Some(scope) = scope(listed) {
        object["x-scope"] = json!(scope);
    }
    if let Some(limit) = it.throttle.name() {
        object["x-rate-limit"] = json!(limit);
    }
    let aliases: Vec<String> = aliases::all(it.subject, &listed.path(), spellings);
    if !aliases.is_empty() {
        object["x-aliases"] = json!(aliases);
    }
    object
}

fn path_parameters(path: &str) -> impl Iterator<Item = Value> + '_ {
    let names = path.split('/').filter_map(|it| it.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| {
        let about = match name {
            "id" => "An id.",
            "key" => "The key of a role.",
            "number" => "The number of a version.",
            _ => "A token.",
        };
        json!({ "name": name, "in": "path", "required": true, "description": about, "schema": { "type": "string", "minLength": 1 } })
    })
}

fn parameter(it: &Parameter) -> Value {
    let one_of = |values: &[&str]| json!({ "type": "string", "enum": values });
    let schema = match it.value {
        ParameterValue::Text => json!({ "type": "string" }),
        ParameterValue::Number => json!({ "type": "integer", "minimum": 0 }),
        ParameterValue::Flag => json!({ "type": "boolean" }),
        ParameterValue::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        ParameterValue::OneOf(values) => one_of(values),
        ParameterValue::SomeOf(values) => json!({ "type": "array", "items": one_of(values) }),
        ParameterValue::Packed(schema) => json!({
            "type": "string", "contentEncoding": "base64url", "contentMediaType": "application/json",
            "contentSchema": reference(schema),
        }),
    };
    let mut object = json!({ "name": it.name, "in": "query", "description": it.about, "schema": schema });
    if it.is_required {
        object["required"] = json!(true);
    }
    object
}

fn responses(listed: &Listed) -> Value {
    let mut answers = Map::new();
    for it in listed.operation.answers {
        join(&mut answers, it.status, answer(it));
    }
    let refusals = errors::statuses(listed).into_iter().map(|(status, codes)| {
        let is_common = listed.operation.error_form == ErrorForm::Common;
        let is_alone = !answers.contains_key(&status.to_string());
        let object = match errors::shared(&codes).filter(|_| is_common && is_alone) {
            Some(shared) => json!({ "$ref": format!("#/components/responses/{}", shared.name) }),
            None => refusal(errors::phrase(status), &codes, listed.operation.error_form),
        };
        (status, object)
    });
    for (status, object) in refusals.collect::<Vec<_>>() {
        join(&mut answers, status, object);
    }
    Value::Object(answers)
}

/// Adds an answer. One of a status that is there already is another form of it.
fn join(answers: &mut Map<String, Value>, status: u16, mut answer: Value) {
    let Some(before) = answers.get_mut(&status.to_string()) else {
        answers.insert(status.to_string(), answer);
        return;
    };
    if let (Some(content), Some(more)) = (before["content"].as_object_mut(), answer["content"].as_object_mut()) {
        content.append(more);
    }
    if let Some(codes) = answer.get_mut("x-codes") {
        before["x-codes"] = codes.take();
    }
}

fn answer(it: &Answer) -> Value {
    let mut object = json!({ "description": it.about });
    if matches!(it.status, 302 | 303) {
        object["headers"] = json!({ "location": { "$ref": "#/components/headers/Location" } });
    }
    if let Some(Content { media, schema }) = it.content {
        let schema = schema.map_or_else(|| json!({ "type": "string" }), reference);
        object["content"] = match media {
            // The schema of each message; there is no word for that before OpenAPI 3.2, which has `itemSchema`. `schema`
            // is read as that of the whole by some and as that of an event by others.
            Media::Events => json!({ media.name(): { "x-item-schema": schema } }),
            _ => json!({ media.name(): { "schema": schema } }),
        };
    }
    object
}

fn shared(it: &SharedError) -> Value {
    let mut object = refusal(it.about, it.codes, ErrorForm::Common);
    object["headers"] = json!({ "x-wix-request-id": { "$ref": "#/components/headers/RequestId" } });
    if it.codes.iter().any(|it| matches!(it.status(), 429 | 503)) {
        object["headers"]["retry-after"] = json!({ "$ref": "#/components/headers/RetryAfter" });
    }
    object
}

fn refusal(about: &str, codes: &[Code], form: ErrorForm) -> Value {
    let is_violation = |it: &Code| *it == Code::Validation;
    let schema = match form {
        ErrorForm::Oauth => reference("OauthErrorBody"),
        ErrorForm::Common if codes.iter().all(is_violation) => reference("ValidationErrorBody"),
        ErrorForm::Common if codes.iter().any(is_violation) => {
            json!({ "anyOf": [reference("ErrorBody"), reference("ValidationErrorBody")] })
        }
        ErrorForm::Common => reference("ErrorBody"),
    };
    json!({
        "description": about,
        "content": { "application/json": { "schema": schema } },
        "x-codes": codes.iter().map(|it| it.name()).collect::<Value>(),
    })
}

fn security(listed: &Listed) -> Value {
    match listed.operation.callers {
        Callers::Open => json!([]),
        Callers::Clients => json!([{ "client": [] }, {}]),
        Callers::Pages => json!([{ "session": [] }, {}]),
        _ => json!([{ "token": [] }]),
    }
}

/// The scope that a call needs of those who are held to scopes; `full` where none opens it.
fn scope(listed: &Listed) -> Option<String> {
    if !looks_at_tokens(listed) {
        return None;
    }
    let right = if listed.route.is_read { "read" } else { "write" };
    Some(match (listed.route.opening, listed.operation.subject) {
        (Opening::Area(area) | Opening::Own(area), _) => format!("{}:{right}", area.name()),
        // What a mutation needs beside it is asked with each of its fields.
        (Opening::Collections, Subject::Graphql) => "items:read".to_owned(),
        (Opening::Collections, Subject::Items | Subject::References | Subject::Realtime) => format!("items:{right}"),
        (Opening::Collections, _) => format!("collections:{right}"),
        (Opening::Whole, _) => "full".to_owned(),
    })
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}
