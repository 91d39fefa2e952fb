use super::*;
use crate::document::{Entry, FieldText, terms};
use crate::lists::Row;
use crate::rows::Rows;
use crate::segment::{Builder, Segment};
use proptest::prelude::*;
use std::collections::BTreeMap;

mod suggestions;

const ALL: Options = Options { mode: Mode::Or, fuzzy: false, fields: 255, rarity: true };

fn index(titles: &[&str]) -> Vec<Segment> {
    let mut builder = Builder::default();
    for (rid, text) in (1..).zip(titles) {
        builder.put(rid, &[FieldText { bit: 1, is_display: true, text }]);
    }
    vec![builder.build()]
}

fn ask(segments: &[Segment], expression: &str, options: Options) -> Vec<u64> {
    let question = Question::parse(expression, options).expect("allowed").expect("not blank");
    let mut hits = question.ask(segments).expect("sound");
    hits.take(usize::MAX).iter().map(|it| it.rid).collect()
}

#[test]
fn places_are_found_as_they_are_typed() {
    let titles = ["New Haven", "York", "New York", "München", "São Paulo", "東京タワー", "Munchkin", "L'Aquila"];
    let index = index(&titles);
    let and = Options { mode: Mode::And, ..ALL };
    for (expression, options, expected) in [
        ("new york", ALL, vec![3, 2, 1]),
        ("new york", and, vec![3]),
        ("new yrok~", and, vec![3]),
        ("new yrok", Options { fuzzy: true, ..and }, vec![3]),
        ("muenchen", ALL, vec![4]),
        ("munchen", ALL, vec![4]),
        ("MÜNCHEN", ALL, vec![4]),
        ("munch*", ALL, vec![4, 7]),
        ("sao paulo", and, vec![5]),
        ("京タ", ALL, vec![6]),
        ("タ", ALL, vec![6]),
        ("laquila", ALL, vec![8]),
        ("aquila", ALL, vec![8]),
        ("!!", ALL, vec![]),
        ("york", Options { fields: 2, ..ALL }, vec![]),
    ] {
        assert_eq!(ask(&index, expression, options), expected, "{expression}");
    }
}

#[test]
fn expressions_are_bounded() {
    let parse = |expression: &str| Question::parse(expression, ALL).map(|it| it.is_some());
    assert_eq!((parse(""), parse("  "), parse(&"ä".repeat(100))), (Ok(false), Ok(false), Ok(true)));
    assert_eq!(parse(&"ä".repeat(101)), Err(Refused::Characters(101)));
    assert_eq!(parse("a b c d e f g h i j k l m n o p"), Ok(true));
    assert_eq!(parse("a b c d e f g h i j k l m n o p q"), Err(Refused::Words(17)));
    assert_eq!(parse("a b c d e f g h i j k l m n o p a"), Ok(true), "the same word twice is one");
}

#[test]
fn rare_words_count_more() {
    assert_eq!((rarity(8, 8), rarity(8, 4), rarity(8, 1), rarity(3, 2), rarity(0, 0)), (16, 32, 64, 24, 16));
    assert_eq!(ask(&index(&["car", "red", "car", "car"]), "red car", ALL), [2, 1, 3, 4]);
    assert_eq!(ask(&index(&["car", "red", "car", "car"]), "red car", Options { rarity: false, ..ALL }), [1, 2, 3, 4]);
}

#[test]
fn pages_leave_out_what_no_longer_answers() {
    let answers = |expression: &str, options: Options, text: &str| {
        let question = Question::parse(expression, options).expect("allowed").expect("not blank");
        question.is_answered_by(&[FieldText { bit: 1, is_display: true, text }])
    };
    let and = Options { mode: Mode::And, ..ALL };
    for (expression, options, text, expected) in [
        ("new york", ALL, "York", true),
        ("new york", and, "York", false),
        ("new york", and, "York, New", true),
        ("york", Options { fields: 2, ..ALL }, "York", false),
        ("東京都", ALL, "東京都庁", true),
        ("東京都", ALL, "東京と京都", false), // Both pairs, but not side by side.
        ("munch*", ALL, "München", true),
        ("yrok~", ALL, "York", true),
        ("yrok", ALL, "York", false),
        ("!!", ALL, "!!", false),
        ("!!", and, "!!", false),
    ] {
        assert_eq!(answers(expression, options, text), expected, "{expression} {text}");
    }
}

