//! The machine itself: pure, total, and the only place that knows what comes next.

use crate::{
    factor::FactorType,
    flow::{
        problem,
        state::{
            Completion, Effect, EffectResult, Event, Facts, Grant, Opened, PasskeyAnswer, PasswordReason, SignedMember,
            State, Transition,
        },
        wire::{FlowInput, FlowKind, Problem, ProfileInput},
    },
    member::Member,
    password::Fingerprint,
    policy::Field,
    provider::ProviderPerson,
    sign_in::{challenge::Challenge, outcome::Outcome},
};
use stoa_kernel::{Email, Millis, Secret};

/// How a flow begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The account pages, an authorize address or an address to sign out ask for it. `name` is who is
    /// signed in.
    Asked { kind: FlowKind, name: Option<String> },
    /// An invitation to run the site; the first one of a site has no address yet.
    Invited { email: Option<String> },
    /// A recovery link.
    Recovers { email: String },
    /// A recovery link of somebody who runs the site.
    OwnerRecovers { email: String },
    /// A client of others waits for a member who is signed in.
    Signed(SignedMember),
    /// A browser has come back from a provider, which has shown a person.
    Returned { person: ProviderPerson },
    /// Signed out already, with nowhere to go.
    SignedOut,
}

/// The state in which a flow begins. `None` for kinds that don't begin this way.
pub fn begin(entry: Entry) -> Option<State> {
    Some(match entry {
        Entry::Asked { kind, name } => match kind {
            FlowKind::SignIn | FlowKind::OwnerSignIn => State::SignIn { email: None },
            FlowKind::SignUp => State::SignUp { email: None },
            FlowKind::SignOut => State::ConfirmSignOut { name },
            FlowKind::Recover => State::RecoverRequest { email: None },
            FlowKind::OwnerSetup => return None,
        },
        Entry::Invited { email: Some(email) } => {
            State::NewPassword { email: Some(email), reason: PasswordReason::OwnerSetup }
        }
        Entry::Invited { email: None } => State::SignUp { email: None },
        Entry::Recovers { email } => State::NewPassword { email: Some(email), reason: PasswordReason::Recovery },
        Entry::OwnerRecovers { email } => {
            State::NewPassword { email: Some(email), reason: PasswordReason::OwnerRecovery }
        }
        Entry::Signed(signed) => State::Consent(signed),
        Entry::Returned { person } => State::ByProvider { person },
        Entry::SignedOut => State::SignedOut,
    })
}

/// What comes next. An event that means nothing where the flow stands changes nothing.
pub fn step(state: State, event: Event, facts: &Facts) -> Transition {
    match event {
        Event::Input(FlowInput::Cancel) if facts.can_cancel && !is_over(&state) => finish(Completion::Cancelled),
        Event::Input(input) => take_input(state, input, facts),
        Event::Refresh => match &state {
            State::AwaitApproval { member, password, .. } => {
                let effects = vec![Effect::CheckApproval { member: member.clone(), password: password.clone() }];
                Transition { state, effects, problems: Vec::new() }
            }
            State::Consent(signed) => {
                let effects = vec![Effect::CheckSigned(signed.clone())];
                Transition { state, effects, problems: Vec::new() }
            }
            State::AwaitPush { challenge, question, remembers } => {
                let (challenge, question, remembers) = (challenge.clone(), question.clone(), *remembers);
                let effects = vec![Effect::CheckPush { challenge, question, remembers }];
                Transition { state, effects, problems: Vec::new() }
            }
            State::ByProvider { .. } => recognise(state),
            _ => stay(state),
        },
        Event::Result(result) => after(state, result, facts),
    }
}

/// Where `Back` leads, if anywhere: a way back ends at the first page of the kind.
pub fn back(state: &State, facts: &Facts) -> Option<State> {
    if let State::AwaitPush { challenge, .. } = state {
        // To another factor; nothing takes the answer to the question any more.
        return Some(State::SecondFactor { challenge: challenge.clone(), sent: None });
    }
    let email = match state {
        State::SignUp { email } if matches!(facts.kind, FlowKind::SignIn | FlowKind::Recover) => email.clone(),
        State::RecoverRequest { email } if facts.kind != FlowKind::Recover => email.clone(),
        State::VerifyEmail { email, .. }
        | State::MissingFields { email, .. }
        | State::AwaitApproval { email, .. }
        | State::RecoverSent { email } => Some(email.clone()),
        State::SecondFactor { .. } | State::OfferFactor { .. } | State::EnrolFactor { .. } => None,
        State::ByProvider { .. } | State::LinkProvider { .. } | State::ProviderFailed { .. } => None,
        _ => return None,
    };
    Some(State::SignIn { email })
}

