//! Realtime: what a follower's connection takes of memory, how long one change takes to reach all of them, what one who
//! doesn't read costs the others, and what followers cost those who write.
//!
//! Followers are plain connections of HTTP/1.1, from many addresses of this machine, so that the limits of one network
//! stay what they are.

use crate::{
    figure::{Figures, median},
    followers::{Crowd, Follower},
    load, memory,
    program::{Engine, Program, item, item_id},
};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// A collection that anyone may follow, and one whose items only their authors see.
const OPEN: &str = "followed";
const OWNED: &str = "owned";
/// Of so many followers one is a member with a scope of their own.
const MEMBERS_OF: usize = 10;
/// Streams that one session opens: visitors share theirs.
const SHARED: usize = 10;
/// Bytes of a connection, and seconds until the last of all is told.
const MOST_MEMORY: f64 = 25_000.0;
const MOST_SECONDS: f64 = 1.0;
/// How long the program has to see that connections are gone, and to give memory back.
const SETTLING: Duration = Duration::from_secs(2);
/// Changes of which each is told to all.
const CHANGES: usize = 9;
/// Followers that open a stream and never read.
const STUCK: usize = 20;
/// Followers of whom it is said what a slow one costs them, and changes that come at once.
const FEW: usize = 100;
const FLOOD: usize = 200;
const WRITERS: usize = 16;
const ITEMS: usize = 1_000;
/// Followers while writes are measured.
const WATCHING: usize = 1_000;

pub struct Sizes {
    pub followers: usize,
    pub rounds: usize,
    pub period: Duration,
}

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, realtime, {} followers, each a connection of HTTP/1.1", sizes.followers);
    let mut figures = Figures::of(engine);
    let program = Program::start_with(binary, engine, |serve| {
        let connections = (sizes.followers + 500).to_string();
        let seats = sizes.followers.max(100).to_string();
        serve.env("STOA_LIMITS_CONNECTIONS", connections).env("STOA_LIMITS_SITE_STREAMS", seats);
    });
    for (collection, level) in [(OPEN, "ANYONE"), (OWNED, "SITE_MEMBER_AUTHOR")] {
        program.make_followed(collection, level);
    }
    program.fill_collection(OPEN, ITEMS);
    let followers = followers(&program, sizes.followers);
    memory_of(&program, &followers, &mut figures);
    // Places of a session and of a network are free again when the program has seen that all are gone.
    std::thread::sleep(SETTLING);
    let crowd = gather(&program, &followers);
    told(&program, &crowd, &mut figures);
    drop(crowd);
    std::thread::sleep(SETTLING);
    stuck(&program, &followers, &mut figures);
    writes(&program, &followers[..WATCHING.min(followers.len())], sizes, &mut figures);
    figures.into_list()
}

/// Who follows: visitors the open collection, one in ten a member their own items.
fn followers(program: &Program, count: usize) -> Vec<Follower> {
    let visitors = program.visitor_tokens(count.div_ceil(SHARED));
    let follower = |n: usize| match n.is_multiple_of(MEMBERS_OF) {
        true => Follower::of(n, &program.member(&format!("m{n}@example.org")).token, OWNED),
        false => Follower::of(n, &visitors[n / SHARED], OPEN),
    };
    (0..count).map(follower).collect()
}

/// What a follower more takes, by the memory with all of them and with a tenth of them. What all share, such as the
/// engine's pages and the allocator's room, is there with the tenth already.
fn memory_of(program: &Program, followers: &[Follower], figures: &mut Figures) {
    let settled = || {
        std::thread::sleep(SETTLING);
        memory::anonymous(program.id())
    };
    let (some, others) = followers.split_at(followers.len() / 10);
    let some = Crowd::gather(program.address(), some, OPEN);
    let before = settled();
    let all = Crowd::gather(program.address(), others, OPEN);
    let each = settled().saturating_sub(before) as f64 / others.len() as f64;
    drop((some, all));
    println!("  memory of a follower's connection: {:.1} kB   goal <= {}", each / 1e3, MOST_MEMORY / 1e3);
    figures.push(json!({ "engine": format!("{:?}", figures.engine), "figure": "bytes of a follower's connection",
        "ours": each, "goal": MOST_MEMORY }));
}

