//! Every state meets every event under all facts, and every effect each result it can have; what
//! happens is what `sign_in.mermaid` (the picture) and `sign_in.txt` (every pair) show.
//!
//! The lists below are made by [`every`]: it does not compile when an enum has a variant that is not
//! listed, so a new state, input, result, effect, kind or entry can't be left out.

use crate::{
    factor::{Draft, FactorType, SealedCodes, Shown},
    flow::{
        conduct::MOST_EFFECTS,
        problem,
        state::{Completion, Effect, EffectResult, Event, Facts, Grant, PasswordReason, SentTo, State, Transition},
        step::{self, Entry},
        wire::{FlowInput, FlowKind, ProfileInput},
    },
    member::{Member, profile::Profile},
    operator::Operator,
    password::Fingerprint,
    policy::Field,
    sign_in::{challenge::Challenge, outcome::Outcome},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};
use stoa_kernel::{Email, MemberId, Role, Secret, UserId};

const DIAGRAM: &str = include_str!("sign_in.mermaid");
const TABLE: &str = include_str!("sign_in.txt");

/// Samples of every variant of an enum. The patterns have no wildcard, and each sample is of its own.
macro_rules! every {
    ($type:ty { $($pattern:pat => [$($sample:expr),+ $(,)?]),+ $(,)? }) => {{
        let complete = |it: &$type| match it { $($pattern => (),)+ };
        let mut all: Vec<$type> = Vec::new();
        $($({
            let sample: $type = $sample;
            complete(&sample);
            assert!(matches!(&sample, $pattern), "{:?} stands under another variant", sample);
            all.push(sample);
        })+)+
        all
    }};
}

fn email() -> String {
    "anna@example.org".to_owned()
}

fn address() -> Email {
    Email::parse(&email()).expect("an address")
}

fn member() -> MemberId {
    MemberId::from("m")
}

fn challenge() -> Challenge {
    let of = Member::new(member(), &email(), Profile::default(), 0);
    Challenge { factors: vec![FactorType::Totp, FactorType::RecoveryCode], ..Challenge::of(&of, 1, None, 0) }
}

/// Of a member who takes codes by e-mail, of which one was sent or not.
fn by_mail(mailed: Option<&str>) -> Challenge {
    let factors = vec![FactorType::Email, FactorType::RecoveryCode];
    Challenge { factors, mailed: mailed.map(str::to_owned), ..challenge() }
}

/// Of a member who takes codes at a number, of which one was sent or not.
fn by_phone(mailed: Option<&str>) -> Challenge {
    let factors = vec![FactorType::Sms, FactorType::Call, FactorType::RecoveryCode];
    Challenge { factors, mailed: mailed.map(str::to_owned), ..challenge() }
}

fn sent(factor: FactorType) -> SentTo {
    SentTo { factor, to: "***".to_owned() }
}

/// Of a member who has shown a code that was sent, beside which the site requires an authenticator.
fn beside_mail() -> Challenge {
    Challenge { has_shown: true, ..challenge() }
}

fn draft() -> Draft {
    serde_json::from_value(serde_json::json!({ "id": "f", "sealed": "" })).expect("a draft")
}

fn codes() -> SealedCodes {
    serde_json::from_value("".into()).expect("codes")
}

fn kinds() -> Vec<FlowKind> {
    every!(FlowKind {
        FlowKind::SignIn => [FlowKind::SignIn],
        FlowKind::SignUp => [FlowKind::SignUp],
        FlowKind::SignOut => [FlowKind::SignOut],
        FlowKind::Recover => [FlowKind::Recover],
        FlowKind::OwnerSetup => [FlowKind::OwnerSetup],
        FlowKind::OwnerSignIn => [FlowKind::OwnerSignIn],
    })
}

/// All, whether or not a flow of the kind can have them: what holds then holds for those that can.
fn facts() -> Vec<Facts> {
    let flags = |bits: u8| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
    let one = |kind| {
        (0..8).map(flags).map(move |[can_sign_up, can_recover, can_cancel]| Facts {
            kind,
            can_sign_up,
            can_recover,
            can_cancel,
        })
    };
    kinds().into_iter().flat_map(one).collect()
}

fn reasons() -> Vec<PasswordReason> {
    every!(PasswordReason {
        PasswordReason::Recovery => [PasswordReason::Recovery],
        PasswordReason::OwnerSetup => [PasswordReason::OwnerSetup],
        PasswordReason::OwnerRecovery => [PasswordReason::OwnerRecovery],
    })
}

