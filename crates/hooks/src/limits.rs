//! How much code of a site may take.

use stoa_kernel::{
    Millis,
    limit::{MINUTE, SECOND},
};

stoa_kernel::limits! {
    /// Limits of hooks.
    #[derive(Debug, Clone)]
    pub struct HookLimits {
        /// Milliseconds of one call of a hook (WDE0172).
        hook_milliseconds: usize = 100, 10..=2_000;
        /// All hooks of one request (WDE0172).
        hook_request_time: Millis = 5 * SECOND, SECOND..=MINUTE;
        /// Megabytes that the code of a site may hold in one process (WDE0150).
        hook_memory: usize = 32, 4..=1_024;
        /// Megabytes of all processes of hooks of this server together. Calls that would need more wait, and where one alone
        /// would, its code has less.
        hook_memory_of_server: usize = 256, 16..=65_536;
        /// Processes of hooks of this server. The one that was idle longest makes room.
        hook_processes: usize = 64, 1..=4_096;
        /// Of them those of one site. 0: half as many as there are processors, so that code which runs all the time leaves
        /// the others to those who visit other sites.
        hook_processes_of_site: usize = 0, 0..=64;
        /// Calls of a site that wait for one of its processes (WDE0122).
        hook_waiting: usize = 64, 0..=10_000;
        /// A process without calls is ended after so long.
        hook_idle: Millis = MINUTE, SECOND..=60 * MINUTE;
        /// Processes of one version of a site's code that die within a minute, before its hooks answer nothing but failures
        /// (WDE0150).
        hook_deaths: usize = 5, 1..=1_000;
        /// How long hooks that fail so are not asked. One call is let through then, and where its process dies as well the
        /// next pause is twice as long, up to 16 times this.
        hook_rest: Millis = MINUTE, SECOND..=60 * MINUTE;
        /// Bytes of a source.
        hook_source: usize = 1_048_576, 1_024..=8_388_608;
        /// Bytes of what a hook answers (WDE0150).
        hook_answer: usize = 524_288, 1_024..=8_388_608;
        /// Milliseconds that an application may take to answer about a hook, or about all of a bulk (WDE0172).
        hook_plugin_milliseconds: usize = 2_000, 100..=30_000;
        /// Requests about hooks to the application of a site at the same time.
        hook_plugin_calls: usize = 16, 1..=256;
        /// Bytes of what a call says to the console; the rest is dropped.
        hook_console: usize = 4_096, 0..=65_536;
    }
}
