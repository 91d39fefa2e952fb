//! A PostgreSQL of the test's own, to be stopped, restarted and disturbed.

use crate::disk::Disk;
use std::{
    io::{BufRead, BufReader},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Stopped and deleted with the value: `scripts/with-postgres` does it when its command ends.
pub struct Cluster {
    child: Child,
    url: String,
    programs: PathBuf,
    data: PathBuf,
}

impl Cluster {
    pub fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/with-postgres");
        let says = "echo $STOA_TEST_POSTGRES; echo $STOA_TEST_POSTGRES_BIN; exec cat";
        let mut command = Command::new(script);
        command.args(["sh", "-c", says]).env_remove("STOA_TEST_POSTGRES").env("STOA_TEST_POSTGRES_FSYNC", "on");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (url, programs) = (lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap().into());
        let data = ask(&url, "show data_directory").into();
        Self { child, url, programs, data }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder with the cluster and what else its owner may read.
    pub fn folder(&self) -> &Path {
        self.data.parent().unwrap()
    }

    /// Every process is killed and the log read again at the start, as after a crash. A disk given here lies
    /// under the server from now on.
    pub fn restart(&self, disk: Option<&Disk>) {
        let owner = std::fs::metadata(&self.data).unwrap();
        let (user, group) = (owner.uid().to_string(), owner.gid().to_string());
        let is_owner = std::fs::metadata("/proc/self").unwrap().uid() == owner.uid();
        let mut command = match is_owner {
            true => Command::new(self.programs.join("pg_ctl")),
            false => {
                let mut it = Command::new("setpriv");
                it.args(["--reuid", &user, "--regid", &group, "--clear-groups", "--"])
                    .arg(self.programs.join("pg_ctl"));
                it
            }
        };
        let log = self.folder().join("server.log");
        command.args(["restart", "-m", "immediate", "-w", "-s", "-t", "60", "-D"]).arg(&self.data);
        command.arg("-l").arg(log).current_dir(self.folder()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(disk) = disk {
            disk.under(&mut command);
        }
        assert!(command.status().unwrap().success(), "PostgreSQL starts again");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.child.stdin.take();
        let _ = self.child.wait();
    }
}

/// The first value of the first row, which is text.
pub fn ask(url: &str, sql: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.query_one(sql, &[]).await.unwrap().get(0)
    })
}
