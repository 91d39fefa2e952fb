//! How much the tests do that draw their cases by chance.

/// Rounds of a random test: `usual`, which take seconds, times `STOA_EFFORT`, which `make soak` raises.
pub fn rounds(usual: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "the environment says how much to try")]
    let effort = std::env::var("STOA_EFFORT").ok();
    usual * effort.map_or(1, |it| it.parse().expect("STOA_EFFORT is a number"))
}
