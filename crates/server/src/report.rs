//! Progress of long work: a bar on a terminal, plain lines otherwise, JSON lines where asked for.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what commands print")]

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use std::io::{IsTerminal, Write};

/// Where a command's progress and text go.
pub trait Output {
    fn progress(&mut self, value: &Value);
    fn text(&mut self, text: &[u8]) -> std::io::Result<()>;
}

/// Prints for a person or a script, whichever is there.
pub struct Report {
    bar: Option<ProgressBar>,
    as_json: bool,
}

impl Report {
    pub fn new(as_json: bool) -> Self {
        let bar = (!as_json && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::no_length();
            let style = ProgressStyle::with_template("{prefix} {bar:32} {human_pos} {msg} {per_sec} {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, as_json }
    }

    /// Gives a bar its length, when that is known, and its name.
    pub fn begin(&mut self, name: &str, total: Option<u64>) {
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_prefix(name.to_owned());
            match total {
                Some(total) => bar.set_length(total),
                None => bar.unset_length(),
            }
        }
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
            Some(bar) => bar.set_position(done),
            None if self.as_json => println!("{value}"),
            None => eprintln!("{done} items"),
        }
    }

    fn text(&mut self, text: &[u8]) -> std::io::Result<()> {
        std::io::stdout().write_all(text)
    }
}
