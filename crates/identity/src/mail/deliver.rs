//! The background task that empties the queues of all sites.
//!
//! Delivery is at least once: a row is taken for a time, handed to the mail server and then deleted. A
//! message that was accepted just before a crash is sent again under the same Message-ID. What can't be
//! delivered is tried later and later until nobody has a use for it any more; then its row stays for a
//! month without what it said, so that somebody can see why.

use crate::{
    Core, Identity, client,
    encryption::Cipher,
    mail::{
        Place,
        queue::{self, Letter, Taken, Task},
        render, setting,
    },
    sign_in::{
        approval,
        recovery::{self, Wish},
    },
};
use parking_lot::{Mutex, RwLock};
use std::{
    collections::HashSet,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_kernel::{Fault, Millis, Result, SiteId};
use stoa_outbound::Undelivered;
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
};

/// Between two looks at sites where something waits for a later attempt.
const TICK: Duration = Duration::from_secs(1);
/// Every so many ticks all open sites are looked at: another node may have gone away with its rows.
const SWEEP: u32 = 300;
/// Messages on their way at the same time: in this process, and of one site. Whoever waits for a slow
/// mailbox holds up nobody elsewhere.
const AT_ONCE: usize = 16;
const SITE_AT_ONCE: usize = 4;
/// Sites whose queues are worked on at the same time: as many as may have a message under way.
const SITES_AT_ONCE: usize = AT_ONCE;
/// The longest that one message may take; the queue's lease is longer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Attempts follow after this long, then three times as long each, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Millis = 5_000;
const LONGEST_WAIT: Millis = 30 * 60_000;

/// What the mail of this process works with.
pub(crate) struct Post {
    pub(super) cipher: Cipher,
    /// Sites where something waits, as far as this process knows.
    waiting: Mutex<HashSet<SiteId>>,
    /// Sites whose queue a task is emptying.
    at_work: Mutex<HashSet<SiteId>>,
    news: Notify,
    places: Arc<Semaphore>,
    /// One request at a time empties a queue for itself.
    turn: tokio::sync::Mutex<()>,
    /// Recovery links that were asked for and wait.
    recoveries: AtomicUsize,
    /// What links in messages begin with.
    url: RwLock<Arc<str>>,
}

/// A message that could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub id: String,
    /// For example `verification`.
    pub kind: String,
    /// Whom it was about.
    pub member: Option<String>,
    pub created: Millis,
    pub attempts: i64,
    /// What the mail server or the network said.
    pub error: String,
}

impl Post {
    pub(crate) fn new(cipher: Cipher) -> Self {
        Self {
            cipher,
            waiting: Mutex::default(),
            at_work: Mutex::default(),
            news: Notify::new(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            turn: tokio::sync::Mutex::default(),
            recoveries: AtomicUsize::new(0),
            url: RwLock::new("http://localhost".into()),
        }
    }

    /// Takes waiting sites on which nobody works, as far as there are places; the others keep waiting.
    fn next_sites(&self) -> Vec<SiteId> {
        let (mut waiting, mut at_work) = (self.waiting.lock(), self.at_work.lock());
        let free = SITES_AT_ONCE.saturating_sub(at_work.len());
        let next: Vec<SiteId> = waiting.iter().filter(|it| !at_work.contains(*it)).take(free).cloned().collect();
        for id in &next {
            waiting.remove(id);
            at_work.insert(id.clone());
        }
        next
    }

    /// Whether one more recovery link may be asked for; then [`Post::recovery_end`] follows.
    pub(crate) fn recovery_begin(&self) -> bool {
        let more = |waiting: usize| (waiting < recovery::WAITING).then_some(waiting + 1);
        self.recoveries.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Also for those that an earlier process was asked for.
    pub(crate) fn recovery_end(&self) {
        let less = |waiting: usize| waiting.checked_sub(1);
        let _ = self.recoveries.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }
}

/// Runs until the identity is dropped.
pub(crate) fn keep_delivering(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    tokio::spawn(async move {
        let mut first = true;
        for turn in 0_u32.. {
            let Some(news) = round(&core, first, turn % SWEEP == 0).await else { return };
            first = false;
            // The core is not held while waiting, so that it can end.
            let _ = tokio::time::timeout(TICK, news).await;
        }
    });
}

/// Looks once at every site where something may wait and sets a task on each. `None` when it is over.
async fn round(core: &Weak<Core>, all: bool, open: bool) -> Option<impl Future<Output = ()> + use<>> {
    let me = core.upgrade()?;
    if all {
        // What a process that is no more has left.
        match me.store().sites().await {
            Ok(sites) => me.post.waiting.lock().extend(sites.into_iter().map(|it| it.0)),
            Err(fault) => tracing::warn!("the sites' mail could not be looked for: {fault:?}"),
        }
    } else if open {
        let sites = me.store().open_sites();
        me.post.waiting.lock().extend(sites.iter().map(|it| it.id.clone()));
    }
    for id in me.post.next_sites() {
        let me = me.clone();
        tokio::spawn(async move {
            let at_work = AtWork { me: &me, id };
            empty(&me, &at_work.id).await;
        });
    }
    let core = core.clone();
    Some(async move {
        let Some(core) = core.upgrade() else { return };
        let news = std::pin::pin!(core.post.news.notified());
        news.await;
    })
}

/// A site whose queue is being emptied, until the value is dropped, however its task ends.
struct AtWork<'a> {
    me: &'a Arc<Core>,
    id: SiteId,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let post = &self.me.post;
        let was_full = {
            let mut at_work = post.at_work.lock();
            let was_full = at_work.len() == SITES_AT_ONCE;
            at_work.remove(&self.id);
            was_full
        };
        // Others waited for its place.
        if was_full {
            post.news.notify_one();
        }
    }
}