fn states() -> Vec<State> {
    let (some, none) = (Some(email()), None::<String>);
    let [recovery, setup, owner] =
        [PasswordReason::Recovery, PasswordReason::OwnerSetup, PasswordReason::OwnerRecovery];
    assert_eq!(reasons(), [recovery, setup, owner]);
    every!(State {
        State::SignIn { .. } => [State::SignIn { email: some.clone() }, State::SignIn { email: none.clone() }],
        State::SignUp { .. } => [State::SignUp { email: some.clone() }, State::SignUp { email: none.clone() }],
        State::VerifyEmail { .. } => [
            State::VerifyEmail { member: member(), email: email(), enrols: false },
            State::VerifyEmail { member: member(), email: email(), enrols: true },
        ],
        State::MissingFields { .. } => [
            State::MissingFields { member: member(), email: email(), fields: Field::ALL.to_vec(), password: Fingerprint::default() },
            State::MissingFields { member: member(), email: email(), fields: Vec::new(), password: Fingerprint::default() },
        ],
        State::AwaitApproval { .. } => [State::AwaitApproval { member: member(), email: email(), password: Fingerprint::default() }],
        State::SecondFactor { .. } => [
            State::SecondFactor { challenge: challenge(), sent: None },
            State::SecondFactor { challenge: by_mail(None), sent: None },
            State::SecondFactor { challenge: by_mail(Some("flow")), sent: Some(sent(FactorType::Email)) },
            State::SecondFactor { challenge: by_phone(None), sent: None },
            State::SecondFactor { challenge: by_phone(Some("flow")), sent: Some(sent(FactorType::Sms)) },
        ],
        State::OfferFactor { .. } => [
            State::OfferFactor { challenge: challenge(), until: Some(1) },
            State::OfferFactor { challenge: challenge(), until: None },
            State::OfferFactor { challenge: beside_mail(), until: Some(1) },
            State::OfferFactor { challenge: beside_mail(), until: None },
        ],
        State::EnrolFactor { .. } => [
            State::EnrolFactor { challenge: challenge(), draft: draft(), account: email(), until: Some(1) },
            State::EnrolFactor { challenge: challenge(), draft: draft(), account: email(), until: None },
            State::EnrolFactor { challenge: beside_mail(), draft: draft(), account: email(), until: Some(1) },
            State::EnrolFactor { challenge: beside_mail(), draft: draft(), account: email(), until: None },
        ],
        State::KeepCodes { .. } => [State::KeepCodes { challenge: challenge(), codes: codes() }],
        State::RecoverRequest { .. } => [
            State::RecoverRequest { email: some.clone() },
            State::RecoverRequest { email: none.clone() },
        ],
        State::RecoverSent { .. } => [State::RecoverSent { email: email() }],
        State::NewPassword { .. } => [
            State::NewPassword { email: some.clone(), reason: recovery },
            State::NewPassword { email: none.clone(), reason: recovery },
            State::NewPassword { email: some.clone(), reason: setup },
            State::NewPassword { email: some.clone(), reason: owner },
            State::NewPassword { email: none.clone(), reason: setup },
        ],
        State::ConfirmSignOut { .. } => [State::ConfirmSignOut { name: None }, State::ConfirmSignOut { name: some.clone() }],
        State::SignedOut => [State::SignedOut],
        State::Ended => [State::Ended],
    })
}

