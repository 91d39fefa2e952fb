//! What requests are refused with (docs/protocol/content.md §13.1, §15, §19), and what is tolerated.

use serde_json::{Value as Json, json};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::plan::{Field, Filter, Find, Order, Scalar, Start, Test};
use stoa_query::wire::{Paging, Query, Reference};
use stoa_query::{Context, Kind, QueryLimits, Schema, Scope, resolve, wire};

fn find(request: &Json) -> Result<Find> {
    let fields = [("l1", Kind::Array), ("l2", Kind::Array), ("secret", Kind::Encrypted)];
    let fields = fields.map(|(name, kind)| (name.to_owned(), kind));
    let schema = Schema { fields: fields.into(), ..Schema::default() };
    let query = Query::parse(request.as_object().expect("an object"), &QueryLimits::default())?;
    resolve::find(&query, Context { schema: &schema, scope: Scope::Everything, seed: 7 })
}

fn filter(filter: Json) -> Result<Filter> {
    find(&json!({ "query": { "filter": filter } })).map(|it| it.filter)
}

fn nested(depth: usize) -> Json {
    (0..depth)
        .fold(json!({ "a": 1 }), |it, n| if n % 2 == 0 { json!({ "$and": [it, {}] }) } else { json!({ "$not": it }) })
}

#[test]
fn refused_filters_name_their_path() {
    for (written, code) in [
        (json!("text"), Code::FilterNotObject),
        (json!([]), Code::FilterNotObject),
        (json!(5), Code::FilterNotObject),
        (json!({ "$and": {} }), Code::ListOperand),
        (json!({ "$or": "x" }), Code::ListOperand),
        (json!({ "$and": [1] }), Code::FilterTree),
        (json!({ "$not": [] }), Code::ListOperand),
        (json!({ "$not": [{}, {}] }), Code::ListOperand),
        (json!({ "$not": 5 }), Code::FilterTree),
        (json!({ "$nor": [] }), Code::FilterInvalid),
        (json!({ "$regex": "x" }), Code::RegexNotAllowed),
        (json!({ "a": { "$regex": "x" } }), Code::RegexNotAllowed),
        (json!({ "$or": [{ "a": { "$not": { "$regex": "x" } } }] }), Code::RegexNotAllowed),
        (json!({ "a": { "$foo": 1 } }), Code::FilterInvalid),
        (json!({ "a": { "$gt": 1, "b": 2 } }), Code::FilterInvalid),
        (json!({ "a": { "$date": 5, "$gt": 1 } }), Code::FilterInvalid),
        (json!({ "a": { "$not": 5 } }), Code::FilterInvalid),
        (json!({ "a": { "$not": { "b": 1 } } }), Code::FilterInvalid),
        (json!({ "a": { "$gt": null } }), Code::OperandType),
        (json!({ "a": { "$lt": [1] } }), Code::OperandType),
        (json!({ "a": { "$lte": { "b": 1 } } }), Code::OperandType),
        (json!({ "a": { "$startsWith": 5 } }), Code::OperandNotText),
        (json!({ "a": { "$endsWith": null } }), Code::OperandNotText),
        (json!({ "a": { "$contains": ["x"] } }), Code::OperandNotText),
        (json!({ "a": { "$in": 5 } }), Code::ListOperand),
        (json!({ "a": { "$hasSome": "x" } }), Code::ListOperand),
        (json!({ "a": { "$hasAll": { "0": 1 } } }), Code::ListOperand),
        (json!({ "a": { "$nin": [true] } }), Code::ListElementType),
        (json!({ "a": { "$in": [null] } }), Code::ListElementType),
        (json!({ "a": { "$hasAll": [[1]] } }), Code::ListElementType),
        (json!({ "a": { "$exists": "yes" } }), Code::FilterInvalid),
        (json!({ "a": { "$isEmpty": 1 } }), Code::FilterInvalid),
        (json!({ "a": { "$matches": "x" } }), Code::FilterInvalid),
        (json!({ "a": { "$matches": { "spec": [{ "type": "glob", "value": "x" }] } } }), Code::FilterInvalid),
        (json!({ "a": { "$matches": { "spec": [{ "type": "literal" }] } } }), Code::FilterInvalid),
        (json!({ "a": { "$date": "soon" } }), Code::BadRequest),
        (json!({ "a": { "$gt": { "$date": "+010000-01-01T00:00:00.000Z" } } }), Code::BadRequest),
        (json!({ "a": "\0" }), Code::BadRequest),
        (json!({ "a": { "$in": ["\0"] } }), Code::BadRequest),
        (json!({ "a": { "$startsWith": "\0" } }), Code::BadRequest),
        (json!({ "\0": 1 }), Code::BadRequest),
        (json!({ "a": [{ "b": { "$gt": 1 } }] }), Code::FieldNameDollar),
        (json!({ "a.$b": 1 }), Code::FieldNameDollar),
        (json!({ "secret": { "$in": [] } }), Code::NotSupported),
        (json!({ "$or": [{ "a": 1 }, { "$not": { "secret.inside": null } }] }), Code::NotSupported),
        (json!({ ["a"; 33].join("."): 1 }), Code::FilterInvalid),
        (json!({ "x".repeat(1001): 1 }), Code::BadRequest),
        (nested(17), Code::FilterTooDeep),
        (json!({ "$and": (0..501).map(|n| json!({ "a": n })).collect::<Vec<_>>() }), Code::FilterInvalid),
        (json!({ "a": { "$hasAll": vec!["x"; 501] } }), Code::FilterInvalid),
        (json!({ "a": { "$in": vec!["x"; 10_001] } }), Code::FilterInvalid),
        (json!({ "$and": vec![json!({ "a.b.c": 1 }); 400] }), Code::FilterInvalid),
    ] {
        let fault = filter(written.clone()).expect_err(&written.to_string());
        assert_eq!(fault.code(), code, "{written}: {fault:?}");
        assert!(!fault.message().contains("WDE") && !fault.message().is_empty());
    }
    assert!(filter(nested(16)).is_ok());
}

