//! Notices to a member about changes to their account, so that they notice those that were not theirs.
//! Each is put into the queue in the transaction of the change.

use crate::{
    Core,
    mail::{
        message::Message,
        queue::{QueuedMessage, Task, enqueue},
    },
    member::{Member, row},
};
use stoa_kernel::{MemberId, Result, Scopes, SiteId};
use stoa_store::Tx;

/// A message to a member, in their language.
pub(crate) async fn send(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member, message: Message) -> Result<()> {
    send_to(core, tx, site, member, &member.email, None, message).await
}

/// The same to another address or in another language, which is put before the member's own.
pub(crate) async fn send_to(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    to: &str,
    language: Option<&str>,
    message: Message,
) -> Result<()> {
    // A member without an address can't be notified.
    if to.is_empty() {
        return Ok(());
    }
    let [language, own_language] = [language, member.profile.text("language")].map(|it| it.map(str::to_owned));
    let task = Task::Message(QueuedMessage { to: to.to_owned(), language, own_language, message });
    enqueue(core, tx, site, Some(&member.id), &task).await
}

/// The same to the member of an id, if there is one.
async fn send_to_id(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, message: Message) -> Result<()> {
    match row::get(tx, site, member).await? {
        Some(member) => send(core, tx, site, &member, message).await,
        None => Ok(()),
    }
}

/// A sign-in in a browser that the member had not used before.
pub(crate) async fn new_device(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    device: String,
) -> Result<()> {
    send_to_id(core, tx, site, member, Message::NewDevice { device, at: core.now() }).await
}

/// A client of others may act for the member from now on, as far as these scopes say.
pub(crate) async fn application_allowed(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (name, scopes): (&str, &Scopes),
) -> Result<()> {
    let (name, scopes) = (name.to_owned(), scopes.texts());
    send_to_id(core, tx, site, member, Message::ApplicationAllowed { name, scopes, at: core.now() }).await
}

/// The member has signed a client of others off.
pub(crate) async fn application_ended(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    name: &str,
) -> Result<()> {
    send_to_id(core, tx, site, member, Message::ApplicationEnded { name: name.to_owned(), at: core.now() }).await
}

/// The member has ended sessions from the list of them.
pub(crate) async fn sessions_ended(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    send_to_id(core, tx, site, member, Message::SessionsEnded { at: core.now() }).await
}

/// An owner of the site acts as the member from now on.
pub(crate) async fn impersonated(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    send(core, tx, site, member, Message::Impersonated { at: core.now() }).await
}

pub(crate) async fn password_changed(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    send(core, tx, site, member, Message::PasswordChanged { at: core.now() }).await
}

/// An app vouched for the member; the password may have been another person's.
pub(crate) async fn password_dropped(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    send(core, tx, site, member, Message::PasswordDropped { at: core.now() }).await
}

/// The address of an account in use was proven. A new member has just typed the code and gets no notice.
pub(crate) async fn email_verified(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    send(core, tx, site, member, Message::EmailVerified { at: core.now() }).await
}

/// To the address that the account had before `member` got the one it has now.
pub(crate) async fn email_changed(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    before: &str,
) -> Result<()> {
    let message = Message::EmailChanged { email: member.email.clone(), at: core.now() };
    send_to(core, tx, site, member, before, None, message).await
}
