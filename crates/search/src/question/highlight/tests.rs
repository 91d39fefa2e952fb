use super::*;
use crate::document::FieldText;
use crate::question::{Mode, Options};
use proptest::prelude::*;

const OR: Options = Options { mode: Mode::Or, fuzzy: false, fields: 255, rarity: true };
const LONG: Extent = Extent { characters: 1_000, fragments: 3 };

fn question(expression: &str) -> Question {
    Question::parse(expression, OR).expect("allowed").expect("not blank")
}

/// The fragments of a text, with brackets around what answers and dots where text was left out.
fn marked(expression: &str, text: &str, extent: Extent) -> Vec<String> {
    let fragments = question(expression).fragments(text, extent);
    let each = fragments.iter().map(|it| {
        let parts = it.parts(text).into_iter().map(|(part, is_match)| match is_match {
            true => format!("[{part}]"),
            false => part.to_owned(),
        });
        let dots = |is_cut: bool| if is_cut { "…" } else { "" };
        format!("{}{}{}", dots(it.range.start > 0), parts.collect::<String>(), dots(it.range.end < text.len()))
    });
    each.collect()
}

#[test]
fn what_answers_is_marked_as_it_is_written() {
    for (expression, text, expected) in [
        ("new york", "New York, New Haven", "[New] [York], [New] Haven"),
        ("munchen", "in München", "in [München]"),
        ("muenchen", "in München", "in [München]"),
        ("strasse", "Lange Straße 5", "Lange [Straße] 5"),
        ("STRASSE", "Straßen", ""),
        ("stra*", "Lange Straße 5", "Lange [Straße] 5"),
        ("yrok~", "New York", "New [York]"),
        ("aquila", "L'Aquila", "[L'Aquila]"),
        ("c#", "C# and C", "[C#] and C"),
        ("c", "C# and C", "[C#] and [C]"),
        ("東京都", "東京都庁と京都", "[東京都]庁と京都"),
        ("東京 京都", "東京都庁", "[東京都]庁"),
        ("タ", "東京タワー", "東京[タ]ワー"),
        ("ダ", "ﾀﾞｶ", "[ﾀﾞ]ｶ"),
        ("½", "1½ cups", "1[½] cups"),
        ("none", "New York", ""),
        ("!!", "!!", ""),
    ] {
        let expected: &[&str] = if expected.is_empty() { &[] } else { &[expected] };
        assert_eq!(marked(expression, text, LONG), expected, "{expression}");
    }
}

#[test]
fn long_texts_are_shown_in_pieces() {
    let text = "one two three red four five six seven eight nine red car ten eleven twelve thirteen car fourteen";
    let extent = |characters, fragments| Extent { characters, fragments };
    for (characters, fragments, expected) in [
        (30, 1, vec!["…eight nine [red] [car] ten eleven…"]),
        (30, 2, vec!["…two three [red] four five six…", "…eight nine [red] [car] ten eleven…"]),
        (7, 3, vec!["…[red]…", "…[red] [car]…", "…[car]…"]),
        (2, 1, vec!["…[re]…"]),
        (
            1_000,
            3,
            vec![
                "one two three [red] four five six seven eight nine [red] [car] ten eleven twelve thirteen [car] fourteen",
            ],
        ),
    ] {
        assert_eq!(marked("red car", text, extent(characters, fragments)), expected, "{characters} {fragments}");
    }
    // Neither begins nor ends within what is read as one character.
    for (character, characters, piece) in [
        ("か\u{3099}", 8, "…か\u{3099}[東]か\u{3099}か\u{3099}…"),
        ("🇩🇪", 8, "…🇩🇪[東]🇩🇪🇩🇪…"),
        ("👩\u{200d}👧", 9, "…👩\u{200d}👧[東]👩\u{200d}👧…"),
        ("❤\u{fe0f}", 8, "…❤\u{fe0f}[東]❤\u{fe0f}❤\u{fe0f}…"),
    ] {
        let around = character.repeat(20);
        let text = format!("{around}東{around}");
        assert_eq!(marked("東", &text, extent(characters, 1)), [piece], "{character}");
    }
    let own = marked("がが", &"か\u{3099}".repeat(10), extent(5, 1));
    assert_eq!(own, ["[か\u{3099}か\u{3099}]…"]);
    let marks = "東京".repeat(40);
    let pieces = marked("京東", &marks, extent(10, 2));
    assert_eq!(pieces.len(), 1, "neighbours are one match: {pieces:?}");
}

fn texts() -> impl Strategy<Value = String> {
    let word =
        "([a-cA-C]{1,4}|b[a-c]{4,6}|[ÜüöéßÅ][ab]{0,2}|東京?タ?|ﾀﾞ|a'b|c\\+\\+|½|ㄱㅏ|か\u{3099}|a\u{308}|\u{200d}|<b>)";
    prop::string::string_regex(&format!("({word}[ ,.\n]?){{0,40}}")).expect("a pattern")
}

fn expressions() -> impl Strategy<Value = (String, bool)> {
    let word = "([a-c]{1,3}|b[a-c]{4,6}|ü[ab]|ss|東京?タ?|ダ|が|가|a'b|c\\+\\+|1)[*~]?";
    (prop::string::string_regex(&format!("{word}( {word}){{0,3}}")).expect("a pattern"), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn fragments_are_pieces_of_the_text_and_what_is_marked_answers(
        text in texts(), (expression, fuzzy) in expressions(), characters in 1..60usize, fragments in 1..4usize,
    ) {
        let Some(question) = Question::parse(&expression, Options { fuzzy, ..OR }).expect("allowed") else { return Ok(()) };
        let answers = |text: &str| question.is_answered_by(&[FieldText { bit: 1, is_display: false, text }]);
        let found = question.fragments(&text, Extent { characters, fragments });
        prop_assert_eq!(found.is_empty(), !answers(&text));
        prop_assert!(found.len() <= fragments);
        prop_assert!(found.windows(2).all(|it| it[0].range.end <= it[1].range.start), "{:?}", found);
        let all: Vec<_> = question.matches(&text).into_iter().map(|it| it.range).collect();
        for it in &found {
            let parts = it.parts(&text);
            prop_assert_eq!(parts.iter().map(|it| it.0).collect::<String>(), &text[it.range.clone()]);
            prop_assert!(parts.iter().any(|it| it.1) && parts.iter().all(|it| !it.0.is_empty()));
            prop_assert!(text[it.range.clone()].chars().count() <= characters);
            for range in &it.matches {
                // Whole, but where one alone is longer than a fragment.
                let is_long = it.matches.len() == 1 && *range == it.range;
                prop_assert!(is_long || all.contains(range), "{:?} {:?}", it, all);
            }
            // A match may begin anywhere; around it whole characters are shown.
            let (first, last) = (&it.matches[0], &it.matches[it.matches.len() - 1]);
            prop_assert!(it.range.start == first.start || is_between_characters(&text, it.range.start), "{:?}", it);
            prop_assert!(it.range.end == last.end || is_between_characters(&text, it.range.end), "{:?}", it);
            let marked = all.iter().filter(|all| all.start < it.range.end && it.range.start < all.end).count();
            prop_assert_eq!(marked, it.matches.len());
        }
        for range in all {
            prop_assert!(answers(&text[range.clone()]), "{:?} of {:?}", &text[range], text);
        }
        // A text that fits is shown as a whole.
        if text.chars().count() <= characters && !found.is_empty() {
            prop_assert_eq!(found[0].range.clone(), 0..text.len());
        }
    }
}
