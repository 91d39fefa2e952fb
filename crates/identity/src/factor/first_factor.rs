//! What a sign-in rests on before anything is asked for beside it.

use crate::{factor::FactorType, member::Member};
use serde::{Deserialize, Serialize};
use stoa_kernel::Email;

/// What has shown first who signs in: it decides what is something more beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FirstFactor {
    /// What this site checks itself: a password, a link, a passkey, the word of an app.
    #[default]
    Own,
    /// An identity provider.
    Provider,
    /// An identity provider whose account the member's own mailbox may open, as far as is known.
    ProviderOfMailbox,
}

impl FirstFactor {
    /// A provider that has named these addresses for a member, now or when they were linked. Another mailbox than the member's opens
    /// the account there only where each is known and none is the member's own: who signs in chooses what a provider names now, by the
    /// scope that their browser asks for.
    pub(crate) fn of_provider<'a>(named: impl IntoIterator<Item = Option<&'a str>>, member: &Member) -> Self {
        let own = Email::fold(&member.email);
        let is_another = |it: Option<&str>| it.and_then(Email::parse).is_some_and(|it| it.folded() != own);
        match named.into_iter().all(is_another) {
            true => Self::Provider,
            false => Self::ProviderOfMailbox,
        }
    }

    pub(crate) fn is_own(&self) -> bool {
        *self == Self::Own
    }

    /// Whether a factor could show something more. A code by e-mail shows the mailbox, and a password nothing beside itself.
    pub(crate) fn takes(self, factor: FactorType) -> bool {
        match factor {
            FactorType::Email => self != Self::ProviderOfMailbox,
            FactorType::Password => !self.is_own(),
            _ => true,
        }
    }
}