#[test]
fn messages_say_what_and_where() {
    for (written, message) in [
        (json!({ "a": { "$foo": 1 } }), "unknown operator $foo on a"),
        (json!({ "a.b": { "$gt": null } }), "$gt on a.b takes a string, a number, a boolean or a date"),
        (json!({ "a": { "$in": 5 } }), "$in on a takes a list"),
        (json!({ "a": { "$regex": 5 } }), "$regex is not allowed, on a"),
    ] {
        assert_eq!(filter(written).expect_err("refused").message(), message);
    }
}

#[test]
fn refused_requests_name_their_path() {
    let query = |query: Json| json!({ "query": query });
    for (request, code) in [
        (json!({ "query": [] }), Code::BadRequest),
        (query(json!({ "fields": "a" })), Code::FieldNotText),
        (query(json!({ "fields": [1] })), Code::FieldNotText),
        (query(json!({ "sort": {} })), Code::SortNotList),
        (query(json!({ "sort": ["a"] })), Code::SortElement),
        (query(json!({ "sort": [{}] })), Code::SortNotText),
        (query(json!({ "sort": [{ "fieldName": 1 }] })), Code::SortNotText),
        (query(json!({ "sort": [{ "fieldName": "a", "order": "asc" }] })), Code::SortDirection),
        (query(json!({ "sort": [{ "fieldName": "$a" }] })), Code::FieldNameDollar),
        (query(json!({ "sort": [{ "fieldName": "l1" }, { "fieldName": "l2" }] })), Code::SortSeveralArrays),
        (query(json!({ "paging": 5 })), Code::PagingInvalid),
        (query(json!({ "paging": { "limit": "many" } })), Code::NotNumber),
        (query(json!({ "paging": { "limit": true } })), Code::NotNumber),
        (query(json!({ "paging": { "limit": "5" } })), Code::NotNumber),
        (query(json!({ "paging": { "limit": null } })), Code::NotNumber),
        (query(json!({ "paging": { "offset": [1] } })), Code::NotNumber),
        (query(json!({ "paging": { "limit": 0 } })), Code::NotPositive),
        (query(json!({ "paging": { "limit": -1 } })), Code::NotPositive),
        (query(json!({ "paging": { "limit": 1.5 } })), Code::NotInteger),
        (query(json!({ "paging": { "limit": 1e300 } })), Code::NotInteger),
        (query(json!({ "paging": { "limit": 1001 } })), Code::AboveMaximum),
        (query(json!({ "paging": { "offset": -1 } })), Code::Negative),
        (query(json!({ "paging": { "offset": 9_007_199_254_740_991_i64 } })), Code::NotInteger),
        (query(json!({ "cursorPaging": { "cursor": 5 } })), Code::CursorInvalid),
        (query(json!({ "cursorPaging": { "cursor": "forged" } })), Code::CursorInvalid),
        (query(json!({ "cursorPaging": {}, "paging": { "offset": 5 } })), Code::BadRequest),
        (json!({ "sortMode": "CHAOS" }), Code::BadRequest),
        (json!({ "sortMode": "RANDOM", "randomOptions": { "seed": "x" } }), Code::NotInteger),
        (json!({ "sortMode": "RANDOM", "randomOptions": { "seed": null } }), Code::NotInteger),
        (json!({ "sortMode": "RANDOM", "randomOptions": { "seed": 0.5 } }), Code::NotInteger),
        (json!({ "returnTotalCount": "yes" }), Code::OptionsInvalid),
        (json!({ "includeReferences": {} }), Code::BadRequest),
        (json!({ "includeReferences": ["a"] }), Code::BadRequest),
        (json!({ "includeReferences": [{}] }), Code::FieldNotText),
        (json!({ "includeReferences": [{ "field": "" }] }), Code::NameEmpty),
        (json!({ "includeReferences": [{ "field": "a", "limit": 0 }] }), Code::NotPositive),
        (json!({ "includeReferences": vec![json!({ "field": "a" }); 101] }), Code::BadRequest),
    ] {
        let fault = find(&request).expect_err(&request.to_string());
        assert_eq!(fault.code(), code, "{request}: {fault:?}");
    }
}

