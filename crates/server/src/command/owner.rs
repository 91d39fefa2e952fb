//! `stoa owner …`

use crate::{
    cli::{OwnerVerb, RoleName},
    failure::Failure,
    services::{INVITATION, Services, operator},
};
use serde_json::{Value, json};
use stoa_identity::operator::manage::{Invited, OperatorEntry};
use stoa_kernel::{Code, Email, Role, date::iso_from_millis};
use stoa_store::Site;

pub async fn run(services: &Services, site: &Site, verb: &OwnerVerb) -> Result<Value, Failure> {
    let identity = &services.identity;
    match verb {
        OwnerVerb::List => {
            let people = identity.operator_list(&site.id).await?;
            let invited = identity.invite_list(&site.id).await?;
            Ok(people.iter().map(person).chain(invited.iter().map(invitation)).collect())
        }
        OwnerVerb::Invite { email, role } => {
            let email = parse(email)?;
            let (url, role) = (services.url(), role_of(*role));
            let link = identity.invite_create(&site.id, Some(&email), role, INVITATION, &url).await?;
            Ok(json!({ "setupUrl": link }))
        }
        OwnerVerb::Role { email, role } => {
            identity.operator_role_set(&site.id, &parse(email)?, role_of(*role)).await?;
            Ok(json!({ "email": email, "role": name_of(role_of(*role)) }))
        }
        OwnerVerb::Remove { email } => {
            identity.operator_remove(&site.id, &parse(email)?).await?;
            Ok(json!({ "removed": email }))
        }
        OwnerVerb::SignOut { email } => {
            let ended = identity.operator_sessions_end(&site.id, &parse(email)?).await?;
            Ok(json!({ "email": email, "sessionsEnded": ended }))
        }
        OwnerVerb::ResetFactors { email } => {
            let removed = identity.operator_factors_reset(&site.id, &operator(), &parse(email)?).await?;
            Ok(json!({ "email": email, "removed": removed }))
        }
        OwnerVerb::ResetPassword { email } => {
            let (email, url) = (parse(email)?, services.url());
            let role = identity.operator_password_forget(&site.id, &email).await?;
            let link = identity.invite_create(&site.id, Some(&email), role, INVITATION, &url).await?;
            Ok(json!({ "email": email.as_str(), "setupUrl": link }))
        }
    }
}

fn parse(email: &str) -> Result<Email, Failure> {
    Email::parse(email).ok_or_else(|| Failure::new(Code::EmailInvalid, format!("{email} is not an email address")))
}

fn role_of(role: RoleName) -> Role {
    match role {
        RoleName::Owner => Role::Owner,
        RoleName::Editor => Role::Editor,
    }
}

fn name_of(role: Role) -> &'static str {
    match role {
        Role::Owner => "owner",
        Role::Editor => "editor",
    }
}

fn person(entry: &OperatorEntry) -> Value {
    let state = if entry.has_password { "active" } else { "no password" };
    json!({ "email": entry.email, "role": name_of(entry.role), "state": state, "sessions": entry.sessions })
}

fn invitation(invited: &Invited) -> Value {
    let email = invited.email.as_deref().unwrap_or("first to open the link");
    let until = iso_from_millis(invited.expires);
    json!({ "email": email, "role": name_of(invited.role), "state": "invited", "until": until })
}
