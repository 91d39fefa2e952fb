//! What our messages say. Plain text and a plain page of the same words.

use stoa_outbound::Mail;

/// The six-digit code that proves an address.
pub(crate) fn verification(site: &str, to: &str, code: &str) -> Mail {
    let site = one_line(site);
    let text = format!(
        "Your code for {site} is {code}.\n\nIt works for ten minutes. If you did not ask for it, you can ignore this message.\n"
    );
    let html = format!(
        "<p>Your code for {} is</p><p style=\"font-size:24px;letter-spacing:4px\"><b>{code}</b></p>\
         <p>It works for ten minutes. If you did not ask for it, you can ignore this message.</p>",
        escape(&site)
    );
    let subject = format!("{code} is your code for {site}");
    Mail { to: to.to_owned(), subject, text, html, links: Vec::new(), code: Some(code.to_owned()) }
}

/// The link with which a new password is chosen.
pub(crate) fn recovery(site: &str, to: &str, link: &str) -> Mail {
    let site = one_line(site);
    let text = format!(
        "Somebody asked for a new password for your account at {site}. To choose one, open\n\n{link}\n\n\
         The link works once, for one hour. If it was not you, you can ignore this message: nothing has changed.\n"
    );
    let html = format!(
        "<p>Somebody asked for a new password for your account at {0}.</p><p><a href=\"{1}\">Choose a new password</a></p>\
         <p>The link works once, for one hour. If it was not you, you can ignore this message: nothing has changed.</p>",
        escape(&site),
        escape(link)
    );
    let subject = format!("A new password for {site}");
    Mail { to: to.to_owned(), subject, text, html, links: vec![link.to_owned()], code: None }
}

/// A name that can't add lines or headers to a message.
fn one_line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_add_neither_lines_nor_tags() {
        let mail = recovery("A\r\nBcc: x <b>", "a@example.org", "https://example.org/?a=1&b=2");
        assert!(!mail.subject.contains(['\r', '\n']));
        assert!(!mail.html.contains("<b>") && mail.html.contains("a=1&amp;b=2"));
        assert_eq!(mail.links, ["https://example.org/?a=1&b=2"]);
    }
}
