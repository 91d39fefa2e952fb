//! The document and its page, as they are answered.

use super::{Document, page::MEDIA_TYPE};
use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};

/// What the page may load, and where its form leads: to itself. It has no script.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Characters of a filter that are read.
const FILTER: usize = 100;

/// The document as JSON.
pub(crate) fn json(document: &Document, asked: &HeaderMap) -> Response {
    document.cached().answer(asked)
}

/// The document as a page, or what of it a filter of the query finds.
pub(crate) fn page(document: &Document, query: &str, asked: &HeaderMap) -> Response {
    let filter = url::form_urlencoded::parse(query.as_bytes()).find(|it| it.0 == "filter").map(|it| it.1);
    let filter: String = filter.unwrap_or_default().trim().chars().take(FILTER).collect();
    let mut response = match filter.is_empty() {
        true => document.page().whole().answer(asked),
        false => {
            let mut response = Response::new(Body::from(document.page().filtered(&filter)));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            response
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
