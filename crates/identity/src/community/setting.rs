//! How much members may show of themselves: the site's setting.

use crate::{
    Identity,
    community::{
        entity::{self, EntityChange, NewEntity},
        kind::SETTINGS,
    },
    member::Member,
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, date::iso_from_millis};
use stoa_store::{ReaderPool, Site, Tx, boxed};

const ID: &str = "members";

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
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::Validation`].
    pub async fn privacy_set(&self, site: &Site, caller: &Caller, change: &Value) -> Result<Value> {
        let core = &self.core;
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let doc: Map<String, Value> = SETTINGS.parse(change, false)?;
        let change = EntityChange { id: ID.to_owned(), revision: None, doc: doc.clone() };
        match entity::change(core, site, caller, &SETTINGS, change).await {
            Err(fault) if fault.code() == Code::NotFound => {
                entity::create(core, site, caller, &SETTINGS, NewEntity { id: ID.to_owned(), doc }).await?;
            }
            done => drop(done?),
        }
        of_site(site).await
    }
}

/// What [`Identity::privacy_get`] does.
pub(crate) async fn of_site(site: &Site) -> Result<Value> {
    let site_id = site.id.clone();
    let stored = site.read(ReaderPool::Point, move |tx| boxed!(entity::get(tx, &site_id, &SETTINGS, ID).await)).await?;
    let mut settings = json!({ "id": site.id, "revision": "0" });
    for (name, default) in SETTINGS.defaults {
        settings[*name] = json!(stored.as_ref().and_then(|it| it.text(name)).unwrap_or(default));
    }
    if let Some(stored) = stored {
        settings["revision"] = json!(stored.revision.to_string());
        settings["updatedDate"] = json!(iso_from_millis(stored.updated));
    }
    Ok(settings)
}
