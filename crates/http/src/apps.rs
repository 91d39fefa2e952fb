//! The built React apps, embedded in the program: `/account` and, for every other path, the website.
//!
//! In a debug build the files are read from disk at each request, so a rebuilt app shows at once.

use crate::{
    encoding::{Effort, Encoding, LEAST, is_compressible},
    tag,
};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use rust_embed::{EmbeddedFile, RustEmbed};
use std::{borrow::Cow, collections::HashMap, sync::Mutex};

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

/// The pages that the apps have; `*` stands for one name. Other addresses get the same page, which says that nothing
/// is there, with 404.
const PAGES: [&str; 19] = [
    "/",
    "/about",
    "/countries",
    "/countries/*",
    "/journal",
    "/places",
    "/places/*",
    "/signed-in",
    "/account",
    "/account/approve",
    "/account/error",
    "/account/flow/*",
    "/account/owner",
    "/account/recover",
    "/account/security",
    "/account/setup",
    "/account/sign-in",
    "/account/sign-out",
    "/account/sign-up",
];

/// Compressed files by their hash and encoding, each made once.
#[derive(Default)]
pub struct Compressed(Mutex<HashMap<([u8; 32], Encoding), Bytes>>);

impl Compressed {
    async fn get(&self, hash: [u8; 32], data: Bytes, encoding: Encoding) -> Option<Bytes> {
        if let Some(known) = self.lock().get(&(hash, encoding)) {
            return Some(known.clone());
        }
        let making = tokio::task::spawn_blocking(move || encoding.encode(&data, Effort::Much));
        let made = making.await.ok().flatten()?;
        self.lock().insert((hash, encoding), made.clone());
        Some(made)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<([u8; 32], Encoding), Bytes>> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }
}

/// Answers a file of an app, or the app's page for paths that only its router knows.
pub async fn serve(compressed: &Compressed, path: &str, headers: &HeaderMap, accepts_html: bool) -> Response {
    let (get, file): (fn(&str) -> Option<EmbeddedFile>, &str) = match path.strip_prefix("/account") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (Account::get, rest.trim_start_matches('/')),
        _ => (Atlas::get, path.trim_start_matches('/')),
    };
    let found = if file.is_empty() { None } else { get(file) };
    // No router knows a path there: what is missing was replaced by a newer build.
    let wants_page = file.is_empty() || accepts_html && !file.starts_with("assets/");
    match (found, wants_page) {
        (Some(found), _) => answer(compressed, file, found, headers).await,
        (None, true) => match get("index.html") {
            Some(page) if is_page(path) => answer(compressed, "index.html", page, headers).await,
            Some(page) => {
                let mut response = answer(compressed, "index.html", page, &without_tags(headers)).await;
                *response.status_mut() = StatusCode::NOT_FOUND;
                response
            }
            None => plain(StatusCode::NOT_FOUND, "the web apps were not built into this program; run make build"),
        },
        (None, false) => plain(StatusCode::NOT_FOUND, "not found"),
    }
}

/// Whether an app has a page at this path.
fn is_page(path: &str) -> bool {
    let names: Vec<&str> = names(path).collect();
    PAGES.iter().any(|page| {
        names.len() == self::names(page).count()
            && self::names(page).zip(&names).all(|(page, name)| page == *name || page == "*" && !name.is_empty())
    })
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.strip_suffix('/').unwrap_or(path).split('/')
}

/// What is asked for where nothing is, is asked for without conditions.
fn without_tags(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove(header::IF_NONE_MATCH);
    headers
}

async fn answer(compressed: &Compressed, name: &str, file: EmbeddedFile, asked: &HeaderMap) -> Response {
    let media_type = media_type(&file);
    // Weak, because it is sent in several encodings.
    let tag = format!("W/\"{}\"", hex(&file.metadata.sha256_hash()[..12]));
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
    if let Ok(value) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, value);
    }
    if asked.get_all(header::IF_NONE_MATCH).iter().any(|it| tag::has(it, &tag)) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let hash = file.metadata.sha256_hash();
    let data = match file.data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    };
    let encoding = Encoding::accepted(asked, Encoding::SMALL);
    let encoding = encoding.filter(|_| data.len() >= LEAST && is_compressible(&media_type));
    let made = match encoding {
        Some(encoding) => compressed.get(hash, data.clone(), encoding).await.map(|it| (encoding, it)),
        None => None,
    };
    *response.body_mut() = match made {
        Some((encoding, made)) => {
            response.headers_mut().insert(header::CONTENT_ENCODING, encoding.value());
            Body::from(made)
        }
        None => Body::from(data),
    };
    response
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATLAS: &str = include_str!("../../../web/apps/atlas/src/app/routes.tsx");
    const ACCOUNT: &str = include_str!("../../../web/apps/account/src/flow/route.ts");

    /// What stands between two marks.
    fn between<'t>(text: &'t str, before: &'t str, after: char) -> impl Iterator<Item = &'t str> {
        text.split(before).skip(1).filter_map(move |it| it.split_once(after).map(|it| it.0))
    }

    #[test]
    fn pages_are_those_of_the_apps() {
        let atlas = between(ATLAS, "path: '", '\'').map(|it| {
            it.split('/').map(|name| if name.starts_with('$') { "*" } else { name }).collect::<Vec<_>>().join("/")
        });
        let account = between(ACCOUNT, "case '", '\'').map(|it| match it {
            "" => "/account".to_owned(),
            "flow" => "/account/flow/*".to_owned(),
            page => format!("/account/{page}"),
        });
        let mut theirs: Vec<String> = atlas.chain(account).collect();
        theirs.sort();
        let mut ours = PAGES.map(str::to_owned).to_vec();
        ours.sort();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn pages_are_told_from_other_addresses() {
        for page in ["/", "/countries/DE", "/countries/DE/", "/account", "/account/", "/account/flow/x-1"] {
            assert!(is_page(page), "{page}");
        }
        for other in ["/nothing", "/countries/DE/x", "/countries//", "/account/flow", "/account/flow/a/b", "/place"] {
            assert!(!is_page(other), "{other}");
        }
    }
}
