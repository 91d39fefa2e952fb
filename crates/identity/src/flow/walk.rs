//! Every state meets every event, and what happens is what the diagram shows.

use super::{
    problem,
    state::{Effect, Event, Facts, Outcome, PasswordReason, State},
    step,
    wire::{FlowInput, FlowKind, ProfileInput},
};
use std::collections::BTreeSet;
use stoa_kernel::MemberId;

const DIAGRAM: &str = include_str!("sign_in.mermaid");
const KINDS: [FlowKind; 6] = [
    FlowKind::SignIn,
    FlowKind::SignUp,
    FlowKind::SignOut,
    FlowKind::Recover,
    FlowKind::OwnerSetup,
    FlowKind::OwnerSignIn,
];

fn email() -> String {
    "anna@example.org".to_owned()
}

fn member() -> MemberId {
    MemberId::from("m")
}

fn states() -> Vec<State> {
    let mut all = vec![
        State::VerifyEmail { member: member(), email: email() },
        State::AwaitApproval { member: member(), email: email(), password: String::new() },
        State::RecoverSent { email: email() },
        State::ConfirmSignOut { name: None },
        State::SignedOut,
        State::Ended,
    ];
    for email in [None, Some(email())] {
        all.push(State::SignIn { email: email.clone() });
        all.push(State::SignUp { email: email.clone() });
        all.push(State::RecoverRequest { email: email.clone() });
        for reason in [PasswordReason::Recovery, PasswordReason::OwnerSetup] {
            all.push(State::NewPassword { email: email.clone(), reason });
        }
    }
    all
}

fn events() -> Vec<Event> {
    let (some, none) = (Some(email()), None);
    let mut inputs = vec![
        FlowInput::Resend,
        FlowInput::MissingFields { profile: ProfileInput::default() },
        FlowInput::ChooseFactor { factor_id: "f".into() },
        FlowInput::AnswerFactor { code: None, credential: None, remember_device: false },
        FlowInput::EnrolFactor { code: None, credential: None },
        FlowInput::Acknowledge,
        FlowInput::Consent { allowed: true },
        FlowInput::ConfirmSignOut,
        FlowInput::Back,
        FlowInput::Cancel,
    ];
    for (email, password) in [(email(), "long enough"), (email(), ""), ("nonsense".into(), "x"), (String::new(), "")] {
        let password = || password.to_owned();
        inputs.push(FlowInput::SignIn { email: email.clone(), password: password(), captcha: None });
        let profile = ProfileInput::default();
        inputs.push(FlowInput::SignUp { email: email.clone(), password: password(), profile, captcha: None });
        inputs.push(FlowInput::RecoverRequest { email });
        inputs.push(FlowInput::NewPassword { password: password() });
    }
    for code in ["123456", "123 456", "12345", "abcdef", ""] {
        inputs.push(FlowInput::VerifyEmail { code: code.to_owned() });
    }
    for to in KINDS {
        inputs.extend([some.clone(), none.clone()].map(|email| FlowInput::Switch { to, email }));
    }
    let outcomes = [
        Outcome::Granted,
        Outcome::MustVerify { member: member(), email: email() },
        Outcome::MustWait { member: member(), email: email(), password: String::new() },
        Outcome::Outdated,
        Outcome::Sent,
        Outcome::SignedOut,
        Outcome::Unchanged,
        Outcome::Refused(problem::credentials()),
    ];
    let inputs = inputs.into_iter().map(Event::Person);
    inputs.chain([Event::Look]).chain(outcomes.into_iter().map(Event::Outcome)).collect()
}

fn facts() -> impl Iterator<Item = Facts> {
    KINDS.into_iter().flat_map(|kind| {
        let is_member = matches!(kind, FlowKind::SignIn | FlowKind::SignUp | FlowKind::Recover);
        [true, false].map(|can_cancel| Facts { kind, can_sign_up: is_member, can_recover: is_member, can_cancel })
    })
}

/// `From --> To: event` for everything that moves a flow.
fn edges_of_the_machine() -> BTreeSet<String> {
    let mut edges = BTreeSet::new();
    for facts in facts() {
        for state in states() {
            for event in events() {
                let name = event.name();
                let turn = step::step(state.clone(), event, &facts);
                if turn.state.name() != state.name() {
                    edges.insert(format!("{} --> {}: {name}", state.name(), turn.state.name()));
                }
            }
        }
    }
    edges
}

fn edges_of_the_diagram() -> BTreeSet<String> {
    let lines = DIAGRAM.lines().map(str::trim).filter(|it| it.contains("-->") && !it.contains("[*]"));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_diagram_shows_every_edge_and_no_other() {
    let (machine, diagram) = (edges_of_the_machine(), edges_of_the_diagram());
    let missing: Vec<_> = machine.difference(&diagram).collect();
    let invented: Vec<_> = diagram.difference(&machine).collect();
    assert!(missing.is_empty() && invented.is_empty(), "missing: {missing:#?}\ninvented: {invented:#?}");
}

#[test]
fn what_is_over_stays_over() {
    for facts in facts() {
        for state in [State::Ended, State::SignedOut] {
            for event in events() {
                let turn = step::step(state.clone(), event, &facts);
                assert_eq!((turn.state, turn.effects.len()), (state.clone(), 0));
            }
        }
    }
}

#[test]
fn a_session_is_opened_only_when_one_was_granted() {
    for facts in facts() {
        for state in states() {
            for event in events() {
                let is_grant = matches!(event, Event::Outcome(Outcome::Granted));
                let turn = step::step(state.clone(), event, &facts);
                let opens = turn.effects.contains(&Effect::OpenSession);
                assert!(is_grant || !opens, "{state:?}");
                if opens {
                    assert_eq!(turn.state, State::Ended);
                }
            }
        }
    }
}

#[test]
fn ends_finish_once_and_only_they_do() {
    for facts in facts() {
        for state in states() {
            for event in events() {
                let turn = step::step(state.clone(), event, &facts);
                let ends = turn.effects.iter().filter(|it| matches!(it, Effect::Finish(_))).count();
                let has_ended = turn.state == State::Ended && state != State::Ended;
                assert_eq!(ends, usize::from(has_ended), "{state:?}");
            }
        }
    }
}

#[test]
fn bad_input_is_told_and_asks_for_nothing() {
    let facts = Facts { kind: FlowKind::SignIn, can_sign_up: true, can_recover: true, can_cancel: false };
    let input = FlowInput::SignIn { email: "nonsense".into(), password: String::new(), captcha: None };
    let turn = step::step(State::SignIn { email: None }, Event::Person(input), &facts);
    let codes: Vec<_> = turn.problems.iter().map(|it| (it.field.as_deref(), it.code.as_str())).collect();
    assert_eq!(codes, [(Some("email"), "INVALID_EMAIL"), (Some("password"), "REQUIRED")]);
    assert!(turn.effects.is_empty());
}

#[test]
fn owners_have_neither_sign_up_nor_recovery_of_members() {
    let facts = Facts { kind: FlowKind::OwnerSignIn, can_sign_up: false, can_recover: false, can_cancel: false };
    for to in [FlowKind::SignUp, FlowKind::Recover] {
        let switch = Event::Person(FlowInput::Switch { to, email: None });
        let turn = step::step(State::SignIn { email: None }, switch, &facts);
        assert_eq!(turn.state.name(), "SignIn");
    }
}
