//! `stoa import --url`: into another server, through its public API.

use crate::{
    cli::Import,
    failure::Failure,
    report::{Output, Report},
    services::sentence,
    transfer::{Errors, Pace, add_counts, format_of, open_with_size},
};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use stoa_content::transfer::{
    BATCH, Counts, DeferredLinks, DeferredValue, LinkCounts, Record, Records, is_same, with_id_of,
};
use stoa_kernel::{Code, Fault};

/// Bytes of one request, well under what a server takes.
const BYTES: usize = 3 * 1024 * 1024;
/// Links of one request, unless one item brings more.
const LINKS: usize = 1000;
/// Items of a page that every server answers.
const LEAST_PAGE: usize = 50;

/// Sends a file in bulk saves; started again it updates what is there.
///
/// A server refuses an item that refers to one that isn't there. Such an item is sent again without what it
/// refers to, and its links are made when the file has been sent.
///
/// With a key, items that are there as the file has them are left alone, but not in a collection with multi-references.
pub fn import(server: Server, options: &Import, report: &mut Report) -> Result<Value, String> {
    let format = options.format.unwrap_or_else(|| format_of(&options.file));
    let collection = server.collection(&options.collection)?;
    let kinds = field_kinds(&collection);
    let multis: Vec<String> = kinds.iter().filter(|it| it.1 == "MULTI_REFERENCE").map(|it| it.0.clone()).collect();
    let (input, bytes) = open_with_size(&options.file)?;
    let input = report.begin_file(&options.collection, input, bytes);
    let records = Records::typed(format.into(), input, kinds);
    let mut job = Job {
        server,
        collection: &options.collection,
        key: options.key.as_deref(),
        asks_hooks: options.hooks,
        is_multilingual: is_multilingual(&collection),
        page: collection["maxPageSize"].as_u64().map_or(LEAST_PAGE, |it| it as usize).clamp(1, BATCH),
        counts: Counts { links: (!multis.is_empty()).then(LinkCounts::default), ..Counts::default() },
        multis,
        batch: Vec::new(),
        bytes: 0,
        deferred: DeferredLinks::new(&std::env::temp_dir()),
        errors: Errors::default(),
        unlinked: Errors::default(),
    };
    let mut pace = Pace::default();
    for record in records {
        job.push(record.map_err(sentence)?)?;
        if job.batch.is_empty() && pace.is_due() {
            report.progress(&job.progress());
        }
    }
    job.send()?;
    let deferred = std::mem::replace(&mut job.deferred, DeferredLinks::new(&std::env::temp_dir()));
    for value in deferred.read().map_err(sentence)? {
        job.link(value.map_err(sentence)?)?;
        if pace.is_due() {
            report.progress(&job.progress());
        }
    }
    report.end();
    let mut result = json!({});
    add_counts(&job.counts, &mut result);
    if options.key.is_some() {
        result["unchanged"] = job.counts.unchanged.into();
    }
    job.errors.0.append(&mut job.unlinked.0);
    result["errors"] = json!(job.errors.0);
    Ok(result)
}

struct Job<'a> {
    server: Server,
    collection: &'a str,
    /// The field whose value is the id of an item without `_id`.
    key: Option<&'a str>,
    asks_hooks: bool,
    /// Items that the server answers at once.
    page: usize,
    /// Whether the server takes translations for what they are.
    is_multilingual: bool,
    /// Fields whose values are links.
    multis: Vec<String>,
    batch: Vec<BatchItem>,
    bytes: usize,
    counts: Counts,
    deferred: DeferredLinks,
    errors: Errors,
    unlinked: Errors,
}

/// An item on its way.
struct BatchItem {
    line: u64,
    /// Known where there is a key.
    id: Option<String>,
    text: String,
    /// The ids in its multi-references, by field.
    links: Vec<(String, Vec<String>)>,
}

impl BatchItem {
    fn link_count(&self) -> usize {
        self.links.iter().map(|it| it.1.len()).sum()
    }
}

