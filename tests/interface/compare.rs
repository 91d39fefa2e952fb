//! What a newer document takes from callers that an older one gave them.
//!
//! Schemas are compared without asking whether they are taken or answered: a type, a value or a member that is gone
//! breaks the one or the other. Only what must be there depends on it, and is compared in both directions.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What is gone or narrower, each by a name that the changelog can have: `itemInsert`, `itemInsert ?fieldName`,
/// `Member.slug`.
pub(super) fn losses(older: &Value, newer: &Value) -> BTreeSet<String> {
    let mut losses = BTreeSet::new();
    let (ours, theirs) = (operations(newer), operations(older));
    for (id, (address, operation)) in &theirs {
        match ours.iter().find(|it| it.0 == *id) {
            None => {
                losses.insert(id.clone());
            }
            Some((_, (now, _))) if now != address => {
                losses.insert(format!("{id} {address}"));
            }
            Some((_, (_, now))) => of_operation(id, operation, now, &mut losses),
        }
    }
    let nothing = Map::new();
    let (ours, theirs) = (schemas(newer).unwrap_or(&nothing), schemas(older).unwrap_or(&nothing));
    for (name, schema) in theirs {
        match ours.get(name) {
            None => {
                losses.insert(name.clone());
            }
            Some(now) => of_schema(name, schema, now, &mut losses),
        }
    }
    losses
}

/// Operations by their ids, with method and path.
fn operations(document: &Value) -> Vec<(String, (String, &Value))> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let each = paths.flat_map(|(path, methods)| {
        methods.as_object().into_iter().flatten().map(move |(method, operation)| {
            let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
            (id, (format!("{} {path}", method.to_uppercase()), operation))
        })
    });
    each.collect()
}

fn schemas(document: &Value) -> Option<&Map<String, Value>> {
    document["components"]["schemas"].as_object()
}

fn of_operation(id: &str, older: &Value, newer: &Value, losses: &mut BTreeSet<String>) {
    let parameters = |it: &Value| it["parameters"].as_array().cloned().unwrap_or_default();
    let named = |list: &[Value], name: &Value| list.iter().find(|it| it["name"] == *name).cloned();
    let (ours, theirs) = (parameters(newer), parameters(older));
    for parameter in &theirs {
        let name = format!("{id} ?{}", parameter["name"].as_str().unwrap_or_default());
        match named(&ours, &parameter["name"]) {
            None => {
                losses.insert(name);
            }
            Some(now) => of_schema(&name, &parameter["schema"], &now["schema"], losses),
        }
    }
    for parameter in ours.iter().filter(|it| it["required"] == true) {
        if named(&theirs, &parameter["name"]).is_none_or(|it| it["required"] != true) {
            losses.insert(format!("{id} ?{}", parameter["name"].as_str().unwrap_or_default()));
        }
    }
    if newer["requestBody"]["required"] == true && older["requestBody"]["required"] != true {
        losses.insert(format!("{id} body"));
    }
    of_content(&format!("{id} body"), &older["requestBody"]["content"], &newer["requestBody"]["content"], losses);
    for (status, answer) in older["responses"].as_object().into_iter().flatten() {
        let (name, now) = (format!("{id} {status}"), &newer["responses"][status]);
        // A refusal that is not made any more breaks no caller.
        if now.is_null() && status.as_str() < "400" {
            losses.insert(name);
        } else if !now.is_null() {
            of_content(&name, &answer["content"], &now["content"], losses);
        }
    }
    let names = |it: &Value, member: &str| it[member].as_array().cloned().unwrap_or_default();
    for alias in names(older, "x-aliases").iter().filter(|it| !names(newer, "x-aliases").contains(it)) {
        losses.insert(format!("{id} {}", alias.as_str().unwrap_or_default()));
    }
}

fn of_content(name: &str, older: &Value, newer: &Value, losses: &mut BTreeSet<String>) {
    for (media, content) in older.as_object().into_iter().flatten() {
        match &newer[media]["schema"] {
            Value::Null => {
                losses.insert(format!("{name} {media}"));
            }
            now => of_schema(name, &content["schema"], now, losses),
        }
    }
}

