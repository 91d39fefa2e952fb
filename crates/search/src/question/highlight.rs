//! What of a text answers, and pieces of the text around that.

use super::{
    Asked, Question,
    check::Stored,
    places::{is_between_characters, places},
};
use crate::words::{Form, words};
use std::cmp::Reverse;
use std::ops::Range;

/// Spaces are looked for so near, in characters, for a piece not to begin or end within a word.
const NEAR: usize = 24;

/// How much of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The most characters (code points) of a fragment; at least 1.
    pub characters: usize,
    /// The most fragments.
    pub fragments: usize,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// Where it answers, in bytes of the text: ascending, apart from each other and not empty.
    pub matches: Vec<Range<usize>>,
}

impl Fragment {
    /// The parts of the piece in their order, and whether each answers. Joined they are the piece.
    pub fn parts<'t>(&self, text: &'t str) -> Vec<(&'t str, bool)> {
        let (mut parts, mut at) = (Vec::with_capacity(2 * self.matches.len() + 1), self.range.start);
        for it in &self.matches {
            parts.extend([(at..it.start, false), (it.clone(), true)]);
            at = it.end;
        }
        parts.push((at..self.range.end, false));
        parts.retain(|it| !it.0.is_empty());
        parts.into_iter().map(|(range, is_match)| (&text[range], is_match)).collect()
    }
}

impl Question {
    /// The pieces of a text in which it answers, in their order: those with most of the words asked for, then those with
    /// most matches, then the first ones. A text without matches has none.
    pub fn fragments(&self, text: &str, extent: Extent) -> Vec<Fragment> {
        let matches = self.matches(text);
        let mut groups = groups(text, &matches, extent.characters);
        groups.sort_by_key(|it| (Reverse(it.asked.count_ones()), Reverse(it.matches.len())));
        groups.truncate(extent.fragments);
        groups.sort_by_key(|it| it.matches.start);
        let (mut fragments, mut from) = (Vec::with_capacity(groups.len()), 0);
        for (n, group) in groups.iter().enumerate() {
            let to = groups.get(n + 1).map_or(text.len(), |next| matches[next.matches.start].range.start);
            let own = matches[group.matches.start].range.start..matches[group.matches.end - 1].range.end;
            let range = match extent.characters.checked_sub(group.characters) {
                Some(more) => whole(text, &matches, &own, around(text, &own, from..to, more)),
                // A match that is longer than a fragment.
                None => own.start..own.start + whole_front(&text[own.clone()], extent.characters),
            };
            from = range.end;
            fragments.push(Fragment { matches: within(&matches, &range), range });
        }
        fragments
    }

    /// What answers in a text. Neighbours are one.
    fn matches(&self, text: &str) -> Vec<Match> {
        let mut matches = Vec::new();
        for word in words(text).into_iter().map(Stored::new) {
            for (n, asked) in self.asked.iter().enumerate().filter(|it| word.is(it.1)) {
                matches.extend(ranges(&word, asked, text).into_iter().map(|range| Match { range, asked: 1 << n }));
            }
        }
        matches.sort_by_key(|it| (it.range.start, it.range.end));
        matches.dedup_by(|next, last| {
            let are_joined = next.range.start <= last.range.end;
            if are_joined {
                last.range.end = last.range.end.max(next.range.end);
                last.asked |= next.asked;
            }
            are_joined
        });
        matches
    }
}

/// A part of a text that answers.
struct Match {
    range: Range<usize>,
    /// A bit for each word that is asked for.
    asked: u32,
}

/// Matches that fit into one fragment.
struct Group {
    matches: Range<usize>,
    asked: u32,
    /// From the first match to the end of the last.
    characters: usize,
}

/// Where a word of a text that is asked for stands: a word with spaces around it as a whole, of a run the part.
fn ranges(word: &Stored, asked: &Asked, text: &str) -> Vec<Range<usize>> {
    let range = &word.word.range;
    let Form::Run(run) = &word.word.form else { return vec![range.clone()] };
    match asked {
        Asked::Run(part) => places(text, range, run, part),
        Asked::Exact(parts) | Asked::Prefix(parts) | Asked::Fuzzy(parts) => {
            parts.iter().flat_map(|part| places(text, range, run, part)).collect()
        }
    }
}

