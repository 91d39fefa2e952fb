//! What a collection's definition asks of its items: defaults always, everything else under `strictMode`.
//!
//! - **Defaults** fill fields that a new item doesn't have; null counts as had. They are no rule but a
//!   convenience, so they work without `strictMode`. Members of objects get none of their own.
//! - **Types and options** of fields hold for values that are there and not null. Unknown fields are
//!   kept as they are. A patch is held to the rules of the fields that it names.
//! - **`required`**: the value is there and not null. An empty text is a value. Of multi-references it
//!   asks nothing: they are links, and never stand in the item.
//! - **`immutable`**: once there, the value can't become another. An item that is replaced without it
//!   keeps it; a different value, or a patch that removes it, is refused.
//! - **`readOnly`**: the same from the start, for everyone but owners and apps.
//! - **Page links** that are calculated have no rules: [`crate::schema::page_link`] decides what they are.
//! - Of an **encrypted** field, an item that is replaced by a caller who isn't shown it keeps the value when
//!   none is sent. If the value can't be changed, that caller may send none at all: whether it would be the
//!   same is not theirs to find out.
//!
//! The rules are read from the definition when an item is first written, and kept with it. A collection
//! without rules pays one look at an empty list.

mod pattern;
mod value;

use crate::{
    fault::{Faults, invalid},
    limits::ContentLimits,
    schema::{
        definition::Definition,
        field::{self, Field, is_multi},
        page_link::PageLinks,
    },
    wire::patch::Modification,
};
use serde_json::{Map, Value as Json, json};
use stoa_kernel::date;
use stoa_kernel::{Caller, Code, Fault, Millis, Result, fault::Violation};
use stoa_query::CanonicalItem;
use value::{Reader, Rule, ValuePath};

type Members = Map<String, Json>;

/// Rules for the items of one collection.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    is_strict: bool,
    fields: Vec<FieldRule>,
    defaults: Vec<(String, Default)>,
}

#[derive(Debug)]
struct FieldRule {
    key: String,
    is_required: bool,
    is_immutable: bool,
    is_read_only: bool,
    is_encrypted: bool,
    rule: Rule,
}

/// What a field is filled with.
#[derive(Debug)]
enum Default {
    Value(Json),
    /// A date so many days from now.
    Day(i64),
    /// A time so many seconds from now.
    Time(i64),
}

impl Rules {
    /// The rules of a definition that is being made.
    ///
    /// # Errors
    /// WDE0075 for patterns that can't be used and defaults that can't be stored, or that break the rules
    /// of their own field under `strictMode`.
    pub(crate) fn check(definition: &Definition, limits: &ContentLimits) -> Result<()> {
        let rules = Self::read(definition, true)?;
        let mut faults = Faults::default();
        for (n, it) in definition.fields.iter().enumerate() {
            faults.take(rules.check_default(it, &format!("collection.fields[{n}].typeMetadata"), limits));
        }
        faults.refuse()
    }

    fn check_default(&self, field: &Field, path: &str, limits: &ContentLimits) -> Result<()> {
        let Some(Default::Value(value)) = default(field) else { return Ok(()) };
        let stored = CanonicalItem::empty(limits.query.item()).with(&one(field::key(field), value.clone()));
        stored.map_err(|why| invalid(path, &format!("has a default that can't be stored: {why}")))?;
        let Some(rule) = self.fields.iter().find(|rule| rule.key == field::key(field)) else { return Ok(()) };
        let mut broken = Vec::new();
        rule.rule.check(&value, &ValuePath { path: "defaultValue", now: 0 }, &mut broken);
        match broken.first().filter(|it| it.violated_rule != "MIN" && it.violated_rule != "MAX") {
            Some(it) => Err(invalid(path, &format!("has a default that breaks its own rules: {}", it.description))),
            None => Ok(()),
        }
    }

    /// The rules of a definition that is kept; what it has of rules that can't be used doesn't hold.
    pub(crate) fn new(definition: &Definition) -> Self {
        Self::read(definition, false).unwrap_or_default()
    }

