//! What webhooks cost those who write: the same writes with and without an endpoint that hears of them.
//!
//! The receiver is a thread of this process that answers 204 to whatever comes; so it shares the machine, and what it
//! takes counts against the program.

use crate::{
    figure::{Figures, Sizes, median},
    load,
    program::{Engine, Program, item},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Writes a second that a busy site has.
const STEADY: f64 = 300.0;
const STEADY_WRITERS: usize = 16;
const WRITERS: usize = 64;
/// As many as a site may have.
const DEAD: usize = 20;
/// Periods of inserts until an engine is as fast as it stays.
const WARMING: u32 = 4;
/// How long endpoints that nothing answers take until they rest.
const GIVE_UP: Duration = Duration::from_secs(60);
/// One delivery of so many is looked into for how late it came.
const SAMPLE: u64 = 16;

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, single inserts of about 400 bytes, with and without webhooks");
    let mut figures = Figures::of(engine);
    let program = Program::start(binary, engine);
    program.make_collection("heard", "ANYONE");
    let application = Application::make(&program);
    steady(&application, sizes, &mut figures);
    full_speed(&application, sizes, &mut figures);
    dead_endpoints(&application, sizes, &mut figures);
    figures.into_list()
}

/// A client with a key that signs, and the program that it is of.
struct Application<'p> {
    program: &'p Program,
    id: String,
    inserts: Arc<Vec<Vec<u8>>>,
}

impl<'p> Application<'p> {
    fn make(program: &'p Program) -> Self {
        let made = program.run(&["client", "create", "--name", "receiver", "--secret"]);
        let id = made["clientId"].as_str().unwrap().to_owned();
        program.run(&["app", "key", "rotate", "--app", &id]);
        program.run(&["app", "key", "activate", "--app", &id]);
        let inserts = program.requests("/v2/items", 1_000_000, |n| {
            let mut data = item(n);
            data.as_object_mut().unwrap().remove("_id");
            json!({ "dataCollectionId": "heard", "dataItem": { "data": data } })
        });
        Self { program, id, inserts }
    }

    fn endpoint(&self, address: SocketAddr) -> Endpoint<'p> {
        let types = ["wix.data.v2.data_item_created"];
        let url = format!("http://{address}/");
        let body = json!({ "appId": self.id, "url": url, "types": types });
        let made = self.program.post("/_api/webhooks/v1/endpoints", &body);
        Endpoint { program: self.program, id: made["endpoint"]["id"].as_str().unwrap().to_owned() }
    }

    /// One that a receiver hears of already: what is new is taken up a moment later.
    fn heard_endpoint(&self, receiver: &Receiver) -> Endpoint<'p> {
        let endpoint = self.endpoint(receiver.address);
        let item = json!({ "dataCollectionId": "heard", "dataItem": { "data": {} } });
        self.program.post("/v2/items", &item);
        let begin = Instant::now();
        while receiver.heard.count.load(Ordering::Relaxed) == 0 {
            assert!(begin.elapsed() < GIVE_UP, "{}", endpoint.show());
            std::thread::sleep(Duration::from_millis(20));
        }
        receiver.forget();
        endpoint
    }

    fn rate(&self, period: Duration) -> f64 {
        load::rate(self.program.address(), &self.inserts, WRITERS, period)
    }
}

/// An endpoint, deleted when dropped.
struct Endpoint<'p> {
    program: &'p Program,
    id: String,
}

