//! What a definition may say of page links.

use super::pattern::Pattern;
use crate::{
    fault::{Faults, invalid, invalid_as},
    schema::{
        definition::Definition,
        field::{self, Field},
        index::{Index, Status},
        plugin::{self, EDITABLE_PAGE_LINK},
    },
};
use serde_json::Value as Json;
use stoa_kernel::{Code, Fault, Result};

/// Page links of a collection that are calculated: each is made for each item that is read.
const MOST_LINKS: usize = 20;

/// The types of fields that a pattern may name: their values are one text.
const SOURCES: &[&str] =
    &["TEXT", "NUMBER", "BOOLEAN", "DATE", "DATETIME", "TIME", "URL", "SLUG", "EMAIL", "LANGUAGE", "REFERENCE"];

/// Whether a definition may take the place of another, or be the first, as far as page links go. What the one before had
/// of links that can't be calculated may stay, from older versions.
///
/// # Errors
/// WDE0075 and WDE0119 with the path of what is wrong: in the link, also where a field that it names was deleted.
pub(crate) fn check(before: Option<&Definition>, after: &Definition, indexes: &[Index]) -> Result<()> {
    let mut faults = Faults::default();
    let plugin = |it: &Definition| it.plugin(EDITABLE_PAGE_LINK).cloned();
    let says = |name: &str| plugin(after).is_some_and(|it| plugin::option(&it, name) == Some(&Json::Bool(true)));
    if says("isMutable") && !says("isPersisted") && before.is_none_or(|it| plugin(it) != plugin(after)) {
        faults.add(invalid("editablePageLinkOptions.isMutable", "needs isPersisted: what writers set is stored"));
    }
    let calculates = |it: &Definition, key: &str| {
        it.fields.iter().any(|it| field::key(it) == key && field::calculator(it).is_some())
    };
    for (n, it) in after.fields.iter().enumerate() {
        let key = field::key(it);
        if !calculates(after, key) || before.is_some_and(|it| calculates(it, key)) {
            continue;
        }
        let is_of_it = |it: &&Index| it.status != Status::Dropping && it.definition.is_of(key);
        if let Some(index) = indexes.iter().find(is_of_it) {
            let path = format!("collection.fields[{n}].typeMetadata.pageLink.calculator");
            let rule = format!("can't be while the index {} holds the field's values", index.name);
            faults.add(invalid_as(Code::NotSupported, &path, &rule));
        }
    }
    for (n, it) in after.fields.iter().enumerate() {
        let wrong = problems(after, it);
        let is_old = |before: &Definition| before.fields.contains(it) && !problems(before, it).is_empty();
        if !wrong.is_empty() && !before.is_some_and(is_old) {
            wrong.iter().for_each(|problem| faults.add(problem.fault(n)));
        }
    }
    let count = |it: &Definition| it.fields.iter().filter(|it| field::calculator(it).is_some()).count();
    if count(after) > MOST_LINKS && before.is_none_or(|it| count(it) < count(after)) {
        faults
            .add(invalid("collection.fields", &format!("must have at most {MOST_LINKS} page links with a calculator")));
    }
    faults.refuse()
}

/// A pattern whose fields the definition has.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(super) fn pattern(definition: &Definition, text: &str) -> Result<Pattern, String> {
    let pattern = Pattern::parse(text)?;
    for key in pattern.fields().filter(|it| *it != "_id") {
        let Some(named) = definition.fields.iter().find(|it| field::key(it) == key) else {
            return Err(format!("names {key}, which is no field of the collection"));
        };
        if field::is_encrypted(named) {
            return Err(format!("names {key}, which is encrypted"));
        }
        if !SOURCES.contains(&field::kind(named)) {
            let types = SOURCES.join(", ");
            return Err(format!("names {key} of the type {}; it must be one of {types}", field::kind(named)));
        }
    }
    Ok(pattern)
}

/// What is wrong with a field.
struct Problem {
    code: Code,
    /// Of the field.
    member: String,
    rule: String,
}

impl Problem {
    fn fault(&self, n: usize) -> Fault {
        invalid_as(self.code, &format!("collection.fields[{n}].{}", self.member), &self.rule)
    }
}

fn problems(definition: &Definition, field: &Field) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |code, member: &str, rule: &str| {
        problems.push(Problem { code, member: member.to_owned(), rule: rule.to_owned() });
    };
    let metadata = field.get("typeMetadata");
    if metadata.is_some_and(|it| has_inner_calculator(it, 0)) {
        add(Code::NotSupported, "typeMetadata", "must not have a page link with a calculator inside");
    }
    let Some((calculator, options)) = field::calculator(field) else {
        let link = metadata.and_then(|it| it.get("pageLink")).filter(|_| field::kind(field) == field::PAGE_LINK);
        if link.and_then(|it| it.get("pageLinkType")).is_some_and(|it| it == "ROUTER_DEFINED") {
            let rule = "must not be ROUTER_DEFINED without a calculator: this server has no routers with patterns";
            add(Code::NotSupported, "typeMetadata.pageLink.pageLinkType", rule);
        }
        return problems;
    };
    let path = format!("typeMetadata.pageLink.calculator.{calculator}.pattern");
    match options.get("pattern").and_then(Json::as_str).map(|it| pattern(definition, it)) {
        None => add(Code::RequestInvalid, &path, "is missing"),
        Some(Err(rule)) => add(Code::RequestInvalid, &path, &rule),
        Some(Ok(_)) => {}
    }
    if field::is_encrypted(field) {
        add(Code::NotSupported, "encrypted", "can't be for a page link, which is calculated");
    }
    if field.get("required") == Some(&Json::Bool(true)) {
        add(Code::RequestInvalid, "required", "can't be for a page link, which is calculated");
    }
    if field::key(field).starts_with('_') {
        add(Code::RequestInvalid, "key", "must not begin with _ for a page link, which is calculated");
    }
    problems
}

/// Whether the metadata of objects and arrays have a calculator: values inside of others aren't calculated.
fn has_inner_calculator(metadata: &Json, depth: usize) -> bool {
    let is_calculated =
        |it: &Json| it.pointer("/pageLink/calculator").and_then(Json::as_object).is_some_and(|it| !it.is_empty());
    if depth > 0 && is_calculated(metadata) {
        return true;
    }
    let fields = metadata.pointer("/object/fields").and_then(Json::as_array).into_iter().flatten();
    let of_fields = fields.filter_map(|it| it.get("typeMetadata"));
    let mut inner = of_fields.chain(metadata.pointer("/array/typeMetadata"));
    inner.any(|it| has_inner_calculator(it, depth + 1))
}
