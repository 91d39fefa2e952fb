//! Permissions of a collection (protocol/content.md 8): its levels, and special permissions of single
//! people that add to them.
//!
//! The levels live in the definition, so both models and the collection object are one truth. Special
//! permissions are rows of their own, read with the definition and cached as long; [`crate::schema::level`] is
//! given what the caller is granted by them.

use crate::{
    Collection, Content, Grants, Level, Limits, Operation,
    collection::{live, missing},
    schema::{
        definition::{self, Definition, LEVELS},
        level,
    },
    wire::shape::{Shape, check, unfit},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{collections::HashMap, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result, Role, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Site, Tx, boxed};

/// Special permissions of one collection.
const MOST: i64 = 1000;

/// The special permissions of one collection.
#[derive(Default)]
pub(crate) struct Specials {
    list: Vec<Special>,
    by_subject: HashMap<Subject, Grants>,
}

/// What somebody is granted beside what their level gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Special {
    id: String,
    subject: Subject,
    granted: Granted,
}

/// Who is granted it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Subject {
    /// A member, or a person who works on the site.
    User(String),
    /// Everyone who holds a role: `OWNER` or `EDITOR`. Other names are kept, and nobody holds them.
    Policy(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Granted {
    items: Grants,
    manage_drafts: bool,
    manage_publish_status: bool,
}

static PERMISSIONS: Shape = Shape::Object(&[("draftItemsPluginPermissions", DRAFT_LEVELS)]);
pub(crate) const DRAFT_LEVELS: Shape =
    Shape::Object(&[("manageDrafts", definition::LEVEL), ("managePublishStatus", definition::LEVEL)]);

const ACCESS: Shape = Shape::OneOf(&["UNSPECIFIED", "ALLOWED"]);
static SPECIAL: Shape = Shape::Object(&[
    ("userId", Shape::Text(1, 64)),
    ("policyId", Shape::Text(1, 64)),
    ("itemRead", ACCESS),
    ("itemInsert", ACCESS),
    ("itemUpdate", ACCESS),
    ("itemRemove", ACCESS),
    ("draftItemsPluginPermissions", Shape::Object(&[("manageDrafts", ACCESS), ("managePublishStatus", ACCESS)])),
]);

impl Content {
    /// The levels and special permissions of a collection (`dataPermissions`).
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, WDE0025.
    pub async fn permissions_get(&self, site: &Site, caller: &Caller, id: &str) -> Result<Value> {
        level::may_manage(caller)?;
        Ok(view(&*self.collection_known(site, id).await?))
    }

    /// Changes the levels that the object has; special permissions in it are not looked at.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, or to set or take PRIVILEGED; WDE0025; WDE0075.
    pub async fn permissions_update(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        level::may_manage(caller)?;
        let id = text(object, "id", "dataPermissions")?;
        check(object, &LEVELS, "dataPermissions", self.limits())?;
        check(object, &PERMISSIONS, "dataPermissions", self.limits())?;
        let sent = object.clone();
        let change = move |before: &Definition| {
            let mut after = before.clone();
            let level = |name: &str, old: Level| sent.get(name).and_then(Value::as_str).map_or(Some(old), Level::parse);
            let old = before.levels;
            after.levels.item_read = level("itemRead", old.item_read).unwrap_or(old.item_read);
            after.levels.item_insert = level("itemInsert", old.item_insert).unwrap_or(old.item_insert);
            after.levels.item_update = level("itemUpdate", old.item_update).unwrap_or(old.item_update);
            after.levels.item_remove = level("itemRemove", old.item_remove).unwrap_or(old.item_remove);
            if let Some(drafts) = sent.get("draftItemsPluginPermissions").and_then(Value::as_object) {
                let plugin = after.plugins.iter_mut().find(|it| is_drafts(it)).ok_or_else(|| {
                    unfit("dataPermissions.draftItemsPluginPermissions", "needs the plugin DRAFT_ITEMS")
                })?;
                let options = plugin.entry("draftItemsOptions").or_insert_with(|| json!({}));
                if options.get("draftPermissions").is_none_or(|it| !it.is_object()) {
                    options["draftPermissions"] = json!({});
                }
                drafts.iter().for_each(|(name, it)| options["draftPermissions"][name] = it.clone());
            }
            Ok(after)
        };
        let collection = self.change_definition(site, caller, id.to_owned(), None, change).await?;
        Ok(view(&collection))
    }

    /// What the caller may do with a collection's items: four booleans.
    ///
    /// # Errors
    /// WDE0025.
    pub async fn permissions_mine(&self, site: &Site, caller: &Caller, id: &str) -> Result<Value> {
        let collection = self.collection_known(site, id).await?;
        let mut mine = definition::allowed(&collection.access(caller), caller);
        if let Some(levels) = collection.definition.draft_levels() {
            let granted = collection.specials.of(caller);
            let may = |level: Level, granted: bool| granted || level::holds(caller, level);
            mine["draftItemsPluginPermissions"] = json!({
                "manageDrafts": may(levels.0, granted.clone().any(|it| it.manage_drafts)),
                "managePublishStatus": may(levels.1, granted.clone().any(|it| it.manage_publish_status)),
            });
        }
        Ok(mine)
    }

    /// Gives a user, or all who hold a policy, rights beside those of their level.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, or for what asks PRIVILEGED when the caller is not;
    /// WDE0025; ALREADY_EXISTS when they have special permissions; WDE0075.
    pub async fn special_add(&self, site: &Arc<Site>, caller: &Caller, id: &str, object: &Value) -> Result<Value> {
        level::may_manage(caller)?;
        let (subject, granted) = parse(object, self.limits())?;
        let subject = subject.ok_or_else(|| unfit("specialPermissions", "must have userId or policyId"))?;
        if id.is_empty() || id.contains('\0') {
            return Err(missing(id));
        }
        let special = Special { id: self.world().uuid(), subject, granted };
        let (place, asker, name, now, new) =
            (site.clone(), caller.clone(), id.to_owned(), self.world().now(), special.clone());
        site.write(move |tx| {
            let (site, caller, id, new) = (place.clone(), asker.clone(), name.clone(), new.clone());
            boxed!({
                let stored = live(tx, &site.id, &id).await?.ok_or_else(|| missing(&id))?;
                may_give(&caller, &stored.definition, &new.granted)?;
                if stored.specials.list.len() as i64 >= MOST {
                    let text = format!("A collection has at most {MOST} special permissions.");
                    return Err(Fault::because(Code::RequestInvalid, text));
                }
                let taken = || {
                    let text = "There are special permissions for this user or policy; update them instead.";
                    Fault::because(Code::AlreadyExists, text)
                };
                if stored.specials.by_subject.contains_key(&new.subject) {
                    return Err(taken());
                }
                let (kind, subject) = new.subject.parts();
                let sql = "insert into stoa.special_permission (site, id, collection, kind, subject, granted, created) \
                           values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing";
                let row = params![&site.id, new.id, stored.number, kind, subject, print(&new.granted)?, now];
                match tx.execute(sql, &row).await? {
                    0 => Err(taken()),
                    _ => Ok(()),
                }
            })
        })
        .await?;
        self.cache().forget(&site.id, id);
        Ok(special.view())
    }

    /// Changes the rights that the object has; whose they are stays as it is.
    ///
    /// # Errors
    /// As for adding, and NOT_FOUND.
    pub async fn special_update(&self, site: &Arc<Site>, caller: &Caller, id: &str, object: &Value) -> Result<Value> {
        level::may_manage(caller)?;
        let (sent, _) = parse(object, self.limits())?;
        let object = object.clone();
        self.special_change(site, caller, id, move |old| {
            if sent.as_ref().is_some_and(|it| *it != old.subject) {
                return Err(unfit("specialPermissions", "must keep its userId or policyId"));
            }
            Ok(Some(Special { granted: old.granted.with(&object), ..old.clone() }))
        })
        .await
    }

    /// Takes special permissions away: what the levels say counts again.
    ///
    /// # Errors
    /// As for adding, and NOT_FOUND.
    pub async fn special_remove(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<()> {
        level::may_manage(caller)?;
        self.special_change(site, caller, id, |_| Ok(None)).await.map(|_| ())
    }

    /// Puts what `make` makes of special permissions in their place, or nothing.
    async fn special_change(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        make: impl Fn(&Special) -> Result<Option<Special>> + Send + Sync + 'static,
    ) -> Result<Value> {
        if id.contains('\0') {
            return Err(unknown());
        }
        let (make, place, asker, key) = (Arc::new(make), site.clone(), caller.clone(), id.to_owned());
        let (collection, special) = site
            .write(move |tx| {
                let (make, site, caller, key) = (make.clone(), place.clone(), asker.clone(), key.clone());
                boxed!({
                    let sql = "select c.id from stoa.special_permission s join stoa.collection c \
                               on c.site = s.site and c.number = s.collection \
                               where s.site = $1 and s.id = $2 and c.deleted is null";
                    let row = tx.row(sql, &params![&site.id, &key], |row| row.get::<String>(0)).await?;
                    let collection = row.ok_or_else(unknown)?;
                    let stored = live(tx, &site.id, &collection).await?.ok_or_else(unknown)?;
                    let old = stored.specials.list.iter().find(|it| it.id == key).ok_or_else(unknown)?;
                    may_give(&caller, &stored.definition, &old.granted)?;
                    let new = make(old)?;
                    match &new {
                        None => {
                            let sql = "delete from stoa.special_permission where site = $1 and id = $2";
                            tx.send(sql, params![&site.id, &key]).await?;
                        }
                        Some(new) => {
                            may_give(&caller, &stored.definition, &new.granted)?;
                            let sql = "update stoa.special_permission set granted = $1 where site = $2 and id = $3";
                            tx.send(sql, params![print(&new.granted)?, &site.id, &key]).await?;
                        }
                    }
                    Ok((collection, new))
                })
            })
            .await?;
        self.cache().forget(&site.id, &collection);
        Ok(special.map_or(Value::Null, |it| it.view()))
    }
}

/// The special permissions of the collections of a site: of all, or of one.
pub(crate) async fn specials(
    tx: &mut Tx<'_>,
    site: &SiteId,
    collection: Option<i64>,
) -> Result<HashMap<i64, Specials>, stoa_store::Error> {
    let read = |row: &Row<'_>| {
        let subject = match row.text(2)? {
            "USER" => Subject::User(row.get(3)?),
            _ => Subject::Policy(row.get(3)?),
        };
        let granted = serde_json::from_str(row.text(4)?)
            .map_err(|it| stoa_store::Error::Other(format!("special permissions: {it}")))?;
        Ok((row.get::<i64>(0)?, Special { id: row.get(1)?, subject, granted }))
    };
    const SQL: &str = "select collection, id, kind, subject, granted from stoa.special_permission where site = $1";
    let rows = match collection {
        None => tx.rows(&format!("{SQL} order by created, id"), &params![site], read).await?,
        Some(number) => {
            tx.rows(&format!("{SQL} and collection = $2 order by created, id"), &params![site, number], read).await?
        }
    };
    let mut found: HashMap<i64, Specials> = HashMap::new();
    for (number, special) in rows {
        found.entry(number).or_default().add(special);
    }
    Ok(found)
}

impl Specials {
    fn add(&mut self, special: Special) {
        let grants = self.by_subject.entry(special.subject.clone()).or_default();
        *grants = grants.or(special.granted.items);
        self.list.push(special);
    }

    /// What the caller is granted.
    pub(crate) fn grants(&self, caller: &Caller) -> Grants {
        if self.list.is_empty() {
            return Grants::default();
        }
        let of = |it: Subject| self.by_subject.get(&it).copied().unwrap_or_default();
        subjects(caller).map(of).fold(Grants::default(), Grants::or)
    }

    /// All that names the caller.
    fn of(&self, caller: &Caller) -> impl Iterator<Item = Granted> + Clone {
        let mine: Vec<_> = subjects(caller).collect();
        self.list.iter().filter(move |it| mine.contains(&it.subject)).map(|it| it.granted)
    }
}

/// The subjects that a caller is. A visitor is nobody in particular, and an app has all rights anyway.
fn subjects(caller: &Caller) -> impl Iterator<Item = Subject> + use<> {
    let subjects = match caller {
        Caller::Member { id, .. } => [Some(Subject::User(id.to_string())), None],
        Caller::User { id, role, .. } => {
            let policy = match role {
                Role::Owner => "OWNER",
                Role::Editor => "EDITOR",
            };
            [Some(Subject::User(id.to_string())), Some(Subject::Policy(policy.to_owned()))]
        }
        Caller::Visitor { .. } | Caller::App { .. } => [None, None],
    };
    subjects.into_iter().flatten()
}

impl Special {
    fn view(&self) -> Value {
        let access = |it: bool| if it { "ALLOWED" } else { "UNSPECIFIED" };
        let (items, granted) = (&self.granted.items, &self.granted);
        let mut view = json!({
            "id": self.id,
            "itemRead": access(items.item_read), "itemInsert": access(items.item_insert),
            "itemUpdate": access(items.item_update), "itemRemove": access(items.item_remove),
            "draftItemsPluginPermissions": {
                "manageDrafts": access(granted.manage_drafts),
                "managePublishStatus": access(granted.manage_publish_status),
            },
        });
        match &self.subject {
            Subject::User(it) => view["userId"] = json!(it),
            Subject::Policy(it) => view["policyId"] = json!(it),
        }
        view
    }
}

impl Subject {
    /// As a row has it.
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::User(it) => ("USER", it),
            Self::Policy(it) => ("POLICY", it),
        }
    }
}