/// Good and bad ones.
fn inputs() -> Vec<FlowInput> {
    let sign_in = |email: &str, password: &str| FlowInput::SignIn {
        email: email.to_owned(),
        password: password.to_owned(),
        captcha: None,
    };
    let sign_up = |email: &str, password: &str| FlowInput::SignUp {
        email: email.to_owned(),
        password: password.to_owned(),
        profile: ProfileInput::default(),
        captcha: Some("answer".to_owned()),
    };
    let code = |it: &str| FlowInput::VerifyEmail { code: it.to_owned() };
    let ask = |it: &str| FlowInput::RecoverRequest { email: it.to_owned() };
    let prove = |factor, code: &str, remember| FlowInput::SecondFactor { factor, code: code.to_owned(), remember };
    let confirm = |code: &str| FlowInput::ConfirmFactor { code: code.to_owned() };
    let to = |to, email: Option<String>| FlowInput::Switch { to, email };
    let name = |it: &str| Some(it.to_owned());
    let whole = ProfileInput { first_name: name("Anna"), last_name: name("Berg"), nickname: name("anna") };
    let blank = ProfileInput { first_name: name(" "), ..whole.clone() };
    let mut all = every!(FlowInput {
        FlowInput::SignIn { .. } => [sign_in(&email(), "long enough"), sign_in(&email(), ""), sign_in("nonsense", "x"), sign_in("", "")],
        FlowInput::SignUp { .. } => [sign_up(&email(), "long enough"), sign_up(&email(), ""), sign_up("nonsense", "x"), sign_up("", "")],
        FlowInput::Switch { .. } => [to(FlowKind::SignIn, None)],
        FlowInput::VerifyEmail { .. } => [code("123456"), code("123 456"), code("12345"), code("abcdef"), code("")],
        FlowInput::Resend { .. } => [
            FlowInput::Resend { factor: None },
            FlowInput::Resend { factor: Some(FactorType::Sms) },
            FlowInput::Resend { factor: Some(FactorType::Totp) },
        ],
        FlowInput::MissingFields { .. } => [
            FlowInput::MissingFields { profile: whole },
            FlowInput::MissingFields { profile: blank },
            FlowInput::MissingFields { profile: ProfileInput::default() },
        ],
        FlowInput::SecondFactor { .. } => [
            prove(FactorType::Totp, "123456", true),
            prove(FactorType::Email, "123456", false),
            prove(FactorType::Sms, "123456", false),
            prove(FactorType::Call, "123456", true),
            prove(FactorType::RecoveryCode, "ABCD-EFGH", false),
            prove(FactorType::Totp, " ", false),
        ],
        FlowInput::EnrolFactor => [FlowInput::EnrolFactor],
        FlowInput::ConfirmFactor { .. } => [confirm("123456"), confirm(" ")],
        FlowInput::Later => [FlowInput::Later],
        FlowInput::CodesKept => [FlowInput::CodesKept],
        FlowInput::RecoverRequest { .. } => [ask(&email()), ask("nonsense"), ask("")],
        FlowInput::NewPassword { .. } => [
            FlowInput::NewPassword { password: "long enough".to_owned() },
            FlowInput::NewPassword { password: String::new() },
        ],
        FlowInput::ConfirmSignOut => [FlowInput::ConfirmSignOut],
        FlowInput::Back => [FlowInput::Back],
        FlowInput::Cancel => [FlowInput::Cancel],
    });
    for kind in kinds() {
        all.extend([Some(email()), Some("x".repeat(300)), None].map(|email| to(kind, email)));
    }
    all
}

fn outcomes() -> Vec<Outcome> {
    let account = || Member::new(member(), &email(), Profile::default(), 0);
    let token = || Secret::new("token");
    every!(Outcome {
        Outcome::Success { .. } => [Outcome::Success { member: account(), session_token: token() }],
        Outcome::RequireEmailVerification { .. } => [
            Outcome::RequireEmailVerification { member: account(), state_token: token() },
        ],
        Outcome::RequireMissingFields { .. } => [
            Outcome::RequireMissingFields { member: account(), fields: Field::ALL.to_vec(), state_token: token() },
        ],
        Outcome::RequireOwnerApproval { .. } => [Outcome::RequireOwnerApproval { member: account() }],
        Outcome::MfaChallenge { .. } => [
            Outcome::MfaChallenge { challenge: challenge(), state_token: token(), asked: FactorType::Totp, hint: None },
            Outcome::MfaChallenge { challenge: by_mail(None), state_token: token(), asked: FactorType::Email, hint: None },
            Outcome::MfaChallenge { challenge: by_phone(None), state_token: token(), asked: FactorType::Sms, hint: None },
        ],
        Outcome::RequireEnrolment { .. } => [
            Outcome::RequireEnrolment { challenge: challenge(), until: Some(1), url: None },
            Outcome::RequireEnrolment { challenge: challenge(), until: None, url: None },
            Outcome::RequireEnrolment { challenge: beside_mail(), until: Some(1), url: None },
            Outcome::RequireEnrolment { challenge: beside_mail(), until: None, url: None },
        ],
        Outcome::RequireFirstFactor { .. } => [Outcome::RequireFirstFactor { state_token: token() }],
        Outcome::StatusCheck { .. } => [Outcome::StatusCheck { member: account() }],
    })
}

fn operator() -> Operator {
    Operator::new(UserId::from("o"), email())
}

