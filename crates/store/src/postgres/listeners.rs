//! The sites whose logs have readers on this node ([`super::news`]).

use crate::news::Announcer;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};
use stoa_kernel::SiteId;

/// The sites that have readers on this node.
#[derive(Default)]
pub(super) struct Listeners(Mutex<Listening>);

#[derive(Default)]
struct Listening {
    sites: HashMap<String, Listener>,
    /// Whether a task asks for them.
    is_asked: bool,
}

struct Listener {
    announcer: Weak<Announcer>,
    /// The newest row that was announced: transaction and number.
    newest: (i64, i64),
    /// Announcements so far.
    count: u64,
}

/// What is asked: sites, and the newest known row of each as two lists.
#[derive(Default)]
pub(super) struct Question {
    pub sites: Vec<String>,
    pub transactions: Vec<i64>,
    pub numbers: Vec<i64>,
    /// Whether this node wrote something since the last one.
    pub is_busy: bool,
}

impl Listeners {
    /// Lets a site be asked for. `true`: a task is to be begun that asks.
    pub(super) fn add(&self, site: &SiteId, announcer: &Arc<Announcer>) -> bool {
        let listener = Listener { announcer: Arc::downgrade(announcer), newest: (0, 0), count: announcer.count() };
        let mut listening = self.0.lock();
        listening.sites.insert(site.as_str().to_owned(), listener);
        !std::mem::replace(&mut listening.is_asked, true)
    }

    /// What is to be asked now; nothing when no reader is left: then the task is over.
    pub(super) fn question(&self) -> Option<Question> {
        let mut listening = self.0.lock();
        listening.sites.retain(|_, it| it.announcer.upgrade().is_some_and(|it| it.is_heard()));
        if listening.sites.is_empty() {
            listening.is_asked = false;
            return None;
        }
        let mut question = Question::default();
        for (site, it) in &mut listening.sites {
            question.sites.push(site.clone());
            question.transactions.push(it.newest.0);
            question.numbers.push(it.newest.1);
            let count = it.announcer.upgrade().map_or(it.count, |it| it.count());
            question.is_busy |= count != it.count;
            it.count = count;
        }
        Some(question)
    }

    /// Tells the readers of a site that this is its newest row.
    pub(super) fn announce(&self, site: &str, newest: (i64, i64)) {
        let mut listening = self.0.lock();
        let Some(listener) = listening.sites.get_mut(site) else { return };
        listener.newest = newest;
        if let Some(announcer) = listener.announcer.upgrade() {
            announcer.announce();
            listener.count = announcer.count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_asked_without_readers() {
        let (listeners, announcer, site) = (Listeners::default(), Arc::new(Announcer::default()), SiteId::from("s"));
        let news = announcer.listen();
        assert!(listeners.add(&site, &announcer));
        assert!(!listeners.add(&site, &announcer), "a task asks already");
        listeners.announce("s", (7, 9));
        let question = listeners.question().expect("it is heard");
        assert_eq!((question.sites, question.transactions, question.numbers), (vec!["s".to_owned()], vec![7], vec![9]));
        assert!(!question.is_busy, "that was told, not written here");
        announcer.announce();
        assert!(listeners.question().is_some_and(|it| it.is_busy));
        drop(news);
        assert!(listeners.question().is_none());
        let _news = announcer.listen();
        assert!(listeners.add(&site, &announcer), "the task was over");
    }
}
