//! Import and export as commands: files and pipes on one side, a collection on the other.

use crate::{
    cli::Format,
    failure::Failure,
    report::Output,
    services::{Services, operator},
};
use serde_json::{Value, json};
use std::{fs::File, io::Read, path::Path, sync::Arc};
use stoa_content::transfer;
use stoa_kernel::Fault;
use stoa_store::Site;
use tokio::runtime::Handle;

/// What is read, and into which collection.
pub struct Source<'a> {
    pub collection: &'a str,
    pub format: Format,
    pub options: transfer::ImportOptions<'a>,
    pub input: Box<dyn Read + Send>,
}

/// Reads items into a collection, telling progress at most once a second.
pub fn import(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    source: Source<'_>,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let (mut errors, mut unlinked) = (Errors::default(), Errors::default());
    let mut pace = Pace::default();
    let tell = |event: transfer::Event<'_>| match event {
        transfer::Event::Progress(counts) if pace.is_due() => {
            let mut progress = json!({ "done": counts.inserted + counts.updated + counts.unchanged + counts.failed });
            add_counts(&counts, &mut progress);
            output.progress(&progress);
        }
        transfer::Event::Progress(_) => {}
        transfer::Event::Refused { line, fault } => errors.push(line, fault),
        transfer::Event::Unlinked { line, fault } => unlinked.push_link(line, fault),
    };
    let Source { collection, format, options, input } = source;
    let (operator, file) = (operator(), transfer::FileOf { collection, format: format.into() });
    let work = services.content.import_with(site, &operator, file, options, input, tell);
    let counts = runtime.block_on(work)?;
    let mut result = json!({});
    add_counts(&counts, &mut result);
    if options.key.is_some() || options.is_dry_run {
        result["unchanged"] = counts.unchanged.into();
    }
    if options.is_dry_run {
        result["isDryRun"] = true.into();
    }
    errors.0.append(&mut unlinked.0);
    result["errors"] = json!(errors.0);
    Ok(result)
}

/// Adds the counts to an answer; those of links where the collection can have any.
pub fn add_counts(counts: &transfer::Counts, to: &mut Value) {
    to["inserted"] = counts.inserted.into();
    to["updated"] = counts.updated.into();
    to["failed"] = counts.failed.into();
    if let Some(links) = counts.links {
        to["linked"] = links.made.into();
        to["unlinked"] = links.missing.into();
    }
}

/// Writes a collection's items to the output.
pub fn export(
    services: &Services,
    runtime: &Handle,
    site: Arc<Site>,
    collection: &str,
    format: Format,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let (pieces, texts) = std::sync::mpsc::sync_channel::<Vec<u8>>(8);
    let (services, name) = (services.clone(), collection.to_owned());
    let work = runtime.spawn(async move {
        let mut out = std::io::BufWriter::with_capacity(1 << 16, Pieces(pieces));
        services
            .content
            .export(&site, &operator(), transfer::FileOf { collection: &name, format: format.into() }, &mut out, |_| {})
            .await
    });
    for text in texts {
        output.text(&text).map_err(|it| format!("the output can't be written: {it}"))?;
    }
    let count = runtime.block_on(work).map_err(|it| it.to_string())??;
    Ok(json!({ "exported": count }))
}

/// Exported text on its way from the reading task to the writer.
struct Pieces(std::sync::mpsc::SyncSender<Vec<u8>>);

impl std::io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| std::io::Error::from(std::io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The first refused items, or links that could not be made, in words; the rest are only counted.
#[derive(Default)]
pub struct Errors(pub Vec<String>);

impl Errors {
    const MOST: usize = 20;

    pub fn push(&mut self, line: u64, fault: &Fault) {
        self.add(line, &format!("{} ({})", fault.message(), fault.code().name()));
    }

    /// The item was saved, and one of its links could not be made.
    pub fn push_link(&mut self, line: u64, fault: &Fault) {
        let field = fault.data()["propertyName"].as_str().unwrap_or_default();
        self.add_link(line, field, &format!("{} ({})", fault.message(), fault.code().name()));
    }

    pub fn add(&mut self, line: u64, text: &str) {
        if self.0.len() < Self::MOST {
            self.0.push(format!("line {line}: {text}"));
        }
    }

    pub fn add_link(&mut self, line: u64, field: &str, text: &str) {
        self.add(line, &format!("saved without a link by {field}: {text}"));
    }
}

/// Once a second is often enough to tell.
#[derive(Default)]
pub struct Pace(Option<std::time::Instant>);

impl Pace {
    #[expect(clippy::disallowed_methods, reason = "the pace of a progress display")]
    pub fn is_due(&mut self) -> bool {
        let now = std::time::Instant::now();
        let is_due = self.0.is_none_or(|it| now.duration_since(it).as_millis() >= 1000);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}

impl From<Format> for transfer::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::JsonLines,
            Format::Json => Self::Json,
            Format::Csv => Self::Csv,
        }
    }
}

/// The format that a file's ending names.
pub fn format_of(file: &Path) -> Format {
    match file.extension().and_then(|it| it.to_str()) {
        Some("json") => Format::Json,
        Some("csv") => Format::Csv,
        _ => Format::Jsonl,
    }
}

/// Opens what is to be imported, with its size if that is known.
pub fn open_with_size(file: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>), String> {
    let input = open(file)?;
    let size = std::fs::metadata(file).ok().filter(|it| it.is_file() && file.as_os_str() != "-").map(|it| it.len());
    Ok((input, size))
}

/// Opens what is to be imported; `-` is standard input.
pub fn open(file: &Path) -> Result<Box<dyn Read + Send>, String> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = File::open(file).map_err(|it| format!("{}: {it}", file.display()))?;
    Ok(Box::new(std::io::BufReader::with_capacity(1 << 16, opened)))
}
