//! Whether a call may still do what it was let in for, once its hooks were asked: they take time, in which rights are
//! withdrawn. Who withdraws one is answered when no node grants it any more, so what goes on after a hook asks again.

use super::{CallHooks, request};
use crate::{
    RequestContext,
    collection::{self, Collection},
};
use std::sync::{Arc, atomic::Ordering};
use stoa_kernel::{Code, Fault, Result};
use stoa_store::Credential;

impl CallHooks {
    /// The collection as it is by now, whose levels are to be asked again where it isn't the same. Where nothing was
    /// withdrawn meanwhile, from anybody, this costs a look into memory.
    ///
    /// # Errors
    /// WDE0027 where what the caller was let in with is withdrawn, WDE0025 and WDE0026 where the collection is gone.
    pub(crate) async fn still(
        &self,
        context: RequestContext<'_>,
        collection: &Arc<Collection>,
    ) -> Result<Arc<Collection>> {
        let Some(active) = self.active.as_ref().filter(|it| it.is_asked.load(Ordering::Relaxed)) else {
            return Ok(collection.clone());
        };
        let RequestContext { content, site, caller, .. } = context;
        // The lease first, the number after it.
        site.withdrawals().held().await?;
        if *site.withdrawals().watch().borrow() == active.seen {
            return Ok(collection.clone());
        }
        if let Some(it) = content.state.standing.get() {
            let credential = Credential { caller: caller.clone(), grant: request::grant() };
            if !it.holds(site.principals(), &credential).await? {
                return Err(Fault::new(Code::PermissionDenied));
            }
        }
        collection::load(content, site, collection.id.as_str()).await
    }
}
