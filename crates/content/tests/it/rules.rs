//! `strictMode`, defaults, and the rules of fields.

use crate::common::*;
use serde_json::{Value, json};
use stoa_content::Request;
use stoa_kernel::{Fault, Result};
use stoa_testkit::on_both_engines;

/// A collection `c` that is open to everyone.
async fn with(world: &World, fields: Value, is_strict: bool) -> Result<Value> {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let object = json!({ "id": "c", "fields": fields, "dataPermissions": levels, "strictMode": is_strict });
    world.content.collection_create(&world.site, &owner(), &object).await
}

/// `field RULE` for everything that was broken.
fn broken<T>(result: Result<T>) -> String {
    let Err(fault) = result else { return "ok".to_owned() };
    assert_eq!(fault.code().name(), "WDE0075", "{fault}");
    let one = |it: &stoa_kernel::fault::Violation| format!("{} {}", it.field, it.violated_rule);
    fault.violations().iter().map(one).collect::<Vec<_>>().join(", ")
}

async fn patch(world: &World, id: &str, path: &str, value: Option<Value>) -> Result<Value> {
    let change = match value {
        Some(value) => json!({ "fieldPath": path, "action": "SET_FIELD", "setFieldOptions": { "value": value } }),
        None => json!({ "fieldPath": path, "action": "REMOVE_FIELD" }),
    };
    let body =
        json!({ "dataCollectionId": "c", "patch": { "dataItemId": id, "fieldModifications": [change] } }).to_string();
    let item = world.content.item_patch(&world.site, &visitor("v"), &Request::parse(body.as_bytes())?).await?;
    Ok(serde_json::from_str(&item.doc).unwrap())
}

