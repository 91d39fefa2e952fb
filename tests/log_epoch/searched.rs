//! An index of words that was restored with its items is rebuilt, whatever it holds.

use super::{closed, run};
use serde_json::{Value, json};
use std::{fs, sync::Arc, time::Duration};
use stoa_content::{Content, ContentLimits, Request};
use stoa_kernel::{Caller, SiteId, World};
use stoa_store::{Config, Consumers, Site, Store, outbox::LeaseTimes};
use stoa_testkit::{Engine, TestStore};

/// A site that is open.
struct Open {
    store: Arc<Store>,
    site: Arc<Site>,
    content: Content,
    world: World,
}

fn app() -> Caller {
    Caller::App { id: "test".into() }
}

impl Open {
    async fn again(config: &Config, id: &SiteId, world: &World) -> Self {
        let store = Arc::new(Store::open(config).await.unwrap());
        let site = store.site(id).await.unwrap();
        Self { store, site, content: Content::new(world.clone(), ContentLimits::default()), world: world.clone() }
    }

    async fn insert(&self, id: &str, title: &str) {
        let data = json!({ "_id": id, "title": title });
        let body = json!({ "dataCollectionId": "c", "dataItem": { "data": data } }).to_string();
        self.content.item_insert(&self.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
    }

    /// The ids that a word finds, once the index knows of all that was written.
    async fn found(&self, word: &str) -> Vec<String> {
        self.content.search_subscribe(&self.site).await.unwrap();
        let times = LeaseTimes { look: 20, renewal: 500, life: 60_000 };
        let serving = self.content.search_serve(&Consumers::new(self.store.clone(), self.world.clone(), times));
        let mut looks = 0;
        while !self.content.search_lag(&self.site).await.unwrap().is_none() {
            looks += 1;
            assert!(looks < 6_000, "the index has not caught up within a minute");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let body = json!({ "dataCollectionId": "c", "search": { "search": { "expression": word } } });
        let page = self.content.item_search(&self.site, &app(), None, body.as_object().unwrap()).await.unwrap();
        serving.end().await;
        let items: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
        items.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn index_of_a_file_that_was_put_back_is_built_anew() {
    let kit = TestStore::new(Engine::Sqlite).await;
    let (world, none) = (kit.world.clone(), Vec::<String>::new());
    let site = kit.store.site_create("test", &world).await.unwrap();
    let content = Content::new(world.clone(), ContentLimits::default());
    let open = Open { store: kit.store.clone(), site, content, world: world.clone() };
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let object = json!({ "id": "c", "fields": [{ "key": "title", "type": "TEXT" }], "dataPermissions": levels });
    open.content.collection_create(&open.site, &app(), &object).await.unwrap();
    open.insert("a", "red").await;
    assert_eq!(open.found("red").await, ["a"]);
    // What is put back has an index that finds nothing.
    run(&open.site, "delete from stoa.search_list").await;
    let id = open.site.id.clone();
    drop(open);
    let (config, _guards) = kit.close();
    let file = closed(&config, &id).await;
    let copies = config.data.join("outbox").join("copies");
    fs::create_dir(&copies).unwrap();
    fs::copy(&file, copies.join("site.db")).unwrap();

    let open = Open::again(&config, &id, &world).await;
    open.insert("b", "blue").await;
    assert_eq!(open.found("blue").await, ["b"]);
    open.store.close();
    drop(open);
    closed(&config, &id).await;
    let beside = file.with_extension("new");
    fs::copy(copies.join("site.db"), &beside).unwrap();
    fs::rename(&beside, &file).unwrap();

    let open = Open::again(&config, &id, &world).await;
    assert_eq!(open.found("red").await, ["a"]);
    assert_eq!(open.found("blue").await, none, "it is not there any more");
    open.store.close();
}
