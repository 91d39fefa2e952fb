//! Rotation of the keys that sign tokens (decision 51): no member is signed out by it.
//!
//! ```text
//! next keys, which verify ──▶ every node has read them ──▶ they sign, those before verify ──▶ every node signs with them
//! ```
//!
//! So no node ever meets a token of a key that it doesn't know. Cut off in between, the next keys never sign, and go as
//! retired ones do ([`crate::retention`]).

use crate::{
    Core, Identity,
    token::{
        key_lease::{self, KeyTask},
        revocation,
        signing::{self, Purpose},
    },
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Millis, Result};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// A key that signs tokens, or did.
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
        rotate(&self.core, Millis::MAX).await
    }

    /// The same for the purposes whose key is older than the configuration has it, on one node at a time; answers nothing
    /// where there is none, or another node is at it. For the housekeeping of a running server.
    ///
    /// # Errors
    /// As for [`Identity::token_keys_rotate`].
    pub async fn token_keys_rotate_by_age(&self) -> Result<Vec<String>> {
        let core = &self.core;
        let keys = self.token_keys().await?;
        if !keys.iter().any(|it| it.rotates.is_some_and(|due| due <= core.now())) {
            return Ok(Vec::new());
        }
        let Some(lease) = key_lease::claim(core, KeyTask::Tokens).await? else { return Ok(Vec::new()) };
        let rotated = rotate(core, core.now() - core.config().signing_key_age).await;
        lease.end().await?;
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

/// What [`Identity::token_keys_rotate`] does, for purposes whose key was made no later than `oldest`.
async fn rotate(core: &Arc<Core>, oldest: Millis) -> Result<Vec<String>> {
    let next = core.store().catalog().write_with(core.clone(), move |tx, core| {
        boxed!({
            let mut next = Vec::new();
            for purpose in Purpose::ALL {
                let sql = "select 1 from stoa.signing_key where purpose = $1 and retired is null and created > $2";
                if tx.row(sql, &params![purpose.name(), oldest], |_| Ok(())).await?.is_some() {
                    continue;
                }
                next.push((purpose, signing::insert(tx, core.world(), purpose, Some(core.now())).await?));
            }
            if !next.is_empty() {
                revocation::tell_of_keys(core, tx, &core.world().uuid()).await?;
            }
            Ok(next)
        })
    });
    let next = next.await?;
    if next.is_empty() {
        return Ok(Vec::new());
    }
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
