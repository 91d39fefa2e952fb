//! Rotation of the keys with which is sealed what must be read again (decision 26): messages that wait, secrets of
//! captcha and identity providers, private keys of applications, secrets of webhook endpoints and of members' authenticators.
//!
//! A rotation makes a new key for each purpose at once, and what is under older keys is then sealed again piece by piece.
//! Until then it is read with the key that it names. So a rotation may be cut off anywhere: what is done stays, and who
//! asks for a rotation again goes on with the one that has not finished. Encrypted fields of items are sealed with keys of
//! their sites; `stoa_content` does the same with them, under the same rotation.
//!
//! ```text
//! seal_begin ──▶ seal_catalog ──▶ for each site: seal_site, Content::seal_site ──▶ seal_end … seal_forget
//! ```

use crate::{
    Core, Identity, app_key,
    defence::captcha_provider,
    encryption::{self, Purpose},
    factor::{self, Realm},
    mail, provider,
    token::{
        key_lease::{self, KeyLease, KeyTask},
        revocation,
    },
    webhook,
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Millis, Result};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// What was begun before a node heard of a rotation may still be sealed with the key before it. After this time there is no
/// such thing, and keys under which nothing is left may go.
const SETTLED: Millis = 60 * 60_000;

/// A rotation of all sealing keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    pub id: String,
    /// UTC milliseconds.
    pub started: Millis,
    /// When all that was under older keys had been sealed again.
    pub finished: Option<Millis>,
}

/// A key of the catalogue as status shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealingKey {
    /// For example `mail`.
    pub purpose: String,
    pub id: String,
    /// UTC milliseconds.
    pub created: Millis,
    /// Since when it seals nothing any more.
    pub retired: Option<Millis>,
    /// For the one that seals, when it is old enough to be followed by another; nothing where keys aren't replaced by age.
    pub rotates: Option<Millis>,
}

/// What is sealed under older keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    pub messages: u64,
    pub captcha_secrets: u64,
    pub webhook_secrets: u64,
    pub factor_secrets: u64,
    pub provider_secrets: u64,
}

