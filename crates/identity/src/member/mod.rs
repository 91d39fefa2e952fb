//! Members: the accounts of a site as they are stored and listed. How one signs in is in `sign_in`; how members are
//! made, changed and moved between statuses in `manage`.

pub(crate) mod access;
pub(crate) mod contact;
pub(crate) mod filter;
pub(crate) mod list;
pub mod profile;
pub(crate) mod row;
mod shown;
pub(crate) mod status;
pub(crate) mod validator;

pub use filter::{Comparison, Filter, Operand};
pub use list::{Audience, MemberField, MemberFilter, MemberPage, MemberQuery, MemberSort, Paging};
pub(crate) use row::{
    by_email, find, find_by_email, find_some, get, is_reserved, record_login, require_active, update,
    write_connections, write_password,
};
pub use shown::without_nulls;
pub use status::Move;
pub use validator::slug_fits;

use crate::address::is_web;
use profile::Profile;
use serde_json::{Map, Value, json};
use stoa_kernel::{Fault, MemberId, Millis, Result, date::iso_from_millis};

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
    /// A pending member has not yet given what the site requires.
    pub pending_fields: bool,
    /// A pending member waits for an answer of operators of the site.
    pub pending_approval: bool,
    pub(crate) password_hash: Option<String>,
    /// The password is not good for signing in any more: a new one must be set by a recovery link.
    pub must_reset: bool,
    /// The address, folded, for which an app has vouched though no one had proven it.
    pub(crate) vouched_email: Option<String>,
    pub profile: Profile,
    /// Photo, cover and title as the members API shows them.
    pub card: Map<String, Value>,
    /// Silenced by operators of the site.
    pub muted: bool,
    /// Whether others see the profile.
    pub is_public: bool,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
    pub last_login: Option<Millis>,
    /// A deletion that waits, so that it can be undone; the status is DELETED meanwhile.
    pub deletion: Option<Deletion>,
    /// By what the member is known to identity providers: the id of a connection of the site, and the subject there.
    pub connections: Vec<(String, String)>,
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
            vouched_email: None,
            profile,
            card: Map::new(),
            muted: false,
            is_public: false,
            revision: 1,
            created: now,
            updated: now,
            last_login: None,
            deletion: None,
            connections: Vec::new(),
        }
    }

    /// The Identity of docs/protocol/identity.md §10.2.
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
        let connection = |(id, subject): &(String, String)| json!({ "idpConnection": { "idpConnectionId": id, "idpUserId": subject } });
        let connections: Vec<Value> = self.connections.iter().map(connection).collect();
        json!({
            "id": self.id,
            "revision": self.revision.to_string(),
            "createdDate": iso_from_millis(self.created),
            "updatedDate": iso_from_millis(self.updated),
            "connections": connections,
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
        self.shown_image("photo").or_else(|| self.profile.picture().map(|it| json!({ "url": it })))
    }

    pub fn shown_cover(&self) -> Option<Value> {
        self.shown_image("cover")
    }

    /// An image of the card. The rule is that of [`Profile::picture`].
    fn shown_image(&self, name: &str) -> Option<Value> {
        let mut image = self.card.get(name)?.clone();
        if let Some(parts) = image.as_object_mut()
            && parts.get("url").and_then(Value::as_str).is_some_and(|it| !it.is_empty() && !is_web(it))
        {
            parts.remove("url");
        }
        Some(image)
    }

    /// # Errors
    /// [`stoa_kernel::Code::Validation`] when a change has made the profile too large; `field` is its JSON path.
    pub(crate) fn fits_beside(&self, before: &Profile, field: &str) -> Result<()> {
        self.profile.outgrown(before, field).map_or(Ok(()), |it| Err(Fault::invalid(vec![it])))
    }

    pub fn has_password(&self) -> bool {
        self.password_hash.is_some()
    }

    /// Whether the account was not deleted; one whose deletion waits is still there.
    pub fn is_there(&self) -> bool {
        self.status != Status::Deleted || self.deletion.is_some()
    }

    /// Whether a member who is not shown wants to be.
    pub(crate) fn asks_to_be_public(&self) -> bool {
        !self.is_public && self.profile.text("privacyStatus") == Some("PUBLIC")
    }
}

/// A member's wish to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deletion {
    /// When the account goes.
    pub due: Millis,
    /// The status of a member who is kept: ACTIVE, or what operators of the site have made of it meanwhile.
    pub kept_as: Status,
}

/// StatusName of docs/protocol/identity.md §10.4. Only ACTIVE members can sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Pending,
    Active,
    Blocked,
    Deleted,
    Offline,
}

impl Status {
    pub(crate) const ALL: [Self; 5] = [Self::Pending, Self::Active, Self::Blocked, Self::Deleted, Self::Offline];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Active => "ACTIVE",
            Self::Blocked => "BLOCKED",
            Self::Deleted => "DELETED",
            Self::Offline => "OFFLINE",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
