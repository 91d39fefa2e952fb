//! Special permissions of a collection: rights of single principals beside those of their levels
//! (`specialPermissions` on the wire, docs/protocol/content.md §8).
//!
//! They are rows of their own, read with the definition and cached as long.

use crate::schema::level::Grants;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use stoa_kernel::{Caller, Fault, Result, Role, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// The special permissions of one collection.
#[derive(Default, Clone)]
pub(crate) struct PrincipalGrants {
    pub list: Vec<PrincipalGrant>,
    pub by_principal: HashMap<Principal, Grants>,
}

/// What one principal is granted beside what their level gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrincipalGrant {
    pub id: String,
    pub principal: Principal,
    pub rights: Rights,
}

/// Those who are granted it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Principal {
    /// A member, or a user who works on the site.
    User(String),
    /// Everyone who holds a role: `OWNER` or `EDITOR`. Other names are kept, and no caller holds them.
    Policy(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rights {
    pub items: Grants,
    pub manage_drafts: bool,
    pub manage_publish_status: bool,
}

/// The special permissions of the collections of a site: of all, or of one.
pub(crate) async fn of_collections(
    tx: &mut Tx<'_>,
    site: &SiteId,
    collection: Option<i64>,
) -> Result<HashMap<i64, PrincipalGrants>, stoa_store::Error> {
    let read = |row: &Row<'_>| {
        let principal = match row.text(2)? {
            "USER" => Principal::User(row.get(3)?),
            _ => Principal::Policy(row.get(3)?),
        };
        let rights = serde_json::from_str(row.text(4)?)
            .map_err(|it| stoa_store::Error::Other(format!("special permissions: {it}")))?;
        Ok((row.get::<i64>(0)?, PrincipalGrant { id: row.get(1)?, principal, rights }))
    };
    const SQL: &str = "select collection, id, kind, subject, granted from stoa.special_permission where site = $1";
    let rows = match collection {
        None => tx.rows(&format!("{SQL} order by created, id"), &params![site], read).await?,
        Some(number) => {
            tx.rows(&format!("{SQL} and collection = $2 order by created, id"), &params![site, number], read).await?
        }
    };
    let mut found: HashMap<i64, PrincipalGrants> = HashMap::new();
    for (number, grant) in rows {
        found.entry(number).or_default().add(grant);
    }
    Ok(found)
}

impl PrincipalGrants {
    fn add(&mut self, grant: PrincipalGrant) {
        let grants = self.by_principal.entry(grant.principal.clone()).or_default();
        *grants = grants.or(grant.rights.items);
        self.list.push(grant);
    }

    /// What the caller is granted.
    pub(crate) fn grants(&self, caller: &Caller) -> Grants {
        if self.list.is_empty() {
            return Grants::default();
        }
        let of = |it: Principal| self.by_principal.get(&it).copied().unwrap_or_default();
        principals(caller).map(of).fold(Grants::default(), Grants::or)
    }

    /// What these are in the collection of drafts: all of it for those who manage drafts.
    pub(crate) fn for_drafts(self) -> Self {
        let items = Grants { item_read: true, item_insert: true, item_update: true, item_remove: true };
        let mut grants = Self::default();
        for it in self.list.into_iter().filter(|it| it.rights.manage_drafts) {
            grants.add(PrincipalGrant { rights: Rights { items, ..Rights::NOTHING }, ..it });
        }
        grants
    }

    /// All that names the caller.
    pub(crate) fn of(&self, caller: &Caller) -> impl Iterator<Item = Rights> + Clone {
        let mine: Vec<_> = principals(caller).collect();
        self.list.iter().filter(move |it| mine.contains(&it.principal)).map(|it| it.rights)
    }
}

/// The principals that a caller is. A visitor is none that can be named, and an app has all rights anyway.
fn principals(caller: &Caller) -> impl Iterator<Item = Principal> + use<> {
    let principals = match caller.bare() {
        Caller::Member { id, .. } => [Some(Principal::User(id.to_string())), None],
        Caller::User { id, role, .. } => {
            let policy = match role {
                Role::Owner => "OWNER",
                Role::Editor => "EDITOR",
            };
            [Some(Principal::User(id.to_string())), Some(Principal::Policy(policy.to_owned()))]
        }
        Caller::Visitor { .. } | Caller::App { .. } | Caller::Scoped(_) => [None, None],
    };
    principals.into_iter().flatten()
}

impl PrincipalGrant {
    pub(crate) fn view(&self) -> Value {
        let access = |it: bool| if it { "ALLOWED" } else { "UNSPECIFIED" };
        let (rights, items) = (&self.rights, &self.rights.items);
        let mut view = json!({
            "id": self.id,
            "itemRead": access(items.item_read), "itemInsert": access(items.item_insert),
            "itemUpdate": access(items.item_update), "itemRemove": access(items.item_remove),
            "draftItemsPluginPermissions": {
                "manageDrafts": access(rights.manage_drafts),
                "managePublishStatus": access(rights.manage_publish_status),
            },
        });
        match &self.principal {
            Principal::User(it) => view["userId"] = json!(it),
            Principal::Policy(it) => view["policyId"] = json!(it),
        }
        view
    }
}

impl Principal {
    /// As a row has it.
    pub(crate) fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::User(it) => ("USER", it),
            Self::Policy(it) => ("POLICY", it),
        }
    }
}

impl Rights {
    /// As a row has them.
    pub(crate) fn print(&self) -> Result<String> {
        serde_json::to_string(self).map_err(Fault::internal)
    }

    pub(crate) const NOTHING: Self = Self {
        items: Grants { item_read: false, item_insert: false, item_update: false, item_remove: false },
        manage_drafts: false,
        manage_publish_status: false,
    };

    /// This with the members that the object has.
    pub(crate) fn with(mut self, object: &Value) -> Self {
        let drafts = object.get("draftItemsPluginPermissions");
        let set = |flag: &mut bool, sent: Option<&Value>| {
            if let Some(it) = sent.and_then(Value::as_str) {
                *flag = it == "ALLOWED";
            }
        };
        set(&mut self.items.item_read, object.get("itemRead"));
        set(&mut self.items.item_insert, object.get("itemInsert"));
        set(&mut self.items.item_update, object.get("itemUpdate"));
        set(&mut self.items.item_remove, object.get("itemRemove"));
        set(&mut self.manage_drafts, drafts.and_then(|it| it.get("manageDrafts")));
        set(&mut self.manage_publish_status, drafts.and_then(|it| it.get("managePublishStatus")));
        self
    }
}
