//! What a search tells beside its items: what of them answers, and other words that may be meant.

use crate::{
    common::*,
    hooks::host,
    search_call::{Asked, OWNER, layout, search},
    search_job::{caught_up, serve},
    translations::{multilingual_world, update_in},
};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use stoa_content::{Content, ContentLimits, Page};
use stoa_kernel::{Caller, Code};
use stoa_search::{
    document::FieldText,
    question::{Mode, Options, Question, Suggestions},
    segment::Builder,
};
use stoa_testkit::on_both_engines;

/// Highlights are pieces of what is shown, of all that answers in it and of nothing else; suggestions are those of an index
/// of all items, and only for who sees them all.
pub async fn are_right(
    world: &World,
    caller: &Caller,
    owner: Option<&str>,
    asked: &Asked,
    items: &[(u64, Map<String, Value>)],
) {
    let Some(question) = asked.question(&layout(), owner) else { return };
    let mut body = asked.body(("paging", json!({ "limit": 50 })));
    (body["search"]["highlight"], body["returnSuggestions"]) = (json!({ "maxLength": 1000 }), true.into());
    let page = search(world, caller, body.clone()).await.unwrap();
    for element in elements(&page) {
        let shown = element["data"].as_object().unwrap();
        check(
            &element["highlights"],
            &layout().named_texts(&asked.within(), shown),
            asked,
            &format!("{body} {element}"),
        );
    }
    let expected = owner.is_none().then(|| suggestions(&question, &asked.expression, items));
    let told = page.suggestions.map(|it| serde_json::from_str::<Value>(&it).unwrap());
    assert_eq!(told, expected, "{body} {caller:?}");
}

