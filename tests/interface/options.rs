//! Options of calls on items. Of each that the description of the interface has, what it isn't is refused with the code
//! that the client's own check has (docs/protocol/content.md §13) and with its place; what clients send is taken.

use super::refusals_content::{make, path, renew, send, whole};
use serde_json::{Value, json};
use std::time::Duration;
use stoa_http::{openapi::Listed, operations};
use stoa_testkit::{Reply, TestApp, on_both_engines};

on_both_engines! {
    async fn wrong_options_are_refused_by_every_call_on_items(engine) {
        let app = TestApp::new(engine).await;
        make(&app, "things", "ANYONE").await;
        renew(&app, "things").await;
        let (mut tried, client) = (0, app.app());
        for call in calls() {
            let body = call.whole();
            for option in &call.options {
                for (wrong, code) in option.kind.wrong() {
                    let mut broken = body.clone();
                    let place = option.put(&mut broken, wrong.clone());
                    let reply = send(&client, &call.listed, "things", &broken).await;
                    assert_refused(&reply, code, &place, &format!("{} {place}: {wrong}", call.id()));
                    tried += 1;
                }
            }
        }
        assert!(tried > 24 * 60, "only {tried} wrong options were tried");
    }

    async fn options_as_clients_send_them_are_taken(engine) {
        let app = TestApp::new(engine).await;
        make(&app, "things", "ANYONE").await;
        make_pair(&app).await;
        for call in calls() {
            let mut body = call.whole();
            let is_on_drafts = ["itemDraftCreate", "itemDraftPublish", "itemUnpublish"].contains(&call.id());
            if is_on_drafts {
                body["dataCollectionId"] = json!("pages");
            }
            let reset = async || match is_on_drafts {
                true => reset_pair(&app, call.id()).await,
                false => reset(&app).await,
            };
            reset().await;
            let reply = call.send_when_there_is_a_place(&app, &body).await;
            assert_eq!(reply.verdict(), "200", "{} {body}", call.id());
            for option in &call.options {
                for (good, verdict) in option.kind.good() {
                    let mut body = body.clone();
                    let place = option.put(&mut body, good.clone());
                    reset().await;
                    let reply = call.send_when_there_is_a_place(&app, &body).await;
                    assert_eq!(reply.verdict(), verdict, "{} {place}: {good}", call.id());
                }
            }
        }
    }

    async fn options_in_a_query_string_are_text(engine) {
        let app = TestApp::new(engine).await;
        make(&app, "things", "ANYONE").await;
        let mut asked = Vec::new();
        for call in calls().into_iter().filter(|it| it.listed.operation.request.is_none()) {
            asked.push(call.id());
            let item = if call.id() == "itemQueryByGet" { "" } else { "&dataItemId=one" };
            let address = format!("{}?dataCollectionId=things{item}", path(&call.listed, "things"));
            let pairs = call.options.iter().filter_map(|it| Some((it.pair()?, it.kind)));
            for (name, kind) in pairs {
                for (text, code) in kind.wrong_texts() {
                    let reply = app.app().send(call.listed.method.clone(), &format!("{address}&{name}={text}"), None).await;
                    assert_refused(&reply, code, &name, &format!("{} {name}={text}", call.id()));
                }
                for (text, verdict) in kind.good_texts() {
                    reset(&app).await;
                    let reply = app.app().send(call.listed.method.clone(), &format!("{address}&{name}={text}"), None).await;
                    assert_eq!(reply.verdict(), *verdict, "{} {name}={text}", call.id());
                }
            }
        }
        asked.sort_unstable();
        assert_eq!(asked, ["itemDelete", "itemGet", "itemGetByQuery", "itemQueryByGet"]);
        let more = "sortMode=RANDOM&randomOptions.seed=7&appOptions.a=1&includeReferencedItems=boss&query.fields=n";
        let reply = app.app().get(&format!("/v2/items/query?dataCollectionId=things&{more}")).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        let reply = app.app().get("/v2/items/query?dataCollectionId=things&sortMode=RANDOM&randomOptions.seed=x").await;
        assert_refused(&reply, "WDE0035", "randomOptions.seed", "a seed");
    }

    async fn wrong_options_are_told_at_once(engine) {
        let app = TestApp::new(engine).await;
        make(&app, "things", "ANYONE").await;
        let body = json!({
            "dataCollectionId": "things", "environment": "MARS", "language": "", "suppressHooks": 1, "consistentRead": "yes",
            "showDrafts": "x", "appOptions": [], "publishPluginOptions": { "includeDraftItems": "x" }, "unknown": "x",
        });
        let expected = [
            "environment", "language", "suppressHooks", "consistentRead", "showDrafts", "appOptions",
            "publishPluginOptions.includeDraftItems",
        ];
        for path in ["/v2/items/count", "/v2/items/truncate", "/v2/bulk/items/insert"] {
            let reply = app.app().post(path, &body).await;
            assert_eq!((reply.verdict().as_str(), places(&reply)), ("400 WDE0018", expected.map(str::to_owned).to_vec()), "{path}");
        }
    }
}

