//! Places in a site's log.

use std::fmt;

/// A position between two rows: everything before it was read. Larger is later; the default is the beginning.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub(crate) transaction: i64,
    pub(crate) number: i64,
}

impl Position {
    /// The number of the row before it; 0 at the beginning.
    pub fn sequence(&self) -> i64 {
        self.number
    }

    /// The position before the row that this one is behind.
    pub fn before_row(&self) -> Self {
        Self { number: self.number - 1, ..*self }
    }
}

/// Where a reader was that may come back. As a text it is opaque to those who keep it; it says nothing of what was
/// read, so it is no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Of the log that was read.
    pub epoch: String,
    /// Behind the row that was read last.
    pub position: Position,
    /// The place in that row of the first event that was not delivered; `None` when all were.
    pub delivered: Option<u32>,
}

impl Token {
    /// Reads what [`fmt::Display`] printed; nothing for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let epoch = parts.next().filter(|it| is_epoch(it))?.to_owned();
        let position = Position { transaction: hex(parts.next()?)?, number: hex(parts.next()?)? };
        let delivered = match parts.next() {
            Some(it) => Some(u32::try_from(hex(it)?).ok()?),
            None => None,
        };
        parts.next().is_none().then_some(Self { epoch, position, delivered })
    }

    /// The position from which reading goes on: before a row of which only a part was delivered.
    pub fn after(&self) -> Position {
        match self.delivered {
            None => self.position,
            Some(_) => self.position.before_row(),
        }
    }

    /// The place in the row at this position of the first event that was not delivered; 0 in others.
    pub fn skip(&self, row: Position) -> usize {
        self.delivered.filter(|_| row == self.position).map_or(0, |it| it as usize)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { transaction, number } = self.position;
        write!(f, "{}.{transaction:x}.{number:x}", self.epoch)?;
        match self.delivered {
            Some(delivered) => write!(f, ".{delivered:x}"),
            None => Ok(()),
        }
    }
}

/// Whether a text is as long and of such letters as an epoch.
fn is_epoch(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
}

fn hex(text: &str) -> Option<i64> {
    let is_hex = (1..=16).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
    if is_hex { i64::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(delivered: Option<u32>) -> Token {
        let position = Position { transaction: 771, number: i64::MAX };
        Token { epoch: "aB3-_zzzzzzzzzz9".to_owned(), position, delivered }
    }

    #[test]
    fn tokens_are_read_as_they_were_printed() {
        for delivered in [None, Some(0), Some(7), Some(u32::MAX)] {
            assert_eq!(Token::parse(&token(delivered).to_string()), Some(token(delivered)));
        }
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let good = token(Some(7)).to_string();
        for end in 0..good.len() {
            let cut = &good[..end];
            assert_ne!(Token::parse(cut), Some(token(Some(7))), "{cut}");
        }
        let more = format!("{good}.1");
        let negative = "aB3-_zzzzzzzzzz9.-1.5";
        let signed = "aB3-_zzzzzzzzzz9.+1.5";
        for wrong in ["", ".", "aB3-_zzzzzzzzzz9", "aB3.1.2", negative, signed, "aB3-_zzzzzzzzzz9.g.1", &more] {
            assert_eq!(Token::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Token::parse("aB3-_zzzzzzzzzz9.1.2.fffffffff"), None, "more events than a row can have");
    }

    #[test]
    fn row_that_was_delivered_in_part_is_read_again() {
        let part = token(Some(7));
        assert!(part.after() < part.position);
        assert_eq!((part.skip(part.position), part.skip(Position::default())), (7, 0));
        let whole = token(None);
        assert_eq!((whole.after(), whole.skip(whole.position)), (whole.position, 0));
    }
}
