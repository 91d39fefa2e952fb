//! Several sites in one directory: which one is meant, which one answers, and what deleting one comes to.

use crate::process::{Deployment, Server, get, post, refusal};
use serde_json::{Value, json};
use stoa_kernel::World;
use stoa_store::{SiteChange, Store};
use stoa_testkit::Engine;

#[test]
fn second_site_leaves_the_demo_alone_on_sqlite() {
    second_site(Engine::Sqlite);
}

#[test]
fn second_site_leaves_the_demo_alone_on_postgres() {
    second_site(Engine::Postgres);
}

#[test]
fn first_site_answers_beside_a_second_on_sqlite() {
    first_site(Engine::Sqlite);
}

#[test]
fn first_site_answers_beside_a_second_on_postgres() {
    first_site(Engine::Postgres);
}

#[test]
fn only_the_demo_shows_atlas_on_sqlite() {
    website(Engine::Sqlite);
}

#[test]
fn only_the_demo_shows_atlas_on_postgres() {
    website(Engine::Postgres);
}

#[test]
fn deleted_site_can_be_restored_on_sqlite() {
    delete_and_restore(Engine::Sqlite);
}

#[test]
fn deleted_site_can_be_restored_on_postgres() {
    delete_and_restore(Engine::Postgres);
}

/// A site with the demo's mark, without its cities.
fn make_demo(deployment: &Deployment) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&deployment.store_config()).await.unwrap();
        let demo = SiteChange { name: Some("Atlas".to_owned()), is_demo: Some(true), ..SiteChange::default() };
        let id = store.site_make(demo, &World::real()).await.unwrap().id.as_str().to_owned();
        store.close();
        id
    })
}

