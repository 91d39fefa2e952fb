//! The log: lines on standard error.
//!
//! There is a line for each request, and a write for each line would cost as much as a short request. So those lines
//! are gathered and written ten times a second; all others are written at once, after what was gathered.

use crate::{config::Config, watch::Work};
use std::{
    io::{IsTerminal, Write, stderr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use stoa_http::REQUESTS;
use tracing::Metadata;
use tracing_subscriber::{
    EnvFilter, Layer,
    fmt::{self, MakeWriter},
    layer::SubscriberExt,
    registry,
    util::SubscriberInitExt,
};

/// How long a line about a request may wait.
const PERIOD: Duration = Duration::from_millis(100);
/// Bytes that are gathered at most.
const MOST: usize = 64 * 1024;

static GATHERED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Begins to log as the configuration says, and to count work where somebody watches.
pub fn start(config: &Config) -> Arc<Work> {
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = fmt::layer().with_writer(Lines);
    let lines = match config.log_json {
        true => lines.json().boxed(),
        false => lines.with_ansi(stderr().is_terminal()).with_target(false).boxed(),
    };
    let work = Arc::new(Work::default());
    let watching = config.metrics.map(|_| work.layer());
    registry().with(lines.with_filter(filter)).with(watching).init();
    let writing = std::thread::Builder::new().name("stoa-log".to_owned());
    let _ = writing.spawn(|| {
        loop {
            std::thread::sleep(PERIOD);
            flush();
        }
    });
    work
}

/// Writes what was gathered.
pub fn flush() {
    write(&mut GATHERED.lock().unwrap_or_else(PoisonError::into_inner), &[]);
}

/// Standard error can't be told about standard error.
fn write(gathered: &mut Vec<u8>, more: &[u8]) {
    if !gathered.is_empty() {
        let _ = stderr().write_all(gathered);
        gathered.clear();
    }
    if !more.is_empty() {
        let _ = stderr().write_all(more);
    }
}

struct Lines;

struct Line {
    is_about_request: bool,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { is_about_request: false }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Line {
        Line { is_about_request: event.target() == REQUESTS }
    }
}

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let mut gathered = GATHERED.lock().unwrap_or_else(PoisonError::into_inner);
        match self.is_about_request && gathered.len() + line.len() <= MOST {
            true => gathered.extend_from_slice(line),
            false => write(&mut gathered, line),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