/// Those that a flow can meet: an address that was verified outside of a sign-in is none of a flow's.
fn results() -> Vec<EffectResult> {
    let mut all: Vec<EffectResult> = outcomes().into_iter().map(|it| EffectResult::SignIn(Box::new(it))).collect();
    all.extend(every!(EffectResult {
        EffectResult::SignIn(_) => [EffectResult::SignIn(Box::new(outcomes().remove(0)))],
        EffectResult::Operator(..) => [EffectResult::Operator(operator(), Role::Owner)],
        EffectResult::Outdated => [EffectResult::Outdated],
        EffectResult::Sent => [EffectResult::Sent],
        EffectResult::SignedOut => [EffectResult::SignedOut],
        EffectResult::Unchanged => [EffectResult::Unchanged],
        EffectResult::CodeSent { .. } => [
            EffectResult::CodeSent { challenge: by_mail(Some("flow")), sent: sent(FactorType::Email) },
            EffectResult::CodeSent { challenge: by_phone(Some("flow")), sent: sent(FactorType::Sms) },
        ],
        EffectResult::Drafted { .. } => [EffectResult::Drafted { draft: draft(), account: email() }],
        EffectResult::Enrolled { .. } => [
            EffectResult::Enrolled { challenge: challenge(), codes: codes() },
        ],
        EffectResult::Refused(_) => [EffectResult::Refused(problem::credentials())],
    }));
    all.retain(|result| effects().iter().any(|it| it.can_result_in(result)));
    all
}

fn events() -> Vec<Event> {
    let mut all = every!(Event {
        Event::Input(_) => [Event::Input(FlowInput::Resend { factor: None })],
        Event::Refresh => [Event::Refresh],
        Event::Result(_) => [Event::Result(EffectResult::Sent)],
    });
    all.extend(inputs().into_iter().map(Event::Input));
    all.extend(results().into_iter().map(Event::Result));
    all
}

fn effects() -> Vec<Effect> {
    let (email, password) = (address, || Secret::new("long enough"));
    every!(Effect {
        Effect::CheckPassword { .. } => [Effect::CheckPassword { email: email(), password: password(), captcha: None }],
        Effect::Register { .. } => [
            Effect::Register { email: email(), password: password(), profile: ProfileInput::default(), captcha: None },
        ],
        Effect::CheckCode { .. } => [Effect::CheckCode { member: member(), code: "123456".to_owned() }],
        Effect::SendCode { .. } => [Effect::SendCode { member: member() }],
        Effect::Complete { .. } => [
            Effect::Complete { member: member(), password: Fingerprint::default(), profile: ProfileInput::default() },
        ],
        Effect::CheckApproval { .. } => [Effect::CheckApproval { member: member(), password: Fingerprint::default() }],
        Effect::SendFactor { .. } => [Effect::SendFactor { challenge: by_mail(None), factor: FactorType::Email }],
        Effect::CheckFactor { .. } => [
            Effect::CheckFactor {
                challenge: challenge(),
                shown: Shown { factor: FactorType::Totp, code: Secret::new("123456") },
                remembers: true,
            },
        ],
        Effect::PutOffFactor { .. } => [Effect::PutOffFactor { challenge: challenge() }],
        Effect::BeginFactor { .. } => [Effect::BeginFactor { challenge: challenge() }],
        Effect::ConfirmFactor { .. } => [
            Effect::ConfirmFactor { challenge: challenge(), draft: draft(), code: Secret::new("123456") },
        ],
        Effect::FinishFactor { .. } => [Effect::FinishFactor { challenge: challenge() }],
        Effect::SendRecovery { .. } => [Effect::SendRecovery { email: email() }],
        Effect::SetPassword { .. } => [Effect::SetPassword { reason: PasswordReason::Recovery, password: password() }],
        Effect::EndSession => [Effect::EndSession],
        Effect::OpenSession(_) => [Effect::OpenSession(Grant::Member(password()))],
        Effect::Finish(_) => [Effect::Finish(Completion::SignedIn)],
    })
}

