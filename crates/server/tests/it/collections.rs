//! Collections and items by the command line, with a server and without.

use crate::process::{Deployment, refusal};
use serde_json::{Value, json};
use stoa_testkit::Engine;

#[test]
fn collections_are_made_without_http_on_sqlite() {
    collections(Engine::Sqlite);
}

#[test]
fn collections_are_made_without_http_on_postgres() {
    collections(Engine::Postgres);
}

#[test]
fn import_makes_its_collection_and_adds_nothing_twice_on_sqlite() {
    import(Engine::Sqlite);
}

#[test]
fn import_makes_its_collection_and_adds_nothing_twice_on_postgres() {
    import(Engine::Postgres);
}

#[test]
fn import_elsewhere_adds_nothing_twice_on_sqlite() {
    import_elsewhere(Engine::Sqlite);
}

#[test]
fn import_elsewhere_adds_nothing_twice_on_postgres() {
    import_elsewhere(Engine::Postgres);
}

fn collections(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "X"]);
    deployment.json(&["collection", "create", "authors", "--field", "name:text"]);
    let books = ["collection", "create", "books", "--field", "title:text", "--field", "price:number"];
    let levels = ["--field", "author:reference:authors", "--read", "ANYONE", "--insert", "site-member"];
    assert_eq!(deployment.json(&[&books[..], &levels[..]].concat())["fields"], 3);
    assert_eq!(refusal(&deployment, &books)["code"], "WDE0104");
    let usage = refusal(&deployment, &["collection", "create", "x", "--field", "n:nubmer"]);
    assert!(usage["message"].as_str().unwrap().contains("did you mean number?"), "{usage}");

    let server = deployment.serve(|_| {});
    let all = deployment.json(&["collection", "list"]);
    let expected = json!({ "collectionId": "books", "displayName": "books", "fields": 3, "items": 0, "read": "ANYONE",
        "insert": "SITE_MEMBER", "update": "CMS_EDITOR", "remove": "CMS_EDITOR" });
    assert_eq!(all[1], expected);
    let item = |words: &[&str]| deployment.json(&[&["item"], words].concat());
    for (id, price) in [("b1", 5), ("b2", 15), ("b3", 25)] {
        let text = json!({ "_id": id, "title": format!("Title of {id}"), "price": price }).to_string();
        assert_eq!(item(&["insert", "books", &text])["itemId"], id);
    }
    let found = item(&["query", "books", "--filter", "{\"price\":{\"$gt\":10}}", "--sort", "-price", "--limit", "1"]);
    assert_eq!((&found["items"][0]["_id"], &found["hasNext"]), (&json!("b3"), &json!(true)));
    assert_eq!(item(&["get", "books", "b2"])["price"], 15);
    assert_eq!(item(&["remove", "books", "b2"])["removed"], "b2");
    assert_eq!(refusal(&deployment, &["item", "get", "books", "b2"])["code"], "WDE0073");
    assert_eq!(refusal(&deployment, &["item", "insert", "books", "[1]"])["code"], "USAGE");
    let table = deployment.stoa(&["item", "query", "books"]).output().unwrap();
    assert!(String::from_utf8_lossy(&table.stdout).lines().next().unwrap().contains("TITLE"));

    let cached = |name: &'static str| ["collection", "update", name, "--cache-seconds", "60"];
    deployment.json(&cached("books"));
    assert_eq!(deployment.json(&["collection", "show", "books"])["cacheSeconds"], 60);
    let refused = refusal(&deployment, &cached("authors"));
    assert_eq!(refused["code"], "WDE0075");
    assert!(refused["message"].as_str().unwrap().contains("ANYONE"), "{refused}");
    for (flag, shown) in [("--log-old-values", json!(true)), ("--log-old-values=false", Value::Null)] {
        deployment.json(&["collection", "update", flag, "books"]);
        assert_eq!(deployment.json(&["collection", "show", "books"])["logOldValues"], shown);
    }
    for (flag, shown) in [("--realtime", json!(true)), ("--realtime=false", Value::Null)] {
        deployment.json(&["collection", "update", flag, "books"]);
        assert_eq!(deployment.json(&["collection", "show", "books"])["realtime"], shown);
    }
    deployment.json(&["collection", "create", "followed", "--field", "n:number", "--realtime"]);
    assert_eq!(deployment.json(&["collection", "show", "followed"])["realtime"], true);
    deployment.json(&["collection", "delete", "followed", "--yes", "followed"]);
    let asking = ["collection", "create", "asking", "--field", "n:number", "--log-old-values"];
    deployment.json(&asking);
    assert_eq!(deployment.json(&["collection", "show", "asking"])["logOldValues"], true);
    let updated =
        ["collection", "update", "books", "--field", "isbn:text", "--no-field", "author", "--read", "CMS_EDITOR"];
    assert_eq!(deployment.json(&updated)["fields"], 3);
    let shown = deployment.json(&["collection", "show", "books"]);
    let own = |shown: &Value| {
        let fields = shown["fields"].as_array().unwrap().iter().filter(|it| it["systemField"] != true);
        fields.map(|it| it["key"].clone()).collect::<Value>()
    };
    assert_eq!(own(&shown), json!(["title", "price", "isbn"]));
    assert_eq!(shown["dataPermissions"]["itemRead"], "CMS_EDITOR");
    assert_eq!(refusal(&deployment, &["collection", "update", "books", "--no-field", "none"])["code"], "WDE0147");
    assert!(server.stop());

    // What is shown is a definition that another collection can be made from.
    let file = deployment.file("schema.json");
    std::fs::write(&file, shown.to_string()).unwrap();
    assert_eq!(deployment.json(&["collection", "create", "films", "--from", file.to_str().unwrap()])["fields"], 3);
    assert_eq!(own(&deployment.json(&["collection", "show", "films"])), own(&shown));
    let refused = refusal(&deployment, &["collection", "delete", "books"]);
    assert!(refused["message"].as_str().unwrap().contains("--yes books"), "{refused}");
    deployment.json(&["collection", "delete", "books", "--yes", "books"]);
    assert_eq!(refusal(&deployment, &["item", "get", "books", "b1"])["code"], "WDE0026");
    deployment.json(&["collection", "restore", "books"]);
    assert_eq!(item(&["get", "books", "b1"])["price"], 5, "with its items");
}

