//! Keeps messages in memory: for tests.

use crate::{Letter, Mail, Mailer, Sending};
use std::sync::Mutex;

/// A mailer whose messages can be looked at.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Vec<Letter>>);

impl Recorder {
    /// All messages since the last call, oldest first.
    pub fn take(&self) -> Vec<Mail> {
        self.take_letters().into_iter().map(|it| it.mail).collect()
    }

    /// As [`Recorder::take`], with what the headers say.
    pub fn take_letters(&self) -> Vec<Letter> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(|it| it.into_inner()))
    }

    /// The code of the newest message to `address` that has one.
    pub fn last_code_to(&self, address: &str) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(|it| it.into_inner());
        kept.iter().rev().filter(|it| it.mail.to == address).find_map(|it| it.mail.code.clone())
    }

    /// The newest message to `address`, if there is one.
    pub fn last_to(&self, address: &str) -> Option<Mail> {
        let kept = self.0.lock().unwrap_or_else(|it| it.into_inner());
        kept.iter().rev().find(|it| it.mail.to == address).map(|it| it.mail.clone())
    }
}

impl Mailer for Recorder {
    fn send<'a>(&'a self, letter: &'a Letter) -> Sending<'a> {
        self.0.lock().unwrap_or_else(|it| it.into_inner()).push(letter.clone());
        Box::pin(async { Ok(()) })
    }

    fn is_local(&self) -> bool {
        true
    }
}
