//! The site that a command is about.

use clap::Args;
use serde::{Deserialize, Serialize};

/// The site that a command is about.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct SiteChoice {
    /// Name, id or the beginning of an id of the site; needed only where several could be meant
    #[arg(long, global = true, value_name = "SITE")]
    pub site: Option<String>,
}
