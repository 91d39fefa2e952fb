//! A collection written out, chunk by chunk in the order of ids.
//!
//! Links are written by the field that was declared, also where there are none: an import then finds what
//! to take away. Its inverse field on the other collection isn't written, for it would say the same
//! links again in an order of its own. A field that leads to a deleted collection isn't written either.

use crate::transfer::{FileOf, Format, cell, commanded, translations};
use crate::{
    Content, RequestContext,
    collection::{Collection, field_view, stored},
    drafts::Drafts,
    reference::{self, Reference, link::FieldLinks},
    schema::{
        field::{self, is_multi},
        relation::Side,
    },
};
use serde_json::{Map, Value};
use std::{io::Write, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::item::members as parts;
use stoa_sql::{json::quoted, params};
use stoa_store::{ReaderPool, Row, Site, boxed};

/// Items of one read.
const CHUNK: usize = 500;
/// Bytes of the documents of one read, and of what they are in other languages, beside those of one item.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

impl Content {
    /// Writes all items and answers how many there were; `tell` hears the number after each chunk.
    ///
    /// Encrypted fields are written out clear: what comes back in is encrypted again.
    ///
    /// CSV has a column for each declared field and for each other name that an item has. It keeps types
    /// only of declared fields; JSON and JSON Lines keep everything.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, WDE0025, an internal fault when `out` can't be written; UNAVAILABLE when the
    /// collection was deleted, or replaced by a copy between environments, before the end: what is written may then be a part.
    pub async fn export(
        &self,
        site: &Site,
        caller: &Caller,
        file: FileOf<'_>,
        out: &mut (dyn Write + Send),
        mut tell: impl FnMut(u64),
    ) -> Result<u64> {
        let (_, collection) =
            commanded(RequestContext::new(self, site, caller, Drafts::Included), file.collection).await?;
        let source = source(self, site, collection).await?;
        let mut sink = match file.format {
            Format::Csv => Sink::csv(out, columns(site, &source).await?)?,
            Format::Json => Sink::Json(out, 0),
            Format::JsonLines => Sink::Lines(out),
        };
        let (mut count, mut chunks) = (0, Chunks::new(site, &source, true));
        loop {
            let mut chunk = chunks.next().await?;
            // For each chunk: an export may take so long that the site has another key meanwhile.
            let view = field_view::load(self, site, caller, &source.collection).await?;
            view.show_all(chunk.iter_mut().map(|it| &mut it.1))?;
            if chunk.is_empty() {
                break;
            }
            for (_, doc) in &chunk {
                sink.write(doc)?;
            }
            count += chunk.len() as u64;
            tell(count);
        }
        still(site, &source.collection).await?;
        sink.end()?;
        Ok(count)
    }
}

/// Refuses a collection whose table is no longer that of its items.
async fn still(site: &Site, collection: &Collection) -> Result<()> {
    let (site_id, id) = (site.id.clone(), collection.id.as_str().to_owned());
    let now = site.read(ReaderPool::Point, move |tx| boxed!(stored::live(tx, &site_id, &id).await)).await?;
    match now.is_some_and(|it| it.number == collection.table.number) {
        true => Ok(()),
        false => {
            let text = "The collection was deleted or replaced before the end of the export, so it may be only a part.";
            Err(Fault::because(Code::Unavailable, text).with("collectionName", collection.id.as_str()))
        }
    }
}

async fn source(content: &Content, site: &Site, collection: Arc<Collection>) -> Result<Arc<Source>> {
    let (mut links, mut multis) = (Vec::new(), Vec::new());
    for it in collection.definition.fields.iter().filter(|it| is_multi(it)) {
        let key = field::key(it);
        multis.push(quoted(key));
        if let Some(found) = reference::target(content, site, &collection, key).await?
            && let (Reference::Multi(link), Some(target)) = (found.reference, &found.collection)
            && link.side == Side::Referring
        {
            links.push((key.to_owned(), FieldLinks::new(site, link, &collection, target)));
        }
    }
    Ok(Arc::new(Source { collection, links, multis }))
}

/// What is exported.
struct Source {
    collection: Arc<Collection>,
    /// The fields whose links are written, by key.
    links: Vec<(String, FieldLinks)>,
    /// All multi-references, as they stand in canonical text. A document may hold a value of such a name from
    /// before the field was declared; that is no link.
    multis: Vec<String>,
}

/// The items one chunk after another.
struct Chunks<'s> {
    site: &'s Site,
    source: &'s Arc<Source>,
    /// Whether links and other languages are read.
    is_whole: bool,
    after: String,
    /// Items of the next read: where fewer fit, not many more are asked for.
    size: usize,
}

impl<'s> Chunks<'s> {
    fn new(site: &'s Site, source: &'s Arc<Source>, is_whole: bool) -> Self {
        Self { site, source, is_whole, after: String::new(), size: CHUNK }
    }

    /// Ids and documents; nothing at the end.
    async fn next(&mut self) -> Result<Vec<(String, String)>> {
        let (chunk, found) = chunk(self.site, self.source, (self.after.clone(), self.size), self.is_whole).await?;
        self.size = if chunk.len() < found { chunk.len().max(1) } else { (self.size * 2).min(CHUNK) };
        if let Some((last, _)) = chunk.last() {
            self.after.clone_from(last);
        }
        Ok(chunk)
    }
}

