//! The code of a site as those who run it manage it: deployed, switched between, tried.

use super::{
    trial::{self, HookTrial},
    version::{self, activate, active_number},
};
use crate::Content;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use stoa_hooks::{Export, Failure, Host, Plugin, SourceRefusal, Version};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, TokenHash, Violation, clock::Millis, nearest::hint};
use stoa_sql::params;
use stoa_store::{Area, ReaderPool, Row, Site, Tx, boxed};

/// Versions of a site that are kept: the newest, and the one that is active.
const KEPT: i64 = 50;
/// Hooks that an application may answer.
const MOST_HOOKS: usize = 1_000;

/// A deployed version, without its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookVersion {
    pub number: i64,
    pub is_active: bool,
    /// The application that is asked; nothing for code.
    pub plugin: Option<Plugin>,
    /// Names of functions, such as `cars_beforeInsert`.
    pub exports: Vec<String>,
    /// The id of who deployed it.
    pub author: String,
    pub created: Millis,
}

/// What is to be deployed.
pub enum HookWish<'a> {
    /// One module of JavaScript.
    Source(&'a str),
    /// An application, and the hooks that it answers, such as `cars_beforeInsert`.
    Plugin(Plugin, Vec<&'a str>),
}

impl<'a> From<&'a str> for HookWish<'a> {
    fn from(source: &'a str) -> Self {
        Self::Source(source)
    }
}

impl<'a> From<&'a String> for HookWish<'a> {
    fn from(source: &'a String) -> Self {
        Self::Source(source)
    }
}

impl<'a> HookWish<'a> {
    /// Reads `{source}` or `{plugin: {appId, url, hooks}}`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT with each member that is wrong.
    pub fn parse(members: &'a Map<String, Json>) -> Result<Self> {
        let invalid = |field: &str, rule, why: &str| Fault::invalid(vec![Violation::new(field, rule, why)]);
        match (members.get("source"), members.get("plugin").filter(|it| !it.is_null())) {
            (Some(_), Some(_)) => Err(invalid("plugin", "OTHER", "a version has code or an application, not both")),
            (Some(Json::String(source)), None) => Ok(Self::Source(source)),
            (_, None) => Err(invalid("source", "REQUIRED_FIELD", "the code is expected, as a text")),
            (None, Some(plugin)) => Self::plugin(plugin).map_err(|(field, why)| invalid(&field, "FORMAT", why)),
        }
    }

    fn plugin(plugin: &'a Json) -> std::result::Result<Self, (String, &'static str)> {
        let members = plugin.as_object().ok_or(("plugin".to_owned(), "an object is expected"))?;
        if let Some(name) = members.keys().find(|it| !["appId", "url", "hooks"].contains(&it.as_str())) {
            return Err((format!("plugin.{name}"), "an application has appId, url and hooks"));
        }
        let text = |name: &str| {
            let text = members.get(name).and_then(Json::as_str).filter(|it| !it.is_empty() && !it.contains('\0'));
            text.map(str::to_owned).ok_or((format!("plugin.{name}"), "a text is expected"))
        };
        let hooks = members.get("hooks").and_then(Json::as_array).filter(|it| (1..=MOST_HOOKS).contains(&it.len()));
        let hooks = hooks.and_then(|it| it.iter().map(Json::as_str).collect::<Option<Vec<_>>>());
        let hooks = hooks.ok_or(("plugin.hooks".to_owned(), "a list of 1 to 1000 names is expected"))?;
        Ok(Self::Plugin(Plugin { app_id: text("appId")?, url: text("url")? }, hooks))
    }
}

