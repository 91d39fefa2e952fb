//! Items of a file one by one, each with the line on which it begins.
//!
//! Nothing but the item at hand is kept in memory.

use crate::transfer::{Format, cell};
use crate::{collection::Collection, schema::field};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read},
};
use stoa_kernel::{Code, Fault, Result};

/// The longest item that is read at all, with what it is in other languages and the ids that it leads to. What canonical
/// text may have is decided later.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// One item of a file.
pub struct Record {
    /// Counted from 1.
    pub line: u64,
    /// JSON text, or why a line couldn't be made into it.
    pub text: Result<String>,
}

impl Record {
    pub(super) fn size(&self) -> usize {
        self.text.as_ref().map_or(0, String::len)
    }
}

/// Iterates over a file. An error ends it: the file can't be read on.
pub struct Records<R>(Source<R>);

enum Source<R> {
    Json(Elements<R>),
    JsonLines(Lines<R>),
    Csv(Box<Rows<R>>),
    Broken,
}

impl<R: Read> Records<R> {
    /// The collection's fields give the cells of CSV their types.
    pub fn new(format: Format, source: R, collection: &Collection) -> Self {
        let fields = collection.definition.fields.iter();
        Self::typed(format, source, fields.map(|it| (field::key(it).to_owned(), field::kind(it).to_owned())).collect())
    }

    /// For a collection of another server: the types of its fields by their keys.
    pub fn typed(format: Format, source: R, kinds: HashMap<String, String>) -> Self {
        let bytes = Bytes { reader: BufReader::with_capacity(1 << 16, source), line: 1, is_at_start: true };
        Self(match format {
            Format::Json => Source::Json(Elements { bytes, position: Position::Start }),
            Format::JsonLines => Source::JsonLines(Lines { bytes }),
            Format::Csv => {
                let reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes.reader);
                Source::Csv(Box::new(Rows { reader, kinds, names: None }))
            }
        })
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &mut self.0 {
            Source::Json(it) => it.next().transpose(),
            Source::JsonLines(it) => it.next().transpose(),
            Source::Csv(it) => it.next().transpose(),
            Source::Broken => None,
        };
        if matches!(next, Some(Err(_))) {
            self.0 = Source::Broken;
        }
        next
    }
}

/// Bytes with the number of the line they stand on.
struct Bytes<R> {
    reader: BufReader<R>,
    line: u64,
    is_at_start: bool,
}

impl<R: Read> Bytes<R> {
    fn peek(&mut self) -> Result<Option<u8>> {
        if std::mem::take(&mut self.is_at_start) {
            self.skip_byte_order_mark()?;
        }
        let line = self.line;
        let buffer = self.reader.fill_buf().map_err(|it| broken(line, &format!("can't be read: {it}")))?;
        Ok(buffer.first().copied())
    }

    fn advance(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.reader.consume(1);
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
    }

    fn skip_space(&mut self) -> Result<Option<u8>> {
        while matches!(self.peek()?, Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.advance()?;
        }
        self.peek()
    }

    fn skip_byte_order_mark(&mut self) -> Result<()> {
        let buffer = self.reader.fill_buf().map_err(|it| broken(1, &format!("can't be read: {it}")))?;
        if buffer.starts_with(b"\xef\xbb\xbf") {
            self.reader.consume(3);
        }
        Ok(())
    }
}

/// Objects, one a line; lines without anything count but are no items.
struct Lines<R> {
    bytes: Bytes<R>,
}

impl<R: Read> Lines<R> {
    fn next(&mut self) -> Result<Option<Record>> {
        if self.bytes.skip_space()?.is_none() {
            return Ok(None);
        }
        let line = self.bytes.line;
        let mut text = Vec::with_capacity(512);
        let read = (&mut self.bytes.reader).take(MAX_BYTES as u64 + 1).read_until(b'\n', &mut text);
        read.map_err(|it| broken(line, &format!("can't be read: {it}")))?;
        if text.len() > MAX_BYTES {
            return Err(broken(line, "is too long"));
        }
        self.bytes.line += 1;
        Ok(Some(Record { line, text: utf8(text) }))
    }
}

/// The elements of one array. Without brackets, objects one after another are taken as well.
struct Elements<R> {
    bytes: Bytes<R>,
    position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Start,
    InArray,
    /// After the bracket that ends the array.
    After,
    Bare,
}

