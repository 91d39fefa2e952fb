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
        let next = next.await?;
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
        let read = self.core.store().catalog().read(ReaderPool::Point, |tx| {
            boxed!({
                let mut keys = Vec::new();
                for purpose in Purpose::ALL {
                    let sql =
                        "select id, created, retired from stoa.signing_key where purpose = $1 order by created, id";
                    let values = params![purpose.name()];
                    let found = tx.rows(sql, &values, |row| {
                        let (id, created, retired) = (row.get(0)?, row.get(1)?, row.get(2)?);
                        Ok(TokenKey { purpose: purpose.name().to_owned(), id, created, retired })
                    });
                    keys.extend(found.await?);
                }
                Ok(keys)
            })
        });
        read.await
    }
}

/// Answers once this node and all others have the keys of the catalogue.
async fn read_everywhere(core: &Arc<Core>) -> Result<()> {
    revocation::read_signing_keys(core).await?;
    revocation::announce_all(core).await
}
