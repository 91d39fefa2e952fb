//! The conductor: loads a flow, lets the machine decide, carries out what it says, stores where it stands.

use crate::{
    Core, Identity,
    address::Address,
    browser::{Browser, Change, Cookies},
    client,
    defence::device::{self, Device},
    flow::{
        Shown,
        effects::{self, Grant},
        record::{self, Record},
        state::{Effect, Event, Finish, State, Turn},
        step, view,
        wire::{DoneMessage, FlowInput, Step},
    },
    mail,
    oauth::{authorization::Sent, code},
    operator,
    session::{self, NewSession},
    token::{self, Kind},
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
    pub async fn flow_show(&self, site: &Arc<Site>, token: &str, browser: &Browser) -> Result<Shown> {
        let core = &self.core;
        let record = find(core, site, token, browser).await?;
        conduct(core, site, token, record, Event::Look, browser).await
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
    ) -> Result<Shown> {
        let core = &self.core;
        let record = find(core, site, token, browser).await?;
        conduct(core, site, token, record, Event::Person(input), browser).await
    }
}

async fn find(core: &Core, site: &Arc<Site>, token: &str, browser: &Browser) -> Result<Record> {
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

async fn conduct(
    core: &Arc<Core>,
    site: &Arc<Site>,
    token: &str,
    mut record: Record,
    event: Event,
    browser: &Browser,
) -> Result<Shown> {
    let facts = view::facts(&record);
    let before = record.state.clone();
    let mut turn = step::step(record.state.clone(), event, &facts);
    let mut grant = None;
    for _ in 0..MOST_EFFECTS {
        let Some(at) = turn.effects.iter().position(|it| !matches!(it, Effect::OpenSession | Effect::Finish(_))) else {
            break;
        };
        let effect = turn.effects.swap_remove(at);
        let asked = effect.clone();
        let (outcome, granted) = effects::run(core, site, &record, effect, browser).await?;
        if !asked.comes_to(&outcome) {
            return Err(Fault::internal(format!("{} came to {}", asked.name(), outcome.name())));
        }
        grant = granted.or(grant);
        turn = step::step(turn.state, Event::Outcome(outcome), &facts);
    }
    let Turn { state, effects, problems } = turn;
    let end = effects.into_iter().find_map(|it| match it {
        Effect::Finish(end) => Some(end),
        _ => None,
    });
    if let Some(end) = end {
        return end_flow(core, site, token, record, end, grant, browser).await;
    }
    if state != before {
        let (place, row, next) = (site.clone(), record.clone(), state.clone());
        let is_ours = site
            .write(move |tx| {
                let (site, row, next) = (place.clone(), row.clone(), next.clone());
                boxed!(record::advance(tx, &site, &row, &next).await)
            })
            .await?;
        match is_ours {
            true => record.state = state,
            // Another tab was quicker: this page shows what that one led to.
            false => record = find(core, site, token, browser).await?,
        }
    }
    let page = view::page(&record.state, &facts);
    let view = view::view(site, token, &record, page, problems, &browser.base_url);
    Ok(Shown { view, cookies: Cookies::default() })
}

/// Ends a flow once: opens the session, issues the code, tells where to go.
async fn end_flow(
    core: &Arc<Core>,
    site: &Arc<Site>,
    token: &str,
    mut record: Record,
    end: Finish,
    grant: Option<Grant>,
    browser: &Browser,
) -> Result<Shown> {
    let session_token = match &grant {
        Some(Grant::Member(it)) => Some(it.clone()),
        _ => None,
    };
    let device = Device::of(core, browser, false);
    let (me, place, row, this) = (core.clone(), site.clone(), record.clone(), device.clone());
    let (cookie, code) = site
        .write(move |tx| {
            let (me, site, row, session_token) = (me.clone(), place.clone(), row.clone(), session_token.clone());
            let this = this.clone();
            boxed!({
                let gone = || Fault::new(Code::StateTokenInvalid);
                if !record::advance(tx, &site, &row, &State::Ended).await? {
                    return Err(gone());
                }
                let Some(session_token) = session_token else { return Ok((None, None)) };
                let taken = session::redeem_token(&me, tx, &site, session_token.expose()).await?;
                let (member, visitor) = taken.ok_or_else(gone)?;
                let new = NewSession { member: member.clone(), client: None, root: None, visitor };
                let (session, cookie) = session::create(&me, tx, &site, Kind::Cookie, &new).await?;
                device::note_seen(&me, tx, &site, &member, &this).await?;
                let code = match &row.context.authorization {
                    Some(request) => Some(code::issue_for(&me, tx, &site, request, &member, &session.root).await?),
                    None => None,
                };
                Ok((Some(cookie), code))
            })
        })
        .await?;
    let mut cookies = Cookies::default();
    if let Some(cookie) = cookie {
        (cookies.session, cookies.device) = (Change::Set(cookie), device.cookie());
        mail::soon(core, &site.id).await;
    }
    if let Some(Grant::Operator(person, role)) = &grant {
        let (session, cookie) = operator::create_session(core, &site.id, person, *role).await?;
        device::note_operator(core, site, &session, &device, browser.address).await?;
        (cookies.operator, cookies.device) = (Change::Set(cookie), device.cookie());
    }
    if end == Finish::SignedOut {
        (cookies.session, cookies.operator) = (session::cookie_when_signed_out(site, browser), Change::Clear);
    }
    record.state = State::Ended;
    let step = last_step(&record, end, code, &browser.base_url);
    Ok(Shown { view: view::view(site, token, &record, step, Vec::new(), &browser.base_url), cookies })
}

/// Where the person goes at the end.
fn last_step(record: &Record, end: Finish, code: Option<Secret>, issuer: &str) -> Step {
    let context = &record.context;
    if let Some(request) = &context.authorization {
        let sent = match (end, code) {
            (Finish::Cancelled, _) => view::cancelled(),
            (_, Some(code)) => Sent::Code(code),
            (_, None) => Sent::Error { name: "server_error", description: "No code could be made." },
        };
        return view::delivered(request.deliver(sent, issuer));
    }
    if let Some(url) = &context.return_url {
        let is_member = view::is_member(record.kind);
        let flag = if end == Finish::Cancelled { "false" } else { "true" };
        let url = match Address::parse(url) {
            Some(address) if is_member => address.with_query([("wixMemberLoggedIn", flag)]),
            _ => url.clone(),
        };
        return Step::Redirect { url };
    }
    let message = match end {
        Finish::SignedIn => DoneMessage::SignedIn,
        Finish::SignedOut | Finish::Cancelled => DoneMessage::SignedOut,
        Finish::PasswordChanged => DoneMessage::PasswordChanged,
        Finish::OwnerReady => DoneMessage::OwnerReady,
    };
    Step::Done { message }
}
