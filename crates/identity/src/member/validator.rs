//! The validator of JSON that is stored of members: it names everything that is wrong, with its path.

use crate::address::is_web;
use serde_json::{Map, Value};
use stoa_kernel::{Email, Violation};

/// Most elements of one list.
pub(crate) const MAX_LIST: usize = 100;

/// The members of an object that `members` names, checked; null stays. `field` is its JSON path.
///
/// # Errors
/// All violations at once.
pub(crate) fn object(
    value: &Value,
    field: &str,
    members: &[(&str, ValueType)],
) -> Result<Map<String, Value>, Vec<Violation>> {
    let mut validator = Validator(Vec::new());
    let mut kept = Map::new();
    for (name, value) in validator.object(value, field).into_iter().flatten() {
        let Some((_, value_type)) = members.iter().find(|(known, _)| known == name) else { continue };
        if !value.is_null() {
            validator.value(*value_type, value, &format!("{field}.{name}"));
        }
        kept.insert(name.clone(), value.clone());
    }
    if validator.0.is_empty() { Ok(kept) } else { Err(validator.0) }
}

/// What may stand in a member of the profile, or of another object around members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Text of at most so many characters.
    Text(usize),
    /// Empty, or the address of a picture, of at most so many characters.
    WebAddress(usize),
    Slug,
    Flag,
    OneOf(&'static [&'static str]),
    Strings(usize),
    CustomFields,
    Emails,
    Phones,
    Addresses,
    Date,
    /// The address of an image, or an object with it and what is known of the image.
    Image,
    Object,
}

const EMAIL_TAGS: &[&str] = &["UNTAGGED", "MAIN", "HOME", "WORK"];
const PHONE_TAGS: &[&str] = &["UNTAGGED", "MAIN", "HOME", "MOBILE", "WORK", "FAX"];
const ADDRESS_TAGS: &[&str] = &["UNTAGGED", "HOME", "WORK", "BILLING", "SHIPPING"];

const ADDRESS_TEXTS: &[&str] = &[
    "country",
    "subdivision",
    "city",
    "postalCode",
    "addressLine",
    "addressLine2",
    "formattedAddress",
    "hint",
    "countryFullname",
    "subdivisionFullname",
];

/// A format that the protocol names.
struct Format {
    name: &'static str,
    expected: &'static str,
    fits: fn(&str) -> bool,
}

const EMAIL: &[(&str, Format)] = &[(
    "email",
    Format { name: "EMAIL", expected: "the email address is not valid", fits: |it| Email::parse(it).is_some() },
)];
const PHONE: &[(&str, Format)] = &[
    (
        "countryCode",
        Format {
            name: "COUNTRY",
            expected: "a country has two capital letters",
            fits: |it| it.len() == 2 && it.bytes().all(|it| it.is_ascii_uppercase()),
        },
    ),
    (
        "phone",
        Format {
            name: "PHONE",
            expected: "a phone number has digits",
            fits: |it| it.chars().any(|it| it.is_numeric()) && !it.chars().any(char::is_control),
        },
    ),
];

/// The last millisecond that clients have a date for, in both directions.
pub(crate) const LAST_MILLI: i64 = 8_640_000_000_000_000;

/// What was found wrong so far.
pub(crate) struct Validator(pub(crate) Vec<Violation>);

impl Validator {
    pub(crate) fn wrong(&mut self, field: &str, why: &str) {
        self.0.push(Violation::new(field, "FORMAT", why));
    }

