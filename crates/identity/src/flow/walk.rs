//! Every state meets every event under all facts, and every effect each result it can have; what
//! happens is what `sign_in.mermaid` (the picture) and `sign_in.txt` (every pair) show.

use crate::{
    flow::{
        conduct::MOST_EFFECTS,
        samples::{RESULTS, effects, entries, events, facts, inputs, states},
        state::{Completion, Effect, EffectResult, Event, Facts, Grant, State, Transition},
        step::{self, Entry},
        wire::{FlowInput, FlowKind},
    },
    sign_in::outcome::Outcome,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

const DIAGRAM: &str = include_str!("sign_in.mermaid");
const TABLE: &str = include_str!("sign_in.txt");

/// An effect that must be answered before the machine can go on.
fn asks(effect: &Effect) -> bool {
    effect.has_result()
}

/// The effects whose results a state can meet.
fn asked_for(state: &State, facts: &Facts) -> Vec<Effect> {
    let events = inputs().into_iter().map(Event::Input).chain([Event::Refresh]);
    let asked = |event| {
        let transition = step::step(state.clone(), event, facts);
        let effects = if transition.state.name() == state.name() { transition.effects } else { Vec::new() };
        effects.into_iter().filter(asks)
    };
    let mut first: Vec<Effect> = events.flat_map(asked).collect();
    // What is asked for once the result of another is known.
    let known = RESULTS.iter().filter(|it| first.iter().any(|effect| effect.can_result_in(it))).cloned();
    let then: Vec<Effect> = known.map(Event::Result).flat_map(asked).collect();
    first.extend(then);
    first
}

/// Whether an effect signs somebody in, a member or one of those who run the site.
fn signs_in(effect: &Effect) -> bool {
    matches!(effect, Effect::OpenSession(_) | Effect::OpenForConsent(_))
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
        let mut can: Vec<_> = RESULTS.iter().filter(|it| effect.can_result_in(it)).map(EffectResult::name).collect();
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
    for result in RESULTS.iter().filter(|it| effect.can_result_in(it)).cloned() {
        let next = step::step(transition.state.clone(), Event::Result(result.clone()), facts);
        let is_heard = next.state != transition.state || !next.problems.is_empty() || !next.effects.is_empty();
        // The same fields may be missing still.
        let is_still = result.name() == "mustTell"
            || matches!(
                result,
                EffectResult::Unchanged
                    | EffectResult::Sent
                    | EffectResult::CodeSent { .. }
                    | EffectResult::Asked { .. }
                    | EffectResult::Sending { .. }
                    | EffectResult::ProviderFailed { .. }
            );
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
    for (can_cancel, of_others) in [(true, false), (false, false), (true, true), (false, true)] {
        for (entry, name) in entries() {
            let Some(first) = step::begin(entry.clone()) else { continue };
            let kind = match &entry {
                Entry::Asked { kind, .. } => *kind,
                Entry::Invited { .. } => FlowKind::OwnerSetup,
                Entry::Returned { .. } => FlowKind::SignIn,
                Entry::Recovers { .. } => FlowKind::Recover,
                Entry::OwnerRecovers { .. } => FlowKind::OwnerSignIn,
                Entry::Signed(_) => FlowKind::SignIn,
                Entry::SignedOut => FlowKind::SignOut,
            };
            let is_member = kind.is_of_members();
            let can_recover = is_member || kind == FlowKind::OwnerSignIn;
            let facts = Facts { kind, can_sign_up: is_member, can_recover, can_cancel, of_others };
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
                let asks = transition.effects.iter().any(|it| matches!(it, Effect::OpenForConsent(_)));
                assert!(is_grant || !(opens || asks), "{state:?}");
                if opens {
                    assert_eq!(transition.state, State::Ended);
                }
                if asks {
                    assert_eq!(transition.state, state);
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
    let facts =
        Facts { kind: FlowKind::SignIn, can_sign_up: true, can_recover: true, can_cancel: false, of_others: false };
    let input = FlowInput::SignIn { email: "nonsense".into(), password: String::new(), captcha: None };
    let transition = step::step(State::SignIn { email: None }, Event::Input(input), &facts);
    let codes: Vec<_> = transition.problems.iter().map(|it| (it.field.as_deref(), it.code.as_str())).collect();
    assert_eq!(codes, [(Some("email"), "INVALID_EMAIL"), (Some("password"), "REQUIRED")]);
    assert!(transition.effects.is_empty());
}

#[test]
fn owner_flow_has_no_sign_up() {
    let facts = Facts {
        kind: FlowKind::OwnerSignIn,
        can_sign_up: false,
        can_recover: true,
        can_cancel: false,
        of_others: false,
    };
    for (to, leads_to) in [(FlowKind::SignUp, "SignIn"), (FlowKind::Recover, "RecoverRequest")] {
        let switch = Event::Input(FlowInput::Switch { to, email: None });
        let transition = step::step(State::SignIn { email: None }, switch, &facts);
        assert_eq!(transition.state.name(), leads_to);
    }
}

/// What a passkey has signed counts for what the state asks: not in the place of a password where a second factor is waited for, not
/// for another sign-in, and not for those who run the site.
#[test]
fn passkey_is_checked_where_it_is_asked_for() {
    let (mut first, mut second, mut made) = (0, 0, 0);
    for facts in facts() {
        for state in states() {
            for input in inputs() {
                for effect in step::step(state.clone(), Event::Input(input), &facts).effects {
                    match (&state, effect) {
                        (State::SignIn { .. }, Effect::CheckPasskey { challenge: None, remembers, .. }) => {
                            assert!(facts.kind.is_of_members() && !remembers);
                            first += 1;
                        }
                        (State::SecondFactor { challenge, .. }, Effect::CheckPasskey { challenge: Some(of), .. }) => {
                            assert_eq!(of, *challenge);
                            second += 1;
                        }
                        (State::EnrolFactor { challenge, .. }, Effect::ConfirmPasskey { challenge: of, .. }) => {
                            assert_eq!(of, *challenge);
                            made += 1;
                        }
                        (state, Effect::CheckPasskey { .. } | Effect::ConfirmPasskey { .. }) => panic!("{state:?}"),
                        _ => {}
                    }
                }
            }
        }
    }
    assert!(first > 0 && second > 0 && made > 0);
}

/// What an effect can result in for a member who has a second factor: nothing signs in, nor requires an authenticator beside
/// codes by e-mail, but showing one, and what knows that one was shown.
fn results_of_enrolled(effect: &Effect) -> Vec<EffectResult> {
    let was_shown = match effect {
        Effect::CheckFactor { .. }
        | Effect::CheckPush { .. }
        | Effect::CheckPasskey { .. }
        | Effect::FinishFactor { .. } => true,
        Effect::PutOffFactor { challenge }
        | Effect::BeginFactor { challenge }
        | Effect::ConfirmFactor { challenge, .. }
        | Effect::ConfirmPasskey { challenge, .. } => challenge.has_shown,
        _ => false,
    };
    let can_be = |result: &EffectResult| match result {
        EffectResult::Operator(_) => was_shown,
        // Those who run a site have no factor that a site doesn't take.
        EffectResult::OperatorEnrolment { .. } => false,
        EffectResult::SignIn(outcome) => match &**outcome {
            Outcome::Success { .. } => was_shown,
            Outcome::RequireEnrolment { challenge, .. } => was_shown && challenge.has_shown,
            _ => true,
        },
        _ => true,
    };
    RESULTS.iter().filter(|it| effect.can_result_in(it) && can_be(it)).cloned().collect()
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
    let (mut shown, mut put_off, mut asked) = (0, 0, BTreeSet::new());
    for facts in facts() {
        for state in states() {
            let inputs = inputs().into_iter().map(Event::Input).chain([Event::Refresh]);
            let mut waiting: Vec<Transition> = inputs.map(|it| step::step(state.clone(), it, &facts)).collect();
            assert!(knows_shown(&state) || !waiting.iter().any(|it| knows_shown(&it.state)), "{state:?}");
            while let Some(mut transition) = waiting.pop() {
                let Some(at) = transition.effects.iter().position(asks) else {
                    assert!(!transition.effects.iter().any(signs_in), "{state:?}");
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
                            matches!(
                                shows,
                                (State::SecondFactor { .. }, Effect::CheckFactor { .. })
                                    | (State::AwaitPush { .. }, Effect::CheckPush { .. })
                            ),
                            "{before:?}"
                        );
                    }
                    if next.effects.iter().any(signs_in) {
                        match (&before, &effect) {
                            (State::SecondFactor { .. }, Effect::CheckFactor { .. })
                            | (State::AwaitPush { .. }, Effect::CheckPush { .. })
                            | (State::SecondFactor { .. }, Effect::CheckPasskey { challenge: Some(_), .. })
                            | (State::SignIn { .. }, Effect::CheckPasskey { challenge: None, .. })
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
    let ways = [
        "AwaitApproval",
        "ByProvider",
        "LinkProvider",
        "MissingFields",
        "NewPassword",
        "SignIn",
        "SignUp",
        "VerifyEmail",
    ];
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), ways);
}

/// What an effect can result in for a member of whom a second factor is required now, and who has none that does, but perhaps codes
/// by e-mail: nothing signs in before one was set up.
fn results_of_required(effect: &Effect) -> Vec<EffectResult> {
    let can_be = |result: &EffectResult| match result {
        EffectResult::Operator(_) => matches!(effect, Effect::FinishFactor { .. }),
        EffectResult::OperatorEnrolment { until, .. } => until.is_none(),
        // A passkey is one that does.
        EffectResult::SignIn(_) if matches!(effect, Effect::CheckPasskey { .. }) => false,
        EffectResult::SignIn(outcome) => match **outcome {
            Outcome::Success { .. } => matches!(effect, Effect::FinishFactor { .. }),
            // The time to put it off is over.
            Outcome::RequireEnrolment { until: Some(_), .. } => false,
            _ => true,
        },
        _ => true,
    };
    RESULTS.iter().filter(|it| effect.can_result_in(it) && can_be(it)).cloned().collect()
}

/// From every state, by every input and under all facts: only the way through the set-up signs in, and each state of it is
/// reached by the one before only.
#[test]
fn no_way_leads_past_a_factor_that_is_required() {
    let (mut granted, mut required) = (0, BTreeSet::new());
    for facts in facts() {
        for state in states() {
            let inputs = inputs().into_iter().map(Event::Input).chain([Event::Refresh]);
            let mut waiting: Vec<Transition> = inputs.map(|it| step::step(state.clone(), it, &facts)).collect();
            while let Some(mut transition) = waiting.pop() {
                let Some(at) = transition.effects.iter().position(asks) else {
                    assert!(!transition.effects.iter().any(signs_in), "{state:?}");
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
                    if next.effects.iter().any(signs_in) {
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
        "AwaitPush",
        "ByProvider",
        "EnrolFactor",
        "LinkProvider",
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

/// From every state, by every event and under all facts: where a client of others waits, nothing ends with a code but what was found to
/// be agreed to before and the answer of the member who is asked.
#[test]
fn no_way_leads_a_client_of_others_past_the_consent() {
    let (mut agreed, mut found) = (0, BTreeSet::new());
    for facts in facts().into_iter().filter(|it| it.of_others) {
        for state in states() {
            for event in events() {
                let name = event.name();
                let transition = step::step(state.clone(), event, &facts);
                // A session of somebody who runs the site makes no code.
                let is_operators =
                    transition.effects.iter().any(|it| matches!(it, Effect::OpenSession(Grant::Operator(..))));
                for effect in &transition.effects {
                    match effect {
                        Effect::OpenSession(Grant::Member(_)) => panic!("{state:?} ends without a question"),
                        Effect::OpenForConsent(_) => assert_eq!(name, "granted"),
                        Effect::Agree(signed) => {
                            assert_eq!((&state, name), (&State::Consent(signed.clone()), "Allow"));
                        }
                        Effect::Finish(Completion::Agreed) => {
                            assert!(matches!(state, State::Consent(_)) && name == "agreed", "{state:?}");
                            agreed += 1;
                        }
                        Effect::Finish(Completion::Cancelled | Completion::Declined | Completion::SignedOut) => {}
                        Effect::Finish(completion) if !is_operators => {
                            assert_eq!((name, *completion), ("hasAgreed", Completion::SignedIn), "{state:?}");
                            found.insert(state.name());
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    assert!(agreed > 0 && found.contains("SignIn") && !found.contains("Consent"), "{found:?}");
    // What says that it was agreed to has looked, or has asked.
    for effect in effects() {
        for result in RESULTS.iter().filter(|it| effect.can_result_in(it)).cloned() {
            match result {
                EffectResult::HasAgreed(_) => assert_eq!(effect.name(), "OpenForConsent"),
                EffectResult::Agreed => assert_eq!(effect.name(), "Agree"),
                _ => {}
            }
        }
    }
}

/// For the site's own clients nobody is asked.
#[test]
fn own_clients_are_not_asked_about() {
    for facts in facts().into_iter().filter(|it| !it.of_others) {
        for state in states().into_iter().filter(|it| !matches!(it, State::Consent(_))) {
            for input in inputs() {
                for transition in conduct(step::step(state.clone(), Event::Input(input), &facts), &facts, 0) {
                    assert!(!matches!(transition.state, State::Consent(_)), "{state:?}");
                }
            }
        }
    }
}
