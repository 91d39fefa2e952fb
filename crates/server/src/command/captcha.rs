//! Commands about a site's captcha. A provider is set here and nowhere else: the server goes wherever its
//! address leads.

use crate::{
    cli::{CaptchaSet, CaptchaVerb},
    failure::Failure,
    services::Services,
};
use serde_json::{Value, json};
use std::{io::Read, path::Path};
use stoa_identity::defence::{captcha_provider::ProviderSettings, captcha_widget};
use stoa_kernel::Secret;
use stoa_store::Site;

/// Bytes of the file that are read; secrets are far shorter.
const LARGEST: u64 = 10_000;

/// The file with the provider's secret.
pub fn file(verb: &CaptchaVerb) -> Option<&Path> {
    match verb {
        CaptchaVerb::Set(it) => Some(&it.secret_file),
        CaptchaVerb::Show | CaptchaVerb::Remove => None,
    }
}

pub async fn run(
    services: &Services,
    site: &Site,
    verb: &CaptchaVerb,
    input: Box<dyn Read + Send>,
) -> Result<Value, Failure> {
    match verb {
        CaptchaVerb::Show => show(services, site).await,
        CaptchaVerb::Set(it) => set(services, site, it, input).await,
        CaptchaVerb::Remove => remove(services, site).await,
    }
}

async fn set(
    services: &Services,
    site: &Site,
    wanted: &CaptchaSet,
    input: Box<dyn Read + Send>,
) -> Result<Value, Failure> {
    let secret = std::io::read_to_string(input.take(LARGEST)).map_err(|it| format!("the secret: {it}"))?;
    let settings = ProviderSettings {
        url: wanted.verify_url.clone(),
        // Files end with a new line.
        secret: Secret::new(secret.trim()),
        visible_key: wanted.visible_key.clone(),
        invisible_key: wanted.invisible_key.clone(),
        minimum_score: wanted.minimum_score,
        script_url: wanted.script_url.clone(),
    };
    services.identity.captcha_provider_set(site, &settings).await?;
    show(services, site).await
}

async fn remove(services: &Services, site: &Site) -> Result<Value, Failure> {
    services.identity.captcha_provider_remove(site).await?;
    show(services, site).await
}

async fn show(services: &Services, site: &Site) -> Result<Value, Failure> {
    let identity = &services.identity;
    let provider = identity.captcha_provider(site).await?;
    let mut shown = match &provider {
        Some(it) => captcha_widget::with_keys(it),
        None => identity.captcha_public(site).await?,
    };
    if let Some(it) = provider {
        shown["verifyUrl"] = json!(it.url);
        shown["minimumScore"] = json!(it.minimum_score);
    }
    shown["isRequired"] = json!(identity.policy(site).await?.require_captcha);
    Ok(shown)
}
