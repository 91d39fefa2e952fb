//! `stoa audit`

use super::choice::SiteChoice;
use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(after_help = "Examples:\n  stoa audit --member ada@example.org\n  \
                        stoa audit --event sign_in_slowed --since 2026-01-31 --json")]
pub struct Audit {
    /// Only what was done to this member: id or address
    #[arg(long)]
    pub member: Option<String>,
    /// Only events of this name, for example member_sign_in, password_change, sign_in_slowed
    #[arg(long)]
    pub event: Option<String>,
    /// From this time on, in UTC: 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    #[command(flatten)]
    pub site: SiteChoice,
}
