//! Whether what a person shows is a second factor of theirs. It is compared before the transaction in which it counts,
//! because secrets are opened with keys of the catalogue; inside, only what is stored decides, once.

use crate::{
    Core, audit,
    factor::{
        Beside, FactorType, Shown,
        guard::{self, Attempted},
        notice, offer,
        passkey::{self, Taken},
        push,
        realm::Realm,
        recovery_code, row, secret, sent, totp,
    },
    member::Member,
};
use std::net::IpAddr;
use stoa_kernel::{Code, Fault, MemberId, Millis, Result, Secret, SiteId, TokenHash};
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
    /// A question that may have been asked under this name.
    Push {
        name: String,
        transaction: String,
    },
}

impl Compared {
    /// Whether it is one of the factors that a site requires, once it was [counted](count) as right: an authenticator, or a passkey of the
    /// account pages.
    pub(crate) fn is_authenticator(&self, core: &Core) -> bool {
        match &self.found {
            Found::Code { .. } => true,
            Found::Passkey(verified) => offer::is_of_pages(core, verified.relying_party()),
            Found::Nothing | Found::Sent { .. } | Found::Recovery(_) | Found::Push { .. } => false,
        }
    }
}

/// What an attempt comes to, inside a transaction that is kept in each case.
#[derive(Debug)]
pub(crate) enum Verdict {
    Right,
    Refused(Fault),
}

