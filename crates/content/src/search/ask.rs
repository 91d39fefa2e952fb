//! What the index of a collection answers, and whether an item does.

use super::{layout::Layout, memory::SearchMemory, row::Index, state};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_search::{
    question::{Hits, Question},
    rows::Rows,
    words::VERSION,
};
use stoa_store::Tx;

/// What the row of an item takes while the languages of a question are put together.
const ITEM_BYTES: usize = 32;

/// A question to the index of a collection.
pub(crate) struct Asked {
    pub question: Question,
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
                    return Err(Fault::new(Code::TimeLimit));
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

impl Index {
    /// The items that answer in the language of the question, best first, of a read whose statements all see one state. Of
    /// an index that isn't whole those that are in it, and none of one that is of other words or other fields than these.
    ///
    /// # Errors
    /// As for [`Index::lists`]; WDE0028 when the time of the read is over.
    pub(crate) async fn ask(
        &self,
        tx: &mut Tx<'_>,
        asked: &Arc<Asked>,
        mut memory: SearchMemory,
    ) -> Result<(Hits, SearchMemory)> {
        let Asked { question, layout, .. } = &**asked;
        let state = state::of(tx, self).await?;
        if !state.is_some_and(|it| it.is_on && it.is_of(&layout.text())) {
            return Ok((Hits::default(), memory));
        }
        let mut segments = self.segments(tx).await?;
        segments.retain(|it| it.version == VERSION && it.items > it.dead.len());
        let (mut lists, mut hidden) = (Vec::new(), Arc::new(Rows::default()));
        for language in asked.languages.iter().map(String::as_str).chain([PRIMARY]) {
            let (is_translation, mut nearer) = (language != PRIMARY, hidden.as_slice().to_vec());
            for segment in segments.iter().filter(|it| it.language == language) {
                let found = self.lists(tx, segment, question, &mut memory).await?;
                lists.push(found.in_language(is_translation, hidden.clone()));
                if is_translation {
                    memory.take(ITEM_BYTES * segment.items)?;
                    nearer.extend(self.items(tx, segment).await?.without(&segment.dead));
                }
            }
            if nearer.len() > hidden.len() {
                hidden = Arc::new(Rows::new(nearer));
            }
        }
        memory.take(Question::working_bytes(&lists))?;
        let (asked, index) = (asked.clone(), self.clone());
        tx.compute(move |deadline| {
            let hits = asked.question.ask_until(&lists, &|| deadline.is_over()).map_err(|it| index.damaged(it))?;
            Ok((hits.ok_or_else(|| Fault::new(Code::TimeLimit))?, memory))
        })
        .await
    }
}