#[test]
fn options_are_those_of_the_description() {
    let calls = calls();
    let of = |id: &str| {
        let call = calls.iter().find(|it| it.id() == id).unwrap_or_else(|| panic!("no {id}"));
        let mut found: Vec<_> = call.options.iter().map(Described::name).collect();
        found.sort();
        found.join(" ")
    };
    assert!(calls.len() >= 24, "{}", calls.len());
    let shared = "appOptions consistentRead environment";
    assert_eq!(
        of("itemQueryByGet"),
        format!(
            "{shared} includeReferences[].limit language publishPluginOptions \
             publishPluginOptions.includeDraftItems query.cursorPaging.limit query.paging.limit query.paging.offset \
             returnTotalCount suppressHooks"
        )
    );
    assert_eq!(
        of("itemAggregatePipeline"),
        format!(
            "{shared} language pipeline.cursorPaging.limit pipeline.paging.limit pipeline.paging.offset \
             pipeline.stages[].limit pipeline.stages[].skip publishPluginOptions \
             publishPluginOptions.includeDraftItems returnTotalCount showDrafts suppressHooks"
        )
    );
    assert_eq!(
        of("itemInsert"),
        "appOptions environment includeReferencedItems language publishPluginOptions \
         publishPluginOptions.includeDraftItems saveReferences suppressHooks"
    );
}

/// A call on items or on links between them, with the options that the description has of it.
struct Call {
    listed: Listed,
    /// The schema of what it takes, in its body or packed in its query.
    schema: Value,
    options: Vec<Described>,
}

/// An option: the steps to its place in a request, and of which kind it is.
struct Described {
    steps: Vec<Step>,
    kind: Kind,
}

#[derive(Clone, PartialEq)]
enum Step {
    Member(String),
    Element,
}

#[derive(Clone, Copy)]
enum Kind {
    Flag,
    Object,
    Environment,
    ReadLanguage,
    WriteLanguage,
    Limit,
    /// The limit of a stage, which has no maximum.
    StageLimit,
    Skip,
}

impl Call {
    fn id(&self) -> &'static str {
        self.listed.operation.id
    }

    /// A request with everything that the description has of the call.
    fn whole(&self) -> Value {
        let Value::Object(mut members) = whole(self.id(), "things") else { panic!("a request is an object") };
        members.retain(|name, _| self.schema["properties"].get(name).is_some());
        members.into()
    }

    /// The answer when jobs by filter that were begun before have left a place for another.
    async fn send_when_there_is_a_place(&self, app: &TestApp, body: &Value) -> Reply {
        for _ in 0..1_000 {
            let reply = send(&app.app(), &self.listed, "things", body).await;
            if reply.verdict() != "429 THROTTLED_FEATURE" {
                return reply;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("jobs don't end");
    }
}

/// Every call of the description that is about items.
fn calls() -> Vec<Call> {
    let document: Value = serde_json::from_slice(stoa_http::document().text()).unwrap();
    let described = |id: &str| {
        let calls = document["paths"].as_object().unwrap().values().flat_map(|it| it.as_object().unwrap().values());
        calls.into_iter().find(|it| it["operationId"] == id).cloned().unwrap()
    };
    let calls = operations().into_iter().filter_map(|listed| {
        let call = described(listed.operation.id);
        let is_about_items = ["Items", "References"].iter().any(|it| call["tags"][0] == *it);
        is_about_items.then(|| {
            let schema = taken(&document, &call);
            let mut options = Vec::new();
            collect(&document, &schema, &mut Vec::new(), &mut options);
            Call { listed, schema, options }
        })
    });
    calls.collect()
}

/// The schema of what a call takes.
fn taken(document: &Value, call: &Value) -> Value {
    let packed = call["parameters"].as_array().into_iter().flatten().find(|it| it["name"] == ".r");
    let mut schema = match packed {
        Some(it) => &it["schema"]["contentSchema"],
        None => &call["requestBody"]["content"]["application/json"]["schema"],
    };
    while let Some(name) = named(schema) {
        schema = &document["components"]["schemas"][name];
    }
    assert!(schema["properties"].is_object(), "{} has no schema of what it takes", call["operationId"]);
    schema.clone()
}

/// The name of the schema that another one refers to.
fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// Adds the options that a schema has, which is at these steps.
fn collect(document: &Value, schema: &Value, steps: &mut Vec<Step>, found: &mut Vec<Described>) {
    let name = named(schema).unwrap_or_default();
    // Options stand in the first five steps; behind them are expressions within expressions.
    if steps.len() > 5 || matches!(name, "Filter" | "ItemInput") {
        return;
    }
    let schema = if name.is_empty() { schema } else { &document["components"]["schemas"][name] };
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|it| it == kind),
        it => it == kind,
    };
    let last = match steps.last() {
        Some(Step::Member(it)) => it.as_str(),
        _ => "",
    };
    let kind = match (name, last) {
        ("Environment", _) => Some(Kind::Environment),
        ("ReadLanguage", _) => Some(Kind::ReadLanguage),
        ("WriteLanguage", _) => Some(Kind::WriteLanguage),
        ("AppOptions" | "PublishPluginOptions", _) => Some(Kind::Object),
        (_, "limit") if steps.contains(&Step::Member("stages".to_owned())) => Some(Kind::StageLimit),
        (_, "limit") if is("integer") => Some(Kind::Limit),
        (_, "offset" | "skip") if is("integer") => Some(Kind::Skip),
        _ if is("boolean") => Some(Kind::Flag),
        _ => None,
    };
    found.extend(kind.map(|kind| Described { steps: steps.clone(), kind }));
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        steps.push(Step::Member(name.clone()));
        collect(document, member, steps, found);
        steps.pop();
    }
    if schema["items"].is_object() {
        steps.push(Step::Element);
        collect(document, &schema["items"], steps, found);
        steps.pop();
    }
}

