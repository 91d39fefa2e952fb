//! What answers at a path: a handler for each method, all behind one type.
//!
//! axum makes its routing again for each type of handler, sixty functions and more with the whole future in
//! their names. For all our handlers together that took most of the time in which this crate compiles, so it
//! sees one type only. A call costs one more jump through a pointer.

use crate::App;
use axum::{
    extract::Request,
    handler::Handler,
    response::Response,
    routing::{MethodFilter, MethodRouter},
};
use std::{pin::Pin, sync::Arc};

/// What axum makes of the future of an `async fn`.
type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler as functions are, with arguments of types `T`.
pub(crate) trait Handles<T>: Handler<T, App, Future = ResponseFuture> + Sync {}

impl<T, H: Handler<T, App, Future = ResponseFuture> + Sync> Handles<T> for H {}

#[derive(Clone)]
struct Endpoint(Arc<dyn Fn(Request, App) -> ResponseFuture + Send + Sync>);

impl Endpoint {
    fn new<T>(handler: impl Handles<T>) -> Self {
        Self(Arc::new(move |request, app| handler.clone().call(request, app)))
    }
}

impl Handler<(), App> for Endpoint {
    type Future = ResponseFuture;

    fn call(self, request: Request, app: App) -> ResponseFuture {
        (self.0)(request, app)
    }
}

/// The handlers of one path.
pub(crate) struct Endpoints(MethodRouter<App>);

impl Endpoints {
    /// Reads, and `HEAD` besides.
    pub(crate) fn get<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::GET, handler)
    }

    pub(crate) fn post<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::POST, handler)
    }

    pub(crate) fn put<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::PUT, handler)
    }

    pub(crate) fn patch<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::PATCH, handler)
    }

    pub(crate) fn delete<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::DELETE, handler)
    }

    fn on<T>(self, method: MethodFilter, handler: impl Handles<T>) -> Self {
        Self(self.0.on(method, Endpoint::new(handler)))
    }
}

impl From<Endpoints> for MethodRouter<App> {
    fn from(endpoints: Endpoints) -> Self {
        endpoints.0
    }
}

pub(crate) fn get<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(MethodRouter::new()).get(handler)
}

pub(crate) fn post<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(MethodRouter::new()).post(handler)
}

pub(crate) fn patch<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(MethodRouter::new()).patch(handler)
}

pub(crate) fn delete<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(MethodRouter::new()).delete(handler)
}