fn check(highlights: &Value, texts: &[(&str, Cow<'_, str>)], asked: &Asked, context: &str) {
    let options = Options { mode: Mode::Or, fuzzy: asked.is_fuzzy(), fields: u8::MAX, rarity: true };
    let question = Question::parse(&asked.expression, options).unwrap().unwrap();
    let answers = |text: &str| question.is_answered_by(&[FieldText { bit: 1, is_display: false, text }]);
    let with_answers: Vec<_> = texts.iter().filter(|it| answers(&it.1)).collect();
    let names: Vec<_> = highlights.as_array().unwrap().iter().map(|it| it["fieldName"].clone()).collect();
    assert_eq!(names, with_answers.iter().map(|it| it.0).collect::<Vec<_>>(), "{context}");
    for (highlight, (_, text)) in highlights.as_array().unwrap().iter().zip(with_answers) {
        let [fragment] = &highlight["fragments"].as_array().unwrap()[..] else { panic!("{context}") };
        let parts = fragment["parts"].as_array().unwrap();
        let joined: String = parts.iter().map(|it| it["text"].as_str().unwrap()).collect();
        assert_eq!(joined, *text, "{context}");
        assert!(parts.iter().all(|it| answers(it["text"].as_str().unwrap()) == it["isMatch"]), "{context}");
        assert_eq!(
            (&fragment["hasTextBefore"], &fragment["hasTextAfter"]),
            (&json!(false), &json!(false)),
            "{context}"
        );
    }
}

/// Those of an index that is built of the items.
fn suggestions(question: &Question, expression: &str, items: &[(u64, Map<String, Value>)]) -> Value {
    let mut builder = Builder::default();
    for (rid, item) in items {
        layout().with_texts(item, |texts| builder.put(*rid, texts));
    }
    let index = [builder.build()];
    let held = question.held_until(&index, &|| false).unwrap().unwrap();
    let found = question.doubts(expression, &held).map(|it| it.suggestions_until(&index, &|| false).unwrap().unwrap());
    let Suggestions { expression, words } = found.unwrap_or_default();
    let words = words.iter().map(|it| {
        let alternatives = it.alternatives.iter().map(|it| json!({ "word": it.word, "itemCount": it.items }));
        json!({ "word": it.word, "alternatives": alternatives.collect::<Vec<_>>() })
    });
    let mut told = json!({ "words": words.collect::<Vec<_>>() });
    if let Some(it) = expression {
        told["expression"] = it.into();
    }
    told
}

fn elements(page: &Page) -> Vec<Value> {
    serde_json::from_str(&format!("[{}]", page.elements)).unwrap()
}

fn request(search: Value) -> Value {
    json!({ "dataCollectionId": "c", "search": search, "returnSuggestions": true })
}

fn told(page: &Page) -> Option<Value> {
    page.suggestions.as_ref().map(|it| serde_json::from_str(it).unwrap())
}

/// The matches of the first item of a page.
fn matches(page: &Page) -> Vec<String> {
    let first = elements(page).remove(0);
    let fields = first["highlights"].as_array().unwrap().iter();
    let fragments = fields.flat_map(|it| it["fragments"].as_array().unwrap());
    let parts = fragments.flat_map(|it| it["parts"].as_array().unwrap()).filter(|it| it["isMatch"] == true);
    parts.map(|it| it["text"].as_str().unwrap().to_owned()).collect()
}

on_both_engines! {
    async fn nothing_is_told_that_is_not_asked_for(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "New York" })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let body = |highlight: Value, suggests: Value| {
            json!({ "dataCollectionId": "c", "search": { "search": { "expression": "york" }, "highlight": highlight }, "returnSuggestions": suggests })
        };
        let plain = json!({ "dataCollectionId": "c", "search": { "search": { "expression": "york" } } });
        let plain = search(&world, &app(), plain).await.unwrap();
        let without = search(&world, &app(), body(Value::Null, false.into())).await.unwrap();
        assert_eq!((without.elements, without.suggestions), (plain.elements, None));
        let blank = json!({ "dataCollectionId": "c", "search": { "highlight": {} }, "returnSuggestions": true });
        let page = search(&world, &app(), blank).await.unwrap();
        assert_eq!((&elements(&page)[0]["highlights"], told(&page)), (&json!([]), Some(json!({ "words": [] }))));
        let none = search(&world, &app(), request(json!({ "search": { "expression": "none" }, "highlight": {} }))).await.unwrap();
        assert_eq!((none.elements.as_str(), told(&none)), ("", Some(json!({ "words": [] }))));
    }

    async fn highlights_are_of_fields_that_are_searched_and_shown(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "red car", "tags": ["blue", "red boat"] })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let named = async |highlight: Value, within: Value, fields: Value| {
            let body = request(json!({ "search": { "expression": "red", "fields": within }, "fields": fields, "highlight": highlight }));
            let page = search(&world, &app(), body).await.map_err(|it| it.code())?;
            let first = elements(&page).remove(0);
            Ok(first["highlights"].as_array().unwrap().iter().map(|it| it["fieldName"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
        };
        let (title, tags) = ("title".to_owned(), "tags".to_owned());
        for (highlight, within, fields, expected) in [
            (json!({}), json!([]), json!([]), Ok(vec![title.clone(), tags.clone()])),
            (json!({ "fields": ["tags"] }), json!([]), json!([]), Ok(vec![tags.clone()])),
            (json!({}), json!(["title"]), json!([]), Ok(vec![title.clone()])),
            (json!({}), json!([]), json!(["tags"]), Ok(vec![tags.clone()])),
            (json!({ "fields": ["title"] }), json!([]), json!(["title"]), Ok(vec![title.clone()])),
            (json!({ "fields": ["tags"] }), json!(["title"]), json!([]), Err(Code::FieldInvalid)),
            (json!({ "fields": ["n"] }), json!([]), json!([]), Err(Code::FieldInvalid)),
            (json!({ "fields": ["title"] }), json!([]), json!(["tags"]), Err(Code::FieldInvalid)),
        ] {
            assert_eq!(named(highlight.clone(), within.clone(), fields.clone()).await, expected, "{highlight} {within} {fields}");
        }
        // Who may not read is told nothing of the fields.
        let world = World::with_levels(engine, "PRIVILEGED", "ANYONE", "ANYONE", "ANYONE").await;
        let body = request(json!({ "search": { "expression": "red" }, "highlight": { "fields": ["none"] } }));
        assert_eq!(search(&world, &visitor("v"), body).await.err().map(|it| it.code()), Some(Code::PermissionDenied));
    }

    async fn highlights_are_in_the_language_of_the_items(engine) {
        let world = multilingual_world(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "Red house", "n": 1 })).await.unwrap();
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": "Großes Haus", "n": 1 })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let asked = async |expression: &str, language: Option<&str>| {
            let mut body = request(json!({ "search": { "expression": expression }, "highlight": {} }));
            body["language"] = language.into();
            search(&world, &app(), body).await.unwrap()
        };
        assert_eq!(matches(&asked("grosses", Some("de")).await), ["Großes"]);
        assert_eq!(matches(&asked("house", Some("fr")).await), ["house"]);
        // Words of the index of the language alone.
        let words = async |expression: &str, language: Option<&str>| {
            let expression = told(&asked(expression, language).await).unwrap()["expression"].clone();
            expression.as_str().map(str::to_owned)
        };
        assert_eq!(words("hasu", Some("de")).await.as_deref(), Some("haus"));
        assert_eq!((words("hosue", Some("de")).await, words("hosue", None).await.as_deref()), (None, Some("house")));
    }

    async fn hooks_decide_what_is_told(engine) {
        let world = World::open(engine).await;
        world.content.keep_hooks(host());
        world.insert(&app(), json!({ "_id": "a", "title": "red secret" })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let asked = async |expression: &str| {
            search(&world, &visitor("v"), request(json!({ "search": { "expression": expression }, "highlight": {} }))).await.unwrap()
        };
        let page = asked("secret sercet").await;
        assert_eq!((matches(&page), told(&page).unwrap()["expression"].clone()), (vec!["secret".to_owned()], json!("secret secret")));
        for (source, expected) in [
            ("export function c_afterQuery(item) { return { ...item, title: 'red' } }", vec![]),
            ("export function c_afterQuery(item) { return { ...item, title: 'no secret' } }", vec!["secret".to_owned()]),
            ("export function c_afterQuery(item) { return { _id: item._id } }", vec![]),
            ("export function c_beforeQuery(query) { return query }", vec!["secret".to_owned()]),
        ] {
            world.content.hooks_deploy(&world.site, &app(), source).await.unwrap();
            let page = asked("secret sercet").await;
            assert_eq!((matches(&page), told(&page)), (expected, None), "{source}");
        }
    }

    async fn hooks_are_not_told_by_what_is_refused(engine) {
        let world = World::open(engine).await;
        world.content.keep_hooks(host());
        world.insert(&app(), json!({ "_id": "a", "title": "red car", "tags": ["red boat"] })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let asked = async |content: &Content, fields: Value, highlight: Value| {
            let body = request(json!({ "search": { "expression": "red" }, "fields": fields, "highlight": highlight }));
            let page = content.item_search(&world.site, &visitor("v"), None, body.as_object().unwrap()).await.map_err(|it| it.code())?;
            Ok(elements(&page).iter().map(|it| it["highlights"].as_array().map(Vec::len)).collect::<Vec<_>>())
        };
        // A field that the hook leaves out isn't one that the caller left out.
        let narrows = "export function c_beforeQuery(query) { return query.fields('title') }";
        world.content.hooks_deploy(&world.site, &app(), narrows).await.unwrap();
        let both = json!({ "fields": ["title", "tags"] });
        assert_eq!(asked(&world.content, json!([]), both.clone()).await, Ok(vec![Some(1)]));
        assert_eq!(asked(&world.content, json!(["title", "tags"]), both.clone()).await, Ok(vec![Some(1)]));
        assert_eq!(asked(&world.content, json!(["title"]), both.clone()).await, Err(Code::FieldInvalid));
        // What highlights come to is a failure of the call, as any other.
        let answers = "export function c_onFailure(error) { if (error.code !== 'WDE0109') throw error; return [] }";
        world.content.hooks_deploy(&world.site, &app(), answers).await.unwrap();
        let limits = ContentLimits { page_bytes: 400, ..ContentLimits::default() };
        let small = Content::new(world.test.world.clone(), limits);
        small.keep_hooks(host());
        assert_eq!(asked(&small, json!([]), Value::Null).await, Ok(vec![None]));
        assert_eq!(asked(&small, json!([]), both).await, Ok(vec![]));
    }

    async fn words_of_fields_that_are_not_searched_are_not_told(engine) {
        let world = World::new(engine).await;
        let fields: Vec<_> = (0..9).map(|n| json!({ "key": format!("f{n}"), "type": "TEXT" })).collect();
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        world.create_with("c", json!({ "dataPermissions": levels, "fields": fields })).await;
        world.insert(&app(), json!({ "_id": "a", "f0": "boat", "f7": "york", "f8": "yrok yorkshire" })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let asked = async |expression: &str, within: Value| {
            let page = search(&world, &app(), request(json!({ "search": { "expression": expression, "fields": within } }))).await.unwrap();
            told(&page).map(|it| it["expression"].as_str().map(str::to_owned))
        };
        assert_eq!(asked("baot", json!(["f0"])).await, Some(Some("boat".to_owned())));
        assert_eq!(asked("baot", json!(["f1"])).await, Some(None));
        // Lists don't tell the eighth field from the ninth.
        assert_eq!(asked("yorkshier", json!(["f7"])).await, None);
        assert_eq!(asked("yrok", json!(["f0", "f7"])).await, None);
        assert_eq!(asked("yorkshier", json!(["f7", "f8"])).await, Some(Some("yorkshire".to_owned())));
        assert_eq!(asked("yorkshier", json!([])).await, Some(Some("yorkshire".to_owned())));
    }

    async fn suggestions_are_for_who_may_read_all(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
        world.save(&member(OWNER), json!({ "_id": "a", "title": "york" })).await.unwrap();
        world.insert(&app(), json!({ "_id": "b", "title": "yorkshire" })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let asked = async |caller: Caller| search(&world, &caller, request(json!({ "search": { "expression": "yrok" } }))).await;
        let york = json!({ "expression": "york", "words": [{ "word": "yrok", "alternatives": [{ "word": "york", "itemCount": 1 }] }] });
        for caller in [app(), owner(), editor()] {
            assert_eq!(told(&asked(caller).await.unwrap()), Some(york.clone()));
        }
        // Not even of their own items: which words are near enough depends on those of others.
        for caller in [member(OWNER), member("other"), visitor("v")] {
            assert_eq!(told(&asked(caller).await.unwrap()), None);
        }
    }

    async fn what_is_told_is_bounded(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "long", "title": "a ".repeat(500) })).await.unwrap();
        let near = (0..200_u8).map(|n| json!({ "_id": format!("i{n}"), "title": format!("bbbbbb{}{}", char::from(b'c' + n / 20), char::from(b'c' + n % 20)) }));
        world.bulk(&app(), "insert", &many(near)).await.unwrap();
        let serving = serve(&world).await;
        caught_up(&world).await;
        serving.end().await;
        let of = |page_bytes: usize, search_bytes: usize| {
            let limits = ContentLimits { page_bytes, search_bytes, searches_bytes: 1 << 20, ..ContentLimits::default() };
            Content::new(world.test.world.clone(), limits)
        };
        let ask = async |content: &Content, search: Value, suggests: bool| {
            let body = json!({ "dataCollectionId": "c", "search": search, "returnSuggestions": suggests });
            content.item_search(&world.site, &app(), None, body.as_object().unwrap()).await
        };
        let code = async |content: &Content, expression: &str, highlight: Value, suggests: bool| {
            let search = json!({ "search": { "expression": expression }, "highlight": highlight });
            ask(content, search, suggests).await.err().map(|it| it.code())
        };
        let content = of(4_000, 1 << 20);
        assert_eq!(code(&content, "a", Value::Null, true).await, None);
        assert_eq!(code(&content, "a", json!({}), false).await, Some(Code::PayloadTooLarge), "a part for each letter");
        assert_eq!(code(&content, "a", json!({ "maxLength": 20 }), false).await, None);
        let content = of(1 << 20, 20_000);
        // The lists of words like it are too many: what is found is told without them, in whatever order.
        for sort in [json!([]), json!([{ "fieldName": "title", "order": "ASC" }])] {
            let search = json!({ "search": { "expression": "a bbbbbbbb" }, "sort": sort });
            let plain = ask(&content, search.clone(), false).await.unwrap();
            let page = ask(&content, search, true).await.unwrap();
            assert_eq!((page.count, page.elements, page.suggestions), (1, plain.elements, None), "{sort}");
        }
        let search = json!({ "search": { "expression": "a bbbbbbbb" } });
        let page = ask(&of(1 << 20, 1 << 20), search, true).await.unwrap();
        assert_eq!(told(&page).unwrap()["words"].as_array().unwrap().len(), 1, "there is room");
    }
}
