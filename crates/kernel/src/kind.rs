//! Every kind of row of the log on one page: what the rows are called, and the events that they are told as.
//!
//! A row names its kind; a reader finds here which event types it comes to. Types and names are those that the public
//! clients register handlers for (docs/protocol/content.md §16, docs/protocol/identity.md §14); a kind without one is
//! for readers of this server alone. A kind is here when every write of what it tells of writes its row, not before; those
//! of backups and movement jobs, which are not built, are here ahead of what will write them, and no endpoint can ask for
//! their types yet ([`unbuilt_module`]).

/// How the body of an event says what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `createdEvent`, with the entity.
    Created,
    /// `updatedEvent`, with the entity as it is then.
    Updated,
    /// `deletedEvent`.
    Deleted,
    /// `actionEvent`, with what was done.
    Action,
    /// No domain event: the body is the data itself.
    Plain,
}

/// A type of event as clients know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventType {
    /// The `eventType` of a delivery.
    pub name: &'static str,
    /// The domain name of the entity; empty for [`Form::Plain`].
    pub fqdn: &'static str,
    /// What happened to it; empty for [`Form::Plain`].
    pub slug: &'static str,
    pub form: Form,
}

macro_rules! kinds {
    ($($variant:ident = $row:literal $(, $form:ident $name:literal $fqdn:literal $slug:literal)*;)+) => {
        /// A kind of the table in this file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EntryKind { $($variant),+ }

        impl EntryKind {
            /// All kinds, for readers that take everything, and for tests.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// What its rows are called.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $row),+ }
            }

            /// The types of event that a row of it is told as; none for what only this server reads.
            pub const fn events(self) -> &'static [EventType] {
                match self {
                    $(Self::$variant => {
                        &[$(EventType { name: $name, fqdn: $fqdn, slug: $slug, form: Form::$form }),*]
                    }),+
                }
            }
        }
    };
}