/// A field's type and options, values that it takes, and values with the rule that each breaks.
type Row = (Value, Vec<Value>, Vec<(Value, &'static str)>);

fn table() -> Vec<Row> {
    let text = |options: Value| json!({ "type": "TEXT", "typeMetadata": { "text": options } });
    let plain = |kind: &str| json!({ "type": kind });
    let date = |it: &str| json!({ "$date": it });
    let mut rows = vec![
        (
            plain("TEXT"),
            vec![json!("x"), json!("")],
            vec![(json!(1), "x TYPE"), (json!(["x"]), "x TYPE"), (date("2024-01-01"), "x TYPE")],
        ),
        (
            text(json!({ "textValidation": { "minLength": 2, "maxLength": 3 } })),
            vec![json!("ab"), json!("äö😀")],
            vec![(json!("a"), "x MIN_LENGTH"), (json!("abcd"), "x MAX_LENGTH"), (json!(""), "x MIN_LENGTH")],
        ),
        (
            text(json!({ "textValidation": { "pattern": "^[a-z]+\\d?$" } })),
            vec![json!("ab1")],
            vec![(json!("ab12"), "x PATTERN"), (json!("x".repeat(20_000)), "x PATTERN")],
        ),
        (
            text(json!({ "enumValues": { "values": ["red", "green"] } })),
            vec![json!("red")],
            vec![(json!("Red"), "x ENUM"), (json!(1), "x TYPE")],
        ),
        (
            json!({ "type": "TEXT", "stringLengthRange": { "minLength": 1, "maxLength": 2 } }),
            vec![json!("a")],
            vec![(json!(""), "x MIN_LENGTH"), (json!("abc"), "x MAX_LENGTH")],
        ),
        (
            json!({ "type": "NUMBER", "typeMetadata": { "number": { "min": 1, "max": "Infinity" } } }),
            vec![json!(1), json!(1e300)],
            vec![(json!(0.5), "x MIN"), (json!("1"), "x TYPE"), (json!(true), "x TYPE")],
        ),
        (
            json!({ "type": "NUMBER", "numberRange": { "min": "-Infinity", "max": 10 } }),
            vec![json!(-5), json!(10)],
            vec![(json!(10.5), "x MAX")],
        ),
        (plain("BOOLEAN"), vec![json!(true)], vec![(json!("true"), "x TYPE"), (json!(0), "x TYPE")]),
        (
            plain("DATE"),
            vec![json!("2024-02-29")],
            vec![
                (json!("2024-00-15"), "x TYPE"),
                (json!("2023-02-29"), "x TYPE"),
                (json!("2024-01-01T00:00:00Z"), "x TYPE"),
                (date("2024-01-01"), "x TYPE"),
            ],
        ),
        (
            json!({ "type": "DATE", "typeMetadata": { "date": { "minDateFixed": "2024-01-10T00:00:00.000Z", "maxValueOffsetFromNowInDays": 1 } } }),
            vec![json!("2024-01-10"), json!("2026-01-02")],
            vec![(json!("2024-01-09"), "x MIN"), (json!("2026-01-03"), "x MAX")],
        ),
        (
            plain("DATETIME"),
            vec![date("2024-01-01T10:00:00Z")],
            vec![(json!("2024-01-01"), "x TYPE"), (json!(1), "x TYPE")],
        ),
        (
            json!({ "type": "DATETIME", "typeMetadata": { "datetime": { "minDateOffsetFromNowInSeconds": -60, "maxDateFixed": "2026-06-01T00:00:00.000Z" } } }),
            vec![date("2025-12-31T23:59:00Z"), date("2026-06-01")],
            vec![(date("2025-12-31T23:58:59.999Z"), "x MIN"), (date("2026-06-01T00:00:00.001Z"), "x MAX")],
        ),
        (
            json!({ "type": "TIME", "typeMetadata": { "time": { "minTime": "09:00", "maxTime": "17:30" } } }),
            vec![json!("09:00:00.000"), json!("17:30"), json!("12:00:30")],
            vec![
                (json!("08:59:59.999"), "x MIN"),
                (json!("17:30:00.001"), "x MAX"),
                (json!("25:00"), "x TYPE"),
                (json!("9:00"), "x TYPE"),
                (json!("12:00+01:00"), "x TYPE"),
            ],
        ),
        (
            plain("URL"),
            vec![json!("https://example.org/a?b#c"), json!("mailto:a@b.co"), json!("/page"), json!("")],
            vec![(json!("not an address"), "x FORMAT"), (json!("example.org"), "x FORMAT"), (json!(1), "x TYPE")],
        ),
        (
            json!({ "type": "URL", "typeMetadata": { "url": { "textValidation": { "maxLength": 20 } } } }),
            vec![json!("https://a.b")],
            vec![(json!("https://example.org/longer"), "x MAX_LENGTH")],
        ),
        (plain("EMAIL"), vec![json!("ann@example.org")], vec![(json!("ann"), "x FORMAT"), (json!({}), "x TYPE")]),
        (
            json!({ "type": "SLUG", "typeMetadata": { "slug": { "pattern": "^[a-z-]+$", "maxLength": 5 } } }),
            vec![json!("a-b")],
            vec![(json!("A"), "x PATTERN"), (json!("abcdef"), "x MAX_LENGTH")],
        ),
        (plain("SLUG"), vec![json!("über-uns")], vec![(json!("a b"), "x FORMAT"), (json!("a/b"), "x FORMAT")]),
        (
            plain("LANGUAGE"),
            vec![json!("de"), json!("zh-Hant-TW")],
            vec![(json!("d"), "x FORMAT"), (json!("de_DE"), "x FORMAT")],
        ),
        (
            json!({ "type": "RICH_TEXT", "typeMetadata": { "richText": { "maxLength": 4 } } }),
            vec![json!("<b>")],
            vec![(json!("<p>x</p>"), "x MAX_LENGTH"), (json!({}), "x TYPE")],
        ),
        (
            plain("RICH_CONTENT"),
            vec![json!({ "nodes": [] })],
            vec![(json!("text"), "x TYPE"), (date("2024-01-01"), "x TYPE")],
        ),
        (plain("ADDRESS"), vec![json!({ "formatted": "x" })], vec![(json!("x"), "x TYPE")]),
        (
            json!({ "type": "ARRAY_STRING", "typeMetadata": { "arrayString": { "minSize": 1, "maxSize": 2, "maxLengthForItem": 3 } } }),
            vec![json!(["a"]), json!(["a", "abc"])],
            vec![
                (json!([]), "x MIN_SIZE"),
                (json!(["a", "b", "c"]), "x MAX_SIZE"),
                (json!(["abcd"]), "x.0 MAX_LENGTH"),
                (json!(["a", 1]), "x.1 TYPE"),
                (json!("a"), "x TYPE"),
            ],
        ),
        (
            json!({ "type": "ARRAY_STRING", "arraySizeRange": { "maxSize": 1 } }),
            vec![json!([])],
            vec![(json!(["a", "b"]), "x MAX_SIZE")],
        ),
        (
            json!({ "type": "ARRAY_DOCUMENT", "typeMetadata": { "arrayDocument": { "maxSize": 1 } } }),
            vec![json!(["wix:document://a"])],
            vec![(json!(["a", "b"]), "x MAX_SIZE"), (json!([1]), "x.0 TYPE")],
        ),
        (
            plain("MEDIA_GALLERY"),
            vec![json!([{ "src": "a" }, "b"])],
            vec![(json!([1]), "x.0 TYPE"), (json!({}), "x TYPE")],
        ),
        (
            json!({ "type": "ARRAY", "typeMetadata": { "array": { "elementType": "NUMBER", "typeMetadata": { "number": { "max": 5 } }, "maxSize": 2 } } }),
            vec![json!([1, 5])],
            vec![(json!([6]), "x.0 MAX"), (json!([1, 2, 3]), "x MAX_SIZE"), (json!([null]), "x.0 TYPE")],
        ),
        (
            json!({ "type": "OBJECT", "typeMetadata": { "object": { "fields": [{ "key": "n", "type": "NUMBER" }, { "key": "in", "type": "OBJECT", "typeMetadata": { "object": { "fields": [{ "key": "t", "type": "TEXT" }] } } }] } } }),
            vec![json!({}), json!({ "n": 1, "in": { "t": "x" }, "other": [] }), json!({ "n": null })],
            vec![
                (json!({ "n": "1", "in": { "t": 1 } }), "x.n TYPE, x.in.t TYPE"),
                (json!([]), "x TYPE"),
                (json!({ "in": 1 }), "x.in TYPE"),
            ],
        ),
        (
            json!({ "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "d" } } }),
            vec![json!("id")],
            vec![(json!(7), "x TYPE"), (json!({ "a": 1 }), "x TYPE")],
        ),
        (plain("ANY"), vec![json!(1), json!("x"), json!([{}]), date("2024-01-01")], vec![]),
    ];
    for kind in ["IMAGE", "DOCUMENT", "VIDEO", "AUDIO", "LEGACY_COLOR"] {
        rows.push((plain(kind), vec![json!("wix:image://v1/a.jpg/b.jpg#originWidth=1")], vec![(json!({}), "x TYPE")]));
    }
    for kind in [
        "PAGE_LINK",
        "SECURED_MEDIA",
        "MEDIA_IMAGE",
        "MEDIA_VECTOR_ART",
        "LEGACY_BOOK",
        "LEGACY_EXTERNAL_URL",
        "LEGACY_IMAGE",
        "LEGACY_EXTERNAL_VIDEO",
    ] {
        rows.push((
            plain(kind),
            vec![json!("x"), json!({ "id": "x" })],
            vec![(json!(1), "x TYPE"), (json!([]), "x TYPE")],
        ));
    }
    for kind in ["LEGACY_TIME", "LEGACY_BROKEN_REFERENCE"] {
        rows.push((plain(kind), vec![json!("x"), json!(1), date("2024-01-01")], vec![]));
    }
    rows
}

on_both_engines! {
    async fn rules_of_every_type_and_option(engine) {
        let world = World::new(engine).await;
        with(&world, json!([{ "key": "x", "type": "TEXT" }]), true).await.unwrap();
        let mut kinds = std::collections::BTreeSet::new();
        for (mut field, good, bad) in table() {
            kinds.insert(field["type"].as_str().unwrap().to_owned());
            field["key"] = "x".into();
            world.content.field_update(&world.site, &app(), "c", &field, false).await.unwrap();
            let good = good.into_iter().chain([json!(null)]).map(|it| (it, "ok"));
            for (value, wants) in good.chain(bad) {
                let answer = world.insert(&visitor("v"), json!({ "x": value, "unknown": [1] })).await;
                assert_eq!(broken(answer), wants, "{field} takes {value}");
            }
            assert_eq!(broken(world.insert(&app(), json!({})).await), "ok", "a value may be missing");
        }
        let missing: Vec<_> = stoa_content::schema::field::TYPES.iter().filter(|it| !kinds.contains(**it)).collect();
        assert_eq!(missing, [&"MULTI_REFERENCE"], "its links aren't values of the item");
    }

    async fn rules_are_not_enforced_without_strict_mode(engine) {
        let world = World::new(engine).await;
        with(&world, json!([{ "key": "x", "type": "NUMBER", "required": true, "immutable": true, "readOnly": true, "numberRange": { "max": 1 } }]), false).await.unwrap();
        for value in [json!("text"), json!(5), json!(null)] {
            world.save(&visitor("v"), json!({ "_id": "i", "x": value, "other": 1 })).await.unwrap();
            assert_eq!(world.get(&app(), "i").await.unwrap()["x"], value);
        }
        let strict = json!({ "id": "c", "strictMode": true });
        world.content.collection_patch(&world.site, &app(), &strict).await.unwrap();
        assert_eq!(broken(world.insert(&app(), json!({})).await), "x REQUIRED_FIELD", "from the moment it is switched on");
    }

    async fn rules_hold_for_every_write(engine) {
        let world = World::new(engine).await;
        let fields = json!([{ "key": "x", "type": "NUMBER", "required": true }, { "key": "t", "type": "TEXT" }, { "key": "l", "type": "ARRAY_STRING" }]);
        with(&world, fields, true).await.unwrap();
        world.insert(&app(), json!({ "_id": "i", "x": 1 })).await.unwrap();
        assert_eq!(broken(world.update(&app(), json!({ "_id": "i", "x": "1" }), None).await), "x TYPE");
        assert_eq!(broken(world.update(&app(), json!({ "_id": "i" }), None).await), "x REQUIRED_FIELD");
        assert_eq!(broken(world.save(&app(), json!({ "_id": "i", "x": null })).await), "x REQUIRED_FIELD");
        assert_eq!(broken(world.save(&app(), json!({ "_id": "new" })).await), "x REQUIRED_FIELD");
        assert_eq!(broken(patch(&world, "i", "x", Some(json!([]))).await), "x TYPE");
        assert_eq!(broken(patch(&world, "i", "x", None).await), "x REQUIRED_FIELD");
        assert_eq!(broken(patch(&world, "i", "t.deep", Some(json!(1))).await), "t TYPE");
        let body = many([json!({ "x": 1 }), json!({ "x": "1" }), json!({ "_id": "i", "x": 2, "t": 5 })]);
        for (call, wants) in [("insert", ["INSERT", "WDE0075", "WDE0075"]), ("save", ["INSERT", "WDE0075", "WDE0075"]), ("update", ["WDE0007", "WDE0007", "WDE0075"])] {
            let outcomes = world.bulk(&app(), call, &body).await.unwrap();
            assert_eq!(verdicts(&outcomes), wants, "{call}");
            let violations = outcomes[2].fault.as_ref().unwrap().violations();
            assert_eq!((violations[0].field.as_str(), violations[0].violated_rule), ("t", "TYPE"));
        }
        let append = json!({ "fieldPath": "l", "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": 1 } });
        let body = json!({ "dataCollectionId": "c", "patches": [{ "dataItemId": "i", "fieldModifications": [append] }] });
        assert_eq!(verdicts(&world.bulk(&app(), "patch", &body).await.unwrap()), ["WDE0075"]);
        assert_eq!(world.get(&app(), "i").await.unwrap()["x"], 1, "nothing of it was written");

        // A patch of another field is not held up by what was stored before the rules.
        let looser = json!({ "id": "c", "strictMode": false });
        world.content.collection_patch(&world.site, &app(), &looser).await.unwrap();
        world.save(&app(), json!({ "_id": "old", "x": "text" })).await.unwrap();
        world.content.collection_patch(&world.site, &app(), &json!({ "id": "c", "strictMode": true })).await.unwrap();
        assert_eq!(patch(&world, "old", "t", Some(json!("y"))).await.unwrap()["x"], "text");
    }

    async fn rules_of_immutable_and_read_only_fields(engine) {
        let world = World::new(engine).await;
        let fields = json!([
            { "key": "im", "type": "TEXT", "immutable": true, "required": true }, { "key": "ro", "type": "NUMBER", "readOnly": true }, { "key": "n", "type": "NUMBER" },
        ]);
        with(&world, fields, true).await.unwrap();
        let ann = member("ann");
        assert_eq!(broken(world.insert(&ann, json!({ "im": "a", "ro": 1 })).await), "ro READ_ONLY");
        world.insert(&app(), json!({ "_id": "i", "im": "a", "ro": 1 })).await.unwrap();
        assert_eq!(broken(world.update(&ann, json!({ "_id": "i", "im": "b", "ro": 2 }), None).await), "im IMMUTABLE, ro READ_ONLY");
        let kept = world.update(&ann, json!({ "_id": "i", "n": 1 }), None).await.unwrap();
        assert_eq!((&kept["im"], &kept["ro"], &kept["n"]), (&json!("a"), &json!(1), &json!(1)), "what can't change is kept");
        let same = world.update(&ann, json!({ "_id": "i", "im": "a", "ro": 1.0 }), None).await.unwrap();
        assert_eq!(same["im"], "a", "a round trip changes nothing");
        assert_eq!(broken(patch(&world, "i", "im", None).await), "im IMMUTABLE");
        assert_eq!(broken(patch(&world, "i", "ro", Some(json!(2))).await), "ro READ_ONLY");
        assert_eq!(patch(&world, "i", "n", Some(json!(2))).await.unwrap()["n"], 2);
        assert_eq!(broken(world.update(&app(), json!({ "_id": "i", "im": "b" }), None).await), "im IMMUTABLE", "for everyone");
        assert_eq!(world.update(&app(), json!({ "_id": "i", "im": "a", "ro": 3 }), None).await.unwrap()["ro"], 3);
        assert_eq!(world.update(&ann, json!({ "_id": "i", "ro": null }), None).await.map_err(|it: Fault| it.violations()[0].field.clone()), Err("ro".to_owned()));
    }

    async fn defaults_fill_new_items(engine) {
        let world = World::new(engine).await;
        let fields = json!([
            { "key": "t", "type": "TEXT", "typeMetadata": { "text": { "defaultValue": "new" } } },
            { "key": "n", "type": "NUMBER", "typeMetadata": { "number": { "defaultValue": 1.50 } } },
            { "key": "none", "type": "NUMBER", "typeMetadata": { "number": { "defaultValue": "Infinity" } } },
            { "key": "b", "type": "BOOLEAN", "typeMetadata": { "boolean": { "defaultValue": false } } },
            { "key": "o", "type": "OBJECT", "typeMetadata": { "object": { "fields": [], "defaultValue": { "a": [1e21] } } } },
            { "key": "l", "type": "ARRAY_STRING", "typeMetadata": { "arrayString": { "defaultValue": ["x"] } } },
            { "key": "d", "type": "DATE", "typeMetadata": { "date": { "defaultValueFixed": "2024-05-06T00:00:00.000Z" } } },
            { "key": "dd", "type": "DATE", "typeMetadata": { "date": { "defaultValueOffsetFromNowInDays": -1 } } },
            { "key": "dt", "type": "DATETIME", "typeMetadata": { "datetime": { "defaultValueFixed": "2024-05-06T07:08:09.000Z" } } },
            { "key": "ds", "type": "DATETIME", "typeMetadata": { "datetime": { "defaultValueOffsetFromNowInSeconds": 90 } } },
            { "key": "tm", "type": "TIME", "typeMetadata": { "time": { "defaultValue": "08:00" } } },
        ]);
        with(&world, fields, false).await.unwrap();
        let made = world.insert(&visitor("v"), json!({ "_id": "i", "own": 1 })).await.unwrap();
        let wants = json!({
            "t": "new", "n": 1.5, "b": false, "o": { "a": [1e21] }, "l": ["x"], "d": "2024-05-06", "dd": "2025-12-31",
            "dt": { "$date": "2024-05-06T07:08:09.000Z" }, "ds": { "$date": "2026-01-01T00:01:30.000Z" }, "tm": "08:00", "own": 1,
        });
        for (key, value) in wants.as_object().unwrap() {
            assert_eq!(&made[key], value, "{key}");
        }
        assert_eq!(made.get("none"), None);
        assert_eq!(world.get(&app(), "i").await.unwrap(), made);
        let own = world.insert(&app(), json!({ "t": "mine", "n": null, "b": true })).await.unwrap();
        assert_eq!((&own["t"], &own["n"], &own["b"]), (&json!("mine"), &json!(null), &json!(true)), "null counts as a value");
        let (saved, is_new) = world.save(&app(), json!({ "_id": "s" })).await.unwrap();
        assert_eq!((is_new, &saved["t"]), (true, &json!("new")));
        let (saved, _) = world.save(&app(), json!({ "_id": "s", "n": 7 })).await.unwrap();
        assert_eq!(saved.get("t"), None, "an item that is replaced gets none");
        world.bulk(&app(), "insert", &many([json!({ "_id": "b" })])).await.unwrap();
        assert_eq!(world.get(&app(), "b").await.unwrap()["l"], json!(["x"]));
        world.content.collection_patch(&world.site, &app(), &json!({ "id": "c", "strictMode": true })).await.unwrap();
        assert_eq!(broken(world.insert(&visitor("v"), json!({})).await), "ok");
    }

    async fn rules_that_cannot_hold_are_refused(engine) {
        let world = World::new(engine).await;
        let text = |options: Value| json!([{ "key": "a", "type": "TEXT", "typeMetadata": { "text": options } }]);
        let many: Vec<_> = (0..201).map(|n| json!({ "key": format!("f{n}"), "type": "TEXT", "typeMetadata": { "text": { "textValidation": { "pattern": "a" } } } })).collect();
        for fields in [
            text(json!({ "textValidation": { "pattern": "(" } })),
            text(json!({ "textValidation": { "pattern": "(?!x)y" } })),
            text(json!({ "textValidation": { "pattern": "(a)\\1" } })),
            text(json!({ "textValidation": { "pattern": "(.{1000}){1000}" } })),
            text(json!({ "defaultValue": { "$x": 1 } })),
            text(json!({ "defaultValue": 7 })),
            text(json!({ "defaultValue": "longer", "textValidation": { "maxLength": 3 } })),
            json!([{ "key": "a", "type": "OBJECT", "typeMetadata": { "object": { "fields": [{ "key": "b", "type": "TEXT", "typeMetadata": { "text": { "textValidation": { "pattern": "[" } } } }] } } }]),
            json!(many),
        ] {
            assert_eq!(code(with(&world, fields.clone(), false).await), "WDE0075", "{fields}");
        }
        with(&world, json!([{ "key": "a", "type": "TEXT" }]), true).await.unwrap();
        let field = json!({ "key": "b", "type": "SLUG", "typeMetadata": { "slug": { "pattern": "(?<=x)y" } } });
        assert_eq!(code(world.content.field_create(&world.site, &app(), "c", &field).await), "WDE0075");
    }
}
