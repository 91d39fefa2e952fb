//! Pages of items: where a page begins, how much it may hold, and how it is printed.

pub(crate) mod budget;
pub(crate) mod cursor;
pub(crate) mod language;
pub(crate) mod print;

use crate::page::cursor::{CursorPaging, Cursors, Ends};
use serde_json::{Map, Value as Json, value::RawValue};
use stoa_kernel::Result;
use stoa_query::plan::Start;

/// A page of items or values.
pub struct Page {
    /// The elements of the page as JSON text, with commas between them.
    pub elements: String,
    pub count: usize,
    pub offset: u64,
    pub has_next: bool,
    /// How many there are on all pages, when the request asks for it.
    pub total: Option<i64>,
    /// Set in paging by cursor, which knows no offset.
    pub cursors: Option<Cursors>,
    /// For how many seconds anyone may be answered the same; nothing for what was made for this caller.
    pub cache_seconds: Option<u32>,
    /// Words that may be meant by those that were searched for, as JSON text; nothing where the caller isn't told.
    pub suggestions: Option<String>,
}

impl Page {
    pub(crate) fn new(start: &Start) -> Self {
        let offset = start.offset();
        Self {
            elements: String::new(),
            count: 0,
            offset,
            has_next: false,
            total: None,
            cursors: None,
            cache_seconds: None,
            suggestions: None,
        }
    }

    /// `"count":…,"offset":…`: the members of `pagingMetadata`.
    pub fn print_metadata(&self, out: &mut String) {
        use std::fmt::Write;
        let Self { count, offset, has_next, cursors, .. } = self;
        let _ = write!(out, "\"count\":{count},");
        if cursors.is_none() {
            let _ = write!(out, "\"offset\":{offset},");
        }
        let _ = write!(out, "\"hasNext\":{has_next},\"tooManyToCount\":false");
        if let Some(total) = self.total {
            let _ = write!(out, ",\"total\":{total}");
        }
        if let Some(Cursors { next, prev }) = cursors {
            let named = [("next", next), ("prev", prev)];
            let named = named.iter().filter_map(|(name, it)| Some(format!("\"{name}\":\"{}\"", it.as_ref()?)));
            let _ = write!(out, ",\"cursors\":{{{}}}", named.collect::<Vec<_>>().join(","));
        }
    }

    /// Has other values on the page, if they are a list.
    pub(crate) fn set_values(&mut self, list: &RawValue) -> Option<()> {
        let values: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
        self.count = values.len();
        self.elements = values.iter().map(|it| it.get()).collect::<Vec<_>>().join(",");
        Some(())
    }

    /// The text to which element `n` is to be appended.
    pub(crate) fn element(&mut self, n: usize) -> &mut String {
        self.elements.push_str(if n > 0 { "," } else { "" });
        &mut self.elements
    }

    /// Adds the cursors of a page that began at `start`. `request` gives the members that its cursors keep when
    /// the paging begins with this page.
    pub(crate) fn add_cursors(
        &mut self,
        paging: CursorPaging,
        request: impl FnOnce() -> Map<String, Json>,
        start: &Start,
        ends: Ends,
    ) -> Result<()> {
        let cursors = paging.around(request, start, ends, self.has_next)?;
        self.has_next = cursors.next.is_some();
        self.cursors = Some(cursors);
        Ok(())
    }
}
