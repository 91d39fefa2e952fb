//! `make bench`: the program beside the limit, in one run, as ratios.
//!
//! The program is the release binary as scripts start it. Beside it stand the bare HTTP framework
//! answering the same bytes, and the same statements by hand on the raw engine with the same
//! indexes. Client and server share the machine, so only ratios within one run mean anything.

#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that can't go on stops; it measures real time"
)]

mod against;
mod aggregations;
mod attackers;
mod attacks;
mod bare;
mod corpus;
mod factors;
mod figure;
mod followers;
mod graphql;
mod hooks;
mod identity;
mod import;
mod large;
mod load;
mod memory;
mod nodes;
mod old_values;
mod program;
mod questions;
mod raw;
mod realtime;
mod search;
mod soak;
mod speed;
mod webhooks;

use clap::{Parser, Subcommand, ValueEnum};
use figure::median;
use program::{Engine, Program, Which};
use serde_json::{Value, json};
use std::{path::PathBuf, time::Duration};

/// Measures the program beside the bare framework and the raw engine.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The release binary
    #[arg(long, default_value = "target/release/stoa")]
    program: PathBuf,
    #[arg(long, value_enum, default_value_t = Which::Both)]
    engine: Which,
    /// Length of one measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Measurements of each figure; the median counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Items in the collection that is read
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// Distinct visitor tokens
    #[arg(long, default_value_t = 10_000)]
    tokens: usize,
    /// Connections at once for reads
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Items to import beside the raw engine, 0 to leave it out
    #[arg(long, default_value_t = 135_233)]
    import: usize,
    /// Items of the large collection, 0 to leave it out
    #[arg(long, default_value_t = 1_000_000)]
    large: usize,
    /// Members of the site that has many, 0 to leave it out
    #[arg(long, default_value_t = 1_000_000)]
    members: usize,
    /// Connections that follow a collection, at least 200; 0 to leave them out
    #[arg(long, default_value_t = 10_000)]
    followers: usize,
    /// Only these parts
    #[arg(long, value_enum, value_name = "PART", num_args = 1.., conflicts_with_all = ["against", "attacks"])]
    only: Vec<Part>,
    /// Only ordinary requests while others attack
    #[arg(long)]
    attacks: bool,
    /// Only compare with this other build, in short turns
    #[arg(long, value_name = "PROGRAM")]
    against: Option<PathBuf>,
    /// Print one line of JSON at the end
    #[arg(long)]
    json: bool,
    /// Serve the bare framework (used by the bench itself)
    #[arg(long, hide = true)]
    bare: Option<usize>,
    /// Insert with a sync each for so many seconds (used by the bench itself)
    #[arg(long, hide = true)]
    synced_inserts: Option<f64>,
}

/// What is measured by itself, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Connections that follow a collection
    Realtime,
    /// Reads, pages, bulk inserts and imports
    Requests,
    /// What a permission, a total, a lock, a hash or old values must not slow down
    Speed,
    /// Pages by GraphQL beside the same pages of the calls on items
    Graphql,
    /// What a site's own code costs
    Hooks,
    /// What other nodes of a database must not slow down
    Nodes,
    /// What webhooks cost those who write
    Webhooks,
    /// Tokens, sign-ins and members
    Identity,
    /// Second factors beside their bare cryptography and one transaction
    Factors,
    /// The large collection
    Large,
    /// Groups over the large collection
    Aggregations,
    /// Searches beside point reads and other full-text search, and what the index of words costs those who write
    Search,
}

impl Part {
    /// The figures, printed as they come; none where it is left out, or the engine has no such part.
    fn measure(self, arguments: &Arguments, engine: Engine) -> Vec<Value> {
        let (program, rounds, items) = (&arguments.program, arguments.rounds, arguments.items);
        let period = Duration::from_secs_f64(arguments.seconds);
        match self {
            Self::Realtime if arguments.followers == 0 => Vec::new(),
            Self::Realtime => {
                let followers = arguments.followers.max(200);
                realtime::measure(program, engine, &realtime::Sizes { followers, rounds, period })
            }
            Self::Requests => measure(arguments, engine),
            Self::Speed => speed::measure(program, engine, &figure::Sizes { items, rounds, period }),
            Self::Graphql => graphql::measure(program, engine, &figure::Sizes { items, rounds, period }),
            Self::Hooks => hooks::measure(program, engine, &figure::Sizes { items, rounds, period }),
            Self::Nodes if engine == Engine::Postgres => vec![nodes::measure(program)],
            Self::Nodes => Vec::new(),
            Self::Webhooks => webhooks::measure(program, engine, &figure::Sizes { items, rounds, period }),
            Self::Identity => {
                let Arguments { members, tokens, connections, .. } = *arguments;
                let sizes = identity::Sizes { members, items, tokens, connections, rounds, period };
                identity::measure(program, engine, &sizes)
            }
            Self::Factors => factors::measure(program, engine, &figure::Sizes { items, rounds, period }),
            Self::Large if arguments.large == 0 => Vec::new(),
            Self::Aggregations | Self::Search if arguments.large == 0 => Vec::new(),
            Self::Search => {
                let sizes = figure::Sizes { items: arguments.large, rounds, period };
                search::measure(program, engine, &sizes)
            }
            Self::Aggregations => {
                let sizes = figure::Sizes { items: arguments.large, rounds, period };
                aggregations::measure(program, engine, &sizes)
            }
            Self::Large => large::measure(program, engine, &large::Sizes { items: arguments.large, rounds, period }),
        }
    }
}

