//! Documents as the words of a language fall: the same ones each time, for the program and for those beside it.

use crate::program::Random;
use serde_json::json;
use std::{io::Write, path::Path};

/// Different words, beside the named ones.
const WORDS: usize = 50_000;
/// How frequent the words of the first ranks are beside those that follow: the n-th is met 1 / (n + `HEAD`) times.
const HEAD: f64 = 20.0;
/// Words of known frequency, and how often each is met in a million words: in 63, 44, 29, 21 and 1 of 100 documents.
const NAMED: [(&str, usize); 5] = [("the", 36_000), ("of", 21_000), ("red", 12_600), ("car", 8_700), ("ganlo", 370)];
/// Two words that two documents hold.
pub const RARE: [&str; 2] = ["quorl", "zimbat"];

/// Titles of 2 to 5 words over bodies of 18 to 29: about 200 bytes, and as many of names and ids.
pub struct Corpus {
    words: Vec<String>,
    items: usize,
}

pub struct Document {
    pub title: String,
    pub body: String,
}

impl Corpus {
    pub fn new(items: usize) -> Self {
        Self { words: (0..WORDS).map(spelled).collect(), items }
    }

    pub fn len(&self) -> usize {
        self.items
    }

    /// The `n`-th document, which is the same in every run.
    pub fn document(&self, n: usize) -> Document {
        let mut random = Random::seeded(n as u64);
        let title = self.text(&mut random, 2, 4);
        let mut body = self.text(&mut random, 18, 12);
        if n == self.items / 3 || n == self.items / 3 * 2 {
            body.extend(RARE.iter().flat_map(|it| [" ", it]));
        }
        Document { title, body }
    }

    /// Text of `least` words and up to as many others.
    fn text(&self, random: &mut Random, least: usize, others: usize) -> String {
        let count = least + random.below(others);
        let words: Vec<_> = (0..count).map(|_| self.word(random)).collect();
        words.join(" ")
    }

    fn word(&self, random: &mut Random) -> &str {
        let mut at = random.below(1_000_000);
        for (word, frequency) in NAMED {
            if at < frequency {
                return word;
            }
            at -= frequency;
        }
        let share = random.below(1 << 40) as f64 / (1_u64 << 40) as f64;
        let rank = HEAD * ((WORDS as f64 + HEAD) / HEAD).powf(share) - HEAD;
        &self.words[(rank as usize).min(WORDS - 1)]
    }

    /// Writes them as JSON Lines and closes the file.
    pub fn write(&self, path: &Path) {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
        for n in 0..self.items {
            let Document { title, body } = self.document(n);
            writeln!(file, "{}", json!({ "_id": format!("d{n}"), "title": title, "body": body })).unwrap();
        }
        file.flush().unwrap();
    }
}

/// A word of two or three syllables, another one for each rank; one in twenty begins with each consonant.
fn spelled(rank: usize) -> String {
    let syllable = |n: usize| {
        let letter = |of: &'static str, n: usize| &of[n..=n];
        [letter("bcdfghjklmnprstvwxyz", n % 20), letter("aeiou", n / 20)].concat()
    };
    let mut word = syllable(rank % 100) + &syllable(rank / 100 % 100);
    if rank >= 10_000 {
        word.push_str(&syllable(rank / 10_000));
    }
    word
}
