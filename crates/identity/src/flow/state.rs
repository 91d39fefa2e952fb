//! The types of the machine: where a flow stands, what may happen to it, what it asks to be done.
//!
//! `sign_in.mermaid` beside this file is the picture, `sign_in.txt` every pair; a test compares them.

use crate::{
    factor::{Draft, FactorType, Question, SealedCodes},
    flow::wire::{FlowInput, FlowKind, Problem, ProfileInput, Provider, ProviderFailure},
    password::Fingerprint,
    policy::Field,
    provider::ProviderPerson,
    sign_in::{challenge::Challenge, operator_factor::Cleared, outcome::Outcome},
};
use stoa_kernel::{Email, MemberId, Millis, Secret, SessionId};

/// Where a flow stands. Stored as JSON; holds no secret that isn't encrypted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum State {
    SignIn {
        email: Option<String>,
    },
    SignUp {
        email: Option<String>,
    },
    /// A browser has come back from a provider; what that comes to is looked at when its page is asked for.
    ByProvider {
        person: ProviderPerson,
    },
    /// An account has the address that the provider named; its password is asked for once.
    LinkProvider {
        person: ProviderPerson,
        /// As the account has it.
        email: String,
    },
    /// A provider signed no one in.
    ProviderFailed {
        provider: Provider,
        reason: ProviderFailure,
    },
    /// The password was right, or the account is new; the address is not proven yet.
    VerifyEmail {
        member: MemberId,
        email: String,
        /// Whether the member was about to set a second factor up.
        #[serde(default)]
        enrols: bool,
    },
    /// The site wants to know more of its members than this one has given.
    MissingFields {
        member: MemberId,
        email: String,
        fields: Vec<Field>,
        /// As in [`State::AwaitApproval`].
        password: Fingerprint,
    },
    /// All that the person can do is done; the owner decides.
    AwaitApproval {
        member: MemberId,
        email: String,
        /// Of the hash of the password that was right; with another password the person has to show it.
        #[serde(default)]
        password: Fingerprint,
    },
    /// A first factor was shown of a member who has a second one.
    SecondFactor {
        challenge: Challenge,
        /// Where the last code was sent for it.
        #[serde(default)]
        sent: Option<SentTo>,
    },
    /// The member's browsers are asked whether the sign-in is theirs.
    AwaitPush {
        challenge: Challenge,
        question: Question,
        /// Not to ask again in this browser for a while.
        remembers: bool,
    },
    /// The site requires a second factor of a member who has none that does.
    OfferFactor {
        challenge: Challenge,
        /// Until when it may be put off; nothing when it may not.
        until: Option<Millis>,
    },
    /// An authenticator is set up, and its first code awaited.
    EnrolFactor {
        challenge: Challenge,
        draft: Draft,
        /// The member's address, under which the authenticator shows it.
        account: String,
        until: Option<Millis>,
    },
    /// The factor counts; the recovery codes are shown until they are kept.
    KeepCodes {
        challenge: Challenge,
        codes: SealedCodes,
    },
    RecoverRequest {
        email: Option<String>,
    },
    RecoverSent {
        email: String,
    },
    NewPassword {
        email: Option<String>,
        reason: PasswordReason,
    },
    /// A client of others waits for a member who is signed in, and who has not agreed to all that it asks for.
    Consent(SignedMember),
    ConfirmSignOut {
        name: Option<String>,
    },
    /// Signed out with nowhere to go: the page says so for as long as it is open.
    SignedOut,
    /// Over. Its result was sent once and is not kept, because it may hold a code.
    Ended,
}

