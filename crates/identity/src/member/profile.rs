//! A member's profile: validated, kept as JSON, and given back as it came (docs/protocol/identity.md §10.3).

use crate::{
    address::is_web,
    member::validator::{MAX_LIST, Validator, ValueType},
};
use serde_json::{Map, Value};
use stoa_kernel::Violation;

/// Most bytes of a profile as JSON text.
const MAX_BYTES: usize = 64 * 1024;
/// Most characters of the address of a picture.
pub(crate) const PICTURE: usize = 2_048;
/// Most labels.
const LABELS: usize = 2_000;

/// A valid profile. Members with null are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile(pub(crate) Map<String, Value>);

impl Profile {
    /// Checks a profile from a request. `field` is its JSON path, for example `profile`.
    ///
    /// # Errors
    /// All violations at once.
    pub fn parse(value: &Value, field: &str) -> Result<Self, Vec<Violation>> {
        let mut validator = Validator(Vec::new());
        let profile = match value {
            Value::Null => Map::new(),
            Value::Object(object) => known_members(&mut validator, object, field),
            _ => {
                validator.wrong(field, "an object is expected");
                Map::new()
            }
        };
        if validator.0.is_empty() && Value::Object(profile.clone()).to_string().len() > MAX_BYTES {
            validator
                .0
                .push(Violation::new(field, "MAX_LENGTH", "the profile is too large").with("threshold", MAX_BYTES));
        }
        if validator.0.is_empty() { Ok(Self(profile)) } else { Err(validator.0) }
    }

