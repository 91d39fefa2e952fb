//! Members: the accounts of a site, and what is done to one. How one signs in is in `sign_in`, what those
//! who run the site make and change in `edit`, lists in `list`, the moves between statuses in `status`, one for many
//! members in `bulk`.

pub(crate) mod contact;
pub(crate) mod list;
pub mod profile;
pub(crate) mod row;
pub(crate) mod show;
pub(crate) mod status;

pub use crate::defence::attempt::Attempt;
pub use crate::manage::{
    edit::{MemberChange, slug_fits},
    import::{AT_ONCE, Arrival, Arrived},
};
pub use crate::sign_in::login::{Registration, SignOn};
pub use list::{Audience, MemberField, MemberFilter, MemberPage, MemberQuery, MemberSort, Operand, Window};
pub(crate) use row::{by_email, get, note_login, require_active, update, write_password};
pub use status::{Move, Status};

use crate::{
    Core, Identity, audit, mail,
    member::profile::Profile,
    session::{self, Which},
    sign_in::approval,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Millis, Result, SessionId, SiteId, clock::iso_from_millis};
use stoa_store::{Lane, Site, Tx, boxed};

/// An account of a site.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub id: MemberId,
    /// As the person wrote it.
    pub email: String,
    pub email_verified: bool,
    pub status: Status,
    /// A pending member waits for the address to be verified.
    pub pending_email: bool,
    /// A pending member has yet to tell what the site requires.
    pub pending_fields: bool,
    /// A pending member waits for somebody who runs the site.
    pub pending_approval: bool,
    pub(crate) password_hash: Option<String>,
    /// The password is not good for signing in any more: a new one must be set by a recovery link.
    pub must_reset: bool,
    pub profile: Profile,
    /// Photo, cover and title as the members API shows them.
    pub card: Map<String, Value>,
    /// Silenced by those who run the site.
    pub muted: bool,
    /// Whether others see the profile.
    pub is_public: bool,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
    pub last_login: Option<Millis>,
}

impl Member {
    /// A member as it is before anything happened to it.
    pub(crate) fn new(id: MemberId, email: &str, profile: Profile, now: Millis) -> Self {
        Self {
            id,
            email: email.to_owned(),
            email_verified: false,
            status: Status::Pending,
            pending_email: false,
            pending_fields: false,
            pending_approval: false,
            password_hash: None,
            must_reset: false,
            profile,
            card: Map::new(),
            muted: false,
            is_public: false,
            revision: 1,
            created: now,
            updated: now,
            last_login: None,
        }
    }

    /// The Identity of identity.md 10.2.
    pub fn to_json(&self) -> Value {
        let mut reasons = Vec::new();
        if self.status == Status::Pending && self.pending_email {
            reasons.push("PENDING_EMAIL_VERIFICATION_REQUIRED");
        }
        if self.status == Status::Pending && self.pending_fields {
            reasons.push("PENDING_REQUIRED_FIELDS_MISSING");
        }
        if self.status == Status::Pending && self.pending_approval {
            reasons.push("PENDING_ADMIN_APPROVAL_REQUIRED");
        }
        let factors = match self.password_hash {
            Some(_) => json!([{ "factorId": self.id, "type": "PASSWORD", "status": "ACTIVE" }]),
            None => json!([]),
        };
        json!({
            "id": self.id,
            "revision": self.revision.to_string(),
            "createdDate": iso_from_millis(self.created),
            "updatedDate": iso_from_millis(self.updated),
            "connections": [],
            "identityProfile": self.profile.to_json(),
            "metadata": { "tags": [] },
            "email": { "address": self.email, "isVerified": self.email_verified },
            "status": { "name": self.status.name(), "reasons": reasons },
            "factors": factors,
        })
    }

    /// The name that others read: the nickname, else the given names.
    pub fn shown_name(&self) -> Option<String> {
        let text = |name: &str| self.profile.text(name);
        let given = || [text("firstName"), text("lastName")].into_iter().flatten().collect::<Vec<_>>().join(" ");
        text("nickname").map(str::to_owned).or_else(|| Some(given()).filter(|it| !it.is_empty()))
    }

    /// The picture that others see: the photo, else the picture of the profile.
    pub fn shown_photo(&self) -> Option<Value> {
        self.card.get("photo").cloned().or_else(|| self.profile.text("picture").map(|it| json!({ "url": it })))
    }

    /// # Errors
    /// [`Code::Validation`] when a change has made the profile too large; `field` is its JSON path.
    pub(crate) fn fits_beside(&self, before: &Profile, field: &str) -> Result<()> {
        self.profile.outgrown(before, field).map_or(Ok(()), |it| Err(Fault::invalid(vec![it])))
    }

    pub fn has_password(&self) -> bool {
        self.password_hash.is_some()
    }
}

impl Identity {
    /// A member by id, whatever the status.
    pub async fn member_get(&self, site: &Site, id: &MemberId) -> Result<Option<Member>> {
        find(site, id).await
    }