fn import(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "X"]);
    let file = deployment.file("books.csv");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "isbn,title,price,sold\n001,Emma,9.5,true\n002,Dubliners,12,false\n").unwrap();
    let unknown = refusal(&deployment, &["import", "books", path, "--create"]);
    assert!(unknown["message"].as_str().unwrap().contains("--yes"), "{unknown}");
    let import = ["import", "books", path, "--create", "--yes", "--key", "isbn"];
    let counts = |inserted: u64, updated: u64, unchanged: u64| json!({ "inserted": inserted, "updated": updated, "failed": 0, "unchanged": unchanged });
    let server = deployment.serve(|_| {});
    assert_eq!(deployment.json(&import), counts(2, 0, 0));
    let shown = deployment.json(&["collection", "show", "books"]);
    let types: Vec<_> = shown["fields"].as_array().unwrap().iter().map(|it| (&it["key"], &it["type"])).collect();
    for (key, kind) in [("isbn", "TEXT"), ("title", "TEXT"), ("price", "NUMBER"), ("sold", "BOOLEAN")] {
        assert!(types.contains(&(&json!(key), &json!(kind))), "{key} in {types:?}");
    }
    let before = deployment.json(&["item", "get", "books", "001"]);
    assert_eq!(deployment.json(&import), counts(0, 0, 2), "the same file again");
    assert_eq!(deployment.json(&["item", "get", "books", "001"]), before, "changes nothing");

    // A dry run tells what would be, and writes nothing.
    std::fs::write(&file, "isbn,title,price,sold\n001,Emma,10,true\n003,Orlando,8,true\n").unwrap();
    let dry = ["import", "books", path, "--key", "isbn", "--dry-run"];
    assert_eq!(deployment.json(&dry), counts(1, 1, 0));
    let told = deployment.stoa(&dry).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&told).starts_with("nothing is written; it would be: 1 inserted, 1 updated"));
    assert_eq!(deployment.json(&["item", "get", "books", "001"]), before);
    assert!(server.stop());
    assert_eq!(deployment.json(&import), counts(1, 1, 0), "without a server");
    assert_eq!(deployment.json(&["item", "get", "books", "001"])["price"], 10);

    // Where the key is missing, the line is told and the others come in.
    let lines = deployment.file("more.jsonl");
    std::fs::write(&lines, "{\"title\":\"no key\"}\n{\"isbn\":\"004\",\"title\":\"x\"}\n").unwrap();
    let output = deployment.stoa(&["import", "books", lines.to_str().unwrap(), "--key", "isbn", "--json"]).output();
    let output = output.unwrap();
    assert!(!output.status.success());
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    let line = error["error"]["data"]["errors"][0].as_str().unwrap();
    assert!(line.starts_with("line 1: The item has no text or number in isbn"), "{error}");
    assert_eq!(deployment.json(&["item", "get", "books", "004"])["title"], "x");
}

/// Into a running server by its address and a key, as from another machine.
fn import_elsewhere(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "X"]);
    let key = deployment.json(&["key", "create", "--name", "X"])["apiKey"].as_str().unwrap().to_owned();
    let file = deployment.file("books.csv");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "isbn,title,price\n001,Emma,9.5\n002,Dubliners,12\n").unwrap();
    let server = deployment.serve(|_| {});
    let url = server.url.clone();
    let there = ["--url", &url, "--api-key", &key];
    let import = |words: &[&'static str]| [&["import", "books", path, "--key", "isbn"], words, &there].concat();
    let unknown = refusal(&deployment, &import(&["--create"]));
    assert!(unknown["message"].as_str().unwrap().contains("--yes"), "{unknown}");
    let create = import(&["--create", "--yes"]);
    let counts = |inserted: u64, updated: u64, unchanged: u64| json!({ "inserted": inserted, "updated": updated, "failed": 0, "unchanged": unchanged });
    assert_eq!(deployment.json(&create), counts(2, 0, 0));
    let shown = deployment.json(&["collection", "show", "books"]);
    let price = shown["fields"].as_array().unwrap().iter().find(|it| it["key"] == "price").unwrap();
    assert_eq!(price["type"], "NUMBER");
    let before = deployment.json(&["item", "get", "books", "001"]);
    assert_eq!(deployment.json(&create), counts(0, 0, 2), "the same file again");
    assert_eq!(deployment.json(&["item", "get", "books", "001"]), before, "changes nothing");
    // The first of two with one id is as it was, and the second replaces it.
    let text = "isbn,title,price\n001,Emma,9.5\n001,Emma,10\n003,Orlando,8\n";
    std::fs::write(&file, text).unwrap();
    assert_eq!(deployment.json(&import(&[])), counts(1, 1, 1));
    assert_eq!(deployment.json(&["item", "get", "books", "001"])["price"], 10);
    // What would come of it only the server itself can tell.
    assert_eq!(refusal(&deployment, &import(&["--dry-run"]))["code"], "USAGE");
    assert!(server.stop());
}
