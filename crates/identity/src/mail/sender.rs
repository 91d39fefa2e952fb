//! In whose name a site's messages are sent: the setting `mail_sender` (decision 57).
//!
//! A site chooses the name that people read and where their answers go. An address of its own it chooses only in a domain
//! that the operator of the server has allowed it: mail servers take the word of this one for what it sends.

use crate::mail::message::one_line;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stoa_kernel::{Email, Fault, Result, SiteId, Violation, nearest::hint};
use stoa_outbound::is_mail_address;
use stoa_store::{Tx, setting};

const SETTING: &str = "mail_sender";
/// Characters of a name.
const LONGEST_NAME: usize = 64;
/// Domains that one site may be allowed.
const MOST_DOMAINS: usize = 20;
const DOMAINS_FIELD: &str = "allowedDomains";

/// In whose name a site's messages are sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MailSender {
    /// What people read; the site's name without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// From where; the server's address without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where answers go; to the sender without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Where `address` may be, in lower case: set by the operator of the server.
    pub allowed_domains: Vec<String>,
}

/// What a site may change of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderPart {
    Name,
    Address,
    ReplyTo,
}

impl SenderPart {
    const ALL: [Self; 3] = [Self::Name, Self::Address, Self::ReplyTo];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Address => "address",
            Self::ReplyTo => "replyTo",
        }
    }

    /// What is wrong with a text.
    fn mistake(self, text: &str) -> Option<&'static str> {
        match self {
            // Many programs show the name alone: it is not to be taken for an address.
            Self::Name => {
                let is_good = one_line(text) == text && !text.contains(SIGNS) && text.contains(is_shown);
                (!is_good || text.chars().count() > LONGEST_NAME)
                    .then_some("1 to 64 characters on one line are expected, without @")
            }
            Self::Address | Self::ReplyTo => {
                let is_good = text.is_ascii() && Email::parse(text).is_some_and(|it| it.as_str() == text);
                (!is_good || !is_mail_address(text))
                    .then_some("an e-mail address is expected, in ASCII: an international domain as xn--…")
            }
        }
    }

    fn of(self, sender: &mut MailSender) -> &mut Option<String> {
        match self {
            Self::Name => &mut sender.name,
            Self::Address => &mut sender.address,
            Self::ReplyTo => &mut sender.reply_to,
        }
    }
}

/// Checked texts by part, nothing for one that is to be removed; and the domains, where a whole sender was sent back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SenderChange {
    parts: Vec<(SenderPart, Option<String>)>,
    domains: Option<Vec<String>>,
}

impl SenderChange {
    /// Reads the body `{mailSender: {…partial…}}`; `null` removes a member.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] with everything that is wrong.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut violations = Vec::new();
        let mut wrong = |name: &str, rule: &'static str, why: &str| {
            violations.push(Violation::new(field(name), rule, why.to_owned()));
        };
        let mut change = Self::default();
        match body.get("mailSender") {
            Some(Value::Object(members)) => {
                for (name, value) in members {
                    let part = SenderPart::ALL.into_iter().find(|it| it.name() == name);
                    match (part, value) {
                        (Some(part), Value::Null) => change.parts.push((part, None)),
                        (Some(part), Value::String(text)) => match part.mistake(text) {
                            Some(why) => wrong(name, "FORMAT", why),
                            None => change.parts.push((part, Some(text.clone()))),
                        },
                        (Some(_), _) => wrong(name, "FORMAT", "text is expected, or null to remove it"),
                        (None, list) if name == DOMAINS_FIELD => match serde_json::from_value(list.clone()) {
                            Ok(domains) => change.domains = Some(domains),
                            Err(_) => wrong(name, "FORMAT", "a list of domains is expected"),
                        },
                        (None, _) => {
                            let nearest = hint(name, SenderPart::ALL.map(SenderPart::name));
                            wrong(name, "UNKNOWN_FIELD", &format!("the sender has no such member{nearest}"));
                        }
                    }
                }
            }
            Some(_) => wrong("", "FORMAT", "an object is expected"),
            None => wrong("", "REQUIRED_FIELD", "the sender is missing"),
        }
        if violations.is_empty() { Ok(change) } else { Err(Fault::invalid(violations)) }
    }

    /// The sender after this change. `fixed_name` is the name that the server gives to all sites.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] for an address in a domain that is not allowed, a name that nobody would see,
    /// and other domains than there are.
    pub(crate) fn apply(&self, before: &MailSender, fixed_name: Option<&str>) -> Result<MailSender> {
        let mut after = before.clone();
        for (part, text) in &self.parts {
            part.of(&mut after).clone_from(text);
        }
        let mut violations = Vec::new();
        let mut refuse =
            |name: &str, why: String| violations.push(Violation::new(field(name), "FIELD_NOT_ALLOWED", why));
        if self.domains.as_ref().is_some_and(|it| *it != before.allowed_domains) {
            refuse(DOMAINS_FIELD, "these are set by the operator of the server".to_owned());
        }
        if let Some(domain) = after.domain().filter(|it| !before.allowed_domains.contains(it)) {
            refuse("address", format!("the operator of the server has allowed this site no address in {domain}"));
        }
        if let (Some(fixed), Some(_), None) = (fixed_name, &after.name, &after.address)
            && after != *before
        {
            refuse(
                "name",
                format!("this server sends in the name {fixed} for every site without an address of its own"),
            );
        }
        if violations.is_empty() { Ok(after) } else { Err(Fault::invalid(violations)) }
    }
}

