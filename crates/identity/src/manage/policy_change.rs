//! Who may change what a site asks of people who sign in. The policy itself is in `policy`.

use crate::{
    Identity,
    policy::{self, OperatorFactorPolicy, PolicyChange, SignOnPolicy},
    sign_in::operator_factor::proof,
};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::Site;

impl Identity {
    /// Changes what `change` names and answers the whole policy. Members who wait already keep waiting
    /// for what was asked of them. Where owners may do less as members from now on, none of them acts as one any more.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner, and for an owner without a second factor who would require
    /// one of those who run the site; [`Code::ProofNeeded`] for an owner who has not lately shown who they are, and changes what it
    /// says of second factors or lets owners do more as members; [`Code::Validation`] for roles that there are not, for days and
    /// roles where no second factor is required, and for numbers where the server sends no codes to any.
    pub async fn policy_update(&self, site: &Site, caller: &Caller, change: PolicyChange) -> Result<SignOnPolicy> {
        let core = &self.core;
        let approval = match caller.bare() {
            Caller::User { id, session, .. } => Approval {
                is_proved: proof::holds(core, session).await?,
                has_factor: proof::has_factor(core, id).await?,
            },
            _ => Approval::OF_NOBODY,
        };
        policy::update(core, site, caller, change, move |change, now| approval.allow(change, now)).await
    }
}

/// What a person has shown of themselves who changes a policy.
#[derive(Debug, Clone, Copy)]
struct Approval {
    /// Lately and in this session: a factor, or the password where they have none.
    is_proved: bool,
    has_factor: bool,
}

impl Approval {
    /// Keys and the command line are nobody in person, who could show something.
    const OF_NOBODY: Self = Self { is_proved: true, has_factor: true };

    /// # Errors
    /// [`Code::ProofNeeded`] for a change that is worth more than a session; [`Code::Forbidden`] where it could shut out who makes it.
    fn allow(self, change: &PolicyChange, now: &SignOnPolicy) -> Result<()> {
        if !self.is_proved && asks_for_proof(change, now) {
            return Err(Fault::new(Code::ProofNeeded));
        }
        let requires = change.operator_second_factor == Some(OperatorFactorPolicy::Required);
        if requires && !self.has_factor && changes_factors(change, now) {
            let why = "Add a second factor to your own account first: without one you could be shut out.";
            return Err(Fault::because(Code::Forbidden, why));
        }
        Ok(())
    }
}

/// Whether an owner's session is not enough for it: what it says of second factors changes, or owners may do more as members.
fn asks_for_proof(change: &PolicyChange, now: &SignOnPolicy) -> bool {
    changes_factors(change, now)
        || change.impersonation.is_some_and(|it| it > now.impersonation)
        || change.impersonation_without_notice.is_some_and(|it| it && !now.impersonation_without_notice)
}

/// Whether it changes what a policy says of second factors: one that was read can be written back.
fn changes_factors(change: &PolicyChange, now: &SignOnPolicy) -> bool {
    let days = [
        (change.second_factor_grace_days, now.second_factor_grace_days),
        (change.operator_second_factor_grace_days, now.operator_second_factor_grace_days),
    ];
    change.second_factor.is_some_and(|it| it != now.second_factor)
        || change.second_factor_by_telephone.is_some_and(|it| it != now.second_factor_by_telephone)
        || change.second_factor_roles.as_ref().is_some_and(|it| policy::sorted(it) != now.second_factor_roles)
        || change.operator_second_factor.is_some_and(|it| it != now.operator_second_factor)
        || days.into_iter().any(|(wanted, now)| wanted.is_some() && wanted != now)
}
