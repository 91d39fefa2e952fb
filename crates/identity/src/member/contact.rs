//! A member's contact as the members API writes and reads it (docs/protocol/identity.md §17): parts of the profile,
//! plainer.
//!
//! What it does not show (tags, kinds of values, geocodes) stays with what it belongs to: an address is known
//! by its id, by what is shown of it or by its position, a phone and an email address by their value, a custom
//! field by its name.

use crate::member::{
    Member,
    profile::Profile,
    validator::{MAX_LIST, Validator},
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Email, Violation};

/// Members of the profile that stand in the contact, and their names there.
const TEXT_MEMBERS: [(&str, &str); 5] = [
    ("firstName", "firstName"),
    ("lastName", "lastName"),
    ("company", "company"),
    ("position", "jobTitle"),
    ("birthdate", "birthdate"),
];
/// What is shown of an address.
const ADDRESS: [&str; 7] =
    ["addressLine", "addressLine2", "city", "subdivision", "country", "postalCode", "streetAddress"];
/// What says the same of an address in other words, and is wrong once the address is another.
const DERIVED: [&str; 4] = ["formattedAddress", "geocode", "countryFullname", "subdivisionFullname"];

/// Values of one kind: the plain list of them, and the one whose elements have tags.
struct Values {
    plain: &'static str,
    tagged: &'static str,
    value: &'static str,
}

const PHONES: Values = Values { plain: "phones", tagged: "phonesV2", value: "phone" };
const EMAILS: Values = Values { plain: "emails", tagged: "secondaryEmails", value: "email" };

impl Member {
    /// The contact; absent ones are left out.
    pub fn contact(&self) -> Value {
        let mut contact = Map::new();
        for (name, shown) in TEXT_MEMBERS {
            contact.extend(self.profile.text(name).map(|it| (shown.to_owned(), it.into())));
        }
        let addresses: Vec<Value> = elements(&self.profile, "addresses").map(address).collect();
        let fields = elements(&self.profile, "customFields").filter_map(|field| {
            let name = field["name"].as_str()?;
            Some((name.to_owned(), json!({ "name": name, "value": plain(&field["value"]) })))
        });
        contact.insert("phones".to_owned(), PHONES.shown(&self.profile, None).into());
        contact.insert("emails".to_owned(), EMAILS.shown(&self.profile, Some(&self.email)).into());
        contact.insert("addresses".to_owned(), addresses.into());
        contact.insert("customFields".to_owned(), Value::Object(fields.collect()));
        Value::Object(contact)
    }
}

/// Everything that is wrong with a contact that was sent; `field` is its JSON path. Its members are checked with
/// the profile.
pub(crate) fn violations(sent: &Map<String, Value>, field: &str) -> Vec<Violation> {
    let mut validator = Validator(Vec::new());
    for (name, value) in sent.iter().filter(|it| !it.1.is_null()) {
        let path = format!("{field}.{name}");
        match name.as_str() {
            "phones" | "emails" => validator.strings(value, &path),
            "addresses" => validator.list(value, &path, MAX_LIST, |validator, it, path| {
                if let Some(id) = it.get("id").filter(|it| !it.is_null()) {
                    validator.text(id, &format!("{path}.id"), 100);
                }
                validator.address(it, path);
            }),
            "customFields" => {
                for (name, it) in validator.object(value, &path).into_iter().flatten() {
                    let mut inner = Validator(Vec::new());
                    inner.custom_field(&json!({ "name": name, "value": custom(sent_value(it), None) }), "");
                    // Kinds of values are not in the request.
                    let field = format!("{path}.{name}");
                    validator.0.extend(inner.0.into_iter().map(|it| Violation { field: field.clone(), ..it }));
                }
            }
            _ => {}
        }
    }
    validator.0
}

/// Where a text of the profile stands in a member of the members API.
pub(crate) fn path(name: &str) -> String {
    match name {
        "nickname" | "slug" => format!("profile.{name}"),
        "picture" => "profile.photo.url".to_owned(),
        _ => match TEXT_MEMBERS.iter().find(|it| it.0 == name) {
            Some((_, shown)) => format!("contact.{shown}"),
            None => name.to_owned(),
        },
    }
}

