//! From a state to what its page shows.

use crate::{
    browser::Browser,
    factor::{self, Setup},
    flow::{
        record::Record,
        state::{Facts, PasswordReason, State},
        step,
        wire::{DoneMessage, FlowKind, FlowView, PasskeyChallenge, Problem, ProfileField, SiteFace, Step},
    },
    oauth::authorization::{AuthorizationResult, Delivery},
    password,
    policy::Field,
    sign_in::code::RESEND_AFTER_SECONDS,
};
use std::sync::Arc;
use stoa_kernel::{Email, Millis, date::iso_from_millis};
use stoa_store::Site;

pub(super) fn facts(record: &Record) -> Facts {
    let is_member = record.kind.is_of_members();
    Facts {
        kind: record.kind,
        can_sign_up: is_member,
        can_recover: is_member || record.kind == FlowKind::OwnerSignIn,
        can_cancel: record.context.authorization.is_some() || record.context.return_url.is_some(),
        of_others: record.context.authorization.as_ref().is_some_and(|it| it.of_others),
    }
}

/// A page of a flow that a browser asks for.
#[derive(Clone, Copy)]
pub(super) struct Visit<'a> {
    pub site: &'a Arc<Site>,
    /// The flow's token, from the page's address.
    pub token: &'a str,
    pub browser: &'a Browser,
    /// What answers to authorization requests name as their issuer.
    pub issuer: &'a str,
    pub face: &'a SiteFace,
}

pub(super) fn view(visit: Visit<'_>, record: &Record, step: Step, problems: Vec<Problem>) -> FlowView {
    let facts = facts(record);
    let is_over = matches!(record.state, State::Ended | State::SignedOut);
    FlowView {
        token: visit.token.to_owned(),
        kind: record.kind,
        site: visit.face.clone(),
        step,
        problems,
        can_go_back: !is_over && step::back(&record.state, &facts).is_some(),
        // Who is asked to agree answers the flow, so that it is over.
        cancel_url: cancel_url(record, visit.issuer).filter(|_| !is_over && !matches!(record.state, State::Consent(_))),
        client_id: record.context.client.as_ref().map(|it| it.as_str().to_owned()),
        home_url: record.context.home_url.clone(),
    }
}

/// The page of a state that waits for the person, as far as the state says; the rest is in `page`.
pub(super) fn of_state(state: &State, facts: &Facts) -> Step {
    let password_min_length = password::MIN_CHARS as u32;
    let hint = |email: &str| Email::parse(email).map_or_else(|| "***".to_owned(), |it| it.hint());
    match state {
        State::SignIn { email } => Step::SignIn {
            email: email.clone(),
            can_sign_up: facts.can_sign_up,
            can_recover: facts.can_recover,
            passkey: None,
            providers: Vec::new(),
        },
        State::SignUp { email } => {
            let names: &[&str] = if facts.kind == FlowKind::OwnerSetup { &[] } else { &["firstName", "lastName"] };
            let field = |name: &&str| ProfileField { name: (*name).to_owned(), required: false };
            let fields = names.iter().map(field).collect();
            Step::SignUp { email: email.clone(), fields, password_min_length, providers: Vec::new() }
        }
        // Looked at before anything is shown.
        State::ByProvider { .. } => of_state(&State::SignIn { email: None }, facts),
        State::LinkProvider { person, email } => Step::LinkProvider {
            provider: person.provider.label.clone(),
            email: email.clone(),
            can_recover: facts.can_recover,
        },
        State::ProviderFailed { provider, reason } => {
            Step::ProviderFailed { provider: provider.clone(), reason: *reason }
        }
        State::VerifyEmail { email, .. } => {
            Step::VerifyEmail { email_hint: hint(email), resend_after_seconds: RESEND_AFTER_SECONDS }
        }
        State::MissingFields { fields, .. } => {
            let field = |it: &Field| ProfileField { name: it.name().to_owned(), required: true };
            Step::MissingFields { fields: fields.iter().map(field).collect() }
        }
        State::AwaitApproval { email, .. } => Step::AwaitApproval { email_hint: hint(email) },
        State::SecondFactor { challenge, sent } => Step::SecondFactor {
            factors: challenge.factors.clone(),
            // Those who run the site are asked each time.
            remember_days: if facts.kind.is_of_operators() { 0 } else { factor::DAYS },
            sent_to: sent.as_ref().map(|it| it.to.clone()),
            sent_by: sent.as_ref().map(|it| it.factor),
            resend_after_seconds: RESEND_AFTER_SECONDS,
            passkey: None,
        },
        State::AwaitPush { question, .. } => {
            Step::AwaitPush { number: question.number.clone(), expires_date: iso_from_millis(question.expires) }
        }
        State::OfferFactor { until, .. } => Step::OfferFactor { until: until.map(iso_from_millis) },
        // `page` shows what is encrypted, and of which client.
        State::EnrolFactor { .. } | State::Consent(_) => gone(),
        State::KeepCodes { .. } => Step::RecoveryCodes { codes: Vec::new() },
        State::RecoverRequest { email } => Step::RecoverRequest { email: email.clone() },
        State::RecoverSent { email } => Step::RecoverSent { email_hint: hint(email) },
        State::NewPassword { email, reason } => {
            let email_hint = match reason {
                PasswordReason::Recovery | PasswordReason::OwnerRecovery => email.as_deref().map(hint),
                // The invited person may see their own address: the link was sent to it.
                PasswordReason::OwnerSetup => email.clone(),
            };
            Step::NewPassword { email_hint, password_min_length }
        }
        State::ConfirmSignOut { name } => Step::ConfirmSignOut { display_name: name.clone() },
        State::SignedOut => Step::Done { message: DoneMessage::SignedOut },
        State::Ended => gone(),
    }
}

/// The page of an authenticator that is set up.
pub(super) fn enrol(setup: &Setup, until: Option<Millis>, passkey: Option<PasskeyChallenge>) -> Step {
    let (secret, uri) = (setup.secret.expose().to_owned(), setup.uri.expose().to_owned());
    Step::EnrolFactor { secret, uri, until: until.map(iso_from_millis), passkey }
}

/// The page of a flow that can't go on.
pub(super) fn gone() -> Step {
    Step::Failed {
        code: "INVALID_STATE_TOKEN".to_owned(),
        message: "The sign-in has expired or was finished; start again.".to_owned(),
    }
}

pub(super) fn delivered(delivery: Delivery) -> Step {
    match delivery {
        Delivery::Redirect(url) => Step::Redirect { url },
        Delivery::Message { origin, code, state, error } => Step::PostMessage {
            origin,
            code,
            state,
            error: error.as_ref().map(|it| it.0.to_owned()),
            error_description: error.map(|it| it.1.into_owned()),
        },
    }
}

/// What a client reads when the person went away.
pub(super) fn cancelled() -> AuthorizationResult {
    AuthorizationResult::Error { name: "access_denied", description: "The person cancelled the sign-in.".into() }
}

/// What a client of others reads when the member has not agreed (RFC 6749 section 4.1.2.1).
pub(super) fn declined() -> AuthorizationResult {
    AuthorizationResult::Error { name: "access_denied", description: "The member declined.".into() }
}

/// Where `Cancel` leads, when that is an address.
fn cancel_url(record: &Record, issuer: &str) -> Option<String> {
    match (&record.context.authorization, &record.context.return_url) {
        (Some(request), _) => match request.deliver(cancelled(), issuer) {
            Delivery::Redirect(url) => Some(url),
            Delivery::Message { .. } => None,
        },
        (None, url) => url.clone(),
    }
}
