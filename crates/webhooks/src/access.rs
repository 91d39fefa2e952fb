//! Who may manage which endpoints, and what an endpoint may hear.
//!
//! An endpoint hears what applications see, of the whole site. So owners and applications of the site manage all of them,
//! and an application that is held to scopes its own ones, of which it hears no more than its scopes let it read. A call
//! brings its caller with the scopes: without them an application of others would be one of the site's.

use stoa_identity::client::Client;
use stoa_kernel::{Area, Caller, ClientId, Code, EntryKind, Fault, Result, Right, Scopes};

/// Which endpoints a caller may manage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reaches {
    All,
    /// Those of an application, which is held to scopes.
    Own(ClientId, Scopes),
}

impl Reaches {
    /// # Errors
    /// [`Code::Forbidden`], and [`Code::ScopeMissing`] for an application that lacks the scope of the site.
    pub(crate) fn of(caller: &Caller, right: Right) -> Result<Self> {
        match (caller, caller.bare()) {
            _ if caller.is_privileged() => Ok(Self::All),
            (Caller::Scoped(_), Caller::App { id }) => {
                caller.within(Area::Site, right)?;
                let scopes = caller.scopes().cloned().unwrap_or_default();
                Ok(Self::Own(ClientId::from(id.as_str()), scopes))
            }
            _ => Err(Fault::new(Code::Forbidden)),
        }
    }

    pub(crate) fn includes(&self, app: &ClientId) -> bool {
        match self {
            Self::All => true,
            Self::Own(own, _) => own == app,
        }
    }

    /// What endpoints are held to that the caller makes; nothing for those with all rights.
    pub(crate) fn scopes(&self) -> Option<&Scopes> {
        match self {
            Self::All => None,
            Self::Own(_, scopes) => Some(scopes),
        }
    }
}

/// What an endpoint may hear at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hearing(Option<Scopes>);

impl Hearing {
    /// Of nothing.
    pub(crate) fn nothing() -> Self {
        Self(Some(Scopes::default()))
    }

    /// What the maker of an endpoint was held to, and its application is.
    pub(crate) fn of(maker: Option<&Scopes>, app: &Client) -> Self {
        Self(Scopes::narrowed(maker, app.bound().as_ref()))
    }

    /// With what an owner has agreed to as well.
    pub(crate) fn and(self, agreed: Option<&Scopes>) -> Self {
        Self(Scopes::narrowed(self.0.as_ref(), agreed))
    }

    /// Whether events of a kind of row may be told; without a collection, those of all.
    pub(crate) fn allows(&self, kind: EntryKind, collection: Option<&str>) -> bool {
        self.0.as_ref().is_none_or(|it| it.allow(area(kind), Right::Read, collection))
    }

    /// The scope that is missing for a kind.
    pub(crate) fn missing(kind: EntryKind) -> String {
        format!("{}:{}", area(kind).name(), Right::Read.name())
    }
}

/// The part of a site that a kind of row tells of.
fn area(kind: EntryKind) -> Area {
    match kind {
        EntryKind::ItemCreated
        | EntryKind::ItemUpdated
        | EntryKind::ItemDeleted
        | EntryKind::ItemsTruncated
        | EntryKind::ReferencesChanged
        | EntryKind::FieldPurged => Area::Items,
        EntryKind::CollectionCreated
        | EntryKind::CollectionUpdated
        | EntryKind::CollectionDeleted
        | EntryKind::CollectionRestored
        | EntryKind::CollectionAccessChanged
        | EntryKind::IndexCreated
        | EntryKind::IndexChanged
        | EntryKind::IndexBuilt
        | EntryKind::IndexFailed
        | EntryKind::IndexRemoved => Area::Collections,
        EntryKind::PolicyUpdated
        | EntryKind::RedirectSessionCreated
        | EntryKind::AppInstalled
        | EntryKind::AppRemoved
        | EntryKind::BackupStateChanged
        | EntryKind::RestorationStateChanged
        | EntryKind::MovementJobCreated
        | EntryKind::MovementJobUpdated
        | EntryKind::MovementJobDeleted
        | EntryKind::SearchDamaged => Area::Site,
        EntryKind::MemberCreated
        | EntryKind::MemberUpdated
        | EntryKind::MemberDeleted
        | EntryKind::BadgeCreated
        | EntryKind::BadgeUpdated
        | EntryKind::BadgeDeleted
        | EntryKind::BadgeAssigned
        | EntryKind::BadgeUnassigned
        | EntryKind::MemberFollowed
        | EntryKind::MemberUnfollowed
        | EntryKind::MemberReported
        | EntryKind::FirstReported
        | EntryKind::ReportDeleted
        | EntryKind::ReportsDeleted
        | EntryKind::AboutCreated
        | EntryKind::AboutUpdated
        | EntryKind::AboutDeleted => Area::Members,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::{KeyId, MemberId, Role, SessionId, UserId};

    #[test]
    fn endpoints_are_managed_by_owners_and_applications_and_by_others_their_own() {
        let app = Caller::App { id: KeyId::from("a") };
        let user = |role| Caller::User { id: UserId::from("u"), role, session: SessionId::from("s") };
        let member = Caller::Member { id: MemberId::from("m"), session: SessionId::from("s"), client: None };
        for caller in [app.clone(), user(Role::Owner)] {
            assert_eq!(Reaches::of(&caller, Right::Write).expect("allowed"), Reaches::All);
        }
        let everything = Scopes::among("site:write members:write");
        for caller in [user(Role::Editor), member.clone(), member.held_to(Some(&everything))] {
            assert_eq!(Reaches::of(&caller, Right::Read).expect_err("refused").code(), Code::Forbidden);
        }
        let held = app.clone().held_to(Some(&everything));
        let reaches = Reaches::of(&held, Right::Write).expect("its own");
        assert!(reaches.includes(&ClientId::from("a")) && !reaches.includes(&ClientId::from("b")));
        let reader = app.held_to(Some(&Scopes::among("site:read")));
        assert!(Reaches::of(&reader, Right::Read).is_ok());
        assert_eq!(Reaches::of(&reader, Right::Write).expect_err("refused").code(), Code::ScopeMissing);
    }

    #[test]
    fn endpoint_of_others_hears_what_scopes_let_it_read() {
        let hearing = Hearing(Some(Scopes::among("items:read:a members:read")));
        assert!(hearing.allows(EntryKind::ItemCreated, Some("a")) && hearing.allows(EntryKind::MemberCreated, None));
        for (kind, collection) in
            [(EntryKind::ItemCreated, Some("b")), (EntryKind::ItemCreated, None), (EntryKind::PolicyUpdated, None)]
        {
            assert!(!hearing.allows(kind, collection), "{kind:?}");
        }
        let agreed = hearing.and(Some(&Scopes::among("items:write")));
        assert!(agreed.allows(EntryKind::ItemDeleted, Some("a")) && !agreed.allows(EntryKind::MemberCreated, None));
        assert!(Hearing(None).allows(EntryKind::PolicyUpdated, None));
        assert_eq!(Hearing::missing(EntryKind::IndexCreated), "collections:read");
    }
}
