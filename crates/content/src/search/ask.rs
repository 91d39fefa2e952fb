//! What the index of a collection answers, and whether an item does.

use super::{layout::Layout, row::Index, state};
use serde_json::{Map, Value};
use stoa_kernel::{Fault, Result};
use stoa_search::{
    question::{Hits, Question},
    words::VERSION,
};
use stoa_store::Tx;

/// A question to the index of a collection.
pub(crate) struct Asked {
    pub question: Question,
    pub layout: Layout,
    /// The fields that are searched; all where none is named.
    pub within: Vec<String>,
}

impl Asked {
    /// Whether an item with this document answers. The index may be older than the item, pairs of characters don't say
    /// whether they are neighbours, and some fields share a bit.
    pub(crate) fn is_answered_by(&self, document: &str) -> Result<bool> {
        let document: Map<String, Value> = serde_json::from_str(document).map_err(Fault::internal)?;
        Ok(self.layout.with_texts_of(&self.within, &document, |texts| self.question.is_answered_by(texts)))
    }
}

impl Index {
    /// The items that answer, best first, of a read whose statements all see one state. Of an index that isn't whole
    /// those that are in it, and none of one that is of other words or other fields than these.
    ///
    /// # Errors
    /// As for [`Index::lists`].
    pub(crate) async fn ask(&self, tx: &mut Tx<'_>, asked: &Asked) -> Result<Hits> {
        let Asked { question, layout, .. } = asked;
        let state = state::of(tx, self).await?;
        if !state.is_some_and(|it| it.is_on && it.is_of(&layout.text())) {
            return Ok(Hits::default());
        }
        let mut lists = Vec::new();
        for segment in self.segments(tx).await? {
            if segment.version == VERSION && segment.items > segment.dead.len() {
                lists.push(self.lists(tx, &segment, question).await?);
            }
        }
        question.ask(&lists.iter().collect::<Vec<_>>()).map_err(|it| self.damaged(it))
    }
}
