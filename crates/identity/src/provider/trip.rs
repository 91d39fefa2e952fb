//! What a browser carries to a provider and back as `state`: sealed, so that nobody reads the PKCE verifier in it or writes one, and bound
//! to the browser that was sent, so that no other comes back with it (RFC 9700 section 4.7). Nothing is stored: who only begins fills no
//! table.

use crate::{Core, browser::Browser, oauth::pkce, token::opaque};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stoa_kernel::{Fault, Millis, Result, SiteId, TokenHash, VisitorId};
use stoa_store::Site;

/// How long a browser may be away.
const LIFE: Millis = 10 * 60_000;
/// Characters of a state.
const LONGEST: usize = 8 * 1024;
/// The one address to which providers send browsers back, beneath this server's own.
pub const CALLBACK: &str = "/_api/iam/authentication/v1/callback";

/// Where a browser was that was sent to a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trip {
    /// The id of the connection: each state is of one provider (RFC 9700 section 4.4).
    pub connection: String,
    /// The hash, in hex, of the cookie that binds flows to the browser.
    browser: String,
    pub nonce: String,
    /// Of PKCE.
    pub verifier: String,
    /// Where the provider sends the browser.
    pub redirect_uri: String,
    until: Millis,
    pub purpose: Purpose,
}

/// What the sign-in is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// The flow with this token.
    Flow {
        token: String,
    },
    Channel(Channel),
}

/// A page of the site that waits for the result (docs/protocol/identity.md §6, SSO).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The end of the channel's name.
    pub session_id: String,
    /// In base64: what the result is encrypted with.
    pub encryption_key: String,
    /// Who becomes the member.
    pub visitor: Option<VisitorId>,
    /// What goes back with the result.
    pub payload: BTreeMap<String, String>,
}

impl Trip {
    /// One that begins now, for a browser with this cookie.
    pub(crate) fn begin(core: &Core, connection: &str, browser: &Browser, cookie: &str, purpose: Purpose) -> Self {
        Self {
            connection: connection.to_owned(),
            browser: opaque::hex(&TokenHash::of(cookie)),
            nonce: core.world().token::<32>(),
            verifier: core.world().token::<32>(),
            redirect_uri: format!("{}{CALLBACK}", browser.base_url),
            until: core.now() + LIFE,
            purpose,
        }
    }

    /// As the provider gets it: the site's number, so that it is found, and what nobody else reads.
    pub(super) fn seal(&self, core: &Core, site: &Site) -> Result<String> {
        debug_assert!(pkce::is_verifier(&self.verifier));
        let text = serde_json::to_string(self).map_err(Fault::internal)?;
        sealed(core, site, STATE, &text)
    }

    /// What was sealed for this site and comes back in the same browser in time.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub(crate) async fn open(core: &Core, site: &Site, state: &str, browser: &Browser) -> Result<Option<Self>> {
        let trip: Option<Self> = opened(core, site, STATE, state).await?;
        let cookie = browser.flow.as_deref().map(|it| opaque::hex(&TokenHash::of(it)));
        Ok(trip.filter(|it| core.now() < it.until && Some(&it.browser) == cookie.as_ref()))
    }
}

/// A call that goes on in a browser ([`Channel`]), for so long.
#[derive(Serialize, Deserialize)]
struct Ticket {
    connection: String,
    until: Millis,
    channel: Channel,
}

/// What a client of the site is told to open: what it asked for, with the visitor that its token shows.
pub(crate) fn ticket(core: &Core, site: &Site, connection: &str, channel: Channel) -> Result<String> {
    let ticket = Ticket { connection: connection.to_owned(), until: core.now() + LIFE, channel };
    let text = serde_json::to_string(&ticket).map_err(Fault::internal)?;
    sealed(core, site, TICKET, &text)
}

/// What [`ticket`] made for this connection.
///
/// # Errors
/// What the catalogue answers.
pub(crate) async fn redeem(core: &Core, site: &Site, connection: &str, text: &str) -> Result<Option<Channel>> {
    let ticket: Option<Ticket> = opened(core, site, TICKET, text).await?;
    let ticket = ticket.filter(|it| it.connection == connection && core.now() < it.until);
    Ok(ticket.map(|it| it.channel))
}

const STATE: &str = "provider state";
const TICKET: &str = "provider ticket";

fn sealed(core: &Core, site: &Site, kind: &str, text: &str) -> Result<String> {
    let sealed = core.ciphers.provider.encrypt(core.world(), &associated_data(&site.id, kind), text)?;
    Ok(format!("{}.{}", site.number, URL_SAFE_NO_PAD.encode(sealed)))
}

async fn opened<T: for<'de> Deserialize<'de>>(core: &Core, site: &Site, kind: &str, text: &str) -> Result<Option<T>> {
    let Some(bytes) = site_number(text)
        .filter(|it| *it == site.number)
        .and_then(|_| URL_SAFE_NO_PAD.decode(text.split_once('.')?.1).ok())
    else {
        return Ok(None);
    };
    let about = associated_data(&site.id, kind);
    let opened = core.ciphers.provider.open(core.store().catalog(), &about, &bytes).await?;
    Ok(opened.and_then(|it| serde_json::from_str(&it).ok()))
}

/// The internal number of the site that a state names.
pub(crate) fn site_number(text: &str) -> Option<i64> {
    let (site, rest) = text.split_once('.')?;
    let is_number = !site.is_empty() && site.len() <= 15 && site.bytes().all(|it| it.is_ascii_digit());
    (is_number && !site.starts_with('0') && rest.len() <= LONGEST).then(|| site.parse().ok())?
}

fn associated_data(site: &SiteId, kind: &str) -> String {
    serde_json::json!([kind, site]).to_string()
}
