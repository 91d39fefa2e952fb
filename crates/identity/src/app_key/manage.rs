//! Keys made, imported, activated, shown and removed by those who run the server, and sealed again.

use super::{
    find::of_site,
    row::{AppKey, COLUMNS, KeyOrigin, KeyState, RETIRED_MOST, RETIRED_SHOWN, associated_data, from_row},
    rsa::RsaKey,
};
use crate::{Core, Identity, client::Client, token::revocation};
use serde_json::{Value, json};
use stoa_kernel::{ClientId, Code, Fault, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Tx, boxed};

impl Identity {
    /// The keys of an application, the oldest first.
    ///
    /// # Errors
    /// [`Code::NotFound`] when the site has no such application.
    pub async fn app_key_list(&self, site: &SiteId, app: &ClientId) -> Result<Vec<AppKey>> {
        let core = &self.core;
        let app = of_site(core, site, app).await?.id.clone();
        let since = core.now() - RETIRED_SHOWN;
        let read = core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(shown(tx, &app, since).await));
        read.await
    }

    /// Makes the next key of an application, of 2048 bits.
    ///
    /// # Errors
    /// [`Code::NotFound`] when the site has no such application; [`Code::AlreadyExists`] when it has a next key;
    /// [`Code::TooMany`]; [`Code::NotBuilt`] on a processor that lacks what this needs.
    pub async fn app_key_rotate(&self, site: &SiteId, app: &ClientId) -> Result<AppKey> {
        let core = &self.core;
        let app = of_site(core, site, app).await?;
        // One at a time, and whoever comes second finds the first one's before anything is made.
        let _turn = core.app_keys.making.lock().await;
        let (id, since) = (app.id.clone(), core.now() - RETIRED_SHOWN);
        let room = core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(check_room(tx, &id, since).await));
        room.await?;
        let key = tokio::task::spawn_blocking(RsaKey::make).await.map_err(Fault::internal)??;
        put_next(core, &app, &key, KeyOrigin::Made).await
    }

    /// Takes the private key of a PEM file (PKCS#8 or PKCS#1; 2048, 3072 or 4096 bits) as the next one.
    ///
    /// # Errors
    /// [`Code::Validation`] with what is wrong with the file; [`Code::AlreadyExists`] also for a key that some
    /// application has; else as for [`Identity::app_key_rotate`].
    pub async fn app_key_import(&self, site: &SiteId, app: &ClientId, pem: &str) -> Result<AppKey> {
        let core = &self.core;
        let app = of_site(core, site, app).await?;
        put_next(core, &app, &RsaKey::import(pem)?, KeyOrigin::Imported).await
    }

    /// Has the next key sign from now on, on every node. The one that did so is retired: its private half is deleted.
    /// `expected` is the key that is meant; when that one is active already, nothing is done.
    ///
    /// # Errors
    /// [`Code::NotFound`] when the site has no such application, it has no next key, or another than is meant.
    pub async fn app_key_activate(&self, site: &SiteId, app: &ClientId, expected: Option<&str>) -> Result<AppKey> {
        let core = &self.core;
        let app = of_site(core, site, app).await?;
        let now = core.now();
        let activated = core
            .store()
            .catalog()
            .write_with((app.id.clone(), expected.map(str::to_owned)), move |tx, (app, expected)| {
                boxed!(activate(tx, app, expected.as_deref(), now).await)
            });
        let activated = activated.await?;
        core.app_keys.forget(&app.id);
        // Also when nothing was done: another call may have done it and still wait for the other nodes.
        revocation::announce_all(core).await?;
        Ok(activated)
    }

    /// Removes a key that doesn't sign: the next one, so that another can be made, or a retired one, which isn't shown
    /// any more then.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Forbidden`] for the active key.
    pub async fn app_key_remove(&self, site: &SiteId, app: &ClientId, key: &str) -> Result<()> {
        let core = &self.core;
        let app = of_site(core, site, app).await?;
        let removed = core.store().catalog().write_with((app.id.clone(), key.to_owned()), |tx, (app, key)| {
            boxed!({
                let sql = "select state from stoa.app_key where client = $1 and id = $2";
                let state = tx.row(sql, &params![app, key], |row| row.get::<String>(0)).await?;
                match state.as_deref() {
                    None => return Err(Fault::because(Code::NotFound, "The application has no such key.")),
                    Some("ACTIVE") => {
                        let why = "The active key can't be removed; activate another one first, or revoke the client.";
                        return Err(Fault::because(Code::Forbidden, why));
                    }
                    Some(_) => {}
                }
                tx.send("delete from stoa.app_key where client = $1 and id = $2", params![app, key]).await?;
                Ok(())
            })
        });
        removed.await
    }

    /// The public keys of an application (RFC 7517), for everyone: `{"keys": […]}`, with one that follows and those
    /// that were retired lately.
    ///
    /// # Errors
    /// [`Code::NotFound`] when there is no such application.
    pub async fn app_jwks(&self, app: &ClientId) -> Result<Value> {
        let core = &self.core;
        let missing = || Fault::because(Code::NotFound, "There is no such application.");
        // No id of ours is longer, or holds U+0000, and one engine refuses to look for that.
        if app.as_str().len() > 100 || app.as_str().contains('\0') {
            return Err(missing());
        }
        let (app, since) = (app.clone(), core.now() - RETIRED_SHOWN);
        let keys = core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select 1 from stoa.client c join stoa.site s on s.id = c.site where c.id = $1 \
                           and c.revoked is null and c.secret_hash is not null and s.deleted is null";
                if tx.row(sql, &params![&app], |_| Ok(())).await?.is_none() {
                    return Ok(None);
                }
                shown(tx, &app, since).await.map(Some)
            })
        });
        let keys: Vec<Value> = keys.await?.ok_or_else(missing)?.iter().map(|it| it.public.jwk(&it.id)).collect();
        Ok(json!({ "keys": keys }))
    }
}

