//! Results as people read them: lists as tables with heads, single things as a line a member.

use serde_json::Value;

/// Prints a result; for scripts as one line of JSON.
#[expect(clippy::print_stdout, reason = "this is what commands print")]
pub fn print(value: &Value, as_json: bool) {
    match as_json {
        true => println!("{value}"),
        false => println!("{}", text(value)),
    }
}

/// Prints a text that another program takes, as it is.
#[expect(clippy::print_stdout, reason = "this is what commands print")]
pub fn print_text(text: &str) {
    println!("{text}");
}

/// The text of a result, without a new line at its end.
fn text(value: &Value) -> String {
    match value {
        Value::Array(rows) if rows.is_empty() => "none".to_owned(),
        Value::Array(rows) => table(rows),
        Value::Object(members) => {
            let width = members.keys().map(|it| head(it).chars().count()).max().unwrap_or_default();
            let line = |(key, value): (&String, &Value)| match value {
                Value::Array(rows) if rows.first().is_some_and(Value::is_object) => {
                    let rows = table(rows).replace('\n', "\n  ");
                    format!("{}\n  {rows}", head(key))
                }
                value => format!("{:width$}  {}", head(key), cell(value)),
            };
            members.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        value => cell(value),
    }
}

/// Rows of objects under the names of their members, in the order in which these first come.
fn table(rows: &[Value]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().filter_map(Value::as_object).flat_map(|it| it.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut lines = vec![names.iter().map(|it| head(it)).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| names.iter().map(|it| cell(&row[*it])).collect()));
    let width = |at: usize| lines.iter().map(|it| it[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let print = |cells: &Vec<String>| {
        let line: String = cells.iter().zip(&widths).map(|(it, width)| format!("{it:width$}  ")).collect();
        line.trim_end().to_owned()
    };
    lines.iter().map(print).collect::<Vec<_>>().join("\n")
}

/// `redirectUris` → `REDIRECT URIS`.
fn head(name: &str) -> String {
    let mut head = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_uppercase() && !head.is_empty() {
            head.push(' ');
        }
        head.extend(letter.to_uppercase());
    }
    head
}

/// A value in a line. Names are strangers' texts: what could move the cursor of a terminal is not printed.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if !list.iter().any(Value::is_object) => {
            list.iter().map(cell).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text.replace(char::is_control, "\u{fffd}")
}

/// A count with its thousands apart: `12,300`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_tables_with_heads() {
        let rows = json!([
            { "clientId": "a1", "name": "Web", "origins": ["https://a.example", "https://b.example"] },
            { "clientId": "b22", "name": "x\u{1b}[2J\ny", "revoked": true },
        ]);
        let lines = [
            "CLIENT ID  NAME     ORIGINS                               REVOKED",
            "a1         Web      https://a.example, https://b.example",
            "b22        x\u{fffd}[2J\u{fffd}y                                        yes",
        ];
        assert_eq!(text(&rows), lines.join("\n"));
        assert_eq!(text(&json!([])), "none");
        assert_eq!(text(&json!({ "siteId": "s", "isDefault": false })), "SITE ID     s\nIS DEFAULT  no");
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
