//! As much of CBOR (RFC 8949) as authenticators write: the canonical form of CTAP 2.3, chapter 8, where every number has its shortest form, nothing
//! has an unknown length and no tags stand. Whatever else there is reads as nothing.

/// Values inside of values.
const DEEPEST: usize = 4;
/// Entries of a map, and elements of a list.
const MOST: usize = 64;

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const LIST: u8 = 4;
const MAP: u8 = 5;
const SIMPLE: u8 = 7;

/// Reads one value after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// How many entries a map has; its keys and values follow.
    pub(super) fn map(&mut self) -> Option<usize> {
        let entries = usize::try_from(self.of(MAP)?).ok()?;
        (entries <= MOST).then_some(entries)
    }

    /// A whole number.
    pub(super) fn number(&mut self) -> Option<i64> {
        match self.head()? {
            (UNSIGNED, value) => i64::try_from(value).ok(),
            (NEGATIVE, value) => i64::try_from(value).ok().map(|it| -1 - it),
            _ => None,
        }
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.of(BYTES)?;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = self.of(TEXT)?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// Whether a number comes next, and not bytes.
    pub(super) fn is_number(&self) -> bool {
        self.rest.first().is_some_and(|it| matches!(it >> 5, UNSIGNED | NEGATIVE))
    }

    /// Reads a value of any kind and answers its bytes.
    pub(super) fn any(&mut self) -> Option<&'a [u8]> {
        let before = self.rest;
        self.skip(DEEPEST)?;
        before.get(..before.len() - self.rest.len())
    }

    fn skip(&mut self, depth: usize) -> Option<()> {
        let (kind, value) = self.head()?;
        let deeper = || depth.checked_sub(1);
        match kind {
            UNSIGNED | NEGATIVE => Some(()),
            BYTES => self.take(value).map(drop),
            TEXT => std::str::from_utf8(self.take(value)?).ok().map(drop),
            LIST if value <= MOST as u64 => {
                let depth = deeper()?;
                (0..value).try_for_each(|_| self.skip(depth))
            }
            MAP if value <= MOST as u64 => {
                let depth = deeper()?;
                let mut keys = Vec::new();
                for _ in 0..value {
                    let before = self.rest;
                    self.skip(depth)?;
                    // The shortest form is the only one: equal keys have equal bytes.
                    let key = before.get(..before.len() - self.rest.len())?;
                    if keys.contains(&key) {
                        return None;
                    }
                    keys.push(key);
                    self.skip(depth)?;
                }
                Some(())
            }
            // No, yes, nothing, and numbers with a fraction, which were read with their head.
            SIMPLE => Some(()),
            _ => None,
        }
    }

    fn of(&mut self, wanted: u8) -> Option<u64> {
        let (kind, value) = self.head()?;
        (kind == wanted).then_some(value)
    }

    fn head(&mut self) -> Option<(u8, u64)> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        let (kind, info) = (first >> 5, first & 0x1f);
        let width = match info {
            0..=23 if kind == SIMPLE => return matches!(info, 20..=22).then_some((kind, u64::from(info))),
            0..=23 => return Some((kind, u64::from(info))),
            24 if kind == SIMPLE => return None,
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => return None,
        };
        let value = self.take(width)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let shorter = match width {
            1 => 23,
            2 => 0xff,
            4 => 0xffff,
            _ => 0xffff_ffff,
        };
        (kind == SIMPLE || value > shorter).then_some((kind, value))
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Option<usize> {
        let mut reader = Reader::new(bytes);
        reader.any()?;
        Some(reader.rest().len())
    }

    #[test]
    fn values_are_read_whole() {
        let good: [&[u8]; 11] = [
            &[0x00],
            &[0x17],
            &[0x18, 0x18],
            &[0x19, 0x01, 0x00],
            &[0x39, 0x01, 0x00],
            &[0x43, 1, 2, 3],
            &[0x63, b'f', b'm', b't'],
            &[0x82, 0x01, 0x20],
            &[0xa2, 0x01, 0x02, 0x20, 0xf5],
            &[0xf6],
            &[0xf9, 0x3c, 0x00],
        ];
        for bytes in good {
            assert_eq!(whole(bytes), Some(0), "{bytes:?}");
            // Each beginning of it alone is nothing.
            for end in 0..bytes.len() {
                assert_eq!(whole(&bytes[..end]), None, "{:?}", &bytes[..end]);
            }
        }
        assert_eq!(whole(&[0x00, 0x00]), Some(1));
    }

    #[test]
    fn what_is_not_canonical_is_nothing() {
        let bad: [(&[u8], &str); 14] = [
            (&[0x18, 0x17], "a number that has a shorter form"),
            (&[0x19, 0x00, 0xff], "the same in two bytes"),
            (&[0x1a, 0x00, 0x00, 0xff, 0xff], "the same in four"),
            (&[0x1b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], "the same in eight"),
            (&[0x5f, 0x41, 1, 0xff], "bytes of unknown length"),
            (&[0xbf, 0xff], "a map of unknown length"),
            (&[0xa2, 0x01, 0x02, 0x01, 0x03], "a key twice"),
            (&[0xc0, 0x00], "a tag"),
            (&[0xf8, 0x20], "a simple value in two bytes"),
            (&[0xf7], "undefined"),
            (&[0x62, 0xc3, 0x28], "text that is not UTF-8"),
            (&[0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "bytes without an end"),
            (&[0x98, 0x41], "a list that is too long"),
            (&[0x81, 0x81, 0x81, 0x81, 0x81, 0x00], "lists in lists"),
        ];
        for (bytes, what) in bad {
            assert_eq!(whole(bytes), None, "{what}");
        }
    }

    #[test]
    fn numbers_of_both_signs() {
        let read = |bytes: &[u8]| Reader::new(bytes).number();
        assert_eq!(read(&[0x26]), Some(-7));
        assert_eq!(read(&[0x39, 0x01, 0x00]), Some(-257));
        assert_eq!(read(&[0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(read(&[0x41, 0x00]), None);
    }
}
