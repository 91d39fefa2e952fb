//! Signing for an application. Done when something is sent, never in a write: it takes a millisecond of a core.
//!
//! The active key is in memory, by the rules of withdrawals (decision 20): when an activation is answered, no node signs
//! with the key before it.

use super::{
    find::find,
    row::{KeyState, associated_data},
    rsa::RsaKey,
};
use crate::{Core, Identity};
use quick_cache::sync::Cache;
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{ClientId, Code, Fault, Millis, Result};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// A key in memory is looked for again after this long, in case a node crashed before it told of an activation.
const LIFE: Millis = 60_000;

/// Which key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningKey {
    /// The active one.
    Active,
    /// The one that follows it: so an application can try it before it is activated.
    Next,
}

/// The keys that sign, in the memory of this process.
pub(crate) struct Signers {
    active: Cache<ClientId, Arc<Signer>>,
    /// Held while a key is made: it keeps a core busy for a tenth of a second.
    pub(super) making: tokio::sync::Mutex<()>,
}

impl Signers {
    pub(crate) fn new() -> Self {
        Self { active: Cache::new(1024), making: tokio::sync::Mutex::default() }
    }

    pub(super) fn forget(&self, app: &ClientId) {
        self.active.remove(app);
    }
}

/// A key in memory.
struct Signer {
    id: String,
    key: RsaKey,
    /// The number of withdrawals before it was read, and when that was.
    withdrawals: u64,
    read_at: Millis,
}

/// What the catalogue has of a key.
struct Stored {
    id: String,
    sealed: Vec<u8>,
}

impl Identity {
    /// A compact JWS (RS256) of these claims for an application, with the key's id as `kid`. The claims are signed as
    /// they are: who asks says `aud`, `iat` and `exp`.
    ///
    /// # Errors
    /// [`Code::NotFound`] when there is no such application, or it has no such key; [`Code::Unavailable`] when this node
    /// has lost touch with the others.
    pub async fn app_sign(&self, app: &ClientId, key: SigningKey, claims: &Map<String, Value>) -> Result<String> {
        let signer = self.app_signer(app, key).await?;
        let claims = serde_json::to_vec(claims).map_err(Fault::internal)?;
        let signed = tokio::task::spawn_blocking(move || signer.token(&claims));
        signed.await.map_err(Fault::internal)?
    }

    /// What signs for an application at this moment, for who has a thread for it: to be asked for anew each time, as
    /// another key may sign the next.
    ///
    /// # Errors
    /// As for [`Identity::app_sign`].
    pub async fn app_signer(&self, app: &ClientId, key: SigningKey) -> Result<AppSigner> {
        let core = &self.core;
        let app = find(core, app).await?;
        let signer = match key {
            SigningKey::Active => active(core, &app.id).await?,
            SigningKey::Next => read(core, &app.id, KeyState::Next).await?,
        };
        Ok(AppSigner(signer))
    }
}

/// A key of an application that signs.
pub struct AppSigner(Arc<Signer>);

impl AppSigner {
    /// A compact JWS (RS256) of claims as they are, with the key's id as `kid`. It keeps a core busy for a millisecond.
    ///
    /// # Errors
    /// None that a caller can mend.
    pub fn token(&self, claims: &[u8]) -> Result<String> {
        self.0.key.token(&self.0.id, claims)
    }
}

async fn active(core: &Core, app: &ClientId) -> Result<Arc<Signer>> {
    core.store().withdrawals().held().await?;
    let (withdrawals, now) = (core.revocations.withdrawals(), core.now());
    if let Some(signer) = core.app_keys.active.get(app)
        && signer.withdrawals == withdrawals
        && (signer.read_at..signer.read_at + LIFE).contains(&now)
    {
        return Ok(signer);
    }
    let signer = read(core, app, KeyState::Active).await?;
    core.app_keys.active.insert(app.clone(), signer.clone());
    Ok(signer)
}

async fn read(core: &Core, app: &ClientId, state: KeyState) -> Result<Arc<Signer>> {
    let (withdrawals, read_at, key) = (core.revocations.withdrawals(), core.now(), app.clone());
    let found = core.store().catalog().read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select id, sealed from stoa.app_key where client = $1 and state = $2";
            let values = params![&key, state.as_str()];
            Ok(tx.row(sql, &values, |row| Ok(Stored { id: row.get(0)?, sealed: row.get(1)? })).await?)
        })
    });
    let missing = || match state {
        KeyState::Active => "The application has no active key; activate one first.",
        _ => "The application has no next key.",
    };
    let Stored { id, sealed } = found.await?.ok_or_else(|| Fault::because(Code::NotFound, missing()))?;
    let private = core.ciphers.app_key.open(core.store().catalog(), &associated_data(app, &id), &sealed).await?;
    let lost = || Fault::internal(format!("the key {id} of application {app} doesn't open"));
    let key = RsaKey::stored(&private.ok_or_else(lost)?)?;
    Ok(Arc::new(Signer { id, key, withdrawals, read_at }))
}
