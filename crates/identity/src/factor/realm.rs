//! Whose second factors are meant, and where they are kept: those of members in their site, those of people who run sites in the
//! catalogue, in tables of the same shape (decision 60).

use crate::Core;
use stoa_kernel::{MemberId, SiteId, UserId};
use stoa_store::{Database, Site};

/// The members of a site, or the operators of the installation. What is sealed or signed for one realm is worth nothing in another: the
/// realm's id is a part of it. The hash of a recovery code has the person in it and no realm; there the column `site` keeps them apart.
#[derive(Clone)]
pub(crate) struct Realm<'a> {
    pub database: &'a Database,
    /// What stands in the column `site`: that of operators is empty, as the id of no site is.
    pub id: SiteId,
}

impl<'a> Realm<'a> {
    pub(crate) fn of_site(site: &'a Site) -> Self {
        Self { database: site, id: site.id.clone() }
    }

    pub(crate) fn of_operators(core: &'a Core) -> Self {
        Self { database: core.store().catalog(), id: operators() }
    }
}

/// The id of the operators' realm.
pub(crate) fn operators() -> SiteId {
    SiteId::from("")
}

/// A person who runs sites, as the tables of that realm name them.
pub(crate) fn person(operator: &UserId) -> MemberId {
    MemberId::from(operator.as_str())
}
