//! The data directory: where files lie, and the lock that keeps a second process off them.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use stoa_kernel::{Code, Fault, Result};

/// A data directory held by this process. On PostgreSQL it holds only outbox files, lock and socket.
pub struct DataDirectory {
    path: PathBuf,
    /// Held while the value lives; the operating system releases it when the process ends, however it ends.
    _lock: File,
}

impl DataDirectory {
    /// Makes the directory if it is missing and takes its lock.
    ///
    /// # Errors
    /// [`Code::Unavailable`] when another process holds the lock, the directory can't be written, or it is used for
    /// something else; then nothing in it was changed.
    pub fn hold(path: &Path) -> Result<Self> {
        Self::check(path)?;
        let refuse = |it: std::io::Error| refused(path, &it);
        fs::create_dir_all(path).map_err(refuse)?;
        restrict(path, 0o700).map_err(refuse)?;
        for folder in ["sites", "outbox"] {
            fs::create_dir_all(path.join(folder)).map_err(refuse)?;
        }
        for folder in ["", "sites", "outbox"] {
            restrict_files(&path.join(folder)).map_err(refuse)?;
        }
        let lock = File::options().create(true).truncate(false).write(true).open(path.join("lock")).map_err(refuse)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(_) => Err(Fault::because(
                Code::Unavailable,
                format!("the data directory {} is in use by another process", path.display()),
            )),
        }
    }

    /// Looks whether a directory, if it is there, may be one of ours. Changes nothing.
    ///
    /// # Errors
    /// [`Code::Unavailable`] when it is used for something else or can't be read.
    pub fn check(path: &Path) -> Result<()> {
        let Some(name) = foreign_entry(path).map_err(|it| refused(path, &it))? else { return Ok(()) };
        let text = format!(
            "{} is no data directory of Stoa: it holds {name}; name one that is empty or not there yet",
            path.display()
        );
        Err(Fault::because(Code::Unavailable, text))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The socket through which command line calls reach a running server.
    pub fn socket(path: &Path) -> PathBuf {
        path.join("stoa.sock")
    }

    pub(crate) fn catalog_file(path: &Path) -> PathBuf {
        path.join("catalog.db")
    }

    pub(crate) fn site_file(path: &Path, site: &str) -> PathBuf {
        path.join("sites").join(format!("{site}.db"))
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Fault {
    Fault::because(Code::Unavailable, format!("can't use the data directory {}: {error}", path.display()))
}

/// What may be in a directory before it is ours: what we make in the moment before its lock is there, and what those
/// who prepare a volume or a configuration leave.
const HARMLESS: [&str; 4] = ["sites", "outbox", "stoa.toml", "lost+found"];

/// An entry of a directory that isn't ours: one with something in it, but without our lock.
fn foreign_entry(path: &Path) -> std::io::Result<Option<String>> {
    if path.join("lock").exists() {
        return Ok(None);
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !HARMLESS.contains(&name.as_str()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Hashes, keys and personal data lie here: only the owner may look.
fn restrict(path: &Path, mode: u32) -> std::io::Result<()> {
    match fs::symlink_metadata(path)?.permissions().mode() & 0o777 == mode {
        true => Ok(()),
        false => fs::set_permissions(path, fs::Permissions::from_mode(mode)),
    }
}

/// The same for the files of a folder: older programs made them readable for everyone who could enter it.
fn restrict_files(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = match entry.metadata() {
            // Files of a log come and go.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            other => other?,
        };
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}