impl Content {
    /// Deploys a source, or an application that is asked in place of code. It is asked from now on in place of what was
    /// before.
    ///
    /// # Errors
    /// PERMISSION_DENIED for all but owners and apps, WDE0119 on a server that runs no hooks, INVALID_ARGUMENT with all
    /// that is wrong.
    pub async fn hooks_deploy(
        &self,
        site: &Site,
        caller: &Caller,
        wish: impl Into<HookWish<'_>>,
    ) -> Result<HookVersion> {
        may_manage(caller)?;
        let (source, plugin, names) = match wish.into() {
            HookWish::Source(it) => (it.to_owned(), None, exports(self, site, caller, it).await?),
            HookWish::Plugin(plugin, names) => {
                let names = named(self, site, caller, &plugin, &names).await?;
                (String::new(), Some(plugin), names)
            }
        };
        let deployment = Deployment {
            site: site.id.clone(),
            source,
            plugin: plugin.as_ref().map(serde_json::to_string).transpose().map_err(Fault::internal)?,
            exports: serde_json::to_string(&names).map_err(Fault::internal)?,
            author: caller.id().to_owned(),
            created: self.state.world.now(),
        };
        let version = HookVersion {
            number: 0,
            is_active: true,
            plugin,
            exports: names.iter().map(Export::to_string).collect(),
            author: deployment.author.clone(),
            created: deployment.created,
        };
        let number = site.write_with(deployment, |tx, it| boxed!(it.write(tx).await)).await?;
        announce(self, site).await?;
        Ok(HookVersion { number, ..version })
    }

    /// Has another version run: the way back.
    ///
    /// # Errors
    /// PERMISSION_DENIED for all but owners and apps, NOT_FOUND for a version that isn't there.
    pub async fn hooks_activate(&self, site: &Site, caller: &Caller, number: i64) -> Result<()> {
        may_manage(caller)?;
        let activated = site.write_with((site.id.clone(), number), |tx, (site, number)| {
            boxed!({
                let sql = "select number from stoa.hook_version where site = $1 and number = $2";
                match tx.row(sql, &params![site, *number], |row| row.get::<i64>(0)).await? {
                    Some(_) => activate(tx, site, *number).await,
                    None => Err(Fault::because(Code::NotFound, format!("There is no version {number} of the hooks."))),
                }
            })
        });
        activated.await?;
        announce(self, site).await
    }

    /// The versions that are kept, newest first.
    ///
    /// # Errors
    /// PERMISSION_DENIED for all but owners and apps.
    pub async fn hooks_list(&self, site: &Site, caller: &Caller) -> Result<Vec<HookVersion>> {
        may_manage(caller)?;
        let id = site.id.clone();
        let rows = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let active = active_number(tx, &id).await?;
                let sql = "select number, exports, author, created, plugin from stoa.hook_version where site = $1 \
                           order by number desc";
                let read = |row: &Row<'_>| {
                    let (exports, plugin) = (row.get::<String>(1)?, row.get::<Option<String>>(4)?);
                    Ok((row.get::<i64>(0)?, exports, row.get::<String>(2)?, row.get::<i64>(3)?, plugin))
                };
                Ok((active, tx.rows(sql, &params![&id], read).await?))
            })
        });
        let (active, rows) = rows.await?;
        let version = |(number, exports, author, created, plugin): (i64, String, String, Millis, Option<String>)| {
            let exports: Vec<Export> = serde_json::from_str(&exports).map_err(Fault::internal)?;
            let exports = exports.iter().map(Export::to_string).collect();
            let plugin = plugin.map(|it| serde_json::from_str(&it).map_err(Fault::internal)).transpose()?;
            Ok(HookVersion { number, is_active: active == Some(number), plugin, exports, author, created })
        };
        rows.into_iter().map(version).collect()
    }

    /// Lets processes of the site's hooks be started again on this server, after so many died that none is.
    ///
    /// # Errors
    /// PERMISSION_DENIED for all but owners and apps, WDE0119 on a server that runs no hooks.
    pub fn hooks_resume(&self, site: &Site, caller: &Caller) -> Result<()> {
        may_manage(caller)?;
        host(self)?.resume(&site.id);
        Ok(())
    }

    /// Runs the tests of a source, where hooks run; nothing is read or written:
    /// `{passed, failed, tests: [{name, passed, outcome, error?, value?, console, milliseconds}]}`.
    ///
    /// # Errors
    /// As for a deployment.
    pub async fn hooks_test(&self, site: &Site, caller: &Caller, source: &str, tests: &str) -> Result<Json> {
        may_manage(caller)?;
        let tested = host(self)?.test(&site.id, source, tests).await.map_err(refused)?;
        let tested = tested.into_iter().map(trial::tested).collect::<Result<Vec<_>>>()?;
        let passed = tested.iter().filter(|it| it["passed"] == true).count();
        Ok(json!({ "passed": passed, "failed": tested.len() - passed, "tests": tested }))
    }

    /// Asks one hook without writing anything: of the source that is sent, else of the version that is active.
    ///
    /// # Errors
    /// As for a deployment, and NOT_FOUND where the code has no such hook.
    pub async fn hook_try(&self, site: &Site, caller: &Caller, trial: HookTrial<'_>) -> Result<Json> {
        may_manage(caller)?;
        let host = host(self)?;
        let none = || Fault::because(Code::NotFound, "The site has no hooks; send a source, or deploy one.");
        let version = match trial.source {
            Some(source) => {
                let exports = exports(self, site, caller, source).await?;
                Arc::new(Version::new(site.id.clone(), 0, source, exports))
            }
            None => version::active(self, site).await?.ok_or_else(none)?,
        };
        trial.run(host, &version, caller).await
    }
}

