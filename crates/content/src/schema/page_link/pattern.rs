//! Patterns of page links: `/products/{title}`, read once when a definition is made or loaded.

use super::urlize::{MOST_BYTES, Style, is_bidi, leads_elsewhere, urlize};
use std::ops::ControlFlow;

/// Parts between slashes that a pattern may have.
pub(crate) const MOST_PARTS: usize = 20;
/// Fields that a pattern may name, one more than once counted each time.
pub(crate) const MOST_FIELDS: usize = 10;

/// A pattern, without a look at the fields that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    parts: Vec<Vec<Piece>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Percent-encoded.
    Text(String),
    /// The key of a field.
    Field(String),
}

impl Pattern {
    /// Reads a pattern. A slash at its beginning may be left out.
    ///
    /// # Errors
    /// What it must not have, or must have, as the end of a sentence.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.strip_prefix('/').unwrap_or(text).split('/').collect();
        if parts.len() > MOST_PARTS {
            return Err(format!("must have at most {MOST_PARTS} parts"));
        }
        let parts = parts.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let pattern = Self { parts };
        match pattern.fields().count() <= MOST_FIELDS {
            true => Ok(pattern),
            false => Err(format!("must name at most {MOST_FIELDS} fields")),
        }
    }

    /// The same pattern with the names of fields as they stand in documents.
    pub(super) fn with_names(mut self, name: impl Fn(&str) -> String) -> Self {
        for piece in self.parts.iter_mut().flatten() {
            if let Piece::Field(key) = piece {
                *key = name(key);
            }
        }
        self
    }

    /// The keys of the fields that it names.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flatten().filter_map(|it| match it {
            Piece::Text(_) => None,
            Piece::Field(key) => Some(key.as_str()),
        })
    }

    /// The path that it comes to; `value` appends the value of a field, or says that there is none.
    pub(super) fn path(&self, mut value: impl FnMut(&str, &mut String) -> ControlFlow<()>) -> Option<String> {
        let mut path = String::new();
        for part in &self.parts {
            path.push('/');
            let start = path.len();
            for piece in part {
                match piece {
                    Piece::Text(it) => path.push_str(it),
                    Piece::Field(key) if value(key, &mut path).is_break() => return None,
                    Piece::Field(_) => {}
                }
            }
            if leads_elsewhere(&path[start..]) {
                return None;
            }
        }
        Some(path).filter(|it| it.len() <= MOST_BYTES)
    }
}

/// One part, which stands between slashes.
fn part(text: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let end = rest.find(['{', '}']).unwrap_or(rest.len());
        let (literal, tail) = rest.split_at(end);
        if !literal.is_empty() {
            pieces.push(Piece::Text(encoded(literal)?));
        }
        rest = match tail.strip_prefix('{') {
            None if tail.is_empty() => tail,
            None => return Err("has a closing brace without an opening one".to_owned()),
            Some(named) => {
                let (key, tail) = named.split_once('}').ok_or("has an opening brace without a closing one")?;
                if key.is_empty() || key.contains('{') {
                    return Err("must have the key of a field between braces".to_owned());
                }
                pieces.push(Piece::Field(key.to_owned()));
                tail
            }
        };
    }
    match pieces.as_slice() {
        [] => Err("must not have an empty part".to_owned()),
        [Piece::Text(it)] if leads_elsewhere(it) => Err("must not have a part that is . or ..".to_owned()),
        _ => Ok(pieces),
    }
}

/// What a pattern says itself, percent-encoded.
fn encoded(literal: &str) -> Result<String, String> {
    let is_refused = |it: char| it.is_control() || it.is_whitespace() || is_bidi(it) || "?#%\\".contains(it);
    if let Some(it) = literal.chars().find(|it| is_refused(*it)) {
        return Err(format!("must not contain {}", it.escape_default()));
    }
    let mut encoded = String::new();
    urlize(literal, Style::Encoded, &mut encoded);
    match encoded.len() <= MOST_BYTES {
        true => Ok(encoded),
        false => Err(format!("must come to at most {MOST_BYTES} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pattern: &str, value: &str) -> Option<String> {
        let pattern = Pattern::parse(pattern).expect(pattern);
        pattern.path(|_, path| {
            urlize(value, Style::Lowercase, path);
            ControlFlow::Continue(())
        })
    }

    #[test]
    fn patterns_come_to_paths() {
        for (pattern, expected) in [
            ("/products/{title}", Some("/products/red-shoes")),
            ("products/{title}", Some("/products/red-shoes")),
            ("{title}", Some("/red-shoes")),
            ("/a/{title}-{title}/b", Some("/a/red-shoes-red-shoes/b")),
            ("/größe/{title}", Some("/gr%C3%B6%C3%9Fe/red-shoes")),
            ("/all", Some("/all")),
            ("/A/{title}", Some("/A/red-shoes")),
        ] {
            assert_eq!(path(pattern, "Red Shoes").as_deref(), expected, "{pattern}");
        }
        assert_eq!(path("/a/{title}", "."), None);
        assert_eq!(path("/a/{title}/b", ".."), None);
        assert_eq!(path("/a/.{title}", "."), None, "put together");
        assert_eq!(path("/a/{title}", "../b").as_deref(), Some("/a/..%2Fb"));
        assert_eq!(path("/a/{title}", "//evil.example").as_deref(), Some("/a/%2F%2Fevil.example"));
        assert_eq!(path("{title}", "/evil.example").as_deref(), Some("/%2Fevil.example"), "no address of another host");
        assert_eq!(path("/{title}", &"x".repeat(3_000)), None);
        let most = (0..MOST_FIELDS).map(|_| "{a}").collect::<Vec<_>>().join("/");
        assert!(Pattern::parse(&most).is_ok());
    }

    #[test]
    fn patterns_that_come_to_no_path_are_refused() {
        let (parts, fields) = ("a/".repeat(MOST_PARTS) + "a", "{a}".repeat(MOST_FIELDS + 1));
        let long = "東".repeat(300);
        for pattern in [
            "",
            "/",
            "//",
            "/a/",
            "//a",
            "/a//b",
            "/.",
            "/..",
            "/a/../b",
            "/{",
            "/}",
            "/{}",
            "/{a",
            "/a}",
            "/{{a}}",
            "/{a}{",
            "/a?b",
            "/a#b",
            "/a%20b",
            "/a\\b",
            "/a b",
            "/a\u{1}",
            "/a\u{202e}b",
            "/a\u{3000}b",
            &parts,
            &fields,
            &long,
        ] {
            assert!(Pattern::parse(pattern).is_err(), "{pattern:?}");
        }
    }
}
