//! The document as it is kept: what it is now, and what it was at the last release.

use super::compare::losses;
use serde_json::Value;
use stoa_http::document;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
const RELEASED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi-released.json");
const CHANGELOG: &str = include_str!("../../CHANGELOG.md");

/// What is said of the version that is not released yet: the first of the changelog.
fn unreleased() -> &'static str {
    let newest = CHANGELOG.split("\n## ").nth(1).unwrap_or_default();
    if newest.lines().next().is_some_and(|it| it.to_lowercase().contains("unreleased")) { newest } else { "" }
}

/// What of this no line names.
fn unnamed<'l>(losses: impl IntoIterator<Item = &'l String>, lines: &str) -> Vec<&'l String> {
    losses.into_iter().filter(|it| !lines.contains(&format!("`{it}`"))).collect()
}

#[test]
fn document_is_the_one_that_is_kept() {
    let now = document().pretty();
    #[expect(clippy::disallowed_methods, reason = "how a snapshot is renewed")]
    if std::env::var("UPDATE_SNAPSHOTS").is_ok() {
        std::fs::write(KEPT, &now).unwrap();
    }
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    assert!(
        now == kept,
        "docs/openapi.json is not what the table says; renew it with UPDATE_SNAPSHOTS=1 and look at it"
    );
}

#[test]
fn document_loses_nothing_that_was_released() {
    let released: Value = serde_json::from_str(&std::fs::read_to_string(RELEASED).unwrap()).unwrap();
    let now: Value = serde_json::from_slice(document().text()).unwrap();
    let losses = losses(&released, &now);
    let unnamed = unnamed(&losses, unreleased());
    assert!(unnamed.is_empty(), "gone or narrower since the release, and not named in CHANGELOG.md: {unnamed:#?}");
}

#[test]
fn changelog_names_a_loss_word_by_word() {
    let lost = ["Thing.name".to_owned(), "thingMake".to_owned()];
    let lines = "- The name of a thing is gone (`Thing.name`); thingMake and `thingMakeAll` are not.";
    assert_eq!(unnamed(&lost, lines), [&lost[1]]);
}
