//! What a process of hooks says, which may be taken over by the code in it: an answer of the kind and size that its hook may
//! have, or a failure; by itself and in frames, which come in pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoa_hooks::{Answers, Hook, Incoming, Outcome, judge};

const MOST: usize = 256;
const MOST_FRAME: usize = 1_024;
/// In the first byte: frames follow, in pieces of as many bytes as the rest of it says.
const FRAMES: u8 = 0x80;

// The hook, then the message, or frames of messages.
fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let hook = Hook::ALL[usize::from(first & !FRAMES) % Hook::ALL.len()];
    if first & FRAMES == 0 {
        return look(rest, hook);
    }
    let mut incoming = Incoming::new(MOST_FRAME);
    for piece in rest.chunks(usize::from(first & !FRAMES) + 1) {
        let mut left = piece;
        while !left.is_empty() {
            let read = |room: &mut [u8]| {
                let more = left.len().min(room.len());
                room[..more].copy_from_slice(&left[..more]);
                left = &left[more..];
                Ok(more)
            };
            if incoming.read_by(read).is_err() {
                return;
            }
            loop {
                match incoming.message() {
                    Ok(Some(message)) => {
                        assert!(message.len() <= MOST_FRAME);
                        look(message, hook);
                    }
                    Ok(None) => break,
                    Err(_) => return,
                }
            }
        }
    }
});

fn look(message: &[u8], hook: Hook) {
    let Ok(Outcome::Value(value)) = judge(message, hook, MOST) else { return };
    let text = value.get();
    assert!(text.len() <= MOST);
    // Only text too deep for the reader, or with a number or an escape that it has no value for, is JSON and no value.
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return };
    let is_of_kind = match hook.answers() {
        Answers::Object => value.is_object(),
        Answers::Text => value.is_string(),
        Answers::Number => value.is_number(),
        Answers::Any => true,
    };
    assert!(is_of_kind, "{hook}: {text}");
}
