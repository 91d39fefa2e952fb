//! `stoa audit`: what happened to accounts.

use super::member;
use crate::{
    cli::Audit,
    failure::Failure,
    services::{Services, operator},
};
use serde_json::{Value, json};
use stoa_identity::audit::AuditQuery;
use stoa_kernel::{Millis, date};
use stoa_store::Site;

/// The entries, the latest first.
pub async fn list(services: &Services, site: &Site, wanted: &Audit) -> Result<Value, Failure> {
    let identity = &services.identity;
    let member = match &wanted.member {
        Some(named) => Some(member::id_of(services, site, named).await?.as_str().to_owned()),
        None => None,
    };
    let (since, before) = (time(wanted.since.as_deref())?, time(wanted.before.as_deref())?);
    let query = AuditQuery { member, event: wanted.event.clone(), since, before, limit: wanted.limit };
    let entries = identity.audit_list(site, &operator(), query).await?;
    let view = |it: stoa_identity::audit::Record| {
        let mut line =
            json!({ "time": date::iso_from_millis(it.created), "event": it.event, "actorKind": it.actor_kind });
        let actor = Some(it.actor).filter(|it| !it.is_empty());
        let more = [("actor", actor), ("memberId", it.member), ("address", it.address), ("detail", it.detail)];
        for (name, value) in more {
            if let Some(value) = value {
                line[name] = json!(value);
            }
        }
        line
    };
    Ok(entries.into_iter().map(view).collect())
}

fn time(text: Option<&str>) -> Result<Option<Millis>, Failure> {
    let read = |it: &str| {
        let wrong = || Failure::usage(format!("{it} is no time: 2026-01-31 or 2026-01-31T12:00:00Z is"));
        date::parse(it).ok_or_else(wrong)
    };
    text.map(read).transpose()
}
