//! One reader of a site's log for all streams of this node.

use crate::{
    counts::Counters,
    effort::cost,
    group::{Group, MemberId, judge},
    mailbox::Mailbox,
    message::{End, Resync},
    token::PlaceKey,
};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, HashSet},
    panic::resume_unwind,
    sync::{Arc, Weak},
    time::Duration,
};
use stoa_content::{
    Content,
    feed::{Before, FeedChange, FeedItem, FeedKey, FeedRow, FeedView, KINDS},
};
use stoa_kernel::{Code, Fault, Result, World};
use stoa_store::{
    Site,
    outbox::{Batch, Entry, Position, Read, Token},
    setting,
};
use tokio::{sync::OnceCell, task::JoinHandle};

/// Rows that are read at once.
const ROWS: usize = 200;
/// Without news the log is looked at all the same.
const PATIENCE: Duration = Duration::from_secs(10);
/// A row of more bytes takes about half a millisecond to parse.
const PARSED_HERE: usize = 64 * 1024;
/// Conditions of groups that are asked of items before others get a turn.
const TURN: usize = 10_000;
/// A log that can't be read is read again after this.
const PAUSE: Duration = Duration::from_millis(500);

/// The streams of a site on this node, in groups, and the task that reads the log for them. It ends with the value.
pub(crate) struct SiteFeed {
    pub site: Arc<Site>,
    content: Content,
    counters: Arc<Counters>,
    registry: Mutex<Registry>,
    /// All that rows up to here tell is in the mailboxes.
    told: Mutex<Option<Token>>,
    started: OnceCell<(Tail, Arc<PlaceKey>)>,
}

/// The task, which is ended when nobody follows the site any more.
struct Tail(JoinHandle<()>);

impl Drop for Tail {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Who follows what, and how far the log has been told.
#[derive(Default)]
struct Registry {
    collections: HashMap<String, Groups>,
    count: usize,
    /// What the groups cost that are asked about every row of their collection.
    cost: usize,
    /// Rows up to here are told, or about to be, to those who were there when they were read.
    taken: Option<Token>,
}

/// The groups of a collection. Those that see one person's items alone are asked about those only: there may be as many
/// as members.
#[derive(Default)]
struct Groups {
    count: usize,
    open: HashMap<FeedKey, Arc<Group>>,
    owned: HashMap<String, HashMap<FeedKey, Arc<Group>>>,
}

impl SiteFeed {
    pub(crate) fn new(site: Arc<Site>, content: Content, counters: Arc<Counters>) -> Arc<Self> {
        let (registry, told, started) = Default::default();
        Arc::new(Self { site, content, counters, registry, told, started })
    }

    /// Begins to read the log, if nothing reads it yet, and answers the key of the site's places.
    ///
    /// # Errors
    /// What reading answers.
    pub(crate) async fn start(self: &Arc<Self>, world: &World) -> Result<Arc<PlaceKey>> {
        let start = self.started.get_or_try_init(|| async {
            let key = PlaceKey::new(&setting::secret(&self.site, PlaceKey::SETTING, world).await?);
            let end = self.site.outbox().end().await?;
            self.registry.lock().taken = Some(end.clone());
            *self.told.lock() = Some(end.clone());
            let tail = Tail(tokio::spawn(keep_reading(Arc::downgrade(self), self.site.clone(), end)));
            Ok((tail, Arc::new(key)))
        });
        start.await.map(|it| it.1.clone())
    }

    /// Puts a subscription into the group of its view, where `most` is what groups may cost together. It is told all rows
    /// behind the place that is answered.
    ///
    /// # Errors
    /// [`Code::Unavailable`] when a new group would cost more.
    pub(crate) fn join(
        &self,
        view: Arc<FeedView>,
        id: MemberId,
        mailbox: Arc<Mailbox>,
        most: usize,
    ) -> Result<(Arc<Group>, Token)> {
        let mut registry = self.registry.lock();
        let group = match registry.group(&view) {
            Some(it) => it,
            None => registry.add(view, most)?,
        };
        group.add(id, mailbox);
        let taken = registry.taken.clone();
        let taken =
            taken.unwrap_or_else(|| Token { epoch: String::new(), position: Position::default(), delivered: None });
        Ok((group, taken))
    }

