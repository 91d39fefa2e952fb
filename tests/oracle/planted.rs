//! The oracle is checked: a caller who gets away with more than the rules allow is found, by each road.

use super::{
    drafts::{Pair, Paper},
    environments::{READS, Twin, WRITES, sandbox_of},
    languages::Book,
    *,
};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;

/// How often a kind of calls may miss a leak: some ask for what nobody holds, or isn't leaked.
const TRIES: usize = 40;

/// Kinds of calls of a [`World`], each of which finds a leak without the others.
const KINDS: [&str; 11] = [
    "search",
    "search by rank",
    "highlights",
    "suggestions",
    "aggregate",
    "pipeline",
    "pipeline of groups",
    "graphql query",
    "graphql mutation",
    "patch by filter",
    "remove by filter",
];

/// A member whose requests the server answers as those of an application.
fn impostor<'a>(app: &'a TestApp, callers: &[Caller<'a>]) -> Caller<'a> {
    let ann = callers.iter().find(|it| it.kind == Kind::Member).unwrap();
    Caller { kind: Kind::Member, id: ann.id.clone(), client: app.app() }
}

/// Whether a check fails.
async fn is_found<T>(check: impl Future<Output = T>) -> bool {
    AssertUnwindSafe(check).catch_unwind().await.is_err()
}

on_both_engines! {
    async fn planted_leaks_are_found_by_each_road(engine) {
        let app = TestApp::new(engine).await;
        let callers = callers(&app).await;
        let _serving = app.searched().await;
        let (mut random, impostor) = (Random(7), impostor(&app, &callers));
        for (number, kind) in KINDS.into_iter().enumerate() {
            // What one kind changes against the rules is not what another finds: each has a world of its own.
            let mut world = World::make(&app, &callers, &mut random, number, 7).await;
            for side in [&mut world.source, &mut world.target] {
                side.levels = ["SITE_MEMBER_AUTHOR"; 4];
                side.special.clear();
            }
            let mut is_caught = false;
            for _ in 0..TRIES {
                let (caller, random) = (&impostor, &mut random);
                is_caught = match kind {
                    "search" => is_found(world.search(caller, random, true)).await,
                    "search by rank" => is_found(world.search_by_rank(caller, random, true)).await,
                    "highlights" => is_found(world.highlight(caller, random, true)).await,
                    "suggestions" => is_found(world.suggest(caller, random, true)).await,
                    "aggregate" => is_found(world.aggregate(caller, random, true)).await,
                    "pipeline" => is_found(world.pipeline(caller, random, true)).await,
                    "pipeline of groups" => is_found(world.grouping_pipeline(caller, random, true)).await,
                    "graphql query" => is_found(world.graphql_query(caller, random, true)).await,
                    "graphql mutation" => is_found(world.graphql_write(caller, random, true)).await,
                    "patch by filter" => is_found(world.patch_by_filter(caller, random, true)).await,
                    _ => is_found(world.remove_by_filter(caller, random, true)).await,
                };
                if is_caught {
                    break;
                }
            }
            assert!(is_caught, "no {kind} finds it");
        }
        // Editions: each kind of call finds the leak by itself.
        let mut book = Book::make(&app, &callers, &mut random, "book".to_owned()).await;
        let mut paper = Paper::make(&app, &callers, &mut random, "paper".to_owned()).await;
        let mut pair = Pair::make(&app, &callers, &mut random, "pair".to_owned()).await;
        for side in [&mut book.side, &mut paper.side] {
            side.levels = ["SITE_MEMBER_AUTHOR"; 4];
            side.special.clear();
        }
        pair.published.levels[READ] = "SITE_MEMBER_AUTHOR";
        for (kind, path) in editions::PATHS.into_iter().enumerate() {
            for number in 0..3 {
                let mut is_caught = false;
                for _ in 0..TRIES {
                    let read = async {
                        match number {
                            0 => book.read(&impostor, &mut random, Some(kind)).await,
                            1 => paper.read(&impostor, &mut random, Some(kind)).await,
                            _ => pair.read(&impostor, &mut random, Some(kind)).await,
                        }
                    };
                    let caught = AssertUnwindSafe(read).catch_unwind().await.err();
                    // By this kind: some of them send a query where they have no words for what is asked.
                    is_caught = caught.and_then(|it| it.downcast::<String>().ok()).is_some_and(|it| it.contains(path));
                    if is_caught {
                        break;
                    }
                }
                assert!(is_caught, "{number}: no {path} (kind {kind}) finds it");
            }
        }
    }

    async fn leaks_between_environments_are_found_by_each_call(engine) {
        let app = TestApp::new(engine).await;
        let callers = callers(&app).await;
        let (sandbox, _serving) = (sandbox_of(&app).await, app.searched().await);
        let (mut random, impostor) = (Random(8), impostor(&app, &callers));
        let everyone = Caller { kind: Kind::App, id: String::new(), client: app.app() };
        // A member who is answered from the sandbox, and changes it.
        let mut twin = Twin::make(&app, &sandbox, &callers, &mut random, "twin".to_owned()).await;
        for kind in 0..READS {
            assert!(is_found(twin.read(&impostor, &mut random, kind, Some("SANDBOX"))).await, "read {kind}");
        }
        for (kind, path) in WRITES.into_iter().enumerate() {
            assert!(is_found(twin.write(&impostor, &mut random, kind, Some("SANDBOX"))).await, "{path}");
        }
        // Calls that are taken to the other environment: to what calls in this one then come to, the model has the other.
        for environment in [None, Some("LIVE"), Some("SANDBOX"), Some("SANDBOX_PREFERRED")] {
            let mut twin = Twin::make(&app, &sandbox, &callers, &mut random, format!("{environment:?}")).await;
            twin.check("making").await;
            twin.sides.swap(0, 1);
            for kind in 0..READS {
                let mut is_caught = false;
                for _ in 0..TRIES {
                    is_caught = is_caught || is_found(twin.read(&everyone, &mut random, kind, environment)).await;
                }
                assert!(is_caught, "read {kind} with {environment:?}");
            }
            for (kind, path) in WRITES.into_iter().enumerate() {
                let mut is_caught = is_found(twin.write(&everyone, &mut random, kind, environment)).await;
                is_caught = is_caught || is_found(twin.check(path)).await;
                assert!(is_caught, "{path} with {environment:?}");
            }
        }
    }
}

#[test]
fn wrong_orders_are_found() {
    let words = search::Words::of(&["red", "car"]);
    let item = |text: &str| json!({ "_id": text, "text": text });
    words.check_order(&[item("red car"), item("red"), item("red boat")], None, "sound");
    let wrong = || words.check_order(&[item("red boat"), item("red")], None, "a longer text first");
    assert!(std::panic::catch_unwind(AssertUnwindSafe(wrong)).is_err());
}
