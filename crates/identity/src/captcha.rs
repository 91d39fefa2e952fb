//! A captcha without a third party: whoever registers or signs in does a little work first.
//!
//! The challenge is a signed text that nothing stores. The answer is the challenge, `~` and a number such
//! that the SHA-256 of the whole begins with as many zero bits as the challenge asks for. Each answer is
//! good once; that is written down only after the work was done, so writing costs more than it is worth.

use crate::{Identity, signing::Purpose};
use ring::digest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId, TokenHash, clock::iso_from_millis};
use stoa_sql::params;
use stoa_store::{Site, boxed};

/// Life of a challenge.
const LIFE: Millis = 10 * 60_000;
/// Zero bits: some 65,000 hashes, well under a second on a phone.
const BITS: u32 = 16;
/// The longest answer (identity.md 6).
const LONGEST: usize = 5_000;

#[derive(Serialize, Deserialize)]
struct Claims {
    aud: SiteId,
    /// UTC milliseconds.
    until: Millis,
    bits: u32,
    nonce: String,
}

impl Identity {
    /// A challenge: `{challenge, bits, expires}`. Without work nobody gets anything from it, so anybody may
    /// have one.
    ///
    /// # Errors
    /// [`Code::Internal`] when there is no key to sign with.
    pub fn captcha_challenge(&self, site: &Site) -> Result<Value> {
        let until = self.now() + LIFE;
        let nonce = self.world().token::<16>();
        let claims = Claims { aud: site.id.clone(), until, bits: BITS, nonce };
        let challenge = self.core.keys.sign(Purpose::Captcha, &claims)?;
        Ok(json!({ "challenge": challenge, "bits": BITS, "expires": iso_from_millis(until) }))
    }

    /// Lets a request pass that answers a challenge, or any when the site asks for none.
    ///
    /// # Errors
    /// [`Code::CaptchaMissing`]; [`Code::CaptchaInvalid`] for an answer that is wrong, too old, another
    /// site's or used.
    pub(crate) async fn captcha_admit(&self, site: &Site, answer: Option<&str>) -> Result<()> {
        if !self.policy(site).await?.require_captcha {
            return Ok(());
        }
        let answer = answer.filter(|it| !it.is_empty()).ok_or_else(|| Fault::new(Code::CaptchaMissing))?;
        let wrong = || Fault::new(Code::CaptchaInvalid);
        let until = self.captcha_read(&site.id, answer).ok_or_else(wrong)?;
        let (id, hash) = (site.id.clone(), TokenHash::of(answer.split_once('~').map_or(answer, |it| it.0)));
        let is_first = site
            .write(move |tx| {
                let (id, hash) = (id.clone(), hash.clone());
                boxed!({
                    let sql = "insert into stoa.captcha (site, hash, expires) values ($1, $2, $3) \
                               on conflict (site, hash) do nothing";
                    Ok(tx.execute(sql, &params![&id, hash, until]).await? == 1)
                })
            })
            .await?;
        if is_first { Ok(()) } else { Err(wrong()) }
    }

    /// Until when an answer counts, when it is right.
    fn captcha_read(&self, site: &SiteId, answer: &str) -> Option<Millis> {
        let (challenge, number) = answer.split_once('~')?;
        if answer.len() > LONGEST || number.is_empty() || !number.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        let claims: Claims = serde_json::from_slice(&self.core.keys.verify(Purpose::Captcha, challenge)?).ok()?;
        let is_good = claims.aud == *site && self.now() < claims.until && zero_bits(answer) >= claims.bits;
        is_good.then_some(claims.until)
    }
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