    pub(crate) fn value(&mut self, value_type: ValueType, value: &Value, path: &str) {
        match value_type {
            ValueType::Text(most) => self.text(value, path, most),
            ValueType::WebAddress(most) => self.web_address(value, path, most),
            ValueType::Slug => self.slug(value, path),
            ValueType::Flag if value.is_boolean() => {}
            ValueType::Flag => self.wrong(path, "true or false is expected"),
            ValueType::OneOf(names) => self.one_of(value, path, names),
            ValueType::Strings(most) => self.list(value, path, most, |it, item, path| it.text(item, path, 2_048)),
            ValueType::CustomFields => self.list(value, path, MAX_LIST, Self::custom_field),
            ValueType::Emails => {
                self.list(value, path, MAX_LIST, |it, item, path| it.tagged(item, path, EMAIL, EMAIL_TAGS));
            }
            ValueType::Phones => {
                self.list(value, path, MAX_LIST, |it, item, path| it.tagged(item, path, PHONE, PHONE_TAGS));
            }
            ValueType::Addresses => self.list(value, path, MAX_LIST, Self::tagged_address),
            ValueType::Date if value.as_str().is_some_and(is_date) => {}
            ValueType::Date => self.wrong(path, "a date YYYY-MM-DD is expected"),
            ValueType::Image if value.is_string() => self.text(value, path, 2_048),
            ValueType::Image => self.image(value, path),
            ValueType::Object if !value.is_object() => self.wrong(path, "an object is expected"),
            ValueType::Object if has_nul(value) => self.wrong(path, "text can't hold U+0000"),
            ValueType::Object => {}
        }
    }

    pub(crate) fn text(&mut self, value: &Value, path: &str, most: usize) {
        match value.as_str() {
            None => self.wrong(path, "text is expected"),
            Some(text) if text.chars().count() > most => {
                let why = format!("at most {most} characters");
                self.0.push(Violation::new(path, "MAX_LENGTH", why).with("threshold", most));
            }
            Some(text) if text.contains('\0') => self.wrong(path, "text can't hold U+0000"),
            Some(_) => {}
        }
    }

    pub(crate) fn web_address(&mut self, value: &Value, path: &str, most: usize) {
        let found = self.0.len();
        self.text(value, path, most);
        if self.0.len() == found && value.as_str().is_some_and(|it| !it.is_empty() && !is_web(it)) {
            self.wrong(path, "an address that begins with https:// or http:// is expected");
        }
    }

    /// Empty, or what can stand in an address.
    fn slug(&mut self, value: &Value, path: &str) {
        let found = self.0.len();
        self.text(value, path, 255);
        if self.0.len() == found && value.as_str().is_some_and(|it| !it.is_empty() && !slug_fits(it)) {
            self.wrong(path, "a slug has letters, digits, dots, hyphens and underscores only");
        }
    }

    /// Empty, or text of a format that has a name (docs/protocol/identity.md §10.3).
    fn formatted(&mut self, value: &Value, path: &str, most: usize, format: Option<&Format>) {
        let found = self.0.len();
        self.text(value, path, most);
        let Some(format) = format.filter(|_| self.0.len() == found) else { return };
        if value.as_str().is_some_and(|it| !it.is_empty() && !(format.fits)(it)) {
            self.0.push(Violation::new(path, "FORMAT", format.expected).with("type", format.name));
        }
    }

    fn one_of(&mut self, value: &Value, path: &str, names: &[&str]) {
        if !value.as_str().is_some_and(|it| names.contains(&it)) {
            let why = format!("one of {} is expected", names.join(", "));
            self.0.push(Violation::new(path, "INVALID_ENUM_VALUE", why));
        }
    }

    pub(crate) fn strings(&mut self, value: &Value, path: &str) {
        self.value(ValueType::Strings(MAX_LIST), value, path);
    }

    pub(crate) fn list(
        &mut self,
        value: &Value,
        path: &str,
        most: usize,
        mut each: impl FnMut(&mut Self, &Value, &str),
    ) {
        let Some(items) = value.as_array() else {
            return self.wrong(path, "a list is expected");
        };
        if items.len() > most {
            let why = format!("at most {most} elements");
            return self.0.push(Violation::new(path, "MAX_SIZE", why).with("threshold", most));
        }
        for (i, item) in items.iter().enumerate() {
            each(self, item, &format!("{path}[{i}]"));
        }
    }

