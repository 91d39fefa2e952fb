//! The code of a site as those who run it manage it: deployed, switched between, tried.

use super::{
    trial::HookTrial,
    version::{self, activate, active_number},
};
use crate::Content;
use serde_json::Value as Json;
use std::sync::Arc;
use stoa_hooks::{Export, Failure, Hook, Host, SourceRefusal, Version};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, TokenHash, Violation, clock::Millis, nearest::hint};
use stoa_sql::params;
use stoa_store::{Area, ReaderPool, Row, Site, Tx, boxed};

/// Versions of a site that are kept: the newest, and the one that is active.
const KEPT: i64 = 50;

/// A deployed version, without its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookVersion {
    pub number: i64,
    pub is_active: bool,
    /// Names of functions, such as `cars_beforeInsert`.
    pub exports: Vec<String>,
    /// The id of who deployed it.
    pub author: String,
    pub created: Millis,
}

impl Content {
    /// Deploys a source, which runs from now on in place of what ran before.
    ///
    /// # Errors
    /// PERMISSION_DENIED for all but owners and apps, WDE0119 on a server that runs no hooks, INVALID_ARGUMENT with all
    /// that is wrong with the source.
    pub async fn hooks_deploy(&self, site: &Site, caller: &Caller, source: &str) -> Result<HookVersion> {
        may_manage(caller)?;
        let names = exports(self, site, caller, source).await?;
        let deployment = Deployment {
            site: site.id.clone(),
            source: source.to_owned(),
            exports: serde_json::to_string(&names).map_err(Fault::internal)?,
            author: caller.id().to_owned(),
            created: self.state.world.now(),
        };
        let version = HookVersion {
            number: 0,
            is_active: true,
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
                let sql = "select number, exports, author, created from stoa.hook_version where site = $1 \
                           order by number desc";
                let read = |row: &Row<'_>| {
                    Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<String>(2)?, row.get::<i64>(3)?))
                };
                Ok((active, tx.rows(sql, &params![&id], read).await?))
            })
        });
        let (active, rows) = rows.await?;
        let version = |(number, exports, author, created): (i64, String, String, Millis)| {
            let exports: Vec<Export> = serde_json::from_str(&exports).map_err(Fault::internal)?;
            let exports = exports.iter().map(Export::to_string).collect();
            Ok(HookVersion { number, is_active: active == Some(number), exports, author, created })
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
    let exports = host.exports_of(source).await.map_err(refused)?;
    let known = content.collections_known(site, caller).await?;
    let ids: Vec<&str> = known.iter().map(|it| it.id).collect();
    let violations: Vec<_> = exports.iter().filter_map(|it| wrong(it, &ids)).collect();
    if violations.is_empty() { Ok(exports) } else { Err(Fault::invalid(violations)) }
}

/// Why a hook can't be, on a site that has these collections.
fn wrong(export: &Export, ids: &[&str]) -> Option<Violation> {
    let collection = export.collection.as_str();
    let text = match ids.contains(&collection) {
        false => {
            let hint = hint(collection, ids.iter().copied());
            format!("{export} is a hook of the collection {collection}, which isn't there{hint}")
        }
        true if export.hook == Hook::OnFailure => format!("{export}: this server doesn't ask the hook onFailure"),
        true => return None,
    };
    Some(Violation::new("source", "OTHER", text).with("export", export.to_string()))
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
    exports: String,
    author: String,
    created: Millis,
}

impl Deployment {
    async fn write(&self, tx: &mut Tx<'_>) -> Result<i64> {
        let Self { site, source, exports, author, created } = self;
        // Two deployments at the same time get their numbers one after the other.
        activate(tx, site, 0).await?;
        let sql = "select coalesce(max(number), 0) + 1 from stoa.hook_version where site = $1";
        let number = tx.row(sql, &params![site], |row| row.get::<i64>(0)).await?.unwrap_or(1);
        let sql = "insert into stoa.hook_version (site, number, sha256, source, exports, author, created) \
                   values ($1, $2, $3, $4, $5, $6, $7)";
        let sha256 = TokenHash::of(source).to_vec();
        tx.execute(sql, &params![site, number, sha256, source.clone(), exports.clone(), author.clone(), *created])
            .await?;
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
