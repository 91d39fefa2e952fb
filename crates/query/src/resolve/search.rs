//! A search for words: the filter, the order and the page of what an index finds.

use super::{Context, order, page, partial, projection};
use crate::{
    plan::Find,
    wire::{self, Sort},
};
use stoa_kernel::{Faults, Result};

/// A search request without its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Which items, beside the words, and what is wanted of them. Its order is that of a query without a sort where
    /// the best come first.
    pub find: Find,
    pub is_ranked: bool,
}

/// A search request.
///
/// # Errors
/// All that is wrong with its filter, its sort and its paging.
pub fn search(request: &wire::Search, context: Context<'_>) -> Result<Search> {
    let mut faults = Faults::default();
    let filter = partial(&request.filter, context.schema, &mut faults);
    let order = order(&Sort::Keys(request.sort.clone()), &context, "search", &mut faults);
    let page = faults.take(page(&request.paging));
    faults.refuse()?;
    let find = Find {
        filter,
        order,
        page: page.unwrap_or(super::FIRST_PAGE),
        projection: projection(&request.fields),
        total: false,
        indexes: context.schema.indexes.clone(),
        scope: context.scope,
    };
    Ok(Search { find, is_ranked: request.sort.is_empty() })
}
