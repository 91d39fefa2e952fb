//! Encryption at rest, of what must be read again: AES-256-GCM with keys of the catalogue, of their own for each
//! purpose (decisions 12, 26). A site's file or a copy of its tables alone shows no code, no link and no secret.
//!
//! Keys rotate ([`renew`]): the current one encrypts, older ones decrypt until nothing is left under them. So that it is
//! known which key a text is under without trying, a text is
//!
//! ```text
//! 0x02 · first 8 bytes of the SHA-256 of the key's id · nonce, 12 bytes · AES-256-GCM
//! ```
//!
//! and before there was more than one key it was nonce and ciphertext alone. Such a text is tried with each key: that its
//! nonce looks like a mark costs one try more, and nothing else.

use parking_lot::RwLock;
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
};
use std::sync::Arc;
use stoa_kernel::{Fault, Millis, Result, TokenHash, World};
use stoa_sql::params;
use stoa_store::{Database, ReaderPool, Row, Tx, boxed};

/// What keys are for, by the name that the catalogue has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// What waits to be sent.
    Mail,
    /// Secrets that captcha providers gave to sites.
    Captcha,
    /// Private keys of applications.
    AppKey,
    /// Secrets of webhook endpoints.
    Webhook,
    /// Secrets of members' authenticators.
    Factor,
    /// Secrets that identity providers gave to sites, and what browsers carry to providers and back.
    Provider,
}

impl Purpose {
    pub(crate) const ALL: [Self; 6] =
        [Self::Mail, Self::Captcha, Self::AppKey, Self::Webhook, Self::Factor, Self::Provider];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Captcha => "captcha secret",
            Self::AppKey => "app key",
            Self::Webhook => "webhook secret",
            Self::Factor => "factor",
            Self::Provider => "provider",
        }
    }
}

/// The first byte of a text that names its key.
const FORM: u8 = 2;
/// Bytes of a text that name its form and its key.
pub(crate) const MARK: usize = 9;

/// The keys of all purposes.
pub(crate) struct Ciphers {
    pub mail: Arc<Cipher>,
    pub captcha: Arc<Cipher>,
    pub app_key: Arc<Cipher>,
    pub webhook: Arc<Cipher>,
    pub factor: Arc<Cipher>,
    pub provider: Arc<Cipher>,
}

impl Ciphers {
    /// As [`Cipher::load`].
    pub(crate) async fn load(catalog: &Database, world: &World) -> Result<Self> {
        Ok(Self {
            mail: Arc::new(Cipher::load(catalog, world, Purpose::Mail).await?),
            captcha: Arc::new(Cipher::load(catalog, world, Purpose::Captcha).await?),
            app_key: Arc::new(Cipher::load(catalog, world, Purpose::AppKey).await?),
            webhook: Arc::new(Cipher::load(catalog, world, Purpose::Webhook).await?),
            factor: Arc::new(Cipher::load(catalog, world, Purpose::Factor).await?),
            provider: Arc::new(Cipher::load(catalog, world, Purpose::Provider).await?),
        })
    }

    /// Reads all keys again.
    pub(crate) async fn reload(&self, catalog: &Database) -> Result<()> {
        for cipher in [&self.mail, &self.captcha, &self.app_key, &self.webhook, &self.factor, &self.provider] {
            cipher.reload(catalog).await?;
        }
        Ok(())
    }
}

/// The keys of one purpose, as this process knows them.
pub(crate) struct Cipher {
    purpose: Purpose,
    keys: RwLock<Arc<KeyList>>,
}

/// Never empty.
struct KeyList {
    current: Key,
    /// The newest first.
    older: Vec<Key>,
}

struct Key {
    mark: [u8; MARK],
    key: LessSafeKey,
    /// Made of the same secret, for digests.
    digests: hmac::Key,
}

/// A row of the catalogue.
struct StoredKey {
    id: String,
    secret: Vec<u8>,
    retired: Option<Millis>,
}