#[test]
fn damaged_lists_are_told() {
    let segment = index(&["car"]).remove(0);
    let mut rows: Vec<Row> = segment.rows().collect();
    rows.iter_mut().for_each(|it| it.part.bytes = vec![0]);
    let lists = Lists::new(1, Rows::default(), rows).expect("whole");
    for expression in ["car", "car~", "c*"] {
        let question = Question::parse(expression, ALL).expect("allowed").expect("not blank");
        assert!(question.ask(&[&lists]).is_err(), "{expression}");
    }
}

#[test]
fn questions_end_when_their_time_is_over() {
    let segments = index(&["car", "cat", "cart"]);
    for expression in ["car", "ca*", "car~"] {
        let question = Question::parse(expression, ALL).expect("allowed").expect("not blank");
        let left = std::cell::Cell::new(1);
        let is_over = || left.replace(left.get() - 1) <= 0;
        assert!(question.ask_until(&segments, &is_over).expect("sound").is_none(), "{expression}");
        assert!(question.ask_until(&segments, &|| false).expect("sound").is_some(), "{expression}");
    }
}

#[test]
fn working_bytes_grow_with_items_and_postings() {
    let bytes = |titles: &[&str]| Question::working_bytes(&index(titles));
    assert_eq!((bytes(&[]), bytes(&["car"]), bytes(&["car red"])), (0, 64 + 8, 64 + 2 * 8));
}

#[test]
fn dead_words_take_no_place_among_the_like() {
    let words: Vec<String> =
        (0..100).map(|n| format!("bbbb{}{}", (b'c' + n / 10) as char, (b'c' + n % 10) as char)).collect();
    let mut builder = Builder::default();
    for (rid, text) in (1..).zip(&words) {
        builder.put(rid, &[FieldText { bit: 1, is_display: true, text }]);
    }
    let mut segments = vec![builder.build()];
    assert_eq!(ask(&segments, "bbbbbb~", ALL), (1..=50).collect::<Vec<_>>());
    segments[0].bury(&Rows::new((1..=20).collect()));
    assert_eq!(ask(&segments, "bbbbbb~", ALL), (21..=70).collect::<Vec<_>>());
}

#[test]
fn words_of_others_take_no_place_where_each_sees_their_own() {
    let words: Vec<String> =
        (0..100).map(|n| format!("bbbb{}{}", char::from(b'c' + n / 10), char::from(b'c' + n % 10))).collect();
    let mut builder = Builder::default();
    for (rid, text) in (1..).zip(&words) {
        builder.put(rid, &[FieldText { bit: 1, is_display: true, text }]);
    }
    let found = ask(&[builder.build()], "bbbbbb~", Options { rarity: false, ..ALL });
    assert_eq!(found, (1..=100).collect::<Vec<_>>());
}

/// Of each segment only the lists that a question reads.
fn partly(segments: &[Segment], question: &Question) -> Vec<Lists> {
    let reads = question.reads();
    let begins = |all: &[String], term: &str| all.iter().any(|it| term.starts_with(it.as_str()));
    let is_read = |row: &Row| {
        let like = begins(&reads.like, &row.term) && question.is_like(&row.term);
        reads.terms.contains(&row.term) || begins(&reads.prefixes, &row.term) || like
    };
    let read = |it: &Segment| Lists::new(it.items().len(), it.dead().clone(), it.rows().filter(is_read).collect());
    segments.iter().map(|it| read(it).expect("sound")).collect()
}

type Texts = (String, String);
type Items = BTreeMap<u64, Texts>;

fn fields((title, body): &Texts) -> [FieldText<'_>; 2] {
    [FieldText { bit: 1, is_display: true, text: title }, FieldText { bit: 2, is_display: false, text: body }]
}

/// An index with batches of its own size, that merges its last segments when there are too many.
struct Index {
    segments: Vec<Segment>,
    batch: usize,
    fan: usize,
    waiting: Vec<(u64, Option<Texts>)>,
}

