//! Stored documents as text: canonical JSON, `_id` first, of which parts are read without parsing it.

use stoa_query::item::members;

/// The JSON string after `{"_id":`, with which every canonical document begins.
pub(crate) fn quoted_id(document: &str) -> &str {
    let start = "{\"_id\":".len();
    let bytes = document.as_bytes();
    let mut end = start + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    document.get(start..=end).unwrap_or("\"\"")
}

/// The value that a document has in a field, as its text. The name is quoted as in canonical text.
pub(crate) fn member<'d>(document: &'d str, quoted_name: &str) -> Option<&'d str> {
    members(document).find(|(name, _)| *name == quoted_name).map(|(_, value)| value)
}

/// Who owns the item of a document.
pub(crate) fn owner(document: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Owned {
        #[serde(rename = "_owner")]
        owner: Option<String>,
    }
    serde_json::from_str::<Owned>(document).ok()?.owner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_cut_from_the_document() {
        for (document, id) in [
            (r#"{"_id":"a","x":1}"#, r#""a""#),
            (r#"{"_id":"a\"b\\","x":"y"}"#, r#""a\"b\\""#),
            (r#"{"_id":"ü"}"#, r#""ü""#),
            ("{}", "\"\""),
        ] {
            assert_eq!(quoted_id(document), id);
        }
    }
}
