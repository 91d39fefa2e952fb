//! `stoa key …`

use crate::{cli::KeyVerb, failure::Failure, services::Services};
use serde_json::{Value, json};
use stoa_identity::client::key::ApiKey;
use stoa_kernel::{Fault, KeyId, Scopes, Violation};
use stoa_store::Site;

pub async fn run(services: &Services, site: &Site, verb: &KeyVerb) -> Result<Value, Failure> {
    let identity = &services.identity;
    match verb {
        KeyVerb::Create { name, scope } => {
            let (key, secret) = identity.api_key_create_held(&site.id, name, scopes(scope)?).await?;
            let rights = print_rights(key.scopes.as_ref());
            Ok(json!({ "apiKey": secret.expose(), "siteId": site.id, "rights": rights }))
        }
        KeyVerb::List => {
            let keys = identity.api_key_list(&site.id).await?;
            let live = keys.into_iter().filter(|it| it.revoked.is_none());
            let view =
                |it: ApiKey| json!({ "keyId": it.id, "name": it.name, "rights": print_rights(it.scopes.as_ref()) });
            Ok(live.map(view).collect())
        }
        KeyVerb::Revoke { id } => {
            identity.api_key_revoke(&site.id, &KeyId::from(id.as_str())).await?;
            Ok(json!({ "revoked": id }))
        }
    }
}

/// The scopes of a command line; nothing when it names none, which means full rights.
///
/// # Errors
/// A violation for each that is none.
pub fn scopes(given: &[String]) -> Result<Option<Scopes>, Fault> {
    if given.is_empty() {
        return Ok(None);
    }
    Scopes::parse(given.iter().map(String::as_str)).map(Some).map_err(|faults| {
        let violation = |(at, why)| Violation::new(format!("scopes[{at}]"), "FORMAT", why);
        Fault::invalid(faults.into_iter().map(violation).collect())
    })
}

/// What a key or client may do, as it is printed.
pub fn print_rights(scopes: Option<&Scopes>) -> Value {
    scopes.map_or_else(|| json!("full rights"), |it| json!(it.texts()))
}
