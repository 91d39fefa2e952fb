//! `stoa webhook …`

use super::{app, terminal::Terminal};
use crate::{
    cli::{EndpointUpdate, NewEndpoint, PullOrder, ReplayChoice, Verb, Webhook, WebhookVerb},
    failure::Failure,
    print::print,
    services::{Services, operator},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use stoa_kernel::{EndpointId, EntryKind, EventType, nearest::hint};
use stoa_store::Site;
use stoa_webhooks::{EndpointChange, EndpointWish, EventQuery, Pull, Replay, Resumption};

pub async fn run(services: &Services, site: &Arc<Site>, verb: &WebhookVerb) -> Result<Value, Failure> {
    let (webhooks, caller) = (&services.webhooks, &operator());
    match verb {
        WebhookVerb::Create(new) => {
            let app = app::choose(services, site, new.app.as_deref()).await?.id;
            let wish = EndpointWish::parse(&wish(new, app.as_str())?)?;
            let (made, secret) = webhooks.endpoint_create(site, caller, wish).await?;
            let status = webhooks.endpoint_get(site, caller, &made.id).await?;
            Ok(json!({ "endpoint": status.to_json(), "secret": secret.expose() }))
        }
        WebhookVerb::List => {
            let endpoints = webhooks.endpoint_list(site, caller).await?;
            Ok(endpoints.iter().map(|it| it.to_json()).collect())
        }
        WebhookVerb::Show { id } => Ok(webhooks.endpoint_get(site, caller, &endpoint(id)).await?.to_json()),
        WebhookVerb::Update(update) => {
            let change = EndpointChange::parse(&change(update)?)?;
            Ok(webhooks.endpoint_update(site, caller, &endpoint(&update.id), change).await?.to_json())
        }
        WebhookVerb::Delete { id } => {
            webhooks.endpoint_delete(site, caller, &endpoint(id)).await?;
            Ok(json!({ "deleted": id }))
        }
        WebhookVerb::Pause { id } => Ok(webhooks.endpoint_pause(site, caller, &endpoint(id)).await?.to_json()),
        WebhookVerb::Resume { id, from_now } => {
            let resumption = Resumption { from_now: *from_now };
            Ok(webhooks.endpoint_resume(site, caller, &endpoint(id), resumption).await?.to_json())
        }
        WebhookVerb::Replay(it) => {
            let replay = Replay::parse(&replay(it)?)?;
            Ok(webhooks.replay(site, caller, &endpoint(&it.id), replay).await?.to_json())
        }
        WebhookVerb::Test { id } => Ok(webhooks.test(site, caller, &endpoint(id)).await?.to_json()),
        WebhookVerb::Events { id, state, limit, after } => {
            let query = EventQuery { state: (*state).into(), limit: *limit as usize, after: after.clone() };
            Ok(webhooks.event_list(site, caller, &endpoint(id), query).await?.to_json())
        }
        WebhookVerb::Types => {
            let view = |it: EventType| json!({ "type": it.name, "entity": it.fqdn, "slug": it.slug });
            Ok(webhooks.event_types(caller)?.into_iter().map(view).collect())
        }
        WebhookVerb::RotateSecret { id } => {
            let secret = webhooks.endpoint_secret_rotate(site, caller, &endpoint(id)).await?;
            Ok(json!({ "secret": secret.expose() }))
        }
        WebhookVerb::Pull(order) => pull(services, site, order).await,
        WebhookVerb::Listen(_) => Err("this command runs by itself".into()),
    }
}

/// A command that was typed, with what a person does next.
pub fn run_typed(terminal: &mut Terminal<'_>, typed: Webhook) -> Result<(), Failure> {
    let verb = Verb::Webhook(typed);
    let value = terminal.run(&verb, None)?;
    if terminal.as_json {
        print(&value, true);
        return Ok(());
    }
    let Verb::Webhook(Webhook { verb, .. }) = &verb else { return Ok(()) };
    match verb {
        WebhookVerb::Create(_) => {
            let mut shown = value["endpoint"].clone();
            shown["secret"] = value["secret"].clone();
            print(&shown, false);
            after_creation(terminal, &value["endpoint"]);
        }
        WebhookVerb::RotateSecret { .. } => {
            print(&value, false);
            terminal.note(
                "The secret is shown this once. The one before it signs as well, until the receiver has changed.",
            );
        }
        WebhookVerb::Events { id, .. } => {
            print(&value["events"], false);
            if let Some(next) = value["next"].as_str() {
                terminal.note(&format!("There are more: stoa webhook events {id} --after {next}"));
            }
        }
        _ => print(&value, false),
    }
    Ok(())
}

/// What follows the making of an endpoint.
fn after_creation(terminal: &Terminal<'_>, endpoint: &Value) {
    let id = endpoint["id"].as_str().unwrap_or_default();
    terminal.note("\nThe secret is shown this once: by it the receiver checks the header webhook-signature.");
    if endpoint["format"] == "jwt" && !endpoint["reason"].is_null() {
        terminal.note(
            "The application has no active key yet, so nothing is sent. The next steps:\n  \
             stoa app key rotate > key.pem     # deploy key.pem in the application\n  stoa app key activate",
        );
    }
    terminal.note(&format!("To see what the receiver answers: stoa webhook test {id}"));
}

async fn pull(services: &Services, site: &Arc<Site>, order: &PullOrder) -> Result<Value, Failure> {
    let mut body = order.body.clone();
    body["appId"] = json!(app::choose(services, site, order.app.as_deref()).await?.id);
    Ok(services.webhooks.pull(site, &operator(), Pull::parse(&body)?).await?.to_json())
}

fn endpoint(id: &str) -> EndpointId {
    EndpointId::from(id)
}

/// The body of the call that makes an endpoint.
fn wish(new: &NewEndpoint, app: &str) -> Result<Value, Failure> {
    let mut body = json!({
        "appId": app, "url": new.url, "types": types_meant(&new.types)?, "format": new.format.name(),
    });
    if !new.collections.is_empty() {
        body["collections"] = json!(new.collections);
    }
    put_numbers(&mut body, new.max_bytes, new.timeout_ms);
    Ok(body)
}

/// The body of the call that changes one.
fn change(update: &EndpointUpdate) -> Result<Value, Failure> {
    let mut body = json!({});
    if let Some(url) = &update.url {
        body["url"] = json!(url);
    }
    if !update.types.is_empty() {
        body["types"] = json!(types_meant(&update.types)?);
    }
    if !update.collections.is_empty() {
        body["collections"] = json!(update.collections);
    }
    if update.all_collections {
        body["collections"] = Value::Null;
    }
    put_numbers(&mut body, update.max_bytes, update.timeout_ms);
    match body.as_object().is_some_and(Map::is_empty) {
        true => Err(Failure::usage("nothing is changed; --help shows what can be")),
        false => Ok(body),
    }
}

fn put_numbers(body: &mut Value, max_bytes: Option<u64>, timeout_ms: Option<u64>) {
    for (name, value) in [("maxBytes", max_bytes), ("timeoutMs", timeout_ms)] {
        if let Some(value) = value {
            body[name] = json!(value);
        }
    }
}

/// The body of the call that sends again.
fn replay(typed: &ReplayChoice) -> Result<Value, Failure> {
    if typed.dead {
        return Ok(json!({ "dead": true }));
    }
    if let Some(event) = &typed.event {
        return Ok(json!({ "event": event }));
    }
    let mut body = json!({ "since": typed.since });
    if !typed.types.is_empty() {
        body["types"] = json!(types_meant(&typed.types)?);
    }
    if let Some(entity) = &typed.entity {
        body["entityId"] = json!(entity);
    }
    Ok(body)
}

/// Types of event as people write them: their whole names, or the part after the last dot.
///
/// # Errors
/// The one that is none, with the nearest.
pub fn types_meant(typed: &[String]) -> Result<Vec<String>, Failure> {
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    let meant = |typed: &String| {
        let found = known().find(|it| it == typed).or_else(|| known().find(|it| last(it) == typed));
        found.map(str::to_owned).ok_or_else(|| {
            let hint = hint(typed, known().flat_map(|it| [it, last(it)]));
            Failure::usage(format!("no type of event is called {typed}{hint}; see: stoa webhook types"))
        })
    };
    typed.iter().map(meant).collect()
}

/// The names of all types of event, some more than once.
fn known() -> impl Iterator<Item = &'static str> {
    EntryKind::types_sent().map(|it| it.name)
}

/// The names of all types of event.
pub fn types_known() -> Vec<&'static str> {
    let mut names: Vec<&str> = known().collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_whole_or_by_their_last_part() {
        let meant = |typed: &[&str]| types_meant(&typed.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        let item = "wix.data.v2.data_item_created";
        assert_eq!(meant(&["data_item_created", item, "AppInstalled"]).unwrap(), [item, item, "AppInstalled"]);
        let refused = meant(&["data_item_create"]).unwrap_err().message;
        assert!(refused.contains("did you mean data_item_created?"), "{refused}");
    }
}