/// Every way in, and what the diagram calls it.
fn entries() -> Vec<(Entry, String)> {
    let mut all = every!(Entry {
        Entry::Asked { .. } => [Entry::Asked { kind: FlowKind::SignIn, name: None }],
        Entry::Invited { .. } => [Entry::Invited { email: None }, Entry::Invited { email: Some(email()) }],
        Entry::Recovers { .. } => [Entry::Recovers { email: email() }],
        Entry::OwnerRecovers { .. } => [Entry::OwnerRecovers { email: email() }],
        Entry::SignedOut => [Entry::SignedOut],
    });
    all.extend(kinds().into_iter().map(|kind| Entry::Asked { kind, name: Some(email()) }));
    let name = |entry: &Entry| match entry {
        Entry::Asked { kind, .. } => wire_name(*kind),
        Entry::Invited { email: None } => "first invitation".to_owned(),
        Entry::Invited { email: Some(_) } => "invitation".to_owned(),
        Entry::Recovers { .. } => "recovery link".to_owned(),
        Entry::OwnerRecovers { .. } => "recovery link of an owner".to_owned(),
        Entry::SignedOut => "signed out with nowhere to go".to_owned(),
    };
    all.into_iter().map(|it| (it.clone(), name(&it))).collect()
}

fn wire_name(kind: FlowKind) -> String {
    serde_json::to_value(kind).expect("a name").as_str().expect("a name").to_owned()
}

/// An effect that must be answered before the machine can go on.
fn asks(effect: &Effect) -> bool {
    effect.has_result()
}

/// The effects whose results a state can meet.
fn asked_for(state: &State, facts: &Facts) -> Vec<Effect> {
    let events = inputs().into_iter().map(Event::Input).chain([Event::Refresh]);
    let transitions = events.map(|event| step::step(state.clone(), event, facts));
    transitions.filter(|it| it.state.name() == state.name()).flat_map(|it| it.effects).filter(asks).collect()
}

/// `From --> To: event` for everything that moves a flow, and the ways in.
fn edges_of_the_machine() -> BTreeSet<String> {
    let mut edges = BTreeSet::new();
    for (entry, name) in entries() {
        if let Some(state) = step::begin(entry) {
            edges.insert(format!("[*] --> {}: {name}", state.name()));
        }
    }
    for facts in facts() {
        for state in states() {
            let answers = asked_for(&state, &facts);
            let can_happen = |it: &Event| match it {
                Event::Result(result) => answers.iter().any(|effect| effect.can_result_in(result)),
                Event::Input(_) | Event::Refresh => true,
            };
            for event in events().into_iter().filter(can_happen) {
                let name = event.name();
                let transition = step::step(state.clone(), event, &facts);
                if transition.state.name() != state.name() {
                    edges.insert(format!("{} --> {}: {name}", state.name(), transition.state.name()));
                }
            }
        }
    }
    edges
}

#[test]
fn diagram_shows_every_edge_and_no_other() {
    let lines = DIAGRAM.lines().map(str::trim).filter(|it| it.contains("-->") && !it.ends_with("[*]"));
    let (machine, diagram) = (edges_of_the_machine(), lines.map(str::to_owned).collect());
    let missing: Vec<_> = machine.difference(&diagram).collect();
    let invented: Vec<_> = diagram.difference(&machine).collect();
    assert!(missing.is_empty() && invented.is_empty(), "missing: {missing:#?}\ninvented: {invented:#?}");
}

/// One cell of the table: where a state and an event lead, which effects are run and what is shown, under some facts.
fn cell(transition: &Transition) -> String {
    let mut cell = transition.state.name().to_owned();
    for effect in &transition.effects {
        let _ = write!(cell, " {}", effect.name());
    }
    for problem in &transition.problems {
        let _ = write!(cell, " !{}", problem.code);
    }
    cell
}

#[test]
fn table_has_every_state_and_event() {
    let mut pairs: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
    let index = |names: &[&'static str], name: &str| names.iter().position(|it| *it == name).expect("listed");
    let mut state_names: Vec<_> = states().iter().map(State::name).collect();
    let mut event_names: Vec<_> = events().iter().map(Event::name).collect();
    for names in [&mut state_names, &mut event_names] {
        let mut seen = BTreeSet::new();
        names.retain(|it| seen.insert(*it));
    }
    for facts in facts() {
        for state in states() {
            for event in events() {
                let key = (index(&state_names, state.name()), index(&event_names, event.name()));
                pairs.entry(key).or_default().insert(cell(&step::step(state.clone(), event, &facts)));
            }
        }
    }
    assert_eq!(pairs.len(), state_names.len() * event_names.len(), "every pair leads somewhere");
    let mut table =
        String::from("# state + event -> next state, effects, !problems; several by facts and by what was sent\n");
    for ((state, event), cells) in pairs {
        let cells: Vec<_> = cells.into_iter().collect();
        let _ = writeln!(table, "{} + {} -> {}", state_names[state], event_names[event], cells.join(" | "));
    }
    table.push_str("\n# effect: what it can come to\n");
    for effect in effects() {
        let mut can: Vec<_> = results().into_iter().filter(|it| effect.can_result_in(it)).map(|it| it.name()).collect();
        let mut seen = BTreeSet::new();
        can.retain(|it| seen.insert(*it));
        assert_eq!(can.is_empty(), !asks(&effect), "{}", effect.name());
        let _ =
            writeln!(table, "{}: {}", effect.name(), if asks(&effect) { can.join(", ") } else { "the end".to_owned() });
    }
    #[expect(clippy::disallowed_methods, reason = "how a snapshot is renewed")]
    if std::env::var("UPDATE_SNAPSHOTS").is_ok() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/flow/sign_in.txt"), &table).expect("written");
    }
    assert!(table == TABLE, "flow/sign_in.txt is stale: look at each line, then renew it with UPDATE_SNAPSHOTS=1");
}