impl Identity {
    /// Says what links in messages begin with, for example `https://www.example.org`.
    pub fn url_set(&self, url: &str) {
        let core = &self.core;
        *core.post.url.write() = url.trim_end_matches('/').into();
    }

    /// What could not be delivered in the last month, newest first.
    pub async fn mail_failures(&self, site: &Site) -> Result<Vec<Failure>> {
        let id = site.id.clone();
        site.read(Lane::Point, move |tx| {
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
    core.post.url.read().clone()
}

/// To be called after a commit that has put something into the queue.
pub(crate) async fn soon(core: &Arc<Core>, site: &SiteId) {
    if core.mail.is_local() {
        // A line in a file: whoever reads the answer may look for the message at once.
        let _turn = core.post.turn.lock().await;
        let delivered = async { deliver(core, &core.store().site(site).await?, false).await };
        if let Err(fault) = delivered.await {
            tracing::warn!(site = %site, "mail could not be worked on: {fault:?}");
        }
    }
    later(core, site);
}

/// The same without waiting for anything.
pub(crate) fn later(core: &Core, site: &SiteId) {
    core.post.waiting.lock().insert(site.clone());
    core.post.news.notify_one();
}

/// Delivers what is due at a site, which waits again when something is due later.
async fn empty(core: &Arc<Core>, id: &SiteId) {
    let is_empty = async {
        let site = core.store().site(id).await?;
        deliver(core, &site, true).await?;
        let key = id.clone();
        let due = site.read(Lane::Point, move |tx| boxed!(queue::next_due(tx, &key).await)).await?;
        Ok::<_, Fault>(due.is_none())
    };
    let waits = match is_empty.await {
        Ok(is_empty) => !is_empty,
        Err(fault) => {
            tracing::warn!(site = %id, "mail could not be worked on: {fault:?}");
            fault.code() != stoa_kernel::Code::SiteUnknown
        }
    };
    if waits {
        core.post.waiting.lock().insert(id.clone());
    }
}

/// Delivers what is due, all or without what no request may wait for. As soon as one message has left,
/// the next is taken: a slow one holds up nobody but itself.
async fn deliver(core: &Arc<Core>, site: &Arc<Site>, all: bool) -> Result<()> {
    let mut under_way = JoinSet::new();
    loop {
        let taken = take(core, site, all, SITE_AT_ONCE.saturating_sub(under_way.len())).await;
        if taken.is_err() {
            // What is under way is not broken off: it may have been accepted.
            while under_way.join_next().await.is_some() {}
        }
        let (taken, places) = taken?;
        if taken.is_empty() {
            // What is under way may put more into the queue, and so may others.
            match tokio::time::timeout(TICK, under_way.join_next()).await {
                Ok(None) => return Ok(()),
                Ok(Some(_)) | Err(_) => continue,
            }
        }
        for (it, place) in taken.into_iter().zip(places) {
            let (me, site) = (core.clone(), site.clone());
            under_way.spawn(async move {
                let _place = place;
                if let Err(fault) = work(&me, &site, it).await {
                    tracing::warn!(site = %site.id, "a message could not be worked on: {fault:?}");
                }
            });
        }
        while under_way.try_join_next().is_some() {}
    }
}

/// What is due, at most so many and as far as there are places for them.
async fn take(core: &Core, site: &Site, all: bool, most: usize) -> Result<(Vec<Taken>, Vec<OwnedSemaphorePermit>)> {
    if most == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let (id, now) = (site.id.clone(), core.now());
    let key = id.clone();
    let due = site.read(Lane::Point, move |tx| boxed!(queue::next_due(tx, &key).await)).await?;
    if due.is_none_or(|it| it > now) {
        return Ok((Vec::new(), Vec::new()));
    }
    let places = places(core, most).await;
    let count = places.len() as i64;
    let taken = site.write(move |tx| {
        let id = id.clone();
        boxed!(queue::take(tx, &id, now, all, count).await)
    });
    Ok((taken.await?, places))
}

/// At most so many places that are free, waiting for the first.
async fn places(core: &Core, most: usize) -> Vec<OwnedSemaphorePermit> {
    let places = &core.post.places;
    let first = places.clone().acquire_owned().await;
    let others = std::iter::from_fn(|| places.clone().try_acquire_owned().ok());
    first.into_iter().chain(others).take(most).collect()
}

async fn work(core: &Arc<Core>, site: &Arc<Site>, taken: Taken) -> Result<()> {
    if taken.expires <= core.now() {
        return failed(core, site, taken, Undelivered::Never("nobody had a use for it any more".into())).await;
    }
    let text = core.post.cipher.decrypt(&queue::about(&site.id, &taken.id, &taken.kind), &taken.sealed);
    let task = text.and_then(|it| serde_json::from_str(&it).ok());
    match task {
        Some(Task::Letter(letter)) => send(core, site, taken, letter).await,
        Some(Task::Recovery { email, language, return_url }) => {
            recovery::answer(core, site, taken.id, email, Wish { language, return_url }).await
        }
        Some(Task::Approval) => match taken.member.clone() {
            Some(member) => approval::ask(core, site, taken.id, member).await,
            None => done(site, taken.id).await,
        },
        None => failed(core, site, taken, Undelivered::Never("the key it was sealed with is gone".into())).await,
    }
}

async fn send(core: &Core, site: &Arc<Site>, taken: Taken, letter: Letter) -> Result<()> {
    let (setting, place) = (setting::of_site(site).await?, place_of(core, site).await?);
    let language = setting.choose([letter.language.as_deref(), letter.own_language.as_deref()]).to_owned();
    let mail = render(&letter.message, &letter.to, &language, &place, &setting);
    let letter = stoa_outbound::Letter {
        id: taken.id.clone(),
        created: taken.created,
        from_name: super::one_line(&place.site_name),
        language,
        mail,
    };
    let sent = tokio::time::timeout(PATIENCE, core.mail.send(&letter)).await;
    match sent.unwrap_or_else(|_| Err(Undelivered::Later("it took too long".to_owned()))) {
        Ok(()) => done(site, taken.id).await,
        Err(why) => failed(core, site, taken, why).await,
    }
}

async fn done(site: &Site, id: String) -> Result<()> {
    let key = site.id.clone();
    site.append(move |tx| {
        let (key, id) = (key.clone(), id.clone());
        boxed!(queue::done(tx, &key, &id).await.map(drop))
    })
    .await
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
    let (id, error) = (site.id.clone(), why.to_string());
    let taken = Arc::new(taken);
    site.append(move |tx| {
        let (id, taken, error) = (id.clone(), taken.clone(), error.clone());
        boxed!(queue::failed(tx, &id, &taken, due, &error).await)
    })
    .await
}

/// Where the site's messages come from and lead to. The addresses name a client, so that they find
/// the site also where several share a host.
pub(crate) async fn place_of(core: &Core, site: &Site) -> Result<Place> {
    let client = client::first(core, &site.id).await?;
    let query = client.map_or_else(String::new, |it| format!("?clientId={}", it.id));
    let url = url(core);
    Ok(Place {
        site_name: site.name.clone(),
        recover_url: format!("{url}/account/recover{query}"),
        sign_in_url: format!("{url}/account/sign-in{query}"),
    })
}