/// What a source exports, once all of it is a hook of a collection that is there.
async fn exports(content: &Content, site: &Site, caller: &Caller, source: &str) -> Result<Vec<Export>> {
    let host = host(content)?;
    if source.contains('\0') {
        return Err(Fault::invalid(vec![Violation::new("source", "FORMAT", "it holds U+0000, which no source needs")]));
    }
    let exports = host.exports_of(&site.id, source).await.map_err(refused)?;
    let violations = wrong_ones(content, site, caller, &exports, "source").await?;
    if violations.is_empty() { Ok(exports) } else { Err(Fault::invalid(violations)) }
}

/// The hooks that an application answers, once all of them may be and it may be asked.
async fn named(
    content: &Content,
    site: &Site,
    caller: &Caller,
    plugin: &Plugin,
    names: &[&str],
) -> Result<Vec<Export>> {
    let plugins = host(content)?.plugins().ok_or_else(|| Fault::new(Code::NotSupported))?;
    let (mut exports, mut violations) = (Vec::with_capacity(names.len()), Vec::new());
    for name in names {
        match Export::of_name(name) {
            Some(it) if exports.contains(&it) => {}
            Some(it) => exports.push(it),
            None => violations.push(Violation::new(HOOKS, "FORMAT", format!("{name} is no hook of a collection"))),
        }
    }
    violations.extend(wrong_ones(content, site, caller, &exports, HOOKS).await?);
    plugins.check(&site.id, plugin).await?;
    if violations.is_empty() { Ok(exports) } else { Err(Fault::invalid(violations)) }
}

const HOOKS: &str = "plugin.hooks";

/// What is wrong with hooks, on this site.
async fn wrong_ones(
    content: &Content,
    site: &Site,
    caller: &Caller,
    exports: &[Export],
    field: &'static str,
) -> Result<Vec<Violation>> {
    let known = content.collections_known(site, caller).await?;
    let ids: Vec<&str> = known.iter().map(|it| it.id).collect();
    Ok(exports.iter().filter_map(|it| wrong(it, &ids, field)).collect())
}

/// Why a hook can't be, on a site that has these collections.
fn wrong(export: &Export, ids: &[&str], field: &'static str) -> Option<Violation> {
    let collection = export.collection.as_str();
    if ids.contains(&collection) {
        return None;
    }
    let hint = hint(collection, ids.iter().copied());
    let text = format!("{export} is a hook of the collection {collection}, which isn't there{hint}");
    Some(Violation::new(field, "OTHER", text).with("export", export.to_string()))
}