#[test]
fn faults_of_a_request_are_told_at_once() {
    let told = |request: Json| {
        let fault = find(&request).expect_err("refused");
        let paths: Vec<_> = fault.violations().iter().map(|it| it.field.clone()).collect();
        (fault.code(), paths)
    };
    let request = json!({
        "query": {
            "filter": { "$or": [{ "a": { "$foo": 1 } }, 5, { "b": { "$not": { "$regex": "x" } } }], "$nor": [] },
            "sort": [{ "fieldName": 1, "order": "up" }, "a"],
            "fields": ["a", 1],
            "paging": { "limit": 0, "offset": -1 },
        },
        "sortMode": "CHAOS", "returnTotalCount": "yes",
        "includeReferences": [{ "field": "", "limit": "many" }], "includeReferencedItems": [1],
        "includeFieldGroups": "g",
    });
    let (code, mut paths) = told(request);
    assert!([Code::FilterInvalid, Code::FilterTree].contains(&code), "the code of the first: {code:?}");
    paths.sort();
    let expected = [
        "includeFieldGroups",
        "includeReferencedItems[0]",
        "includeReferences[0].field",
        "includeReferences[0].limit",
        "query.fields[1]",
        "query.filter.$nor",
        "query.filter.$or[0].a.$foo",
        "query.filter.$or[1]",
        "query.filter.$or[2].b.$not.$regex",
        "query.paging.limit",
        "query.paging.offset",
        "query.sort[0].fieldName",
        "query.sort[0].order",
        "query.sort[1]",
        "returnTotalCount",
        "sortMode",
    ];
    assert_eq!(paths, expected);

    // What only the schema tells is told next, again all of it.
    let filter = json!({ "$and": [{ "a": { "$gt": null } }, { "secret": 1 }, { "b": 2 }, { "c": { "$in": 5 } }] });
    let request = json!({ "query": { "filter": filter, "sort": [{ "fieldName": "b" }, { "fieldName": "$a" }] } });
    let (code, paths) = told(request);
    assert_eq!(code, Code::OperandType);
    let expected = [
        "query.filter.$and[0].a.$gt",
        "query.filter.$and[1].secret",
        "query.filter.$and[3].c.$in",
        "query.sort[1].fieldName",
    ];
    assert_eq!(paths, expected);

    // A name without end is told by its beginning.
    let (_, paths) = told(json!({ "query": { "filter": { "$".repeat(1_000_000): 1 } } }));
    assert_eq!(paths, [format!("query.filter.{}", "$".repeat(100))]);
    // A hundred are enough, however many there are.
    let (_, paths) = told(json!({ "query": { "filter": { "$and": vec![7; 100_000] } } }));
    assert_eq!(paths.len(), 100);
}

