//! The library that is put under a program to watch and disturb what it does with files (disk.c).

use crate::process::Deployment;
use std::{
    os::unix::fs::{FileExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
};

pub struct Disk {
    library: PathBuf,
    control: PathBuf,
    path: String,
}

/// What is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    Full,
    Writes,
    Syncs,
    /// The next sync of a log, once.
    OneSync,
}

impl Disk {
    /// For files whose path contains `path`.
    pub fn new(deployment: &Deployment, path: &str) -> Self {
        Self::in_folder(deployment.data(), path)
    }

    pub fn in_folder(folder: &Path, path: &str) -> Self {
        let (library, control) = (folder.join("disk.so"), folder.join("disk.control"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/disk.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(compile.status().unwrap().success(), "the C compiler that builds SQLite builds this too");
        std::fs::write(&control, " ").unwrap();
        // PostgreSQL runs as another user.
        std::fs::set_permissions(&control, PermissionsExt::from_mode(0o666)).unwrap();
        Self { library, control, path: path.to_owned() }
    }

    pub fn under<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("LD_PRELOAD", &self.library).env("FAULT_FILE", &self.control).env("FAULT_PATH", &self.path)
    }

    pub fn breaks(&self, trouble: Trouble) {
        let code = match trouble {
            Trouble::Full => "F",
            Trouble::Writes => "W",
            Trouble::Syncs => "S",
            Trouble::OneSync => "s",
        };
        self.set(code);
    }

    pub fn mends(&self) {
        self.set(" ");
    }

    /// The file is mapped into the program's memory: it must not be empty for a moment.
    fn set(&self, code: &str) {
        let control = std::fs::File::options().write(true).open(&self.control).unwrap();
        control.write_at(code.as_bytes(), 0).unwrap();
    }
}
