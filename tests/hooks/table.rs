//! Every call on items, with every way in which a hook before or after it may end: what the caller is told, and what is
//! stored then.

use super::*;
use stoa_testkit::TestClient;

/// What is done, and which hooks are asked: `before` and `after` with this noun.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Act {
    Insert,
    BulkInsert,
    SaveNew,
    BulkSave,
    Update,
    BulkUpdate,
    Save,
    Patch,
    BulkPatch,
    GraphqlPatch,
    Remove,
    BulkRemove,
    Get,
    Query,
    Search,
    GraphqlList,
    Count,
    Distinct,
}

const ACTS: [Act; 18] = [
    Act::Insert,
    Act::BulkInsert,
    Act::SaveNew,
    Act::BulkSave,
    Act::Update,
    Act::BulkUpdate,
    Act::Save,
    Act::Patch,
    Act::BulkPatch,
    Act::GraphqlPatch,
    Act::Remove,
    Act::BulkRemove,
    Act::Get,
    Act::Query,
    Act::Search,
    Act::GraphqlList,
    Act::Count,
    Act::Distinct,
];

/// How a hook ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Value,
    WrongType,
    /// The code of it, what the caller is told of what was thrown, and the code of the error.
    Failure(&'static str, Told, &'static str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Told {
    Error,
    Late,
    Thrown,
    Nothing,
}

const ENDLESS: &str = "for (;;) {}";
/// Ends that come at once, or with the memory.
const SOON: [End; 6] = [
    End::Value,
    End::WrongType,
    End::Failure("throw Object.assign(new RangeError('no'), { code: 'NO' })", Told::Error, "WDE0078"),
    End::Failure("throw { why: 1 }", Told::Thrown, "WDE0078"),
    End::Failure("return Promise.reject(new TypeError('late'))", Told::Late, "WDE0078"),
    End::Failure("const all = []; for (;;) all.push(new Array(100000).fill(1))", Told::Nothing, "WDE0150"),
];
/// Those that the time of a call ends: the engine stops the first, and the server kills the process of the second.
const IN_TIME: [End; 2] = [
    End::Failure(ENDLESS, Told::Nothing, "WDE0172"),
    End::Failure("const a = []; a[4e9] = 1; a.reverse()", Told::Nothing, "WDE0172"),
];
/// The process is killed by others meanwhile.
const KILLED: End = End::Failure(ENDLESS, Told::Nothing, "WDE0150");

/// The prices of the items that are there at first.
fn at_first() -> Value {
    json!({ "a": 1, "b": 2 })
}

impl Told {
    fn data(self) -> Option<Value> {
        match self {
            Self::Error => Some(json!({ "jsErrorValue": { "name": "RangeError", "message": "no", "code": "NO" } })),
            Self::Late => Some(json!({ "jsErrorValue": { "name": "TypeError", "message": "late" } })),
            Self::Thrown => Some(json!({ "value": { "why": 1 } })),
            Self::Nothing => None,
        }
    }
}

impl Act {
    /// Sends 3 as the price of what it writes.
    async fn request(self, client: &TestClient<'_>) -> Reply {
        let of_cars = |mut members: Value| {
            members["dataCollectionId"] = json!("cars");
            members
        };
        let whole = |id: &str| of_cars(json!({ "dataItem": { "data": { "_id": id, "price": 3 } } }));
        let many =
            |id: &str| of_cars(json!({ "dataItems": [{ "data": { "_id": id, "price": 3 } }], "returnEntity": true }));
        let set = json!([{ "fieldPath": "price", "action": "SET_FIELD", "setFieldOptions": { "value": 3 } }]);
        let patch = json!({ "dataItemId": "a", "fieldModifications": set });
        let (path, body) = match self {
            Self::Get => return client.get("/v2/items/a?dataCollectionId=cars").await,
            Self::Insert => ("/v2/items", whole("new")),
            Self::BulkInsert => ("/v2/bulk/items/insert", many("new")),
            Self::SaveNew => ("/v2/items/save", whole("new")),
            Self::BulkSave => ("/v2/bulk/items/save", many("new")),
            Self::Update => ("/v2/items/update", whole("a")),
            Self::BulkUpdate => ("/v2/bulk/items/update", many("a")),
            Self::Save => ("/v2/items/save", whole("a")),
            Self::Patch => ("/v2/items/patch", of_cars(json!({ "patch": patch }))),
            Self::BulkPatch => ("/v2/bulk/items/patch", of_cars(json!({ "patches": [patch], "returnEntity": true }))),
            Self::GraphqlPatch => {
                ("/graphql/v1", json!({ "query": "mutation {it: patchCars(id: \"a\", set: {price: 3}) {price}}" }))
            }
            Self::Remove => ("/v2/items/remove", of_cars(json!({ "dataItemId": "a" }))),
            Self::BulkRemove => {
                ("/v2/bulk/items/remove", of_cars(json!({ "dataItemIds": ["a"], "returnEntity": true })))
            }
            Self::Query => ("/v2/items/query", of_cars(json!({ "query": { "sort": [{ "fieldName": "price" }] } }))),
            Self::Search => ("/v2/items/search", of_cars(json!({ "search": { "sort": [{ "fieldName": "price" }] } }))),
            Self::GraphqlList => {
                ("/graphql/v1", json!({ "query": "{it: cars(sort: [{field: \"price\"}]) {items {price}}}" }))
            }
            Self::Count => ("/v2/items/count", of_cars(json!({}))),
            Self::Distinct => ("/v2/items/query-distinct-values", of_cars(json!({ "fieldName": "price" }))),
        };
        client.post(path, &body).await
    }

    /// The numbers that it answered: prices, or how many there are; else the code of the error and its data.
    fn answered(self, reply: &Reply) -> Result<Value, (String, Value)> {
        let told = reply.json();
        let error = match self {
            Self::GraphqlPatch | Self::GraphqlList => told.pointer("/errors/0/extensions"),
            _ if reply.status != 200 => told.pointer("/details/applicationError"),
            _ => told.pointer("/results/0/itemMetadata/error"),
        };
        if let Some(error) = error {
            let data = error.get("data").unwrap_or(error);
            return Err((error["code"].as_str().unwrap_or_default().to_owned(), data.clone()));
        }
        let prices = |list: &Value, path: &str| -> Value {
            list.as_array().unwrap_or_else(|| panic!("{told}")).iter().map(|it| it.pointer(path).cloned()).collect()
        };
        Ok(match self {
            Self::Query | Self::Search => prices(&told["dataItems"], "/data/price"),
            Self::Count => json!([told["totalCount"]]),
            Self::Distinct => told["distinctValues"].clone(),
            Self::GraphqlList => prices(&told["data"]["it"]["items"], "/price"),
            Self::GraphqlPatch => json!([told["data"]["it"]["price"]]),
            Self::BulkInsert | Self::BulkSave | Self::BulkUpdate | Self::BulkPatch | Self::BulkRemove => {
                prices(&told["results"], "/dataItem/data/price")
            }
            _ => json!([told["dataItem"]["data"]["price"]]),
        })
    }

    /// What it answers, and the prices that are stored then: without hooks or with what they leave, after a hook
    /// before it, after one after it.
    fn expected(self) -> [(Value, Value); 3] {
        let (first, without_a) = (at_first(), json!({ "b": 2 }));
        let wrote = |id: &str, price: i64| {
            let mut prices = at_first();
            prices[id] = json!(price);
            prices
        };
        match self {
            Self::Insert | Self::BulkInsert | Self::SaveNew | Self::BulkSave => {
                [(json!([3]), wrote("new", 3)), (json!([7]), wrote("new", 7)), (json!([7]), wrote("new", 3))]
            }
            Self::Update | Self::BulkUpdate | Self::Save | Self::Patch | Self::BulkPatch | Self::GraphqlPatch => {
                [(json!([3]), wrote("a", 3)), (json!([7]), wrote("a", 7)), (json!([7]), wrote("a", 3))]
            }
            Self::Remove | Self::BulkRemove => {
                [(json!([1]), without_a.clone()), (json!([1]), without_a.clone()), (json!([7]), without_a)]
            }
            Self::Get => [json!([1]), json!([2]), json!([7])].map(|it| (it, first.clone())),
            Self::Query | Self::Search | Self::GraphqlList => {
                [json!([1, 2]), json!([2]), json!([7, 7])].map(|it| (it, first.clone()))
            }
            Self::Count => [json!([2]), json!([1]), json!([7])].map(|it| (it, first.clone())),
            Self::Distinct => [json!([1, 2]), json!([2]), json!([7])].map(|it| (it, first.clone())),
        }
    }

    /// What `onFailure` may answer in its place.
    fn in_place(self) -> &'static str {
        match self {
            Self::Query | Self::Search | Self::GraphqlList => "[{ price: 9 }]",
            Self::Count => "9",
            Self::Distinct => "[9]",
            _ => "{ price: 9 }",
        }
    }
}