#[test]
fn bare_request_has_the_documented_defaults() {
    for request in [json!({}), json!({ "query": null }), json!({ "query": { "fields": [], "filter": {}, "sort": [] } })]
    {
        let plan = find(&request).expect("a plan");
        assert_eq!((plan.filter, plan.page.limit, plan.page.start), (Filter::True, 50, Start::Offset(0)));
        assert!(!plan.total);
    }
}

#[test]
fn not_means_the_same_in_every_form() {
    let expected = filter(json!({ "a": { "$not": { "$eq": 1 } } })).expect("a filter");
    assert_eq!(expected, Filter::Not(Box::new(Filter::Test(Field::parse("a"), Test::Equal(Scalar::Number(1.0))))));
    for written in [
        json!({ "$not": { "a": 1 } }),
        json!({ "$not": [{ "a": 1 }] }),
        json!({ "a": { "$not": [{ "$eq": 1 }] } }),
        json!({ "a": { "$ne": 1 } }),
        json!({ "$and": [{}, { "$not": [{ "a": { "$eq": 1 } }] }] }),
        json!({ "$not": { "$not": { "$not": { "a": 1 } } } }),
        json!({ "filter": { "$not": { "a": 1 } } }),
    ] {
        assert_eq!(filter(written.clone()).expect("a filter"), expected, "{written}");
    }
    // On a field that is called filter, operators stay operators.
    let on_field = filter(json!({ "filter": { "$not": { "$eq": 1 } } })).expect("a filter");
    assert!(
        matches!(on_field, Filter::Not(it) if matches!(&*it, Filter::Test(Field::Path(path), _) if path == &["filter"]))
    );
}

#[test]
fn neighbours_are_joined_by_and() {
    let joined = filter(json!({ "a": { "$gt": 3, "$lt": 5 }, "$or": [{ "b": 1 }, { "c": 1 }], "d": 1 }));
    assert!(matches!(joined.expect("a filter"), Filter::And(list) if list.len() == 4));
    assert_eq!(filter(json!({ "$and": [] })).expect("a filter"), Filter::True);
    assert_eq!(filter(json!({ "$or": [{}, { "a": 1 }] })).expect("a filter"), Filter::True);
    assert_eq!(filter(json!({ "$not": [{}] })).expect("a filter"), Filter::False);
}

#[test]
fn request_members_beside_the_filter() {
    let request = json!({
        "query": { "cursorPaging": { "limit": 10 } },
        "includeReferences": [{ "field": "author" }, { "field": "author.city", "limit": 20 }],
        "includeReferencedItems": ["tags"],
        "includeFieldGroups": ["g"],
        "returnTotalCount": true, "sortMode": "RANDOM", "consistentRead": true, "unknown": 1,
    });
    let query = Query::parse(request.as_object().expect("an object"), &QueryLimits::default()).expect("a query");
    let reference = |field: &str, limit| Reference { field: field.to_owned(), limit };
    assert_eq!(
        query.references,
        [reference("author", None), reference("author.city", Some(20)), reference("tags", None)]
    );
    assert_eq!(query.field_groups, ["g"]);
    assert_eq!(query.paging, Paging::Cursor { limit: Some(10), cursor: None });
    let plan = find(&request).expect("a plan");
    assert!(plan.total && plan.page.limit == 10);
    assert_eq!(plan.order, Order::Random { seed: "7".to_owned() }, "the context's seed stands in");
}

#[test]
fn count_needs_no_filter() -> Result<(), Fault> {
    for request in [json!({}), json!({ "filter": null }), json!({ "filter": {} })] {
        let wire = wire::Filter::parse_member(request.as_object().expect("an object"), &QueryLimits::default())?;
        assert_eq!(resolve::filter(&wire, &Schema::default())?, Filter::True);
    }
    Ok(())
}
