//! What happens when a browser opens an authorize address: a code, an error, or the sign-in page.
//!
//! Two forms lead here: `?session=…` of a redirect session, and a plain authorization request of the
//! standard (RFC 6749 section 4.1.1 with RFC 7636).

pub mod install;
pub mod logout;
pub mod provider;
mod redirect_session;
pub mod standard;

use crate::{
    Core,
    address::Address,
    browser::{Browser, Change},
    client::Client,
    defence::device::{self, Device},
    factor::remembered,
    flow::{
        FlowKind,
        open::{self, Destination},
    },
    mail,
    oauth::{
        authorization::{Authorization, AuthorizationResult, AuthorizeAnswer, Prompt, ResponseMode},
        code, consent,
    },
    redirect::plan::{self, SignedIn},
    session::{self, NewSession, Session},
    sign_in::enrolment,
    token::{Kind, site_names},
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result, Secret, TokenHash};
use stoa_store::{Site, Tx, boxed};

/// An answer, and the cookie of a session that was opened on the way.
#[derive(Debug)]
pub struct Authorized {
    pub answer: AuthorizeAnswer,
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

/// An authorization request that a browser opened.
pub(crate) struct OpenedRequest<'a> {
    pub client: &'a Client,
    pub request: Authorization,
    /// The redirect session that it was made from.
    pub redirect_session: Option<TokenHash>,
}

/// By what a browser shows who is signed in.
struct PresentedSession {
    redirect_session: Option<TokenHash>,
    /// The session of its cookie, unless the person is to be asked anyway.
    session: Option<Session>,
    device: Device,
    /// Whether the answer sets cookies.
    keeps_cookies: bool,
    /// Whether a page can be shown that asks for consent: not silently, nor in a frame.
    can_ask: bool,
}

/// Answers an authorization request of a known client.
pub(crate) async fn answer(
    core: &Arc<Core>,
    site: &Arc<Site>,
    opened: OpenedRequest<'_>,
    browser: &Browser,
    navigation: &Navigation,
) -> Result<Authorized> {
    let OpenedRequest { client, request, redirect_session } = opened;
    let session = session::of_browser(core, site, browser).await?;
    let issuer = site_names::issuer(core, &site.id).await?;
    let device = Device::of(core, browser, true);
    // A page that makes a browser open an address made with a sign-in of its own must not keep that browser
    // signed in: the cookie is only set when a page of the site itself led here, its client's or ours. One of others may
    // have made its sign-in before anybody had anything to say.
    let is_led = navigation.referer.as_deref().and_then(Address::parse).map(|it| it.origin()).is_some_and(|it| {
        let is_of_site = !client.is_third_party && client.allows_origin(&it);
        is_of_site || Address::parse(&browser.base_url).is_some_and(|own| own.origin() == it)
    });
    let keeps = is_led && session.is_none();
    let presented = PresentedSession {
        redirect_session,
        session: session.clone().filter(|_| !request.prompt.asks_who()),
        device: device.clone(),
        keeps_cookies: keeps,
        can_ask: request.prompt != Prompt::None && !navigation.is_frame,
    };
    let issued = site
        .write_with((core.clone(), site.clone(), request.clone(), presented), |tx, (core, site, request, presented)| {
            boxed!(issue_at_once(core, tx, site, request, presented).await)
        })
        .await?;
    let (result, opened) = match issued {
        Issued::Code { code, session } => (AuthorizationResult::Code(code), session),
        Issued::Refused(name, description) => {
            (AuthorizationResult::Error { name, description: description.into() }, None)
        }
        Issued::SignedOut if request.prompt == Prompt::None => {
            (AuthorizationResult::Error { name: "login_required", description: "Nobody is signed in.".into() }, None)
        }
        Issued::SignedOut => {
            let begun = open::begin(core, site, FlowKind::SignIn, Destination::Client(request), browser).await?;
            return Ok(Authorized::of(AuthorizeAnswer::Flow(begun)));
        }
        Issued::MustAgree { session, cookie } => {
            let mut begun = open::begin_consent(core, site, &session, request, browser).await?;
            if let Some(cookie) = cookie {
                (begun.cookies.session, begun.cookies.device) = (Change::Set(cookie), device.cookie());
                mail::deliver_soon(core, &site.id).await;
            }
            return Ok(Authorized::of(AuthorizeAnswer::Flow(begun)));
        }
    };
    if opened.is_some() {
        mail::deliver_soon(core, &site.id).await;
    }
    let opened = opened.filter(|_| keeps);
    let device = opened.as_ref().map_or(Change::Keep, |_| device.cookie());
    Ok(Authorized { answer: AuthorizeAnswer::Deliver(request.deliver(result, &issuer)), session: opened, device })
}

