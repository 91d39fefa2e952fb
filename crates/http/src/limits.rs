//! What a request may hold, and for how long.

use stoa_kernel::{
    Millis,
    limit::{MINUTE, SECOND},
};

stoa_kernel::limits! {
    /// Limits of connections and requests, whatever they are about.
    #[derive(Debug, Clone)]
    pub struct HttpLimits {
        /// Bytes of a request's body, of a bulk call above all (413, WDE0109). It may have one JSON value for each
        /// sixteen of them, items not counted; an object counts as four more.
        body_bytes: usize = 4_194_304, 65_536..=67_108_864;
        /// The same for calls about members, signing in and tokens.
        identity_body_bytes: usize = 65_536, 16_384..=4_194_304;
        /// Connections at the same time; fewer where the system allows fewer files.
        connections: usize = 8_192, 16..=1_000_000;
        /// Those of one network, and its requests at the same time (429); a trusted proxy's connections are
        /// not counted. A network is an IPv4 address or a /64 of IPv6; all of a /48 have four times as much.
        network_connections: usize = 512, 8..=1_000_000;
        /// A connection on which no request is complete after this long is closed, the TLS handshake included.
        head_time: Millis = 10 * SECOND, SECOND..=5 * MINUTE;
        /// A connection that is not used for this long is closed, unless it is a trusted proxy's.
        idle_time: Millis = 75 * SECOND, SECOND..=60 * MINUTE;
        /// A connection whose reader takes less than 32 kB of a waiting answer in this time is closed.
        write_time: Millis = 30 * SECOND, SECOND..=10 * MINUTE;
        /// Bytes of all requests' bodies in memory, with what is parsed of them (503).
        bodies_bytes: usize = 134_217_728, 1_048_576..=1_099_511_627_776;
        /// Those of one network (429).
        network_bodies_bytes: usize = 50_331_648, 1_048_576..=1_099_511_627_776;
        /// Bytes of all answers that wait for their readers (503); no write is refused for them.
        answers_bytes: usize = 134_217_728, 1_048_576..=1_099_511_627_776;
        /// Those of one network (429).
        network_answers_bytes: usize = 50_331_648, 1_048_576..=1_099_511_627_776;
        /// How long a request waits for room in these before it is refused.
        room_time: Millis = 5 * SECOND, SECOND..=MINUTE;
        /// Calls of one site that wait for messages of webhooks at the same time (429), as `stoa webhook listen` does;
        /// one network has as many on all sites, and all have 32 times as many.
        webhook_pulls: usize = 8, 1..=1_000;
    }
}
