//! How much one request may ask for: each a configuration value, and each refused with what was asked and what is let
//! through.

use stoa_kernel::{
    Millis,
    limit::{MINUTE, SECOND},
};

stoa_kernel::limits! {
    /// Limits of documents of GraphQL.
    #[derive(Debug, Clone)]
    pub struct GraphqlLimits {
        /// Bytes of a document of GraphQL; variables aren't counted.
        graphql_bytes: usize = 65_536, 1_024..=262_144;
        /// Words and signs of a document of GraphQL.
        graphql_tokens: usize = 10_000, 100..=40_000;
        /// Fields within fields of a document of GraphQL, of introspection not counted.
        graphql_depth: usize = 10, 4..=32;
        /// Fragments that a document of GraphQL names.
        graphql_fragments: usize = 50, 0..=200;
        /// Fields at the top of a query of GraphQL: each is a query over items of its own.
        graphql_root_fields: usize = 20, 1..=100;
        /// Fields at the top of a mutation of GraphQL: each is a transaction of its own.
        graphql_mutations: usize = 20, 1..=100;
        /// Aliases in a document of GraphQL.
        graphql_aliases: usize = 50, 0..=1_000;
        /// Fields of a document of GraphQL when each fragment stands where it is used.
        graphql_fields: usize = 2_000, 50..=10_000;
        /// Items that the lists of a document of GraphQL may bring: the limit of each, times the limits of those
        /// above it.
        graphql_items: usize = 20_000, 1_000..=1_000_000;
        /// Bytes of the arguments of a document of GraphQL, a variable counted as often as it is used.
        graphql_argument_bytes: usize = 4_194_304, 65_536..=67_108_864;
        /// Bytes of what a request of GraphQL is answered.
        graphql_answer_bytes: usize = 33_554_432, 1_048_576..=268_435_456;
        /// How long a request of GraphQL may take; a mutation that has begun is waited for.
        graphql_time: Millis = 10 * SECOND, SECOND..=MINUTE;
        /// Bytes of the schemas of GraphQL that are kept in memory, as their text; in memory they take about ten times
        /// as much.
        graphql_schema_bytes: usize = 4_194_304, 65_536..=268_435_456;
        and {
            /// Whether everybody may ask for the schema. Owners, editors and apps always may.
            pub introspection: bool,
        }
    }
}
