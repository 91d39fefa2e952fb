//! The password of somebody who runs sites, shown once more.

use crate::{
    Core,
    defence::attempt::{self, Account, Attempt},
    operator::{self, Operator},
    sign_in::login,
};
use std::sync::Arc;
use stoa_kernel::{Code, Email, Fault, Result, Secret, UserId};
use stoa_store::Site;

/// Whether an operator knows their password, counted as a sign-in unless they do; answers what is stored of it.
///
/// # Errors
/// [`Code::PasswordWrong`]; [`Code::Throttled`].
pub(crate) async fn confirm(
    core: &Arc<Core>,
    site: &Site,
    operator: &Operator,
    attempt: &Attempt,
    password: &Secret,
) -> Result<String> {
    let email = Email::parse(&operator.email).ok_or_else(|| Fault::internal("a stored address is none"))?;
    let permit = attempt::sign_in(core, site, attempt, Account::Operator(&email)).await?;
    let share = core.passwords.share(attempt.address, site.id.as_str(), &operator.device_subject());
    let known = operator::find_by_email(core, &email).await?.and_then(|it| it.password_hash);
    let stored = known.ok_or_else(|| Fault::new(Code::PasswordWrong))?;
    operator::confirm_password(core, share, password, &stored).await?;
    core.throttle.refund(permit);
    // A right password is no failed sign-in, but it cost a hash, and so may what follows.
    login::password_attempt(core, &site.id, &operator.device_subject())?;
    Ok(stored)
}

/// The same of the operator with an id.
///
/// # Errors
/// As for [`confirm`]; [`Code::Forbidden`] where there is no such person any more.
pub(crate) async fn confirm_by_id(
    core: &Arc<Core>,
    site: &Site,
    id: &UserId,
    attempt: &Attempt,
    password: &Secret,
) -> Result<()> {
    let operator = operator::find(core, id).await?.ok_or_else(|| Fault::new(Code::Forbidden))?;
    confirm(core, site, &operator, attempt, password).await.map(drop)
}
