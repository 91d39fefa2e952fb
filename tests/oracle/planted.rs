//! The oracle is checked: a caller who gets away with more than the rules allow is found, by each road.

use super::{
    drafts::{Pair, Paper},
    languages::Book,
    *,
};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;

/// How often a kind of calls may miss a leak: some ask for what nobody holds, or isn't leaked.
const TRIES: usize = 40;

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
        let mut world = World::make(&app, &callers, &mut random, 0, 7).await;
        for side in [&mut world.source, &mut world.target] {
            side.levels = ["SITE_MEMBER_AUTHOR"; 4];
            side.special.clear();
        }
        for road in 0..4 {
            let mut found = 0;
            for _ in 0..20 {
                found += usize::from(match road {
                    0 => is_found(world.search_call(&impostor, &mut random, true)).await,
                    1 => is_found(world.aggregate_call(&impostor, &mut random, true)).await,
                    2 => is_found(world.graphql_call(&impostor, &mut random, true)).await,
                    _ => is_found(world.patch_by_filter(&impostor, &mut random, true)).await,
                });
            }
            assert!(found > 0, "road {road}");
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
}

#[test]
fn wrong_orders_are_found() {
    let words = search::Words::of(&["red", "car"]);
    let item = |text: &str| json!({ "_id": text, "text": text });
    words.check_order(&[item("red car"), item("red"), item("red boat")], None, "sound");
    let wrong = || words.check_order(&[item("red boat"), item("red")], None, "a longer text first");
    assert!(std::panic::catch_unwind(AssertUnwindSafe(wrong)).is_err());
}
