//! A site's own words: the setting `mail`.
//!
//! ```json
//! { "language": "de",
//!   "templates": { "de": { "verification": { "subject": "{code} für {site}", "note": "…" } } } }
//! ```

use crate::{
    Identity,
    mail::{
        message::{MailContext, Message},
        words,
    },
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, Violation, nearest::hint};
use stoa_store::{ReaderPool, Site, Tx, boxed, setting};

const SETTING: &str = "mail";
/// Bytes of the whole setting.
const LARGEST: usize = 512 * 1024;
const PLACEHOLDERS: [&str; 8] = ["site", "code", "link", "email", "name", "device", "scopes", "time"];

/// What a site says otherwise than we do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MailSetting {
    /// For whom nothing is known; English without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// By language (BCP 47), then by kind of message. The language may be one that we don't have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, BTreeMap<String, Override>>,
}

/// The words of one message; what is missing stays as it is. Values in all of them but `html` are plain
/// text; in `html` they arrive escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Override {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The whole text part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The whole HTML part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

/// A site's words and the language they are in, when that is not the one of our words.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub words: &'a Override,
    pub tag: Option<&'a str>,
}

impl MailSetting {
    /// Reads a setting as it was written.
    ///
    /// # Errors
    /// [`Code::Validation`] with everything that is wrong: kinds and placeholders that don't exist, and
    /// whole parts that lack the code or link which the message is for.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |field: &str, why: String| Violation::new(field, "FORMAT", why);
        if text.len() > LARGEST {
            return Err(Fault::invalid(vec![wrong("mail", format!("at most {LARGEST} bytes"))]));
        }
        let setting: Self =
            serde_json::from_str(text).map_err(|it| Fault::invalid(vec![wrong("mail", it.to_string())]))?;
        let mut violations = Vec::new();
        if setting.language.iter().any(|it| !is_tag(it)) {
            violations.push(wrong("language", "a language tag like de or pt-BR is expected".to_owned()));
        }
        let examples = Message::examples();
        for (tag, kinds) in &setting.templates {
            if !is_tag(tag) {
                violations.push(wrong("templates", format!("{tag} is not a language tag like de or pt-BR")));
            }
            for (kind, words) in kinds {
                let field = format!("templates.{tag}.{kind}");
                let known = || examples.iter().filter(|it| !it.is_ours_alone());
                let Some(example) = known().find(|it| it.kind() == kind) else {
                    let nearest = hint(kind, known().map(Message::kind));
                    violations.push(wrong(&field, format!("no message is called so{nearest}")));
                    continue;
                };
                violations.extend(words.violations(example).into_iter().map(|it| wrong(&field, it)));
            }
        }
        if violations.is_empty() { Ok(setting) } else { Err(Fault::invalid(violations)) }
    }

    /// The site's words for a message: in this very language, without its region, or in the language that
    /// the site prefers when we have none of our own for it.
    pub(super) fn words(&self, language: &str, kind: &str) -> Option<Own<'_>> {
        let (primary, _) = language.split_once('-').unwrap_or((language, ""));
        let find = |tag: &str| self.templates.iter().find(|it| it.0.eq_ignore_ascii_case(tag));
        let (tag, kinds) = find(language).or_else(|| find(primary))?;
        let words = kinds.get(kind)?;
        Some(Own { words, tag: words::find(tag).is_none().then_some(tag.as_str()) })
    }

    /// The language for a person: what they asked for, else the site's, else English; of each only what
    /// there are words for.
    pub(crate) fn choose<'a>(&'a self, wishes: impl IntoIterator<Item = Option<&'a str>>) -> &'a str {
        let has_words = |tag: &&str| {
            let primary = tag.split('-').next().unwrap_or_default();
            let own = self.templates.keys().any(|it| it.eq_ignore_ascii_case(tag) || it.eq_ignore_ascii_case(primary));
            is_tag(tag) && (words::find(tag).is_some() || own)
        };
        let mut wishes = wishes.into_iter().flatten().chain(self.language.as_deref());
        wishes.find(has_words).unwrap_or("en")
    }
}

impl Override {
    fn violations(&self, example: &Message) -> Vec<String> {
        let mut wrong = Vec::new();
        let context = MailContext {
            site_name: "s".into(),
            recover_url: "r".into(),
            sign_in_url: "i".into(),
            sessions_url: "l".into(),
            owner_url: "o".into(),
        };
        let parts = [
            ("subject", &self.subject),
            ("title", &self.title),
            ("body", &self.body),
            ("action", &self.action),
            ("note", &self.note),
            ("text", &self.text),
            ("html", &self.html),
        ];
        for (name, text) in parts {
            let Some(text) = text else { continue };
            for placeholder in PLACEHOLDERS.iter().filter(|it| text.contains(&format!("{{{it}}}"))) {
                if example.value(placeholder, "to", (words::language("en"), &context)).is_none() {
                    wrong.push(format!("{name} names {{{placeholder}}}, which this message does not have"));
                }
            }
            let needed = example.code().map(|_| "{code}").or_else(|| example.link(&context).map(|_| "{link}"));
            if let Some(needed) = needed.filter(|it| matches!(name, "text" | "html") && !text.contains(it)) {
                wrong.push(format!("{name} lacks {needed}"));
            }
        }
        if self.subject.as_deref().is_some_and(|it| it.chars().any(char::is_control)) {
            wrong.push("subject must be one line".to_owned());
        }
        if self.action.as_deref() == Some("") && example.link(&context).is_some() {
            wrong.push("action is empty".to_owned());
        }
        wrong
    }
}

