//! `stoa tokens …`: keys with which tokens are signed.

use crate::{cli::TokensVerb, failure::Failure, services::Services};
use serde_json::{Value, json};
use stoa_identity::token::signing_rotation::TokenKey;
use stoa_kernel::date::iso_from_millis;

pub async fn run(services: &Services, verb: &TokensVerb) -> Result<Value, Failure> {
    match verb {
        TokensVerb::Rotate => Ok(json!({ "keys": services.identity.token_keys_rotate().await? })),
        TokensVerb::Status => Ok(services.identity.token_keys().await?.iter().map(view).collect()),
        TokensVerb::Delete { key } => {
            services.identity.token_key_delete(key).await?;
            Ok(json!({ "key": key, "deleted": true }))
        }
    }
}

fn view(key: &TokenKey) -> Value {
    let state = if key.retired.is_some() { "VERIFIES" } else { "SIGNS" };
    let mut view =
        json!({ "purpose": key.purpose, "key": key.id, "state": state, "created": iso_from_millis(key.created) });
    for (name, time) in [("retired", key.retired), ("rotates", key.rotates)] {
        if let Some(time) = time {
            view[name] = json!(iso_from_millis(time));
        }
    }
    view
}
