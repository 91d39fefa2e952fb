//! Refresh tokens that rotate (RFC 9700 section 4.14.2), for clients that asked as the standard says.
//!
//! Each use gives another token. A token that was used before is good for another [`GRACE`] still: answers
//! get lost, and several tabs refresh at once; all of them stay in one family. After that its use means
//! that there is a copy, and the family ends. Public SDK clients keep their first token for ever, so
//! theirs never rotate (docs/protocol/identity.md §4.4).
//!
//! Half of each further token says which session it is of, so that used ones can be forgotten: what is
//! of a session and not known was used before. Rows of a session are its first token, once that was used,
//! at most [`AGAIN`] unused ones and those that were used within [`GRACE`].

use crate::{
    Core, audit,
    session::{self, Session, SessionSelector},
    token::{self, Kind},
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Millis, Result, Secret, SessionId, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// How long a used token may come again.
pub const GRACE: Millis = 30_000;
/// How often at most, and so how many unused tokens a session has use for.
pub const AGAIN: i64 = 50;

/// What a rotation found. Not an error, so that what it writes is kept.
enum Rotation {
    Next(Option<Secret>),
    /// More often than [`AGAIN`] within the [`GRACE`]: this use is refused, and nothing else.
    TooOften,
    Reused,
}

/// The session of a refresh token, the first one or one that came by rotation, whether or not that is
/// still good.
pub(crate) async fn session_by_refresh(core: &Core, site: &Site, refresh: &str) -> Result<Option<Session>> {
    if let Some(session) = session::by_secret(core, site, Kind::Refresh, refresh).await? {
        return Ok(Some(session));
    }
    let is_ours = token::site_number(Kind::Refresh, refresh) == Some(site.number);
    let Some(bytes) = token::decode(refresh).filter(|_| is_ours) else { return Ok(None) };
    let (id, least, most) = (site.id.clone(), with_half(&bytes, [0; 16]), with_half(&bytes, [255; 16]));
    let sql = "select hash from stoa.session where site = $1 and hash between $2 and $3 and rotates = 1";
    let first: Option<Vec<u8>> = site
        .read(ReaderPool::Point, move |tx| {
            let values = params![&id, least.to_vec(), most.to_vec()];
            boxed!(Ok(tx.row(sql, &values, |row| row.get(0)).await?))
        })
        .await?;
    match first {
        Some(first) => session::find(core, site, first).await,
        None => Ok(None),
    }
}

/// Whether a token of a session could be exchanged now.
pub(crate) async fn is_good(core: &Core, site: &Site, session: &Session, refresh: &str) -> Result<bool> {
    if !session.rotates {
        return Ok(true);
    }
    let (site_id, id, hash) = (site.id.clone(), session.id.clone(), TokenHash::of(refresh));
    let stored = site.read(ReaderPool::Point, move |tx| boxed!(find(tx, &site_id, &id, &hash).await)).await?;
    Ok(stored.is_some_and(|it| !it.is_reuse(core.now())))
}

/// Takes a token of a rotating session and gives the next one; `issues` is off where the caller
/// expects the same one back, and then it is only checked.
///
/// # Errors
/// [`Code::OauthInvalidGrant`] for one that was used before: its sessions are ended.
pub(crate) async fn rotate(
    core: &Arc<Core>,
    site: &Site,
    session: &Session,
    refresh: &str,
    issues: bool,
) -> Result<Option<Secret>> {
    let number = site.number;
    let found = site
        .write_with(
            (core.clone(), site.id.clone(), session.id.clone(), TokenHash::of(refresh)),
            move |tx, (core, site, session, hash)| {
                boxed!({
                    let now = core.now();
                    let stored = find(tx, site, session, hash).await?;
                    let stored = stored.ok_or_else(|| Fault::new(Code::OauthInvalidGrant))?;
                    if stored.is_reuse(now) {
                        return Ok(Rotation::Reused);
                    }
                    if stored.is_too_often() {
                        return Ok(Rotation::TooOften);
                    }
                    if !issues {
                        return Ok(Rotation::Next(None));
                    }
                    let sql = "insert into stoa.refresh_token (site, hash, session, used, children, expires) \
                           values ($1, $2, $3, $4, 1, $5) on conflict (site, hash) do update set \
                           used = coalesce(refresh_token.used, $4), \
                           children = refresh_token.children + 1, expires = $5";
                    // The first one does not say whose it is.
                    let forgotten = if stored.is_first { stored.session_expires } else { now + GRACE };
                    tx.send(sql, params![site, hash, session, now, forgotten]).await?;
                    let next = token::encode(Kind::Refresh, number, &with_half(&stored.first, core.world().bytes()));
                    let sql = "insert into stoa.refresh_token (site, hash, session, children, expires) \
                           values ($1, $2, $3, 0, $4)";
                    let expires = now + core.config().session_life;
                    tx.send(sql, params![site, TokenHash::of(next.expose()), session, expires]).await?;
                    let sql = "delete from stoa.refresh_token where site = $1 and session = $2 and (expires < $3 \
                           or hash in (select hash from stoa.refresh_token where site = $1 and session = $2 \
                           and used is null order by expires desc, hash limit $4 offset $4))";
                    tx.send(sql, params![site, session, now, AGAIN]).await?;
                    Ok(Rotation::Next(Some(next)))
                })
            },
        )
        .await?;
    match found {
        Rotation::Next(next) => Ok(next),
        Rotation::TooOften => Err(Fault::new(Code::OauthInvalidGrant)),
        Rotation::Reused => {
            let family = SessionSelector::Family(session.root.clone());
            let input = (core.clone(), site.id.clone(), session.member.clone(), family.clone());
            session::end_in(core, site, Some(family), input, |tx, (core, site, member, family)| {
                boxed!({
                    let ended = family.end(tx, site, core.now()).await?;
                    let entry = audit::Entry::by_oneself(member, audit::Event::TokenReused);
                    audit::record(core, tx, site, entry).await?;
                    Ok(((), ended))
                })
            })
            .await?;
            Err(Fault::new(Code::OauthInvalidGrant).logged("a refresh token was used twice; its family is ended"))
        }
    }
}

/// What is stored of a refresh token of a session.
struct StoredToken {
    is_first: bool,
    /// The hash of the session's first token.
    first: [u8; 32],
    session_expires: Millis,
    /// When it was first used, if it was, and how often.
    row: Option<(Option<Millis>, i64)>,
}

impl StoredToken {
    fn is_reuse(&self, now: Millis) -> bool {
        match self.row {
            None => !self.is_first,
            Some((None, _)) => false,
            Some((Some(used), _)) => now - used > GRACE,
        }
    }

    fn is_too_often(&self) -> bool {
        self.row.is_some_and(|it| it.1 >= AGAIN)
    }
}

async fn find(tx: &mut Tx<'_>, site: &SiteId, session: &SessionId, hash: &TokenHash) -> Result<Option<StoredToken>> {
    let sql = "select s.hash, s.expires, t.used, t.children from stoa.session s \
               left join stoa.refresh_token t on t.site = s.site and t.session = s.id and t.hash = $1 \
               where s.site = $2 and s.id = $3";
    let values = params![hash, site, session];
    let found = tx.row(sql, &values, |row| {
        let children: Option<i64> = row.get(3)?;
        let used: Option<Millis> = row.get(2)?;
        Ok((row.get::<Vec<u8>>(0)?, row.get(1)?, children.map(|it| (used, it))))
    });
    let Some((first, session_expires, row)) = found.await? else { return Ok(None) };
    let first: [u8; 32] = first.try_into().map_err(|_| Fault::internal("a session's hash is not one"))?;
    Ok(Some(StoredToken { is_first: first.as_slice() == hash.to_vec(), first, session_expires, row }))
}

/// The first half of `bytes`, which says of which session a token is, and another second half.
fn with_half(bytes: &[u8; 32], second: [u8; 16]) -> [u8; 32] {
    let mut all = *bytes;
    all[16..].copy_from_slice(&second);
    all
}
