//! Samples of everything that the machine has, for the walk.
//!
//! The lists are made by [`every`]: it does not compile when an enum has a variant that is not listed, so a new state,
//! input, result, effect, kind or entry can't be left out.

use crate::{
    factor::{Draft, FactorType, FirstFactor, Question, SealedCodes},
    flow::{
        problem,
        state::{
            Completion, Effect, EffectResult, Event, Facts, Grant, Opened, PasskeyAnswer, PasswordReason, SentTo,
            SignedMember, State, Unanswered,
        },
        step::Entry,
        wire::{FlowInput, FlowKind, ProfileInput, Provider, ProviderFailure},
    },
    member::{Member, profile::Profile},
    operator::Operator,
    password::Fingerprint,
    policy::Field,
    provider::ProviderPerson,
    sign_in::{challenge::Challenge, operator_factor::Cleared, outcome::Outcome},
};
use std::sync::LazyLock;
use stoa_kernel::{Email, MemberId, Secret, SessionId, UserId};

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

pub(super) fn email() -> String {
    "anna@example.org".to_owned()
}

pub(super) fn address() -> Email {
    Email::parse(&email()).expect("an address")
}

pub(super) fn member() -> MemberId {
    MemberId::from("m")
}

pub(super) fn challenge() -> Challenge {
    let of = Member::new(member(), &email(), Profile::default(), 0);
    Challenge { factors: vec![FactorType::Totp, FactorType::RecoveryCode], ..Challenge::of(&of, 1, None, 0) }
}

/// Of a member who takes codes by e-mail, of which one was sent or not.
pub(super) fn by_mail(mailed: Option<&str>) -> Challenge {
    let factors = vec![FactorType::Email, FactorType::RecoveryCode];
    Challenge { factors, mailed: mailed.map(str::to_owned), ..challenge() }
}

/// Of a member who has a passkey.
pub(super) fn by_passkey() -> Challenge {
    let factors = vec![FactorType::Webauthn, FactorType::RecoveryCode];
    Challenge { factors, ..challenge() }
}

pub(super) fn answer() -> PasskeyAnswer {
    PasskeyAnswer { challenge_id: "c".to_owned(), credential: Secret::new("{}") }
}

/// Of a member who takes codes at a number, of which one was sent or not.
pub(super) fn by_phone(mailed: Option<&str>) -> Challenge {
    let factors = vec![FactorType::Sms, FactorType::Call, FactorType::RecoveryCode];
    Challenge { factors, mailed: mailed.map(str::to_owned), ..challenge() }
}

/// Whom a provider has shown.
pub(super) fn person() -> ProviderPerson {
    ProviderPerson {
        provider: provider(),
        subject: "s".to_owned(),
        email: Some(email()),
        is_verified: true,
        first_name: None,
        last_name: None,
        language: None,
        until: 0,
    }
}

pub(super) fn provider() -> Provider {
    Provider { id: "p".to_owned(), label: "Elsewhere".to_owned() }
}

/// Of a member whom a provider has shown, and who is asked for the password beside it.
pub(super) fn by_password() -> Challenge {
    Challenge { factors: vec![FactorType::Password], first: FirstFactor::Provider, ..challenge() }
}

/// Of a member whose browsers can be asked, and were or not.
pub(super) fn by_push(mailed: Option<&str>) -> Challenge {
    let factors = vec![FactorType::Push, FactorType::RecoveryCode];
    Challenge { factors, mailed: mailed.map(str::to_owned), ..challenge() }
}

pub(super) fn question() -> Question {
    Question { id: "q".to_owned(), number: "42".to_owned(), expires: 1 }
}

pub(super) fn sent(factor: FactorType) -> SentTo {
    SentTo { factor, to: "***".to_owned() }
}

/// Of a member who has shown a code that was sent, beside which the site requires an authenticator.
pub(super) fn beside_mail() -> Challenge {
    Challenge { has_shown: true, ..challenge() }
}

pub(super) fn draft() -> Draft {
    serde_json::from_value(serde_json::json!({ "id": "f", "sealed": "" })).expect("a draft")
}