    pub(crate) fn object<'v>(&mut self, value: &'v Value, path: &str) -> Option<&'v Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.wrong(path, "an object is expected");
        }
        object
    }

    /// `{id, url, height, width, altText, filename}`; other members stay with it.
    fn image(&mut self, value: &Value, path: &str) {
        let Some(image) = self.object(value, path) else { return };
        for (name, value) in image.iter().filter(|(_, it)| !it.is_null()) {
            let path = format!("{path}.{name}");
            match name.as_str() {
                "url" => self.text(value, &path, 2_048),
                "id" | "altText" | "filename" => self.text(value, &path, 1_000),
                "height" | "width" if value.as_f64().is_some_and(|it| it >= 0.0) => {}
                "height" | "width" => self.wrong(&path, "a number of pixels is expected"),
                _ if has_nul(value) || name.contains('\0') => self.wrong(&path, "text can't hold U+0000"),
                _ => {}
            }
        }
    }

    /// `{email, tag}` and `{countryCode, phone, tag}`.
    fn tagged(&mut self, value: &Value, path: &str, formats: &[(&str, Format)], tags: &[&str]) {
        let Some(object) = self.object(value, path) else { return };
        for (name, value) in object.iter().filter(|(_, it)| !it.is_null()) {
            let path = format!("{path}.{name}");
            let format = formats.iter().find(|it| it.0 == name).map(|it| &it.1);
            match name.as_str() {
                "tag" => self.one_of(value, &path, tags),
                _ if format.is_some() => self.formatted(value, &path, 254, format),
                // The id that the server of another installation gave it.
                "id" => self.text(value, &path, 100),
                _ => {}
            }
        }
    }

    fn tagged_address(&mut self, value: &Value, path: &str) {
        let Some(object) = self.object(value, path) else { return };
        for (name, value) in object.iter().filter(|(_, it)| !it.is_null()) {
            let path = format!("{path}.{name}");
            match name.as_str() {
                "tag" => self.one_of(value, &path, ADDRESS_TAGS),
                "id" => self.text(value, &path, 100),
                "address" => self.address(value, &path),
                _ => {}
            }
        }
    }

    pub(crate) fn address(&mut self, value: &Value, path: &str) {
        let Some(object) = self.object(value, path) else { return };
        for (name, value) in object.iter().filter(|(_, it)| !it.is_null()) {
            let path = format!("{path}.{name}");
            match name.as_str() {
                "geocode" => {
                    let number = |it: &str| value.get(it).is_none_or(|it| it.is_null() || it.is_number());
                    if !value.is_object() || !number("latitude") || !number("longitude") {
                        self.wrong(&path, "latitude and longitude as numbers are expected");
                    }
                }
                "streetAddress" => {
                    if let Some(street) = self.object(value, &path) {
                        for (name, value) in street.iter().filter(|(_, it)| !it.is_null()) {
                            self.text(value, &format!("{path}.{name}"), 500);
                        }
                    }
                }
                name if ADDRESS_TEXTS.contains(&name) => self.text(value, &path, 1_000),
                _ => {}
            }
        }
    }

    pub(crate) fn custom_field(&mut self, value: &Value, path: &str) {
        let Some(object) = self.object(value, path) else { return };
        match object.get("name").and_then(Value::as_str) {
            Some(name) if name.contains('\0') => self.wrong(&format!("{path}.name"), "text can't hold U+0000"),
            Some(name) if !name.is_empty() => {}
            _ => self.0.push(Violation::new(format!("{path}.name"), "REQUIRED_FIELD", "a name is needed")),
        }
        match object.get("value") {
            None | Some(Value::Null) => {}
            Some(value) => self.custom_value(value, &format!("{path}.value"), 0),
        }
    }

    /// Whether a valid custom value stands here.
    pub(crate) fn is_custom_value(value: &Value) -> bool {
        let mut validator = Self(Vec::new());
        validator.custom_value(value, "", 0);
        validator.0.is_empty()
    }

    /// One of `strValue`, `numValue`, `dateValue`, `boolValue`, `listValue`, `mapValue`.
    fn custom_value(&mut self, value: &Value, path: &str, depth: usize) {
        let Some(object) = self.object(value, path) else { return };
        let mut given = object.iter().filter(|(_, it)| !it.is_null());
        let Some((name, value)) = given.next() else { return };
        if given.next().is_some() {
            let why = "one kind of value at a time";
            return self.0.push(Violation::new(path, "ONE_OF_ALIGNMENT", why));
        }
        let path = format!("{path}.{name}");
        if depth > 8 {
            return self.wrong(&path, "nested too deep");
        }
        match name.as_str() {
            "strValue" => self.text(value, &path, 10_000),
            "numValue" if value.is_number() => {}
            "numValue" if matches!(value.as_str(), Some("NaN" | "Infinity" | "-Infinity")) => {}
            "numValue" => self.wrong(&path, "a number is expected"),
            "boolValue" if value.is_boolean() => {}
            "boolValue" => self.wrong(&path, "true or false is expected"),
            "dateValue" if value.as_f64().is_some_and(|it| it.abs() <= LAST_MILLI as f64) => {}
            "dateValue" if value.as_str().is_some_and(is_timestamp) => {}
            "dateValue" => self.wrong(&path, "a date like 2024-03-05T06:07:08.009Z or milliseconds are expected"),
            "listValue" | "mapValue" if !value.is_object() => self.wrong(&path, "an object is expected"),
            "listValue" => match value.get("value") {
                None | Some(Value::Null) => {}
                Some(items) => self.list(items, &format!("{path}.value"), MAX_LIST, |validator, item, path| {
                    validator.custom_value(item, path, depth + 1);
                }),
            },
            "mapValue" => match value.get("value").unwrap_or(&Value::Null) {
                Value::Null => {}
                Value::Object(items) => {
                    for (name, item) in items {
                        if name.contains('\0') {
                            self.wrong(&format!("{path}.value"), "a name can't hold U+0000");
                        }
                        self.custom_value(item, &format!("{path}.value.{name}"), depth + 1);
                    }
                }
                _ => self.wrong(&format!("{path}.value"), "an object is expected"),
            },
            _ => self.0.push(Violation::new(path, "ONE_OF_ALIGNMENT", "there is no such kind of value")),
        }
    }
}

