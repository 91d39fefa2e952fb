//! The outermost layer: what every request and every answer has in common.
//!
//! Preflights are answered here, aliases become canonical paths before routing, and every answer,
//! errors included, carries its request id and CORS headers (docs/protocol/identity.md §2.2, §2.3).

use crate::{
    App, Problem, aliases,
    content::lost,
    encoding::Encoding,
    extract::{sender, text},
    router::{is_api, router},
    tag,
    traffic::{InFlight, Kind, Route},
};
use axum::{
    BoxError,
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Response},
};
use std::{convert::Infallible, sync::Arc, time::Duration};
use stoa_kernel::{Fault, clock::Counter};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};
use tower_http::cors::{self, AllowHeaders, CorsLayer};

/// The target of the log's lines about requests.
pub const REQUESTS: &str = "stoa_http::request";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-wix-request-id");
const CONSISTENT: HeaderName = HeaderName::from_static("x-wix-consistent");

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
            if let Some(uri) = canonical(&parts.uri) {
                parts.uri = uri;
            }
            let begun = Instant::now();
            let (method, consistent) = (parts.method.clone(), parts.headers.get(CONSISTENT).cloned());
            let (mut response, route) =
                match InFlight::begin(&app.traffic, &app.settings, &parts, || sender(&parts, &app)) {
                    Ok(in_flight) => {
                        parts.extensions.insert(in_flight.clone());
                        answer(router, &in_flight, parts, Body::new(body)).await
                    }
                    Err(fault) => (Problem(fault).into_response(), None),
                };
            if is_preflight {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            finish(response.headers_mut(), &id, consistent, is_https);
            let (status, time) = (response.status().as_u16(), begun.elapsed());
            tracing::info!(
                target: REQUESTS,
                id = id.to_str().unwrap_or_default(),
                %method,
                route = route.map_or("", |it| it.path),
                status,
                ms = time.as_micros() as f64 / 1_000.0,
            );
            Ok(response)
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
    let encoding = Encoding::accepted(&parts.headers, Encoding::FAST);
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

/// The same with the canonical path, and the authority that HTTP/2 sends beside it.
fn canonical(uri: &Uri) -> Option<Uri> {
    let path = aliases::canonical(uri.path_and_query()?.as_str())?;
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Which origins may send requests: all, as no credentials are accepted from there. Preflights are
/// answered by it, for every path.
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
        return lost::answer(app, request).await;
    }
    let wants_page = request.method() == Method::GET || request.method() == Method::HEAD;
    let accepts_html = text(request.headers(), "accept").is_some_and(|it| it.contains("text/html"));
    if wants_page && !is_api(request.uri().path()) {
        if let Some(it) = request.extensions().get::<Arc<InFlight>>() {
            let _ = it.route.set(Route { path: "pages", is_read: true, kind: Kind::Public });
        }
        return crate::apps::serve(&app.compressed, request.uri().path(), request.headers(), accepts_html).await;
    }
    Problem(Fault::because(
        stoa_kernel::Code::NotFound,
        format!("nothing answers {} {}", request.method(), request.uri().path()),
    ))
    .into_response()
}

/// A path that exists, asked with a method that it does not take.
async fn method_not_allowed(request: Request) -> Problem {
    let text = format!("{} does not take {}", request.uri().path(), request.method());
    Problem(Fault::because(stoa_kernel::Code::MethodNotAllowed, text))
}
