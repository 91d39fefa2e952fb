//! `stoa webhook listen`: takes signed messages from a server and posts them to a receiver on this machine.

use super::terminal::Terminal;
use crate::{
    cli::{Listen, MessageFormat, PullOrder, SiteChoice, Verb, Webhook, WebhookVerb},
    failure::Failure,
    forward::{Posted, Receiver},
    print::print_text,
    remote::Server,
    socket,
};
use serde_json::{Map, Value, json};
use std::{collections::HashSet, thread::sleep, time::Duration};
use stoa_kernel::{Millis, World, clock::elapsing, date::iso_from_millis};
use stoa_webhooks::EndpointSecret;

/// Messages of one look.
const MESSAGES: usize = 50;
/// How long the server waits for news before it answers that there are none.
const WAIT_MS: u64 = 20_000;
/// Between two attempts at what isn't there: the server, or the receiver.
const PAUSE: Duration = Duration::from_secs(1);
/// A message that waited so long for its receiver is asked for again: its signature is good for five minutes.
const FRESH: Millis = 200_000;

/// Goes on until the process is ended.
pub fn listen(terminal: &mut Terminal<'_>, site: SiteChoice, mut typed: Listen) -> Result<(), Failure> {
    let receiver = Receiver::new(&typed.forward)?;
    let source = Source::of(&mut typed)?;
    let types = match super::webhook::types_meant(&typed.types)? {
        all if all.is_empty() => super::webhook::types_known().into_iter().map(str::to_owned).collect(),
        types => types,
    };
    let (secret, is_new) = secret(typed.secret.take().as_deref())?;
    let mut listener =
        Listener { terminal, site, typed, types, source, receiver, secret, after: None, done: HashSet::new() };
    listener.begin(is_new)?;
    loop {
        match listener.pull() {
            Ok(pulled) => listener.pass_on(&pulled)?,
            Err(failure) => listener.wait_for_server(&failure)?,
        }
    }
}

/// The secret that signs, and whether it is new.
fn secret(given: Option<&str>) -> Result<(EndpointSecret, bool), Failure> {
    let Some(given) = given else { return Ok((EndpointSecret::make(&World::real()), true)) };
    let secret = EndpointSecret::parse(given);
    let refused = || Failure::usage("--secret: whsec_ and bytes in base64 are expected");
    Ok((secret.ok_or_else(refused)?, false))
}

/// Where messages are from.
enum Source {
    /// The server that holds the data directory.
    Here,
    Elsewhere(Server),
}

impl Source {
    fn of(typed: &mut Listen) -> Result<Self, Failure> {
        match (typed.url.take(), typed.api_key.take()) {
            (Some(_), _) if typed.app.is_none() => {
                Err(Failure::usage("--url needs --app, the id of the application for which events are read"))
            }
            (Some(url), Some(key)) => Ok(Self::Elsewhere(Server::at(&url, &key))),
            (Some(_), None) => Err(Failure::usage("--url needs --api-key")),
            // The variable may be set for other commands.
            (None, _) => Ok(Self::Here),
        }
    }
}

struct Listener<'t, 'c> {
    terminal: &'t mut Terminal<'c>,
    site: SiteChoice,
    typed: Listen,
    types: Vec<String>,
    source: Source,
    receiver: Receiver,
    /// There is no endpoint whose secret could sign.
    secret: EndpointSecret,
    /// Up to where all is passed on.
    after: Option<String>,
    /// Events after that place which were passed on already.
    done: HashSet<String>,
}

impl Listener<'_, '_> {
    /// Takes the place from where on it listens: what happens from now on.
    fn begin(&mut self, is_new_secret: bool) -> Result<(), Failure> {
        if matches!(self.source, Source::Here) && socket::connect(&self.terminal.config.data).is_none() {
            let data = self.terminal.config.data.display();
            let text = format!(
                "no server runs on {data}; start one with: stoa serve, or name one elsewhere with --url and --api-key"
            );
            return Err(text.into());
        }
        self.after = self.pull_for(0)?["token"].as_str().map(str::to_owned);
        let text = format!("Posting what happens from now on to {}. Ctrl-C ends it.", self.receiver.url());
        if is_new_secret && self.typed.format == MessageFormat::Standard {
            self.terminal
                .note(&format!("The secret of this run, or name your own with --secret: {}", self.secret.expose()));
        }
        self.terminal.note(&text);
        Ok(())
    }

    fn pull(&mut self) -> Result<Value, Failure> {
        self.pull_for(WAIT_MS)
    }

