//! What a site's own code costs: nothing where a collection has no hooks, and little more than the engine's own call where
//! it has one.

use crate::{
    figure::{Figures, Sizes},
    load,
    program::{Engine, Program, item},
};
use rquickjs::{Context, Function, Runtime};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, time::Instant};

const CONNECTIONS: usize = 16;
const IN_BULK: usize = 500;
const BODY: &str = "item.price = Math.round(item.price); item.title = item.title.trim(); return item";

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, items of about 400 bytes, with and without hooks");
    let mut figures = Figures::of(engine);
    others_pay_nothing(binary, engine, sizes, &mut figures);
    one_hook(binary, engine, sizes, &mut figures);
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