impl Identity {
    /// The site's own words.
    pub async fn mail_setting(&self, site: &Site) -> Result<MailSetting> {
        of_site(site).await
    }

    /// Replaces the site's own words.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner.
    pub async fn mail_setting_update(&self, site: &Site, caller: &Caller, setting: &MailSetting) -> Result<()> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let value = serde_json::to_string(setting).map_err(Fault::internal)?;
        site.write_with((site.id.clone(), value), |tx, (site, value)| {
            boxed!(Ok(setting::put(tx, site, SETTING, value.clone()).await?))
        })
        .await
    }
}

/// What [`Identity::mail_setting`] does.
pub(crate) async fn of_site(site: &Site) -> Result<MailSetting> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(read(tx, &id).await)).await
}

pub(super) async fn read(tx: &mut Tx<'_>, site: &SiteId) -> Result<MailSetting> {
    let stored = setting::get(tx, site, SETTING).await?;
    stored.map_or(Ok(MailSetting::default()), |it| serde_json::from_str(&it).map_err(Fault::internal))
}

/// The longest tag of a language that is taken (RFC 5646, section 4.4.1).
pub(crate) const LONGEST_TAG: usize = 35;

/// Whether a text has the form of a language's tag, for example `en` or `pt-BR`.
pub fn is_tag(text: &str) -> bool {
    let is_part = |it: &str| (1..=8).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_alphanumeric());
    let primary = text.split('-').next().unwrap_or_default();
    text.len() <= LONGEST_TAG
        && (2..=3).contains(&primary.len())
        && primary.bytes().all(|it| it.is_ascii_alphabetic())
        && text.split('-').all(is_part)
}

/// Languages that a site may add and that are written from right to left.
pub(super) fn is_right_to_left(tag: &str) -> bool {
    let primary = tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
    matches!(primary.as_str(), "ar" | "he" | "fa" | "ur" | "yi" | "dv" | "ps" | "sd" | "ug" | "ckb" | "syr")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::render::render;

    fn context() -> MailContext {
        MailContext {
            site_name: "A<B".into(),
            recover_url: "https://x/r".into(),
            sign_in_url: "https://x/s".into(),
            sessions_url: "https://x/l".into(),
            owner_url: "https://x/o".into(),
        }
    }

    #[test]
    fn setting_replaces_words_and_parts() {
        let text = r#"{ "language": "pt", "templates": {
            "pt": { "verification": { "subject": "{code} em {site}", "html": "<h1>{site}</h1>{code}" } },
            "de": { "recovery": { "action": "Los", "note": "" } } } }"#;
        let setting = MailSetting::parse(text).unwrap();
        let code = Message::Verification { code: "123456".into() };
        let mail = render(&code, "a@example.org", setting.choose([None, Some("xx")]), &context(), &setting).unwrap();
        assert_eq!((mail.subject.as_str(), mail.html.as_str()), ("123456 em A<B", "<h1>A&#60;B</h1>123456"));
        assert!(mail.text.contains("Type this code"), "what is missing is English");
        let link = Message::Recovery { link: "https://x/l".into() };
        let mail = render(&link, "a@example.org", setting.choose([Some("de-CH")]), &context(), &setting).unwrap();
        assert!(mail.text.contains("Los:\nhttps://x/l") && !mail.text.contains("eine Stunde"), "{}", mail.text);
        assert_eq!(setting.choose([Some("<b>"), Some("fr-CA")]), "fr-CA");
    }

    #[test]
    fn setting_parts_run_the_way_of_their_language() {
        let text = r#"{ "templates": { "fa": { "recovery": { "title": "رمز تازه", "note": "یک بار" } } } }"#;
        let setting = MailSetting::parse(text).unwrap();
        let link = Message::Recovery { link: "https://x/l".into() };
        let mail = render(&link, "a@example.org", "fa", &context(), &setting).unwrap();
        assert!(mail.html.contains("<html lang=\"fa\" dir=\"rtl\">"), "{}", mail.html);
        let (_, body) = mail.html.split_once("<h1").unwrap();
        assert!(body.contains(">رمز تازه</h1><p class=\"ink\" lang=\"en\" dir=\"ltr\""), "{body}");
        assert_eq!(body.matches("lang=\"en\" dir=\"ltr\"").count(), 4, "body, action, copy and foot: {body}");
    }

    #[test]
    fn setting_mistakes_are_named() {
        for (text, says) in [
            ("{\"langage\":\"de\"}", "unknown field"),
            ("{\"language\":\"german!\"}", "language tag"),
            ("{\"templates\":{\"de\":{\"welcome\":{}}}}", "no message is called so"),
            ("{\"templates\":{\"de\":{\"recvery\":{}}}}", "did you mean recovery?"),
            ("{\"templates\":{\"de\":{\"recovery\":{\"body\":\"{code}\"}}}}", "{code}"),
            ("{\"templates\":{\"de\":{\"recovery\":{\"html\":\"<p>\"}}}}", "lacks {link}"),
            ("{\"templates\":{\"de\":{\"verification\":{\"text\":\"x\"}}}}", "lacks {code}"),
            ("{\"templates\":{\"de\":{\"verification\":{\"subject\":\"a\\nBcc: b\"}}}}", "one line"),
        ] {
            let fault = MailSetting::parse(text).unwrap_err();
            let descriptions: String = fault.violations().iter().map(|it| it.description.to_string()).collect();
            assert!(descriptions.contains(says), "{text}: {descriptions}");
        }
    }
}