    /// Takes a subscription out of its group.
    pub(crate) fn part(&self, group: &Group, id: MemberId) {
        let mut registry = self.registry.lock();
        if group.remove(id) {
            registry.remove(&group.view);
        }
    }

    /// The position up to which all that rows tell is in the mailboxes; nothing if the log is one of another epoch.
    pub(crate) fn told(&self, epoch: &str) -> Option<Position> {
        self.told.lock().as_ref().filter(|it| it.epoch == epoch).map(|it| it.position)
    }

    pub(crate) fn groups(&self) -> usize {
        self.registry.lock().count
    }

    /// Tells what a read found.
    async fn take(&self, epoch: &str, batch: Batch) {
        for entry in batch.entries {
            let (entry, row) = parse(entry).await;
            let told = self.tell_row(epoch, &entry, row).await;
            *self.told.lock() = Some(Token { epoch: epoch.to_owned(), position: entry.position(), delivered: None });
            // Not before: a place behind the row is good for all subscriptions of a stream, or for none.
            for group in told {
                group.wake().await;
            }
        }
        let end = Token { epoch: epoch.to_owned(), position: batch.end, delivered: None };
        self.registry.lock().taken = Some(end.clone());
        *self.told.lock() = Some(end);
    }

    /// Tells what a row tells, and answers the groups to which that was anything.
    async fn tell_row(&self, epoch: &str, entry: &Entry, row: Result<Option<FeedRow>>) -> Vec<Arc<Group>> {
        let position = entry.position();
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                // Whose row it is can't be read: whoever follows anything reads again.
                tracing::warn!(site = %self.site.id, row = entry.id(), "a row of the log can't be read: {fault:?}");
                let all = self.groups_of(epoch, position, Registry::all);
                end_all(&all, Some(position), &End::Resync(Resync::Gap)).await;
                return all;
            }
        };
        match row {
            None => self.groups_of(epoch, position, |_| Vec::new()),
            Some(FeedRow { collection, change: FeedChange::Items(items) }) => {
                let mut concerned = self.groups_of(epoch, position, |it| it.concerned(&collection, &items));
                let (mut is_told, mut asked) = (Vec::with_capacity(concerned.len()), 0);
                if let Some(group) = concerned.first()
                    && let Some(end) = self.end_by_hooks(group).await
                {
                    end_all(&concerned, Some(position), &end).await;
                    return concerned;
                }
                for group in &concerned {
                    asked += cost(&group.view) * items.len();
                    if asked > TURN {
                        tokio::task::yield_now().await;
                        asked = 0;
                    }
                    is_told.push(self.tell_items(group, &items, entry).await);
                }
                let mut is_told = is_told.into_iter();
                concerned.retain(|_| is_told.next().unwrap_or(true));
                concerned
            }
            Some(FeedRow { collection, change: FeedChange::Interrupted(why) }) => {
                let concerned = self.groups_of(epoch, position, |it| it.of_collection(&collection));
                end_all(&concerned, Some(position), &End::Resync(why.into())).await;
                concerned
            }
            Some(FeedRow { collection, change: FeedChange::Definition }) => {
                let concerned = self.groups_of(epoch, position, |it| it.of_collection(&collection));
                for group in &concerned {
                    self.take_definition(group, position).await;
                }
                concerned
            }
            Some(FeedRow { collection, change: FeedChange::Rights }) => {
                let concerned = self.groups_of(epoch, position, |it| it.of_collection(&collection));
                for group in &concerned {
                    group.rights(position).await;
                }
                concerned
            }
        }
    }

    /// Tells a group what the items of a row are to it, and whether they are anything.
    async fn tell_items(&self, group: &Group, items: &[FeedItem], entry: &Entry) -> bool {
        let position = entry.position();
        match judge(&group.view, items, position) {
            Ok(judged) if judged.changes.is_empty() && !judged.is_unknown => return false,
            Ok(judged) => group.tell(judged, position, &self.counters).await,
            Err(fault) => {
                tracing::error!(site = %self.site.id, row = entry.id(), "{fault:?}");
                group.end(Some(position), &End::failed(&fault)).await;
            }
        }
        true
    }

    /// How the subscriptions of a collection end whose hooks decide by now on what is shown, if they do.
    async fn end_by_hooks(&self, group: &Group) -> Option<End> {
        match self.content.feed_may_go_on(&self.site, &group.view).await {
            Ok(()) => None,
            Err(fault) if fault.code() == Code::NotSupported => Some(End::failed(&fault)),
            Err(_) => Some(End::Resync(Resync::Gap)),
        }
    }

    /// Those who follow by another definition read again.
    async fn take_definition(&self, group: &Group, position: Position) {
        match self.content.feed_has_same_shape(&self.site, &group.view).await {
            // Who may read is a part of the definition.
            Ok(true) => group.rights(position).await,
            Ok(false) => group.end(Some(position), &End::Resync(Resync::Schema)).await,
            Err(fault) => group.end(Some(position), &End::failed(&fault)).await,
        }
    }

    /// The groups that a row concerns. Those who join from now on aren't told of it.
    fn groups_of(
        &self,
        epoch: &str,
        position: Position,
        choose: impl FnOnce(&Registry) -> Vec<Arc<Group>>,
    ) -> Vec<Arc<Group>> {
        let mut registry = self.registry.lock();
        registry.taken = Some(Token { epoch: epoch.to_owned(), position, delivered: None });
        choose(&registry)
    }

    /// The log can't be followed from where it was: everybody reads again, and the new place counts from now on.
    async fn begin_again(&self, at: Token) {
        let all = {
            let mut registry = self.registry.lock();
            registry.taken = Some(at.clone());
            *self.told.lock() = Some(at);
            registry.all()
        };
        // Positions of before and after may have nothing to do with each other.
        end_all(&all, None, &End::Resync(Resync::Gap)).await;
        for group in all {
            group.wake().await;
        }
    }
}

