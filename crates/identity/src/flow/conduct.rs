//! The conductor: loads a flow, lets the machine decide, carries out what it says, stores where it stands.

use crate::{
    Core, Identity,
    address::Address,
    browser::{Browser, Change, Cookies},
    client,
    defence::device::{self, Device},
    face,
    factor::remembered,
    flow::{
        FlowAnswer, effects, page,
        record::{self, Record},
        state::{Completion, Effect, EffectResult, Event, Grant, State, Transition},
        step,
        view::{self, Visit},
        wire::{DoneMessage, FlowInput, FlowKind, Step},
    },
    mail,
    oauth::{authorization::AuthorizationResult, code},
    operator,
    session::{self, NewSession, RedeemedToken},
    token::{self, Kind, site_names},
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result, Secret, TokenHash};
use stoa_store::{Site, boxed};

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
    match record::find(site, TokenHash::of(token), browser.flow.as_deref(), core.now()).await {
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
    let mut is_stored = false;
    let mut transition = step::step(record.state.clone(), event, &facts);
    for _ in 0..MOST_EFFECTS {
        let Some(at) = transition.effects.iter().position(Effect::has_result) else { break };
        let effect = transition.effects.swap_remove(at);
        let result = effects::run(core, visit.site, &record, effect.clone(), visit.browser).await?;
        if !effect.can_result_in(&result) {
            return Err(Fault::internal(format!("{} resulted in {}", effect.name(), result.name())));
        }
        is_stored |= matches!(result, EffectResult::Enrolled { .. });
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
        let end = End { completion, grant };
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
    let page = page::of(core, visit, &record).await?;
    let view = view::view(visit, &record, page, problems);
    Ok(FlowAnswer { view, cookies: Cookies::default() })
}

/// How a flow ends, and for whom a session is opened.
struct End {
    completion: Completion,
    grant: Option<Grant>,
}

/// What the transaction that ends a flow has made.
struct Made {
    cookie: Secret,
    code: Option<Secret>,
}

/// Ends a flow once: opens the session, issues the code, tells where to go.
async fn end_flow(core: &Arc<Core>, visit: Visit<'_>, mut record: Record, end: End) -> Result<FlowAnswer> {
    let Visit { site, browser, issuer, .. } = visit;
    let session_token = match &end.grant {
        Some(Grant::Member(it)) => Some(it.clone()),
        _ => None,
    };
    let device = Device::of(core, browser, false);
    let made = site
        .write_with(
            (core.clone(), site.clone(), record.clone(), session_token, device.clone()),
            |tx, (core, site, record, session_token, device)| {
                boxed!({
                    let gone = || Fault::new(Code::StateTokenInvalid);
                    if !record::advance(tx, site, record, &State::Ended).await? {
                        return Err(gone());
                    }
                    let Some(session_token) = session_token else { return Ok(None) };
                    let taken = session::redeem_token(core, tx, site, session_token.expose()).await?;
                    let RedeemedToken { member, visitor, remembers, .. } = taken.ok_or_else(gone)?;
                    let new = NewSession { member: member.clone(), client: None, root: None, visitor, scopes: None };
                    let (session, cookie) = session::create(core, tx, site, Kind::Cookie, &new).await?;
                    device::record_seen(core, tx, site, &session.id, &member, device).await?;
                    if remembers {
                        remembered::remember(core, tx, &site.id, &member, device.secret()).await?;
                    }
                    let code = match &record.context.authorization {
                        Some(request) => Some(code::issue_for(core, tx, site, request, &session).await?),
                        None => None,
                    };
                    Ok(Some(Made { cookie, code }))
                })
            },
        )
        .await?;
    let mut cookies = Cookies::default();
    let mut code = None;
    if let Some(made) = made {
        (cookies.session, cookies.device) = (Change::Set(made.cookie), device.cookie());
        code = made.code;
        mail::deliver_soon(core, &site.id).await;
    }
    if let Some(Grant::Operator(operator, role)) = &end.grant {
        let (session, cookie) = operator::create_session(core, &site.id, operator, *role).await?;
        device::record_operator(core, site, &session, &device, browser.address).await?;
        (cookies.operator, cookies.device) = (Change::Set(cookie), device.cookie());
    }
    if end.completion == Completion::SignedOut {
        (cookies.session, cookies.operator) = (Change::Clear(site.number), Change::Clear(site.number));
    }
    record.state = State::Ended;
    let step = last_step(&record, end.completion, code, issuer);
    Ok(FlowAnswer { view: view::view(visit, &record, step, Vec::new()), cookies })
}

/// Where the person goes at the end.
fn last_step(record: &Record, completion: Completion, code: Option<Secret>, issuer: &str) -> Step {
    let context = &record.context;
    if let Some(request) = &context.authorization {
        let result = match (completion, code) {
            (Completion::Cancelled, _) => view::cancelled(),
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
        Completion::SignedIn => DoneMessage::SignedIn,
        Completion::SignedOut | Completion::Cancelled => DoneMessage::SignedOut,
        Completion::PasswordChanged => DoneMessage::PasswordChanged,
        Completion::OwnerReady => DoneMessage::OwnerReady,
    };
    Step::Done { message }
}
