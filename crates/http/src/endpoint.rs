//! What answers at a path: a handler for each method, all behind one type.
//!
//! axum makes its routing again for each type of handler, sixty functions and more with the whole future in
//! their names. For all our handlers together that took most of the time in which this crate compiles, so it
//! sees one type only. A call costs one more jump through a pointer.

use crate::{
    App, Problem,
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
struct Endpoint {
    call: Call,
    route: Route,
}

impl Handler<(), App> for Endpoint {
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
                Ok(()) => answer.await,
                Err(fault) => Problem(fault).into_response(),
            }
        })
    }
}

/// The handlers of one path, with their methods and whether they only read.
pub(crate) struct Endpoints(Vec<(MethodFilter, bool, Call)>);

impl Endpoints {
    /// Reads, and `HEAD` besides.
    pub(crate) fn get<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::GET, true, handler)
    }

    pub(crate) fn post<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::POST, false, handler)
    }

    pub(crate) fn put<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::PUT, false, handler)
    }

    pub(crate) fn patch<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::PATCH, false, handler)
    }

    pub(crate) fn delete<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::DELETE, false, handler)
    }

    /// A `POST` that changes nothing.
    pub(crate) fn post_read<T>(self, handler: impl Handles<T>) -> Self {
        self.on(MethodFilter::POST, true, handler)
    }

    /// These, and of others the methods that these don't have.
    pub(crate) fn or(mut self, others: Self) -> Self {
        for other in others.0 {
            if self.0.iter().all(|it| it.0 != other.0) {
                self.0.push(other);
            }
        }
        self
    }

    /// What axum routes to by method.
    pub(crate) fn at(self, path: &'static str, kind: Kind, opening: Opening) -> MethodRouter<App> {
        let endpoints = self.0.into_iter();
        endpoints.fold(MethodRouter::new(), |router, (method, is_read, call)| {
            router.on(method, Endpoint { call, route: Route { path, is_read, kind, opening } })
        })
    }

    /// Its methods, and whether they only read.
    pub(crate) fn methods(&self) -> impl Iterator<Item = (Method, bool)> + '_ {
        const NAMES: [(MethodFilter, Method); 5] = [
            (MethodFilter::GET, Method::GET),
            (MethodFilter::POST, Method::POST),
            (MethodFilter::PUT, Method::PUT),
            (MethodFilter::PATCH, Method::PATCH),
            (MethodFilter::DELETE, Method::DELETE),
        ];
        let name = |filter| NAMES.into_iter().find(move |it| it.0 == filter).map(|it| it.1);
        self.0.iter().filter_map(move |it| Some((name(it.0)?, it.1)))
    }

    fn on<T>(mut self, method: MethodFilter, is_read: bool, handler: impl Handles<T>) -> Self {
        self.0.push((method, is_read, Arc::new(move |request, app| handler.clone().call(request, app))));
        self
    }
}

pub(crate) fn get<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(Vec::new()).get(handler)
}

pub(crate) fn post<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(Vec::new()).post(handler)
}

/// A `POST` that changes nothing.
pub(crate) fn post_read<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(Vec::new()).post_read(handler)
}

pub(crate) fn patch<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(Vec::new()).patch(handler)
}

pub(crate) fn delete<T>(handler: impl Handles<T>) -> Endpoints {
    Endpoints(Vec::new()).delete(handler)
}
