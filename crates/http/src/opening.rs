//! Which routes are open to callers who are held to scopes (docs/scopes.md).

use stoa_kernel::{Area, Caller, Code, Fault, Result, Right};

/// What scopes must leave of a caller's rights for a call. Each group of the table of routes has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Reading in an area, or writing, as the call does.
    Area(Area),
    /// The same, for a call that reaches what is the caller's own: it is told what scopes the caller is held to.
    Own(Area),
    /// Asked with each collection that the call is about.
    Collections,
    /// Everything: no scope opens it. Visitors are let in, as anybody can be one of the site's own.
    Whole,
}

impl Opening {
    /// The caller as the call takes it: a stranger to it where collections decide, else without the scopes, which have
    /// been asked.
    ///
    /// # Errors
    /// [`Code::ScopeMissing`].
    pub(crate) fn admit(self, is_read: bool, caller: Caller) -> Result<Caller> {
        match (&caller, self) {
            (Caller::Scoped(_), Self::Area(area) | Self::Own(area)) => {
                let bare = caller.within(area, if is_read { Right::Read } else { Right::Write })?;
                Ok(if self == Self::Own(area) { caller } else { bare.clone() })
            }
            (Caller::Scoped(_), Self::Whole) => match caller.bare() {
                visitor @ Caller::Visitor { .. } => Ok(visitor.clone()),
                _ => {
                    let why = "No scope opens this; it needs a key or token with full rights.";
                    Err(Fault::because(Code::ScopeMissing, why))
                }
            },
            _ => Ok(caller),
        }
    }
}