/// Takes over what a contact that was checked says of lists; null removes one.
pub(crate) fn merge(member: &mut Member, sent: &Map<String, Value>, mut id: impl FnMut() -> String) {
    let Member { profile, email, .. } = member;
    for (name, value) in sent {
        match name.as_str() {
            "phones" => PHONES.merge(profile, None, value),
            "emails" => EMAILS.merge(profile, Some(email), value),
            "addresses" => merge_addresses(profile, value, &mut id),
            "customFields" => merge_fields(profile, value),
            _ => {}
        }
    }
}

/// Gives a member another address to sign in with. Where the list of e-mail addresses was once written it takes the place of the
/// one before: applications that write to the first must not go on writing to a mailbox that was left, or was a thief's.
pub(crate) fn set_login(member: &mut Member, login: &Email) {
    let before = Email::parse(&member.email);
    login.as_str().clone_into(&mut member.email);
    let (Some(before), Some(Value::Array(list))) = (before, member.profile.0.get_mut(EMAILS.plain)) else { return };
    let is = |it: &Value, other: &Email| it.as_str().and_then(Email::parse).as_ref() == Some(other);
    let Some(at) = list.iter().position(|it| is(it, &before)) else { return };
    list.retain(|it| !is(it, &before) && !is(it, login));
    list.insert(at.min(list.len()), json!(login.as_str()));
}

impl Values {
    /// `first` is shown before those that have tags.
    fn shown(&self, profile: &Profile, first: Option<&str>) -> Vec<Value> {
        match profile.0.get(self.plain).and_then(Value::as_array) {
            Some(plain) => plain.clone(),
            None => {
                let tagged = elements(profile, self.tagged).map(|it| it[self.value].clone());
                first.map(Value::from).into_iter().chain(tagged.filter(|it| !it.is_null())).collect()
            }
        }
    }

    fn merge(&self, profile: &mut Profile, first: Option<&str>, sent: &Value) {
        let Value::Array(list) = sent else {
            profile.0.remove(self.plain);
            profile.0.remove(self.tagged);
            return;
        };
        let shown = self.shown(profile, first);
        if *list == shown {
            return;
        }
        if let Some(Value::Array(tagged)) = profile.0.get_mut(self.tagged) {
            tagged.retain(|it| list.contains(&it[self.value]) || !shown.contains(&it[self.value]));
        }
        profile.0.insert(self.plain.to_owned(), sent.clone());
    }
}

fn elements<'p>(profile: &'p Profile, name: &str) -> impl Iterator<Item = &'p Value> {
    profile.0.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn address(kept: &Value) -> Value {
    let mut address = Map::new();
    address.extend(kept.get("id").filter(|it| !it.is_null()).map(|it| ("id".to_owned(), it.clone())));
    for name in ADDRESS {
        address.extend(kept["address"].get(name).map(|it| (name.to_owned(), it.clone())));
    }
    Value::Object(address)
}

/// What is shown of an address beside its id, to be compared.
fn comparable(address: &Value) -> Value {
    let shown = ADDRESS.iter().map(|it| ((*it).to_owned(), address[*it].clone()));
    without_nulls(Value::Object(shown.collect()))
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|it| !it.1.is_null());
            Value::Object(kept.map(|(name, it)| (name, without_nulls(it))).collect())
        }
        other => other,
    }
}

fn merge_addresses(profile: &mut Profile, sent: &Value, id: &mut impl FnMut() -> String) {
    let Value::Array(list) = sent else {
        profile.0.remove("addresses");
        return;
    };
    let mut kept: Vec<Value> = elements(profile, "addresses").cloned().collect();
    if kept.iter().map(address).eq(list.iter().cloned()) {
        return;
    }
    let mut found: Vec<Option<Value>> = vec![None; list.len()];
    let has_id = |old: &Value, sent: &Value| !sent["id"].is_null() && old["id"] == sent["id"];
    let is_same = |old: &Value, sent: &Value| comparable(&old["address"]) == comparable(sent);
    for known in [has_id, is_same] {
        for (sent, found) in list.iter().zip(&mut found).filter(|it| it.1.is_none()) {
            *found = kept.iter_mut().find(|old| known(old, sent)).map(Value::take);
        }
    }
    // One without an id that was changed where it stands.
    if kept.len() == list.len() {
        for ((old, sent), found) in kept.into_iter().zip(list).zip(&mut found).filter(|it| it.1.is_none()) {
            *found = Some(old).filter(|it| it["id"].is_null() && sent["id"].is_null());
        }
    }
    let merged = list.iter().zip(found).map(|(sent, old)| merged_address(sent, old.unwrap_or_default(), id));
    let merged: Vec<Value> = merged.collect();
    profile.0.insert("addresses".to_owned(), merged.into());
}

