//! A person who registers or signs in answers a captcha first, where the site asks for it.
//!
//! Without a third party the answer is a little work. The challenge is a signed text that nothing stores,
//! the answer the challenge, `~` and a number such that the SHA-256 of the whole begins with as many zero
//! bits as the challenge asks for. Each answer is good once; that is recorded only after the work was
//! done, so writing costs more than it is worth.
//!
//! A site that has a provider (`provider`) takes the provider's tokens instead, and no work.

use crate::{
    Core, Identity,
    defence::{
        attempt::Attempt,
        captcha_provider::{self, LONGEST, Provider, ProviderSettings},
        captcha_widget,
        throttle::AttemptKind,
    },
    policy,
    token::signing::Purpose,
};
use ring::digest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId, TokenHash, date::iso_from_millis};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed, setting};

/// Life of a challenge.
const LIFE: Millis = 10 * 60_000;
/// Zero bits: some 65,000 hashes, well under a second on a phone.
const BITS: u32 = 16;
/// How long a good token is remembered. Providers take one for five minutes at most.
const MEMORY: Millis = 60 * 60_000;

#[derive(Serialize, Deserialize)]
struct Claims {
    aud: SiteId,
    /// UTC milliseconds.
    until: Millis,
    bits: u32,
    nonce: String,
}

/// What a site asks of a request.
enum Requirement {
    Nothing,
    Work,
    /// A token that was not used here yet, or one that was.
    Token(Box<Provider>, IsUsed),
}

type IsUsed = bool;

impl Identity {
    /// What is needed for an answer: `{kind: "PROOF_OF_WORK", challenge, bits, expires}`, or with a
    /// provider `{kind: "PROVIDER", visibleSiteKey, invisibleSiteKey, widget, scriptUrl}`. Without work a challenge gives
    /// nothing, so all may have one.
    ///
    /// # Errors
    /// [`Code::Internal`] when there is no key to sign with.
    pub async fn captcha_challenge(&self, site: &Site) -> Result<Value> {
        let core = &self.core;
        if let Some(provider) = captcha_provider::of_site(site).await? {
            return Ok(captcha_widget::with_keys(&provider));
        }
        let until = core.now() + LIFE;
        let nonce = core.world().token::<16>();
        let claims = Claims { aud: site.id.clone(), until, bits: BITS, nonce };
        let challenge = core.keys.sign(Purpose::Captcha, &claims)?;
        let expires = iso_from_millis(until);
        Ok(json!({ "kind": captcha_provider::WORK, "challenge": challenge, "bits": BITS, "expires": expires }))
    }

    /// Gives a site a provider in place of the proof of work and of any other. For the operator of the server: no
    /// call over HTTP leads here.
    ///
    /// # Errors
    /// [`Code::Validation`] with everything that is wrong.
    pub async fn captcha_provider_set(&self, site: &Site, settings: &ProviderSettings) -> Result<Provider> {
        let core = &self.core;
        let provider = core.captcha.encrypt(core.world(), &site.id, settings)?;
        let value = serde_json::to_string(&provider).map_err(Fault::internal)?;
        let written = site.write_with((site.id.clone(), value), |tx, (site, value)| {
            boxed!(Ok(setting::put(tx, site, captcha_provider::SETTING, value.clone()).await?))
        });
        written.await?;
        Ok(provider)
    }

    /// The site's provider, if it has one.
    pub async fn captcha_provider(&self, site: &Site) -> Result<Option<Provider>> {
        captcha_provider::of_site(site).await
    }

    /// Goes back to the proof of work. Its secret is gone then.
    pub async fn captcha_provider_remove(&self, site: &Site) -> Result<()> {
        let removed = site.write_with(site.id.clone(), |tx, site| {
            boxed!(Ok(setting::remove(tx, site, captcha_provider::SETTING).await?))
        });
        removed.await
    }

    /// What all may know of a site's captcha.
    pub async fn captcha_public(&self, site: &Site) -> Result<Value> {
        let work = || json!({ "kind": captcha_provider::WORK, "visibleSiteKey": null, "invisibleSiteKey": null });
        Ok(captcha_provider::of_site(site).await?.map_or_else(work, |it| it.public()))
    }
}