/// The items that follow an id, as many as fit, and how many were found.
async fn chunk(
    site: &Site,
    source: &Arc<Source>,
    (after, size): (String, usize),
    is_whole: bool,
) -> Result<(Vec<(String, String)>, usize)> {
    let (source, site_id) = (source.clone(), site.id.clone());
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let name = &source.collection.statements.name;
            let sql = format!("select id, doc from {name} where id > $1 order by id limit $2");
            let mut bytes = 0;
            let read = |row: &Row<'_>| {
                if bytes > CHUNK_BYTES {
                    return Ok(None);
                }
                let doc = row.doc(1)?.into_owned();
                bytes += doc.len();
                Ok(Some((row.get::<String>(0)?, doc)))
            };
            let rows = tx.rows(&sql, &params![after, i64::try_from(size).unwrap_or(i64::MAX)], read).await?;
            let found = rows.len();
            let mut chunk: Vec<_> = rows.into_iter().flatten().collect();
            if !source.multis.is_empty() {
                for (_, doc) in &mut chunk {
                    source.take_out(doc);
                }
            }
            if is_whole {
                translations::append(tx, (&site_id, &source.collection), &mut chunk, CHUNK_BYTES).await?;
            }
            if is_whole && !chunk.is_empty() {
                for (key, links) in &source.links {
                    let of = links.of(tx, &chunk.iter().map(|it| it.0.as_str()).collect::<Vec<_>>()).await?;
                    for (id, doc) in &mut chunk {
                        append(doc, key, of.get(id).map_or(&[][..], Vec::as_slice));
                    }
                }
            }
            Ok((chunk, found))
        })
    });
    read.await
}

impl Source {
    fn take_out(&self, doc: &mut String) {
        let is_multi = |it: &(&str, &str)| self.multis.iter().any(|name| name == it.0);
        if parts(doc).any(|it| is_multi(&it)) {
            let kept: Vec<_> =
                parts(doc).filter(|it| !is_multi(it)).map(|(name, value)| [name, value].join(":")).collect();
            *doc = format!("{{{}}}", kept.join(","));
        }
    }
}

/// A member at the end of a document.
fn append(doc: &mut String, key: &str, ids: &[String]) {
    doc.pop();
    doc.push_str(if doc.len() > 1 { "," } else { "" });
    doc.push_str(&quoted(key));
    doc.push_str(":[");
    for (n, id) in ids.iter().enumerate() {
        doc.push_str(if n > 0 { "," } else { "" });
        doc.push_str(&quoted(id));
    }
    doc.push_str("]}");
}

/// System fields, declared fields, the column of other languages where there may be any, and names that only items have.
async fn columns(site: &Site, source: &Arc<Source>) -> Result<Vec<String>> {
    let is_written = |it: &&field::Field| !is_multi(it) || source.links.iter().any(|(key, _)| key == field::key(it));
    let declared = source.collection.definition.fields.iter().filter(is_written).map(|it| field::key(it).to_owned());
    let mut columns: Vec<String> = field::SYSTEM.iter().map(|it| it.0.to_owned()).chain(declared).collect();
    columns.extend((!source.collection.translatable.is_empty()).then(|| translations::COLUMN.to_owned()));
    let mut known: std::collections::HashSet<String> = columns.iter().cloned().collect();
    let mut chunks = Chunks::new(site, source, false);
    loop {
        let chunk = chunks.next().await?;
        if chunk.is_empty() {
            return Ok(columns);
        }
        for (_, doc) in &chunk {
            for name in members(doc)?.keys() {
                if known.insert(name.clone()) {
                    columns.push(name.clone());
                }
            }
        }
    }
}

enum Sink<'w> {
    /// With the number of items so far.
    Json(&'w mut (dyn Write + Send), u64),
    Lines(&'w mut (dyn Write + Send)),
    Csv(Box<csv::Writer<&'w mut (dyn Write + Send)>>, Vec<String>),
}

impl<'w> Sink<'w> {
    fn csv(out: &'w mut (dyn Write + Send), columns: Vec<String>) -> Result<Self> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(&columns).map_err(unwritten)?;
        Ok(Self::Csv(Box::new(writer), columns))
    }

    fn write(&mut self, doc: &str) -> Result<()> {
        match self {
            Self::Json(out, count) => {
                *count += 1;
                let before = if *count == 1 { "[\n" } else { ",\n" };
                out.write_all(before.as_bytes()).and_then(|()| out.write_all(doc.as_bytes())).map_err(unwritten)
            }
            Self::Lines(out) => out.write_all(doc.as_bytes()).and_then(|()| out.write_all(b"\n")).map_err(unwritten),
            Self::Csv(writer, columns) => {
                let item = members(doc)?;
                writer.write_record(columns.iter().map(|it| cell::write(item.get(it)))).map_err(unwritten)
            }
        }
    }

    fn end(self) -> Result<()> {
        match self {
            Self::Json(out, count) => {
                let end = if count == 0 { "[]\n" } else { "\n]\n" };
                out.write_all(end.as_bytes()).and_then(|()| out.flush()).map_err(unwritten)
            }
            Self::Lines(out) => out.flush().map_err(unwritten),
            Self::Csv(mut writer, _) => writer.flush().map_err(unwritten),
        }
    }
}

fn members(doc: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(doc).map_err(Fault::internal)
}

fn unwritten(error: impl std::fmt::Display) -> Fault {
    Fault::internal(format!("writing the export: {error}"))
}
