//! Answers that a browser shows or follows, with the headers of every page that signs people in.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use stoa_kernel::ClientId;

/// 303: the browser goes there with GET, whatever it came with.
pub(crate) fn see_other(url: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    for (name, value) in page_headers("'none'", &[]) {
        response.headers_mut().insert(name, value);
    }
    match HeaderValue::from_str(url) {
        Ok(url) => {
            response.headers_mut().insert(header::LOCATION, url);
        }
        Err(_) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    response
}

/// A page; `script` and `frames` as in [`page_headers`].
pub(crate) fn page(html: &str, script: &str, frames: &[String]) -> Response {
    let mut response = Response::new(Body::from(html.to_owned()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    for (name, value) in page_headers(script, frames) {
        headers.insert(name, value);
    }
    response
}

/// An address of the account pages that has a query, with the client by which they find the site.
pub(crate) fn page_of(page: &str, client: Option<&ClientId>) -> String {
    client.map_or_else(|| page.to_owned(), |it| format!("{page}&clientId={it}"))
}

/// The headers of every page that signs people in: who may frame it, what it may load, and that its
/// address, which may hold a token, is sent to no other site. `script` names allowed scripts (`'self'`, a
/// nonce); `frames` the origins that may frame the page, none when empty.
pub(crate) fn page_headers(script: &str, frames: &[String]) -> Vec<(HeaderName, HeaderValue)> {
    let ancestors = if frames.is_empty() { "'none'".to_owned() } else { frames.join(" ") };
    let policy = format!(
        "default-src 'none'; script-src {script}; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
    );
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    vec![
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_named_or_refused() {
        let policy = |frames: &[String]| page_headers("'none'", frames)[0].1.to_str().unwrap_or("").to_owned();
        assert!(policy(&[]).ends_with("frame-ancestors 'none'"));
        assert!(policy(&["https://a.example".to_owned()]).ends_with("frame-ancestors https://a.example"));
    }
}
