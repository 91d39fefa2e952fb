//! The built React apps, embedded in the program: `/account` and, for every other path, the website.
//!
//! In a debug build the files are read from disk at each request, so a rebuilt app shows at once.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use flate2::{Compression, write::GzEncoder};
use rust_embed::{EmbeddedFile, RustEmbed};
use std::{borrow::Cow, collections::HashMap, io::Write, sync::Mutex};

#[derive(RustEmbed)]
#[folder = "../../web/apps/account/dist"]
#[allow_missing = true]
struct Account;

#[derive(RustEmbed)]
#[folder = "../../web/apps/atlas/dist"]
#[allow_missing = true]
struct Atlas;

/// What pages may load and who may frame them. Inline styles are set by the component library.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; \
    connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Compressed files, each made once.
#[derive(Default)]
pub struct Compressed(Mutex<HashMap<[u8; 32], Bytes>>);

impl Compressed {
    fn get(&self, file: &EmbeddedFile) -> Bytes {
        let key = file.metadata.sha256_hash();
        if let Some(known) = self.0.lock().unwrap_or_else(|it| it.into_inner()).get(&key) {
            return known.clone();
        }
        let made = Bytes::from(gzip(&file.data));
        self.0.lock().unwrap_or_else(|it| it.into_inner()).insert(key, made.clone());
        made
    }
}

/// Answers a file of an app, or the app's page for paths that only its router knows.
pub fn serve(compressed: &Compressed, path: &str, headers: &HeaderMap, accepts_html: bool) -> Response {
    let (get, file): (fn(&str) -> Option<EmbeddedFile>, &str) = match path.strip_prefix("/account") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (Account::get, rest.trim_start_matches('/')),
        _ => (Atlas::get, path.trim_start_matches('/')),
    };
    let found = if file.is_empty() { None } else { get(file) };
    // No router knows a path there: what is missing was replaced by a newer build.
    let is_page = file.is_empty() || accepts_html && !file.starts_with("assets/");
    match (found, is_page) {
        (Some(found), _) => answer(compressed, file, found, headers),
        (None, true) => match get("index.html") {
            Some(page) => answer(compressed, "index.html", page, headers),
            None => plain(StatusCode::NOT_FOUND, "the web apps were not built into this program; run make build"),
        },
        (None, false) => plain(StatusCode::NOT_FOUND, "not found"),
    }
}

fn answer(compressed: &Compressed, name: &str, file: EmbeddedFile, asked: &HeaderMap) -> Response {
    let media_type = media_type(&file);
    let tag = format!("\"{}\"", hex(&file.metadata.sha256_hash()[..12]));
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    // Names in assets/ carry a hash of their content.
    let caching = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(media_type) = HeaderValue::from_str(&media_type) {
        headers.insert(header::CONTENT_TYPE, media_type);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if asked.get(header::IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == tag.as_bytes()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let takes_gzip =
        asked.get(header::ACCEPT_ENCODING).and_then(|it| it.to_str().ok()).is_some_and(|it| it.contains("gzip"));
    let body = match takes_gzip && is_compressible(&media_type) {
        true => {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Body::from(compressed.get(&file))
        }
        false => Body::from(file.data.into_owned()),
    };
    *response.body_mut() = body;
    response
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(data.len() / 3), Compression::new(6));
    // Writing into memory can't fail.
    let _ = encoder.write_all(data);
    encoder.finish().unwrap_or_default()
}

/// The media type of a file by its name, with the encoding of texts.
fn media_type(file: &EmbeddedFile) -> Cow<'static, str> {
    let media_type = file.metadata.mimetype();
    if media_type.starts_with("text/") {
        format!("{media_type}; charset=utf-8").into()
    } else {
        media_type.to_owned().into()
    }
}

/// Whether compression makes a file of this media type smaller.
fn is_compressible(media_type: &str) -> bool {
    media_type.starts_with("text/") || ["json", "xml"].iter().any(|format| media_type.contains(format))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
