//! A plain reading of the stages, of docs/protocol/content.md §3.10, §3.11 and §21.7 alone: every stage makes a new
//! list of rows, and nothing is done early, late or at once. Written without the engine that it measures.

use super::exact;
use serde_json::{Map, Value as Json, json};
use std::{cmp::Ordering, collections::BTreeMap};
use stoa_sql::key;

/// A row, and what decides where no sort does: its item's id or its group's keys, then the places of elements.
#[derive(Clone)]
pub(super) struct Row {
    pub value: Json,
    place: (Vec<String>, Vec<usize>),
    is_group: bool,
}

/// An operand of the wrong kind, a divisor of zero, a number too large.
#[derive(Debug, PartialEq)]
pub(super) struct Wrong;

type Result<T> = std::result::Result<T, Wrong>;

/// All items in the order that counts where no stage gives another: the newest first.
pub(super) fn items(documents: &[Json]) -> Vec<Row> {
    let text = |it: &Json| it.as_str().unwrap_or_default().to_owned();
    let row = |it: &Json| Row { value: it.clone(), place: (vec![text(&it["_id"])], Vec::new()), is_group: false };
    let mut rows: Vec<_> = documents.iter().map(row).collect();
    let at = |it: &Row| (text(&it.value["_createdDate"]["$date"]), it.place.0.clone());
    rows.sort_by_key(|it| std::cmp::Reverse(at(it)));
    rows
}

pub(super) fn run(mut rows: Vec<Row>, stages: &[Json]) -> Result<Vec<Row>> {
    for stage in stages {
        let (name, inner) = stage.as_object().unwrap().iter().next().unwrap();
        rows = match name.as_str() {
            "filter" => rows.into_iter().filter(|it| holds(inner, &it.value)).collect(),
            "limit" => rows.into_iter().take(inner.as_u64().unwrap() as usize).collect(),
            "skip" => rows.into_iter().skip(inner.as_u64().unwrap() as usize).collect(),
            "sort" => sorted(rows, inner["values"].as_array().unwrap()),
            "unwindArray" => rows.iter().flat_map(|it| unwound(it, text(&inner["arrayFieldName"]))).collect(),
            "objectToArray" => {
                for row in &mut rows {
                    let (from, to) = (text(&inner["objectFieldName"]), text(&inner["destinationFieldName"]));
                    match field(from, &row.value) {
                        None | Some(Json::Null) => {}
                        Some(Json::Object(it)) if !it.contains_key("$date") => {
                            let pairs = it.iter().map(|(k, v)| json!({ "k": k, "v": v })).collect();
                            row.value[to] = Json::Array(pairs);
                        }
                        Some(_) => return Err(Wrong),
                    }
                }
                rows
            }
            "projection" => {
                let fields = inner["fields"].as_array().unwrap();
                for row in &mut rows {
                    row.value = projected(fields, &row.value, &row.value, true)?.unwrap();
                }
                rows
            }
            "group" => grouped(&rows, inner)?,
            it => panic!("{it}"),
        };
    }
    Ok(rows)
}

