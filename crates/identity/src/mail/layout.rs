//! How a message looks: `templates/mail.html`, in which every value is escaped, and the same words as plain text.

use askama::{Template, filters};
use stoa_kernel::{Fault, Result};

/// A language and the way it runs.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Locale<'a> {
    pub tag: &'a str,
    pub is_right_to_left: bool,
}

impl Locale<'_> {
    fn direction(self) -> &'static str {
        if self.is_right_to_left { "rtl" } else { "ltr" }
    }

    /// The side on which lines begin.
    fn start(self) -> &'static str {
        if self.is_right_to_left { "right" } else { "left" }
    }
}

/// Filled words, and the language they are in: what a site's own language lacks is in one of ours.
pub(super) struct Part<'a> {
    pub text: String,
    pub locale: Locale<'a>,
    /// In another language than the message, which the part then says itself.
    pub is_foreign: bool,
}

impl Part<'_> {
    /// The paragraphs.
    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|it| !it.is_empty())
    }
}

/// A message with its words filled in.
#[derive(Template)]
#[template(path = "mail.html")]
pub(super) struct Layout<'a> {
    /// That of the message.
    pub locale: Locale<'a>,
    pub site: String,
    pub title: Part<'a>,
    /// Lines are paragraphs of their own.
    pub body: Part<'a>,
    pub action: Part<'a>,
    pub note: Part<'a>,
    pub copy_link: Part<'a>,
    pub footer: Part<'a>,
    pub code: Option<&'a str>,
    pub link: Option<&'a str>,
}

impl Layout<'_> {
    /// # Errors
    /// Never for what is in memory; the template says that it may.
    pub(super) fn html(&self) -> Result<String> {
        self.render().map_err(Fault::internal)
    }

    pub(super) fn text(&self) -> String {
        let action = self.link.map(|link| match self.action.text.is_empty() {
            true => link.to_owned(),
            false => format!("{}:\n{link}", self.action.text),
        });
        let (title, body, note) = (self.title.text.as_str(), self.body.text.as_str(), self.note.text.as_str());
        let parts = [Some(title), Some(body), self.code, action.as_deref(), Some(note)];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
        format!("{}\n\n-- \n{}\n", parts.join("\n\n"), self.footer.text)
    }

    /// Where the button leads, if there is one.
    fn button(&self) -> Option<&str> {
        self.link.filter(|_| !self.action.text.is_empty())
    }
}

/// Text that can stand between tags and in quoted attributes, for what is not filled in by the template.
pub(super) fn escape(text: &str) -> String {
    match filters::escape(text, filters::Html) {
        Ok(escaped) => escaped.to_string(),
        Err(never) => match never {},
    }
}
