//! A site with content on it, and calls that are as short as a test wants them.

use serde_json::{Map, Value, json};
use std::sync::Arc;
use stoa_content::{Content, ContentLimits, GetRequest, Outcome, Page, Request};
use stoa_kernel::{Caller, EntryKind, Fault, Result, Role};
use stoa_store::{
    ReaderPool, Site, boxed,
    outbox::{Entry, Position},
};
use stoa_testkit::{Engine, TestStore};

pub struct World {
    pub test: TestStore,
    pub site: Arc<Site>,
    pub content: Content,
}

pub fn app() -> Caller {
    Caller::App { id: "key".into() }
}
pub fn owner() -> Caller {
    Caller::User { id: "olga".into(), role: Role::Owner, session: "s".into() }
}
pub fn editor() -> Caller {
    Caller::User { id: "edda".into(), role: Role::Editor, session: "s".into() }
}
pub fn member(id: &str) -> Caller {
    Caller::Member { id: id.into(), session: "s".into(), client: None }
}
pub fn visitor(id: &str) -> Caller {
    Caller::Visitor { id: id.into(), client: None }
}

impl World {
    pub async fn new(engine: Engine) -> Self {
        let test = TestStore::new(engine).await;
        let site = test.store.site_create("test", &test.world).await.unwrap();
        let content = Content::new(test.world.clone(), ContentLimits::default());
        Self { test, site, content }
    }

    /// A site with a collection `c` of these levels.
    pub async fn with_levels(engine: Engine, read: &str, insert: &str, update: &str, remove: &str) -> Self {
        let world = Self::new(engine).await;
        let levels = json!({ "itemRead": read, "itemInsert": insert, "itemUpdate": update, "itemRemove": remove });
        world.create("c", levels).await;
        world
    }

    /// A site with a collection `c` that is open to everyone.
    pub async fn open(engine: Engine) -> Self {
        Self::with_levels(engine, "ANYONE", "ANYONE", "ANYONE", "ANYONE").await
    }

    pub async fn create(&self, id: &str, levels: Value) {
        self.create_with(id, json!({ "dataPermissions": levels })).await;
    }

