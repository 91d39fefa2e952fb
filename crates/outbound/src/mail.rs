//! A message and the trait that sends it.

use std::{fmt, pin::Pin};
use stoa_kernel::Millis;

/// What one person is told in one e-mail.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mail {
    /// Address as the person wrote it.
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The addresses in the text that do something, so that nobody has to search for them.
    pub links: Vec<String>,
    /// The one-time code in the text, when there is one.
    pub code: Option<String>,
}

/// A message with what its headers say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The left part of the Message-ID: the same in every attempt, so that a second copy can be known.
    pub id: String,
    /// When it was written, not when it is sent.
    pub created: Millis,
    /// In whose name it is sent: the site's.
    pub from_name: String,
    /// From where, when the site has an address of its own that it may use.
    pub from_address: Option<String>,
    /// Where answers go, when not to the sender.
    pub reply_to: Option<String>,
    /// BCP 47.
    pub language: String,
    pub mail: Mail,
}

/// Why a message was not accepted. The text is for the log and names no code or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undelivered {
    /// Another attempt may succeed: the server is away, busy, or doesn't know us yet.
    Later(String),
    /// No attempt will: there is no such mailbox, or the message can't be written.
    Never(String),
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Later(why) | Self::Never(why) => f.write_str(why),
        }
    }
}

/// The answer of [`Mailer::send`].
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), Undelivered>> + Send + 'a>>;

/// Hands messages to whoever delivers them.
pub trait Mailer: Send + Sync {
    /// Accepts the message for delivery; when it answers, the message is somebody else's to keep.
    fn send<'a>(&'a self, letter: &'a Letter) -> Sending<'a>;

    /// Whether sending is a write on this machine, so short that a request may wait for it.
    fn is_local(&self) -> bool {
        false
    }

    /// The name that stands before the server's own address, whatever [`Letter::from_name`] says.
    fn fixed_name(&self) -> Option<&str> {
        None
    }
}
