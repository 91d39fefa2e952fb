//! GraphQL: `POST /graphql/alpha` and `/graphql/v1` (docs/graphql.md, decision 31).
//!
//! What a document means is the business of `stoa_graphql`; what is in a field, of content, which is asked with the
//! caller as by any other call.

mod run;

use crate::{App, Call, Problem, body, traffic::InFlight};
use axum::{
    body::Body,
    extract::{Extension, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use std::{sync::Arc, time::Duration};
use stoa_graphql::{Error, Request, Run, SiteSchema, failure, prepare};
use stoa_kernel::{Code, Fault, Result};
use tokio::time::Instant;

/// The media type of answers that say by their status whether a request was understood (GraphQL over HTTP, section 6).
const GRAPHQL: &str = "application/graphql-response+json";
const JSON: &str = "application/json";

/// A document of more bytes waits for a turn among its network's: it takes a thread for milliseconds.
const SHORT: usize = 8 * 1024;

/// `POST /graphql/{version}`.
///
/// A document that is refused is answered with 200 and `errors`, because clients read nothing else of another status;
/// those that ask for [`GRAPHQL`] get 400.
pub(crate) async fn execute(
    State(app): State<App>,
    call: Call,
    headers: HeaderMap,
    Extension(in_flight): Extension<Arc<InFlight>>,
    body: body::Raw,
) -> Result<Response, Problem> {
    let media = Media::accepted(&headers);
    let until = Instant::now() + Duration::from_millis(app.graphql.limits.graphql_time.unsigned_abs());
    let body = body.parse(stoa_content::json).await?;
    let request = match is_json(&headers).and_then(|()| Request::parse(body)) {
        Ok(it) => it,
        // The document isn't at fault, but what should have one.
        Err(fault) if media == Media::Json => return Err(Problem(fault)),
        Err(fault) => return Ok(media.refuse(&[Error::of_fault(&fault)])),
    };
    let known = app.content.collections_known(&call.site, &call.caller).await?;
    let schema = app.graphql.schemas.of(&call.site.id, known).await?;
    match plan(&app, &call, &in_flight, schema, request).await? {
        Ok(run) => Ok(media.answer(StatusCode::OK, run::run(&app, &call, run, until).await?)),
        Err(errors) => Ok(media.refuse(&errors)),
    }
}

/// A request says that it is JSON (GraphQL over HTTP, section 5.4).
fn is_json(headers: &HeaderMap) -> Result<()> {
    let type_of = |it: &HeaderValue| it.to_str().ok()?.split(';').next().map(|it| it.trim().to_ascii_lowercase());
    match headers.get(header::CONTENT_TYPE).and_then(type_of) {
        Some(it) if it == JSON => Ok(()),
        it => {
            let sent = it.map_or_else(|| "not there".to_owned(), |it| format!("{it:?}"));
            Err(Fault::because(Code::BadRequest, format!("The header content-type is {sent}; it must be {JSON}.")))
        }
    }
}

/// Reads, checks and plans a document on a thread whose stack nothing else has used: what documents may do with it is
/// bounded, and the bound is tested (tests/graphql).
async fn plan(
    app: &App,
    call: &Call,
    in_flight: &InFlight,
    schema: Arc<SiteSchema>,
    request: Request,
) -> Result<Result<Run, Vec<Error>>> {
    let turn = if request.size() > SHORT { Some(in_flight.turn().await) } else { None };
    let limits = app.graphql.limits.clone();
    let caller = call.caller.bare();
    let may_introspect = limits.introspection || caller.is_editor();
    let planned = tokio::task::spawn_blocking(move || prepare(&schema, &request, &limits, may_introspect));
    let planned = planned.await.map_err(Fault::internal)?;
    if let (Some(turn), true) = (turn, planned.is_err()) {
        // What was refused cost as much as what is taken.
        turn.rest();
    }
    Ok(planned)
}

/// In what form an answer is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Media {
    Json,
    Graphql,
}

impl Media {
    /// JSON, unless the newer form is asked for.
    fn accepted(headers: &HeaderMap) -> Self {
        let lists = headers.get_all(header::ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
        let mut types = lists.flat_map(|it| it.split(',')).map(|it| it.split(';').next().unwrap_or_default().trim());
        if types.any(|it| it.eq_ignore_ascii_case(GRAPHQL)) { Self::Graphql } else { Self::Json }
    }

    fn refuse(self, errors: &[Error]) -> Response {
        let status = if self == Self::Graphql { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        self.answer(status, failure(errors))
    }

    fn answer(self, status: StatusCode, text: String) -> Response {
        let media = if self == Self::Graphql { GRAPHQL } else { JSON };
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}
