//! What the index of a collection answers, and whether an item does.

use super::{
    layout::Layout,
    memory::SearchMemory,
    row::{Index, StoredSegment},
    state,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_search::{
    Damaged,
    lists::{Lists, Row},
    question::{Hits, Question, Suggestions},
    rows::Rows,
    words::VERSION,
};
use stoa_store::Tx;

/// What the row of an item takes while the languages of a question are put together.
const ITEM_BYTES: usize = 32;

/// A question to the index of a collection.
pub(crate) struct Asked {
    pub question: Question,
    /// What was read as the question.
    pub expression: String,
    /// Whether the caller is told other words that may be meant.
    pub wants_suggestions: bool,
    pub layout: Layout,
    /// The fields that are searched; all where none is named.
    pub within: Vec<String>,
    /// The language that is searched, and those that stand in for it, the nearest first; none for the primary text alone.
    pub languages: Vec<String>,
}

/// The language of segments of the primary text.
const PRIMARY: &str = "";

impl Asked {
    /// Those documents whose items answer. The index may be older than an item, pairs of characters don't say whether
    /// they are neighbours, and some fields share a bit.
    ///
    /// # Errors
    /// WDE0028 when the time of the read is over.
    pub(crate) async fn answering(self: &Arc<Self>, tx: &mut Tx<'_>, documents: Vec<String>) -> Result<Vec<String>> {
        let asked = self.clone();
        tx.compute(move |deadline| {
            let mut answering = Vec::with_capacity(documents.len());
            for it in documents {
                if deadline.is_over() {
                    return Err(time_over());
                }
                if asked.is_answered_by(&it)? {
                    answering.push(it);
                }
            }
            Ok(answering)
        })
        .await
    }

    fn is_answered_by(&self, document: &str) -> Result<bool> {
        let document: Map<String, Value> = serde_json::from_str(document).map_err(Fault::internal)?;
        Ok(self.layout.with_texts_of(&self.within, &document, |texts| self.question.is_answered_by(texts)))
    }
}

/// What an index answers.
pub(crate) struct Answered {
    /// The items, best first.
    pub hits: Hits,
    /// How many items hold each word of the question; nothing where suggestions aren't wanted.
    held: Vec<usize>,
    pub memory: SearchMemory,
}

impl Index {
    /// The items that answer in the language of the question, best first, of a read whose statements all see one state. Of
    /// an index that isn't whole those that are in it, and none of one that is of other words or other fields than these.
    ///
    /// # Errors
    /// As for [`Index::lists`]; WDE0028 when the time of the read is over.
    pub(crate) async fn ask(&self, tx: &mut Tx<'_>, asked: &Arc<Asked>, mut memory: SearchMemory) -> Result<Answered> {
        let Some(groups) = self.groups(tx, asked, &asked.question, &mut memory).await? else {
            return Ok(Answered { hits: Hits::default(), held: Vec::new(), memory });
        };
        memory.take(Question::working_bytes(&groups.iter().flat_map(|it| &it.lists).collect::<Vec<_>>()))?;
        let (asked, index) = (asked.clone(), self.clone());
        tx.compute(move |deadline| {
            let (is_over, damaged) = (|| deadline.is_over(), |it| index.damaged(it));
            let lists = in_languages(groups, &is_over).map_err(damaged)?.ok_or_else(time_over)?;
            let hits = asked.question.ask_until(&lists, &is_over).map_err(damaged)?.ok_or_else(time_over)?;
            let held = match asked.wants_suggestions {
                true => asked.question.held_until(&lists, &is_over).map_err(damaged)?.ok_or_else(time_over)?,
                false => Vec::new(),
            };
            Ok(Answered { hits, held, memory })
        })
        .await
    }

    /// Other words of the index that may be meant, in the read of an [`Index::ask`] that was told to look for them; nothing
    /// where their lists would take more memory than there is: what was found is found without them.
    ///
    /// # Errors
    /// As for [`Index::ask`], but for the memory.
    pub(crate) async fn suggest(
        &self,
        tx: &mut Tx<'_>,
        asked: &Arc<Asked>,
        answered: &mut Answered,
    ) -> Result<Option<Suggestions>> {
        let kept = answered.memory.used();
        let found = self.alternatives(tx, asked, answered).await;
        answered.memory.shrink(kept);
        match found {
            Err(fault) if matches!(fault.code(), Code::SortTooLarge | Code::Unavailable) => Ok(None),
            found => found.map(Some),
        }
    }

    async fn alternatives(&self, tx: &mut Tx<'_>, asked: &Arc<Asked>, answered: &mut Answered) -> Result<Suggestions> {
        let Some(doubts) = asked.question.doubts(&asked.expression, &answered.held) else {
            return Ok(Suggestions::default());
        };
        let Some(groups) = self.groups(tx, asked, doubts.question(), &mut answered.memory).await? else {
            return Ok(Suggestions::default());
        };
        let index = self.clone();
        tx.compute(move |deadline| {
            let (is_over, damaged) = (|| deadline.is_over(), |it| index.damaged(it));
            let lists = in_languages(groups, &is_over).map_err(damaged)?.ok_or_else(time_over)?;
            doubts.suggestions_until(&lists, &is_over).map_err(damaged)?.ok_or_else(time_over)
        })
        .await
    }

    /// What a question reads in the languages that are asked, the nearest first; nothing of an index that is of other words
    /// or other fields.
    async fn groups(
        &self,
        tx: &mut Tx<'_>,
        asked: &Asked,
        question: &Question,
        memory: &mut SearchMemory,
    ) -> Result<Option<Vec<OfLanguage>>> {
        let state = state::of(tx, self).await?;
        if !state.is_some_and(|it| it.is_on && it.is_of(&asked.layout.text())) {
            return Ok(None);
        }
        let languages: Vec<&str> = asked.languages.iter().map(String::as_str).chain([PRIMARY]).collect();
        let mut segments = self.segments_in(tx, languages.iter().map(|it| (*it).to_owned()).collect()).await?;
        segments.retain(|it| it.version == VERSION && it.items > it.dead.len());
        let mut groups = Vec::with_capacity(languages.len());
        for language in languages {
            let (of_language, others) = segments.into_iter().partition(|it| it.language == language);
            segments = others;
            let lists = self.lists(tx, &of_language, question, memory).await?;
            let is_translation = language != PRIMARY;
            groups.push(OfLanguage { is_translation, lists, segments: of_language, items: Vec::new() });
        }
        // Where nothing is found behind a language it hides nothing there.
        let last = groups.iter().rposition(|it| it.lists.iter().any(|it| !it.is_empty())).unwrap_or_default();
        for group in &mut groups[..last] {
            for segment in &group.segments {
                memory.take(ITEM_BYTES * segment.items)?;
                group.items.push(self.item_parts(tx, segment).await?);
            }
        }
        Ok(Some(groups))
    }
}

fn time_over() -> Fault {
    Fault::new(Code::TimeLimit)
}

/// What a question reads in a language.
struct OfLanguage {
    is_translation: bool,
    segments: Vec<StoredSegment>,
    /// Of each segment.
    lists: Vec<Lists>,
    /// The same, as they are stored; none where they hide nothing.
    items: Vec<Vec<Row>>,
}

/// The lists of languages, the nearest first, where each item is found in one of them; nothing once `is_over` says so.
fn in_languages(groups: Vec<OfLanguage>, is_over: &dyn Fn() -> bool) -> Result<Option<Vec<Lists>>, Damaged> {
    let (mut all, mut hidden) = (Vec::new(), Arc::new(Rows::default()));
    for OfLanguage { is_translation, segments, lists, items } in groups {
        all.extend(lists.into_iter().map(|it| it.in_language(is_translation, hidden.clone())));
        let mut nearer = Vec::with_capacity(items.len());
        for (segment, parts) in segments.iter().zip(&items) {
            if is_over() {
                return Ok(None);
            }
            nearer.push((segment.items_in(parts)?, &segment.dead));
        }
        if !nearer.is_empty() {
            hidden = Arc::new(hidden.and(nearer.iter().map(|(items, dead)| (items, *dead))));
        }
    }
    Ok(Some(all))
}
