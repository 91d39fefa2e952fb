use super::*;
use crate::question::suggest::{FEW, MAX_ALTERNATIVES, TIMES};

fn suggestions(segments: &[Segment], expression: &str, options: Options) -> Suggestions {
    let question = Question::parse(expression, options).expect("allowed").expect("not blank");
    let held = question.held_until(&partly(segments, &question), &|| false).expect("sound").expect("time is left");
    let Some(doubts) = question.doubts(expression, &held) else { return Suggestions::default() };
    let lists = partly(segments, doubts.question());
    doubts.suggestions_until(&lists, &|| false).expect("sound").expect("time is left")
}

#[test]
fn words_that_nobody_holds_have_others_that_may_be_meant() {
    let titles =
        ["New York", "York", "Yorkton", "São Paulo", "Paulo", "Paula", "München", "L'Aquila", "C# 2001", "東京"];
    let index = index(&titles);
    for (expression, expected, words) in [
        ("new yrok", Some("new york"), vec![("yrok", vec![("york", 2)])]),
        ("Yrok, NEW!", Some("york, NEW!"), vec![("Yrok", vec![("york", 2)])]),
        ("new yrok*", Some("new york"), vec![("yrok", vec![("york", 2)])]),
        ("yrok~ yrok~", Some("york york"), vec![("yrok", vec![("york", 2)])]),
        ("sao pauli", Some("sao paulo"), vec![("pauli", vec![("paulo", 2), ("paula", 1)])]),
        ("munchne", Some("munchen"), vec![("munchne", vec![("munchen", 1), ("muenchen", 1)])]),
        ("muenchne", Some("muenchen"), vec![("muenchne", vec![("muenchen", 1), ("munchen", 1)])]),
        ("aqiula", Some("aquila"), vec![("aqiula", vec![("aquila", 1)])]),
        ("new york", None, vec![]),
        ("yo*", None, vec![]),
        ("2002", None, vec![]),
        ("東都", None, vec![]),
        ("krow", None, vec![]),
    ] {
        let told = suggestions(&index, expression, ALL);
        assert_eq!(told.expression.as_deref(), expected, "{expression}");
        let each = |it: &Suggestion| {
            let alternatives = it.alternatives.iter().map(|it| (it.word.clone(), it.items));
            (it.word.clone(), alternatives.collect::<Vec<_>>())
        };
        let words: Vec<_> = words
            .into_iter()
            .map(|(word, all)| (word.to_owned(), all.into_iter().map(|(it, n)| (it.to_owned(), n)).collect::<Vec<_>>()))
            .collect();
        assert_eq!(told.words.iter().map(each).collect::<Vec<_>>(), words, "{expression}");
    }
}

#[test]
fn rare_words_are_doubted_where_many_items_hold_another() {
    let titles = |rare: usize, often: usize| -> Vec<&str> {
        std::iter::repeat_n("yrok", rare).chain(std::iter::repeat_n("york", often)).collect()
    };
    for (rare, often, expected) in
        [(1, 20, Some("york")), (1, 19, None), (5, 100, Some("york")), (6, 200, None), (0, 1, Some("york"))]
    {
        let index = index(&titles(rare, often));
        assert_eq!(suggestions(&index, "yrok", ALL).expression.as_deref(), expected, "{rare} {often}");
    }
}

#[test]
fn expressions_that_would_be_too_long_are_not_told() {
    let index = index(&["abcdefghi"]);
    let expression = format!("abcdefgh {}", "x".repeat(91));
    let told = suggestions(&index, &expression, ALL);
    assert_eq!((told.expression, told.words.len()), (None, 1));
}

