//! A file that takes lines up to a bound.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    sync::Mutex,
};

/// Says that there was more than the file takes: who reads it must not believe that it is all.
const FULL: &[u8] = b"{\"isFull\":true}\n";

/// Lines of one process, each written at once, so that a process that is killed leaves whole ones but for the last.
pub(super) struct LineFile(Mutex<Open>);

struct Open {
    file: File,
    /// Bytes that it still takes; none once it is full.
    left: Option<usize>,
}

impl LineFile {
    /// The file of this process in the directory, made for its owner only.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn open(directory: &Path, most: usize) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let path = directory.join(format!("{}.jsonl", std::process::id()));
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self(Mutex::new(Open { file, left: Some(most) })))
    }

    /// Writes a line. A file that is full takes no more, nor one that can't be written.
    pub(super) fn append(&self, mut line: String) {
        line.push('\n');
        let mut open = self.0.lock().unwrap_or_else(|it| it.into_inner());
        let Some(left) = open.left else { return };
        open.left = left.checked_sub(line.len());
        let bytes = if open.left.is_some() { line.as_bytes() } else { FULL };
        if let Err(error) = open.file.write_all(bytes) {
            open.left = None;
            tracing::error!("exchanges are not written down any more: {error}");
        }
    }
}
