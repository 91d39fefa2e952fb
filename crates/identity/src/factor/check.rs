//! Whether what a person shows is a second factor of theirs. It is compared before the transaction in which it counts,
//! because secrets are opened with keys of the catalogue; inside, only what is stored decides, once.

use crate::{
    Core, audit,
    factor::{FactorType, Shown, guard, notice, offer, passkey, recovery_code, row, secret, sent, totp},
    member::Member,
};
use std::net::IpAddr;
use stoa_kernel::{Code, Fault, MemberId, Result, Secret, TokenHash};
use stoa_store::{Site, Tx};

/// What was shown, beside what the member has.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    factor: FactorType,
    found: Found,
}

#[derive(Debug, Clone)]
enum Found {
    Nothing,
    /// A code of this authenticator, of this step.
    Code {
        id: String,
        step: i64,
    },
    /// What may have been sent under this name.
    Sent {
        name: String,
        code: Secret,
    },
    /// What a recovery code of the member would have as hash.
    Recovery(TokenHash),
    Passkey(Box<passkey::Verified>),
}

/// What an attempt comes to, inside a transaction that is kept in each case.
#[derive(Debug)]
pub(crate) enum Verdict {
    Right,
    Refused(Fault),
}

/// Compares what was shown with what the member has; a code that is sent would have been under the name `sent`, and a passkey answers
/// a challenge for this use.
pub(crate) async fn compare(
    core: &Core,
    site: &Site,
    member: &MemberId,
    shown: &Shown,
    sent: Option<&str>,
    for_use: passkey::Use<'_>,
) -> Result<Compared> {
    let factor = shown.factor();
    let code = match shown {
        Shown::Code { code, .. } => code,
        Shown::Passkey(presented) => {
            let verified = passkey::verify(core, site, presented, for_use).await?;
            return Ok(Compared { factor, found: verified.map_or(Found::Nothing, |it| Found::Passkey(Box::new(it))) });
        }
    };
    let typed = code.expose();
    let found = match factor {
        FactorType::Webauthn => Found::Nothing,
        FactorType::RecoveryCode => Found::Recovery(recovery_code::hash(member, typed)),
        FactorType::Email | FactorType::Sms | FactorType::Call => {
            sent.map_or(Found::Nothing, |name| Found::Sent { name: name.to_owned(), code: code.clone() })
        }
        FactorType::Totp => {
            let code: String = typed.chars().filter(|it| !it.is_whitespace()).collect();
            let mut found = Found::Nothing;
            for (factor, secret) in secret::of_member(core, site, member).await? {
                // The time that is taken is that of all of them.
                let step = totp::step_of(secret.expose(), &code, core.now(), factor.last_step);
                if let (Some(step), Some(_)) = (step, factor.confirmed) {
                    found = Found::Code { id: factor.id, step };
                }
            }
            found
        }
    };
    Ok(Compared { factor, found })
}

/// Counts an attempt at a code inside a transaction, and uses up what was shown when it is right. The count is kept whatever it comes
/// to: the caller makes no error of it.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn count(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &Member,
    compared: &Compared,
    address: IpAddr,
) -> Result<Verdict> {
    let (id, now) = (&member.id, core.now());
    let wrong = || Verdict::Refused(Fault::new(Code::VerificationFailed));
    let factor = compared.factor;
    if factor.is_sent() && !offer::offered(core, tx, &site.id, member).await?.contains(&factor) {
        return Ok(wrong());
    }
    let attempted = match factor {
        // Nothing of these can be guessed, and a count would let a thief of the password keep the member out.
        FactorType::Webauthn | FactorType::RecoveryCode => None,
        FactorType::Totp | FactorType::Email | FactorType::Sms | FactorType::Call => {
            match guard::attempt(tx, &site.id, id, now).await? {
                None => return Ok(wrong()),
                Some(Err(throttled)) => return Ok(Verdict::Refused(throttled)),
                Some(Ok(attempted)) => Some(attempted),
            }
        }
    };
    let is_right = match &compared.found {
        Found::Nothing => false,
        Found::Code { id: of, step } => row::advance(tx, &site.id, id, of, (*step, now)).await?,
        Found::Sent { name, code } => sent::take_of(tx, &site.id, member, (factor, name), code, now).await?,
        Found::Recovery(hash) => recovery_code::take(tx, &site.id, id, hash, now).await?,
        Found::Passkey(verified) => {
            verified.member() == id && passkey::take(core, tx, &site.id, verified, address).await?
        }
    };
    let record = |event| audit::Entry::by_oneself(id, event).at_address(Some(address));
    if !is_right {
        if attempted.is_some_and(|it| it.is_last_free()) {
            audit::record(core, tx, &site.id, record(audit::Event::FactorSlowed)).await?;
        }
        return Ok(wrong());
    }
    match factor {
        FactorType::Webauthn | FactorType::Totp | FactorType::Sms | FactorType::Call => {
            guard::absolve(tx, &site.id, id).await?;
            guard::trust_password(tx, &site.id, id).await?;
        }
        FactorType::Email => guard::absolve(tx, &site.id, id).await?,
        FactorType::RecoveryCode => {
            guard::trust_password(tx, &site.id, id).await?;
            audit::record(core, tx, &site.id, record(audit::Event::RecoveryCodeUsed)).await?;
            notice::recovery_code_used(core, tx, &site.id, member).await?;
        }
    }
    Ok(Verdict::Right)
}
