//! Those who get at the database, and keys that are gone: nothing opens where it wasn't sealed.

use super::*;
use stoa_content::{Content, ContentLimits, GetRequest};
use stoa_kernel::Code;
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// The document of an item of `c` as it is stored.
pub(super) async fn stored(app: &TestApp, id: &str) -> String {
    let (sql, id) = (format!("select doc from {} where id = $1", table(app)), id.to_owned());
    let read = app.site.read(ReaderPool::Point, move |tx| {
        boxed!(Ok(tx.row(&sql, &params![id], |row| Ok(row.doc(0)?.into_owned())).await?))
    });
    read.await.unwrap().unwrap()
}

async fn put(app: &TestApp, id: &str, document: String) {
    let written = app.site.write_with((table(app), id.to_owned(), document), |tx, (table, id, document)| {
        boxed!({
            let sql = format!("update {table} set doc = {} where id = $2", tx.dialect().store_doc("$1"));
            assert_eq!(tx.execute(&sql, &params![document.as_str(), id.as_str()]).await?, 1);
            Ok(())
        })
    });
    written.await.unwrap();
}

/// The sealed text of a field.
async fn sealed(app: &TestApp, id: &str, field: &str) -> String {
    let document: Value = serde_json::from_str(&stored(app, id).await).unwrap();
    document[field].as_str().unwrap().to_owned()
}

async fn remove(client: &TestClient<'_>, id: &str) -> Reply {
    client.post("/v2/items/remove", &json!({ "dataCollectionId": "c", "dataItemId": id })).await
}

