//! An error as one line of a log.

/// The error with what caused it, cut to a length that a log can hold.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(it) = source {
        text.push_str(": ");
        text.push_str(&it.to_string());
        source = it.source();
    }
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(500).collect()
}
