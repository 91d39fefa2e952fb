//! Documents of an answer in the language of the call.

use crate::{
    collection::translation::{Translation, id_of, overlaid, with_ids},
    page::budget::ResponseBudget,
};
use stoa_kernel::Result;
use stoa_store::Tx;

/// Shows documents in a language. They must be canonical.
///
/// # Errors
/// WDE0109 when they grow by more than the budget has; what they grow by is taken from it.
pub(crate) async fn show(
    translation: &Translation,
    tx: &mut Tx<'_>,
    documents: Vec<&mut String>,
    budget: &mut ResponseBudget,
) -> Result<()> {
    if documents.is_empty() {
        return Ok(());
    }
    let ids = documents.iter().map(|it| id_of(it)).collect::<Result<Vec<_>>>()?;
    let before = documents.iter().map(|it| it.len()).sum();
    // More doesn't fit, whatever it takes the place of.
    let most = budget.left.saturating_add(before);
    let mut room = |bytes, _| if bytes <= most { Ok(()) } else { Err(budget.exceeded()) };
    let translated = translation.values(tx, &with_ids(&ids), &mut room).await?;
    let mut after = 0;
    for (document, id) in documents.into_iter().zip(&ids) {
        if let Some(values) = translated.get(id) {
            *document = overlaid(document, values)?;
        }
        after += document.len();
    }
    budget.replace(before, after)
}