/// Whether a text can stand in an address as a member's slug.
pub fn slug_fits(slug: &str) -> bool {
    let is_fit = |it: char| it.is_alphanumeric() || "-_.".contains(it);
    !slug.is_empty() && slug.chars().count() <= 255 && slug.chars().all(is_fit) && ![".", ".."].contains(&slug)
}

/// A day that there is.
fn is_date(text: &str) -> bool {
    let number = |it: &str, length: usize| digits(it).filter(|_| it.len() == length);
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let days = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// A date, or a date and a time with its offset, as ISO 8601 writes them and clients read them.
fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return is_date(text) };
    let clock = time.strip_suffix('Z').or_else(|| {
        let (clock, offset) = time.split_at_checked(time.len().checked_sub(6)?)?;
        offset.strip_prefix(['+', '-']).filter(|it| is_clock(it, 2))?;
        Some(clock)
    });
    let Some(clock) = clock else { return false };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    is_date(date) && is_clock(clock, 3) && fraction.len() <= 9 && digits(fraction).is_some()
}

/// `hh:mm` or `hh:mm:ss`, with at most so many parts.
fn is_clock(text: &str, most: usize) -> bool {
    let parts: Vec<Option<u32>> = text.split(':').map(|it| digits(it).filter(|_| it.len() == 2)).collect();
    let limits = [24, 60, 60];
    (2..=most).contains(&parts.len()) && parts.iter().zip(limits).all(|(it, end)| it.is_some_and(|it| it < end))
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|it| it.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Whether a text or name anywhere inside holds U+0000.
pub(crate) fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(name, it)| name.contains('\0') || has_nul(it)),
        _ => false,
    }
}