impl Cipher {
    /// Reads the keys and makes the first when there is none; several nodes may do so at once.
    pub(crate) async fn load(catalog: &Database, world: &World, purpose: Purpose) -> Result<Self> {
        let stored = catalog.write_with(world.clone(), move |tx, world| {
            boxed!({
                let keys = read(tx, purpose).await?;
                if keys.iter().any(|it| it.retired.is_none()) {
                    return Ok(keys);
                }
                insert(tx, world, purpose, world.now()).await?;
                read(tx, purpose).await
            })
        });
        let keys = KeyList::of(stored.await?)?;
        Ok(Self { purpose, keys: RwLock::new(Arc::new(keys)) })
    }

    /// Reads the keys again.
    pub(crate) async fn reload(&self, catalog: &Database) -> Result<()> {
        let purpose = self.purpose;
        let stored = catalog.read(ReaderPool::Point, move |tx| boxed!(read(tx, purpose).await)).await?;
        *self.keys.write() = Arc::new(KeyList::of(stored)?);
        Ok(())
    }

    /// `about` is what the text belongs to: opened as anything else it is refused.
    pub(crate) fn encrypt(&self, world: &World, about: &str, text: &str) -> Result<Vec<u8>> {
        self.known().current.encrypt(world, about, text)
    }

    /// The text, when it was encrypted for this with a key that the process knows.
    pub(crate) fn decrypt(&self, about: &str, encrypted: &[u8]) -> Option<String> {
        let keys = self.known();
        let mut all = std::iter::once(&keys.current).chain(&keys.older);
        let marked = encrypted.split_at_checked(MARK).and_then(|(mark, rest)| {
            let key = all.clone().find(|it| it.mark == mark)?;
            key.decrypt(about, rest)
        });
        marked.or_else(|| all.find_map(|it| it.decrypt(about, encrypted)))
    }

    /// The same where another node may have made a key of which this one hasn't heard: then a text that names it has
    /// the keys read again. A text depends on nobody's account, so neither does that statement.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub(crate) async fn open(&self, catalog: &Database, about: &str, encrypted: &[u8]) -> Result<Option<String>> {
        match self.decrypt(about, encrypted) {
            None if self.names_unknown_key(encrypted) => {}
            text => return Ok(text),
        }
        self.reload(catalog).await?;
        Ok(self.decrypt(about, encrypted))
    }

    fn names_unknown_key(&self, encrypted: &[u8]) -> bool {
        let keys = self.known();
        let is_known = || std::iter::once(&keys.current).chain(&keys.older).any(|it| encrypted.starts_with(&it.mark));
        encrypted.len() > MARK && encrypted[0] == FORM && !is_known()
    }

    /// A digest (HMAC-SHA-256) by which a text is found that must not be read: who has no key can't try what it may be of. It is made with the
    /// oldest key that is kept, so that another key changes nothing until that one is deleted.
    pub(crate) fn digest(&self, text: &str) -> Vec<u8> {
        let keys = self.known();
        let oldest = keys.older.last().unwrap_or(&keys.current);
        hmac::sign(&oldest.digests, text.as_bytes()).as_ref().to_vec()
    }

    /// Whether a digest is of this text, by any key that is kept. The time that it takes tells nothing of the right one.
    pub(crate) fn is_digest(&self, text: &str, digest: &[u8]) -> bool {
        let keys = self.known();
        let mut all = std::iter::once(&keys.current).chain(&keys.older);
        all.any(|it| hmac::verify(&it.digests, text.as_bytes(), digest).is_ok())
    }

    /// With what every text begins that is under the current key.
    pub(crate) fn mark(&self) -> Vec<u8> {
        self.known().current.mark.to_vec()
    }

    /// Whether a text is under the current key.
    pub(crate) fn is_current(&self, encrypted: &[u8]) -> bool {
        encrypted.starts_with(&self.known().current.mark)
    }

    fn known(&self) -> Arc<KeyList> {
        self.keys.read().clone()
    }
}