pub(super) fn codes() -> SealedCodes {
    serde_json::from_value("".into()).expect("codes")
}

/// A member whom a client of others waits for.
pub(super) fn signed() -> SignedMember {
    SignedMember { session: SessionId::from("s"), member: member(), account: email() }
}

pub(super) fn opened() -> Opened {
    Opened { signed: signed(), cookie: Secret::new("cookie"), device: Secret::new("device") }
}

pub(super) fn kinds() -> Vec<FlowKind> {
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
pub(super) fn facts() -> Vec<Facts> {
    let flags = |bits: u8| [1, 2, 4, 8].map(|bit| bits & bit != 0);
    let one = |kind| {
        (0..16).map(flags).map(move |[can_sign_up, can_recover, can_cancel, of_others]| Facts {
            kind,
            can_sign_up,
            can_recover,
            can_cancel,
            of_others,
        })
    };
    kinds().into_iter().flat_map(one).collect()
}

pub(super) fn reasons() -> Vec<PasswordReason> {
    every!(PasswordReason {
        PasswordReason::Recovery => [PasswordReason::Recovery],
        PasswordReason::OwnerSetup => [PasswordReason::OwnerSetup],
        PasswordReason::OwnerRecovery => [PasswordReason::OwnerRecovery],
    })
}

pub(super) fn states() -> Vec<State> {
    let (some, none) = (Some(email()), None::<String>);
    let [recovery, setup, owner] =
        [PasswordReason::Recovery, PasswordReason::OwnerSetup, PasswordReason::OwnerRecovery];
    assert_eq!(reasons(), [recovery, setup, owner]);
    every!(State {
        State::SignIn { .. } => [State::SignIn { email: some.clone() }, State::SignIn { email: none.clone() }],
        State::SignUp { .. } => [State::SignUp { email: some.clone() }, State::SignUp { email: none.clone() }],
        State::ByProvider { .. } => [State::ByProvider { person: person() }],
        State::LinkProvider { .. } => [State::LinkProvider { person: person(), email: email() }],
        State::ProviderFailed { .. } => [
            State::ProviderFailed { provider: provider(), reason: ProviderFailure::Declined },
        ],
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
            State::SecondFactor { challenge: by_passkey(), sent: None },
            State::SecondFactor { challenge: by_password(), sent: None },
            State::SecondFactor { challenge: by_mail(None), sent: None },
            State::SecondFactor { challenge: by_mail(Some("flow")), sent: Some(sent(FactorType::Email)) },
            State::SecondFactor { challenge: by_phone(None), sent: None },
            State::SecondFactor { challenge: by_phone(Some("flow")), sent: Some(sent(FactorType::Sms)) },
            State::SecondFactor { challenge: by_push(None), sent: None },
            State::SecondFactor { challenge: by_push(Some("flow")), sent: None },
        ],
        State::AwaitPush { .. } => [
            State::AwaitPush { challenge: by_push(Some("flow")), question: question(), remembers: true },
            State::AwaitPush { challenge: by_push(Some("flow")), question: question(), remembers: false },
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
        State::Consent(_) => [State::Consent(signed())],
        State::ConfirmSignOut { .. } => [State::ConfirmSignOut { name: None }, State::ConfirmSignOut { name: some.clone() }],
        State::SignedOut => [State::SignedOut],
        State::Ended => [State::Ended],
    })
}

/// Good and bad ones.
pub(super) fn inputs() -> Vec<FlowInput> {
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
    let signed = |remember| FlowInput::Passkey { challenge_id: "c".to_owned(), credential: "{}".to_owned(), remember };
    let confirm = |code: &str| FlowInput::ConfirmFactor { code: code.to_owned() };
    let to = |to, email: Option<String>| FlowInput::Switch { to, email };
    let name = |it: &str| Some(it.to_owned());
    let whole = ProfileInput { first_name: name("Anna"), last_name: name("Berg"), nickname: name("anna") };
    let blank = ProfileInput { first_name: name(" "), ..whole.clone() };
    let mut all = every!(FlowInput {
        FlowInput::SignIn { .. } => [sign_in(&email(), "long enough"), sign_in(&email(), ""), sign_in("nonsense", "x"), sign_in("", "")],
        FlowInput::SignUp { .. } => [sign_up(&email(), "long enough"), sign_up(&email(), ""), sign_up("nonsense", "x"), sign_up("", "")],
        FlowInput::Provider { .. } => [FlowInput::Provider { id: "p".to_owned() }],
        FlowInput::LinkProvider { .. } => [
            FlowInput::LinkProvider { password: "long enough".to_owned(), captcha: None },
            FlowInput::LinkProvider { password: String::new(), captcha: None },
        ],
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
            prove(FactorType::Push, "", true),
            prove(FactorType::Push, "", false),
            prove(FactorType::Totp, " ", false),
            prove(FactorType::Webauthn, "{}", false),
        ],
        FlowInput::Passkey { .. } => [signed(true), signed(false)],
        FlowInput::EnrolFactor => [FlowInput::EnrolFactor],
        FlowInput::ConfirmFactor { .. } => [confirm("123456"), confirm(" ")],
        FlowInput::ConfirmPasskey { .. } => [
            FlowInput::ConfirmPasskey { challenge_id: "c".to_owned(), credential: "{}".to_owned() },
        ],
        FlowInput::Later => [FlowInput::Later],
        FlowInput::CodesKept => [FlowInput::CodesKept],
        FlowInput::RecoverRequest { .. } => [ask(&email()), ask("nonsense"), ask("")],
        FlowInput::NewPassword { .. } => [
            FlowInput::NewPassword { password: "long enough".to_owned() },
            FlowInput::NewPassword { password: String::new() },
        ],
        FlowInput::Allow => [FlowInput::Allow],
        FlowInput::Decline => [FlowInput::Decline],
        FlowInput::ConfirmSignOut => [FlowInput::ConfirmSignOut],
        FlowInput::Back => [FlowInput::Back],
        FlowInput::Cancel => [FlowInput::Cancel],
    });
    for kind in kinds() {
        all.extend([Some(email()), Some("x".repeat(300)), None].map(|email| to(kind, email)));
    }
    all
}

