//! The program `stoa`: reads what was typed, and either serves or runs one command.

#![expect(clippy::print_stderr, reason = "a command line prints")]

mod audit;
mod captcha;
mod check;
mod cli;
mod command;
mod config;
mod connection;
mod demo;
mod housekeeping;
mod indexing;
mod item_jobs;
mod log;
mod mail;
mod member_import;
mod remote;
mod report;
mod serve;
mod services;
mod socket;
mod transfer;

use clap::Parser;
use cli::{Cli, Verb};
use config::Config;
use std::process::ExitCode;

/// Requests are many small allocations on several threads, which this allocator is made for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let config = match Config::load(cli.config.as_deref(), cli.options.clone()) {
        Ok(config) => config,
        Err(error) if matches!(cli.command, Verb::Check) => return check::refused(&error, cli.json),
        Err(error) => return fail(&error),
    };
    let done = match cli.command {
        Verb::Serve { demo } => serve::serve(config, demo),
        Verb::Check => return check::check(&config, cli.json),
        verb => command::from_command_line(verb, &config, cli.json),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &str) -> ExitCode {
    eprintln!("stoa: {error}");
    ExitCode::FAILURE
}
