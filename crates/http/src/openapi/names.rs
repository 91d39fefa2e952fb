//! What the parts of an operation are called in the document and on the reference page.

use super::{Callers, Media, Tag, Throttle};

impl Tag {
    pub(super) const ALL: [Self; 19] = [
        Self::Items,
        Self::References,
        Self::Collections,
        Self::Indexes,
        Self::Permissions,
        Self::Tokens,
        Self::SignIn,
        Self::Verification,
        Self::Sessions,
        Self::Members,
        Self::Roles,
        Self::Badges,
        Self::CustomFields,
        Self::Relations,
        Self::Settings,
        Self::Apps,
        Self::AccountPages,
        Self::Operators,
        Self::Server,
    ];

    pub fn name(self) -> &'static str {
        self.texts().0
    }

    pub(super) fn about(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Items => ("Items", "What collections hold: one item or many, read and written."),
            Self::References => ("References", "Links between items."),
            Self::Collections => ("Collections", "What a collection is: its fields, plugins and levels of permission."),
            Self::Indexes => ("Indexes", "By which queries find items and values stay unique."),
            Self::Permissions => ("Permissions", "Who may do what with the items of a collection."),
            Self::Tokens => ("Tokens", "OAuth 2.0 and OpenID Connect."),
            Self::SignIn => ("Sign-in", "Registration, sign-in, and the way from a website to the account pages."),
            Self::Verification => ("Verification and recovery", "Codes and links that are sent by mail."),
            Self::Sessions => ("Sessions", "Where a member is signed in."),
            Self::Members => ("Members", "The members of a site, and what those who run it decide about them."),
            Self::Roles => ("Roles", "Roles of members."),
            Self::Badges => ("Badges", "Badges of members, and who has them."),
            Self::CustomFields => ("Custom fields", "Fields that a site adds to its members, and to whom they apply."),
            Self::Relations => ("Between members", "Privacy, followers, blocks, reports, and what members write about themselves."),
            Self::Settings => ("Settings", "Policies, pages and the audit log of a site."),
            Self::Apps => ("Apps", "Applications of others, and how an owner installs them."),
            Self::AccountPages => ("Account pages", "What the pages of this server ask; no interface for others."),
            Self::Operators => ("Operators", "The accounts of those who run a site; for the pages of this server."),
            Self::Server => ("Server", "Health, public settings, and this description."),
        }
    }
}

impl Callers {
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
        }
    }
}

impl Throttle {
    /// The settings of the configuration that count it begin with this.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::SignIn => Some("sign_in"),
            Self::Registration => Some("registration"),
            Self::Password => Some("password"),
            Self::Recovery => Some("recovery"),
            Self::Captcha => Some("captcha"),
            Self::Flow => Some("flow"),
        }
    }
}

impl Media {
    /// As `Content-Type` has it, without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Html => "text/html",
            Self::Text => "text/plain",
            Self::Events => "text/event-stream",
        }
    }
}
