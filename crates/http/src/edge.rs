//! The outermost layer: what every request and every answer has in common.
//!
//! Preflights are answered here, aliases become canonical paths before routing, and every answer,
//! errors included, carries its request id and CORS headers (docs/protocol/identity.md §2.2, §2.3).

use crate::{
    App, Problem, RequestInfo, aliases,
    content::lost,
    encoding::Encoding,
    extract::{NamedSite, parts_of, sender, text},
    identity::widget,
    opening::Opening,
    router::{is_api, router},
    tag,
    traffic::{InFlight, Kind, Route},
    welcome,
};
use axum::{
    BoxError,
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use std::{convert::Infallible, sync::Arc, time::Duration};
use stoa_content::within_request;
use stoa_kernel::{Fault, Network, SiteId, clock::Counter};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};
use tower_http::cors::{self, AllowHeaders, CorsLayer};

/// The target of the log's lines about requests.
pub const REQUESTS: &str = "stoa_http::request";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-wix-request-id");
const CONSISTENT: HeaderName = HeaderName::from_static("x-wix-consistent");

/// Authorization endpoints: browsers are sent there, and pages of other origins may not read what they answer (RFC 9700
/// section 2.6).
const NAVIGATED: [&str; 2] = ["/oauth2/authorize", "/installer/install"];
/// What [`cors`] puts on every other answer.
const CORS: [HeaderName; 5] = [
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    header::ACCESS_CONTROL_ALLOW_METHODS,
    header::ACCESS_CONTROL_ALLOW_HEADERS,
    header::ACCESS_CONTROL_EXPOSE_HEADERS,
    header::ACCESS_CONTROL_MAX_AGE,
];

/// The whole HTTP surface as a service; requests carry `ConnectInfo<SocketAddr>` when there is a socket.
pub fn service<B>(
    app: App,
) -> impl Service<Request<B>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (ids, is_https) = (RequestIds::new(&app), app.settings.is_https());
    let router = router().fallback(fallback).method_not_allowed_fallback(method_not_allowed).with_state(app.clone());
    let (router, app) = (cors().layer(router), Arc::new(app));
    tower::service_fn(move |request: Request<B>| {
        let (mut parts, body) = request.into_parts();
        let (app, router, id) = (app.clone(), router.clone(), ids.next());
        async move {
            let is_preflight = parts.method == Method::OPTIONS;
            let mut exchange = app.exchanges.as_ref().map(|it| it.begin(&parts));
            if let Some((site, uri)) = named_site(&parts.uri) {
                parts.extensions.insert(NamedSite(site));
                parts.uri = uri;
            }
            if let Some(uri) = canonical(&parts.uri) {
                parts.uri = uri;
            }
            let mut body = Body::new(body);
            if let Some(it) = &mut exchange {
                it.note_path(&parts.uri);
                body = it.request(body);
            }
            let begun = Instant::now();
            let is_navigated = NAVIGATED.contains(&parts.uri.path());
            let (method, consistent) = (parts.method.clone(), parts.headers.get(CONSISTENT).cloned());
            let network = Network::of(sender(&parts, &app));
            let (mut response, route) =
                match InFlight::begin(&app.traffic, &app.settings, &parts, || sender(&parts, &app)) {
                    Ok(in_flight) => {
                        parts.extensions.insert(in_flight.clone());
                        let answering = answer(router, &in_flight, parts, body);
                        within_request(id.to_str().unwrap_or_default(), network, answering).await
                    }
                    Err(fault) => (Problem(fault).into_response(), None),
                };
            if is_preflight {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            if is_navigated {
                for name in CORS {
                    response.headers_mut().remove(name);
                }
            }
            finish(response.headers_mut(), &id, consistent, is_https);
            let (status, time) = (response.status().as_u16(), begun.elapsed());
            app.metrics.count(&method, route.map(|it| it.path), status, time);
            tracing::info!(
                target: REQUESTS,
                id = id.to_str().unwrap_or_default(),
                %method,
                route = route.map_or("", |it| it.path),
                status,
                ms = time.as_micros() as f64 / 1_000.0,
            );
            Ok(match exchange {
                Some(it) => it.answer(route.map(|it| it.path), response),
                None => response,
            })
        }
    })
}

/// What the router answers, in the form that the client asks for.
async fn answer(
    router: impl Service<Request, Response = Response, Error = Infallible>,
    in_flight: &InFlight,
    parts: Parts,
    body: Body,
) -> (Response, Option<Route>) {
    let encoding = Encoding::accepted(&parts.headers);
    let tags = (parts.method == Method::GET).then(|| tag::asked(&parts.headers));
    let mut response = match router.oneshot(Request::from_parts(parts, body)).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let route = in_flight.route.get().copied();
    if let (Some(asked), Some(Kind::Content)) = (tags, route.map(|it| it.kind)) {
        response = tag::tagged(response, &asked).await;
    }
    let encoding = encoding.filter(|_| matches!(route, Some(Route { kind: Kind::Content | Kind::Public, .. })));
    (in_flight.hold_answer(response, encoding).await, route)
}