impl MailSender {
    /// The domain of its address, as domains are compared.
    fn domain(&self) -> Option<String> {
        let address = self.address.as_deref()?;
        Some(address.rsplit_once('@')?.1.to_ascii_lowercase())
    }

    /// With and without these domains. An address in one that is no longer allowed goes with it.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] for what is no domain, or too many.
    pub(crate) fn with_domains(&self, allow: &[String], disallow: &[String]) -> Result<Self> {
        let mut after = self.clone();
        for domain in allow {
            let domain = domain.to_ascii_lowercase();
            // Whatever stands before it, an address in it is one.
            if !domain.is_ascii()
                || !is_mail_address(&format!("a@{domain}"))
                || Email::parse(&format!("a@{domain}")).is_none()
            {
                let why =
                    format!("{domain:?} is no domain such as example.org; an international one is written as xn--…");
                return Err(Fault::invalid(vec![Violation::new(field(DOMAINS_FIELD), "FORMAT", why)]));
            }
            after.allowed_domains.push(domain);
        }
        after.allowed_domains.sort_unstable();
        after.allowed_domains.dedup();
        after.allowed_domains.retain(|it| !disallow.iter().any(|gone| gone.eq_ignore_ascii_case(it)));
        if after.allowed_domains.len() > MOST_DOMAINS {
            let why = format!("at most {MOST_DOMAINS} domains");
            return Err(Fault::invalid(vec![Violation::new(field(DOMAINS_FIELD), "MAX_LENGTH", why)]));
        }
        if after.domain().is_some_and(|it| !after.allowed_domains.contains(&it)) {
            after.address = None;
        }
        Ok(after)
    }
}

/// `@`, and what looks like it.
const SIGNS: [char; 3] = ['@', '\u{fe6b}', '\u{ff20}'];

/// Whether something of a letter is seen: neither a space nor one that only directs or joins others.
fn is_shown(letter: char) -> bool {
    // Characters that Unicode has as ignorable by default, and the blank one of Braille.
    let is_ignored = matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}'
    );
    !is_ignored && !letter.is_whitespace()
}

fn field(name: &str) -> String {
    if name.is_empty() { "mailSender".to_owned() } else { format!("mailSender.{name}") }
}

/// The sender inside a transaction.
pub(crate) async fn read(tx: &mut Tx<'_>, site: &SiteId) -> Result<MailSender> {
    let stored = setting::get(tx, site, SETTING).await?;
    stored.map_or(Ok(MailSender::default()), |it| serde_json::from_str(&it).map_err(Fault::internal))
}

