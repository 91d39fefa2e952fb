//! What a site's own code costs: nothing where a collection has no hooks, and little more than the engine's own call where
//! it has one.

use crate::{
    figure::{Figures, Sizes, median},
    identity,
    load::{self, Steady},
    program::{Engine, Program, item},
};
use rquickjs::{Context, Function, Runtime};
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

const CONNECTIONS: usize = 16;
const IN_BULK: usize = 500;
const BODY: &str = "item.price = Math.round(item.price); item.title = item.title.trim(); return item";

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, items of about 400 bytes, with and without hooks");
    let mut figures = Figures::of(engine);
    others_pay_nothing(binary, engine, sizes, &mut figures);
    one_hook(binary, engine, sizes, &mut figures);
    others_keep_their_pace(binary, engine, sizes, &mut figures);
    figures.into_list()
}

/// A collection without hooks on a site that has code, beside the same on a site that has none.
fn others_pay_nothing(binary: &Path, engine: Engine, sizes: &Sizes, figures: &mut Figures) {
    let (with, without) = (Site::start(binary, engine), Site::start(binary, engine));
    with.deploy();
    let count = sizes.items.min(20_000);
    for site in [&with, &without] {
        site.program.fill_collection("plain", count);
    }
    let reads =
        |site: &Site| {
            site.program.requests("/v2/items/query", count, |n| {
            json!({ "dataCollectionId": "plain", "query": { "filter": { "_id": crate::program::item_id(n) } } })
        })
        };
    let rate = |site: &Site, requests| load::rate(site.program.address(), requests, CONNECTIONS, sizes.period);
    let requests = [reads(&with), reads(&without)];
    let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&with, &requests[0]), rate(&without, &requests[1]))).collect();
    figures.add("query by id, no hooks of its own", &rates, "the same, no code on the site", 0.95);
    let requests = [with.inserts("plain"), without.inserts("plain")];
    let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&with, &requests[0]), rate(&without, &requests[1]))).collect();
    figures.add("insert, no hooks of its own", &rates, "the same, no code on the site", 0.95);
}

/// What one `beforeInsert` adds to the time of an insert, beside the same function called in the engine itself: as how
/// often a second either would be done.
fn one_hook(binary: &Path, engine: Engine, sizes: &Sizes, figures: &mut Figures) {
    let site = Site::start(binary, engine);
    site.deploy();
    let seconds = |requests: &Arc<Vec<Vec<u8>>>, items: usize| {
        1.0 / (load::rate(site.program.address(), requests, 1, sizes.period) * items as f64)
    };
    for (name, items, [hooked, plain]) in [
        ("beforeInsert, added to an insert", 1, ["hooked", "plain"].map(|it| site.inserts(it))),
        ("beforeInsert, added to one of 500", IN_BULK, ["hooked", "plain"].map(|it| site.bulk_inserts(it))),
    ] {
        let round = || {
            // What is not to be told from nothing counts as a microsecond.
            let added = (seconds(&hooked, items) - seconds(&plain, items)).max(1e-6);
            (1.0 / added, 1.0 / bare_call())
        };
        let rates: Vec<_> = (0..sizes.rounds).map(|_| round()).collect();
        figures.add(name, &rates, "the engine's own call", 0.67);
    }
}

/// Code of one site that takes all it may, and requests that have it run without a pause.
const HOSTILE: [(&str, &str); 3] = [
    ("a loop", "for (;;);"),
    ("a native loop", "const a = []; a[4e9] = 1; a.reverse()"),
    ("all memory", "const all = []; for (;;) all.push(new Array(1000).fill(1))"),
];
/// What the median answer of another site may take while such code runs, beside what it takes otherwise.
const MOST_MEDIAN: f64 = 1.2;
/// The share of the most requests a second that others ask for.
const STEADY: f64 = 0.25;
/// Requests a second that have hostile code run: more than its site's four places can take, so that some always wait.
const HOSTILE_PER_SECOND: f64 = 100.0;

