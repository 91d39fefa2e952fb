//! Numbers in as few bytes as they need: seven bits a byte, the lowest first; all but the last have their highest bit set.

use std::fmt;

/// Bytes that this program doesn't write. The index is to be built anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where reading ended, in bytes from the beginning of the part.
    pub at: usize,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of a search index is damaged at byte {}", self.at)
    }
}

impl std::error::Error for Damaged {}

pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A number below 2^63 and its bytes, if it is there and written in the shortest form.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    // Most are short.
    match *bytes {
        [byte, ..] if byte < 0x80 => return Some((u64::from(byte), 1)),
        [low, high @ 1..0x80, ..] => return Some((u64::from(low & 0x7f) | u64::from(high) << 7, 2)),
        _ => {}
    }
    let mut number = 0;
    for (at, &byte) in bytes.iter().take(9).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return (byte > 0 || at == 0).then_some((number, at + 1));
        }
    }
    None
}

/// The next row of an ascending list after `before`, and the bytes it takes.
#[inline]
pub(crate) fn next_row(bytes: &[u8], before: u64) -> Option<(u64, usize)> {
    let (distance, length) = number(bytes)?;
    let rid = before.checked_add(distance).filter(|&it| distance > 0 && it <= i64::MAX as u64)?;
    Some((rid, length))
}
