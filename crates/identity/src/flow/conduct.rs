//! The conductor: loads a flow, lets the machine decide, carries out what it says, stores where it stands.

use crate::{
    Core, Identity,
    address::Address,
    browser::{Browser, Change, Cookies},
    client,
    defence::device::{self, Device},
    face,
    flow::{
        FlowAnswer, effects, page,
        record::{self, Context, Record},
        state::{Completion, Effect, EffectResult, Event, Grant, SignedMember, State, Transition},
        step,
        view::{self, Visit},
        wire::{DoneMessage, FlowInput, FlowKind, Step},
    },
    mail,
    oauth::{authorization::AuthorizationResult, code, consent},
    session,
    sign_in::{enrolment, operator_factor::ask},
    token::{self, Kind, site_names},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Fault, Result, Secret, TokenHash};
use stoa_store::{Site, Tx, boxed};

/// Outcomes that one input may lead to before something is wrong with the machine.
pub(super) const MOST_EFFECTS: usize = 4;

impl Identity {
    /// Where a flow stands.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] when it is unknown, over, expired or was begun in another browser.
    pub async fn flow_show(&self, site: &Arc<Site>, token: &str, browser: &Browser) -> Result<FlowAnswer> {
        let core = &self.core;
        let issuer = site_names::issuer(core, &site.id).await?;
        let face = face::of_site(site).await?;
        let visit = Visit { site, token, browser, issuer: &issuer, face: &face };
        conduct(core, visit, find(core, visit).await?, Event::Refresh).await
    }

    /// What a flow is for, in the browser where it was begun.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] as for [`Identity::flow_show`].
    pub async fn flow_kind(&self, site: &Site, token: &str, browser: &Browser) -> Result<FlowKind> {
        if token::site_number(Kind::Flow, token) != Some(site.number) {
            return Err(Fault::new(Code::StateTokenInvalid));
        }
        Ok(record::find(site, TokenHash::of(token), browser.flow.as_deref(), self.core.now()).await?.kind)
    }

    /// Takes what the person sent and answers what comes next.
    ///
    /// # Errors
    /// As [`Identity::flow_show`]. What is wrong with the input stands in `problems` of the view.
    pub async fn flow_answer(
        &self,
        site: &Arc<Site>,
        token: &str,
        input: FlowInput,
        browser: &Browser,
    ) -> Result<FlowAnswer> {
        let core = &self.core;
        let issuer = site_names::issuer(core, &site.id).await?;
        let face = face::of_site(site).await?;
        let visit = Visit { site, token, browser, issuer: &issuer, face: &face };
        conduct(core, visit, find(core, visit).await?, Event::Input(input)).await
    }
}

async fn find(core: &Core, visit: Visit<'_>) -> Result<Record> {
    let Visit { site, token, browser, .. } = visit;
    if token::site_number(Kind::Flow, token) != Some(site.number) {
        return Err(Fault::new(Code::StateTokenInvalid));
    }
    let mut found = record::find(site, TokenHash::of(token), browser.flow.as_deref(), core.now()).await;
    if let Ok(Record { context: Context { authorization: Some(request), .. }, .. }) = &mut found {
        match client::of_site(core, site, &request.client).await {
            // It was revoked: nobody is asked about it, and it gets no code.
            Err(fault) if fault.code() == Code::ClientUnknown => found = Err(Fault::new(Code::StateTokenInvalid)),
            // A version before consent has not written it down.
            client => request.of_others = client?.is_third_party,
        }
    }
    match found {
        Err(gone) if gone.code() == Code::StateTokenInvalid && !gone.data().contains_key(record::CLIENT) => {
            match client::first(core, &site.id).await? {
                Some(client) => Err(gone.with(record::CLIENT, client.id.as_str())),
                None => Err(gone),
            }
        }
        found => found,
    }
}