fn take_input(state: State, input: FlowInput, facts: &Facts) -> Transition {
    match (state, input) {
        (state, FlowInput::Back) => match back(&state, facts) {
            Some(before) => stay(before),
            None => unexpected(state),
        },

        (State::SignIn { .. }, FlowInput::SignIn { email, password, captcha }) => match Email::parse(&email) {
            Some(address) if !password.is_empty() => Transition {
                state: State::SignIn { email: Some(email) },
                effects: vec![Effect::CheckPassword { email: address, password: Secret::new(password), captcha }],
                problems: Vec::new(),
            },
            parsed => {
                let problems = missing(parsed.is_some(), &email, &password);
                Transition { state: State::SignIn { email: keep(email) }, effects: Vec::new(), problems }
            }
        },
        // Those who run the site have none.
        (state @ State::SignIn { .. }, FlowInput::Passkey { challenge_id, credential, .. })
            if facts.kind.is_of_members() =>
        {
            let answer = PasskeyAnswer { challenge_id, credential: Secret::new(credential) };
            let effects = vec![Effect::CheckPasskey { challenge: None, answer, remembers: false }];
            Transition { state, effects, problems: Vec::new() }
        }
        (State::SignIn { email: kept }, FlowInput::Switch { to: FlowKind::SignUp, email }) if facts.can_sign_up => {
            stay(State::SignUp { email: email.and_then(keep).or(kept) })
        }
        (State::SignIn { email: kept }, FlowInput::Switch { to: FlowKind::Recover, email }) if facts.can_recover => {
            stay(State::RecoverRequest { email: email.and_then(keep).or(kept) })
        }

        (State::SignUp { .. }, FlowInput::SignUp { email, password, profile, captcha }) => match Email::parse(&email) {
            Some(address) if !password.is_empty() => Transition {
                state: State::SignUp { email: Some(email) },
                effects: vec![Effect::Register { email: address, password: Secret::new(password), profile, captcha }],
                problems: Vec::new(),
            },
            parsed => {
                let problems = missing(parsed.is_some(), &email, &password);
                Transition { state: State::SignUp { email: keep(email) }, effects: Vec::new(), problems }
            }
        },
        (State::SignUp { email: kept }, FlowInput::Switch { to: FlowKind::SignIn, email }) => {
            stay(State::SignIn { email: email.and_then(keep).or(kept) })
        }

        (state @ State::VerifyEmail { .. }, input @ (FlowInput::VerifyEmail { .. } | FlowInput::Resend { .. })) => {
            verify(state, input)
        }

        (state @ State::MissingFields { .. }, FlowInput::MissingFields { profile }) => submit_profile(state, profile),

        (
            state @ State::SecondFactor { .. },
            input @ (FlowInput::SecondFactor { .. } | FlowInput::Passkey { .. } | FlowInput::Resend { .. }),
        ) => prove(state, input, facts),

        (state @ State::AwaitPush { .. }, FlowInput::SecondFactor { factor: FactorType::Push, remember, .. }) => {
            ask_browsers(state, remember)
        }

        (state @ (State::OfferFactor { .. } | State::EnrolFactor { .. } | State::KeepCodes { .. }), input) => {
            enrol(state, input)
        }

        // Those who run the site have none.
        (
            state @ (State::SignIn { .. } | State::SignUp { .. } | State::ProviderFailed { .. }),
            FlowInput::Provider { id },
        ) if facts.kind.is_of_members() => {
            Transition { state, effects: vec![Effect::AskProvider { id }], problems: Vec::new() }
        }
        // A page of before is shown what has come of the provider.
        (state @ State::ByProvider { .. }, _) => recognise(state),
        (state @ State::LinkProvider { .. }, FlowInput::LinkProvider { password, captcha }) => {
            link(state, password, captcha)
        }
        (State::LinkProvider { email, .. }, FlowInput::Switch { to: FlowKind::Recover, .. }) if facts.can_recover => {
            stay(State::RecoverRequest { email: Some(email) })
        }

        (State::RecoverRequest { .. }, FlowInput::RecoverRequest { email }) => match Email::parse(&email) {
            Some(address) => Transition {
                state: State::RecoverRequest { email: Some(email) },
                effects: vec![Effect::SendRecovery { email: address }],
                problems: Vec::new(),
            },
            None => {
                let problems = missing(false, &email, "-");
                Transition { state: State::RecoverRequest { email: keep(email) }, effects: Vec::new(), problems }
            }
        },
        (State::RecoverRequest { email: kept }, FlowInput::Switch { to: FlowKind::SignIn, email }) => {
            stay(State::SignIn { email: email.and_then(keep).or(kept) })
        }
        (State::RecoverSent { email }, FlowInput::Resend { .. }) => match Email::parse(&email) {
            Some(address) => Transition {
                state: State::RecoverSent { email },
                effects: vec![Effect::SendRecovery { email: address }],
                problems: Vec::new(),
            },
            None => unexpected(State::RecoverSent { email }),
        },
        (State::RecoverSent { email }, FlowInput::Switch { to: FlowKind::SignIn, .. }) => {
            stay(State::SignIn { email: Some(email) })
        }

        (State::NewPassword { email, reason }, FlowInput::NewPassword { password }) => {
            let state = State::NewPassword { email, reason };
            match password.is_empty() {
                true => Transition { state, effects: Vec::new(), problems: vec![problem::required("password")] },
                false => {
                    let effects = vec![Effect::SetPassword { reason, password: Secret::new(password) }];
                    Transition { state, effects, problems: Vec::new() }
                }
            }
        }

        (State::Consent(signed), FlowInput::Allow) => {
            let effects = vec![Effect::Agree(signed.clone())];
            Transition { state: State::Consent(signed), effects, problems: Vec::new() }
        }
        (State::Consent(_), FlowInput::Decline) => finish(Completion::Declined),

        (state @ State::ConfirmSignOut { .. }, FlowInput::ConfirmSignOut) => {
            Transition { state, effects: vec![Effect::EndSession], problems: Vec::new() }
        }

        (state, _) => unexpected(state),
    }
}