/// Visitors of a site without code, at a fixed rate, while the code of another is hostile and while it isn't asked.
fn others_keep_their_pace(binary: &Path, engine: Engine, sizes: &Sizes, figures: &mut Figures) {
    // With its defaults: code whose processes die rests after a few of them.
    let site = Site { program: Program::start(binary, engine) };
    let count = sizes.items.min(20_000);
    site.program.fill(count);
    let hostile = Hostile::make(&site.program);
    let requests = site.program.requests(
        "/v2/items/query",
        count,
        |n| json!({ "dataCollectionId": "things", "query": { "filter": { "_id": crate::program::item_id(n) } } }),
    );
    let address = site.program.address();
    let per_second = STEADY * load::rate(address, &requests, CONNECTIONS, sizes.period);
    let turn = || load::steady(address, &requests, 2 * CONNECTIONS, per_second, sizes.period);
    for (name, body) in HOSTILE {
        hostile.deploy(&site.program, body);
        let turns: Vec<_> = (0..sizes.rounds).map(|_| (hostile.during(address, sizes.period, turn), turn())).collect();
        let of = |figure: &dyn Fn(&(Steady, Steady)) -> f64| median(&mut turns.iter().map(figure).collect::<Vec<_>>());
        let (ours, theirs) = (of(&|it| it.0.median), of(&|it| it.1.median));
        let (ratio, rate) = (of(&|it| it.0.median / it.1.median), of(&|it| it.0.per_second / it.1.per_second));
        let [asked, answered] =
            [turns.iter().map(|it| it.0.asked).sum::<usize>(), turns.iter().map(|it| it.0.answered).sum()];
        println!(
            "  another site's code is {name}: answered {answered} of {asked} at {per_second:.0}/s, rate {rate:.2}"
        );
        let (ours_ms, theirs_ms) = (ours * 1e3, theirs * 1e3);
        println!(
            "    median {ours_ms:>6.2} ms   without it {theirs_ms:>6.2} ms   {ratio:.2} times as long   goal <= {MOST_MEDIAN}"
        );
        figures.push(json!({
            "engine": format!("{engine:?}"), "figure": format!("another site while a hook is {name}"), "asked": asked,
            "answered": answered, "perSecond": per_second, "rateRatio": rate, "oursMedianSeconds": ours,
            "theirsMedianSeconds": theirs, "medianRatio": ratio, "medianGoal": MOST_MEDIAN,
        }));
    }
}

/// A site beside, whose code is hostile.
struct Hostile {
    requests: Arc<Vec<Vec<u8>>>,
}

impl Hostile {
    const NAME: &str = "hostile";

    fn make(program: &Program) -> Self {
        let in_site = |arguments: &[&str]| program.run(&[arguments, &["--site", Self::NAME]].concat());
        program.run(&["site", "create", "--name", Self::NAME]);
        in_site(&["collection", "create", "c", "--field", "title:text"]);
        let key = in_site(&["key", "create", "--name", "bench"])["apiKey"].as_str().unwrap().to_owned();
        let body = json!({ "dataCollectionId": "c", "dataItem": { "data": { "title": "x" } } });
        Self { requests: Arc::new(vec![identity::request("/v2/items", &key, &body)]) }
    }

    fn deploy(&self, program: &Program, body: &str) {
        let file = program.data().join("hostile.js");
        std::fs::write(&file, format!("export function c_beforeInsert(item) {{ {body} }}")).unwrap();
        program.run(&["hooks", "deploy", file.to_str().unwrap(), "--site", Self::NAME]);
    }

    /// Does something while the code runs.
    fn during<T>(&self, address: SocketAddr, period: Duration, turn: impl FnOnce() -> T) -> T {
        const SETTLE: Duration = Duration::from_secs(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // It is refused, all of it.
                let time = period + 2 * SETTLE;
                let refused = load::steady(address, &self.requests, 100, HOSTILE_PER_SECOND, time);
                assert_eq!(refused.answered, 0, "nothing is written without its hook");
            });
            std::thread::sleep(SETTLE);
            turn()
        })
    }
}

struct Site {
    program: Program,
}

impl Site {
    fn start(binary: &Path, engine: Engine) -> Self {
        let program = Program::start(binary, engine);
        for collection in ["plain", "hooked"] {
            program.make_collection(collection, "ANYONE");
        }
        Self { program }
    }

    fn deploy(&self) {
        let file = self.program.data().join("data.js");
        std::fs::write(&file, format!("export function hooked_beforeInsert(item) {{ {BODY} }}")).unwrap();
        self.program.run(&["hooks", "deploy", file.to_str().unwrap()]);
    }

    fn inserts(&self, collection: &str) -> Arc<Vec<Vec<u8>>> {
        self.program.requests(
            "/v2/items",
            1_000_000,
            |n| json!({ "dataCollectionId": collection, "dataItem": { "data": without_id(n) } }),
        )
    }

    /// One request, which is sent again and again.
    fn bulk_inserts(&self, collection: &str) -> Arc<Vec<Vec<u8>>> {
        let items: Vec<_> = (0..IN_BULK).map(|n| json!({ "data": without_id(n) })).collect();
        let body = json!({ "dataCollectionId": collection, "dataItems": items });
        Arc::new(vec![self.program.request("/v2/bulk/items/insert", &body)])
    }
}

fn without_id(n: usize) -> Value {
    let mut data = item(n);
    data.as_object_mut().unwrap().remove("_id");
    data
}

/// The seconds of one call of the function in an engine of this process, from text to text.
fn bare_call() -> f64 {
    const CALLS: u32 = 20_000;
    let (runtime, text) = (Runtime::new().unwrap(), without_id(7).to_string());
    let context = Context::full(&runtime).unwrap();
    context.with(|ctx| {
        let source = format!("(text) => JSON.stringify(((item) => {{ {BODY} }})(JSON.parse(text)))");
        let call: Function<'_> = ctx.eval(source).unwrap();
        let run = || call.call::<_, String>((text.as_str(),)).unwrap();
        assert!(run().contains("price"));
        let began = Instant::now();
        for _ in 0..CALLS {
            std::hint::black_box(run());
        }
        began.elapsed().as_secs_f64() / f64::from(CALLS)
    })
}
