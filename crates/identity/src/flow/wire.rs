//! What the hosted pages and the server say to each other: a flow is shown one step at a time.
//!
//! `GET  /_api/account/v1/flows/{token}` answers a [`FlowView`]; `POST` on the same path sends one
//! [`FlowInput`] and answers the next [`FlowView`]. The browser never decides what comes next: it
//! draws [`Step`] and sends what the person typed. The types below are printed as TypeScript into
//! `web/packages/api/src/flow.ts`; a test fails when that file is stale.
//!
//! Page and server are one program: a page that meets an unknown step is a defect and not a version question.

pub use crate::face::{Palette, SiteColours, SiteFace};
pub use crate::provider::{Provider, ProviderFailure};
use crate::{factor::FactorType, policy::Field};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A flow as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FlowView {
    /// Opaque; names the flow in the next request. A new one may be given with every answer.
    pub token: String,
    pub kind: FlowKind,
    pub site: SiteFace,
    pub step: Step,
    /// What is wrong with the last input; empty when nothing is.
    pub problems: Vec<Problem>,
    /// Whether `Back` leads somewhere.
    pub can_go_back: bool,
    /// Where `Cancel` leads; absent when the flow can't be left.
    pub cancel_url: Option<String>,
    /// The front end that the flow is for: by it an address of the account pages finds the site.
    pub client_id: Option<String>,
    /// Where people find the front end; absent when nothing is known of it.
    pub home_url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FlowKind {
    SignIn,
    SignUp,
    SignOut,
    Recover,
    /// A person who runs the site sets a password from an invitation.
    OwnerSetup,
    /// A person who runs the site signs in.
    OwnerSignIn,
}

impl FlowKind {
    /// Whether it is members who walk through a flow of this kind.
    pub fn is_of_members(self) -> bool {
        matches!(self, Self::SignIn | Self::SignUp | Self::Recover)
    }

    /// Whether it is those who run the site.
    pub fn is_of_operators(self) -> bool {
        matches!(self, Self::OwnerSetup | Self::OwnerSignIn)
    }
}

/// One question to the person, or the end of the flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum Step {
    /// E-mail address and password of an existing account; or `passkey` in the place of both, absent where there are none.
    SignIn {
        email: Option<String>,
        can_sign_up: bool,
        can_recover: bool,
        passkey: Option<PasskeyChallenge>,
        providers: Vec<Provider>,
    },
    /// A new account.
    SignUp { email: Option<String>, fields: Vec<ProfileField>, password_min_length: u32, providers: Vec<Provider> },
    /// An account has the address that a provider named: its password is shown once, and `provider`, the label, signs in by itself
    /// from then on.
    LinkProvider { provider: String, email: String, can_recover: bool },
    /// A provider signed no one in.
    ProviderFailed { provider: Provider, reason: ProviderFailure },
    /// A six-digit code was sent by e-mail.
    VerifyEmail { email_hint: String, resend_after_seconds: u32 },
    /// The site's owner must approve the member first.
    AwaitApproval { email_hint: String },
    /// The profile lacks what the site requires.
    MissingFields { fields: Vec<ProfileField> },
    /// A second factor: one of these. `rememberDays` is how long the browser need not show one again, 0 where it always does; `sentTo` where the last
    /// code went that `Resend` has sent, and `sentBy` the factor that it is of; `passkey` goes with `WEBAUTHN`.
    SecondFactor {
        factors: Vec<FactorType>,
        remember_days: u32,
        sent_to: Option<String>,
        sent_by: Option<FactorType>,
        resend_after_seconds: u32,
        passkey: Option<PasskeyChallenge>,
    },
    /// The member's browsers are asked whether the sign-in is theirs: this number, two digits, is to be typed there, until
    /// `expiresDate`, ISO 8601. It goes on when the flow is asked for again; `SecondFactor` with `PUSH` asks once more.
    AwaitPush { number: String, expires_date: String },
    /// The site requires a second factor of its members. `until`, ISO 8601, is how long this one may put it off; absent
    /// where not at all.
    OfferFactor { until: Option<String> },
    /// An authenticator to be set up, by its secret in base32 or the `otpauth:` address that a QR code holds; its first code is
    /// awaited. Or a passkey in its place: `passkey` is what one is made with. `until` as before.
    EnrolFactor { secret: String, uri: String, until: Option<String>, passkey: Option<PasskeyChallenge> },
    /// Recovery codes, shown until they are kept: none where they can't be decrypted any more.
    RecoveryCodes { codes: Vec<String> },
    /// Ask for the address to which a recovery link is sent.
    RecoverRequest { email: Option<String> },
    /// A recovery link is on its way, whether or not the address is known.
    RecoverSent { email_hint: String },
    /// Choose a new password (recovery, forced reset, owner set-up).
    NewPassword { email_hint: Option<String>, password_min_length: u32 },
    /// A client of others asks for these scopes (docs/scopes.md), none where it only asks who the member is. `host` is where the
    /// answer goes, or the scheme of an app's own address; `account` is the address of the member who is signed in.
    Consent { app_name: String, host: String, account: String, scopes: Vec<String> },
    /// Ends the session only after a click.
    ConfirmSignOut { display_name: Option<String> },
    /// Go there; the flow is over.
    Redirect { url: String },
    /// Hand this to the opener window; the flow is over.
    PostMessage {
        origin: String,
        code: Option<String>,
        state: String,
        error: Option<String>,
        error_description: Option<String>,
    },
    /// Nothing more to do and nowhere to go (signed in or out without a return address).
    Done { message: DoneMessage },
    /// The flow can't go on (expired, used, blocked account).
    Failed { code: String, message: String },
}

