//! Members: the accounts of a site, and what is done to one. How one signs in is in `sign_in`.

mod row;
mod sign_in;

pub(crate) use row::{get, note_login, require_active, update, write_password};
pub use sign_in::{Attempt, Registration, SignOn};

use crate::{Identity, profile::Profile, session::Which};
use serde_json::{Value, json};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Millis, Result, clock::iso_from_millis};
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};

/// An account of a site.
#[derive(Debug, Clone)]
pub struct Member {
    pub id: MemberId,
    /// As the person wrote it.
    pub email: String,
    pub email_verified: bool,
    pub status: Status,
    /// A pending member waits for the address to be verified.
    pub pending_email: bool,
    /// A pending member waits for somebody who runs the site.
    pub pending_approval: bool,
    pub(crate) password_hash: Option<String>,
    pub profile: Profile,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
    pub last_login: Option<Millis>,
}

/// StatusName of identity.md 10.4. Only ACTIVE members can sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Pending,
    Active,
    Blocked,
    Deleted,
    Offline,
}

impl Status {
    const ALL: [Self; 5] = [Self::Pending, Self::Active, Self::Blocked, Self::Deleted, Self::Offline];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Active => "ACTIVE",
            Self::Blocked => "BLOCKED",
            Self::Deleted => "DELETED",
            Self::Offline => "OFFLINE",
        }
    }
}

/// Which members a list shows: those that fit everything that is given.
#[derive(Debug, Clone, Default)]
pub struct MemberFilter {
    pub status: Option<Status>,
    pub id: Option<MemberId>,
    pub email: Option<Email>,
}

impl Member {
    /// The Identity of identity.md 10.2.
    pub fn to_json(&self) -> Value {
        let mut reasons = Vec::new();
        if self.status == Status::Pending && self.pending_email {
            reasons.push("PENDING_EMAIL_VERIFICATION_REQUIRED");
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

    pub fn has_password(&self) -> bool {
        self.password_hash.is_some()
    }
}

impl Identity {
    /// A member by id, whatever the status.
    pub async fn member_get(&self, site: &Site, id: &MemberId) -> Result<Option<Member>> {
        let (site_id, id) = (site.id.clone(), id.clone());
        site.read(Lane::Point, move |tx| boxed!(get(tx, &site_id, &id).await)).await
    }

    /// A member by address. Deleted members have none.
    pub async fn member_by_email(&self, site: &Site, email: &Email) -> Result<Option<Member>> {
        let (site_id, email) = (site.id.clone(), email.clone());
        site.read(Lane::Point, move |tx| boxed!(row::by_email(tx, &site_id, &email).await)).await
    }

    /// A page of members, newest first, and how many there are. Deleted members are not shown.
    pub async fn member_list(
        &self,
        site: &Site,
        filter: &MemberFilter,
        limit: u32,
        offset: u32,
    ) -> Result<(Vec<Member>, i64)> {
        let status = filter.status.map_or("", Status::name);
        let id = filter.id.as_ref().map_or("", |it| it.as_str()).to_owned();
        let email = filter.email.as_ref().map_or("", |it| it.folded()).to_owned();
        if id.contains('\0') {
            return Ok((Vec::new(), 0));
        }
        let site_id = site.id.clone();
        site.read(Lane::Scan, move |tx| {
            boxed!({
                let condition = "where site = $1 and status <> 'DELETED' and ($2 = '' or status = $2) \
                                 and ($3 = '' or id = $3) and ($4 = '' or email_folded = $4)";
                let sql = format!("select count(*) from stoa.member {condition}");
                let total = tx.row(&sql, &params![&site_id, status, &id, &email], |row| row.get(0)).await?;
                let sql = format!("{} {condition} order by created desc, id desc limit $5 offset $6", row::SELECT);
                let values = params![&site_id, status, id, email, limit, offset];
                let members = tx.rows(&sql, &values, row::from_row).await?;
                Ok((members, total.unwrap_or(0)))
            })
        })
        .await
    }

    /// Approves a member who waits for it.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner; [`Code::NotFound`].
    pub async fn member_approve(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        allow(caller)?;
        self.member_change(site, id, |member| {
            member.pending_approval = false;
            if member.status == Status::Pending && !member.pending_email {
                member.status = Status::Active;
            }
        })
        .await
    }

    /// Blocks a member: every token and session is refused from now on.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner; [`Code::NotFound`].
    pub async fn member_block(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        allow(caller)?;
        self.member_change(site, id, |it| it.status = Status::Blocked).await
    }

    /// Lets a blocked member sign in again; the ended sessions stay ended.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner; [`Code::NotFound`].
    pub async fn member_unblock(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        allow(caller)?;
        self.member_change(site, id, |member| {
            if member.status == Status::Blocked {
                let is_pending = member.pending_email || member.pending_approval;
                member.status = if is_pending { Status::Pending } else { Status::Active };
            }
        })
        .await
    }

    /// Deletes a member: sessions end, address, password and profile are forgotten, the id stays known.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app, an owner or the member; [`Code::NotFound`].
    pub async fn member_delete(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<()> {
        if !matches!(caller, Caller::Member { id: it, .. } if it == id) {
            allow(caller)?;
        }
        self.member_change(site, id, |member| {
            member.status = Status::Deleted;
            member.email = String::new();
            member.email_verified = false;
            member.password_hash = None;
            member.profile = Profile::default();
        })
        .await?;
        Ok(())
    }

    /// Changes an account; when it can't sign in afterwards its sessions end first.
    async fn member_change(&self, site: &Site, id: &MemberId, change: fn(&mut Member)) -> Result<Member> {
        let missing = || Fault::new(Code::NotFound);
        let mut after = self.member_get(site, id).await?.filter(is_there).ok_or_else(missing)?;
        change(&mut after);
        if after.status != Status::Active {
            self.sessions_end(site, Which::Member(id.clone())).await?;
        }
        let (site_id, id, now) = (site.id.clone(), id.clone(), self.now());
        let (member, ended) = site
            .write(move |tx| {
                let (site, id) = (site_id.clone(), id.clone());
                boxed!({
                    let mut member = get(tx, &site, &id).await?.filter(is_there).ok_or_else(missing)?;
                    change(&mut member);
                    update(tx, &site, &mut member, now).await?;
                    write_password(tx, &site, &member).await?;
                    let ended = match member.status {
                        Status::Active => Vec::new(),
                        _ => Which::Member(id).end(tx, site.as_str(), now).await?,
                    };
                    Ok((member, ended))
                })
            })
            .await?;
        self.revoke(&ended).await?;
        Ok(member)
    }
}

/// Accounts are for apps and owners to decide about.
fn allow(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

fn is_there(member: &Member) -> bool {
    member.status != Status::Deleted
}