pub(super) fn outcomes() -> Vec<Outcome> {
    let account = || Member::new(member(), &email(), Profile::default(), 0);
    let token = || Secret::new("token");
    let asked = |challenge, asked| Outcome::MfaChallenge { challenge, state_token: token(), asked, data: None };
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
            asked(challenge(), FactorType::Totp),
            asked(by_passkey(), FactorType::Webauthn),
            asked(by_password(), FactorType::Password),
            asked(by_mail(None), FactorType::Email),
            asked(by_phone(None), FactorType::Sms),
            asked(by_push(None), FactorType::Push),
        ],
        Outcome::RequireEnrolment { .. } => [
            Outcome::RequireEnrolment { challenge: challenge(), until: Some(1), url: None, takes_passkey: false },
            Outcome::RequireEnrolment { challenge: challenge(), until: None, url: None, takes_passkey: false },
            Outcome::RequireEnrolment { challenge: beside_mail(), until: Some(1), url: None, takes_passkey: false },
            Outcome::RequireEnrolment { challenge: beside_mail(), until: None, url: None, takes_passkey: false },
        ],
        Outcome::RequireFirstFactor { .. } => [Outcome::RequireFirstFactor { state_token: token() }],
        Outcome::StatusCheck { .. } => [Outcome::StatusCheck { member: account() }],
    })
}

pub(super) fn operator() -> Cleared {
    Cleared::sample(Operator::new(UserId::from("o"), email()))
}

