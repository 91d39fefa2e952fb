//! Rotation of the keys that sign tokens (decision 51): no member is signed out by it.
//!
//! ```text
//! next keys, which verify ──▶ every node has read them ──▶ they sign, those before verify ──▶ every node signs with them
//! ```
//!
//! So no node ever meets a token of a key that it doesn't know. By command both steps follow at once, since a key may have
//! leaked. By age (decision 56) [`NOTICE`] passes between them: who checks tokens by the list of keys has read it again by
//! then. Cut off in between, next keys of a command never sign, and go as retired ones do ([`crate::retention`]); those by
//! age sign at a later look.

use crate::{
    Core, Identity,
    token::{
        key_lease::{self, KeyTask},
        revocation,
        signing::{self, Purpose},
    },
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Millis, Result, limit::HOUR};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Tx, boxed};

/// How long a key that follows one by age is in the list of keys before it signs: shorter than the time between two looks.
const NOTICE: Millis = HOUR / 2;

/// A key that signs tokens, did, or is about to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenKey {
    /// For example `access`.
    pub purpose: String,
    /// The `kid` of its tokens.
    pub id: String,
    /// UTC milliseconds.
    pub created: Millis,
    /// Since when it only verifies.
    pub retired: Option<Millis>,
    /// For one that signs, when it is old enough to be followed by another; nothing where keys aren't replaced by age.
    pub rotates: Option<Millis>,
}

impl Identity {
    /// Makes new keys for all tokens, has every node sign with them, and answers their ids. Those before verify what they
    /// have signed for as long as such tokens live.
    ///
    /// # Errors
    /// What the catalogue answers, also when other nodes can't be waited for: asked again, it starts over.
    pub async fn token_keys_rotate(&self) -> Result<Vec<String>> {
        let core = &self.core;
        let next = core.store().catalog().write_with(core.clone(), |tx, core| {
            boxed!({
                let mut next = Vec::new();
                for purpose in Purpose::ALL {
                    next.push((purpose, signing::insert(tx, core.world(), purpose, Some(core.now())).await?));
                }
                revocation::tell_of_keys(core, tx, &core.world().uuid()).await?;
                Ok(next)
            })
        });
        sign_with(core, next.await?).await
    }

    /// The same for the purposes whose key is older than the configuration has it, in two looks: the first makes next keys,
    /// and one half an hour later at the earliest has them sign, and answers their ids. On one node at a time; answers
    /// nothing where there is nothing to do, or another node has the lease. For the housekeeping of a running server.
    ///
    /// # Errors
    /// As for [`Identity::token_keys_rotate`].
    pub async fn token_keys_rotate_by_age(&self) -> Result<Vec<String>> {
        let core = &self.core;
        if core.config().signing_key_age == 0 {
            return Ok(Vec::new());
        }
        key_lease::look(core, KeyTask::Tokens).await?;
        let keys = self.token_keys().await?;
        if !keys.iter().any(|it| it.rotates.is_some_and(|due| due <= core.now())) {
            return Ok(Vec::new());
        }
        let Some(lease) = key_lease::claim(core, KeyTask::Tokens).await? else { return Ok(Vec::new()) };
        let rotated = follow_old_ones(core).await;
        if let Err(fault) = lease.end().await {
            tracing::warn!("the lease on keys of tokens could not be ended, and ends by itself: {fault:?}");
        }
        rotated
    }

    /// Deletes a key that only verifies. When this answers, no node takes what it has signed.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Forbidden`] for a key that signs; what the catalogue answers.
    pub async fn token_key_delete(&self, id: &str) -> Result<()> {
        let core = &self.core;
        let deleted = core.store().catalog().write_with((core.clone(), id.to_owned()), |tx, (core, id)| {
            boxed!({
                let sql = "select retired from stoa.signing_key where id = $1";
                match tx.row(sql, &params![id], |row| row.get::<Option<Millis>>(0)).await? {
                    None => return Err(Fault::because(Code::NotFound, "There is no such key.")),
                    Some(None) => return Err(Fault::because(Code::Forbidden, "The key signs: rotate first.")),
                    Some(Some(_)) => {}
                }
                tx.send("delete from stoa.signing_key where id = $1", params![id]).await?;
                revocation::tell_of_keys(core, tx, &core.world().uuid()).await
            })
        });
        deleted.await?;
        read_everywhere(core).await
    }

