//! The other names of our paths, in one table.
//!
//! The canonical path is the one of the specification (`/v2/items/query`). Public clients and REST
//! users send others, depending on the host they believe they talk to (docs/protocol/identity.md §1.2,
//! docs/protocol/content.md §1.1). The longest matching prefix wins, so the table may be read in any order.

/// Prefix as sent, prefix of the canonical path.
const ALIASES: &[(&str, &str)] = &[
    // Items, collections, indexes, backups.
    ("/wix-data/v2/", "/v2/"),
    ("/_api/cloud-data/v2/", "/v2/"),
    ("/_api/data/v2/", "/v2/"),
    ("/data/v2/", "/v2/"),
    ("/cloud-data/v2/", "/v2/"),
    ("/wix-data/v1/items", "/v2/items"),
    ("/wix-data/v1/bulk", "/v2/bulk"),
    ("/wix-data/v1/collections", "/v2/collections"),
    ("/wix-data/v1/backups", "/v2/backups"),
    // Permissions, connections, sharing, tasks, movement jobs, scheduled workflows.
    ("/wix-data/v1/external-databases", "/v1/external-database-connections"),
    ("/wix-data/v1/", "/v1/"),
    ("/_api/cloud-data/v1/", "/v1/"),
    ("/_api/data/v1/", "/v1/"),
    ("/data/v1/", "/v1/"),
    ("/cms/v1/", "/v1/"),
    ("/_api/autocms/v1/", "/v1/"),
    ("/data-mover/v1/", "/v1/"),
    ("/data-move-scheduler/v1/", "/v1/"),
    // Authentication, recovery, verification.
    ("/_api/iam/authentication/", "/"),
    ("/iam/authentication/", "/"),
    ("/_api/iam/recovery/", "/"),
    ("/_iam/recovery/", "/"),
    ("/_api/iam/verification/", "/"),
    // OAuth.
    ("/_api/oauth2/", "/oauth2/"),
    ("/v1/oauth/", "/oauth2/"),
    ("/v1/token_info", "/oauth2/token-info"),
    ("/oauth2/token_info", "/oauth2/token-info"),
    // Sign-on policy and redirect session.
    ("/iam/signon/v1/", "/v1/"),
    ("/_api/redirects-api/", "/"),
    ("/redirect-session/v1/", "/v1/"),
    ("/headless/v1/", "/v1/"),
    // Members.
    ("/_api/members/", "/members/"),
    ("/api/v1/members/", "/wix-sm/api/v1/auth/api/v1/members/"),
    ("/badges/v4/badge-assignments", "/badges/v4/assignments"),
    ("/badges/v4/bulk/badge-assignments/", "/badges/v4/bulk/assignments/"),
    ("/members/v1/wix-sm-webapp-proxy/v1/auth/", "/wix-sm/api/v1/auth/v1/auth/"),
    ("/identity/members/v1/auth/members/", "/wix-sm/api/v1/auth/v1/auth/members/"),
];

/// The canonical path and query, when `path_and_query` begins with an alias.
pub(crate) fn canonical(path_and_query: &str) -> Option<String> {
    let aliases = ALIASES.iter().filter(|(alias, _)| path_and_query.starts_with(alias));
    let (alias, prefix) = aliases.max_by_key(|(alias, _)| alias.len())?;
    Some(format!("{prefix}{}", &path_and_query[alias.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_reach_the_canonical_path() {
        for (sent, wants) in [
            ("/wix-data/v2/items/query?.r=e30", "/v2/items/query?.r=e30"),
            ("/wix-data/v1/items/x", "/v2/items/x"),
            ("/wix-data/v1/permissions", "/v1/permissions"),
            ("/_api/cloud-data/v2/collections", "/v2/collections"),
            ("/_api/iam/authentication/v2/login", "/v2/login"),
            ("/_api/oauth2/token", "/oauth2/token"),
            ("/headless/v1/redirect-session", "/v1/redirect-session"),
        ] {
            assert_eq!(canonical(sent).as_deref(), Some(wants));
        }
        assert_eq!(canonical("/v2/items/query"), None);
    }

    #[test]
    fn alias_never_leads_to_another_alias() {
        for (_, prefix) in ALIASES {
            assert_eq!(canonical(&format!("{prefix}x")), None, "{prefix}");
        }
    }
}