/// What the conductor does with an input: the machine, its effects, and each result they can have.
/// Answers every transition that it can end with.
fn conduct(transition: Transition, facts: &Facts, depth: usize) -> Vec<Transition> {
    let mut transition = transition;
    let Some(at) = transition.effects.iter().position(asks) else { return vec![transition] };
    assert!(depth < MOST_EFFECTS, "the machine asks for one thing after the other: {transition:?}");
    let effect = transition.effects.swap_remove(at);
    assert!(transition.effects.is_empty(), "nothing else is asked for beside {}", effect.name());
    let mut ends = Vec::new();
    for result in results().into_iter().filter(|it| effect.can_result_in(it)) {
        let next = step::step(transition.state.clone(), Event::Result(result.clone()), facts);
        let is_heard = next.state != transition.state || !next.problems.is_empty() || !next.effects.is_empty();
        // The same fields may be missing still.
        let is_still = result.name() == "mustTell"
            || matches!(result, EffectResult::Unchanged | EffectResult::Sent | EffectResult::CodeSent { .. });
        assert!(
            is_heard || is_still,
            "{:?} does not hear that {} resulted in {}",
            transition.state,
            effect.name(),
            result.name()
        );
        ends.extend(conduct(next, facts, depth + 1));
    }
    ends
}

#[test]
fn flow_handles_all_that_can_happen_and_can_end() {
    let mut met = BTreeSet::new();
    for can_cancel in [true, false] {
        for (entry, name) in entries() {
            let Some(first) = step::begin(entry.clone()) else { continue };
            let kind = match &entry {
                Entry::Asked { kind, .. } => *kind,
                Entry::Invited { .. } => FlowKind::OwnerSetup,
                Entry::Recovers { .. } => FlowKind::Recover,
                Entry::OwnerRecovers { .. } => FlowKind::OwnerSignIn,
                Entry::SignedOut => FlowKind::SignOut,
            };
            let is_member = super::view::is_member(kind);
            let can_recover = is_member || kind == FlowKind::OwnerSignIn;
            let facts = Facts { kind, can_sign_up: is_member, can_recover, can_cancel };
            let (mut known, mut edges): (Vec<State>, Vec<(State, State)>) = (vec![first.clone()], Vec::new());
            let mut waiting = vec![first];
            while let Some(state) = waiting.pop() {
                met.insert(state.name());
                let events = inputs().into_iter().map(Event::Input).chain([Event::Refresh]);
                for event in events {
                    for transition in conduct(step::step(state.clone(), event, &facts), &facts, 0) {
                        edges.push((state.clone(), transition.state.clone()));
                        if !known.contains(&transition.state) {
                            known.push(transition.state.clone());
                            waiting.push(transition.state);
                        }
                    }
                }
            }
            // Backwards from the ends: no state is a dead end.
            let is_end = |it: &State| matches!(it, State::Ended | State::SignedOut);
            let mut ending: Vec<State> = known.iter().filter(|it| is_end(it)).cloned().collect();
            while let Some((from, _)) =
                edges.iter().find(|(from, to)| ending.contains(to) && !ending.contains(from)).cloned()
            {
                ending.push(from);
            }
            for state in known {
                assert!(ending.contains(&state), "{name}: no way out of {state:?}");
            }
        }
    }
    let all: BTreeSet<_> = states().iter().map(State::name).collect();
    assert_eq!(met, all, "every state is met on some way");
}

#[test]
fn finished_flow_stays_finished() {
    for facts in facts() {
        for state in [State::Ended, State::SignedOut] {
            for event in events() {
                let transition = step::step(state.clone(), event, &facts);
                assert_eq!((transition.state, transition.effects.len()), (state.clone(), 0));
            }
        }
    }
}

