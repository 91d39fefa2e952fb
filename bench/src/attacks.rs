//! Ordinary visitors while others attack: the program with its defaults is attacked from another address, in turns with
//! the same attackers at a listener that does nothing, so that what the attackers cost the machine is on both sides.

use crate::{
    attackers::{Attack, Process},
    figure::median,
    identity,
    load::{self, Steady},
    memory::Peak,
    program::{Engine, Program, item_id},
};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

const ITEMS: usize = 20_000;
const VISITORS: usize = 200;
/// Different requests of the visitors.
const REQUESTS: usize = 10_000;
/// Of so many requests one is a search, and one a page.
const SEARCH_OF: usize = 50;
const PAGE_OF: usize = 10;
/// Connections when the most requests a second are measured. A steady load has twice as many: a timer's tick and its
/// answers take up to two milliseconds, in which more requests are due than one on each.
const CONNECTIONS: usize = 32;
/// The share of the most requests a second that the visitors ask for.
const STEADY: f64 = 0.5;
/// Attackers come so long before what is measured.
const SETTLE: Duration = Duration::from_secs(1);

/// What must be so under attack, beside the same attackers elsewhere; memory in MB.
const LEAST_RATE: f64 = 0.8;
const MOST_MEDIAN: f64 = 1.5;
const MOST_MEMORY: u64 = 400;

/// The figures, printed at the end.
pub fn measure(binary: &Path, engine: Engine, rounds: usize, turn: Duration) -> Vec<Value> {
    let verdicts = run(binary, engine, turn, |done| done.len() < rounds);
    verdicts.iter().map(|it| it.figure(engine)).collect()
}

/// Attacks for so long. Fails when a request isn't answered or memory is too much, and at the end when the medians of
/// all turns are out of their bounds.
pub fn soak(binary: &Path, engine: Engine, time: Duration) {
    let turns = 3 * 2 * Attack::value_variants().len() as u32;
    let (turn, begun) = ((time / turns).clamp(Duration::from_secs(2), Duration::from_secs(15)), Instant::now());
    let verdicts = run(binary, engine, turn, |done| {
        for (attack, turns) in Attack::value_variants().iter().zip(done.last().into_iter().flatten()) {
            let verdict = Verdict::of(*attack, &[turns]);
            assert!(verdict.is_answered(), "{}: {}", attack.name(), verdict.failure.unwrap_or_default());
            assert!(verdict.memory < MOST_MEMORY, "{}: memory grew to {} MB", attack.name(), verdict.memory);
        }
        done.is_empty() || begun.elapsed() < time
    });
    for it in &verdicts {
        assert!(it.rate >= LEAST_RATE, "{}: {:.2} of the rate", it.attack.name(), it.rate);
        assert!(it.median <= MOST_MEDIAN, "{}: {:.2} times as long", it.attack.name(), it.median);
    }
}

/// A turn at the program and one at the listener for each attack.
type Round = Vec<Turns>;

struct Turns {
    attacked: Steady,
    beside: Steady,
    /// Most anonymous memory of the program while it was attacked, in MB.
    memory: u64,
}

/// Goes on while it is told to by what is done; each attack's verdict, which is printed.
fn run(binary: &Path, engine: Engine, turn: Duration, goes_on: impl Fn(&[Round]) -> bool) -> Vec<Verdict> {
    let place = Place::make(binary, engine);
    let mut rounds: Vec<Round> = Vec::new();
    while goes_on(&rounds) {
        let visitors = place.visitors(turn);
        let attack = |it: &Attack| place.turns(*it, &visitors, turn, rounds.len());
        let round = Attack::value_variants().iter().map(attack).collect();
        rounds.push(round);
    }
    println!("\n{engine:?}, ordinary requests while others attack, {} rounds", rounds.len());
    let verdict = |(n, attack): (usize, &Attack)| {
        let verdict = Verdict::of(*attack, &rounds.iter().map(|it| &it[n]).collect::<Vec<_>>());
        verdict.print();
        verdict
    };
    Attack::value_variants().iter().enumerate().map(verdict).collect()
}

/// The program with something in it, and the listener beside it.
struct Place {
    program: Program,
    listener: SocketAddr,
    _listener: Process,
}

/// What visitors ask, and how often.
struct Visitors {
    requests: Arc<Vec<Vec<u8>>>,
    per_second: f64,
    /// The token of one who attacks.
    attacker: String,
}

impl Place {
    fn make(binary: &Path, engine: Engine) -> Self {
        let program = Program::start(binary, engine);
        program.fill(ITEMS);
        // Sixty items are a page of some 30 MB.
        let large = |n: usize| json!({ "data": { "_id": item_id(n), "text": "x".repeat(490_000) } });
        for start in (0..64).step_by(8) {
            let items: Vec<_> = (start..start + 8).map(large).collect();
            program.post("/v2/bulk/items/insert", &json!({ "dataCollectionId": "imported", "dataItems": items }));
        }
        let (process, listener) = Process::listen();
        Self { program, listener, _listener: process }
    }

