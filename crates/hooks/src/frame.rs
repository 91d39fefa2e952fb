//! How messages travel between the server and a process of hooks: four bytes of length, the lowest first, then so many
//! bytes of JSON.

/// Bytes before a message.
pub const HEADER: usize = 4;

/// A message in its frame.
pub fn framed(message: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(message.len()).ok()?;
    let mut bytes = Vec::with_capacity(HEADER + message.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(message);
    Some(bytes)
}

/// How many bytes follow a header; nothing where they are more than the reader takes.
pub fn length(header: [u8; HEADER], most: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(header)).ok().filter(|it| *it <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_says_how_long_its_message_is() {
        let bytes = framed(b"abc").expect("a frame");
        let header = bytes[..HEADER].try_into().expect("a header");
        assert_eq!((length(header, 3), length(header, 2), &bytes[HEADER..]), (Some(3), None, b"abc".as_slice()));
        assert_eq!(length([0xff; HEADER], 1 << 20), None);
    }
}
