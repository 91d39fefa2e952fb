//! Mail: what our messages say, how they look, and how they get out.
//!
//! What must be sent is a row of `stoa.mail`, written in the transaction that causes it ([`queue`]) and
//! delivered by a background task ([`deliver`]), which makes the message from the words of its language
//! ([`words`]), the site's own ones ([`setting`]) and one layout ([`layout`]).

mod deliver;
mod layout;
pub mod notice;
mod queue;
mod setting;
mod words;

pub use deliver::Failure;
pub(crate) use deliver::{Post, keep_delivering, later, soon, url};
pub(crate) use queue::{Letter, Task, done, enqueue};
pub(crate) use setting::LONGEST_TAG;
pub use setting::{MailSetting, Override, is_tag};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use stoa_kernel::{Millis, clock::iso_from_millis};
use words::{Language, Words};

/// What a message is about. Its form in the queue is sealed: codes and links are secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Message {
    /// The six-digit code that proves an address.
    Verification {
        code: String,
    },
    /// The link with which a new password is chosen.
    Recovery {
        link: String,
    },
    /// The same for a member whom an app has made.
    Activation {
        link: String,
    },
    /// Somebody signed in in a browser that the member had not used before.
    NewDevice {
        device: String,
        at: Millis,
    },
    PasswordChanged {
        at: Millis,
    },
    /// The address of an account in use was proven.
    EmailVerified {
        at: Millis,
    },
    /// To the old address: the account has another one now.
    EmailChanged {
        email: String,
        at: Millis,
    },
    /// To an owner: somebody waits for an answer.
    ApprovalRequest {
        name: String,
        email: String,
        link: String,
    },
    Approved,
    Declined,
}

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