impl Endpoint<'_> {
    fn show(&self) -> Value {
        self.program.get(&format!("/_api/webhooks/v1/endpoints/{}", self.id))["endpoint"].take()
    }

    fn lag(&self) -> f64 {
        self.show()["lagSeconds"].as_f64().unwrap()
    }

    fn wait_until_open(&self) {
        let begin = Instant::now();
        while self.show()["state"] != "OPEN" {
            assert!(begin.elapsed() < GIVE_UP, "{}", self.show());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Endpoint<'_> {
    fn drop(&mut self) {
        self.program.delete(&format!("/_api/webhooks/v1/endpoints/{}", self.id));
    }
}

/// The median time of a write at a steady pace, and how late deliveries came.
fn steady(application: &Application<'_>, sizes: &Sizes, figures: &mut Figures) {
    let address = application.program.address();
    let time = || {
        let (mut times, _) = load::paced(address, &application.inserts, STEADY_WRITERS, STEADY, sizes.period, None);
        median(&mut times)
    };
    let (mut rounds, mut lags, mut delivered) = (Vec::new(), Vec::new(), 0);
    for _ in 0..sizes.rounds {
        let without = time();
        let receiver = Receiver::start();
        let endpoint = application.heard_endpoint(&receiver);
        let with = time();
        drop(endpoint);
        let (count, late) = receiver.stop();
        delivered += count;
        lags.extend(late);
        rounds.push((with, without));
    }
    let of = |figure: &dyn Fn(&(f64, f64)) -> f64| median(&mut rounds.iter().map(figure).collect::<Vec<_>>());
    let (ours, theirs, ratio) = (of(&|it| it.0), of(&|it| it.1), of(&|it| it.0 / it.1));
    lags.sort_by(f64::total_cmp);
    let (typical, latest) = (lags[lags.len() / 2], lags[lags.len() - 1]);
    println!(
        "  {STEADY} inserts a second with a webhook: median {:.2} ms, without {:.2} ms, {ratio:.2} times as long   goal <= 1.15",
        ours * 1e3,
        theirs * 1e3
    );
    println!(
        "    {delivered} deliveries, half of them within {typical:.3} s, the latest after {latest:.3} s   goal < 2 s"
    );
    figures.push(json!({ "engine": format!("{:?}", figures.engine), "figure": "steady inserts with a webhook",
        "oursSeconds": ours, "theirsSeconds": theirs, "ratio": ratio, "goal": 1.15, "lagSeconds": typical, "latestSeconds": latest }));
}

/// Inserts as fast as they go. An engine that is new is faster until it writes its log back for the first time, so the
/// first inserts are not counted.
fn full_speed(application: &Application<'_>, sizes: &Sizes, figures: &mut Figures) {
    application.rate(WARMING * sizes.period);
    let (mut lag, mut delivered): (f64, u64) = (0.0, 0);
    let mut with = || {
        let receiver = Receiver::start();
        let endpoint = application.heard_endpoint(&receiver);
        let rate = application.rate(sizes.period);
        lag = lag.max(endpoint.lag());
        drop(endpoint);
        delivered += receiver.stop().0;
        rate
    };
    let rates: Vec<_> = (0..sizes.rounds).map(|n| pair(n, &mut with, || application.rate(sizes.period))).collect();
    figures.add("inserts at full speed, a webhook", &rates, "the same without", 0.8);
    println!("    {delivered} deliveries meanwhile; at the end of a round the webhook was at most {lag:.1} s behind");
}

/// The same beside endpoints that nothing answers.
fn dead_endpoints(application: &Application<'_>, sizes: &Sizes, figures: &mut Figures) {
    let mut with = || {
        let nowhere: Vec<_> = (0..DEAD).map(|_| application.endpoint(closed_address())).collect();
        // What there is to deliver shows them that nothing answers.
        application.rate(Duration::from_millis(500));
        nowhere.iter().for_each(Endpoint::wait_until_open);
        application.rate(sizes.period)
    };
    let rates: Vec<_> = (0..sizes.rounds).map(|n| pair(n, &mut with, || application.rate(sizes.period))).collect();
    figures.add(&format!("inserts beside {DEAD} dead endpoints"), &rates, "the same without", 0.98);
}

/// Both, in an order that changes with each round.
fn pair(round: usize, mut ours: impl FnMut() -> f64, mut theirs: impl FnMut() -> f64) -> (f64, f64) {
    if round.is_multiple_of(2) {
        let ours = ours();
        (ours, theirs())
    } else {
        let theirs = theirs();
        (ours(), theirs)
    }
}

/// An address of this machine where nothing listens.
fn closed_address() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Takes deliveries on a thread of its own.
struct Receiver {
    address: SocketAddr,
    heard: Arc<Heard>,
    runtime: tokio::runtime::Runtime,
}

#[derive(Default)]
struct Heard {
    count: AtomicU64,
    /// Seconds since the event of some deliveries.
    late: Mutex<Vec<f64>>,
}

impl Receiver {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (address, heard) = (listener.local_addr().unwrap(), Arc::<Heard>::default());
        let hearing = heard.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(hear(stream, hearing.clone()));
            }
        });
        Self { address, heard, runtime }
    }

    /// Counts from here on.
    fn forget(&self) {
        self.heard.late.lock().unwrap().clear();
        self.heard.count.store(0, Ordering::Relaxed);
    }

    /// How many came, and how late.
    fn stop(self) -> (u64, Vec<f64>) {
        self.runtime.shutdown_background();
        let late = std::mem::take(&mut *self.heard.late.lock().unwrap());
        (self.heard.count.load(Ordering::Relaxed), late)
    }
}

/// Reads one delivery whole and takes it.
async fn hear(mut stream: TcpStream, heard: Arc<Heard>) -> std::io::Result<()> {
    let mut request = Vec::with_capacity(8 * 1024);
    let body = loop {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
        let Some(head) = request.windows(4).position(|it| it == b"\r\n\r\n") else { continue };
        let length = load::content_length(&request[..head]).unwrap_or(0);
        if request.len() >= head + 4 + length {
            break &request[head + 4..];
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    if heard.count.fetch_add(1, Ordering::Relaxed).is_multiple_of(SAMPLE) {
        heard.late.lock().unwrap().push(now - event_time(body));
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await
}

/// When what a token tells of happened, in seconds since 1970.
fn event_time(token: &[u8]) -> f64 {
    let claims = token.split(|it| *it == b'.').nth(1).unwrap();
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    let inner = |it: &Value| serde_json::from_str::<Value>(it["data"].as_str().unwrap()).unwrap();
    let event = inner(&inner(&claims));
    let time = stoa_kernel::date::parse(event["eventTime"].as_str().unwrap()).unwrap();
    time as f64 / 1e3
}