fn groups(text: &str, matches: &[Match], most: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut end = 0;
    for (n, it) in matches.iter().enumerate() {
        if let Some(last) = groups.last_mut() {
            let characters = last.characters + text[end..it.range.end].chars().count();
            if characters <= most {
                (last.matches.end, last.characters) = (n + 1, characters);
                last.asked |= it.asked;
                end = it.range.end;
                continue;
            }
        }
        end = it.range.end;
        let characters = text[it.range.clone()].chars().count();
        groups.push(Group { matches: n..n + 1, asked: it.asked, characters });
    }
    groups
}

/// The piece of a text with so many characters more than its own, within bounds: half of them before it, if there are so
/// many on both sides.
fn around(text: &str, own: &Range<usize>, bounds: Range<usize>, more: usize) -> Range<usize> {
    let (before, after) = (&text[bounds.start..own.start], &text[own.end..bounds.end]);
    let left_over = (more - more / 2) - after.chars().take(more - more / 2).count();
    let characters_before = before.chars().rev().take(more / 2 + left_over).count();
    let start = own.start - back(before, characters_before);
    let end = own.end + front(after, more - characters_before);
    let mut piece = start..end;
    let is_within_word =
        |at: usize| !text[..at].ends_with(char::is_whitespace) && !text[at..].starts_with(char::is_whitespace);
    if start > bounds.start && is_within_word(start) {
        let near = &text[start..start + front(&text[start..own.start], NEAR)];
        piece.start += near.find(char::is_whitespace).unwrap_or_default();
    }
    if end < bounds.end && is_within_word(end) {
        let near = end - back(&text[own.end..end], NEAR);
        piece.end = text[near..end].rfind(char::is_whitespace).map_or(end, |it| near + it);
    }
    if piece.start > 0 {
        piece.start = own.start - text[piece.start..own.start].trim_start().len();
    }
    if piece.end < text.len() {
        piece.end = own.end + text[own.end..piece.end].trim_end().len();
    }
    piece
}

/// The bytes of the first characters of a text.
fn front(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |it| it.0)
}

/// The bytes of the last characters of a text.
fn back(text: &str, characters: usize) -> usize {
    text.chars().rev().take(characters).map(char::len_utf8).sum()
}

/// The piece without the parts of matches and of characters that its ends cut through; its own matches are whole.
fn whole(text: &str, matches: &[Match], own: &Range<usize>, mut piece: Range<usize>) -> Range<usize> {
    loop {
        // One may cut what the other has made whole. The piece only gets shorter, so this ends.
        let before = piece.clone();
        piece = uncut(matches, own, piece);
        while piece.start < own.start && !is_between_characters(text, piece.start) {
            piece.start += front(&text[piece.start..], 1);
        }
        while piece.end > own.end && !is_between_characters(text, piece.end) {
            piece.end -= back(&text[..piece.end], 1);
        }
        if piece == before {
            return piece;
        }
    }
}

/// The bytes of the first characters of a text, without the parts of one that is cut through there; all of them where it
/// is a single one.
fn whole_front(text: &str, characters: usize) -> usize {
    let end = front(text, characters);
    let ends = text[..end].char_indices().map(|it| it.0).filter(|it| *it > 0);
    if is_between_characters(text, end) {
        return end;
    }
    ends.rev().find(|it| is_between_characters(text, *it)).unwrap_or(end)
}

/// The piece without the parts of matches that its ends cut through; its own are whole.
fn uncut(matches: &[Match], own: &Range<usize>, mut range: Range<usize>) -> Range<usize> {
    let cut_at = |at: usize| {
        let it = matches.get(matches.partition_point(|it| it.range.end <= at))?;
        (it.range.start < at).then_some(&it.range)
    };
    if let Some(it) = cut_at(range.start) {
        range.start = it.end.min(own.start);
    }
    if let Some(it) = cut_at(range.end) {
        range.end = it.start.max(own.end);
    }
    range
}

/// The matches in a piece.
fn within(matches: &[Match], range: &Range<usize>) -> Vec<Range<usize>> {
    let from = matches.partition_point(|it| it.range.end <= range.start);
    let these = matches[from..].iter().map(|it| &it.range).take_while(|it| it.start < range.end);
    these.map(|it| it.start.max(range.start)..it.end.min(range.end)).collect()
}

#[cfg(test)]
mod tests;
