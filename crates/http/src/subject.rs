//! What calls are about: the chapters of the reference page, and by what the aliases of a call are found.

/// A subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Items,
    AsyncJobs,
    Tasks,
    Search,
    References,
    Collections,
    Indexes,
    Permissions,
    Realtime,
    Graphql,
    Hooks,
    Tokens,
    SignIn,
    Redirects,
    Verification,
    Sessions,
    Factors,
    Members,
    Roles,
    Badges,
    CustomFields,
    Relations,
    Settings,
    Apps,
    Webhooks,
    AccountPages,
    Operators,
    Server,
}

impl Subject {
    pub(crate) const ALL: [Self; 28] = [
        Self::Items,
        Self::AsyncJobs,
        Self::Tasks,
        Self::Search,
        Self::References,
        Self::Collections,
        Self::Indexes,
        Self::Permissions,
        Self::Realtime,
        Self::Graphql,
        Self::Hooks,
        Self::Tokens,
        Self::SignIn,
        Self::Redirects,
        Self::Verification,
        Self::Sessions,
        Self::Factors,
        Self::Members,
        Self::Roles,
        Self::Badges,
        Self::CustomFields,
        Self::Relations,
        Self::Settings,
        Self::Apps,
        Self::Webhooks,
        Self::AccountPages,
        Self::Operators,
        Self::Server,
    ];

    /// The heading of its chapter, and the tag of its calls.
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    pub(crate) fn about(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Items => ("Items", "What collections hold: one item or many, read and written."),
            Self::Search => ("Search", "How late the index of words is that searches ask."),
            Self::AsyncJobs => ("Jobs", "How changes in the background stand."),
            Self::Tasks => ("Tasks", "Work on many items in the background, some of it at a time that is set."),
            Self::References => ("References", "Links between items."),
            Self::Collections => ("Collections", "What a collection is: its fields, plugins and levels of permission."),
            Self::Indexes => ("Indexes", "By which queries find items and values stay unique."),
            Self::Permissions => ("Permissions", "Who may do what with the items of a collection."),
            Self::Realtime => ("Realtime", "Items followed as they change."),
            Self::Graphql => ("GraphQL", "Items of several collections in one request, read and written."),
            Self::Hooks => ("Hooks", "A site's own code, asked before and after what is done with its items."),
            Self::Tokens => ("Tokens", "OAuth 2.0 and OpenID Connect."),
            Self::SignIn => ("Sign-in", "Registration and sign-in without the account pages."),
            Self::Redirects => ("Redirects", "From a website to the account pages and back."),
            Self::Verification => ("Verification and recovery", "Codes and links that are sent by mail."),
            Self::Sessions => ("Sessions", "Where a member is signed in."),
            Self::Factors => {
                ("Second factors", "What a member shows beside the password, and what those who run the site may undo.")
            }
            Self::Members => ("Members", "The members of a site, and what those who run it decide about them."),
            Self::Roles => ("Roles", "Roles of members."),
            Self::Badges => ("Badges", "Badges of members, and who has them."),
            Self::CustomFields => ("Custom fields", "Fields that a site adds to its members, and to whom they apply."),
            Self::Relations => {
                ("Between members", "Privacy, followers, blocks, reports, and what members write about themselves.")
            }
            Self::Settings => ("Settings", "Policies, pages and the audit log of a site."),
            Self::Apps => ("Apps", "Applications of others, and how an owner installs them."),
            Self::Webhooks => {
                ("Webhooks", "Endpoints of applications that are told of what happens, and what became of it.")
            }
            Self::AccountPages => ("Account pages", "What the pages of this server ask; no interface for others."),
            Self::Operators => ("Operators", "The accounts of those who run a site; for the pages of this server."),
            Self::Server => ("Server", "Health, public settings, and this description."),
        }
    }
}
