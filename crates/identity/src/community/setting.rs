//! How much members may show of themselves: the site's setting.

use crate::{
    Core, Identity,
    community::{
        entity::{self, Change, Entity, EntityChange, NewEntity},
        kind::SETTINGS,
    },
    member::Member,
};
use serde_json::{Value, json};
use stoa_kernel::{Caller, Code, Fault, Faults, Result, SiteId, date::iso_from_millis};
use stoa_store::{ReaderPool, Site, Tx, boxed};

const ID: &str = "members";
/// The revision of settings that were never set.
const NEVER_SET: i64 = 0;

/// What the setting means for members.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Privacy {
    /// Members may show themselves.
    pub(crate) may_be_public: bool,
    /// New ones do, unless they say otherwise.
    is_public_by_default: bool,
}

impl Privacy {
    pub(crate) async fn read(tx: &mut Tx<'_>, site: &SiteId) -> Result<Self> {
        let stored = entity::get(tx, site, &SETTINGS, ID).await?;
        let has = |name: &str, value: &str| {
            let default = SETTINGS.defaults.iter().find(|it| it.0 == name).map(|it| it.1);
            stored.as_ref().and_then(|it| it.text(name)).or(default) == Some(value)
        };
        let may_be_public = has("publicMemberCandidates", "ANYONE");
        Ok(Self { may_be_public, is_public_by_default: may_be_public && has("defaultPrivacy", "PUBLIC") })
    }

    /// What a new member shows.
    pub(crate) fn begin(self, member: &mut Member) {
        member.is_public = self.is_public_by_default;
        self.hold(member);
    }

    /// Where the site lets no member show themselves, a profile that asks for it becomes a private one: a person who
    /// registers can't know the rule, and the account is more than what it shows. Who is shown already stays.
    pub(crate) fn hold(self, member: &mut Member) {
        if member.asks_to_be_public() && !self.may_be_public {
            member.profile.0.insert("privacyStatus".to_owned(), "PRIVATE".into());
        }
    }
}

impl Identity {
    /// The settings, each with its default when it was never set.
    pub async fn privacy_get(&self, site: &Site) -> Result<Value> {
        of_site(site).await
    }

    /// Changes the settings that `change` has.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::Validation`]; [`Code::RevisionOld`] when the
    /// change was made from another revision.
    pub async fn privacy_set(&self, site: &Site, caller: &Caller, change: &Value) -> Result<Value> {
        let core = &self.core;
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let (doc, revision) = Faults::both(SETTINGS.parse(change, false), entity::revision_in(change))?;
        let change = EntityChange { id: ID.to_owned(), revision, doc };
        match set(core, site, caller, change.clone()).await {
            // Another call was the first to set them, meanwhile.
            Err(fault) if fault.code() == Code::AlreadyExists => set(core, site, caller, change).await?,
            done => done?,
        };
        of_site(site).await
    }
}

/// Changes the settings, or makes them where they were never set: then their revision is [`NEVER_SET`].
async fn set(core: &Core, site: &Site, caller: &Caller, change: EntityChange) -> Result<Entity> {
    site.write_with((site.id.clone(), change, Change::by(core, caller)), |tx, (site, change, by)| {
        boxed!({
            match entity::get(tx, site, &SETTINGS, ID).await? {
                Some(entity) => entity::merge(tx, site, &SETTINGS, entity, change, by).await,
                None if change.revision.is_some_and(|it| it != NEVER_SET) => Err(entity::revision_old(NEVER_SET)),
                None => {
                    let new = NewEntity { id: ID.to_owned(), doc: change.doc.clone() };
                    entity::insert(tx, site, &SETTINGS, new, by).await
                }
            }
        })
    })
    .await
}

/// What [`Identity::privacy_get`] does.
pub(crate) async fn of_site(site: &Site) -> Result<Value> {
    let site_id = site.id.clone();
    let stored = site.read(ReaderPool::Point, move |tx| boxed!(entity::get(tx, &site_id, &SETTINGS, ID).await)).await?;
    let mut settings = json!({ "id": site.id, "revision": NEVER_SET.to_string() });
    for (name, default) in SETTINGS.defaults {
        settings[*name] = json!(stored.as_ref().and_then(|it| it.text(name)).unwrap_or(default));
    }
    if let Some(stored) = stored {
        settings["revision"] = json!(stored.revision.to_string());
        settings["updatedDate"] = json!(iso_from_millis(stored.updated));
    }
    Ok(settings)
}
