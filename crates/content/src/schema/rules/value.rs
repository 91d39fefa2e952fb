//! What a field's type and its options ask of a value (the table of docs/protocol/content.md §6.3).

use crate::fault::invalid;
use crate::schema::rules::pattern;
use regex::Regex;
use serde_json::{Map, Value as Json, json};
use stoa_kernel::date;
use stoa_kernel::{Email, Millis, Result, fault::Violation};

const DAY: Millis = 86_400_000;
/// Violations that an answer lists; who has more mends these first.
const MOST: usize = 100;
/// Patterns of one collection: each may take a quarter of a megabyte.
const PATTERNS: usize = 200;

/// What values may be.
#[derive(Debug)]
pub(super) enum Rule {
    Any,
    Text(Box<TextRule>),
    Number {
        min: f64,
        max: f64,
    },
    Flag,
    /// `YYYY-MM-DD`.
    Date(Bounds),
    /// `{"$date": …}`.
    DateTime(Bounds),
    /// `hh:mm`, with seconds and a fraction if they are there; bounds in milliseconds of the day.
    Time {
        min: Millis,
        max: Millis,
    },
    Object(Vec<(String, Rule)>),
    List {
        min: usize,
        max: usize,
        element: Box<Rule>,
    },
    /// Media and the like, which exist as a text and as an object.
    TextOrObject,
    /// An id, or an item that has one.
    Reference,
}

#[derive(Debug)]
pub(super) struct TextRule {
    form: Form,
    min: usize,
    max: usize,
    pattern: Option<Regex>,
    values: Option<Vec<String>>,
}

/// What a text must look like beside its own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Any,
    Url,
    Email,
    Slug,
    Language,
}

/// The earliest and the latest time.
#[derive(Debug)]
pub(super) struct Bounds {
    min: Option<Bound>,
    max: Option<Bound>,
}

#[derive(Debug, Clone, Copy)]
enum Bound {
    Fixed(Millis),
    /// From the time of the write.
    FromNow(Millis),
}

/// Reads rules from a collection's fields.
pub(super) struct Reader {
    patterns: usize,
    /// Whether what can't be used is an error, as it is when a collection is defined.
    pub is_strict: bool,
}

impl Reader {
    pub(super) fn new(is_strict: bool) -> Self {
        Self { patterns: 0, is_strict }
    }

    /// The rule of a field, or of one member of an object.
    pub(super) fn rule(&mut self, field: &Map<String, Json>, path: &str) -> Result<Rule> {
        let kind = field.get("type").and_then(Json::as_str).unwrap_or("ANY");
        self.of(kind, field.get("typeMetadata").unwrap_or(&Json::Null), field, path)
    }