    /// A member by address. Deleted members have none.
    pub async fn member_by_email(&self, site: &Site, email: &Email) -> Result<Option<Member>> {
        find_by_email(site, email).await
    }

    /// Makes a move of the table in `status` with a member.
    ///
    /// # Errors
    /// [`Code::Forbidden`] when the caller may not make it; [`Code::NotFound`] when there is no such
    /// member; [`Code::AlreadyExists`] when the member's status does not know the move.
    pub async fn member_move(&self, site: &Site, caller: &Caller, id: &MemberId, step: Move) -> Result<Member> {
        make_move(&self.core, site, caller, id, step).await
    }

    /// Approves a member who waits for it, or lifts a block.
    ///
    /// # Errors
    /// As [`Identity::member_move`].
    pub async fn member_approve(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        make_move(&self.core, site, caller, id, Move::Approve).await
    }

    /// Blocks a member: every token and session is refused from now on.
    ///
    /// # Errors
    /// As [`Identity::member_move`].
    pub async fn member_block(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        make_move(&self.core, site, caller, id, Move::Block).await
    }

    /// Lets a blocked member sign in again; the ended sessions stay ended.
    ///
    /// # Errors
    /// As [`Identity::member_move`].
    pub async fn member_unblock(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        make_move(&self.core, site, caller, id, Move::Unblock).await
    }

    /// Deletes a member: sessions end, address, password and profile are forgotten, the id stays known.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app, an owner or the member; [`Code::NotFound`].
    pub async fn member_delete(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<()> {
        make_move(&self.core, site, caller, id, Move::Delete).await.map(drop)
    }
}

/// What [`Identity::member_get`] does.
pub(crate) async fn find(site: &Site, id: &MemberId) -> Result<Option<Member>> {
    let (site_id, id) = (site.id.clone(), id.clone());
    site.read(Lane::Point, move |tx| boxed!(get(tx, &site_id, &id).await)).await
}

/// What [`Identity::member_by_email`] does.
pub(crate) async fn find_by_email(site: &Site, email: &Email) -> Result<Option<Member>> {
    let (site_id, email) = (site.id.clone(), email.clone());
    site.read(Lane::Point, move |tx| boxed!(by_email(tx, &site_id, &email).await)).await
}

/// What [`Identity::member_move`] does.
pub(crate) async fn make_move(
    core: &Arc<Core>,
    site: &Site,
    caller: &Caller,
    id: &MemberId,
    step: Move,
) -> Result<Member> {
    step.allow(caller, id)?;
    let missing = || Fault::new(Code::NotFound);
    let mut after = find(site, id).await?.filter(is_there).ok_or_else(missing)?;
    if !step.apply(&mut after) {
        return Err(unfit());
    }
    let all = ends_sessions(&after).then(|| Which::Member(id.clone()));
    let (me, site_id, id, caller) = (core.clone(), site.id.clone(), id.clone(), caller.clone());
    let member = session::end_in(core, site, all, move |tx| {
        let (me, site, id, caller) = (me.clone(), site_id.clone(), id.clone(), caller.clone());
        boxed!({
            let member = get(tx, &site, &id).await?.filter(is_there).ok_or_else(missing)?;
            make_move_in(&me, tx, &site, &caller, member, step).await
        })
    })
    .await?;
    mail::soon(core, &site.id).await;
    Ok(member)
}

/// What a move writes, for a member as the transaction found them: the member after it, and the sessions
/// that ended.
pub(crate) async fn make_move_in(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    caller: &Caller,
    mut member: Member,
    step: Move,
) -> Result<(Member, Vec<SessionId>)> {
    let (waited, now) = (member.pending_approval, core.now());
    if !step.apply(&mut member) {
        return Err(unfit());
    }
    if member.status == Status::Deleted {
        row::forget(tx, site, &mut member).await?;
    }
    update(tx, site, &mut member, now).await?;
    write_password(tx, site, &member).await?;
    let ended = match ends_sessions(&member) {
        true => Which::Member(member.id.clone()).end(tx, site, now).await?,
        false => Vec::new(),
    };
    if waited && step == Move::Approve {
        approval::approved(core, tx, site, &member).await?;
    }
    audit::note(core, tx, site, audit::Entry::by(caller, audit::Event::Moved(step), &member.id)).await?;
    Ok((member, ended))
}

fn unfit() -> Fault {
    Fault::because(Code::AlreadyExists, "the member's status does not allow this")
}

pub(crate) fn is_there(member: &Member) -> bool {
    member.status != Status::Deleted
}

/// Whether a move to where the member is now ends sessions. Who is pending has none, but perhaps a sign-in
/// that waits for a code, and an approval doesn't take it away.
fn ends_sessions(member: &Member) -> bool {
    matches!(member.status, Status::Blocked | Status::Offline | Status::Deleted)
}
