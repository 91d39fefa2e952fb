//! The table of routes as axum takes it, and as those who call it read it. What it routes to is in `routes/`.

use crate::{
    App, Call, Problem,
    content::not_supported,
    endpoint::{Endpoint, get},
    openapi::{Document, Listed, operations::server::*, served, site_types},
    opening::Opening,
    routes::{Group, NOT_BUILT, groups},
    traffic::{Kind, Route},
};
use axum::{
    Router,
    extract::{RawQuery, State},
    http::HeaderMap,
    response::Response,
    routing::{MethodRouter, any},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

/// What lies at a path that ends in the id of any item, or any collection.
const ITEM: &str = "/v2/items/{*id}";
const COLLECTION: &str = "/v2/collections/{*id}";

/// All routes. What answers other paths is the edge's business.
pub(crate) fn router() -> Router<App> {
    let mut paths: BTreeMap<&'static str, Vec<(Endpoint, Route)>> = BTreeMap::new();
    for Group { kind, opening, lines } in table() {
        for line in lines {
            let route = line.endpoint.route(line.path, kind, opening);
            paths.entry(line.path).or_default().push((line.endpoint, route));
        }
    }
    for any_id in [ITEM, COLLECTION] {
        let named = paths.get(any_id).cloned().unwrap_or_default();
        for (path, endpoints) in paths.iter_mut().filter(|it| parent(it.0) == parent(any_id)) {
            add_named(path, endpoints, &named);
        }
    }
    let built = paths.into_iter().fold(Router::new(), |router, (path, endpoints)| {
        let methods =
            endpoints.into_iter().fold(MethodRouter::new(), |it, (endpoint, route)| endpoint.add_to(it, route));
        router.route(path, methods)
    });
    NOT_BUILT.iter().copied().fold(built, |router, path| router.route(path, any(not_supported)))
}

/// An item or a collection whose id is the name of a call stands at the call's path, with the methods that the call
/// doesn't have.
fn add_named(path: &'static str, endpoints: &mut Vec<(Endpoint, Route)>, named: &[(Endpoint, Route)]) {
    for (endpoint, route) in named {
        if !endpoints.iter().any(|it| it.0.has_method_of(endpoint)) {
            endpoints.push((endpoint.clone(), Route { path, ..*route }));
        }
    }
}

/// Whether a path lies where calls do: then no page is meant by it, even if nothing answers.
pub(crate) fn is_api(path: &str) -> bool {
    static SEGMENTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let built = operations().into_iter().map(|it| it.route.path);
        built.chain(NOT_BUILT.iter().copied()).filter_map(|it| first_segment(it)).collect()
    });
    first_segment(path).is_some_and(|it| SEGMENTS.contains(it))
}

/// The first segment of a path, if something lies beneath it.
fn first_segment(path: &str) -> Option<&str> {
    path.strip_prefix('/')?.split_once('/').map(|it| it.0)
}

/// A path without its last segment.
fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|it| it.0)
}

/// Each method of each route that is built, with what it is for those who call it, in the order of the table.
pub fn operations() -> Vec<Listed> {
    let of_group = |Group { kind, opening, lines }: Group| {
        lines.into_iter().map(move |line| Listed {
            method: line.endpoint.method(),
            route: line.endpoint.route(line.path, kind, opening),
            operation: line.operation,
        })
    };
    table().into_iter().flat_map(of_group).collect()
}

/// The document of the interface (decision 27).
pub fn document() -> &'static Document {
    static DOCUMENT: LazyLock<Document> = LazyLock::new(|| Document::of(&operations(), NOT_BUILT));
    &DOCUMENT
}

/// The groups of the table, and what describes them.
fn table() -> Vec<Group> {
    let description = vec![
        get("/openapi.json", document_get, &DOCUMENT_GET),
        get("/docs/api", reference_page_get, &REFERENCE_PAGE_GET),
    ];
    let of_site = vec![get("/_api/content/v1/openapi.json", site_document_get, &SITE_DOCUMENT_GET)];
    let mut groups = groups();
    groups.push(Group { kind: Kind::Public, opening: Opening::Whole, lines: description });
    groups.push(Group { kind: Kind::Content, opening: Opening::Collections, lines: of_site });
    groups
}

/// `GET /openapi.json`.
async fn document_get(headers: HeaderMap) -> Response {
    served::json(document(), &headers)
}

/// `GET /docs/api[?filter=…]`: the document as a page for people.
async fn reference_page_get(headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    served::page(document(), query.as_deref().unwrap_or_default(), &headers)
}

/// `GET /_api/content/v1/openapi.json`: the document with the types of the collections that the caller may read.
async fn site_document_get(State(app): State<App>, call: Call) -> Result<Response, Problem> {
    site_types::answer(&app, &call, document()).await
}
