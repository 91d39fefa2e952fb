//! Passwords that have their turn, before the threads that hash them.

use parking_lot::{Condvar, Mutex};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// A bounded queue whose takers may leave what hasn't waited for long to others.
pub(super) struct Queue<T> {
    most: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<(Instant, T)>,
    is_closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(most: usize) -> Self {
        let state = State { waiting: VecDeque::new(), is_closed: false };
        Self { most, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// `false`: as many wait as may.
    pub(super) fn push(&self, job: T) -> bool {
        let mut state = self.state.lock();
        if state.waiting.len() >= self.most {
            return false;
        }
        state.waiting.push_back((now(), job));
        drop(state);
        // Each of them waits for something else.
        self.changed.notify_all();
        true
    }

    /// The first, once it has waited for so long; nothing once the queue is closed and empty.
    pub(super) fn next(&self, after: Duration) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            let left = state.waiting.front().map(|it| after.saturating_sub(now() - it.0));
            match left {
                Some(Duration::ZERO) => return state.waiting.pop_front().map(|it| it.1),
                Some(left) => drop(self.changed.wait_for(&mut state, left)),
                None if state.is_closed => return None,
                None => self.changed.wait(&mut state),
            }
        }
    }

    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }
}

#[expect(clippy::disallowed_methods, reason = "a monotonic wait within one process, not a time that is stored")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_leaves_what_is_new_to_others() {
        let queue = Queue::new(2);
        assert!(queue.push(1) && queue.push(2) && !queue.push(3));
        assert_eq!(queue.next(Duration::ZERO), Some(1));
        let (asked, after) = (now(), Duration::from_millis(30));
        std::thread::scope(|scope| {
            let patient = scope.spawn(|| queue.next(after));
            assert_eq!(patient.join().ok().flatten(), Some(2));
        });
        assert!(now() - asked > after / 2, "it was left to others for a while");
        queue.close();
        assert_eq!(queue.next(Duration::ZERO), None);
    }
}