/// Lets a request pass that answers what the site asks, or any when it asks for nothing.
///
/// # Errors
/// [`Code::CaptchaMissing`]; [`Code::CaptchaInvalid`] for an answer that is wrong, too old, another
/// site's or used; [`Code::Throttled`] for too many of them; [`Code::Unavailable`] when the provider
/// gives no verdict.
pub(crate) async fn require(core: &Core, site: &Site, attempt: &Attempt) -> Result<()> {
    let answer = attempt.captcha.as_deref().filter(|it| !it.is_empty());
    let requirement = requirement(site, answer).await?;
    if matches!(requirement, Requirement::Nothing) {
        return Ok(());
    }
    let wrong = || Fault::new(Code::CaptchaInvalid);
    let answer = answer.ok_or_else(|| Fault::new(Code::CaptchaMissing))?;
    let (until, used) = match requirement {
        Requirement::Nothing => return Ok(()),
        // One challenge has many answers.
        Requirement::Work => (read(core, &site.id, answer), answer.split_once('~').map_or(answer, |it| it.0)),
        // One that was used needs no question.
        Requirement::Token(_, true) => (None, answer),
        Requirement::Token(..) if answer.len() > LONGEST => (None, answer),
        Requirement::Token(provider, false) => (verify_token(core, site, &provider, attempt, answer).await?, answer),
    };
    let (until, id, hash) = (until.ok_or_else(wrong)?, site.id.clone(), TokenHash::of(used));
    let is_first = site.write_with((id, hash), move |tx, (id, hash)| {
        boxed!({
            let sql = "insert into stoa.captcha (site, hash, expires) values ($1, $2, $3) \
                       on conflict (site, hash) do nothing";
            Ok(tx.execute(sql, &params![id, hash, until]).await? == 1)
        })
    });
    let is_first = is_first.await?;
    if is_first { Ok(()) } else { Err(wrong()) }
}

/// Until when a token is to be remembered, when the provider says that it is good.
///
/// # Errors
/// [`Code::Throttled`]; [`Code::Unavailable`] when there is no verdict.
async fn verify_token(
    core: &Core,
    site: &Site,
    provider: &Provider,
    attempt: &Attempt,
    token: &str,
) -> Result<Option<Millis>> {
    let secret = core.captcha.secret(core.store().catalog(), &site.id, provider).await?;
    let permit = core.throttle.attempt(AttemptKind::Captcha, core.now(), &site.id, attempt.address, "")?;
    let is_good = core.captcha.is_good(&site.id, provider, secret, token).await;
    if !matches!(is_good, Ok(false)) {
        core.throttle.refund(permit);
    }
    Ok(is_good?.then(|| core.now() + MEMORY))
}

/// Reads at once what the site asks, and of a token whether it was used.
async fn requirement(site: &Site, answer: Option<&str>) -> Result<Requirement> {
    let (id, hash) = (site.id.clone(), answer.filter(|it| it.len() <= LONGEST).map(TokenHash::of));
    site.read(ReaderPool::Point, move |tx| {
        boxed!({
            if !policy::read(tx, &id).await?.require_captcha {
                return Ok(Requirement::Nothing);
            }
            let Some(provider) = captcha_provider::read(tx, &id).await? else {
                return Ok(Requirement::Work);
            };
            let is_used = match hash {
                Some(hash) => is_used(tx, &id, hash).await?,
                None => false,
            };
            Ok(Requirement::Token(Box::new(provider), is_used))
        })
    })
    .await
}

/// Until when an answer counts, when it is right.
fn read(core: &Core, site: &SiteId, answer: &str) -> Option<Millis> {
    let (challenge, number) = answer.split_once('~')?;
    if answer.len() > LONGEST || number.is_empty() || !number.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let claims: Claims = serde_json::from_slice(&core.keys.verify(Purpose::Captcha, challenge)?).ok()?;
    let is_good = claims.aud == *site && core.now() < claims.until && zero_bits(answer) >= claims.bits;
    is_good.then_some(claims.until)
}

async fn is_used(tx: &mut Tx<'_>, site: &SiteId, hash: TokenHash) -> Result<IsUsed> {
    let sql = "select 1 from stoa.captcha where site = $1 and hash = $2";
    Ok(tx.row(sql, &params![site, hash], |_| Ok(())).await?.is_some())
}

/// How many zero bits the hash of a text begins with.
pub fn zero_bits(text: &str) -> u32 {
    let hash = digest::digest(&digest::SHA256, text.as_bytes());
    let zeros = hash.as_ref().iter().take_while(|it| **it == 0).count();
    let next = hash.as_ref().get(zeros).map_or(0, |it| it.leading_zeros());
    (zeros as u32) * 8 + next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_bits_are_counted() {
        // The hash of "hello" begins 2c, of "39" with 0b.
        assert_eq!(zero_bits("hello"), 2);
        assert_eq!(zero_bits("39"), 4);
    }
}
