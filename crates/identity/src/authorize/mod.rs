//! What happens when a browser opens an authorize address: a code, an error, or the sign-in page.
//!
//! Two forms lead here: `?session=…` of a redirect session, and a plain authorization request of the
//! standard (RFC 6749 section 4.1.1 with RFC 7636).

pub mod install;
pub mod logout;
pub mod standard;

use crate::{
    Core, Identity,
    address::{Address, form},
    client::Client,
    defence::device::{self, Device},
    flow::{Beginning, Browser, Change, FlowKind, open},
    mail,
    oauth::code::{self, NewCode},
    redirect::{
        self, Plan,
        request::{Prompt, ResponseMode},
    },
    session::{self, NewSession, Session},
    token::Kind,
};
use std::sync::Arc;
use stoa_kernel::{ClientId, Code, Fault, MemberId, Result, Secret, SessionId, TokenHash, VisitorId};
use stoa_store::{Site, Tx, boxed};

/// A checked authorization request: every address in it belongs to the client.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Authorization {
    pub client: ClientId,
    /// Absent for `web_message`.
    pub redirect_uri: Option<String>,
    pub mode: ResponseMode,
    /// Origin to which a `web_message` goes.
    pub target: Option<String>,
    /// Empty only when a standard request had none.
    pub state: String,
    /// Absent only for a client with a secret.
    pub challenge: Option<String>,
    pub prompt: Prompt,
    /// The visitor who becomes the member.
    pub visitor: Option<VisitorId>,
    /// Asked for as the standard says, or by a client with a secret: such clients replace their refresh
    /// tokens, so those rotate. The SDK's public clients never do (identity.md 4.4).
    #[serde(default)]
    pub rotates: bool,
}

/// What is sent back to the client.
#[derive(Debug)]
pub enum Sent {
    Code(Secret),
    Error { name: &'static str, description: &'static str },
}

/// Where the result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Send the browser there.
    Redirect(String),
    /// Hand it to the window that waits, which is of this origin.
    Message { origin: String, code: Option<String>, state: String, error: Option<(&'static str, &'static str)> },
}

/// How an authorize address is answered.
#[derive(Debug)]
pub enum Answer {
    Deliver(Delivery),
    /// A flow has begun: show its page.
    Flow(Beginning),
    /// An empty page that these origins may frame (pre-warm, identity.md 5.5).
    Blank {
        origins: Vec<String>,
    },
    /// Signed out: the browser goes there, and the session cookie, if it is this site's.
    SignedOut {
        url: String,
        session: Change,
    },
}

/// An answer, and the cookie of a session that was opened on the way.
#[derive(Debug)]
pub struct Authorized {
    pub answer: Answer,
    pub session: Option<Secret>,
    /// The cookie by which the browser is known again.
    pub device: Change,
}

/// What the browser says about the request itself.
#[derive(Debug, Clone, Default)]
pub struct Navigation {
    /// The `Referer` header.
    pub referer: Option<String>,
    /// `Sec-Fetch-Dest: iframe`.
    pub is_frame: bool,
    /// Whether the whole page goes there, not a picture or a script of one (`Sec-Fetch-Mode`, `Sec-Fetch-Dest`).
    pub is_page: bool,
}

impl Authorization {
    /// The answer as the client reads it (identity.md 5.3). `issuer` tells which server answers
    /// (RFC 9207).
    pub fn deliver(&self, sent: Sent, issuer: &str) -> Delivery {
        let (code, error) = match sent {
            Sent::Code(code) => (Some(code.expose().to_owned()), None),
            Sent::Error { name, description } => (None, Some((name, description))),
        };
        if let Some(origin) = &self.target {
            return Delivery::Message { origin: origin.clone(), code, state: self.state.clone(), error };
        }
        let mut pairs = Vec::with_capacity(4);
        pairs.extend(code.as_deref().map(|it| ("code", it)));
        pairs.extend(error.into_iter().flat_map(|(name, text)| [("error", name), ("error_description", text)]));
        if !self.state.is_empty() {
            pairs.push(("state", &self.state));
        }
        pairs.push(("iss", issuer));
        let uri = self.redirect_uri.as_deref().unwrap_or_default();
        Delivery::Redirect(match (Address::parse(uri), self.mode) {
            (Some(uri), ResponseMode::Fragment) => uri.with_fragment(pairs),
            (Some(uri), _) => uri.with_query(pairs),
            // A registered address of an app's own scheme: it has no fragment.
            (None, ResponseMode::Fragment) => format!("{uri}#{}", form(pairs)),
            (None, _) => format!("{uri}{}{}", if uri.contains('?') { '&' } else { '?' }, form(pairs)),
        })
    }
}

impl Identity {
    /// Opens the address of a redirect session.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown or too old.
    pub async fn redirect_session_open(
        &self,
        site: &Arc<Site>,
        token: &str,
        browser: &Browser,
        navigation: &Navigation,
    ) -> Result<Authorized> {
        let core = &self.core;
        match redirect::get(core, site, token).await? {
            Plan::Auth(request) => {
                let client = redirect::client_of(core, site, &request.client).await?;
                let from = Some(TokenHash::of(token));
                answer(core, site, &client, request, from, browser, navigation).await
            }
            Plan::Login { client, return_url } => {
                let client = match &client {
                    Some(id) => Some(redirect::client_of(core, site, id).await?),
                    None => None,
                };
                if navigation.is_frame {
                    return Ok(Authorized::of(Answer::Blank { origins: origins(client.as_deref()) }));
                }
                let begun = open::begin(core, site, FlowKind::SignIn, None, return_url, browser).await?;
                Ok(Authorized::of(Answer::Flow(begun)))
            }
            Plan::Page { url } => Ok(Authorized::of(Answer::Deliver(Delivery::Redirect(url)))),
            Plan::Logout { session, member, return_url } => {
                let answer = logout::sign_out(core, site, session, member, return_url, browser).await?;
                Ok(Authorized::of(answer))
            }
        }
    }
}

