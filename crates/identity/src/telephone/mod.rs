//! Codes that go to telephones: which numbers may be sent any, how many, and what a message or a call says (decision 49).
//!
//! The server has one provider (`stoa_outbound::TelephoneGateway`), which its operator sets up; without one there are no such
//! codes. Whose number it is, and what a code counts for, is in `crate::factor`.

mod limit;
mod number;
mod words;

pub use limit::DayLimits;
pub(crate) use limit::{Message, Purpose, allow};
pub(crate) use number::PhoneNumber;

use crate::{Core, Identity, mail};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use stoa_kernel::{Code, Fault, Result, Secret};
use stoa_outbound::{
    Dispatch, Leave, Reach, TelephoneCounts, TelephoneGateway, TelephoneLimits, TelephoneProvider, Unsent,
};
use stoa_store::Site;

/// Digits of a beginning of numbers.
const LONGEST_PREFIX: usize = 7;
/// Seconds after which a provider may have recovered.
const RETRY: i64 = 60;

/// By what a code reaches a telephone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// A text message.
    Sms,
    /// A call in which it is spoken.
    Call,
}

/// What the operator of the server says of telephones.
#[derive(Debug, Clone)]
pub struct TelephoneConfig {
    pub provider: TelephoneProvider,
    pub limits: TelephoneLimits,
    pub channels: Vec<Channel>,
    /// How numbers begin that may be sent codes, as [`prefix`] answers them; no others are.
    pub prefixes: Vec<String>,
    /// How those of them begin that are sent none all the same.
    pub except: Vec<String>,
}

/// The beginning of numbers that a text stands for: a calling code (`+49` or `49`), or so many digits more. Fewer would be the
/// numbers of many countries.
pub fn prefix(text: &str) -> Option<String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let is_one = (1..=LONGEST_PREFIX).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|it| it.is_ascii_digit())
        && number::calling_code(digits).is_some();
    is_one.then(|| digits.to_owned())
}

/// Whether a text is a number as it is written to a provider: `+`, seven to fifteen digits, and nothing else.
pub fn is_number(text: &str) -> bool {
    PhoneNumber::parse(text).is_some_and(|it| it.as_str() == text)
}

/// The provider of the server, and what it may be used for.
pub(crate) struct Telephone {
    gateway: TelephoneGateway,
    channels: Vec<Channel>,
    prefixes: Vec<String>,
    except: Vec<String>,
    /// Codes that a limit of the day kept from being sent.
    over_limit: AtomicU64,
}

/// A code for a telephone, to be sent once the transaction in which it was counted is kept.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    pub channel: Channel,
    pub number: PhoneNumber,
    pub leave: Arc<Leave>,
    pub code: Secret,
    /// The member's.
    pub language: Option<String>,
}

impl Telephone {
    /// # Errors
    /// [`Code::Unavailable`] with what is wrong with the settings.
    pub(crate) fn new(reach: Reach, config: &TelephoneConfig) -> Result<Self> {
        let TelephoneConfig { provider, limits, channels, prefixes, except } = config.clone();
        let gateway = TelephoneGateway::new(reach, &provider, limits);
        let gateway = gateway.map_err(|it| Fault::because(Code::Unavailable, format!("telephone.{it}")))?;
        Ok(Self { gateway, channels, prefixes, except, over_limit: AtomicU64::default() })
    }

    pub(crate) fn has(&self, channel: Channel) -> bool {
        self.channels.contains(&channel)
    }

    /// The longest beginning of those that are allowed by which a number begins; nothing for one that may be sent no code.
    pub(crate) fn prefix_of(&self, number: &PhoneNumber) -> Option<&str> {
        let allowed = longest(&self.prefixes, number.digits())?;
        let bare = number.bare();
        let excepted = [number.digits(), bare.as_str()].into_iter().filter_map(|it| longest(&self.except, it));
        let is_excepted = excepted.map(str::len).max().is_some_and(|it| it >= allowed.len());
        (!is_excepted).then_some(allowed)
    }

    /// Leave to send one code, asked for before anything is counted.
    ///
    /// # Errors
    /// [`Code::Unavailable`] while the provider is left alone.
    pub(crate) fn leave(&self, core: &Core, site: &Site) -> Result<Arc<Leave>> {
        self.gateway.leave(site.id.as_str(), core.now()).map(Arc::new).map_err(|_| unsent())
    }

    /// Sends a code, in the language of the member or else of the site. One try. One whose answer is lost counts as sent, since it
    /// may arrive.
    ///
    /// # Errors
    /// [`Undelivered`]; what the engine answers.
    pub(crate) async fn send(&self, core: &Core, site: &Site, outgoing: &Outgoing) -> Result<Result<(), Undelivered>> {
        let Outgoing { channel, number, leave, code, language } = outgoing;
        let setting = mail::setting_of(site).await?;
        let words = words::of(setting.choose([language.as_deref()]));
        let name = site.name();
        let dispatch = match channel {
            Channel::Sms => Dispatch::Message(words.message(&name, code.expose())),
            Channel::Call => Dispatch::Call { sentence: words.sentence(&name, code.expose()), language: words.spoken },
        };
        Ok(match self.gateway.send(leave.clone(), number.as_str(), dispatch, core.now()).await {
            Ok(()) | Err(Unsent::Unknown(_)) => Ok(()),
            Err(why) => Err(Undelivered { is_refused: matches!(why, Unsent::Refused(_)) }),
        })
    }
}

fn longest<'a>(beginnings: &'a [String], digits: &str) -> Option<&'a str> {
    let matching = beginnings.iter().filter(|it| digits.starts_with(it.as_str()));
    matching.max_by_key(|it| it.len()).map(String::as_str)
}

/// Why a code is not on its way, as far as the member may know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Undelivered {
    /// The provider does not take the number.
    pub is_refused: bool,
}

/// What a member is told whose code is not on its way.
pub(crate) fn unsent() -> Fault {
    let why = "The code could not be sent; try again later, or use another way.";
    Fault::because(Code::Unavailable, why).with("retryAfterSeconds", RETRY)
}

/// What a member is told whose number gets no codes any more: the operator or the provider takes it no longer.
pub(crate) fn unreachable() -> Fault {
    Fault::because(Code::Unavailable, "No codes are sent to this number any more; use another way.")
}

impl Identity {
    /// What was sent to telephones; nothing but zeros where there is no provider.
    pub fn telephone_counts(&self) -> TelephoneCounts {
        self.core.telephone.as_ref().map(|it| it.gateway.counts()).unwrap_or_default()
    }

    /// Codes to telephones that a limit of the day kept from being sent, since the process began.
    pub fn telephone_over_limit(&self) -> u64 {
        self.core.telephone.as_ref().map_or(0, |it| it.over_limit.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_is_a_calling_code_or_longer() {
        for (text, digits) in [("49", "49"), ("+49", "49"), ("1212", "1212"), ("+1", "1")] {
            assert_eq!(prefix(text).as_deref(), Some(digits));
        }
        for text in ["", "+", "0", "049", "++49", "12345678", "de", "4 9", "٤٩", "4", "35", "88"] {
            assert_eq!(prefix(text), None, "{text}");
        }
        assert!(is_number("+15005550006"));
        for text in ["15005550006", "+1 500 555 0006", "+0123456789", "Stoa"] {
            assert!(!is_number(text), "{text}");
        }
    }
}
