//! What a redirect session is for, as it is stored.

use crate::{Core, oauth::authorization::Authorization};
use std::sync::Arc;
use stoa_kernel::{ClientId, Code, Fault, MemberId, Millis, Result, SessionId, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// What a redirect session is for.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Plan {
    Auth(Authorization),
    Login {
        client: Option<ClientId>,
        return_url: Option<String>,
    },
    /// One of the site's own pages.
    Page {
        url: String,
    },
    Logout(Logout),
}

/// Whose session is to end. `session`: that of the token with which it was asked for.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Logout {
    pub session: Option<SessionId>,
    pub member: Option<MemberId>,
    pub return_url: Option<String>,
}

/// What a redirect session is for, while it lives.
///
/// # Errors
/// [`Code::LinkInvalid`].
pub(crate) async fn get(core: &Core, site: &Arc<Site>, token: &str) -> Result<Plan> {
    let (id, hash, now) = (site.id.clone(), TokenHash::of(token), core.now());
    let stored: Option<String> = site
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select plan from stoa.redirect_session where site = $1 and hash = $2 and expires > $3";
                Ok(tx.row(sql, &params![&id, &hash, now], |row| row.get(0)).await?)
            })
        })
        .await?;
    let stored = stored.ok_or_else(|| Fault::new(Code::LinkInvalid))?;
    serde_json::from_str(&stored).map_err(Fault::internal)
}

/// A member who had just signed in when a redirect session was made.
pub(crate) struct SignedIn {
    pub member: MemberId,
    /// Whether no second factor is to be asked again in the browser that opens it.
    pub remembers: bool,
}

/// The first use of a redirect session, inside a transaction: whether it was unused, and who had just signed in.
pub(crate) async fn take(
    tx: &mut Tx<'_>,
    site: &Site,
    token: &TokenHash,
    now: Millis,
) -> Result<(bool, Option<SignedIn>)> {
    let sql = "update stoa.redirect_session set used = $1 where site = $2 and hash = $3 and used is null \
               and expires > $1 returning member, remembers";
    let read = |row: &Row<'_>| Ok((row.get::<Option<String>>(0)?, row.get::<i64>(1)? != 0));
    let found = tx.row(sql, &params![now, &site.id, token], read).await?;
    let is_first = found.is_some();
    let signed_in = found.and_then(|(member, remembers)| Some(SignedIn { member: member?.into(), remembers }));
    Ok((is_first, signed_in))
}
