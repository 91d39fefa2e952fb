//! SQLite's binary JSON, read in place: <https://sqlite.org/jsonb.html>.
//!
//! A filter that looks at every item of a collection spends its time on finding one member in each of
//! them. A pass over the bytes gives the value and its type at once, and allocates nothing. A page spends
//! its time on turning documents into text: another pass does it, in about half the time that `json()` takes.
//!
//! ```text
//! element = head, payload     head = (size « 4 | kind), and 1, 2, 4 or 8 bytes of a larger size
//! ```

use std::borrow::Cow;

/// One value inside a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    kind: u8,
    payload: &'a [u8],
}

const NULL: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const INTEGER: u8 = 3;
const REAL: u8 = 5;
/// Text that stands for itself.
const TEXT: u8 = 7;
/// Text with the escapes of JSON.
const TEXT_ESCAPED: u8 = 8;
/// Text that stands for itself, with characters that JSON would escape.
const TEXT_RAW: u8 = 10;
const ARRAY: u8 = 11;
const OBJECT: u8 = 12;

/// No document is as deep; what else might be in a file must not use up the stack.
const DEEPEST: usize = 100;

/// The JSON text that a document was made of, if that was canonical; nothing if the bytes aren't JSONB, or
/// are what no canonical text comes to.
pub fn print(document: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(document.len() + document.len() / 4 + 16);
    print_to(document, &mut out)?;
    String::from_utf8(out).ok()
}

/// The same, appended to what is there. Whether it is UTF-8 is left to the reader of the whole: texts are
/// many and short.
pub fn print_to(document: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if print_first(document, out, 0)?.is_empty() { Some(()) } else { None }
}

/// The value of the document's first member, as [`print_to`] has it.
pub fn print_first_member_to(document: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let Head { kind: OBJECT, size, rest } = head(document)? else { return None };
    let (_, value) = first(rest.get(..size)?)?;
    print_first(value, out, 1).map(|_| ())
}

impl<'a> Element<'a> {
    /// The whole document; nothing if the bytes aren't JSONB.
    pub fn root(document: &'a [u8]) -> Option<Self> {
        first(document).map(|(it, _)| it)
    }

    /// A number, as a double. Canonical text has no other numbers than those of JSON.
    pub fn number(self) -> Option<f64> {
        match self.kind {
            INTEGER => whole(self.payload).or_else(|| std::str::from_utf8(self.payload).ok()?.parse().ok()),
            REAL => std::str::from_utf8(self.payload).ok()?.parse().ok(),
            _ => None,
        }
    }

    pub fn text(self) -> Option<Cow<'a, str>> {
        match self.kind {
            TEXT | TEXT_RAW => std::str::from_utf8(self.payload).ok().map(Cow::Borrowed),
            TEXT_ESCAPED => unescaped(self.payload).map(Cow::Owned),
            _ => None,
        }
    }

    pub fn flag(self) -> Option<bool> {
        match self.kind {
            TRUE => Some(true),
            FALSE => Some(false),
            _ => None,
        }
    }

    pub fn is_array(self) -> bool {
        self.kind == ARRAY
    }

    pub fn is_object(self) -> bool {
        self.kind == OBJECT
    }

    /// The members of an object, each as its name and its value; none of anything else.
    pub fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let mut rest = if self.is_object() { self.payload } else { &[] };
        std::iter::from_fn(move || {
            let (name, after) = first(rest)?;
            let (value, after) = first(after)?;
            rest = after;
            Some((name, value))
        })
    }

    /// Whether it is this text.
    pub fn is_text(self, text: &str) -> bool {
        self.is(text)
    }

    /// The elements of an array; none of anything else.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        let mut rest = if self.is_array() { self.payload } else { &[] };
        std::iter::from_fn(move || {
            let (element, after) = first(rest)?;
            rest = after;
            Some(element)
        })
    }

    /// The member of an object.
    pub fn member(self, name: &str) -> Option<Self> {
        let mut rest = if self.kind == OBJECT { self.payload } else { &[] };
        while !rest.is_empty() {
            let (label, after) = first(rest)?;
            let (value, after) = first(after)?;
            if label.is(name) {
                return Some(value);
            }
            rest = after;
        }
        None
    }

    fn is(self, name: &str) -> bool {
        match self.kind {
            TEXT | TEXT_RAW => self.payload == name.as_bytes(),
            // An escape is longer than what it stands for.
            TEXT_ESCAPED if self.payload.len() > name.len() => unescaped(self.payload).is_some_and(|it| it == name),
            _ => false,
        }
    }
}

/// A whole number of so few digits that a double has it exactly, which most are.
fn whole(digits: &[u8]) -> Option<f64> {
    const MOST: usize = 15;
    if digits.is_empty() || digits.len() > MOST || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0_u64, |sum, it| sum * 10 + u64::from(it - b'0')) as f64)
}

