//! Web Push: browsers that a member enrolled are asked whether a sign-in is theirs (decision 59).
//!
//! What a browser brings is parsed strictly ([`Subscription`]). A message is encrypted for it ([`encrypt`], RFC 8291) and signed by
//! the key pair of the site ([`key_of`], RFC 8292). A question is one row a member ([`question`]): it names what it was asked for,
//! shows two digits there, is answered once by who has the token that went to the browsers, and its approval counts once.

mod key_pair;
mod message;
pub(crate) mod question;
mod random;
mod subscription;
mod vapid;

pub(crate) use message::{Content, encrypt};
pub use subscription::Subscription;
pub(crate) use vapid::{KeyCache, VapidKey, left, of_site as key_of, reseal};

use stoa_outbound::{Reach, WebPush};

/// Browsers of a member.
pub(crate) const MOST: usize = 5;

/// What sends to browsers, and the keys of sites by which it does.
pub(crate) struct PushSender {
    pub service: WebPush,
    pub keys: KeyCache,
}

impl PushSender {
    pub(crate) fn new(reach: Reach) -> Self {
        Self { service: WebPush::new(reach), keys: KeyCache::new() }
    }
}
