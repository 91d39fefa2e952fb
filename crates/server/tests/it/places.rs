//! A file of places: read at start, and told where it is broken.

use crate::process::Deployment;
use serde_json::json;
use stoa_testkit::{
    Engine,
    places::{city, place_file},
};

#[test]
fn file_of_places_that_is_broken_is_told_before_the_start() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "X"]);
    let file = deployment.file("places.mmdb");
    let whole = place_file("GeoLite2-City", &[("127.0.0.0/8", city(json!({ "en": "Basle" }), "CH"))]);
    let run = |bytes: &[u8], arguments: &[&str]| {
        std::fs::write(&file, bytes).unwrap();
        let mut command = deployment.stoa(arguments);
        let output = command.env("STOA_PLACE_DATABASE", &file).env("STOA_PORT", "0").output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let other_kind = place_file("GeoLite2-ASN", &[]);
    for broken in [&whole[..whole.len() - 1], &other_kind[..], &b"no file of places"[..]] {
        assert!(run(broken, &["site", "list"]).0, "it tells no place");
        for arguments in [&["serve"][..], &["check"]] {
            let (is_good, says) = run(broken, arguments);
            assert!(
                !is_good && says.contains("place_database ") && says.contains("places.mmdb"),
                "{arguments:?}: {says}"
            );
        }
    }
    let (is_good, says) = run(&whole, &["check"]);
    assert!(is_good && says.contains("GeoLite2-City tells of places"), "{says}");
    // What is wrong inside is found by who looks at all of it.
    let mut inside = whole.clone();
    let separator = inside.windows(16).position(|it| it == [0; 16]).unwrap();
    inside[separator + 8] = 1;
    let (is_good, says) = run(&inside, &["check"]);
    assert!(!is_good && says.contains("place_database "), "{says}");
    let server = deployment.serve(|command| {
        command.env("STOA_PLACE_DATABASE", &file);
    });
    assert!(server.stop());
}