/// Those that a flow can meet: an address that was verified outside of a sign-in is none of a flow's. Made once, since a walk
/// asks for them at each of its steps.
pub(super) static RESULTS: LazyLock<Vec<EffectResult>> = LazyLock::new(|| {
    let mut all: Vec<EffectResult> = outcomes().into_iter().map(|it| EffectResult::SignIn(Box::new(it))).collect();
    all.extend(every!(EffectResult {
        EffectResult::SignIn(_) => [EffectResult::SignIn(Box::new(outcomes().remove(0)))],
        EffectResult::Operator(_) => [EffectResult::Operator(operator())],
        EffectResult::OperatorFactor(_) => [
            EffectResult::OperatorFactor(challenge()),
            EffectResult::OperatorFactor(by_passkey()),
        ],
        EffectResult::OperatorEnrolment { .. } => [
            EffectResult::OperatorEnrolment { challenge: challenge(), until: Some(1) },
            EffectResult::OperatorEnrolment { challenge: challenge(), until: None },
        ],
        EffectResult::Outdated => [EffectResult::Outdated],
        EffectResult::Sent => [EffectResult::Sent],
        EffectResult::SignedOut => [EffectResult::SignedOut],
        EffectResult::Unchanged => [EffectResult::Unchanged],
        EffectResult::CodeSent { .. } => [
            EffectResult::CodeSent { challenge: by_mail(Some("flow")), sent: sent(FactorType::Email) },
            EffectResult::CodeSent { challenge: by_phone(Some("flow")), sent: sent(FactorType::Sms) },
        ],
        EffectResult::Sending { .. } => [EffectResult::Sending { url: "https://idp.example".to_owned() }],
        EffectResult::MustLink { .. } => [EffectResult::MustLink { email: email() }],
        EffectResult::ProviderFailed { .. } => [
            EffectResult::ProviderFailed { provider: provider(), reason: ProviderFailure::NoEmail },
        ],
        EffectResult::Asked { .. } => [
            EffectResult::Asked { challenge: by_push(Some("flow")), question: question(), remembers: true },
            EffectResult::Asked { challenge: by_push(Some("flow")), question: question(), remembers: false },
        ],
        EffectResult::Unapproved { .. } => [
            EffectResult::Unapproved { why: Unanswered::Denied },
            EffectResult::Unapproved { why: Unanswered::Late },
            EffectResult::Unapproved { why: Unanswered::Unsent },
            EffectResult::Unapproved { why: Unanswered::Limited },
            EffectResult::Unapproved { why: Unanswered::Unavailable },
        ],
        EffectResult::Drafted { .. } => [EffectResult::Drafted { draft: draft(), account: email() }],
        EffectResult::Enrolled { .. } => [
            EffectResult::Enrolled { challenge: challenge(), codes: codes() },
        ],
        EffectResult::MustAgree(_) => [EffectResult::MustAgree(opened())],
        EffectResult::HasAgreed(_) => [EffectResult::HasAgreed(opened())],
        EffectResult::Agreed => [EffectResult::Agreed],
        EffectResult::Refused(_) => [EffectResult::Refused(problem::credentials())],
    }));
    let effects = effects();
    all.retain(|result| effects.iter().any(|it| it.can_result_in(result)));
    all
});

pub(super) fn events() -> Vec<Event> {
    let mut all = every!(Event {
        Event::Input(_) => [Event::Input(FlowInput::Resend { factor: None })],
        Event::Refresh => [Event::Refresh],
        Event::Result(_) => [Event::Result(EffectResult::Sent)],
    });
    all.extend(inputs().into_iter().map(Event::Input));
    all.extend(RESULTS.iter().cloned().map(Event::Result));
    all
}

