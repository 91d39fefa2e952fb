use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap as Items, BTreeSet};
use stoa_store::outbox::Token;

fn position(number: i64) -> Position {
    let token = Token::parse(&format!("aB3-_zzzzzzzzzz9.0.{number:x}"));
    token.expect("a token").position
}

fn point(number: i64) -> ReadPoint {
    ReadPoint { epoch: String::new(), position: position(number), visible: None }
}

fn change(number: i64, id: &str, net: Net) -> Arc<Change> {
    let document = (net != Net::Leave).then(|| format!("{{\"_id\":\"{id}\",\"n\":{number}}}").into());
    let modified = if net == Net::Update { vec![format!("\"f{}\"", number % 3).into()] } else { Vec::new() };
    let (id, position) = (id.to_owned(), position(number));
    Arc::new(Change { id, position, delivered: None, net, document, modified, is_deleted: net == Net::Leave })
}

fn mailbox(messages: usize) -> Mailbox {
    let mailbox = Mailbox::new(2, Bounds { messages, bytes: 1 << 20 });
    (0..2).for_each(|it| mailbox.begin(it, point(0)));
    mailbox
}

/// The next message, when all rows are there.
fn next(mailbox: &Mailbox) -> Option<Next> {
    mailbox.next(Some(position(i64::MAX))).map(|it| it.0)
}

/// What is said of items: subscription, number of the row, and what it comes to.
fn delivered(mailbox: &Mailbox) -> Vec<String> {
    std::iter::from_fn(|| next(mailbox))
        .map(|it| match it {
            Next::Change(n, waiting) => {
                let fields = match waiting.modified() {
                    Modified::Fields(all) => all.join("").replace('"', ""),
                    Modified::Unknown => "?".to_owned(),
                };
                let number = waiting.change.position.sequence();
                format!("{n} {} {number} {} {fields}", waiting.change.id, waiting.net().name())
            }
            Next::End(n, end) => format!("{n} {end:?}"),
        })
        .collect()
}

#[test]
fn changes_of_one_item_become_one() {
    use Net::{Enter, Leave, Update};
    for (changes, expected) in [
        (&[Enter, Update][..], "0 x 2 enter ?"),
        (&[Enter, Leave], "0 x 2 leave ?"),
        (&[Leave, Enter], "0 x 2 update ?"),
        (&[Update, Update], "0 x 2 update f1f2"),
        (&[Update, Update, Update, Update], "0 x 4 update f1f2f0"),
        (&[Update, Leave], "0 x 2 leave ?"),
        (&[Update, Leave, Enter], "0 x 3 update ?"),
        (&[Enter, Leave, Enter], "0 x 3 enter ?"),
        (&[Enter, Leave, Enter, Update], "0 x 4 enter ?"),
    ] {
        let mailbox = mailbox(100);
        for (n, net) in changes.iter().enumerate() {
            mailbox.put(0, &change(n as i64 + 1, "x", *net));
        }
        assert_eq!(delivered(&mailbox), [expected], "{changes:?}");
    }
}

#[test]
fn what_is_said_again_goes_to_the_end() {
    let mailbox = mailbox(100);
    for (n, id) in ["x", "y", "x", "z"].into_iter().enumerate() {
        mailbox.put(0, &change(n as i64 + 1, id, Net::Update));
    }
    mailbox.put(1, &change(5, "y", Net::Update));
    let all = ["0 y 2 update f2", "0 x 3 update f1f0", "0 z 4 update f1", "1 y 5 update f2"];
    assert_eq!(delivered(&mailbox), all);
}

#[test]
fn subscription_that_begins_is_told_what_its_beginning_lacks() {
    let mailbox = Mailbox::new(2, Bounds { messages: 100, bytes: 1 << 20 });
    mailbox.begin(1, point(0));
    for (n, id) in ["x", "y", "z"].into_iter().enumerate() {
        mailbox.put(0, &change(n as i64 + 1, id, Net::Enter));
    }
    mailbox.end(0, Some(position(2)), &End::Resync(Resync::Import));
    mailbox.begin(0, point(2));
    mailbox.put(0, &change(2, "w", Net::Enter));
    mailbox.end(0, Some(position(2)), &End::Resync(Resync::Import));
    mailbox.put(0, &change(4, "x", Net::Update));
    assert_eq!(delivered(&mailbox), ["0 z 3 enter ", "0 x 4 update f1"]);
}