    fn of(&mut self, kind: &str, metadata: &Json, field: &Map<String, Json>, path: &str) -> Result<Rule> {
        let options = |name: &str| metadata.get(name).unwrap_or(&Json::Null);
        Ok(match kind {
            "TEXT" => self.text(Form::Any, options("text"), field, path)?,
            "URL" => self.text(Form::Url, options("url"), field, path)?,
            "EMAIL" => self.text(Form::Email, options("email"), field, path)?,
            "SLUG" => self.text(Form::Slug, options("slug"), field, path)?,
            "LANGUAGE" => self.text(Form::Language, &Json::Null, field, path)?,
            "RICH_TEXT" => self.text(Form::Any, options("richText"), field, path)?,
            "IMAGE" | "DOCUMENT" | "VIDEO" | "AUDIO" | "LEGACY_COLOR" => {
                self.text(Form::Any, &Json::Null, field, path)?
            }
            "NUMBER" => {
                let (own, range) = (options("number"), field.get("numberRange").unwrap_or(&Json::Null));
                let least = |it: &Json| number(it, "min").unwrap_or(f64::NEG_INFINITY);
                let most = |it: &Json| number(it, "max").unwrap_or(f64::INFINITY);
                Rule::Number { min: least(own).max(least(range)), max: most(own).min(most(range)) }
            }
            "BOOLEAN" => Rule::Flag,
            "DATE" => Rule::Date(Bounds::read(options("date"), DAY)),
            "DATETIME" => Rule::DateTime(Bounds::read(options("datetime"), 1000)),
            "TIME" => {
                let at = |name: &str| options("time").get(name).and_then(Json::as_str).and_then(time_of_day);
                Rule::Time { min: at("minTime").unwrap_or(0), max: at("maxTime").unwrap_or(DAY) }
            }
            "OBJECT" => {
                let mut members = Vec::new();
                let fields = options("object").get("fields").and_then(Json::as_array);
                for it in fields.into_iter().flatten().filter_map(Json::as_object) {
                    let key = it.get("key").and_then(Json::as_str).unwrap_or_default();
                    members.push((key.to_owned(), self.rule(it, &format!("{path}.{key}"))?));
                }
                Rule::Object(members)
            }
            "ADDRESS" | "RICH_CONTENT" => Rule::Object(Vec::new()),
            "ARRAY" => {
                let (own, none) = (options("array"), Map::new());
                let kind = own.get("elementType").and_then(Json::as_str).unwrap_or("ANY");
                let inner = own.get("typeMetadata").unwrap_or(&Json::Null);
                list(own, field, self.of(kind, inner, &none, path)?)
            }
            "ARRAY_STRING" => {
                let own = options("arrayString");
                let (min, max) = (count(own, "minLengthForItem"), count(own, "maxLengthForItem"));
                let element = TextRule {
                    form: Form::Any,
                    min: min.unwrap_or(0),
                    max: max.unwrap_or(usize::MAX),
                    pattern: None,
                    values: None,
                };
                list(own, field, Rule::Text(Box::new(element)))
            }
            "ARRAY_DOCUMENT" => list(options("arrayDocument"), field, Rule::TextOrObject),
            "MEDIA_GALLERY" => list(&Json::Null, field, Rule::TextOrObject),
            "MULTI_REFERENCE" => list(&Json::Null, &Map::new(), Rule::Reference),
            "REFERENCE" => Rule::Reference,
            "PAGE_LINK"
            | "SECURED_MEDIA"
            | "MEDIA_IMAGE"
            | "MEDIA_VECTOR_ART"
            | "LEGACY_BOOK"
            | "LEGACY_EXTERNAL_URL"
            | "LEGACY_IMAGE"
            | "LEGACY_EXTERNAL_VIDEO" => Rule::TextOrObject,
            // ANY, and what older sites hold in more than one form.
            _ => Rule::Any,
        })
    }

    fn text(&mut self, form: Form, own: &Json, field: &Map<String, Json>, path: &str) -> Result<Rule> {
        let validation = own.get("textValidation").unwrap_or(own);
        let range = field.get("stringLengthRange").unwrap_or(&Json::Null);
        let least = |it: &Json| count(it, "minLength").unwrap_or(0);
        let most = |it: &Json| count(it, "maxLength").unwrap_or(usize::MAX);
        let pattern = match validation.get("pattern").and_then(Json::as_str) {
            Some(it) if !it.is_empty() => self.pattern(it, path)?,
            _ => None,
        };
        let values = own.get("enumValues").and_then(|it| it.get("values")).and_then(Json::as_array);
        let text = |it: &Json| it.as_str().map(str::to_owned);
        Ok(Rule::Text(Box::new(TextRule {
            form,
            min: least(validation).max(least(range)),
            max: most(validation).min(most(range)),
            pattern,
            values: values.map(|list| list.iter().filter_map(text).collect()),
        })))
    }

    fn pattern(&mut self, text: &str, path: &str) -> Result<Option<Regex>> {
        self.patterns += 1;
        let found = if self.patterns > PATTERNS { None } else { pattern::compile(text) };
        match found {
            None if self.is_strict && self.patterns > PATTERNS => {
                Err(invalid("collection.fields", &format!("must have at most {PATTERNS} patterns")))
            }
            None if self.is_strict => Err(invalid(
                path,
                "has a pattern that is malformed, too large, or needs look-around or back-references",
            )),
            found => Ok(found),
        }
    }
}

fn list(own: &Json, field: &Map<String, Json>, element: Rule) -> Rule {
    let range = field.get("arraySizeRange").unwrap_or(&Json::Null);
    let least = |it: &Json| count(it, "minSize").unwrap_or(0);
    let most = |it: &Json| count(it, "maxSize").unwrap_or(usize::MAX);
    let (min, max) = (least(own).max(least(range)), most(own).min(most(range)));
    Rule::List { min, max, element: Box::new(element) }
}

fn count(options: &Json, name: &str) -> Option<usize> {
    options.get(name)?.as_u64().and_then(|it| usize::try_from(it).ok())
}

