//! The background task that empties the queues of all sites.
//!
//! Delivery is at least once: a row is taken for a time, handed to the mail server and then deleted. A
//! message that was accepted just before a crash is sent again under the same Message-ID. What can't be
//! delivered is tried later and later until it is of no use any more; then its row stays for a month without what it
//! said, so that the operators of the server can see why.

use crate::{
    Core, Identity, client,
    mail::{
        background::SITE_AT_ONCE,
        message::{MailContext, one_line},
        queue::{self, Question, QueuedMessage, Taken, Task},
        render::render,
        sender::{self, MailSender},
        setting,
    },
    token::site_names,
};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use stoa_kernel::{ClientId, Fault, Millis, Result, SiteId};
use stoa_outbound::Undelivered;
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed};
use tokio::{sync::OwnedSemaphorePermit, task::JoinSet};

/// Between two rounds of sites where something waits for a later attempt.
const TICK: Duration = Duration::from_secs(1);
/// Every so many ticks a round goes to all open sites: another node may have gone away with its rows.
const ALL_SITES_TICKS: u32 = 300;
/// The longest that one message may take; the queue's lease is longer.
const SEND_TIMEOUT: Duration = Duration::from_secs(120);
/// Attempts follow after this long, then three times as long each, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Millis = 5_000;
const LONGEST_WAIT: Millis = 30 * 60_000;

/// A message that could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub id: String,
    /// For example `verification`.
    pub kind: String,
    /// The member it was about.
    pub member: Option<String>,
    pub created: Millis,
    pub attempts: i64,
    /// What the mail server or the network answered.
    pub error: String,
}

/// Runs until the identity is dropped.
pub(crate) fn keep_delivering(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    tokio::spawn(async move {
        let mut first = true;
        for tick in 0_u32.. {
            let Some(wakeup) = round(&core, first, tick % ALL_SITES_TICKS == 0).await else { return };
            first = false;
            // The core is not held while waiting, so that it can end.
            let _ = tokio::time::timeout(TICK, wakeup).await;
        }
    });
}

/// Goes once to every site where something may wait and sets a task on each. `None` when it is over.
async fn round(core: &Weak<Core>, all: bool, open: bool) -> Option<impl Future<Output = ()> + use<>> {
    let strong = core.upgrade()?;
    if all {
        // What a process that has ended left behind.
        match strong.store().sites().await {
            Ok(sites) => strong.mail_queue.wait(sites.into_iter().map(|it| it.0)),
            Err(fault) => tracing::warn!("the sites' mail could not be looked for: {fault:?}"),
        }
    } else if open {
        strong.mail_queue.wait(strong.store().open_sites().iter().map(|it| it.id.clone()));
    }
    for site in strong.mail_queue.next_sites() {
        let work = DeliveryTask { core: strong.clone(), site };
        tokio::spawn(async move { drain(&work.core, &work.site).await });
    }
    let core = core.clone();
    Some(async move {
        let Some(core) = core.upgrade() else { return };
        let wakeup = std::pin::pin!(core.mail_queue.wakeup.notified());
        wakeup.await;
    })
}

/// A site whose queue is being emptied, until the value is dropped, however its task ends.
struct DeliveryTask {
    core: Arc<Core>,
    site: SiteId,
}

impl Drop for DeliveryTask {
    fn drop(&mut self) {
        self.core.mail_queue.leave(&self.site);
    }
}

impl Identity {
    /// Says what links in messages begin with, for example `https://www.example.org`.
    pub fn url_set(&self, url: &str) {
        self.core.mail_queue.set_url(url);
    }

    /// How many messages of a site are still to be sent.
    pub async fn mail_waiting(&self, site: &Site) -> Result<i64> {
        let id = site.id.clone();
        let count = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select count(*) from stoa.mail where site = $1 and due is not null";
                Ok(tx.row(sql, &params![&id], |row| row.get(0)).await?)
            })
        });
        Ok(count.await?.unwrap_or(0))
    }

    /// What could not be delivered in the last month, newest first.
    pub async fn mail_failures(&self, site: &Site) -> Result<Vec<Failure>> {
        let id = site.id.clone();
        site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select id, kind, member, created, attempts, error from stoa.mail \
                           where site = $1 and due is null order by created desc, id desc limit 1000";
                let values = params![&id];
                let read = tx.rows(sql, &values, |row| {
                    let error: Option<String> = row.get(5)?;
                    Ok(Failure {
                        id: row.get(0)?,
                        kind: row.get(1)?,
                        member: row.get(2)?,
                        created: row.get(3)?,
                        attempts: row.get(4)?,
                        error: error.unwrap_or_default(),
                    })
                });
                Ok(read.await?)
            })
        })
        .await
    }
}