fn merged_address(sent: &Value, mut old: Value, id: &mut impl FnMut() -> String) -> Value {
    let named = [sent, &old].into_iter().find_map(|it| it.get("id").filter(|it| !it.is_null())).cloned();
    if old.is_null() {
        old = json!({ "tag": "UNTAGGED" });
    }
    if old.get("address").is_none_or(|it| comparable(it) != comparable(sent)) {
        let mut address = old["address"].take().as_object().cloned().unwrap_or_default();
        address.retain(|name, _| !ADDRESS.contains(&name.as_str()) && !DERIVED.contains(&name.as_str()));
        address.extend(sent.as_object().cloned().unwrap_or_default());
        address.remove("id");
        old["address"] = Value::Object(address);
    }
    old["id"] = named.unwrap_or_else(|| id().into());
    old
}

/// `{name: {name, value}}`, or the value alone; a field that is null goes, one that is not named stays.
fn merge_fields(profile: &mut Profile, sent: &Value) {
    let Value::Object(fields) = sent else {
        profile.0.remove("customFields");
        return;
    };
    let mut kept: Vec<Value> = elements(profile, "customFields").cloned().collect();
    for (name, it) in fields {
        if it.is_null() {
            kept.retain(|old| old["name"] != name.as_str());
            continue;
        }
        match kept.iter_mut().rfind(|old| old["name"] == name.as_str()) {
            Some(old) => old["value"] = custom(sent_value(it), Some(&old["value"])),
            None => kept.push(json!({ "name": name, "value": custom(sent_value(it), None) })),
        }
    }
    profile.0.insert("customFields".to_owned(), kept.into());
}

fn sent_value(field: &Value) -> &Value {
    if field.is_object() { &field["value"] } else { field }
}

/// The value inside a custom value (docs/protocol/identity.md §10.3).
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|it| it.iter().find(|it| !it.1.is_null())) else {
        return Value::Null;
    };
    match kind.as_str() {
        "listValue" => inner["value"].as_array().into_iter().flatten().map(plain).collect(),
        "mapValue" => {
            let members = inner["value"].as_object().into_iter().flatten();
            Value::Object(members.map(|(name, it)| (name.clone(), plain(it))).collect())
        }
        _ => inner.clone(),
    }
}

/// The custom value that holds a plain one; one without a kind is null. A value keeps the kind that it had where
/// the plain one does not tell it: dates, and numbers that are none.
fn custom(value: &Value, old: Option<&Value>) -> Value {
    if let Some(old) = old.filter(|it| plain(it) == *value) {
        return old.clone();
    }
    let inner = |kind: &str| old.and_then(|it| it.get(kind)?.get("value"));
    match value {
        Value::Null => json!({}),
        Value::Bool(it) => json!({ "boolValue": it }),
        Value::Number(_) | Value::String(_) => {
            let usual = if value.is_string() { "strValue" } else { "numValue" };
            let kept = ["dateValue", "numValue"].into_iter().find(|it| old.is_some_and(|old| old.get(it).is_some()));
            let kept = kept.map(|it| json!({ it: value })).filter(Validator::is_custom_value);
            kept.unwrap_or_else(|| json!({ usual: value }))
        }
        Value::Array(list) => {
            let old = |n: usize| inner("listValue")?.get(n);
            let list: Vec<Value> = list.iter().enumerate().map(|(n, it)| custom(it, old(n))).collect();
            json!({ "listValue": { "value": list } })
        }
        Value::Object(members) => {
            let old = |name: &str| inner("mapValue")?.get(name);
            let members: Map<String, Value> =
                members.iter().map(|(name, it)| (name.clone(), custom(it, old(name)))).collect();
            json!({ "mapValue": { "value": members } })
        }
    }
}
