//! How much of what: each a configuration value with the default of protocol/content.md section 19.

/// Limits of content calls.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Items or ids of one bulk call (WDE0006, WDE0069).
    pub bulk: usize,
    /// Patches of one bulk call (WDE0006).
    pub patches: usize,
    /// Collections of one site.
    pub collections: usize,
    /// Characters of an item's id.
    pub id: usize,
    /// Bytes of the items of one page (WDE0109): a thousand of the largest would be half a gigabyte.
    pub page_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bulk: 1000, patches: 100, collections: 1000, id: 128, page_bytes: 32 * 1024 * 1024 }
    }
}
