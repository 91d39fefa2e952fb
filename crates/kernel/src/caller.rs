//! Who makes a request. `http` makes a [`Caller`] out of a token or key; everything below takes it as it is.

use crate::{
    code::Code,
    fault::{Fault, Result},
    ids::{ClientId, KeyId, MemberId, SessionId, UserId, VisitorId},
    scopes::{Area, Right, Scopes},
};
use std::sync::Arc;

/// The four kinds of caller (architecture: Words), and those of them who are held to scopes.
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
    /// One of the others, held to scopes. What doesn't know of scopes takes such a caller for a stranger.
    Scoped(Arc<ScopedCaller>),
}

/// A caller who is held to scopes; only [`Caller::held_to`] and [`Caller::impersonated`] make one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScopedCaller {
    /// Never scoped itself.
    caller: Caller,
    scopes: Scopes,
    impersonator: Option<Impersonator>,
}

/// An owner of the site who acts as one of its members (decision 54).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Impersonator {
    pub owner: UserId,
    /// The owner's own session, with which the impersonation ends; nothing where the command line began it.
    pub session: Option<SessionId>,
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
    /// This caller with no more than the scopes leave of the rights; without scopes, as they are.
    #[must_use]
    pub fn held_to(self, scopes: Option<&Scopes>) -> Self {
        let Some(scopes) = scopes else { return self };
        let scopes = self.scopes().map_or_else(|| scopes.clone(), |it| it.and(scopes));
        let impersonator = self.impersonator().cloned();
        Self::Scoped(Arc::new(ScopedCaller { caller: self.bare().clone(), scopes, impersonator }))
    }

    /// This caller as an owner acts for them. There is none without scopes: what they leave is all that the owner may do.
    #[must_use]
    pub fn impersonated(self, by: Impersonator, scopes: &Scopes) -> Self {
        let scopes = self.scopes().map_or_else(|| scopes.clone(), |it| it.and(scopes));
        Self::Scoped(Arc::new(ScopedCaller { caller: self.bare().clone(), scopes, impersonator: Some(by) }))
    }

    /// The owner who acts as this caller; nothing for callers who act for themselves.
    pub fn impersonator(&self) -> Option<&Impersonator> {
        match self {
            Self::Scoped(it) => it.impersonator.as_ref(),
            _ => None,
        }
    }

    /// Who it is, whatever scopes say: never [`Caller::Scoped`].
    pub fn bare(&self) -> &Self {
        match self {
            Self::Scoped(it) => &it.caller,
            it => it,
        }
    }

    /// What the caller is held to; nothing for one who has all that is theirs.
    pub fn scopes(&self) -> Option<&Scopes> {
        match self {
            Self::Scoped(it) => Some(&it.scopes),
            _ => None,
        }
    }

    /// Whether scopes leave this of a caller's rights. That the caller has the right at all is not said.
    pub fn reaches(&self, area: Area, right: Right, collection: Option<&str>) -> bool {
        self.scopes().is_none_or(|it| it.allow(area, right, collection))
    }

    /// Who it is, where scopes leave the right.
    ///
    /// # Errors
    /// [`Code::ScopeMissing`], which names the scope.
    pub fn within(&self, area: Area, right: Right) -> Result<&Self> {
        match self.reaches(area, right, None) {
            true => Ok(self.bare()),
            false => {
                let scope = format!("{}:{}", area.name(), right.name());
                Err(Fault::because(Code::ScopeMissing, format!("This needs the scope {scope}.")).with("scope", scope))
            }
        }
    }

    /// Whose items these are when the caller writes them: `_owner` (docs/protocol/content.md §21.4).
    /// An app owns nothing, so what it writes has no owner.
    pub fn owner(&self) -> Option<&str> {
        match self.bare() {
            Self::Visitor { id, .. } => Some(id.as_str()),
            Self::Member { id, .. } => Some(id.as_str()),
            Self::User { id, .. } => Some(id.as_str()),
            Self::App { .. } | Self::Scoped(_) => None,
        }
    }

    /// Apps and owners: everything on the site is theirs to decide. None who are held to scopes, as below.
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
            Self::Scoped(it) => it.caller.identity_type(),
        }
    }

    /// The id by which it is known: of the visitor, the member, the operator, or the key or client.
    pub fn id(&self) -> &str {
        match self {
            Self::Visitor { id, .. } => id.as_str(),
            Self::Member { id, .. } => id.as_str(),
            Self::User { id, .. } => id.as_str(),
            Self::App { id } => id.as_str(),
            Self::Scoped(it) => it.caller.id(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scoped_caller_is_a_stranger_who_never_gains() {
        let app = Caller::App { id: KeyId::from("k") };
        assert_eq!(app.clone().held_to(None), app);
        let held = app.clone().held_to(Some(&Scopes::among("items:read members:write")));
        assert!(!held.is_privileged() && !held.is_editor() && !held.is_member());
        assert_eq!((held.bare(), held.identity_type(), held.id()), (&app, "APP", "k"));
        assert!(held.reaches(Area::Items, Right::Read, Some("a")) && !held.reaches(Area::Items, Right::Write, None));
        assert_eq!(held.within(Area::Members, Right::Read).expect("a write reads"), &app);
        assert_eq!(held.within(Area::Members, Right::SignIn).expect_err("another").code(), Code::ScopeMissing);
        // Held again: what both leave, and still one layer.
        let again = held.held_to(Some(&Scopes::among("items:write members:read:x site:write")));
        assert_eq!(again.scopes().map(ToString::to_string).as_deref(), Some("items:read"));
        assert_eq!(again.bare(), &app);
    }

    #[test]
    fn impersonation_is_held_and_never_lost() {
        let member = Caller::Member { id: MemberId::from("m"), session: SessionId::from("s"), client: None };
        let by = Impersonator { owner: UserId::from("u"), session: None };
        let held = member.clone().impersonated(by.clone(), &Scopes::among("items:read"));
        assert_eq!((held.impersonator(), member.impersonator()), (Some(&by), None));
        assert!(!held.is_member() && !held.reaches(Area::Items, Right::Write, None));
        let again = held.held_to(Some(&Scopes::among("items:write members:write")));
        assert_eq!(again.impersonator(), Some(&by));
        assert_eq!(again.scopes().map(ToString::to_string).as_deref(), Some("items:read"));
        let wider = again.impersonated(by, &Scopes::among("items:write"));
        assert_eq!(wider.scopes().map(ToString::to_string).as_deref(), Some("items:read"), "it never gains");
    }
}
