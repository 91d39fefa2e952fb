//! What a sign-in rests on before anything is asked for beside it, and what a factor is shown beside.

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

/// What a second factor is shown beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// This, in a sign-in.
    First(FirstFactor),
    /// A session that goes on, in which a member shows again who they are.
    Session,
}

impl Beside {
    /// Whether the member's password was shown, or what is as good.
    pub(super) fn is_own(self) -> bool {
        self == Self::First(FirstFactor::Own)
    }

    /// Whether a code by e-mail shows something more, of a member whose password may be doubted (`password_state`): not beside that
    /// password, nor in a session while it is doubted, nor beside a provider whose account the mailbox may open; beside any other
    /// provider always.
    pub(super) fn takes_mail(self, is_doubted: bool) -> bool {
        match self {
            Self::First(FirstFactor::Own) | Self::Session => !is_doubted,
            Self::First(first) => first.takes(FactorType::Email),
        }
    }
}
