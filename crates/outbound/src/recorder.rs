//! Keeps messages in memory: for tests.

use crate::{Mail, Mailer, Sending};
use std::sync::Mutex;

/// A mailer whose messages can be looked at.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Vec<Mail>>);

impl Recorder {
    /// All messages since the last call, oldest first.
    pub fn take(&self) -> Vec<Mail> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(|it| it.into_inner()))
    }

    /// The newest message to `address`, if there is one.
    pub fn last_to(&self, address: &str) -> Option<Mail> {
        let kept = self.0.lock().unwrap_or_else(|it| it.into_inner());
        kept.iter().rev().find(|it| it.to == address).cloned()
    }
}

impl Mailer for Recorder {
    fn send<'a>(&'a self, mail: &'a Mail) -> Sending<'a> {
        self.0.lock().unwrap_or_else(|it| it.into_inner()).push(mail.clone());
        Box::pin(async { Ok(()) })
    }
}
