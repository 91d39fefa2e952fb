//! `stoa audit`: what happened to accounts.

use crate::{
    cli::Audit,
    services::{Services, operator, sentence},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_identity::audit::AuditQuery;
use stoa_kernel::{Email, Millis, date};
use stoa_store::Site;

/// What was asked for, as it travels to a running server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditFilter {
    member: Option<String>,
    event: Option<String>,
    since: Option<Millis>,
    before: Option<Millis>,
    limit: u32,
}

impl TryFrom<Audit> for AuditFilter {
    type Error = String;

    fn try_from(typed: Audit) -> Result<Self, String> {
        let time = |it: Option<String>| {
            let read = |it: String| {
                date::parse(&it).ok_or_else(|| format!("{it} is no time: 2026-01-31 or 2026-01-31T12:00:00Z is"))
            };
            it.map(read).transpose()
        };
        let (since, before) = (time(typed.since)?, time(typed.before)?);
        Ok(Self { member: typed.member, event: typed.event, since, before, limit: typed.limit })
    }
}

/// The entries, the latest first.
pub async fn list(services: &Services, site: &Site, filter: AuditFilter) -> Result<Value, String> {
    let identity = &services.identity;
    let member = match filter.member {
        Some(named) => Some(match Email::parse(&named) {
            Some(email) => {
                let found = identity.member_by_email(site, &email).await.map_err(sentence)?;
                found.ok_or_else(|| format!("nobody has the address {named}"))?.id.as_str().to_owned()
            }
            None => named,
        }),
        None => None,
    };
    let AuditFilter { event, since, before, limit, .. } = filter;
    let query = AuditQuery { member, event, since, before, limit };
    let entries = identity.audit_list(site, &operator(), query).await.map_err(sentence)?;
    let view = |it: stoa_identity::audit::Record| {
        let mut line =
            json!({ "time": date::iso_from_millis(it.created), "event": it.event, "actorKind": it.actor_kind });
        let more =
            [("actor", Some(it.actor).filter(|it| !it.is_empty())), ("memberId", it.member), ("address", it.address)];
        for (name, value) in more {
            if let Some(value) = value {
                line[name] = json!(value);
            }
        }
        line
    };
    Ok(entries.into_iter().map(view).collect())
}
