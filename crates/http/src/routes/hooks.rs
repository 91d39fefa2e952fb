//! A site's own code.

use crate::{
    content::hooks,
    endpoint::{Line, get, post, post_read},
    openapi::operations::hooks::*,
};

/// All of them.
pub(super) fn routes() -> Vec<Line> {
    vec![
        get("/_api/hooks/v1/versions", hooks::list, &HOOK_VERSION_LIST),
        post("/_api/hooks/v1/versions", hooks::deploy, &HOOK_VERSION_DEPLOY),
        post("/_api/hooks/v1/versions/{number}/activate", hooks::activate, &HOOK_VERSION_ACTIVATE),
        get("/_api/hooks/v1/log", hooks::log, &HOOK_LOG_LIST),
        post("/_api/hooks/v1/resume", hooks::resume, &HOOKS_RESUME),
        post_read("/_api/hooks/v1/try", hooks::run, &HOOK_TRY),
    ]
}
