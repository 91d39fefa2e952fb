//! Canonical text: its rules one by one, and that SQLite gives it back byte by byte.

mod support;

use stoa_kernel::Code;
use stoa_query::item::{self, Stamp};
use stoa_query::{QueryLimits, RawId, canonical};
use support::{OnSqlite, Row, values};

fn document(data: &str) -> String {
    let stamp = Stamp { id: "i", created: 0, updated: 0, owner: None };
    let text = canonical(data, QueryLimits::default().item())
        .and_then(|it| it.document(stamp))
        .unwrap_or_else(|it| panic!("{data}: {it:?}"));
    let start = r#"{"_id":"i","_createdDate":{"$date":"1970-01-01T00:00:00.000Z"},"_updatedDate":{"$date":"1970-01-01T00:00:00.000Z"}"#;
    let rest = text.strip_prefix(start).expect("the server's members come first");
    format!("{{{}", rest.trim_start_matches(','))
}

#[test]
fn equal_items_have_one_text() {
    for (sent, stored) in [
        (r#" { } "#, r#"{}"#),
        (r#"{"a":1.0,"b":-0,"c":1E3,"d":1e21,"e":0.1e-7}"#, r#"{"a":1,"b":0,"c":1000,"d":1e+21,"e":1e-8}"#),
        (r#"{"a":9007199254740993,"b":12345678901234567890}"#, r#"{"a":9007199254740992,"b":12345678901234567000}"#),
        (r#"{"a":[ 1 , [ ] , { } , null , true ]}"#, r#"{"a":[1,[],{},null,true]}"#),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
        (r#"{"a":1,"b":{"c":1,"c":[2,2]},"a":"longer","d":4,"b":0}"#, r#"{"a":"longer","b":0,"d":4}"#),
        (r#"{"\u0061":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":"\u00e9\/\u001f\n\ud83d\ude00\u2028"}"#, "{\"a\":\"é/\\u001f\\n😀\u{2028}\"}"),
        (r#"{"w":{"$date":"2024-03-05T07:07:08.0091+01:00"}}"#, r#"{"w":{"$date":"2024-03-05T06:07:08.009Z"}}"#),
        (r#"{"w":{"$date":1709618828009}}"#, r#"{"w":{"$date":"2024-03-05T06:07:08.009Z"}}"#),
        (r#"{"w":{ "\u0024date" : "2024-03-05" }}"#, r#"{"w":{"$date":"2024-03-05T00:00:00.000Z"}}"#),
        (r#"{"a.b":1,"":2,"x":{"_id":3}}"#, r#"{"a.b":1,"":2,"x":{"_id":3}}"#),
    ] {
        assert_eq!(document(sent), stored);
        assert_eq!(document(stored), stored, "canonical text is its own canonical form");
    }
}

#[test]
fn repeated_names_among_many_members() {
    let members: Vec<_> = (0..100).chain(0..100).map(|n| format!("\"k{}\":{n}", n % 60)).collect();
    let stored = document(&format!("{{{}}}", members.join(",")));
    let expected: Vec<_> = (0..60).map(|n| format!("\"k{n}\":{}", if n < 40 { n + 60 } else { n })).collect();
    assert_eq!(stored, format!("{{{}}}", expected.join(",")));
}

#[test]
fn server_members_are_taken_out() {
    let item = canonical(
        r#"{"a":1,"_id":"x","_owner":"m","_createdDate":{"$date":5},"_updatedDate":7,"b":2}"#,
        QueryLimits::default().item(),
    );
    let item = item.expect("an item");
    assert_eq!((item.id.clone(), item.owner.as_deref(), item.created), (RawId::Text("x".into()), Some("m"), Some(5)));
    let stamp = Stamp { id: "q\"", created: 1, updated: 2, owner: Some("o") };
    assert_eq!(
        item.document(stamp).expect("a document"),
        r#"{"_id":"q\"","_createdDate":{"$date":"1970-01-01T00:00:00.001Z"},"_updatedDate":{"$date":"1970-01-01T00:00:00.002Z"},"_owner":"o","a":1,"b":2}"#
    );
    for (sent, id) in [
        ("{}", RawId::Absent),
        (r#"{"_id":null}"#, RawId::Null),
        (r#"{"_id":""}"#, RawId::Text(String::new())),
        (r#"{"_id":5}"#, RawId::Other),
        (r#"{"_id":{"$date":5}}"#, RawId::Other),
        (r#"{"_id":1,"_id":"last"}"#, RawId::Text("last".into())),
    ] {
        assert_eq!(canonical(sent, QueryLimits::default().item()).expect("an item").id, id, "{sent}");
    }
}

#[test]
fn refusals_have_their_reasons() {
    let deep = |n: usize| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
    for (sent, code) in [
        (String::new(), Code::MalformedJson),
        ("{".into(), Code::MalformedJson),
        ("{}x".into(), Code::MalformedJson),
        (r#"{"a":01}"#.into(), Code::MalformedJson),
        (r#"{"a":1.}"#.into(), Code::MalformedJson),
        (r#"{"a":+1}"#.into(), Code::MalformedJson),
        (r#"{"a":nul}"#.into(), Code::MalformedJson),
        (r#"{"a":1,}"#.into(), Code::MalformedJson),
        (r#"{a:1}"#.into(), Code::MalformedJson),
        ("{\"a\":\"\n\"}".into(), Code::MalformedJson),
        (r#"{"a":"\x"}"#.into(), Code::MalformedJson),
        (r#"{"a":"\u12"}"#.into(), Code::MalformedJson),
        (r#"{"a":"\"#.into(), Code::MalformedJson),
        ("[]".into(), Code::ItemNotObject),
        ("null".into(), Code::ItemNotObject),
        (r#""text""#.into(), Code::ItemNotObject),
        (r#"{"a":"\u0000"}"#.into(), Code::BadRequest),
        (r#"{"\u0000":1}"#.into(), Code::BadRequest),
        (r#"{"a":"\ud800"}"#.into(), Code::BadRequest),
        (r#"{"a":"\ud800\u0041"}"#.into(), Code::BadRequest),
        (r#"{"a":"\udc00"}"#.into(), Code::BadRequest),
        (r#"{"a":1e999}"#.into(), Code::BadRequest),
        (r#"{"a":{"$date":"soon"}}"#.into(), Code::BadRequest),
        (r#"{"a":{"$date":null}}"#.into(), Code::BadRequest),
        (r#"{"a":{"$date":"+010000-01-01T00:00:00.000Z"}}"#.into(), Code::BadRequest),
        (r#"{"a":{"$date":5,"b":1}}"#.into(), Code::FieldNameDollar),
        (r#"{"a":{"b":1,"$date":5}}"#.into(), Code::FieldNameDollar),
        (r#"{"a":{"$x":1}}"#.into(), Code::FieldNameDollar),
        (r#"{"$date":5}"#.into(), Code::FieldNameDollar),
        (deep(33), Code::ItemTooDeep),
        (deep(100_000), Code::ItemTooDeep),
        ("{\"a\":".to_owned() + &"[".repeat(1_000_000), Code::ItemTooDeep),
        (format!(r#"{{"a":"{}"}}"#, "x".repeat(QueryLimits::default().item_bytes)), Code::ItemTooLarge),
    ] {
        let refused = canonical(&sent, QueryLimits::default().item()).expect_err(&sent);
        assert_eq!(refused.code(), code, "{refused:?}: {}", &sent[..sent.len().min(80)]);
    }
    assert!(canonical(&deep(32), QueryLimits::default().item()).is_ok());
    let date_at_the_bottom = format!("{}{{\"$date\":5}}{}", "{\"a\":".repeat(32), "}".repeat(32));
    assert!(canonical(&date_at_the_bottom, QueryLimits::default().item()).is_ok(), "a date is no level");
    let refused = canonical(r#"{"a":{"b":[1,"\ud800"]}}"#, QueryLimits::default().item()).expect_err("half a pair");
    assert_eq!(refused.message(), "a text contains half of a surrogate pair, at a.b.1");
}

#[test]
fn sqlite_gives_back_the_same_bytes() {
    let mut random = values::Random::new(1);
    let rows: Vec<_> = (0..3000)
        .map(|n| {
            let data = values::object(&mut random, 4).to_string();
            Row::stamped(&data, &format!("i{n:05}"), None, 0, 0)
        })
        .collect();
    let sqlite = OnSqlite::open();
    sqlite.create(stoa_sql::Table { site: 1, number: 1 }, &rows);
    let read = sqlite.rows(&("select doc from stoa.c1 order by id".into(), Vec::new()));
    for (row, read) in rows.iter().zip(read) {
        assert_eq!(read[0].as_deref(), Some(row.document.as_str()));
        let again = canonical(&row.document, QueryLimits::default().item()).expect("an item");
        assert_eq!(again.id, RawId::Text(row.id.clone()));
    }
}

#[test]
fn sqlite_reads_numbers_as_we_do() {
    let mut random = values::Random::new(2);
    let numbers: Vec<f64> = (0..200_000)
        .map(|n| match n % 3 {
            0 => f64::from_bits(random.next()),
            1 => random.next() as f64,
            _ => (random.next() >> 11) as f64 / 1000.0,
        })
        .filter(|it| it.is_finite())
        .collect();
    let sqlite = OnSqlite::open();
    let texts: Vec<String> = numbers
        .iter()
        .map(|it| {
            let mut text = String::new();
            item::number::print(*it, &mut text);
            text
        })
        .collect();
    for (texts, numbers) in texts.chunks(5000).zip(numbers.chunks(5000)) {
        let text = format!("[{}]", texts.join(","));
        let sql = "select cast(value as real) from json_each(jsonb($1))".to_owned();
        let rows = sqlite.rows(&(sql, vec![text.into()]));
        for (row, number) in rows.iter().zip(numbers) {
            let read: f64 = row[0].as_deref().unwrap_or_default().parse().expect("a number");
            assert!(read == *number, "{number:e} was read as {read:e}");
        }
    }
}
