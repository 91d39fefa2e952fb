//! Whether the log tells of redirect sessions: it costs a row for each sign-in, so only where a site asks for it, or a
//! reader does.

use crate::{Core, Identity};
use stoa_kernel::{Millis, Result};
use stoa_store::{
    ReaderPool, Site, boxed,
    outbox::{self, Asked},
    setting,
};

/// The site's setting: `true` as JSON, or none.
const SETTING: &str = "logRedirectSessions";
/// The setting is read again after this long: a sign-in costs no statement more.
const LIFE: Millis = 10_000;

impl Identity {
    /// Whether the log tells of redirect sessions of this site, as this node knows.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn redirect_session_log(&self, site: &Site) -> Result<bool> {
        is_on(&self.core, site).await
    }

    /// Sets it, for the operators of the server. Other nodes learn of it within ten seconds.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn redirect_session_log_set(&self, site: &Site, is_on: bool) -> Result<()> {
        let set = site.write_with(site.id.clone(), move |tx, site| {
            boxed!({
                match is_on {
                    true => setting::put(tx, site, SETTING, "true".to_owned()).await?,
                    false => setting::remove(tx, site, SETTING).await?,
                }
                Ok(())
            })
        });
        set.await?;
        self.redirect_session_log_read(site);
        Ok(())
    }

    /// Has the setting read again: a reader of the log asks for redirect sessions, or does so no longer.
    pub fn redirect_session_log_read(&self, site: &Site) {
        self.core.redirect_logs.remove(&site.id);
    }
}

/// What [`Identity::redirect_session_log`] answers.
pub(super) async fn is_on(core: &Core, site: &Site) -> Result<bool> {
    let now = core.now();
    if let Some((until, is_on)) = core.redirect_logs.get(&site.id)
        && now < until
    {
        return Ok(is_on);
    }
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let is_set = setting::get(tx, &id, SETTING).await?.as_deref() == Some("true");
            Ok(is_set || outbox::is_asked(tx, &id, Asked::RedirectSessions).await?)
        })
    });
    let is_on = read.await?;
    core.redirect_logs.insert(site.id.clone(), (now + LIFE, is_on));
    Ok(is_on)
}