/// Code with every hook of one phase, and all of them end like this.
fn source(phase: &str, end: End) -> String {
    let of_item = "it.price = 7; return it";
    let bodies = [
        ("Insert", of_item, of_item),
        ("Update", of_item, of_item),
        ("Remove", "return it", of_item),
        ("Get", "return 'b'", of_item),
        ("Query", "return it.eq('_id', 'b')", of_item),
        ("Count", "return it.eq('_id', 'b')", "return 7"),
        ("Distinct", "return it.eq('_id', 'b')", "return [7]"),
    ];
    let hook = |(noun, before, after): (&str, &str, &str)| {
        let body = match end {
            End::Value if phase == "before" => before,
            End::Value => after,
            // An object is no list, no text and no number; a text is nothing else.
            End::WrongType if after == "return 7" || before == "return 'b'" && phase == "before" => "return { a: 1 }",
            End::WrongType => "return 'x'",
            End::Failure(body, ..) => body,
        };
        format!("export function cars_{phase}{noun}(it) {{ {body} }}\n")
    };
    bodies.map(hook).concat()
}

/// Asks every call while hooks end like this.
async fn walk(app: &TestApp, ends: &[End]) {
    let visitor = app.visitor().await;
    reset(app).await;
    for (end, phase) in ends.iter().flat_map(|it| [(*it, "before"), (*it, "after")]) {
        let source = source(phase, end);
        // The time in which code must be loaded is short for a machine that is very busy.
        while deploy(app, &source).await.verdict() != "200" {}
        for act in ACTS {
            let reply = act.request(&visitor).await;
            let (answered, stored) = (act.answered(&reply), stored(app).await);
            let what = format!("{act:?}, {phase}, {end:?}: {reply:?}");
            let [plain, before, after] = act.expected();
            match end {
                End::WrongType => assert_eq!((answered, &stored), (Ok(plain.0), &plain.1), "{what}"),
                End::Value => {
                    let expected = if phase == "before" { before } else { after };
                    assert_eq!((answered, &stored), (Ok(expected.0), &expected.1), "{what}");
                }
                End::Failure(_, told, expected) => {
                    let (code, data) = answered.expect_err(&what);
                    assert_eq!(code, expected, "{what}");
                    if let Some(thrown) = told.data() {
                        let (name, thrown) = thrown.as_object().unwrap().iter().next().unwrap();
                        assert_eq!(&data[name], thrown, "{what}");
                    }
                    // What fails before blocks; what fails after doesn't undo.
                    assert_eq!(stored, if phase == "before" { at_first() } else { plain.1 }, "{what}");
                }
            }
            if stored != at_first() {
                reset(app).await;
            }
        }
    }
}