    /// The keys of tokens, by purpose and age.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn token_keys(&self) -> Result<Vec<TokenKey>> {
        let age = Some(self.core.config().signing_key_age).filter(|it| *it > 0);
        let read = self.core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let mut keys = Vec::new();
                for purpose in Purpose::ALL {
                    let sql =
                        "select id, created, retired from stoa.signing_key where purpose = $1 order by created, id";
                    let values = params![purpose.name()];
                    let found = tx.rows(sql, &values, |row| {
                        let (id, created, retired): (_, Millis, Option<Millis>) =
                            (row.get(0)?, row.get(1)?, row.get(2)?);
                        let rotates = age.filter(|_| retired.is_none()).map(|it| created.saturating_add(it));
                        Ok(TokenKey { purpose: purpose.name().to_owned(), id, created, retired, rotates })
                    });
                    keys.extend(found.await?);
                }
                Ok(keys)
            })
        });
        read.await
    }
}

/// What becomes of a purpose whose key is too old.
enum Follow {
    /// A next key is made.
    Made,
    /// A next key signs from now on.
    Signs(String),
    /// Neither: its key is not too old, or the next one has not been in the list for long enough.
    Nothing,
}

/// Makes next keys where there are none, and has those sign that have been in the list for long enough: their ids.
async fn follow_old_ones(core: &Arc<Core>) -> Result<Vec<String>> {
    let decided = core.store().catalog().write_with(core.clone(), |tx, core| {
        boxed!({
            let (mut has_made, mut next) = (false, Vec::new());
            for purpose in Purpose::ALL {
                match follow(core, tx, purpose).await? {
                    Follow::Made => has_made = true,
                    Follow::Signs(id) => next.push((purpose, id)),
                    Follow::Nothing => {}
                }
            }
            if has_made {
                revocation::tell_of_keys(core, tx, &core.world().uuid()).await?;
            }
            Ok((has_made, next))
        })
    });
    match decided.await? {
        (_, next) if !next.is_empty() => sign_with(core, next).await,
        (true, _) => read_everywhere(core).await.map(|()| Vec::new()),
        _ => Ok(Vec::new()),
    }
}

async fn follow(core: &Core, tx: &mut Tx<'_>, purpose: Purpose) -> Result<Follow> {
    let (now, name) = (core.now(), purpose.name());
    let sql =
        "select created from stoa.signing_key where purpose = $1 and retired is null order by created desc limit 1";
    let signs = tx.row(sql, &params![name], |row| row.get::<Millis>(0)).await?;
    let Some(signs) = signs.filter(|it| *it <= now - core.config().signing_key_age) else { return Ok(Follow::Nothing) };
    // One that was retired later has signed, and may be known to others.
    let sql = "select id, created from stoa.signing_key where purpose = $1 and created > $2 and retired = created \
               order by created desc, id desc limit 1";
    let each = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<Millis>(1)?));
    match tx.row(sql, &params![name, signs], each).await? {
        Some((id, created)) if created <= now - NOTICE => Ok(Follow::Signs(id)),
        Some(_) => Ok(Follow::Nothing),
        None => signing::insert(tx, core.world(), purpose, Some(now)).await.map(|_| Follow::Made),
    }
}

/// Has next keys sign on every node, once every node knows them, and answers their ids. Those before verify.
async fn sign_with(core: &Arc<Core>, next: Vec<(Purpose, String)>) -> Result<Vec<String>> {
    read_everywhere(core).await?;
    let signing = core.store().catalog().write_with((core.clone(), next.clone()), |tx, (core, next)| {
        boxed!({
            for (purpose, id) in next {
                let sql = "update stoa.signing_key set retired = $1 where purpose = $2 and retired is null";
                tx.send(sql, params![core.now(), purpose.name()]).await?;
                let sql = "update stoa.signing_key set retired = null where id = $1";
                // Deleted meanwhile: the one before goes on signing.
                if tx.execute(sql, &params![id]).await? != 1 {
                    return Err(Fault::because(Code::Unavailable, "A key was deleted before it signed."));
                }
            }
            revocation::tell_of_keys(core, tx, &core.world().uuid()).await
        })
    });
    signing.await?;
    read_everywhere(core).await?;
    Ok(next.into_iter().map(|it| it.1).collect())
}

/// Answers once this node and all others have the keys of the catalogue.
async fn read_everywhere(core: &Arc<Core>) -> Result<()> {
    revocation::read_signing_keys(core).await?;
    revocation::announce_all(core).await
}
