//! Whether it is the endpoint that fails, or one event alone.

/// So many different events that fail in a row, and it is the endpoint.
const MOST: usize = 3;

/// The events that failed since the last one that was taken.
#[derive(Debug, Default)]
pub(super) struct Streak(Vec<String>);

impl Streak {
    /// An event failed; whether it is the endpoint.
    pub(super) fn failed(&mut self, id: &str) -> bool {
        if !self.0.iter().any(|it| it == id) {
            self.0.push(id.to_owned());
        }
        self.0.len() >= MOST
    }

    pub(super) fn taken(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_fails_when_three_events_do_in_a_row() {
        let mut streak = Streak::default();
        assert!(["a", "a", "b", "a", "b"].into_iter().all(|it| !streak.failed(it)));
        streak.taken();
        assert!(["b", "c", "c"].into_iter().all(|it| !streak.failed(it)));
        assert!(streak.failed("d"));
    }
}
