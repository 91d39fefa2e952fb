//! What the server and a process of hooks say to each other. The server is trusted by the process, but nothing that the
//! process says is by the server.

use crate::{hook::Hook, limits::HookLimits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use stoa_kernel::Millis;

/// Which build of this crate speaks. Both sides are one program, but a server may still run while its file was replaced.
pub fn build() -> String {
    format!("{} {STAMP:016x}", env!("CARGO_PKG_VERSION"))
}

/// A hash of what the two sides must agree on.
const STAMP: u64 = {
    let files: [&[u8]; 9] = [
        include_bytes!("message.rs"),
        include_bytes!("hook.rs"),
        include_bytes!("frame.rs"),
        include_bytes!("child/mod.rs"),
        include_bytes!("child/confine.rs"),
        include_bytes!("child/seccomp.rs"),
        include_bytes!("child/engine.rs"),
        include_bytes!("child/prelude/query.js"),
        include_bytes!("child/prelude/run.js"),
    ];
    // FNV-1a: it only has to differ where the files do.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut file = 0;
    while file < files.len() {
        let mut at = 0;
        while at < files[file].len() {
            hash = (hash ^ files[file][at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        file += 1;
    }
    hash
};

/// What the server says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request<'a> {
    /// The first: what speaks, and what code may take. Answered by [`Reply::Ready`].
    Begin { build: Cow<'a, str>, settings: Settings },
    /// Answered by [`Reply::Loaded`] or [`Reply::NotLoaded`]. What was loaded before is gone.
    Load {
        #[serde(borrow)]
        source: Cow<'a, str>,
        /// Tests of it, which are told and called in place of what it exports.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        tests: Option<Cow<'a, str>>,
        milliseconds: u64,
    },
    /// Answered by [`Reply::Answer`], or by [`Reply::Skipped`] where the code of a call before it was stopped. Calls may be
    /// sent one behind another, without waiting for answers.
    Call {
        id: u64,
        /// The name of the exported function.
        #[serde(borrow)]
        export: Cow<'a, str>,
        hook: Hook,
        milliseconds: u64,
        #[serde(borrow)]
        argument: &'a RawValue,
        #[serde(borrow)]
        context: &'a RawValue,
        /// The item as it is stored, a member of the context.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        current: Option<&'a RawValue>,
    },
}

/// Replies, their bytes and the milliseconds that may pass before one is sent in the way that wakes the server. A process that
/// finds the socket full goes on when no more than a quarter of it is taken, so that all that the server leaves there when it
/// was woken has to be less than that. On Linux a short reply takes 1,280 bytes of 212,992; of other systems that isn't known.
pub const QUIET_REPLIES: usize = if cfg!(target_os = "linux") { 32 } else { 0 };
pub const QUIET_BYTES: usize = 16_384;
pub const QUIET_MILLISECONDS: Millis = 2;

const LEAST: usize = 4 << 20;

/// What code may take, in bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Settings {
    pub memory: usize,
    pub answer: usize,
    pub console: usize,
}

impl Settings {
    /// The longest message of a process: an answer, and a console each of whose bytes is escaped.
    pub fn longest_reply(&self) -> usize {
        self.answer + 6 * self.console + 4_096
    }

    pub fn of(limits: &HookLimits) -> Self {
        let of = |memory| Self { memory, answer: limits.hook_answer, console: limits.hook_console };
        let most = (limits.hook_memory_of_server << 20).saturating_sub(of(0).beside());
        // An engine needs something to begin with.
        of((limits.hook_memory << 20).min(most.max(LEAST)))
    }

    /// Bytes of addresses beside what the code holds: the engine's own, messages, the stack.
    pub fn beside(&self) -> usize {
        8_388_608 + 4 * self.answer
    }
}

/// Bytes that a process may have at most.
pub fn largest(settings: Settings) -> usize {
    settings.memory + settings.beside()
}

/// What a process says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Reply {
    Ready {
        build: String,
    },
    Loaded {
        exports: Vec<Exported>,
    },
    NotLoaded {
        told: Told,
    },
    Answer {
        id: u64,
        console: String,
        told: Told,
    },
    /// Nothing is loaded: the code of a call before this one was stopped where it stood.
    Skipped {
        id: u64,
    },
}

/// Something that a module exports.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exported {
    pub name: String,
    pub callable: bool,
}

/// How a call ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Told {
    Value(Box<RawValue>),
    Nothing,
    Error {
        name: String,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Box<RawValue>>,
    },
    Thrown(Box<RawValue>),
    TimedOut,
    OutOfMemory,
    TooLarge,
}