#[test]
fn session_is_opened_only_when_one_was_granted() {
    for facts in facts() {
        for state in states() {
            for event in events() {
                let is_grant = event.name() == "granted";
                let transition = step::step(state.clone(), event, &facts);
                let opens = transition.effects.iter().any(|it| matches!(it, Effect::OpenSession(_)));
                assert!(is_grant || !opens, "{state:?}");
                if opens {
                    assert_eq!(transition.state, State::Ended);
                }
            }
        }
    }
}

#[test]
fn flow_finishes_once_at_its_end_only() {
    for facts in facts() {
        for state in states() {
            for event in events() {
                let transition = step::step(state.clone(), event, &facts);
                let ends = transition.effects.iter().filter(|it| matches!(it, Effect::Finish(_))).count();
                let has_ended = transition.state == State::Ended && state != State::Ended;
                assert_eq!(ends, usize::from(has_ended), "{state:?}");
            }
        }
    }
}

#[test]
fn bad_input_is_reported_without_effects() {
    let facts = Facts { kind: FlowKind::SignIn, can_sign_up: true, can_recover: true, can_cancel: false };
    let input = FlowInput::SignIn { email: "nonsense".into(), password: String::new(), captcha: None };
    let transition = step::step(State::SignIn { email: None }, Event::Input(input), &facts);
    let codes: Vec<_> = transition.problems.iter().map(|it| (it.field.as_deref(), it.code.as_str())).collect();
    assert_eq!(codes, [(Some("email"), "INVALID_EMAIL"), (Some("password"), "REQUIRED")]);
    assert!(transition.effects.is_empty());
}

#[test]
fn owner_flow_has_no_sign_up() {
    let facts = Facts { kind: FlowKind::OwnerSignIn, can_sign_up: false, can_recover: true, can_cancel: false };
    for (to, leads_to) in [(FlowKind::SignUp, "SignIn"), (FlowKind::Recover, "RecoverRequest")] {
        let switch = Event::Input(FlowInput::Switch { to, email: None });
        let transition = step::step(State::SignIn { email: None }, switch, &facts);
        assert_eq!(transition.state.name(), leads_to);
    }
}

/// What an effect can result in for a member who has a second factor: nothing signs in, nor requires an authenticator beside
/// codes by e-mail, but showing one, and what knows that one was shown.
fn results_of_enrolled(effect: &Effect) -> Vec<EffectResult> {
    let was_shown = match effect {
        Effect::CheckFactor { .. } | Effect::FinishFactor { .. } => true,
        Effect::PutOffFactor { challenge }
        | Effect::BeginFactor { challenge }
        | Effect::ConfirmFactor { challenge, .. } => challenge.has_shown,
        _ => false,
    };
    let can_be = |result: &EffectResult| match result {
        EffectResult::SignIn(outcome) => match &**outcome {
            Outcome::Success { .. } => was_shown,
            Outcome::RequireEnrolment { challenge, .. } => was_shown && challenge.has_shown,
            _ => true,
        },
        _ => true,
    };
    results().into_iter().filter(|it| effect.can_result_in(it) && can_be(it)).collect()
}

/// Whether a state says that codes by e-mail were shown before an authenticator is set up.
fn knows_shown(state: &State) -> bool {
    match state {
        State::OfferFactor { challenge, .. }
        | State::EnrolFactor { challenge, .. }
        | State::KeepCodes { challenge, .. } => challenge.has_shown,
        _ => false,
    }
}