kinds! {
    // Items, one row for all that a statement wrote.
    ItemCreated  = "data_item_created",  Created "wix.data.v2.data_item_created" "wix.data.v2.data_item" "created";
    ItemUpdated  = "data_item_updated",  Updated "wix.data.v2.data_item_updated" "wix.data.v2.data_item" "updated";
    ItemDeleted  = "data_item_deleted",  Deleted "wix.data.v2.data_item_deleted" "wix.data.v2.data_item" "deleted";
    // All items of a collection are gone that were there when it was asked for.
    ItemsTruncated = "data_items_truncated";
    // Links of a multi-reference field, where one of its collections asks for old values.
    ReferencesChanged = "data_item_references_changed";
    // The values of a deleted field have left the items.
    FieldPurged = "data_field_purged";
    // A search met lists that are damaged; the index is to be built anew.
    SearchDamaged = "data_search_damaged";

    // Collections.
    CollectionCreated  = "data_collection_created";
    CollectionUpdated  = "data_collection_updated";
    CollectionDeleted  = "data_collection_deleted";
    CollectionRestored = "data_collection_restored";
    // Levels or special permissions: who may see what is another matter from here on.
    CollectionAccessChanged = "data_collection_access_changed";

    // Indexes, from being asked for to being gone.
    IndexCreated = "index_created", Created "wix.data.v2.index_created" "wix.data.v2.index" "created";
    IndexChanged = "index_changed", Updated "wix.data.v2.index_updated" "wix.data.v2.index" "updated";
    IndexBuilt   = "index_built",   Updated "wix.data.v2.index_updated" "wix.data.v2.index" "updated";
    IndexFailed  = "index_failed",  Updated "wix.data.v2.index_updated" "wix.data.v2.index" "updated";
    IndexRemoved = "index_removed", Deleted "wix.data.v2.index_deleted" "wix.data.v2.index" "deleted";

    // Members. What goes with a deleted member has no rows of its own.
    MemberCreated = "member_created", Created "wix.members.v1.member_created" "wix.members.v1.member" "created";
    MemberUpdated = "member_updated", Updated "wix.members.v1.member_updated" "wix.members.v1.member" "updated";
    MemberDeleted = "member_deleted", Deleted "wix.members.v1.member_deleted" "wix.members.v1.member" "deleted";

    // Badges; assignments are told in both versions of the API.
    BadgeCreated    = "badge_created",    Created "wix.badges.v4.badge_created" "wix.badges.v4.badge" "created";
    BadgeUpdated    = "badge_updated",    Updated "wix.badges.v4.badge_updated" "wix.badges.v4.badge" "updated";
    BadgeDeleted    = "badge_deleted",    Deleted "wix.badges.v4.badge_deleted" "wix.badges.v4.badge" "deleted";
    BadgeAssigned   = "badge_assigned",
        Created "wix.badges.v4.badge_assignment_created" "wix.badges.v4.badge_assignment" "created",
        Action "wix.badges.v3.badge_badge_assigned" "wix.badges.v3.badge" "badge_assigned";
    BadgeUnassigned = "badge_unassigned",
        Deleted "wix.badges.v4.badge_assignment_deleted" "wix.badges.v4.badge_assignment" "deleted",
        Action "wix.badges.v3.badge_badge_unassigned" "wix.badges.v3.badge" "badge_unassigned";

    // What members do to each other, and say of themselves.
    MemberFollowed   = "member_followed",
        Action "wix.members.v3.follow_member_followed" "wix.members.v3.follow" "member_followed";
    MemberUnfollowed = "member_unfollowed",
        Action "wix.members.v3.follow_member_unfollowed" "wix.members.v3.follow" "member_unfollowed";
    MemberReported   = "member_report_created",
        Created "wix.members.v1.member_report_created" "wix.members.v1.member_report" "created";
    ReportDeleted    = "member_report_deleted",
        Deleted "wix.members.v1.member_report_deleted" "wix.members.v1.member_report" "deleted";
    // A member whom nobody had reported before.
    FirstReported    = "member_first_reported",
        Action "wix.members.v1.member_report_reported_member_created" "wix.members.v1.member_report"
            "reported_member_created";
    // All reports on one member at once, after a row for the reports themselves.
    ReportsDeleted   = "member_reports_deleted",
        Action "wix.members.v1.member_report_reported_member_deleted" "wix.members.v1.member_report"
            "reported_member_deleted";
    AboutCreated = "member_about_created",
        Created "wix.members.about.v2.member_about_created" "wix.members.about.v2.member_about" "created";
    AboutUpdated = "member_about_updated",
        Updated "wix.members.about.v2.member_about_updated" "wix.members.about.v2.member_about" "updated";
    AboutDeleted = "member_about_deleted",
        Deleted "wix.members.about.v2.member_about_deleted" "wix.members.about.v2.member_about" "deleted";

    PolicyUpdated = "wix.iam.signon.v1.sign_on_policy_updated",
        Updated "wix.iam.signon.v1.sign_on_policy_updated" "wix.iam.signon.v1.sign_on_policy" "updated";
    // One for each sign-in: only on sites that ask for it.
    RedirectSessionCreated = "redirect_session_created",
        Created "wix.headless.v1.redirect_session_created" "wix.headless.v1.redirect_session" "created";

    // Applications that an owner let in, or whose client was revoked.
    AppInstalled = "app_installed", Plain "AppInstalled" "" "";
    AppRemoved   = "app_removed",   Plain "AppRemoved" "" "";

    // What modules that are not built will tell of: a row has what it tells of whole, as lists will show it.
    BackupStateChanged = "backup_state_changed",
        Action "wix.data.v2.backup_backup_state_changed" "wix.data.v2.backup" "backup_state_changed";
    RestorationStateChanged = "restoration_state_changed",
        Action "wix.data.v2.backup_restoration_state_changed" "wix.data.v2.backup" "restoration_state_changed";
    MovementJobCreated = "movement_job_created", Created "wix.hub.v1.job_created" "wix.hub.v1.job" "created";
    MovementJobUpdated = "movement_job_updated", Updated "wix.hub.v1.job_updated" "wix.hub.v1.job" "updated";
    MovementJobDeleted = "movement_job_deleted", Deleted "wix.hub.v1.job_deleted" "wix.hub.v1.job" "deleted";
}