/// A number; the texts `NaN` and `Infinity` bound nothing.
pub(super) fn number(options: &Json, name: &str) -> Option<f64> {
    options.get(name)?.as_f64()
}

impl Bounds {
    /// Both types call their bounds by several names, of which each has some.
    fn read(options: &Json, unit: Millis) -> Self {
        let one = |fixed: &str, offsets: [&str; 2]| {
            let fixed = options.get(fixed).and_then(Json::as_str).and_then(date::parse).map(Bound::Fixed);
            let mut offsets = offsets.into_iter().filter_map(|it| options.get(it).and_then(Json::as_i64));
            fixed.or_else(|| offsets.next().map(|it| Bound::FromNow(it.saturating_mul(unit))))
        };
        Self {
            min: one("minDateFixed", ["minValueOffsetFromNowInDays", "minDateOffsetFromNowInSeconds"]),
            max: one("maxDateFixed", ["maxValueOffsetFromNowInDays", "maxDateOffsetFromNowInSeconds"]),
        }
    }

    /// `unit` is what the bounds are counted in: whole days for dates.
    fn check(&self, at: Millis, unit: Millis, here: &ValuePath<'_>, out: &mut Vec<Violation>) {
        let whole = |it: Millis| it.div_euclid(unit) * unit;
        let time = |bound: Bound| match bound {
            Bound::Fixed(it) => whole(it),
            Bound::FromNow(it) => whole(here.now).saturating_add(it),
        };
        let print = |it: Millis| date::print(it).unwrap_or_default();
        if let Some(min) = self.min.map(time).filter(|it| at < *it) {
            here.violate(out, "MIN", &format!("must not be before {}", print(min)), Json::Null);
        }
        if let Some(max) = self.max.map(time).filter(|it| at > *it) {
            here.violate(out, "MAX", &format!("must not be after {}", print(max)), Json::Null);
        }
    }
}

/// Where a value stands, and when it is written.
pub(super) struct ValuePath<'p> {
    pub path: &'p str,
    pub now: Millis,
}

impl ValuePath<'_> {
    pub(super) fn violate(&self, out: &mut Vec<Violation>, rule: &'static str, text: &str, threshold: Json) {
        if out.len() >= MOST {
            return;
        }
        let violation = Violation::new(self.path, rule, format!("{} {text}", self.path));
        out.push(if threshold.is_null() { violation } else { violation.with("threshold", threshold) });
    }
}

impl Rule {
    /// Adds what the value breaks; a violation names its path.
    pub(super) fn check(&self, value: &Json, here: &ValuePath<'_>, out: &mut Vec<Violation>) {
        let fits = match (self, value) {
            (Self::Any, _) | (Self::Flag, Json::Bool(_)) => true,
            (Self::Text(rule), Json::String(it)) => return rule.check(it, here, out),
            (Self::TextOrObject, it) => it.is_string() || is_object(it),
            (Self::Reference, it) => it.is_string() || it.get("_id").is_some_and(Json::is_string),
            (Self::Number { min, max }, Json::Number(it)) => {
                let it = it.as_f64().unwrap_or_default();
                if it < *min {
                    here.violate(out, "MIN", &format!("must be at least {min}"), json!(min));
                }
                if it > *max {
                    here.violate(out, "MAX", &format!("must be at most {max}"), json!(max));
                }
                true
            }
            (Self::Date(bounds), Json::String(it)) if it.len() == 10 => match date::parse(it) {
                Some(at) => return bounds.check(at, DAY, here, out),
                None => false,
            },
            (Self::DateTime(bounds), it) => match it.get("$date").and_then(Json::as_str).and_then(date::parse) {
                Some(at) => return bounds.check(at, 1, here, out),
                None => false,
            },
            (Self::Time { min, max }, Json::String(it)) => match time_of_day(it) {
                Some(at) if at < *min => return here.violate(out, "MIN", "is before the earliest time", Json::Null),
                Some(at) if at > *max => return here.violate(out, "MAX", "is after the latest time", Json::Null),
                it => it.is_some(),
            },
            (Self::Object(members), Json::Object(object)) if is_object(value) => {
                for (name, rule) in members {
                    if let Some(it) = object.get(name).filter(|it| !it.is_null()) {
                        let path = format!("{}.{name}", here.path);
                        rule.check(it, &ValuePath { path: &path, now: here.now }, out);
                    }
                }
                true
            }
            (Self::List { min, max, element }, Json::Array(list)) => {
                if list.len() < *min {
                    here.violate(out, "MIN_SIZE", &format!("must have at least {min} elements"), json!(min));
                }
                if list.len() > *max {
                    here.violate(out, "MAX_SIZE", &format!("must have at most {max} elements"), json!(max));
                }
                for (n, it) in list.iter().enumerate() {
                    if out.len() >= MOST {
                        break;
                    }
                    let path = format!("{}.{n}", here.path);
                    element.check(it, &ValuePath { path: &path, now: here.now }, out);
                }
                true
            }
            _ => false,
        };
        if !fits {
            here.violate(out, "TYPE", &format!("must be {}", self.type_name()), Json::Null);
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Text(_) => "a text",
            Self::Number { .. } => "a number",
            Self::Flag => "true or false",
            Self::Date(_) => "a date of the form YYYY-MM-DD",
            Self::DateTime(_) => "a date and time",
            Self::Time { .. } => "a time of the form hh:mm:ss.SSS",
            Self::Object(_) => "an object",
            Self::List { .. } => "a list",
            Self::TextOrObject => "a text or an object",
            Self::Reference => "the id of an item",
        }
    }
}

