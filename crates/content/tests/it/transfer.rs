use crate::common::*;
use serde_json::{Value, json};
use stoa_content::transfer::{Counts, Event, FileOf, Format};
use stoa_kernel::{Caller, Result};
use stoa_testkit::on_both_engines;

/// Imports a text and answers the counts and the refusals as `line: code`.
async fn import(world: &World, caller: &Caller, format: Format, text: &[u8]) -> (Result<Counts>, Vec<String>) {
    let mut refused = Vec::new();
    let tell = |it: Event<'_>| {
        if let Event::Refused { line, fault } = it {
            refused.push(format!("{line}: {}", fault.code().name()));
        }
    };
    let counts = world.content.import(&world.site, caller, FileOf { collection: "c", format }, text, tell).await;
    (counts, refused)
}

async fn export(world: &World, format: Format) -> String {
    let mut out = Vec::new();
    world.content.export(&world.site, &app(), FileOf { collection: "c", format }, &mut out, |_| ()).await.unwrap();
    String::from_utf8(out).unwrap()
}

fn counts(inserted: u64, updated: u64, failed: u64) -> Counts {
    Counts { inserted, updated, failed, ..Counts::default() }
}

on_both_engines! {
    async fn exported_items_come_back_in(engine) {
        let world = World::open(engine).await;
        let mut lines: Vec<Value> = (0..1203).map(|n| json!({ "_id": format!("i{n:04}"), "n": n, "title": format!("=T{n}") })).collect();
        lines[7] = json!({
            "_id": "i0007", "_createdDate": { "$date": "2001-02-03T04:05:06.007Z" }, "_owner": "ann", "title": "a,\"b\"\nc",
            "tags": ["x", "y"], "extra": { "deep": [1, null, { "$date": "2020-01-01T00:00:00.000Z" }] }, "n": -0.5,
        });
        let text: String = lines.iter().map(|it| format!("{it}\n")).collect();
        let (done, refused) = import(&world, &app(), Format::JsonLines, text.as_bytes()).await;
        assert_eq!((done.unwrap(), refused.len()), (counts(1203, 0, 0), 0));
        let item = world.get(&app(), "i0007").await.unwrap();
        assert_eq!((&item["_owner"], &item["_createdDate"]), (&json!("ann"), &lines[7]["_createdDate"]));

        for format in [Format::JsonLines, Format::Json, Format::Csv] {
            let out = export(&world, format).await;
            let other = World::open(engine).await;
            let (done, refused) = import(&other, &app(), format, out.as_bytes()).await;
            assert_eq!((done.unwrap(), refused.len()), (counts(1203, 0, 0), 0), "{format:?}");
            let mut wants = item.clone();
            let mut found = other.get(&app(), "i0007").await.unwrap();
            if format == Format::Csv {
                assert_eq!(found["extra"], json!(wants["extra"].to_string()), "an undeclared field is text");
                wants["extra"] = Value::Null;
                found["extra"] = Value::Null;
            }
            assert_eq!(found, wants, "{format:?}");
            assert_eq!(other.get(&app(), "i0008").await.unwrap()["title"], "=T8");
            assert_eq!(export(&other, format).await, out, "{format:?}");
        }
    }

    async fn import_run_again_goes_on(engine) {
        let world = World::open(engine).await;
        let whole: String = (0..2500).map(|n| format!("{{\"_id\":\"i{n}\",\"n\":{n}}}\n")).collect();
        let half = &whole.as_bytes()[..whole.find("\"i2100\"").unwrap()];
        let (done, refused) = import(&world, &app(), Format::JsonLines, half).await;
        assert_eq!(done.unwrap(), counts(2100, 0, 1), "the line that was cut is no item");
        assert_eq!(refused, ["2101: MALFORMED_JSON"]);
        let (done, _) = import(&world, &app(), Format::JsonLines, whole.as_bytes()).await;
        assert_eq!(done.unwrap(), counts(400, 2100, 0));
        assert_eq!(world.count(&app(), json!({})).await.unwrap(), 2500);
    }

    async fn refusals_name_their_lines(engine) {
        let world = World::open(engine).await;
        let lines = b"\xef\xbb\xbf\n{\"_id\":\"a\"}\n  \nnot json\n{\"_id\":\"\"}\n{\"_id\":1}\n[]\n{\"\xff\":1}\n{\"_id\":\"a\",\"n\":2}";
        let (done, refused) = import(&world, &app(), Format::JsonLines, lines).await;
        assert_eq!(done.unwrap(), counts(1, 1, 5));
        assert_eq!(refused, ["4: MALFORMED_JSON", "5: WDE0079", "6: WDE0007", "7: WDE0004", "8: MALFORMED_JSON"]);
        assert_eq!(world.get(&app(), "a").await.unwrap()["n"], 2);

        let json = b"[\n{\"_id\":\"b\",\n\"s\":\"}]\\\"\"},\n 5,\n{\"_id\":\"c\"}\n]\n";
        let (done, refused) = import(&world, &app(), Format::Json, json).await;
        assert_eq!((done.unwrap(), refused), (counts(2, 0, 1), vec!["4: WDE0004".to_owned()]));

        let csv = b"_id,n,title,when,tags\nd,1,one,x,\ne,many,two,,\n\"f\n\",3,three,,\ng,4,four,,\"[\"\"t\"\"]\",more\nh,5\n";
        let (done, refused) = import(&world, &app(), Format::Csv, csv).await;
        assert_eq!(done.unwrap(), counts(2, 0, 3));
        assert_eq!(refused, ["3: WDE0080", "4: WDE0079", "6: WDE0080"]);
        let item = world.get(&app(), "d").await.unwrap();
        assert_eq!((&item["n"], &item["when"], item.get("tags")), (&json!(1), &json!("x"), None));
    }

    async fn unreadable_file_keeps_its_whole_batches(engine) {
        let world = World::open(engine).await;
        for (text, line) in [
            (&b"[{\"_id\":\"a\"},\n{\"_id\":\"b\"}\n{\"_id\":\"c\"}]"[..], 3),
            (b"[{\"_id\":\"a\"},\n{\"_id\":\"b\"", 2),
            (b"[{\"_id\":\"a\"}]\n x", 2),
            (b"[,]", 1),
            (b"[{},]", 1),
            (b"", 1),
            (b"\"text\"", 1),
            (b"[{\"_id\":\"a\"},\n", 2),
        ] {
            let (done, _) = import(&world, &app(), Format::Json, text).await;
            let fault = done.unwrap_err();
            assert_eq!(fault.data()["line"], line, "{}: {fault}", String::from_utf8_lossy(text));
        }
        assert_eq!(world.ids(&app(), json!({ "filter": { "_id": { "$in": ["a", "b", "c"] } }, "sort": [{ "fieldName": "_id" }] })).await.unwrap(), ["a", "b"]);
        assert_eq!(import(&world, &app(), Format::Json, b" [ ] ").await.0.unwrap(), counts(0, 0, 0));
        assert_eq!(code(import(&world, &app(), Format::Csv, b"a,a\n1,2").await.0), "WDE0080");
        assert_eq!(code(import(&world, &editor(), Format::Json, b"[]").await.0), "WDE0027");
        assert_eq!(export(&World::open(engine).await, Format::Json).await, "[]\n");
    }
}