impl EntryKind {
    /// The types that are sent, some more than once: those of all kinds but the ones that nothing writes yet.
    pub fn types_sent() -> impl Iterator<Item = EventType> {
        Self::ALL.iter().flat_map(|it| it.events()).copied().filter(|it| unbuilt_module(it.name).is_none())
    }

    /// The kind of a row; nothing for one that another version wrote, or that is the log's own.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }
}

/// Types that the public clients have handlers for and that are never sent, since what they tell of is not built. A type
/// leaves this list when every write of what it tells of writes its row.
const UNBUILT: [(&str, &[&str]); 4] = [
    ("backups", &["wix.data.v2.backup_backup_state_changed", "wix.data.v2.backup_restoration_state_changed"]),
    ("movement jobs", &["wix.hub.v1.job_created", "wix.hub.v1.job_updated", "wix.hub.v1.job_deleted"]),
    (
        "shared collections",
        &[
            "wix.data.v1.data_sharing_policy_created",
            "wix.data.v1.data_sharing_policy_updated",
            "wix.data.v1.data_sharing_policy_deleted",
            "wix.data.v1.data_sharing_policy_shared_collection_connected",
            "wix.data.v1.data_sharing_policy_shared_collection_disconnected",
        ],
    ),
    (
        "scheduled workflows",
        &["wix.data.sync.v1.jobs_created", "wix.data.sync.v1.jobs_updated", "wix.data.sync.v1.jobs_deleted"],
    ),
];

/// What a type tells of, in words, where clients know the type and nothing writes a row that is told as it: that module is
/// not built.
pub fn unbuilt_module(event_type: &str) -> Option<&'static str> {
    UNBUILT.iter().find(|(_, types)| types.contains(&event_type)).map(|(module, _)| *module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn kinds_have_names_of_their_own() {
        let names: HashSet<_> = EntryKind::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), EntryKind::ALL.len());
        for kind in EntryKind::ALL {
            assert_eq!(EntryKind::parse(kind.name()), Some(*kind));
            assert!(!kind.name().starts_with("log_"), "{kind:?}: these are the log's own");
        }
        assert_eq!(EntryKind::parse("log_restored"), None);
    }

    #[test]
    fn types_of_what_is_not_built_are_not_sent() {
        let sent: HashSet<_> = EntryKind::types_sent().map(|it| it.name).collect();
        assert!(sent.contains("wix.data.v2.data_item_created") && sent.contains("AppRemoved"));
        let known: HashSet<_> = EntryKind::ALL.iter().flat_map(|it| it.events()).map(|it| it.name).collect();
        let ahead: HashSet<_> = UNBUILT[..2].iter().flat_map(|(_, types)| types.iter().copied()).collect();
        assert_eq!(known.difference(&sent).copied().collect::<HashSet<_>>(), ahead, "backups and movement jobs");
        assert_eq!(unbuilt_module("wix.hub.v1.job_created"), Some("movement jobs"));
    }

    #[test]
    fn event_types_are_the_entity_and_what_happened() {
        for event in EntryKind::ALL.iter().flat_map(|it| it.events()) {
            match event.form {
                Form::Plain => assert_eq!((event.fqdn, event.slug), ("", ""), "{event:?}"),
                _ => assert_eq!(event.name, format!("{}_{}", event.fqdn, event.slug)),
            }
            let slug = match event.form {
                Form::Created => "created",
                Form::Updated => "updated",
                Form::Deleted => "deleted",
                Form::Action | Form::Plain => continue,
            };
            assert_eq!(event.slug, slug, "{event:?}");
        }
    }
}
