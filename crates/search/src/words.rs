//! From text to words: one function for what is stored and for what is asked, so that both engines find the same.
//!
//! Case, accents and compatible forms (`ﬁ`, `½`, full width) are folded away. Text of scripts that put no spaces
//! between words, and Hangul, whose words are compounds, is cut into pairs of characters.

use std::ops::Range;
use stoa_kernel::fold::fold_char;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// The version of everything that decides what a word is: the rules here, and the tables of the pinned crates. A
/// segment remembers the one it was made with; another one means that the index is to be built anew.
pub const VERSION: u16 = 1;

/// Longer words are cut here, in characters, when stored as when asked.
pub const MAX_WORD: usize = 64;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands in the text, in bytes; both ends are boundaries of characters.
    pub range: Range<usize>,
    pub form: Form,
}

/// How a word is stored and asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A word of a script with spaces. `spellings` mean the same (`munchen`, `muenchen`) and are never empty; `parts`
    /// find it as well (`l` and `aquila` in `laquila`, `c` in `c#`) but aren't asked for.
    Whole { spellings: Vec<String>, parts: Vec<String> },
    /// Text without spaces, never empty. Stored are its pairs of characters and its last character.
    Run(String),
}

impl Word {
    /// All that is stored of it.
    pub fn terms(&self) -> Vec<String> {
        match &self.form {
            Form::Whole { spellings, parts } => spellings.iter().chain(parts).cloned().collect(),
            Form::Run(run) => {
                let mut terms = pairs(run);
                terms.extend(run.chars().last().map(String::from));
                terms
            }
        }
    }

    /// The same, of a word that isn't kept.
    pub fn into_terms(self) -> Vec<String> {
        match self.form {
            Form::Whole { mut spellings, parts } => {
                spellings.extend(parts);
                spellings
            }
            Form::Run(_) => self.terms(),
        }
    }

    /// How much it adds to the length of its text: 1, or the characters of a run.
    pub fn length(&self) -> usize {
        match &self.form {
            Form::Whole { .. } => 1,
            Form::Run(run) => run.chars().count(),
        }
    }
}

/// The pairs of neighbours in a run; none if it is one character.
pub fn pairs(run: &str) -> Vec<String> {
    let second = run.char_indices().skip(1).map(|(at, c)| at + c.len_utf8());
    run.char_indices().map(|(at, _)| at).zip(second).map(|(from, to)| run[from..to].to_owned()).collect()
}

/// The words of a text, in order.
pub fn words(text: &str) -> Vec<Word> {
    let mut reader = Reader { text, ..Reader::default() };
    for (at, c) in text.char_indices() {
        let range = at..at + c.len_utf8();
        if c.is_ascii() {
            reader.take_ascii(c, range);
        } else {
            decompose_compatible(c, |part| reader.take(part, range.clone()));
        }
    }
    reader.end_word();
    reader.words
}

/// Takes decomposed characters one by one and keeps the word that is being read.
#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    words: Vec<Word>,
    kind: Kind,
    range: Range<usize>,
    /// The word as it is written, without apostrophes.
    plain: String,
    /// The same with ä, ö, ü, å, ø written out.
    long: String,
    /// Where apostrophes stood in `plain`, in bytes.
    cuts: Vec<usize>,
    /// The last character was an apostrophe, which joins if a letter follows.
    apostrophe: bool,
    base: Base,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Nothing,
    Whole,
    Run,
}

/// What a mark would stand on.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Base {
    /// A script whose marks are part of the spelling.
    #[default]
    Other,
    /// A Latin letter, folded.
    Latin(char),
    Cyrillic,
    /// Greek, Hebrew, Arabic: marks are left out.
    Bare,
}

