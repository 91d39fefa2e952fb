//! The program `stoa`: reads what was typed, and either serves or runs one command.

#![expect(clippy::print_stderr, reason = "a command line prints")]

mod check;
mod cli;
mod command;
mod config;
mod connection;
mod demo;
mod environments;
mod failure;
mod forward;
mod guess;
mod housekeeping;
mod indexing;
mod item_jobs;
mod key_upkeep;
mod log;
mod print;
mod remote;
mod report;
mod sealing;
mod searching;
mod serve;
mod services;
mod socket;
mod transfer;
mod watch;

use clap::{CommandFactory, Parser, error::ErrorKind};
use cli::{Cli, Common, Verb};
use config::{Config, Options};
use failure::Failure;
use rustix::{fs::Mode, process::umask};
use std::{io::Write, process::ExitCode};
use stoa_kernel::World;

/// Requests are many small allocations on several threads, which this allocator is made for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Hashes, keys and personal data are in what the program writes.
    umask(Mode::RWXG | Mode::RWXO);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse_words(&error),
    };
    let Common { storage, config, json } = cli.common;
    let load = |flags: Option<Options>| Config::load(config.as_deref(), storage.clone(), flags);
    let done = match cli.command {
        Verb::Serve { demo, options } => load(Some(*options))
            .with_places()
            .checked()
            .and_then(|config| serve::serve(config, demo))
            .map_err(Failure::from),
        Verb::Check => return check::check(&load(None).with_places(), json),
        Verb::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "stoa", &mut std::io::stdout());
            return ExitCode::SUCCESS;
        }
        Verb::Openapi => print_document(json),
        Verb::HookHost => stoa_hooks::child::run(&World::real()).map_err(|it| Failure::from(it.to_string())),
        verb => load(None)
            .checked()
            .map_err(Failure::from)
            .and_then(|config| command::from_command_line(verb, &config, json)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure, json),
    }
}

/// Prints the description of the interface; for programs on one line.
fn print_document(as_json: bool) -> Result<(), Failure> {
    let document = stoa_http::document();
    let text = match as_json {
        true => format!("{}\n", String::from_utf8_lossy(document.text())),
        false => document.pretty(),
    };
    std::io::stdout().write_all(text.as_bytes()).map_err(|it| Failure::from(it.to_string()))
}

fn fail(failure: &Failure, as_json: bool) -> ExitCode {
    match as_json {
        true => eprintln!("{}", failure.to_json()),
        false => eprintln!("stoa: {}", failure.message.replace('\n', "\n      ")),
    }
    ExitCode::FAILURE
}

/// What was typed is no command. Help and version come this way too.
fn refuse_words(error: &clap::Error) -> ExitCode {
    let is_asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_asked_for || !std::env::args_os().any(|it| it == "--json") {
        let _ = error.print();
    } else {
        let text = error.to_string();
        let message = match error.kind() {
            // What clap prints then is the help.
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "words are missing; --help shows what may follow",
            _ => text.split("\n\nUsage:").next().unwrap_or_default().trim().trim_start_matches("error: "),
        };
        eprintln!("{}", Failure::usage(message).to_json());
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