/// What a browser is asked to have a passkey sign. Each view has another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyChallenge {
    /// A GUID, which goes back with the answer.
    pub challenge_id: String,
    /// JSON text of PublicKeyCredentialRequestOptionsJSON; of PublicKeyCredentialCreationOptionsJSON in
    /// the step `ENROL_FACTOR`.
    pub options: String,
    /// When it ends, ISO 8601.
    pub expires_date: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DoneMessage {
    SignedIn,
    SignedOut,
    PasswordChanged,
    OwnerReady,
}

/// What the page sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum FlowInput {
    SignIn {
        email: String,
        password: String,
        captcha: Option<String>,
    },
    SignUp {
        email: String,
        password: String,
        profile: ProfileInput,
        captcha: Option<String>,
    },
    /// To sign in by the provider with this id: the answer is a step `REDIRECT` to it, and the flow stays where it is.
    Provider {
        id: String,
    },
    /// The password of the account that a provider is to be linked with.
    LinkProvider {
        password: String,
        captcha: Option<String>,
    },
    /// Change from sign-in to sign-up and back, or to recovery, keeping the typed address.
    Switch {
        to: FlowKind,
        email: Option<String>,
    },
    VerifyEmail {
        code: String,
    },
    /// `factor` is the second factor of which a code is to be sent: `EMAIL` where there is none, `SMS` or `CALL`.
    Resend {
        #[serde(default)]
        #[ts(optional)]
        factor: Option<FactorType>,
    },
    MissingFields {
        profile: ProfileInput,
    },
    /// With `PUSH` the member's browsers are asked, and `code` means nothing.
    SecondFactor {
        factor: FactorType,
        code: String,
        /// Not to ask again in this browser for a while.
        remember: bool,
    },
    /// What a passkey has signed, in the place of address and password, or as second factor.
    Passkey {
        challenge_id: String,
        /// JSON text of `PublicKeyCredential.toJSON()`.
        credential: String,
        /// As of a second factor; means nothing in the place of a password.
        remember: bool,
    },
    /// To set an authenticator up, or a passkey.
    EnrolFactor,
    ConfirmFactor {
        code: String,
    },
    /// A passkey that was made, in the place of an authenticator.
    ConfirmPasskey {
        challenge_id: String,
        /// JSON text of `PublicKeyCredential.toJSON()`.
        credential: String,
    },
    /// To put a second factor off.
    Later,
    /// The recovery codes are kept.
    CodesKept,
    RecoverRequest {
        email: String,
    },
    NewPassword {
        password: String,
    },
    /// A client of others may have what it asks for.
    Allow,
    /// It may not.
    Decline,
    ConfirmSignOut,
    Back,
    Cancel,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileInput {
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub nickname: Option<String>,
}

impl ProfileInput {
    pub fn get(&self, field: Field) -> Option<&str> {
        match field {
            Field::FirstName => self.first_name.as_deref(),
            Field::LastName => self.last_name.as_deref(),
            Field::Nickname => self.nickname.as_deref(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProfileField {
    /// JSON name inside [`ProfileInput`].
    pub name: String,
    pub required: bool,
}

/// Something wrong with the last input. `field` is the name of the input member, absent when the whole
/// step is meant; `message` is the server's own sentence, shown at the field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    pub field: Option<String>,
    /// Stable name for translation, for example `INVALID_CREDENTIALS`.
    pub code: String,
    pub message: String,
}

/// What the account pages send to begin a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FlowStart {
    pub kind: FlowKind,
    #[serde(default)]
    #[ts(optional)]
    pub client_id: Option<String>,
    /// Where to go at the end: an address of the client or of this server.
    #[serde(default)]
    #[ts(optional)]
    pub return_url: Option<String>,
    /// The token of the invitation, for OWNER_SETUP.
    #[serde(default)]
    #[ts(optional)]
    pub invite: Option<String>,
}
