//! Compressed answers, for who asks for them.
//!
//! Only routes that say so are compressed: no answer with a token, a code or a secret is, because its size would tell
//! of them (BREACH). An answer is compressed whole and before it is sent: the state of a compressor is larger than
//! most answers, and would be kept for as long as a reader takes. A client that doesn't send `Accept-Encoding` pays for
//! one look at its headers.

use axum::http::{HeaderMap, HeaderValue, header};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::{Read, Write};

/// An answer with fewer bytes is sent as it is: it fits into one packet either way.
pub(crate) const LEAST: usize = 1_024;

/// How much smaller an answer gets for how much work: it is made for one request.
const QUALITY: u8 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
    Zstandard,
}

impl Encoding {
    /// The fastest first.
    const ALL: [Self; 3] = [Self::Zstandard, Self::Brotli, Self::Gzip];

    /// The fastest that a client takes.
    pub(crate) fn accepted(headers: &HeaderMap) -> Option<Self> {
        if !headers.contains_key(header::ACCEPT_ENCODING) {
            return None;
        }
        Self::ALL.into_iter().find(|it| it.is_accepted(headers))
    }

    /// Whether `Accept-Encoding` names this one, and not to forbid it.
    pub(crate) fn is_accepted(self, headers: &HeaderMap) -> bool {
        let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
        accepted.flat_map(|it| it.split(',')).any(|it| {
            let (name, quality) = it.split_once(';').unwrap_or((it, ""));
            let is_forbidden = matches!(quality.trim().strip_prefix("q="), Some("0" | "0.0" | "0.00" | "0.000"));
            name.trim().eq_ignore_ascii_case(self.name()) && !is_forbidden
        })
    }

    /// The one that an answer is in.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let name = headers.get(header::CONTENT_ENCODING)?;
        Self::ALL.into_iter().find(|it| name.as_bytes() == it.name().as_bytes())
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
    pub(crate) fn encode(self, data: &[u8]) -> Option<Bytes> {
        let room = data.len() / 3;
        let made = match self {
            Self::Brotli => {
                let window = (data.len().max(2).ilog2() + 1).clamp(16, 22);
                let mut encoder =
                    brotli::CompressorWriter::new(Vec::with_capacity(room), 16 * 1024, QUALITY.into(), window);
                encoder.write_all(data).ok()?;
                encoder.into_inner()
            }
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::with_capacity(room), Compression::new(QUALITY.into()));
                encoder.write_all(data).ok()?;
                encoder.finish().ok()?
            }
            Self::Zstandard => zstd::bulk::compress(data, QUALITY.into()).ok()?,
        };
        (made.len() < data.len()).then(|| made.into())
    }

    /// What was encoded; nothing if the data are broken.
    pub(crate) fn decode(self, data: &[u8]) -> Option<Vec<u8>> {
        let mut plain = Vec::new();
        match self {
            Self::Brotli => brotli::Decompressor::new(data, 4_096).read_to_end(&mut plain).ok()?,
            Self::Gzip => flate2::read::GzDecoder::new(data).read_to_end(&mut plain).ok()?,
            Self::Zstandard => zstd::stream::read::Decoder::new(data).ok()?.read_to_end(&mut plain).ok()?,
        };
        Some(plain)
    }
}

/// Whether compression makes a body of this media type smaller.
pub(crate) fn is_compressible(media_type: &str) -> bool {
    media_type.starts_with("text/") || ["json", "xml", "javascript"].iter().any(|format| media_type.contains(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_with_their_quality() {
        let of = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(text));
            Encoding::accepted(&headers)
        };
        assert_eq!(of("gzip, deflate, br, zstd"), Some(Encoding::Zstandard));
        assert_eq!(of("gzip;q=0.5,ZSTD"), Some(Encoding::Zstandard));
        assert_eq!(of("br;q=0, gzip"), Some(Encoding::Gzip));
        assert_eq!(of("identity"), None);
        assert_eq!(Encoding::accepted(&HeaderMap::new()), None);
    }

    #[test]
    fn data_is_encoded_when_that_is_smaller() {
        let text = "{\"a\":1,\"b\":\"text\"},".repeat(1_000);
        for encoding in Encoding::ALL {
            let made = encoding.encode(text.as_bytes()).expect("smaller");
            assert!(made.len() < text.len() / 20, "{encoding:?} {}", made.len());
            assert_eq!(encoding.decode(&made).as_deref(), Some(text.as_bytes()), "{encoding:?}");
            assert_eq!(encoding.decode(&made[..made.len() - 4]), None, "{encoding:?}");
            assert_eq!(encoding.encode(b"x"), None);
        }
    }
}