/// The site that an address names before everything else, `/s/SITE/…`, and the address without it: several sites on
/// one host are told apart by it.
fn named_site(uri: &Uri) -> Option<(SiteId, Uri)> {
    let (site, _) = uri.path().strip_prefix("/s/")?.split_once('/')?;
    if !is_site_id(site) {
        return None;
    }
    let rest = &uri.path_and_query()?.as_str()["/s/".len() + site.len() + "/".len()..];
    Some((SiteId::from(site), with_path(uri, &format!("/{rest}"))?))
}

/// The path of a site as people type it, without the slash at its end: with it.
fn unfinished_site(uri: &Uri) -> Option<String> {
    let site = uri.path().strip_prefix("/s/").filter(|it| is_site_id(it))?;
    Some(format!("/s/{site}/"))
}

/// Ids are repeated in addresses and pages; none has other characters.
fn is_site_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
}

/// The same with the canonical path.
fn canonical(uri: &Uri) -> Option<Uri> {
    with_path(uri, &aliases::canonical(uri.path_and_query()?.as_str())?)
}

/// The same address with another path and query; the authority that HTTP/2 sends beside it stays.
fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Which origins may send requests: all, as no credentials are accepted from there. Preflights are
/// answered by it, for every path; those of [`NAVIGATED`] without its headers.
fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(cors::Any)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([REQUEST_ID, CONSISTENT])
        .max_age(Duration::from_secs(86_400))
        // Answers are the same for every origin, and preflights are not kept by shared caches.
        .vary([])
}

fn finish(headers: &mut HeaderMap, id: &HeaderValue, consistent: Option<HeaderValue>, is_https: bool) {
    headers.insert(REQUEST_ID, id.clone());
    headers.insert("x-request-id", id.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_https {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if let Some(it) = consistent {
        headers.insert(CONSISTENT, it);
    }
}

/// Ids of requests: unique among processes by a random beginning, cheap by counting.
#[derive(Clone)]
struct RequestIds(Arc<(String, Counter)>);

impl RequestIds {
    fn new(app: &App) -> Self {
        Self(Arc::new((app.world.token::<8>(), Counter::default())))
    }

    fn next(&self) -> HeaderValue {
        let (process, counter) = &*self.0;
        let id = format!("{process}-{:x}", counter.next());
        HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("0"))
    }
}

/// What is asked for by a path that nothing answers: a page for browsers, an error for everyone else.
async fn fallback(State(app): State<App>, request: Request) -> Response {
    if lost::is_lost(request.method(), request.uri()) {
        note_route(&request, "lost ids", Kind::Content);
        return lost::answer(app, request).await;
    }
    let wants_page = request.method() == Method::GET || request.method() == Method::HEAD;
    let accepts_html = text(request.headers(), "accept").is_some_and(|it| it.contains("text/html"));
    if wants_page && !is_api(request.uri().path()) {
        if let Some(path) = unfinished_site(request.uri()) {
            return Redirect::permanent(&path).into_response();
        }
        note_route(&request, "pages", Kind::Public);
        let path = request.uri().path();
        let info = if accepts_html || path == "/" { website_visit(&app, &request) } else { None };
        if let Some(info) = info
            && let Some(welcome) = welcome::page(&app, &info, path).await
        {
            return welcome;
        }
        let widget = if accepts_html { widget::of_page(&app, parts_of(&request)).await } else { None };
        return crate::apps::serve(path, request.headers(), accepts_html, widget.as_ref());
    }
    Problem(Fault::because(
        stoa_kernel::Code::NotFound,
        format!("nothing answers {} {}", request.method(), request.uri().path()),
    ))
    .into_response()
}

/// Names what answers a request that has no route.
fn note_route(request: &Request, path: &'static str, kind: Kind) {
    if let Some(it) = request.extensions().get::<Arc<InFlight>>() {
        let _ = it.route.set(Route { path, is_read: true, kind, opening: Opening::Collections });
    }
}

/// From where a page of the website is asked for; `None` for the account pages, which find their site in other ways.
fn website_visit(app: &App, request: &Request) -> Option<RequestInfo> {
    let path = request.uri().path();
    if path == "/account" || path.starts_with("/account/") || path.starts_with("/assets/") {
        return None;
    }
    RequestInfo::of(&parts_of(request), app).ok()
}

/// A path that exists, asked with a method that it does not take.
async fn method_not_allowed(request: Request) -> Problem {
    let text = format!("{} does not take {}", request.uri().path(), request.method());
    Problem(Fault::because(stoa_kernel::Code::MethodNotAllowed, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_is_named_by_the_path_alone() {
        let named = |uri: &str| {
            let (site, uri) = named_site(&uri.parse().expect("a URI"))?;
            Some((site.as_str().to_owned(), uri.to_string()))
        };
        let wants = |site: &str, uri: &str| Some((site.to_owned(), uri.to_owned()));
        assert_eq!(named("/s/x/v2/items?a=/b"), wants("x", "/v2/items?a=/b"));
        assert_eq!(named("http://localhost:1/s/x/"), wants("x", "http://localhost:1/"));
        for other in ["/s/x", "/s/x?to=/y", "/x/s/y/z", "/"] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
