//! Changes of what the catalogue has of a site.

use crate::{Error, Tx};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId, Violation};
use stoa_sql::params;

/// What is to be changed of a site; `None` and empty lists keep what is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteChange {
    pub name: Option<String>,
    pub add_hosts: Vec<String>,
    pub remove_hosts: Vec<String>,
    /// `true` takes the place of any other default.
    pub is_default: Option<bool>,
    pub is_demo: Option<bool>,
}

impl SiteChange {
    /// The change with its names as they are stored.
    ///
    /// # Errors
    /// [`Code::Validation`] with a violation for each name that can't be one.
    pub(crate) fn checked(mut self) -> Result<Self> {
        let mut violations = Vec::new();
        if let Some(name) = &mut self.name {
            *name = name.trim().to_owned();
            if !(1..=100).contains(&name.chars().count()) || name.contains(char::is_control) {
                let text = "a name has 1 to 100 characters, none of them a control character";
                violations.push(Violation::new("name", "FORMAT", text));
            }
        }
        for host in self.add_hosts.iter_mut().chain(&mut self.remove_hosts) {
            *host = host.trim().to_ascii_lowercase();
        }
        for host in self.add_hosts.iter().filter(|it| !is_host(it)) {
            let text = format!("{host:?} is no host name such as www.example.org, without scheme and port");
            violations.push(Violation::new("hosts", "FORMAT", text));
        }
        if violations.is_empty() { Ok(self) } else { Err(Fault::invalid(violations)) }
    }
}

/// Whether a text in lower case is a host name as browsers send it, or an address.
fn is_host(text: &str) -> bool {
    let is_label = |it: &str| {
        (1..=63).contains(&it.len())
            && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && !it.starts_with('-')
            && !it.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label) || text.parse::<std::net::Ipv6Addr>().is_ok()
}

/// Makes a site as the change says.
pub(crate) async fn apply(tx: &mut Tx<'_>, id: &SiteId, change: &SiteChange, now: Millis) -> Result<()> {
    if let Some(name) = &change.name {
        let sql = "update stoa.site set name = $1, changed = $2 where id = $3";
        tx.execute(sql, &params![name.clone(), now, id]).await?;
    }
    for host in &change.add_hosts {
        add_host(tx, id, host).await?;
    }
    for host in &change.remove_hosts {
        let sql = "delete from stoa.host where host = $1 and site = $2";
        if tx.execute(sql, &params![host.clone(), id]).await? == 0 {
            return Err(Fault::because(Code::NotFound, format!("{host} does not show this site")));
        }
    }
    if let Some(is_default) = change.is_default {
        let sql = "update stoa.site set is_default = 0 where is_default = 1 and id <> $1";
        tx.execute(sql, &params![id]).await?;
        let sql = "update stoa.site set is_default = $1 where id = $2";
        tx.execute(sql, &params![i64::from(is_default), id]).await?;
    }
    if let Some(is_demo) = change.is_demo {
        let sql = "update stoa.site set is_demo = $1 where id = $2";
        tx.execute(sql, &params![i64::from(is_demo), id]).await?;
    }
    Ok(())
}

/// Lets a host name show a site. One that shows a deleted site goes over to this one.
async fn add_host(tx: &mut Tx<'_>, site: &SiteId, host: &str) -> Result<()> {
    let sql = "select h.site, s.deleted from stoa.host h join stoa.site s on s.id = h.site where h.host = $1";
    let there: Option<(String, Option<Millis>)> =
        tx.row(sql, &params![host.to_owned()], |row| Ok((row.get(0)?, row.get(1)?))).await?;
    match there {
        Some((other, None)) if other != site.as_str() => {
            Err(Fault::because(Code::AlreadyExists, format!("{host} already shows another site")))
        }
        _ => {
            let sql = "insert into stoa.host (host, site) values ($1, $2) \
                       on conflict (host) do update set site = excluded.site";
            tx.execute(sql, &params![host.to_owned(), site]).await?;
            Ok(())
        }
    }
}

/// Marks the SANDBOX of a site as deleted, and answers which it was.
pub(crate) async fn sandbox_delete(tx: &mut Tx<'_>, of: &SiteId, now: Millis) -> Result<Vec<SiteId>, Error> {
    let sql = "update stoa.site set deleted = $1, changed = $1 where sandbox_of = $2 and deleted is null returning id";
    tx.rows(sql, &params![now, of], |row| Ok(SiteId::from(row.text(0)?))).await
}

/// Brings back the SANDBOX that was deleted together with a site, which is still deleted.
pub(crate) async fn sandbox_restore(tx: &mut Tx<'_>, of: &SiteId, now: Millis) -> Result<(), Error> {
    let sql = "update stoa.site set deleted = null, changed = $1 \
               where sandbox_of = $2 and deleted = (select deleted from stoa.site where id = $2)";
    tx.execute(sql, &params![now, of]).await.map(drop)
}
