//! What messages are about, and the values that their words are filled with.

use crate::mail::words::{Language, Words};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use stoa_kernel::{Millis, date::iso_from_millis};

/// What a message is about. It is encrypted in the queue: codes and links are secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Message {
    /// The six-digit code that proves an address.
    Verification {
        code: String,
    },
    /// The six-digit code that is shown as second factor.
    SecondFactor {
        code: String,
    },
    /// The link with which a new password is chosen.
    Recovery {
        link: String,
    },
    /// The same for a member whom an app has made.
    Activation {
        link: String,
    },
    /// The same for somebody who runs the site.
    OperatorRecovery {
        link: String,
    },
    /// A sign-in in a browser that the member had not used before.
    NewDevice {
        device: String,
        at: Millis,
    },
    PasswordChanged {
        at: Millis,
    },
    /// To somebody who runs the site.
    OperatorPasswordChanged {
        at: Millis,
    },
    /// An app vouched for the member, whose password may have been another person's.
    PasswordDropped {
        at: Millis,
    },
    /// The address of an account in use was proven.
    EmailVerified {
        at: Millis,
    },
    /// To the old address: the account has another one now.
    EmailChanged {
        email: String,
        at: Millis,
    },
    /// The same where the member has changed it and this address had been shown to be theirs: with the link it is taken back.
    EmailChangeUndo {
        link: String,
        /// Most of the other address left out.
        email: String,
        at: Millis,
        until: Millis,
    },
    /// To the address that the account has again.
    EmailChangeUndone {
        at: Millis,
    },
    /// The second factors of the account are others now, or a recovery code was used up.
    FactorChanged {
        change: FactorChange,
        at: Millis,
    },
    /// The same to somebody who runs the site.
    OperatorFactorChanged {
        change: FactorChange,
        at: Millis,
    },
    /// A question in an enrolled browser was denied, or answered by a wrong number.
    PushDenied {
        /// Whether a change in a session was asked about, and no sign-in.
        is_change: bool,
        /// The browser that asked, in the server's own words; nothing for one that is not known.
        device: Option<String>,
        /// The network address that asked.
        address: String,
        at: Millis,
    },
    /// A client of others may act for the member.
    ApplicationAllowed {
        name: String,
        /// All that the member has agreed to, as text.
        scopes: Vec<String>,
        at: Millis,
    },
    /// The member has signed it off.
    ApplicationEnded {
        name: String,
        at: Millis,
    },
    /// The member was signed out in other browsers, from the list of them.
    SessionsEnded {
        at: Millis,
    },
    /// An owner of the site acts as the member for a while.
    Impersonated {
        at: Millis,
    },
    /// The account is going to be deleted; with the link the member keeps it.
    DeletionWaits {
        link: String,
        due: Millis,
    },
    /// An account that was to be deleted stays.
    DeletionUndone {
        at: Millis,
    },
    /// To an owner: a member waits for an answer.
    ApprovalRequest {
        name: String,
        email: String,
        link: String,
    },
    Approved,
    Declined,
    /// To an owner: nothing is sent to a webhook endpoint any more.
    WebhookDisabled {
        /// The origin of its address.
        endpoint: String,
        at: Millis,
    },
}

/// What happened to a member's second factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FactorChange {
    Added,
    PasskeyAdded,
    /// A provider signs the member in from now on.
    ProviderAdded,
    /// By the member or by those who run the site.
    Removed,
    ProviderRemoved,
    RecoveryCodesRenewed,
    RecoveryCodeUsed,
    /// The browsers in which no factor is asked for are none any more.
    BrowsersForgotten,
}

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