/// The older form.
pub(super) fn aggregate(rows: Vec<Row>, request: &Json) -> Result<Vec<Row>> {
    let rows = run(rows, &[json!({ "filter": request["initialFilter"] })])?;
    let of = |it: &Json| json!({ "fieldPath": it });
    let fields = request["aggregation"]["groupingFields"].as_array().unwrap();
    let keys: Vec<_> = fields.iter().map(|it| json!({ "key": it, "expression": of(it) })).collect();
    let operations = request["aggregation"]["operations"].as_array().unwrap().iter().map(|it| {
        let mut accumulator = json!({ "resultFieldName": it["resultFieldName"] });
        for (name, own) in [("sum", "sum"), ("average", "avg"), ("min", "min"), ("max", "max")] {
            if let Some(it) = it.get(name) {
                accumulator[own] = json!({ "expression": of(&it["itemFieldName"]) });
            }
        }
        if it.get("itemCount").is_some() {
            accumulator["sum"] = json!({ "expression": { "numeric": 1 } });
        }
        accumulator
    });
    let group = json!({ "groupIds": keys, "accumulators": operations.collect::<Vec<_>>() });
    let mut groups = grouped(&rows, &group)?;
    if groups.is_empty() && fields.is_empty() {
        // One group of no items: an item that no sum, count or comparison takes notice of, taken out of the counts.
        let mut none = grouped(&[Row { value: json!({}), place: Default::default(), is_group: false }], &group)?;
        for it in request["aggregation"]["operations"].as_array().unwrap() {
            if it.get("itemCount").is_some() {
                none[0].value[text(&it["resultFieldName"])] = json!(0);
            }
        }
        groups = none;
    }
    for row in &mut groups {
        let mut value = json!({ "_id": row.value["_id"] });
        for (name, it) in row.value["_id"].as_object().unwrap() {
            value[name] = it.clone();
        }
        for (name, it) in row.value.as_object().unwrap().iter().filter(|it| it.0 != "_id") {
            value[name] = it.clone();
        }
        row.value = value;
    }
    groups.retain(|it| holds(&request["finalFilter"], &it.value));
    match request["sort"].as_array() {
        Some(keys) if !keys.is_empty() => Ok(sorted(groups, keys)),
        _ => Ok(groups),
    }
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap()
}

/// Values at a path, in every element of arrays on the way.
fn leaves<'v>(path: &[&str], value: &'v Json) -> Vec<&'v Json> {
    let Some((name, rest)) = path.split_first() else { return vec![value] };
    match value {
        Json::Array(list) => list.iter().filter(|it| it.is_object()).flat_map(|it| leaves(path, it)).collect(),
        it => it.get(name).map_or_else(Vec::new, |it| leaves(rest, it)),
    }
}

/// The names of a path, unless it is a name as it is.
fn names<'p>(path: &'p str, row: &Json) -> Vec<&'p str> {
    if row.get(path).is_some() { vec![path] } else { path.split('.').collect() }
}

/// The value of a path: a list where it leads through arrays.
fn field(path: &str, row: &Json) -> Option<Json> {
    let names: Vec<_> = path.split('.').collect();
    let (mut here, mut passed_array) = (row, false);
    for name in &names {
        if here.is_array() {
            passed_array = true;
            break;
        }
        here = here.get(name)?;
    }
    if !passed_array {
        return Some(here.clone());
    }
    let found = leaves(&names, row);
    (!found.is_empty()).then(|| found.into_iter().cloned().collect())
}

/// The filters that the random pipelines use: comparisons of scalars, `$and`, `$or`, `$not`.
fn holds(filter: &Json, row: &Json) -> bool {
    let Some(members) = filter.as_object() else { return true };
    members.iter().all(|(name, it)| match name.as_str() {
        "$and" => it.as_array().unwrap().iter().all(|it| holds(it, row)),
        "$or" => it.as_array().unwrap().iter().any(|it| holds(it, row)),
        "$not" => !holds(it, row),
        path => {
            let found = leaves(&names(path, row), row);
            let each = || {
                found
                    .iter()
                    .flat_map(|it| [vec![*it], it.as_array().map_or(Vec::new(), |it| it.iter().collect())].concat())
            };
            match it.as_object().filter(|it| !it.contains_key("$date")) {
                None if it.is_null() => found.is_empty() || found.iter().any(|it| it.is_null()),
                None => each().any(|value| key::own_of(value) == key::own_of(it)),
                Some(it) => it.iter().all(|(operator, operand)| {
                    let kind = |it: &Json| key::own_of(it).chars().next();
                    let mut same = each().filter(|it| kind(it) == kind(operand));
                    let order = |it: &Json| key::own_of(it).cmp(&key::own_of(operand));
                    match operator.as_str() {
                        "$gt" => same.any(|it| order(it).is_gt()),
                        "$gte" => same.any(|it| order(it).is_ge()),
                        "$lt" => same.any(|it| order(it).is_lt()),
                        "$exists" => found.is_empty() != operand.as_bool().unwrap(),
                        it => panic!("{it}"),
                    }
                }),
            }
        }
    })
}

