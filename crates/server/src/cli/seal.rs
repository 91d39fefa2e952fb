//! `stoa seal …`

use clap::Subcommand;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SealVerb {
    /// Make new keys to seal with, and seal again what is under older ones; cut off, it goes on when asked again
    #[command(after_help = "Examples:\n  stoa seal rotate\n  stoa seal rotate --data /srv/stoa --json")]
    Rotate,
    /// Show the sealing keys, and what is still under older ones
    #[command(after_help = "Examples:\n  stoa seal status\n  stoa seal status --json")]
    Status,
    /// Delete older keys under which nothing is left; copies of a site's data from before can then not be read with them
    #[command(after_help = "Examples:\n  stoa seal forget\n  stoa seal forget --json")]
    Forget,
}