/// All of them at once.
fn gather(program: &Program, followers: &[Follower]) -> Crowd {
    let started = Instant::now();
    let crowd = Crowd::gather(program.address(), followers, OPEN);
    println!("  all were connected and ready after {:.1} s", started.elapsed().as_secs_f64());
    crowd
}

/// From the moment at which a write is sent until the last of all has it.
fn told(program: &Program, crowd: &Crowd, figures: &mut Figures) {
    let mut seconds: Vec<f64> = (0..CHANGES).map(|n| change(program, crowd, n)).collect();
    let (middle, worst) = (median(&mut seconds), seconds.iter().copied().fold(0.0, f64::max));
    println!(
        "  one change to {} followers: {middle:.3} s, at most {worst:.3} s   goal <= {MOST_SECONDS}",
        crowd.counted()
    );
    figures.push(json!({ "engine": format!("{:?}", figures.engine), "figure": "seconds until all are told",
        "ours": middle, "goal": MOST_SECONDS }));
}

fn change(program: &Program, crowd: &Crowd, n: usize) -> f64 {
    let waiting = crowd.expect(1);
    let started = Instant::now();
    program.post("/v2/items/update", &update(OPEN, n));
    waiting.since(started).as_secs_f64()
}

/// The same beside followers that don't read while megabytes are written, and without them.
fn stuck(program: &Program, followers: &[Follower], figures: &mut Figures) {
    let crowd = Crowd::gather(program.address(), &followers[..FEW], OPEN);
    let flood = |n: usize| {
        let items: Vec<Value> = (0..FLOOD).map(|it| json!({ "id": item_id(it), "data": changed(it, n) })).collect();
        program.post("/v2/bulk/items/update", &json!({ "dataCollectionId": OPEN, "dataItems": items }));
    };
    let round = |first: usize| {
        (first..first + CHANGES)
            .map(|n| {
                let waiting = crowd.expect(FLOOD);
                let started = Instant::now();
                flood(n);
                waiting.since(started).as_secs_f64()
            })
            .collect::<Vec<_>>()
    };
    let quiet = median(&mut round(0));
    let others = followers[FEW..].iter().filter(|it| it.follows(OPEN));
    let silent: Vec<Follower> = others.take(STUCK).enumerate().map(|(n, it)| it.elsewhere(n)).collect();
    let crowd_silent = Crowd::gather_silent(program.address(), &silent);
    let beside = median(&mut round(100));
    drop(crowd_silent);
    let ratio = beside / quiet;
    println!(
        "  {FLOOD} changes to {FEW} followers beside {} that don't read: {beside:.3} s, without {quiet:.3} s   {ratio:.2} times as long",
        silent.len()
    );
    figures
        .push(json!({ "engine": format!("{:?}", figures.engine), "figure": "changes beside followers that don't read",
        "ours": beside, "theirs": quiet, "ratio": ratio }));
}

/// Single updates while a thousand follow, each of which is a message to each of them.
fn writes(program: &Program, followers: &[Follower], sizes: &Sizes, figures: &mut Figures) {
    let updates = program.requests("/v2/items/update", ITEMS, |n| update(OPEN, n));
    let rate = || load::rate(program.address(), &updates, WRITERS, sizes.period);
    let pair = |_| {
        let alone = rate();
        let crowd = Crowd::gather(program.address(), followers, OPEN);
        let watched = rate();
        drop(crowd);
        (watched, alone)
    };
    let rounds: Vec<_> = (0..sizes.rounds).map(pair).collect();
    let of = |figure: &dyn Fn(&(f64, f64)) -> f64| median(&mut rounds.iter().map(figure).collect::<Vec<_>>());
    let (watched, alone) = (of(&|it| it.0), of(&|it| it.1));
    let messages = watched * followers.len() as f64;
    println!(
        "  single updates beside {} followers: {watched:.1}/s, up to {messages:.0} messages a second; without any {alone:.1}/s",
        followers.len()
    );
    figures.push(json!({ "engine": format!("{:?}", figures.engine), "figure": "updates that followers are told of",
        "ours": watched, "theirs": alone, "messagesPerSecond": messages }));
}

fn update(collection: &str, n: usize) -> Value {
    let id = n % ITEMS;
    json!({ "dataCollectionId": collection, "dataItem": { "id": item_id(id), "data": changed(id, n) } })
}

fn changed(id: usize, price: usize) -> Value {
    let mut data = item(id);
    data["price"] = json!(price);
    data
}