    /// The same with these members of the definition.
    pub async fn create_with(&self, id: &str, members: Value) {
        let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, { "key": "tags", "type": "ARRAY_STRING" }]);
        let mut object = json!({ "id": id, "fields": fields });
        members.as_object().unwrap().iter().for_each(|(name, it)| object[name.as_str()] = it.clone());
        self.content.collection_create(&self.site, &owner(), &object).await.unwrap();
    }

    /// Gives `c` a plugin as it stands, as a collection from an older version may have it.
    pub async fn keep_plugin(&mut self, plugin: Value) {
        self.keep(plugin, |definition, plugin| definition["plugins"].as_array_mut().unwrap().push(plugin)).await;
    }

    /// Gives `c` these fields as they stand.
    pub async fn keep_fields(&mut self, fields: Value) {
        self.keep(fields, |definition, fields| definition["fields"] = fields).await;
    }

    async fn keep(&mut self, value: Value, put: fn(&mut Value, Value)) {
        let kept = self.site.write_with(value, move |tx, value| {
            boxed!({
                let sql = "select definition from stoa.collection where id = 'c'";
                let definition: Option<String> = tx.row(sql, &[], |row| row.get(0)).await?;
                let mut definition: Value = serde_json::from_str(&definition.unwrap()).unwrap();
                put(&mut definition, value.clone());
                let sql = "update stoa.collection set definition = $1 where id = 'c'";
                tx.execute(sql, &[definition.to_string().into()]).await?;
                Ok(())
            })
        });
        kept.await.unwrap();
        self.content = Content::new(self.test.world.clone(), ContentLimits::default());
    }

    pub async fn get(&self, caller: &Caller, id: &str) -> Result<Value> {
        let request = GetRequest { collection: "c".to_owned(), id: id.to_owned(), ..GetRequest::default() };
        let item = self.content.item_get(&self.site, caller, &request).await?;
        Ok(serde_json::from_str(&item.doc).unwrap())
    }

    pub async fn insert(&self, caller: &Caller, data: Value) -> Result<Value> {
        let body = single(data).to_string();
        let item = self.content.item_insert(&self.site, caller, &Request::parse(body.as_bytes())?).await?;
        Ok(serde_json::from_str(&item.doc).unwrap())
    }

    pub async fn update(&self, caller: &Caller, data: Value, condition: Option<Value>) -> Result<Value> {
        let mut body = single(data);
        if let Some(it) = condition {
            body["condition"] = json!({ "filter": it });
        }
        let body = body.to_string();
        let item = self.content.item_update(&self.site, caller, &Request::parse(body.as_bytes())?).await?;
        Ok(serde_json::from_str(&item.doc).unwrap())
    }

    /// The document, and whether it was inserted.
    pub async fn save(&self, caller: &Caller, data: Value) -> Result<(Value, bool)> {
        let body = single(data).to_string();
        let saved = self.content.item_save(&self.site, caller, &Request::parse(body.as_bytes())?).await?;
        Ok((serde_json::from_str(&saved.item.doc).unwrap(), saved.is_new))
    }

    pub async fn remove(&self, caller: &Caller, id: &str, condition: Option<Value>) -> Result<Option<Value>> {
        let mut body = json!({ "dataCollectionId": "c", "dataItemId": id });
        if let Some(it) = condition {
            body["condition"] = json!({ "filter": it });
        }
        let body = body.to_string();
        let item = self.content.item_remove(&self.site, caller, &Request::parse(body.as_bytes())?).await?;
        Ok(item.map(|it| serde_json::from_str(&it.doc).unwrap()))
    }

    /// A bulk call by the last part of its path.
    pub async fn bulk(&self, caller: &Caller, call: &str, body: &Value) -> Result<Vec<Outcome>> {
        let body = body.to_string();
        let (request, content) = (Request::parse(body.as_bytes())?, &self.content);
        match call {
            "insert" => content.item_bulk_insert(&self.site, caller, &request).await,
            "update" => content.item_bulk_update(&self.site, caller, &request).await,
            "save" => content.item_bulk_save(&self.site, caller, &request).await,
            "patch" => content.item_bulk_patch(&self.site, caller, &request).await,
            "remove" => content.item_bulk_remove(&self.site, caller, &request).await,
            it => panic!("no bulk call {it}"),
        }
    }

    pub async fn page(&self, caller: &Caller, request: Value) -> Result<Page> {
        self.content.item_query(&self.site, caller, None, &members(request)).await
    }

    /// The ids that a query finds, in order.
    pub async fn ids(&self, caller: &Caller, query: Value) -> Result<Vec<String>> {
        let page = self.page(caller, json!({ "dataCollectionId": "c", "query": query })).await?;
        let items: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
        Ok(items.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect())
    }

    pub async fn count(&self, caller: &Caller, filter: Value) -> Result<i64> {
        let request = members(json!({ "dataCollectionId": "c", "filter": filter }));
        self.content.item_count(&self.site, caller, None, &request).await
    }

    /// Kinds and payloads of the rows about items in the outbox, oldest first.
    pub async fn outbox(&self) -> Vec<(String, Value)> {
        let mut rows = self.log().await;
        rows.retain(|it| it.0.starts_with("data_item"));
        rows
    }

    /// Kinds and payloads of all rows of the outbox, oldest first.
    pub async fn log(&self) -> Vec<(String, Value)> {
        let read = self.site.read(ReaderPool::Scan, |tx| {
            boxed!({
                let sql = "select kind, payload from stoa.outbox order by seq";
                Ok(tx.rows(sql, &[], |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?))).await?)
            })
        });
        read.await.unwrap().into_iter().map(|(kind, it)| (kind, serde_json::from_str(&it).unwrap())).collect()
    }

    /// What the rows of a site tell, as a reader of the log gets them: at least so many. On PostgreSQL a transaction
    /// of another database holds readers up.
    pub async fn entries(&self, site: &Site, made: usize) -> Vec<Entry> {
        let kinds: Vec<_> = EntryKind::ALL.iter().map(|it| it.name()).collect();
        for _ in 0..2_000 {
            let (mut position, mut entries) = (Position::default(), Vec::new());
            loop {
                let batch = site.outbox().read(position, &kinds, 1_000).await.unwrap();
                (position, entries) = (batch.end, [entries, batch.entries].concat());
                if batch.is_last {
                    break;
                }
            }
            if entries.len() >= made {
                return entries;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("{made} rows can't be read");
    }
}

/// The wire form of one item, as the public client sends it.
pub fn single(data: Value) -> Value {
    let mut item = json!({ "data": data });
    if let Some(id) = item["data"].get("_id").cloned() {
        item["id"] = id;
    }
    json!({ "dataCollectionId": "c", "dataItem": item })
}

pub fn many(list: impl IntoIterator<Item = Value>) -> Value {
    let items: Vec<Value> = list.into_iter().map(|it| single(it)["dataItem"].clone()).collect();
    json!({ "dataCollectionId": "c", "dataItems": items })
}

pub fn members(request: Value) -> Map<String, Value> {
    request.as_object().unwrap().clone()
}

/// `INSERT`, or the code of the refusal.
pub fn verdicts(outcomes: &[Outcome]) -> Vec<&'static str> {
    outcomes.iter().map(|it| it.fault.as_ref().map_or(it.action.name(), |it| it.code().name())).collect()
}

pub fn code<T>(result: Result<T>) -> &'static str {
    result.err().map_or("ok", |it: Fault| it.code().name())
}