async fn conduct(core: &Arc<Core>, visit: Visit<'_>, mut record: Record, event: Event) -> Result<FlowAnswer> {
    let facts = view::facts(&record);
    let before = record.state.clone();
    let event = match (event, &before) {
        // Its first code would be refused: no more is shown of it.
        (Event::Refresh, State::EnrolFactor { challenge, .. }) if core.now() >= challenge.until => {
            Event::Result(EffectResult::Outdated)
        }
        (event, _) => event,
    };
    let (mut is_stored, mut cookies, mut sending) = (false, Cookies::default(), None);
    let mut transition = step::step(record.state.clone(), event, &facts);
    for _ in 0..MOST_EFFECTS {
        let Some(at) = transition.effects.iter().position(Effect::has_result) else { break };
        let effect = transition.effects.swap_remove(at);
        let result = match effects::run(core, visit, &record, effect.clone()).await {
            // Another request was quicker with the same sign-in: this page shows what that one led to.
            Err(gone) if matches!(effect, Effect::OpenForConsent(_)) && gone.code() == Code::StateTokenInvalid => {
                record = find(core, visit).await?;
                let page = page::of(core, visit, &record).await?;
                return Ok(FlowAnswer { view: view::view(visit, &record, page, Vec::new()), cookies });
            }
            result => result?,
        };
        if !effect.can_result_in(&result) {
            return Err(Fault::internal(format!("{} resulted in {}", effect.name(), result.name())));
        }
        is_stored |= matches!(result, EffectResult::Enrolled { .. });
        match (&effect, &result) {
            (_, EffectResult::MustAgree(opened) | EffectResult::HasAgreed(opened)) => {
                is_stored = true;
                (cookies.session, cookies.device) =
                    (Change::Set(opened.cookie.clone()), Change::Set(opened.device.clone()));
                (record.state, record.revision) = (State::Consent(opened.signed.clone()), record.revision + 1);
            }
            (Effect::LinkProvider { person, .. }, EffectResult::SignIn(it)) => {
                record.link = record::Link::of(person, it)
            }
            (_, EffectResult::Sending { url }) => sending = Some(url.clone()),
            _ => {}
        }
        transition = step::step(transition.state, Event::Result(result), &facts);
    }
    let Transition { state, effects, problems } = transition;
    let (mut grant, mut completion) = (None, None);
    for effect in effects {
        match effect {
            Effect::OpenSession(it) => grant = Some(it),
            Effect::Finish(it) => completion = Some(it),
            other => return Err(Fault::internal(format!("{} was asked for once too often", other.name()))),
        }
    }
    if let Some(completion) = completion {
        let end = End { completion, grant, cookies };
        return end_flow(core, visit, record, end).await;
    }
    if is_stored {
        record = find(core, visit).await?;
    } else if state != before {
        let is_ours = visit
            .site
            .write_with((visit.site.clone(), record.clone(), state.clone()), |tx, (site, record, state)| {
                boxed!(record::advance(tx, site, record, state).await)
            })
            .await?;
        match is_ours {
            true => record.state = state,
            // Another tab was quicker: this page shows what that one led to.
            false => record = find(core, visit).await?,
        }
    }
    let page = match sending {
        // The flow stays where it is: who comes back without an answer finds it there.
        Some(url) => Step::Redirect { url },
        None => page::of(core, visit, &record).await?,
    };
    let view = view::view(visit, &record, page, problems);
    Ok(FlowAnswer { view, cookies })
}

/// How a flow ends, and for whom a session is opened.
struct End {
    completion: Completion,
    grant: Option<Grant>,
    /// What was set on the way.
    cookies: Cookies,
}

/// Of what the transaction that ends a flow makes its code.
enum Source {
    /// The `sessionToken` of a finished sign-in.
    SignIn(Secret, Device),
    /// The session of a member, and the name of the client where they agree now: else they have agreed before.
    Consent(SignedMember, Option<String>),
    /// There is none to be made.
    None,
}

/// What the transaction that ends a flow has made.
#[derive(Default)]
struct Made {
    cookie: Option<Secret>,
    code: Option<Secret>,
}

impl Source {
    /// `from` is the network address of the browser.
    async fn make(
        &self,
        core: &Arc<Core>,
        tx: &mut Tx<'_>,
        site: &Site,
        record: &Record,
        from: IpAddr,
    ) -> Result<Made> {
        let gone = || Fault::new(Code::StateTokenInvalid);
        let request = record.context.authorization.as_ref();
        match self {
            Self::SignIn(token, device) => {
                let opened = effects::open_session(core, tx, site, (record, token), (device, from)).await?;
                let (session, cookie) = opened.ok_or_else(gone)?;
                let code = match request {
                    Some(request) => {
                        let of = (&session.member, &session.root);
                        Some(code::issue_for(core, tx, site, request, of).await?.ok_or_else(gone)?)
                    }
                    None => None,
                };
                Ok(Made { cookie: Some(cookie), code })
            }
            Self::Consent(SignedMember { session, member, .. }, name) => {
                let request = request.ok_or_else(gone)?;
                session::require_open(tx, &site.id, session).await.map_err(|it| match it.code() {
                    Code::Unauthenticated => gone(),
                    _ => it,
                })?;
                if enrolment::is_due(core, tx, site, member).await? {
                    return Err(gone());
                }
                if let Some(name) = name {
                    consent::give(core, tx, &site.id, (request, member), (name, from)).await?;
                }
                let code = code::issue_for(core, tx, site, request, (member, session)).await?.ok_or_else(gone)?;
                Ok(Made { cookie: None, code: Some(code) })
            }
            Self::None => Ok(Made::default()),
        }
    }
}

