//! Opaque tokens: a letter for the kind, the short id of the site, a dot and 256 random bits. Only the hash of one is
//! kept.

use crate::{Core, Identity};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result, Secret, SiteId, TokenHash, World};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed};

/// What an opaque token is for. Each kind begins with its own letter, so none passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A member's refresh token.
    Refresh,
    /// `sessionToken` of a finished sign-in.
    Session,
    /// The cookie of a browser's session.
    Cookie,
    /// An authorization code.
    Code,
    /// An API key.
    ApiKey,
    /// A sign-in, sign-up or recovery in progress.
    Flow,
    /// `stateToken`: a sign-in that waits for an e-mailed code.
    State,
    /// A link in a message: recovery, activation.
    Link,
    /// A link with which somebody who runs sites chooses another password.
    OperatorLink,
    /// A link with which an owner decides about a member.
    Approval,
    /// A link with which a member keeps an account that was to be deleted.
    Keep,
    /// A link with which a member takes another address of the account back.
    Undo,
    /// What a browser that a member enrolled is asked by.
    Question,
    /// A redirect session.
    Redirect,
    /// An invitation to run a site.
    Invite,
    /// The session of an operator.
    Operator,
    /// A code that tells an application where it was installed.
    Install,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Self::Refresh => 'r',
            Self::Session => 's',
            Self::Cookie => 'b',
            Self::Code => 'c',
            Self::ApiKey => 'k',
            Self::Flow => 'f',
            Self::State => 't',
            Self::Link => 'l',
            Self::OperatorLink => 'o',
            Self::Approval => 'a',
            Self::Keep => 'e',
            Self::Undo => 'u',
            Self::Question => 'q',
            Self::Redirect => 'd',
            Self::Invite => 'i',
            Self::Operator => 'p',
            Self::Install => 'n',
        }
    }
}

/// A new opaque token of a site, given by the site's internal number.
pub fn opaque(world: &World, kind: Kind, site: i64) -> Secret {
    encode(kind, site, &world.bytes())
}

/// The opaque token that stands for these bytes.
pub(crate) fn encode(kind: Kind, site: i64, bytes: &[u8; 32]) -> Secret {
    Secret::new(format!("{}{site}.{}", kind.letter(), URL_SAFE_NO_PAD.encode(bytes)))
}

/// What [`encode`] was given.
pub(crate) fn decode(text: &str) -> Option<[u8; 32]> {
    URL_SAFE_NO_PAD.decode(text.split_once('.')?.1).ok()?.try_into().ok()
}

/// The internal number of the site that an opaque token names; `None` when it is not of this kind.
pub fn site_number(kind: Kind, text: &str) -> Option<i64> {
    let (site, random) = text.strip_prefix(kind.letter())?.split_once('.')?;
    let is_token = random.len() == 43 && random.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it));
    let is_number = !site.is_empty() && site.len() <= 15 && site.bytes().all(|it| it.is_ascii_digit());
    if !is_token || !is_number || site.starts_with('0') {
        return None;
    }
    site.parse().ok()
}

/// What [`Identity::site_of`] does.
pub(crate) async fn site_of(core: &Core, kind: Kind, text: &str) -> Result<Arc<Site>> {
    let number = site_number(kind, text).ok_or_else(|| Fault::new(Code::SiteUnknown))?;
    site_of_number(core, number).await
}

/// The site with this internal number, opened.
///
/// # Errors
/// [`Code::SiteUnknown`].
pub(crate) async fn site_of_number(core: &Core, number: i64) -> Result<Arc<Site>> {
    let id = match core.sites.get(&number) {
        Some(id) => id,
        None => {
            let sql = "select id from stoa.site where number = $1";
            let found: Option<String> = core
                .store
                .catalog()
                .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![number], |row| row.get(0)).await?)))
                .await?;
            let id = SiteId::from(found.ok_or_else(|| Fault::new(Code::SiteUnknown))?);
            core.sites.insert(number, id.clone());
            id
        }
    };
    core.store.site(&id).await
}

impl Identity {
    /// The site that an opaque token, code or link names at its beginning, opened.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`] when the text is not one of ours or its site is gone.
    pub async fn site_of(&self, kind: Kind, text: &str) -> Result<Arc<Site>> {
        site_of(&self.core, kind, text).await
    }
}

/// A hash as text, for the stored context of a flow.
pub(crate) fn hex(hash: &TokenHash) -> String {
    hash.to_vec().iter().map(|it| format!("{it:02x}")).collect()
}

/// The bytes of [`hex`]; what is not such a text names nothing.
pub(crate) fn hash_from_hex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map_while(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_tokens_name_their_site_and_kind() {
        let (world, _) = World::fixed(0, 1);
        let token = opaque(&world, Kind::Refresh, 42);
        assert_eq!(site_number(Kind::Refresh, token.expose()), Some(42));
        assert_eq!(site_number(Kind::Session, token.expose()), None);
        assert!(!token.expose().contains(','));
        for bad in ["", "r", "r1", "r1.", "r1.short", "r01.", "r-1.x", "r1.é"] {
            assert_eq!(site_number(Kind::Refresh, bad), None, "{bad}");
        }
        let padded = token.expose().replace("r42", "r042");
        assert_eq!(site_number(Kind::Refresh, &padded), None);
    }
}
