//! The outermost layer: what every request and every answer has in common.
//!
//! Preflights are answered here, aliases become canonical paths before routing, and every answer,
//! errors included, carries its request id and CORS headers (docs/protocol/identity.md §2.2, §2.3).

use crate::{
    App, Problem, aliases,
    content::lost,
    extract::{sender, text},
    router::{is_api, router},
    traffic::InFlight,
};
use axum::{
    BoxError,
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use std::{convert::Infallible, sync::Arc, time::Duration};
use stoa_kernel::{Fault, clock::Counter};
use tower::{Layer, Service, ServiceExt};
use tower_http::cors::{self, AllowHeaders, CorsLayer};

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
            let consistent = parts.headers.get(CONSISTENT).cloned();
            let mut response = match InFlight::begin(&app.traffic, &app.settings, &parts, || sender(&parts, &app)) {
                Ok(in_flight) => {
                    parts.extensions.insert(in_flight.clone());
                    match router.oneshot(Request::from_parts(parts, Body::new(body))).await {
                        Ok(response) => in_flight.hold_answer(response),
                        Err(never) => match never {},
                    }
                }
                Err(fault) => Problem(fault).into_response(),
            };
            if is_preflight {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            finish(response.headers_mut(), &id, consistent, is_https);
            Ok(response)
        }
    })
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
        return crate::apps::serve(&app.compressed, request.uri().path(), request.headers(), accepts_html);
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
