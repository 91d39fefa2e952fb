//! A captcha provider of a site: any that answers as `siteverify` does (`stoa_outbound::Siteverifier`).
//!
//! Only the operator of the server sets one; the server calls its address by the way out (`stoa_outbound::Reach`), as
//! it calls every address that it was given. The secret is encrypted
//! for its site and address, so that write access to the tables is not enough to have it sent to another one; it is
//! decrypted when a question is asked, and nothing shows it.
//!
//! What the provider says of host and action is not compared with anything: pages of a site may lie
//! anywhere, and which of them may show its widget is said and checked at the provider, by key.

use crate::{Core, defence::captcha_script, encryption::Cipher};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result, Secret, SiteId, Violation, World};
use stoa_outbound::{Reach, Siteverifier, Siteverify, SiteverifyLimits, Verdict};
use stoa_store::{Database, ReaderPool, Site, Tx, boxed, setting};

/// The kind of captcha without a third party, as clients see it.
pub(crate) const WORK: &str = "PROOF_OF_WORK";
const PROVIDER: &str = "PROVIDER";
pub(super) const SETTING: &str = "captcha provider";
/// The longest answer (docs/protocol/identity.md §6).
pub(super) const LONGEST: usize = 5_000;
const LONGEST_KEY: usize = 200;
const LONGEST_SECRET: usize = 1_000;

/// What a provider is set to.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// Where tokens are checked: `https://…/siteverify`.
    pub url: String,
    pub secret: Secret,
    /// Public key of the widget that a person sees.
    pub visible_key: Option<String>,
    /// Public key of the one that works unseen.
    pub invisible_key: Option<String>,
    /// Answers with a lower score, or none, are refused: for providers whose every answer is a success.
    pub minimum_score: Option<f64>,
    /// The script that draws the widget on the account pages, for providers whose script isn't known.
    pub script_url: Option<String>,
}

/// A site's provider, as it is stored.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    pub url: String,
    pub visible_key: Option<String>,
    pub invisible_key: Option<String>,
    pub minimum_score: Option<f64>,
    pub script_url: Option<String>,
    /// Encrypted, and in base64.
    secret: String,
}

/// Asks the providers of all sites.
pub(crate) struct ProviderClient {
    cipher: Arc<Cipher>,
    siteverifier: Siteverifier,
}

impl Provider {
    /// What clients need of it, and all may know.
    pub fn public(&self) -> Value {
        json!({ "kind": PROVIDER, "visibleSiteKey": self.visible_key, "invisibleSiteKey": self.invisible_key })
    }
}

impl ProviderSettings {
    fn check(&self, siteverifier: &Siteverifier) -> Result<()> {
        let mut wrong = Vec::new();
        let mut refuse = |field: &str, why: &str| wrong.push(Violation::new(field, "FORMAT", why));
        if let Err(why) = siteverifier.check(&self.url) {
            refuse("url", &why);
        }
        let is_word =
            |it: &str, longest| (1..=longest).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_graphic());
        if !is_word(self.secret.expose(), LONGEST_SECRET) {
            refuse("secret", "the secret is one word of printable characters");
        }
        for (field, key) in [("visibleSiteKey", &self.visible_key), ("invisibleSiteKey", &self.invisible_key)] {
            if key.as_deref().is_some_and(|it| !is_word(it, LONGEST_KEY)) {
                refuse(field, "a site key is one word of printable characters");
            }
        }
        if self.visible_key.is_none() && self.invisible_key.is_none() {
            refuse("visibleSiteKey", "a visible or an invisible site key is needed, or no page can show a widget");
        }
        if let Some(score) = self.minimum_score {
            if !(0.0..=1.0).contains(&score) {
                refuse("minimumScore", "a number from 0 to 1 is expected");
            } else if let Err(why) = captcha_script::check_scored(&self.url, self.invisible_key.is_some()) {
                refuse("minimumScore", why);
            }
        }
        if let Some(script) = &self.script_url {
            let checked = captcha_script::check_script(&self.url, script).and_then(|()| siteverifier.check(script));
            if let Err(why) = checked {
                refuse("scriptUrl", &why);
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(Fault::invalid(wrong)) }
    }
}

impl ProviderClient {
    pub(crate) fn new(cipher: Arc<Cipher>, reach: Reach, limits: SiteverifyLimits) -> Self {
        Self { cipher, siteverifier: Siteverifier::new(reach, limits) }
    }