impl State {
    /// Whether a sign-in goes on here whose first factor was shown.
    pub(super) fn goes_on(&self) -> bool {
        match self {
            Self::VerifyEmail { .. }
            | Self::MissingFields { .. }
            | Self::AwaitApproval { .. }
            | Self::SecondFactor { .. }
            | Self::AwaitPush { .. }
            | Self::OfferFactor { .. }
            | Self::EnrolFactor { .. }
            | Self::KeepCodes { .. } => true,
            Self::SignIn { .. }
            | Self::SignUp { .. }
            | Self::ByProvider { .. }
            | Self::LinkProvider { .. }
            | Self::ProviderFailed { .. }
            | Self::RecoverRequest { .. }
            | Self::RecoverSent { .. }
            | Self::NewPassword { .. }
            | Self::Consent(_)
            | Self::ConfirmSignOut { .. }
            | Self::SignedOut
            | Self::Ended => false,
        }
    }
}

/// A member who is signed in in this browser.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SignedMember {
    /// The browser's session, which is the first of its family.
    pub session: SessionId,
    pub member: MemberId,
    /// The member's address, by which the page tells whose account it is.
    pub account: String,
}

/// Where a code was sent.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SentTo {
    pub factor: FactorType,
    /// An address or a number without most of it, as pages show it.
    pub to: String,
}

/// Why a new password is chosen, and so what proves the right to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PasswordReason {
    /// A recovery link.
    Recovery,
    /// An invitation to run the site.
    OwnerSetup,
    /// A recovery link of somebody who runs the site.
    OwnerRecovery,
}

/// What happens to a flow.
#[derive(Debug)]
pub enum Event {
    /// The person sent something.
    Input(FlowInput),
    /// The page was asked for again.
    Refresh,
    /// What an [`Effect`] resulted in.
    Result(EffectResult),
}

/// Why a question to the member's browsers leads to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// It was denied, or one of the same sign-in.
    Denied,
    /// It was not answered in time.
    Late,
    /// No browser was sent it.
    Unsent,
    /// Browsers are asked nothing for longer than the sign-in lasts.
    Limited,
    /// The member has no browser that can be asked.
    Unavailable,
}

impl Unanswered {
    fn name(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Late => "unanswered",
            Self::Unsent => "unsent",
            Self::Limited => "limited",
            Self::Unavailable => "unavailable",
        }
    }

    /// Whether the sign-in asks no browser any more.
    pub fn ends_questions(self) -> bool {
        matches!(self, Self::Denied | Self::Limited | Self::Unavailable)
    }
}

/// What an effect resulted in.
#[derive(Debug, Clone, PartialEq)]
pub enum EffectResult {
    /// How the sign-in of a member goes on.
    SignIn(Box<Outcome>),
    /// An operator of the site has shown who they are.
    Operator(Cleared),
    /// A second factor of an operator is needed.
    OperatorFactor(Challenge),
    /// The site requires one of an operator who has none; `until` is how long they may put it off.
    OperatorEnrolment {
        challenge: Challenge,
        until: Option<Millis>,
    },
    /// What the person showed before does not hold any more.
    Outdated,
    /// A message is on its way, or would be if the address were known.
    Sent,
    /// The session is over.
    SignedOut,
    /// Nothing to tell: what was refreshed is as it was.
    Unchanged,
    /// A code is on its way with which a second factor can be shown.
    CodeSent {
        challenge: Challenge,
        sent: SentTo,
    },
    /// The browser goes to a provider, at this address.
    Sending {
        url: String,
    },
    /// An account has the address that a provider named.
    MustLink {
        email: String,
    },
    ProviderFailed {
        provider: Provider,
        reason: ProviderFailure,
    },
    /// The member's browsers are asked.
    Asked {
        challenge: Challenge,
        question: Question,
        remembers: bool,
    },
    /// A question was not approved, or is not asked.
    Unapproved {
        why: Unanswered,
    },
    /// An authenticator to be set up under an account.
    Drafted {
        draft: Draft,
        account: String,
    },
    /// It counts from now on, and the state that follows is stored.
    Enrolled {
        challenge: Challenge,
        codes: SealedCodes,
    },
    /// The browser has a session, and the member is to be asked: the state that follows is stored.
    MustAgree(Opened),
    /// The same of a member who has agreed before.
    HasAgreed(Opened),
    /// The member who agrees is the one who is signed in.
    Agreed,
    Refused(Problem),
}

