//! `stoa import --url`: into a server elsewhere, through the API that everybody has.

use crate::{
    cli::Import,
    report::{Output, Report},
    services::sentence,
    transfer::{Errors, Pace, format_of, open},
};
use serde_json::{Value, json};
use std::collections::HashMap;
use stoa_content::transfer::{BATCH, Record, Records};

/// Bytes of one request, well under what a server takes.
const BYTES: usize = 3 * 1024 * 1024;

/// Sends a file in bulk saves; started again it updates what is there.
pub fn import(it: &Import, report: &mut Report) -> Result<Value, String> {
    let server = Server::new(it)?;
    let format = it.format.unwrap_or_else(|| format_of(&it.file));
    let kinds = server.field_kinds(&it.collection)?;
    let records = Records::typed(format.into(), open(&it.file)?, kinds);
    let mut job = Job {
        server,
        collection: &it.collection,
        batch: Vec::new(),
        bytes: 0,
        counts: [0; 3],
        errors: Errors::default(),
    };
    let mut pace = Pace::default();
    report.begin(&it.collection, None);
    for record in records {
        job.push(record.map_err(sentence)?)?;
        if job.batch.is_empty() && pace.is_due() {
            report.progress(&job.counts());
        }
    }
    job.send()?;
    report.end();
    let mut result = job.counts();
    result["errors"] = json!(job.errors.0);
    Ok(result)
}

struct Job<'a> {
    server: Server,
    collection: &'a str,
    batch: Vec<(u64, String)>,
    bytes: usize,
    /// Inserted, updated, failed.
    counts: [u64; 3],
    errors: Errors,
}

impl Job<'_> {
    fn counts(&self) -> Value {
        let [inserted, updated, failed] = self.counts;
        json!({ "done": inserted + updated + failed, "inserted": inserted, "updated": updated, "failed": failed })
    }

    fn push(&mut self, record: Record) -> Result<(), String> {
        match record.text {
            Ok(text) => {
                if self.bytes + text.len() > BYTES {
                    self.send()?;
                }
                self.bytes += text.len() + 16;
                self.batch.push((record.line, text));
            }
            Err(fault) => {
                self.counts[2] += 1;
                self.errors.push(record.line, &fault);
            }
        }
        if self.batch.len() == BATCH { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), String> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let items: Vec<String> = self.batch.iter().map(|(_, text)| format!("{{\"data\":{text}}}")).collect();
        let body = format!("{{\"dataCollectionId\":{},\"dataItems\":[{}]}}", json!(self.collection), items.join(","));
        let answer = self.server.call("POST", "/v2/bulk/items/save", Some(&body))?;
        for result in answer["results"].as_array().into_iter().flatten() {
            let meta = &result["itemMetadata"];
            if meta["success"] == true {
                self.counts[usize::from(result["action"] != "INSERT")] += 1;
                continue;
            }
            self.counts[2] += 1;
            let line = meta["originalIndex"].as_u64().and_then(|at| self.batch.get(at as usize)).map_or(0, |it| it.0);
            let text = meta["error"]["description"].as_str().unwrap_or("refused");
            if self.errors.0.len() < 20 {
                self.errors.0.push(format!("line {line}: {text}"));
            }
        }
        self.batch.clear();
        self.bytes = 0;
        Ok(())
    }
}

struct Server {
    agent: ureq::Agent,
    url: String,
    key: String,
}

impl Server {
    fn new(it: &Import) -> Result<Self, String> {
        let url = it.url.clone().unwrap_or_default().trim_end_matches('/').to_owned();
        let key = it.api_key.clone().ok_or("--url needs --api-key")?;
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self { agent, url, key })
    }

    fn field_kinds(&self, collection: &str) -> Result<HashMap<String, String>, String> {
        let encoded: String = url::form_urlencoded::byte_serialize(collection.as_bytes()).collect();
        let answer = self.call("GET", &format!("/v2/collections/{encoded}?dataCollectionId={encoded}"), None)?;
        let fields = answer["collection"]["fields"].as_array().cloned().unwrap_or_default();
        let kind = |it: &Value| Some((it["key"].as_str()?.to_owned(), it["type"].as_str()?.to_owned()));
        Ok(fields.iter().filter_map(kind).collect())
    }

    fn call(&self, method: &str, path: &str, body: Option<&str>) -> Result<Value, String> {
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
        let value: Value = serde_json::from_str(&text).map_err(|it| format!("{method} {address}: {it}"))?;
        match response.status().as_u16() {
            200 => Ok(value),
            status => Err(format!("{method} {address}: {status} {}", value["message"].as_str().unwrap_or(&text))),
        }
    }
}