/// From every state, by every input and under all facts, whether or not a flow comes there.
#[test]
fn no_way_leads_past_a_second_factor() {
    let is_members = |it: &Effect| matches!(it, Effect::OpenSession(Grant::Member(_)));
    let (mut shown, mut put_off, mut asked) = (0, 0, BTreeSet::new());
    for facts in facts() {
        for state in states() {
            let inputs = inputs().into_iter().map(Event::Input).chain([Event::Refresh]);
            let mut waiting: Vec<Transition> = inputs.map(|it| step::step(state.clone(), it, &facts)).collect();
            assert!(knows_shown(&state) || !waiting.iter().any(|it| knows_shown(&it.state)), "{state:?}");
            while let Some(mut transition) = waiting.pop() {
                let Some(at) = transition.effects.iter().position(asks) else {
                    assert!(!transition.effects.iter().any(is_members), "{state:?}");
                    continue;
                };
                let effect = transition.effects.swap_remove(at);
                for result in results_of_enrolled(&effect) {
                    let is_asked = result.name() == "mustProve";
                    let before = transition.state.clone();
                    let next = step::step(before.clone(), Event::Result(result), &facts);
                    if is_asked {
                        asked.insert(before.name());
                        assert!(matches!(next.state, State::SecondFactor { .. }), "{before:?} passes the question by");
                    }
                    if knows_shown(&next.state) && !knows_shown(&before) {
                        let shows = (&before, &effect);
                        assert!(
                            matches!(shows, (State::SecondFactor { .. }, Effect::CheckFactor { .. })),
                            "{before:?}"
                        );
                    }
                    if next.effects.iter().any(is_members) {
                        match (&before, &effect) {
                            (State::SecondFactor { .. }, Effect::CheckFactor { .. })
                            | (State::KeepCodes { .. }, Effect::FinishFactor { .. }) => shown += 1,
                            (State::OfferFactor { .. } | State::EnrolFactor { .. }, _) if knows_shown(&before) => {
                                put_off += 1;
                            }
                            _ => panic!("{before:?} signs in by {}", effect.name()),
                        }
                        continue;
                    }
                    waiting.push(next);
                }
            }
        }
    }
    assert!(shown > 0 && put_off > 0);
    let ways = ["AwaitApproval", "MissingFields", "NewPassword", "SignIn", "VerifyEmail"];
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), ways);
}

/// What an effect can result in for a member of whom a second factor is required now, and who has none that does, but perhaps codes
/// by e-mail: nothing signs in before one was set up.
fn results_of_required(effect: &Effect) -> Vec<EffectResult> {
    let can_be = |result: &EffectResult| match result {
        EffectResult::SignIn(outcome) => match **outcome {
            Outcome::Success { .. } => matches!(effect, Effect::FinishFactor { .. }),
            // The time to put it off is over.
            Outcome::RequireEnrolment { until: Some(_), .. } => false,
            _ => true,
        },
        _ => true,
    };
    results().into_iter().filter(|it| effect.can_result_in(it) && can_be(it)).collect()
}

/// From every state, by every input and under all facts: only the way through the set-up signs in, and each state of it is
/// reached by the one before only.
#[test]
fn no_way_leads_past_a_factor_that_is_required() {
    let is_members = |it: &Effect| matches!(it, Effect::OpenSession(Grant::Member(_)));
    let (mut granted, mut required) = (0, BTreeSet::new());
    for facts in facts() {
        for state in states() {
            let inputs = inputs().into_iter().map(Event::Input).chain([Event::Refresh]);
            let mut waiting: Vec<Transition> = inputs.map(|it| step::step(state.clone(), it, &facts)).collect();
            while let Some(mut transition) = waiting.pop() {
                let Some(at) = transition.effects.iter().position(asks) else {
                    assert!(!transition.effects.iter().any(is_members), "{state:?}");
                    continue;
                };
                let effect = transition.effects.swap_remove(at);
                for result in results_of_required(&effect) {
                    let before = transition.state.clone();
                    let name = result.name();
                    let next = step::step(before.clone(), Event::Result(result), &facts);
                    if name == "mustEnrol" {
                        required.insert(before.name());
                        let begins = matches!(next.effects.as_slice(), [Effect::BeginFactor { .. }]);
                        assert!(begins, "{before:?} passes the question by");
                    }
                    let is_new = next.state.name() != before.name();
                    match next.state {
                        State::EnrolFactor { .. } if is_new => {
                            assert!(matches!((&before, name), (State::OfferFactor { .. }, "drafted")));
                        }
                        State::KeepCodes { .. } if is_new => {
                            assert!(matches!((&before, name), (State::EnrolFactor { .. }, "enrolled")));
                        }
                        _ => {}
                    }
                    if next.effects.iter().any(is_members) {
                        assert!(matches!((&before, &effect), (State::KeepCodes { .. }, Effect::FinishFactor { .. })));
                        granted += 1;
                        continue;
                    }
                    waiting.push(next);
                }
            }
        }
    }
    assert!(granted > 0);
    let ways = [
        "AwaitApproval",
        "EnrolFactor",
        "MissingFields",
        "NewPassword",
        "OfferFactor",
        "SecondFactor",
        "SignIn",
        "SignUp",
        "VerifyEmail",
    ];
    assert_eq!(required.into_iter().collect::<Vec<_>>(), ways);
}