/// The site that answers under a host name.
fn answers(server: &Server, host: &str) -> Value {
    let (status, answer) = get(&format!("{}/_api/site/v1/public-settings", server.url), &[("host", host)]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    if status == 200 { answer["siteId"].clone() } else { answer["details"]["applicationError"]["code"].clone() }
}

fn second_site(engine: Engine) {
    let deployment = Deployment::new(engine);
    let demo = make_demo(&deployment);
    let server = deployment.serve(|_| {});
    assert_eq!(answers(&server, "localhost"), json!(demo));

    let made = deployment.json(&["site", "create", "--name", "Mine", "--host-name", "Mine.Test"]);
    let mine = made["siteId"].as_str().unwrap();
    assert_eq!(answers(&server, "localhost"), json!(demo), "the demo answers as before");
    assert_eq!(answers(&server, "mine.test"), json!(mine));
    let by_path = |id: &str| get(&format!("{}/s/{id}/_api/site/v1/public-settings", server.url), &[]);
    assert!(by_path(mine).1.contains(mine) && by_path(&demo).1.contains(&demo), "the address may name it");
    assert_eq!(by_path("none").0, 404);
    // No one makes clients for the demo: the question is not open.
    let client = ["client", "create", "--name", "web", "--redirect-uri", "https://a.example/cb"];
    assert_eq!(deployment.json(&client)["siteId"], json!(mine));
    let key = deployment.json(&["key", "create", "--name", "x"])["apiKey"].as_str().unwrap().to_owned();
    assert!(server.stop());

    // Without a server: a third site makes it one.
    let yours = deployment.json(&["site", "create", "--name", "Yours"])["siteId"].as_str().unwrap().to_owned();
    let open = refusal(&deployment, &["key", "list"]);
    assert_eq!(open["code"], "USAGE");
    assert_eq!(open["data"]["candidates"].as_array().unwrap().len(), 3, "{open}");
    for named in [mine, &mine[..18], "Mine", "mine"] {
        assert_eq!(deployment.json(&["key", "list", "--site", named]).as_array().unwrap().len(), 1, "{named}");
    }
    let unknown = refusal(&deployment, &["key", "list", "--site", "Mime"]);
    assert_eq!(unknown["code"], "SITE_NOT_FOUND");
    assert!(unknown["message"].as_str().unwrap().contains("did you mean Mine?"), "{unknown}");

    // A default closes the question, for commands and for host names.
    let updated = deployment.json(&["site", "update", "Yours", "--default", "--host-name", "yours.test"]);
    assert_eq!((&updated["isDefault"], &updated["hosts"]), (&json!(true), &json!(["yours.test"])));
    assert_eq!(deployment.json(&["site", "show"])["siteId"], json!(yours));
    let taken = refusal(&deployment, &["site", "update", "Yours", "--host-name", "mine.test"]);
    assert_eq!(taken["code"], "ALREADY_EXISTS");
    let wrong = refusal(&deployment, &["site", "update", "Yours", "--host-name", "http://x", "--name", " "]);
    assert_eq!(wrong["data"]["violations"].as_array().unwrap().len(), 2, "{wrong}");
    let server = deployment.serve(|_| {});
    assert_eq!(answers(&server, "localhost"), json!(yours));
    assert_eq!(deployment.json(&["site", "update", "Yours", "--no-default", "--name", "Ours"])["name"], "Ours");
    assert_eq!(answers(&server, "localhost"), json!(demo));
    assert_eq!(answers(&server, "yours.test"), json!(yours));
    let names = |sites: Value| sites.as_array().unwrap().iter().map(|it| it["name"].clone()).collect::<Value>();
    assert_eq!(names(deployment.json(&["site", "list"])), json!(["Atlas", "Mine", "Ours"]));

    // How its account pages look, told with all that is wrong of it.
    let looks = ["--logo", "https://a.example/logo.svg", "--colour", "#0b5394", "--terms", "https://a.example/terms"];
    let update = ["site", "update", "Mine", "--privacy", "https://a.example/privacy", "--language", "de"];
    let updated = deployment.json(&[&update[..], &looks].concat());
    assert_eq!(updated["language"], "de");
    let unknown = refusal(&deployment, &["site", "update", "Mine", "--language", "fre"]);
    assert!(unknown["message"].as_str().unwrap().contains("did you mean fr?"), "{unknown}");
    assert_eq!((&updated["logo"], &updated["colour"]), (&json!("https://a.example/logo.svg"), &json!("#0b5394")));
    let wrong = refusal(&deployment, &["site", "update", "Mine", "--logo", "javascript:x", "--colour", "blue"]);
    assert_eq!(wrong["data"]["violations"].as_array().unwrap().len(), 2, "{wrong}");
    let updated = deployment.json(&["site", "update", "Mine", "--logo", ""]);
    assert!(updated["logo"].is_null() && updated["terms"] == "https://a.example/terms", "{updated}");
    assert_eq!(deployment.json(&["site", "show", "Mine"])["privacy"], "https://a.example/privacy");

    // A name is the same at once for who is shown it.
    deployment.json(&["site", "update", "Mine", "--name", "My own"]);
    let (_, settings) = get(&format!("{}/_api/site/v1/public-settings", server.url), &[("host", "mine.test")]);
    assert_eq!(serde_json::from_str::<Value>(&settings).unwrap()["name"], "My own");
    let query = json!({ "dataCollectionId": "none" });
    assert_eq!(post(&format!("{}/v2/items/query", server.url), &key, &query).unwrap().0, 404);
    assert!(server.stop());
}

/// Without a demo: the first site has no host name, and answered everywhere while it was alone.
fn first_site(engine: Engine) {
    let deployment = Deployment::new(engine);
    let first = deployment.json(&["site", "create", "--name", "First"])["siteId"].clone();
    let server = deployment.serve(|_| {});
    assert_eq!(answers(&server, "localhost"), first);
    let second = deployment.json(&["site", "create", "--name", "Second"])["siteId"].clone();
    assert_eq!(answers(&server, "localhost"), first, "as before");
    assert_eq!(deployment.json(&["key", "create", "--name", "x"])["siteId"], first, "and commands are about it");
    assert_eq!(deployment.json(&["site", "show", "Second"])["isDefault"], false);
    deployment.json(&["site", "update", "Second", "--default"]);
    assert_eq!(answers(&server, "localhost"), second);
    assert!(server.stop());
}

/// Atlas asks for collections that a site of one's own hasn't.
fn website(engine: Engine) {
    let deployment = Deployment::new(engine);
    let demo = make_demo(&deployment);
    let mine = deployment.json(&["site", "create", "--name", "Mine", "--host-name", "mine.test"])["siteId"].clone();
    let mine = mine.as_str().unwrap();
    let server = deployment.serve(|_| {});
    let page = |path: &str, headers: &[(&str, &str)]| get(&format!("{}{path}", server.url), headers);
    let browser = ("accept", "text/html");
    let is_welcome = |page: &str| page.contains("Welcome to Stoa");
    assert!(page(&format!("/s/{mine}/"), &[browser]).1.contains("stoa client create"));
    for site in ["Atlas", "Mine"] {
        let client = ["client", "create", "--name", "web", "--redirect-uri", "https://a.example/cb"];
        deployment.json(&[&client[..], &["--site", site]].concat());
    }

    for path in ["/", "/countries", &format!("/s/{demo}/")] {
        assert!(!is_welcome(&page(path, &[browser]).1), "{path} is the demo's");
    }
    let by_path = page(&format!("/s/{mine}/"), &[browser]);
    assert!(by_path.0 == 200 && is_welcome(&by_path.1), "{by_path:?}");
    assert!(by_path.1.contains(&format!("\"/s/{mine}/account/owner\"")), "{by_path:?}");
    let by_host = page("/", &[("host", "mine.test"), browser]);
    assert!(by_host.0 == 200 && is_welcome(&by_host.1) && by_host.1.contains("\"/account/owner\""), "{by_host:?}");
    assert!(is_welcome(&page("/", &[("host", "mine.test")]).1), "whatever is accepted");
    assert_eq!(page("/countries", &[("host", "mine.test"), browser]).0, 404);
    let unknown = page("/s/none/", &[browser]);
    assert!(unknown.0 == 404 && unknown.1.contains("stoa site list"), "{unknown:?}");
    assert!(
        !is_welcome(&page("/account/sign-in", &[("host", "mine.test"), browser]).1),
        "account pages are everyone's"
    );

    deployment.json(&["site", "update", "Mine", "--default"]);
    assert!(is_welcome(&page("/", &[browser]).1), "the default goes before the demo");
    assert!(!is_welcome(&page(&format!("/s/{demo}/"), &[browser]).1));
    assert!(server.stop());
}

fn delete_and_restore(engine: Engine) {
    let deployment = Deployment::new(engine);
    let demo = make_demo(&deployment);
    let mine = deployment.json(&["site", "create", "--name", "Mine", "--host-name", "mine.test"])["siteId"].clone();
    let key = deployment.json(&["key", "create", "--name", "x"])["apiKey"].as_str().unwrap().to_owned();
    let server = deployment.serve(|_| {});
    let list = || get(&format!("{}/v2/collections", server.url), &[("authorization", &key)]).0;
    assert_eq!(list(), 200);

    for words in [&["site", "delete", "Mine"][..], &["site", "delete", "Mine", "--yes", "mine"]] {
        let refused = refusal(&deployment, words);
        assert!(refused["message"].as_str().unwrap().contains("--yes \"Mine\""), "{refused}");
    }
    let shown = deployment.json(&["site", "show", "Mine"]);
    assert_eq!((&shown["collections"], &shown["keys"]), (&json!(0), &json!(1)), "{shown}");
    assert_eq!(deployment.json(&["site", "delete", "Mine", "--yes", "Mine"])["deleted"], mine);
    assert_eq!(answers(&server, "mine.test"), json!(demo));
    assert!(matches!(list(), 401 | 404), "its keys open nothing");
    assert_eq!(deployment.json(&["site", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(deployment.json(&["site", "list", "--deleted"])[0]["siteId"], mine);
    // Its host name is free for another, which keeps it.
    let other = deployment.json(&["site", "create", "--name", "Other", "--host-name", "mine.test"])["siteId"].clone();

    assert_eq!(deployment.json(&["site", "restore", "Mine"])["siteId"], mine);
    assert_eq!(list(), 200);
    assert_eq!(answers(&server, "mine.test"), other);
    assert_eq!(refusal(&deployment, &["site", "restore", "Mine"])["code"], "SITE_NOT_FOUND");
    assert!(server.stop());
    assert_eq!(deployment.json(&["site", "delete", "Mine", "--yes", "Mine"])["deleted"], mine, "without a server");
}