fn of_schema(name: &str, older: &Value, newer: &Value, losses: &mut BTreeSet<String>) {
    if older == newer {
        return;
    }
    let mut lose = |what: String| {
        losses.insert(what);
    };
    if is_anything(older) && !is_anything(newer) || reference(older) != reference(newer) {
        lose(name.to_owned());
        return;
    }
    if is_anything(newer) {
        return;
    }
    let (ours, theirs) = (types(newer), types(older));
    if !ours.is_empty() && (theirs.is_empty() || !theirs.is_subset(&ours)) {
        lose(format!("{name}: {}", theirs.difference(&ours).cloned().collect::<Vec<_>>().join(" ")));
    }
    for value in values(older).iter().filter(|it| values(newer).is_empty() || !values(newer).contains(it)) {
        if !values(newer).is_empty() {
            lose(format!("{name}: {}", text(value)));
        }
    }
    if values(older).is_empty() && !values(newer).is_empty() {
        lose(format!("{name}: values"));
    }
    for (bound, is_narrower) in BOUNDS {
        if is_narrower(number(older, bound), number(newer, bound)) {
            lose(format!("{name}: {bound}"));
        }
    }
    for rule in ["pattern", "format"] {
        if !newer[rule].is_null() && newer[rule] != older[rule] {
            lose(format!("{name}: {rule}"));
        }
    }
    let closed = |it: &Value| it["additionalProperties"] == false;
    if closed(newer) && !closed(older) {
        lose(format!("{name}: additionalProperties"));
    }
    let (required, was_required) = (strings(newer, "required"), strings(older, "required"));
    for member in required.symmetric_difference(&was_required) {
        // Whether it is one that calls must send or one that they rely on, the schema alone doesn't say.
        let is_new = newer["properties"].get(member).is_some() && older["properties"].get(member).is_none();
        let is_answered = name.ends_with("Response");
        if !(is_new && is_answered) {
            lose(format!("{name}.{member}: required"));
        }
    }
    for (member, schema) in older["properties"].as_object().into_iter().flatten() {
        match newer["properties"].get(member) {
            None => lose(format!("{name}.{member}")),
            Some(now) => {
                let mut inner = BTreeSet::new();
                of_schema(&format!("{name}.{member}"), schema, now, &mut inner);
                inner.into_iter().for_each(&mut lose);
            }
        }
    }
    let mut inner = BTreeSet::new();
    if older["items"].is_object() || newer["items"].is_object() {
        of_schema(&format!("{name}[]"), &older["items"], &newer["items"], &mut inner);
    }
    for some in ["anyOf", "oneOf", "allOf"] {
        let (ours, theirs) = (&newer[some], &older[some]);
        // One that has only grown is there still.
        let keeps = |now: &Value, it: &Value| {
            let mut narrower = BTreeSet::new();
            of_schema(name, it, now, &mut narrower);
            narrower.is_empty()
        };
        let is_kept = |now: &Value, it: &Value| now == it || some != "allOf" && keeps(now, it);
        let is_lost = |it: &&Value| !ours.as_array().is_some_and(|ours| ours.iter().any(|now| is_kept(now, it)));
        if some == "allOf" && ours.as_array().map(Vec::len) > theirs.as_array().map(Vec::len) {
            inner.insert(format!("{name}: {some}"));
        }
        inner.extend(theirs.as_array().into_iter().flatten().filter(is_lost).map(|it| format!("{name}: {}", text(it))));
    }
    inner.into_iter().for_each(lose);
}