/// The keys of an application in the order in which they sign, but for those that were retired before a time.
async fn shown(tx: &mut Tx<'_>, app: &ClientId, since: Millis) -> Result<Vec<AppKey>> {
    let sql = format!(
        "select {COLUMNS} from stoa.app_key where client = $1 and (retired is null or retired > $2) \
         order by retired is null, retired, activated is null, activated, created, id"
    );
    Ok(tx.rows(&sql, &params![app, since], from_row).await?)
}

/// Whether an application may get a next key.
async fn check_room(tx: &mut Tx<'_>, app: &ClientId, since: Millis) -> Result<()> {
    let keys = shown(tx, app, since).await?;
    if let Some(next) = keys.iter().find(|it| it.state == KeyState::Next) {
        return Err(has_next(&next.id));
    }
    if keys.iter().filter(|it| it.state == KeyState::Retired).count() >= RETIRED_MOST {
        let why = format!("The application has {RETIRED_MOST} retired keys that are still shown; remove some of them.");
        return Err(Fault::because(Code::TooMany, why));
    }
    Ok(())
}

fn has_next(key: &str) -> Fault {
    let why = format!("The application has a next key ({key}); activate or remove it first.");
    Fault::because(Code::AlreadyExists, why).with("key", key)
}

async fn put_next(core: &Core, app: &Client, key: &RsaKey, origin: KeyOrigin) -> Result<AppKey> {
    let public = key.public();
    let id = public.id();
    let about = associated_data(&app.id, &id);
    let sealed = core.ciphers.app_key.encrypt(core.world(), &about, key.private().expose())?;
    let key = AppKey {
        id,
        app: app.id.clone(),
        state: KeyState::Next,
        origin,
        created: core.now(),
        activated: None,
        retired: None,
        public,
    };
    let put = core.store().catalog().write_with((key.clone(), app.site.clone(), sealed), |tx, (key, site, sealed)| {
        boxed!({
            check_room(tx, &key.app, key.created - RETIRED_SHOWN).await?;
            let sql = "insert into stoa.app_key (id, client, site, state, origin, modulus, exponent, sealed, created) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing";
            let row = params![
                &key.id,
                &key.app,
                site,
                key.state.as_str(),
                key.origin.as_str(),
                key.public.modulus.clone(),
                key.public.exponent.clone(),
                sealed.clone(),
                key.created
            ];
            match tx.execute(sql, &row).await? {
                0 => Err(taken(tx, key).await?),
                _ => Ok(()),
            }
        })
    });
    put.await?;
    Ok(key)
}