/// Whom the provider means, from which the browser has come back.
fn recognise(state: State) -> Transition {
    let State::ByProvider { person } = &state else { return unexpected(state) };
    let effects = vec![Effect::CheckProvider { person: person.clone() }];
    Transition { state, effects, problems: Vec::new() }
}

/// The password of the account that a provider is to be linked with.
fn link(state: State, password: String, captcha: Option<String>) -> Transition {
    let State::LinkProvider { person, email } = &state else { return unexpected(state) };
    let Some(email) = Email::parse(email).filter(|_| !password.is_empty()) else {
        return Transition { state, effects: Vec::new(), problems: vec![problem::required("password")] };
    };
    let effect = Effect::LinkProvider { person: person.clone(), email, password: Secret::new(password), captcha };
    Transition { state, effects: vec![effect], problems: Vec::new() }
}

fn verify(state: State, input: FlowInput) -> Transition {
    let State::VerifyEmail { member, .. } = &state else { return unexpected(state) };
    let member = member.clone();
    match input {
        FlowInput::VerifyEmail { code } => {
            let code: String = code.chars().filter(|it| !it.is_whitespace()).collect();
            if code.len() != 6 || !code.bytes().all(|it| it.is_ascii_digit()) {
                return Transition { state, effects: Vec::new(), problems: vec![problem::wrong_code()] };
            }
            Transition { state, effects: vec![Effect::CheckCode { member, code }], problems: Vec::new() }
        }
        _ => Transition { state, effects: vec![Effect::SendCode { member }], problems: Vec::new() },
    }
}