impl Described {
    /// `query.paging.limit`, `includeReferences[].limit`.
    fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.steps {
            match step {
                Step::Member(it) if name.is_empty() => name.push_str(it),
                Step::Member(it) => name.extend([".", it]),
                Step::Element => name.push_str("[]"),
            }
        }
        name
    }

    /// The name of a pair of a query string, where the option can stand in one.
    fn pair(&self) -> Option<String> {
        (!self.steps.contains(&Step::Element)).then(|| self.name())
    }

    /// Puts a value in its place in a request, and answers the place.
    fn put(&self, request: &mut Value, value: Value) -> String {
        let (mut place, mut slot) = (String::new(), request);
        for (n, step) in self.steps.iter().enumerate() {
            match step {
                Step::Member(name) => {
                    if !slot.is_object() {
                        *slot = json!({});
                    }
                    place.push_str(if place.is_empty() { "" } else { "." });
                    place.push_str(name);
                    slot = &mut slot[name.as_str()];
                }
                Step::Element => {
                    if !slot.is_array() {
                        *slot = json!([{}]);
                    }
                    // The one that has what comes next: of stages each has a member of its own.
                    let Some(Step::Member(next)) = self.steps.get(n + 1) else { panic!("a list of options") };
                    let list = slot.as_array_mut().unwrap();
                    let at = list.iter().position(|it| it.get(next).is_some()).unwrap_or(0);
                    place.push_str(&format!("[{at}]"));
                    slot = &mut list[at];
                }
            }
        }
        *slot = value;
        place
    }
}

