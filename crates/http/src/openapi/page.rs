//! The document as a page for people: HTML without script, a chapter a subject, found by a filter that the server
//! answers.

use super::{Answer, Content, Listed, Parameter, ParameterValue, cached::Cached, distinct, errors};
use crate::{aliases, subject::Subject};
use axum::body::Bytes;
use serde_json::{Map, Value};
use std::fmt::Write;
use stoa_kernel::Code;

pub(super) const MEDIA_TYPE: &str = "text/html; charset=utf-8";

const STYLE: [&str; 2] = [include_str!("../../../../web/packages/ui/src/tokens.css"), include_str!("page.css")];

/// Levels of members within members that are shown beneath a schema's name.
const DEPTH: usize = 3;

/// The page, and the parts that a filter chooses from.
pub(super) struct Page {
    whole: Cached,
    parts: Vec<Part>,
}

/// A chapter of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chapter {
    Of(Subject),
    Types,
    Codes,
}

/// An operation, a schema or a code as HTML.
struct Part {
    chapter: Chapter,
    html: String,
    /// What a filter looks at, in lower case.
    words: String,
}

impl Page {
    pub(super) fn of(listed: &[Listed], schemas: &Value) -> Self {
        let mut parts: Vec<Part> =
            distinct(listed).into_iter().map(|(it, spellings)| of_operation(it, spellings)).collect();
        parts.extend(schemas.as_object().into_iter().flatten().map(|(name, schema)| of_schema(name, schema)));
        parts.extend(Code::ALL.iter().map(|it| of_code(*it)));
        let whole = Bytes::from(print("", &parts.iter().collect::<Vec<_>>()));
        Self { whole: Cached::new(whole, MEDIA_TYPE), parts }
    }

    pub(super) fn whole(&self) -> &Cached {
        &self.whole
    }

    /// The page with what has all words of the filter.
    pub(super) fn filtered(&self, filter: &str) -> String {
        let lower = filter.to_lowercase();
        let has_all = |it: &&Part| lower.split_whitespace().all(|word| it.words.contains(word));
        print(filter, &self.parts.iter().filter(has_all).collect::<Vec<_>>())
    }
}

fn print(filter: &str, parts: &[&Part]) -> String {
    let mut html = String::with_capacity(parts.iter().map(|it| it.html.len()).sum::<usize>() + 16_384);
    let [tokens, style] = STYLE;
    let _ = write!(
        html,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Stoa: reference of the interface</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{tokens}{style}</style></head><body>\
         <a class=\"skip\" href=\"#content\">Skip to the calls</a><header><h1>Reference of the interface</h1>\
         <p>Every call of this server, printed from the table that it answers by. For programs: \
         <a href=\"../openapi.json\">openapi.json</a> (OpenAPI 3.1).</p><form method=\"get\" role=\"search\">\
         <label>Filter by words of a call, a path or a type<input type=\"search\" name=\"filter\" maxlength=\"100\" \
         value=\"{}\"></label><button>Filter</button></form>",
        escaped(filter)
    );
    if !filter.is_empty() {
        let _ = write!(html, "<p role=\"status\">{} found. <a href=\"?\">Show all</a></p>", parts.len());
    }
    let chapters: Vec<(Chapter, Vec<&Part>)> = Subject::ALL
        .into_iter()
        .map(Chapter::Of)
        .chain([Chapter::Types, Chapter::Codes])
        .map(|chapter| (chapter, parts.iter().copied().filter(|it| it.chapter == chapter).collect::<Vec<_>>()))
        .filter(|it| !it.1.is_empty())
        .collect();
    html.push_str("</header><nav aria-label=\"Chapters\"><ul>");
    for (chapter, _) in &chapters {
        let (id, name, _) = chapter.texts();
        let _ = write!(html, "<li><a href=\"#{id}\">{name}</a></li>");
    }
    html.push_str("</ul></nav><main id=\"content\">");
    for (chapter, parts) in &chapters {
        let (id, name, about) = chapter.texts();
        let _ = write!(html, "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{name}</h2><p>{about}</p>");
        parts.iter().for_each(|it| html.push_str(&it.html));
        html.push_str("</section>");
    }
    html.push_str("</main></body></html>");
    html
}

