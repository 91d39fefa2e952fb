//! Commands about a site's captcha. A provider is set here and nowhere else: the server goes wherever its
//! address leads.

use crate::{
    cli::CaptchaSet,
    services::{Services, sentence},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Read;
use stoa_identity::defence::captcha_provider::ProviderSettings;
use stoa_kernel::Secret;
use stoa_store::Site;
use tokio::runtime::Handle;

/// Bytes of the file that are read; secrets are far shorter.
const LARGEST: u64 = 10_000;

/// A provider as it travels to a running server. Its secret comes after it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    verify_url: String,
    visible_key: Option<String>,
    invisible_key: Option<String>,
    minimum_score: Option<f64>,
}

impl From<CaptchaSet> for Provider {
    fn from(set: CaptchaSet) -> Self {
        let CaptchaSet { verify_url, visible_key, invisible_key, minimum_score, .. } = set;
        Self { verify_url, visible_key, invisible_key, minimum_score }
    }
}

pub fn set(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    provider: Provider,
    input: Box<dyn Read + Send>,
) -> Result<Value, String> {
    let secret = std::io::read_to_string(input.take(LARGEST)).map_err(|it| format!("the secret: {it}"))?;
    let settings = ProviderSettings {
        url: provider.verify_url,
        // Files end with a new line.
        secret: Secret::new(secret.trim()),
        visible_key: provider.visible_key,
        invisible_key: provider.invisible_key,
        minimum_score: provider.minimum_score,
    };
    let set = runtime.block_on(services.identity.captcha_provider_set(site, &settings));
    set.map_err(sentence)?;
    runtime.block_on(show(services, site))
}

pub async fn remove(services: &Services, site: &Site) -> Result<Value, String> {
    services.identity.captcha_provider_remove(site).await.map_err(sentence)?;
    show(services, site).await
}

pub async fn show(services: &Services, site: &Site) -> Result<Value, String> {
    let identity = &services.identity;
    let provider = identity.captcha_provider(site).await.map_err(sentence)?;
    let mut shown = identity.captcha_public(site).await.map_err(sentence)?;
    if let Some(it) = provider {
        shown["verifyUrl"] = json!(it.url);
        shown["minimumScore"] = json!(it.minimum_score);
    }
    shown["isRequired"] = json!(identity.policy(site).await.map_err(sentence)?.require_captcha);
    Ok(shown)
}