impl Job<'_> {
    fn progress(&self) -> Value {
        let Counts { inserted, updated, unchanged, failed, .. } = self.counts;
        let mut progress = json!({ "done": inserted + updated + unchanged + failed });
        add_counts(&self.counts, &mut progress);
        progress
    }

    fn push(&mut self, record: Record) -> Result<(), String> {
        let line = record.line;
        match record.text.and_then(|text| self.item(line, text)) {
            Ok(item) => {
                let links = self.batch.iter().map(BatchItem::link_count).sum::<usize>() + item.link_count();
                if self.bytes + item.text.len() > BYTES || links > LINKS {
                    self.send()?;
                }
                self.bytes += item.text.len() + 16;
                self.batch.push(item);
            }
            Err(fault) => {
                self.counts.failed += 1;
                self.errors.push(line, &fault);
            }
        }
        if self.batch.len() == BATCH { self.send() } else { Ok(()) }
    }

    fn item(&self, line: u64, text: String) -> Result<BatchItem, Fault> {
        if self.is_multilingual {
            refuse_translations(&text)?;
        }
        let (id, text) = match self.key {
            Some(key) => with_id_of(text, key)?,
            None => (None, text),
        };
        Ok(BatchItem { line, id, links: self.links(&text)?, text })
    }

    /// What an item has in multi-references. What isn't a list of ids is left to the server to refuse.
    fn links(&self, text: &str) -> Result<Vec<(String, Vec<String>)>, Fault> {
        if self.multis.is_empty() {
            return Ok(Vec::new());
        }
        let item: Value =
            serde_json::from_str(text).map_err(|it| Fault::because(Code::MalformedJson, it.to_string()))?;
        let id = |it: &Value| it.as_str().or(it["_id"].as_str()).map(str::to_owned);
        let mut links = Vec::new();
        for key in &self.multis {
            let ids = match item.get(key) {
                Some(Value::Null) => Some(Vec::new()),
                Some(Value::Array(list)) => list.iter().map(id).collect(),
                _ => None,
            };
            links.extend(ids.map(|it| (key.clone(), unique(it))));
        }
        Ok(links)
    }

    fn send(&mut self) -> Result<(), String> {
        self.bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let batch = if self.key.is_some() && self.multis.is_empty() { self.sift(batch)? } else { batch };
        let unresolved = self.save(batch, !self.multis.is_empty())?;
        self.save(unresolved, false)?;
        Ok(())
    }

    /// Counts the items that are there as the file has them, and answers the others. Of several with one id only the
    /// first is compared: what comes after it replaces it.
    fn sift(&mut self, batch: Vec<BatchItem>) -> Result<Vec<BatchItem>, String> {
        let ids: Vec<&str> = batch.iter().filter_map(|it| it.id.as_deref()).collect();
        let mut there = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(self.page) {
            let query = json!({ "filter": { "_id": { "$hasSome": ids } }, "paging": { "limit": ids.len() } });
            // What is stored is compared, and not what hooks make of it.
            let body = json!({
                "dataCollectionId": self.collection, "query": query, "suppressHooks": true,
                "publishPluginOptions": { "includeDraftItems": true },
            });
            let body = body.to_string();
            let answer = self.server.call("POST", "/v2/items/query", Some(&body))?;
            for item in answer["dataItems"].as_array().into_iter().flatten().map(|it| &it["data"]) {
                there.insert(item["_id"].as_str().unwrap_or_default().to_owned(), item.to_string());
            }
        }
        let known = batch.len();
        let mut is_there = |it: &BatchItem| {
            let stored = it.id.as_ref().and_then(|id| there.remove(id));
            stored.is_some_and(|stored| is_same(&it.text, &stored))
        };
        let rest: Vec<BatchItem> = batch.into_iter().filter(|it| !is_there(it)).collect();
        self.counts.unchanged += (known - rest.len()) as u64;
        Ok(rest)
    }

    /// Saves items, with what they refer to if that is wanted, and answers those that refer to what isn't there.
    fn save(&mut self, batch: Vec<BatchItem>, with_links: bool) -> Result<Vec<BatchItem>, String> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let items: Vec<String> = batch.iter().map(|it| format!("{{\"data\":{}}}", it.text)).collect();
        let (collection, items, is_bare) = (json!(self.collection), items.join(","), !self.asks_hooks);
        let body = format!(
            "{{\"dataCollectionId\":{collection},\"saveReferences\":{with_links},\"suppressHooks\":{is_bare},\
             \"publishPluginOptions\":{{\"includeDraftItems\":true}},\"dataItems\":[{items}]}}"
        );
        let answer = self.server.call("POST", "/v2/bulk/items/save", Some(&body))?;
        let mut batch: Vec<Option<BatchItem>> = batch.into_iter().map(Some).collect();
        let mut unresolved = Vec::new();
        for result in answer["results"].as_array().into_iter().flatten() {
            let meta = &result["itemMetadata"];
            let slot = meta["originalIndex"].as_u64().and_then(|at| batch.get_mut(at as usize));
            let Some(item) = slot.and_then(Option::take) else { continue };
            if meta["success"] == true {
                self.saved(&item, meta["id"].as_str().unwrap_or_default(), result["action"] == "INSERT", with_links)?;
            } else if with_links && meta["error"]["code"] == Code::ItemNotFound.name() && !item.links.is_empty() {
                unresolved.push(item);
            } else {
                self.counts.failed += 1;
                self.errors.add(item.line, meta["error"]["description"].as_str().unwrap_or("refused"));
            }
        }
        Ok(unresolved)
    }

    fn saved(&mut self, item: &BatchItem, id: &str, is_new: bool, is_linked: bool) -> Result<(), String> {
        let count = if is_new { &mut self.counts.inserted } else { &mut self.counts.updated };
        *count += 1;
        if is_linked {
            self.counts.links.get_or_insert_default().made += item.link_count() as u64;
        }
        // Of an item that comes twice the last value counts, and one that is new wasn't there before.
        if !is_linked || !is_new && !self.deferred.is_empty {
            for (field, ids) in &item.links {
                let (id, field, ids) = (id.to_owned(), field.clone(), ids.clone());
                let value = DeferredValue { line: item.line, item: id, field, ids, is_linked };
                self.deferred.put(&value).map_err(sentence)?;
            }
        }
        Ok(())
    }

    /// Makes the links of a value, but for those that lead to what isn't there.
    fn link(&mut self, value: DeferredValue) -> Result<(), String> {
        let mut ids = value.ids;
        let links = self.counts.links.get_or_insert_default();
        loop {
            let body = json!({
                "dataCollectionId": self.collection, "referringItemFieldName": value.field,
                "referringItemId": value.item, "newReferencedItemIds": ids,
                "publishPluginOptions": { "includeDraftItems": true },
            });
            let (status, answer) = self.server.ask("POST", "/v2/items/replace-references", Some(&body.to_string()))?;
            let error = &answer["details"]["applicationError"];
            if status == 200 {
                links.made += if value.is_linked { 0 } else { ids.len() as u64 };
                return Ok(());
            }
            let is_missing = error["code"] == Code::ItemNotFound.name();
            match ids.iter().position(|it| error["data"]["itemId"] == it.as_str()) {
                Some(slot) if is_missing => {
                    ids.remove(slot);
                    if !value.is_linked {
                        links.missing += 1;
                        let text = error["description"].as_str().unwrap_or_default();
                        self.unlinked.add_link(value.line, &value.field, text);
                    }
                }
                // The item was removed meanwhile.
                None if is_missing => return Ok(()),
                _ => return Err(refused("/v2/items/replace-references", status, &answer)),
            }
        }
    }
}

