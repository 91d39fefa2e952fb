//! What a sign-in answers, whichever way it came: registration, login, verification, recovery
//! (docs/protocol/identity.md §10.1).

use crate::{
    factor::{FactorType, Question, passkey},
    member::Member,
    policy::Field,
    sign_in::challenge::Challenge,
};
use serde_json::{Value, json};
use stoa_kernel::{MemberId, Millis, Secret};

/// What comes next in a sign-in.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Signed in; the token becomes a session (`session`).
    Success { member: Member, session_token: Secret },
    /// The sign-in began with nothing but an address: the state token goes with the password.
    RequireFirstFactor { state_token: Secret },
    /// A code was sent to the member's address; the state token goes with it.
    RequireEmailVerification { member: Member, state_token: Secret },
    /// The profile lacks what the site requires; the state token says who may complete it.
    RequireMissingFields { member: Member, fields: Vec<Field>, state_token: Secret },
    /// An owner must approve the member first.
    RequireOwnerApproval { member: Member },
    /// A second factor of the member is needed, of which one is asked for. Nothing is told of the member: who asks
    /// has shown a password alone.
    MfaChallenge { challenge: Challenge, state_token: Secret, asked: FactorType, data: Option<ChallengeData> },
    /// The site requires a second factor of the member, who has none that does. The account pages have one set up; what is answered to
    /// calls leads there. Nothing is told of the member here either.
    RequireEnrolment {
        challenge: Challenge,
        /// Until when the member may put it off.
        until: Option<Millis>,
        /// Where the pages stand, for calls.
        url: Option<String>,
        /// Whether it may be a passkey there.
        takes_passkey: bool,
    },
    /// The address was verified outside of a sign-in. Nothing keeps the member from signing in, but who
    /// asks has not shown a first factor.
    StatusCheck { member: Member },
}

/// What goes with a second factor that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChallengeData {
    /// Where a code has just gone, without most of the address.
    Hint(String),
    /// What a passkey is to sign.
    Passkey(passkey::Request),
    /// What the member's browsers are asked.
    Push(Question),
}

impl Outcome {
    /// The StateMachineResponse.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Success { member, session_token } => json!({
                "state": "SUCCESS",
                "sessionToken": session_token.expose(),
                "identity": member.to_json(),
            }),
            Self::RequireFirstFactor { state_token } => json!({
                "state": "REQUIRE_FIRST_FACTOR",
                "stateToken": state_token.expose(),
            }),
            Self::RequireEmailVerification { member, state_token } => json!({
                "state": "REQUIRE_EMAIL_VERIFICATION",
                "stateToken": state_token.expose(),
                "identity": member.to_json(),
            }),
            Self::RequireMissingFields { member, fields, state_token } => json!({
                "state": "REQUIRE_MISSING_FIELDS",
                "stateToken": state_token.expose(),
                "identity": member.to_json(),
                "additionalData": { "missingFields": { "listValue": {
                    "value": fields.iter().map(|it| json!({ "strValue": it.name() })).collect::<Vec<_>>(),
                } } },
            }),
            Self::RequireOwnerApproval { member } => json!({
                "state": "REQUIRE_OWNER_APPROVAL",
                "identity": member.to_json(),
            }),
            Self::MfaChallenge { challenge, state_token, asked, data } => {
                let mut answer = json!({
                    "state": "MFA_CHALLENGE",
                    "stateToken": state_token.expose(),
                    "mfaChallengeData": {
                        "factorType": asked.name(),
                        "availableFactors": challenge.factors.iter()
                            .map(|it| json!({ "factorType": it.name(), "factorStatus": "ENABLED" }))
                            .collect::<Vec<_>>(),
                        "reason": "USER_SETTINGS",
                    },
                });
                if let Some(data) = data {
                    answer["mfaChallengeData"]["verificationChallengeData"] = match data {
                        ChallengeData::Hint(hint) => json!({ "hint": hint }),
                        ChallengeData::Push(Question { id, number, .. }) => {
                            json!({ "hint": number, "pushData": { "transactionId": id } })
                        }
                        ChallengeData::Passkey(request) => json!({ "webauthnData": request.to_webauthn_data() }),
                    };
                }
                answer
            }
            Self::RequireEnrolment { url, takes_passkey, .. } => json!({
                "state": "REQUIRE_MFA",
                "requireMfaData": {
                    "availableFactors": FactorType::ALL.into_iter()
                        .filter(|it| *it == FactorType::Totp || (*takes_passkey && *it == FactorType::Webauthn))
                        .map(|it| json!({ "factorType": it.name(), "factorStatus": "REQUIRE_ACTIVATION" }))
                        .collect::<Vec<_>>(),
                    "reason": "USER_SETTINGS",
                },
                "additionalData": { "signInUrl": { "strValue": url } },
            }),
            Self::StatusCheck { member } => json!({ "state": "STATUS_CHECK", "identity": member.to_json() }),
        }
    }

    /// Whom it is about; `None` while only an address is known, or a second factor is asked for.
    pub fn member(&self) -> Option<&Member> {
        match self {
            Self::RequireFirstFactor { .. } | Self::MfaChallenge { .. } | Self::RequireEnrolment { .. } => None,
            Self::Success { member, .. }
            | Self::RequireEmailVerification { member, .. }
            | Self::RequireMissingFields { member, .. }
            | Self::RequireOwnerApproval { member }
            | Self::StatusCheck { member } => Some(member),
        }
    }

    /// The id of whom it is about, also where nothing is told of them; `None` while only an address is known.
    pub(crate) fn member_id(&self) -> Option<&MemberId> {
        match self {
            Self::MfaChallenge { challenge, .. } | Self::RequireEnrolment { challenge, .. } => Some(&challenge.member),
            other => other.member().map(|it| &it.id),
        }
    }
}
