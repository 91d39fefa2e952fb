use super::*;
use proptest::prelude::*;

fn terms(text: &str) -> String {
    words(text).iter().flat_map(Word::terms).collect::<Vec<_>>().join(" ")
}

#[test]
fn letters_lose_case_and_accents() {
    for (text, expected) in [
        ("São Paulo", "sao paulo"),
        ("München", "munchen muenchen"),
        ("Mu\u{308}nchen", "munchen muenchen"),
        ("Århus, Tromsø", "arhus aarhus tromso tromsoe"),
        ("Straße STRASSE", "strasse strasse"),
        ("Łódź Þór Æsir", "lodz thor aesir"),
        ("İstanbul I İ ı i", "istanbul i i i i"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("ﬁ ½ Ⅷ ｆｕｌｌ", "fi 1 2 viii full"),
        ("soft\u{ad}hyphen", "softhyphen"),
        ("a_b-c.d", "a b c d"),
        ("", ""),
        ("!?…🙂", ""),
    ] {
        assert_eq!(terms(text), expected, "{text}");
    }
}

#[test]
fn scripts_keep_what_tells_words_apart() {
    for (text, expected) in [
        ("Ёлка Йод й ў", "елка йод й ў"),
        ("и\u{306}од", "йод"),
        ("हिन्दी", "हिन्दी"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد أحمد مـحمد", "محمد احمد محمد"),
        ("がぎ ｶﾞ", "がぎ ぎ ガ"),
    ] {
        assert_eq!(terms(text), expected, "{text}");
    }
}

#[test]
fn runs_become_pairs_and_their_last_character() {
    assert_eq!(terms("東京タワー"), "東京 京タ タワ ワー ー");
    assert_eq!(terms("서울특별시"), "서울 울특 특별 별시 시");
    assert_eq!(terms("㈱ﾃｽﾄ"), "株 テス スト ト");
    assert_eq!(terms("2024年abc"), "2024 年 abc");
}

#[test]
fn apostrophes_join_letters() {
    assert_eq!(terms("L'Aquila"), "laquila l aquila");
    assert_eq!(terms("Hawai\u{2bb}i \u{2bb}Ewa"), "hawaii hawai i ewa");
    assert_eq!(terms("rock'n'roll 'quoted' dogs'"), "rocknroll rock n roll quoted dogs");
}

#[test]
fn names_of_languages_keep_their_signs() {
    assert_eq!(terms("C, C++, C# and F#."), "c c++ c c# c and f# f");
    assert_eq!(terms("a++b 3# C#x c+++"), "a b 3 c x c");
}

#[test]
fn long_words_are_cut() {
    assert_eq!(terms(&"ä".repeat(500)).split(' ').map(|it| it.chars().count()).collect::<Vec<_>>(), [64, 64]);
}

/// Text in which what is special here is frequent.
fn text() -> impl Strategy<Value = String> {
    let special = "[a-cäöåøßİıйё'’ʻ\u{300}-\u{30c}東京タ서울\u{3099}ก\u{e34}#+ \u{ad}ﬁ½\u{1100}\u{1161}\u{11a8}]{0,12}";
    prop_oneof![special.prop_map(String::from), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn words_stand_in_order_in_their_text(text in text()) {
        let mut end = 0;
        for word in words(&text) {
            prop_assert!(word.range.start >= end || text[..end].chars().last().is_some_and(|c| !c.is_ascii()));
            prop_assert!(word.range.start < word.range.end && text.get(word.range.clone()).is_some());
            end = word.range.end;
        }
    }

    #[test]
    fn terms_are_never_empty_and_bounded(text in text()) {
        for term in words(&text).iter().flat_map(Word::terms) {
            prop_assert!(!term.is_empty() && term.chars().count() <= MAX_WORD + 2);
        }
    }

    #[test]
    fn normal_forms_have_the_same_words(text in text()) {
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(terms(&composed), terms(&decomposed));
    }

    #[test]
    fn terms_are_words_of_their_own(text in text()) {
        for term in words(&text).iter().filter(|it| matches!(it.form, Form::Whole { .. })).flat_map(Word::terms) {
            let again = words(&term);
            prop_assert!(again.len() == 1 && again[0].terms().contains(&term), "{term:?} {again:?}");
        }
    }
}