/// Compares what was shown with what the member has; a code that is sent, or a question to browsers, would have been under
/// the name `sent`, and a passkey answers a challenge for this use.
pub(crate) async fn compare(
    core: &Core,
    realm: &Realm<'_>,
    member: &MemberId,
    shown: &Shown,
    sent: Option<&str>,
    for_use: passkey::Use<'_>,
) -> Result<Compared> {
    let factor = shown.factor();
    let code = match shown {
        Shown::Code { code, .. } => code,
        Shown::Passkey(presented) => {
            let verified = match presented {
                Some(presented) => passkey::verify(core, realm, presented, for_use).await?,
                None => None,
            };
            return Ok(Compared { factor, found: verified.map_or(Found::Nothing, |it| Found::Passkey(Box::new(it))) });
        }
        Shown::Push { transaction } => {
            let asked = |name: &str| Found::Push { name: name.to_owned(), transaction: transaction.clone() };
            return Ok(Compared { factor, found: sent.map_or(Found::Nothing, asked) });
        }
    };
    let typed = code.expose();
    let found = match factor {
        // The password is compared where it counts as an attempt at one (`sign_in::second_factor`).
        FactorType::Webauthn | FactorType::Push | FactorType::Password => Found::Nothing,
        FactorType::RecoveryCode => Found::Recovery(recovery_code::hash(member, typed)),
        FactorType::Email | FactorType::Sms | FactorType::Call => {
            sent.map_or(Found::Nothing, |name| Found::Sent { name: name.to_owned(), code: code.clone() })
        }
        FactorType::Totp => {
            let code: String = typed.chars().filter(|it| !it.is_whitespace()).collect();
            let mut found = Found::Nothing;
            for (factor, secret) in secret::of_member(core, realm, member).await? {
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
    (address, beside): (IpAddr, Beside),
) -> Result<Verdict> {
    let (id, now) = (&member.id, core.now());
    let wrong = || Verdict::Refused(Fault::new(Code::VerificationFailed));
    let factor = compared.factor;
    if factor.is_sent() && !offer::offered(core, tx, &site.id, member, beside).await?.contains(&factor) {
        return Ok(wrong());
    }
    let attempted = match attempt(tx, &site.id, id, factor, now).await? {
        Ok(attempted) => attempted,
        Err(fault) => return Ok(Verdict::Refused(fault)),
    };
    let is_right = match &compared.found {
        Found::Nothing => false,
        Found::Code { id: of, step } => row::advance(tx, &site.id, id, of, (*step, now)).await?,
        Found::Sent { name, code } => sent::take_of(tx, &site.id, member, (factor, name), code, now).await?,
        Found::Recovery(hash) => recovery_code::take(tx, &site.id, id, hash, now).await?,
        Found::Push { name, transaction } => {
            let is_approved = push::question::take(tx, &site.id, (id, name), transaction, now).await?;
            if is_approved {
                row::browsers_used(tx, &site.id, id, now).await?;
            }
            is_approved
        }
        Found::Passkey(verified) => {
            verified.member() == id && passkey::take_of_member(core, tx, &site.id, verified, address).await?
        }
    };
    let record = |event| audit::Entry::by_oneself(id, event).at_address(Some(address));
    if !is_right {
        if attempted.is_some_and(|it| it.is_last_free()) {
            audit::record(core, tx, &site.id, record(audit::Event::FactorSlowed)).await?;
        }
        return Ok(wrong());
    }
    guard::was_right(tx, &site.id, id, (factor, beside)).await?;
    // Of the factors that are shown, this one alone leaves a message in the queue.
    if factor == FactorType::RecoveryCode {
        audit::record(core, tx, &site.id, record(audit::Event::RecoveryCodeUsed)).await?;
        notice::recovery_code_used(core, tx, &site.id, member).await?;
    }
    Ok(Verdict::Right)
}

/// Counts an attempt at a factor of this kind before it is looked at: nothing is counted of those that can't be guessed, where a count
/// would let a thief of the password keep the member out. The inner error refuses it.
async fn attempt(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    factor: FactorType,
    now: Millis,
) -> Result<Result<Option<Attempted>>> {
    match factor {
        FactorType::Webauthn | FactorType::Push | FactorType::RecoveryCode => Ok(Ok(None)),
        // It is compared where it counts as an attempt at a password.
        FactorType::Password => Ok(Err(Fault::new(Code::VerificationFailed))),
        FactorType::Totp | FactorType::Email | FactorType::Sms | FactorType::Call => {
            Ok(match guard::attempt(tx, site, member, now).await? {
                None => Err(Fault::new(Code::VerificationFailed)),
                Some(Err(throttled)) => Err(throttled),
                Some(Ok(attempted)) => Ok(Some(attempted)),
            })
        }
    }
}

/// What an attempt of somebody who runs sites comes to. Their sites are told of it behind the transaction, since they are kept elsewhere.
#[derive(Debug)]
pub(crate) struct OperatorVerdict {
    pub verdict: Verdict,
    pub told: Option<audit::Event>,
}

/// The same as [`count`] for those who run sites, inside a transaction of the catalogue.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn count_operator(
    core: &Core,
    tx: &mut Tx<'_>,
    realm: &SiteId,
    person: &MemberId,
    compared: &Compared,
) -> Result<OperatorVerdict> {
    let now = core.now();
    let refused = |fault, told| OperatorVerdict { verdict: Verdict::Refused(fault), told };
    let wrong = || Fault::new(Code::VerificationFailed);
    let attempted = match attempt(tx, realm, person, compared.factor, now).await? {
        Ok(attempted) => attempted,
        Err(fault) => return Ok(refused(fault, None)),
    };
    let is_right = match &compared.found {
        // Nothing is sent to those who run sites.
        Found::Nothing | Found::Sent { .. } | Found::Push { .. } => false,
        Found::Code { id, step } => row::advance(tx, realm, person, id, (*step, now)).await?,
        Found::Recovery(hash) => recovery_code::take(tx, realm, person, hash, now).await?,
        Found::Passkey(verified) if verified.member() == person => {
            match passkey::take(core, tx, realm, verified).await? {
                Taken::Right => true,
                Taken::Wrong => false,
                Taken::Copied => return Ok(refused(wrong(), Some(audit::Event::PasskeyCopied))),
            }
        }
        Found::Passkey(_) => false,
    };
    if !is_right {
        let slowed = attempted.filter(Attempted::is_last_free).map(|_| audit::Event::FactorSlowed);
        return Ok(refused(wrong(), slowed));
    }
    let is_recovery = compared.factor == FactorType::RecoveryCode;
    if !is_recovery {
        guard::absolve(tx, realm, person).await?;
    }
    let told = is_recovery.then_some(audit::Event::RecoveryCodeUsed);
    Ok(OperatorVerdict { verdict: Verdict::Right, told })
}
