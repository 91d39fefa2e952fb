//! `stoa check`: tells what is wrong with the configuration, and where, without starting anything.

#![expect(clippy::print_stdout, reason = "this is what the command prints")]

use crate::{
    config::{Config, Loaded, Tls},
    connection::Certificates,
    failure::sentence,
};
use serde_json::json;
use std::{path::Path, process::ExitCode};
use stoa_identity::{session::Places, telephone::TelephoneConfig};
use stoa_store::DataDirectory;

struct Finding {
    key: &'static str,
    is_good: bool,
    text: String,
}

/// Prints what was checked; fails when anything is wrong. What can't be meant is reported beside what can.
pub fn check(loaded: &Loaded, as_json: bool) -> ExitCode {
    let config = &loaded.config;
    let mistake = |it: &String| Finding { key: "configuration", is_good: false, text: it.clone() };
    let mut findings: Vec<Finding> = loaded.mistakes.iter().map(mistake).collect();
    let is_about = |key: &str| loaded.mistakes.iter().any(|it| it.contains(key));
    findings.push(data(&config.data));
    if !is_about("database_url") {
        findings.push(database(config));
    }
    findings.extend(config.tls.as_ref().map(tls));
    if !is_about("smtp") {
        findings.push(smtp(config));
    }
    if !is_about("reach") {
        findings.push(reach(config));
    }
    findings.extend(config.telephone.as_ref().map(telephone));
    findings.extend(config.places.as_ref().map(places));
    findings.push(listen(config));
    if !is_about("public_url") {
        findings.push(public_url(config));
    }
    print(&findings, as_json)
}

fn print(findings: &[Finding], as_json: bool) -> ExitCode {
    let is_good = findings.iter().all(|it| it.is_good);
    if as_json {
        let list: Vec<_> =
            findings.iter().map(|it| json!({ "key": it.key, "ok": it.is_good, "text": it.text })).collect();
        println!("{}", json!({ "ok": is_good, "findings": list }));
    } else {
        for finding in findings {
            println!("{} {:<14} {}", if finding.is_good { "ok   " } else { "wrong" }, finding.key, finding.text);
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn data(path: &Path) -> Finding {
    let (is_good, text) = match std::fs::metadata(path) {
        Ok(it) if !it.is_dir() => (false, format!("{} is not a directory", path.display())),
        Ok(it) if it.permissions().readonly() => (false, format!("{} can't be written", path.display())),
        Ok(_) => match DataDirectory::check(path) {
            Ok(()) => (true, format!("{}", path.display())),
            Err(fault) => (false, sentence(fault)),
        },
        Err(_) => match path.parent().map(|it| if it.as_os_str().is_empty() { Path::new(".") } else { it }) {
            Some(parent) if parent.is_dir() => (true, format!("{} will be made", path.display())),
            _ => (false, format!("{}: the directory above it does not exist", path.display())),
        },
    };
    Finding { key: "data", is_good, text }
}

fn database(config: &Config) -> Finding {
    let key = "database_url";
    let Some(url) = &config.database_url else {
        return Finding { key, is_good: true, text: "not set: SQLite files in the data directory".to_owned() };
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Finding { key, is_good: false, text: error.to_string() },
    };
    match runtime.block_on(stoa_store::Store::probe(url)) {
        Ok(version) => Finding { key, is_good: true, text: format!("PostgreSQL {version} answers") },
        Err(fault) => Finding { key, is_good: false, text: sentence(fault) },
    }
}

fn smtp(config: &Config) -> Finding {
    let key = "smtp";
    let Some(smtp) = &config.smtp else {
        return match config.require_mail() {
            Ok(()) => {
                Finding { key, is_good: true, text: "not set: messages are kept in the data directory".to_owned() }
            }
            Err(text) => Finding { key, is_good: false, text },
        };
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Finding { key, is_good: false, text: error.to_string() },
    };
    let probed = runtime.block_on(async { stoa_outbound::Smtp::new(smtp)?.probe().await });
    match probed {
        Ok(()) => Finding { key, is_good: true, text: format!("{}:{} answers", smtp.host, smtp.port) },
        Err(error) => Finding { key, is_good: false, text: format!("{}:{}: {error}", smtp.host, smtp.port) },
    }
}

fn reach(config: &Config) -> Finding {
    let exceptions = &config.reach.exceptions;
    let mut called = vec!["public addresses".to_owned()];
    if exceptions.loopback {
        called.push("this machine, because the server listens on loopback only".to_owned());
    }
    called.extend(exceptions.allow.iter().map(ToString::to_string));
    Finding { key: "reach", is_good: true, text: format!("may call {}", called.join(", ")) }
}

/// Nothing is sent: that would cost something, and reach a person.
fn telephone(config: &TelephoneConfig) -> Finding {
    let TelephoneConfig { provider, prefixes, except, .. } = config;
    let mut text = format!("{} sends codes to numbers that begin with +{}", provider.url, prefixes.join(", +"));
    if !except.is_empty() {
        text.push_str(&format!(", except with +{}", except.join(", +")));
    }
    Finding { key: "telephone", is_good: true, text }
}

/// All of the file is read, which a server that starts doesn't.
fn places(places: &Places) -> Finding {
    let (is_good, text) = match places.verify() {
        Ok(()) => (true, format!("{} tells of places", places.kind())),
        Err(error) => (false, error),
    };
    Finding { key: "place_database", is_good, text }
}

fn tls(tls: &Tls) -> Finding {
    let key = "tls_cert";
    let _ = rustls::crypto::ring::default_provider().install_default();
    match Certificates::read(tls) {
        Ok(_) => Finding { key, is_good: true, text: format!("{}", tls.cert.display()) },
        Err(text) => Finding { key, is_good: false, text },
    }
}

fn listen(config: &Config) -> Finding {
    let key = "port";
    match std::net::TcpListener::bind((config.host, config.port)) {
        Ok(_) => Finding { key, is_good: true, text: format!("{}:{} is free", config.host, config.port) },
        Err(error) => Finding { key, is_good: false, text: format!("{}:{}: {error}", config.host, config.port) },
    }
}

fn public_url(config: &Config) -> Finding {
    let key = "public_url";
    match &config.public_url {
        Some(url) => Finding { key, is_good: true, text: url.clone() },
        None if config.host.is_loopback() => {
            Finding { key, is_good: true, text: "not set: the Host header is used, on loopback".to_owned() }
        }
        None => Finding {
            key,
            is_good: false,
            text: format!(
                "host is {}, which others can reach; set public_url so that links and cookies are right",
                config.host
            ),
        },
    }
}
