//! What leaves the process. Mail is a trait with real implementations and a recording one. What goes to an address
//! that somebody else chose takes one way out, [`Reach`]; captcha and identity providers do, the service of leaked passwords, one
//! that sends to telephones, and the push services of browsers.
//!
//! Nothing here decides what is said or to whom: texts are made by `identity`.

mod chain;
mod hash_range;
mod mail;
mod openid;
mod outbox;
mod reach;
mod recorder;
mod siteverify;
mod smtp;
mod telephone;
mod turns;
mod web_push;

pub use hash_range::{HashRangeCounts, HashRangeLimits, HashRanges};
pub use mail::{Letter, Mail, Mailer, Sending, Undelivered};
pub use openid::{ClientSecretIn, CodeExchange, OpenidClient, OpenidFailure, OpenidLimits};
pub use outbox::OutboxFile;
pub use reach::{Answer, Call, Exceptions, Reach, ReachConfig, ReachLimits, Target, Unreached};
pub use recorder::Recorder;
pub use siteverify::{NoVerdict, Siteverifier, Siteverify, SiteverifyLimits, Verdict};
pub use smtp::{Security, Smtp, SmtpConfig, is_mail_address};
pub use telephone::{Dispatch, Leave, TelephoneCounts, TelephoneGateway, TelephoneLimits, TelephoneProvider, Unsent};
pub use web_push::{PushMessage, Unpushed, WebPush};
