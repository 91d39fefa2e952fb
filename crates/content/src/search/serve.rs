//! The work on the indexes of sites, and how late they are.

use super::{
    indexer::{Indexer, Stop},
    state,
    turn::GATHERING,
};
use crate::Content;
use std::{sync::Arc, time::Duration};
use stoa_kernel::{Millis, Result};
use stoa_store::{Consumers, Held, Names, ReaderPool, Serving, Site, TxFuture, Worker, boxed, outbox::Start};
use tokio::time::sleep;

/// The consumer of a site's log that keeps its indexes.
const CONSUMER: &str = "search";
/// How soon is looked again without news.
const NEWS: Duration = Duration::from_secs(60);
/// The same where a collection rests.
const AFTER_REST: Duration = Duration::from_secs(5);

/// Unread rows of the log that are counted at most: any visitor may ask.
const MOST_COUNTED: i64 = 1_000;

/// How late the index of a site is. None of it: a search finds what was written before it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLag {
    /// Rows of the log that weren't dealt with, up to [`MOST_COUNTED`].
    pub rows: i64,
    /// How long the first of them has waited.
    pub waited: Millis,
    /// Collections that aren't wholly read yet.
    pub unbuilt: i64,
}

impl SearchLag {
    pub fn is_none(&self) -> bool {
        self.rows == 0 && self.unbuilt == 0
    }
}

impl Content {
    /// Has the indexes of a site kept from now on, by whichever node works for its consumers ([`Self::search_serve`]).
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn search_subscribe(&self, site: &Site) -> Result<()> {
        // What is there by now is read from the tables.
        site.outbox().subscribe(CONSUMER, Start::Newest).await
    }

    /// Keeps indexes, for as long as the answer lives.
    pub fn search_serve(&self, consumers: &Consumers) -> Serving {
        consumers.serve(Names::Kind(CONSUMER), self.search_worker())
    }

    /// What keeps the index of a site for whoever holds its consumer.
    pub fn search_worker(&self) -> Arc<dyn Worker> {
        Arc::new(Keeper(self.clone()))
    }

    /// How late the index of a site is.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn search_lag(&self, site: &Site) -> Result<SearchLag> {
        let lag = site.outbox().lag(CONSUMER, MOST_COUNTED, self.state.world.now()).await?;
        // Where no consumer is subscribed yet all collections wait to be read.
        let (rows, waited) = lag.unwrap_or_default();
        let id = site.id.clone();
        // Asked for after the rows: one that was dealt with meanwhile may have been a definition.
        let unbuilt = site.read(ReaderPool::Point, move |tx| boxed!(state::unbuilt(tx, &id).await)).await?;
        Ok(SearchLag { rows, waited, unbuilt })
    }
}

struct Keeper(Content);

impl Worker for Keeper {
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()> {
        boxed!(keep(self.0.clone(), held).await)
    }
}

async fn keep(content: Content, held: Held) -> Result<()> {
    let (mut news, mut indexer) = (held.news(), Indexer::new(content, held.clone()));
    while held.is_held() {
        match indexer.turn().await {
            Ok(true) => {}
            Ok(false) => {
                let most = if indexer.resting.is_empty() { NEWS } else { AFTER_REST };
                if news.wait(most).await {
                    sleep(Duration::from_millis(GATHERING.unsigned_abs())).await;
                }
            }
            Err(Stop::Lost) => break,
            Err(Stop::Fault(fault)) => return Err(fault),
        }
    }
    Ok(())
}
