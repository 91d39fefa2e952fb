//! `stoa seal …`: keys with which is sealed what must be read again.

use crate::{cli::SealVerb, failure::Failure, report::Output, services::Services};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_identity::seal::{Rotation, SealingKey};
use stoa_kernel::{Code, SiteId, date::iso_from_millis};
use stoa_store::Site;

pub async fn run(services: &Services, verb: SealVerb, output: &mut dyn Output) -> Result<Value, Failure> {
    match verb {
        SealVerb::Rotate => rotate(services, output).await,
        SealVerb::Status => status(services).await,
        SealVerb::Forget => forget(services).await,
    }
}

/// Goes through everything piece by piece. What another process does at the same time is not done twice.
async fn rotate(services: &Services, output: &mut dyn Output) -> Result<Value, Failure> {
    let (identity, content) = (&services.identity, &services.content);
    let rotation = identity.seal_begin().await?;
    let mut sealed = identity.seal_catalog().await?;
    for id in site_ids(services).await? {
        let Some(site) = open(services, &id).await? else { continue };
        sealed += identity.seal_site(&site).await?;
        let before = sealed;
        sealed += content.seal_site(&site, &rotation.id, |count| output.progress(&done(before + count))).await?;
        output.progress(&done(sealed));
    }
    identity.seal_end(&rotation.id).await?;
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
            "webhookSecrets": left.webhook_secrets, "factorSecrets": left.factor_secrets, "items": left.items },
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
    if let Some(retired) = key.retired {
        view["retired"] = json!(iso_from_millis(retired));
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
    items: u64,
}

impl Left {
    fn total(&self) -> u64 {
        self.messages + self.captcha_secrets + self.app_keys + self.webhook_secrets + self.factor_secrets + self.items
    }
}

async fn left(services: &Services) -> Result<Left, Failure> {
    let (identity, content) = (&services.identity, &services.content);
    let mut left = Left { app_keys: identity.seal_left_catalog().await?, ..Left::default() };
    for id in site_ids(services).await? {
        let Some(site) = open(services, &id).await? else { continue };
        let of_site = identity.seal_left(&site).await?;
        left.messages += of_site.messages;
        left.captcha_secrets += of_site.captcha_secrets;
        left.webhook_secrets += of_site.webhook_secrets;
        left.factor_secrets += of_site.factor_secrets;
        left.items += content.seal_left(&site).await?;
    }
    Ok(left)
}

async fn site_ids(services: &Services) -> Result<Vec<SiteId>, Failure> {
    Ok(services.store.sites_for_work().await?)
}

/// A site, one at a time: each may be a file. Nothing for one that is deleted meanwhile.
async fn open(services: &Services, id: &SiteId) -> Result<Option<Arc<Site>>, Failure> {
    match services.store.site_for_work(id).await {
        Ok(site) => Ok(Some(site)),
        Err(fault) if fault.code() == Code::SiteUnknown => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}