    /// The provider of a site, as it is stored: its secret can be read here only.
    ///
    /// # Errors
    /// [`Code::Validation`] with everything that is wrong.
    pub(super) fn encrypt(&self, world: &World, site: &SiteId, settings: &ProviderSettings) -> Result<Provider> {
        settings.check(&self.siteverifier)?;
        let encrypted = self.cipher.encrypt(world, &associated_data(site, &settings.url), settings.secret.expose())?;
        Ok(Provider {
            url: settings.url.clone(),
            visible_key: settings.visible_key.clone(),
            invisible_key: settings.invisible_key.clone(),
            minimum_score: settings.minimum_score,
            script_url: settings.script_url.clone(),
            secret: STANDARD.encode(encrypted),
        })
    }

    /// Whether a provider says that a token is good.
    ///
    /// # Errors
    /// [`Code::Unavailable`] when there is no verdict.
    pub(super) async fn is_good(
        &self,
        site: &SiteId,
        provider: &Provider,
        secret: Secret,
        token: &str,
    ) -> Result<bool> {
        debug_assert!(token.len() <= LONGEST);
        let question = Siteverify { url: provider.url.clone(), secret, token: Secret::new(token) };
        // A person must not wait because of a provider; how often it is asked, its lane bounds as well.
        let verdict = self.siteverifier.ask(site.as_str(), question).await;
        Ok(match verdict.map_err(|why| unavailable(site, &why.0))? {
            Verdict::Good { score } => match provider.minimum_score {
                Some(minimum) => score.is_some_and(|it| it >= minimum),
                None => true,
            },
            Verdict::Bad => false,
        })
    }

    /// # Errors
    /// [`Code::Unavailable`] when the key that encrypted it is gone.
    pub(super) async fn secret(&self, catalog: &Database, site: &SiteId, provider: &Provider) -> Result<Secret> {
        let encrypted = STANDARD.decode(&provider.secret).map_err(Fault::internal)?;
        let secret = self.cipher.open(catalog, &associated_data(site, &provider.url), &encrypted).await?;
        secret
            .map(Secret::new)
            .ok_or_else(|| unavailable(site, "the captcha secret doesn't open; set the provider again"))
    }

    /// The provider with its secret under the current key; nothing when it is, or doesn't open.
    fn renewed(&self, world: &World, site: &SiteId, provider: &Provider) -> Result<Option<Provider>> {
        let encrypted = STANDARD.decode(&provider.secret).map_err(Fault::internal)?;
        if self.cipher.is_current(&encrypted) {
            return Ok(None);
        }
        let about = associated_data(site, &provider.url);
        let Some(secret) = self.cipher.decrypt(&about, &encrypted) else { return Ok(None) };
        let secret = STANDARD.encode(self.cipher.encrypt(world, &about, &secret)?);
        Ok(Some(Provider { secret, ..provider.clone() }))
    }
}

/// Puts a site's secret under the current key, and answers whether it was under another.
pub(crate) async fn reseal(core: &Arc<Core>, site: &Site) -> Result<bool> {
    let written = site.write_with((core.clone(), site.id.clone()), |tx, (core, site)| {
        boxed!({
            let Some(provider) = read(tx, site).await? else { return Ok(false) };
            let Some(renewed) = core.captcha.renewed(core.world(), site, &provider)? else { return Ok(false) };
            let value = serde_json::to_string(&renewed).map_err(Fault::internal)?;
            setting::put(tx, site, SETTING, value).await?;
            Ok(true)
        })
    });
    written.await
}

/// Whether a site has a secret under an older key.
pub(crate) async fn is_left(core: &Core, site: &Site) -> Result<bool> {
    let Some(provider) = of_site(site).await? else { return Ok(false) };
    let encrypted = STANDARD.decode(&provider.secret).map_err(Fault::internal)?;
    Ok(!core.captcha.cipher.is_current(&encrypted))
}

/// The person can only try again; the operator of the server reads why in the log.
fn unavailable(site: &SiteId, why: &str) -> Fault {
    Fault::new(Code::Unavailable).with("retryAfterSeconds", 5).logged(format!("site {site}: {why}"))
}

/// What [`crate::Identity::captcha_provider`] does.
pub(crate) async fn of_site(site: &Site) -> Result<Option<Provider>> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(read(tx, &id).await)).await
}

/// The provider inside a transaction.
pub(crate) async fn read(tx: &mut Tx<'_>, site: &SiteId) -> Result<Option<Provider>> {
    let stored = setting::get(tx, site, SETTING).await?;
    stored.map(|it| serde_json::from_str(&it)).transpose().map_err(Fault::internal)
}

