//! What leaves the process. Mail is a trait with real implementations and a recording one; a captcha
//! provider is asked at whatever address its site has, so a test gives it the address of its own.
//!
//! Nothing here decides what is said or to whom: texts are made by `identity`.

mod mail;
mod outbox;
mod recorder;
mod siteverify;
mod smtp;

pub use mail::{Letter, Mail, Mailer, Sending, Undelivered};
pub use outbox::OutboxFile;
pub use recorder::Recorder;
pub use siteverify::{NoVerdict, Siteverifier, Siteverify, SiteverifyLimits, Verdict};
pub use smtp::{Security, Smtp, SmtpConfig};
