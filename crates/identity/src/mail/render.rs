//! Makes a message from the words of its language, the site's own ones and the layout.

use crate::mail::{
    layout::{Layout, Locale, Part, escape},
    message::{MailContext, Message, one_line},
    setting::{self, MailSetting},
    words,
};
use std::borrow::Cow;
use stoa_kernel::Result;

/// Makes the message in the best language there is.
pub(crate) fn render(
    message: &Message,
    to: &str,
    language: &str,
    context: &MailContext,
    setting: &MailSetting,
) -> Result<stoa_outbound::Mail> {
    let known = words::language(language);
    let own = setting.words(language, message.kind()).filter(|_| !message.is_ours_alone());
    let ours = message.words(known);
    let value = |name: &str| message.value(name, to, (known, context));
    let fill = |template: &str| fill(template, value);
    let pick = |own: Option<&str>, ours: &'static str| fill(own.unwrap_or(ours));
    let our_locale = Locale { tag: known.tag, is_right_to_left: known.is_right_to_left };
    let own_locale =
        own.and_then(|it| it.tag).map(|tag| Locale { tag, is_right_to_left: setting::is_right_to_left(tag) });
    let locale = own_locale.unwrap_or(our_locale);
    let part = |own: Option<&str>, template: &'static str| {
        let part_locale = if own.is_some() { locale } else { our_locale };
        Part { text: pick(own, template), locale: part_locale, is_foreign: part_locale != locale }
    };
    let layout = Layout {
        locale,
        site: one_line(&context.site_name),
        title: part(own.and_then(|it| it.words.title.as_deref()), ours.title),
        body: part(own.and_then(|it| it.words.body.as_deref()), ours.body),
        action: part(own.and_then(|it| it.words.action.as_deref()), ours.action),
        note: part(own.and_then(|it| it.words.note.as_deref()), ours.note),
        copy_link: part(None, known.copy_link),
        footer: part(None, known.footer),
        code: message.code(),
        link: message.link(context),
    };
    // A line each, also where the site's own words are HTML.
    let escaped = |name: &str| value(name).map(|it| escape(&it).replace('\n', "<br>").into());
    let text = own.and_then(|it| it.words.text.as_deref()).map_or_else(|| layout.text(), &fill);
    let html = match own.and_then(|it| it.words.html.as_deref()) {
        Some(own) => self::fill(own, escaped),
        None => layout.html()?,
    };
    Ok(stoa_outbound::Mail {
        to: to.to_owned(),
        subject: one_line(&pick(own.and_then(|it| it.words.subject.as_deref()), ours.subject)),
        text,
        html,
        links: layout.link.iter().map(|it| (*it).to_owned()).collect(),
        code: message.code().map(str::to_owned),
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::{Override, message::name_of};

    fn context() -> MailContext {
        MailContext {
            site_name: "Atlas & <b>Co</b>\r\nBcc: eve@example.org".to_owned(),
            recover_url: "https://www.example.org/account/recover?a=1&b=\"2\"".to_owned(),
            sign_in_url: "https://www.example.org/account/sign-in".to_owned(),
            sessions_url: "https://www.example.org/account/sessions".to_owned(),
            owner_url: "https://www.example.org/account/owner".to_owned(),
        }
    }

    #[test]
    fn message_is_whole_in_every_language() {
        for message in Message::examples() {
            for tag in words::tags() {
                let mail = render(&message, "anna@example.org", tag, &context(), &MailSetting::default()).unwrap();
                let what = format!("{} in {tag}: {mail:?}", message.kind());
                for text in [&mail.subject, &mail.text, &mail.html] {
                    for name in ["{site}", "{code}", "{email}", "{name}", "{device}", "{scopes}", "{time}", "{link}"] {
                        assert!(!text.contains(name), "{name} in {what}");
                    }
                }
                assert!(!mail.subject.contains(['\r', '\n']) && !mail.html.contains("<b>"), "{what}");
                assert!(mail.html.contains(&format!("lang=\"{tag}\"")), "{what}");
                assert_eq!(mail.html.contains("dir=\"rtl\""), matches!(tag, "ar" | "he"), "{what}");
                for link in &mail.links {
                    assert!(mail.text.contains(link.as_str()) && mail.html.contains(&escape(link)), "{what}");
                }
                assert!(mail.code.iter().all(|it| mail.text.contains(it) && mail.html.contains(it)), "{what}");
                let leads_on = !matches!(message, Message::EmailChanged { .. } | Message::Declined);
                assert_eq!(mail.links.len() + mail.code.iter().len(), usize::from(leads_on), "{what}");
                if tag != "en" {
                    let english =
                        render(&message, "anna@example.org", "en", &context(), &MailSetting::default()).unwrap();
                    assert_ne!(mail.text, english.text, "{what}");
                }
            }
        }
    }

    #[test]
    fn name_in_a_message_is_no_address() {
        let name =
            format!("Your account is locked, visit http://evil.example/login or www.evil.example {}", "x".repeat(90));
        let message = Message::ApprovalRequest { name, email: "e@example.org".into(), link: "https://x/#a".into() };
        let mail = render(&message, "o@example.org", "en", &context(), &MailSetting::default()).unwrap();
        for text in [&mail.subject, &mail.text, &mail.html] {
            assert!(
                !text.contains("evil.example") && !text.contains("http://evil") && !text.contains("xxxxxx"),
                "{text}"
            );
        }
        assert_eq!(name_of("J.R.R. Müller: Dr."), "J. R. R. Müller: Dr.");
    }

    /// A picture in a site's own words would tell the site the link.
    #[test]
    fn recovery_of_operators_is_in_our_words_alone() {
        let own = Override { html: Some("<img src=\"https://evil.example/?{link}\">".into()), ..Override::default() };
        let kinds = ["operator_recovery", "operator_password_changed"].map(|it| (it.to_owned(), own.clone()));
        let templates = [("en".to_owned(), kinds.into_iter().collect())].into_iter().collect();
        let setting = MailSetting { language: None, templates };
        let message = Message::OperatorRecovery { link: "https://x/?token=o1.x".into() };
        let mail = render(&message, "o@example.org", "en", &context(), &setting).unwrap();
        assert!(!mail.html.contains("evil.example") && mail.links == ["https://x/?token=o1.x"], "{mail:?}");
        let text = serde_json::to_string(&setting).unwrap();
        assert_eq!(MailSetting::parse(&text).unwrap_err().violations().len(), 2);
    }

    #[test]
    fn address_in_place_of_a_name_stays_whole() {
        let address = format!("anna.{}@mail.example.org", "beispiel".repeat(12));
        let message =
            Message::ApprovalRequest { name: address.clone(), email: address.clone(), link: "https://x/#a".into() };
        let mail = render(&message, "o@example.org", "en", &context(), &MailSetting::default()).unwrap();
        assert!(mail.subject.starts_with(&format!("{address} asks to join ")), "{}", mail.subject);
        assert!(mail.text.contains(&format!("{address} ({address})")), "{}", mail.text);
    }

    #[test]
    fn denial_names_the_browser_and_the_address_that_asked() {
        for (device, line) in [
            (Some("Firefox · Linux".to_owned()), "\u{2066}Firefox · Linux · 192.0.2.7\u{2069}"),
            (None, "\u{2066}192.0.2.7\u{2069}"),
        ] {
            for is_change in [false, true] {
                let (device, address) = (device.clone(), "192.0.2.7".to_owned());
                let message = Message::PushDenied { is_change, device, address, at: 0 };
                for tag in words::tags() {
                    let mail = render(&message, "a@example.org", tag, &context(), &MailSetting::default()).unwrap();
                    assert!(mail.text.lines().any(|it| it == line) && mail.html.contains(line), "{tag}: {}", mail.text);
                }
            }
        }
    }

    #[test]
    fn application_is_named_with_all_that_it_may_do() {
        let mail = |tag: &str, scopes: &[&str]| {
            let scopes = scopes.iter().map(|it| (*it).to_owned()).collect();
            let message = Message::ApplicationAllowed { name: "Feed".into(), scopes, at: 0 };
            render(&message, "a@example.org", tag, &context(), &MailSetting::default()).unwrap()
        };
        let told = mail("en", &["items:read", "items:write:posts"]);
        let lines = "• Read the items of all collections\n\
                     • Read, add, change and remove the items of the collection posts\n";
        assert!(told.text.contains(lines) && told.links == [context().sessions_url], "{}", told.text);
        assert!(mail("en", &[]).text.contains("• Know who you are\n"));
        let areas = ["items:read", "items:write", "collections:read", "collections:write"];
        let ones = areas.map(|it| format!("{it}:posts"));
        let others = ["members:read", "members:write", "members:sign-in", "site:read", "site:write"];
        for scope in areas.into_iter().chain(ones.iter().map(String::as_str)).chain(others) {
            for tag in words::tags() {
                let told = mail(tag, &[scope]).text;
                assert!(!told.contains(scope) && !told.contains("{collection}"), "{scope} in {tag}: {told}");
                assert_eq!(told.contains("posts"), scope.ends_with(":posts"), "{scope} in {tag}: {told}");
            }
        }
        assert!(mail("de", &["later:read"]).text.contains("• later:read\n"), "one without words");
        let own = Override { html: Some("<p>{scopes}</p>".into()), ..Override::default() };
        let templates = [("en".to_owned(), [("application_allowed".to_owned(), own)].into_iter().collect())];
        let setting = MailSetting { language: None, templates: templates.into_iter().collect() };
        let scopes = ["items:read", "site:read"].map(str::to_owned).to_vec();
        let message = Message::ApplicationAllowed { name: "Feed".into(), scopes, at: 0 };
        let told = render(&message, "a@example.org", "en", &context(), &setting).unwrap().html;
        assert!(told.starts_with("<p>• Read the items of all collections<br>• "), "{told}");
    }

    #[test]
    fn placeholder_values_are_not_read_again() {
        let name = "{link} {site} \u{202e}x".to_owned();
        let message = Message::ApprovalRequest { name, email: "e@example.org".into(), link: "https://x/#a".into() };
        let mail = render(&message, "o@example.org", "de-AT", &context(), &MailSetting::default()).unwrap();
        assert!(mail.subject.starts_with("{link} {site} x möchte zu Atlas"), "{}", mail.subject);
        assert_eq!(fill("{a}{b} {", |it| (it == "a").then(|| "{b}".into())), "{b}{b} {");
    }
}