/// A session that was opened for a browser, before the member is asked anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub signed: SignedMember,
    /// The cookies of the session and of the device.
    pub cookie: Secret,
    pub device: Secret,
}

/// What the conductor is to do. Those of the first group answer with an [`EffectResult`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    CheckPassword {
        email: Email,
        password: Secret,
        captcha: Option<String>,
    },
    Register {
        email: Email,
        password: Secret,
        profile: ProfileInput,
        captcha: Option<String>,
    },
    /// Where a browser goes that wants to sign in by a provider.
    AskProvider {
        id: String,
    },
    /// Whom a provider means.
    CheckProvider {
        person: ProviderPerson,
    },
    /// The password of the account that is to be linked.
    LinkProvider {
        person: ProviderPerson,
        email: Email,
        password: Secret,
        captcha: Option<String>,
    },
    CheckCode {
        member: MemberId,
        code: String,
    },
    SendCode {
        member: MemberId,
    },
    Complete {
        member: MemberId,
        password: Fingerprint,
        profile: ProfileInput,
    },
    CheckApproval {
        member: MemberId,
        password: Fingerprint,
    },
    /// Sends a code to a member who can show one.
    SendFactor {
        challenge: Challenge,
        factor: FactorType,
    },
    /// Asks the member's browsers.
    AskPush {
        challenge: Challenge,
        remembers: bool,
    },
    CheckPush {
        challenge: Challenge,
        question: Question,
        remembers: bool,
    },
    CheckFactor {
        challenge: Challenge,
        factor: FactorType,
        code: Secret,
        /// Not to ask again in this browser for a while.
        remembers: bool,
    },
    CheckPasskey {
        /// Of the sign-in that waits for a second factor; nothing where the passkey stands in the place of both.
        challenge: Option<Challenge>,
        answer: PasskeyAnswer,
        remembers: bool,
    },
    /// Goes on without a second factor, if the site lets the member.
    PutOffFactor {
        challenge: Challenge,
    },
    BeginFactor {
        challenge: Challenge,
    },
    ConfirmFactor {
        challenge: Challenge,
        draft: Draft,
        code: Secret,
    },
    /// The same of a passkey that was made.
    ConfirmPasskey {
        challenge: Challenge,
        answer: PasskeyAnswer,
    },
    /// Goes on once the recovery codes are kept.
    FinishFactor {
        challenge: Challenge,
    },
    SendRecovery {
        email: Email,
    },
    SetPassword {
        reason: PasswordReason,
        password: Secret,
    },
    EndSession,
    /// Gives the browser the session of a member for whom a client of others waits, by the `sessionToken` of the finished
    /// sign-in, and finds out whether they have agreed to what it asks for.
    OpenForConsent(Secret),
    /// Whether the member who is asked is still the one who is signed in.
    CheckSigned(SignedMember),
    /// The same, when they agree.
    Agree(SignedMember),

    /// Gives the browser the session that was granted.
    OpenSession(Grant),
    /// Tells the client or the page that waits.
    Finish(Completion),
}

/// What a page hands on of a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyAnswer {
    /// Of the challenge that it answers.
    pub challenge_id: String,
    /// JSON text of `PublicKeyCredential.toJSON()`.
    pub credential: Secret,
}

/// Who was granted a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// A member, by the `sessionToken` of the finished sign-in.
    Member(Secret),
    Operator(Cleared),
}

/// How a flow ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    SignedIn,
    SignedOut,
    PasswordChanged,
    OwnerReady,
    /// A member lets a client of others have what it asks for.
    Agreed,
    /// They don't.
    Declined,
    /// The person went away.
    Cancelled,
}