/// What a member sends who is asked for a second factor: one, or that a code be sent.
fn prove(state: State, input: FlowInput, facts: &Facts) -> Transition {
    let State::SecondFactor { challenge, .. } = &state else { return unexpected(state) };
    let challenge = challenge.clone();
    let effect = match input {
        // Those who run the site are asked in every browser each time.
        FlowInput::SecondFactor { remember: true, .. } | FlowInput::Passkey { remember: true, .. }
            if facts.kind.is_of_operators() =>
        {
            return unexpected(state);
        }
        FlowInput::SecondFactor { factor: FactorType::Push, remember, .. } => return ask_browsers(state, remember),
        FlowInput::SecondFactor { code, .. } if code.trim().is_empty() => {
            return Transition { state, effects: Vec::new(), problems: vec![problem::required("code")] };
        }
        // What a passkey signs comes in an input of its own.
        FlowInput::SecondFactor { factor: FactorType::Webauthn, .. } => return unexpected(state),
        FlowInput::SecondFactor { factor, code, remember } => {
            Effect::CheckFactor { challenge, factor, code: Secret::new(code), remembers: remember }
        }
        FlowInput::Passkey { challenge_id, credential, remember } => {
            let answer = PasskeyAnswer { challenge_id, credential: Secret::new(credential) };
            Effect::CheckPasskey { challenge: Some(challenge), answer, remembers: remember }
        }
        FlowInput::Resend { factor } => match factor.unwrap_or(FactorType::Email) {
            factor if factor.is_sent() && challenge.factors.contains(&factor) => {
                Effect::SendFactor { challenge, factor }
            }
            _ => return unexpected(state),
        },
        _ => return unexpected(state),
    };
    Transition { state, effects: vec![effect], problems: Vec::new() }
}

/// Asks the browsers of a member who can be asked there.
fn ask_browsers(state: State, remembers: bool) -> Transition {
    let challenge = match &state {
        State::SecondFactor { challenge, .. } | State::AwaitPush { challenge, .. } => challenge.clone(),
        _ => return unexpected(state),
    };
    if !challenge.factors.contains(&FactorType::Push) {
        return unexpected(state);
    }
    Transition { state, effects: vec![Effect::AskPush { challenge, remembers }], problems: Vec::new() }
}

/// What a member sends of whom a second factor is required, and who has none that does.
fn enrol(state: State, input: FlowInput) -> Transition {
    let effect = match (&state, input) {
        (State::OfferFactor { challenge, .. }, FlowInput::EnrolFactor) => {
            Effect::BeginFactor { challenge: challenge.clone() }
        }
        (
            State::OfferFactor { challenge, until: Some(_) } | State::EnrolFactor { challenge, until: Some(_), .. },
            FlowInput::Later,
        ) => Effect::PutOffFactor { challenge: challenge.clone() },
        (State::EnrolFactor { .. }, FlowInput::ConfirmFactor { code }) if code.trim().is_empty() => {
            return Transition { state, effects: Vec::new(), problems: vec![problem::required("code")] };
        }
        (State::EnrolFactor { challenge, draft, .. }, FlowInput::ConfirmFactor { code }) => {
            Effect::ConfirmFactor { challenge: challenge.clone(), draft: draft.clone(), code: Secret::new(code) }
        }
        (State::EnrolFactor { challenge, .. }, FlowInput::ConfirmPasskey { challenge_id, credential }) => {
            let answer = PasskeyAnswer { challenge_id, credential: Secret::new(credential) };
            Effect::ConfirmPasskey { challenge: challenge.clone(), answer }
        }
        (State::KeepCodes { challenge, .. }, FlowInput::CodesKept) => {
            Effect::FinishFactor { challenge: challenge.clone() }
        }
        _ => return unexpected(state),
    };
    Transition { state, effects: vec![effect], problems: Vec::new() }
}

fn submit_profile(state: State, profile: ProfileInput) -> Transition {
    let State::MissingFields { member, fields, password, .. } = &state else { return unexpected(state) };
    let is_missing = |field: &&Field| profile.get(**field).is_none_or(|it| it.trim().is_empty());
    let problems: Vec<Problem> = fields.iter().filter(is_missing).map(|it| problem::required(it.name())).collect();
    if !problems.is_empty() {
        return Transition { state, effects: Vec::new(), problems };
    }
    let effects = vec![Effect::Complete { member: member.clone(), password: password.clone(), profile }];
    Transition { state, effects, problems: Vec::new() }
}

