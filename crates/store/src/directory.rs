//! The data directory: where files lie, and the lock that keeps a second process off them.

use std::{
    fs::{self, File},
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
    /// [`Code::Unavailable`] when another process holds the lock or the directory can't be written.
    pub fn hold(path: &Path) -> Result<Self> {
        let refuse = |it: std::io::Error| {
            Fault::because(Code::Unavailable, format!("can't use the data directory {}: {it}", path.display()))
        };
        for folder in ["", "sites", "outbox"] {
            fs::create_dir_all(path.join(folder)).map_err(refuse)?;
        }
        restrict(path).map_err(refuse)?;
        let lock = File::options().create(true).truncate(false).write(true).open(path.join("lock")).map_err(refuse)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(_) => Err(Fault::because(
                Code::Unavailable,
                format!("the data directory {} is in use by another process", path.display()),
            )),
        }
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

/// Hashes, keys and personal data lie here: only the owner may look.
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}
