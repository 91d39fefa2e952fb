//! Cells of CSV. A cell is text; the collection's declared field says what it stands for.
//!
//! An empty cell stands for a missing field. A spreadsheet would run text that begins with `=`, `+`, `-`
//! or `@` as a formula, so an export puts `'` in front of such text, and an import takes it off again.

use serde_json::{Map, Value};
use stoa_kernel::date;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::item::number;

/// The item of a row, as JSON text.
///
/// # Errors
/// WDE0080 naming the column whose cell doesn't fit its field.
pub(super) fn read_row<'c>(names: &[(String, Option<String>)], cells: impl Iterator<Item = &'c str>) -> Result<String> {
    let mut item = Map::new();
    for ((name, kind), cell) in names.iter().zip(cells) {
        if !cell.is_empty() {
            let value = read(name, kind.as_deref(), cell).map_err(|what| {
                Fault::because(Code::BadRequest, format!("The cell of {name} is not {what}."))
                    .with("propertyName", name.as_str())
            })?;
            item.insert(name.clone(), value);
        }
    }
    Ok(Value::Object(item).to_string())
}

fn read(name: &str, kind: Option<&str>, cell: &str) -> Result<Value, &'static str> {
    let json = || serde_json::from_str::<Value>(cell).ok();
    match kind {
        _ if matches!(name, "_createdDate" | "_updatedDate") => read_date(cell),
        Some("NUMBER") => match json() {
            Some(it @ Value::Number(_)) => Ok(it),
            _ => Err("a number"),
        },
        Some("BOOLEAN") => match cell.to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err("true or false"),
        },
        Some("DATETIME") => read_date(cell),
        Some("ARRAY_STRING" | "ARRAY_DOCUMENT" | "ARRAY" | "MULTI_REFERENCE" | "MEDIA_GALLERY") => match json() {
            Some(it @ Value::Array(_)) => Ok(it),
            _ => Err("a JSON array"),
        },
        Some("OBJECT" | "ADDRESS" | "RICH_CONTENT" | "MEDIA_IMAGE" | "ANY") => {
            Ok(json().unwrap_or_else(|| unguarded(cell).into()))
        }
        _ => Ok(unguarded(cell).into()),
    }
}

fn read_date(cell: &str) -> Result<Value, &'static str> {
    let iso = date::parse(cell).and_then(date::print).ok_or("a date in ISO 8601")?;
    Ok(serde_json::json!({ "$date": iso }))
}

/// The cell of a value.
pub(super) fn write(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(it)) => guarded(it),
        Some(Value::Number(it)) => {
            let mut text = String::new();
            number::print(it.as_f64().unwrap_or_default(), &mut text);
            text
        }
        Some(it) => match it.get("$date").and_then(Value::as_str) {
            Some(iso) => iso.to_owned(),
            None => it.to_string(),
        },
    }
}

/// Beginnings that a spreadsheet takes for more than text; the quote itself, so that it survives.
fn is_risky(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\''])
}

fn guarded(text: &str) -> String {
    if is_risky(text) { format!("'{text}") } else { text.to_owned() }
}

fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|it| is_risky(it)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_cells_come_back_whatever_they_begin_with() {
        for text in ["=1+1", "'", "''x", "'=x", "-5", "@a", "plain", "it's", "\tx", "1", "true", "[1]"] {
            let cell = write(Some(&text.into()));
            assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
            assert_eq!(read("a", Some("TEXT"), &cell), Ok(json!(text)));
        }
    }

    #[test]
    fn cells_have_the_type_of_their_field() {
        for (kind, value) in [
            ("NUMBER", json!(-1.5)),
            ("BOOLEAN", json!(false)),
            ("DATETIME", json!({ "$date": "2024-03-05T06:07:08.009Z" })),
            ("ARRAY_STRING", json!(["a", "b"])),
            ("OBJECT", json!({ "a": [1] })),
            ("DATE", json!("2024-03-05")),
        ] {
            assert_eq!(read("a", Some(kind), &write(Some(&value))), Ok(value));
        }
        for (kind, cell) in [("NUMBER", "many"), ("BOOLEAN", "1"), ("DATETIME", "soon"), ("ARRAY_STRING", "a,b")] {
            assert!(read("a", Some(kind), cell).is_err(), "{kind}");
        }
    }
}
