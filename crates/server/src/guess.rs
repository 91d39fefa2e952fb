//! The fields that a file has, for a collection to be made of it.

use crate::{
    cli::{Format, NewField},
    failure::Failure,
};
use serde_json::Value;
use std::{collections::HashMap, io::Read};
use stoa_content::transfer::Records;
use stoa_kernel::date;

/// Every field of a file's items, in the order in which they first come, with the one type that all its values have:
/// `TEXT` for cells of CSV that have several, `ANY` for such values of JSON.
///
/// # Errors
/// Why the file can't be read to its end.
pub fn guess_fields(format: Format, input: Box<dyn Read + Send>) -> Result<Vec<NewField>, Failure> {
    let mut fields: Vec<NewField> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for record in Records::typed(format.into(), input, HashMap::new()) {
        // Lines that are no items are told by the import.
        let Ok(text) = record?.text else { continue };
        let Ok(Value::Object(item)) = serde_json::from_str(&text) else { continue };
        for (key, value) in item {
            if key.starts_with('_') || value.is_null() {
                continue;
            }
            let kind = if format == Format::Csv { kind_of_cell(&value) } else { kind_of(&value) };
            match places.get(&key) {
                Some(place) => {
                    let field = &mut fields[*place];
                    if field.kind != kind {
                        field.kind = if format == Format::Csv { "TEXT" } else { "ANY" }.to_owned();
                    }
                }
                None => {
                    places.insert(key.clone(), fields.len());
                    fields.push(NewField { key, kind: kind.to_owned(), target: None });
                }
            }
        }
    }
    Ok(fields)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "BOOLEAN",
        Value::Number(_) => "NUMBER",
        Value::String(_) | Value::Null => "TEXT",
        Value::Array(list) if list.iter().all(Value::is_string) => "ARRAY_STRING",
        Value::Array(_) => "ARRAY",
        Value::Object(members) if members.len() == 1 && members.contains_key("$date") => "DATETIME",
        Value::Object(_) => "OBJECT",
    }
}

/// A cell is text; what it looks like decides. `007` is no number: its zeros would be lost.
fn kind_of_cell(value: &Value) -> &'static str {
    let text = value.as_str().unwrap_or_default();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(_)) => "NUMBER",
        Ok(Value::Array(list)) if list.iter().all(Value::is_string) => "ARRAY_STRING",
        _ if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => "BOOLEAN",
        _ if text.len() >= 10 && date::parse(text).is_some() => "DATETIME",
        _ => "TEXT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(format: Format, text: &str) -> Vec<(String, String)> {
        let fields = guess_fields(format, Box::new(std::io::Cursor::new(text.to_owned()))).unwrap();
        fields.into_iter().map(|it| (it.key, it.kind)).collect()
    }

    fn expected(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields.iter().map(|(key, kind)| ((*key).to_owned(), (*kind).to_owned())).collect()
    }

    #[test]
    fn fields_of_a_table_are_guessed_from_all_its_rows() {
        let table = "_id,title,price,code,sold,day,note\n1,Emma,9.5,007,true,2026-01-31,1\n2,,10,8,FALSE,,later\n";
        let kinds = [
            ("title", "TEXT"),
            ("price", "NUMBER"),
            ("code", "TEXT"),
            ("sold", "BOOLEAN"),
            ("day", "DATETIME"),
            ("note", "TEXT"),
        ];
        assert_eq!(guessed(Format::Csv, table), expected(&kinds));
    }

    #[test]
    fn fields_of_items_are_guessed_from_their_values() {
        let lines = "{\"a\":1,\"b\":\"1\",\"c\":[\"x\"],\"d\":{\"$date\":\"2026-01-31T00:00:00.000Z\"}}\n\
                     {\"a\":\"x\",\"b\":null,\"e\":{\"x\":1}}\n";
        let kinds = [("a", "ANY"), ("b", "TEXT"), ("c", "ARRAY_STRING"), ("d", "DATETIME"), ("e", "OBJECT")];
        assert_eq!(guessed(Format::Jsonl, lines), expected(&kinds));
    }
}
