//! The random order of a seed: every item has a fixed position in it, equal on both engines.

/// The hexadecimal SHA-256 of the seed's text followed by the item's id.
pub fn key(seed: &str, id: &str) -> String {
    digest(&[seed, id])
}

/// The hexadecimal SHA-256 of texts, one after the other.
pub(crate) fn digest(texts: &[&str]) -> String {
    use std::fmt::Write;
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for it in texts {
        context.update(it.as_bytes());
    }
    let mut hex = String::with_capacity(64);
    for byte in context.finish().as_ref() {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
