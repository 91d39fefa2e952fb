//! What a process of hooks says, which may be taken over by the code in it: an answer of the kind and size that its hook may
//! have, or a failure.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoa_hooks::{Answers, Hook, Outcome, judge};

const MOST: usize = 256;

// The hook, then the message.
fuzz_target!(|bytes: &[u8]| {
    let Some((first, message)) = bytes.split_first() else { return };
    let hook = Hook::ALL[usize::from(*first) % Hook::ALL.len()];
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
});