/// Each field is a key once, as it is named first.
fn sorted(mut rows: Vec<Row>, keys: &[Json]) -> Vec<Row> {
    let is_first = |n: usize| keys[..n].iter().all(|it| it["fieldName"] != keys[n]["fieldName"]);
    let keys: Vec<_> = (0..keys.len()).filter(|n| is_first(*n)).map(|n| &keys[n]).collect();
    let is_down = |it: &Json| it.get("order").is_some_and(|it| it == "DESC");
    let key_of = |row: &Row, key: &Json| {
        let found = leaves(&names(text(&key["fieldName"]), &row.value), &row.value);
        match is_down(key) {
            true => found.into_iter().map(key::greatest_of).max().unwrap_or_default(),
            false => found.into_iter().map(key::least_of).min().unwrap_or_default(),
        }
    };
    rows.sort_by(|a, b| {
        let turned = |order: Ordering, turn: bool| if turn { order.reverse() } else { order };
        let by_key = keys.iter().map(|it| turned(key_of(a, it).cmp(&key_of(b, it)), is_down(it)));
        let by_key = by_key.fold(Ordering::Equal, Ordering::then);
        let turn = !a.is_group && is_down(keys[keys.len() - 1]);
        by_key.then(turned(a.place.0.cmp(&b.place.0), turn)).then(a.place.1.cmp(&b.place.1))
    });
    rows
}

fn unwound(row: &Row, path: &str) -> Vec<Row> {
    let pointer = format!("/{}", path.replace('.', "/"));
    match row.value.pointer(&pointer) {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(list)) => {
            let each = list.iter().enumerate().map(|(n, element)| {
                let mut next = row.clone();
                *next.value.pointer_mut(&pointer).unwrap() = element.clone();
                next.place.1.push(n);
                next
            });
            each.collect()
        }
        Some(_) => vec![row.clone()],
    }
}

fn projected(fields: &[Json], own: &Json, row: &Json, is_root: bool) -> Result<Option<Json>> {
    let all = |name: &str| fields.iter().filter_map(|it| it.get(name)).collect::<Vec<_>>();
    let (includes, excludes) = (all("include"), all("exclude"));
    if let (Json::Array(list), false) = (own, is_root) {
        let each: Result<Vec<_>> = list.iter().map(|it| projected(fields, it, row, false)).collect();
        return Ok(Some(each?.into_iter().flatten().collect()));
    }
    let is_object = own.is_object() && own.get("$date").is_none();
    let makes = fields.iter().any(|it| it.get("reshape").or(it.get("projectNested")).is_some());
    if !is_object && !makes {
        return Ok(None);
    }
    let mut kept = if is_object { own.clone() } else { json!({}) };
    if !includes.is_empty() || excludes.is_empty() {
        let mut paths: Vec<Vec<&str>> = includes.iter().map(|it| text(&it["fieldName"]).split('.').collect()).collect();
        if is_root {
            paths.push(vec!["_id"]);
        }
        kept = only(&kept, &paths).unwrap_or(json!({}));
    }
    for it in excludes {
        let path: Vec<_> = text(&it["fieldName"]).split('.').collect();
        without(&mut kept, &path);
    }
    let kept_members = kept.as_object_mut().unwrap();
    for it in fields {
        let (name, made) = if let Some(it) = it.get("reshape") {
            (text(&it["resultFieldName"]), value(&it["expression"], row)?)
        } else if let Some(it) = it.get("projectNested") {
            let name = text(&it["resultFieldName"]);
            let inner = own.get(name).unwrap_or(&Json::Null);
            (name, projected(it["fields"].as_array().unwrap(), inner, row, false)?)
        } else {
            continue;
        };
        kept_members.shift_remove(name);
        if let Some(it) = made {
            kept_members.insert(name.to_owned(), it);
        }
    }
    Ok(Some(kept))
}