#[test]
fn end_that_the_beginning_lacks_ends() {
    for (end, ends) in [(Some(position(2)), false), (Some(position(3)), true), (None, true)] {
        let mailbox = Mailbox::new(1, Bounds { messages: 100, bytes: 1 << 20 });
        mailbox.put(0, &change(1, "x", Net::Enter));
        mailbox.end(0, end, &End::Resync(Resync::Gap));
        mailbox.begin(0, point(2));
        mailbox.put(0, &change(4, "x", Net::Update));
        let expected = if ends { "0 Resync(Gap)" } else { "0 x 4 update f1" };
        assert_eq!(delivered(&mailbox), [expected], "{end:?}");
    }
}

#[test]
fn full_mailbox_ends_those_whose_messages_wait() {
    let mailbox = mailbox(3);
    for n in 0..3 {
        assert_eq!(mailbox.put(0, &change(n, &n.to_string(), Net::Enter)), 0);
        assert_eq!(mailbox.put(0, &change(n + 10, &n.to_string(), Net::Update)), 0, "the same items");
    }
    assert_eq!(mailbox.put(0, &change(20, "more", Net::Enter)), 1);
    assert_eq!(mailbox.put(0, &change(21, "more", Net::Update)), 0, "it is told nothing any more");
    mailbox.put(1, &change(22, "x", Net::Enter));
    assert_eq!(delivered(&mailbox), ["0 Resync(Overload)", "1 x 22 enter "]);
    let small = Mailbox::new(1, Bounds { messages: 100, bytes: 1000 });
    small.begin(0, point(0));
    let count = (1..).take_while(|n| small.put(0, &change(*n, &n.to_string(), Net::Enter)) == 0).count();
    assert!((1..10).contains(&count), "{count}");
}

#[test]
fn rows_wait_until_they_are_whole() {
    let mailbox = mailbox(100);
    let next = |told: i64| {
        mailbox.next(Some(position(told))).map(|(next, rest)| match next {
            Next::Change(n, it) => (format!("{n} {}", it.change.id), rest),
            Next::End(n, end) => (format!("{n} {end:?}"), rest),
        })
    };
    let told = |text: &str, rest| Some((text.to_owned(), rest));
    for (n, id) in [(1, "a"), (1, "b"), (2, "c")] {
        for it in 0..2 {
            mailbox.put(it, &change(n, id, Net::Enter));
        }
    }
    assert_eq!(next(0), None);
    assert_eq!(mailbox.next(None), None);
    assert_eq!(next(1), told("0 a", Rest::From(position(1))));
    // What is said of it again waits for its row.
    mailbox.put(1, &change(3, "a", Net::Update));
    assert_eq!(next(1), told("0 b", Rest::From(position(1))));
    assert_eq!(next(1), told("1 b", Rest::From(position(2))));
    assert_eq!(next(1), None);
    mailbox.end(0, Some(position(3)), &End::Resync(Resync::Import));
    mailbox.end(1, None, &End::Resync(Resync::Gap));
    assert_eq!(next(2), None, "an end is at its row");
    assert_eq!(next(3), told("0 Resync(Import)", Rest::Unknown));
    assert_eq!(mailbox.next(None).map(|it| it.1), Some(Rest::Nothing), "what is of no row waits for none");
}