impl Reader<'_> {
    /// The same as [`Self::take`] without a look into the tables: most text is such.
    fn take_ascii(&mut self, c: char, range: Range<usize>) {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => self.take_letter(c, range),
            '\'' => self.take_apostrophe(),
            _ => self.end_word(),
        }
    }

    fn take(&mut self, c: char, range: Range<usize>) {
        use GeneralCategoryGroup as Group;
        if c == '\u{640}' {
            return; // Tatweel only stretches a word.
        }
        if is_apostrophe(c) {
            return self.take_apostrophe();
        }
        match c.general_category_group() {
            Group::Letter | Group::Number => self.take_letter(c, range),
            Group::Mark if self.kind != Kind::Nothing && !self.apostrophe => self.take_mark(c, range),
            Group::Mark => {}
            // Soft hyphens and joiners are invisible; only the zero width space says that a word ends.
            Group::Other if c.general_category() == unicode_properties::GeneralCategory::Format && c != '\u{200b}' => {}
            _ => self.end_word(),
        }
    }

    fn take_apostrophe(&mut self) {
        if self.kind == Kind::Whole && !self.apostrophe {
            self.apostrophe = true;
        } else {
            self.end_word();
        }
    }

    fn take_letter(&mut self, c: char, range: Range<usize>) {
        let kind = if !c.is_ascii() && is_run(c) { Kind::Run } else { Kind::Whole };
        if kind != self.kind {
            self.end_word();
        }
        if self.kind == Kind::Nothing {
            (self.kind, self.range) = (kind, range.clone());
        }
        if std::mem::take(&mut self.apostrophe) {
            self.cuts.push(self.plain.len());
        }
        self.range.end = range.end;
        let folded = fold_char(c);
        self.base = base(folded);
        match written_out(folded) {
            Some((plain, long)) => {
                self.plain.push_str(plain);
                self.long.push_str(long);
            }
            None => {
                self.plain.push(folded);
                self.long.push(folded);
            }
        }
    }

    fn take_mark(&mut self, c: char, range: Range<usize>) {
        self.range.end = range.end;
        match (self.base, c) {
            (Base::Latin('a' | 'o' | 'u'), '\u{308}') => self.write_out('e'),
            (Base::Latin('a'), '\u{30a}') => self.write_out('a'),
            // й and ў are letters of their own; ё is often written е.
            (Base::Other, _) | (Base::Cyrillic, '\u{306}') => {
                self.plain.push(c);
                self.long.push(c);
            }
            _ => {}
        }
    }

    fn write_out(&mut self, c: char) {
        self.long.push(c);
        self.base = Base::Bare; // A second mark writes nothing out.
    }

    fn end_word(&mut self) {
        let kind = std::mem::take(&mut self.kind);
        self.apostrophe = false;
        let (plain, long) = (std::mem::take(&mut self.plain), std::mem::take(&mut self.long));
        let (cuts, mut range) = (std::mem::take(&mut self.cuts), self.range.clone());
        let form = match kind {
            Kind::Nothing => return,
            Kind::Run => Form::Run(plain.nfc().collect()),
            Kind::Whole => {
                let mut parts = split(&plain, &cuts);
                let sign = sign_after(&plain, &self.text[range.end..]);
                range.end += sign.len();
                if !sign.is_empty() {
                    parts.push(stored(&plain));
                }
                let mut spellings = vec![stored(&plain) + sign];
                if long != plain {
                    spellings.push(stored(&long) + sign);
                    spellings.dedup();
                }
                parts.retain(|it| !it.is_empty());
                Form::Whole { spellings, parts }
            }
        };
        self.words.push(Word { range, form });
    }
}

/// The pieces between apostrophes; none if there are none.
fn split(word: &str, cuts: &[usize]) -> Vec<String> {
    let Some(&last) = cuts.last() else { return Vec::new() };
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let mut parts: Vec<String> = starts.zip(cuts).map(|(from, &to)| stored(&word[from..to])).collect();
    parts.push(stored(&word[last..]));
    parts
}

fn stored(word: &str) -> String {
    if word.is_ascii() {
        return word[..word.len().min(MAX_WORD)].to_owned();
    }
    word.nfc().take(MAX_WORD).collect()
}

/// `++` or `#` that belongs to a name like C++ or C#.
fn sign_after(word: &str, rest: &str) -> &'static str {
    let short = word.len() <= 16 && word.chars().all(|c| c.is_ascii_lowercase());
    let sign = ["++", "#"].into_iter().find(|it| short && rest.starts_with(it)).unwrap_or_default();
    let next = rest[sign.len()..].chars().next();
    let goes_on = next.is_some_and(|c| c == '+' || c == '#' || c.is_ascii_alphanumeric() || !c.is_ascii());
    if goes_on { "" } else { sign }
}

/// What becomes of letters that decompose into nothing: as it is mostly written without them, and written out.
fn written_out(c: char) -> Option<(&'static str, &'static str)> {
    Some(match c {
        'ø' => ("o", "oe"),
        'ß' => ("ss", "ss"),
        'æ' => ("ae", "ae"),
        'œ' => ("oe", "oe"),
        'ł' => ("l", "l"),
        'đ' | 'ð' => ("d", "d"),
        'ħ' => ("h", "h"),
        'ı' => ("i", "i"),
        'þ' => ("th", "th"),
        _ => return None,
    })
}

fn base(c: char) -> Base {
    match c {
        '0'..='9' => Base::Bare,
        'a'..='z' | '\u{aa}'..='\u{2af}' | '\u{1e00}'..='\u{1eff}' => Base::Latin(c),
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{a640}'..='\u{a69f}' => Base::Cyrillic,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Base::Bare,
        '\u{590}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{8a0}'..='\u{8ff}' => Base::Bare,
        _ => Base::Other,
    }
}

/// Signs that join what stands on both sides: apostrophes, letters that are written like them, and Hebrew geresh.
fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{2b9}'..='\u{2bf}' | '\u{5f3}' | '\u{5f4}')
}

/// Characters of scripts without spaces, and Hangul: Thai, Lao, Myanmar, Khmer, Kana, Han.
fn is_run(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests;