/// What some paths leave of an object.
fn only(value: &Json, paths: &[Vec<&str>]) -> Option<Json> {
    if paths.iter().any(Vec::is_empty) {
        return Some(value.clone());
    }
    match value {
        Json::Array(list) => Some(list.iter().filter_map(|it| only(it, paths)).collect()),
        Json::Object(members) if !members.contains_key("$date") => {
            let mut kept = Map::new();
            for (name, it) in members {
                let here = paths.iter().filter(|path| path[0] == name);
                let rest: Vec<Vec<&str>> = here.map(|path| path[1..].to_vec()).collect();
                if let Some(it) = Some(it).filter(|_| !rest.is_empty()).and_then(|it| only(it, &rest)) {
                    kept.insert(name.clone(), it);
                }
            }
            Some(Json::Object(kept))
        }
        _ => None,
    }
}

fn without(value: &mut Json, path: &[&str]) {
    match value {
        Json::Array(list) => list.iter_mut().for_each(|it| without(it, path)),
        Json::Object(members) if path.len() == 1 => {
            members.shift_remove(path[0]);
        }
        Json::Object(members) => {
            if let Some(it) = members.get_mut(path[0]) {
                without(it, &path[1..]);
            }
        }
        _ => {}
    }
}

/// The keys of a group as they are shown, and its rows.
type Members<'r> = (Map<String, Json>, Vec<&'r Row>);

fn grouped(rows: &[Row], group: &Json) -> Result<Vec<Row>> {
    let none = Vec::new();
    let keys = group["groupIds"].as_array().unwrap_or(&none);
    let mut groups: BTreeMap<Vec<String>, Members<'_>> = BTreeMap::new();
    for row in rows {
        let mut values = Map::new();
        for it in keys {
            values.insert(text(&it["key"]).to_owned(), value(&it["expression"], &row.value)?.unwrap_or(Json::Null));
        }
        let place = values.values().map(|it| key::bounded(key::own_of(it))).collect();
        let known = groups.entry(place).or_insert_with(|| (values.clone(), Vec::new()));
        for (name, it) in values {
            // Of objects that are equal in all but the order of their members one is shown.
            if (it.is_object() || it.is_array()) && printed(&it) < printed(&known.0[&name]) {
                known.0[&name] = it;
            }
        }
        known.1.push(row);
    }
    let mut results = Vec::new();
    for (place, (values, rows)) in groups {
        let mut result = json!({ "_id": values });
        for it in group["accumulators"].as_array().unwrap_or(&none) {
            result[text(&it["resultFieldName"])] = accumulated(it, &rows)?;
        }
        results.push(Row { value: result, place: (place, Vec::new()), is_group: true });
    }
    Ok(results)
}

fn accumulated(accumulator: &Json, rows: &[&Row]) -> Result<Json> {
    let (name, inner) = accumulator.as_object().unwrap().iter().find(|it| it.0 != "resultFieldName").unwrap();
    let values: Result<Vec<Option<Json>>> = rows.iter().map(|it| value(&inner["expression"], &it.value)).collect();
    let values = values?;
    let numbers: Vec<f64> = values.iter().flatten().filter_map(Json::as_f64).collect();
    let finite = |it: f64| if it.is_finite() { Ok(it) } else { Err(Wrong) };
    let extreme = |is_max: bool| {
        let counted = values.iter().flatten().filter(|it| !key::least_of(it).is_empty());
        let rank = |it: &Json| if is_max { key::greatest_of(it) } else { key::least_of(it) };
        let best = counted.min_by(|a, b| {
            let order = rank(a).cmp(&rank(b));
            (if is_max { order.reverse() } else { order }).then_with(|| printed(a).cmp(&printed(b)))
        });
        best.cloned().unwrap_or(Json::Null)
    };
    Ok(match name.as_str() {
        "sum" => json!(finite(exact::sum(&numbers))?),
        "avg" if numbers.is_empty() => Json::Null,
        "avg" => json!(finite(finite(exact::sum(&numbers))? / numbers.len() as f64)?),
        "min" => extreme(false),
        "max" => extreme(true),
        "first" => values.first().cloned().flatten().unwrap_or_default(),
        "last" => values.last().cloned().flatten().unwrap_or_default(),
        "push" => values.into_iter().flatten().collect(),
        it => panic!("{it}"),
    })
}

/// A number as the server prints it; those that texts are made of need no exponent.
fn number(it: f64) -> String {
    let is_plain = it == 0.0 || (1e-6..1e21).contains(&it.abs());
    if it == 0.0 {
        "0".to_owned()
    } else if is_plain {
        it.to_string()
    } else {
        format!("{it:e}")
    }
}

