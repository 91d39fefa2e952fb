//! What answers at a path: a handler for each method, all behind one type, and what it is for those who call it.
//!
//! axum makes its routing again for each type of handler, sixty functions and more with the whole future in
//! their names. For all our handlers together that took most of the time in which this crate compiles, so it
//! sees one type only. A call costs one more jump through a pointer.

use crate::{
    App, Problem,
    openapi::Operation,
    opening::Opening,
    traffic::{InFlight, Kind, Route},
};
use axum::{
    extract::Request,
    handler::Handler,
    http::Method,
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter},
};
use std::{pin::Pin, sync::Arc};

/// What axum makes of the future of an `async fn`.
type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler as functions are, with arguments of types `T`.
pub(crate) trait Handles<T>: Handler<T, App, Future = ResponseFuture> + Sync {}

impl<T, H: Handler<T, App, Future = ResponseFuture> + Sync> Handles<T> for H {}

type Call = Arc<dyn Fn(Request, App) -> ResponseFuture + Send + Sync>;

/// A handler at its path.
#[derive(Clone)]
struct Placed {
    call: Call,
    route: Route,
}

impl Handler<(), App> for Placed {
    type Future = ResponseFuture;

    fn call(self, mut request: Request, app: App) -> ResponseFuture {
        request.extensions_mut().insert(self.route);
        let in_flight = request.extensions().get::<Arc<InFlight>>().cloned();
        let answer = (self.call)(request, app);
        let Some(in_flight) = in_flight else { return answer };
        let _ = in_flight.route.set(self.route);
        let is_read = self.route.is_read;
        if in_flight.has_room_for_answer(is_read) {
            return answer;
        }
        Box::pin(async move {
            match in_flight.expect_answer(is_read).await {
                Ok(_turn) => answer.await,
                Err(fault) => Problem(fault).into_response(),
            }
        })
    }
}

/// A handler with its method.
#[derive(Clone)]
pub(crate) struct Endpoint {
    method: MethodFilter,
    /// Whether it changes nothing.
    is_read: bool,
    call: Call,
}

/// A line of the table of routes. There is none without an operation.
pub(crate) struct Line {
    pub(crate) path: &'static str,
    pub(crate) endpoint: Endpoint,
    pub(crate) operation: &'static Operation,
}

impl Endpoint {
    pub(crate) fn new<T>(method: MethodFilter, is_read: bool, handler: impl Handles<T>) -> Self {
        Self { method, is_read, call: Arc::new(move |request, app| handler.clone().call(request, app)) }
    }

    /// Where it stands.
    pub(crate) fn route(&self, path: &'static str, kind: Kind, opening: Opening) -> Route {
        Route { path, is_read: self.is_read, kind, opening }
    }

    pub(crate) fn has_method_of(&self, other: &Self) -> bool {
        self.method == other.method
    }

    pub(crate) fn method(&self) -> Method {
        const NAMES: [(MethodFilter, Method); 5] = [
            (MethodFilter::GET, Method::GET),
            (MethodFilter::POST, Method::POST),
            (MethodFilter::PUT, Method::PUT),
            (MethodFilter::PATCH, Method::PATCH),
            (MethodFilter::DELETE, Method::DELETE),
        ];
        NAMES.into_iter().find(|it| it.0 == self.method).map_or(Method::OPTIONS, |it| it.1)
    }

    /// What axum routes to, with this method as well.
    pub(crate) fn add_to(self, router: MethodRouter<App>, route: Route) -> MethodRouter<App> {
        router.on(self.method, Placed { call: self.call, route })
    }
}

/// Reads, and `HEAD` besides.
pub(crate) fn get<T>(path: &'static str, handler: impl Handles<T>, operation: &'static Operation) -> Line {
    Line { path, endpoint: Endpoint::new(MethodFilter::GET, true, handler), operation }
}

pub(crate) fn post<T>(path: &'static str, handler: impl Handles<T>, operation: &'static Operation) -> Line {
    Line { path, endpoint: Endpoint::new(MethodFilter::POST, false, handler), operation }
}

/// A `POST` that changes nothing.
pub(crate) fn post_read<T>(path: &'static str, handler: impl Handles<T>, operation: &'static Operation) -> Line {
    Line { path, endpoint: Endpoint::new(MethodFilter::POST, true, handler), operation }
}

pub(crate) fn put<T>(path: &'static str, handler: impl Handles<T>, operation: &'static Operation) -> Line {
    Line { path, endpoint: Endpoint::new(MethodFilter::PUT, false, handler), operation }
}

pub(crate) fn patch<T>(path: &'static str, handler: impl Handles<T>, operation: &'static Operation) -> Line {
    Line { path, endpoint: Endpoint::new(MethodFilter::PATCH, false, handler), operation }
}

pub(crate) fn delete<T>(path: &'static str, handler: impl Handles<T>, operation: &'static Operation) -> Line {
    Line { path, endpoint: Endpoint::new(MethodFilter::DELETE, false, handler), operation }
}
