//! Searches over a million documents, beside the same questions to the full-text search of both engines, ranked as they
//! rank: FTS5 by `bm25`, PostgreSQL by `ts_rank` over a stored and indexed `tsvector`. Each answers the best fifty.

use crate::{
    corpus::{Corpus, Document, RARE},
    figure::{Figures, Sizes, median},
    program::{Program, new_database, on_cluster},
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Documents of one transaction.
const BATCH: usize = 1_000;
const LIMIT: usize = 50;
/// A question is asked again until so much time has passed.
const LEAST: Duration = Duration::from_millis(300);

/// A question as each of the three is asked.
struct Question {
    expression: String,
    mode: &'static str,
    /// Nothing where there is no such question.
    fts5: Option<String>,
    tsquery: Option<String>,
}

/// Those that the design of the index was chosen by.
fn all() -> Vec<Question> {
    let [first, second] = RARE;
    let words = |mode: &'static str, words: &[&str]| {
        let (fts5, tsquery) = if mode == "AND" { (" AND ", " & ") } else { (" OR ", " | ") };
        let prefixes = |it: &&str| it.replace('*', ":*");
        let tsquery = words.iter().map(prefixes).collect::<Vec<_>>().join(tsquery);
        Question { expression: words.join(" "), mode, fts5: Some(words.join(fts5)), tsquery: Some(tsquery) }
    };
    let fuzzy = Question { expression: "ganol~ car".to_owned(), mode: "AND", fts5: None, tsquery: None };
    vec![
        words("AND", &[first, second]),
        words("AND", &["ganlo", "car"]),
        words("OR", &["ganlo", "car"]),
        words("AND", &["red", "car"]),
        words("AND", &["the", "of"]),
        words("OR", &["the", "of"]),
        words("OR", &["the", "red", "car"]),
        words("AND", &["k*"]),
        words("AND", &["ganlo", "ka*"]),
        fuzzy,
    ]
}

/// Seconds of each side; nothing of one that has no such question.
#[derive(Clone, Copy)]
struct Seconds {
    ours: f64,
    fts5: Option<f64>,
    ts_rank: Option<f64>,
}

/// The figures, printed as they come.
pub fn measure(program: &Program, token: &str, sizes: &Sizes, figures: &mut Figures) {
    let corpus = Corpus::new(sizes.items);
    println!("  questions to {} documents, milliseconds of one after the other", corpus.len());
    fill(program, &corpus);
    let (fts5, ts_rank) = (Fts5::make(&corpus), TsRank::make(&corpus));
    program.search_caught_up();
    let agent = ureq::Agent::new_with_defaults();
    let questions = all();
    let mut rounds: Vec<Vec<Seconds>> = Vec::new();
    for _ in 0..sizes.rounds {
        let ask = |it: &Question| {
            let body = asked(it);
            let ours = seconds(|| drop(program.post_over(&agent, "/v2/items/search", token, &body)));
            let beside = |ask: &dyn Fn(&str), text: &Option<String>| text.as_deref().map(|it| seconds(|| ask(it)));
            let fts5 = beside(&|it: &str| fts5.ask(it), &it.fts5);
            Seconds { ours, fts5, ts_rank: beside(&|it: &str| ts_rank.ask(it), &it.tsquery) }
        };
        rounds.push(questions.iter().map(ask).collect());
    }
    let medians: Vec<_> = (0..questions.len())
        .map(|at| {
            let of =
                |side: &dyn Fn(&Seconds) -> f64| median(&mut rounds.iter().map(|it| side(&it[at])).collect::<Vec<_>>());
            Seconds {
                ours: of(&|it| it.ours),
                fts5: rounds[0][at].fts5.map(|_| of(&|it| it.fts5.unwrap_or_default())),
                ts_rank: rounds[0][at].ts_rank.map(|_| of(&|it| it.ts_rank.unwrap_or_default())),
            }
        })
        .collect();
    tell(&questions, &medians, figures);
}

fn tell(questions: &[Question], medians: &[Seconds], figures: &mut Figures) {
    let engine = format!("{:?}", figures.engine);
    let text = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), |it| format!("{:.2}", it * 1e3));
    for (question, it) in questions.iter().zip(medians) {
        let name = format!("{} {}", question.expression, question.mode);
        let (ours, fts5, ts_rank) = (text(Some(it.ours)), text(it.fts5), text(it.ts_rank));
        println!("  {name:<40} {ours:>10}   FTS5, in process {fts5:>10}   ts_rank {ts_rank:>10}");
        figures.push(json!({ "engine": engine, "figure": "question, seconds", "question": name, "ours": it.ours, "fts5": it.fts5, "tsRank": it.ts_rank }));
    }
    let slowest = |side: &dyn Fn(&Seconds) -> Option<f64>| medians.iter().filter_map(side).fold(0.0, f64::max);
    let (ours, fts5, ts_rank) = (slowest(&|it| Some(it.ours)), slowest(&|it| it.fts5), slowest(&|it| it.ts_rank));
    for (name, theirs) in [("FTS5", fts5), ("ts_rank", ts_rank)] {
        let ratio = ours / theirs;
        println!("  the slowest takes {ratio:.3} times as long as the slowest of {name}   goal <= 0.1");
        figures.push(json!({ "engine": engine, "figure": "slowest question", "ours": ours, "beside": name, "theirs": theirs, "ratio": ratio, "goal": 0.1 }));
    }
    let is_slower = |it: &Seconds| it.fts5.zip(it.ts_rank).is_some_and(|(a, b)| it.ours > a.max(b));
    let slower = medians.iter().filter(|it| is_slower(it)).count();
    println!("  {slower} of {} are slower than both   goal 0", medians.len());
    figures.push(json!({ "engine": engine, "figure": "questions slower than both", "ours": slower, "goal": 0 }));
}