/// A bound, and whether the newer one leaves less room than the older.
type Bound = (&'static str, fn(Option<f64>, Option<f64>) -> bool);

const BOUNDS: [Bound; 6] = [
    ("minimum", is_above),
    ("minLength", is_above),
    ("minItems", is_above),
    ("maximum", is_below),
    ("maxLength", is_below),
    ("maxItems", is_below),
];

fn is_above(older: Option<f64>, newer: Option<f64>) -> bool {
    newer.is_some_and(|newer| older.is_none_or(|older| newer > older))
}

fn is_below(older: Option<f64>, newer: Option<f64>) -> bool {
    newer.is_some_and(|newer| older.is_none_or(|older| newer < older))
}

fn number(schema: &Value, name: &str) -> Option<f64> {
    schema[name].as_f64()
}

/// Whether a schema says nothing of values.
fn is_anything(schema: &Value) -> bool {
    const RULES: [&str; 9] = ["$ref", "type", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "required"];
    !RULES.iter().any(|it| schema.get(*it).is_some()) && *schema != Value::Bool(false)
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()
}

/// The types of a schema; a number may be whole.
fn types(schema: &Value) -> BTreeSet<String> {
    let mut types = strings(schema, "type");
    types.extend(schema["type"].as_str().map(str::to_owned));
    if types.contains("number") {
        types.insert("integer".to_owned());
    }
    types
}

fn values(schema: &Value) -> Vec<Value> {
    let constant = schema.get("const").cloned();
    schema["enum"].as_array().cloned().unwrap_or_default().into_iter().chain(constant).collect()
}

fn strings(schema: &Value, name: &str) -> BTreeSet<String> {
    schema[name].as_array().into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({
            "paths": { "/a/{id}": { "post": {
                "operationId": "thingMake", "x-aliases": ["/b/{id}"],
                "parameters": [{ "name": "order", "in": "query", "schema": { "type": "string", "enum": ["ASC", "DESC"] } }],
                "requestBody": { "required": false, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Thing" } } } },
                "responses": { "200": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ThingResponse" } } } }, "404": {} },
            } } },
            "components": { "schemas": {
                "Thing": {
                    "type": "object", "required": ["name"],
                    "properties": {
                        "name": { "type": "string", "maxLength": 10 }, "size": { "type": ["number", "null"] },
                        "kinds": { "type": "array", "items": { "enum": ["A", "B"] } }, "rest": {},
                        "one": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
                    },
                },
                "ThingResponse": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } }, "additionalProperties": false },
            } },
        })
    }

    /// What the document loses when the value at a pointer becomes another; `null` takes it away.
    fn lost(pointer: &str, value: Value) -> Vec<String> {
        let mut newer = document();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let name = name.replace("~1", "/");
        let parent = newer.pointer_mut(parent).unwrap();
        match (parent, value.is_null()) {
            (Value::Object(members), true) => {
                members.shift_remove(&name);
            }
            (Value::Object(members), false) => {
                members.insert(name, value);
            }
            (other, _) => panic!("{other}"),
        }
        losses(&document(), &newer).into_iter().collect()
    }

    #[test]
    fn nothing_is_lost_by_what_is_added() {
        const THING: &str = "/components/schemas/Thing/properties";
        assert!(losses(&document(), &document()).is_empty());
        for (pointer, value) in [
            ("/components/schemas/Other", json!({})),
            (&format!("{THING}/more"), json!({ "type": "string" })),
            (&format!("{THING}/name/maxLength"), json!(20)),
            (&format!("{THING}/size/type"), json!(["number", "null", "string"])),
            (&format!("{THING}/kinds/items/enum"), json!(["A", "B", "C"])),
            (&format!("{THING}/one/anyOf"), json!([{ "type": "string" }, { "type": "integer" }, { "type": "null" }])),
            (&format!("{THING}/one/anyOf"), json!([{ "type": "string" }, { "type": "number" }])),
            ("/paths/~1a~1{id}/post/responses/409", json!({})),
            ("/paths/~1a~1{id}/post/responses/404", Value::Null),
            ("/paths/~1c", json!({ "get": { "operationId": "thingGet" } })),
        ] {
            assert!(lost(pointer, value).is_empty(), "{pointer}");
        }
        let mut newer = document();
        let response = &mut newer["components"]["schemas"]["ThingResponse"];
        response["properties"]["made"] = json!({ "type": "string" });
        response["required"] = json!(["id", "made"]);
        assert!(losses(&document(), &newer).is_empty(), "an answer has one more");
    }

    #[test]
    fn what_is_gone_or_narrower_is_named() {
        const THING: &str = "/components/schemas/Thing/properties";
        const POST: &str = "/paths/~1a~1{id}/post";
        for (pointer, value, name) in [
            ("/paths/~1a~1{id}", Value::Null, "thingMake"),
            (&format!("{POST}/x-aliases"), json!([]), "thingMake /b/{id}"),
            (&format!("{POST}/parameters"), json!([]), "thingMake ?order"),
            (&format!("{POST}/requestBody/required"), json!(true), "thingMake body"),
            (&format!("{POST}/requestBody/content"), json!({}), "thingMake body application/json"),
            (&format!("{POST}/responses/200"), Value::Null, "thingMake 200"),
            ("/components/schemas/ThingResponse", Value::Null, "ThingResponse"),
            (&format!("{THING}/name"), Value::Null, "Thing.name"),
            (&format!("{THING}/name/maxLength"), json!(5), "Thing.name: maxLength"),
            (&format!("{THING}/name/pattern"), json!("^x"), "Thing.name: pattern"),
            (&format!("{THING}/size/type"), json!("number"), "Thing.size: null"),
            (&format!("{THING}/size/type"), json!(["integer", "null"]), "Thing.size: number"),
            (&format!("{THING}/size/minimum"), json!(0), "Thing.size: minimum"),
            (&format!("{THING}/kinds/items/enum"), json!(["A"]), "Thing.kinds[]: B"),
            (&format!("{THING}/name/enum"), json!(["x"]), "Thing.name: values"),
            (&format!("{THING}/rest"), json!({ "type": "string" }), "Thing.rest"),
            (&format!("{THING}/one/anyOf"), json!([{ "type": "string" }]), "Thing.one: {\"type\":\"integer\"}"),
            ("/components/schemas/Thing/required", json!([]), "Thing.name: required"),
            ("/components/schemas/Thing/required", json!(["name", "size"]), "Thing.size: required"),
            ("/components/schemas/Thing/additionalProperties", json!(false), "Thing: additionalProperties"),
            ("/components/schemas/ThingResponse/required", json!([]), "ThingResponse.id: required"),
        ] {
            assert_eq!(lost(pointer, value), [name], "{pointer}");
        }
        let narrowed = json!([{ "name": "order", "in": "query", "schema": { "type": "string", "enum": ["ASC"] } }]);
        assert_eq!(lost(&format!("{POST}/parameters"), narrowed), ["thingMake ?order: DESC"]);
        let demanded = json!([
            { "name": "order", "in": "query", "required": true, "schema": { "type": "string", "enum": ["ASC", "DESC"] } },
            { "name": "new", "in": "query", "required": true, "schema": { "type": "string" } },
        ]);
        assert_eq!(lost(&format!("{POST}/parameters"), demanded), ["thingMake ?new", "thingMake ?order"]);
        let moved = lost("/paths", json!({ "/c": document()["paths"]["/a/{id}"] }));
        assert_eq!(moved, ["thingMake POST /a/{id}"]);
    }
}
