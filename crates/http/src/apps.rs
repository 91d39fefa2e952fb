//! The built React apps, embedded in the program: `/account` and, for every other path, the website.
//!
//! The build keeps each file that gets smaller compressed as well (`web/scripts/compress.mjs`). In a debug build the
//! files are read from disk at each request, so a rebuilt app shows at once.

use crate::{encoding::Encoding, tag};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use rust_embed::RustEmbed;
use std::borrow::Cow;
use stoa_identity::defence::captcha_widget::Sources;
use stoa_kernel::TokenHash;

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

/// The same for a page that may show the widget of a captcha provider: that one's sources beside ours.
fn policy(widget: Option<&Sources>) -> Cow<'static, str> {
    let Some(widget) = widget else { return POLICY.into() };
    let mut policy = POLICY.to_owned();
    for (directive, more) in [
        ("script-src 'self'", &widget.script),
        ("style-src 'self'", &widget.style),
        ("connect-src 'self'", &widget.connect),
    ] {
        if !more.is_empty() {
            policy = policy.replacen(directive, &format!("{directive} {more}"), 1);
        }
    }
    format!("{policy}; frame-src {}", widget.frame).into()
}

/// The pages that the apps have; `*` stands for one name. Other addresses get the same page, which says that nothing
/// is there, with 404.
const PAGES: [&str; 26] = [
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
    "/account/install",
    "/account/keep",
    "/account/owner",
    "/account/password",
    "/account/privacy",
    "/account/profile",
    "/account/push",
    "/account/recover",
    "/account/security",
    "/account/sessions",
    "/account/setup",
    "/account/sign-in",
    "/account/sign-out",
    "/account/sign-up",
];

/// The encodings in which the build keeps files, smallest first, and what stands after the names of such files.
const BUILT: [(Encoding, &str); 2] = [(Encoding::Brotli, ".br"), (Encoding::Gzip, ".gz")];

/// A file of an app.
struct File {
    data: Bytes,
    media_type: String,
    /// SHA-256 of the data.
    hash: [u8; 32],
}

/// What is asked for, and what its page may show.
#[derive(Clone, Copy)]
struct Asked<'a> {
    path: &'a str,
    headers: &'a HeaderMap,
    accepts_html: bool,
    widget: Option<&'a Sources>,
}

/// The file of an app by its name.
type Files = fn(&str) -> Option<File>;

/// Answers a file of an app, or the app's page for paths that only its router knows. `widget` is what an account page may
/// show of a captcha provider.
pub fn serve(path: &str, headers: &HeaderMap, accepts_html: bool, widget: Option<&Sources>) -> Response {
    let asked = Asked { path, headers, accepts_html, widget };
    match path.strip_prefix("/account") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => serve_app(embedded::<Account>, rest, asked),
        _ => serve_app(embedded::<Atlas>, path, Asked { widget: None, ..asked }),
    }
}

fn embedded<App: RustEmbed>(name: &str) -> Option<File> {
    let file = App::get(name)?;
    let media_type = file.metadata.mimetype();
    let charset = if media_type.starts_with("text/") { "; charset=utf-8" } else { "" };
    let media_type = format!("{media_type}{charset}");
    let data = match file.data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    };
    Some(File { data, media_type, hash: file.metadata.sha256_hash() })
}

/// `rest` is what the path is within the app.
fn serve_app(get: Files, rest: &str, asked: Asked<'_>) -> Response {
    let Asked { path, headers, accepts_html, widget } = asked;
    let file = rest.trim_start_matches('/');
    // What is compressed is answered for the file that it was made of, and has no address of its own.
    let is_file = !file.is_empty() && !BUILT.iter().any(|(_, suffix)| file.ends_with(suffix));
    let found = if is_file { get(file) } else { None };
    // No router knows a path there: what is missing was replaced by a newer build.
    let wants_page = file.is_empty() || accepts_html && !file.starts_with("assets/");
    match (found, wants_page) {
        (Some(found), _) => answer(get, file, found, headers, None),
        (None, true) => match get("index.html") {
            Some(page) if is_page(path) => answer(get, "index.html", page, headers, widget),
            Some(page) => {
                let mut response = answer(get, "index.html", page, &without_tags(headers), None);
                *response.status_mut() = StatusCode::NOT_FOUND;
                response
            }
            None => {
                let why = "the web apps were not built into this program; run make build";
                let mut response = plain(StatusCode::NOT_FOUND, why);
                // As the page would have it.
                let policy = policy(widget.filter(|_| is_page(path)));
                response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy_value(&policy));
                response
            }
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

fn answer(get: Files, name: &str, file: File, asked: &HeaderMap, widget: Option<&Sources>) -> Response {
    let policy = policy(widget);
    // A browser that kept the page must not go on with another policy than this one.
    let of_policy = widget.map_or_else(String::new, |_| hex(&TokenHash::of(&policy).to_vec()[..6]));
    // Weak, because it is sent in several encodings.
    let tag = format!("W/\"{}{of_policy}\"", hex(&file.hash[..12]));
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    // Names in assets/ carry a hash of their content.
    let caching = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(media_type) = HeaderValue::from_str(&file.media_type) {
        headers.insert(header::CONTENT_TYPE, media_type);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, policy_value(&policy));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(value) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, value);
    }
    if asked.get_all(header::IF_NONE_MATCH).iter().any(|it| tag::has(it, &tag)) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let built = BUILT.into_iter().filter(|(encoding, _)| encoding.is_accepted(asked));
    let mut built = built.filter_map(|(encoding, suffix)| Some((encoding, get(&format!("{name}{suffix}"))?)));
    *response.body_mut() = match built.next() {
        Some((encoding, made)) => {
            response.headers_mut().insert(header::CONTENT_ENCODING, encoding.value());
            Body::from(made.data)
        }
        None => Body::from(file.data),
    };
    response
}

