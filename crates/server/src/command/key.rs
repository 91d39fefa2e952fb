//! `stoa key …`

use crate::{cli::KeyVerb, failure::Failure, services::Services};
use serde_json::{Value, json};
use stoa_kernel::KeyId;
use stoa_store::Site;

pub async fn run(services: &Services, site: &Site, verb: &KeyVerb) -> Result<Value, Failure> {
    let identity = &services.identity;
    match verb {
        KeyVerb::Create { name } => {
            let (_, secret) = identity.api_key_create(&site.id, name).await?;
            Ok(json!({ "apiKey": secret.expose(), "siteId": site.id }))
        }
        KeyVerb::List => {
            let keys = identity.api_key_list(&site.id).await?;
            let live = keys.into_iter().filter(|it| it.revoked.is_none());
            Ok(live.map(|it| json!({ "keyId": it.id, "name": it.name })).collect())
        }
        KeyVerb::Revoke { id } => {
            identity.api_key_revoke(&site.id, &KeyId::from(id.as_str())).await?;
            Ok(json!({ "revoked": id }))
        }
    }
}