impl Chapter {
    /// The anchor, the name and the meaning.
    fn texts(self) -> (String, &'static str, &'static str) {
        let (name, about) = match self {
            Self::Of(subject) => (subject.name(), subject.about()),
            Self::Types => ("Types", "What calls take and answer, by the names that they use above."),
            Self::Codes => ("Codes", "Why a call is refused: the status, the code, and what it means."),
        };
        (format!("chapter-{}", name.to_lowercase().replace(' ', "-")), name, about)
    }
}

fn of_operation(listed: &Listed, spellings: Vec<String>) -> Part {
    let (it, path) = (listed.operation, listed.path());
    let mut html = format!(
        "<article id=\"{id}\"><h3><span class=\"method\">{method}</span> <code>{path}</code></h3><p>{summary}. \
         <code class=\"quiet\">{id}</code></p>",
        id = it.id,
        method = listed.method,
        path = escaped(&path),
        summary = escaped(it.summary),
    );
    if !it.notes.is_empty() {
        let _ = write!(html, "<p>{}</p>", marked(it.notes));
    }
    let _ = write!(html, "<p class=\"quiet\">Callers: {}</p>", escaped(it.callers.about()));
    if !it.query.is_empty() {
        html.push_str("<h4>Query</h4><dl>");
        for parameter in it.query {
            let _ = write!(html, "{}", of_parameter(parameter));
        }
        html.push_str("</dl>");
    }
    if let Some(request) = &it.request {
        let optional = if request.is_required { "" } else { ", or nothing" };
        let _ = write!(html, "<h4>Takes</h4><p>{}{optional}</p>", link(request.schema));
    }
    html.push_str("<h4>Answers</h4><ul class=\"plain\">");
    for answer in it.answers {
        let _ = write!(html, "<li>{}</li>", of_answer(answer));
    }
    for (status, codes) in errors::statuses(listed) {
        let link = |it: &Code| format!("<a href=\"#code-{0}\"><code>{0}</code></a>", it.name());
        let names: Vec<String> = codes.iter().map(link).collect();
        let _ = write!(html, "<li>{status}: {}</li>", names.join(", "));
    }
    html.push_str("</ul>");
    let aliases: Vec<String> = aliases::all(it.subject, &path, spellings);
    if !aliases.is_empty() {
        html.push_str("<details><summary>Other paths</summary><ul class=\"plain\">");
        for alias in &aliases {
            let _ = write!(html, "<li><code>{}</code></li>", escaped(alias));
        }
        html.push_str("</ul></details>");
    }
    html.push_str("</article>");
    let words = [it.id, &path, it.summary, it.subject.name(), listed.method.as_str(), &aliases.join(" ")].join(" ");
    Part { chapter: Chapter::Of(it.subject), html, words: words.to_lowercase() }
}

fn of_parameter(it: &Parameter) -> String {
    let kind = match it.value {
        ParameterValue::Text => "text".to_owned(),
        ParameterValue::Number => "whole number".to_owned(),
        ParameterValue::Flag => "true or false".to_owned(),
        ParameterValue::Texts => "text, several times".to_owned(),
        ParameterValue::OneOf(values) => values.join(" | "),
        ParameterValue::SomeOf(values) => format!("{}, several times", values.join(" | ")),
        ParameterValue::Packed(schema) => format!("{} in base64url", link(schema)),
    };
    let required = if it.is_required { ", required" } else { "" };
    format!("<dt><code>{}</code> {kind}{required}</dt><dd>{}</dd>", escaped(it.name), marked(it.about))
}

fn of_answer(it: &Answer) -> String {
    let what = match it.content {
        None => String::new(),
        Some(Content { schema: Some(schema), .. }) => format!("{}. ", link(schema)),
        Some(Content { media, schema: None }) => format!("<code>{}</code>. ", media.name()),
    };
    format!("{}: {what}{}", it.status, marked(it.about))
}