/// Canonical text.
pub(super) fn printed(value: &Json) -> String {
    match value {
        Json::Number(it) => number(it.as_f64().unwrap()),
        Json::Array(list) => format!("[{}]", list.iter().map(printed).collect::<Vec<_>>().join(",")),
        Json::Object(members) => {
            let member = |(name, it): (&String, &Json)| format!("{}:{}", json!(name), printed(it));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
        it => it.to_string(),
    }
}

pub(super) fn value(expression: &Json, row: &Json) -> Result<Option<Json>> {
    let (name, it) = expression.as_object().unwrap().iter().next().unwrap();
    let all = || it["expressions"].as_array().unwrap().iter().map(|it| value(it, row)).collect::<Result<Vec<_>>>();
    let one = |name: &str| value(&it[name], row);
    let number = |it: &Option<Json>| match it {
        None | Some(Json::Null) => Ok(None),
        Some(it) => it.as_f64().map(Some).ok_or(Wrong),
    };
    let string = |it: &Option<Json>| match it {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(it)) => Ok(Some(it.clone())),
        Some(_) => Err(Wrong),
    };
    let made = |it: Option<f64>| match it {
        None => Ok(Json::Null),
        Some(it) if it.is_finite() => Ok(json!(it + 0.0)),
        Some(_) => Err(Wrong),
    };
    Ok(Some(match name.as_str() {
        "fieldPath" => return Ok(field(text(it), row)),
        "text" | "numeric" => it.clone(),
        "add" | "sum" | "multiply" => {
            let numbers = all()?.iter().map(number).collect::<Result<Vec<_>>>()?;
            let numbers: Option<Vec<f64>> = numbers.into_iter().collect();
            made(
                numbers
                    .map(|it| if name == "multiply" { it.iter().product() } else { it.iter().fold(0.0, |a, b| a + b) }),
            )?
        }
        "concat" => {
            let texts = all()?.iter().map(string).collect::<Result<Vec<_>>>()?;
            texts.into_iter().collect::<Option<Vec<_>>>().map_or(Json::Null, |it| json!(it.concat()))
        }
        "subtract" | "divide" | "mod" => {
            let both = (number(&one("firstExpression")?)?, number(&one("secondExpression")?)?);
            let (Some(a), Some(b)) = both else { return Ok(Some(Json::Null)) };
            if name != "subtract" && b == 0.0 {
                return Err(Wrong);
            }
            made(Some(match name.as_str() {
                "subtract" => a - b,
                "divide" => a / b,
                _ => a % b,
            }))?
        }
        "abs" => made(number(&one("expression")?)?.map(f64::abs))?,
        "floor" => made(number(&one("expression")?)?.map(f64::floor))?,
        "ceil" => made(number(&one("expression")?)?.map(f64::ceil))?,
        "toLower" => string(&one("expression")?)?.map_or(Json::Null, |it| json!(it.to_lowercase())),
        "toUpper" => string(&one("expression")?)?.map_or(Json::Null, |it| json!(it.to_uppercase())),
        "length" => string(&one("expression")?)?.map_or(Json::Null, |it| json!(it.chars().count())),
        "stringify" => match one("expression")? {
            None | Some(Json::Null) => Json::Null,
            Some(Json::String(it)) => json!(it),
            Some(it) if it.get("$date").is_some() => it["$date"].clone(),
            Some(it) => json!(printed(&it)),
        },
        "substring" => {
            let (it, start) = (string(&one("expression")?)?, number(&one("startExpression")?)?);
            let length = match expression["substring"].get("lengthExpression") {
                None => Some(f64::MAX),
                Some(it) => number(&value(it, row)?)?,
            };
            let (Some(it), Some(start), Some(length)) = (it, start, length) else { return Ok(Some(Json::Null)) };
            if start.trunc() < 0.0 || length.trunc() < 0.0 {
                return Err(Wrong);
            }
            json!(it.chars().skip(start as usize).take(length as usize).collect::<String>())
        }
        it => panic!("{it}"),
    }))
}
