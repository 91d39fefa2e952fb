//! Encrypted fields (decision 13): how their values are stored, and who is shown them.
//!
//! ```text
//! item ── rules ──▶ canonical and clear ── FieldCipher::seal ──▶ document ── FieldCipher::opened ──▶ caller
//! ```
//!
//! In a document an encrypted field holds `"sealed:1:…"`: a nonce and the value's canonical text, sealed
//! with AES-256-GCM and the key of the site that has this number (`site_key.rs`), bound to site, collection, item and
//! field. Whatever is sent for such a field is sealed, so only the server can put such a text there. The value's length
//! shows only in steps, and null, which says nothing, stays null.
//!
//! Privileged callers are shown the values, others the item without them ([`super::field_view`]). Events never hold them. A
//! collection without encrypted fields pays one look at an empty list, and its documents are never parsed.

use crate::{
    Content,
    collection::{
        Collection,
        site_key::{self, SiteKeys},
    },
    document::{member, quoted_id},
    schema::encrypted::EncryptedFields,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::aead::{Aad, NONCE_LEN, Nonce};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use stoa_kernel::{CollectionId, Fault, Result, SiteId, World};
use stoa_query::{
    CanonicalItem,
    item::{self, Edit},
};
use stoa_store::{Site, Tx};

/// How a stored value begins; the number of the key follows.
const BEGIN: &str = "\"sealed:";
/// Values are filled up with spaces to whole steps: `true` and `false` shall look alike.
const STEP: usize = 32;

/// What seals and opens the encrypted values of a collection.
pub(crate) struct FieldCipher {
    keys: Arc<SiteKeys>,
    site: SiteId,
    /// Of the collection.
    number: i64,
    collection: CollectionId,
    pub(crate) fields: EncryptedFields,
}

impl FieldCipher {
    pub(crate) fn new(keys: Arc<SiteKeys>, site: &SiteId, collection: &Collection) -> Self {
        let (number, fields) = (collection.table.number, collection.encrypted.clone());
        Self { keys, site: site.clone(), number, collection: collection.id.clone(), fields }
    }

    /// An item as it is stored. Values that the stored document had before stay as they are there, so that
    /// no event announces a change that is none.
    pub(crate) fn seal(
        &self,
        world: &World,
        id: &str,
        item: &CanonicalItem,
        old: Option<&str>,
    ) -> Result<CanonicalItem> {
        let mut item = item.clone();
        item.edit(|name, value| {
            if !self.is_encrypted(name, value) {
                return Ok(Edit::Keep);
            }
            let before = old.and_then(|it| member(it, name)).filter(|it| it.starts_with(BEGIN));
            Ok(Edit::Put(match before {
                // What was carried over, whether or not it opens, or what comes to the same.
                Some(it) if it == value || self.open(id, name, it).as_deref() == Some(value) => it.to_owned(),
                _ => self.sealed(world, id, name, value)?,
            }))
        })?;
        Ok(item)
    }

    /// An item with the encrypted values of the stored document that it lacks: who isn't shown them doesn't
    /// send them back. Those of `named` fields it lacks because the caller takes them out.
    pub(crate) fn keep(&self, item: &CanonicalItem, old: &str, named: &[String]) -> Result<CanonicalItem> {
        let (data, mut kept) = (item.data(), Map::new());
        let is_lacking = |quoted: &str, key: &String| member(&data, quoted).is_none() && !named.contains(key);
        for it in self.fields.0.iter().filter(|it| is_lacking(&it.quoted, &it.key)) {
            if let Some(value) = member(old, &it.quoted) {
                kept.insert(it.key.clone(), serde_json::from_str::<Json>(value).map_err(Fault::internal)?);
            }
        }
        item.with(&kept)
    }

    /// A stored document with its encrypted values as far as they open.
    pub(crate) fn readable(&self, document: &str) -> Result<String> {
        self.each(document, |id, name, value| Ok(self.open(id, name, value).unwrap_or_else(|| value.to_owned())))
    }

    /// A stored document with its values sealed under the current key; nothing when they are, or don't open.
    pub(crate) fn renewed(&self, world: &World, document: &str) -> Result<Option<String>> {
        let mut is_changed = false;
        let renewed = item::edit(document, |name, value| {
            if !self.is_outdated(name, value) {
                return Ok(Edit::Keep);
            }
            let id: String = serde_json::from_str(quoted_id(document)).map_err(Fault::internal)?;
            let Some(clear) = self.open(&id, name, value) else { return Ok(Edit::Keep) };
            is_changed = true;
            Ok(Edit::Put(self.sealed(world, &id, name, &clear)?))
        });
        let renewed = renewed?;
        Ok(is_changed.then_some(renewed))
    }

    /// Whether a stored document has values that are sealed under older keys.
    pub(crate) fn has_outdated(&self, document: &str) -> bool {
        item::members(document).any(|(name, value)| self.is_outdated(name, value))
    }

    fn is_outdated(&self, name: &str, value: &str) -> bool {
        self.is_encrypted(name, value) && number_of(value).is_some_and(|it| it.0 != self.keys.current())
    }

    /// A stored document with its values as they are.
    ///
    /// # Errors
    /// An internal fault when one doesn't open: what was tampered with, or sealed with another key, is neither shown nor
    /// passed over, for the caller would write the item back without it.
    pub(crate) fn opened(&self, document: &str) -> Result<String> {
        self.each(document, |id, name, value| self.open(id, name, value).ok_or_else(|| self.broken(id, name)))
    }

    fn each(&self, document: &str, put: impl Fn(&str, &str, &str) -> Result<String>) -> Result<String> {
        let id: String = serde_json::from_str(quoted_id(document)).map_err(Fault::internal)?;
        item::edit(document, |name, value| match self.is_encrypted(name, value) {
            true => put(&id, name, value).map(Edit::Put),
            false => Ok(Edit::Keep),
        })
    }

    /// Whether this member of a document is sealed, or is to be.
    fn is_encrypted(&self, name: &str, value: &str) -> bool {
        value != "null" && self.fields.has(name)
    }

    fn sealed(&self, world: &World, id: &str, name: &str, value: &str) -> Result<String> {
        let nonce = world.bytes::<NONCE_LEN>();
        let mut bytes = value.as_bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(STEP), b' ');
        let (once, bound) = (Nonce::assume_unique_for_key(nonce), Aad::from(self.bound(id, name)?));
        let (number, key) = self.keys.sealing();
        key.seal_in_place_append_tag(once, bound, &mut bytes).map_err(Fault::internal)?;
        Ok(format!("{BEGIN}{number}:{}\"", URL_SAFE_NO_PAD.encode([&nonce[..], &bytes].concat())))
    }

    /// The value, if it was sealed with a key of the site for this item and field.
    fn open(&self, id: &str, name: &str, sealed: &str) -> Option<String> {
        let (number, text) = number_of(sealed)?;
        let key = self.keys.opening(number)?;
        let mut bytes = URL_SAFE_NO_PAD.decode(text.strip_suffix('"')?).ok()?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = key.open_in_place(nonce, Aad::from(self.bound(id, name).ok()?), text).ok()?;
        std::str::from_utf8(text).ok().map(|it| it.trim_end_matches(' ').to_owned())
    }

    /// What is sealed along without being in the text.
    fn bound(&self, id: &str, name: &str) -> Result<Vec<u8>> {
        let bound = ("encrypted field", self.site.as_str(), self.number, id, name);
        serde_json::to_vec(&bound).map_err(Fault::internal)
    }

    fn broken(&self, id: &str, name: &str) -> Fault {
        let Self { site, number, collection, .. } = self;
        Fault::internal(format!(
            "site {site}, collection {collection} ({number}), item {id}, field {name}: the encrypted value doesn't open"
        ))
    }
}

