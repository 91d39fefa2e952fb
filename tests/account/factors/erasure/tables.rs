//! What each table may hold of a member, and all that a table, a dump and the files of either engine have.

use super::MARK;
use futures_util::TryStreamExt;
use rusqlite::{Connection, OpenFlags, types::ValueRef};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use stoa_testkit::{Engine, TestApp};

/// What a table may hold of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// What the member wrote or is called: the test puts something there, and it must be gone.
    Words,
    /// Ids, hashes, times, network addresses and words of the server's own.
    Ids,
    /// Nothing of members.
    Nothing,
}

use Holds::{Ids, Nothing, Words};

/// Every table of both engines. `c*` are those of items, `write_lane_*` are PostgreSQL's alone, `sqlite_*` SQLite's.
const TABLES: &[(&str, Holds)] = &[
    // Of a site: its items.
    ("c*", Words),
    ("item_link", Words),
    ("item_translation", Words),
    ("search_list", Words),
    ("search_collection", Nothing),
    ("search_segment", Nothing),
    ("outbox", Words),
    ("webhook_event", Words),
    ("async_job", Words),
    ("hook_log", Words),
    ("collection", Nothing),
    ("content_index", Nothing),
    ("relation", Nothing),
    ("special_permission", Ids),
    ("sweep", Ids),
    ("visitor_collection", Ids),
    ("visitor_member", Ids),
    ("environment_swap", Nothing),
    ("environment_worker", Nothing),
    ("hook_version", Nothing),
    ("hook_active", Nothing),
    ("provider", Nothing),
    ("webhook_endpoint", Nothing),
    ("webhook_secret", Nothing),
    // Its members.
    ("member", Words),
    ("member_noun", Words),
    ("member_tie", Words),
    ("factor", Words),
    ("flow", Words),
    ("link", Words),
    ("mail", Words),
    ("passkey", Words),
    ("provider_link", Words),
    ("verification", Words),
    ("audit", Ids),
    ("captcha", Ids),
    ("code", Ids),
    ("consent", Ids),
    ("device", Ids),
    ("factor_guard", Ids),
    ("passkey_challenge", Ids),
    ("phone_count", Ids),
    ("provider_answer", Ids),
    ("push_question", Ids),
    ("recovery_code", Ids),
    ("redirect_session", Ids),
    ("refresh_token", Ids),
    ("remembered_browser", Ids),
    ("session", Ids),
    ("session_token", Ids),
    ("install_code", Nothing),
    ("installation", Nothing),
    // What is known of the site and of its log.
    ("setting", Nothing),
    ("fence", Nothing),
    ("log", Nothing),
    ("log_reason", Nothing),
    ("outbox_consumer", Nothing),
    ("write_lane_*", Nothing),
    // The catalogue. Persons are those who run sites.
    ("api_key", Nothing),
    ("app_key", Nothing),
    ("client", Nothing),
    ("environment_copy", Nothing),
    ("host", Nothing),
    ("invite", Nothing),
    ("key_upkeep", Nothing),
    ("node", Nothing),
    ("person", Nothing),
    ("person_link", Nothing),
    ("person_role", Nothing),
    ("person_session", Nothing),
    ("revocation", Ids),
    ("seal_rotation", Nothing),
    ("signing_key", Nothing),
    ("site", Nothing),
    ("site_log", Nothing),
    ("migration", Nothing),
    ("sqlite_*", Nothing),
];

/// The line of a table: items have one for all of their tables.
fn line(table: &str) -> &str {
    let numbered = |prefix: &str| table.strip_prefix(prefix).is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    match table {
        _ if numbered("c") => "c*",
        _ if numbered("write_lane_") => "write_lane_*",
        _ if table.starts_with("sqlite_") => "sqlite_*",
        other => other,
    }
}

/// Fails when a table has no line, when there is a line without a table, and when the words that members left do not stand
/// exactly where the lines say: a place to which the test brings none would prove nothing.
pub fn assert_words_are_everywhere(dump: &BTreeMap<String, Vec<u8>>, engine: Engine) {
    let mut seen = BTreeSet::new();
    let mut marked = BTreeSet::new();
    for (table, bytes) in dump {
        let line = line(table);
        seen.insert(line);
        if stands_in(bytes, MARK) {
            marked.insert(line);
        }
    }
    let foreign = if engine == Engine::Sqlite { "write_lane_*" } else { "sqlite_*" };
    let listed: BTreeSet<&str> = TABLES.iter().map(|it| it.0).filter(|it| *it != foreign).collect();
    assert_eq!(seen, listed, "each table says what it may hold of a member");
    let expected: BTreeSet<&str> = TABLES.iter().filter(|it| it.1 == Words).map(|it| it.0).collect();
    assert_eq!(marked, expected, "the words of members stand where the tables say");
}

