//! Who did what the log tells of.

use crate::{
    caller::Caller,
    ids::{MemberId, UserId},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Who did it, as a row of the log has it (`{"type":"MEMBER","id":"…"}`): one of the identity types of
/// docs/protocol/identity.md §10.4, "Webhook identity".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventActor {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
    /// The owner of the site who acted as this member, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impersonator: Option<String>,
}

impl EventActor {
    /// The caller of a request.
    pub fn of(caller: &Caller) -> Self {
        let impersonator = caller.impersonator().map(|it| it.owner.to_string());
        Self { impersonator, ..Self::new(caller.identity_type(), caller.id()) }
    }

    /// A member, also one who made no request.
    pub fn member(id: &MemberId) -> Self {
        Self::new("MEMBER", id.as_str())
    }

    /// An operator of the site.
    pub fn operator(id: &UserId) -> Self {
        Self::new("WIX_USER", id.as_str())
    }

    /// The server by itself.
    pub fn server() -> Self {
        Self::new("UNKNOWN", "")
    }

    fn new(kind: &str, id: &str) -> Self {
        Self { kind: kind.to_owned(), id: id.to_owned(), impersonator: None }
    }

    /// As events tell it: `identityType`, and the id under the name that goes with it.
    pub fn to_json(&self) -> Value {
        let name = match self.kind.as_str() {
            "MEMBER" => "memberId",
            "ANONYMOUS_VISITOR" => "anonymousVisitorId",
            "WIX_USER" => "wixUserId",
            "APP" => "appId",
            _ => return json!({ "identityType": "UNKNOWN" }),
        };
        json!({ "identityType": self.kind, name: self.id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::KeyId;

    #[test]
    fn actors_are_told_under_the_names_of_their_types() {
        assert_eq!(
            EventActor::member(&MemberId::from("m")).to_json(),
            json!({ "identityType": "MEMBER", "memberId": "m" })
        );
        let app = Caller::App { id: KeyId::from("k") };
        let actor = EventActor::of(&app);
        assert_eq!(actor.to_json(), json!({ "identityType": "APP", "appId": "k" }));
        assert_eq!(serde_json::to_value(&actor).expect("JSON"), json!({ "type": "APP", "id": "k" }));
        let held = app.held_to(Some(&crate::Scopes::among("items:read")));
        assert_eq!(EventActor::of(&held), actor, "whatever scopes leave");
        let member = Caller::Member { id: "m".into(), session: "s".into(), client: None };
        let by = crate::Impersonator { owner: "u".into(), session: None };
        let shown = EventActor::of(&member.impersonated(by, &crate::Scopes::among("items:write")));
        let stored = json!({ "type": "MEMBER", "id": "m", "impersonator": "u" });
        assert_eq!(serde_json::to_value(&shown).expect("JSON"), stored);
        assert_eq!(serde_json::from_value::<EventActor>(stored).expect("an actor"), shown);
        assert_eq!(shown.to_json(), EventActor::member(&"m".into()).to_json(), "others are told who it is for");
        assert_eq!(EventActor::server().to_json(), json!({ "identityType": "UNKNOWN" }));
    }
}