/// The number of the key that a stored value was sealed with, and what follows it.
fn number_of(value: &str) -> Option<(u32, &str)> {
    let (number, text) = value.strip_prefix(BEGIN)?.split_once(':')?;
    let is_number = !number.starts_with(['0', '+']);
    number.parse().ok().filter(|_| is_number).map(|it| (it, text))
}

/// What seals and opens a collection's values; nothing if it has no encrypted field.
pub(crate) async fn load(content: &Content, site: &Site, collection: &Collection) -> Result<Option<Arc<FieldCipher>>> {
    if collection.encrypted.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(FieldCipher::new(site_key::load(content, site).await?, &site.id, collection))))
}

/// The cipher of a collection that is being defined; the site's key is made if this is the first.
pub(crate) async fn create(
    tx: &mut Tx<'_>,
    world: &World,
    site: &SiteId,
    collection: &Collection,
) -> Result<Option<Arc<FieldCipher>>> {
    if collection.encrypted.is_empty() {
        return Ok(None);
    }
    let keys = Arc::new(site_key::create(tx, world, site).await?);
    Ok(Some(Arc::new(FieldCipher::new(keys, site, collection))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::field::Field;
    use serde_json::json;

    fn cipher(site: &str, number: i64, fields: &[&str]) -> FieldCipher {
        let fields: Vec<Field> = fields
            .iter()
            .map(|it| Field::from_iter([("key".to_owned(), json!(it)), ("encrypted".to_owned(), true.into())]))
            .collect();
        FieldCipher {
            keys: Arc::new(SiteKeys::of(&[7], 1)),
            site: site.into(),
            number,
            collection: "c".into(),
            fields: EncryptedFields::of(&fields),
        }
    }

    fn limits() -> item::ItemLimits {
        stoa_query::QueryLimits::default().item()
    }

    fn stored(cipher: &FieldCipher, id: &str, data: &Json, old: Option<&str>) -> String {
        let (world, _) = World::fixed(0, 1);
        let item = stoa_query::canonical(&data.to_string(), limits()).expect("an item");
        let stamp = stoa_query::Stamp { id, created: 0, updated: 0, owner: None };
        cipher.seal(&world, id, &item, old).and_then(|it| it.document(stamp)).expect("a document")
    }

    #[test]
    fn values_come_back_as_they_were() {
        let cipher = cipher("s", 1, &["a", "ü\"\\"]);
        for value in [
            json!("text"),
            json!(""),
            json!("ends with a space "),
            json!("\u{0001}\"\\😀"),
            json!(-1.5e300),
            json!(true),
            json!([]),
            json!([1, null, { "$date": "2024-01-01T00:00:00.000Z" }]),
            json!({ "b": { "c": [true] } }),
            json!("sealed:1:abc"),
            json!("x".repeat(10_000)),
        ] {
            let data = json!({ "n": 1, "a": value, "ü\"\\": value, "z": value });
            let document = stored(&cipher, "i\"1", &data, None);
            let json: Json = serde_json::from_str(&document).expect("JSON");
            for name in ["a", "ü\"\\"] {
                assert!(
                    json[name].as_str().is_some_and(|it| it.starts_with("sealed:1:") && it.len() > 40),
                    "{document}"
                );
            }
            assert_eq!(json["z"], value);
            let opened: Json = serde_json::from_str(&cipher.opened(&document).expect("opened")).expect("JSON");
            assert_eq!((&opened["a"], &opened["ü\"\\"], &opened["n"]), (&value, &value, &json!(1)));
            let hidden: Json = serde_json::from_str(&cipher.fields.hide(document.as_str())).expect("JSON");
            assert_eq!((hidden.get("a"), hidden.get("ü\"\\"), &hidden["z"]), (None, None, &value));
        }
        let nothing = stored(&cipher, "1", &json!({ "a": null }), None);
        assert!(nothing.ends_with(r#","a":null}"#), "{nothing}");
        assert_eq!(cipher.opened(&nothing).expect("opened"), nothing);
    }

    #[test]
    fn ciphertexts_of_equal_values_differ_and_hide_lengths() {
        let cipher = cipher("s", 1, &["a", "b"]);
        let document: Json =
            serde_json::from_str(&stored(&cipher, "1", &json!({ "a": true, "b": true }), None)).expect("JSON");
        assert_ne!(document["a"], document["b"]);
        let length = |value: Json| stored(&cipher, "1", &json!({ "a": value }), None).len();
        assert_eq!(length(json!(true)), length(json!(false)));
        assert_eq!(length(json!("yes")), length(json!("a longer answer")));
    }

    #[test]
    fn value_opens_only_where_it_was_sealed() {
        let here = cipher("s", 1, &["a", "b"]);
        let document = stored(&here, "1", &json!({ "a": "x" }), None);
        let sealed = member(&document, "\"a\"").expect("a member").to_owned();
        assert_eq!(here.open("1", "\"a\"", &sealed).as_deref(), Some("\"x\""));
        assert_eq!(here.open("2", "\"a\"", &sealed), None, "another item");
        assert_eq!(here.open("1", "\"b\"", &sealed), None, "another field");
        assert_eq!(cipher("s", 2, &["a"]).open("1", "\"a\"", &sealed), None, "another collection");
        assert_eq!(cipher("t", 1, &["a"]).open("1", "\"a\"", &sealed), None, "another site");
        for n in BEGIN.len()..sealed.len() - 1 {
            let mut changed = sealed.clone();
            let other = if &sealed[n..=n] == "A" { "B" } else { "A" };
            changed.replace_range(n..=n, other);
            assert_eq!(here.open("1", "\"a\"", &changed), None, "{n}");
        }
        for wrong in [
            "",
            "\"",
            "\"x\"",
            "1",
            BEGIN,
            "\"sealed:\"",
            "\"sealed:1\"",
            "\"sealed:1:\"",
            "\"sealed:1:AAAA\"",
            "\"sealed:1:ü\"",
            &sealed[..40],
        ] {
            assert_eq!(here.open("1", "\"a\"", wrong), None, "{wrong}");
        }
        let moved = document.replace("\"_id\":\"1\"", "\"_id\":\"2\"");
        assert!(here.opened(&moved).is_err_and(|it| it.log().is_some_and(|it| it.contains("item 2, field \"a\""))));
        assert!(here.opened(r#"{"_id":"1","a":"never sealed"}"#).is_err());
        assert_eq!(
            here.readable(r#"{"_id":"1","a":"never sealed"}"#).expect("a document"),
            r#"{"_id":"1","a":"never sealed"}"#
        );
    }

    #[test]
    fn unchanged_values_stay_as_they_are_stored() {
        let cipher = cipher("s", 1, &["a", "b"]);
        let before = stored(&cipher, "1", &json!({ "a": "x", "b": 1 }), None);
        assert_eq!(stored(&cipher, "1", &json!({ "a": "x", "b": 1 }), Some(&before)), before);
        let after = stored(&cipher, "1", &json!({ "a": "x", "b": 2 }), Some(&before));
        assert_eq!(member(&after, "\"a\""), member(&before, "\"a\""));
        assert_ne!(member(&after, "\"b\""), member(&before, "\"b\""));
        // Carried over, though it opens no more.
        let broken = r#"{"_id":"1","a":"sealed:1:AAAA"}"#;
        assert_eq!(
            member(&stored(&cipher, "1", &json!({ "a": "sealed:1:AAAA" }), Some(broken)), "\"a\""),
            Some("\"sealed:1:AAAA\"")
        );
        // What was stored before its field was encrypted is sealed with the next writing.
        let clear = r#"{"_id":"1","a":"x"}"#;
        assert!(
            member(&stored(&cipher, "1", &json!({ "a": "x" }), Some(clear)), "\"a\"")
                .is_some_and(|it| it.starts_with(BEGIN))
        );
    }

    #[test]
    fn values_that_are_not_sent_can_be_kept() {
        let cipher = cipher("s", 1, &["a", "b", "c"]);
        let before = stored(&cipher, "1", &json!({ "a": "x", "b": null }), None);
        let item = stoa_query::canonical(r#"{"n":1}"#, limits()).expect("an item");
        let kept = cipher.keep(&item, &before, &[]).expect("an item").data();
        assert_eq!(
            (member(&kept, "\"a\""), member(&kept, "\"b\""), member(&kept, "\"c\"")),
            (member(&before, "\"a\""), Some("null"), None)
        );
        let kept = cipher.keep(&item, &before, &["a".to_owned()]).expect("an item").data();
        assert_eq!((member(&kept, "\"a\""), member(&kept, "\"b\"")), (None, Some("null")), "it was taken out");
        let item = stoa_query::canonical(r#"{"a":"new"}"#, limits()).expect("an item");
        assert_eq!(member(&cipher.keep(&item, &before, &[]).expect("an item").data(), "\"a\""), Some("\"new\""));
    }

    #[test]
    fn values_of_older_keys_open_and_are_renewed() {
        let at = |keys: &[u8], current| FieldCipher {
            keys: Arc::new(SiteKeys::of(keys, current)),
            ..cipher("s", 1, &["a", "b"])
        };
        let (first, told, second) = (at(&[7], 1), at(&[7, 8], 1), at(&[7, 8], 2));
        let (world, _) = World::fixed(0, 2);
        let data = json!({ "n": "\"sealed:1:x\"", "a": "x", "b": null });
        let old = stored(&first, "i", &data, None);
        assert!(!first.has_outdated(&old) && first.renewed(&world, &old).expect("read").is_none());
        // A node that knows of a key before it is used opens both.
        let new = stored(&second, "i", &data, None);
        assert!(new.contains("\"sealed:2:") && !new.contains("\"a\":\"sealed:1:"), "{new}");
        for (cipher, document) in [(&told, &old), (&told, &new), (&second, &old), (&second, &new)] {
            assert_eq!(member(&cipher.opened(document).expect("opened"), "\"a\""), Some("\"x\""));
        }
        assert!(first.opened(&new).is_err(), "one that doesn't know of it refuses");
        assert!(second.has_outdated(&old) && !second.has_outdated(&new));
        let renewed = second.renewed(&world, &old).expect("read").expect("changed");
        assert!(renewed.contains("\"a\":\"sealed:2:") && !second.has_outdated(&renewed), "{renewed}");
        assert_eq!(second.opened(&renewed).expect("opened"), first.opened(&old).expect("opened"));
        assert!(second.renewed(&world, &renewed).expect("read").is_none());
        // What doesn't open stays, and a text that was never sealed is none that is outdated.
        for odd in
            [r#"{"_id":"i","a":"sealed:1:AAAA"}"#, r#"{"_id":"i","a":"sealed:01:AAAA"}"#, r#"{"_id":"i","a":"x"}"#]
        {
            assert!(second.renewed(&world, odd).expect("read").is_none(), "{odd}");
        }
        // An unchanged value keeps its sealed text, under whichever key.
        assert_eq!(member(&stored(&second, "i", &data, Some(&old)), "\"a\""), member(&old, "\"a\""));
    }
}
