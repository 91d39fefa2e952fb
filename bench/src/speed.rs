//! What a permission, a total, a lock or a hash must not slow down: each beside what there is without it.

use crate::{
    figure::{Figures, Sizes, median},
    identity::{PASSWORD, email, members_file, request},
    large, load,
    memory::processor_time,
    old_values,
    program::{Engine, Member, Program},
    raw::Raw,
};
use argon2::{Algorithm, Argon2, Params, Version};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const READERS: usize = 16;
const WRITERS: usize = 64;
const SIGN_INS: usize = 4;
const AUTHORS: usize = 100;
const MEMBERS: usize = 200;

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, {} items, beside the same without a rule, a total, a lock or others", sizes.items);
    let mut figures = Figures::of(engine);
    let program = Program::start(binary, engine);
    pages_of_authors(&program, sizes, &mut figures);
    totals(&program, sizes, &mut figures);
    if engine == Engine::Postgres {
        beside_pgbench(&program, sizes, &mut figures);
    }
    old_values::measure(&program, sizes, &mut figures);
    sign_ins(&program, sizes, &mut figures);
    figures.into_list()
}

/// A page in the order of an index, where a member sees what they own, beside one that anyone sees.
fn pages_of_authors(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let authors: Vec<_> = (0..AUTHORS).map(|n| program.member(&format!("author{n}@example.org"))).collect();
    let (one, hundred) = (&authors[..1], &authors[..]);
    for (name, read, owners) in
        [("open", "ANYONE", one), ("one", "SITE_MEMBER_AUTHOR", one), ("hundred", "SITE_MEMBER_AUTHOR", hundred)]
    {
        program.make_collection(name, read);
        program.fill_owned(name, sizes.items, owners);
        program.index_of(name, "price");
    }
    // Beginning `apart` further for each author, so that as many different items are read as all of them own.
    let pages = |collection: &str, owners: &[Member], apart: usize| {
        let page = |(n, author): (usize, &Member)| {
            let query = json!({ "filter": { "price": { "$gte": n * apart } },
                "sort": [{ "fieldName": "price", "order": "ASC" }], "paging": { "limit": 50 } });
            request("/v2/items/query", &author.token, &json!({ "dataCollectionId": collection, "query": query }))
        };
        Arc::new(owners.iter().enumerate().map(page).collect::<Vec<_>>())
    };
    for (name, collection, authors, apart) in [
        ("page of the one author of all", "one", one, 0),
        ("pages of a hundred authors", "hundred", hundred, 0),
        ("the same, as many items for anyone", "hundred", hundred, 90),
    ] {
        let (owned, open) = (pages(collection, authors, 0), pages("open", authors, apart));
        let rate = |requests| load::rate(program.address(), requests, READERS, sizes.period);
        let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&owned), rate(&open))).collect();
        figures.add(name, &rates, "the same page for anyone", 0.6);
    }
}

/// A page of a filter that no index serves, in an order that none has, with its total: by processor time beside the
/// count alone.
fn totals(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let filter = |n: usize| json!({ "n": { "$gt": n }, "color": "red" });
    let pages = program.requests("/v2/items/query", sizes.items, |n| {
        json!({ "dataCollectionId": "open", "returnTotalCount": true, "query": {
            "filter": filter(n), "sort": [{ "fieldName": "title" }], "paging": { "limit": 50 } } })
    });
    let counts = program.requests(
        "/v2/items/count",
        sizes.items,
        |n| json!({ "dataCollectionId": "open", "filter": filter(n) }),
    );
    if figures.engine == Engine::Postgres {
        // What the engine's processes spend isn't known: by rate.
        let rate = |requests| load::rate(program.address(), requests, 1, sizes.period);
        let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&pages), rate(&counts))).collect();
        return figures.add("filter on two fields, with total", &rates, "the count alone", 0.6);
    }
    let spent = || processor_time(program.id());
    let rate = |requests| 1.0 / load::rate_and_cost(program.address(), requests, 1, sizes.period, spent).1;
    let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&pages), rate(&counts))).collect();
    figures.add("the same by processor time, with total", &rates, "the count alone", 0.6);
}

fn beside_pgbench(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let raw = Raw::make(Engine::Postgres, program.database_url(), sizes.items);
    raw.index_price();
    raw.settle();
    let pages = program.requests("/v2/items/query", 9000, |from| {
        json!({ "dataCollectionId": "open", "query": {
            "filter": { "price": { "$gte": from } }, "sort": [{ "fieldName": "price", "order": "ASC" }], "paging": { "limit": 50 } }})
    });
    let inserts = large::inserts(program);
    let (mut paged, mut single) = (Vec::new(), Vec::new());
    for _ in 0..sizes.rounds {
        let rate = |requests, connections| load::rate(program.address(), requests, connections, sizes.period);
        paged.push((rate(&pages, READERS), raw.indexed_pages(READERS, sizes.period)));
        single.push((rate(&inserts, WRITERS), raw.plain_inserts(WRITERS, sizes.period)));
    }
    figures.add("indexed page of 50, 16 connections", &paged, "pgbench, the same SQL by hand", 0.6);
    figures.add("single inserts, 64 writers", &single, "pgbench, a plain insert", 0.6);
}

/// Sign-ins alone, beside the bare hash on all cores; then together with readers, each beside itself alone.
fn sign_ins(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let file = members_file(MEMBERS);
    program.member_import(file.path());
    let tokens = program.visitor_tokens(MEMBERS);
    let logins: Vec<_> = (0..MEMBERS)
        .map(|n| request("/v2/login", &tokens[n], &json!({ "loginId": { "email": email(n) }, "password": PASSWORD })))
        .collect();
    let logins = Arc::new(logins);
    program.fill(sizes.items.min(20_000));
    let reads = program.point_reads(&tokens, sizes.items.min(20_000));
    // The first sign-in of each hashes twice; only later ones count.
    load::at_once(program.address(), &logins);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let mut signed_in = Vec::new();
    for _ in 0..sizes.rounds {
        alone.push((load::rate(program.address(), &logins, SIGN_INS, sizes.period), bare_hashes(sizes.period)));
        let quiet = load::rate(program.address(), &reads, READERS, sizes.period);
        let (read, signed) = std::thread::scope(|scope| {
            let signed = scope.spawn(|| load::rate(program.address(), &logins, SIGN_INS, sizes.period));
            (load::rate(program.address(), &reads, READERS, sizes.period), signed.join().unwrap())
        });
        beside.push((read, quiet));
        signed_in.push(signed);
    }
    figures.add("sign-ins, four at once", &alone, "the bare hash on all cores", 0.9);
    figures.add("reads beside sign-ins", &beside, "reads alone", 0.7);
    let signed_in = median(&mut signed_in);
    println!("  {:<40} {signed_in:>10.1}/s   goal >= 15", "sign-ins beside these reads");
    let engine = format!("{:?}", figures.engine);
    figures.push(json!({ "engine": engine, "figure": "sign-ins beside reads", "ours": signed_in, "goal": 15 }));
}

/// Hashes a second on all cores, at the cost that the program has.
fn bare_hashes(period: Duration) -> f64 {
    let (done, start) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let params = Params::new(19_456, 2, 1, Some(32)).unwrap();
                let mut memory = vec![argon2::Block::default(); params.block_count()];
                let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
                while start.elapsed() < period {
                    let mut hash = [0; 32];
                    argon
                        .hash_password_into_with_memory(PASSWORD.as_bytes(), &[7; 16], &mut hash, &mut memory)
                        .unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}
