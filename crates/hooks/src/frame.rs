//! How messages travel between the server and a process of hooks: four bytes of length, the lowest first, then so many
//! bytes of JSON.

use std::io::{Error, ErrorKind, Result};

/// Bytes before a message.
pub const HEADER: usize = 4;
/// Bytes that are read at once, where no message is longer.
const ROOM: usize = 32_768;

/// Appends a message that is written by `write`, in its frame.
///
/// # Errors
/// Those of writing, or that the message is too long.
pub fn append(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let at = bytes.len();
    bytes.extend_from_slice(&[0; HEADER]);
    write(bytes)?;
    let length = u32::try_from(bytes.len() - at - HEADER).map_err(|_| too_long())?;
    bytes[at..at + HEADER].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// How many bytes follow a header; nothing where they are more than the reader takes.
pub fn length(header: [u8; HEADER], most: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(header)).ok().filter(|it| *it <= most)
}

/// What is the matter with a message that is longer than its reader takes.
pub fn too_long() -> Error {
    Error::new(ErrorKind::InvalidData, "a message is too long")
}

/// Bytes as they were received, and the messages in them: what is there already is read with one call of the system.
pub struct Incoming {
    most: usize,
    bytes: Vec<u8>,
    /// Where in `bytes` there is something.
    begin: usize,
    end: usize,
}

impl Incoming {
    /// Of messages that have at most so many bytes.
    pub fn new(most: usize) -> Self {
        Self { most, bytes: Vec::new(), begin: 0, end: 0 }
    }

    /// Whether a message is there whole.
    ///
    /// # Errors
    /// It is longer than it may be.
    pub fn has_message(&self) -> Result<bool> {
        Ok(self.needed()?.is_some_and(|it| it <= self.end - self.begin))
    }

    /// The next message, where it is there whole.
    ///
    /// # Errors
    /// It is longer than it may be.
    pub fn message(&mut self) -> Result<Option<&[u8]>> {
        if !self.has_message()? {
            return Ok(None);
        }
        let (begin, needed) = (self.begin, self.needed()?.unwrap_or(HEADER));
        self.begin += needed;
        Ok(Some(&self.bytes[begin + HEADER..self.begin]))
    }

    /// Whether a message began that isn't there whole.
    pub fn is_within_message(&self) -> bool {
        self.begin < self.end
    }

    /// Reads once, behind what is there: how many bytes that were.
    ///
    /// # Errors
    /// Those of reading, or that the message is longer than it may be, for which nothing is reserved then.
    pub fn read_by(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<usize> {
        let needed = self.needed()?.unwrap_or(HEADER);
        self.bytes.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        let room = needed.max(ROOM);
        if self.bytes.len() > room {
            // What a long message took is given back.
            self.bytes.truncate(room);
            self.bytes.shrink_to_fit();
        }
        self.bytes.resize(room, 0);
        let more = read(&mut self.bytes[self.end..])?;
        self.end += more;
        Ok(more)
    }

    /// Bytes of the next message with its header, once that is there.
    fn needed(&self) -> Result<Option<usize>> {
        let header = self.bytes[self.begin..self.end].first_chunk::<HEADER>();
        header.map(|it| Ok(HEADER + length(*it, self.most).ok_or_else(too_long)?)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn framed(message: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        append(&mut bytes, |it| it.write_all(message)).expect("a frame");
        bytes
    }

    #[test]
    fn frame_says_how_long_its_message_is() {
        let bytes = framed(b"abc");
        let header = bytes[..HEADER].try_into().expect("a header");
        assert_eq!((length(header, 3), length(header, 2), &bytes[HEADER..]), (Some(3), None, b"abc".as_slice()));
        assert_eq!(length([0xff; HEADER], 1 << 20), None);
    }

    #[test]
    fn message_that_is_too_long_reserves_nothing() {
        let mut incoming = Incoming::new(1 << 30);
        let read = |it: &mut [u8], bytes: &[u8]| {
            it[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        };
        incoming.read_by(|it| read(it, &[0xff; HEADER])).expect("bytes");
        assert!(incoming.has_message().is_err() && incoming.message().is_err());
        incoming.read_by(|_| panic!("it is read")).expect_err("too long");
        assert_eq!(incoming.bytes.len(), ROOM);
    }

    proptest! {
        #[test]
        fn messages_come_as_they_were_sent(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..70_000), 0..6),
            parts in proptest::collection::vec(1usize..40_000, 1..8),
        ) {
            let sent: Vec<u8> = messages.iter().flat_map(|it| framed(it)).collect();
            let (mut rest, mut parts, mut received) = (sent.as_slice(), parts.iter().cycle(), Vec::new());
            let mut incoming = Incoming::new(70_000);
            loop {
                while let Some(it) = incoming.message().expect("a message") {
                    received.push(it.to_vec());
                }
                let read = |room: &mut [u8]| {
                    let (now, later) = rest.split_at(room.len().min(*parts.next().expect("a part")).min(rest.len()));
                    room[..now.len()].copy_from_slice(now);
                    rest = later;
                    Ok(now.len())
                };
                if incoming.read_by(read).expect("bytes") == 0 {
                    break;
                }
            }
            prop_assert_eq!(received, messages);
            prop_assert!(!incoming.is_within_message() && incoming.bytes.len() <= ROOM);
        }
    }
}
