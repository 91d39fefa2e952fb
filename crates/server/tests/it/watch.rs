//! Looks into the database of a deployment while its server runs, to which no second program may open it.

use crate::process::Deployment;
use rusqlite::{Connection, OpenFlags};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

/// A connection of its own to the only site.
pub enum Watch {
    File(Connection),
    Server(Runtime, Client),
}

impl Watch {
    pub fn new(deployment: &Deployment) -> Self {
        let Some(url) = deployment.store_config().database_url else { return Self::File(open(deployment)) };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(&url, NoTls)).unwrap();
        runtime.spawn(connection);
        Self::Server(runtime, client)
    }

    /// What a statement counts, which names the tables as the store does.
    pub fn count(&self, sql: &str) -> i64 {
        match self {
            Self::File(connection) => connection.query_row(sql, [], |row| row.get(0)).unwrap(),
            Self::Server(runtime, client) => runtime.block_on(client.query_one(sql, &[])).unwrap().get(0),
        }
    }
}

/// The file of the site, under the name that its schema has on PostgreSQL.
fn open(deployment: &Deployment) -> Connection {
    let mut files = std::fs::read_dir(deployment.file("sites")).unwrap().map(|it| it.unwrap().path());
    let file = files.find(|it| it.extension().is_some_and(|it| it == "db")).expect("a site has a file");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags("file::memory:", flags).unwrap();
    connection.execute("attach ?1 as stoa", [format!("file:{}?mode=ro", file.display())]).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    connection
}
