//! `stoa key …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Key {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: KeyVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyVerb {
    /// Make an API key; it is shown once
    ///
    /// Without --scope it has full rights on the site.
    #[command(after_help = "Examples:\n  stoa key create --name backend\n  \
                            stoa key create --name feed --scope items:read:posts members:sign-in --site Mine --json")]
    Create {
        /// What it is for
        #[arg(long)]
        name: String,
        /// Hold the key to these rights: AREA:read or AREA:write (items, collections, members, site), for items and
        /// collections also of one collection (items:read:posts); members:sign-in. docs/scopes.md says what each opens
        #[arg(long, num_args = 1.., value_name = "SCOPE")]
        scope: Vec<String>,
    },
    /// List the API keys of a site that are good
    #[command(after_help = "Examples:\n  stoa key list\n  stoa key list --site Mine --json")]
    List,
    /// Refuse a key from now on
    #[command(after_help = "Examples:\n  stoa key revoke 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f\n  \
                            stoa key revoke 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f --site Mine")]
    Revoke {
        /// Id of the key, from `stoa key list`
        id: String,
    },
}
