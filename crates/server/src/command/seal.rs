//! `stoa seal …`: keys with which is sealed what must be read again.

use crate::{cli::SealVerb, failure::Failure, report::Output, sealing, services::Services};
use serde_json::{Value, json};
use stoa_identity::seal::{Rotation, SealingKey};
use stoa_kernel::{Code, date::iso_from_millis};

pub async fn run(services: &Services, verb: SealVerb, output: &mut dyn Output) -> Result<Value, Failure> {
    match verb {
        SealVerb::Rotate => rotate(services, output).await,
        SealVerb::Status => status(services).await,
        SealVerb::Forget => forget(services).await,
    }
}

/// Goes through everything piece by piece. What another process does at the same time is not done twice.
async fn rotate(services: &Services, output: &mut dyn Output) -> Result<Value, Failure> {
    let rotation = services.identity.seal_begin().await?;
    let sealed = sealing::seal_again(services, &rotation, |count| output.progress(&done(count))).await?;
    Ok(json!({ "rotation": rotation.id, "sealed": sealed, "left": left(services).await?.total() }))
}

fn done(count: u64) -> Value {
    json!({ "done": count })
}

async fn status(services: &Services) -> Result<Value, Failure> {
    let (rotation, keys) = services.identity.seal_status().await?;
    let left = left(services).await?;
    let has_finished = rotation.as_ref().is_none_or(|it| it.finished.is_some());
    let mut status = json!({
        "state": if has_finished && left.total() == 0 { "COMPLETE" } else { "ROTATING" },
        "left": { "messages": left.messages, "captchaSecrets": left.captcha_secrets, "appKeys": left.app_keys,
            "webhookSecrets": left.webhook_secrets, "factorSecrets": left.factor_secrets,
            "providerSecrets": left.provider_secrets, "items": left.items },
        "keys": keys.iter().map(view).collect::<Value>(),
    });
    if let Some(Rotation { id, started, finished }) = rotation {
        status["rotation"] = json!({ "id": id, "started": iso_from_millis(started) });
        if let Some(finished) = finished {
            status["rotation"]["finished"] = json!(iso_from_millis(finished));
        }
    }
    Ok(status)
}

fn view(key: &SealingKey) -> Value {
    let mut view = json!({ "purpose": key.purpose, "key": key.id, "created": iso_from_millis(key.created) });
    for (name, time) in [("retired", key.retired), ("rotates", key.rotates)] {
        if let Some(time) = time {
            view[name] = json!(iso_from_millis(time));
        }
    }
    view
}

async fn forget(services: &Services) -> Result<Value, Failure> {
    // What a deleted site has can't be looked at, and it may be restored.
    let kept = services.store.site_list(true).await?;
    if let Some(site) = kept.first() {
        let id = &site.id;
        let text =
            format!("the site {id} is deleted and can be restored for a while; older keys stay until it is gone");
        return Err(Failure::new(Code::Forbidden, text));
    }
    let left = left(services).await?.total();
    if left > 0 {
        let text = format!("{left} texts are under older keys; seal them again first: stoa seal rotate");
        return Err(Failure::new(Code::Forbidden, text));
    }
    Ok(json!({ "forgotten": services.identity.seal_forget().await? }))
}

/// What is sealed under older keys.
#[derive(Default)]
struct Left {
    messages: u64,
    captcha_secrets: u64,
    app_keys: u64,
    webhook_secrets: u64,
    factor_secrets: u64,
    provider_secrets: u64,
    items: u64,
}

impl Left {
    fn total(&self) -> u64 {
        self.messages
            + self.captcha_secrets
            + self.app_keys
            + self.webhook_secrets
            + self.factor_secrets
            + self.provider_secrets
            + self.items
    }
}

async fn left(services: &Services) -> Result<Left, Failure> {
    let (identity, content) = (&services.identity, &services.content);
    let (app_keys, factor_secrets) = identity.seal_left_catalog().await?;
    let mut left = Left { app_keys, factor_secrets, ..Left::default() };
    for id in sealing::site_ids(services).await? {
        let Some(site) = sealing::open(services, &id).await? else { continue };
        let of_site = identity.seal_left(&site).await?;
        left.messages += of_site.messages;
        left.captcha_secrets += of_site.captcha_secrets;
        left.webhook_secrets += of_site.webhook_secrets;
        left.factor_secrets += of_site.factor_secrets;
        left.provider_secrets += of_site.provider_secrets;
        left.items += content.seal_left(&site).await?;
    }
    Ok(left)
}
