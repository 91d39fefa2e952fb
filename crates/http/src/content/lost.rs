//! Gets whose path was lost on the way: clients put ids into paths as they are, and an id with `..` in it makes
//! another path of them. The query string still says what is meant.

use super::{cache::Address, collections, items};
use crate::{App, Call};
use axum::{
    extract::{FromRequestParts, Request, State},
    http::{Method, Uri},
    response::{IntoResponse, Response},
};

/// Whether a request on a path without a route is such a get.
pub(crate) fn is_lost(method: &Method, uri: &Uri) -> bool {
    *method == Method::GET && query_has(uri, "dataCollectionId")
}

/// Answers such a get.
pub(crate) async fn answer(app: App, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let answer = match Call::from_request_parts(&mut parts, &app).await {
        Ok(call) if query_has(&parts.uri, "dataItemId") => {
            let address = Address::of(&parts, &app);
            items::get(State(app), call, address, parts.uri).await
        }
        Ok(call) => collections::get(State(app), call, parts.uri).await,
        Err(problem) => Err(problem),
    };
    answer.into_response()
}

fn query_has(uri: &Uri, name: &str) -> bool {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    pairs.any(|it| it.split_once('=').is_some_and(|(key, _)| key == name))
}
