//! Refresh tokens that rotate (RFC 9700 section 4.14.2), for clients that asked as the standard says.
//!
//! Each use gives another token. A token that was used before is good for another [`GRACE`] still: answers
//! get lost, and several tabs refresh at once; all of them stay in one family. After that its use means
//! that somebody has a copy, and the family ends. Public SDK clients keep their first token for ever, so
//! theirs never rotate (identity.md 4.4).

use crate::{
    Identity, audit,
    session::{Session, Which},
    token::{self, Kind},
};
use stoa_kernel::{Code, Fault, Millis, Result, Secret, TokenHash};
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};

/// How long a used token may come again.
pub const GRACE: Millis = 30_000;
/// How often at most.
const AGAIN: i64 = 50;
/// How long a used token is remembered.
const REMEMBERED: Millis = 30 * 24 * 60 * 60_000;

/// What a rotation found. Not an error, so that what it writes is kept.
enum Rotation {
    Next(Secret),
    Reused,
}

impl Identity {
    /// The session of a refresh token, the first one or one that came by rotation.
    pub(crate) async fn session_by_refresh(&self, site: &Site, refresh: &str) -> Result<Option<Session>> {
        if let Some(session) = self.session_by_secret(site, Kind::Refresh, refresh).await? {
            return Ok(Some(session));
        }
        if token::site_number(Kind::Refresh, refresh) != Some(site.number) {
            return Ok(None);
        }
        let (id, hash, now) = (site.id.clone(), TokenHash::of(refresh), self.now());
        let sql = "select session from stoa.refresh_token where site = $1 and hash = $2 and expires > $3";
        let session: Option<String> = site
            .read(Lane::Point, move |tx| boxed!(Ok(tx.row(sql, &params![&id, hash, now], |row| row.get(0)).await?)))
            .await?;
        match session {
            Some(session) => self.session_find(site, "s.id", session.into()).await,
            None => Ok(None),
        }
    }

    /// Takes a token of a rotating session and gives the next one; `issues` is off where the caller
    /// expects the same one back, and then it is only looked at.
    ///
    /// # Errors
    /// [`Code::OauthInvalidGrant`] for one that was used before: its sessions are ended.
    pub(crate) async fn refresh_rotate(
        &self,
        site: &Site,
        session: &Session,
        refresh: &str,
        issues: bool,
    ) -> Result<Option<Secret>> {
        let (me, number, site_id, session_id) = (self.clone(), site.number, site.id.clone(), session.id.clone());
        let (hash, now) = (TokenHash::of(refresh), self.now());
        let expires = now + self.config().session_life;
        let found = site
            .write(move |tx| {
                let (me, site, session, hash) = (me.clone(), site_id.clone(), session_id.clone(), hash.clone());
                boxed!({
                    let sql = "select used, children from stoa.refresh_token where site = $1 and hash = $2";
                    let read = |row: &stoa_store::Row<'_>| Ok((row.get::<Option<i64>>(0)?, row.get::<i64>(1)?));
                    let known = tx.row(sql, &params![&site, &hash], read).await?;
                    if let Some((Some(used), children)) = known
                        && (now - used > GRACE || children >= AGAIN)
                    {
                        return Ok(Rotation::Reused);
                    }
                    if !issues {
                        return Ok(Rotation::Next(Secret::new("")));
                    }
                    let sql = "insert into stoa.refresh_token (site, hash, session, used, children, expires) \
                               values ($1, $2, $3, $4, 1, $5) on conflict (site, hash) do update set \
                               used = coalesce(stoa.refresh_token.used, $4), \
                               children = stoa.refresh_token.children + 1, expires = $5";
                    let sql = sql.replace("stoa.refresh_token.", "refresh_token.");
                    tx.send(&sql, params![&site, &hash, &session, now, now + REMEMBERED]).await?;
                    let next = token::opaque(me.world(), Kind::Refresh, number);
                    let sql = "insert into stoa.refresh_token (site, hash, session, children, expires) \
                               values ($1, $2, $3, 0, $4)";
                    let hash = TokenHash::of(next.expose());
                    tx.send(sql, params![&site, hash, &session, expires]).await?;
                    Ok(Rotation::Next(next))
                })
            })
            .await?;
        match found {
            Rotation::Next(next) => Ok(Some(next).filter(|_| issues)),
            Rotation::Reused => {
                self.sessions_end(site, Which::Family(session.root.clone())).await?;
                let (me, id, member) = (self.clone(), site.id.clone(), session.member.clone());
                site.append(move |tx| {
                    let (me, id, member) = (me.clone(), id.clone(), member.clone());
                    boxed!({
                        let who = audit::oneself(&member);
                        audit::note(&me, tx, &id, audit::Event::TokenReused, &who, Some(&member), None).await
                    })
                })
                .await?;
                Err(Fault::new(Code::OauthInvalidGrant).logged("a refresh token was used twice; its family is ended"))
            }
        }
    }
}
