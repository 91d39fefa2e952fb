//! Random values that look for trouble: every type, near misses between types, and the edges of each.

use serde_json::{Value as Json, json};

/// splitmix64: a run repeats from its seed alone.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "A",
    "abc",
    "aBc",
    "XYZ",
    "hello world",
    "Hello-World",
    "1",
    "10",
    "true",
    "null",
    "Straße",
    "STRASSE",
    "ς",
    "Σ",
    "İ",
    "i",
    "I",
    "\u{1e9e}",
    "é",
    "e\u{301}",
    "\u{10400}",
    "\u{10428}",
    "\u{ffff}",
    "\u{10000}",
    "%",
    "_",
    "a%",
    "'",
    "\"",
    "\\",
    "$1",
    "{}",
    "[1]",
    "2024-03-05T06:07:08.009Z",
    "\n",
    "\u{1}",
    "ДОМ",
    "дом",
    "\u{7f}",
];

const NUMBERS: &[f64] = &[
    0.0,
    1.0,
    -1.0,
    2.0,
    10.0,
    0.5,
    -0.5,
    0.1,
    0.3,
    1e-7,
    1e21,
    1.5e300,
    -1e300,
    5e-324,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    1_152_921_504_606_846_976.0,
    9_223_372_036_854_775_807.0,
    18_446_744_073_709_551_615.0,
    0.30000000000000004,
    1.7976931348623157e308,
];

const DATES: &[&str] = &[
    "0000-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00.000Z",
    "2024-03-05T06:07:08.009Z",
    "2024-03-05T06:07:08.010Z",
    "9999-12-31T23:59:59.999Z",
];

pub fn text(random: &mut Random) -> String {
    (*random.pick(TEXTS)).to_owned()
}

/// A text, a number, a boolean or a date.
pub fn scalar(random: &mut Random) -> Json {
    match random.below(8) {
        0..=2 => text(random).into(),
        3..=5 => match random.below(4) {
            0 => (random.below(5) as f64).into(),
            1 => f64::from_bits(random.next()).abs().min(f64::MAX).into(),
            _ => (*random.pick(NUMBERS)).into(),
        },
        6 => random.one_in(2).into(),
        _ => json!({ "$date": random.pick(DATES) }),
    }
}

/// Any value, objects and arrays up to this many levels.
pub fn value(random: &mut Random, depth: usize) -> Json {
    match random.below(10) {
        0 => Json::Null,
        1 | 2 if depth > 0 => Json::Array((0..random.below(4)).map(|_| value(random, depth - 1)).collect()),
        3 | 4 if depth > 0 => object(random, depth),
        5 if depth > 0 => Json::Array((0..random.below(3)).map(|_| object(random, depth)).collect()),
        _ => scalar(random),
    }
}

pub fn object(random: &mut Random, depth: usize) -> Json {
    let mut members = serde_json::Map::new();
    for _ in 0..random.below(4) {
        members.insert((*random.pick(NAMES)).to_owned(), value(random, depth - 1));
    }
    Json::Object(members)
}

/// Few names, so that filters meet values; some of them try the quoting.
pub const NAMES: &[&str] = &["a", "b", "c", "d'", "e\"f", "0", "g h", "ü\u{10400}", "\\", "", "t\tab"];
