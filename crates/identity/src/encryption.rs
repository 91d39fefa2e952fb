//! Encryption at rest, of what a site keeps and must be able to read again: AES-256-GCM with a key of the
//! catalogue, one for each purpose. A site's file or a copy of its tables alone shows no code, no link and no
//! secret.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use stoa_kernel::{Fault, Result, World};
use stoa_sql::params;
use stoa_store::{Database, boxed};

/// What waits to be sent.
pub(crate) const MAIL: &str = "mail";
/// Secrets that captcha providers gave to sites.
pub(crate) const CAPTCHA: &str = "captcha secret";

pub(crate) struct Cipher(LessSafeKey);

impl Cipher {
    /// Reads the key and makes it when it is missing; several nodes may do so at once.
    pub(crate) async fn load(catalog: &Database, world: &World, purpose: &'static str) -> Result<Self> {
        let key: Vec<u8> = catalog
            .write_with(world.clone(), move |tx, world| {
                boxed!({
                    let sql = "select private from stoa.signing_key where purpose = $1 order by created, id limit 1";
                    if let Some(key) = tx.row(sql, &params![purpose], |row| row.get(0)).await? {
                        return Ok(key);
                    }
                    let (id, key) = (world.uuid(), world.bytes::<32>().to_vec());
                    let sql = "insert into stoa.signing_key (id, purpose, private, public, created) \
                               values ($1, $2, $3, $4, $5)";
                    let nothing: Vec<u8> = Vec::new();
                    tx.send(sql, params![id, purpose, key.clone(), nothing, world.now()]).await?;
                    Ok(key)
                })
            })
            .await?;
        let key = UnboundKey::new(&AES_256_GCM, &key).map_err(Fault::internal)?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// `about` is what the text belongs to: opened as anything else it is refused.
    pub(crate) fn encrypt(&self, world: &World, about: &str, text: &str) -> Result<Vec<u8>> {
        let nonce = world.bytes::<NONCE_LEN>();
        let mut encrypted = text.as_bytes().to_vec();
        let aad = Aad::from(about.as_bytes());
        let done = self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut encrypted);
        done.map_err(Fault::internal)?;
        Ok([&nonce[..], &encrypted].concat())
    }

    /// The text, when it was encrypted here for this.
    pub(crate) fn decrypt(&self, about: &str, encrypted: &[u8]) -> Option<String> {
        let (nonce, text) = encrypted.split_at_checked(NONCE_LEN)?;
        let mut text = text.to_vec();
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self.0.open_in_place(nonce, Aad::from(about.as_bytes()), &mut text).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decrypted_only_as_what_it_was() {
        let (world, _) = World::fixed(0, 1);
        let cipher = Cipher(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &[7; 32]).unwrap()));
        let encrypted = cipher.encrypt(&world, "site 1", "code 123456").unwrap();
        assert!(!encrypted.windows(6).any(|it| it == b"123456"));
        assert_eq!(cipher.decrypt("site 1", &encrypted).as_deref(), Some("code 123456"));
        assert_eq!(cipher.decrypt("site 2", &encrypted), None);
        let mut broken = encrypted.clone();
        broken[NONCE_LEN] ^= 1;
        assert_eq!(cipher.decrypt("site 1", &broken), None);
        assert_eq!(cipher.decrypt("site 1", &encrypted[..5]), None);
    }
}