impl Kind {
    /// What it isn't, with the code of the refusal: ten and more of each.
    fn wrong(self) -> Vec<(Value, &'static str)> {
        let all = |code: &'static str, list: Value| -> Vec<_> {
            list.as_array().unwrap().iter().map(|it| (it.clone(), code)).collect()
        };
        let numbers = |below: &'static str, list: Value| {
            let others = all("WDE0032", json!([null, "5", "", "x", true, [], [5], {}]));
            [others, all("WDE0035", json!([1.5, 1e300])), all(below, list)].concat()
        };
        match self {
            Self::Flag => all("WDE0018", json!(["true", "false", "yes", "", 0, 1, 1.5, [], [true], {}, { "a": true }])),
            Self::Object => all("WDE0018", json!(["", "x", "{}", 0, 1, 1.5, true, false, [], [{}]])),
            Self::Environment => all("WDE0018", json!(["", "live", "LIVE ", "MARS", 0, 1, true, [], ["LIVE"], {}])),
            Self::ReadLanguage | Self::WriteLanguage => {
                all("WDE0018", json!(["", " ", "d", "de_DE", "de-", "german!", 7, true, [], ["de"], {}]))
            }
            Self::Limit => [numbers("WDE0033", json!([0, -1])), all("WDE0036", json!([1_000_000_000]))].concat(),
            Self::StageLimit => numbers("WDE0033", json!([0, -1])),
            Self::Skip => numbers("WDE0034", json!([-1, -7])),
        }
    }

    /// What clients send, with the answer to it.
    fn good(self) -> Vec<(Value, &'static str)> {
        let all = |list: Value| -> Vec<_> { list.as_array().unwrap().iter().map(|it| (it.clone(), "200")).collect() };
        match self {
            Self::Flag => all(json!([true, false, null])),
            Self::Object => all(json!([{}, null])),
            Self::Environment => all(json!(["LIVE", "SANDBOX_PREFERRED"])),
            Self::ReadLanguage => all(json!(["de", "fr-CA", "zh-Hant-TW", "es-419", "x-house", null])),
            Self::WriteLanguage => {
                vec![(json!("de"), "428 WDE0119"), (json!("zh-Hant-TW"), "428 WDE0119"), (json!(null), "200")]
            }
            Self::Limit | Self::StageLimit => all(json!([1, 5])),
            Self::Skip => all(json!([0, 1])),
        }
    }

    fn wrong_texts(self) -> Vec<(&'static str, &'static str)> {
        let all = |texts: &'static str| -> Vec<_> { texts.split(' ').map(|it| (it, "WDE0018")).collect() };
        let numbers = |below: &'static str| -> Vec<_> {
            let others = "%205 x 0x5 5x NaN null Infinity +5 .5 ".split(' ').map(|it| (it, "WDE0032"));
            others.chain([("1.5", "WDE0035"), ("1e300", "WDE0035"), ("-1", below)]).collect()
        };
        match self {
            Self::Flag => all("yes TRUE True 1 0 null t on truefalse true%20 "),
            Self::Object => all("x true false 0 1 null {} [] true%20 "),
            Self::Environment => all("live LIVE%20 MARS 0 1 null true [] {} "),
            Self::ReadLanguage | Self::WriteLanguage => all("d de_DE de- -de german! 7 de%20 de--CH %C3%A9t%C3%A9 "),
            Self::Limit | Self::StageLimit => numbers("WDE0033"),
            Self::Skip => numbers("WDE0034"),
        }
    }

    fn good_texts(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Flag => &[("true", "200"), ("false", "200")],
            Self::Object => &[],
            Self::Environment => &[("LIVE", "200"), ("SANDBOX_PREFERRED", "200")],
            Self::ReadLanguage => &[("de", "200"), ("fr-CA", "200")],
            Self::WriteLanguage => &[("de", "428 WDE0119")],
            Self::Limit | Self::StageLimit => &[("1", "200"), ("5", "200")],
            Self::Skip => &[("0", "200"), ("1", "200")],
        }
    }
}

/// Makes the items and links those that calls expect.
async fn reset(app: &TestApp) {
    renew(app, "things").await;
    let body = json!({ "dataCollectionId": "things", "dataItemId": "new" });
    let _ = app.app().post("/v2/items/remove", &body).await;
    let link = json!({ "referringItemFieldName": "peers", "referringItemId": "one", "referencedItemId": "two" });
    let body = json!({ "dataCollectionId": "things", "dataItemReferences": [link] });
    let reply = app.app().post("/v2/bulk/items/remove-references", &body).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

/// A collection with drafts of its own, which doesn't go with the links of the other.
async fn make_pair(app: &TestApp) {
    let fields = json!([{ "key": "n", "type": "NUMBER" }]);
    let object =
        json!({ "id": "pages", "fields": fields, "plugins": [{ "type": "DRAFT_ITEMS" }], "dataPermissions": {} });
    let reply = app.app().post("/v2/collections", &json!({ "collection": object })).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

/// Has the published item and its draft be there as a call on drafts needs them.
async fn reset_pair(app: &TestApp, call: &str) {
    renew(app, "pages").await;
    match call {
        "itemDraftPublish" => renew(app, "pages__drafts").await,
        _ => {
            let draft = json!({ "dataCollectionId": "pages__drafts", "dataItemId": "one" });
            let _ = app.app().post("/v2/items/remove", &draft).await;
        }
    }
}

fn assert_refused(reply: &Reply, code: &str, place: &str, what: &str) {
    assert_eq!(reply.verdict(), format!("400 {code}"), "{what}: {:?}", reply.body);
    assert!(places(reply).iter().any(|it| it == place), "{what}: {:?}", places(reply));
}

/// The places that a refusal names.
fn places(reply: &Reply) -> Vec<String> {
    let violations = reply.json()["details"]["validationError"]["fieldViolations"].take();
    violations.as_array().into_iter().flatten().map(|it| it["field"].as_str().unwrap().to_owned()).collect()
}