impl Message {
    /// The name of the kind, in the queue and in a site's setting.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Verification { .. } => "verification",
            Self::Recovery { .. } => "recovery",
            Self::Activation { .. } => "activation",
            Self::NewDevice { .. } => "new_device",
            Self::PasswordChanged { .. } => "password_changed",
            Self::EmailVerified { .. } => "email_verified",
            Self::EmailChanged { .. } => "email_changed",
            Self::ApprovalRequest { .. } => "approval_request",
            Self::Approved => "approved",
            Self::Declined => "declined",
        }
    }

    /// How long somebody may still want to read it.
    pub(crate) fn life(&self) -> Millis {
        match self {
            Self::Verification { .. } => 10 * MINUTE,
            Self::Recovery { .. } | Self::Activation { .. } => HOUR,
            _ => 3 * 24 * HOUR,
        }
    }

    fn words(&self, language: &'static Language) -> &'static Words {
        match self {
            Self::Verification { .. } => &language.verification,
            Self::Recovery { .. } => &language.recovery,
            Self::Activation { .. } => &language.activation,
            Self::NewDevice { .. } => &language.new_device,
            Self::PasswordChanged { .. } => &language.password_changed,
            Self::EmailVerified { .. } => &language.email_verified,
            Self::EmailChanged { .. } => &language.email_changed,
            Self::ApprovalRequest { .. } => &language.approval_request,
            Self::Approved => &language.approved,
            Self::Declined => &language.declined,
        }
    }

    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Verification { code } => Some(code),
            _ => None,
        }
    }

    fn link<'a>(&'a self, place: &'a Place) -> Option<&'a str> {
        match self {
            Self::Recovery { link } | Self::Activation { link } | Self::ApprovalRequest { link, .. } => Some(link),
            Self::NewDevice { .. } | Self::PasswordChanged { .. } | Self::EmailVerified { .. } => {
                Some(&place.recover_url)
            }
            Self::Approved => Some(&place.sign_in_url),
            // A recovery link goes to the address that the account has now, which whoever reads this may not have.
            Self::Verification { .. } | Self::EmailChanged { .. } | Self::Declined => None,
        }
    }

    /// The value of a placeholder of this kind; nothing for those it doesn't have.
    fn value<'a>(&'a self, name: &str, to: &'a str, place: &'a Place) -> Option<Cow<'a, str>> {
        Some(match (name, self) {
            ("site", _) => one_line(&place.site_name).into(),
            ("code", Self::Verification { code }) => code.into(),
            ("link", it) => it.link(place)?.into(),
            ("email", Self::ApprovalRequest { email, .. } | Self::EmailChanged { email, .. }) => one_line(email).into(),
            ("email", _) => one_line(to).into(),
            ("name", Self::ApprovalRequest { name, .. }) => name_of(name).into(),
            ("device", Self::NewDevice { device, .. }) => one_line(device).into(),
            (
                "time",
                Self::NewDevice { at, .. }
                | Self::PasswordChanged { at }
                | Self::EmailVerified { at }
                | Self::EmailChanged { at, .. },
            ) => time(*at).into(),
            _ => return None,
        })
    }

    /// One of each kind, for looking at them.
    pub(crate) fn examples() -> Vec<Self> {
        let at = 1_767_270_600_000;
        let link = |path: &str| format!("https://www.example.org/{path}");
        vec![
            Self::Verification { code: "482915".to_owned() },
            Self::Recovery {
                link: link("_api/account/v1/recover?token=l1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
            },
            Self::Activation {
                link: link("_api/account/v1/recover?token=l1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
            },
            Self::NewDevice { device: "Firefox · Linux".to_owned(), at },
            Self::PasswordChanged { at },
            Self::EmailVerified { at },
            Self::EmailChanged { email: "somebody.else@example.org".to_owned(), at },
            Self::ApprovalRequest {
                name: "Anna <b> Beispiel".to_owned(),
                email: "anna@example.org".to_owned(),
                link: link("account/approve#a1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
            },
            Self::Approved,
            Self::Declined,
        ]
    }
}

/// Where a message comes from and where its links lead.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub site_name: String,
    /// Where a member chooses a new password.
    pub recover_url: String,
    pub sign_in_url: String,
}

/// Makes the message in the best language there is.
pub(crate) fn render(
    message: &Message,
    to: &str,
    language: &str,
    place: &Place,
    setting: &MailSetting,
) -> stoa_outbound::Mail {
    let known = words::language(language);
    let own = setting.words(language, message.kind());
    let ours = message.words(known);
    let fill = |template: &str| fill(template, |name| message.value(name, to, place));
    let pick = |own: Option<&str>, ours: &'static str| fill(own.unwrap_or(ours));
    let ours_are = layout::Tongue { tag: known.tag, is_right_to_left: known.is_right_to_left };
    let own_are =
        own.and_then(|it| it.tag).map(|tag| layout::Tongue { tag, is_right_to_left: setting::is_right_to_left(tag) });
    let tongue = own_are.unwrap_or(ours_are);
    let part = |own: Option<&str>, template: &'static str| layout::Part {
        text: pick(own, template),
        tongue: if own.is_some() { tongue } else { ours_are },
    };
    let parts = layout::Parts {
        tongue,
        site: one_line(&place.site_name),
        title: part(own.and_then(|it| it.words.title.as_deref()), ours.title),
        body: part(own.and_then(|it| it.words.body.as_deref()), ours.body),
        action: part(own.and_then(|it| it.words.action.as_deref()), ours.action),
        note: part(own.and_then(|it| it.words.note.as_deref()), ours.note),
        copy_link: part(None, known.copy_link),
        foot: part(None, known.foot),
        code: message.code(),
        link: message.link(place),
    };
    let escaped = |name: &str| message.value(name, to, place).map(|it| layout::escape(&it).into());
    let text = own.and_then(|it| it.words.text.as_deref()).map_or_else(|| layout::text(&parts), &fill);
    let html = own.and_then(|it| it.words.html.as_deref());
    stoa_outbound::Mail {
        to: to.to_owned(),
        subject: one_line(&pick(own.and_then(|it| it.words.subject.as_deref()), ours.subject)),
        text,
        html: html.map_or_else(|| layout::html(&parts), |it| self::fill(it, escaped)),
        links: parts.link.iter().map(|it| (*it).to_owned()).collect(),
        code: message.code().map(str::to_owned),
    }
}