/// The prices that are stored, by id.
async fn stored(app: &TestApp) -> Value {
    let query = json!({ "dataCollectionId": "cars", "query": {}, "suppressHooks": true });
    let page = app.app().post("/v2/items/query", &query).await.json();
    let items = page["dataItems"].as_array().unwrap_or_else(|| panic!("{page}")).iter();
    items.map(|it| (it["id"].as_str().unwrap().to_owned(), it["data"]["price"].clone())).collect()
}

async fn reset(app: &TestApp) {
    let gone = json!({ "dataCollectionId": "cars", "dataItemIds": ["new"], "suppressHooks": true });
    assert_eq!(app.app().post("/v2/bulk/items/remove", &gone).await.verdict(), "200");
    let items = json!([{ "data": { "_id": "a", "price": 1 } }, { "data": { "_id": "b", "price": 2 } }]);
    let body = json!({ "dataCollectionId": "cars", "dataItems": items, "suppressHooks": true });
    assert_eq!(app.app().post("/v2/bulk/items/save", &body).await.verdict(), "200");
    assert_eq!(stored(app).await, at_first());
}

/// No version is failing, however often its processes die.
fn patient(hook_milliseconds: usize) -> HookLimits {
    HookLimits { hook_milliseconds, hook_request_time: 60_000, hook_deaths: 1_000, ..HookLimits::default() }
}

