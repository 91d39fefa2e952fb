//! A text that is the same for everybody: made once, and compressed once in each encoding that is asked for.

use crate::{encoding::Encoding, tag};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use std::sync::OnceLock;

/// A text that everybody is sent.
pub(super) struct Cached {
    text: Bytes,
    media_type: &'static str,
    tag: HeaderValue,
    brotli: OnceLock<Option<Bytes>>,
    gzip: OnceLock<Option<Bytes>>,
    zstandard: OnceLock<Option<Bytes>>,
}

impl Cached {
    pub(super) fn new(text: Bytes, media_type: &'static str) -> Self {
        let tag = HeaderValue::from_str(&tag::of(&text)).unwrap_or(HeaderValue::from_static("W/\"\""));
        let empty = OnceLock::new;
        Self { text, media_type, tag, brotli: empty(), gzip: empty(), zstandard: empty() }
    }

    pub(super) fn text(&self) -> &Bytes {
        &self.text
    }

    pub(super) fn answer(&self, asked: &HeaderMap) -> Response {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(header::ETAG, self.tag.clone());
        let tag = self.tag.to_str().unwrap_or_default();
        if asked.get_all(header::IF_NONE_MATCH).iter().any(|it| tag::has(it, tag)) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        *response.body_mut() = match Encoding::accepted(asked).and_then(|it| Some((it, self.encoded(it)?))) {
            Some((encoding, made)) => {
                response.headers_mut().insert(header::CONTENT_ENCODING, encoding.value());
                Body::from(made.clone())
            }
            None => Body::from(self.text.clone()),
        };
        response
    }

    fn encoded(&self, encoding: Encoding) -> Option<&Bytes> {
        let place = match encoding {
            Encoding::Brotli => &self.brotli,
            Encoding::Gzip => &self.gzip,
            Encoding::Zstandard => &self.zstandard,
        };
        place.get_or_init(|| encoding.encode(&self.text)).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: header::HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).expect("a header"));
        headers
    }

    #[test]
    fn text_is_sent_once_and_in_the_encoding_that_is_asked_for() {
        let cached = Cached::new(Bytes::from("{\"a\":1}".repeat(1_000)), "application/json");
        let plain = cached.answer(&HeaderMap::new());
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
        let tag = plain.headers()[header::ETAG].to_str().expect("text").to_owned();
        let gzip = cached.answer(&asked(header::ACCEPT_ENCODING, "gzip"));
        assert_eq!(
            (&gzip.headers()[header::CONTENT_ENCODING], &gzip.headers()[header::ETAG]),
            (&"gzip".parse().expect("a header"), &plain.headers()[header::ETAG])
        );
        assert_eq!(cached.answer(&asked(header::IF_NONE_MATCH, &tag)).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(cached.answer(&asked(header::IF_NONE_MATCH, "\"other\"")).status(), StatusCode::OK);
    }
}
