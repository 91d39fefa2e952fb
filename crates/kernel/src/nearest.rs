//! The known name that was perhaps meant by one that isn't known.

/// The known name that is most like a name, if one is like it.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let likeness = |it: &str| strsim::jaro_winkler(&name.to_lowercase(), &it.to_lowercase());
    let best = known.into_iter().map(|it| (likeness(it), it)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then_some(best.1)
}

/// `; did you mean NAME?`, or nothing where no known name is like it.
pub fn hint<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(name, known).map(|it| format!("; did you mean {it}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_one_that_is_like_it() {
        let known = ["port", "host", "public_url", "smtp.host"];
        assert_eq!(nearest("prot", known), Some("port"));
        assert_eq!(nearest("publicurl", known), Some("public_url"));
        assert_eq!((nearest("zzz", known), hint("zzz", known)), (None, String::new()));
        assert_eq!(hint("hots", known), "; did you mean host?");
    }
}
