//! How much of what: each a configuration value.

use stoa_kernel::clock::Millis;

stoa_kernel::limits! {
    /// Limits of streams of changes.
    #[derive(Debug, Clone)]
    pub struct RealtimeLimits {
        /// Subscriptions of one stream (WDE0036).
        stream_subscriptions: usize = 20, 1..=100;
        /// Streams of one session at the same time (429).
        session_streams: usize = 10, 1..=1_000;
        /// Streams of one network, such as an IPv4 address, at the same time (429).
        network_streams: usize = 20, 1..=100_000;
        /// Streams of one site on one node (503).
        site_streams: usize = 10_000, 1..=1_000_000;
        /// Streams of one node (503).
        node_streams: usize = 50_000, 1..=1_000_000;
        /// How long a stream lives at most. Its client opens another, which goes on where this one was.
        stream_life: Millis = 3_600_000, 60_000..=86_400_000;
        /// Between two signs of life of a stream that has nothing to tell.
        stream_keep_alive: Millis = 20_000, 1_000..=60_000;
        /// Messages that wait for a client that reads slowly; with more it is told to read the items again.
        stream_messages: usize = 256, 16..=10_000;
        /// Bytes of these messages.
        stream_bytes: usize = 1_048_576, 65_536..=67_108_864;
        /// Conditions of the filter of a subscription, each of which is asked of every change (WDE0093).
        subscription_conditions: usize = 100, 1..=500;
        /// Conditions of all subscriptions of one network together, with one more for each subscription (`failed` with
        /// THROTTLED_FEATURE).
        network_conditions: usize = 5_000, 100..=1_000_000;
        /// The same of all subscriptions to one site on one node that aren't told the same as others; those to which only
        /// their own items are told don't count (`failed` with UNAVAILABLE).
        site_conditions: usize = 100_000, 1_000..=10_000_000;
        /// Bytes of the items that a subscription begins with (WDE0109).
        snapshot_bytes: usize = 4_194_304, 65_536..=33_554_432;
        /// Bytes of items that wait on a node for those who have asked for them, in all.
        snapshot_memory: usize = 268_435_456, 33_554_432..=17_179_869_184;
        /// The same for those of one network, and at least as much as one subscription may begin with. A stream that finds no
        /// room for some seconds ends, and its client comes back later.
        network_snapshot_memory: usize = 16_777_216, 1_048_576..=17_179_869_184;
        /// Rows of the log that are read for a subscription that comes back; after more it reads the items again.
        resume_rows: usize = 5_000, 100..=100_000;
    }
}
