//! `stoa tokens …`

use clap::Subcommand;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TokensVerb {
    /// Make new keys to sign tokens with; those before verify what they have signed, and no member is signed out
    #[command(after_help = "Examples:\n  stoa tokens rotate\n  stoa tokens rotate --data /srv/stoa --json")]
    Rotate,
    /// Show the keys that sign tokens, and those that only verify
    #[command(after_help = "Examples:\n  stoa tokens status\n  stoa tokens status --json")]
    Status,
    /// Delete a key that only verifies: what it has signed is refused from then on
    #[command(
        after_help = "Examples:\n  stoa tokens delete 0b9f3c1e-57d2-4f0a-9c68-1d2e8a7b4c53\n  stoa tokens delete 0b9f3c1e-57d2-4f0a-9c68-1d2e8a7b4c53 --json"
    )]
    Delete {
        /// The id of the key, as status shows it
        key: String,
    },
}