/// Appends the text of the element that the bytes begin with, and answers the bytes behind it.
fn print_first<'a>(bytes: &'a [u8], out: &mut Vec<u8>, depth: usize) -> Option<&'a [u8]> {
    let Head { kind, size, rest } = head(bytes)?;
    let (payload, behind) = rest.split_at_checked(size)?;
    match kind {
        NULL => out.extend_from_slice(b"null"),
        TRUE => out.extend_from_slice(b"true"),
        FALSE => out.extend_from_slice(b"false"),
        INTEGER | REAL => append(out, rest, size),
        TEXT | TEXT_ESCAPED => {
            out.push(b'"');
            append(out, rest, size);
            out.push(b'"');
        }
        ARRAY if depth <= DEEPEST => {
            out.push(b'[');
            let mut left = payload;
            while !left.is_empty() {
                left = print_first(left, out, depth + 1)?;
                out.extend_from_slice(if left.is_empty() { b"" } else { b"," });
            }
            out.push(b']');
        }
        OBJECT if depth <= DEEPEST => {
            out.push(b'{');
            let mut left = payload;
            while !left.is_empty() {
                left = print_first(left, out, depth + 1)?;
                out.push(b':');
                left = print_first(left, out, depth + 1)?;
                out.extend_from_slice(if left.is_empty() { b"" } else { b"," });
            }
            out.push(b'}');
        }
        _ => return None,
    }
    Some(behind)
}

/// Appends the first bytes of these. Most texts are short: a copy of a fixed size costs less than asking
/// how much there is to copy.
#[inline]
fn append(out: &mut Vec<u8>, bytes: &[u8], size: usize) {
    const SHORT: usize = 32;
    match bytes.first_chunk::<SHORT>() {
        Some(chunk) if size <= SHORT => {
            let end = out.len() + size;
            out.extend_from_slice(chunk);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&bytes[..size]),
    }
}

/// The element that the bytes begin with, and the bytes behind it.
fn first(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let Head { kind, size, rest } = head(bytes)?;
    let (payload, behind) = rest.split_at_checked(size)?;
    Some((Element { kind, payload }, behind))
}

/// What stands before a payload.
struct Head<'a> {
    kind: u8,
    /// Bytes of the payload, with which the rest begins, if it is as long.
    size: usize,
    rest: &'a [u8],
}

#[inline]
fn head(bytes: &[u8]) -> Option<Head<'_>> {
    let (&head, rest) = bytes.split_first()?;
    let (size, rest) = match head >> 4 {
        it @ 0..=11 => (usize::from(it), rest),
        12 => rest.split_first().map(|(size, rest)| (usize::from(*size), rest))?,
        13 => rest.split_first_chunk().map(|(size, rest)| (usize::from(u16::from_be_bytes(*size)), rest))?,
        14 => rest
            .split_first_chunk()
            .and_then(|(size, rest)| Some((u32::from_be_bytes(*size).try_into().ok()?, rest)))?,
        _ => rest
            .split_first_chunk()
            .and_then(|(size, rest)| Some((u64::from_be_bytes(*size).try_into().ok()?, rest)))?,
    };
    Some(Head { kind: head & 15, size, rest })
}

fn unescaped(payload: &[u8]) -> Option<String> {
    serde_json::from_slice(&[b"\"", payload, b"\""].concat()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head and its payload, as SQLite writes them.
    fn element(kind: u8, payload: &[u8]) -> Vec<u8> {
        let size = payload.len();
        let head = match size {
            0..=11 => vec![(size as u8) << 4 | kind],
            12..=255 => vec![0xc0 | kind, size as u8],
            _ => vec![0xd0 | kind, (size >> 8) as u8, size as u8],
        };
        [head, payload.to_vec()].concat()
    }

    #[test]
    fn members_and_elements_are_found_by_walking() {
        let list = element(ARRAY, &[element(INTEGER, b"500"), element(REAL, b"1e+21"), vec![TRUE]].concat());
        let long = "n".repeat(300);
        let members = [
            element(TEXT, long.as_bytes()),
            element(TEXT_ESCAPED, br"a\tb"),
            element(TEXT_ESCAPED, br"a\tb"),
            vec![FALSE],
            element(TEXT, b"list"),
            list,
        ];
        let document = element(OBJECT, &members.concat());
        let root = Element::root(&document).unwrap();
        assert_eq!(root.member(&long).unwrap().text().unwrap(), "a\tb");
        assert_eq!(root.member("a\tb").unwrap().flag(), Some(false));
        let list: Vec<_> = root.member("list").unwrap().elements().collect();
        assert_eq!(list.iter().map(|it| it.number()).collect::<Vec<_>>(), [Some(500.0), Some(1e21), None]);
        assert_eq!(list[2].flag(), Some(true));
        assert!(root.member("other").is_none() && list[0].member("x").is_none() && root.elements().next().is_none());
    }

    #[test]
    fn truncated_values_hold_nothing() {
        let document = element(OBJECT, &[element(TEXT, b"name"), element(TEXT, &[b'x'; 300])].concat());
        for length in 0..document.len() {
            assert!(Element::root(&document[..length]).is_none());
        }
        assert!(
            Element::root(b"\xff").is_none() && Element::root(b"{\"a\":1}").is_none_or(|it| it.member("a").is_none())
        );
    }
}