    pub(crate) fn from_stored(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    pub(crate) fn to_stored(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    /// Takes over what `other` has and keeps the rest.
    pub(crate) fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// What is too large of a profile that several changes have made, and that a single one may not be: none may
    /// make it larger still.
    pub(crate) fn outgrown(&self, before: &Self, field: &str) -> Option<Violation> {
        let bytes = |it: &Self| it.to_stored().len();
        let fields = |it: &Self| it.0.get("customFields").and_then(Value::as_array).map_or(0, Vec::len);
        let grows = |size: fn(&Self) -> usize, most| size(self) > most && size(self) > size(before);
        if grows(bytes, MAX_BYTES) {
            let why = "the profile is too large";
            return Some(Violation::new(field, "MAX_LENGTH", why).with("threshold", MAX_BYTES));
        }
        let why = format!("at most {MAX_LIST} custom fields");
        grows(fields, MAX_LIST).then(|| Violation::new(field, "MAX_SIZE", why).with("threshold", MAX_LIST))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The address of the picture. One that was stored before addresses were checked, and leads elsewhere than to the
    /// web, is shown to no one.
    pub fn picture(&self) -> Option<&str> {
        self.text("picture").filter(|it| it.is_empty() || is_web(it))
    }

    pub fn to_json(&self) -> Value {
        let mut shown = self.0.clone();
        if self.picture().is_none() {
            shown.remove("picture");
        }
        Value::Object(shown)
    }
}

pub(crate) const MEMBERS: &[(&str, ValueType)] = &[
    ("firstName", ValueType::Text(100)),
    ("lastName", ValueType::Text(100)),
    ("nickname", ValueType::Text(100)),
    ("picture", ValueType::WebAddress(PICTURE)),
    ("emails", ValueType::Strings(MAX_LIST)),
    ("phones", ValueType::Strings(MAX_LIST)),
    ("labels", ValueType::Strings(LABELS)),
    ("language", ValueType::Text(35)),
    ("privacyStatus", ValueType::OneOf(&["UNDEFINED", "PUBLIC", "PRIVATE"])),
    ("customFields", ValueType::CustomFields),
    ("secondaryEmails", ValueType::Emails),
    ("phonesV2", ValueType::Phones),
    ("addresses", ValueType::Addresses),
    ("company", ValueType::Text(1_000)),
    ("position", ValueType::Text(1_000)),
    ("birthdate", ValueType::Date),
    ("slug", ValueType::Slug),
    ("subscription", ValueType::Flag),
    ("vatId", ValueType::Text(1_000)),
    ("customAttributes", ValueType::Object),
];

/// The members that a profile has, checked; null and what is not known are left out.
fn known_members(validator: &mut Validator, object: &Map<String, Value>, field: &str) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in object {
        // What we don't know is not kept (decisions: the server ignores unknown members).
        let Some((_, value_type)) = MEMBERS.iter().find(|(known, _)| known == name) else {
            continue;
        };
        if !value.is_null() {
            validator.value(*value_type, value, &format!("{field}.{name}"));
            kept.insert(name.clone(), value.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn profile_comes_back_as_it_was() {
        let full = json!({
            "firstName": "Ada", "lastName": "L", "nickname": "ada", "picture": "https://x.example/p.png",
            "emails": ["a@b.co"], "phones": ["1"], "labels": ["x"], "language": "en", "privacyStatus": "PUBLIC",
            "customFields": [
                { "name": "a", "value": { "strValue": "x" } }, { "name": "b", "value": { "numValue": 1.5 } },
                { "name": "c", "value": { "dateValue": "2024-01-02T03:04:05.006Z" } },
                { "name": "d", "value": { "listValue": { "value": [{ "strValue": "x" }] } } },
                { "name": "e", "value": { "mapValue": { "value": { "k": { "boolValue": true } } } } },
                { "name": "f", "value": { "numValue": "NaN" } },
            ],
            "secondaryEmails": [{ "email": "x@y.co", "tag": "WORK" }],
            "phonesV2": [{ "countryCode": "DE", "phone": "1", "tag": "MOBILE" }],
            "addresses": [{ "address": {
                "country": "DE", "subdivision": "DE-BE", "city": "Berlin", "postalCode": "1", "addressLine": "a",
                "addressLine2": "b", "formattedAddress": "c", "hint": "h",
                "geocode": { "latitude": 1.5, "longitude": 2 },
                "streetAddress": { "name": "n", "number": "1", "apt": "2", "formattedAddressLine": "f" }
            }, "tag": "BILLING" }],
            "company": "c", "position": "p", "birthdate": "1815-12-10", "slug": "ada", "subscription": true,
            "vatId": "v", "customAttributes": { "x": 1 },
        });
        let profile = Profile::parse(&full, "profile").expect("good");
        assert_eq!(Profile::from_stored(&profile.to_stored()).to_json(), full);
    }

    #[test]
    fn picture_stored_before_it_was_checked_is_not_shown() {
        let shown = |picture: &str| {
            let profile = Profile::from_stored(&json!({ "picture": picture, "company": "c" }).to_string());
            (profile.picture().map(str::to_owned), profile.to_json())
        };
        let (good, bad) = (shown("https://x.example/p.png"), shown("javascript:alert(1)"));
        assert_eq!(good.0.as_deref(), Some("https://x.example/p.png"));
        assert_eq!(bad, (None, json!({ "company": "c" })));
    }

    #[test]
    fn profile_violations_have_their_path() {
        let wrong = |value: Value| {
            let violations = Profile::parse(&value, "profile").expect_err("bad");
            violations.into_iter().map(|it| (it.field, it.violated_rule)).collect::<Vec<_>>()
        };
        let one = |field: &str, rule| vec![(field.to_owned(), rule)];
        assert_eq!(wrong(json!(1)), one("profile", "FORMAT"));
        assert_eq!(wrong(json!({ "firstName": 1 })), one("profile.firstName", "FORMAT"));
        assert_eq!(wrong(json!({ "labels": [null] })), one("profile.labels[0]", "FORMAT"));
        assert_eq!(wrong(json!({ "birthdate": "10.12.1815" })), one("profile.birthdate", "FORMAT"));
        assert_eq!(wrong(json!({ "privacyStatus": "x" })), one("profile.privacyStatus", "INVALID_ENUM_VALUE"));
        let two = json!({ "customFields": [{ "name": "a", "value": { "strValue": "x", "numValue": 1 } }] });
        assert_eq!(wrong(two), one("profile.customFields[0].value", "ONE_OF_ALIGNMENT"));
        assert_eq!(wrong(json!({ "picture": "javascript:alert(1)" })), one("profile.picture", "FORMAT"));
        let street = json!({ "addresses": [{ "address": { "addressLine": 1 } }] });
        assert_eq!(wrong(street), one("profile.addresses[0].address.addressLine", "FORMAT"));
        let empty = json!({ "firstName": null, "emails": null, "isAdmin": true });
        assert!(Profile::parse(&empty, "profile").is_ok_and(|it| it.0.is_empty()));
    }
}
