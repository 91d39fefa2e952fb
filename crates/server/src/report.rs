//! Progress of long work: a bar on a terminal, plain lines otherwise, JSON lines where asked for.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what commands print")]

use crate::print::count;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use std::io::{IsTerminal, Read, Write};

/// Where a command's progress and text go.
pub trait Output {
    fn progress(&mut self, value: &Value);
    fn text(&mut self, text: &[u8]) -> std::io::Result<()>;
}

/// Prints for a person or a script, whichever is there.
pub struct Report {
    bar: Option<ProgressBar>,
    as_json: bool,
    /// Whether the bar counts the bytes of a file; otherwise it counts items.
    is_of_bytes: bool,
}

impl Report {
    pub fn new(as_json: bool) -> Self {
        let bar = (!as_json && std::io::stderr().is_terminal()).then(ProgressBar::no_length);
        Self { bar, as_json, is_of_bytes: false }
    }

    /// Begins work on so many items.
    pub fn begin(&mut self, name: &str, total: u64) {
        self.is_of_bytes = false;
        self.start(name, Some(total));
    }

    /// Begins work on a file of so many bytes, if that is known, and counts what is read of it: the bar moves
    /// wherever the work is done.
    pub fn begin_file(&mut self, name: &str, input: Box<dyn Read + Send>, bytes: Option<u64>) -> Box<dyn Read + Send> {
        self.is_of_bytes = true;
        self.start(name, bytes);
        match &self.bar {
            Some(bar) => Box::new(bar.wrap_read(input)),
            None => input,
        }
    }

    fn start(&self, name: &str, total: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        bar.reset();
        bar.set_prefix(name.to_owned());
        bar.set_message("");
        let shape = match total {
            Some(total) => {
                bar.set_length(total);
                "{prefix} {bar:32} {percent}% {msg} {elapsed}"
            }
            None => {
                bar.unset_length();
                "{prefix} {spinner} {msg} {elapsed}"
            }
        };
        bar.set_style(ProgressStyle::with_template(shape).unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    pub fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Output for Report {
    fn progress(&mut self, value: &Value) {
        let done = value["done"].as_u64().unwrap_or_default();
        match &self.bar {
            Some(bar) => {
                let seconds = bar.elapsed().as_secs_f64().max(0.001);
                let pace = (done as f64 / seconds).round() as u64;
                bar.set_message(format!("{} items, {}/s", count(done), count(pace)));
                if !self.is_of_bytes {
                    bar.set_position(done);
                }
            }
            None if self.as_json => println!("{value}"),
            None => eprintln!("{} items", count(done)),
        }
    }

    fn text(&mut self, text: &[u8]) -> std::io::Result<()> {
        std::io::stdout().write_all(text)
    }
}