/// What a secret is encrypted for.
fn associated_data(site: &SiteId, url: &str) -> String {
    json!(["captcha secret", site, url]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_outbound::{Exceptions, ReachConfig};

    fn siteverifier(loopback: bool) -> Siteverifier {
        let exceptions = Exceptions { loopback, ..Exceptions::default() };
        let config = ReachConfig { exceptions, ..ReachConfig::default() };
        Siteverifier::new(Reach::new(&config, World::fixed(0, 1).0).unwrap(), SiteverifyLimits::default())
    }

    #[test]
    fn provider_secret_goes_by_tls_or_stays_here() {
        let (strict, local) = (siteverifier(false), siteverifier(true));
        for good in ["https://www.google.com/recaptcha/api/siteverify", "https://api.hcaptcha.com/siteverify"] {
            assert_eq!((strict.check(good), local.check(good)), (Ok(()), Ok(())), "{good}");
        }
        for here in ["http://localhost:4000/verify", "http://127.0.0.1/verify", "http://[::1]:4000/"] {
            assert!(strict.check(here).is_err() && local.check(here).is_ok(), "{here}");
        }
        for bad in [
            "",
            "siteverify",
            "//api.hcaptcha.com/siteverify",
            "https://10.0.0.7:8443/verify",
            "http://[::ffff:10.0.0.1]/",
            "http://10.0.0.7/",
            "http://api.hcaptcha.com/siteverify",
            "http://127.0.0.1.example.org/",
            "http://0.0.0.0/",
            "http://8.8.8.8/",
            "ftp://localhost/",
            "file:///etc/passwd",
            "unix:/run/x.sock",
            "https://user:word@example.org/",
            "https://example.org/verify?secret=x",
            "https://example.org/verify#x",
            "https://example.org/a b",
            "https:///verify",
        ] {
            assert!(strict.check(bad).is_err() && local.check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn provider_mistakes_are_all_named() {
        let settings = ProviderSettings {
            url: "http://example.org/".into(),
            secret: Secret::new(""),
            visible_key: None,
            invisible_key: Some("a key".into()),
            minimum_score: Some(f64::NAN),
            script_url: Some("http://example.org/api.js".into()),
        };
        let siteverifier = siteverifier(false);
        let named = |it: &ProviderSettings| -> Vec<String> {
            it.check(&siteverifier).err().iter().flat_map(|it| it.violations()).map(|it| it.field.clone()).collect()
        };
        assert_eq!(named(&settings), ["url", "secret", "invisibleSiteKey", "minimumScore", "scriptUrl"]);
        let url = "https://example.org/".to_owned();
        let bare = ProviderSettings {
            url,
            secret: Secret::new("s"),
            visible_key: None,
            invisible_key: None,
            minimum_score: None,
            script_url: None,
        };
        assert_eq!(named(&bare), ["visibleSiteKey"]);
        let bare = ProviderSettings { visible_key: Some("k".into()), ..bare };
        assert!(bare.check(&siteverifier).is_ok());
        for (script, is_good) in [
            ("https://static.example.org/api.js", true),
            ("https://static.example.org/api.js?render=explicit", false),
            ("http://127.0.0.1/api.js", false),
            ("https://10.0.0.7/api.js", false),
        ] {
            let settings = ProviderSettings { script_url: Some(script.into()), ..bare.clone() };
            assert_eq!(settings.check(&siteverifier).is_ok(), is_good, "{script}");
        }
    }

    #[test]
    fn lowest_score_is_refused_where_every_answer_would_be() {
        let siteverifier = siteverifier(false);
        let named = |url: &str, visible: Option<&str>, invisible: Option<&str>| -> Vec<String> {
            let settings = ProviderSettings {
                url: url.into(),
                secret: Secret::new("s"),
                visible_key: visible.map(str::to_owned),
                invisible_key: invisible.map(str::to_owned),
                minimum_score: Some(0.5),
                script_url: None,
            };
            let checked = settings.check(&siteverifier).err();
            checked.iter().flat_map(|it| it.violations()).map(|it| it.field.clone()).collect()
        };
        let (google, mirror) =
            ("https://www.google.com/recaptcha/api/siteverify", "https://www.recaptcha.net/siteverify");
        for (url, visible, invisible, is_good) in [
            (google, None, Some("i"), true),
            (mirror, Some("v"), Some("i"), true),
            (google, Some("v"), None, false),
            (mirror, Some("v"), None, false),
            ("https://api.hcaptcha.com/siteverify", Some("v"), Some("i"), false),
            ("https://challenges.cloudflare.com/turnstile/v0/siteverify", None, Some("i"), false),
            ("https://captcha.example.org/siteverify", Some("v"), None, true),
        ] {
            let wants: &[&str] = if is_good { &[] } else { &["minimumScore"] };
            assert_eq!(named(url, visible, invisible), wants, "{url}");
        }
    }
}
