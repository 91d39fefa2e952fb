//! Who may write members. What writes one asks for a [`MemberWrite`], which only this file makes: from the caller of a
//! request, or from what a person has shown on the way to a sign-in.

use crate::member::status::{Move, Who};
use stoa_kernel::{Area, Caller, Code, EventActor, Fault, MemberId, Result, Right, UserId};

/// Proof that members may be written, and who writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemberWrite {
    covers: Covers,
    /// Nothing for those who are the member that is written.
    actor: Option<EventActor>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Covers {
    /// Members of the whole site.
    All,
    One(MemberId),
    /// A member who is not there yet.
    New,
}

impl MemberWrite {
    /// An app or owner writes any member.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub(crate) fn privileged(caller: &Caller) -> Result<Self> {
        if caller.is_privileged() { Ok(Self::by(caller, Covers::All)) } else { Err(Fault::new(Code::Forbidden)) }
    }

    /// An app or owner writes a member, and so does the member.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub(crate) fn of(caller: &Caller, id: &MemberId) -> Result<Self> {
        let is_allowed = caller.is_privileged() || is_oneself(caller, id);
        if is_allowed { Ok(Self::by(caller, Covers::One(id.clone()))) } else { Err(Fault::new(Code::Forbidden)) }
    }

    /// The calling member writes their own account.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member.
    pub(crate) fn oneself(caller: &Caller) -> Result<(Self, &MemberId)> {
        match caller {
            Caller::Member { id, .. } => Ok((Self::shown_to_be(id), id)),
            _ => Err(Fault::new(Code::Forbidden)),
        }
    }

    /// An app vouches for members: makes them, or writes those that are there.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app; [`Code::ScopeMissing`] for one held to other scopes.
    pub(crate) fn vouching(caller: &Caller) -> Result<Self> {
        match caller.within(Area::Members, Right::SignIn)? {
            Caller::App { .. } => Ok(Self::by(caller, Covers::All)),
            _ => Err(Fault::new(Code::Forbidden)),
        }
    }

    /// Those who may make a move of the table in `status` make it with a member.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub(crate) fn moving(caller: &Caller, id: &MemberId, step: Move) -> Result<Self> {
        let who = match caller {
            it if is_oneself(it, id) => Who::Oneself,
            Caller::App { .. } => Who::App,
            it if it.is_privileged() => Who::Owner,
            _ => Who::Anyone,
        };
        match step.may(who) {
            true => Ok(Self::by(caller, Covers::One(id.clone()))),
            false => Err(Fault::new(Code::Forbidden)),
        }
    }

    /// The same with any members of the site.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub(crate) fn moving_all(caller: &Caller, step: Move) -> Result<Self> {
        let who = if matches!(caller, Caller::App { .. }) { Who::App } else { Who::Owner };
        if step.may(who) { Self::privileged(caller) } else { Err(Fault::new(Code::Forbidden)) }
    }

    /// A person registers: one member is made.
    pub(crate) fn registering() -> Self {
        Self { covers: Covers::New, actor: None }
    }

    /// A person has shown that they are the member, by a password, a code or a link.
    pub(crate) fn shown_to_be(id: &MemberId) -> Self {
        Self { covers: Covers::One(id.clone()), actor: None }
    }

    /// An owner decides by a link that was sent to them about one member.
    pub(crate) fn by_approval_link(id: &MemberId, owner: &UserId) -> Self {
        Self { covers: Covers::One(id.clone()), actor: Some(EventActor::operator(owner)) }
    }

    fn by(caller: &Caller, covers: Covers) -> Self {
        Self { covers, actor: Some(EventActor::of(caller)) }
    }

    /// Who writes this member.
    pub(super) fn actor(&self, member: &MemberId) -> EventActor {
        self.actor.clone().unwrap_or_else(|| EventActor::member(member))
    }

    /// # Errors
    /// [`Code::Internal`]: the proof is of another member.
    pub(super) fn check(&self, id: &MemberId) -> Result<()> {
        match &self.covers {
            Covers::All => Ok(()),
            Covers::One(it) if it == id => Ok(()),
            Covers::One(_) | Covers::New => Err(Fault::internal("a member was written with the proof of another")),
        }
    }

    /// # Errors
    /// [`Code::Internal`]: the proof is of a member who is there.
    pub(super) fn check_new(&self) -> Result<()> {
        match &self.covers {
            Covers::All | Covers::New => Ok(()),
            Covers::One(_) => Err(Fault::internal("a member was made with the proof of another")),
        }
    }
}

fn is_oneself(caller: &Caller, member: &MemberId) -> bool {
    matches!(caller, Caller::Member { id, .. } if id == member)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::{KeyId, Role, SessionId, VisitorId};

    fn callers() -> [(&'static str, Caller); 6] {
        let member = |id: &str| Caller::Member { id: id.into(), session: SessionId::from("s"), client: None };
        let user = |role| Caller::User { id: UserId::from("u"), role, session: SessionId::from("s") };
        [
            ("visitor", Caller::Visitor { id: VisitorId::from("v"), client: None }),
            ("self", member("m")),
            ("other", member("n")),
            ("editor", user(Role::Editor)),
            ("owner", user(Role::Owner)),
            ("app", Caller::App { id: KeyId::from("a") }),
        ]
    }

    #[test]
    fn member_write_is_given_to_whom_it_belongs() {
        let id = MemberId::from("m");
        let allowed = |may: &dyn Fn(&Caller) -> bool| {
            callers().into_iter().filter(|it| may(&it.1)).map(|it| it.0).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(allowed(&|it| MemberWrite::privileged(it).is_ok()), "owner app");
        assert_eq!(allowed(&|it| MemberWrite::of(it, &id).is_ok()), "self owner app");
        assert_eq!(allowed(&|it| MemberWrite::oneself(it).is_ok()), "self other");
        assert_eq!(allowed(&|it| MemberWrite::vouching(it).is_ok()), "app");
        assert_eq!(allowed(&|it| MemberWrite::moving(it, &id, Move::Delete).is_ok()), "self owner app");
        assert_eq!(allowed(&|it| MemberWrite::moving(it, &id, Move::Block).is_ok()), "owner app");
        assert_eq!(allowed(&|it| MemberWrite::moving(it, &id, Move::Verify).is_ok()), "self");
        assert_eq!(allowed(&|it| MemberWrite::moving(it, &id, Move::Vouch).is_ok()), "app");
        assert_eq!(allowed(&|it| MemberWrite::moving_all(it, Move::Delete).is_ok()), "owner app");
        assert_eq!(allowed(&|it| MemberWrite::moving_all(it, Move::Vouch).is_ok()), "app");
    }

    #[test]
    fn member_write_covers_no_other_member() {
        let (one, other) = (MemberId::from("m"), MemberId::from("n"));
        let proof = MemberWrite::shown_to_be(&one);
        assert!(proof.check(&one).is_ok() && proof.check(&other).is_err() && proof.check_new().is_err());
        let proof = MemberWrite::registering();
        assert!(proof.check(&one).is_err() && proof.check_new().is_ok());
        assert_eq!(proof.actor(&one), EventActor::member(&one), "who registers does it themselves");
        let owner = UserId::from("u");
        assert_eq!(MemberWrite::by_approval_link(&one, &owner).actor(&one), EventActor::operator(&owner));
    }
}