fn asked(question: &Question) -> Value {
    let search = json!({ "expression": question.expression, "mode": question.mode });
    json!({ "dataCollectionId": "documents", "search": { "search": search, "paging": { "limit": LIMIT } } })
}

/// The mean, after one time that isn't counted.
fn seconds(mut once: impl FnMut()) -> f64 {
    once();
    let (start, mut times) = (Instant::now(), 0);
    while times == 0 || start.elapsed() < LEAST {
        once();
        times += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(times)
}

fn fill(program: &Program, corpus: &Corpus) {
    program.make_searched("documents", &["title", "body"], true);
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    corpus.write(file.path());
    let start = Instant::now();
    let imported = program.import("documents", file.path());
    program.search_caught_up();
    let indexed = start.elapsed().as_secs_f64();
    println!("  imported in {imported:.1} s, in the index {indexed:.1} s after the import began");
}

/// The documents of one batch, with their numbers from 1.
fn batches(corpus: &Corpus) -> impl Iterator<Item = Vec<(i64, Document)>> + '_ {
    let numbered = move |n: usize| (n as i64 + 1, corpus.document(n));
    (0..corpus.len()).step_by(BATCH).map(move |from| (from..corpus.len().min(from + BATCH)).map(numbered).collect())
}

/// The table of SQLite's own full-text search, without the text, which is in a table beside it.
struct Fts5 {
    conn: Connection,
    _directory: tempfile::TempDir,
}

impl Fts5 {
    fn make(corpus: &Corpus) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut conn = Connection::open(directory.path().join("fts5.db")).unwrap();
        conn.execute_batch(
            "pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -65536; pragma mmap_size = 1073741824;
             create table docs (id integer primary key, title text, body text);
             create virtual table words using fts5(title, body, content = '')",
        )
        .unwrap();
        for batch in batches(corpus) {
            let tx = conn.transaction().unwrap();
            let mut doc = tx.prepare_cached("insert into docs values (?, ?, ?)").unwrap();
            let mut words = tx.prepare_cached("insert into words (rowid, title, body) values (?, ?, ?)").unwrap();
            for (id, it) in batch {
                doc.execute((id, &it.title, &it.body)).unwrap();
                words.execute((id, &it.title, &it.body)).unwrap();
            }
            drop((doc, words));
            tx.commit().unwrap();
        }
        conn.execute_batch("insert into words (words) values ('optimize')").unwrap();
        Self { conn, _directory: directory }
    }

    fn ask(&self, expression: &str) {
        let sql = "select title, body from docs where id in \
                   (select rowid from words where words match ? order by rank limit 50)";
        let mut statement = self.conn.prepare_cached(sql).unwrap();
        let found = statement.query_map([expression], |row| row.get::<_, String>(1)).unwrap();
        assert!(found.map(Result::unwrap).count() > 0, "{expression}");
    }
}

/// PostgreSQL's, in a database of its own: the words as a stored column under a GIN index.
struct TsRank {
    runtime: Runtime,
    client: tokio_postgres::Client,
    database: String,
}

impl TsRank {
    fn make(corpus: &Corpus) -> Self {
        let url = new_database();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let table =
                "set jit = off; create table docs (id bigint primary key, title text, body text, words tsvector)";
            client.batch_execute(table).await.unwrap();
            let insert = "insert into docs select id, title, body, to_tsvector('simple', title || ' ' || body) \
                          from unnest($1::bigint[], $2::text[], $3::text[]) as u(id, title, body)";
            let insert = client.prepare(insert).await.unwrap();
            for batch in batches(corpus) {
                let ids: Vec<_> = batch.iter().map(|it| it.0).collect();
                let (titles, bodies): (Vec<_>, Vec<_>) = batch.iter().map(|it| (&*it.1.title, &*it.1.body)).unzip();
                client.execute(&insert, &[&ids, &titles, &bodies]).await.unwrap();
            }
            client.batch_execute("create index on docs using gin (words)").await.unwrap();
            client.batch_execute("vacuum (analyze) docs").await.unwrap();
            client
        });
        let database = url.rsplit('/').next().unwrap_or_default().to_owned();
        Self { runtime, client, database }
    }

    fn ask(&self, expression: &str) {
        let sql = "select title, body from docs, to_tsquery('simple', $1) as q where words @@ q \
                   order by ts_rank(words, q) desc limit 50";
        let found = self.runtime.block_on(self.client.query(sql, &[&expression])).unwrap();
        assert!(!found.is_empty(), "{expression}");
    }
}

impl Drop for TsRank {
    fn drop(&mut self) {
        on_cluster(&format!("drop database if exists {} with (force)", self.database));
    }
}
