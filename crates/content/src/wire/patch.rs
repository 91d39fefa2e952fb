//! Patches: named fields of an item changed, the others left alone (docs/protocol/content.md §3.3).
//!
//! A path is names with dots between them. Objects on the way are made when something is put behind
//! them; null counts as missing. A list or a value on the way is refused (WDE0080): elements of lists
//! have no names. What comes out is read again like any item that a client sends, so it is held to the
//! same depth, size and canonical form.

use crate::{fault::invalid, wire::edit::ValueEdit};
use serde_json::{Map, Number, Value as Json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    CanonicalItem,
    item::{self, MAX_DEPTH},
    schema::{Kind, Schema},
};

/// A change to one item.
#[derive(Debug)]
pub(crate) struct Patch {
    pub id: String,
    pub modifications: Vec<Modification>,
}

/// One change of one path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Modification {
    path: Vec<String>,
    change: FieldChange,
    /// Whether a task makes it that publishes items and takes them back, which writes what no call may.
    is_of_task: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum FieldChange {
    Set(Json),
    Remove,
    Increment(f64),
    Append(Json),
    /// The first element that equals this is taken out.
    TakeOut(Json),
    /// What the item has in another field.
    Copy(String),
    Edit(Arc<ValueEdit>),
}

/// What the patches of a call may still cost: values that are looked through one by one. A list of a
/// hundred thousand elements can't be searched ten thousand times while a transaction is open.
pub(crate) struct PatchBudget(usize);

impl Default for PatchBudget {
    fn default() -> Self {
        Self(2_000_000)
    }
}

impl PatchBudget {
    fn spend(&mut self, values: usize) -> Result<()> {
        match self.0.checked_sub(values) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(Fault::because(Code::BadRequest, "The modifications look through too many values.")),
        }
    }
}

impl Patch {
    /// The id of a patch as far as it is text: what a refusal is shown with.
    pub(crate) fn id_of(patch: &Json) -> Option<&str> {
        patch.get("dataItemId").and_then(Json::as_str)
    }

    /// Reads a `patch`. An empty list of modifications, or none, only renews `_updatedDate`.
    ///
    /// # Errors
    /// WDE0002 for its id; WDE0080 for anything else that it must not be; WDE0134 for names that begin
    /// with `$`; WDE0027 for an owner set by those who may not; WDE0119 for a multi-reference field, and for
    /// a part of an encrypted one; WDE0075 for a page link that is calculated.
    pub(crate) fn parse(patch: &Json, caller: &Caller, schema: &Schema, limits: item::ItemLimits) -> Result<Self> {
        let Some(patch) = patch.as_object() else {
            return Err(bad("A patch must be an object."));
        };
        let Some(Json::String(id)) = patch.get("dataItemId") else {
            return Err(Fault::because(Code::ItemIdNotText, "dataItemId must be a string."));
        };
        let list: &[Json] = match patch.get("fieldModifications") {
            None | Some(Json::Null) => &[],
            Some(Json::Array(it)) => it,
            Some(_) => return Err(bad("fieldModifications must be a list.")),
        };
        let modifications: Vec<_> = list.iter().map(|it| Modification::parse(it, limits)).collect::<Result<_>>()?;
        modifications.iter().try_for_each(|it| it.check(caller, schema))?;
        Ok(Self { id: id.clone(), modifications })
    }
}

impl Modification {
    fn parse(modification: &Json, limits: item::ItemLimits) -> Result<Self> {
        let text = |name: &str| modification.get(name).and_then(Json::as_str);
        let path = text("fieldPath").ok_or_else(|| bad("fieldPath must be a string."))?;
        let value = |options: &str| modification.get(options).and_then(|it| it.get("value"));
        let needed = |options: &str| {
            let missing = || bad(&format!("{options}.value is missing for {path}."));
            value(options).ok_or_else(missing).and_then(|it| item::value(it, limits))
        };
        let change = match text("action") {
            Some("SET_FIELD") => match value("setFieldOptions") {
                Some(it) => FieldChange::Set(item::value(it, limits)?),
                None => FieldChange::Remove,
            },
            Some("REMOVE_FIELD") => FieldChange::Remove,
            Some("INCREMENT_FIELD") => {
                let number = value("incrementFieldOptions").and_then(Json::as_f64);
                let wrong = || bad(&format!("incrementFieldOptions.value must be a number for {path}."));
                FieldChange::Increment(number.ok_or_else(wrong)?)
            }
            Some("APPEND_TO_ARRAY") => FieldChange::Append(needed("appendToArrayOptions")?),
            Some("REMOVE_FROM_ARRAY") => FieldChange::TakeOut(needed("removeFromArrayOptions")?),
            _ => return Err(bad("action must be one of the documented actions.")),
        };
        let path: Vec<_> = path.split('.').take(MAX_DEPTH + 1).map(str::to_owned).collect();
        Ok(Self { path, change, is_of_task: false })
    }