pub(crate) async fn put(tx: &mut Tx<'_>, site: &SiteId, sender: &MailSender) -> Result<()> {
    let value = serde_json::to_string(sender).map_err(Fault::internal)?;
    Ok(setting::put(tx, site, SETTING, value).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(refused: Result<impl std::fmt::Debug>) -> Vec<String> {
        let fault = refused.unwrap_err();
        fault.violations().iter().map(|it| format!("{} {}", it.field, it.description)).collect()
    }

    #[test]
    fn sender_is_read_or_refused_by_name() {
        let parsed = |sender: Value| SenderChange::parse(&json!({ "mailSender": sender }));
        let good =
            parsed(json!({ "name": "Café \"Zeus\", München", "address": null, "replyTo": "Help+1@example.org" }));
        assert_eq!(good.unwrap().parts.len(), 3);
        let address = "an e-mail address is expected, in ASCII";
        let name = "1 to 64 characters on one line are expected, without @";
        for (member, value, why) in [
            ("name", json!("x\r\nBcc: eve@example.org"), name),
            ("name", json!("x\u{2028}y"), name),
            ("name", json!("\u{202e}x"), name),
            ("name", json!(" x"), name),
            ("name", json!(""), name),
            ("name", json!("x".repeat(65)), name),
            ("name", json!("security@bank.example"), name),
            ("name", json!("security\u{ff20}bank.example"), name),
            ("name", json!("security\u{fe6b}bank.example"), name),
            ("name", json!("\u{200b}"), name),
            ("name", json!("\u{feff}\u{2060}\u{ad}"), name),
            ("name", json!("\u{61c}x"), name),
            ("name", json!(5), "text is expected, or null to remove it"),
            ("address", json!("a@example.org\r\nBcc: eve@example.org"), address),
            ("address", json!("a@example.org, eve@example.org"), address),
            ("address", json!("A <a@example.org>"), address),
            ("address", json!(" a@example.org"), address),
            ("address", json!("a@bücher.example"), address),
            ("replyTo", json!("änna@example.org"), address),
            ("replyTo", json!("a@localhost"), address),
            ("replyTo", json!("a..b@example.org"), address),
            ("replyTo", json!(""), address),
            ("allowedDomains", json!("example.org"), "a list of domains is expected"),
            ("replyto", json!("a@example.org"), "the sender has no such member; did you mean replyTo?"),
        ] {
            let told = told(parsed(json!({ member: value })));
            assert!(told.len() == 1 && told[0].starts_with(&format!("mailSender.{member} {why}")), "{value}: {told:?}");
        }
        assert_eq!(told(SenderChange::parse(&json!({}))), ["mailSender the sender is missing"]);
        assert_eq!(told(parsed(json!([]))), ["mailSender an object is expected"]);
    }

    #[test]
    fn address_is_in_a_domain_that_the_operator_has_allowed() {
        let change = |sender: Value| SenderChange::parse(&json!({ "mailSender": sender })).unwrap();
        let none = MailSender::default();
        let own = none.with_domains(&["Example.ORG".to_owned(), "example.org".to_owned()], &[]).unwrap();
        assert_eq!(own.allowed_domains, ["example.org"]);
        let set = change(json!({ "address": "Hello@example.Org" })).apply(&own, None).unwrap();
        assert_eq!(set.address.as_deref(), Some("Hello@example.Org"));
        for (sender, address) in [
            (&none, "a@example.org"),
            (&own, "a@example.com"),
            (&own, "a@mail.example.org"),
            (&own, "a@badexample.org"),
            (&own, "a@org"),
        ] {
            let refused = SenderChange::parse(&json!({ "mailSender": { "address": address } }))
                .and_then(|it| it.apply(sender, None));
            assert_eq!(told(refused).len(), 1, "{address}");
        }
        let whole = change(json!({ "name": "N", "allowedDomains": ["example.org"] }));
        assert!(whole.apply(&own, None).is_ok(), "what was read may be sent back");
        let more = change(json!({ "allowedDomains": ["example.org", "example.com"] })).apply(&own, None);
        assert_eq!(told(more), ["mailSender.allowedDomains these are set by the operator of the server"]);
        let gone = set.with_domains(&[], &["EXAMPLE.org".to_owned()]).unwrap();
        assert_eq!((gone.address, gone.allowed_domains.len()), (None, 0));
        for domain in [
            "",
            "org",
            "a b.example",
            "example.org\n",
            "-x.example",
            "x@example.org",
            "münchen.example",
            "*.example.org",
        ] {
            assert_eq!(told(none.with_domains(&[domain.to_owned()], &[])).len(), 1, "{domain}");
        }
        let many: Vec<String> = (0..21).map(|n| format!("d{n}.example")).collect();
        assert_eq!(told(none.with_domains(&many, &[])), ["mailSender.allowedDomains at most 20 domains"]);
    }

    #[test]
    fn name_that_nobody_would_see_is_refused() {
        let own = MailSender::default().with_domains(&["example.org".to_owned()], &[]).unwrap();
        let change = |sender: Value| SenderChange::parse(&json!({ "mailSender": sender })).unwrap();
        let refused = change(json!({ "name": "Mine" })).apply(&own, Some("Host"));
        let says = "mailSender.name this server sends in the name Host for every site without an address of its own";
        assert_eq!(told(refused), [says]);
        let both = change(json!({ "name": "Mine", "address": "a@example.org" })).apply(&own, Some("Host")).unwrap();
        assert_eq!(told(change(json!({ "address": null })).apply(&both, Some("Host"))), [says]);
        assert!(change(json!({ "name": null, "address": null })).apply(&both, Some("Host")).is_ok());
    }
}
