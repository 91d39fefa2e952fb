//! Whole requests and answers, written down while tests run and compared with the description of the interface
//! afterwards (decision 28).
//!
//! Off but in servers that tests start: what is written holds passwords, codes and tokens as they were sent. While it is
//! off a request costs one look at an `Option`.

mod body;
mod file;

use crate::encoding::Encoding;
use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header, request::Parts},
    response::Response,
};
use body::{BodyCopy, copied};
use file::LineFile;
use serde_json::{Map, Value, json};
use std::{io, path::Path, sync::Arc};

/// Bytes that are kept of a body; of a longer one the rest is missing.
const BODY: usize = 256 * 1024;

/// The file into which a process writes its exchanges, a line of JSON each.
#[derive(Clone)]
pub struct ExchangeLog {
    file: Arc<LineFile>,
    /// The test that they are of.
    test: Arc<str>,
}

impl ExchangeLog {
    /// Bytes that a process of the tests writes at most: a load of hours must not fill a disk.
    pub const MOST: usize = 1 << 30;

    /// The file of this process in the directory, which is made if it isn't there, for exchanges of the test that the
    /// directory is named after. It takes `most` bytes, and then one line more, `{"isFull":true}`.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(directory: &Path, most: usize) -> io::Result<Self> {
        let test = directory.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self { file: Arc::new(LineFile::open(directory, most)?), test: test.into() })
    }

    /// The same file for another test of this process.
    pub fn of_test(&self, test: &str) -> Self {
        Self { file: self.file.clone(), test: test.into() }
    }

    /// Begins with the head of a request, as it was sent.
    pub(crate) fn begin(&self, parts: &Parts) -> Exchange {
        let keeps = is_kept(&parts.headers);
        Exchange {
            log: self.clone(),
            method: parts.method.clone(),
            sent: parts.uri.clone(),
            canonical: String::new(),
            headers: headers(&parts.headers, matters),
            body: BodyCopy::new(if keeps { BODY } else { 0 }),
        }
    }
}

/// A request in progress, as it will be written down.
pub(crate) struct Exchange {
    log: ExchangeLog,
    method: Method,
    /// The address as it was sent.
    sent: Uri,
    /// The path without its site and its alias.
    canonical: String,
    headers: Map<String, Value>,
    body: BodyCopy,
}

impl Exchange {
    /// Notes the path that routes are found by.
    pub(crate) fn note_path(&mut self, uri: &Uri) {
        self.canonical = uri.path().to_owned();
    }

    /// The request's body, copied as it is read.
    pub(crate) fn request(&self, body: Body) -> Body {
        copied(body, self.body.clone(), ())
    }

    /// The answer, which is written down with the request as soon as its body ends or is given up.
    pub(crate) fn answer(self, route: Option<&'static str>, response: Response) -> Response {
        let (parts, body) = response.into_parts();
        let copy = BodyCopy::new(if is_kept(&parts.headers) { BODY } else { 0 });
        let answer = Answer {
            exchange: self,
            route,
            status: parts.status,
            headers: headers(&parts.headers, |_| true),
            encoding: Encoding::of(&parts.headers),
            body: copy.clone(),
        };
        Response::from_parts(parts, copied(body, copy, answer))
    }
}

/// An answer on its way. It is written down when it is dropped.
struct Answer {
    exchange: Exchange,
    /// As it stands in the table of routes; nothing for what has none: pages, preflights, unknown paths.
    route: Option<&'static str>,
    status: StatusCode,
    headers: Map<String, Value>,
    encoding: Option<Encoding>,
    body: BodyCopy,
}

impl Drop for Answer {
    fn drop(&mut self) {
        let it = &self.exchange;
        let line = json!({
            "test": &*it.log.test,
            "method": it.method.as_str(),
            "path": it.sent.path(),
            "query": it.sent.query(),
            "canonical": it.canonical,
            "route": self.route,
            "request": { "headers": it.headers, "body": it.body.json(None) },
            "status": self.status.as_u16(),
            "response": { "headers": self.headers, "body": self.body.json(self.encoding) },
        });
        it.log.file.append(line.to_string());
    }
}

/// Headers of a request that say how it is meant. Those of browsers about themselves, cookies and tokens don't.
fn matters(name: &HeaderName) -> bool {
    let name = name.as_str();
    let matters = ["accept", "content-type", "if-none-match", "origin"].contains(&name);
    matters || name.starts_with("x-") || name.starts_with("wix-")
}

/// Headers by name; the values of one that is repeated are joined.
fn headers(headers: &HeaderMap, is_wanted: impl Fn(&HeaderName) -> bool) -> Map<String, Value> {
    let wanted = headers.keys().filter(|it| is_wanted(it));
    let joined = |name: &HeaderName| {
        let values = headers.get_all(name).iter().map(|it| String::from_utf8_lossy(it.as_bytes()));
        values.collect::<Vec<_>>().join(", ")
    };
    wanted.map(|name| (name.to_string(), Value::from(joined(name)))).collect()
}

/// Whether a body is of a kind that the description knows. Pages and pictures are not.
fn is_kept(headers: &HeaderMap) -> bool {
    let Some(media_type) = headers.get(header::CONTENT_TYPE) else { return true };
    let media_type = media_type.to_str().unwrap_or_default();
    media_type.contains("json")
        || ["application/x-www-form-urlencoded", "text/plain", "text/event-stream"]
            .iter()
            .any(|it| media_type.starts_with(it))
}
