//! `stoa log …`

use crate::{cli::LogVerb, failure::Failure, report::Output, services::Services};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use stoa_kernel::{Code, Fault, Millis, date::iso_from_millis};
use stoa_store::{
    Held, Names, Site, TxFuture, Worker, boxed,
    outbox::{Batch, ConsumerStatus, Read, Start},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

/// Rows that are printed at once.
const ROWS: usize = 100;
/// How long a follower waits for news before it reads again.
const PAUSE: Duration = Duration::from_secs(1);
/// How soon it is noticed that no one reads any more, or that the name was forgotten.
const TICK: Duration = Duration::from_secs(5);
/// Letters of a name.
const LONGEST_NAME: usize = 60;

pub fn run(
    services: &Services,
    runtime: &Handle,
    site: &Arc<Site>,
    verb: &LogVerb,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    match verb {
        LogVerb::Status => runtime.block_on(status(services, site)),
        LogVerb::Restored => {
            let epoch = runtime.block_on(services.store.log_restored(&site.id))?;
            Ok(json!({ "siteId": site.id, "epoch": epoch }))
        }
        LogVerb::Follow { name, oldest, once } => {
            let start = if *oldest { Start::Oldest } else { Start::Newest };
            let consumer = consumer_of(name)?;
            runtime.block_on(site.outbox().subscribe(&consumer, start))?;
            follow(services, runtime, site, &consumer, *once, output)
        }
        LogVerb::Set { redirect_sessions } => {
            runtime.block_on(services.identity.redirect_session_log_set(site, *redirect_sessions))?;
            Ok(json!({ "redirectSessions": redirect_sessions }))
        }
        LogVerb::Forget { name } => match runtime.block_on(site.outbox().unsubscribe(&consumer_of(name)?))? {
            true => Ok(json!({ "forgotten": name })),
            false => Err(Failure::new(Code::NotFound, format!("no one follows the log under the name {name}"))),
        },
    }
}

/// The consumer of a name. Those of the program have other names, so that none is taken from it.
fn consumer_of(name: &str) -> Result<String, Failure> {
    let is_letter = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-_".contains(&it);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_letter) {
        return Ok(format!("follow:{name}"));
    }
    let text = format!("{name:?} is no name: 1 to {LONGEST_NAME} of the characters a to z, 0 to 9, - and _");
    Err(Failure::usage(text))
}

async fn status(services: &Services, site: &Site) -> Result<Value, Failure> {
    let status = site.outbox().status(services.world.now()).await?;
    let consumer = |it: &ConsumerStatus| {
        json!({
            "name": it.name, "sequence": it.sequence, "lagRows": it.lag_rows, "lagSeconds": seconds(it.lag),
            "hasGap": it.has_gap, "node": it.node,
        })
    };
    let consumers: Vec<Value> = status.consumers.iter().map(consumer).collect();
    Ok(json!({
        "siteId": site.id, "epoch": status.epoch, "first": status.first, "last": status.last, "rows": status.rows,
        "bytes": status.bytes, "keptFor": status.reasons, "thisNode": services.store.node(), "consumers": consumers,
    }))
}

fn seconds(millis: Millis) -> f64 {
    millis as f64 / 1_000.0
}

/// What a follower prints.
enum Message {
    Rows {
        text: Vec<u8>,
        count: usize,
        printed: oneshot::Sender<()>,
    },
    /// Nothing more can be read.
    End,
}

/// Prints rows as they come, on whichever node holds the consumer.
fn follow(
    services: &Services,
    runtime: &Handle,
    site: &Arc<Site>,
    consumer: &str,
    once: bool,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let (messages, mut printed) = mpsc::channel(1);
    let serving = {
        let _entered = runtime.enter();
        let names = Names::One(site.id.clone(), consumer.to_owned());
        services.consumers.serve(names, Arc::new(Follower { messages, once }))
    };
    let mut count = 0;
    let ended = loop {
        let next = runtime.block_on(async { tokio::time::timeout(TICK, printed.recv()).await });
        let went_on = match next {
            Ok(Some(Message::Rows { text, count: more, printed })) => {
                count += more;
                let is_out = output.text(&text).map_err(|it| Failure::from(it.to_string()));
                if is_out.is_ok() {
                    // The place moves now.
                    let _ = printed.send(());
                }
                is_out
            }
            Ok(Some(Message::End) | None) => break Ok(json!({ "rows": count })),
            Err(_) => is_awaited(services, runtime, site, consumer, output),
        };
        if let Err(failure) = went_on {
            break Err(failure);
        }
    };
    runtime.block_on(serving.end());
    ended
}

/// Whether anything still reads what is printed, and the name is not forgotten.
fn is_awaited(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    consumer: &str,
    output: &mut dyn Output,
) -> Result<(), Failure> {
    output.text(b"").map_err(|it| it.to_string())?;
    runtime.block_on(services.store.site(&site.id))?;
    match runtime.block_on(site.outbox().is_subscribed(consumer))? {
        true => Ok(()),
        false => Err(Failure::new(Code::NotFound, "this name was forgotten")),
    }
}

struct Follower {
    messages: mpsc::Sender<Message>,
    once: bool,
}

impl Worker for Follower {
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()> {
        boxed!(self.print(held).await)
    }
}

impl Follower {
    async fn print(&self, held: Held) -> Result<(), Fault> {
        let (mut news, mut place) = (held.news(), held.position());
        while held.is_held() {
            let (text, count, end, is_last) = match held.read(place, &[], ROWS).await? {
                Read::Gap(gap) => (format!("{}\n", json!({ "gap": gap.reason.name() })), 0, gap.oldest, false),
                Read::Batch(batch) => (lines(&batch), batch.entries.len(), batch.end, batch.is_last),
            };
            if end != place {
                let (printed, is_printed) = oneshot::channel();
                let rows = Message::Rows { text: text.into_bytes(), count, printed };
                let is_sent = self.messages.send(rows).await.is_ok() && is_printed.await.is_ok();
                if !is_sent || !held.advance(end).await? {
                    return Ok(());
                }
                place = end;
            }
            if is_last && self.once {
                let _ = self.messages.send(Message::End).await;
                return Ok(());
            }
            if is_last {
                news.wait(PAUSE).await;
            }
        }
        Ok(())
    }
}

/// A line of JSON for each row.
fn lines(batch: &Batch) -> String {
    let line = |it: &stoa_store::outbox::Entry| {
        let payload: Value = serde_json::from_str(&it.payload).unwrap_or_else(|_| json!(it.payload));
        let line = json!({
            "sequence": it.sequence, "id": it.id(), "kind": it.kind, "time": iso_from_millis(it.created),
            "payload": payload,
        });
        format!("{line}\n")
    };
    batch.entries.iter().map(line).collect()
}
