//! How much of what, and how soon.

use stoa_kernel::{
    Millis,
    limit::{DAY, HOUR, MINUTE, SECOND},
};

stoa_kernel::limits! {
    /// Limits of webhooks.
    #[derive(Debug, Clone)]
    pub struct WebhookLimits {
        /// Webhook endpoints of a site (TOO_MANY).
        webhook_endpoints: usize = 20, 0..=1_000;
        /// Of them those of one application, where it makes them itself and is held to scopes (TOO_MANY).
        webhook_endpoints_of_app: usize = 5, 0..=1_000;
        /// Events of an endpoint that wait apart because they, or one before them about the same thing, alone failed. Where
        /// there are more, the oldest about whatever has the most are given up (TOO_MANY for a replay). So many of those that
        /// were given up are kept.
        webhook_parked: usize = 10_000, 10..=1_000_000;
        /// Calls of webhooks at the same time.
        webhook_calls: usize = 128, 1..=384;
        /// Of them those of one site, however many endpoints it has.
        webhook_calls_of_site: usize = 16, 1..=384;
        /// Hundredths of all cores that signing and sending may take.
        webhook_processor_percent: usize = 50, 1..=100;
    }
}

/// How soon what happens, in milliseconds. The defaults are the product's; tests pass shorter ones.
#[derive(Debug, Clone)]
pub struct Times {
    /// The place of an endpoint is stored so often at most; twenty times more seldom where nothing was sent.
    pub place: Millis,
    /// How soon it is looked at again what the application may hear, where there is something to send; where there is
    /// nothing, and what waits apart, sixty times more seldom.
    pub look: Millis,
    /// After how long an event that alone failed is tried again, before it is parked.
    pub early: Vec<Millis>,
    /// The same once it is parked. After the last it is given up.
    pub parked: Vec<Millis>,
    /// After how long an endpoint that fails is tried again. The last one goes on for ever.
    pub probes: Vec<Millis>,
    /// The longest wait that an endpoint can ask for.
    pub longest_wait: Millis,
    /// An endpoint that fails for so long is disabled, once all waits between probes have passed.
    pub without_success: Millis,
    /// The same for one that is so far behind.
    pub behind: Millis,
    /// How long who reads messages without an endpoint reads on where none is meant for them, though they don't wait.
    pub reading: Millis,
    /// How long a secret still signs beside the one that follows it.
    pub secret_overlap: Millis,
}

impl Default for Times {
    fn default() -> Self {
        let hours = |it: Millis| it * HOUR;
        Self {
            place: SECOND / 4,
            look: SECOND,
            early: vec![2 * SECOND, 10 * SECOND],
            // Forty-eight hours in all.
            parked: [[MINUTE, 10 * MINUTE].to_vec(), [1, 2, 2, 2, 4, 4, 4, 8, 8, 12].map(hours).to_vec()].concat(),
            probes: [10, 60, 300, 900, 1_800, 3_600].map(|it| it * SECOND).to_vec(),
            longest_wait: HOUR,
            without_success: 5 * DAY,
            behind: 3 * DAY,
            reading: SECOND,
            secret_overlap: DAY,
        }
    }
}
