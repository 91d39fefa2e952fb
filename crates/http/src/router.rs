//! Every route, on one page, by its canonical path. Other prefixes are in `aliases.rs`.
//!
//! Ids may hold slashes and arrive unencoded (docs/protocol/content.md §1.4), so paths that end in an id
//! take everything behind the prefix and the handler reads the id from query or body.

use crate::{
    App,
    content::*,
    endpoint::{Endpoints, delete, get, patch, post, post_read},
    identity::*,
    opening::Opening,
    site,
    traffic::{Kind, Route},
};
use axum::{Router, http::Method, routing::any};
use std::{collections::BTreeSet, sync::LazyLock};
use stoa_kernel::Area;

/// All routes. What answers other paths is the edge's business.
pub(crate) fn router() -> Router<App> {
    let mut router = Router::new();
    for (path, kind, opening, methods) in routes() {
        router = router.route(path, or_named(path, methods).at(path, kind, opening));
    }
    for path in NOT_BUILT {
        let methods = match path.starts_with("/v2/items/") {
            true => post(not_supported).get(items::get_or_not_supported).or(item()).at(
                path,
                Kind::Content,
                Opening::Collections,
            ),
            false => any(not_supported),
        };
        router = router.route(path, methods);
    }
    router
}

/// Whether a path lies where calls do: then no page is meant by it, even if nothing answers.
pub(crate) fn is_api(path: &str) -> bool {
    static SEGMENTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let paths = routes().map(|it| it.0).chain(NOT_BUILT.iter().copied());
        paths.filter_map(|it| first_segment(it)).collect()
    });
    first_segment(path).is_some_and(|it| SEGMENTS.contains(it))
}

/// The first segment of a path, if something lies beneath it.
fn first_segment(path: &str) -> Option<&str> {
    path.strip_prefix('/')?.split_once('/').map(|it| it.0)
}

/// An item or a collection whose id is the name of a call stands at the call's path.
fn or_named(path: &str, call: Endpoints) -> Endpoints {
    match path.rsplit_once('/') {
        Some(("/v2/items", _)) => call.or(item()),
        Some(("/v2/collections", _)) => call.or(collection()),
        _ => call,
    }
}

fn item() -> Endpoints {
    get(items::get).put(items::update).patch(items::patch_at).delete(items::delete)
}

fn collection() -> Endpoints {
    get(collections::get).patch(collections::patch).delete(collections::delete)
}

