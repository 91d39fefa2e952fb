//! Who makes a request. `http` makes a [`Caller`] out of a token or key; everything below takes it as it is.

use crate::ids::{ClientId, KeyId, MemberId, SessionId, UserId, VisitorId};

/// The four kinds of caller (architecture: Words).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Anonymous; identity type ANONYMOUS_VISITOR on the wire.
    Visitor { id: VisitorId, client: Option<ClientId> },
    /// A signed-in member; identity type MEMBER.
    Member { id: MemberId, session: SessionId, client: Option<ClientId> },
    /// An operator of the site; identity type WIX_USER.
    User { id: UserId, role: Role, session: SessionId },
    /// An API key or an app with a client secret; identity type APP. Full rights on its site.
    App { id: KeyId },
}

/// What a person may do on the site they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Role {
    /// Holds PRIVILEGED: everything, including people, keys and settings.
    Owner,
    /// Holds CMS_EDITOR: content, but neither people nor settings.
    Editor,
}

impl Caller {
    /// Whose items these are when the caller writes them: `_owner` (docs/protocol/content.md §21.4).
    /// An app owns nothing, so what it writes has no owner.
    pub fn owner(&self) -> Option<&str> {
        match self {
            Self::Visitor { id, .. } => Some(id.as_str()),
            Self::Member { id, .. } => Some(id.as_str()),
            Self::User { id, .. } => Some(id.as_str()),
            Self::App { .. } => None,
        }
    }

    /// Apps and owners: everything on the site is theirs to decide.
    pub fn is_privileged(&self) -> bool {
        matches!(self, Self::App { .. } | Self::User { role: Role::Owner, .. })
    }

    /// Those who work on the site's content: apps, owners and editors.
    pub fn is_editor(&self) -> bool {
        matches!(self, Self::App { .. } | Self::User { .. })
    }

    pub fn is_member(&self) -> bool {
        matches!(self, Self::Member { .. })
    }

    /// The identity type of docs/protocol/identity.md §10.4, "Webhook identity".
    pub fn identity_type(&self) -> &'static str {
        match self {
            Self::Visitor { .. } => "ANONYMOUS_VISITOR",
            Self::Member { .. } => "MEMBER",
            Self::User { .. } => "WIX_USER",
            Self::App { .. } => "APP",
        }
    }
}
