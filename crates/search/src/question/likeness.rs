//! How many errors a word may have, and which terms are near enough to it.

/// A term's first character, which has no error.
pub(super) fn first(term: &str) -> &str {
    &term[..term.chars().next().map_or(0, char::len_utf8)]
}

/// How many errors make one term of the other, if they are few enough.
pub(super) fn distance(asked: &str, term: &str) -> Option<usize> {
    let most = errors(asked);
    let near = first(asked) == first(term) && term.len().abs_diff(asked.len()) <= 4 * most;
    near.then(|| strsim::osa_distance(asked, term)).filter(|it| *it <= most)
}

/// How many errors a word may have: none in a single letter and in numbers, where another one is another thing.
pub(super) fn errors(term: &str) -> usize {
    match term.chars().count() {
        _ if term.starts_with(|c: char| c.is_ascii_digit()) => 0,
        0..=1 => 0,
        2..=5 => 1,
        _ => 2,
    }
}