pub(super) fn effects() -> Vec<Effect> {
    let (email, password) = (address, || Secret::new("long enough"));
    every!(Effect {
        Effect::CheckPassword { .. } => [Effect::CheckPassword { email: email(), password: password(), captcha: None }],
        Effect::Register { .. } => [
            Effect::Register { email: email(), password: password(), profile: ProfileInput::default(), captcha: None },
        ],
        Effect::AskProvider { .. } => [Effect::AskProvider { id: "p".to_owned() }],
        Effect::CheckProvider { .. } => [Effect::CheckProvider { person: person() }],
        Effect::LinkProvider { .. } => [
            Effect::LinkProvider { person: person(), email: email(), password: password(), captcha: None },
        ],
        Effect::CheckCode { .. } => [Effect::CheckCode { member: member(), code: "123456".to_owned() }],
        Effect::SendCode { .. } => [Effect::SendCode { member: member() }],
        Effect::Complete { .. } => [
            Effect::Complete { member: member(), password: Fingerprint::default(), profile: ProfileInput::default() },
        ],
        Effect::CheckApproval { .. } => [Effect::CheckApproval { member: member(), password: Fingerprint::default() }],
        Effect::SendFactor { .. } => [Effect::SendFactor { challenge: by_mail(None), factor: FactorType::Email }],
        Effect::AskPush { .. } => [Effect::AskPush { challenge: by_push(None), remembers: true }],
        Effect::CheckPush { .. } => [
            Effect::CheckPush { challenge: by_push(Some("flow")), question: question(), remembers: true },
        ],
        Effect::CheckFactor { .. } => [
            Effect::CheckFactor {
                challenge: challenge(),
                factor: FactorType::Totp,
                code: Secret::new("123456"),
                remembers: true,
            },
        ],
        Effect::CheckPasskey { .. } => [
            Effect::CheckPasskey { challenge: None, answer: answer(), remembers: false },
            Effect::CheckPasskey { challenge: Some(by_passkey()), answer: answer(), remembers: true },
        ],
        Effect::PutOffFactor { .. } => [Effect::PutOffFactor { challenge: challenge() }],
        Effect::BeginFactor { .. } => [Effect::BeginFactor { challenge: challenge() }],
        Effect::ConfirmFactor { .. } => [
            Effect::ConfirmFactor { challenge: challenge(), draft: draft(), code: Secret::new("123456") },
        ],
        Effect::ConfirmPasskey { .. } => [Effect::ConfirmPasskey { challenge: challenge(), answer: answer() }],
        Effect::FinishFactor { .. } => [Effect::FinishFactor { challenge: challenge() }],
        Effect::SendRecovery { .. } => [Effect::SendRecovery { email: email() }],
        Effect::SetPassword { .. } => [Effect::SetPassword { reason: PasswordReason::Recovery, password: password() }],
        Effect::EndSession => [Effect::EndSession],
        Effect::OpenForConsent(_) => [Effect::OpenForConsent(password())],
        Effect::CheckSigned(_) => [Effect::CheckSigned(signed())],
        Effect::Agree(_) => [Effect::Agree(signed())],
        Effect::OpenSession(_) => [Effect::OpenSession(Grant::Member(password()))],
        Effect::Finish(_) => [Effect::Finish(Completion::SignedIn)],
    })
}

/// Every way in, and what the diagram calls it.
pub(super) fn entries() -> Vec<(Entry, String)> {
    let mut all = every!(Entry {
        Entry::Asked { .. } => [Entry::Asked { kind: FlowKind::SignIn, name: None }],
        Entry::Invited { .. } => [Entry::Invited { email: None }, Entry::Invited { email: Some(email()) }],
        Entry::Returned { .. } => [Entry::Returned { person: person() }],
        Entry::Recovers { .. } => [Entry::Recovers { email: email() }],
        Entry::OwnerRecovers { .. } => [Entry::OwnerRecovers { email: email() }],
        Entry::Signed(_) => [Entry::Signed(signed())],
        Entry::SignedOut => [Entry::SignedOut],
    });
    all.extend(kinds().into_iter().map(|kind| Entry::Asked { kind, name: Some(email()) }));
    let name = |entry: &Entry| match entry {
        Entry::Asked { kind, .. } => wire_name(*kind),
        Entry::Invited { email: None } => "first invitation".to_owned(),
        Entry::Invited { email: Some(_) } => "invitation".to_owned(),
        Entry::Returned { .. } => "back from a provider".to_owned(),
        Entry::Recovers { .. } => "recovery link".to_owned(),
        Entry::OwnerRecovers { .. } => "recovery link of an owner".to_owned(),
        Entry::Signed(_) => "client of others".to_owned(),
        Entry::SignedOut => "signed out with nowhere to go".to_owned(),
    };
    all.into_iter().map(|it| (it.clone(), name(&it))).collect()
}

pub(super) fn wire_name(kind: FlowKind) -> String {
    serde_json::to_value(kind).expect("a name").as_str().expect("a name").to_owned()
}