pub(crate) fn url(core: &Core) -> Arc<str> {
    core.mail_queue.url()
}

/// Where members of a site sign in on its account pages, for one of its clients or for the first.
pub(crate) async fn sign_in_url(core: &Core, site: &Site, client: Option<&ClientId>) -> Result<String> {
    match client {
        Some(client) => Ok(format!("{}/account/sign-in?clientId={client}", url(core))),
        None => Ok(context_of(core, site).await?.sign_in_url),
    }
}

/// To be called after a commit that has put something into the queue.
pub(crate) async fn deliver_soon(core: &Arc<Core>, site: &SiteId) {
    if core.mail.is_local() {
        // A line in a file: the client that reads the answer may look for the message at once.
        let _local = core.mail_queue.local.lock().await;
        let delivered = async { deliver(core, &core.store().site(site).await?, false).await };
        if let Err(fault) = delivered.await {
            tracing::warn!(site = %site, "mail could not be worked on: {fault:?}");
        }
    }
    schedule(core, site);
}

/// The same without waiting for anything.
pub(crate) fn schedule(core: &Core, site: &SiteId) {
    core.mail_queue.wait([site.clone()]);
    core.mail_queue.wakeup.notify_one();
}

/// Delivers what is due at a site, which waits again when something is due later.
async fn drain(core: &Arc<Core>, id: &SiteId) {
    let is_empty = async {
        let site = core.store().site(id).await?;
        deliver(core, &site, true).await?;
        Ok::<_, Fault>(next_due(&site).await?.is_none())
    };
    let waits = match is_empty.await {
        Ok(is_empty) => !is_empty,
        Err(fault) => {
            tracing::warn!(site = %id, "mail could not be worked on: {fault:?}");
            fault.code() != stoa_kernel::Code::SiteUnknown
        }
    };
    if waits {
        core.mail_queue.wait([id.clone()]);
    }
}

/// Delivers what is due, all or without what no request may wait for. As soon as one message has left,
/// the next is taken: a slow one holds up no other.
async fn deliver(core: &Arc<Core>, site: &Arc<Site>, all: bool) -> Result<()> {
    let mut under_way = JoinSet::new();
    loop {
        let taken = take(core, site, all, SITE_AT_ONCE.saturating_sub(under_way.len())).await;
        if taken.is_err() {
            // What is under way is not broken off: it may have been accepted.
            while under_way.join_next().await.is_some() {}
        }
        let (taken, permits) = taken?;
        if taken.is_empty() {
            // What is under way may put more into the queue, and so may others.
            match tokio::time::timeout(TICK, under_way.join_next()).await {
                Ok(None) => return Ok(()),
                Ok(Some(_)) | Err(_) => continue,
            }
        }
        for (row, permit) in taken.into_iter().zip(permits) {
            let (core, site) = (core.clone(), site.clone());
            under_way.spawn(async move {
                let _permit = permit;
                if let Err(fault) = work(&core, &site, row).await {
                    tracing::warn!(site = %site.id, "a message could not be worked on: {fault:?}");
                }
            });
        }
        while under_way.try_join_next().is_some() {}
    }
}

/// What is due, at most so many and as far as there are permits for them.
async fn take(core: &Core, site: &Site, all: bool, most: usize) -> Result<(Vec<Taken>, Vec<OwnedSemaphorePermit>)> {
    if most == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let now = core.now();
    if next_due(site).await?.is_none_or(|it| it > now) {
        return Ok((Vec::new(), Vec::new()));
    }
    let permits = core.mail_queue.permits(most).await;
    let count = permits.len() as i64;
    let taken = site.write_with(site.id.clone(), move |tx, id| boxed!(queue::take(tx, id, now, all, count).await));
    Ok((taken.await?, permits))
}

async fn next_due(site: &Site) -> Result<Option<Millis>> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(queue::next_due(tx, &id).await)).await
}

