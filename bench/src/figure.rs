//! What becomes of measurements.

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
