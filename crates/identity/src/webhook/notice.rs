//! A message to the owners of a site whose webhook endpoint was given up, and the name under which a site sends.

use crate::{
    Identity,
    mail::{self, Message, QueuedMessage, Task, enqueue},
    operator::owners::owners,
    token::site_names,
};
use stoa_kernel::{Result, SiteId};
use stoa_store::{Site, boxed};

impl Identity {
    /// Tells the owners of a site that nothing is sent any more to an endpoint, of which they are told the origin.
    ///
    /// # Errors
    /// When the catalogue can't be asked or the site's database can't be written.
    pub async fn webhook_disabled_notify(&self, site: &Site, endpoint: &str) -> Result<()> {
        let core = &self.core;
        let addresses: Vec<String> = owners(core, &site.id).await?.into_iter().map(|it| it.1).collect();
        let message = Message::WebhookDisabled { endpoint: endpoint.to_owned(), at: core.now() };
        let queued = site.append_with(
            (core.clone(), site.id.clone(), addresses, message),
            |tx, (core, site, addresses, message)| {
                boxed!({
                    for to in addresses {
                        let message = QueuedMessage {
                            to: to.clone(),
                            language: None,
                            own_language: None,
                            message: message.clone(),
                        };
                        enqueue(core, tx, site, None, &Task::Message(message)).await?;
                    }
                    Ok(())
                })
            },
        );
        queued.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(())
    }

    /// What a site is called where it issues tokens (RFC 7519 section 4.1.1).
    ///
    /// # Errors
    /// When the catalogue can't be asked.
    pub async fn issuer(&self, site: &SiteId) -> Result<String> {
        site_names::issuer(&self.core, site).await
    }
}