    /// Puts into a field what the item has in another one.
    pub(crate) fn copy(source: &str, target: &str) -> Self {
        Self { path: vec![target.to_owned()], change: FieldChange::Copy(source.to_owned()), is_of_task: false }
    }

    /// Edits the value of a field.
    pub(crate) fn edit(field: &str, edit: &Arc<ValueEdit>) -> Self {
        Self { path: vec![field.to_owned()], change: FieldChange::Edit(edit.clone()), is_of_task: false }
    }

    /// What only tasks do that publish items and take them back: a canonical value is put into a field, or none left there.
    pub(crate) fn of_task(field: &str, value: Option<Json>) -> Self {
        let change = value.map_or(FieldChange::Remove, FieldChange::Set);
        Self { path: vec![field.to_owned()], change, is_of_task: true }
    }

    pub(crate) fn is_of_task(&self) -> bool {
        self.is_of_task
    }

    /// The field that the path begins with.
    pub(crate) fn field(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    fn is_of_whole_field(&self) -> bool {
        self.path.len() == 1 && matches!(self.change, FieldChange::Set(_) | FieldChange::Remove)
    }

    /// Whether the path can be written, by this caller.
    ///
    /// # Errors
    /// As for [`Patch::parse`].
    pub(crate) fn check(&self, caller: &Caller, schema: &Schema) -> Result<()> {
        if self.path.len() > MAX_DEPTH {
            return Err(Fault::because(Code::ItemTooDeep, format!("A path has at most {MAX_DEPTH} names.")));
        }
        self.path.iter().try_for_each(|name| match name.as_str() {
            "" => Err(bad("fieldPath has an empty name.")),
            it if it.starts_with('$') => Err(Fault::new(Code::FieldNameDollar)),
            _ => Ok(()),
        })?;
        match self.field() {
            it @ ("_id" | "_createdDate" | "_updatedDate") => Err(bad(&format!("{it} is set by the server."))),
            "_owner" if !caller.bare().is_privileged() => {
                Err(Fault::because(Code::PermissionDenied, "Only owners and apps give items to others."))
            }
            "_owner" => match &self.change {
                FieldChange::Set(Json::String(it)) if !it.is_empty() && self.path.len() == 1 => Ok(()),
                _ => Err(bad("_owner is set to the id of its owner, as a string.")),
            },
            it => match schema.fields.get(it) {
                Some(Kind::MultiReference) => {
                    Err(Fault::because(Code::NotSupported, format!("{it} is a multi-reference field.")))
                }
                Some(Kind::Calculated { is_mutable: false }) => {
                    Err(invalid(it, "is calculated from other fields and can't be set"))
                }
                // Anything else would tell something of the value, or needs it.
                Some(Kind::Encrypted) if !self.is_of_whole_field() => {
                    let text = format!("{it} is an encrypted field, which is set and removed as a whole.");
                    Err(Fault::because(Code::NotSupported, text).with("propertyName", it))
                }
                _ => Ok(()),
            },
        }
    }

    fn apply(&self, item: &mut Map<String, Json>, budget: &mut PatchBudget, limits: item::ItemLimits) -> Result<()> {
        let Some((name, way)) = self.path.split_last() else { return Ok(()) };
        let makes = !matches!(self.change, FieldChange::Remove | FieldChange::TakeOut(_));
        let copied = match &self.change {
            FieldChange::Copy(source) => item.get(source).cloned(),
            _ => None,
        };
        let Some(object) = descend(item, way, makes).map_err(|()| self.misfit("leads through a value"))? else {
            return Ok(());
        };
        match &self.change {
            FieldChange::Set(it) => {
                object.insert(name.clone(), it.clone());
            }
            FieldChange::Remove => {
                budget.spend(object.len())?;
                // The others keep their order.
                object.shift_remove(name);
            }
            FieldChange::Increment(by) => {
                let slot = object.entry(name.as_str()).or_insert(Json::Null);
                let sum = match slot {
                    Json::Null => *by,
                    Json::Number(it) => it.as_f64().unwrap_or_default() + by,
                    _ => return Err(self.misfit("is not a number")),
                };
                let sum = Number::from_f64(sum).ok_or_else(|| self.misfit("would be too large a number"))?;
                *slot = item::value(&Json::Number(sum), limits)?;
            }
            FieldChange::Append(it) => match object.entry(name.as_str()).or_insert(Json::Null) {
                Json::Array(list) => list.push(it.clone()),
                slot @ Json::Null => *slot = Json::Array(vec![it.clone()]),
                _ => return Err(self.misfit("is not a list")),
            },
            FieldChange::TakeOut(it) => match object.get_mut(name) {
                None | Some(Json::Null) => {}
                Some(Json::Array(list)) => {
                    budget.spend(list.len())?;
                    if let Some(index) = list.iter().position(|element| element == it) {
                        list.remove(index);
                    }
                }
                Some(_) => return Err(self.misfit("is not a list")),
            },
            FieldChange::Copy(_) => {
                if let Some(it) = copied {
                    object.insert(name.clone(), it);
                }
            }
            FieldChange::Edit(it) => {
                let before = object.get(name).filter(|it| !it.is_null()).cloned();
                if let Some(after) = it.apply(before, |values| budget.spend(values))?.map_err(|why| self.misfit(why))? {
                    object.insert(name.clone(), after);
                }
            }
        }
        Ok(())
    }

    fn misfit(&self, problem: &str) -> Fault {
        let path = self.path.join(".");
        bad(&format!("{path} {problem}.")).with("propertyName", path)
    }
}

/// The object that the names lead to: nothing when there is none and none is to be made, `Err` when
/// something else is in the way.
fn descend<'i>(
    item: &'i mut Map<String, Json>,
    way: &[String],
    makes: bool,
) -> Result<Option<&'i mut Map<String, Json>>, ()> {
    let mut object = item;
    for name in way {
        if makes {
            let slot = object.entry(name.as_str()).or_insert(Json::Null);
            if slot.is_null() {
                *slot = Json::Object(Map::new());
            }
        }
        object = match object.get_mut(name) {
            Some(Json::Object(it)) if !it.contains_key("$date") => it,
            None | Some(Json::Null) => return Ok(None),
            Some(_) if makes => return Err(()),
            Some(_) => return Ok(None),
        };
    }
    Ok(Some(object))
}

