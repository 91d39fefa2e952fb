//! Messages as they are sent: server-sent events.

use crate::change::{Change, Modified, Net};
use bytes::Bytes;
use stoa_content::feed::Interruption;
use stoa_kernel::{Fault, Millis};
use stoa_sql::json::quoted;

/// Items of one message, and about how many bytes: a reader must take a message in a certain time.
const PIECE: usize = 100;
const PIECE_BYTES: usize = 64 * 1024;

/// Why the items of a subscription must be read again. The subscription ends with being told so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resync {
    /// What came in between isn't there any more.
    Gap,
    /// Messages waited for the client, and were too many.
    Overload,
    Import,
    Truncated,
    /// What the caller may see is something else now.
    Permission,
    /// What items are is something else now.
    Schema,
}

impl Resync {
    fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Overload => "overload",
            Self::Import => "import",
            Self::Truncated => "truncated",
            Self::Permission => "permission",
            Self::Schema => "schema",
        }
    }
}

impl From<Interruption> for Resync {
    fn from(interruption: Interruption) -> Self {
        match interruption {
            Interruption::Import => Self::Import,
            Interruption::Truncated => Self::Truncated,
            Interruption::FieldPurged => Self::Schema,
        }
    }
}

/// How a subscription ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Resync(Resync),
    /// The code's name, and what the client reads.
    Failed(&'static str, String),
}

impl End {
    pub(crate) fn failed(fault: &Fault) -> Self {
        Self::Failed(fault.code().name(), fault.message().to_owned())
    }
}

/// The items that a subscription begins with, in pieces; none for none. Items are let go as they are printed, so that they
/// aren't in memory twice.
pub(crate) fn snapshot(key: &str, items: Vec<String>) -> Vec<Bytes> {
    let print = |piece: &str| event("snapshot", None, &format!("{{\"key\":{key},\"items\":[{piece}]}}"));
    let (mut pieces, mut piece, mut count) = (Vec::new(), String::new(), 0);
    for item in items {
        if count > 0 && (count == PIECE || piece.len() + item.len() > PIECE_BYTES) {
            pieces.push(print(&piece));
            piece.clear();
            count = 0;
        }
        if count > 0 {
            piece.push(',');
        }
        piece.push_str(&item);
        count += 1;
    }
    pieces.extend((count > 0).then(|| print(&piece)));
    pieces
}

/// From here on a subscription tells of changes. `total` is told with a snapshot.
pub(crate) fn ready(key: &str, total: Option<i64>, id: &str) -> Bytes {
    let total = total.map(|it| format!(",\"total\":{it}")).unwrap_or_default();
    event("ready", Some(id), &format!("{{\"key\":{key}{total}}}"))
}

/// A change; without an id while there is no place that is good for all subscriptions of the stream.
pub(crate) fn change(key: &str, net: Net, modified: Modified<'_>, change: &Change, id: Option<&str>) -> Bytes {
    use std::fmt::Write;
    let document = change.document.as_deref().filter(|_| net != Net::Leave);
    let mut data = String::with_capacity(document.map_or(0, str::len) + key.len() + change.id.len() + 100);
    let _ = write!(data, "{{\"key\":{key},\"type\":\"{}\",\"id\":{}", net.name(), quoted(&change.id));
    let _ = write!(data, ",\"sequence\":\"{}\"", change.position.sequence());
    if let Some(document) = document {
        let _ = write!(data, ",\"item\":{document}");
    }
    if let Modified::Fields(names) = modified
        && net == Net::Update
    {
        let _ = write!(data, ",\"modifiedFields\":[{}]", names.join(","));
    }
    if net == Net::Leave && change.is_deleted {
        data.push_str(",\"deleted\":true");
    }
    data.push('}');
    event("change", id, &data)
}

/// The end of a subscription.
pub(crate) fn end(key: &str, end: &End) -> Bytes {
    match end {
        End::Resync(it) => event("resync", None, &format!("{{\"key\":{key},\"reason\":\"{}\"}}", it.name())),
        End::Failed(code, text) => {
            let data = format!("{{\"key\":{key},\"code\":{},\"description\":{}}}", quoted(code), quoted(text));
            event("failed", None, &data)
        }
    }
}

/// The end of the stream, and when its client may come back.
pub(crate) fn bye(reconnect: Millis) -> Bytes {
    event("bye", None, &format!("{{\"reconnectMs\":{reconnect}}}"))
}

/// A sign of life, which moves a quiet stream's place along.
pub(crate) fn keep_alive(id: Option<&str>) -> Bytes {
    match id {
        None => Bytes::from_static(b": \n\n"),
        Some(id) => format!(": \nid: {id}\n\n").into(),
    }
}

/// JSON as we print it has no line breaks, so one line holds it.
fn event(name: &str, id: Option<&str>, data: &str) -> Bytes {
    match id {
        None => format!("event: {name}\ndata: {data}\n\n").into(),
        Some(id) => format!("event: {name}\nid: {id}\ndata: {data}\n\n").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many items each message has.
    fn counts(items: Vec<String>) -> Vec<usize> {
        let count = |it: &Bytes| {
            let text = std::str::from_utf8(it).expect("a text");
            let data = text.strip_prefix("event: snapshot\ndata: ").expect("a snapshot").trim_end();
            let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
            data["items"].as_array().map_or(0, Vec::len)
        };
        snapshot("\"a\"", items).iter().map(count).collect()
    }

    #[test]
    fn snapshot_comes_in_pieces_that_a_slow_reader_takes_in_time() {
        let of = |count: usize, length: usize| vec![format!("\"{}\"", "x".repeat(length)); count];
        assert_eq!(counts(Vec::new()), [0; 0]);
        assert_eq!(counts(of(201, 10)), [100, 100, 1]);
        assert_eq!(counts(of(100, 40_000)), [1; 100]);
        assert_eq!(counts(of(5, 30_000)), [2, 2, 1]);
        assert_eq!(counts(of(2, 100_000)), [1, 1], "an item is whole");
    }
}