/// The tables and files in which the words of members stand.
pub async fn places(app: &TestApp, engine: Engine) -> Vec<String> {
    let dump = dump(app, engine).await;
    let mut found: Vec<String> = dump.iter().filter(|it| stands_in(it.1, MARK)).map(|it| it.0.clone()).collect();
    found.extend(files(app, engine).await);
    found
}

/// Whether every word of these stands somewhere in the tables.
pub fn missing(dump: &BTreeMap<String, Vec<u8>>, words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !dump.values().any(|it| stands_in(it, word))).cloned().collect()
}

fn stands_in(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|it| it == word.as_bytes())
}

/// Every table of the databases, with all that its rows have. Tables of the same name are one.
pub async fn dump(app: &TestApp, engine: Engine) -> BTreeMap<String, Vec<u8>> {
    let mut tables = BTreeMap::new();
    if engine == Engine::Sqlite {
        for file in all_files(&app.kit.data()) {
            if file.extension().is_some_and(|it| it == "db") {
                dump_sqlite(&file, &mut tables);
            }
        }
        return tables;
    }
    let (client, connection) = connect(app).await;
    let names = "select quote_ident(table_schema), quote_ident(table_name) from information_schema.tables \
                 where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')";
    for row in client.query(names, &[]).await.unwrap() {
        let (schema, name): (String, String) = (row.get(0), row.get(1));
        // In this form texts and bytes are as they are.
        let sql = format!("copy {schema}.{name} to stdout (format binary)");
        let copy = client.copy_out(sql.as_str()).await.unwrap();
        let pieces: Vec<_> = std::pin::pin!(copy).try_collect().await.unwrap();
        tables.entry(name).or_default().extend(pieces.concat());
    }
    drop(client);
    connection.await.unwrap();
    tables
}

fn dump_sqlite(file: &Path, tables: &mut BTreeMap<String, Vec<u8>>) {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut found = connection.prepare("select name from sqlite_master where type = 'table'").unwrap();
    let names: Vec<String> = found.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for name in names {
        let mut statement = connection.prepare(&format!("select * from \"{name}\"")).unwrap();
        let (columns, bytes) = (statement.column_count(), tables.entry(name).or_default());
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                if let ValueRef::Text(value) | ValueRef::Blob(value) = row.get_ref(column).unwrap() {
                    bytes.extend_from_slice(value);
                }
                bytes.push(0);
            }
        }
    }
}

/// The files that have the mark: of the data directory, and on PostgreSQL those of the database itself.
async fn files(app: &TestApp, engine: Engine) -> Vec<String> {
    let has_mark = |it: &&std::path::PathBuf| stands_in(&std::fs::read(it).unwrap_or_default(), MARK);
    let all = all_files(&app.kit.data());
    let mut found: Vec<String> = all.iter().filter(has_mark).map(|it| it.display().to_string()).collect();
    if engine == Engine::Postgres {
        let (client, connection) = connect(app).await;
        client.batch_execute("checkpoint").await.unwrap();
        let sql = "select f.path from (select 'base/' || oid || '/' || pg_ls_dir('base/' || oid) as path \
                   from pg_database where datname = current_database()) f, \
                   lateral pg_stat_file(f.path, true) s where s.size > 0 and \
                   position(convert_to($1, 'UTF8') in pg_read_binary_file(f.path, 0, s.size, true)) > 0";
        found.extend(client.query(sql, &[&MARK]).await.unwrap().iter().map(|it| it.get::<_, String>(0)));
        drop(client);
        connection.await.unwrap();
    }
    found
}

fn all_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    entries.flat_map(|it| if it.is_dir() { all_files(&it) } else { vec![it] }).collect()
}

async fn connect(app: &TestApp) -> (tokio_postgres::Client, tokio::task::JoinHandle<()>) {
    let url = app.kit.config.database_url.as_deref().unwrap();
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    (client, tokio::spawn(async move { connection.await.unwrap() }))
}
