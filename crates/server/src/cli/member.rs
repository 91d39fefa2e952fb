//! `stoa member …`

use super::{choice::SiteChoice, transfer::Format};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Member {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: MemberVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberVerb {
    /// List the newest members
    #[command(after_help = "Examples:\n  stoa member list\n  stoa member list --pending --limit 20 --json")]
    List {
        /// Only those who wait for an owner's answer or have yet to prove their address
        #[arg(long)]
        pending: bool,
        /// How many at most
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Show a member
    #[command(after_help = "Examples:\n  stoa member show ada@example.org\n  \
                            stoa member show 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f --json")]
    Show {
        /// Id or address of the member
        member: String,
    },
    /// Read members with their existing password hashes (bcrypt, scrypt, PBKDF2, Argon2) from a file
    #[command(after_help = "Examples:\n  stoa member import members.jsonl\n  \
                            stoa member import members.csv --site Mine --json")]
    Import {
        /// File to read, `-` for standard input
        #[serde(skip)]
        file: PathBuf,
        /// Format [default: by the file's ending, else jsonl]
        #[arg(long, value_enum)]
        format: Option<Format>,
    },
    /// Let a member in who waits for it
    #[command(after_help = "Examples:\n  stoa member approve ada@example.org\n  \
                            stoa member approve 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f")]
    Approve {
        /// Id or address of the member
        member: String,
    },
    /// End a member's sessions and refuse their sign-in, or with --undo let them in again
    #[command(after_help = "Examples:\n  stoa member block ada@example.org\n  \
                            stoa member block ada@example.org --undo")]
    Block {
        /// Id or address of the member
        member: String,
        /// Let a blocked member in again
        #[arg(long)]
        undo: bool,
    },
    /// Delete a member's account for good; what they own stays
    #[command(after_help = "Examples:\n  stoa member delete ada@example.org\n  \
                            stoa member delete ada@example.org --yes")]
    Delete {
        /// Id or address of the member
        member: String,
        /// Ask nothing
        #[arg(long)]
        yes: bool,
    },
    /// Keep the account of a member who wants it to be deleted
    #[command(after_help = "Examples:\n  stoa member keep ada@example.org\n  \
                            stoa member keep 1f0c2d7e-6a5b-4c3d-8e9f-0a1b2c3d4e5f --json")]
    Keep {
        /// Id or address of the member
        member: String,
    },
    /// Refuse a member's password, end their sessions and send them a link for another one
    #[command(after_help = "Examples:\n  stoa member reset-password ada@example.org\n  \
                            stoa member reset-password ada@example.org --site Mine --json")]
    ResetPassword {
        /// Id or address of the member
        member: String,
    },
    /// Print a token with which an owner sees what a member sees, or with --end refuse such tokens
    #[command(after_help = "Examples:\n  stoa member impersonate ada@example.org --owner olga@example.org \
                            --reason 4711\n  stoa member impersonate ada@example.org --end")]
    Impersonate {
        /// Id or address of the member
        member: String,
        /// Address of the owner of the site who does it
        #[arg(long, value_name = "ADDRESS", required_unless_present = "end")]
        owner: Option<String>,
        /// Why, for the audit log
        #[arg(long, required_unless_present = "end")]
        reason: Option<String>,
        /// Let items be changed as well, as the member may
        #[arg(long, conflicts_with = "end")]
        write: bool,
        /// End that owners act as the member
        #[arg(long, conflicts_with_all = ["owner", "reason"])]
        end: bool,
    },
    /// Remove all second factors of a member who has lost them; the password alone then signs in
    #[command(after_help = "Examples:\n  stoa member reset-factors ada@example.org\n  \
                            stoa member reset-factors ada@example.org --site Mine --json")]
    ResetFactors {
        /// Id or address of the member
        member: String,
    },
}
