//! What members have beside their account: roles, badges, custom fields, followers, blocks, reports,
//! abouts, and how much of it others see (identity.md 17).
//!
//! Two tables carry all of it. A *noun* is an object that is read whole by its id ([`noun`]); a *tie*
//! joins a member to another member or to a noun ([`tie`]). What a kind of noun may hold, and who reads it, is
//! a line of [`kind`]. Ties are of two sorts: those who run the site give roles and badges ([`Granted`]),
//! members follow, block and report each other ([`Bond`]).

mod about;
mod bond;
mod definition;
mod field;
mod grant;
pub mod kind;
pub mod noun;
pub mod privacy;
mod report;
mod role;
mod tag;
mod tie;

pub use bond::{Bond, Side};
pub use field::Applications;
pub use grant::Granted;
pub use kind::Kind;
pub use noun::{Noun, NounFilter, Place};
pub use role::RoleHeld;
pub use tag::Retag;
pub use tie::{PAGE, Tie, TieFilter, Ties};

use stoa_kernel::{Caller, Code, Fault, MemberId, Result, Violation};

/// Members, or ties of them, that one call may name.
const AT_ONCE: usize = 100;

/// Lets pass only those who decide what the site has.
fn decides(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

fn own_id(caller: &Caller) -> Result<&MemberId> {
    match caller {
        Caller::Member { id, .. } => Ok(id),
        _ => Err(Fault::new(Code::Forbidden)),
    }
}

fn is_own(caller: &Caller, member: &MemberId) -> bool {
    matches!(caller, Caller::Member { id, .. } if id == member)
}

/// Refuses what names more than may be asked for at once; `what` says in the answer what is named.
fn at_most(ids: &[String], field: &str, what: &str) -> Result<()> {
    if ids.len() <= AT_ONCE {
        return Ok(());
    }
    Err(malformed(field, format!("at most {AT_ONCE} {what} are expected")))
}

/// Refuses what changes nobody, or more than may be changed at once.
fn few(ids: &[String], field: &str) -> Result<()> {
    let rule = match ids.len() {
        0 => "MIN_SIZE",
        1..=AT_ONCE => return Ok(()),
        _ => "MAX_SIZE",
    };
    Err(Fault::invalid(vec![
        Violation::new(field, rule, format!("1 to {AT_ONCE} are expected")).with("threshold", AT_ONCE),
    ]))
}

fn malformed(field: &str, why: impl Into<String>) -> Fault {
    Fault::invalid(vec![Violation::new(field, "FORMAT", why)])
}
