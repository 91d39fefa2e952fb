//! Verification of e-mail addresses by a code. The signature that `outcome` calls; filled by the flow slice.

use crate::{Identity, member::Member};
use stoa_kernel::{Code, Fault, Result, Secret, VisitorId};
use stoa_outbound::Mail;
use stoa_store::{Site, Tx};

/// Starts a verification inside a transaction: the `stateToken` and the message with the code, which the
/// caller sends after the commit.
pub(crate) async fn start(
    _identity: &Identity,
    _tx: &mut Tx<'_>,
    _site: &Site,
    _member: &Member,
    _visitor: Option<&VisitorId>,
) -> Result<(Secret, Mail)> {
    Err(Fault::new(Code::NotBuilt))
}
