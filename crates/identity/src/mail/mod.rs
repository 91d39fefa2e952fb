//! Mail: what our messages say, how they look, and how they get out.
//!
//! What must be sent is a row of `stoa.mail`, written in the transaction that causes it ([`queue`]) and
//! delivered by a background task ([`deliver`]), which makes the message ([`render`]) from the words of its language
//! ([`words`]), the site's own ones ([`setting`]) and one layout ([`layout`]), in the name that the site chose ([`sender`]).

mod background;
mod deliver;
mod layout;
mod message;
pub mod notice;
mod preview;
mod queue;
mod render;
pub(crate) mod sender;
mod setting;
mod words;

pub(crate) use background::{Answerer, MailQueue};
pub use deliver::Failure;
pub(crate) use deliver::{deliver_soon, keep_delivering, schedule, sign_in_url, url};
pub(crate) use message::{FactorChange, Message};
pub(crate) use queue::{LinkOptions, Question, QueuedMessage, Task, done, enqueue, left, reseal};
pub use sender::{MailSender, SenderChange, SenderPart};
pub(crate) use setting::{LONGEST_TAG, of_site as setting_of};
pub use setting::{MailSetting, Override, is_tag};