on_both_engines! {
    async fn ciphertext_opens_nowhere_else(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let (key, visitor) = (app.app(), app.visitor().await);
        for id in ["a", "b", "c"] {
            write(&key, "", json!({ "_id": id, "title": id, "pin": format!("hush {id}"), "card": { "n": 1 } })).await;
        }
        let (whole, of_a) = (stored(&app, "b").await, sealed(&app, "a", "pin").await);
        let of_b = sealed(&app, "b", "pin").await;
        let mut last = of_b.clone();
        let end = if last.pop() == Some('A') { "B" } else { "A" };
        for it in [of_a, sealed(&app, "b", "card").await, last + end, "sealed:1:".to_owned(), "planted".to_owned()] {
            put(&app, "b", whole.replace(&of_b, &it)).await;
            // Who would be shown the value gets an error; no caller is shown another's.
            assert_eq!(get(&key, "b").await.verdict(), "500 WDE0053", "{it}");
            assert_eq!(query(&key, json!({})).await.verdict(), "500 WDE0053", "{it}");
            let request = GetRequest { collection: "c".to_owned(), id: "b".to_owned(), ..GetRequest::default() };
            let fault = app.app.content.item_get(&app.site, &self::key(), &request).await.err().unwrap();
            let log = fault.log().unwrap_or_default().to_owned();
            assert!(log.contains("item b, field \"pin\"") && !log.contains(&it), "{log}");
            assert_eq!(export(&app, Format::JsonLines).await.unwrap_err().code(), Code::Internal);
            // All the others, and all other items, are as before.
            assert_eq!(data(&get(&visitor, "b").await)["title"], "b");
            assert_eq!(query(&visitor, json!({})).await.json()["dataItems"].as_array().unwrap().len(), 3);
            assert_eq!(data(&get(&key, "a").await)["pin"], "hush a");
        }
        assert!(!is_stored(&app, engine, "hush").await);
    }

    async fn broken_value_is_kept_until_it_is_written(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let (key, visitor) = (app.app(), app.visitor().await);
        for id in ["a", "b"] {
            write(&key, "", json!({ "_id": id, "title": id, "pin": "hush", "card": { "n": 1 } })).await;
        }
        let (whole, pin) = (stored(&app, "b").await, sealed(&app, "b", "pin").await);
        let other = sealed(&app, "a", "pin").await;
        put(&app, "b", whole.replace(&pin, &other)).await;
        // Only a write to it changes it: its key may come back.
        assert_eq!(write(&visitor, "/update", json!({ "_id": "b", "title": "u" })).await.verdict(), "200");
        assert_eq!(patch(&visitor, "b", json!([modification("title", "SET_FIELD", json!("v"))])).await.verdict(), "200");
        assert_eq!(sealed(&app, "b", "pin").await, other);
        // What can't be answered isn't done.
        assert_eq!(patch(&key, "b", json!([modification("title", "SET_FIELD", json!("w"))])).await.verdict(), "500 WDE0053");
        assert_eq!(data(&get(&visitor, "b").await)["title"], "v");
        // A new value mends the item.
        let set = json!([modification("pin", "SET_FIELD", json!("new"))]);
        assert_eq!(secrets(&data(&patch(&key, "b", set).await)), r#"pin="new" card={"n":1}"#);
        // And it can go, broken or not.
        let whole = stored(&app, "b").await.replace(&sealed(&app, "b", "pin").await, &other);
        put(&app, "b", whole).await;
        let gone = remove(&key, "b").await;
        assert_eq!((data(&gone)["title"].clone(), secrets(&data(&gone)).as_str()), (json!("v"), ""));
        assert_eq!(get(&visitor, "b").await.verdict(), "404 WDE0073");
    }

    async fn key_of_a_site_is_never_replaced(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        write(&app.app(), "", json!({ "_id": "a", "title": "t", "pin": "hush" })).await;
        // Another process, or this one started again.
        let again = Content::new(app.kit.world.clone(), ContentLimits::default());
        let request = GetRequest { collection: "c".to_owned(), id: "a".to_owned(), ..GetRequest::default() };
        let read = async |content: &Content| -> stoa_kernel::Result<String> {
            let item = content.item_get(&app.site, &key(), &request).await?;
            let mut text = String::new();
            item.print(&mut text);
            Ok(text)
        };
        assert!(read(&again).await.unwrap().contains("hush"));
        let setting = |sql: &'static str| app.site.write(move |tx| boxed!(Ok(tx.execute(sql, &[]).await?)));
        assert_eq!(setting("update stoa.setting set name = 'away' where name = 'sealing key'").await.unwrap(), 1);
        let without = Content::new(app.kit.world.clone(), ContentLimits::default());
        let fault = read(&without).await.unwrap_err();
        assert_eq!(fault.code(), Code::Internal);
        assert!(fault.log().is_some_and(|it| it.contains("key of its encrypted fields is missing")), "{fault:?}");
        // Back in its place it opens what it sealed.
        assert_eq!(setting("update stoa.setting set name = 'sealing key' where name = 'away'").await.unwrap(), 1);
        assert!(read(&without).await.unwrap().contains("hush"));
    }

    async fn key_is_made_once_by_many_at_once(engine) {
        let app = TestApp::new(engine).await;
        let nodes: Vec<_> = (0..4).map(|_| Content::new(app.kit.world.clone(), ContentLimits::default())).collect();
        let declared = nodes.iter().enumerate().map(|(n, content)| {
            let (content, site) = (content.clone(), app.site.clone());
            tokio::spawn(async move {
                let object = json!({ "id": format!("c{n}"), "fields": [secret("pin", "TEXT")], "dataPermissions": levels(OPEN) });
                content.collection_create(&site, &key(), &object).await.unwrap();
                let body = json!({ "dataCollectionId": format!("c{n}"), "dataItem": { "data": { "_id": "a", "pin": "hush" } } }).to_string();
                content.item_insert(&site, &key(), &stoa_content::Request::parse(body.as_bytes()).unwrap()).await.unwrap();
            })
        });
        for it in declared.collect::<Vec<_>>() {
            it.await.unwrap();
        }
        for n in 0..4 {
            let found = app.app().get(&format!("/v2/items/a?dataCollectionId=c{n}")).await;
            assert_eq!(data(&found)["pin"], "hush");
        }
    }
}