/// What the machine must know about the flow and the site.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    pub kind: FlowKind,
    pub can_sign_up: bool,
    pub can_recover: bool,
    /// Whether there is somewhere to go when the person cancels.
    pub can_cancel: bool,
    /// Whether a client of others waits for a code, to which the member has to agree.
    pub of_others: bool,
}

/// The answer of `step`.
#[derive(Debug, PartialEq, Eq)]
pub struct Transition {
    pub state: State,
    pub effects: Vec<Effect>,
    pub problems: Vec<Problem>,
}

impl State {
    /// The state's name, as the diagram has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SignIn { .. } => "SignIn",
            Self::SignUp { .. } => "SignUp",
            Self::ByProvider { .. } => "ByProvider",
            Self::LinkProvider { .. } => "LinkProvider",
            Self::ProviderFailed { .. } => "ProviderFailed",
            Self::VerifyEmail { .. } => "VerifyEmail",
            Self::MissingFields { .. } => "MissingFields",
            Self::AwaitApproval { .. } => "AwaitApproval",
            Self::SecondFactor { .. } => "SecondFactor",
            Self::AwaitPush { .. } => "AwaitPush",
            Self::OfferFactor { .. } => "OfferFactor",
            Self::EnrolFactor { .. } => "EnrolFactor",
            Self::KeepCodes { .. } => "KeepCodes",
            Self::RecoverRequest { .. } => "RecoverRequest",
            Self::RecoverSent { .. } => "RecoverSent",
            Self::NewPassword { .. } => "NewPassword",
            Self::Consent(_) => "Consent",
            Self::ConfirmSignOut { .. } => "ConfirmSignOut",
            Self::SignedOut => "SignedOut",
            Self::Ended => "Ended",
        }
    }
}

impl EffectResult {
    /// The result's name, as the diagram has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SignIn(outcome) => match **outcome {
                Outcome::Success { .. } => "granted",
                Outcome::RequireEmailVerification { .. } => "mustVerify",
                Outcome::RequireMissingFields { .. } => "mustTell",
                Outcome::RequireOwnerApproval { .. } => "mustWait",
                Outcome::MfaChallenge { .. } => "mustProve",
                Outcome::RequireEnrolment { until: Some(_), .. } => "mayEnrol",
                Outcome::RequireEnrolment { until: None, .. } => "mustEnrol",
                Outcome::StatusCheck { .. } => "statusCheck",
                Outcome::RequireFirstFactor { .. } => "mustShow",
            },
            Self::Operator(_) => "granted",
            Self::OperatorFactor(_) => "mustProve",
            Self::OperatorEnrolment { until: Some(_), .. } => "mayEnrol",
            Self::OperatorEnrolment { until: None, .. } => "mustEnrol",
            Self::Outdated => "outdated",
            Self::Sent => "sent",
            Self::SignedOut => "signedOut",
            Self::Unchanged => "unchanged",
            Self::CodeSent { .. } => "codeSent",
            Self::Sending { .. } => "sending",
            Self::MustLink { .. } => "mustLink",
            Self::ProviderFailed { .. } => "providerFailed",
            Self::Asked { .. } => "asked",
            Self::Unapproved { why } => why.name(),
            Self::Drafted { .. } => "drafted",
            Self::Enrolled { .. } => "enrolled",
            Self::MustAgree(_) => "mustAgree",
            Self::HasAgreed(_) => "hasAgreed",
            Self::Agreed => "agreed",
            Self::Refused(_) => "refused",
        }
    }
}

