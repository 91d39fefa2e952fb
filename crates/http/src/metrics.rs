//! What is counted for those who watch the server, in the text format of Prometheus (version 0.0.4).
//!
//! Labels are words of the program: routes as they stand in the table, known methods, statuses. Nothing that a client
//! makes up becomes one.

use crate::traffic::{Resource, Traffic};
use axum::http::Method;
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Upper bounds of times, in seconds.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
/// Methods are the client's own words: others than these share a label.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The route of what no route answers.
const UNMATCHED: &str = "unmatched";

/// Requests that were answered, by route. Nothing is counted unless somebody watches.
#[derive(Default)]
pub struct Metrics {
    is_watched: bool,
    routes: Mutex<HashMap<&'static str, Requests>>,
}

/// Requests of one route.
#[derive(Default)]
struct Requests {
    /// By method and status.
    count: BTreeMap<(&'static str, u16), u64>,
    /// For each bound those up to it and above the one before; then the rest.
    times: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

/// Whether a value goes up only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
}

/// A number that isn't about requests.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    pub value: f64,
}

/// Numbers of one name for several things, told apart by labels.
#[derive(Debug, Clone)]
pub struct Family {
    pub name: &'static str,
    pub help: &'static str,
    pub samples: Vec<Sample>,
}

/// One of them, a value that goes up and down.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Names and values; these without quotes, backslashes and control characters.
    pub labels: Vec<(&'static str, String)>,
    pub value: f64,
}

impl Metrics {
    /// Counts from now on.
    pub fn watched() -> Self {
        Self { is_watched: true, ..Self::default() }
    }

    /// Counts a request that was answered.
    pub(crate) fn count(&self, method: &Method, route: Option<&'static str>, status: u16, time: Duration) {
        if !self.is_watched {
            return;
        }
        let method = METHODS.into_iter().find(|it| *it == method.as_str()).unwrap_or("other");
        let seconds = time.as_secs_f64();
        let mut routes = self.lock();
        let requests = routes.entry(route.unwrap_or(UNMATCHED)).or_default();
        *requests.count.entry((method, status)).or_default() += 1;
        requests.times[BOUNDS.iter().position(|it| seconds <= *it).unwrap_or(BOUNDS.len())] += 1;
        requests.seconds += seconds;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<&'static str, Requests>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print(&self, text: &mut String) {
        let routes = self.lock();
        let routes: BTreeMap<_, _> = routes.iter().collect();
        head(text, "stoa_requests_total", "Requests that were answered.", "counter");
        for (route, requests) in &routes {
            for ((method, status), count) in &requests.count {
                let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
                let _ = writeln!(text, "stoa_requests_total{{{labels}}} {count}");
            }
        }
        head(text, "stoa_request_seconds", "Time from a request's head to the head of its answer.", "histogram");
        for (route, requests) in &routes {
            let mut below = 0;
            let bounds = BOUNDS.map(|it| it.to_string()).into_iter().chain(["+Inf".to_owned()]);
            for (count, bound) in requests.times.iter().zip(bounds) {
                below += count;
                let _ = writeln!(text, "stoa_request_seconds_bucket{{route=\"{route}\",le=\"{bound}\"}} {below}");
            }
            let _ = writeln!(text, "stoa_request_seconds_sum{{route=\"{route}\"}} {}", requests.seconds);
            let _ = writeln!(text, "stoa_request_seconds_count{{route=\"{route}\"}} {below}");
        }
    }
}

/// Everything that is counted of requests, and `others`.
pub fn text(metrics: &Metrics, traffic: &Traffic, others: &[Measure], families: &[Family]) -> String {
    let mut text = String::new();
    metrics.print(&mut text);
    print_traffic(&mut text, traffic);
    for it in others {
        let kind = if it.kind == Kind::Counter { "counter" } else { "gauge" };
        head(&mut text, it.name, it.help, kind);
        let _ = writeln!(text, "{} {}", it.name, it.value);
    }
    for it in families {
        print_family(&mut text, it);
    }
    text
}