/// Ends a flow once: opens the session, issues the code, tells where to go.
async fn end_flow(core: &Arc<Core>, visit: Visit<'_>, mut record: Record, end: End) -> Result<FlowAnswer> {
    let Visit { site, browser, issuer, .. } = visit;
    let End { completion, grant, mut cookies } = end;
    let device = Device::of(core, browser, false);
    let source = match (&grant, &record.state, completion) {
        (Some(Grant::Member(token)), _, _) => Source::SignIn(token.clone(), device.clone()),
        (None, State::Consent(signed), Completion::SignedIn) => Source::Consent(signed.clone(), None),
        (None, State::Consent(signed), Completion::Agreed) => {
            Source::Consent(signed.clone(), Some(client_name(core, site, &record).await?))
        }
        _ => Source::None,
    };
    let agreed = match (&source, &record.context.authorization) {
        (Source::Consent(signed, Some(_)), Some(request)) => Some((signed.member.clone(), request.client.clone())),
        _ => None,
    };
    let input = (core.clone(), site.clone(), record.clone(), source, browser.address);
    let made = site.write_with(input, |tx, (core, site, record, source, address)| {
        boxed!({
            if !record::advance(tx, site, record, &State::Ended).await? {
                return Err(Fault::new(Code::StateTokenInvalid));
            }
            source.make(core, tx, site, record, *address).await
        })
    });
    let Made { cookie, code } = made.await?;
    if let Some((member, client)) = agreed {
        if consent::end_if_revoked(core, site, &member, &client).await? {
            return Err(Fault::new(Code::StateTokenInvalid));
        }
        mail::deliver_soon(core, &site.id).await;
    }
    if let Some(cookie) = cookie {
        (cookies.session, cookies.device) = (Change::Set(cookie), device.cookie());
        mail::deliver_soon(core, &site.id).await;
    }
    if let Some(Grant::Operator(cleared)) = &grant {
        let (session, cookie) = ask::open_session(core, site, cleared).await?;
        device::record_operator(core, site, &session, &device, browser.address).await?;
        (cookies.operator, cookies.device) = (Change::Set(cookie), device.cookie());
    }
    if completion == Completion::SignedOut {
        (cookies.session, cookies.operator) = (Change::Clear(site.number), Change::Clear(site.number));
    }
    record.state = State::Ended;
    let step = last_step(&record, completion, code, issuer);
    Ok(FlowAnswer { view: view::view(visit, &record, step, Vec::new()), cookies })
}

/// What the client of others is called that a flow asks about.
///
/// # Errors
/// [`Code::StateTokenInvalid`] where it was revoked.
async fn client_name(core: &Core, site: &Site, record: &Record) -> Result<String> {
    let gone = || Fault::new(Code::StateTokenInvalid);
    let request = record.context.authorization.as_ref().ok_or_else(gone)?;
    match client::of_site(core, site, &request.client).await {
        Err(fault) if fault.code() == Code::ClientUnknown => Err(gone()),
        client => Ok(client?.name.clone()),
    }
}

/// Where the person goes at the end.
fn last_step(record: &Record, completion: Completion, code: Option<Secret>, issuer: &str) -> Step {
    let context = &record.context;
    if let Some(request) = &context.authorization {
        let result = match (completion, code) {
            (Completion::Cancelled, _) => view::cancelled(),
            (Completion::Declined, _) => view::declined(),
            (_, Some(code)) => AuthorizationResult::Code(code),
            (_, None) => {
                AuthorizationResult::Error { name: "server_error", description: "No code could be made.".into() }
            }
        };
        return view::delivered(request.deliver(result, issuer));
    }
    if let Some(url) = &context.return_url {
        let is_member = record.kind.is_of_members();
        let flag = if completion == Completion::Cancelled { "false" } else { "true" };
        let url = match Address::parse(url) {
            Some(address) if is_member => address.with_query([("wixMemberLoggedIn", flag)]),
            _ => url.clone(),
        };
        return Step::Redirect { url };
    }
    let message = match completion {
        Completion::SignedIn | Completion::Agreed => DoneMessage::SignedIn,
        Completion::SignedOut | Completion::Cancelled | Completion::Declined => DoneMessage::SignedOut,
        Completion::PasswordChanged => DoneMessage::PasswordChanged,
        Completion::OwnerReady => DoneMessage::OwnerReady,
    };
    Step::Done { message }
}
