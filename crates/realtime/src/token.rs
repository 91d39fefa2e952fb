//! Where a client was that may come back: the ids of messages.

use ring::digest::{SHA256, digest};
use std::fmt;
use stoa_kernel::Caller;
use stoa_store::outbox::{Token, Visible};

/// A place in a site's log, for one who asks. As a text it is opaque, and no secret: it gives no right, and says nothing
/// of what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamToken {
    pub token: Token,
    /// For whom the place was: what another would have been told before it isn't known to them.
    pub identity: Identity,
    /// What of the log behind the place has been told all the same.
    pub visible: Option<Visible>,
}

/// Stands for who asks, as far as that decides what is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(u64);

impl Identity {
    /// Visitors are all told the same, and so are sessions of one member.
    pub(crate) fn of(caller: &Caller) -> Self {
        let text = match caller.bare() {
            Caller::Visitor { .. } | Caller::Scoped(_) => "visitor".to_owned(),
            Caller::Member { id, .. } => format!("member {id}"),
            Caller::User { id, role, .. } => format!("user {id} {role:?}"),
            Caller::App { .. } => "app".to_owned(),
        };
        let scopes = caller.scopes().map(ToString::to_string);
        let hash = digest(&SHA256, format!("{text} {scopes:?}").as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_ref()[..8]);
        Self(u64::from_be_bytes(first))
    }
}

impl StreamToken {
    /// Characters of the longest that is read.
    const LONGEST: usize = 4_096;

    /// Reads what [`fmt::Display`] printed; nothing for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = Some(text).filter(|it| it.len() <= Self::LONGEST)?.split('~');
        let token = Token::parse(parts.next()?)?;
        let identity = parts.next().filter(|it| it.len() == 16)?;
        let identity = Identity(u64::from_str_radix(identity, 16).ok()?);
        let visible = match parts.next() {
            Some(it) => Some(Visible::parse(it)?),
            None => None,
        };
        parts.next().is_none().then_some(Self { token, identity, visible })
    }
}

impl fmt::Display for StreamToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{:016x}", self.token, self.identity.0)?;
        match &self.visible {
            Some(it) => write!(f, "~{it}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::{Role, Scopes};

    fn member(id: &str, session: &str) -> Caller {
        Caller::Member { id: id.into(), session: session.into(), client: None }
    }

    #[test]
    fn tokens_are_read_as_they_were_printed() {
        let identity = Identity::of(&member("m", "s"));
        for place in ["aB3-_zzzzzzzzzz9.1.2", "aB3-_zzzzzzzzzz9.1.2.7"] {
            for visible in [None, Visible::parse("a.2.7")] {
                let token = StreamToken { token: Token::parse(place).expect("a token"), identity, visible };
                assert_eq!(StreamToken::parse(&token.to_string()), Some(token));
            }
        }
        let good = format!("aB3-_zzzzzzzzzz9.1.2~{:016x}", identity.0);
        let with = |end: &str| format!("{good}{end}");
        for wrong in ["", "~", "aB3-_zzzzzzzzzz9.1.2", "aB3-_zzzzzzzzzz9.1.2~1", &with("~"), &with("~a~b")] {
            assert_eq!(StreamToken::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn identity_is_who_asks_and_not_their_session() {
        assert_eq!(Identity::of(&member("m", "s")), Identity::of(&member("m", "t")));
        let user = |role| Caller::User { id: "m".into(), role, session: "s".into() };
        let visitor = |id: &str| Caller::Visitor { id: id.into(), client: None };
        assert_eq!(Identity::of(&visitor("a")), Identity::of(&visitor("b")));
        let scoped = member("m", "s").held_to(Some(&Scopes::among("items:read")));
        let all = [member("m", "s"), member("n", "s"), user(Role::Owner), user(Role::Editor), visitor("m"), scoped];
        for (n, it) in all.iter().enumerate() {
            assert!(all[..n].iter().all(|other| Identity::of(other) != Identity::of(it)), "{it:?}");
        }
    }
}