#[derive(Subcommand)]
enum Verb {
    Soak(soak::Options),
    /// Attack a server (used by the bench itself)
    #[command(hide = true)]
    Attack(attackers::Options),
    /// Take whatever comes (used by the bench itself)
    #[command(hide = true)]
    Listen,
}

fn main() {
    let arguments = Arguments::parse();
    if let Some(bytes) = arguments.bare {
        return bare::serve(bytes);
    }
    if let Some(seconds) = arguments.synced_inserts {
        return large::synced_inserts(seconds);
    }
    match &arguments.verb {
        Some(Verb::Soak(options)) => return soak::run(options),
        Some(Verb::Attack(options)) => return attackers::run(options),
        Some(Verb::Listen) => return attackers::listen(),
        None => {}
    }
    let period = Duration::from_secs_f64(arguments.seconds);
    let mut figures = Vec::new();
    for engine in arguments.engine.engines() {
        if let Some(other) = &arguments.against {
            figures.extend(against::measure(&arguments.program, other, *engine));
            continue;
        }
        if arguments.attacks {
            figures.extend(attacks::measure(&arguments.program, *engine, arguments.rounds, period));
            continue;
        }
        for part in Part::value_variants() {
            if arguments.only.is_empty() || arguments.only.contains(part) {
                figures.extend(part.measure(&arguments, *engine));
            }
        }
    }
    if arguments.json {
        println!("{}", Value::Array(figures));
    }
}

fn measure(arguments: &Arguments, engine: Engine) -> Vec<Value> {
    println!(
        "\n{engine:?}, {} items of about 400 bytes, {} tokens, {} connections",
        arguments.items, arguments.tokens, arguments.connections
    );
    let program = Program::start(&arguments.program, engine);
    program.fill(arguments.items);
    let tokens = program.visitor_tokens(arguments.tokens);
    let period = Duration::from_secs_f64(arguments.seconds);
    let mut figures = Vec::new();
    let mut figure = |name: &str, ours: f64, beside: &str, theirs: f64, goal: &str| {
        let ratio = ours / theirs;
        println!("  {name:<34} {ours:>10.0}/s   {beside:<34} {theirs:>10.0}/s   ratio {ratio:.2}   goal {goal}");
        figures.push(json!({ "engine": format!("{engine:?}"), "figure": name, "ours": ours, "beside": beside, "theirs": theirs, "ratio": ratio }));
    };

    let reads = program.point_reads(&tokens, arguments.items);
    let pages = program.pages(&tokens);
    let length = load::answer_length(program.address(), &reads[0]);
    let bare = bare::Bare::start(length);
    let raw = raw::Raw::make(engine, program.database_url(), arguments.items);

    // In turns, so that a slow moment of the machine falls on all alike.
    let (mut read, mut plain, mut page, mut raw_read, mut raw_page, mut bulk, mut raw_bulk) =
        (vec![], vec![], vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..arguments.rounds {
        plain.push(load::rate(bare.address(), &reads, arguments.connections, period));
        read.push(load::rate(program.address(), &reads, arguments.connections, period));
        raw_read.push(raw.point_reads(arguments.connections, period));
        page.push(load::rate(program.address(), &pages, arguments.connections, period));
        raw_page.push(raw.pages(arguments.connections, period));
        bulk.push(program.bulk_inserts(period));
        raw_bulk.push(raw.bulk_inserts(period));
    }
    let raw_name = if engine == Engine::Sqlite { "raw SQLite, in process" } else { "pgbench -M prepared" };
    if engine == Engine::Sqlite {
        figure("point read, HTTP", median(&mut read), "bare framework, same bytes", median(&mut plain), ">= 0.45");
        figure("point read, HTTP", median(&mut read), raw_name, median(&mut raw_read), "");
        figure("page of 50, HTTP", median(&mut page), "bare framework", median(&mut plain), "");
    } else {
        figure("point read, HTTP", median(&mut read), raw_name, median(&mut raw_read), ">= 0.50");
    }
    figure("indexed page of 50, HTTP", median(&mut page), raw_name, median(&mut raw_page), "");
    let goal = if engine == Engine::Sqlite { ">= 0.40" } else { "" };
    figure(
        "bulk insert of 1,000, HTTP, items",
        median(&mut bulk),
        "raw engine, same indexes, items",
        median(&mut raw_bulk),
        goal,
    );
    if arguments.import > 0 {
        let (ours, theirs) = import::compare(&program, &raw, arguments.import);
        println!(
            "  import of {} items: {:.2} s, by hand on the raw engine {:.2} s, {:.2} times as long   goal <= 2.5",
            arguments.import,
            ours,
            theirs,
            ours / theirs
        );
        figures.push(json!({ "engine": format!("{engine:?}"), "figure": "import", "oursSeconds": ours, "theirsSeconds": theirs, "ratio": ours / theirs }));
    }
    println!("  anonymous memory of the program at the end: {} MB", memory::anonymous(program.id()) >> 20);
    figures
}
