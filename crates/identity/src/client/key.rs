//! API keys: App callers on one site, with full rights or held to scopes. Only the hash of a key is stored.

use crate::{
    Identity, client,
    token::{self, revocation},
};
use stoa_kernel::{Code, Fault, KeyId, Millis, Result, Scopes, Secret, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// An API key as lists show it; the key itself is shown once, when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub site: SiteId,
    pub name: String,
    /// What it is held to; without, it has full rights.
    pub scopes: Option<Scopes>,
    pub created: Millis,
    pub revoked: Option<Millis>,
}

impl Identity {
    /// Makes a key with full rights. The secret is the text that goes into `Authorization`.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`]; [`Code::NameEmpty`].
    pub async fn api_key_create(&self, site: &SiteId, name: &str) -> Result<(ApiKey, Secret)> {
        self.api_key_create_held(site, name, None).await
    }

    /// Makes a key that is held to scopes, which never change.
    ///
    /// # Errors
    /// As [`Identity::api_key_create`].
    pub async fn api_key_create_held(
        &self,
        site: &SiteId,
        name: &str,
        scopes: Option<Scopes>,
    ) -> Result<(ApiKey, Secret)> {
        let core = &self.core;
        let name = client::check_name(name)?;
        let site = core.store.site(site).await?;
        let secret = token::opaque(core.world(), token::Kind::ApiKey, site.number);
        let key = ApiKey {
            id: KeyId::from(core.world().uuid()),
            site: site.id.clone(),
            name,
            scopes,
            created: core.now(),
            revoked: None,
        };
        core.store
            .catalog()
            .append_with((key.clone(), TokenHash::of(secret.expose())), move |tx, (row, hash)| {
                boxed!({
                    let sql = "insert into stoa.api_key (id, hash, site, name, created, scopes) \
                               values ($1, $2, $3, $4, $5, $6)";
                    let scopes = row.scopes.as_ref().map(Scopes::to_string);
                    tx.send(sql, params![&row.id, hash, &row.site, &row.name, row.created, scopes]).await?;
                    Ok(())
                })
            })
            .await?;
        Ok((key, secret))
    }

    /// The keys of a site, oldest first, revoked ones included.
    pub async fn api_key_list(&self, site: &SiteId) -> Result<Vec<ApiKey>> {
        let core = &self.core;
        let site = site.clone();
        core.store
            .catalog()
            .read(ReaderPool::Point, move |tx| {
                boxed!({
                    let sql = "select id, name, created, revoked, scopes from stoa.api_key where site = $1 \
                               order by created, id";
                    let values = params![&site];
                    let rows = tx.rows(sql, &values, |row| {
                        Ok(ApiKey {
                            id: KeyId::from(row.text(0)?),
                            site: site.clone(),
                            name: row.get(1)?,
                            created: row.get(2)?,
                            revoked: row.get(3)?,
                            scopes: row.get::<Option<String>>(4)?.as_deref().map(Scopes::among),
                        })
                    });
                    Ok(rows.await?)
                })
            })
            .await
    }

    /// Revokes a key: every node refuses it when this answers.
    ///
    /// # Errors
    /// [`Code::NotFound`] when the site has no such key.
    pub async fn api_key_revoke(&self, site: &SiteId, key: &KeyId) -> Result<()> {
        let core = &self.core;
        let (now, end) = (core.now(), revocation::end(core));
        core.store
            .catalog()
            .write_with((site.clone(), key.clone()), move |tx, (site, id)| {
                boxed!({
                    let sql = "update stoa.api_key set revoked = coalesce(revoked, $1) where site = $2 and id = $3";
                    if tx.execute(sql, &params![now, site, id]).await? == 0 {
                        return Err(Fault::new(Code::NotFound));
                    }
                    revocation::insert(tx, id.as_str(), now, end).await
                })
            })
            .await?;
        revocation::announce(core, key.as_str()).await
    }
}
