//! Another build of the program beside this one, in short turns, so that what slows the machine down for a while slows
//! both down: `stoa-bench --against PROGRAM` before a large change lands.

use crate::{
    figure::median,
    large, load,
    memory::processor_time,
    program::{Engine, Program},
};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, time::Duration};

/// Turns of each figure.
const TURNS: usize = 15;
/// A turn is long enough for hundreds of answers of the slowest kind but one.
const TURN: Duration = Duration::from_millis(500);
const CONNECTIONS: usize = 32;
const WRITERS: usize = 64;
const ITEMS: usize = 20_000;
const MEMBERS: usize = 3_000;
const TOKENS: usize = 500;

type Requests = Arc<Vec<Vec<u8>>>;

/// How many times as fast this build is as the other, for each kind of request.
pub fn measure(ours: &Path, theirs: &Path, engine: Engine) -> Vec<Value> {
    println!("\n{engine:?}, beside {}", theirs.display());
    let sides = [ours, theirs].map(|it| Side::start(it, engine));
    let mut figures = Vec::new();
    let mut all = Vec::new();
    for (n, (name, connections, _)) in sides[0].kinds.iter().enumerate() {
        let pairs = (0..TURNS).map(|turn| {
            let rate = |side: &Side| {
                let spent = || processor_time(side.program.id());
                load::rate_and_cost(side.program.address(), &side.kinds[n].2, *connections, TURN, spent)
            };
            // Each goes first every second time.
            if turn % 2 == 0 {
                let ours = rate(&sides[0]);
                [ours, rate(&sides[1])]
            } else {
                let theirs = rate(&sides[1]);
                [rate(&sides[0]), theirs]
            }
        });
        let pairs: Vec<_> = pairs.collect();
        figures.push(figure(engine, name, pairs.iter().map(|it| it.map(|it| it.0)).collect(), &mut all));
        let [ours, theirs] =
            [0, 1].map(|side| median(&mut pairs.iter().map(|it| it[side].1 * 1e6).collect::<Vec<_>>()));
        println!("    processor time {ours:>17.1} µs {theirs:>12.1} µs   ratio {:.3}", theirs / ours);
    }
    let bulk = (0..TURNS).map(|_| [0, 1].map(|side| sides[side].program.bulk_inserts(TURN)));
    figures.push(figure(engine, "bulk insert of 1,000, items", bulk.collect(), &mut all));
    let mean = (all.iter().map(|it| it.ln()).sum::<f64>() / all.len() as f64).exp();
    println!("  geometric mean {mean:.3}");
    figures
}

fn figure(engine: Engine, name: &str, pairs: Vec<[f64; 2]>, all: &mut Vec<f64>) -> Value {
    let [ours, theirs] = [0, 1].map(|side| median(&mut pairs.iter().map(|it| it[side]).collect::<Vec<_>>()));
    let ratio = median(&mut pairs.iter().map(|it| it[0] / it[1]).collect::<Vec<_>>());
    println!("  {name:<34} {ours:>10.0}/s   {theirs:>10.0}/s   ratio {ratio:.3}");
    all.push(ratio);
    json!({ "engine": format!("{engine:?}"), "figure": name, "ours": ours, "theirs": theirs, "ratio": ratio })
}

/// One build with its data, and what it is asked.
struct Side {
    program: Program,
    /// A name, how many connections, and the requests.
    kinds: Vec<(&'static str, usize, Requests)>,
}

impl Side {
    fn start(binary: &Path, engine: Engine) -> Self {
        let program = Program::start(binary, engine);
        program.fill(ITEMS);
        let file = crate::identity::members_file(MEMBERS);
        program.member_import(file.path());
        let tokens = program.visitor_tokens(TOKENS);
        let post = |path: &str, token: &str, body: &Value| crate::identity::request(path, token, body);
        let grant = json!({ "clientId": program.client(), "grantType": "anonymous" });
        let email = json!({ "email": "somebody@example.org" });
        let scan = |n: usize| {
            json!({ "dataCollectionId": "things", "returnTotalCount": true, "query": {
                "filter": { "price": { "$gt": n } }, "sort": [{ "fieldName": "color" }], "paging": { "limit": 50 } } })
        };
        let members = json!({ "fieldsets": ["FULL"], "query": { "cursorPaging": { "limit": 50 } } });
        let kinds = vec![
            ("point read", CONNECTIONS, program.point_reads(&tokens, ITEMS)),
            ("page of 50", CONNECTIONS, program.pages(&tokens)),
            ("unindexed filter with count", 2, program.requests("/v2/items/query", 5_000, scan)),
            ("single insert, 64 writers", WRITERS, large::inserts(&program)),
            ("anonymous grant", CONNECTIONS, Arc::new(vec![post("/oauth2/token", "", &grant)])),
            (
                "checked request",
                CONNECTIONS,
                Arc::new(tokens.iter().map(|it| post("/v2/validate-email", it, &email)).collect()),
            ),
            (
                "member query, 50 by cursor",
                CONNECTIONS,
                program.requests("/members/v1/members/query", 1, |_| members.clone()),
            ),
        ];
        Self { program, kinds }
    }
}
