//! Where tests leave what was asked and answered: a directory named by `STOA_TEST_TRAFFIC`, which `scripts/test` sets.

use std::{path::PathBuf, sync::OnceLock};
use stoa_http::ExchangeLog;

/// The variable that names the directory, for this process and for servers that it starts.
pub const TRAFFIC: &str = "STOA_TEST_TRAFFIC";

/// The directory in which a server that this test starts leaves its exchanges, if they are asked for: the server takes
/// the directory's name for the test's.
pub fn traffic_directory() -> Option<PathBuf> {
    Some(directory()?.join(test_name()))
}

/// The file of this process, for the exchanges of this test.
pub(crate) fn of_test() -> Option<ExchangeLog> {
    static FILE: OnceLock<Option<ExchangeLog>> = OnceLock::new();
    let open = || directory().map(|it| ExchangeLog::open(&it, ExchangeLog::MOST).expect("a file for exchanges"));
    FILE.get_or_init(open).as_ref().map(|it| it.of_test(&test_name()))
}

fn directory() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the environment says whether exchanges are asked for")]
    let directory = std::env::var_os(TRAFFIC);
    directory.map(PathBuf::from)
}

/// The path of the test that runs, which its thread is called: `malformed::broken_bodies_are_refused::sqlite`.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("unnamed").to_owned()
}
