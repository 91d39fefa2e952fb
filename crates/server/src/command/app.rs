//! `stoa app …`

use super::terminal::Terminal;
use crate::{
    cli::{App, AppKeyVerb, AppVerb, Verb},
    failure::Failure,
    print::{print, print_text},
    services::Services,
};
use serde_json::{Map, Value, json};
use std::{io::Read, path::Path};
use stoa_identity::{
    app_key::{AppKey, KeyState, SigningKey},
    client::Client,
};
use stoa_kernel::{Code, date::iso_from_millis, nearest::hint};
use stoa_store::Site;

/// Bytes that are read of a file with a key; keys are far shorter.
const LARGEST_KEY: u64 = 100_000;
/// Bytes that are read of a file with claims.
const LARGEST_CLAIMS: u64 = 4 << 20;
/// Life of a token whose claims say nothing of it, in seconds.
const TOKEN_LIFE: i64 = 300;

/// The file with a key or with claims.
pub fn file(app: &App) -> Option<&Path> {
    match &app.verb {
        AppVerb::Key(AppKeyVerb::Import { file } | AppKeyVerb::Sign { claims: file, .. }) => Some(file),
        AppVerb::Key(_) => None,
    }
}

pub async fn run(services: &Services, site: &Site, typed: &App, input: Box<dyn Read + Send>) -> Result<Value, Failure> {
    let AppVerb::Key(verb) = &typed.verb;
    let (identity, app) = (&services.identity, choose(services, site, typed.app.as_deref()).await?.id);
    match verb {
        AppKeyVerb::Rotate => Ok(with_pem(&identity.app_key_rotate(&site.id, &app).await?)),
        AppKeyVerb::Import { .. } => {
            let pem = text(input, LARGEST_KEY)?;
            Ok(with_pem(&identity.app_key_import(&site.id, &app, &pem).await?))
        }
        AppKeyVerb::Activate { key } => Ok(view(&identity.app_key_activate(&site.id, &app, key.as_deref()).await?)),
        AppKeyVerb::List => Ok(identity.app_key_list(&site.id, &app).await?.iter().map(view).collect()),
        AppKeyVerb::Show { id } => {
            let keys = identity.app_key_list(&site.id, &app).await?;
            let is_meant = |it: &&AppKey| match id {
                Some(id) => it.id == *id,
                None => it.state == KeyState::Active,
            };
            let missing = match id {
                Some(id) => format!("the application has no key {id}; see: stoa app key list"),
                None => "the application has no active key; see: stoa app key list".to_owned(),
            };
            keys.iter().find(is_meant).map(with_pem).ok_or_else(|| Failure::new(Code::NotFound, missing))
        }
        AppKeyVerb::Remove { id } => {
            identity.app_key_remove(&site.id, &app, id).await?;
            Ok(json!({ "removed": id }))
        }
        AppKeyVerb::Sign { next, .. } => {
            let claims = claims(&text(input, LARGEST_CLAIMS)?, services.world.now() / 1_000)?;
            let key = if *next { SigningKey::Next } else { SigningKey::Active };
            Ok(json!({ "token": identity.app_sign(&app, key, &claims).await? }))
        }
    }
}

/// A command that was typed. What another program takes is printed for it alone: keys as PEM, tokens as they are.
pub fn run_typed(terminal: &mut Terminal<'_>, typed: App, input: Option<Box<dyn Read + Send>>) -> Result<(), Failure> {
    let verb = Verb::App(typed);
    let mut value = terminal.run(&verb, input)?;
    if terminal.as_json {
        print(&value, true);
        return Ok(());
    }
    let mut taken = |name: &str| value.get_mut(name).map(Value::take);
    match (taken("publicKey"), taken("token")) {
        (Some(Value::String(pem)), _) => {
            if let Verb::App(App { verb: AppVerb::Key(AppKeyVerb::Rotate | AppKeyVerb::Import { .. }), .. }) = &verb {
                terminal.note("The next key. Deploy it in the application, then: stoa app key activate");
            }
            print_text(pem.trim_end());
        }
        (_, Some(Value::String(token))) => print_text(&token),
        _ => print(&value, false),
    }
    Ok(())
}

/// The application that a command is about: by its id or name, or the only one.
pub async fn choose(services: &Services, site: &Site, named: Option<&str>) -> Result<Client, Failure> {
    let mut apps = services.identity.client_list(&site.id).await?;
    apps.retain(|it| it.secret_hash.is_some());
    let is_meant = |it: &Client| named.is_none_or(|named| it.id.as_str() == named || it.name == named);
    let unknown = |named: &str| {
        let hint = hint(named, apps.iter().map(|it| it.name.as_str()));
        format!("no application is called {named}{hint}")
    };
    let mut meant: Vec<Client> = apps.iter().filter(|it| is_meant(it)).cloned().collect();
    match (meant.pop(), named) {
        (Some(app), _) if meant.is_empty() => Ok(app),
        (Some(app), _) => {
            meant.push(app);
            let line = |it: &Client| format!("\n{}  {}", it.id, it.name.replace(char::is_control, "\u{fffd}"));
            let list: String = meant.iter().map(line).collect();
            let candidates: Value = meant.iter().map(|it| json!({ "app": it.id, "name": it.name })).collect();
            let text = format!("several applications could be meant; say which with --app:{list}");
            Err(Failure::usage(text).with("candidates", candidates))
        }
        (None, Some(named)) => Err(Failure::new(Code::NotFound, unknown(named))),
        (None, None) => {
            let how = "the site has no application; make one with: stoa client create --name NAME --secret";
            Err(Failure::new(Code::NotFound, how))
        }
    }
}

fn text(input: Box<dyn Read + Send>, largest: u64) -> Result<String, Failure> {
    let text = std::io::read_to_string(input.take(largest + 1)).map_err(|it| format!("the file: {it}"))?;
    match text.len() as u64 > largest {
        true => Err(Failure::usage(format!("the file has more than {largest} bytes"))),
        false => Ok(text),
    }
}

/// The claims of a file, with the times that they lack; `now` is in seconds.
fn claims(text: &str, now: i64) -> Result<Map<String, Value>, Failure> {
    let read = serde_json::from_str::<Map<String, Value>>(text);
    let mut claims = read.map_err(|it| Failure::usage(format!("the claims are no object in JSON: {it}")))?;
    claims.entry("iat").or_insert_with(|| now.into());
    claims.entry("exp").or_insert_with(|| (now + TOKEN_LIFE).into());
    Ok(claims)
}

fn view(key: &AppKey) -> Value {
    let time = |it: Option<i64>| it.map(iso_from_millis);
    let mut view = json!({
        "key": key.id, "state": key.state.as_str(), "origin": key.origin.as_str(), "bits": key.bits(),
        "created": iso_from_millis(key.created),
    });
    for (name, time) in [("activated", time(key.activated)), ("retired", time(key.retired))] {
        if let Some(time) = time {
            view[name] = json!(time);
        }
    }
    view
}

fn with_pem(key: &AppKey) -> Value {
    let mut view = view(key);
    view["app"] = json!(key.app);
    view["publicKey"] = json!(key.public_pem());
    view
}