/// Puts values in the place of `{names}`. What stands for nothing stays as it is; values are not read again.
fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let named = behind.split_once('}').and_then(|(name, after)| Some((value(name)?, after)));
        match named {
            Some((value, after)) => {
                out.push_str(&value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// What somebody typed, on one line, without what would turn the direction of the text around it.
fn one_line(text: &str) -> String {
    let turns = |it: char| matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    let line = text.chars().filter(|it| !turns(*it)).map(|it| match it {
        it if it.is_control() || matches!(it, '\u{2028}' | '\u{2029}') => ' ',
        it => it,
    });
    line.take(300).collect::<String>().trim().to_owned()
}

/// A name in a message to somebody else. It says no more than names need, and no mail program makes a link of it:
/// behind each mark that joins an address there is a space.
fn name_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in one_line(text).chars().take(80) {
        if out.ends_with(['.', ':', '\u{3002}', '\u{ff0e}', '\u{ff61}']) && !it.is_whitespace() {
            out.push(' ');
        }
        out.push(it);
    }
    out
}

/// `2026-01-01 12:30 UTC`: read alike in every language, and kept in this order where text runs the other way.
fn time(at: Millis) -> String {
    let iso = iso_from_millis(at);
    match (iso.get(..10), iso.get(11..16)) {
        (Some(day), Some(minute)) => format!("\u{2066}{day} {minute} UTC\u{2069}"),
        _ => iso,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            site_name: "Atlas & <b>Co</b>\r\nBcc: eve@example.org".to_owned(),
            recover_url: "https://www.example.org/account/recover?a=1&b=\"2\"".to_owned(),
            sign_in_url: "https://www.example.org/account/sign-in".to_owned(),
        }
    }

    #[test]
    fn every_message_in_every_language_is_whole() {
        for message in Message::examples() {
            for tag in words::tags() {
                let mail = render(&message, "anna@example.org", tag, &place(), &MailSetting::default());
                let what = format!("{} in {tag}: {mail:?}", message.kind());
                for text in [&mail.subject, &mail.text, &mail.html] {
                    for name in ["{site}", "{code}", "{email}", "{name}", "{device}", "{time}", "{link}"] {
                        assert!(!text.contains(name), "{name} in {what}");
                    }
                }
                assert!(!mail.subject.contains(['\r', '\n']) && !mail.html.contains("<b>"), "{what}");
                assert!(mail.html.contains(&format!("lang=\"{tag}\"")), "{what}");
                assert_eq!(mail.html.contains("dir=\"rtl\""), matches!(tag, "ar" | "he"), "{what}");
                for link in &mail.links {
                    assert!(mail.text.contains(link.as_str()) && mail.html.contains(&layout::escape(link)), "{what}");
                }
                assert!(mail.code.iter().all(|it| mail.text.contains(it) && mail.html.contains(it)), "{what}");
                let leads_on = !matches!(message, Message::EmailChanged { .. } | Message::Declined);
                assert_eq!(mail.links.len() + mail.code.iter().len(), usize::from(leads_on), "{what}");
                if tag != "en" {
                    let english = render(&message, "anna@example.org", "en", &place(), &MailSetting::default());
                    assert_ne!(mail.text, english.text, "{what}");
                }
            }
        }
    }

    #[test]
    fn a_name_is_no_address() {
        let name =
            format!("Your account is locked, visit http://evil.example/login or www.evil.example {}", "x".repeat(90));
        let message = Message::ApprovalRequest { name, email: "e@example.org".into(), link: "https://x/#a".into() };
        let mail = render(&message, "o@example.org", "en", &place(), &MailSetting::default());
        for text in [&mail.subject, &mail.text, &mail.html] {
            assert!(
                !text.contains("evil.example") && !text.contains("http://evil") && !text.contains("xxxxxx"),
                "{text}"
            );
        }
        assert_eq!(name_of("J.R.R. Müller: Dr."), "J. R. R. Müller: Dr.");
    }

    #[test]
    fn values_are_not_read_again() {
        let name = "{link} {site} \u{202e}x".to_owned();
        let message = Message::ApprovalRequest { name, email: "e@example.org".into(), link: "https://x/#a".into() };
        let mail = render(&message, "o@example.org", "de-AT", &place(), &MailSetting::default());
        assert!(mail.subject.starts_with("{link} {site} x möchte zu Atlas"), "{}", mail.subject);
        assert_eq!(fill("{a}{b} {", |it| (it == "a").then(|| "{b}".into())), "{b}{b} {");
    }
}