impl Identity {
    /// Begins a rotation: makes new keys, with which every node seals when this answers. While another has not finished,
    /// that one goes on, and nothing is made.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn seal_begin(&self) -> Result<Rotation> {
        let core = &self.core;
        let begun = core.store().catalog().write_with(core.clone(), |tx, core| boxed!(begin(core, tx).await)).await?;
        core.ciphers.reload(core.store().catalog()).await?;
        // Also when it was begun before: who began it may have been cut off before the others heard of it.
        revocation::announce_all(core).await?;
        Ok(begun)
    }

    /// Begins a rotation as [`Identity::seal_begin`] does where a key is older than the configuration has it, or goes on
    /// with one that was cut off, on one node at a time; answers nothing where there is neither, or another node is at it.
    /// Who gets a lease renews it, and ends it when all is done. For the housekeeping of a running server.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn seal_begin_by_age(&self) -> Result<Option<(KeyLease, Rotation)>> {
        if self.core.config().sealing_key_age == 0 {
            return Ok(None);
        }
        key_lease::look(&self.core, KeyTask::Seal).await?;
        if !is_due(self).await? {
            return Ok(None);
        }
        let Some(lease) = key_lease::claim(&self.core, KeyTask::Seal).await? else { return Ok(None) };
        // Another node may have come to its end since.
        let begun = match is_due(self).await {
            Ok(true) => self.seal_begin().await.map(Some),
            other => other.map(|_| None),
        };
        match begun {
            Ok(Some(rotation)) => Ok(Some((lease, rotation))),
            other => {
                lease.end().await?;
                other.map(|_| None)
            }
        }
    }

    /// Seals again what the catalogue has under older keys, and answers how much that was.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn seal_catalog(&self) -> Result<u64> {
        let keys = app_key::reseal(&self.core).await?;
        Ok(keys + factor::reseal(&self.core, Realm::of_operators(&self.core)).await?)
    }

    /// The same for what a site has.
    ///
    /// # Errors
    /// What the site's database answers.
    pub async fn seal_site(&self, site: &Site) -> Result<u64> {
        let messages = mail::reseal(&self.core, site).await?;
        let captcha = u64::from(captcha_provider::reseal(&self.core, site).await?);
        let webhooks = webhook::reseal(&self.core, site).await?;
        let providers = provider::reseal(&self.core, site).await?;
        let factors =
            factor::reseal(&self.core, Realm::of_site(site)).await? + factor::push::reseal(&self.core, site).await?;
        Ok(messages + captcha + webhooks + providers + factors)
    }

    /// Says that all that was under older keys has been sealed again.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn seal_end(&self, rotation: &str) -> Result<()> {
        let now = self.core.now();
        let ended = self.core.store().catalog().write_with(rotation.to_owned(), move |tx, id| {
            boxed!({
                let sql = "update stoa.seal_rotation set finished = $1 where id = $2 and finished is null";
                tx.send(sql, params![now, id]).await?;
                Ok(())
            })
        });
        ended.await
    }

    /// The rotation that was begun last, if there was any, and all keys of the catalogue, by purpose and age.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn seal_status(&self) -> Result<(Option<Rotation>, Vec<SealingKey>)> {
        let age = Some(self.core.config().sealing_key_age).filter(|it| *it > 0);
        let read = self.core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let mut keys = Vec::new();
                for purpose in Purpose::ALL {
                    let sql =
                        "select id, created, retired from stoa.signing_key where purpose = $1 order by created, id";
                    let each = |row: &Row<'_>| {
                        let (purpose, created): (_, Millis) = (purpose.name().to_owned(), row.get(1)?);
                        let retired: Option<Millis> = row.get(2)?;
                        let rotates = age.filter(|_| retired.is_none()).map(|it| created.saturating_add(it));
                        Ok(SealingKey { purpose, id: row.get(0)?, created, retired, rotates })
                    };
                    keys.extend(tx.rows(sql, &params![purpose.name()], each).await?);
                }
                Ok((last(tx).await?, keys))
            })
        });
        read.await
    }

    /// How many private keys of applications are under older keys, and how many secrets of authenticators of those who run sites.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn seal_left_catalog(&self) -> Result<(u64, u64)> {
        let factors = factor::left(&self.core, Realm::of_operators(&self.core)).await?;
        Ok((app_key::left(&self.core).await?, factors))
    }

    /// What a site has under older keys.
    ///
    /// # Errors
    /// What the site's database answers.
    pub async fn seal_left(&self, site: &Site) -> Result<Left> {
        let messages = mail::left(&self.core, site).await?;
        let captcha_secrets = u64::from(captcha_provider::is_left(&self.core, site).await?);
        let webhook_secrets = webhook::left(&self.core, site).await?;
        let (messages, factor_secrets) =
            (u64::try_from(messages).unwrap_or_default(), factor::left(&self.core, Realm::of_site(site)).await?);
        let factor_secrets = factor_secrets + factor::push::left(&self.core, site).await?;
        let provider_secrets = provider::left(&self.core, site).await?;
        Ok(Left { messages, captcha_secrets, webhook_secrets, factor_secrets, provider_secrets })
    }

    /// Deletes the keys that seal nothing any more, and answers how many there were. Who asks has made sure that nothing
    /// is left under them.
    ///
    /// # Errors
    /// [`Code::Forbidden`] while a rotation has not finished, or has an hour ago at most.
    pub async fn seal_forget(&self) -> Result<u64> {
        let now = self.core.now();
        let forgotten = self.core.store().catalog().write_with((), move |tx, ()| {
            boxed!({
                match last(tx).await? {
                    Some(Rotation { finished: None, .. }) => {
                        return Err(refused("A rotation has not finished; go on with it first: stoa seal rotate"));
                    }
                    Some(Rotation { finished: Some(finished), .. }) if finished > now - SETTLED => {
                        let why = "The last rotation finished less than an hour ago: what was begun before it may still be \
                                   sealed with an older key.";
                        return Err(refused(why));
                    }
                    _ => {}
                }
                let mut count = 0;
                for purpose in Purpose::ALL {
                    count += encryption::forget(tx, purpose, now - SETTLED).await?;
                }
                Ok(count)
            })
        });
        let count = forgotten.await?;
        self.core.ciphers.reload(self.core.store().catalog()).await?;
        Ok(count)
    }
}

async fn is_due(identity: &Identity) -> Result<bool> {
    let now = identity.core.now();
    Ok(match identity.seal_status().await? {
        // Who began it, also by command, is given time.
        (Some(Rotation { finished: None, started, .. }), _) => started <= now - SETTLED,
        (_, keys) => keys.iter().any(|it| it.rotates.is_some_and(|due| due <= now)),
    })
}

async fn begin(core: &Arc<Core>, tx: &mut Tx<'_>) -> Result<Rotation> {
    if let Some(unfinished) = last(tx).await?.filter(|it| it.finished.is_none()) {
        return Ok(unfinished);
    }
    for purpose in Purpose::ALL {
        encryption::renew(tx, core.world(), purpose).await?;
    }
    let rotation = Rotation { id: core.world().uuid(), started: core.now(), finished: None };
    let sql = "insert into stoa.seal_rotation (id, started) values ($1, $2)";
    tx.send(sql, params![&rotation.id, rotation.started]).await?;
    revocation::tell_of_keys(core, tx, &rotation.id).await?;
    Ok(rotation)
}

/// The rotation that has not finished, else the one that was begun last.
async fn last(tx: &mut Tx<'_>) -> Result<Option<Rotation>> {
    let sql = "select id, started, finished from stoa.seal_rotation \
               order by case when finished is null then 0 else 1 end, started desc, id desc limit 1";
    let each = |row: &Row<'_>| Ok(Rotation { id: row.get(0)?, started: row.get(1)?, finished: row.get(2)? });
    Ok(tx.row(sql, &[], each).await?)
}

fn refused(why: &str) -> Fault {
    Fault::because(Code::Forbidden, why)
}
