//! What can be wrong with an input, as the page shows it.

use crate::flow::{state::Unanswered, wire::Problem};
use stoa_kernel::{Code, Fault};

pub fn required(field: &str) -> Problem {
    at(field, "REQUIRED", "This is required.")
}

pub fn invalid_email() -> Problem {
    at("email", "INVALID_EMAIL", "The email address is not valid.")
}

pub fn wrong_code() -> Problem {
    at("code", "INVALID_CODE", "The code is wrong or has expired.")
}

/// A passkey that is unknown, removed, another site's, or whose challenge has ended: which of it is not told.
pub fn wrong_passkey() -> Problem {
    at("passkey", "PASSKEY_REFUSED", "The passkey was not accepted.")
}

/// A question in an enrolled browser was denied, a wrong number among it, was not answered in time, or is not asked.
pub fn unapproved(why: Unanswered) -> Problem {
    match why {
        Unanswered::Denied => {
            at("push", "PUSH_DENIED", "The sign-in was denied in your browser, or another number was typed there.")
        }
        Unanswered::Late => at("push", "PUSH_EXPIRED", "There was no answer in your browser in time."),
        Unanswered::Limited => at("push", Code::Throttled.name(), Code::Throttled.sentence()),
        Unanswered::Unsent | Unanswered::Unavailable => {
            at("push", "PUSH_UNAVAILABLE", "Your browsers can't be asked; use another way.")
        }
    }
}

/// The member's browsers can't be asked at the moment.
pub fn unasked(fault: &Fault) -> Problem {
    at("push", fault.code().name(), fault.message())
}

pub fn credentials() -> Problem {
    general("INVALID_CREDENTIALS", Code::PasswordWrong.sentence())
}

/// The input belongs to a step that the flow has left.
pub fn moved_on() -> Problem {
    general("STEP_CHANGED", "The sign-in had already moved on; this is where it stands.")
}

/// Something that is needed does not answer at the moment.
pub fn unavailable(fault: &Fault) -> Problem {
    general(fault.code().name(), fault.message())
}

/// A refusal of an operation as a problem of the page, or the fault itself when it isn't one that the
/// person can do something about.
pub fn of(fault: Fault) -> Result<Problem, Fault> {
    if let Some(it) = fault.violations().first() {
        let field = it.field.rsplit('.').next().unwrap_or(&it.field);
        let code = match (it.rule_name, it.violated_rule) {
            (Some("COMMON_PASSWORD"), _) => "PASSWORD_COMMON",
            (Some("CONTEXT_PASSWORD"), _) => "PASSWORD_CONTEXT",
            (Some("LEAKED_PASSWORD"), _) => "PASSWORD_LEAKED",
            (Some(name), _) => name,
            (None, "REQUIRED_FIELD") => "REQUIRED",
            (None, rule) => match (field, rule) {
                ("password", "MIN_LENGTH") => "PASSWORD_TOO_SHORT",
                ("password", "MAX_LENGTH") => "PASSWORD_TOO_LONG",
                ("email", _) => "INVALID_EMAIL",
                (_, rule) => rule,
            },
        };
        return Ok(Problem { field: Some(field.to_owned()), code: code.to_owned(), message: it.description.clone() });
    }
    Ok(match fault.code() {
        Code::PasswordWrong => credentials(),
        Code::EmailTaken => at("email", "EMAIL_TAKEN", fault.message()),
        Code::EmailInvalid => invalid_email(),
        Code::VerificationFailed => wrong_code(),
        Code::MemberBlocked if fault.data().contains_key("deletionDate") => general("DELETION_WAITS", fault.message()),
        code @ (Code::MemberBlocked
        | Code::Throttled
        | Code::PasswordReset
        | Code::LinkInvalid
        | Code::CaptchaMissing
        | Code::CaptchaInvalid) => general(code.name(), fault.message()),
        _ => return Err(fault),
    })
}

fn at(field: &str, code: &str, message: &str) -> Problem {
    Problem { field: Some(field.to_owned()), code: code.to_owned(), message: message.to_owned() }
}

fn general(code: &str, message: &str) -> Problem {
    Problem { field: None, code: code.to_owned(), message: message.to_owned() }
}
