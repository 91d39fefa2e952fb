//! Who asked for work that goes on after their request, as a row has them.

use serde_json::{Value, json};
use stoa_kernel::{Caller, ClientId, Impersonator, KeyId, MemberId, Role, Scopes, SessionId, UserId, VisitorId};
use stoa_store::Error;

pub(crate) fn print(caller: &Caller) -> String {
    let mut printed = match caller.bare() {
        Caller::User { id, role, session } => json!({ "user": id, "role": role, "session": session }),
        Caller::Member { id, session, client } => json!({ "member": id, "session": session, "client": client }),
        Caller::Visitor { id, client } => json!({ "visitor": id, "client": client }),
        Caller::App { .. } | Caller::Scoped(_) => json!({ "app": caller.id() }),
    };
    if let Some(scopes) = caller.scopes() {
        printed["scopes"] = json!(scopes.to_string());
    }
    if let Some(by) = caller.impersonator() {
        printed["impersonator"] = json!({ "user": by.owner, "session": by.session });
    }
    printed.to_string()
}

/// # Errors
/// What is none of these.
pub(crate) fn parse(text: &str) -> Result<Caller, Error> {
    let printed: Value = serde_json::from_str(text).unwrap_or_default();
    let named = |name: &str| printed[name].as_str();
    let session = || SessionId::from(named("session").unwrap_or_default());
    let client = || named("client").map(ClientId::from);
    let caller = if let Some(id) = named("app") {
        Caller::App { id: KeyId::from(id) }
    } else if let (Some(id), Ok(role)) = (named("user"), serde_json::from_value::<Role>(printed["role"].clone())) {
        Caller::User { id: UserId::from(id), role, session: session() }
    } else if let Some(id) = named("member") {
        Caller::Member { id: MemberId::from(id), session: session(), client: client() }
    } else if let Some(id) = named("visitor") {
        Caller::Visitor { id: VisitorId::from(id), client: client() }
    } else {
        return Err(Error::Other(format!("who asked for a background job: {text}")));
    };
    let scopes = named("scopes").map(Scopes::among);
    let by = &printed["impersonator"];
    Ok(match by["user"].as_str() {
        Some(owner) => {
            let by = Impersonator { owner: UserId::from(owner), session: by["session"].as_str().map(SessionId::from) };
            caller.impersonated(by, &scopes.unwrap_or_default())
        }
        None => caller.held_to(scopes.as_ref()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caller_is_read_as_it_was_written() {
        let session = SessionId::from("s");
        let callers = [
            Caller::App { id: "k".into() },
            Caller::User { id: "u".into(), role: Role::Editor, session: session.clone() },
            Caller::Member { id: "m".into(), session, client: Some("c".into()) },
            Caller::Visitor { id: "v".into(), client: None },
        ];
        for caller in callers {
            for scopes in [None, Some(Scopes::among("items:write"))] {
                let caller = caller.clone().held_to(scopes.as_ref());
                assert_eq!(parse(&print(&caller)).expect("a caller"), caller);
            }
        }
        let member = Caller::Member { id: "m".into(), session: "s".into(), client: None };
        for session in [None, Some(SessionId::from("o"))] {
            let by = Impersonator { owner: "u".into(), session };
            let impersonated = member.clone().impersonated(by, &Scopes::among("items:write"));
            assert_eq!(parse(&print(&impersonated)).expect("a caller"), impersonated);
        }
        let without_scopes = parse(r#"{"member":"m","session":"s","impersonator":{"user":"u"}}"#).expect("a caller");
        assert!(without_scopes.scopes().is_some_and(Scopes::is_empty), "no scopes leave nothing");
        // As earlier programs wrote it.
        let earlier = parse(r#"{"user":"u","role":"OWNER"}"#).expect("a caller");
        assert_eq!(earlier, Caller::User { id: "u".into(), role: Role::Owner, session: "".into() });
        assert!(parse("{}").is_err() && parse("x").is_err());
    }
}