impl Effect {
    /// The effect's name, as the table of the walk has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CheckPassword { .. } => "CheckPassword",
            Self::Register { .. } => "Register",
            Self::AskProvider { .. } => "AskProvider",
            Self::CheckProvider { .. } => "CheckProvider",
            Self::LinkProvider { .. } => "LinkProvider",
            Self::CheckCode { .. } => "CheckCode",
            Self::SendCode { .. } => "SendCode",
            Self::Complete { .. } => "Complete",
            Self::CheckApproval { .. } => "CheckApproval",
            Self::SendFactor { .. } => "SendFactor",
            Self::AskPush { .. } => "AskPush",
            Self::CheckPush { .. } => "CheckPush",
            Self::CheckFactor { .. } => "CheckFactor",
            Self::CheckPasskey { challenge: None, .. } => "SignInByPasskey",
            Self::CheckPasskey { challenge: Some(_), .. } => "CheckPasskey",
            Self::PutOffFactor { .. } => "PutOffFactor",
            Self::BeginFactor { .. } => "BeginFactor",
            Self::ConfirmFactor { .. } => "ConfirmFactor",
            Self::ConfirmPasskey { .. } => "ConfirmPasskey",
            Self::FinishFactor { .. } => "FinishFactor",
            Self::SendRecovery { .. } => "SendRecovery",
            Self::SetPassword { .. } => "SetPassword",
            Self::EndSession => "EndSession",
            Self::OpenForConsent(_) => "OpenForConsent",
            Self::CheckSigned(_) => "CheckSigned",
            Self::Agree(_) => "Agree",
            Self::OpenSession(_) => "OpenSession",
            Self::Finish(_) => "Finish",
        }
    }

    /// Whether the machine waits for its result before it goes on.
    pub fn has_result(&self) -> bool {
        !matches!(self, Self::OpenSession(_) | Self::Finish(_))
    }

    /// Whether the effect can have this result. The conductor refuses anything else, so what the walk leaves
    /// out can't happen.
    pub fn can_result_in(&self, result: &EffectResult) -> bool {
        use EffectResult::{
            Agreed, Asked, CodeSent, Drafted, Enrolled, HasAgreed, MustAgree, MustLink, Outdated, ProviderFailed,
            Refused, Sending, Sent, SignedOut, Unapproved, Unchanged,
        };
        let sign_in = match result {
            EffectResult::SignIn(outcome) => Some(&**outcome),
            _ => None,
        };
        let verifies = matches!(sign_in, Some(Outcome::RequireEmailVerification { .. }));
        // A member who has just registered, or has just shown one, is asked for none.
        let asks_factor = matches!(sign_in, Some(Outcome::MfaChallenge { .. }));
        // A member may be asked to have one who has just shown a code that was sent, which is none that sites require.
        let requires_factor = matches!(sign_in, Some(Outcome::RequireEnrolment { .. }));
        let requires_now = matches!(sign_in, Some(Outcome::RequireEnrolment { until: None, .. }));
        let asks = asks_factor || requires_factor;
        let is_operator = matches!(result, EffectResult::Operator(_));
        let asks_operator = matches!(result, EffectResult::OperatorFactor(_) | EffectResult::OperatorEnrolment { .. });
        let operator_must_enrol = matches!(result, EffectResult::OperatorEnrolment { until: None, .. });
        let completes = matches!(sign_in, Some(Outcome::Success { .. } | Outcome::RequireMissingFields { .. }));
        let is_next = completes || matches!(sign_in, Some(Outcome::RequireOwnerApproval { .. }));
        match self {
            _ if !self.has_result() => false,
            _ if matches!(result, Refused(_)) => true,
            Self::CheckPassword { .. } => is_next || asks || verifies || is_operator || asks_operator,
            Self::AskProvider { .. } => matches!(result, Sending { .. } | ProviderFailed { .. }),
            Self::CheckProvider { .. } => {
                is_next || asks || verifies || matches!(result, MustLink { .. } | ProviderFailed { .. } | Outdated)
            }
            Self::LinkProvider { .. } => is_next || asks || verifies,
            Self::Register { .. } => is_next || requires_factor || verifies || is_operator || asks_operator,
            Self::SetPassword { reason: PasswordReason::OwnerSetup | PasswordReason::OwnerRecovery, .. } => {
                is_operator || asks_operator
            }
            Self::CheckCode { .. } | Self::SetPassword { .. } => is_next || asks,
            Self::Complete { .. } => is_next || asks || *result == Outdated,
            Self::CheckApproval { .. } => completes || asks || verifies || matches!(result, Outdated | Unchanged),
            Self::SendFactor { .. } => matches!(result, CodeSent { .. } | Outdated),
            Self::AskPush { .. } => match result {
                Unapproved { why } => why.ends_questions(),
                _ => matches!(result, Asked { .. } | Outdated),
            },
            Self::CheckPush { .. } => {
                let is_over = |why: &Unanswered| !matches!(why, Unanswered::Limited | Unanswered::Unavailable);
                let waits = match result {
                    Unapproved { why } => is_over(why),
                    _ => matches!(result, Unchanged | Outdated),
                };
                is_next || requires_factor || verifies || waits
            }
            Self::CheckFactor { .. } => is_next || requires_factor || verifies || is_operator || *result == Outdated,
            // Who has shown a passkey has what sites require. In the place of a password operators show none.
            Self::CheckPasskey { challenge, .. } => {
                is_next || verifies || (challenge.is_some() && (is_operator || *result == Outdated))
            }
            Self::FinishFactor { .. } => is_next || verifies || is_operator || *result == Outdated,
            Self::PutOffFactor { .. } => {
                is_next || requires_now || operator_must_enrol || verifies || is_operator || *result == Outdated
            }
            Self::BeginFactor { .. } => {
                is_next || verifies || is_operator || matches!(result, Drafted { .. } | Outdated)
            }
            Self::ConfirmFactor { .. } | Self::ConfirmPasskey { .. } => {
                is_next || verifies || matches!(result, Enrolled { .. } | Outdated)
            }
            Self::SendCode { .. } | Self::SendRecovery { .. } => *result == Sent,
            Self::EndSession => *result == SignedOut,
            Self::OpenForConsent(_) => matches!(result, MustAgree(_) | HasAgreed(_)),
            Self::CheckSigned(_) => matches!(result, Unchanged | Outdated),
            Self::Agree(_) => matches!(result, Agreed | Outdated),
            Self::OpenSession(_) | Self::Finish(_) => false,
        }
    }
}