impl Index {
    fn new(batch: usize, fan: usize) -> Self {
        Self { segments: Vec::new(), batch, fan, waiting: Vec::new() }
    }

    fn change(&mut self, rid: u64, texts: Option<Texts>) {
        self.waiting.push((rid, texts));
        if self.waiting.len() == self.batch {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let last: BTreeMap<_, _> = self.waiting.drain(..).collect();
        let mut builder = Builder::default();
        for (rid, texts) in last {
            for segment in &mut self.segments {
                segment.bury(&Rows::new(vec![rid]));
            }
            if let Some(texts) = texts {
                builder.put(rid, &fields(&texts));
            }
        }
        self.segments.push(builder.build());
        if self.segments.len() >= self.fan {
            let last = self.segments.split_off(self.segments.len() - self.fan);
            self.segments.push(Segment::merge(&last).expect("sound"));
        }
    }
}

/// The plain reading: every item is looked at, word by word.
fn plain(items: &Items, expression: &str, options: Options) -> Vec<Hit> {
    let all: BTreeMap<u64, BTreeMap<String, Entry>> =
        items.iter().map(|(&k, v)| (k, terms(&fields(v)).into_iter().collect())).collect();
    let question = Question::parse(expression, options).expect("allowed").expect("not blank");
    let seen = |entry: &Entry| entry.fields & options.fields != 0;
    let mut hits: BTreeMap<u64, Hit> = BTreeMap::new();
    for asked in &question.asked {
        let mut like: Vec<(usize, &String)> = Vec::new();
        if let Asked::Fuzzy(words) = asked {
            let known = all.values().flatten().filter(|(_, entry)| seen(entry)).map(|it| it.0);
            for (term, word) in known.flat_map(|term| words.iter().map(move |word| (term, word))) {
                let distance = strsim::osa_distance(word, term);
                if word.chars().next() == term.chars().next() && distance <= likeness::errors(word) {
                    like.push((distance, term));
                }
            }
            like.sort();
            let mut met = Vec::new();
            like.retain(|it| {
                !met.contains(&it.1) && {
                    met.push(it.1);
                    true
                }
            });
            if options.rarity {
                like.truncate(50);
            }
        }
        let value = |terms: &BTreeMap<String, Entry>, wanted: &dyn Fn(&str) -> Option<usize>| {
            let found = terms.iter().filter(|it| seen(it.1));
            found.filter_map(|(term, it)| Some((usize::from(it.impact) * (3 - wanted(term)?) / 3).max(1))).max()
        };
        let of = |terms: &BTreeMap<String, Entry>| match asked {
            Asked::Exact(words) => value(terms, &|it| words.iter().any(|word| word == it).then_some(0)),
            Asked::Prefix(words) => value(terms, &|it| words.iter().any(|word| it.starts_with(word)).then_some(0)),
            Asked::Fuzzy(_) => value(terms, &|it| like.iter().find(|(_, word)| *word == it).map(|it| it.0)),
            Asked::Run(run) => {
                let each = pairs(run).into_iter().map(|pair| value(terms, &|it| (it == pair).then_some(0)));
                each.collect::<Option<Vec<_>>>().and_then(|it| it.into_iter().min())
            }
        };
        let found: Vec<_> = all.iter().filter_map(|(&rid, terms)| Some((rid, of(terms)? as u32))).collect();
        let factor = if options.rarity { rarity(all.len(), found.len()) } else { 16 };
        for (rid, impact) in found {
            let hit = hits.entry(rid).or_insert(Hit { rid, words: 0, score: 0 });
            (hit.words, hit.score) = (hit.words + 1, hit.score + impact * factor);
        }
    }
    let mut hits: Vec<_> = hits.into_values().collect();
    hits.retain(|it| options.mode == Mode::Or || it.words as usize == question.asked.len());
    hits.sort_by(|a, b| b.words.cmp(&a.words).then(b.score.cmp(&a.score)).then(a.rid.cmp(&b.rid)));
    hits
}

/// What the items' own texts say of the hits: of words the same, of pairs that aren't neighbours less.
fn check(items: &Items, expression: &str, options: Options, hits: &[Hit]) -> Result<(), TestCaseError> {
    let question = Question::parse(expression, options).expect("allowed").expect("not blank");
    let answers: Vec<u64> = items.iter().filter(|it| question.is_answered_by(&fields(it.1))).map(|it| *it.0).collect();
    let mut found: Vec<u64> = hits.iter().map(|it| it.rid).collect();
    found.sort_unstable();
    if question.asked.iter().any(|it| matches!(it, Asked::Run(_))) {
        prop_assert!(answers.iter().all(|it| found.contains(it)), "{answers:?} {found:?}");
    } else {
        prop_assert_eq!(answers, found);
    }
    Ok(())
}

fn texts() -> impl Strategy<Value = Texts> {
    let word = "([a-c]{1,3}|b[a-c]{4,6}|ü[ab]|東京?タ?|a'b)";
    let text = |more: usize| prop::string::string_regex(&format!("{word}( {word}){{0,{more}}}")).expect("a pattern");
    (text(2), text(6))
}

fn question() -> impl Strategy<Value = (String, Options)> {
    let expression =
        "([a-c]{1,3}|b[a-c]{4,6}|ü[ab]|u[ab]|東京?タ?|a'b)[*~]?( ([a-c]{1,3}|b[a-c]{4,6}|京タ?)[*~]?){0,2}";
    let mode = prop_oneof![Just(Mode::Or), Just(Mode::And)];
    (expression, mode, any::<bool>(), prop_oneof![Just(255u8), Just(1), Just(2)], any::<bool>())
        .prop_map(|(expression, mode, fuzzy, fields, rarity)| (expression, Options { mode, fuzzy, fields, rarity }))
}

/// Cases of a random test: `usual`, which take seconds, times `STOA_EFFORT`, which `make soak` raises.
fn cases(usual: u32) -> u32 {
    #[expect(clippy::disallowed_methods, reason = "the environment says how much to try")]
    let effort = std::env::var("STOA_EFFORT").ok();
    usual * effort.map_or(1, |it| it.parse::<u32>().expect("STOA_EFFORT is a number"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::with_cases(cases(60)) })]

