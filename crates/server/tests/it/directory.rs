//! The data directory: for its owner only, and no one else's.

use crate::process::{Deployment, get, write_items};
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};
use stoa_testkit::Engine;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// Whatever lies under a directory and can be entered or read by others.
fn open_to_others(path: &Path, found: &mut Vec<String>) {
    if mode(path) & 0o077 != 0 {
        found.push(format!("{} {:o}", path.display(), mode(path)));
    }
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|it| open_to_others(&it.unwrap().path(), found));
    }
}

#[test]
fn files_are_for_their_owner_only() {
    let parent = tempfile::tempdir().unwrap();
    let deployment = Deployment::with_data(parent.path().join("data"), Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "X"]);
    deployment.json(&["collection", "create", "things", "--field", "n:number"]);
    let file = parent.path().join("things.jsonl");
    write_items(&file, 100);
    let server = deployment.serve(|_| {});
    deployment.json(&["import", "things", file.to_str().unwrap()]);
    let mut open = Vec::new();
    open_to_others(deployment.data(), &mut open);
    assert!(open.is_empty(), "{open:#?}");
    assert!(server.stop());

    // Those that an older version made are closed.
    let catalog = deployment.data().join("catalog.db");
    fs::set_permissions(&catalog, Permissions::from_mode(0o644)).unwrap();
    deployment.json(&["site", "list"]);
    assert_eq!(mode(&catalog), 0o600);
}

#[test]
fn directory_of_another_use_is_refused_and_not_changed() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("home");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("letter.txt"), "dear").unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let deployment = Deployment::with_data(data.clone(), Engine::Sqlite);
    for words in [&["serve", "--port", "0"][..], &["site", "create", "--name", "X"], &["site", "list"]] {
        let refused = deployment.stoa(words).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("it holds letter.txt"), "{words:?}: {said}");
    }
    let checked = deployment.stoa(&["check"]).env("STOA_PORT", "0").output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(!checked.status.success() && said.contains("it holds letter.txt"), "{said}");
    assert_eq!(mode(&data), 0o755);
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
    // One that was made for it is taken.
    fs::remove_file(data.join("letter.txt")).unwrap();
    deployment.json(&["site", "create", "--name", "X"]);
    assert_eq!(mode(&data), 0o700);
}

#[test]
fn server_without_a_site_says_what_to_do() {
    let deployment = Deployment::new(Engine::Sqlite);
    let parent = tempfile::tempdir().unwrap();
    let log = parent.path().join("log");
    let page = |url: &str| get(&format!("{url}/"), &[("accept", "text/html")]);
    let server = deployment.serve_logging(fs::File::create(&log).unwrap().into(), |_| {});
    let printed = fs::read_to_string(&log).unwrap();
    let next = format!("stoa site create --name Mine --data {}", deployment.data().display());
    assert!(printed.contains(&next), "{printed}");
    let (status, shown) = page(&server.url);
    assert!(status == 200 && shown.contains("stoa site create --name Mine"), "{shown}");
    deployment.json(&["site", "create", "--name", "Mine"]);
    let shown = page(&server.url).1;
    assert!(!shown.contains("stoa site create") && shown.contains("stoa client create"), "{shown}");
    deployment.json(&["client", "create", "--name", "x", "--redirect-uri", "https://a.example/cb"]);
    assert!(!page(&server.url).1.contains("stoa client create"));
    let invited = deployment.json(&["owner", "invite", "--email", "a@example.org"]);
    assert!(invited["setupUrl"].as_str().unwrap().starts_with(&server.url), "one origin: {invited}");
    assert!(server.stop());
    let server = deployment.serve(|_| {});
    let kept = fs::read_to_string(deployment.file("outbox/mail.jsonl")).unwrap();
    assert!(kept.contains(&format!("{}/account/setup?invite=", server.url)), "{kept}");
    assert!(server.stop());
}