impl KeyList {
    /// `stored` has the oldest first.
    fn of(stored: Vec<StoredKey>) -> Result<Self> {
        let (mut current, mut older) = (None, Vec::new());
        for it in stored.into_iter().rev() {
            let key = Key::new(&it.id, &it.secret)?;
            match current.is_none() && it.retired.is_none() {
                true => current = Some(key),
                false => older.push(key),
            }
        }
        let current = current.ok_or_else(|| Fault::internal("the catalogue has no key to seal with"))?;
        Ok(Self { current, older })
    }
}

impl Key {
    fn new(id: &str, secret: &[u8]) -> Result<Self> {
        let key = UnboundKey::new(&AES_256_GCM, secret).map_err(Fault::internal)?;
        let mut mark = [FORM; MARK];
        mark[1..].copy_from_slice(&TokenHash::of(id).to_vec()[..MARK - 1]);
        let of_digests = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), b"digests");
        let digests = hmac::Key::new(hmac::HMAC_SHA256, of_digests.as_ref());
        Ok(Self { mark, key: LessSafeKey::new(key), digests })
    }

    fn encrypt(&self, world: &World, about: &str, text: &str) -> Result<Vec<u8>> {
        let nonce = world.bytes::<NONCE_LEN>();
        let mut encrypted = text.as_bytes().to_vec();
        let aad = Aad::from(about.as_bytes());
        let done = self.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut encrypted);
        done.map_err(Fault::internal)?;
        Ok([&self.mark[..], &nonce[..], &encrypted].concat())
    }

    /// `encrypted` is what follows the mark.
    fn decrypt(&self, about: &str, encrypted: &[u8]) -> Option<String> {
        let (nonce, text) = encrypted.split_at_checked(NONCE_LEN)?;
        let mut text = text.to_vec();
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self.key.open_in_place(nonce, Aad::from(about.as_bytes()), &mut text).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

/// Makes the next key of a purpose, with which is encrypted from the commit on; the one before it only decrypts.
pub(crate) async fn renew(tx: &mut Tx<'_>, world: &World, purpose: Purpose) -> Result<()> {
    let sql = "select coalesce(max(created), 0) from stoa.signing_key where purpose = $1";
    let newest = tx.row(sql, &params![purpose.name()], |row| row.get::<i64>(0)).await?.unwrap_or_default();
    let sql = "update stoa.signing_key set retired = $1 where purpose = $2 and retired is null";
    tx.send(sql, params![world.now(), purpose.name()]).await?;
    // The order is that of their making, whatever the clocks of nodes say.
    insert(tx, world, purpose, world.now().max(newest + 1)).await
}

/// Deletes the keys that were retired before a time, and answers how many there were.
pub(crate) async fn forget(tx: &mut Tx<'_>, purpose: Purpose, before: Millis) -> Result<u64> {
    let sql = "delete from stoa.signing_key where purpose = $1 and retired < $2";
    Ok(tx.execute(sql, &params![purpose.name(), before]).await?)
}

async fn insert(tx: &mut Tx<'_>, world: &World, purpose: Purpose, created: Millis) -> Result<()> {
    let sql = "insert into stoa.signing_key (id, purpose, private, public, created) values ($1, $2, $3, $4, $5)";
    let row = params![world.uuid(), purpose.name(), world.bytes::<32>().to_vec(), Vec::<u8>::new(), created];
    tx.send(sql, row).await?;
    Ok(())
}

/// The keys of a purpose, the oldest first.
async fn read(tx: &mut Tx<'_>, purpose: Purpose) -> Result<Vec<StoredKey>> {
    let sql = "select id, private, retired from stoa.signing_key where purpose = $1 order by created, id";
    let each = |row: &Row<'_>| Ok(StoredKey { id: row.get(0)?, secret: row.get(1)?, retired: row.get(2)? });
    Ok(tx.rows(sql, &params![purpose.name()], each).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(n: u8, retired: Option<Millis>) -> StoredKey {
        StoredKey { id: format!("key-{n}"), secret: vec![n; 32], retired }
    }

    fn cipher(stored: Vec<StoredKey>) -> Cipher {
        let keys = RwLock::new(Arc::new(KeyList::of(stored).unwrap()));
        Cipher { purpose: Purpose::Mail, keys }
    }

    #[test]
    fn text_is_decrypted_only_as_what_it_was() {
        let (world, _) = World::fixed(0, 1);
        let cipher = cipher(vec![stored(7, None)]);
        let encrypted = cipher.encrypt(&world, "site 1", "code 123456").unwrap();
        assert!(!encrypted.windows(6).any(|it| it == b"123456"));
        assert_eq!(cipher.decrypt("site 1", &encrypted).as_deref(), Some("code 123456"));
        assert_eq!(cipher.decrypt("site 2", &encrypted), None);
        for at in [0, 3, MARK, MARK + NONCE_LEN, encrypted.len() - 1] {
            let mut broken = encrypted.clone();
            broken[at] ^= 1;
            assert_eq!(cipher.decrypt("site 1", &broken), None, "{at}");
        }
        for length in [0, 5, MARK, MARK + NONCE_LEN] {
            assert_eq!(cipher.decrypt("site 1", &encrypted[..length]), None, "{length}");
        }
    }

    #[test]
    fn texts_of_older_keys_are_decrypted_and_the_current_one_encrypts() {
        let (world, _) = World::fixed(0, 1);
        let before = cipher(vec![stored(1, None)]);
        let first = before.encrypt(&world, "a", "first").unwrap();
        // As texts were before they named their key.
        let unmarked = first[MARK..].to_vec();
        let after = cipher(vec![stored(1, Some(5)), stored(2, Some(6)), stored(3, None)]);
        for old in [&first, &unmarked] {
            assert_eq!(after.decrypt("a", old).as_deref(), Some("first"));
            assert!(!after.is_current(old));
        }
        let new = after.encrypt(&world, "a", "new").unwrap();
        assert!(after.is_current(&new) && new.starts_with(&after.mark()) && !before.is_current(&new));
        assert_eq!(before.decrypt("a", &new), None, "a key that isn't known yet");
        assert!(before.names_unknown_key(&new) && !before.names_unknown_key(&first) && !after.names_unknown_key(&new));
        assert_eq!(cipher(vec![stored(2, Some(6)), stored(3, None)]).decrypt("a", &first), None, "one that is gone");
        assert!(KeyList::of(vec![stored(1, Some(5))]).is_err() && KeyList::of(Vec::new()).is_err());
    }

    #[test]
    fn digest_is_of_one_text_and_key() {
        let [one, same, other] = [1, 1, 2].map(|n| cipher(vec![stored(n, None)]));
        assert_eq!(one.digest("a"), same.digest("a"));
        assert!(one.digest("a") != one.digest("b") && one.digest("a") != other.digest("a"));
        assert_ne!(one.digest("a"), TokenHash::of("a").to_vec());
        // A node that has not heard of another key counts with those that have.
        let renewed = cipher(vec![stored(1, Some(5)), stored(2, Some(6)), stored(3, None)]);
        assert_eq!(renewed.digest("a"), one.digest("a"));
    }

    /// One text of 2^72 without a mark begins like one.
    #[test]
    fn unmarked_text_that_looks_marked_is_decrypted() {
        let (world, _) = World::fixed(0, 1);
        let cipher = cipher(vec![stored(1, Some(5)), stored(2, None)]);
        let keys = cipher.known();
        let mut nonce = [0; NONCE_LEN];
        nonce[..MARK].copy_from_slice(&keys.current.mark);
        let mut text = b"unmarked".to_vec();
        let once = Nonce::assume_unique_for_key(nonce);
        keys.older[0].key.seal_in_place_append_tag(once, Aad::from(&b"a"[..]), &mut text).unwrap();
        assert_eq!(cipher.decrypt("a", &[&nonce[..], &text].concat()).as_deref(), Some("unmarked"));
        assert!(cipher.decrypt("a", &cipher.encrypt(&world, "a", "x").unwrap()).is_some());
    }
}