/// Takes what the redirect session stands for, or the browser's session, and issues a code.
async fn issue_at_once(
    core: &Arc<Core>,
    tx: &mut Tx<'_>,
    site: &Site,
    request: &Authorization,
    presented: &PresentedSession,
) -> Result<Issued> {
    let (is_first, granted) = match &presented.redirect_session {
        Some(hash) => plan::take(tx, site, hash, core.now()).await?,
        None => (true, None),
    };
    if !is_first && request.mode == ResponseMode::WebMessage {
        return Ok(Issued::Refused("invalid_request", "The address was used before."));
    }
    if let Some(SignedIn { member, remembers }) = granted {
        let is_asked = request.asks_always() || !consent::covers(tx, &site.id, request, &member).await?;
        match &presented.session {
            _ if !is_asked => {}
            _ if !presented.can_ask => return Ok(Issued::unasked()),
            // The page asks who is signed in in this browser, and makes it keep no sign-in that another page has sent it.
            _ if presented.keeps_cookies => {}
            // Nobody agrees by a session that gives no code.
            Some(own) if own.member == member && !enrolment::is_due(core, tx, site, &member).await? => {
                return Ok(Issued::MustAgree { session: own.clone(), cookie: None });
            }
            _ => return Ok(Issued::SignedOut),
        }
        let new = NewSession {
            member: member.clone(),
            client: None,
            root: None,
            visitor: request.visitor.clone(),
            scopes: None,
        };
        return match session::create(core, tx, site, Kind::Cookie, &new).await {
            Ok((session, secret)) => {
                device::record_seen(core, tx, site, &session.id, &member, &presented.device).await?;
                if remembers && presented.keeps_cookies {
                    remembered::remember(core, tx, &site.id, &member, presented.device.secret()).await?;
                }
                if is_asked {
                    return Ok(Issued::MustAgree { session, cookie: Some(secret) });
                }
                match code::issue_for(core, tx, site, request, (&session.member, &session.root)).await? {
                    Some(code) => Ok(Issued::Code { code, session: Some(secret) }),
                    None => Ok(Issued::unasked()),
                }
            }
            Err(fault) if fault.code() == Code::MemberBlocked => {
                Ok(Issued::Refused("access_denied", "The member can not sign in."))
            }
            Err(fault) => Err(fault),
        };
    }
    match &presented.session {
        // Such a session may have been opened by a password alone.
        Some(session) if enrolment::is_due(core, tx, site, &session.member).await? => Ok(Issued::SignedOut),
        Some(session) => {
            let code = match request.asks_always() {
                true => None,
                false => code::issue_for(core, tx, site, request, (&session.member, &session.root)).await?,
            };
            Ok(match code {
                Some(code) => Issued::Code { code, session: None },
                None if presented.can_ask => Issued::MustAgree { session: session.clone(), cookie: None },
                None => Issued::unasked(),
            })
        }
        None => Ok(Issued::SignedOut),
    }
}

impl Authorized {
    pub(crate) fn of(answer: AuthorizeAnswer) -> Self {
        Self { answer, session: None, device: Change::Keep }
    }
}

enum Issued {
    Code {
        code: Secret,
        session: Option<Secret>,
    },
    Refused(&'static str, &'static str),
    /// No member is signed in, or without the second factor that is due.
    SignedOut,
    /// The member is to be asked whether a client of others may have what it asks for.
    MustAgree {
        session: Session,
        /// Of a session that was opened on the way.
        cookie: Option<Secret>,
    },
}

impl Issued {
    /// The member would have to be asked where no page can be shown (OpenID Connect Core 3.1.2.6).
    fn unasked() -> Self {
        Self::Refused("consent_required", "The member has not agreed to what is asked for.")
    }
}

/// An error of a request whose client or address is not known: shown here, never sent to an address.
pub(crate) fn unregistered(fault: Fault) -> Fault {
    match fault.code() {
        Code::ClientUnknown | Code::RedirectRefused => fault,
        _ => Fault::new(Code::OauthInvalidRequest).logged(format!("{fault:?}")),
    }
}
