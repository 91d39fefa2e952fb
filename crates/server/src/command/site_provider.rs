//! `stoa site provider …`: connections of a site to identity providers.

use crate::{
    cli::{ProviderAdd, ProviderUpdate, SiteProviderVerb},
    failure::Failure,
    services::{Services, operator},
};
use serde_json::{Value, json};
use std::{io::Read, path::Path, sync::Arc};
use stoa_identity::provider::{CALLBACK, ConnectionChange, IdpConnection};
use stoa_store::Site;

/// Bytes of the file that are read; secrets are far shorter.
const LARGEST: u64 = 10_000;

/// The file with the client's secret.
pub fn file(verb: &SiteProviderVerb) -> Option<&Path> {
    match verb {
        SiteProviderVerb::Add(it) => Some(&it.client_secret_file),
        SiteProviderVerb::Update(it) => it.client_secret_file.as_deref(),
        SiteProviderVerb::List | SiteProviderVerb::Remove { .. } => None,
    }
}

pub async fn run(
    services: &Services,
    site: &Arc<Site>,
    verb: &SiteProviderVerb,
    input: Box<dyn Read + Send>,
) -> Result<Value, Failure> {
    let (identity, caller) = (&services.identity, operator());
    match verb {
        SiteProviderVerb::List => Ok(json!(identity.idp_connection_list(site, &caller).await?)),
        SiteProviderVerb::Add(it) => {
            let ProviderAdd { name, issuer, client_id, label, creates_members, links_by_email, .. } = it;
            // Read as a call's is, so that what is wrong is named alike.
            let change = ConnectionChange::parse(&json!({ "idpConnection": {
                "name": name, "issuer": issuer, "clientId": client_id, "clientSecret": secret(input)?, "label": label,
                "createsMembers": creates_members, "linksByEmail": links_by_email,
            } }))?;
            Ok(shown(services, &identity.idp_connection_create(site, &caller, change).await?))
        }
        SiteProviderVerb::Update(it) => {
            let ProviderUpdate { name, client_id, client_secret_file, label, creates_members, links_by_email, enabled } =
                it;
            let found = find(services, site, name).await?;
            let mut wanted = json!({ "clientId": client_id, "label": label, "createsMembers": creates_members,
                "linksByEmail": links_by_email, "isEnabled": enabled });
            let secret = secret(input)?;
            if client_secret_file.is_some() || !secret.is_empty() {
                wanted["clientSecret"] = json!(secret);
            }
            let change = ConnectionChange::parse(&json!({ "idpConnection": wanted }))?;
            Ok(shown(services, &identity.idp_connection_update(site, &caller, &found.id, change).await?))
        }
        SiteProviderVerb::Remove { name } => {
            let found = find(services, site, name).await?;
            identity.idp_connection_remove(site, &caller, &found.id).await?;
            Ok(json!({ "removed": found.id, "name": found.name }))
        }
    }
}

/// Files end with a new line.
fn secret(input: Box<dyn Read + Send>) -> Result<String, Failure> {
    let text = std::io::read_to_string(input.take(LARGEST)).map_err(|it| format!("the secret: {it}"))?;
    Ok(text.trim().to_owned())
}

async fn find(services: &Services, site: &Site, named: &str) -> Result<IdpConnection, Failure> {
    let all = services.identity.idp_connection_list(site, &operator()).await?;
    let found = all.into_iter().find(|it| it.name == named || it.id == named);
    found.ok_or_else(|| format!("the site has no connection {named}; see stoa site provider list").into())
}

/// With the address that is registered at the provider.
fn shown(services: &Services, connection: &IdpConnection) -> Value {
    json!({ "idpConnection": connection, "callbackUrl": format!("{}{CALLBACK}", services.url().trim_end_matches('/')) })
}
