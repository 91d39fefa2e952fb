//! The members of a site.

use crate::{
    endpoint::{Line, delete, get, patch, post, post_read},
    identity::*,
    openapi::operations::{
        deletion::DELETION_UNDO_BY_OWNER, factors::FACTORS_RESET, members::*, sign_in::*, tokens::*,
    },
};

/// All of them.
pub(super) fn routes() -> Vec<Line> {
    vec![
        get("/oauth2/user-info", token::user_info, &USER_INFO_GET),
        post("/_api/identity/v1/members/{id}/refuse-password", authentication::refuse_password, &PASSWORD_REFUSE),
        delete("/_api/identity/v1/members/{id}/factors", factors::reset, &FACTORS_RESET),
        post("/_api/identity/v1/members/{id}/keep", deletion::keep, &DELETION_UNDO_BY_OWNER),
        get("/members/v1/members", members::list, &MEMBER_LIST),
        post("/members/v1/members", members::create, &MEMBER_CREATE),
        get("/members/v1/members/my", members::my, &MEMBER_GET_MY),
        delete("/members/v1/members/my", members::delete_my, &MEMBER_DELETE_MY),
        post("/members/v1/members/my/slug", members::my_slug, &MEMBER_SLUG_UPDATE_MY),
        post_read("/members/v1/members/query", members::query, &MEMBER_QUERY),
        post("/members/v1/members/join-community", members::join, &COMMUNITY_JOIN),
        post("/members/v1/members/leave-community", members::leave, &COMMUNITY_LEAVE),
        post("/members/v1/members/bulk/delete", members::bulk_delete, &MEMBER_BULK_DELETE),
        post("/members/v1/members/bulk/delete-by-filter", members::delete_many, &MEMBER_BULK_DELETE_BY_FILTER),
        post("/members/v1/members/bulk/approve-by-filter", members::approve_many, &MEMBER_BULK_APPROVE_BY_FILTER),
        post("/members/v1/members/bulk/block-by-filter", members::block_many, &MEMBER_BULK_BLOCK_BY_FILTER),
        get("/members/v1/members/{id}", members::get, &MEMBER_GET),
        patch("/members/v1/members/{id}", members::update, &MEMBER_UPDATE),
        delete("/members/v1/members/{id}", members::delete, &MEMBER_DELETE),
        post("/members/v1/members/{id}/slug", members::slug, &MEMBER_SLUG_UPDATE),
        post("/members/v1/members/{id}/approve", members::approve, &MEMBER_APPROVE),
        post("/members/v1/members/{id}/block", members::block, &MEMBER_BLOCK),
        post("/members/v1/members/{id}/disconnect", members::disconnect, &MEMBER_DISCONNECT),
        post("/members/v1/members/{id}/mute", members::mute, &MEMBER_MUTE),
        post("/members/v1/members/{id}/unmute", members::unmute, &MEMBER_UNMUTE),
        delete("/members/v1/members/{id}/phones", members::clear_phones, &MEMBER_PHONES_DELETE),
        delete("/members/v1/members/{id}/emails", members::clear_emails, &MEMBER_EMAILS_DELETE),
        delete("/members/v1/members/{id}/addresses", members::clear_addresses, &MEMBER_ADDRESSES_DELETE),
        post_read("/members/v1/user-members/query", members::user_members, &USER_MEMBER_QUERY),
        patch(
            "/wix-sm/api/v1/auth/api/v1/members/{id}/change-login-email",
            member_auth::change_login_email,
            &MEMBER_LOGIN_EMAIL_UPDATE,
        ),
        post("/wix-sm/api/v1/auth/api/v1/members/approve", member_auth::approve, &MEMBER_APPROVE_BY_ANY),
        post("/wix-sm/api/v1/auth/api/v1/members/block", member_auth::block, &MEMBER_BLOCK_BY_ANY),
    ]
}
