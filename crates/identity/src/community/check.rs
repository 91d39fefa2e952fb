//! Who may change what is around members, and how much one call may name.

use stoa_kernel::{Caller, Code, Fault, MemberId, Result, Violation};

/// Members, or relations of them, that one call may name.
pub(super) const AT_ONCE: usize = 100;

/// Lets pass only those who decide what the site has: owners and apps.
///
/// # Errors
/// [`Code::Forbidden`].
pub(crate) fn check_owner(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

pub(super) fn own_id(caller: &Caller) -> Result<&MemberId> {
    match caller {
        Caller::Member { id, .. } => Ok(id),
        _ => Err(Fault::new(Code::Forbidden)),
    }
}

pub(super) fn is_own(caller: &Caller, member: &MemberId) -> bool {
    matches!(caller, Caller::Member { id, .. } if id == member)
}

/// Refuses what names more than may be asked for at once; `what` says in the answer what is named.
pub(super) fn at_most(ids: &[String], field: &str, what: &str) -> Result<()> {
    if ids.len() <= AT_ONCE {
        return Ok(());
    }
    Err(malformed(field, format!("at most {AT_ONCE} {what} are expected")))
}

/// Refuses what changes nothing, or more than may be changed at once.
pub(super) fn check_count(ids: &[String], field: &str) -> Result<()> {
    let rule = match ids.len() {
        0 => "MIN_SIZE",
        1..=AT_ONCE => return Ok(()),
        _ => "MAX_SIZE",
    };
    Err(Fault::invalid(vec![
        Violation::new(field, rule, format!("1 to {AT_ONCE} are expected")).with("threshold", AT_ONCE),
    ]))
}

pub(super) fn malformed(field: &str, why: impl Into<String>) -> Fault {
    Fault::invalid(vec![Violation::new(field, "FORMAT", why)])
}
