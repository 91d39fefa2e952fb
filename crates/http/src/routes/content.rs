//! Items, links between them, collections, indexes and permissions.
//!
//! Ids may hold slashes and arrive unencoded (docs/protocol/content.md §1.4), so paths that end in an id
//! take everything behind the prefix and the handler reads the id from query or body.

use crate::{
    content::*,
    endpoint::{Line, delete, get, patch, post, post_read, put},
    openapi::operations::{collections::*, indexes::*, items::*, permissions::*, realtime::*, references::*, tasks::*},
};

/// All of them.
pub(super) fn routes() -> Vec<Line> {
    vec![
        // Items.
        post("/v2/items", items::insert, &ITEM_INSERT),
        get("/v2/items/", items::get, &ITEM_GET_BY_QUERY),
        get("/v2/items/query", read::query_get, &ITEM_QUERY_BY_GET),
        post_read("/v2/items/query", read::query, &ITEM_QUERY),
        post_read("/v2/items/count", read::count, &ITEM_COUNT),
        post_read("/v2/items/query-distinct-values", read::distinct, &ITEM_DISTINCT_QUERY),
        post_read("/v2/items/aggregate", read::aggregate, &ITEM_AGGREGATE),
        post_read("/v2/items/aggregate-pipeline", read::aggregate_pipeline, &ITEM_PIPELINE),
        post_read("/v2/items/search", read::search, &ITEM_SEARCH),
        get("/_api/search/v1/lag", read::search_lag, &SEARCH_LAG_GET),
        post("/v2/items/update", items::update, &ITEM_UPDATE),
        post("/v2/items/save", items::save, &ITEM_SAVE),
        post("/v2/items/patch", items::patch, &ITEM_PATCH),
        post("/v2/items/remove", items::remove, &ITEM_REMOVE),
        post("/v2/items/create-draft", items::create_draft, &ITEM_DRAFT_CREATE),
        post("/v2/items/publish-draft", items::publish_draft, &ITEM_DRAFT_PUBLISH),
        post("/v2/items/unpublish", items::unpublish, &ITEM_UNPUBLISH),
        post("/v2/items/truncate", items::truncate, &ITEM_TRUNCATE),
        get("/v2/items/{*id}", items::get, &ITEM_GET),
        put("/v2/items/{*id}", items::update, &ITEM_PUT),
        patch("/v2/items/{*id}", items::patch_at, &ITEM_PATCH_BY_ID),
        delete("/v2/items/{*id}", items::delete, &ITEM_DELETE),
        post("/v2/bulk/items/insert", bulk::insert, &ITEM_BULK_INSERT),
        post("/v2/bulk/items/update", bulk::update, &ITEM_BULK_UPDATE),
        post("/v2/bulk/items/save", bulk::save, &ITEM_BULK_SAVE),
        post("/v2/bulk/items/patch", bulk::patch, &ITEM_BULK_PATCH),
        post("/v2/bulk/items/remove", bulk::remove, &ITEM_BULK_REMOVE),
        post("/v2/bulk/items/async-patch-by-filter", async_jobs::patch, &ITEM_PATCH_BY_FILTER),
        post("/v2/bulk/items/async-remove-by-filter", async_jobs::remove, &ITEM_REMOVE_BY_FILTER),
        get("/v2/async-jobs/{id}/status", async_jobs::status, &ASYNC_JOB_STATUS_GET),
        post("/v1/tasks", tasks::create, &TASK_CREATE),
        get("/v1/tasks", tasks::list, &TASK_LIST),
        get("/v1/tasks/{*id}", tasks::get, &TASK_GET),
        delete("/v1/tasks/{*id}", tasks::cancel, &TASK_CANCEL),
        // Links between items.
        post("/v2/bulk/items/insert-references", references::insert, &REFERENCE_BULK_INSERT),
        post("/v2/bulk/items/remove-references", references::remove, &REFERENCE_BULK_REMOVE),
        post("/v2/items/replace-references", references::replace, &REFERENCE_REPLACE),
        post_read("/v2/items/is-referenced", references::is_referenced, &REFERENCE_CHECK),
        post_read("/v2/items/query-referenced", references::query, &REFERENCED_ITEM_QUERY),
        // Collections.
        post("/v2/collections", collections::create, &COLLECTION_CREATE),
        get("/v2/collections", collections::list, &COLLECTION_LIST),
        put("/v2/collections", collections::update, &COLLECTION_UPDATE),
        post("/v2/collections/create-field", collections::create_field, &FIELD_CREATE),
        post("/v2/collections/update-field", collections::update_field, &FIELD_UPDATE),
        post("/v2/collections/delete-field", collections::delete_field, &FIELD_DELETE),
        post("/v2/collections/add-plugin", collections::add_plugin, &PLUGIN_ADD),
        post("/v2/collections/delete-plugin", collections::delete_plugin, &PLUGIN_DELETE),
        post("/v2/collections/add-publish-plugin", collections::add_typed_plugin, &PUBLISH_PLUGIN_ADD),
        post("/v2/collections/delete-publish-plugin", collections::delete_typed_plugin, &PUBLISH_PLUGIN_DELETE),
        post("/v2/collections/add-urlized-plugin", collections::add_typed_plugin, &URLIZED_PLUGIN_ADD),
        post("/v2/collections/delete-urlized-plugin", collections::delete_typed_plugin, &URLIZED_PLUGIN_DELETE),
        post("/v2/collections/add-multilingual-plugin", collections::add_typed_plugin, &MULTILINGUAL_PLUGIN_ADD),
        post(
            "/v2/collections/delete-multilingual-plugin",
            collections::delete_typed_plugin,
            &MULTILINGUAL_PLUGIN_DELETE,
        ),
        post("/v2/collections/add-cms-plugin", collections::add_typed_plugin, &CMS_PLUGIN_ADD),
        post("/v2/collections/delete-cms-plugin", collections::delete_typed_plugin, &CMS_PLUGIN_DELETE),
        post("/v2/collections/add-catalog-plugin", collections::add_typed_plugin, &CATALOG_PLUGIN_ADD),
        post("/v2/collections/delete-catalog-plugin", collections::delete_typed_plugin, &CATALOG_PLUGIN_DELETE),
        post("/v2/collections/add-draft-items-plugin", collections::add_typed_plugin, &DRAFT_ITEMS_PLUGIN_ADD),
        post("/v2/collections/delete-draft-items-plugin", collections::delete_typed_plugin, &DRAFT_ITEMS_PLUGIN_DELETE),
        post("/v2/collections/restore/{*id}", collections::restore, &COLLECTION_RESTORE),
        get("/v2/collections/{*id}", collections::get, &COLLECTION_GET),
        patch("/v2/collections/{*id}", collections::patch, &COLLECTION_PATCH),
        delete("/v2/collections/{*id}", collections::delete, &COLLECTION_DELETE),
        // Indexes.
        get("/v2/indexes", indexes::list, &INDEX_LIST),
        post("/v2/indexes", indexes::create, &INDEX_CREATE),
        delete("/v2/indexes", indexes::drop, &INDEX_DROP),
        get("/v2/indexes/available", indexes::available, &INDEX_AVAILABLE_GET),
        // Permissions.
        get("/v1/permissions", permissions::get, &PERMISSIONS_GET),
        post("/v1/permissions", permissions::update, &PERMISSIONS_UPDATE),
        get("/v1/permissions/current", permissions::mine, &PERMISSIONS_GET_MY),
        post("/v1/permissions/special", permissions::add, &SPECIAL_PERMISSION_CREATE),
        post("/v1/permissions/special/{*id}", permissions::change, &SPECIAL_PERMISSION_UPDATE),
        delete("/v1/permissions/special/{*id}", permissions::remove, &SPECIAL_PERMISSION_DELETE),
        // Items that are followed.
        post_read("/_api/realtime/v1/stream", realtime::stream, &REALTIME_STREAM),
    ]
}