/// Reads a row: a large one where it delays nobody.
async fn parse(entry: Entry) -> (Entry, Result<Option<FeedRow>>) {
    let read = |entry: Entry| {
        let row = FeedRow::parse(&entry);
        (entry, row)
    };
    if entry.payload.len() <= PARSED_HERE {
        return read(entry);
    }
    match tokio::task::spawn_blocking(move || read(entry)).await {
        Ok(it) => it,
        // As if it had been read here.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime stops, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}

async fn end_all(groups: &[Arc<Group>], position: Option<Position>, end: &End) {
    for group in groups {
        group.end(position, end).await;
    }
}

/// Reads a log for as long as its feed is there. Should telling of a row panic, everybody reads again, and reading goes on
/// behind it.
async fn keep_reading(feed: Weak<SiteFeed>, site: Arc<Site>, mut place: Token) {
    loop {
        // Ended with this task, when that is ended.
        let mut reading = Tail(tokio::spawn(tail(feed.clone(), site.clone(), place.clone())));
        if (&mut reading.0).await.is_ok() {
            return;
        }
        tracing::error!(site = %site.id, "the reader of a log for streams panicked; streams begin again");
        place = loop {
            match site.outbox().end().await {
                Ok(end) => break end,
                Err(fault) => pause(&site, &fault).await,
            }
        };
        let Some(feed) = feed.upgrade() else { return };
        feed.begin_again(place.clone()).await;
    }
}

async fn tail(feed: Weak<SiteFeed>, site: Arc<Site>, mut place: Token) {
    let mut news = site.outbox().news();
    loop {
        let read = site.outbox().resume(&place, &KINDS, ROWS).await;
        let Some(feed) = feed.upgrade() else { return };
        match read {
            Ok(Read::Batch(batch)) => {
                let (end, is_last) = (batch.end, batch.is_last);
                feed.take(&place.epoch, batch).await;
                place = Token { position: end, ..place };
                drop(feed);
                if is_last {
                    news.wait(PATIENCE).await;
                }
            }
            Ok(Read::Gap(gap)) => {
                tracing::info!(site = %site.id, reason = gap.reason.name(), "streams begin again");
                match site.outbox().end().await {
                    Ok(end) => {
                        place = end.clone();
                        feed.begin_again(end).await;
                    }
                    Err(fault) => pause(&site, &fault).await,
                }
            }
            Err(fault) => {
                drop(feed);
                pause(&site, &fault).await;
            }
        }
    }
}

async fn pause(site: &Site, fault: &Fault) {
    tracing::warn!(site = %site.id, "the log can't be read for streams: {fault:?}");
    tokio::time::sleep(PAUSE).await;
}

impl Registry {
    /// The group of those who have such a view.
    fn group(&self, view: &FeedView) -> Option<Arc<Group>> {
        self.collections.get(view.collection())?.get(view).cloned()
    }

    fn add(&mut self, view: Arc<FeedView>, most: usize) -> Result<Arc<Group>> {
        let cost = open_cost(&view);
        if self.cost + cost > most {
            let text = "The site's subscriptions have too many conditions together at the moment; try again later.";
            return Err(Fault::because(Code::Unavailable, text));
        }
        self.cost += cost;
        self.count += 1;
        let group = Arc::new(Group::new(view));
        self.collections.entry(group.view.collection().to_owned()).or_default().add(&group);
        Ok(group)
    }

    fn remove(&mut self, view: &FeedView) {
        let Some(groups) = self.collections.get_mut(view.collection()) else { return };
        if !groups.remove(view) {
            return;
        }
        if groups.count == 0 {
            self.collections.remove(view.collection());
        }
        self.cost -= open_cost(view);
        self.count -= 1;
    }

    fn all(&self) -> Vec<Arc<Group>> {
        self.collections.values().flat_map(Groups::all).cloned().collect()
    }

    fn of_collection(&self, id: &str) -> Vec<Arc<Group>> {
        self.collections.get(id).map(|it| it.all().cloned().collect()).unwrap_or_default()
    }

    /// The groups that may be told something of these items.
    fn concerned(&self, collection: &str, items: &[FeedItem]) -> Vec<Arc<Group>> {
        let Some(groups) = self.collections.get(collection) else { return Vec::new() };
        let mut concerned: Vec<Arc<Group>> = groups.open.values().cloned().collect();
        if groups.owned.is_empty() {
            return concerned;
        }
        if items.iter().any(|it| matches!(it.before, Before::Unknown)) {
            return groups.all().cloned().collect();
        }
        let owners: HashSet<&str> = items.iter().flat_map(FeedItem::owners).collect();
        let owned = owners.into_iter().filter_map(|it| groups.owned.get(it)).flat_map(HashMap::values);
        concerned.extend(owned.cloned());
        concerned
    }
}

impl Groups {
    fn all(&self) -> impl Iterator<Item = &Arc<Group>> {
        self.open.values().chain(self.owned.values().flat_map(HashMap::values))
    }

    fn get(&self, view: &FeedView) -> Option<&Arc<Group>> {
        let list = match view.owner() {
            Some(owner) => self.owned.get(owner)?,
            None => &self.open,
        };
        list.get(&view.key())
    }

    /// Adds a group that isn't there.
    fn add(&mut self, group: &Arc<Group>) {
        self.count += 1;
        self.of(&group.view).insert(group.view.key(), group.clone());
    }

    /// Whether it was there.
    fn remove(&mut self, view: &FeedView) -> bool {
        let is_gone = self.of(view).remove(&view.key()).is_some();
        self.count -= usize::from(is_gone);
        if let Some(owner) = view.owner()
            && self.owned.get(owner).is_some_and(HashMap::is_empty)
        {
            self.owned.remove(owner);
        }
        is_gone
    }

    /// Where the group of such a view belongs.
    fn of(&mut self, view: &FeedView) -> &mut HashMap<FeedKey, Arc<Group>> {
        match view.owner() {
            Some(owner) => self.owned.entry(owner.to_owned()).or_default(),
            None => &mut self.open,
        }
    }
}

/// What a group costs with each row of its collection; nothing where only one person's items concern it.
fn open_cost(view: &FeedView) -> usize {
    if view.owner().is_some() { 0 } else { cost(view) }
}