/// What the result of an effect leads to. One that the state did not ask for changes nothing.
fn after(state: State, result: EffectResult, facts: &Facts) -> Transition {
    match (state, result) {
        (state, _) if is_over(&state) => stay(state),
        (state, EffectResult::Unchanged) => stay(state),
        (State::ByProvider { .. }, EffectResult::Refused(it)) => {
            Transition { state: State::SignIn { email: None }, effects: Vec::new(), problems: vec![it] }
        }
        (State::ProviderFailed { .. }, EffectResult::Sending { .. }) => stay(State::SignIn { email: None }),
        (State::ByProvider { person }, EffectResult::MustLink { email }) => stay(State::LinkProvider { person, email }),
        (
            State::SignIn { .. } | State::SignUp { .. } | State::ProviderFailed { .. } | State::ByProvider { .. },
            EffectResult::ProviderFailed { provider, reason },
        ) => stay(State::ProviderFailed { provider, reason }),
        (state, EffectResult::Refused(it)) => Transition { state, effects: Vec::new(), problems: vec![it] },
        (state, EffectResult::SignIn(outcome)) => after_sign_in(state, *outcome, facts),
        (state, EffectResult::Operator(cleared)) => grant(state, Grant::Operator(cleared), facts),
        (state, EffectResult::OperatorFactor(challenge)) if asks_operator(&state) => {
            stay(State::SecondFactor { challenge, sent: None })
        }
        (state, EffectResult::OperatorEnrolment { challenge, until }) if asks_operator(&state) => {
            offer(&state, challenge, until)
        }
        (State::MissingFields { email, .. } | State::AwaitApproval { email, .. }, EffectResult::Outdated) => {
            let state = State::SignIn { email: Some(email) };
            Transition { state, effects: Vec::new(), problems: vec![problem::moved_on()] }
        }
        (
            State::ByProvider { .. }
            | State::SecondFactor { .. }
            | State::AwaitPush { .. }
            | State::OfferFactor { .. }
            | State::EnrolFactor { .. }
            | State::KeepCodes { .. }
            | State::Consent(_),
            EffectResult::Outdated,
        ) => {
            let state = State::SignIn { email: None };
            Transition { state, effects: Vec::new(), problems: vec![problem::moved_on()] }
        }
        (State::SecondFactor { .. }, EffectResult::CodeSent { challenge, sent }) => {
            stay(State::SecondFactor { challenge, sent: Some(sent) })
        }
        (
            State::SecondFactor { .. } | State::AwaitPush { .. },
            EffectResult::Asked { challenge, question, remembers },
        ) => stay(State::AwaitPush { challenge, question, remembers }),
        (
            State::SecondFactor { mut challenge, .. } | State::AwaitPush { mut challenge, .. },
            EffectResult::Unapproved { why },
        ) => {
            if why.ends_questions() {
                challenge.factors.retain(|it| *it != FactorType::Push);
            }
            let state = State::SecondFactor { challenge, sent: None };
            Transition { state, effects: Vec::new(), problems: vec![problem::unapproved(why)] }
        }
        (State::OfferFactor { challenge, until }, EffectResult::Drafted { draft, account }) => {
            stay(State::EnrolFactor { challenge, draft, account, until })
        }
        (State::EnrolFactor { .. }, EffectResult::Enrolled { challenge, codes }) => {
            stay(State::KeepCodes { challenge, codes })
        }
        (State::RecoverRequest { email: Some(email) }, EffectResult::Sent) => stay(State::RecoverSent { email }),
        (state, EffectResult::MustAgree(Opened { signed, .. })) if asks_who(&state) => stay(State::Consent(signed)),
        (state, EffectResult::HasAgreed(_)) if asks_who(&state) => finish(Completion::SignedIn),
        (State::Consent(_), EffectResult::Agreed) => finish(Completion::Agreed),
        (State::ConfirmSignOut { .. }, EffectResult::SignedOut) => finish(Completion::SignedOut),

        (state, _) => stay(state),
    }
}

fn after_sign_in(state: State, outcome: Outcome, facts: &Facts) -> Transition {
    let fingerprint = |member: &Member| Fingerprint::of(member.password_hash.as_deref());
    match outcome {
        Outcome::Success { session_token, .. } => grant(state, Grant::Member(session_token), facts),
        _ if !asks_who(&state) => stay(state),
        Outcome::RequireEmailVerification { member, .. } => {
            let enrols = matches!(state, State::OfferFactor { .. });
            stay(State::VerifyEmail { member: member.id, email: member.email, enrols })
        }
        Outcome::RequireMissingFields { member, fields, .. } => {
            let password = fingerprint(&member);
            stay(State::MissingFields { member: member.id, email: member.email, fields, password })
        }
        Outcome::RequireOwnerApproval { member } => {
            let password = fingerprint(&member);
            stay(State::AwaitApproval { member: member.id, email: member.email, password })
        }
        Outcome::MfaChallenge { challenge, .. } => stay(State::SecondFactor { challenge, sent: None }),
        // Where it can't be put off, or the member has chosen before a code was asked for, there is nothing to choose.
        Outcome::RequireEnrolment { challenge, until, .. } => offer(&state, challenge, until),
        Outcome::RequireFirstFactor { .. } | Outcome::StatusCheck { .. } => stay(state),
    }
}

