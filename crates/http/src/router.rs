//! Every route, on one page, by its canonical path. Other prefixes are in `aliases.rs`.
//!
//! Ids may hold slashes and arrive unencoded (protocol/content.md 1.4), so paths that end in an id
//! take everything behind the prefix and the handler reads the id from query or body.

use crate::{App, content::*, edge, identity, site};
use axum::{
    Router,
    routing::{MethodRouter, any, get, post},
};

pub(crate) fn router(app: App) -> Router {
    let mut router = Router::new();
    for (path, methods) in content().into_iter().chain(identity::routes()).chain(server()) {
        router = router.route(path, methods);
    }
    for path in NOT_BUILT {
        router = router.route(path, any(not_supported));
    }
    router.fallback(edge::fallback).method_not_allowed_fallback(edge::method_not_allowed).with_state(app)
}

type Routes = Vec<(&'static str, MethodRouter<App>)>;

fn server() -> Routes {
    vec![
        ("/healthz", get(site::health)),
        ("/readyz", get(site::ready)),
        ("/_api/site/v1/public-settings", get(site::public_settings)),
    ]
}

fn content() -> Routes {
    vec![
        // Items.
        ("/v2/items", post(items::insert)),
        ("/v2/items/", get(items::get)),
        ("/v2/items/query", get(read::query_get).post(read::query)),
        ("/v2/items/count", post(read::count)),
        ("/v2/items/query-distinct-values", post(read::distinct)),
        ("/v2/items/update", post(items::update)),
        ("/v2/items/save", post(items::save)),
        ("/v2/items/patch", post(items::patch)),
        ("/v2/items/remove", post(items::remove)),
        ("/v2/items/truncate", post(items::truncate)),
        ("/v2/items/{*id}", get(items::get).put(items::update).patch(items::patch_at).delete(items::delete)),
        ("/v2/bulk/items/insert", post(bulk::insert)),
        ("/v2/bulk/items/update", post(bulk::update)),
        ("/v2/bulk/items/save", post(bulk::save)),
        ("/v2/bulk/items/patch", post(bulk::patch)),
        ("/v2/bulk/items/remove", post(bulk::remove)),
        // Links between items.
        ("/v2/bulk/items/insert-references", post(references::insert)),
        ("/v2/bulk/items/remove-references", post(references::remove)),
        ("/v2/items/replace-references", post(references::replace)),
        ("/v2/items/is-referenced", post(references::is_referenced)),
        ("/v2/items/query-referenced", post(references::query)),
        // Collections.
        ("/v2/collections", post(collections::create).get(collections::list).put(collections::update)),
        ("/v2/collections/create-field", post(collections::create_field)),
        ("/v2/collections/update-field", post(collections::update_field)),
        ("/v2/collections/delete-field", post(collections::delete_field)),
        ("/v2/collections/add-plugin", post(collections::add_plugin)),
        ("/v2/collections/delete-plugin", post(collections::delete_plugin)),
        ("/v2/collections/add-publish-plugin", post(collections::add_typed_plugin)),
        ("/v2/collections/delete-publish-plugin", post(collections::delete_typed_plugin)),
        ("/v2/collections/add-urlized-plugin", post(collections::add_typed_plugin)),
        ("/v2/collections/delete-urlized-plugin", post(collections::delete_typed_plugin)),
        ("/v2/collections/add-multilingual-plugin", post(collections::add_typed_plugin)),
        ("/v2/collections/delete-multilingual-plugin", post(collections::delete_typed_plugin)),
        ("/v2/collections/add-cms-plugin", post(collections::add_typed_plugin)),
        ("/v2/collections/delete-cms-plugin", post(collections::delete_typed_plugin)),
        ("/v2/collections/add-catalog-plugin", post(collections::add_typed_plugin)),
        ("/v2/collections/delete-catalog-plugin", post(collections::delete_typed_plugin)),
        ("/v2/collections/add-draft-items-plugin", post(collections::add_typed_plugin)),
        ("/v2/collections/delete-draft-items-plugin", post(collections::delete_typed_plugin)),
        ("/v2/collections/restore/{*id}", post(collections::restore)),
        ("/v2/collections/{*id}", get(collections::get).patch(collections::patch).delete(collections::delete)),
        // Indexes.
        ("/v2/indexes", get(indexes::list).post(indexes::create).delete(indexes::drop)),
        ("/v2/indexes/available", get(indexes::available)),
        // Permissions.
        ("/v1/permissions", get(permissions::get).post(permissions::update)),
        ("/v1/permissions/current", get(permissions::mine)),
        ("/v1/permissions/special", post(permissions::add)),
        ("/v1/permissions/special/{*id}", post(permissions::change).delete(permissions::remove)),
    ]
}

/// Calls of the protocol that answer WDE0119 until they are built.
const NOT_BUILT: &[&str] = &[
    "/v2/items/aggregate",
    "/v2/items/aggregate-pipeline",
    "/v2/items/search",
    "/v2/items/create-draft",
    "/v2/items/publish-draft",
    "/v2/items/unpublish",
    "/v2/bulk/items/async-patch-by-filter",
    "/v2/bulk/items/async-remove-by-filter",
    "/v2/async-jobs/{*job}",
    "/v2/backups",
    "/v2/backups/{*rest}",
    "/v1/tasks",
    "/v1/tasks/{*task}",
    "/v1/jobs",
    "/v1/jobs/{*rest}",
    "/v1/temporary-files/upload-url",
    "/v1/data-collection-sharing/{*rest}",
    "/v1/external-database-connections",
    "/v1/external-database-connections/{*name}",
    "/v1/scheduled-data-workflows",
    "/v1/scheduled-data-workflows/{*rest}",
    "/graphql/{version}",
];
