//! Documents that are made to cost much: each is refused or answered in about the time of a harmless one of its length,
//! on a stack of two megabytes.

use super::*;
use rustix::time::{ClockId, clock_gettime};
use std::{thread, time::Duration};

const STACK: usize = 2 * 1024 * 1024;
/// How often more time than for a harmless document is let through.
const RATIO: u32 = 10;
/// Below this nothing is measured.
const LEAST: Duration = Duration::from_micros(500);

fn hostile() -> Vec<(&'static str, String)> {
    let repeat = |text: &str, count: usize| text.repeat(count);
    let numbered = |text: &str, count: usize| (0..count).map(|n| text.replace('#', &n.to_string())).collect::<String>();
    let doubling = |count: usize| {
        let fragment = |n: usize| format!("fragment f{n} on Cars {{...f{0} ...f{0}}} ", n + 1);
        let all: String = (0..count).map(fragment).collect();
        format!("{{cars {{items {{...f0}}}}}} {all} fragment f{count} on Cars {{title}}")
    };
    let long = "n".repeat(60_000);
    vec![
        ("lists in lists", format!("{{cars(filter: {}", repeat("[", 32_000))),
        (
            "closed lists in lists",
            format!("{{cars(filter: {}{}) {{hasNext}}}}", repeat("[", 32_000), repeat("]", 32_000)),
        ),
        ("objects in objects", format!("{{cars(filter: {}", repeat("{a:", 16_000))),
        ("inline fragments", format!("{{{}", repeat("...{", 15_000))),
        ("selections in selections", repeat("{a", 30_000)),
        ("types", format!("query($a: {}", repeat("[", 32_000))),
        ("default of a variable", format!("query($a: JSON = {}", repeat("[", 32_000))),
        ("directives", format!("{{cars {} {{hasNext}}}}", repeat("@a", 15_000))),
        ("arguments of directives", format!("{{cars @a(a: {}", repeat("[", 32_000))),
        ("9,000 fields", format!("{{{}}}", repeat("cars{", 9_000))),
        ("4,900 fields", format!("{{cars {{items {{{}}}}}}}", repeat("title ", 4_900))),
        ("1,900 fields", format!("{{cars {{items {{{}}}}}}}", repeat("title ", 1_900))),
        ("fields that are none", format!("{{cars {{items {{{}}}}}}}", numbered("x# ", 1_900))),
        ("20 doubling fragments", doubling(20)),
        ("49 doubling fragments", doubling(49)),
        ("60 doubling fragments", doubling(60)),
        (
            "a ring of fragments",
            format!("{{...f0}} {} fragment f48 on Query {{...f0}}", numbered("fragment f# on Query {...f#}", 1)),
        ),
        ("aliases", format!("{{{}}}", numbered("a#: carsCount ", 3_000))),
        ("items by the million", "{cars(limit: 1000) {items {tags(limit: 1000) {_id}}}}".to_owned()),
        ("items in items", format!("{{cars {{items {{brand {{{}}}}}}}}}", nested_lists(3))),
        ("variables", format!("query({}) {{_collections}}", numbered("$v#: Int ", 2_400))),
        ("one variable", format!("query({}) {{_collections}}", repeat("$v: Int ", 2_400))),
        ("arguments", format!("{{cars({}) {{hasNext}}}}", repeat("limit: 1 ", 3_300))),
        ("members of an object", format!("{{cars(filter: {{{}}}) {{hasNext}}}}", repeat("a: 1 ", 3_300))),
        ("operations", numbered("query q# {_collections} ", 1_900)),
        ("operations of one name", repeat("query q {_collections} ", 1_900)),
        ("operations without a name", repeat("{_collections} ", 3_000)),
        ("fragments", format!("{{_collections}} {}", numbered("fragment f# on Query {_collections} ", 1_400))),
        ("unused fragments", format!("{{_collections}} {}", numbered("fragment f# on Query {_collections} ", 50))),
        ("spreads", format!("{{{}}} fragment f on Query {{_collections}}", repeat("...f ", 3_000))),
        ("spreads of nothing", format!("{{{}}}", numbered("...f# ", 1_900))),
        ("types of the schema", repeat("type A {a: Int} ", 1_400)),
        ("a long name", format!("{{{long}}}")),
        ("long names", format!("{{{}}}", numbered(&format!("{}# ", "n".repeat(3_000)), 20))),
        ("a long text", format!("{{cars(filter: {{a: \"{long}\"}}) {{hasNext}}}}")),
        ("a long block", format!("{{cars(filter: {{a: \"\"\"{}\"\"\"}}) {{hasNext}}}}", repeat(" \n", 30_000))),
        ("an open text", format!("{{cars(filter: \"{long}")),
        ("a comment", format!("#{long}\n{{_collections}}")),
        ("commas", format!("{{{}_collections}}", repeat(",", 60_000))),
        ("signs", repeat("!", 60_000)),
        ("brackets", repeat(")]}", 20_000)),
        ("nothing", repeat("\u{feff}", 20_000)),
        ("a long number", format!("{{cars(limit: {}) {{hasNext}}}}", repeat("9", 60_000))),
        ("numbers", format!("{{cars(filter: [{}]) {{hasNext}}}}", repeat("1e999 ", 3_000))),
    ]
}

fn nested_lists(depth: usize) -> String {
    match depth {
        0 => "_id".to_owned(),
        n => format!("cars(limit: 1000) {{brand {{{}}}}}", nested_lists(n - 1)),
    }
}

/// An ordinary document of this length.
fn harmless(length: usize) -> String {
    let fields = (length / 12).min(1_900);
    let mut document = format!("{{cars {{items {{{}}}}}}}", "title price ".repeat(fields / 2).trim_end());
    if document.len() < length {
        document.push_str(&" ".repeat(length - document.len()));
    }
    document
}

/// What this thread has computed so far: others have the cores as well.
fn computed() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a time")
}

/// The shortest of some runs.
fn time(site: &SiteSchema, document: &str) -> Duration {
    let request = request(document, json!({}));
    let limits = GraphqlLimits::default();
    let run = |_| {
        let begun = computed();
        let answer = prepare(site, &request, &limits, true);
        let taken = computed() - begun;
        if let Err(errors) = answer {
            assert!(errors.len() <= 21 && errors.iter().all(|it| it.message.len() < 3_000), "{errors:?}");
        }
        taken
    };
    (0..5).map(run).min().unwrap_or_default()
}

#[test]
fn hostile_documents_cost_little_more_than_harmless_ones() {
    let measured = thread::Builder::new().stack_size(STACK).spawn(|| {
        let site = site();
        let measure = |(name, document): (&'static str, String)| {
            let (hostile, harmless) = (time(&site, &document), time(&site, &harmless(document.len())));
            (name, document.len(), hostile, harmless.max(LEAST))
        };
        hostile().into_iter().map(measure).collect::<Vec<_>>()
    });
    let measured = measured.expect("a thread").join().expect("no overflow");
    let costly: Vec<_> = measured.iter().filter(|it| it.2 > it.3 * RATIO).collect();
    assert!(costly.is_empty(), "{costly:#?}");
}
