//! Types of events, by their names, and the rows of the log that tell them.

use crate::{Webhooks, access::Reaches};
use stoa_kernel::{Caller, EntryKind, EventType, Result, Right, kind::unbuilt_module, nearest::hint};

impl Webhooks {
    /// The types that an endpoint can name, each once, for those who may have endpoints.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`], [`stoa_kernel::Code::ScopeMissing`].
    pub fn event_types(&self, caller: &Caller) -> Result<Vec<EventType>> {
        Reaches::of(caller, Right::Read)?;
        let mut types: Vec<EventType> = EntryKind::types_sent().collect();
        types.sort_unstable_by_key(|it| it.name);
        types.dedup_by_key(|it| it.name);
        Ok(types)
    }
}

/// The names of all types that can be sent.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = EntryKind::types_sent().map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The kinds of rows that one of these types is told by.
pub(crate) fn kinds(types: &[String]) -> Vec<EntryKind> {
    let tells = |it: &&EntryKind| it.events().iter().any(|event| types.iter().any(|name| name == event.name));
    EntryKind::ALL.iter().filter(tells).copied().collect()
}

/// What is wrong with a name, if it is none of a type.
pub(crate) fn fault(name: &str) -> Option<String> {
    let names = names();
    if names.contains(&name) {
        return None;
    }
    if let Some(module) = unbuilt_module(name) {
        return Some(format!("{name:?} is never sent: {module} are not built yet"));
    }
    let name: String = name.chars().take(100).collect();
    Some(format!("{name:?} is no type of event that is sent{}", hint(&name, names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_by_the_rows_that_have_them() {
        let of = |names: &[&str]| kinds(&names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["wix.data.v2.data_item_created"]), [EntryKind::ItemCreated]);
        assert_eq!(of(&["wix.data.v2.index_updated"]).len(), 3);
        assert_eq!(of(&["wix.badges.v3.badge_badge_assigned"]), [EntryKind::BadgeAssigned]);
        assert_eq!(of(&["wix.hub.v1.job_created"]), [EntryKind::MovementJobCreated]);
        assert!(of(&["data_items_truncated"]).is_empty());
        assert_eq!(fault("AppInstalled"), None);
        let never = "\"wix.hub.v1.job_created\" is never sent: movement jobs are not built yet";
        assert_eq!(fault("wix.hub.v1.job_created").as_deref(), Some(never));
        assert!(fault("wix.data.v2.data_item_craeted").is_some_and(|it| it.contains("did you mean")));
    }
}
