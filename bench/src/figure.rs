//! What becomes of measurements.

use crate::program::Engine;
use serde_json::{Value, json};
use std::time::Duration;

/// The one in the middle.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The value that a share of `at` of them does not exceed.
pub fn percentile(mut values: Vec<f64>, at: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() as f64 * at) as usize).min(values.len() - 1)]
}

/// How much is measured, and for how long.
pub struct Sizes {
    pub items: usize,
    pub rounds: usize,
    pub period: Duration,
}

/// Figures of one engine.
pub struct Figures {
    pub engine: Engine,
    list: Vec<Value>,
}

impl Figures {
    pub fn of(engine: Engine) -> Self {
        Self { engine, list: Vec::new() }
    }

    pub fn into_list(self) -> Vec<Value> {
        self.list
    }

    /// A figure that was printed otherwise.
    pub fn push(&mut self, figure: Value) {
        self.list.push(figure);
    }

    /// Ours and theirs, round by round; the ratio is the median of the rounds.
    pub fn add(&mut self, name: &str, rates: &[(f64, f64)], beside: &str, least: f64) {
        let of = |figure: &dyn Fn(&(f64, f64)) -> f64| median(&mut rates.iter().map(figure).collect::<Vec<_>>());
        let (ours, theirs, ratio) = (of(&|it| it.0), of(&|it| it.1), of(&|it| it.0 / it.1));
        let goal = (least * 1_000.0).round() / 1_000.0;
        println!("  {name:<40} {ours:>10.1}/s   {beside:<30} {theirs:>10.1}/s   ratio {ratio:.2}   goal >= {goal}");
        let engine = format!("{:?}", self.engine);
        self.list.push(json!({ "engine": engine, "figure": name, "ours": ours, "beside": beside, "theirs": theirs, "ratio": ratio, "goal": least }));
    }
}
