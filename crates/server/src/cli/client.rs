//! `stoa client …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Client {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: ClientVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClientVerb {
    /// Make a client
    #[command(after_help = "Examples:\n  stoa client create --name web --origin https://www.example.org \
                            --redirect-uri https://www.example.org/callback\n  \
                            stoa client create --name partner --redirect-uri https://partner.example/cb --third-party \
                            --scope items:read members:read --secret")]
    Create {
        /// What people call it
        #[arg(long)]
        name: String,
        /// Address that sign-in may return to; exact, only a loopback port may vary
        #[arg(long, num_args = 1.., value_name = "URL")]
        redirect_uri: Vec<String>,
        /// Origin of the website, for example https://www.example.org
        #[arg(long, num_args = 1.., value_name = "URL")]
        origin: Vec<String>,
        /// Also make a client secret (for servers, never for browsers); it is shown once
        #[arg(long)]
        secret: bool,
        /// Others wrote it: it gets the scopes that it asks for of these, and an owner is asked before it is installed
        #[arg(long, requires = "scope")]
        third_party: bool,
        /// The most that the client can be given: AREA:read or AREA:write (items, collections, members, site), for
        /// items and collections also of one collection (items:read:posts); members:sign-in. docs/scopes.md says what
        /// each opens
        #[arg(long, num_args = 1.., value_name = "SCOPE")]
        scope: Vec<String>,
    },
    /// List the clients of a site
    #[command(after_help = "Examples:\n  stoa client list\n  stoa client list --site Mine --json")]
    List,
    /// Give a client another secret, shown once; the old one is refused from now on
    ///
    /// Tokens that were got with the old one live on: access tokens of the client itself until they
    /// expire. When the secret leaked, revoke the client.
    #[command(after_help = "Examples:\n  stoa client secret 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f\n  \
                            stoa client secret 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f --json")]
    Secret {
        /// Id of the client, from `stoa client list`
        id: String,
    },
    /// Refuse a client and all its tokens from now on, those of its visitors and members as well
    #[command(after_help = "Examples:\n  stoa client revoke 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f\n  \
                            stoa client revoke 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f --site Mine")]
    Revoke {
        /// Id of the client, from `stoa client list`
        id: String,
    },
}