impl<R: Read> Elements<R> {
    fn next(&mut self) -> Result<Option<Record>> {
        let first = self.bytes.skip_space()?;
        match (self.position, first) {
            (Position::Start, None) => return Err(broken(self.bytes.line, "has no JSON")),
            (Position::Start, Some(b'[')) => {
                self.bytes.advance()?;
                self.position = Position::InArray;
                if self.bytes.skip_space()? == Some(b']') {
                    return self.end();
                }
            }
            (Position::Start, Some(b'{')) => self.position = Position::Bare,
            (Position::Start, Some(_)) => return Err(broken(self.bytes.line, "must begin with [")),
            (Position::InArray, Some(b']')) => return self.end(),
            (Position::InArray, Some(b',')) => {
                self.bytes.advance()?;
                self.bytes.skip_space()?;
            }
            (Position::InArray, Some(_)) => return Err(broken(self.bytes.line, "has no comma between two items")),
            (Position::InArray, None) => return Err(broken(self.bytes.line, "ends inside the array")),
            (Position::After | Position::Bare, None) => return Ok(None),
            (Position::After, Some(_)) => return Err(broken(self.bytes.line, "goes on after the array")),
            (Position::Bare, Some(_)) => {}
        }
        let line = self.bytes.line;
        Ok(Some(Record { line, text: utf8(self.value(line)?) }))
    }

    fn end(&mut self) -> Result<Option<Record>> {
        self.bytes.advance()?;
        self.position = Position::After;
        match self.bytes.skip_space()? {
            None => Ok(None),
            Some(_) => Err(broken(self.bytes.line, "goes on after the array")),
        }
    }

    /// The text of one value: brackets are counted, strings are passed over.
    fn value(&mut self, line: u64) -> Result<Vec<u8>> {
        let mut text = Vec::with_capacity(512);
        let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
        loop {
            let Some(byte) = self.bytes.peek()? else {
                return match depth == 0 && !in_string && !text.is_empty() {
                    true => Ok(text),
                    false => Err(broken(line, "begins an item that does not end")),
                };
            };
            let is_end = depth == 0 && !in_string && matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
            if is_end {
                return match text.is_empty() {
                    true => Err(broken(line, "has no item where one must be")),
                    false => Ok(text),
                };
            }
            self.bytes.advance()?;
            text.push(byte);
            if text.len() > MAX_BYTES {
                return Err(broken(line, "begins an item that is too long"));
            }
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_string => is_escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(text);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Rows of CSV under a header.
struct Rows<R> {
    reader: csv::Reader<BufReader<R>>,
    kinds: HashMap<String, String>,
    /// Names of columns and the kinds of their fields.
    names: Option<Vec<(String, Option<String>)>>,
}

impl<R: Read> Rows<R> {
    fn next(&mut self) -> Result<Option<Record>> {
        if self.names.is_none() {
            let header = self.reader.headers().map_err(|it| csv_fault(&it, 1))?;
            let mut names = Vec::with_capacity(header.len());
            for name in header {
                let name = name.trim_start_matches('\u{feff}').to_owned();
                if names.iter().any(|(it, _)| *it == name) {
                    return Err(broken(1, &format!("names the column {name} twice")));
                }
                let kind = self.kinds.get(&name).cloned();
                names.push((name, kind));
            }
            self.names = Some(names);
        }
        let mut row = csv::StringRecord::new();
        let line = self.reader.position().line();
        match self.reader.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            // The rows behind it are as good as ever.
            Err(error) if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) => {
                let fault = csv_fault(&error, line);
                return Ok(Some(Record { line, text: Err(fault) }));
            }
            Err(error) => return Err(csv_fault(&error, line)),
        }
        let line = row.position().map_or(line, csv::Position::line);
        let names = self.names.as_deref().unwrap_or_default();
        if row.len() > names.len() {
            let text = format!("has {} cells under {} names", row.len(), names.len());
            return Ok(Some(Record { line, text: Err(broken(line, &text)) }));
        }
        Ok(Some(Record { line, text: cell::read_row(names, row.iter()) }))
    }
}

fn csv_fault(error: &csv::Error, line: u64) -> Fault {
    let line = error.position().map_or(line, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => broken(line, "is not UTF-8"),
        _ => broken(line, &format!("can't be read: {error}")),
    }
}

fn utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Fault::because(Code::MalformedJson, "The item is not UTF-8."))
}

fn broken(line: u64, why: &str) -> Fault {
    Fault::because(Code::BadRequest, format!("Line {line} {why}.")).with("line", line)
}