#[test]
fn what_the_beginning_has_is_no_history() {
    use Net::{Enter, Update};
    let mailbox = Mailbox::new(1, Bounds { messages: 100, bytes: 1 << 20 });
    for (n, id, net) in [(1, "a", Enter), (3, "a", Update), (2, "b", Update), (4, "b", Update), (3, "c", Enter)] {
        mailbox.put(0, &change(n, id, net));
    }
    mailbox.put(0, &change(5, "c", Update));
    mailbox.begin(0, point(2));
    assert_eq!(delivered(&mailbox), ["0 a 3 update ?", "0 b 4 update ?", "0 c 5 enter ?"]);
}

#[test]
fn ends_that_wait_for_a_beginning_are_few() {
    let mailbox = Mailbox::new(2, Bounds { messages: 100, bytes: 1 << 20 });
    let end = |n| mailbox.end(0, Some(position(n)), &End::Resync(Resync::Import));
    (1..=16).for_each(end);
    assert_eq!(mailbox.queue.lock().entries.len(), 16, "any of them may count");
    (17..=10_000).for_each(end);
    assert_eq!(mailbox.queue.lock().entries.len(), 1);
    mailbox.begin(0, point(10_000));
    assert_eq!(delivered(&mailbox), ["0 Resync(Import)"], "which of them counts isn't known any more");
}

proptest! {
    /// A client that holds what it should before any of the changes, or at some point among them, holds what it should
    /// after it has read the messages.
    #[test]
    fn messages_lead_to_the_items_that_there_are(
        steps in prop::collection::vec((0_usize..4, any::<bool>()), 1..60),
        begun in 0_usize..60,
        reads in prop::collection::vec(0_usize..4, 60),
    ) {
        let mailbox = Mailbox::new(1, Bounds { messages: 1000, bytes: 1 << 20 });
        let (mut there, mut held) = (Items::new(), Items::new());
        let mut has_begun = false;
        for (n, (item, stays)) in steps.iter().enumerate() {
            if n == begun.min(steps.len() - 1) {
                held = there.clone();
                mailbox.begin(0, point(n as i64));
                has_begun = true;
            }
            let (number, id) = (n as i64 + 1, item.to_string());
            let net = match (there.contains_key(&id), *stays) {
                (false, false) => continue,
                (false, true) => Net::Enter,
                (true, true) => Net::Update,
                (true, false) => Net::Leave,
            };
            if net == Net::Leave { there.remove(&id) } else { there.insert(id.clone(), number) };
            mailbox.put(0, &change(number, &id, net));
            for _ in 0..if has_begun { reads[n] } else { 0 } {
                read(&mailbox, &mut held);
            }
        }
        if !has_begun {
            held = there.clone();
            mailbox.begin(0, point(steps.len() as i64));
        }
        while read(&mailbox, &mut held) {}
        prop_assert_eq!(held, there);
        let queue = mailbox.queue.lock();
        prop_assert!(queue.bytes == 0 && queue.by_item.is_empty());
    }

    /// Each item is said once, and places only go on.
    #[test]
    fn places_of_messages_only_go_on(items in prop::collection::vec(0_usize..5, 1..50)) {
        let mailbox = mailbox(1000);
        for (n, item) in items.iter().enumerate() {
            mailbox.put(0, &change(n as i64 + 1, &item.to_string(), Net::Update));
        }
        let all: Vec<Waiting> = std::iter::from_fn(|| next(&mailbox))
            .filter_map(|it| if let Next::Change(_, waiting) = it { Some(waiting) } else { None })
            .collect();
        prop_assert!(all.is_sorted_by_key(|it| it.change.position));
        prop_assert_eq!(all.len(), items.iter().collect::<BTreeSet<_>>().len());
    }
}

/// Reads one message into what a client holds.
fn read(mailbox: &Mailbox, held: &mut Items<String, i64>) -> bool {
    let Some(Next::Change(_, waiting)) = next(mailbox) else { return false };
    let id = waiting.change.id.clone();
    match waiting.net() {
        Net::Leave => {
            held.remove(&id);
        }
        net => {
            let was_held = held.insert(id, waiting.change.position.sequence()).is_some();
            assert!(net != Net::Update || was_held, "an update of what the client doesn't hold");
        }
    }
    true
}