impl Event {
    /// The event's name, as the diagram has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Refresh => "Look",
            Self::Result(it) => it.name(),
            Self::Input(it) => match it {
                FlowInput::SignIn { .. } => "SignIn",
                FlowInput::SignUp { .. } => "SignUp",
                FlowInput::Provider { .. } => "Provider",
                FlowInput::LinkProvider { .. } => "LinkProvider",
                FlowInput::Switch { to: FlowKind::SignIn, .. } => "Switch SIGN_IN",
                FlowInput::Switch { to: FlowKind::SignUp, .. } => "Switch SIGN_UP",
                FlowInput::Switch { to: FlowKind::Recover, .. } => "Switch RECOVER",
                FlowInput::Switch { .. } => "Switch elsewhere",
                FlowInput::VerifyEmail { .. } => "VerifyEmail",
                FlowInput::Resend { .. } => "Resend",
                FlowInput::SecondFactor { .. } => "SecondFactor",
                FlowInput::Passkey { .. } => "Passkey",
                FlowInput::EnrolFactor => "EnrolFactor",
                FlowInput::ConfirmFactor { .. } => "ConfirmFactor",
                FlowInput::ConfirmPasskey { .. } => "ConfirmPasskey",
                FlowInput::Later => "Later",
                FlowInput::CodesKept => "CodesKept",
                FlowInput::MissingFields { .. } => "MissingFields",
                FlowInput::RecoverRequest { .. } => "RecoverRequest",
                FlowInput::NewPassword { .. } => "NewPassword",
                FlowInput::Allow => "Allow",
                FlowInput::Decline => "Decline",
                FlowInput::ConfirmSignOut => "ConfirmSignOut",
                FlowInput::Back => "Back",
                FlowInput::Cancel => "Cancel",
            },
        }
    }
}
