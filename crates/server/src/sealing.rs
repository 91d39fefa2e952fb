//! Sealing again what is under older keys, of all sites (decision 26).

use crate::{failure::Failure, services::Services};
use std::sync::Arc;
use stoa_identity::seal::Rotation;
use stoa_kernel::{Code, SiteId};
use stoa_store::Site;

/// Goes through everything piece by piece to the end of the rotation, tells how much was sealed again so far, and answers
/// how much that was. Cut off anywhere, nothing is lost.
pub async fn seal_again(services: &Services, rotation: &Rotation, mut tell: impl FnMut(u64)) -> Result<u64, Failure> {
    let (identity, content) = (&services.identity, &services.content);
    let mut sealed = identity.seal_catalog().await?;
    for id in site_ids(services).await? {
        let Some(site) = open(services, &id).await? else { continue };
        sealed += identity.seal_site(&site).await?;
        let before = sealed;
        sealed += content.seal_site(&site, &rotation.id, |count| tell(before + count)).await?;
        tell(sealed);
    }
    identity.seal_end(&rotation.id).await?;
    Ok(sealed)
}

pub async fn site_ids(services: &Services) -> Result<Vec<SiteId>, Failure> {
    Ok(services.store.sites_for_work().await?)
}

/// A site, one at a time: each may be a file. Nothing for one that is deleted meanwhile.
pub async fn open(services: &Services, id: &SiteId) -> Result<Option<Arc<Site>>, Failure> {
    match services.store.site_for_work(id).await {
        Ok(site) => Ok(Some(site)),
        Err(fault) if fault.code() == Code::SiteUnknown => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}