/// The strict policy where a text can't be a header.
fn policy_value(policy: &str) -> HeaderValue {
    HeaderValue::from_str(policy).unwrap_or(HeaderValue::from_static(POLICY))
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

    /// An app of a page, a script that the build compressed, and a picture that didn't get smaller.
    fn files(name: &str) -> Option<File> {
        let (data, media_type) = match name {
            "index.html" => ("page", "text/html; charset=utf-8"),
            "assets/a.js" => ("script", "text/javascript; charset=utf-8"),
            "assets/a.js.br" => ("by brotli", "application/octet-stream"),
            "assets/a.js.gz" => ("by gzip", "application/gzip"),
            "assets/b.png" => ("picture", "image/png"),
            _ => return None,
        };
        Some(File { data: data.into(), media_type: media_type.to_owned(), hash: [6; 32] })
    }

    /// Status, encoding and body. Media type and tag are those of the file as it is.
    async fn sent(path: &str, accepted: &str) -> (u16, String, String) {
        let mut asked = HeaderMap::new();
        asked.insert(header::ACCEPT_ENCODING, HeaderValue::from_str(accepted).expect("header"));
        let asked = Asked { path, headers: &asked, accepts_html: false, widget: None };
        let response = serve_app(files, path, asked);
        let (parts, body) = response.into_parts();
        let text = |name| parts.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
        if !text(header::CONTENT_ENCODING).is_empty() {
            assert_eq!(text(header::CONTENT_TYPE), "text/javascript; charset=utf-8");
            assert_eq!(text(header::ETAG), format!("W/\"{}\"", "06".repeat(12)));
            assert_eq!(text(header::VARY), "accept-encoding");
        }
        let body = axum::body::to_bytes(body, 100).await.expect("body");
        (parts.status.as_u16(), text(header::CONTENT_ENCODING), String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn files_are_sent_as_the_build_compressed_them() {
        let of = |encoding: &str, body: &str| (200, encoding.to_owned(), body.to_owned());
        assert_eq!(sent("/assets/a.js", "gzip, deflate, br, zstd").await, of("br", "by brotli"));
        assert_eq!(sent("/assets/a.js", "gzip, br;q=0").await, of("gzip", "by gzip"));
        assert_eq!(sent("/assets/a.js", "zstd").await, of("", "script"));
        assert_eq!(sent("/assets/b.png", "gzip, br").await, of("", "picture"));
        for path in ["/assets/a.js.br", "/assets/a.js.gz"] {
            assert_eq!(sent(path, "gzip, br").await.0, 404, "{path}");
        }
    }

    /// What stands between two marks.
    fn between<'t>(text: &'t str, before: &'t str, after: char) -> impl Iterator<Item = &'t str> {
        text.split(before).skip(1).filter_map(move |it| it.split_once(after).map(|it| it.0))
    }

    #[test]
    fn pages_are_framed_by_no_other() {
        assert!(POLICY.contains("frame-ancestors 'none'"), "what an owner agrees to there is not clicked unseen");
    }

    #[test]
    fn page_with_a_widget_loads_from_its_provider_and_is_another_page() {
        let of = |it: &'static str| Cow::Borrowed(it);
        let (script, frame) = (of("https://a.example/x/ https://b.example"), of("https://c.example"));
        let widget = Sources { script, frame, style: of(""), connect: of("https://d.example") };
        let headers = |widget: Option<&Sources>, path: &str, tag: &str| {
            let mut asked = HeaderMap::new();
            asked.insert(header::IF_NONE_MATCH, HeaderValue::from_str(tag).expect("a header"));
            let asked = Asked { path, headers: &asked, accepts_html: true, widget };
            let response = serve_app(files, path.strip_prefix("/account").expect("an account page"), asked);
            let text = |name| response.headers()[name].to_str().expect("a text").to_owned();
            (response.status().as_u16(), text(header::CONTENT_SECURITY_POLICY), text(header::ETAG))
        };
        let (_, strict, tag) = headers(None, "/account/sign-in", "");
        assert_eq!(strict, POLICY);
        let (status, policy, other) = headers(Some(&widget), "/account/sign-in", &tag);
        assert_eq!(status, 200, "what was kept had another policy");
        assert_eq!(
            policy,
            "default-src 'self'; script-src 'self' https://a.example/x/ https://b.example; style-src 'self' 'unsafe-inline'; \
             img-src 'self' data: https:; connect-src 'self' https://d.example; object-src 'none'; base-uri 'none'; \
             form-action 'self'; frame-ancestors 'none'; frame-src https://c.example"
        );
        assert_eq!(headers(Some(&widget), "/account/sign-in", &other).0, 304);
        assert_eq!(headers(None, "/account/sign-in", &other).0, 200);
        // What is no page, and what is no page's, loads nothing.
        assert_eq!(headers(Some(&widget), "/account/nothing", "").1, POLICY);
        assert_eq!(headers(Some(&widget), "/account/assets/a.js", "").1, POLICY);
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
