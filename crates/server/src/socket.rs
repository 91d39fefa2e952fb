//! How the command line reaches a running server: a socket in the data directory.
//!
//! The server holds the directory's lock, so no other process may open the files. A connection carries one
//! command: a line of JSON, then for an import the bytes of the file in pieces ([`Pieces`]);
//! back come lines of JSON ([`Answer`]), for an export mixed with the raw text in length-marked pieces.
//! The socket is as open as the directory, which only its owner may enter.

use crate::{failure::Failure, report::Output};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
};
use stoa_store::DataDirectory;

/// The most that travels at once of a file, with its length.
const PIECE: usize = 64 * 1024;

/// One line from the server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Progress(Value),
    /// So many bytes of exported text follow the line.
    Text(usize),
    Done(Value),
    Refused(Failure),
}

/// A connection to the server that holds the directory; `None` when none runs.
pub fn connect(data: &Path) -> Option<UnixStream> {
    UnixStream::connect(DataDirectory::socket(data)).ok()
}

/// Sends a command with what it reads and passes on what comes back.
pub fn call(
    stream: UnixStream,
    command: &impl Serialize,
    input: Option<Box<dyn Read + Send>>,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let lost = |it: std::io::Error| Failure::from(format!("the connection to the server was lost: {it}"));
    let mut writer = stream.try_clone().map_err(lost)?;
    let line = serde_json::to_string(command).map_err(|it| it.to_string())?;
    writeln!(writer, "{line}").map_err(lost)?;
    let sending = std::thread::spawn(move || {
        let sent = input.map_or(Ok(()), |it| send(it, &mut writer));
        let _ = writer.shutdown(std::net::Shutdown::Write);
        sent
    });
    let mut reader = BufReader::new(stream);
    let result = loop {
        let mut line = String::new();
        if reader.read_line(&mut line).map_err(lost)? == 0 {
            break Err("the server ended before it answered; what it had acknowledged is kept".into());
        }
        match serde_json::from_str(&line).map_err(|it| it.to_string())? {
            Answer::Progress(value) => output.progress(&value),
            Answer::Text(length) => {
                let mut text = vec![0; length];
                reader.read_exact(&mut text).map_err(lost)?;
                output.text(&text).map_err(|it| it.to_string())?;
            }
            Answer::Done(value) => break Ok(value),
            Answer::Refused(failure) => break Err(failure),
        }
    };
    drop(reader);
    // A server that refuses early reads no further, and a pipe may never end.
    if !sending.is_finished() && result.is_err() {
        return result;
    }
    match sending.join() {
        Ok(Err(why)) => Err(why.into()),
        _ => result,
    }
}

/// Sends a file in pieces: four bytes of length (big-endian) and so many bytes. An empty one says that all of it was
/// sent, so that a file which can't be read to its end isn't taken for a shorter one.
///
/// # Errors
/// Why the file can't be read. When the server stops reading, its answer says why.
fn send(mut input: impl Read, to: &mut impl Write) -> Result<(), String> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = match input.read(&mut piece[4..]) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("the file can't be read: {error}")),
        };
        piece[..4].copy_from_slice(&(length as u32).to_be_bytes());
        if to.write_all(&piece[..4 + length]).is_err() || length == 0 {
            return Ok(());
        }
    }
}

/// A file that arrives in pieces.
struct Pieces<R> {
    from: R,
    /// Bytes of the piece at hand that are still to come; `None` after the last.
    left: Option<usize>,
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        if self.left == Some(0) {
            let mut length = [0; 4];
            self.from.read_exact(&mut length)?;
            self.left = Some(u32::from_be_bytes(length) as usize).filter(|it| *it > 0);
        }
        let Some(left) = &mut self.left else { return Ok(0) };
        let most = to.len().min(*left);
        match self.from.read(&mut to[..most])? {
            0 if most > 0 => Err(ErrorKind::UnexpectedEof.into()),
            length => {
                *left -= length;
                Ok(length)
            }
        }
    }
}

/// Serves commands until the process ends: `run` gets each with what it reads and where its answer goes. A socket
/// left by a killed server is replaced: the lock is ours.
pub fn serve<C, F>(data: &Path, run: F) -> std::io::Result<()>
where
    C: DeserializeOwned,
    F: Fn(C, Box<dyn Read + Send>, &mut dyn Output) -> Result<Value, Failure> + Clone + Send + 'static,
{
    let path = DataDirectory::socket(data);
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path)?;
    std::thread::Builder::new().name("stoa-socket".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let run = run.clone();
            let _ = std::thread::Builder::new().name("stoa-command".to_owned()).spawn(move || {
                if let Err(error) = answer(stream, run) {
                    tracing::debug!("a command's connection was lost: {error}");
                }
            });
        }
    })?;
    Ok(())
}

fn answer<C: DeserializeOwned>(
    stream: UnixStream,
    run: impl Fn(C, Box<dyn Read + Send>, &mut dyn Output) -> Result<Value, Failure>,
) -> std::io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut output = Answers(stream);
    let result = match serde_json::from_str(&line) {
        Ok(command) => {
            let input = Pieces { from: input, left: Some(0) };
            run(command, Box::new(input), &mut output)
        }
        Err(error) => Err(format!("not a command of this version: {error}").into()),
    };
    output.send(&match result {
        Ok(value) => Answer::Done(value),
        Err(failure) => Answer::Refused(failure),
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
