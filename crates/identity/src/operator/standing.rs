//! Whether those who once called may still: asked by work that goes on after their request.

use crate::{Identity, operator::role::role_of, token::authenticate::is_impersonation_open};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, KeyId, Result, Role, SiteId, UserId, World};
use stoa_sql::params;
use stoa_store::{Credential, ReaderPool, Standing, Store, TxFuture, boxed};

/// The catalogue, which has the keys, the clients and the people of all sites.
struct Catalogue(Arc<Store>, World);

impl Identity {
    /// What knows whether callers are still who they were. It holds nothing of identity but the store and the clock.
    pub fn standing(&self) -> Arc<dyn Standing> {
        Arc::new(Catalogue(self.core.store().clone(), self.core.world().clone()))
    }
}

impl Standing for Catalogue {
    fn still<'t>(&'t self, site: &'t SiteId, caller: &'t Caller) -> TxFuture<'t, bool> {
        boxed!(match caller.bare() {
            Caller::App { id } => self.is_not_revoked(site, id).await,
            Caller::User { id, role, .. } => self.has_role(site, id, *role).await,
            Caller::Member { .. } | Caller::Visitor { .. } | Caller::Scoped(_) => Ok(false),
        })
    }

    fn holds<'t>(&'t self, site: &'t SiteId, credential: &'t Credential) -> TxFuture<'t, bool> {
        boxed!({
            let opened = match self.0.site(site).await {
                Err(fault) if fault.code() == Code::SiteUnknown => return Ok(false),
                found => found?,
            };
            if self.is_withdrawn(credential.subjects()).await? {
                return Ok(false);
            }
            let caller = credential.caller.bare();
            if let (Some(by), Caller::Member { session, .. }) = (credential.caller.impersonator(), caller) {
                return Ok(self.has_role(site, &by.owner, Role::Owner).await?
                    && is_impersonation_open(&opened, session, self.1.now()).await?);
            }
            match caller {
                Caller::Member { .. } | Caller::Visitor { .. } => Ok(true),
                caller => self.still(site, caller).await,
            }
        })
    }
}

impl Catalogue {
    /// Keys and clients are revoked and never deleted: an id that is neither's is the server's own.
    async fn is_not_revoked(&self, site: &SiteId, app: &KeyId) -> Result<bool> {
        let (site, app) = (site.clone(), app.clone());
        let sql = "select 1 from stoa.api_key where site = $1 and id = $2 and revoked is not null \
                   union all select 1 from stoa.client where site = $1 and id = $2 and revoked is not null limit 1";
        let revoked = self
            .0
            .catalog()
            .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![&site, &app], |_| Ok(())).await?)));
        Ok(revoked.await?.is_none())
    }

    /// Whether one of these was revoked: the same question as of a token when the list in memory is too old.
    async fn is_withdrawn(&self, subjects: [&str; 3]) -> Result<bool> {
        let [session, caller, client] = subjects.map(str::to_owned);
        let sql = "select 1 from stoa.revocation where subject = $1 or subject = $2 or subject = $3";
        let found = self.0.catalog().read(ReaderPool::Point, move |tx| {
            boxed!(Ok(tx.row(sql, &params![session, caller, client], |_| Ok(())).await?))
        });
        Ok(found.await?.is_some())
    }

    /// Whether a person may do on the site what they could with this role.
    async fn has_role(&self, site: &SiteId, person: &UserId, role: Role) -> Result<bool> {
        let (site, person) = (site.clone(), person.clone());
        let sql = "select role from stoa.person_role where person = $1 and site = $2";
        let now = self.0.catalog().read(ReaderPool::Point, move |tx| {
            boxed!(Ok(tx.row(sql, &params![&person, &site], |row| Ok(role_of(row.text(0)?))).await?))
        });
        Ok(now.await?.is_some_and(|it| it == Role::Owner || it == role))
    }
}
