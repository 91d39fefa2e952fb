//! Where commands are typed: sends them to where they are carried out, and asks for what only a person can say.

use crate::{cli::Verb, config::Config, failure::Failure, report::Report, socket};
use serde_json::Value;
use std::io::{BufRead, IsTerminal, Read, Write};

/// A command with the file that goes with it, carried out in this process.
pub type RunHere = fn(&Config, &Verb, Option<Box<dyn Read + Send>>, &mut Report) -> Result<Value, Failure>;

/// Where commands are typed and answered.
pub struct Terminal<'c> {
    pub config: &'c Config,
    pub as_json: bool,
    pub report: Report,
    /// What carries a command out in this process.
    pub here: RunHere,
}

impl Terminal<'_> {
    /// Has a command carried out, by the server that holds the data directory or by this process.
    pub fn run(&mut self, verb: &Verb, input: Option<Box<dyn Read + Send>>) -> Result<Value, Failure> {
        let result = match socket::connect(&self.config.data) {
            Some(stream) => socket::call(stream, verb, input, &mut self.report),
            None => (self.here)(self.config, verb, input, &mut self.report),
        };
        self.report.end();
        result
    }

    /// Has a command carried out by the server that holds the data directory, and by nothing else.
    pub fn run_in_server(&mut self, verb: &Verb) -> Result<Value, Failure> {
        let data = &self.config.data;
        let stream = socket::connect(data).ok_or_else(|| format!("no server runs on {}", data.display()))?;
        socket::call(stream, verb, None, &mut self.report)
    }

    /// Says something to a person, beside what another program may take.
    #[expect(clippy::print_stderr, reason = "a sentence to a person")]
    pub fn note(&self, text: &str) {
        eprintln!("{text}");
    }

    /// Asks for an answer to be typed. Without a terminal there is none: `otherwise` says what to write instead.
    #[expect(clippy::print_stderr, reason = "a question to a person")]
    pub fn ask(&self, question: &str, otherwise: &str) -> Result<String, Failure> {
        if self.as_json || !std::io::stdin().is_terminal() {
            return Err(Failure::usage(otherwise));
        }
        eprint!("{question} ");
        let _ = std::io::stderr().flush();
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).map_err(|it| it.to_string())?;
        Ok(answer.trim().to_owned())
    }
}
