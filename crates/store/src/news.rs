//! What wakes the readers of a log in this process.

use std::time::Duration;
use tokio::sync::watch;

/// Where commits are announced. Costs a look at a counter while nothing listens.
#[derive(Debug)]
pub(crate) struct Announcer(watch::Sender<u64>);

/// Wakes a reader after each commit that wrote a row, also one that came between its last reading and its waiting.
#[derive(Debug)]
pub struct News(watch::Receiver<u64>);

impl Default for Announcer {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Announcer {
    /// After the commit. Who begins to listen later reads the row anyway.
    pub(crate) fn announce(&self) {
        if self.is_heard() {
            self.0.send_modify(|count| *count = count.wrapping_add(1));
        }
    }

    pub(crate) fn listen(&self) -> News {
        News(self.0.subscribe())
    }

    /// Whether anything listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// How many announcements there were.
    pub(crate) fn count(&self) -> u64 {
        *self.0.borrow()
    }
}

impl News {
    /// Waits for the next commit, at most for `limit`: rows that only this node wrote are announced at once, and those
    /// of others soon. `true`: there is something to read.
    pub async fn wait(&mut self, limit: Duration) -> bool {
        let has_ended = match tokio::time::timeout(limit, self.0.changed()).await {
            Ok(Ok(())) => return true,
            Ok(Err(_)) => true,
            Err(_) => false,
        };
        if has_ended {
            // The site is closed; nothing is announced any more.
            tokio::time::sleep(limit).await;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn announcement_between_reading_and_waiting_is_not_missed() {
        let announcer = Announcer::default();
        announcer.announce();
        let mut news = announcer.listen();
        assert!(!news.wait(Duration::ZERO).await, "what was before can be read");
        announcer.announce();
        announcer.announce();
        assert!(news.wait(Duration::from_secs(60)).await);
        assert!(!news.wait(Duration::ZERO).await, "one reading sees both");
    }

    #[tokio::test]
    async fn announcements_are_counted_only_while_heard() {
        let announcer = Announcer::default();
        announcer.announce();
        assert_eq!((announcer.is_heard(), announcer.count()), (false, 0));
        let news = announcer.listen();
        announcer.announce();
        assert_eq!((announcer.is_heard(), announcer.count()), (true, 1));
        drop(news);
        assert!(!announcer.is_heard());
    }
}
