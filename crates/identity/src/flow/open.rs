//! How flows begin: from the account pages, from an authorize address, from a link in a message.

use crate::{
    Core, Identity,
    browser::{Beginning, Browser, Change, Cookies},
    client::{self, Client},
    defence::throttle::AttemptKind,
    face,
    flow::{
        FlowAnswer, by_provider, page,
        record::{self, Context, Record},
        state::{SignedMember, State},
        step::{self, Entry},
        view::{self, Visit},
        wire::{FlowKind, FlowStart},
    },
    member,
    oauth::authorization::{Authorization, AuthorizeAnswer},
    operator::{self, invite},
    provider::connection,
    session::{self, Session},
    sign_in::{operator_recovery, recovery},
    token::{Kind, opaque, site_names, site_number},
};
use std::sync::Arc;
use stoa_kernel::{ClientId, Code, Fault, Result, Secret, TokenHash};
use stoa_store::Site;

impl Identity {
    /// Begins a flow that the account pages ask for.
    ///
    /// # Errors
    /// [`Code::ClientUnknown`], [`Code::RedirectRefused`] for a return address that is neither the
    /// client's nor this server's, [`Code::LinkInvalid`] for an invitation that is used or expired,
    /// [`Code::NotBuilt`] for kinds that don't begin here; [`Code::Throttled`].
    pub async fn flow_start(&self, site: &Arc<Site>, start: &FlowStart, browser: &Browser) -> Result<FlowAnswer> {
        let core = &self.core;
        let client = match &start.client_id {
            Some(id) => Some(client::of_site(core, site, &ClientId::from(id.as_str())).await?),
            None => None,
        };
        let return_url = client::return_url(client.as_deref(), start.return_url.as_deref(), &browser.base_url)?;
        let mut context = Context { return_url, client: client.map(|it| it.id.clone()), ..Context::default() };
        let state = match start.kind {
            FlowKind::OwnerSetup => {
                let token = start.invite.as_deref().unwrap_or_default();
                let invite = invite::get(core, token).await?;
                if invite.site != site.id {
                    return Err(Fault::new(Code::LinkInvalid));
                }
                context.link = Some(opaque::hex(&TokenHash::of(token)));
                // Without an address it is the first link of a site: the one who opens it says who they are.
                step::begin(Entry::Invited { email: invite.email.map(|it| it.as_str().to_owned()) })
            }
            kind @ FlowKind::SignOut => step::begin(Entry::Asked { kind, name: name_of(core, site, browser).await? }),
            kind => step::begin(Entry::Asked { kind, name: None }),
        };
        let state = state.ok_or_else(|| Fault::because(Code::NotBuilt, "a flow of this kind begins elsewhere"))?;
        let (record, begun) = insert(core, site, New { kind: start.kind, state, context }, browser).await?;
        let issuer = site_names::issuer(core, &site.id).await?;
        let face = face::of_site(site).await?;
        let visit = Visit { site, token: begun.token.expose(), browser, issuer: &issuer, face: &face };
        let page = page::of(core, visit, &record).await?;
        let view = view::view(visit, &record, page, Vec::new());
        Ok(FlowAnswer { view, cookies: begun.cookies })
    }

    /// A browser opened a recovery link, of a member or of an operator of the site: the page that asks for the new
    /// password.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`].
    pub async fn recovery_open(&self, site: &Arc<Site>, link: &str, browser: &Browser) -> Result<Beginning> {
        let core = &self.core;
        if site_number(Kind::OperatorLink, link) == Some(site.number) {
            let email = operator_recovery::look_up(core, site, link).await?;
            let state = step::begin(Entry::OwnerRecovers { email }).ok_or_else(|| Fault::new(Code::NotBuilt))?;
            let context = Context { link: Some(opaque::hex(&TokenHash::of(link))), ..Context::default() };
            return Ok(insert(core, site, New { kind: FlowKind::OwnerSignIn, state, context }, browser).await?.1);
        }
        let (email, return_url) = recovery::look_up(core, site, link).await?;
        let state = step::begin(Entry::Recovers { email }).ok_or_else(|| Fault::new(Code::NotBuilt))?;
        let context = Context { return_url, link: Some(opaque::hex(&TokenHash::of(link))), ..Context::default() };
        Ok(insert(core, site, New { kind: FlowKind::Recover, state, context }, browser).await?.1)
    }
}

/// Where a flow leads in the end.
pub(crate) enum Destination {
    /// To the client that waits for a code.
    Client(Authorization),
    /// To a checked address, if there is one.
    Address(Option<String>),
}

/// Begins a flow for a browser that opened an authorize, sign-in or sign-out address.
pub(crate) async fn begin(
    core: &Core,
    site: &Arc<Site>,
    kind: FlowKind,
    destination: Destination,
    browser: &Browser,
) -> Result<Beginning> {
    let name = match kind {
        FlowKind::SignOut => name_of(core, site, browser).await?,
        _ => None,
    };
    let state = step::begin(Entry::Asked { kind, name }).ok_or_else(|| Fault::new(Code::NotBuilt))?;
    let (authorization, return_url) = match destination {
        Destination::Client(request) => (Some(request), None),
        Destination::Address(url) => (None, url),
    };
    let context = Context { authorization, return_url, ..Context::default() };
    Ok(insert(core, site, New { kind, state, context }, browser).await?.1)
}

