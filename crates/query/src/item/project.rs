//! Projection on the text of a document: what isn't asked for is skipped, nothing is parsed.

use crate::plan::{Mask, Projection};
use stoa_kernel::Result;

/// What becomes of a member ([`super::CanonicalItem::edit`], [`edit`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    Keep,
    /// Canonical text in the place of its value.
    Put(String),
    Drop,
}

/// The document with the fields asked for, in its own order; `_id` is always among them.
///
/// `b.c` keeps `b` with its member `c`, in each object if `b` is an array; what has no members is left
/// out (docs/protocol/content.md §21.3). The document must be canonical.
pub fn project(document: &str, projection: &Projection) -> String {
    match projection {
        Projection::All => document.to_owned(),
        Projection::Fields(mask) => {
            let mut out = String::with_capacity(document.len() / 2);
            object(document, mask, &mut out);
            out
        }
    }
}

/// The document without a member, or nothing if it doesn't have it. The document must be canonical.
pub fn without(document: &str, name: &str) -> Option<String> {
    let mut quoted = String::new();
    super::lex::quote(name, &mut quoted);
    let is_it = |member: &str| member.get(..end_of_string(member)) == Some(quoted.as_str());
    if !parts(document).any(is_it) {
        return None;
    }
    let others: Vec<_> = parts(document).filter(|it| !is_it(it)).collect();
    Some(format!("{{{}}}", others.join(",")))
}

/// The document with other members: `each` decides on them, by name and value as they stand in it. The
/// document must be canonical.
///
/// # Errors
/// What `each` answers.
pub fn edit(document: &str, each: impl FnMut(&str, &str) -> Result<Edit>) -> Result<String> {
    Ok(format!("{{{}}}", edited(inside(document), each)?))
}

/// The same without the braces.
pub(super) fn edited(inside: &str, mut each: impl FnMut(&str, &str) -> Result<Edit>) -> Result<String> {
    let mut edited = String::with_capacity(inside.len());
    for (name, value) in members_of(inside) {
        let put;
        let value = match each(name, value)? {
            Edit::Keep => value,
            Edit::Put(it) => {
                put = it;
                &put
            }
            Edit::Drop => continue,
        };
        edited.extend([if edited.is_empty() { "" } else { "," }, name, ":", value]);
    }
    Ok(edited)
}

fn object(text: &str, mask: &Mask, out: &mut String) {
    out.push('{');
    let start = out.len();
    for member in parts(text) {
        let name = &member[..end_of_string(member)];
        let Some(inner) = mask.get(name) else { continue };
        let value = &member[name.len() + 1..];
        let before = out.len();
        if before > start {
            out.push(',');
        }
        out.extend([name, ":"]);
        if !masked(value, inner, out) {
            out.truncate(before);
        }
    }
    out.push('}');
}

/// Writes what the mask leaves of a value; false if that is nothing.
fn masked(value: &str, mask: &Mask, out: &mut String) -> bool {
    if mask.is_whole() {
        out.push_str(value);
        return true;
    }
    match value.as_bytes().first() {
        Some(b'{') if !value.starts_with("{\"$date\":") => object(value, mask, out),
        Some(b'[') => {
            out.push('[');
            let start = out.len();
            for element in parts(value) {
                let before = out.len();
                if before > start {
                    out.push(',');
                }
                if !masked(element, mask, out) {
                    out.truncate(before);
                }
            }
            out.push(']');
        }
        _ => return false,
    }
    true
}

/// The members of a canonical document: each name with its quotes and escapes, and the text of its value.
pub fn members(document: &str) -> impl Iterator<Item = (&str, &str)> {
    members_of(inside(document))
}

/// The same without the braces.
fn members_of(inside: &str) -> impl Iterator<Item = (&str, &str)> {
    parts_of(inside).map(|it| {
        let (name, value) = it.split_at(end_of_string(it));
        (name, value.get(1..).unwrap_or_default())
    })
}

/// The members or elements of a canonical object or array, each as its text.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    parts_of(inside(text))
}

fn inside(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
}

fn parts_of(inside: &str) -> impl Iterator<Item = &str> {
    let mut rest = inside;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = end_of_part(rest);
        let part = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(part)
    })
}

/// Where the next comma outside of nested values is, or the end.
fn end_of_part(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += end_of_string(&text[at..]);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The length of the JSON string that the text begins with, quotes included.
fn end_of_string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projected(document: &str, fields: &[&str]) -> String {
        let fields: Vec<_> = fields.iter().map(|it| it.split('.').map(str::to_owned).collect()).collect();
        project(document, &Projection::of(&fields))
    }

    #[test]
    fn member_is_taken_out() {
        let item = r#"{"_id":"1","a":{"b":1},"b":[1,{"b":2}],"ü\"":","}"#;
        assert_eq!(without(item, "b").as_deref(), Some(r#"{"_id":"1","a":{"b":1},"ü\"":","}"#));
        assert_eq!(without(item, "ü\"").as_deref(), Some(r#"{"_id":"1","a":{"b":1},"b":[1,{"b":2}]}"#));
        assert_eq!(without(item, "c"), None);
    }

    #[test]
    fn projection_keeps_the_order_of_the_document() {
        let item = r#"{"_id":"1","a":{"b":1,"c":{"d":[1,2]}},"l":[{"x":1,"y":2},{"y":3},4],"s":"a,\"}","w":{"$date":"2024-03-05T06:07:08.009Z"}}"#;
        for (fields, expected) in [
            (&["s"][..], r#"{"_id":"1","s":"a,\"}"}"#),
            (&["nothing"], r#"{"_id":"1"}"#),
            (&["s", "a.c"], r#"{"_id":"1","a":{"c":{"d":[1,2]}},"s":"a,\"}"}"#),
            (&["a.c.d", "a.b"], r#"{"_id":"1","a":{"b":1,"c":{"d":[1,2]}}}"#),
            (&["a.b", "a"], r#"{"_id":"1","a":{"b":1,"c":{"d":[1,2]}}}"#),
            (&["a.z"], r#"{"_id":"1","a":{}}"#),
            (&["s.z"], r#"{"_id":"1"}"#),
            (&["l.y"], r#"{"_id":"1","l":[{"y":2},{"y":3}]}"#),
            (&["w.$date"], r#"{"_id":"1"}"#),
            (&["w"], r#"{"_id":"1","w":{"$date":"2024-03-05T06:07:08.009Z"}}"#),
        ] {
            assert_eq!(projected(item, fields), expected, "{fields:?}");
        }
        assert_eq!(projected(item, &[]), item);
    }
}
