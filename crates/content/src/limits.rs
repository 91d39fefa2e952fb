//! How much of what: each a configuration value with the default of docs/protocol/content.md §19.

use stoa_kernel::clock::Millis;

stoa_kernel::limits! {
    /// Limits of content calls.
    #[derive(Debug, Clone)]
    pub struct ContentLimits {
        /// Items or ids of one bulk call (WDE0006, WDE0069).
        bulk_items: usize = 1_000, 1..=10_000;
        /// Patches of one bulk call (WDE0006).
        bulk_patches: usize = 100, 1..=10_000;
        /// Bytes of the items of one page, as they are answered, with what they refer to (WDE0109): a thousand of
        /// the largest would be half a gigabyte.
        page_bytes: usize = 33_554_432, 1_048_576..=268_435_456;
        /// Conditions that an anonymous caller's filter has where no index serves it, so that all items are asked for
        /// each (WDE0093).
        anonymous_conditions: usize = 100, 10..=500;
        /// Bytes that one aggregation keeps of groups and of rows that wait for their order (WDE0092).
        pipeline_bytes: usize = 67_108_864, 1_048_576..=1_073_741_824;
        /// The same of all that run at the same time (503).
        pipelines_bytes: usize = 201_326_592, 1_048_576..=8_589_934_592;
        /// Rows that the stages of one aggregation let through, all together; the items are rows too (WDE0080).
        pipeline_rows: usize = 50_000_000, 10_000..=1_000_000_000;
        /// Bytes that one search keeps of lists of words and of what it finds (WDE0092): about 75 for each item that holds
        /// one of the words.
        search_bytes: usize = 134_217_728, 1_048_576..=4_294_967_296;
        /// The same of all that run at the same time (503).
        searches_bytes: usize = 402_653_184, 1_048_576..=8_589_934_592;
        /// Bytes of what an item is in all other languages together: of each value, of the names of its language and its field,
        /// and 32 for each (WDE0009).
        translations_bytes: usize = 4_194_304, 65_536..=4_194_304;
        /// How long a query that may look at many items waits for its turn (429): they take turns by network, and
        /// within one by caller.
        scan_wait: Millis = 10_000, 1_000..=60_000;
        /// Jobs by filter of a site that have not ended (429).
        async_jobs: usize = 20, 1..=1_000;
        /// The same of one caller who is neither owner nor app; all visitors together count as one (429).
        caller_async_jobs: usize = 4, 1..=1_000;
        /// Tasks of a site that wait for the time at which they publish items or take them back (429).
        scheduled_tasks: usize = 1_000, 1..=10_000;
        /// Collections of a site (WDE0080).
        collections: usize = 1_000, 1..=10_000;
        /// Characters of a collection's id (WDE0075).
        collection_id: usize = 256, 32..=256;
        /// Characters of a collection's description (WDE0075).
        collection_description: usize = 4_000, 0..=100_000;
        /// Characters of an item's id (WDE0079). It stands in every index, so it can't be longer.
        item_id: usize = 128, 36..=128;
        /// Fields of a collection (WDE0075).
        fields: usize = 1_000, 10..=1_000;
        /// Characters of a field's description (WDE0075).
        field_description: usize = 16_000, 0..=100_000;
        /// Values that a field of text may be restricted to (WDE0075).
        enum_values: usize = 512, 1..=10_000;
        /// Characters of each of them (WDE0075).
        enum_value: usize = 1_000, 1..=10_000;
        /// Plugins of a collection (WDE0075).
        plugins: usize = 100, 1..=100;
        /// Regular indexes of a collection, of up to three fields each, that managers make (WDE0160).
        regular_indexes: usize = 3, 0..=20;
        /// Unique indexes of a collection (WDE0160).
        unique_indexes: usize = 1, 0..=20;
        /// Indexes of a collection that the server makes by itself.
        auto_indexes: usize = 3, 0..=20;
        and {
            /// When it does so.
            pub auto_index: AutoIndex,
            /// Limits of items and of what is asked of them.
            pub query: stoa_query::QueryLimits,
        }
    }
}

/// When an index is worth making, and when it is no longer.
#[derive(Debug, Clone)]
pub struct AutoIndex {
    /// Whether the server makes indexes on sites that don't say otherwise.
    pub is_on: bool,
    /// A query that takes so many milliseconds is slow.
    pub slow: Millis,
    /// So many slow ones of a form, within this time, are worth an index.
    pub repeats: u32,
    pub window: Millis,
    /// An index that served no query for so long is dropped.
    pub unused: Millis,
    /// Items beyond which no index is made where writers would wait for it.
    pub items: i64,
}

impl Default for AutoIndex {
    fn default() -> Self {
        let (minute, day) = (60_000, 86_400_000);
        Self { is_on: true, slow: 100, repeats: 20, window: 60 * minute, unused: 14 * day, items: 500_000 }
    }
}