impl Message {
    /// The name of the kind, in the queue and in a site's setting.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Verification { .. } => "verification",
            Self::SecondFactor { .. } => "second_factor",
            Self::Recovery { .. } => "recovery",
            Self::Activation { .. } => "activation",
            Self::OperatorRecovery { .. } => "operator_recovery",
            Self::NewDevice { .. } => "new_device",
            Self::PasswordChanged { .. } => "password_changed",
            Self::OperatorPasswordChanged { .. } => "operator_password_changed",
            Self::PasswordDropped { .. } => "password_dropped",
            Self::EmailVerified { .. } => "email_verified",
            Self::EmailChanged { .. } => "email_changed",
            Self::EmailChangeUndo { .. } => "email_change_undo",
            Self::EmailChangeUndone { .. } => "email_change_undone",
            Self::FactorChanged { change, .. } => match change {
                FactorChange::Added => "factor_added",
                FactorChange::PasskeyAdded => "passkey_added",
                FactorChange::ProviderAdded => "provider_added",
                FactorChange::Removed => "factor_removed",
                FactorChange::ProviderRemoved => "provider_removed",
                FactorChange::RecoveryCodesRenewed => "recovery_codes_renewed",
                FactorChange::RecoveryCodeUsed => "recovery_code_used",
                FactorChange::BrowsersForgotten => "browsers_forgotten",
            },
            Self::OperatorFactorChanged { change: FactorChange::PasskeyAdded, .. } => "operator_passkey_added",
            Self::OperatorFactorChanged { .. } => "operator_factor_changed",
            Self::PushDenied { is_change: false, .. } => "push_denied",
            Self::PushDenied { is_change: true, .. } => "push_change_denied",
            Self::ApplicationAllowed { .. } => "application_allowed",
            Self::ApplicationEnded { .. } => "application_ended",
            Self::SessionsEnded { .. } => "sessions_ended",
            Self::Impersonated { .. } => "impersonated",
            Self::DeletionWaits { .. } => "deletion_waits",
            Self::DeletionUndone { .. } => "deletion_undone",
            Self::ApprovalRequest { .. } => "approval_request",
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::WebhookDisabled { .. } => "webhook_disabled",
        }
    }

    /// How long it is worth reading, from now on.
    pub(crate) fn life(&self, now: Millis) -> Millis {
        match self {
            Self::Verification { .. } | Self::SecondFactor { .. } => 10 * MINUTE,
            Self::Recovery { .. } | Self::Activation { .. } | Self::OperatorRecovery { .. } => HOUR,
            // The only way back that the member has themselves.
            Self::DeletionWaits { due: until, .. } | Self::EmailChangeUndo { until, .. } => until - now,
            _ => 3 * 24 * HOUR,
        }
    }

    pub(super) fn words(&self, language: &'static Language) -> &'static Words {
        match self {
            Self::Verification { .. } => &language.verification,
            Self::SecondFactor { .. } => &language.second_factor,
            Self::Recovery { .. } | Self::OperatorRecovery { .. } => &language.recovery,
            Self::Activation { .. } => &language.activation,
            Self::NewDevice { .. } => &language.new_device,
            Self::PasswordChanged { .. } | Self::OperatorPasswordChanged { .. } => &language.password_changed,
            Self::PasswordDropped { .. } => &language.password_dropped,
            Self::EmailVerified { .. } => &language.email_verified,
            Self::EmailChanged { .. } => &language.email_changed,
            Self::EmailChangeUndo { .. } => &language.email_change_undo,
            Self::EmailChangeUndone { .. } => &language.email_change_undone,
            // Theirs doesn't stand in the place of the password.
            Self::OperatorFactorChanged { change: FactorChange::PasskeyAdded, .. } => &language.operator_passkey_added,
            Self::FactorChanged { change, .. } | Self::OperatorFactorChanged { change, .. } => match change {
                FactorChange::Added => &language.factor_added,
                FactorChange::PasskeyAdded => &language.passkey_added,
                FactorChange::ProviderAdded => &language.provider_added,
                FactorChange::Removed => &language.factor_removed,
                FactorChange::ProviderRemoved => &language.provider_removed,
                FactorChange::RecoveryCodesRenewed => &language.recovery_codes_renewed,
                FactorChange::RecoveryCodeUsed => &language.recovery_code_used,
                FactorChange::BrowsersForgotten => &language.browsers_forgotten,
            },
            Self::PushDenied { is_change: false, .. } => &language.push_denied,
            Self::PushDenied { is_change: true, .. } => &language.push_change_denied,
            Self::ApplicationAllowed { .. } => &language.application_allowed,
            Self::ApplicationEnded { .. } => &language.application_ended,
            Self::SessionsEnded { .. } => &language.sessions_ended,
            Self::Impersonated { .. } => &language.impersonated,
            Self::DeletionWaits { .. } => &language.deletion_waits,
            Self::DeletionUndone { .. } => &language.deletion_undone,
            Self::ApprovalRequest { .. } => &language.approval_request,
            Self::Approved => &language.approved,
            Self::Declined => &language.declined,
            Self::WebhookDisabled { .. } => &language.webhook_disabled,
        }
    }

    /// Whether a site has no words of its own for it: what it says concerns all sites that its reader runs.
    pub(super) fn is_ours_alone(&self) -> bool {
        matches!(
            self,
            Self::OperatorRecovery { .. } | Self::OperatorPasswordChanged { .. } | Self::OperatorFactorChanged { .. }
        )
    }

    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Verification { code } | Self::SecondFactor { code } => Some(code),
            _ => None,
        }
    }

    pub(super) fn link<'a>(&'a self, context: &'a MailContext) -> Option<&'a str> {
        match self {
            Self::Recovery { link }
            | Self::Activation { link }
            | Self::OperatorRecovery { link }
            | Self::DeletionWaits { link, .. }
            | Self::EmailChangeUndo { link, .. }
            | Self::ApprovalRequest { link, .. } => Some(link),
            Self::NewDevice { .. }
            | Self::PasswordChanged { .. }
            | Self::PasswordDropped { .. }
            | Self::FactorChanged { .. }
            | Self::PushDenied { .. }
            | Self::ApplicationEnded { .. }
            | Self::SessionsEnded { .. }
            | Self::DeletionUndone { .. }
            | Self::EmailChangeUndone { .. }
            | Self::EmailVerified { .. } => Some(&context.recover_url),
            Self::OperatorPasswordChanged { .. }
            | Self::OperatorFactorChanged { .. }
            | Self::WebhookDisabled { .. } => Some(&context.owner_url),
            Self::Approved => Some(&context.sign_in_url),
            Self::Impersonated { .. } | Self::ApplicationAllowed { .. } => Some(&context.sessions_url),
            // A recovery link goes to the address that the account has now, which the reader of this may not have.
            Self::Verification { .. } | Self::SecondFactor { .. } | Self::EmailChanged { .. } | Self::Declined => None,
        }
    }

    /// The value of a placeholder of this kind; nothing for those it doesn't have.
    pub(super) fn value<'a>(
        &'a self,
        name: &str,
        to: &'a str,
        (language, context): (&'static Language, &'a MailContext),
    ) -> Option<Cow<'a, str>> {
        Some(match (name, self) {
            ("site", _) => one_line(&context.site_name).into(),
            ("code", Self::Verification { code } | Self::SecondFactor { code }) => code.into(),
            ("link", it) => it.link(context)?.into(),
            (
                "email",
                Self::ApprovalRequest { email, .. }
                | Self::EmailChanged { email, .. }
                | Self::EmailChangeUndo { email, .. },
            ) => one_line(email).into(),
            ("email", _) => one_line(to).into(),
            // The address stands for a name that is missing, and is told anyway: it stays in one piece.
            ("name", Self::ApprovalRequest { name, email, .. }) if name == email => one_line(email).into(),
            ("name", Self::ApprovalRequest { name, .. }) => name_of(name).into(),
            ("name", Self::WebhookDisabled { endpoint, .. }) => one_line(endpoint).into(),
            ("name", Self::ApplicationAllowed { name, .. } | Self::ApplicationEnded { name, .. }) => {
                name_of(name).into()
            }
            ("scopes", Self::ApplicationAllowed { scopes, .. }) => language.scopes.lines(scopes).into(),
            ("device", Self::NewDevice { device, .. }) => one_line(device).into(),
            ("device", Self::PushDenied { device, address, .. }) => who_asked(device.as_deref(), address).into(),
            (
                "time",
                Self::NewDevice { at, .. }
                | Self::PasswordChanged { at }
                | Self::OperatorPasswordChanged { at }
                | Self::PasswordDropped { at }
                | Self::EmailVerified { at }
                | Self::EmailChanged { at, .. }
                | Self::EmailChangeUndo { at, .. }
                | Self::EmailChangeUndone { at }
                | Self::FactorChanged { at, .. }
                | Self::OperatorFactorChanged { at, .. }
                | Self::PushDenied { at, .. }
                | Self::ApplicationAllowed { at, .. }
                | Self::ApplicationEnded { at, .. }
                | Self::SessionsEnded { at }
                | Self::Impersonated { at }
                | Self::DeletionWaits { due: at, .. }
                | Self::DeletionUndone { at }
                | Self::WebhookDisabled { at, .. },
            ) => time(*at).into(),
            _ => return None,
        })
    }

    /// One of each kind, for looking at them.
    pub(crate) fn examples() -> Vec<Self> {
        let at = 1_767_270_600_000;
        let link = |path: &str| format!("https://www.example.org/{path}");
        let push_denied = |is_change| Self::PushDenied {
            is_change,
            device: Some("Firefox · Linux".to_owned()),
            address: "2001:db8::7".to_owned(),
            at,
        };
        vec![
            Self::Verification { code: "482915".to_owned() },
            Self::SecondFactor { code: "482915".to_owned() },
            Self::Recovery {
                link: link("_api/account/v1/recover?token=l1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
            },
            Self::Activation {
                link: link("_api/account/v1/recover?token=l1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
            },
            Self::NewDevice { device: "Firefox · Linux".to_owned(), at },
            Self::OperatorRecovery {
                link: link("_api/account/v1/recover?token=o1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
            },
            Self::PasswordChanged { at },
            Self::OperatorPasswordChanged { at },
            Self::PasswordDropped { at },
            Self::EmailVerified { at },
            Self::EmailChanged { email: "somebody.else@example.org".to_owned(), at },
            Self::EmailChangeUndo {
                link: link("account/keep#u1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
                email: "s***@example.org".to_owned(),
                at,
                until: at,
            },
            Self::EmailChangeUndone { at },
            Self::FactorChanged { change: FactorChange::Added, at },
            Self::FactorChanged { change: FactorChange::PasskeyAdded, at },
            Self::FactorChanged { change: FactorChange::ProviderAdded, at },
            Self::FactorChanged { change: FactorChange::Removed, at },
            Self::FactorChanged { change: FactorChange::ProviderRemoved, at },
            Self::FactorChanged { change: FactorChange::RecoveryCodesRenewed, at },
            Self::FactorChanged { change: FactorChange::RecoveryCodeUsed, at },
            Self::FactorChanged { change: FactorChange::BrowsersForgotten, at },
            Self::OperatorFactorChanged { change: FactorChange::Added, at },
            Self::OperatorFactorChanged { change: FactorChange::PasskeyAdded, at },
            push_denied(false),
            push_denied(true),
            Self::ApplicationAllowed {
                name: "Reading List".to_owned(),
                scopes: ["items:read", "members:read"].map(str::to_owned).to_vec(),
                at,
            },
            Self::ApplicationEnded { name: "Reading List".to_owned(), at },
            Self::SessionsEnded { at },
            Self::Impersonated { at },
            Self::DeletionWaits { link: link("account/keep#e1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"), due: at },
            Self::DeletionUndone { at },
            Self::ApprovalRequest {
                name: "Anna <b> Beispiel".to_owned(),
                email: "anna@example.org".to_owned(),
                link: link("account/approve#a1.8Zq3uXo1c7bW5Yt0nRk2mVd4hJs6fGa9pLeTiBvNxQw"),
            },
            Self::Approved,
            Self::Declined,
            Self::WebhookDisabled { endpoint: "https://hooks.example.org".to_owned(), at },
        ]
    }
}

/// Where a message comes from and where its links lead.
#[derive(Debug, Clone)]
pub(crate) struct MailContext {
    pub site_name: String,
    /// Where a member chooses a new password.
    pub recover_url: String,
    pub sign_in_url: String,
    /// Where members see where they are signed in, and end it.
    pub sessions_url: String,
    /// Where those who run the site sign in.
    pub owner_url: String,
}

/// Text that a person typed, on one line, without what would turn the direction of the text around it.
pub(super) fn one_line(text: &str) -> String {
    let turns = |it: char| matches!(it, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let line = text.chars().filter(|it| !turns(*it)).map(|it| match it {
        it if it.is_control() || matches!(it, '\u{2028}' | '\u{2029}') => ' ',
        it => it,
    });
    line.take(300).collect::<String>().trim().to_owned()
}

/// A name in a message to another person. It says no more than names need, and no mail program makes a link of it:
/// behind each mark that joins an address there is a space.
pub(super) fn name_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in one_line(text).chars().take(80) {
        if out.ends_with(['.', ':', '\u{3002}', '\u{ff0e}', '\u{ff61}']) && !character.is_whitespace() {
            out.push(' ');
        }
        out.push(character);
    }
    out
}

/// `Firefox · Linux · 192.0.2.7`, kept in this order where text runs the other way.
fn who_asked(device: Option<&str>, address: &str) -> String {
    let known: Vec<&str> = device.into_iter().chain([address]).collect();
    format!("\u{2066}{}\u{2069}", one_line(&known.join(" · ")))
}

/// `2026-01-01 12:30 UTC`: read alike in every language, and kept in this order where text runs the other way.
fn time(at: Millis) -> String {
    let iso = iso_from_millis(at);
    match (iso.get(..10), iso.get(11..16)) {
        (Some(day), Some(minute)) => format!("\u{2066}{day} {minute} UTC\u{2069}"),
        _ => iso,
    }
}
