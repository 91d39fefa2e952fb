//! Members as the members API shows them (docs/protocol/identity.md §17).

use crate::member::{Member, Status};
use serde_json::{Value, json};
use stoa_kernel::date::iso_from_millis;

impl Member {
    /// The status by its name in the members API, which has none for a deletion that waits: such a member is OFFLINE, as others are
    /// who can't sign in, or what those who run the site have made of them meanwhile. [`MemberField::Status`] is this.
    ///
    /// [`MemberField::Status`]: crate::member::MemberField::Status
    pub fn shown_status(&self) -> &'static str {
        match (self.status, self.deletion.map(|it| it.kept_as)) {
            (Status::Active, _) => "APPROVED",
            (Status::Deleted, Some(Status::Blocked)) => Status::Blocked.name(),
            (Status::Deleted, Some(_)) => Status::Offline.name(),
            (Status::Deleted, None) => "UNKNOWN",
            (other, _) => other.name(),
        }
    }

    /// The member without contact: what others see, or with `is_extended` also what the member and operators of the
    /// site do.
    pub fn shown(&self, is_extended: bool) -> Value {
        let mut view = json!({
            "id": self.id,
            "contactId": self.id,
            "profile": {
                "nickname": self.shown_name(),
                "slug": self.profile.text("slug"),
                "photo": self.shown_photo(),
                "cover": self.shown_cover(),
                "title": self.card.get("title"),
            },
            "privacyStatus": if self.is_public { "PUBLIC" } else { "PRIVATE" },
            "status": if is_extended { self.shown_status() } else { "UNKNOWN" },
            "activityStatus": match (is_extended, self.muted) {
                (false, _) => "UNKNOWN",
                (true, false) => "ACTIVE",
                (true, true) => "MUTED",
            },
        });
        if is_extended {
            view["loginEmail"] = json!(self.email);
            view["loginEmailVerified"] = json!(self.email_verified);
            view["createdDate"] = json!(iso_from_millis(self.created));
            view["updatedDate"] = json!(iso_from_millis(self.updated));
            view["lastLoginDate"] = json!(self.last_login.map(iso_from_millis));
        }
        without_nulls(view)
    }
}

/// A value without the members of objects that are null, at any depth but inside lists.
pub fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, it)| !it.is_null());
            Value::Object(kept.map(|(name, it)| (name, without_nulls(it))).collect())
        }
        other => other,
    }
}