/// Begins a flow for a member who is signed in in this browser, and has to agree to what a client of others asks for.
pub(crate) async fn begin_consent(
    core: &Core,
    site: &Arc<Site>,
    session: &Session,
    request: Authorization,
    browser: &Browser,
) -> Result<Beginning> {
    let member = member::find(site, &session.member).await?.ok_or_else(|| Fault::new(Code::MemberBlocked))?;
    let signed = SignedMember { session: session.id.clone(), member: member.id, account: member.email };
    let state = step::begin(Entry::Signed(signed)).ok_or_else(|| Fault::new(Code::NotBuilt))?;
    let context = Context { authorization: Some(request), ..Context::default() };
    Ok(insert(core, site, New { kind: FlowKind::SignIn, state, context }, browser).await?.1)
}

/// Where a browser goes that was signed out: to `url`, or to a page that says so.
pub(crate) async fn signed_out(
    core: &Core,
    site: &Arc<Site>,
    url: Option<String>,
    browser: &Browser,
) -> Result<AuthorizeAnswer> {
    if let Some(url) = url {
        return Ok(AuthorizeAnswer::SignedOut { url, session: Change::Clear(site.number) });
    }
    let state = step::begin(Entry::SignedOut).ok_or_else(|| Fault::new(Code::NotBuilt))?;
    let new = New { kind: FlowKind::SignOut, state, context: Context::default() };
    let mut begun = insert(core, site, new, browser).await?.1;
    begun.cookies.session = Change::Clear(site.number);
    Ok(AuthorizeAnswer::Flow(begun))
}

/// What a flow begins with.
struct New {
    kind: FlowKind,
    state: State,
    context: Context,
}

async fn insert(core: &Core, site: &Arc<Site>, new: New, browser: &Browser) -> Result<(Record, Beginning)> {
    let New { kind, state, mut context } = new;
    let _permit = core.throttle.attempt(AttemptKind::Flow, core.now(), &site.id, browser.address, "")?;
    let front_end = front_end(core, site, &context).await?;
    // Who is signed in and asked for consent goes nowhere.
    let is_sign_in = matches!(state, State::SignIn { .. });
    let idp = context.authorization.as_ref().filter(|_| is_sign_in).and_then(|it| it.idp.as_deref());
    let new_idp = match idp {
        // One that was turned off since is as good as none: the page is shown.
        Some(id) => connection::enabled(site, id).await?,
        None => None,
    };
    context.client = front_end.as_ref().map(|it| it.id.clone());
    context.home_url = front_end.and_then(|it| it.home());
    let token = opaque(core.world(), Kind::Flow, site.number);
    // One cookie serves all flows of a browser, so that two tabs don't end each other's.
    let known = browser.flow.as_deref().filter(|it| it.len() == 43);
    let cookie = Secret::new(known.map_or_else(|| core.world().token::<32>(), str::to_owned));
    let (state, onward) = match new_idp {
        Some(connection) => {
            let of_browser = (token.expose(), browser, cookie.expose());
            match by_provider::way(core, site, &connection, &context, of_browser).await? {
                Ok(url) => (state, Some(url)),
                Err(reason) => (State::ProviderFailed { provider: by_provider::named_by(&connection), reason }, None),
            }
        }
        None => (state, None),
    };
    let hash = TokenHash::of(token.expose());
    let record = Record { hash, kind, state, context, revision: 0, link: None };
    record::insert(site, &record, TokenHash::of(cookie.expose()), core.now()).await?;
    let cookies = Cookies { flow: Change::Set(cookie), ..Cookies::default() };
    Ok((record, Beginning { token, onward, cookies }))
}

/// The client that a flow is for: the requesting one, else the one to whose pages it leads back, else the first of the
/// site's own.
async fn front_end(core: &Core, site: &Site, context: &Context) -> Result<Option<Arc<Client>>> {
    let client = context.authorization.as_ref().map(|it| &it.client).or(context.client.as_ref());
    if let Some(id) = client {
        return Ok(Some(client::of_site(core, site, id).await?));
    }
    let mut all = client::list(core, &site.id).await?;
    let url = context.return_url.as_deref();
    let asked = all.iter().position(|it| url.is_some_and(|url| it.allows_return(url)));
    let found = asked.or_else(|| all.iter().position(|it| !it.is_third_party));
    Ok(found.map(|at| Arc::new(all.swap_remove(at))))
}

/// Who is signed in, for the question whether to sign out.
async fn name_of(core: &Core, site: &Arc<Site>, browser: &Browser) -> Result<Option<String>> {
    if let Some(session) = session::of_browser(core, site, browser).await? {
        return Ok(member::find(site, &session.member).await?.map(|it| it.email));
    }
    Ok(operator::session_of_browser(core, site, browser).await?.map(|it| it.operator.email))
}
