//! What is refused, and in which words.

use super::*;

#[test]
fn limits_are_named_with_what_was_asked() {
    let many = |text: &str, count: usize| text.repeat(count);
    let chain = |count: usize| {
        let fragment = |n: usize| format!("fragment f{n} on Query {{...f{} _collections}} ", n + 1);
        format!(
            "{{...f0}} {} fragment f{count} on Query {{_collections}}",
            (0..count).map(fragment).collect::<String>()
        )
    };
    let numbered = |text: &str, count: usize| (0..count).map(|n| text.replace('#', &n.to_string())).collect::<String>();
    for (document, limit, found) in [
        (format!("{{_collections}} #{}", many("x", 70_000)), "graphql_bytes", json!(70_016)),
        (format!("{{{}}}", many("_collections ", 5_000)), "graphql_tokens", Value::Null),
        (format!("{{{}_collections{}}}", many("...{", 70), many("}", 70)), "nesting", Value::Null),
        (format!("{{cars{{items{{{}}}}}}}", nested(8)), "graphql_depth", json!(12)),
        (chain(60), "graphql_fragments", json!(61)),
        (format!("{{{}}}", numbered("a#: carsCount ", 21)), "graphql_root_fields", json!(21)),
        ("{...F} fragment F on Query {".to_owned() + &many("carsCount ", 21) + "}", "graphql_root_fields", json!(21)),
        (format!("mutation {{{}}}", many("removeCars(id: 1) {_id} ", 21)), "graphql_mutations", json!(21)),
        (format!("{{cars{{items{{{}}}}}}}", numbered("a#: title ", 51)), "graphql_aliases", json!(51)),
        (format!("{{cars{{items{{{}}}}}}}", many("title ", 2_000)), "graphql_fields", json!(2_002)),
        ("{cars(limit: 1000) {items {tags(limit: 20) {name}}}}".to_owned(), "graphql_items", json!(21_000)),
        (
            "{carsItem(id: 1) {brand {cars(limit: 1000) {tags(limit: 1000) {_id}}}}}".to_owned(),
            "graphql_items",
            json!(1_001_002),
        ),
    ] {
        let errors = plan(&document, json!({})).err().unwrap_or_else(|| panic!("{limit} is let through"));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].extensions["limit"], limit, "{errors:?}");
        assert_eq!(errors[0].extensions.get("found").cloned().unwrap_or_default(), found, "{errors:?}");
        let most = errors[0].extensions["most"].to_string();
        assert!(errors[0].message.contains(&format!("at most {most} are let through")), "{errors:?}");
    }
}

/// So many countries within countries of the brand of a car.
fn nested(count: usize) -> String {
    format!("brand{{{}_id{}}}", "country{".repeat(count), "}".repeat(count))
}

#[test]
fn limits_count_what_variables_say() {
    let query = "query($n: Int = 1000) {cars(limit: $n) {items {tags(limit: $n) {name}}}}";
    assert!(refusal(query, json!({})).contains("1001000 items"));
    assert!(plan(query, json!({ "n": 20 })).is_ok());
    assert!(refusal(query, json!({ "n": "x" })).contains("The variable $n is \"x\", which is no Int"));
    let bulk = "mutation($i: [JSON!]!) {bulkInsertCars(items: $i) {item {tags(limit: 100) {_id}}}}";
    assert!(plan(bulk, json!({ "i": [1, 2, 3] })).is_ok());
    let many: Vec<_> = (0..1_000).collect();
    assert!(refusal(bulk, json!({ "i": many })).contains("101000 items"));
}

#[test]
fn variables_are_not_multiplied() {
    let long = "x".repeat(300_000);
    let one = "mutation($i: JSON!) {insertCars(item: $i) {_id}}";
    assert!(plan(one, json!({ "i": { "a": long } })).is_ok());
    let often = format!("mutation($i: JSON!) {{insertCars(item: {{a: [{}]}}) {{_id}}}}", "$i ".repeat(1_000));
    let refused = refusal(&often, json!({ "i": { "a": long } }));
    assert!(refused.contains("bytes of variables in its arguments; at most 4194304"), "{refused}");
}

#[test]
fn what_is_wrong_is_named() {
    for (document, variables, wants) in [
        ("", json!({}), "syntax error"),
        ("{", json!({}), "syntax error"),
        ("{cars", json!({}), "syntax error"),
        ("{cars {items {nothing}}}", json!({}), "`Cars` does not have a field `nothing`"),
        ("{tags {items {_id}}}", json!({}), "`Query` does not have a field `tags`"),
        ("{cars {items {secrets {_id}}}}", json!({}), "`Cars` does not have a field `secrets`"),
        ("{cars(language: \"de\") {hasNext}}", json!({}), "the argument `language` is not supported"),
        ("{cars(limit: \"1\") {hasNext}}", json!({}), "expected value of type Int"),
        ("{carsItem {_id}}", json!({}), "the required argument `Query.carsItem(id:)` is not provided"),
        ("mutation {insertBrands(item: {}) {_id}}", json!({}), "`Mutation` does not have a field `insertBrands`"),
        ("subscription {cars}", json!({}), "Subscriptions are not served"),
        ("{...F} fragment F on Query {...G} fragment G on Query {...F}", json!({}), "The fragment F uses itself"),
        ("query a {_collections} query b {_collections}", json!({}), "multiple operations"),
        ("query($i: ID!) {carsItem(id: $i) {_id}}", json!({}), "The variable $i is missing"),
        ("query($i: ID!) {carsItem(id: $i) {_id}}", json!({ "i": null }), "must not be null"),
        ("query($i: ID!) {carsItem(id: $i) {_id}}", json!({ "i": [1] }), "which is no ID"),
        (
            "query($s: [Sort!]) {cars(sort: $s) {hasNext}}",
            json!({ "s": { "field": "x", "way": 1 } }),
            "has the member way",
        ),
        ("query($s: [Sort!]) {cars(sort: $s) {hasNext}}", json!({ "s": [{}] }), "lacks the member field"),
        (
            "query($s: [Sort!]) {cars(sort: $s) {hasNext}}",
            json!({ "s": [{ "field": "x", "order": "UP" }] }),
            "no SortOrder",
        ),
        ("{cars {items {tags(limit: 0) {_id}}}}", json!({}), "The argument limit of tags is 0, but must be at least 1"),
        ("{cars {items {tags(offset: -1) {_id}}}}", json!({}), "must be at least 0"),
        ("mutation {patchCars(id: 1, set: 5) {_id}}", json!({}), "The argument set must be an object"),
    ] {
        let refused = refusal(document, variables);
        assert!(refused.contains(wants), "{document}: {refused}");
    }
}

#[test]
fn bodies_are_told_what_they_lack() {
    for (body, wants) in [
        (json!([]), "must be an object"),
        (json!({}), "query is missing"),
        (json!({ "query": 1 }), "query must be a string"),
        (json!({ "query": "{x}", "variables": [] }), "variables must be an object"),
        (json!({ "query": "{x}", "operationName": 5 }), "operationName must be a string"),
        (json!({ "query": "{x}", "extensions": "x" }), "extensions must be an object"),
    ] {
        let error = Request::parse(body.clone()).expect_err("refused");
        assert!(error.message().contains(wants), "{body}: {error:?}");
    }
    let nulls = json!({ "query": "{x}", "variables": null, "operationName": null, "extensions": null, "id": 5 });
    assert!(Request::parse(nulls).is_ok());
}