fn print_family(text: &mut String, family: &Family) {
    head(text, family.name, family.help, "gauge");
    for it in &family.samples {
        let labels: Vec<String> = it.labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let _ = writeln!(text, "{}{{{}}} {}", family.name, labels.join(","), it.value);
    }
}

fn print_traffic(text: &mut String, traffic: &Traffic) {
    for (name, help, resource) in [
        ("stoa_connections", "Connections that are open.", Resource::Connections),
        ("stoa_requests_in_progress", "Requests in progress.", Resource::Requests),
        ("stoa_bodies_bytes", "Bytes of bodies in memory, with what is parsed of them.", Resource::Bodies),
        ("stoa_answers_bytes", "Bytes of answers that wait for their readers.", Resource::Answers),
    ] {
        head(text, name, help, "gauge");
        let _ = writeln!(text, "{name} {}", traffic.used(resource));
    }
    head(text, "stoa_refused_total", "Refused for lack of room, in all or for one network.", "counter");
    for (what, resource) in [
        ("connection", Resource::Connections),
        ("request", Resource::Requests),
        ("body", Resource::Bodies),
        ("answer", Resource::Answers),
    ] {
        let _ = writeln!(text, "stoa_refused_total{{what=\"{what}\"}} {}", traffic.refused(resource));
    }
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(metrics: &Metrics) -> Vec<String> {
        let mut text = String::new();
        metrics.print(&mut text);
        text.lines().filter(|it| !it.starts_with('#')).map(str::to_owned).collect()
    }

    #[test]
    fn requests_are_counted_in_cumulative_buckets() {
        let metrics = Metrics::watched();
        for millis in [1, 2, 400, 60_000] {
            metrics.count(&Method::GET, Some("/v2/items"), 200, Duration::from_millis(millis));
        }
        let lines = printed(&metrics);
        assert_eq!(lines[0], "stoa_requests_total{method=\"GET\",route=\"/v2/items\",status=\"200\"} 4");
        let bucket = |bound: &str| {
            let start = format!("stoa_request_seconds_bucket{{route=\"/v2/items\",le=\"{bound}\"}} ");
            lines.iter().find_map(|it| it.strip_prefix(&start)).expect("the bucket").to_owned()
        };
        assert_eq!(["0.001", "0.0025", "0.25", "0.5", "30", "+Inf"].map(bucket), ["1", "2", "2", "3", "3", "4"]);
        assert!(lines.contains(&"stoa_request_seconds_count{route=\"/v2/items\"} 4".to_owned()));
    }

    #[test]
    fn made_up_methods_and_paths_share_a_label() {
        let metrics = Metrics::watched();
        for name in ["BREW", "X\"Y", "get"] {
            if let Ok(method) = Method::from_bytes(name.as_bytes()) {
                metrics.count(&method, None, 404, Duration::ZERO);
            }
        }
        let lines = printed(&metrics);
        assert!(lines[0].starts_with("stoa_requests_total{method=\"other\",route=\"unmatched\",status=\"404\"}"));
        assert_eq!(lines.iter().filter(|it| it.starts_with("stoa_requests_total")).count(), 1);
    }

    #[test]
    fn family_has_a_line_for_each_of_its_things() {
        let sample =
            |site: &str, value| Sample { labels: vec![("site", site.to_owned()), ("n", "1".to_owned())], value };
        let samples = vec![sample("a", 0.5), sample("b", 2.0)];
        let mut text = String::new();
        print_family(&mut text, &Family { name: "stoa_x", help: "Such.", samples });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1..],
            ["# TYPE stoa_x gauge", "stoa_x{site=\"a\",n=\"1\"} 0.5", "stoa_x{site=\"b\",n=\"1\"} 2"]
        );
    }

    #[test]
    fn nothing_is_counted_without_a_watcher() {
        let metrics = Metrics::default();
        metrics.count(&Method::GET, None, 200, Duration::ZERO);
        assert!(printed(&metrics).is_empty());
    }
}