on_both_engines! {
    async fn every_call_ends_as_its_hooks_do(engine) {
        walk(&open(engine, host_of(patient(2_000))).await, &SOON).await;
    }

    async fn every_call_that_fails_ends_as_on_failure_does(engine) {
        let app = open(engine, host_of(patient(2_000))).await;
        let visitor = app.visitor().await;
        reset(&app).await;
        let answers = ["{ price: 9 }", "[{ price: 9 }]", "9", "[9]"].map(|it| (format!("return {it}"), Some(it)));
        let others = ["throw new TypeError('late')", "return undefined"].map(|it| (it.to_owned(), None));
        for phase in ["before", "after"] {
            for (body, answer) in answers.iter().chain(&others) {
                let on_failure = format!("export function cars_onFailure(error) {{ if (error.code !== 'NO') throw error; {body} }}");
                let source = source(phase, SOON[2]) + &on_failure;
                while deploy(&app, &source).await.verdict() != "200" {}
                for act in ACTS.into_iter().filter(|act| answer.is_none_or(|it| it == act.in_place())) {
                    let reply = act.request(&visitor).await;
                    let (answered, stored) = (act.answered(&reply), stored(&app).await);
                    let what = format!("{act:?}, {phase}, {body}: {reply:?}");
                    let told = if body.starts_with("throw") { Told::Late } else { Told::Error };
                    match (answer, answered) {
                        (Some(_), answered) => assert_eq!(answered, Ok(json!([9])), "{what}"),
                        (None, Err((code, data))) => {
                            assert_eq!((code.as_str(), Some(&data["jsErrorValue"])), ("WDE0078", told.data().as_ref().map(|it| &it["jsErrorValue"])), "{what}");
                        }
                        (None, Ok(_)) => panic!("{what}"),
                    }
                    assert_eq!(stored, if phase == "before" { at_first() } else { act.expected()[0].1.clone() }, "{what}");
                    if stored != at_first() {
                        reset(&app).await;
                    }
                }
            }
        }
    }

    async fn every_call_ends_when_its_hooks_take_too_long(engine) {
        walk(&open(engine, host_of(patient(30))).await, &IN_TIME).await;
    }

    async fn every_call_fails_when_the_process_of_its_hook_is_killed(engine) {
        let name = format!("killed-in-table-{engine:?}");
        let app = open(engine, host_named(&name, patient(2_000))).await;
        let killer = killed::Killer::start(name);
        walk(&app, &[KILLED]).await;
        assert!(killer.stop() > 0);
    }
}
