//! In whose name messages are sent, set by the command line, with a server and without.

use crate::process::{Deployment, refusal};
use serde_json::{Value, json};
use stoa_testkit::Engine;

#[test]
fn sender_is_set_by_command_on_sqlite() {
    sender_is_set(Engine::Sqlite);
}

#[test]
fn sender_is_set_by_command_on_postgres() {
    sender_is_set(Engine::Postgres);
}

fn sender_is_set(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "Mine"]);
    deployment.json(&["site", "create", "--name", "Other", "--host-name", "other.test"]);
    let mail = |words: &[&str]| deployment.json(&about("Mine", words));
    let refused = |words: &[&str]| refusal(&deployment, &about("Mine", words));
    let says = |error: Value| error["message"].as_str().unwrap().to_owned();
    let none = json!({ "allowedDomains": [] });

    assert_eq!(mail(&["show"]), none);
    assert_eq!(refused(&["set"])["code"], "USAGE", "nothing is to be changed");
    let foreign = says(refused(&["set", "--address", "a@rooms.example"]));
    assert!(foreign.starts_with("mailSender.address: ") && foreign.contains("rooms.example"), "{foreign}");
    let name = says(refused(&["set", "--name", "security@bank.example"]));
    assert!(name.starts_with("mailSender.name: "), "{name}");
    let domain = says(refused(&["allow", "*.example"]));
    assert!(domain.starts_with("mailSender.allowedDomains: "), "{domain}");
    assert_eq!(mail(&["show"]), none);

    for is_running in [false, true] {
        // Then it is the server that does it.
        let server = is_running.then(|| deployment.serve(|_| {}));
        assert_eq!(mail(&["allow", "Rooms.example"]), json!({ "allowedDomains": ["rooms.example"] }));
        let set = ["set", "--name", "The Reading Room", "--address", "a@rooms.example", "--reply-to", "b@else.example"];
        let whole = json!({
            "name": "The Reading Room", "address": "a@rooms.example", "replyTo": "b@else.example",
            "allowedDomains": ["rooms.example"],
        });
        assert_eq!((mail(&set), mail(&["show"])), (whole.clone(), whole));
        let part = json!({ "address": "a@rooms.example", "allowedDomains": ["rooms.example"] });
        assert_eq!(
            mail(&["set", "--name", "", "--reply-to", ""]),
            part,
            "an empty text removes, what isn't given stays"
        );
        assert_eq!(deployment.json(&about("Other", &["show"])), none, "another site has nothing of it");
        assert_eq!(mail(&["disallow", "rooms.example"]), none, "the address goes with its domain");
        assert!(server.is_none_or(|it| it.stop()));
    }
}

fn about<'a>(site: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["site", "mail"][..], words, &["--site", site]].concat()
}
