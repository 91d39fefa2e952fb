//! Applications: clients with a secret.

use crate::{
    Core,
    client::{self, Client},
};
use std::sync::Arc;
use stoa_kernel::{ClientId, Code, Fault, Result, SiteId};

/// An application of a site.
pub(super) async fn of_site(core: &Core, site: &SiteId, app: &ClientId) -> Result<Arc<Client>> {
    let app = find(core, app).await?;
    if app.site == *site { Ok(app) } else { Err(unknown_app()) }
}

/// An application, which is a client with a secret.
pub(super) async fn find(core: &Core, app: &ClientId) -> Result<Arc<Client>> {
    match client::get(core, app).await {
        Ok(app) if app.secret_hash.is_some() => Ok(app),
        Ok(_) => Err(unknown_app()),
        Err(fault) if fault.code() == Code::ClientUnknown => Err(unknown_app()),
        Err(fault) => Err(fault),
    }
}

fn unknown_app() -> Fault {
    Fault::because(Code::NotFound, "The site has no application with this id; a client with a secret is one.")
}
