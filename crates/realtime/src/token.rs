//! Where a client was that may come back: the ids of messages.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    digest::{SHA256, digest},
    hmac,
};
use std::fmt;
use stoa_kernel::Caller;
use stoa_store::outbox::{Token, Visible};

/// Bytes before what is sealed.
const SALT: usize = 16;

/// A place in a site's log, for one who asks. It gives no right. What clients are told is sealed by [`PlaceKey`]: nobody
/// makes one up, such as from before they might see anything, and nobody reads how much others write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamToken {
    pub token: Token,
    /// For whom the place was: what another would have been told before it isn't known to them.
    pub identity: Identity,
    /// What of the log behind the place has been told all the same.
    pub visible: Option<Visible>,
}

/// Seals the places of a site, alike on all nodes.
pub(crate) struct PlaceKey(hmac::Key);

impl PlaceKey {
    /// The name of the setting with the secret that it is made of.
    pub(crate) const SETTING: &str = "realtime place key";
    /// Characters of the longest text that is opened.
    const LONGEST: usize = 8_192;

    pub(crate) fn new(secret: &str) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }

    /// A place as clients are told it. The same place is the same text: the salt is a digest under the key of what is sealed,
    /// and what is sealed has a key of its own made from it, so that nothing needs to be drawn or counted.
    pub(crate) fn seal(&self, place: &StreamToken) -> String {
        let mut sealed = place.to_string().into_bytes();
        let salt = self.derive(b"salt", &sealed);
        let salt = &salt.as_ref()[..SALT];
        let key = self.key(salt);
        // Refused for many gigabytes alone; what stands here then is no place, and whoever comes with it reads again.
        let is_sealed = key.is_some_and(|it| it.seal_in_place_append_tag(nonce(), Aad::empty(), &mut sealed).is_ok());
        if is_sealed { URL_SAFE_NO_PAD.encode([salt, &sealed].concat()) } else { String::from("-") }
    }

    /// The place that was sealed; nothing for any other text.
    pub(crate) fn open(&self, text: &str) -> Option<StreamToken> {
        let bytes = URL_SAFE_NO_PAD.decode(Some(text).filter(|it| it.len() <= Self::LONGEST)?).ok()?;
        let (salt, sealed) = bytes.split_at_checked(SALT)?;
        let mut sealed = sealed.to_vec();
        let opened = self.key(salt)?.open_in_place(nonce(), Aad::empty(), &mut sealed).ok()?;
        StreamToken::parse(std::str::from_utf8(opened).ok()?)
    }

    /// The key for what has this salt: no other place has it, so that one nonce does.
    fn key(&self, salt: &[u8]) -> Option<LessSafeKey> {
        let secret = self.derive(b"key", salt);
        UnboundKey::new(&CHACHA20_POLY1305, secret.as_ref()).ok().map(LessSafeKey::new)
    }

    fn derive(&self, purpose: &[u8], of: &[u8]) -> hmac::Tag {
        hmac::sign(&self.0, &[purpose, b":", of].concat())
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// Stands for who asks, as far as that decides what is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(u64);

impl Identity {
    /// Visitors are all told the same, and so are sessions of one member.
    pub(crate) fn of(caller: &Caller) -> Self {
        let text = match caller.bare() {
            Caller::Visitor { .. } | Caller::Scoped(_) => "visitor".to_owned(),
            Caller::Member { id, .. } => format!("member {id}"),
            Caller::User { id, role, .. } => format!("user {id} {role:?}"),
            Caller::App { .. } => "app".to_owned(),
        };
        let scopes = caller.scopes().map(ToString::to_string);
        let hash = digest(&SHA256, format!("{text} {scopes:?}").as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_ref()[..8]);
        Self(u64::from_be_bytes(first))
    }
}

impl StreamToken {
    /// Reads what [`fmt::Display`] printed; nothing for any other text.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('~');
        let token = Token::parse(parts.next()?)?;
        let identity = parts.next().filter(|it| it.len() == 16)?;
        let identity = Identity(u64::from_str_radix(identity, 16).ok()?);
        let visible = match parts.next() {
            Some(it) => Some(Visible::parse(it)?),
            None => None,
        };
        parts.next().is_none().then_some(Self { token, identity, visible })
    }
}

impl fmt::Display for StreamToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{:016x}", self.token, self.identity.0)?;
        match &self.visible {
            Some(it) => write!(f, "~{it}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::{Role, Scopes};

    fn member(id: &str, session: &str) -> Caller {
        Caller::Member { id: id.into(), session: session.into(), client: None }
    }

    #[test]
    fn tokens_are_read_as_they_were_printed() {
        let identity = Identity::of(&member("m", "s"));
        for place in ["aB3-_zzzzzzzzzz9.1.2", "aB3-_zzzzzzzzzz9.1.2.7"] {
            for visible in [None, Visible::parse("a.2.7")] {
                let token = StreamToken { token: Token::parse(place).expect("a token"), identity, visible };
                assert_eq!(StreamToken::parse(&token.to_string()), Some(token));
            }
        }
        let good = format!("aB3-_zzzzzzzzzz9.1.2~{:016x}", identity.0);
        let with = |end: &str| format!("{good}{end}");
        for wrong in ["", "~", "aB3-_zzzzzzzzzz9.1.2", "aB3-_zzzzzzzzzz9.1.2~1", &with("~"), &with("~a~b")] {
            assert_eq!(StreamToken::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn places_are_opened_under_their_key_alone() {
        let identity = Identity::of(&member("m", "s"));
        let (key, other) = (PlaceKey::new("secret"), PlaceKey::new("another"));
        let place = |token: &str| {
            let token = Token::parse(token).expect("a token");
            StreamToken { token, identity, visible: Visible::parse("a.2.7") }
        };
        let (first, next) = (place("aB3-_zzzzzzzzzz9.1.2"), place("aB3-_zzzzzzzzzz9.1.3"));
        let sealed = key.seal(&first);
        assert_eq!((key.open(&sealed), key.open(&key.seal(&next))), (Some(first.clone()), Some(next.clone())));
        assert_eq!((other.open(&sealed), key.open(&first.to_string())), (None, None));
        assert_eq!(key.seal(&first), sealed, "it says nothing new");
        let same = sealed.bytes().zip(key.seal(&next).bytes()).filter(|it| it.0 == it.1).count();
        assert!(same < 20, "nothing is seen of what both are: {same}");
        for n in 0..sealed.len() {
            let letter = if &sealed[n..=n] == "A" { "B" } else { "A" };
            let forged = format!("{}{letter}{}", &sealed[..n], &sealed[n + 1..]);
            assert_eq!((key.open(&forged), key.open(&sealed[..n])), (None, None), "{n}");
        }
        assert_eq!(key.open(&"A".repeat(10_000)), None);
    }

    #[test]
    fn identity_is_who_asks_and_not_their_session() {
        assert_eq!(Identity::of(&member("m", "s")), Identity::of(&member("m", "t")));
        let user = |role| Caller::User { id: "m".into(), role, session: "s".into() };
        let visitor = |id: &str| Caller::Visitor { id: id.into(), client: None };
        assert_eq!(Identity::of(&visitor("a")), Identity::of(&visitor("b")));
        let scoped = member("m", "s").held_to(Some(&Scopes::among("items:read")));
        let all = [member("m", "s"), member("n", "s"), user(Role::Owner), user(Role::Editor), visitor("m"), scoped];
        for (n, it) in all.iter().enumerate() {
            assert!(all[..n].iter().all(|other| Identity::of(other) != Identity::of(it)), "{it:?}");
        }
    }
}