fn refused(refusal: SourceRefusal) -> Fault {
    let invalid = |rule, text: String| Violation::new("source", rule, text);
    Fault::invalid(vec![match refusal {
        SourceRefusal::TooLong { limit } => invalid("MAX_LENGTH", format!("a source has at most {limit} bytes")),
        SourceRefusal::Broken { message } => {
            let place = place(&message);
            let violation = invalid("FORMAT", message);
            match place {
                Some((line, column)) => violation.with("line", line).with("column", column),
                None => violation,
            }
        }
        SourceRefusal::NotAHook { name, nearest } => {
            let hint = nearest.map(|it| format!("; did you mean {it}?")).unwrap_or_default();
            invalid("OTHER", format!("{name} is exported and no hook{hint}")).with("export", name)
        }
        SourceRefusal::Failed(Failure::Busy) => return Fault::new(Code::HookQuota),
        SourceRefusal::Failed(Failure::NotStarted) => {
            return Fault::because(Code::Unavailable, "Code can't be run at the moment.");
        }
        SourceRefusal::Failed(Failure::TimedOut) => invalid("OTHER", "loading it takes too long".to_owned()),
        SourceRefusal::Failed(Failure::OutOfMemory) => invalid("OTHER", "loading it needs too much memory".to_owned()),
        SourceRefusal::Failed(_) => invalid("OTHER", "loading it ends its process".to_owned()),
    }])
}

/// Line and column of a message that ends with `(data.js:3:5)`.
fn place(message: &str) -> Option<(u64, u64)> {
    let (_, place) = message.rsplit_once("(data.js:")?;
    let (line, column) = place.strip_suffix(')')?.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

fn host(content: &Content) -> Result<&Host> {
    content.state.hook_host.get().ok_or_else(|| Fault::new(Code::NotSupported))
}

/// Answers once no node runs another version than the active one.
async fn announce(content: &Content, site: &Site) -> Result<()> {
    content.state.hook_versions.forget_all();
    if let Some(host) = content.state.hook_host.get() {
        host.resume(&site.id);
    }
    site.withdrawals().announce(Area::Content).await
}

/// Code of hooks sees and changes items of all collections, so that it is for those with the whole right.
pub(super) fn may_manage(caller: &Caller) -> Result<()> {
    match caller.is_privileged() {
        true => Ok(()),
        false => Err(Fault::because(Code::Forbidden, "Hooks are for owners of the site and for its full keys.")),
    }
}

/// A version on its way in.
struct Deployment {
    site: SiteId,
    source: String,
    plugin: Option<String>,
    exports: String,
    author: String,
    created: Millis,
}

impl Deployment {
    async fn write(&self, tx: &mut Tx<'_>) -> Result<i64> {
        let Self { site, source, plugin, exports, author, created } = self;
        // Two deployments at the same time get their numbers one after the other.
        activate(tx, site, 0).await?;
        let sql = "select coalesce(max(number), 0) + 1 from stoa.hook_version where site = $1";
        let number = tx.row(sql, &params![site], |row| row.get::<i64>(0)).await?.unwrap_or(1);
        let sql = "insert into stoa.hook_version (site, number, sha256, source, exports, author, created, plugin) \
                   values ($1, $2, $3, $4, $5, $6, $7, $8)";
        let sha256 = TokenHash::of(plugin.as_ref().unwrap_or(source)).to_vec();
        let (source, exports, author) = (source.clone(), exports.clone(), author.clone());
        tx.execute(sql, &params![site, number, sha256, source, exports, author, *created, plugin.clone()]).await?;
        activate(tx, site, number).await?;
        let sql = "delete from stoa.hook_version where site = $1 and number <= $2";
        tx.execute(sql, &params![site, number - KEPT]).await?;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_at_the_end_of_a_message() {
        assert_eq!(place("SyntaxError: unexpected token (data.js:3:15)"), Some((3, 15)));
        for message in ["SyntaxError: no place", "(data.js:3:15) before", "(data.js:3)", "(data.js:a:b)", ""] {
            assert_eq!(place(message), None, "{message}");
        }
    }
}
