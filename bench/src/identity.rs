//! Identity beside its limits: tokens beside the bare framework, reads during a storm of sign-ins, and
//! a site with many members beside one with few.

use crate::{
    bare,
    figure::{median, percentile},
    load,
    memory::Peak,
    program::{Engine, Program},
};
use serde_json::{Value, json};
use std::{io::Write, path::Path, sync::Arc, time::Duration};

/// Sign-ins at once, each of another member.
const LOGINS: usize = 200;
/// The share of the most reads a second that goes on meanwhile.
const STEADY: f64 = 0.3;
/// A thousand members are what a site with few has.
const FEW: usize = 1_000;
pub const PASSWORD: &str = "correct horse battery";
/// A cheap hash of [`PASSWORD`]: the first sign-in makes it a real one.
const HASH: &str = "pbkdf2_sha256$30000$saltText12$hOphMVn7u26S+0XX0fBYUkeihF9e2He496DzJu+qjgc=";

pub struct Sizes {
    pub members: usize,
    pub items: usize,
    pub tokens: usize,
    pub connections: usize,
    pub rounds: usize,
    pub period: Duration,
}

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, identity, {} tokens, {} connections", sizes.tokens, sizes.connections);
    let mut figures = Figures { engine, list: Vec::new() };
    let program = Program::start(binary, engine);
    program.fill(sizes.items.min(100_000));
    tokens(&program, sizes, &mut figures);
    storm(&program, sizes, &mut figures);
    drop(program);
    if sizes.members > 0 {
        many_members(binary, sizes, &mut figures);
    }
    figures.list
}

/// Grants for visitors, and the cheapest request whose token is checked.
fn tokens(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let grant = json!({ "clientId": program.client(), "grantType": "anonymous" });
    let grants = Arc::new(vec![request("/oauth2/token", "", &grant)]);
    let tokens = program.visitor_tokens(sizes.tokens);
    let email = json!({ "email": "somebody@example.org" });
    let checked = Arc::new(tokens.iter().map(|it| request("/v2/validate-email", it, &email)).collect::<Vec<_>>());
    for (name, requests, least) in [("anonymous grant, HTTP", &grants, 0.25), ("checked request, HTTP", &checked, 0.45)]
    {
        let bare = bare::Bare::start(load::answer_length(program.address(), &requests[0]));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..sizes.rounds {
            theirs.push(load::rate(bare.address(), requests, sizes.connections, sizes.period));
            ours.push(load::rate(program.address(), requests, sizes.connections, sizes.period));
        }
        let (ours, theirs) = (median(&mut ours), median(&mut theirs));
        println!(
            "  {name:<34} {ours:>10.0}/s   {:<34} {theirs:>10.0}/s   ratio {:.2}   goal >= {least}",
            "bare framework, same bytes",
            ours / theirs
        );
        figures.add(name, json!({ "ours": ours, "theirs": theirs, "ratio": ours / theirs, "goal": least }));
    }
}

/// Reads at a steady pace, without and with two hundred clients that sign in at once.
fn storm(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let file = members_file(LOGINS);
    program.member_import(file.path());
    let tokens = program.visitor_tokens(sizes.tokens.min(1_000));
    let reads = program.point_reads(&tokens, sizes.items.min(100_000));
    let logins = Arc::new(
        (0..LOGINS)
            .map(|n| {
                let body = json!({ "loginId": { "email": email(n) }, "password": PASSWORD });
                request("/v2/login", &tokens[n % tokens.len()], &body)
            })
            .collect::<Vec<_>>(),
    );
    let peak = Peak::watch(program.id());
    // The first sign-in of each hashes twice; only later ones count.
    load::at_once(program.address(), &logins);
    let most = load::rate(program.address(), &reads, sizes.connections, sizes.period);
    // A timer's tick and its answers take up to two milliseconds, in which more requests are due than one
    // on each connection: with fewer connections the load itself runs late.
    let connections = 2 * sizes.connections;
    let pace = |burst: Option<&Arc<Vec<Vec<u8>>>>| {
        load::paced(program.address(), &reads, connections, most * STEADY, sizes.period, burst)
    };
    let rounds: Vec<[f64; 4]> = (0..5)
        .map(|_| {
            let (quiet, _) = pace(None);
            let (busy, took) = pace(Some(&logins));
            let (quiet, busy) = (percentile(quiet, 0.99), percentile(busy, 0.99));
            [busy / quiet, quiet, busy, took.as_secs_f64()]
        })
        .collect();
    let [ratio, quiet, busy, took] =
        [0, 1, 2, 3].map(|n| median(&mut rounds.iter().map(|it| it[n]).collect::<Vec<_>>()));
    let per_second = LOGINS as f64 / took;
    println!(
        "  {LOGINS} sign-ins at once ({per_second:.0}/s): p99 of reads at {:.0}/s is {:.2} ms, alone {:.2} ms   {ratio:.2} times as long   goal <= 2.0",
        most * STEADY,
        busy * 1e3,
        quiet * 1e3
    );
    println!("  most anonymous memory of the program: {} MB   goal < 600", peak.megabytes());
    figures.add("p99 of reads during sign-ins", json!({ "oursSeconds": busy, "theirsSeconds": quiet, "ratio": ratio, "goal": 2.0, "signInsPerSecond": per_second }));
    figures.add("anonymous memory during sign-ins, MB", json!({ "ours": peak.megabytes(), "goal": 600 }));
}