impl Granted {
    const NOTHING: Self = Self {
        items: Grants { item_read: false, item_insert: false, item_update: false, item_remove: false },
        manage_drafts: false,
        manage_publish_status: false,
    };

    /// This with the members that the object has.
    fn with(mut self, object: &Value) -> Self {
        let drafts = object.get("draftItemsPluginPermissions");
        let set = |place: &mut bool, sent: Option<&Value>| {
            if let Some(it) = sent.and_then(Value::as_str) {
                *place = it == "ALLOWED";
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

/// `dataPermissions` of a collection.
fn view(collection: &Collection) -> Value {
    let mut view = json!(collection.levels());
    view["id"] = json!(collection.id);
    view["specialPermissions"] = collection.specials.list.iter().map(Special::view).collect();
    if let Some((manage_drafts, manage_status)) = collection.definition.draft_levels() {
        view["draftItemsPluginPermissions"] =
            json!({ "manageDrafts": manage_drafts, "managePublishStatus": manage_status });
    }
    view
}

/// Reads `specialPermissions`: whose they are, if that is said, and what they give.
fn parse(object: &Value, limits: &Limits) -> Result<(Option<Subject>, Granted)> {
    check(object, &SPECIAL, "specialPermissions", limits)?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let subject = match (text("userId"), text("policyId")) {
        (Some(_), Some(_)) => return Err(unfit("specialPermissions", "must have userId or policyId, not both")),
        (user, policy) => user.map(Subject::User).or(policy.map(Subject::Policy)),
    };
    Ok((subject, Granted::NOTHING.with(object)))
}

/// Nobody gives or takes more than they have: what the levels keep for PRIVILEGED only the privileged.
fn may_give(caller: &Caller, definition: &Definition, granted: &Granted) -> Result<()> {
    let drafts = definition.draft_levels().is_some_and(|(drafts, status)| {
        granted.manage_drafts && drafts == Level::Privileged
            || granted.manage_publish_status && status == Level::Privileged
    });
    let of = |it: &Operation| granted.items.of(*it) && definition.levels.of(*it) == Level::Privileged;
    match !caller.is_privileged() && (drafts || Operation::ALL.iter().any(of)) {
        true => Err(Fault::because(
            Code::PermissionDenied,
            "The current user does not have permissions to give or take what the level PRIVILEGED holds.",
        )),
        false => Ok(()),
    }
}

fn is_drafts(plugin: &Map<String, Value>) -> bool {
    plugin.get("type").and_then(Value::as_str) == Some("DRAFT_ITEMS")
}

impl Definition {
    /// The levels for drafts and for publishing, when the collection has drafts.
    pub(crate) fn draft_levels(&self) -> Option<(Level, Level)> {
        let plugin = self.plugins.iter().find(|it| is_drafts(it))?;
        let levels = plugin.get("draftItemsOptions").and_then(|it| it.get("draftPermissions"));
        let level = |name: &str| {
            let given = levels.and_then(|it| it.get(name)).and_then(Value::as_str).and_then(Level::parse);
            given.unwrap_or(Level::CmsEditor)
        };
        Some((level("manageDrafts"), level("managePublishStatus")))
    }
}

fn text<'o>(object: &'o Value, name: &str, path: &str) -> Result<&'o str> {
    let found = object.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    found.ok_or_else(|| unfit(&format!("{path}.{name}"), "must be a string that is not empty"))
}

fn print(granted: &Granted) -> Result<String> {
    serde_json::to_string(granted).map_err(Fault::internal)
}

fn unknown() -> Fault {
    Fault::because(Code::NotFound, "There are no special permissions with this id.")
}
