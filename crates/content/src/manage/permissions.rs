//! Permissions of a collection changed and shown (docs/protocol/content.md §8): its levels, and special permissions
//! of single principals that add to them.
//!
//! The levels live in the definition, so both models and the collection object are one truth. Special
//! permissions are rows of their own ([`crate::schema::special`]).

use crate::{
    Content,
    collection::{
        Collection,
        access::{self, ManageAccess, Manager, may_change_status, may_know},
        cache, load_existing, save,
        stored::{StoredCollection, live},
        view::allowed,
    },
    fault::{self, invalid},
    limits::ContentLimits,
    manage::{
        collections::{Revised, change_definition},
        paired::drafts_id,
    },
    schema::{
        definition::Definition,
        level::{DRAFT_LEVELS, LEVELS, Level},
        plugin::is_drafts,
        special::{Principal, PrincipalGrant, Rights},
    },
    wire::validator::{Validator, check},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Special permissions of one collection.
const MOST: i64 = 1000;

static PERMISSIONS: Validator = Validator::Object(&[("draftItemsPluginPermissions", DRAFT_LEVELS)]);

const ACCESS: Validator = Validator::OneOf(&["UNSPECIFIED", "ALLOWED"]);
static SPECIAL: Validator = Validator::Object(&[
    ("userId", Validator::Text(1, 64)),
    ("policyId", Validator::Text(1, 64)),
    ("itemRead", ACCESS),
    ("itemInsert", ACCESS),
    ("itemUpdate", ACCESS),
    ("itemRemove", ACCESS),
    ("draftItemsPluginPermissions", Validator::Object(&[("manageDrafts", ACCESS), ("managePublishStatus", ACCESS)])),
]);

impl Content {
    /// The levels and special permissions of a collection (`dataPermissions`).
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, WDE0025.
    pub async fn permissions_get(&self, site: &Site, caller: &Caller, id: &str) -> Result<Value> {
        access::manager(caller)?.definition(id)?;
        Ok(view(&*load_existing(self, site, id).await?))
    }

    /// Changes the levels that the object has; special permissions in it are not looked at.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, or to set or take PRIVILEGED; WDE0025; WDE0075.
    pub async fn permissions_update(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        access::manager(caller)?;
        let id = text(object, "id", "dataPermissions")?;
        check(object, &LEVELS, "dataPermissions", self.limits())?;
        check(object, &PERMISSIONS, "dataPermissions", self.limits())?;
        let input = object.clone();
        let make = move |before: &Definition, _: &ContentLimits| {
            let mut after = before.clone();
            let level =
                |name: &str, old: Level| input.get(name).and_then(Value::as_str).map_or(Some(old), Level::parse);
            let old = before.levels;
            after.levels.item_read = level("itemRead", old.item_read).unwrap_or(old.item_read);
            after.levels.item_insert = level("itemInsert", old.item_insert).unwrap_or(old.item_insert);
            after.levels.item_update = level("itemUpdate", old.item_update).unwrap_or(old.item_update);
            after.levels.item_remove = level("itemRemove", old.item_remove).unwrap_or(old.item_remove);
            if let Some(drafts) = input.get("draftItemsPluginPermissions").and_then(Value::as_object) {
                let plugin = after.plugins.iter_mut().find(|it| is_drafts(it)).ok_or_else(|| {
                    invalid("dataPermissions.draftItemsPluginPermissions", "needs the plugin DRAFT_ITEMS")
                })?;
                let options = plugin.entry("draftItemsOptions").or_insert_with(|| json!({}));
                if options.get("draftPermissions").is_none_or(|it| !it.is_object()) {
                    options["draftPermissions"] = json!({});
                }
                drafts.iter().for_each(|(name, it)| options["draftPermissions"][name] = it.clone());
            }
            Ok(after)
        };
        let collection = change_definition(
            self,
            site,
            caller,
            Revised { id: id.to_owned(), revision: None, discards_drafts: false, make },
        )
        .await?;
        Ok(view(&collection))
    }

    /// What the caller may do with a collection's items: four booleans.
    ///
    /// # Errors
    /// WDE0025.
    pub async fn permissions_mine(&self, site: &Site, caller: &Caller, id: &str) -> Result<Value> {
        let collection = load_existing(self, site, id).await?;
        if collection.definition.published_id().is_some() && !may_know(caller, &collection) {
            return Err(fault::collection_not_found(id));
        }
        let mut mine = allowed(&collection.access(caller), caller);
        let (drafts, status) = (collection.may_know_drafts(caller), may_change_status(caller, &collection));
        if drafts || status {
            // Others aren't told of the plugin.
            mine["draftItemsPluginPermissions"] = json!({ "manageDrafts": drafts, "managePublishStatus": status });
        }
        Ok(mine)
    }

    /// Gives a user, or all who hold a policy, rights beside those of their level.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, or for what asks PRIVILEGED when the caller is not;
    /// WDE0025; ALREADY_EXISTS when they have special permissions; WDE0075.
    pub async fn special_add(&self, site: &Arc<Site>, caller: &Caller, id: &str, object: &Value) -> Result<Value> {
        let manager = access::manager_of(caller, id)?;
        let (principal, rights) = parse(object, self.limits())?;
        let principal = principal.ok_or_else(|| invalid("specialPermissions", "must have userId or policyId"))?;
        if id.is_empty() || id.contains('\0') {
            return Err(fault::collection_not_found(id));
        }
        let now = self.state.world.now();
        let grant = Arc::new(PrincipalGrant { id: self.state.world.uuid(), principal, rights });
        let input = (site.id.clone(), manager, id.to_owned(), Arc::clone(&grant));
        let added = site.write_with(input, move |tx, (site, manager, id, grant)| {
            boxed!({
                let stored = live(tx, site, id).await?.ok_or_else(|| fault::collection_not_found(id))?;
                if let Some(published) = stored.definition.published_id() {
                    return Err(fault::follows(published));
                }
                let access = manager.grant(&stored.id, &stored.definition, &grant.rights)?;
                if stored.grants.list.len() as i64 >= MOST {
                    let text = format!("A collection has at most {MOST} special permissions.");
                    return Err(Fault::because(Code::RequestInvalid, text));
                }
                let taken = || {
                    let text = "There are special permissions for this user or policy; update them instead.";
                    Fault::because(Code::AlreadyExists, text)
                };
                if stored.grants.by_principal.contains_key(&grant.principal) {
                    return Err(taken());
                }
                match insert_grant(tx, (site, stored.number), grant, now, &access).await? {
                    true => tell(tx, site, &stored, now, &access).await,
                    false => Err(taken()),
                }
            })
        });
        added.await?;
        cache::announce(self, site, [id, &drafts_id(id)]).await?;
        Ok(grant.view())
    }

    /// Changes the rights that the object has; whose they are stays as it is.
    ///
    /// # Errors
    /// As for adding, and NOT_FOUND.
    pub async fn special_update(&self, site: &Arc<Site>, caller: &Caller, id: &str, object: &Value) -> Result<Value> {
        let manager = access::manager(caller)?;
        let (input, _) = parse(object, self.limits())?;
        let object = object.clone();
        let make = move |old: &PrincipalGrant| {
            if input.as_ref().is_some_and(|it| *it != old.principal) {
                return Err(invalid("specialPermissions", "must keep its userId or policyId"));
            }
            Ok(Some(PrincipalGrant { rights: old.rights.with(&object), ..old.clone() }))
        };
        let now = self.state.world.now();
        change_grant(self, site, GrantChange { manager, id: id.to_owned(), now, make }).await
    }

    /// Takes special permissions away: what the levels say counts again.
    ///
    /// # Errors
    /// As for adding, and NOT_FOUND.
    pub async fn special_remove(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<()> {
        let manager = access::manager(caller)?;
        let now = self.state.world.now();
        let change = GrantChange { manager, id: id.to_owned(), now, make: |_: &PrincipalGrant| Ok(None) };
        change_grant(self, site, change).await.map(|_| ())
    }
}

/// A change of a principal's special permissions.
struct GrantChange<F> {
    manager: Manager,
    id: String,
    now: Millis,
    /// What they become, or nothing.
    make: F,
}

async fn change_grant<F>(content: &Content, site: &Arc<Site>, change: GrantChange<F>) -> Result<Value>
where
    F: Fn(&PrincipalGrant) -> Result<Option<PrincipalGrant>> + Send + Sync + 'static,
{
    if change.id.contains('\0') {
        return Err(grant_not_found());
    }
    let changed = site.write_with((site.id.clone(), change), |tx, (site, change)| boxed!(change.run(tx, site).await));
    let (collection, grant) = changed.await?;
    cache::announce(content, site, [collection.as_str(), &drafts_id(&collection)]).await?;
    Ok(grant.map_or(Value::Null, |it| it.view()))
}

impl<F: Fn(&PrincipalGrant) -> Result<Option<PrincipalGrant>>> GrantChange<F> {
    /// Answers the id of the collection as well.
    async fn run(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<(String, Option<PrincipalGrant>)> {
        let sql = "select c.id from stoa.special_permission s join stoa.collection c \
                   on c.site = s.site and c.number = s.collection \
                   where s.site = $1 and s.id = $2 and c.deleted is null";
        let row = tx.row(sql, &params![site, &self.id], |row| row.get::<String>(0)).await?;
        let collection = row.ok_or_else(grant_not_found)?;
        let stored = live(tx, site, &collection).await?.ok_or_else(grant_not_found)?;
        let old = stored.grants.list.iter().find(|it| it.id == self.id).ok_or_else(grant_not_found)?;
        let access = self.manager.grant(&stored.id, &stored.definition, &old.rights)?;
        let new = (self.make)(old)?;
        match &new {
            None => delete_grant(tx, site, &self.id, &access).await?,
            Some(new) => {
                let access = self.manager.grant(&stored.id, &stored.definition, &new.rights)?;
                update_grant(tx, site, new, &access).await?;
            }
        }
        tell(tx, site, &stored, self.now, &access).await?;
        Ok((collection, new))
    }
}

/// Tells that rights are others, in the collection of drafts as well.
async fn tell(
    tx: &mut Tx<'_>,
    site: &SiteId,
    stored: &StoredCollection,
    now: Millis,
    access: &ManageAccess,
) -> Result<()> {
    save::tell_access(tx, site, &stored.id, now, access).await?;
    match stored.definition.drafts_id() {
        Some(it) => save::tell_access(tx, site, it, now, access).await,
        None => Ok(()),
    }
}

/// Writes what a principal is granted in a collection, and answers whether there was nothing yet.
async fn insert_grant(
    tx: &mut Tx<'_>,
    (site, collection): (&SiteId, i64),
    grant: &PrincipalGrant,
    now: Millis,
    _access: &ManageAccess,
) -> Result<bool> {
    let (kind, subject) = grant.principal.parts();
    let sql = "insert into stoa.special_permission (site, id, collection, kind, subject, granted, created) \
               values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing";
    let row = params![site, &grant.id, collection, kind, subject, grant.rights.print()?, now];
    Ok(tx.execute(sql, &row).await? > 0)
}

/// Writes other rights in the place of those that a principal is granted.
async fn update_grant(tx: &mut Tx<'_>, site: &SiteId, grant: &PrincipalGrant, _access: &ManageAccess) -> Result<()> {
    let sql = "update stoa.special_permission set granted = $1 where site = $2 and id = $3";
    tx.send(sql, params![grant.rights.print()?, site, &grant.id]).await?;
    Ok(())
}

/// Takes away what a principal is granted.
async fn delete_grant(tx: &mut Tx<'_>, site: &SiteId, id: &str, _access: &ManageAccess) -> Result<()> {
    tx.send("delete from stoa.special_permission where site = $1 and id = $2", params![site, id]).await?;
    Ok(())
}

/// `dataPermissions` of a collection.
fn view(collection: &Collection) -> Value {
    let mut view = json!(collection.levels());
    view["id"] = json!(collection.id);
    view["specialPermissions"] = collection.grants.list.iter().map(PrincipalGrant::view).collect();
    if let Some((manage_drafts, manage_status)) = collection.definition.draft_levels() {
        view["draftItemsPluginPermissions"] =
            json!({ "manageDrafts": manage_drafts, "managePublishStatus": manage_status });
    }
    view
}

/// Reads `specialPermissions`: whose they are, if they name a principal, and what they give.
fn parse(object: &Value, limits: &ContentLimits) -> Result<(Option<Principal>, Rights)> {
    check(object, &SPECIAL, "specialPermissions", limits)?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let principal = match (text("userId"), text("policyId")) {
        (Some(_), Some(_)) => return Err(invalid("specialPermissions", "must have userId or policyId, not both")),
        (user, policy) => user.map(Principal::User).or(policy.map(Principal::Policy)),
    };
    Ok((principal, Rights::NOTHING.with(object)))
}

fn text<'o>(object: &'o Value, name: &str, path: &str) -> Result<&'o str> {
    let found = object.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    found.ok_or_else(|| invalid(&format!("{path}.{name}"), "must be a string that is not empty"))
}

fn grant_not_found() -> Fault {
    Fault::because(Code::NotFound, "There are no special permissions with this id.")
}