/// The same calls at a site with few members and at one with many.
fn many_members(binary: &Path, sizes: &Sizes, figures: &mut Figures) {
    let sites = [FEW, sizes.members].map(|count| {
        let program = Program::start(binary, figures.engine);
        let file = members_file(count);
        let seconds = program.member_import(file.path());
        println!("  {count} members imported in {seconds:.1} s");
        (program, count)
    });
    let requests = sites.each_ref().map(|(program, count)| calls(program, *count));
    for (n, (name, _)) in requests[0].iter().enumerate() {
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..sizes.rounds {
            for ((site, requests), rates) in sites.iter().zip(&requests).zip(&mut rates) {
                rates.push(load::rate(site.0.address(), &requests[n].1, 2, sizes.period));
            }
        }
        let [mut few, mut many] = rates;
        let (few, many) = (median(&mut few), median(&mut many));
        println!(
            "  {name:<34} {many:>10.0}/s   {:<34} {few:>10.0}/s   {:.2} times as long   goal <= 1.5",
            format!("with {FEW} members"),
            few / many
        );
        figures.add(
            &format!("{name}, {} members", sizes.members),
            json!({ "ours": many, "theirs": few, "ratio": few / many, "goal": 1.5 }),
        );
    }
}

/// Everything of a sign-in but the hash, and queries as members' pages ask them.
fn calls(program: &Program, count: usize) -> Vec<(&'static str, Arc<Vec<Vec<u8>>>)> {
    let query = |filter: fn(usize) -> Value| {
        program.requests(
            "/members/v1/members/query",
            count,
            |n| json!({ "fieldsets": ["FULL"], "query": { "filter": filter(n), "paging": { "limit": 50 } } }),
        )
    };
    let by_cursor = json!({ "fieldsets": ["FULL"], "query": { "cursorPaging": { "limit": 50 } } });
    vec![
        (
            "sign-in without its hash",
            program.requests("/v2/sign-on", count, |n| json!({ "loginId": { "email": email(n) } })),
        ),
        ("member query, one by address", query(|n| json!({ "loginEmail": email(n) }))),
        ("member query, 50 by name", query(|n| json!({ "nickname": name(n) }))),
        ("member query, newest 50", query(|_| json!({}))),
        ("member query, 50 by cursor", program.requests("/members/v1/members/query", count, |_| by_cursor.clone())),
    ]
}

/// Fifty members have the same one.
fn name(n: usize) -> String {
    format!("name {}", n / 50)
}

pub fn email(n: usize) -> String {
    format!("member{n}@example.org")
}

/// Members as another system hands them over.
pub fn members_file(count: usize) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    let mut out = std::io::BufWriter::new(&file);
    for n in 0..count {
        let member = json!({
            "email": email(n), "passwordHash": HASH, "emailVerified": true,
            "createdDate": format!("20{:02}-{:02}-{:02}T06:07:08.009Z", 10 + n % 15, 1 + n % 12, 1 + n % 28),
            "profile": { "firstName": "First", "lastName": format!("Last {n}"), "nickname": name(n), "language": "en" },
        });
        writeln!(out, "{member}").unwrap();
    }
    out.flush().unwrap();
    drop(out);
    file
}

pub fn request(path: &str, token: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let authorization = if token.is_empty() { String::new() } else { format!("authorization: {token}\r\n") };
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{authorization}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

struct Figures {
    engine: Engine,
    list: Vec<Value>,
}

impl Figures {
    fn add(&mut self, name: &str, mut figure: Value) {
        figure["engine"] = json!(format!("{:?}", self.engine));
        figure["figure"] = json!(name);
        self.list.push(figure);
    }
}
