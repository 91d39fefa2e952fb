//! `stoa client …`

use super::key::{print_rights, scopes};
use crate::{cli::ClientVerb, failure::Failure, services::Services};
use serde_json::{Value, json};
use stoa_identity::client::{Client, NewClient};
use stoa_kernel::ClientId;
use stoa_store::Site;

pub async fn run(services: &Services, site: &Site, verb: &ClientVerb) -> Result<Value, Failure> {
    let identity = &services.identity;
    match verb {
        ClientVerb::Create { name, redirect_uri, origin, secret, third_party, scope } => {
            let new = NewClient {
                name: name.clone(),
                redirect_uris: redirect_uri.clone(),
                origins: origin.clone(),
                with_secret: *secret,
                is_third_party: *third_party,
                scopes: scopes(scope)?,
            };
            let (client, secret) = identity.client_create(&site.id, new).await?;
            let mut value = json!({ "clientId": client.id, "siteId": site.id });
            if let Some(secret) = secret {
                value["clientSecret"] = json!(secret.expose());
            }
            if client.secret_hash.is_some() || client.bound().is_some() {
                value["rights"] = print_rights(client.bound().as_ref());
            }
            Ok(value)
        }
        ClientVerb::List => {
            let clients = identity.client_list(&site.id).await?;
            Ok(clients.into_iter().map(view).collect())
        }
        ClientVerb::Secret { id } => {
            let secret = identity.client_secret_renew(&site.id, &ClientId::from(id.as_str())).await?;
            Ok(json!({ "clientId": id, "clientSecret": secret.expose() }))
        }
        ClientVerb::Revoke { id } => {
            identity.client_revoke(&site.id, &ClientId::from(id.as_str())).await?;
            Ok(json!({ "revoked": id }))
        }
    }
}

fn view(client: Client) -> Value {
    json!({
        "clientId": client.id, "name": client.name, "redirectUris": client.redirect_uris,
        "origins": client.origins, "thirdParty": client.is_third_party,
        "rights": print_rights(client.bound().as_ref()),
    })
}