    /// New ones for each round: tokens end after some hours, and the machine's pace may have changed.
    fn visitors(&self, turn: Duration) -> Visitors {
        let mut tokens = self.program.visitor_tokens(VISITORS + 1);
        let attacker = tokens.pop().unwrap();
        let (reads, pages) = (self.program.point_reads(&tokens, ITEMS), self.program.pages(&tokens));
        let search = |n: usize| {
            let filter = json!({ "title": { "$contains": format!("number {}", n % 1000) } });
            let query = json!({ "filter": filter, "paging": { "limit": 20 } });
            let body = json!({ "dataCollectionId": "things", "query": query });
            identity::request("/v2/items/query", &tokens[n % tokens.len()], &body)
        };
        let request = |n: usize| {
            if n.is_multiple_of(SEARCH_OF) {
                search(n)
            } else if n.is_multiple_of(PAGE_OF) {
                pages[n % pages.len()].clone()
            } else {
                reads[n % reads.len()].clone()
            }
        };
        let requests = Arc::new((0..REQUESTS).map(request).collect());
        let most = load::rate(self.program.address(), &requests, CONNECTIONS, turn);
        Visitors { requests, per_second: most * STEADY, attacker }
    }

    fn turns(&self, attack: Attack, visitors: &Visitors, turn: Duration, round: usize) -> Turns {
        let beside = || self.turn(attack, self.listener, visitors, turn);
        // Each goes first every second time.
        let before = (!round.is_multiple_of(2)).then(beside);
        let peak = Peak::watch(self.program.id());
        let attacked = self.turn(attack, self.program.address(), visitors, turn);
        let memory = peak.megabytes();
        drop(peak);
        Turns { attacked, memory, beside: before.unwrap_or_else(beside) }
    }

    fn turn(&self, attack: Attack, target: SocketAddr, visitors: &Visitors, turn: Duration) -> Steady {
        let _attackers = Process::attack(attack, target, &visitors.attacker);
        std::thread::sleep(SETTLE);
        load::steady(self.program.address(), &visitors.requests, 2 * CONNECTIONS, visitors.per_second, turn)
    }
}

/// What an attack came to.
struct Verdict {
    attack: Attack,
    asked: usize,
    answered: usize,
    /// Why a request had no answer, of the first that had none.
    failure: Option<String>,
    /// Answers a second while the program is attacked and while the listener is, and the median of the turns' ratios.
    rates: [f64; 2],
    rate: f64,
    /// The same of the median answer's seconds.
    medians: [f64; 2],
    median: f64,
    memory: u64,
}

impl Verdict {
    fn of(attack: Attack, turns: &[&Turns]) -> Self {
        let all = |figure: &dyn Fn(&Turns) -> f64| median(&mut turns.iter().map(|it| figure(it)).collect::<Vec<_>>());
        Self {
            attack,
            asked: turns.iter().map(|it| it.attacked.asked).sum(),
            answered: turns.iter().map(|it| it.attacked.answered).sum(),
            failure: turns.iter().find_map(|it| it.attacked.failure.clone()),
            rates: [all(&|it| it.attacked.per_second), all(&|it| it.beside.per_second)],
            rate: all(&|it| it.attacked.per_second / it.beside.per_second),
            medians: [all(&|it| it.attacked.median), all(&|it| it.beside.median)],
            median: all(&|it| it.attacked.median / it.beside.median),
            memory: turns.iter().map(|it| it.memory).max().unwrap_or_default(),
        }
    }

    fn is_answered(&self) -> bool {
        self.answered == self.asked
    }

    fn print(&self) {
        println!("  {}", self.attack.name());
        println!("    answered {} of {}   goal all", self.answered, self.asked);
        if let Some(why) = &self.failure {
            println!("    the first that was not: {why}");
        }
        let [ours, theirs] = self.rates;
        println!(
            "    {ours:>10.0}/s   attackers elsewhere {theirs:>10.0}/s   ratio {:.2}   goal >= {LEAST_RATE}",
            self.rate
        );
        let [ours, theirs] = self.medians.map(|it| it * 1e3);
        println!(
            "    median {ours:>6.2} ms   attackers elsewhere {theirs:>6.2} ms   {:.2} times as long   goal <= {MOST_MEDIAN}",
            self.median
        );
        println!("    most anonymous memory {} MB   goal < {MOST_MEMORY}", self.memory);
    }

    fn figure(&self, engine: Engine) -> Value {
        json!({
            "engine": format!("{engine:?}"), "figure": format!("under attack: {}", self.attack.name()),
            "asked": self.asked, "answered": self.answered, "failure": self.failure,
            "ours": self.rates[0], "theirs": self.rates[1], "ratio": self.rate, "goal": LEAST_RATE,
            "oursMedianSeconds": self.medians[0], "theirsMedianSeconds": self.medians[1],
            "medianRatio": self.median, "medianGoal": MOST_MEDIAN, "memoryMB": self.memory,
        })
    }
}
