//! What the parts of an operation are called in the document and on the reference page.

use super::{Callers, Media, Throttle};

impl Callers {
    /// As `x-callers` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Clients => "clients",
            Self::Pages => "pages",
            Self::Known => "known",
            Self::Permitted => "permitted",
            Self::Members => "members",
            Self::Editors => "editors",
            Self::Owners => "owners",
            Self::Persons => "persons",
            Self::Apps => "apps",
        }
    }
}

impl Callers {
    /// Who is let in, for people.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Open => "anyone, without a token",
            Self::Clients => "clients of a site, by id and secret or what a grant asks for",
            Self::Pages => "the pages of this server, in the browser of who uses them",
            Self::Known => "anyone with a token, a visitor's too",
            Self::Permitted => "anyone with a token whom the collection's permissions let in",
            Self::Members => "members about themselves, those who run the site about others",
            Self::Editors => "those who run the site, and keys",
            Self::Owners => "owners of the site, and keys",
            Self::Persons => "owners of the site in person, no keys",
            Self::Apps => "keys and applications",
        }
    }
}

impl Throttle {
    /// With what attempts are counted, as docs/configuration.md names it.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::SignIn => Some("sign_in"),
            Self::Registration => Some("registration"),
            Self::Password => Some("password"),
            Self::Recovery => Some("recovery"),
            Self::Captcha => Some("captcha"),
            Self::Flow => Some("flow"),
            Self::Export => Some("export"),
        }
    }
}

impl Media {
    /// As `Content-Type` has it, without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Graphql => "application/graphql-response+json",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Html => "text/html",
            Self::Text => "text/plain",
            Self::Events => "text/event-stream",
        }
    }
}