fn of_schema(name: &str, schema: &Value) -> Part {
    let mut html = format!("<article id=\"type-{name}\"><h3><code>{name}</code></h3>");
    for text in ["description", "x-free-form"].into_iter().filter_map(|it| schema[it].as_str()) {
        let _ = write!(html, "<p>{}</p>", marked(text));
    }
    let mut rows = String::new();
    members("", schema, 0, &mut rows);
    match rows.is_empty() {
        true => {
            let _ = write!(html, "<p class=\"quiet\">{}</p>", kind(schema));
        }
        false => {
            let _ = write!(html, "<dl>{rows}</dl>");
        }
    }
    html.push_str("</article>");
    Part { chapter: Chapter::Types, html, words: name.to_lowercase() }
}

fn of_code(code: Code) -> Part {
    let (name, sentence) = (code.name(), escaped(code.sentence()));
    let html = format!("<p id=\"code-{name}\">{} <code>{name}</code> {sentence}</p>", code.status());
    Part { chapter: Chapter::Codes, html, words: format!("{name} {sentence}").to_lowercase() }
}

/// The members of an object, those of objects within it by dotted names.
fn members(prefix: &str, schema: &Value, depth: usize, rows: &mut String) {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, member) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let path = format!("{prefix}{name}");
        let must = if required.contains(&name.as_str()) { ", always" } else { "" };
        let about = marked(member["description"].as_str().unwrap_or_default());
        let _ = write!(rows, "<dt><code>{}</code> {}{must}</dt><dd>{about}</dd>", escaped(&path), kind(member));
        if depth < DEPTH {
            members(&format!("{path}."), member, depth + 1, rows);
            members(&format!("{path}[]."), &member["items"], depth + 1, rows);
        }
    }
}

/// The type of a schema in a few words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        return link(name);
    }
    if let Some(values) = schema["enum"].as_array() {
        return escaped(&values.iter().map(text).collect::<Vec<_>>().join(" | "));
    }
    if let Some(value) = schema.get("const") {
        return escaped(&text(value));
    }
    for name in ["anyOf", "oneOf"] {
        if let Some(some) = schema[name].as_array() {
            return some.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(all) = schema["allOf"].as_array() {
        return all.iter().map(kind).collect::<Vec<_>>().join(" and ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(only) => vec![only],
        Value::Array(some) => some.iter().filter_map(Value::as_str).collect(),
        _ => return "anything".to_owned(),
    };
    let words = types.into_iter().map(|it| match (it, &schema["items"]) {
        ("array", Value::Null) => "list".to_owned(),
        ("array", items) => format!("list of {}", kind(items)),
        _ => it.to_owned(),
    });
    words.collect::<Vec<_>>().join(" or ")
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn link(schema: &str) -> String {
    format!("<a href=\"#type-{schema}\"><code>{schema}</code></a>")
}

/// Text with code in backticks, as HTML.
fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part).replace("\n\n", "<br>"),
    });
    parts.collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_stays_text() {
        assert_eq!(marked("a `<b>` & \"c\""), "a <code>&lt;b&gt;</code> &amp; &quot;c&quot;");
        let page = print("\"><script>", &[]);
        assert!(!page.contains("<script") && page.contains("value=\"&quot;&gt;&lt;script&gt;\""), "{page}");
    }

    #[test]
    fn members_are_shown_by_their_paths() {
        let inner =
            json!({ "type": "object", "properties": { "b": { "type": ["string", "null"] } }, "required": ["b"] });
        let list = json!({ "type": "array", "items": { "$ref": "#/components/schemas/Other" } });
        let part = of_schema("Thing", &json!({ "type": "object", "properties": { "a": inner, "list": list } }));
        assert!(part.html.contains("<dt><code>a.b</code> string or null, always</dt>"), "{}", part.html);
        assert!(part.html.contains("list of <a href=\"#type-Other\">"), "{}", part.html);
    }

    #[test]
    fn filter_asks_for_all_words() {
        let schemas = json!({ "ItemData": {}, "Member": {}, "MemberBlock": {} });
        let page = Page::of(&[], &schemas);
        let found = |filter: &str| page.filtered(filter).matches("<article").count();
        assert_eq!((found("member"), found("block MEMBER"), found("member nothing")), (2, 1, 0));
        assert!(page.filtered("wde0073").contains("id=\"code-WDE0073\""));
    }
}
