//! An operator accepts an invitation: it sets their password and gives a role.

use crate::{
    Core, Identity,
    operator::{
        self, Operator,
        invite::{self, Acceptance},
    },
    sign_in::{
        login,
        new_password::{self, Person},
    },
};
use std::net::IpAddr;
use stoa_kernel::{Code, Email, Fault, Result, Role, Secret, TokenHash, UserId};
use stoa_store::boxed;

impl Identity {
    /// Uses an invitation: sets the operator's password and gives the role, or leaves a greater one as it is. An
    /// invitation without an address needs `email` and is good until the site has an owner; one with an address ignores
    /// `email`. `from` is the network address that asks.
    ///
    /// An operator who already has a password on this installation keeps it and must know it: an
    /// invitation by one site's owner must not open another site.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`], [`Code::EmailInvalid`], [`Code::PasswordWrong`], [`Code::Throttled`], and
    /// what makes a password invalid.
    pub async fn invite_accept(
        &self,
        token: &str,
        email: Option<&Email>,
        secret: &Secret,
        from: IpAddr,
    ) -> Result<(Operator, Role)> {
        accept_hash(&self.core, &TokenHash::of(token).to_vec(), email, secret, from).await
    }
}

/// What [`Identity::invite_accept`] does.
pub(crate) async fn accept_hash(
    core: &Core,
    link: &[u8],
    email: Option<&Email>,
    secret: &Secret,
    from: IpAddr,
) -> Result<(Operator, Role)> {
    let invite = invite::get_hash(core, link).await?;
    let email = invite.email.clone().or_else(|| email.cloned()).ok_or_else(|| Fault::new(Code::EmailInvalid))?;
    // An invitation without an address is counted itself: who has it chooses the address.
    let account = match &invite.email {
        Some(_) => format!("person:{}", email.folded()),
        None => format!("invite:{}", hex_of(link)),
    };
    login::password_attempt(core, &invite.site, &account)?;
    let share = core.passwords.share(from, invite.site.as_str(), &account);
    let known = operator::find_by_email(core, &email).await?;
    let hash = match known.as_ref().and_then(|it| it.password_hash.as_deref()) {
        Some(stored) => {
            operator::confirm_password(core, share, secret, stored).await?;
            stored.to_owned()
        }
        None => {
            let site = core.store().site(&invite.site).await?;
            let person = Person { email: email.as_str(), profile: None };
            if let Some(violation) = new_password::violation_for(core, &site, person, secret, "password").await? {
                return Err(Fault::invalid(vec![violation]));
            }
            login::hash_password(core, share, secret, "password").await?
        }
    };
    let acceptance = Acceptance { link: link.to_vec(), email, hash, fresh: UserId::from(core.world().uuid()) };
    let now = core.now();
    core.store().catalog().write_with(acceptance, move |tx, it| boxed!(it.write(tx, now).await)).await
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