    fn read(definition: &Definition, is_checked: bool) -> Result<Self> {
        let defaults = definition.fields.iter().filter_map(|it| Some((field::key(it).to_owned(), default(it)?)));
        let mut rules = Self { is_strict: definition.strict_mode, fields: Vec::new(), defaults: defaults.collect() };
        // Patterns are looked at whether or not they hold now, since strictMode may be switched on later.
        if definition.strict_mode || is_checked {
            let (mut reader, mut faults) = (Reader::new(is_checked), Faults::default());
            let flag = |field: &Field, name: &str| field.get(name).and_then(Json::as_bool).unwrap_or(false);
            let links = PageLinks::of(definition);
            let is_set = |it: &(usize, &Field)| !links.has_key(field::key(it.1));
            for (n, it) in definition.fields.iter().enumerate().filter(is_set) {
                let rule = faults.take(reader.rule(it, &format!("collection.fields[{n}]")));
                let Some(rule) = rule else { continue };
                rules.fields.push(FieldRule {
                    key: field::key(it).to_owned(),
                    is_required: flag(it, "required") && !is_multi(it),
                    is_immutable: flag(it, "immutable"),
                    is_read_only: flag(it, "readOnly"),
                    is_encrypted: field::is_encrypted(it),
                    rule,
                });
            }
            faults.refuse()?;
        }
        Ok(rules)
    }

    /// Whether these fields of an item that is shown in another language keep to the rules.
    ///
    /// # Errors
    /// WDE0075 with a violation for each field that breaks one.
    pub(crate) fn validate_fields(
        &self,
        item: &CanonicalItem,
        is_named: impl Fn(&str) -> bool,
        caller: &Caller,
        now: Millis,
    ) -> Result<()> {
        if !self.is_strict {
            return Ok(());
        }
        let (members, mut broken) = (read(&item.data())?, Vec::new());
        for it in self.fields.iter().filter(|it| is_named(&it.key)) {
            it.check(&members, now, &mut broken);
            if it.is_read_only && !caller.bare().is_privileged() {
                ValuePath { path: &it.key, now }.violate(&mut broken, "READ_ONLY", "can only be read", Json::Null);
            }
        }
        refuse(broken)
    }

    /// A new item with its defaults, if that makes it another.
    ///
    /// # Errors
    /// WDE0075 with a violation for each field that breaks a rule.
    pub(crate) fn validate_new(
        &self,
        item: &CanonicalItem,
        caller: &Caller,
        now: Millis,
    ) -> Result<Option<CanonicalItem>> {
        if self.defaults.is_empty() && !self.is_strict {
            return Ok(None);
        }
        let mut members = read(&item.data())?;
        let broken = self.read_only(&members, caller, now);
        let mut added = Members::new();
        for (key, default) in &self.defaults {
            if !members.contains_key(key) {
                added.insert(key.clone(), default.at(now));
            }
        }
        members.extend(added.clone());
        self.check_new(&members, now, broken)?;
        if added.is_empty() { Ok(None) } else { item.with(&added).map(Some) }
    }

    /// An item that comes from the other collection of a pair, and is new in this one: it had its defaults when it was made.
    ///
    /// # Errors
    /// As for [`Rules::validate_new`].
    pub(crate) fn validate_moved(&self, item: &CanonicalItem, caller: &Caller, now: Millis) -> Result<()> {
        if !self.is_strict {
            return Ok(());
        }
        let members = read(&item.data())?;
        self.check_new(&members, now, self.read_only(&members, caller, now))
    }

    /// The fields that are set and that the caller may only read.
    fn read_only(&self, members: &Members, caller: &Caller, now: Millis) -> Vec<Violation> {
        let mut broken = Vec::new();
        if self.is_strict && !caller.bare().is_privileged() {
            let is_set = |it: &&FieldRule| it.is_read_only && has(members, &it.key);
            for it in self.fields.iter().filter(is_set) {
                ValuePath { path: &it.key, now }.violate(&mut broken, "READ_ONLY", "can only be read", Json::Null);
            }
        }
        broken
    }

    fn check_new(&self, members: &Members, now: Millis, mut broken: Vec<Violation>) -> Result<()> {
        if self.is_strict {
            self.fields.iter().for_each(|it| it.check(members, now, &mut broken));
        }
        refuse(broken)
    }

    /// A new item with its defaults, whatever its fields ask for.
    pub(crate) fn with_defaults(&self, item: &CanonicalItem, now: Millis) -> Result<CanonicalItem> {
        item.with(&self.defaults.iter().map(|(key, default)| (key.clone(), default.at(now))).collect())
    }