impl TextRule {
    fn check(&self, text: &str, here: &ValuePath<'_>, out: &mut Vec<Violation>) {
        let length = text.chars().count();
        if length < self.min {
            here.violate(out, "MIN_LENGTH", &format!("must have at least {} characters", self.min), json!(self.min));
        }
        if length > self.max {
            here.violate(out, "MAX_LENGTH", &format!("must have at most {} characters", self.max), json!(self.max));
        }
        if self.values.as_ref().is_some_and(|it| !it.iter().any(|it| it == text)) {
            here.violate(out, "ENUM", "is not one of the values that the field takes", Json::Null);
        }
        if self.pattern.as_ref().is_some_and(|it| !pattern::fits(it, text)) {
            here.violate(out, "PATTERN", "doesn't fit the field's pattern", Json::Null);
        }
        let (is_right, type_name) = match self.form {
            Form::Any => (true, ""),
            Form::Url => (is_url(text), "an address with its scheme, or a path"),
            Form::Email => (Email::parse(text).is_some(), "an email address"),
            Form::Slug => (!text.contains(|it: char| it.is_whitespace() || matches!(it, '/' | '?' | '#')), "a slug"),
            Form::Language => (is_language(text), "a language tag"),
        };
        // A text that is empty on purpose is a matter of minLength.
        if !is_right && !text.is_empty() {
            here.violate(out, "FORMAT", &format!("must be {type_name}"), Json::Null);
        }
    }
}

/// An object that isn't a date.
fn is_object(value: &Json) -> bool {
    value.is_object() && value.get("$date").is_none()
}

/// `scheme:…`, or a path of this site; without white space.
fn is_url(text: &str) -> bool {
    let is_name = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_alphabetic())
            && it.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.'))
    };
    let has_scheme = || text.split_once(':').is_some_and(|(scheme, rest)| is_name(scheme) && !rest.is_empty());
    !text.contains(|it: char| it.is_whitespace() || it.is_control()) && (text.starts_with('/') || has_scheme())
}

/// `de`, `fr-CA`, `zh-Hant-TW`.
fn is_language(text: &str) -> bool {
    let fits = |(n, it): (usize, &str)| {
        let is_long_enough = it.len() >= if n == 0 { 2 } else { 1 };
        is_long_enough && it.len() <= 8 && it.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    text.split('-').enumerate().all(fits) && text.starts_with(|it: char| it.is_ascii_alphabetic())
}

/// Milliseconds of the day of `hh:mm`, `hh:mm:ss` or `hh:mm:ss.SSS`.
pub(super) fn time_of_day(text: &str) -> Option<Millis> {
    let is_plain = matches!(text.len(), 5 | 8 | 10..=12) && text.as_bytes().get(2) == Some(&b':');
    let is_time = text.bytes().all(|it| it.is_ascii_digit() || matches!(it, b':' | b'.'));
    if !is_plain || !is_time || text.starts_with("24") {
        return None;
    }
    date::parse(&format!("1970-01-01T{text}Z"))
}