fn offer(before: &State, challenge: Challenge, until: Option<Millis>) -> Transition {
    let has_chosen = matches!(before, State::VerifyEmail { enrols: true, .. });
    let begin = (has_chosen || until.is_none()).then(|| Effect::BeginFactor { challenge: challenge.clone() });
    let state = State::OfferFactor { challenge, until };
    Transition { state, effects: begin.into_iter().collect(), problems: Vec::new() }
}

/// Ends a flow in which a session was granted, if that is what it asked for.
fn grant(state: State, grant: Grant, facts: &Facts) -> Transition {
    let grant = match grant {
        // Signed in, but the client gets nothing yet.
        Grant::Member(token) if facts.of_others => {
            let effects = if asks_who(&state) { vec![Effect::OpenForConsent(token)] } else { Vec::new() };
            return Transition { state, effects, problems: Vec::new() };
        }
        grant => grant,
    };
    let completion = match &state {
        State::NewPassword { reason: PasswordReason::Recovery | PasswordReason::OwnerRecovery, .. } => {
            Completion::PasswordChanged
        }
        State::NewPassword { reason: PasswordReason::OwnerSetup, .. } => Completion::OwnerReady,
        State::SignUp { .. } if facts.kind == FlowKind::OwnerSetup => Completion::OwnerReady,
        state if asks_who(state) => Completion::SignedIn,
        _ => return stay(state),
    };
    let effects = vec![Effect::OpenSession(grant), Effect::Finish(completion)];
    Transition { state: State::Ended, effects, problems: Vec::new() }
}

/// Whether what is asked here can show who the person is, or is asked of one who has shown it.
fn asks_who(state: &State) -> bool {
    match state {
        State::SignIn { .. }
        | State::SignUp { .. }
        | State::ByProvider { .. }
        | State::LinkProvider { .. }
        | State::VerifyEmail { .. }
        | State::MissingFields { .. }
        | State::AwaitApproval { .. }
        | State::SecondFactor { .. }
        | State::AwaitPush { .. }
        | State::OfferFactor { .. }
        | State::EnrolFactor { .. }
        | State::KeepCodes { .. }
        | State::NewPassword { reason: PasswordReason::Recovery, .. } => true,
        State::NewPassword { reason: PasswordReason::OwnerSetup | PasswordReason::OwnerRecovery, .. }
        | State::ProviderFailed { .. }
        | State::RecoverRequest { .. }
        | State::RecoverSent { .. }
        | State::Consent(_)
        | State::ConfirmSignOut { .. }
        | State::SignedOut
        | State::Ended => false,
    }
}

/// The same of those who run the site.
fn asks_operator(state: &State) -> bool {
    match state {
        State::NewPassword { reason, .. } => *reason != PasswordReason::Recovery,
        state => asks_who(state),
    }
}

fn is_over(state: &State) -> bool {
    matches!(state, State::Ended | State::SignedOut)
}

fn stay(state: State) -> Transition {
    Transition { state, effects: Vec::new(), problems: Vec::new() }
}

fn finish(completion: Completion) -> Transition {
    Transition { state: State::Ended, effects: vec![Effect::Finish(completion)], problems: Vec::new() }
}

/// A page from before, in another tab perhaps: it is shown where the flow stands now.
fn unexpected(state: State) -> Transition {
    Transition { state, effects: Vec::new(), problems: vec![problem::moved_on()] }
}

fn keep(email: String) -> Option<String> {
    (!email.trim().is_empty() && email.chars().count() <= 254).then_some(email)
}

fn missing(is_email: bool, email: &str, password: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    match (is_email, email.trim().is_empty()) {
        (true, _) => {}
        (false, true) => problems.push(problem::required("email")),
        (false, false) => problems.push(problem::invalid_email()),
    }
    if password.is_empty() {
        problems.push(problem::required("password"));
    }
    problems
}
