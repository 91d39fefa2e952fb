//! Compressed answers, for who asks for them.
//!
//! Only routes that say so are compressed: no answer with a token, a code or a secret is, because its size would tell
//! of them (BREACH). An answer is compressed whole and before it is sent: the state of a compressor is larger than
//! most answers, and would be kept for as long as a reader takes. A client that doesn't send `Accept-Encoding` pays for
//! one look at its headers.

use axum::http::{HeaderMap, HeaderValue, header};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// An answer with fewer bytes is sent as it is: it fits into one packet either way.
pub(crate) const LEAST: usize = 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
    Zstandard,
}

/// How much work is put into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For answers that are made for one request.
    Little,
    /// For files that are compressed once.
    Much,
}

impl Encoding {
    /// For answers: the fastest first.
    pub(crate) const FAST: [Self; 3] = [Self::Zstandard, Self::Brotli, Self::Gzip];
    /// For files: the smallest first.
    pub(crate) const SMALL: [Self; 3] = [Self::Brotli, Self::Zstandard, Self::Gzip];

    /// The first of these that a client takes.
    pub(crate) fn accepted(headers: &HeaderMap, order: [Self; 3]) -> Option<Self> {
        if !headers.contains_key(header::ACCEPT_ENCODING) {
            return None;
        }
        order.into_iter().find(|it| accepts(headers, it.name()))
    }

    /// As `Content-Encoding` has it.
    pub(crate) fn value(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Zstandard => "zstd",
        }
    }

    /// The data in this encoding; nothing if that isn't smaller.
    pub(crate) fn encode(self, data: &[u8], effort: Effort) -> Option<Bytes> {
        let quality = if effort == Effort::Much { 9 } else { 3 };
        let room = data.len() / 3;
        let made = match self {
            Self::Brotli => {
                let window = (data.len().max(2).ilog2() + 1).clamp(16, 22);
                let mut encoder = brotli::CompressorWriter::new(Vec::with_capacity(room), 16 * 1024, quality, window);
                encoder.write_all(data).ok()?;
                encoder.into_inner()
            }
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::with_capacity(room), Compression::new(quality));
                encoder.write_all(data).ok()?;
                encoder.finish().ok()?
            }
            Self::Zstandard => zstd::bulk::compress(data, i32::try_from(quality).ok()?).ok()?,
        };
        (made.len() < data.len()).then(|| made.into())
    }
}

/// Whether compression makes a body of this media type smaller.
pub(crate) fn is_compressible(media_type: &str) -> bool {
    media_type.starts_with("text/") || ["json", "xml", "javascript"].iter().any(|format| media_type.contains(format))
}

/// Whether `Accept-Encoding` names an encoding, and not to forbid it.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    accepted.flat_map(|it| it.split(',')).any(|it| {
        let (name, quality) = it.split_once(';').unwrap_or((it, ""));
        let is_forbidden = matches!(quality.trim().strip_prefix("q="), Some("0" | "0.0" | "0.00" | "0.000"));
        name.trim().eq_ignore_ascii_case(encoding) && !is_forbidden
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_with_their_quality() {
        let of = |text: &'static str, order| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(text));
            Encoding::accepted(&headers, order)
        };
        assert_eq!(of("gzip, deflate, br, zstd", Encoding::SMALL), Some(Encoding::Brotli));
        assert_eq!(of("gzip, deflate, br, zstd", Encoding::FAST), Some(Encoding::Zstandard));
        assert_eq!(of("gzip;q=0.5,ZSTD", Encoding::SMALL), Some(Encoding::Zstandard));
        assert_eq!(of("br;q=0, gzip", Encoding::SMALL), Some(Encoding::Gzip));
        assert_eq!(of("identity", Encoding::FAST), None);
        assert_eq!(Encoding::accepted(&HeaderMap::new(), Encoding::FAST), None);
    }

    #[test]
    fn data_is_encoded_when_that_is_smaller() {
        let text = "{\"a\":1,\"b\":\"text\"},".repeat(1_000);
        for encoding in Encoding::FAST {
            for effort in [Effort::Little, Effort::Much] {
                let made = encoding.encode(text.as_bytes(), effort).expect("smaller");
                assert!(made.len() < text.len() / 20, "{encoding:?} {effort:?} {}", made.len());
            }
            assert_eq!(encoding.encode(b"x", Effort::Little), None);
        }
    }
}