    /// An item that takes the place of another, with the values that it keeps, if that makes it another.
    /// Of a patch, only the fields that it names are looked at. What an item keeps of encrypted fields
    /// because the caller isn't shown them is put in later ([`crate::collection::cipher::FieldCipher::keep`]).
    ///
    /// # Errors
    /// As for [`Rules::validate_new`].
    pub(crate) fn validate_change(
        &self,
        item: &CanonicalItem,
        patch: Option<&[Modification]>,
        old: &str,
        caller: &Caller,
        now: Millis,
    ) -> Result<Option<CanonicalItem>> {
        if !self.is_strict {
            return Ok(None);
        }
        let (members, old) = (read(&item.data())?, read(old)?);
        let is_named = |key: &str| patch.is_none_or(|list| list.iter().any(|it| it.field() == key));
        let (mut broken, mut kept) = (Vec::new(), Members::new());
        for it in self.fields.iter().filter(|it| is_named(&it.key)) {
            let is_read_only = it.is_read_only && !caller.bare().is_privileged();
            let is_fixed = is_read_only || it.is_immutable && has(&old, &it.key);
            let is_hidden = it.is_encrypted && !caller.bare().is_privileged();
            let (before, after) = (old.get(&it.key), members.get(&it.key));
            let is_kept = is_hidden && after.is_none() && patch.is_none();
            if is_kept && (is_fixed || has(&old, &it.key)) {
                continue;
            }
            if !is_fixed {
                it.check(&members, now, &mut broken);
                continue;
            }
            if after.is_none() && patch.is_none() {
                kept.extend(before.map(|value| (it.key.clone(), value.clone())));
            } else if is_hidden || before.filter(|it| !it.is_null()) != after.filter(|it| !it.is_null()) {
                let (rule, text) = match is_read_only {
                    true => ("READ_ONLY", "can only be read"),
                    false => ("IMMUTABLE", "can't be changed once it has a value"),
                };
                ValuePath { path: &it.key, now }.violate(&mut broken, rule, text, Json::Null);
            }
        }
        refuse(broken)?;
        if kept.is_empty() { Ok(None) } else { item.with(&kept).map(Some) }
    }
}

impl FieldRule {
    fn check(&self, members: &Members, now: Millis, broken: &mut Vec<Violation>) {
        let here = ValuePath { path: &self.key, now };
        match members.get(&self.key).filter(|it| !it.is_null()) {
            Some(it) => self.rule.check(it, &here, broken),
            None if self.is_required => here.violate(broken, "REQUIRED_FIELD", "is required", Json::Null),
            None => {}
        }
    }
}

impl Default {
    fn at(&self, now: Millis) -> Json {
        let print = |it: Millis| date::print(it).unwrap_or_default();
        match self {
            Self::Value(it) => it.clone(),
            Self::Day(days) => {
                let text = print(now.saturating_add(days.saturating_mul(86_400_000)));
                json!(text.get(..10).unwrap_or_default())
            }
            Self::Time(seconds) => json!({ "$date": print(now.saturating_add(seconds.saturating_mul(1000))) }),
        }
    }
}

/// What a field's metadata say that it is filled with. They have one member, which belongs to the type.
fn default(field: &Field) -> Option<Default> {
    let metadata = field.get("typeMetadata")?.as_object()?;
    let (name, options) = metadata.iter().find(|(_, it)| it.is_object())?;
    // A thousand years either way, so that the time is one that can be printed.
    let whole =
        |name: &str, most: i64| options.get(name).and_then(Json::as_i64).filter(|it| it.unsigned_abs() <= most as u64);
    let fixed = || options.get("defaultValueFixed").and_then(Json::as_str).and_then(date::parse);
    match name.as_str() {
        "date" => fixed()
            .map(|it| Default::Value(json!(date::print(it).unwrap_or_default().get(..10))))
            .or_else(|| whole("defaultValueOffsetFromNowInDays", 365_000).map(Default::Day)),
        "datetime" => fixed()
            .map(|it| Default::Value(json!({ "$date": date::print(it) })))
            .or_else(|| whole("defaultValueOffsetFromNowInSeconds", 365_000 * 86_400).map(Default::Time)),
        // Numbers that aren't finite travel as text, and no item can have them.
        "number" => options.get("defaultValue").filter(|it| it.is_number()).cloned().map(Default::Value),
        _ => options.get("defaultValue").filter(|it| !it.is_null()).cloned().map(Default::Value),
    }
}

fn read(text: &str) -> Result<Members> {
    serde_json::from_str(text).map_err(Fault::internal)
}

fn one(key: &str, value: Json) -> Members {
    Members::from_iter([(key.to_owned(), value)])
}

fn has(members: &Members, key: &str) -> bool {
    members.get(key).is_some_and(|it| !it.is_null())
}

fn refuse(broken: Vec<Violation>) -> Result<()> {
    if broken.is_empty() {
        return Ok(());
    }
    let texts: Vec<_> = broken.iter().take(5).map(|it| it.description.as_str()).collect();
    let more = if broken.len() > 5 { format!("; and {} more", broken.len() - 5) } else { String::new() };
    let text = format!("The item breaks rules of its fields: {}{more}.", texts.join("; "));
    Err(Fault::because(Code::RequestInvalid, text).violating(broken))
}
