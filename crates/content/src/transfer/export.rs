//! A collection written out, chunk by chunk in the order of ids.

use super::{Format, cell};
use crate::{Collection, Content, field};
use serde_json::{Map, Value};
use std::{io::Write, sync::Arc};
use stoa_kernel::{Caller, Fault, Result};
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};

/// Items of one read.
const CHUNK: i64 = 500;

impl Content {
    /// Writes all items and answers how many there were; `tell` hears the number after each chunk.
    ///
    /// Encrypted fields are written out clear: what comes back in is sealed anew.
    ///
    /// CSV has a column for each declared field and for each other name that an item has. It keeps types
    /// only of declared fields; JSON and JSON Lines keep everything.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, WDE0025, an internal fault when `out` can't be written.
    pub async fn export(
        &self,
        site: &Site,
        caller: &Caller,
        collection: &str,
        format: Format,
        out: &mut (dyn Write + Send),
        mut tell: impl FnMut(u64),
    ) -> Result<u64> {
        let collection = self.privileged(site, caller, collection).await?;
        let sight = self.sight(site, caller, &collection).await?;
        let mut sink = match format {
            Format::Csv => Sink::csv(out, columns(site, &collection).await?)?,
            Format::Json => Sink::Json(out, 0),
            Format::JsonLines => Sink::Lines(out),
        };
        let mut count = 0;
        let mut after = String::new();
        loop {
            let mut chunk = chunk(site, &collection, after).await?;
            sight.show_all(chunk.iter_mut().map(|it| &mut it.1))?;
            let Some((last, _)) = chunk.last() else { break };
            after = last.clone();
            for (_, doc) in &chunk {
                sink.write(doc)?;
            }
            count += chunk.len() as u64;
            tell(count);
        }
        sink.end()?;
        Ok(count)
    }
}

/// The items that follow an id.
async fn chunk(site: &Site, collection: &Arc<Collection>, after: String) -> Result<Vec<(String, String)>> {
    let reader = collection.clone();
    let read = site.read(Lane::Scan, move |tx| {
        boxed!({
            let name = &reader.texts.name;
            let sql = format!("select id, doc from {name} where id > $1 order by id limit $2");
            Ok(tx.rows(&sql, &params![after, CHUNK], |row| Ok((row.get(0)?, row.doc(1)?.into_owned()))).await?)
        })
    });
    read.await
}

/// System fields, declared fields, and names that only items have.
async fn columns(site: &Site, collection: &Arc<Collection>) -> Result<Vec<String>> {
    let declared = collection.definition.fields.iter().map(|it| field::key(it).to_owned());
    let mut columns: Vec<String> = field::SYSTEM.iter().map(|it| it.0.to_owned()).chain(declared).collect();
    let mut known: std::collections::HashSet<String> = columns.iter().cloned().collect();
    let mut after = String::new();
    loop {
        let chunk = chunk(site, collection, after).await?;
        let Some((last, _)) = chunk.last() else { return Ok(columns) };
        after = last.clone();
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