/// The item that a stored document becomes, its owner included; of several modifications of one path
/// each finds what the one before it left.
///
/// # Errors
/// WDE0080 when a path leads to what the change can't work on, and what makes the outcome invalid.
pub(crate) fn apply(
    document: &str,
    modifications: &[Modification],
    budget: &mut PatchBudget,
    limits: item::ItemLimits,
) -> Result<CanonicalItem> {
    let mut item = serde_json::from_str(document).map_err(Fault::internal)?;
    modifications.iter().try_for_each(|it| it.apply(&mut item, budget, limits))?;
    let text = serde_json::to_string(&item).map_err(Fault::internal)?;
    stoa_query::canonical(&text, limits)
}

fn bad(text: &str) -> Fault {
    Fault::because(Code::BadRequest, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HEAD: &str = r#""_id":"1","_createdDate":{"$date":"2026-01-01T00:00:00.000Z"},"_updatedDate":{"$date":"2026-01-01T00:00:00.000Z"}"#;

    fn limits() -> item::ItemLimits {
        stoa_query::QueryLimits::default().item()
    }

    fn modification(path: &str, action: &str, value: &Json) -> Result<Modification> {
        let mut modification = json!({ "fieldPath": path, "action": action });
        let options = match action {
            "SET_FIELD" => "setFieldOptions",
            "INCREMENT_FIELD" => "incrementFieldOptions",
            "APPEND_TO_ARRAY" => "appendToArrayOptions",
            _ => "removeFromArrayOptions",
        };
        if action != "REMOVE_FIELD" {
            modification[options] = if value == "undefined" { json!({}) } else { json!({ "value": value }) };
        }
        Modification::parse(&modification, limits())
    }

    /// The members of `before` after the modifications, or the code of the refusal.
    fn after(before: &str, modifications: &[(&str, &str, Json)]) -> String {
        let stored = if before == "{}" { format!("{{{HEAD}}}") } else { format!("{{{HEAD},{}", &before[1..]) };
        let read = modifications.iter().map(|(path, action, value)| modification(path, action, value));
        let outcome =
            read.collect::<Result<Vec<_>>>().and_then(|it| apply(&stored, &it, &mut PatchBudget::default(), limits()));
        let stamp = stoa_query::Stamp { id: "1", created: 0, updated: 0, owner: None };
        match outcome.and_then(|it| it.document(stamp)) {
            Ok(document) => {
                let rest = document.match_indices("Z\"}").nth(1).map_or("", |(at, it)| &document[at + it.len()..]);
                format!("{{{}", rest.strip_prefix(',').unwrap_or(rest))
            }
            Err(fault) => fault.code().name().to_owned(),
        }
    }

    #[test]
    fn actions_change_what_their_paths_name() {
        let (set, remove, increment, append, take) =
            ("SET_FIELD", "REMOVE_FIELD", "INCREMENT_FIELD", "APPEND_TO_ARRAY", "REMOVE_FROM_ARRAY");
        for (before, (path, action, value), wants) in [
            ("{}", ("a", set, json!(1)), r#"{"a":1}"#),
            (r#"{"a":1,"b":2}"#, ("a", set, json!({ "z": [1.0], "y": null })), r#"{"a":{"z":[1],"y":null},"b":2}"#),
            (r#"{"a":1,"b":2,"c":3}"#, ("a", set, json!("undefined")), r#"{"b":2,"c":3}"#),
            ("{}", ("a", set, json!({ "$date": "2024-01-01" })), r#"{"a":{"$date":"2024-01-01T00:00:00.000Z"}}"#),
            ("{}", ("o.p.q", set, json!(true)), r#"{"o":{"p":{"q":true}}}"#),
            (r#"{"o":null}"#, ("o.p", set, json!(1)), r#"{"o":{"p":1}}"#),
            (r#"{"o":{"x":1}}"#, ("o.p", set, json!(1)), r#"{"o":{"x":1,"p":1}}"#),
            (r#"{"o":7}"#, ("o.p", set, json!(1)), "WDE0080"),
            (r#"{"o":[{"p":1}]}"#, ("o.p", set, json!(1)), "WDE0080"),
            (r#"{"o":{"$date":"2024-01-01T00:00:00.000Z"}}"#, ("o.p", set, json!(1)), "WDE0080"),
            ("{}", ("a", set, json!({ "$x": 1 })), "WDE0134"),
            ("{}", ("a", set, json!("\u{0}")), "WDE0080"),
            (r#"{"a":1,"b":2}"#, ("a", remove, json!(null)), r#"{"b":2}"#),
            (r#"{"o":{"p":1,"q":2}}"#, ("o.p", remove, json!(null)), r#"{"o":{"q":2}}"#),
            (r#"{"o":7}"#, ("o.p", remove, json!(null)), r#"{"o":7}"#),
            ("{}", ("o.p", remove, json!(null)), "{}"),
            (r#"{"n":1.5}"#, ("n", increment, json!(1.5)), r#"{"n":3}"#),
            (r#"{"n":null}"#, ("n", increment, json!(-2)), r#"{"n":-2}"#),
            ("{}", ("o.n", increment, json!(2)), r#"{"o":{"n":2}}"#),
            (r#"{"n":"1"}"#, ("n", increment, json!(1)), "WDE0080"),
            (r#"{"n":1}"#, ("n", increment, json!("1")), "WDE0080"),
            (r#"{"n":1}"#, ("n", increment, json!(null)), "WDE0080"),
            (r#"{"n":1.7e308}"#, ("n", increment, json!(1.7e308)), "WDE0080"),
            (r#"{"n":9007199254740992}"#, ("n", increment, json!(1)), r#"{"n":9007199254740992}"#),
            (r#"{"l":[1]}"#, ("l", append, json!([2, 3])), r#"{"l":[1,[2,3]]}"#),
            (r#"{"l":null}"#, ("l", append, json!("x")), r#"{"l":["x"]}"#),
            ("{}", ("o.l", append, json!(null)), r#"{"o":{"l":[null]}}"#),
            (r#"{"l":"x"}"#, ("l", append, json!("y")), "WDE0080"),
            (r#"{"l":[]}"#, ("l", append, json!("undefined")), "WDE0080"),
            (r#"{"l":[1,2,1]}"#, ("l", take, json!(1)), r#"{"l":[2,1]}"#),
            (r#"{"l":[1,"1"]}"#, ("l", take, json!("1")), r#"{"l":[1]}"#),
            (r#"{"l":[{"a":1,"b":[2]}]}"#, ("l", take, json!({ "b": [2.0], "a": 1 })), r#"{"l":[]}"#),
            (r#"{"l":[{"a":1,"b":2}]}"#, ("l", take, json!({ "a": 1 })), r#"{"l":[{"a":1,"b":2}]}"#),
            (r#"{"l":[[1,2]]}"#, ("l", take, json!([1, 2])), r#"{"l":[]}"#),
            ("{}", ("l", take, json!(1)), "{}"),
            (r#"{"l":7}"#, ("l", take, json!(7)), "WDE0080"),
        ] {
            assert_eq!(after(before, &[(path, action, value.clone())]), wants, "{action} {path} {value} on {before}");
        }
    }

    #[test]
    fn modifications_are_applied_in_order() {
        let (set, increment, append) = ("SET_FIELD", "INCREMENT_FIELD", "APPEND_TO_ARRAY");
        let list = [
            ("a", set, json!(1)),
            ("a", increment, json!(2)),
            ("l", append, json!("x")),
            ("l", "REMOVE_FROM_ARRAY", json!("x")),
            ("l", append, json!("y")),
        ];
        assert_eq!(after("{}", &list), r#"{"a":3,"l":["y"]}"#);
        assert_eq!(after("{}", &[("a", set, json!("x")), ("a", increment, json!(1))]), "WDE0080");
        assert_eq!(after(r#"{"a":1}"#, &[]), r#"{"a":1}"#);
    }

    #[test]
    fn patch_costs_are_bounded() {
        let list: Vec<_> = (0..1000).map(|_| ("l", "REMOVE_FROM_ARRAY", json!("none"))).collect();
        let long = format!("{{\"l\":{}}}", json!(vec![0; 10_000]));
        assert_eq!(after(&long, &list), "WDE0080");
        let path = "a.".repeat(1_000_000) + "a";
        assert_eq!(modification(&path, "SET_FIELD", &json!(1)).expect("read").path.len(), MAX_DEPTH + 1);
        assert_eq!(after("{}", &[(&["a"; 32].join("."), "SET_FIELD", json!({}))]), "WDE0168");
        assert_eq!(after("{}", &[("a", "SET_FIELD", json!("x".repeat(600_000)))]), "WDE0009");
        let half = json!("x".repeat(300_000));
        assert_eq!(after("{}", &[("a", "SET_FIELD", half.clone()), ("b", "SET_FIELD", half)]), "WDE0009");
    }

    /// A small generator of chance, so that a failure can be run again from its seed.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }

        fn value(&mut self, depth: u64) -> Json {
            match self.below(if depth > 0 { 9 } else { 7 }) {
                0 => json!(null),
                1 => json!(self.below(3)),
                2 => json!(self.below(1000) as f64 / 8.0 * 1e300),
                3 => json!(["", "x", "é😀", "\"\\\n"][self.below(4) as usize]),
                4 => json!(self.below(2) == 0),
                5 => json!({ "$date": "2024-02-29T12:00:00+01:00" }),
                6 => json!(1e21),
                7 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
                _ => {
                    let members = (0..self.below(4)).map(|_| (self.name(), self.value(depth - 1)));
                    Json::Object(members.collect())
                }
            }
        }

        fn name(&mut self) -> String {
            ["a", "b", "c", "ü"][self.below(4) as usize].to_owned()
        }
    }

    #[test]
    fn patched_document_is_canonical() {
        let fresh = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        for seed in [1, fresh] {
            println!("seed {seed}");
            let mut chance = Chance(seed);
            let stamp = stoa_query::Stamp { id: "1", created: 0, updated: 0, owner: Some("o") };
            let (mut document, mut applied) = (r#"{"_id":"1"}"#.to_owned(), 0);
            for _ in 0..5_000 {
                let actions = [
                    "SET_FIELD",
                    "SET_FIELD",
                    "REMOVE_FIELD",
                    "INCREMENT_FIELD",
                    "APPEND_TO_ARRAY",
                    "REMOVE_FROM_ARRAY",
                ];
                let one = |chance: &mut Chance| {
                    let path: Vec<_> = (0..=chance.below(3)).map(|_| chance.name()).collect();
                    let action = actions[chance.below(6) as usize];
                    let value = if action == "INCREMENT_FIELD" { json!(chance.below(9)) } else { chance.value(3) };
                    modification(&path.join("."), action, &value).expect("a modification")
                };
                let list: Vec<_> = (0..=chance.below(3)).map(|_| one(&mut chance)).collect();
                let Ok(item) = apply(&document, &list, &mut PatchBudget::default(), limits()) else { continue };
                applied += 1;
                document = item.document(stamp).expect("a document");
                let again =
                    stoa_query::canonical(&document, limits()).and_then(|it| it.document(stamp)).expect("canonical");
                assert_eq!(again, document, "seed {seed}: {list:?}");
                if document.len() > 4_000 {
                    document = r#"{"_id":"1"}"#.to_owned();
                }
            }
            assert!(applied > 1_000, "seed {seed}: only {applied} were applied");
        }
    }
}