fn unique(ids: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::with_capacity(ids.len());
    ids.into_iter().filter(|it| seen.insert(it.clone())).collect()
}

/// The types of a collection's fields by their keys.
fn field_kinds(collection: &Value) -> HashMap<String, String> {
    let kind = |it: &Value| Some((it["key"].as_str()?.to_owned(), it["type"].as_str()?.to_owned()));
    collection["fields"].as_array().into_iter().flatten().filter_map(kind).collect()
}

/// A server elsewhere.
pub struct Server {
    agent: ureq::Agent,
    url: String,
    key: String,
}

impl Server {
    pub fn new(options: &Import) -> Result<Self, String> {
        let key = options.api_key.clone().ok_or("--url needs --api-key")?;
        Ok(Self::at(options.url.as_deref().unwrap_or_default(), &key))
    }

    /// The server of this address, asked with a key.
    pub fn at(url: &str, key: &str) -> Self {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { agent, url: url.trim_end_matches('/').to_owned(), key: key.to_owned() }
    }

    /// # Errors
    /// The server's own code where it refuses; another one where it doesn't answer.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let (status, mut answer) = self.ask("POST", path, Some(&body.to_string()))?;
        if status == 200 {
            return Ok(answer);
        }
        let violations = answer["details"]["validationError"]["fieldViolations"].as_array().into_iter().flatten();
        let text = |it: &Value| Some(format!("{}: {}", it["field"].as_str()?, it["description"].as_str()?));
        let violations: Vec<String> = violations.filter_map(text).collect();
        let mut message = refused(&format!("POST {}{path}", self.url), status, &answer);
        if !violations.is_empty() {
            message = format!("{message}: {}", violations.join("; "));
        }
        let details = &mut answer["details"];
        let code = details["applicationError"]["code"].as_str().unwrap_or(Code::Validation.name()).to_owned();
        let data = details["applicationError"]["data"].take();
        Err(Failure { code, message, data: data.as_object().cloned().unwrap_or_default() })
    }

    pub fn has_collection(&self, id: &str) -> Result<bool, String> {
        let path = collection_path(id);
        match self.ask("GET", &path, None)? {
            (200, _) => Ok(true),
            (404, it) if it["details"]["applicationError"]["code"] == Code::CollectionNotFound.name() => Ok(false),
            (status, it) => Err(refused(&format!("GET {}{path}", self.url), status, &it)),
        }
    }

    pub fn create_collection(&self, definition: &Value) -> Result<(), String> {
        let body = json!({ "collection": definition }).to_string();
        self.call("POST", "/v2/collections", Some(&body)).map(drop)
    }

    fn collection(&self, id: &str) -> Result<Value, String> {
        Ok(self.call("GET", &collection_path(id), None)?["collection"].take())
    }

    fn call(&self, method: &str, path: &str, body: Option<&str>) -> Result<Value, String> {
        match self.ask(method, path, body)? {
            (200, value) => Ok(value),
            (status, value) => Err(refused(&format!("{method} {}{path}", self.url), status, &value)),
        }
    }

    /// The status and the body of an answer.
    fn ask(&self, method: &str, path: &str, body: Option<&str>) -> Result<(u16, Value), String> {
        let address = format!("{}{path}", self.url);
        let sent = match body {
            Some(body) => {
                let request = self.agent.post(&address).header("authorization", &self.key);
                request.header("content-type", "application/json").send(body)
            }
            None => self.agent.get(&address).header("authorization", &self.key).call(),
        };
        let mut response = sent.map_err(|it| format!("{method} {address}: {it}"))?;
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string().map_err(|it| it.to_string())?;
        let value = serde_json::from_str(&text).map_err(|it| format!("{method} {address}: {it}"))?;
        Ok((response.status().as_u16(), value))
    }
}

