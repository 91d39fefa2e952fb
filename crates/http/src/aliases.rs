//! The other names of our paths, in one table.
//!
//! The canonical path is the one of the specification (`/v2/items/query`). Public clients and REST
//! users send others, depending on the host they believe they talk to (docs/protocol/identity.md §1.2,
//! docs/protocol/content.md §1.1). The longest matching prefix wins, so the table may be read in any order.

use crate::subject::Subject;

const CONTENT: &[Subject] =
    &[Subject::Items, Subject::AsyncJobs, Subject::References, Subject::Collections, Subject::Indexes];
const PERMISSIONS: &[Subject] = &[Subject::Permissions];
const CMS: &[Subject] = &[Subject::Permissions, Subject::Tasks];
const SIGN_IN: &[Subject] = &[Subject::SignIn];
const VERIFICATION: &[Subject] = &[Subject::Verification];
const OAUTH: &[Subject] = &[Subject::Tokens, Subject::Redirects];
const REDIRECTS: &[Subject] = &[Subject::Redirects];
const SETTINGS: &[Subject] = &[Subject::Settings];
const MEMBERS: &[Subject] =
    &[Subject::Members, Subject::Roles, Subject::Badges, Subject::CustomFields, Subject::Relations, Subject::SignIn];

/// Prefix as sent, prefix of the canonical path, and the subjects whose calls clients send there. Calls of other
/// subjects answer there too; nothing is promised of that.
const ALIASES: &[(&str, &str, &[Subject])] = &[
    // Items, collections, indexes, backups.
    ("/wix-data/v2/", "/v2/", CONTENT),
    ("/_api/cloud-data/v2/", "/v2/", CONTENT),
    ("/_api/data/v2/", "/v2/", CONTENT),
    ("/data/v2/", "/v2/", CONTENT),
    ("/cloud-data/v2/", "/v2/", CONTENT),
    ("/wix-data/v1/items", "/v2/items", CONTENT),
    ("/wix-data/v1/bulk", "/v2/bulk", CONTENT),
    ("/wix-data/v1/collections", "/v2/collections", CONTENT),
    ("/wix-data/v1/backups", "/v2/backups", CONTENT),
    // Permissions, connections, sharing, tasks, movement jobs, scheduled workflows.
    ("/wix-data/v1/external-databases", "/v1/external-database-connections", PERMISSIONS),
    ("/wix-data/v1/", "/v1/", PERMISSIONS),
    ("/_api/cloud-data/v1/", "/v1/", PERMISSIONS),
    ("/_api/data/v1/", "/v1/", PERMISSIONS),
    ("/data/v1/", "/v1/", PERMISSIONS),
    ("/cms/v1/", "/v1/", CMS),
    ("/_api/autocms/v1/", "/v1/", CMS),
    ("/data-mover/v1/", "/v1/", PERMISSIONS),
    ("/data-move-scheduler/v1/", "/v1/", PERMISSIONS),
    // Authentication, recovery, verification.
    ("/_api/iam/authentication/", "/", SIGN_IN),
    ("/iam/authentication/", "/", SIGN_IN),
    ("/_api/iam/recovery/", "/", VERIFICATION),
    ("/_iam/recovery/", "/", VERIFICATION),
    ("/_api/iam/verification/", "/", VERIFICATION),
    ("/_api/iam/authentication/v1/logout", "/v1/logout", REDIRECTS),
    // OAuth.
    ("/_api/oauth2/", "/oauth2/", OAUTH),
    ("/v1/oauth/", "/oauth2/", OAUTH),
    ("/v1/token_info", "/oauth2/token-info", OAUTH),
    ("/oauth2/token_info", "/oauth2/token-info", OAUTH),
    // Sign-on policy and redirect session.
    ("/iam/signon/v1/", "/v1/", SETTINGS),
    ("/_api/redirects-api/", "/", REDIRECTS),
    ("/redirect-session/v1/", "/v1/", REDIRECTS),
    ("/headless/v1/", "/v1/", REDIRECTS),
    // Members.
    ("/_api/members/", "/members/", MEMBERS),
    ("/api/v1/members/", "/wix-sm/api/v1/auth/api/v1/members/", MEMBERS),
    ("/badges/v4/badge-assignments", "/badges/v4/assignments", MEMBERS),
    ("/badges/v4/bulk/badge-assignments/", "/badges/v4/bulk/assignments/", MEMBERS),
    ("/members/v1/wix-sm-webapp-proxy/v1/auth/", "/wix-sm/api/v1/auth/v1/auth/", MEMBERS),
    ("/identity/members/v1/auth/members/", "/wix-sm/api/v1/auth/v1/auth/members/", MEMBERS),
];

/// The canonical path and query, when `path_and_query` begins with an alias.
pub(crate) fn canonical(path_and_query: &str) -> Option<String> {
    let aliases = ALIASES.iter().filter(|(alias, ..)| path_and_query.starts_with(alias));
    let (alias, prefix, _) = aliases.max_by_key(|(alias, ..)| alias.len())?;
    Some(format!("{prefix}{}", &path_and_query[alias.len()..]))
}

/// The other names of a path of a call of this subject: its other spellings, and what clients send for each.
pub(crate) fn all(subject: Subject, path: &str, spellings: Vec<String>) -> Vec<String> {
    let sent: Vec<String> =
        [path].into_iter().chain(spellings.iter().map(String::as_str)).flat_map(|it| of(subject, it)).collect();
    spellings.into_iter().chain(sent).collect()
}

/// What clients of this subject send for a path.
fn of(subject: Subject, path: &str) -> impl Iterator<Item = String> + '_ {
    let aliases = ALIASES.iter().filter(move |(.., subjects)| subjects.contains(&subject));
    let names = aliases.filter_map(move |(alias, prefix, _)| Some(format!("{alias}{}", path.strip_prefix(prefix)?)));
    // A longer alias may stand for something else.
    names.filter(move |it| canonical(it).as_deref() == Some(path))
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
        for (_, prefix, _) in ALIASES {
            assert_eq!(canonical(&format!("{prefix}x")), None, "{prefix}");
        }
    }

    #[test]
    fn names_of_a_path_lead_to_it() {
        let names = |subject, path| of(subject, path).collect::<Vec<_>>();
        let ours = ["/_api/iam/authentication/v2/login", "/iam/authentication/v2/login"];
        assert_eq!(names(Subject::SignIn, "/v2/login"), ours);
        assert!(names(Subject::Items, "/v2/items/query").contains(&"/wix-data/v1/items/query".to_owned()));
        assert!(names(Subject::Items, "/members/v1/members").is_empty());
    }
}
