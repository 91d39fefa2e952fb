//! What leaves the process. Each way out is a trait with a real implementation and a recording one.
//!
//! Mail for now. Nothing here decides what is said or to whom: texts are made by `identity`.

mod mail;
mod outbox;
mod recorder;
mod smtp;

pub use mail::{Letter, Mail, Mailer, Sending, Undelivered};
pub use outbox::OutboxFile;
pub use recorder::Recorder;
pub use smtp::{Security, Smtp, SmtpConfig};