#[test]
fn damage_and_the_end_of_time_are_told() {
    let question = Question::parse("cra", ALL).expect("allowed").expect("not blank");
    let doubts = question.doubts("cra", &[0]).expect("in doubt");
    let segment = index(&["cat"]).remove(0);
    assert!(question.held_until(&[&segment], &|| true).expect("sound").is_none());
    assert!(doubts.suggestions_until(&[&segment], &|| true).expect("sound").is_none());
    let mut rows: Vec<Row> = segment.rows().collect();
    rows.iter_mut().for_each(|it| it.part.bytes = vec![0]);
    let lists = Lists::new(1, Rows::default(), rows).expect("whole");
    let doubts =
        Question::parse("cta", ALL).expect("allowed").expect("not blank").doubts("cta", &[0]).expect("in doubt");
    assert!(doubts.suggestions_until(&[&lists], &|| false).is_err());
}

/// The plain reading: the words of all items are looked at, one by one.
fn plainly(items: &[Vec<(String, Entry)>], expression: &str, options: Options) -> Vec<Vec<Alternative>> {
    let seen = |item: &'_ [(String, Entry)]| -> Vec<String> {
        item.iter().filter(|it| it.1.fields & options.fields != 0).map(|it| it.0.clone()).collect()
    };
    let items: Vec<Vec<String>> = items.iter().map(|it| seen(it)).collect();
    let mut holding = BTreeMap::<&str, usize>::new();
    for term in items.iter().flatten() {
        *holding.entry(term).or_default() += 1;
    }
    let question = Question::parse(expression, options).expect("allowed").expect("not blank");
    let mut told = Vec::new();
    for asked in &question.asked {
        let (spellings, is_prefix) = match asked {
            Asked::Exact(it) | Asked::Fuzzy(it) => (it, false),
            Asked::Prefix(it) => (it, true),
            Asked::Run(_) => continue,
        };
        let is_held = |term: &str| spellings.iter().any(|it| it == term || is_prefix && term.starts_with(it.as_str()));
        let held = items.iter().filter(|it| it.iter().any(|term| is_held(term))).count();
        let distance = |term: &str| {
            let near = spellings.iter().filter(|it| it.chars().next() == term.chars().next());
            let near = near.map(|it| (strsim::osa_distance(it, term), likeness::errors(it)));
            near.filter(|(distance, most)| distance <= most).map(|it| it.0).min()
        };
        let mut others: Vec<(usize, Reverse<usize>, String)> = holding
            .iter()
            .filter_map(|(term, items)| Some((distance(term)?, Reverse(*items), (*term).to_owned())))
            .filter(|it| it.0 > 0 && it.1.0 >= (TIMES * held).max(1))
            .collect();
        others.sort();
        others.truncate(MAX_ALTERNATIVES);
        if held <= FEW && !others.is_empty() {
            let others = others.into_iter().map(|(_, items, word)| Alternative { word, items: items.0 });
            told.push(others.collect());
        }
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::with_cases(30) })]

    #[test]
    fn suggestions_are_those_of_a_plain_reading(
        changes in prop::collection::vec((1..90u64, prop::option::weighted(0.8, texts())), 1..150),
        questions in prop::collection::vec(question(), 50),
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
        let items: Vec<_> = items.values().map(|it| terms(&fields(it))).collect();
        for (expression, options) in questions {
            let expected = plainly(&items, &expression, options);
            for index in &indexes {
                let told = suggestions(&index.segments, &expression, options);
                let found: Vec<_> = told.words.iter().map(|it| it.alternatives.clone()).collect();
                prop_assert_eq!(&found, &expected, "{:?} {:?}", expression, options);
                // As many items hold what is proposed as is told.
                if let Some(other) = told.expression {
                    let exact = Options { fuzzy: false, ..options };
                    let question = Question::parse(&other, exact).expect("allowed").expect("not blank");
                    let held = question.held_until(&index.segments, &|| false).expect("sound").expect("time is left");
                    for it in told.words.iter().map(|it| &it.alternatives[0]) {
                        prop_assert!(held.contains(&it.items), "{} {:?} {:?}", other, held, it);
                    }
                }
            }
        }
    }
}