type Routes = Vec<(&'static str, Endpoints)>;

/// Each method of each route that is built, for whom a test asks all of them.
pub fn route_list() -> Vec<(Method, Route)> {
    let listed = |(path, kind, opening, methods): (&'static str, Kind, Opening, Endpoints)| {
        let methods: Vec<_> = methods.methods().collect();
        methods.into_iter().map(move |(method, is_read)| (method, Route { path, is_read, kind, opening }))
    };
    routes().flat_map(listed).collect()
}

fn routes() -> impl Iterator<Item = (&'static str, Kind, Opening, Endpoints)> {
    let groups = [
        (Kind::Public, Opening::Whole, server()),
        (Kind::Identity, Opening::Whole, account()),
        (Kind::Identity, Opening::Area(Area::Site), settings()),
        (Kind::Identity, Opening::Area(Area::Members), member_routes()),
        (Kind::Identity, Opening::Area(Area::Members), community_routes()),
        (Kind::Content, Opening::Collections, content()),
    ];
    let each = |(kind, opening, routes): (Kind, Opening, Routes)| {
        routes.into_iter().map(move |(path, methods)| (path, kind, opening, methods))
    };
    groups.into_iter().flat_map(each)
}

fn server() -> Routes {
    vec![
        ("/healthz", get(site::health)),
        ("/readyz", get(site::ready)),
        ("/robots.txt", get(site::robots)),
        ("/_api/site/v1/public-settings", get(site::public_settings)),
        ("/_api/apps/v1/{id}/jwks", get(app_key::jwks)),
    ]
}

fn account() -> Routes {
    vec![
        // Tokens.
        ("/oauth2/token", post(token::token)),
        ("/oauth/access", post(token::access)),
        ("/oauth2/revoke", post(token::revoke)),
        ("/oauth2/introspect", post(token::introspect)),
        ("/oauth2/token-info", post(token::token_info)),
        ("/oauth2/jwks", get(token::jwks)),
        // Registration and login.
        ("/v2/register", post(authentication::register)),
        ("/v2/login", post(authentication::login)),
        ("/v2/sign-on", post(authentication::sign_on)),
        ("/v2/change-password", post(authentication::change_password)),
        ("/_api/account/v1/captcha", get(authentication::captcha_challenge)),
        ("/v2/validate-email", post(authentication::validate_email)),
        ("/wix-sm/api/v1/auth/api/v1/auth/register", post(member_auth::register)),
        ("/wix-sm/api/v1/auth/api/v1/auth/login", post(member_auth::login)),
        ("/wix-sm/api/v1/auth/v1/auth/members/send-set-password-email", post(member_auth::send_set_password_email)),
        // Redirect sessions, the authorize address, signing out.
        ("/v1/redirect-session", post(redirect::create)),
        ("/installer/install", get(install::install)),
        ("/oauth2/authorize", get(authorize::authorize)),
        ("/v1/logout", get(logout::logout)),
        // Verification and recovery.
        ("/v1/auth/verify", post(verification::verify)),
        ("/v1/auth/resend", post(verification::resend)),
        ("/v1/start", post(verification::start)),
        ("/v1/Start", post(verification::start)),
        ("/v1/send-email", post(recovery::send_email)),
        ("/v1/activation-email", post(recovery::activation_email)),
        ("/v1/recover", post(recovery::recover)),
        // Members' sessions.
        ("/_api/identity/v1/sessions", get(sessions::list).delete(sessions::end_others)),
        ("/_api/identity/v1/sessions/{id}", delete(sessions::end)),
        // The account pages.
        ("/_api/account/v1/flows", post(flow::start)),
        ("/_api/account/v1/flows/{token}", get(flow::show).post(flow::answer)),
        ("/_api/account/v1/token", post(flow::token)),
        ("/_api/account/v1/recover", get(recovery::open)),
        ("/_api/account/v1/approvals", post(approval::get)),
        ("/_api/account/v1/approvals/decide", post(approval::decide)),
        ("/_api/account/v1/operator", get(operator_account::show)),
        ("/_api/account/v1/operator/password", post(operator_account::password)),
        ("/_api/account/v1/operator/sessions/end", post(operator_account::end)),
        ("/_api/account/v1/operator/sessions/end-others", post(operator_account::end_others)),
        ("/_api/account/v1/installs", post(install::get)),
        ("/_api/account/v1/installs/decide", post(install::decide)),
    ]
}

fn settings() -> Routes {
    vec![
        ("/v1/sign-on-policies", get(policy::get).patch(policy::update)),
        ("/_api/site/v1/pages", get(redirect::pages).put(redirect::pages_set)),
        ("/_api/identity/v1/audit", get(members::audit)),
    ]
}

fn member_routes() -> Routes {
    vec![
        ("/oauth2/user-info", get(token::user_info)),
        ("/_api/identity/v1/members/{id}/refuse-password", post(authentication::refuse_password)),
        ("/members/v1/members", get(members::list).post(members::create)),
        ("/members/v1/members/my", get(members::my).delete(members::delete_my)),
        ("/members/v1/members/my/slug", post(members::my_slug)),
        ("/members/v1/members/query", post_read(members::query)),
        ("/members/v1/members/join-community", post(members::join)),
        ("/members/v1/members/leave-community", post(members::leave)),
        ("/members/v1/members/bulk/delete", post(members::bulk_delete)),
        ("/members/v1/members/bulk/delete-by-filter", post(members::delete_many)),
        ("/members/v1/members/bulk/approve-by-filter", post(members::approve_many)),
        ("/members/v1/members/bulk/block-by-filter", post(members::block_many)),
        ("/members/v1/members/{id}", get(members::get).patch(members::update).delete(members::delete)),
        ("/members/v1/members/{id}/slug", post(members::slug)),
        ("/members/v1/members/{id}/approve", post(members::approve)),
        ("/members/v1/members/{id}/block", post(members::block)),
        ("/members/v1/members/{id}/disconnect", post(members::disconnect)),
        ("/members/v1/members/{id}/mute", post(members::mute)),
        ("/members/v1/members/{id}/unmute", post(members::unmute)),
        ("/members/v1/members/{id}/phones", delete(members::clear_phones)),
        ("/members/v1/members/{id}/emails", delete(members::clear_emails)),
        ("/members/v1/members/{id}/addresses", delete(members::clear_addresses)),
        ("/members/v1/user-members/query", post_read(members::user_members)),
        ("/wix-sm/api/v1/auth/api/v1/members/{id}/change-login-email", patch(member_auth::change_login_email)),
        ("/wix-sm/api/v1/auth/api/v1/members/approve", post(member_auth::approve)),
        ("/wix-sm/api/v1/auth/api/v1/members/block", post(member_auth::block)),
    ]
}

fn community_routes() -> Routes {
    use community::{about, assignment, badge, block, field, follow, privacy, report, role};
    vec![
        // Roles.
        ("/members/v1/roles/definitions", get(role::list).post(role::create)),
        ("/members/v1/roles/definitions/{key}", get(role::get).patch(role::update).delete(role::delete)),
        ("/members/v1/roles/members/query", post_read(role::query)),
        ("/members/v1/roles/members/{id}", get(role::of_member).post(role::assign).delete(role::unassign)),
        // Badges and their assignments.
        ("/members/v3/badges", get(badge::list).post(badge::create)),
        ("/members/v3/badges/order", patch(badge::order)),
        ("/members/v3/badges/members", post_read(badge::of_members)),
        ("/members/v3/badges/members/count", get(badge::counts)),
        ("/members/v3/badges/{id}", get(badge::get).patch(badge::update).delete(badge::delete)),
        ("/members/v3/badges/{id}/members", get(badge::members).post(badge::assign).delete(badge::unassign)),
        ("/badges/v4/badges", post(badge::create)),
        ("/badges/v4/badges/query", post_read(badge::list)),
        ("/badges/v4/badges/order", post(badge::order)),
        ("/badges/v4/badges/{id}", get(badge::get).patch(badge::update).delete(badge::delete)),
        ("/badges/v4/badges/{id}/move", post(badge::move_to)),
        ("/badges/v4/assignments", post(assignment::create)),
        ("/badges/v4/assignments/query", post_read(assignment::query)),
        ("/badges/v4/assignments/{id}", delete(assignment::delete)),
        ("/badges/v4/bulk/assignments/create", post(assignment::bulk_create)),
        ("/badges/v4/bulk/assignments/delete", post(assignment::bulk_delete)),
        ("/badges/v4/bulk/assignments/bulk-update-tags", post(assignment::tags)),
        ("/badges/v4/bulk/assignments/update-tags-by-filter", post(assignment::tags_by_filter)),
        // Custom fields.
        ("/members/v1/custom-fields", get(field::list).post(field::create)),
        ("/members/v1/custom-fields/order", post(field::order)),
        ("/members/v1/custom-fields/{id}", get(field::get).patch(field::update).delete(field::delete)),
        ("/members/v1/custom-fields/{id}/hide", post(field::hide)),
        ("/members/v1/custom-field-suggestions", get(field::suggestions)),
        ("/members/v1/custom-field-suggestions/query", post_read(field::suggestions)),
        ("/members/v1/custom-fields-applications", post(field::application_create)),
        ("/members/v1/custom-fields-applications/applications", post_read(field::application_list)),
        ("/members/v1/custom-fields-applications/members", post_read(field::of_members)),
        ("/members/v1/custom-fields-applications/roles", post_read(field::of_roles)),
        (
            "/members/v1/custom-fields-applications/{id}",
            get(field::application_get).patch(field::application_update).delete(field::application_delete),
        ),
        // Privacy.
        ("/members/v1/default-privacy-status", get(privacy::default).patch(privacy::default_set)),
        ("/members/v1/privacy-settings", get(privacy::get).post(privacy::set)),
        // Followers, blocks, reports, abouts.
        ("/members/v3/followers/my", get(follow::followers)),
        ("/members/v3/followers/my/following", get(follow::following)),
        ("/members/v3/followers/my/connections", post_read(follow::connections)),
        ("/members/v3/followers/{id}", get(follow::followers).post(follow::create).delete(follow::delete)),
        ("/members/v3/followers/{id}/following", get(follow::following)),
        ("/members/v3/followers/{id}/connections", post_read(follow::connections)),
        ("/members/v1/member-to-member-blocks/members/my", get(block::my).post(block::create)),
        ("/members/v1/member-to-member-blocks/members/my/{id}", delete(block::delete)),
        ("/members/v1/member-to-member-blocks/members/{id}", get(block::list)),
        ("/members/v1/member-reports", post(report::create)),
        ("/members/v1/member-reports/query", post_read(report::query)),
        ("/members/v1/member-reports/members", get(report::members)),
        ("/members/v1/member-reports/members/query", post_read(report::members)),
        ("/members/v1/member-reports/members/{id}", delete(report::delete)),
        ("/members/v2/abouts", post(about::create)),
        ("/members/v2/abouts/my", get(about::get)),
        ("/members/v2/abouts/query", post_read(about::query)),
        ("/members/v2/abouts/{id}", get(about::get).patch(about::update).delete(about::delete)),
    ]
}

fn content() -> Routes {
    vec![
        // Items.
        ("/v2/items", post(items::insert)),
        ("/v2/items/", get(items::get)),
        ("/v2/items/query", get(read::query_get).post_read(read::query)),
        ("/v2/items/count", post_read(read::count)),
        ("/v2/items/query-distinct-values", post_read(read::distinct)),
        ("/v2/items/update", post(items::update)),
        ("/v2/items/save", post(items::save)),
        ("/v2/items/patch", post(items::patch)),
        ("/v2/items/remove", post(items::remove)),
        ("/v2/items/truncate", post(items::truncate)),
        ("/v2/items/{*id}", item()),
        ("/v2/bulk/items/insert", post(bulk::insert)),
        ("/v2/bulk/items/update", post(bulk::update)),
        ("/v2/bulk/items/save", post(bulk::save)),
        ("/v2/bulk/items/patch", post(bulk::patch)),
        ("/v2/bulk/items/remove", post(bulk::remove)),
        // Links between items.
        ("/v2/bulk/items/insert-references", post(references::insert)),
        ("/v2/bulk/items/remove-references", post(references::remove)),
        ("/v2/items/replace-references", post(references::replace)),
        ("/v2/items/is-referenced", post_read(references::is_referenced)),
        ("/v2/items/query-referenced", post_read(references::query)),
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
        ("/v2/collections/{*id}", collection()),
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