async fn work(core: &Arc<Core>, site: &Arc<Site>, taken: Taken) -> Result<()> {
    if taken.expires <= core.now() {
        return failed(core, site, taken, Undelivered::Never("it was of no use any more".into())).await;
    }
    let about = queue::associated_data(&site.id, &taken.id, &taken.kind);
    let text = core.mail_queue.cipher.open(core.store().catalog(), &about, &taken.encrypted).await?;
    let task = text.and_then(|it| serde_json::from_str(&it).ok());
    let question = match task {
        Some(Task::Message(message)) => return send(core, site, taken, message).await,
        Some(Task::Recovery { email, options }) => Question::Recovery { task: taken.id, email, options },
        Some(Task::OperatorRecovery { email, language }) => {
            Question::OperatorRecovery { task: taken.id, email, language }
        }
        Some(Task::Approval) => match taken.member {
            Some(member) => Question::Approval { task: taken.id, member },
            None => return done(site, taken.id).await,
        },
        None => {
            let why = Undelivered::Never("the key it was encrypted with is gone".into());
            return failed(core, site, taken, why).await;
        }
    };
    core.mail_queue.answer(site.clone(), question).await
}

async fn send(core: &Core, site: &Arc<Site>, taken: Taken, queued: QueuedMessage) -> Result<()> {
    let (key, is_ours) = (site.id.clone(), queued.message.is_ours_alone());
    let settings = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            // Its reader runs other sites too: no one of them speaks here.
            let sender = if is_ours { MailSender::default() } else { sender::read(tx, &key).await? };
            Ok((setting::read(tx, &key).await?, sender))
        })
    });
    let ((setting, sender), context) = (settings.await?, context_of(core, site).await?);
    let language = setting.choose([queued.language.as_deref(), queued.own_language.as_deref()]).to_owned();
    let mail = render(&queued.message, &queued.to, &language, &context, &setting)?;
    let outgoing = stoa_outbound::Letter {
        id: taken.id.clone(),
        created: taken.created,
        from_name: sender.name.unwrap_or_else(|| one_line(&context.site_name)),
        from_address: sender.address,
        reply_to: sender.reply_to,
        language,
        mail,
    };
    let sent = tokio::time::timeout(SEND_TIMEOUT, core.mail.send(&outgoing)).await;
    match sent.unwrap_or_else(|_| Err(Undelivered::Later("it took too long".to_owned()))) {
        Ok(()) => done(site, taken.id).await,
        Err(why) => failed(core, site, taken, why).await,
    }
}

async fn done(site: &Site, id: String) -> Result<()> {
    site.append_with((site.id.clone(), id), |tx, (site, id)| boxed!(queue::done(tx, site, id).await.map(drop))).await
}

async fn failed(core: &Core, site: &Site, taken: Taken, why: Undelivered) -> Result<()> {
    let waits = (1..taken.attempts.min(20)).fold(FIRST_WAIT, |wait, _| wait.saturating_mul(3).min(LONGEST_WAIT));
    let next = core.now() + waits;
    let due = match &why {
        Undelivered::Later(_) if next < taken.expires => Some(next),
        _ => None,
    };
    match due {
        Some(_) => {
            tracing::warn!(site = %site.id, kind = taken.kind, attempt = taken.attempts, "mail waits: {why}")
        }
        None => {
            tracing::error!(site = %site.id, kind = taken.kind, attempts = taken.attempts, "mail given up: {why}")
        }
    }
    site.append_with((site.id.clone(), taken, why.to_string()), move |tx, (site, taken, error)| {
        boxed!(queue::failed(tx, site, taken, due, error).await)
    })
    .await
}

/// Where the site's messages come from and lead to. The addresses name a client, so that they find
/// the site also where several share a host.
pub(super) async fn context_of(core: &Core, site: &Site) -> Result<MailContext> {
    let client = client::first(core, &site.id).await?;
    let query = client.map_or_else(String::new, |it| format!("?clientId={}", it.id));
    let url = url(core);
    Ok(MailContext {
        site_name: site.name(),
        recover_url: format!("{url}/account/recover{query}"),
        sign_in_url: format!("{url}/account/sign-in{query}"),
        sessions_url: format!("{}/account/sessions", site_names::issuer(core, &site.id).await?),
        owner_url: format!("{url}/account/owner{query}"),
    })
}