    #[test]
    fn random_histories_agree_with_a_plain_reading(
        changes in prop::collection::vec((1..60u64, prop::option::weighted(0.8, texts())), 1..150),
        questions in prop::collection::vec(question(), 50),
        chunk in 1..9usize,
    ) {
        let mut indexes = [Index::new(1, 3), Index::new(17, 8)];
        let mut items = Items::new();
        for (rid, texts) in changes {
            indexes.iter_mut().for_each(|it| it.change(rid, texts.clone()));
            match texts {
                Some(texts) => items.insert(rid, texts),
                None => items.remove(&rid),
            };
        }
        indexes.iter_mut().for_each(Index::flush);
        for (expression, options) in questions {
            let expected = plain(&items, &expression, options);
            check(&items, &expression, options, &expected)?;
            for index in &indexes {
                let question = Question::parse(&expression, options).expect("allowed").expect("not blank");
                let mut hits = question.ask(&partly(&index.segments, &question)).expect("sound");
                prop_assert_eq!(hits.count(), expected.len());
                let (mut found, mut most) = (Vec::new(), chunk);
                while found.len() < expected.len() {
                    found.extend_from_slice(hits.take(most));
                    most *= 4;
                }
                prop_assert!(hits.take(9).is_empty());
                prop_assert_eq!(&found, &expected, "{:?} {:?}", expression, options);
                if let Some(place) = expected.get(expected.len() / 2) {
                    let (before, behind) = expected.split_at(expected.len() / 2);
                    let beyond = |is_backward, is_included| {
                        let hits = question.ask(&partly(&index.segments, &question)).expect("sound");
                        hits.beyond(place, is_backward, is_included).take(usize::MAX).to_vec()
                    };
                    prop_assert_eq!(beyond(false, true), behind);
                    prop_assert_eq!(beyond(false, false), &behind[1..]);
                    let mut before = before.to_vec();
                    before.reverse();
                    prop_assert_eq!(beyond(true, false), before);
                }
            }
        }
    }
}
