//! Strings, numbers and words: the smallest parts of JSON text, each made canonical as it is read.

use super::{
    number,
    refusal::{Scanned, malformed, refuse},
};
use stoa_kernel::Code;

/// What is left to read, and what has been written.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    pub(super) out: String,
}

impl<'a> Lexer<'a> {
    /// Begins a text whose canonical form takes about `size` bytes.
    pub(super) fn new(text: &'a str, size: usize) -> Self {
        Self { text, at: 0, out: String::with_capacity(size) }
    }

    /// Passes over a byte that was looked at.
    pub(super) fn take(&mut self) {
        self.at += 1;
    }

    /// Whether all of it was read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// A string, its quotes included.
    pub(super) fn string(&mut self) -> Scanned {
        self.at += 1;
        self.out.push('"');
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|it| it == b'"' || it == b'\\' || it < b' ');
            let Some(plain) = plain else { return malformed() };
            self.out.push_str(&rest[..plain]);
            self.at += plain + 1;
            match rest.as_bytes()[plain] {
                b'"' => {
                    self.out.push('"');
                    return Ok(());
                }
                b'\\' => {
                    let c = self.escaped()?;
                    escape(c, &mut self.out);
                }
                _ => return malformed(),
            }
        }
    }

    /// The character after a backslash.
    fn escaped(&mut self) -> Scanned<char> {
        let kind = self.peek();
        self.at += 1;
        Ok(match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = self.hex()?;
                let c = match unit {
                    0 => return refuse(Code::BadRequest, "a text contains the character NUL"),
                    0xd800..=0xdbff if self.text[self.at..].starts_with("\\u") => {
                        self.at += 2;
                        let low = self.hex()?;
                        let is_low = (0xdc00..=0xdfff).contains(&low);
                        is_low.then(|| 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).and_then(char::from_u32)
                    }
                    _ => char::from_u32(unit),
                };
                match c {
                    Some(c) => c,
                    None => return refuse(Code::BadRequest, "a text contains half of a surrogate pair"),
                }
            }
            _ => return malformed(),
        })
    }

    fn hex(&mut self) -> Scanned<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        self.at += 4;
        let number = digits
            .unwrap_or_default()
            .iter()
            .try_fold(0, |sum, &it| char::from(it).to_digit(16).map(|digit| sum * 16 + digit));
        match number {
            Some(number) if digits.is_some() => Ok(number),
            _ => malformed(),
        }
    }

    pub(super) fn number(&mut self) -> Scanned {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') && !self.digits() {
            return malformed();
        }
        if self.skip(b'.') && !self.digits() {
            return malformed();
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _ = self.skip(b'+') || self.skip(b'-');
            if !self.digits() {
                return malformed();
            }
        }
        let text = &self.text[start..self.at];
        if number::is_canonical(text) {
            self.out.push_str(text);
            return Ok(());
        }
        match text.parse::<f64>() {
            Ok(it) if it.is_finite() => number::print(it, &mut self.out),
            _ => return refuse(Code::BadRequest, "a number is too large for a double"),
        }
        Ok(())
    }

    /// Skips digits; whether there was one.
    fn digits(&mut self) -> bool {
        let count = self.text.as_bytes()[self.at..].iter().take_while(|it| it.is_ascii_digit()).count();
        self.at += count;
        count > 0
    }

    pub(super) fn keyword(&mut self, keyword: &str) -> Scanned {
        if !self.text[self.at..].starts_with(keyword) {
            return malformed();
        }
        self.at += keyword.len();
        self.out.push_str(keyword);
        Ok(())
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, byte: u8) -> Scanned {
        if self.skip(byte) { Ok(()) } else { malformed() }
    }

    pub(super) fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }
}

/// Appends a text as JSON, with the escapes of `JSON.stringify`.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    text.chars().for_each(|it| escape(it, out));
    out.push('"');
}

fn escape(c: char, out: &mut String) {
    use std::fmt::Write;
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c < ' ' => {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
        c => out.push(c),
    }
}