/// How much more than its text a value takes that is taken apart.
pub const TAKEN_APART: usize = 16;

impl Told {
    /// What is to be kept of it, in bytes. A value that was thrown is taken apart, which takes more than its text.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Value(it) => it.get().len(),
            Self::Thrown(it) => TAKEN_APART * it.get().len(),
            Self::Error { name, message, code } => {
                name.len() + message.len() + code.as_ref().map_or(0, |it| TAKEN_APART * it.get().len())
            }
            Self::Nothing | Self::TimedOut | Self::OutOfMemory | Self::TooLarge => 0,
        }
    }
}

impl Reply {
    /// The call that it is about.
    pub fn id(&self) -> Option<u64> {
        match self {
            Self::Answer { id, .. } | Self::Skipped { id } => Some(*id),
            Self::Ready { .. } | Self::Loaded { .. } | Self::NotLoaded { .. } => None,
        }
    }

    /// What a process said. Whatever its bytes are, they are this or refused.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reply_is_read_as_it_was_told() {
        let told = |text: &str| {
            let bytes = format!(r#"{{"answer":{{"id":7,"console":"","told":{text}}}}}"#);
            Reply::read(bytes.as_bytes()).map(|it| match it {
                Reply::Answer { id: 7, told, .. } => serde_json::to_string(&told).expect("json"),
                other => panic!("{other:?}"),
            })
        };
        for text in [
            r#"{"value":{"a":[1,{"$date":"x"}],"__proto__":1}}"#,
            r#""nothing""#,
            r#"{"error":{"name":"E","message":"m"}}"#,
            r#"{"error":{"name":"E","message":"m","code":7}}"#,
            r#"{"thrown":null}"#,
            r#""timedOut""#,
        ] {
            assert_eq!(told(text).expect(text), text);
        }
        for text in ["", "{}", r#""other""#, r#"{"value":}"#, r#"{"value":{"a":1}} x"#, r#"{"error":{"name":1}}"#] {
            told(text).expect_err(text);
        }
    }

    #[test]
    fn process_stays_within_what_all_may_have() {
        let largest_of = |hook_memory_of_server, hook_memory| {
            largest(Settings::of(&HookLimits { hook_memory_of_server, hook_memory, ..HookLimits::default() })) >> 20
        };
        assert_eq!([largest_of(256, 32), largest_of(42, 32)], [42, 42]);
        assert_eq!([largest_of(41, 32), largest_of(16, 1_024)], [41, 16]);
    }

    #[test]
    fn depth_of_an_answer_costs_no_stack() {
        let deep = format!(
            r#"{{"answer":{{"id":1,"console":"","told":{{"value":{}1{}}}}}}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert!(matches!(Reply::read(deep.as_bytes()), Ok(Reply::Answer { .. })));
        Reply::read("[".repeat(400_000).as_bytes()).expect_err("no reply");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_reply_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Reply::read(&bytes);
        }

        #[test]
        fn a_damaged_reply_is_a_reply_or_refused(at in 0usize..80, byte in any::<u8>()) {
            let mut bytes = br#"{"answer":{"id":7,"console":"x\u0001","told":{"value":{"a":[1,"\ud800"]}}}}"#.to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = Reply::read(&bytes);
        }
    }
}