/// Why a key was not written.
async fn taken(tx: &mut Tx<'_>, key: &AppKey) -> Result<Fault> {
    let sql = "select client from stoa.app_key where id = $1";
    let owner = tx.row(sql, &params![&key.id], |row| Ok(ClientId::from(row.text(0)?))).await?;
    let why = match owner {
        Some(owner) if owner == key.app => "The application has this key already.",
        Some(_) => "Another application has this key: what is signed for the one would pass at the other.",
        // Another call was faster; the next run finds its key.
        None => return Ok(tx.again("another key was made")),
    };
    Ok(Fault::because(Code::AlreadyExists, why).with("key", key.id.as_str()))
}

async fn activate(tx: &mut Tx<'_>, app: &ClientId, expected: Option<&str>, now: Millis) -> Result<AppKey> {
    let sql = format!("select {COLUMNS} from stoa.app_key where client = $1 and state = $2");
    let active = tx.row(&sql, &params![app, KeyState::Active.as_str()], from_row).await?;
    if let (Some(active), Some(expected)) = (&active, expected)
        && active.id == expected
    {
        return Ok(active.clone());
    }
    let next = tx.row(&sql, &params![app, KeyState::Next.as_str()], from_row).await?;
    let none = "The application has no next key; make or import one first.";
    let next = next.ok_or_else(|| Fault::because(Code::NotFound, none))?;
    if expected.is_some_and(|it| it != next.id) {
        let why = format!("The next key of the application is another one ({}).", next.id);
        return Err(Fault::because(Code::NotFound, why).with("key", next.id.as_str()));
    }
    // The order matters: at no moment are there two active keys.
    let sql = "update stoa.app_key set state = $1, retired = $2, sealed = null where client = $3 and state = $4";
    tx.send(sql, params![KeyState::Retired.as_str(), now, app, KeyState::Active.as_str()]).await?;
    let sql = "update stoa.app_key set state = $1, activated = $2 where id = $3";
    tx.send(sql, params![KeyState::Active.as_str(), now, &next.id]).await?;
    Ok(AppKey { state: KeyState::Active, activated: Some(now), ..next })
}

/// Puts the private halves under the current sealing key, and answers how many were under others.
pub(crate) async fn reseal(core: &Core) -> Result<u64> {
    let cipher = &core.ciphers.app_key;
    let mut sealed = 0;
    for (id, app, old) in others(core).await? {
        let about = associated_data(&app, &id);
        let Some(private) = cipher.decrypt(&about, &old) else { continue };
        let new = cipher.encrypt(core.world(), &about, &private)?;
        // One that is retired or removed meanwhile stays so.
        let put = core.store().catalog().append_with((id, old, new), |tx, (id, old, new)| {
            boxed!({
                let sql = "update stoa.app_key set sealed = $1 where id = $2 and sealed = $3";
                Ok(tx.execute(sql, &params![new.clone(), id, old.clone()]).await?)
            })
        });
        sealed += put.await?;
    }
    Ok(sealed)
}

/// How many private halves are under older sealing keys.
pub(crate) async fn left(core: &Core) -> Result<u64> {
    Ok(others(core).await?.len() as u64)
}

/// The private halves that are under older sealing keys: of each application there are two at most.
async fn others(core: &Core) -> Result<Vec<(String, ClientId, Vec<u8>)>> {
    let read = core.store().catalog().read(ReaderPool::Scan, |tx| {
        boxed!({
            let sql = "select id, client, sealed from stoa.app_key where sealed is not null order by id";
            let each = |row: &Row<'_>| Ok((row.get(0)?, ClientId::from(row.text(1)?), row.get(2)?));
            Ok(tx.rows(sql, &[], each).await?)
        })
    });
    let all: Vec<(String, ClientId, Vec<u8>)> = read.await?;
    Ok(all.into_iter().filter(|it| !core.ciphers.app_key.is_current(&it.2)).collect())
}