    fn pull_for(&mut self, wait: u64) -> Result<Value, Failure> {
        let mut body = json!({
            "types": self.types, "format": self.typed.format.name(), "limit": MESSAGES, "waitMs": wait,
            "after": self.after,
        });
        if !self.typed.collections.is_empty() {
            body["collections"] = json!(self.typed.collections);
        }
        match &self.source {
            Source::Here => {
                let verb = WebhookVerb::Pull(PullOrder { app: self.typed.app.clone(), body });
                let site = SiteChoice { site: self.site.site.clone() };
                self.terminal.run_in_server(&Verb::Webhook(Webhook { site, verb }))
            }
            Source::Elsewhere(server) => {
                if let Some(app) = &self.typed.app {
                    body["appId"] = json!(app);
                }
                server.post("/_api/webhooks/v1/pull", &body)
            }
        }
    }

    /// Posts what was pulled, one after another, and remembers how far that is.
    fn pass_on(&mut self, pulled: &Value) -> Result<(), Failure> {
        if !pulled["gap"].is_null() {
            self.terminal
                .note("The log no longer has all that happened since the last message; some events are left out.");
        }
        let since = elapsing();
        for message in pulled["messages"].as_array().into_iter().flatten() {
            let id = message["id"].as_str().unwrap_or_default();
            if self.done.contains(id) {
                continue;
            }
            // Those before it may have taken long; what is left is asked for again, signed anew.
            if elapsing() - since > FRESH || !self.post(message, since) {
                return Ok(());
            }
            self.done.insert(id.to_owned());
        }
        self.after = pulled["token"].as_str().map(str::to_owned).or(self.after.take());
        self.done.clear();
        Ok(())
    }

    /// Posts a message, as soon as something listens there. Whether it was, before its signature grew too old.
    fn post(&self, message: &Value, since: Millis) -> bool {
        let body = message["body"].as_str().unwrap_or_default();
        let headers = self.signed(message, body);
        let mut is_told = false;
        loop {
            match self.receiver.post(&headers, body) {
                Posted::NobodyListens if elapsing() - since > FRESH => return false,
                Posted::NobodyListens => {
                    if !is_told {
                        let text = format!("Nothing listens at {}; trying again each second", self.receiver.url());
                        self.terminal.note(&text);
                    }
                    is_told = true;
                    sleep(PAUSE);
                }
                Posted::Answered { status, ms, excerpt } => {
                    self.show(message, &json!({ "status": status, "ms": ms }), &excerpt);
                    return true;
                }
                Posted::Failed { why, ms } => {
                    self.show(message, &json!({ "error": why, "ms": ms }), "");
                    return true;
                }
            }
        }
    }

    /// The headers of a message, with a signature.
    fn signed(&self, message: &Value, body: &str) -> Map<String, Value> {
        let mut headers = message["headers"].as_object().cloned().unwrap_or_default();
        let text = |name: &str| headers.get(name).and_then(Value::as_str).unwrap_or_default();
        if let Ok(signature) = self.secret.signature(text("webhook-id"), text("webhook-timestamp"), body) {
            headers.insert("webhook-signature".to_owned(), signature.into());
        }
        headers
    }

    /// Prints the line of a message.
    fn show(&self, message: &Value, outcome: &Value, excerpt: &str) {
        let time = iso_from_millis(World::real().now());
        let (kind, entity) = (&message["type"], &message["entityId"]);
        if self.terminal.as_json {
            let mut line = json!({ "time": time, "id": message["id"], "type": kind, "entityId": entity });
            if let (Some(line), Some(outcome)) = (line.as_object_mut(), outcome.as_object()) {
                line.extend(outcome.clone());
            }
            print_text(&line.to_string());
            return;
        }
        let clock = time.get(11..19).unwrap_or(&time);
        let status = outcome["status"].as_u64();
        let result =
            status.map_or_else(|| outcome["error"].as_str().unwrap_or_default().to_owned(), |it| it.to_string());
        let [kind, entity] = [kind, entity].map(|it| it.as_str().unwrap_or("-"));
        let mut line = format!("{clock}  {kind}  {entity}  {result}  {} ms", outcome["ms"]);
        if !status.is_some_and(|it| (200..300).contains(&it)) && !excerpt.trim().is_empty() {
            line.push_str(&format!("  {}", excerpt.trim()));
        }
        print_text(&line.replace(char::is_control, "\u{fffd}"));
    }

    /// The server may be on its way back. What will not go away is told.
    fn wait_for_server(&mut self, failure: &Failure) -> Result<(), Failure> {
        if !failure.may_pass() {
            return Err(failure.clone());
        }
        self.terminal.note(&format!("{}; trying again each second", failure.message));
        loop {
            sleep(PAUSE);
            match self.pull_for(0) {
                Ok(pulled) => return self.pass_on(&pulled),
                Err(failure) if failure.may_pass() => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}
