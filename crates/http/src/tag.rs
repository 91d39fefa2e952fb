//! Tags of answers (RFC 9110 section 8.8.3), so that a client which has one need not get it again.
//!
//! The call is carried out as ever, with its permission checked; what is saved is the way, and what the client
//! would make of it.

use crate::traffic::off_runtime;
use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

/// An answer to one caller, who has to ask each time whether it is still right. One for everybody says so itself.
const CACHING: HeaderValue = HeaderValue::from_static("private, no-cache");

/// An answer of more bytes keeps a thread for some milliseconds.
const LARGE: usize = 1024 * 1024;

/// The tags that a client has.
pub(crate) fn asked(headers: &HeaderMap) -> Vec<HeaderValue> {
    headers.get_all(header::IF_NONE_MATCH).iter().cloned().collect()
}

/// The answer with its tag, or 304 without a body when it is among those that the client has.
pub(crate) async fn tagged(response: Response, asked: &[HeaderValue]) -> Response {
    if response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // It is in memory as it stands: this takes no copy.
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let tag = if bytes.len() > LARGE { off_runtime(|| of(&bytes)) } else { of(&bytes) };
    let is_known = asked.iter().any(|it| has(it, &tag));
    if !parts.headers.contains_key(header::CACHE_CONTROL) {
        parts.headers.insert(header::CACHE_CONTROL, CACHING);
        parts.headers.append(header::VARY, HeaderValue::from_static("authorization"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        parts.headers.insert(header::ETAG, tag);
    }
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

/// The tag of an answer. It is weak, because the same answer is sent compressed as well.
pub(crate) fn of(bytes: &[u8]) -> String {
    format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(&digest(&SHA256, bytes).as_ref()[..15]))
}

/// Whether a header `If-None-Match` has a tag. It may have several, or `*` for any.
pub(crate) fn has(header: &HeaderValue, tag: &str) -> bool {
    let opaque = |it: &str| it.trim().trim_start_matches("W/").to_owned();
    header.to_str().is_ok_and(|it| it.split(',').any(|it| it.trim() == "*" || opaque(it) == opaque(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_lists() {
        let has = |header: &'static str| has(&HeaderValue::from_static(header), "W/\"abc\"");
        for header in ["\"abc\"", "W/\"abc\"", "\"x\", W/\"abc\"", "*"] {
            assert!(has(header), "{header}");
        }
        for header in ["", "abc", "\"ab\"", "\"abcd\", \"x\""] {
            assert!(!has(header), "{header}");
        }
    }
}
