//! What the process asks its databases for.

use std::sync::{Mutex, OnceLock};
use tracing::{Event, Metadata, Subscriber, field::Field, level_filters::LevelFilter, span};

/// What the process does, in order: the text of each statement, `hash` for each password.
pub static DONE: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// One test at a time: statements are recorded for the whole process.
pub static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

pub fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| tracing::subscriber::set_global_default(Listener).unwrap());
}

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        matches!(metadata.target(), "stoa::statement" | "stoa::password")
    }
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }
    fn event(&self, event: &Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_str(&mut self, _: &Field, value: &str) {
                self.0.push_str(value);
            }
            fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        DONE.lock().unwrap().push(text.0);
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}
