//! How the command line reaches a running server: a socket in the data directory.
//!
//! The server holds the directory's lock, so nobody else may open the files. A connection carries one
//! command: a line of JSON, then for an import the bytes of the file until the writing half is shut;
//! back come lines of JSON ([`Answer`]), for an export mixed with the raw text in length-marked pieces.
//! The socket is as open as the directory, which only its owner may enter.

use crate::{command::Command, report::Output, services::Services};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
};
use stoa_store::DataDirectory;

/// One line from the server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Progress(Value),
    /// So many bytes of exported text follow the line.
    Text(usize),
    Done(Value),
    Refused(String),
}

/// A connection to the server that holds the directory; `None` when none runs.
pub fn connect(data: &Path) -> Option<UnixStream> {
    UnixStream::connect(DataDirectory::socket(data)).ok()
}

/// Sends a command with what it reads and passes on what comes back.
pub fn call(
    stream: UnixStream,
    command: &Command,
    input: Option<Box<dyn Read + Send>>,
    output: &mut dyn Output,
) -> Result<Value, String> {
    let lost = |it: std::io::Error| format!("the connection to the server was lost: {it}");
    let mut writer = stream.try_clone().map_err(lost)?;
    let line = serde_json::to_string(command).map_err(|it| it.to_string())?;
    writeln!(writer, "{line}").map_err(lost)?;
    let sending = std::thread::spawn(move || {
        if let Some(mut input) = input {
            // When the server refuses early it stops reading; its answer says why.
            let _ = std::io::copy(&mut input, &mut writer);
        }
        let _ = writer.shutdown(std::net::Shutdown::Write);
    });
    let mut reader = BufReader::new(stream);
    let result = loop {
        let mut line = String::new();
        if reader.read_line(&mut line).map_err(lost)? == 0 {
            break Err("the server ended before it answered; what it had acknowledged is kept".to_owned());
        }
        match serde_json::from_str(&line).map_err(|it| it.to_string())? {
            Answer::Progress(value) => output.progress(&value),
            Answer::Text(length) => {
                let mut text = vec![0; length];
                reader.read_exact(&mut text).map_err(lost)?;
                output.text(&text).map_err(|it| it.to_string())?;
            }
            Answer::Done(value) => break Ok(value),
            Answer::Refused(message) => break Err(message),
        }
    };
    drop(reader);
    if result.is_ok() {
        let _ = sending.join();
    }
    result
}

/// Serves commands until the process ends. A socket left by a killed server is replaced: the lock is ours.
pub fn serve(data: &Path, services: Services) -> std::io::Result<()> {
    let path = DataDirectory::socket(data);
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path)?;
    let runtime = tokio::runtime::Handle::current();
    std::thread::Builder::new().name("stoa-socket".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let (services, runtime) = (services.clone(), runtime.clone());
            let _ = std::thread::Builder::new().name("stoa-command".to_owned()).spawn(move || {
                if let Err(error) = answer(stream, &services, &runtime) {
                    tracing::debug!("a command's connection was lost: {error}");
                }
            });
        }
    })?;
    Ok(())
}

fn answer(stream: UnixStream, services: &Services, runtime: &tokio::runtime::Handle) -> std::io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut output = Answers(stream);
    let result = match serde_json::from_str::<Command>(&line) {
        Ok(command) => crate::command::run(services, runtime, command, Box::new(input), &mut output),
        Err(error) => Err(format!("not a command of this version: {error}")),
    };
    output.send(&match result {
        Ok(value) => Answer::Done(value),
        Err(message) => Answer::Refused(message),
    })
}

struct Answers(UnixStream);

impl Answers {
    fn send(&mut self, answer: &Answer) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }
}

impl Output for Answers {
    fn progress(&mut self, value: &Value) {
        // Whoever asked has gone; the work goes on to the end of its batch and then stops.
        let _ = self.send(&Answer::Progress(value.clone()));
    }

    fn text(&mut self, text: &[u8]) -> std::io::Result<()> {
        self.send(&Answer::Text(text.len()))?;
        self.0.write_all(text)
    }
}