fn collection_path(id: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("/v2/collections/{encoded}?dataCollectionId={encoded}")
}

fn refused(what: &str, status: u16, answer: &Value) -> String {
    let text = answer.to_string();
    format!("{what}: {status} {}", answer["message"].as_str().unwrap_or(&text))
}

/// Whether a collection has translatable fields; in others `_translations` is a member like any other.
fn is_multilingual(collection: &Value) -> bool {
    let keys =
        |it: &Value| it["multilingualOptions"]["translatableFieldKeys"].as_array().is_some_and(|it| !it.is_empty());
    collection["plugins"].as_array().into_iter().flatten().any(|it| it["type"] == "MULTILINGUAL" && keys(it))
}

/// What items are in other languages comes in where the data is, and not by a server's address.
fn refuse_translations(text: &str) -> Result<(), Fault> {
    const MEMBER: &str = "_translations";
    let has_member =
        || serde_json::from_str::<Value>(text).is_ok_and(|it| it.get(MEMBER).is_some_and(|it| !it.is_null()));
    match text.contains(MEMBER) && has_member() {
        true => {
            let why = format!("{MEMBER} can't be imported into another server; import the file where its data is.");
            Err(Fault::because(Code::NotSupported, why).with("path", MEMBER))
        }
        false => Ok(()),
    }
}
