//! `stoa app …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct App {
    #[command(flatten)]
    pub site: SiteChoice,
    /// Id or name of the application, a client with a secret; needed only where several could be meant
    #[arg(long, global = true, value_name = "APP")]
    pub app: Option<String>,
    #[command(subcommand)]
    pub verb: AppVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AppVerb {
    /// RSA keys: the application knows by them that what it is sent is from here
    #[command(subcommand)]
    Key(AppKeyVerb),
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AppKeyVerb {
    /// Make the next key and show its public half, which the application deploys before `activate`
    #[command(after_help = "Examples:\n  stoa app key rotate > next.pem\n  \
                            stoa app key rotate --app Billing --json")]
    Rotate,
    /// Take the private key of a PEM file as the next one: PKCS#8 or PKCS#1, of 2048, 3072 or 4096 bits
    #[command(after_help = "Examples:\n  stoa app key import key.pem\n  \
                            stoa app key import - --app Billing --json")]
    Import {
        /// File with the private key, without a passphrase; `-` for standard input
        #[serde(skip)]
        file: PathBuf,
    },
    /// Sign with the next key from now on; the one before it signs never again, and is shown for seven days
    #[command(after_help = "Examples:\n  stoa app key activate\n  \
                            stoa app key activate --key NYgVWm1naVMDZ_FCd3Fe0RrG4H5-8M26pm9LAHilQWg --json")]
    Activate {
        /// The key that is meant; when it is active already, nothing is done
        // It may begin with a hyphen.
        #[arg(long, allow_hyphen_values = true)]
        key: Option<String>,
    },
    /// List the keys of an application
    #[command(after_help = "Examples:\n  stoa app key list\n  stoa app key list --app Billing --json")]
    List,
    /// Show the public half of a key as PEM
    #[command(after_help = "Examples:\n  stoa app key show > active.pem\n  \
                            stoa app key show NYgVWm1naVMDZ_FCd3Fe0RrG4H5-8M26pm9LAHilQWg --json")]
    Show {
        /// Id of the key, from `stoa app key list` [default: the active one]
        // As above.
        #[arg(allow_hyphen_values = true)]
        id: Option<String>,
    },
    /// Remove the next key, or stop showing a retired one
    #[command(after_help = "Examples:\n  stoa app key remove NYgVWm1naVMDZ_FCd3Fe0RrG4H5-8M26pm9LAHilQWg\n  \
                            stoa app key remove NYgVWm1naVMDZ_FCd3Fe0RrG4H5-8M26pm9LAHilQWg --app Billing")]
    Remove {
        /// Id of the key, from `stoa app key list`
        // As above.
        #[arg(allow_hyphen_values = true)]
        id: String,
    },
    /// Print a token (RS256) of claims from a file, to try what the application receives
    ///
    /// `iat` is now and `exp` is in five minutes, where the file has none. All other claims are those of the file.
    #[command(after_help = "Examples:\n  stoa app key sign --claims claims.json\n  \
                            stoa app key sign --claims - --next --app Billing")]
    Sign {
        /// JSON file with an object, `-` for standard input
        #[arg(long, value_name = "FILE")]
        #[serde(skip)]
        claims: PathBuf,
        /// Sign with the next key, before it is activated
        #[arg(long)]
        next: bool,
    },
}