/// Answers an authorization request of a known client.
pub(crate) async fn answer(
    core: &Arc<Core>,
    site: &Arc<Site>,
    client: &Client,
    request: Authorization,
    redirect_session: Option<TokenHash>,
    browser: &Browser,
    navigation: &Navigation,
) -> Result<Authorized> {
    let session = browser.session(core, site).await?;
    let issuer = &browser.base_url;
    let (me, place, plan) = (core.clone(), site.clone(), request.clone());
    let known = session.clone().filter(|_| request.prompt != Prompt::Login);
    let device = Device::of(core, browser, true);
    let this = device.clone();
    let issued = site
        .write(move |tx| {
            let (me, site, plan) = (me.clone(), place.clone(), plan.clone());
            let (taken, known, this) = (redirect_session.clone(), known.clone(), this.clone());
            boxed!(issue_at_once(&me, tx, &site, &plan, taken, known, &this).await)
        })
        .await?;
    let (sent, opened) = match issued {
        Issued::Code { code, session } => (Sent::Code(code), session),
        Issued::Refused(name, description) => (Sent::Error { name, description }, None),
        Issued::Nobody if request.prompt == Prompt::None => {
            (Sent::Error { name: "login_required", description: "Nobody is signed in." }, None)
        }
        Issued::Nobody => {
            let begun = open::begin(core, site, FlowKind::SignIn, Some(request), None, browser).await?;
            return Ok(Authorized::of(Answer::Flow(begun)));
        }
    };
    // Whoever makes a browser open an address made with their own sign-in must not sign it in as
    // themselves for good: the cookie is only set when the client's own page led here.
    let is_led =
        navigation.referer.as_deref().and_then(Address::parse).map(|it| it.origin()).is_some_and(|it| {
            client.allows_origin(&it) || Address::parse(issuer).is_some_and(|own| own.origin() == it)
        });
    let keeps = is_led && session.is_none();
    if opened.is_some() {
        mail::soon(core, &site.id).await;
    }
    let opened = opened.filter(|_| keeps);
    let device = opened.as_ref().map_or(Change::Keep, |_| device.cookie());
    Ok(Authorized { answer: Answer::Deliver(request.deliver(sent, issuer)), session: opened, device })
}

/// Takes what the redirect session stands for, or the browser's session, and issues a code.
async fn issue_at_once(
    core: &Arc<Core>,
    tx: &mut Tx<'_>,
    site: &Site,
    request: &Authorization,
    redirect_session: Option<TokenHash>,
    known: Option<Session>,
    device: &Device,
) -> Result<Issued> {
    let (is_first, granted) = match &redirect_session {
        Some(hash) => redirect::take(tx, site, hash, core.now()).await?,
        None => (true, None),
    };
    if !is_first && request.mode == ResponseMode::WebMessage {
        return Ok(Issued::Refused("invalid_request", "The address was used before."));
    }
    if let Some(member) = granted {
        let new = NewSession { member: member.clone(), client: None, root: None, visitor: request.visitor.clone() };
        return match session::create(core, tx, site, Kind::Cookie, &new).await {
            Ok((session, secret)) => {
                device::note_seen(core, tx, site, &member, device).await?;
                let code = code_for(core, tx, site, request, &member, &session.root).await?;
                Ok(Issued::Code { code, session: Some(secret) })
            }
            Err(fault) if fault.code() == Code::MemberBlocked => {
                Ok(Issued::Refused("access_denied", "The member can not sign in."))
            }
            Err(fault) => Err(fault),
        };
    }
    match known {
        Some(session) => {
            let code = code_for(core, tx, site, request, &session.member, &session.root).await?;
            Ok(Issued::Code { code, session: None })
        }
        None => Ok(Issued::Nobody),
    }
}

/// A code for a member whose browser session is open.
pub(crate) async fn code_for(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    request: &Authorization,
    member: &MemberId,
    root: &SessionId,
) -> Result<Secret> {
    let new = NewCode {
        client: request.client.clone(),
        member: member.clone(),
        root: root.clone(),
        visitor: request.visitor.clone(),
        rotates: request.rotates,
        redirect_uri: request.redirect_uri.clone(),
        challenge: request.challenge.clone(),
    };
    code::issue(core, tx, site, &new).await
}

impl Authorized {
    pub(crate) fn of(answer: Answer) -> Self {
        Self { answer, session: None, device: Change::Keep }
    }
}

enum Issued {
    Code { code: Secret, session: Option<Secret> },
    Refused(&'static str, &'static str),
    Nobody,
}

/// The web origins that belong to a client, for `frame-ancestors`.
fn origins(client: Option<&Client>) -> Vec<String> {
    let Some(client) = client else { return Vec::new() };
    let all = client.origins.iter().chain(&client.redirect_uris);
    let mut origins: Vec<String> = all.filter_map(|it| Some(Address::parse(it)?.origin())).collect();
    origins.dedup();
    origins
}

/// An error of a request whose client or address is not known: told here, never sent anywhere.
pub(crate) fn unregistered(fault: Fault) -> Fault {
    match fault.code() {
        Code::ClientUnknown | Code::RedirectRefused => fault,
        _ => Fault::new(Code::OauthInvalidRequest).logged(format!("{fault:?}")),
    }
}
