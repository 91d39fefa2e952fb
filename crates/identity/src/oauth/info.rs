//! What a token says about itself and its member: token-info and user-info (docs/protocol/identity.md §4.7, §4.8).

use crate::{
    Core, Identity, member,
    token::{self, authenticate},
};
use serde_json::{Value, json};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::Site;

impl Identity {
    /// Describes a token; one that isn't good (any more) is `{"active": false}`. Times are seconds as text.
    ///
    /// # Errors
    /// Only what the database answers.
    pub async fn token_info(&self, token: &str) -> Result<Value> {
        describe(&self.core, token).await
    }

    /// The claims of the calling member, as OpenID names them but in camel case.
    ///
    /// # Errors
    /// [`Code::Forbidden`] when the caller isn't a member.
    pub async fn user_info(&self, site: &Site, caller: &Caller) -> Result<Value> {
        let Caller::Member { id, .. } = caller else {
            return Err(Fault::new(Code::Forbidden));
        };
        let member = member::find(site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
        let short = |name: &str| member.profile.text(name).map(|it| it.chars().take(20).collect::<String>());
        let (given, family) = (short("firstName"), short("lastName"));
        let parts: Vec<&str> = ["firstName", "lastName"].iter().filter_map(|it| member.profile.text(it)).collect();
        let full = Some(parts.join(" ")).filter(|it| !it.is_empty());
        let name = full.or_else(|| member.profile.text("nickname").map(str::to_owned));
        let all = json!({
            "sub": id,
            "givenName": given,
            "familyName": family,
            "name": name,
            "email": member.email,
            "emailVerified": member.email_verified,
            "picture": member.profile.picture(),
            "language": member.profile.text("language"),
        });
        Ok(match all {
            Value::Object(all) => Value::Object(all.into_iter().filter(|(_, it)| !it.is_null()).collect()),
            other => other,
        })
    }

    /// The public keys that check access tokens (RFC 7517).
    pub fn jwks(&self) -> Value {
        self.core.keys.jwks()
    }
}

/// What [`Identity::token_info`] does.
pub(crate) async fn describe(core: &Core, token: &str) -> Result<Value> {
    let authenticated = match authenticate::check(core, token).await {
        Ok(authenticated) => authenticated,
        Err(fault) if fault.code() == Code::Unauthenticated => return Ok(json!({ "active": false })),
        Err(fault) => return Err(fault),
    };
    let caller = &authenticated.caller;
    let kind = match caller.bare() {
        Caller::Visitor { .. } => "VISITOR",
        Caller::Member { .. } => "MEMBER",
        Caller::User { .. } => "USER",
        Caller::App { .. } | Caller::Scoped(_) => "APP",
    };
    let mut info = json!({
        "active": true,
        "subjectType": kind,
        "subjectId": caller.id(),
        "siteId": authenticated.site,
        "instanceId": authenticated.site,
    });
    if let Some(scopes) = caller.scopes() {
        info["scope"] = json!(scopes.to_string());
    }
    if let Some(by) = caller.impersonator() {
        info["act"] = json!({ "sub": by.owner });
    }
    if let Some(client) = &authenticated.client {
        info["clientId"] = json!(client);
    }
    if let Some(claims) = token::read_access(core, token) {
        info["exp"] = json!(claims.expires.to_string());
        info["iat"] = json!(claims.issued.to_string());
    }
    Ok(info)
}
