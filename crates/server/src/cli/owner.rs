//! `stoa owner …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Owner {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: OwnerVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OwnerVerb {
    /// List the people who run a site, and the invitations that are open
    #[command(after_help = "Examples:\n  stoa owner list\n  stoa owner list --site Mine --json")]
    List,
    /// Print a one-time link with which a person sets a password
    #[command(after_help = "Examples:\n  stoa owner invite --email ada@example.org\n  \
                            stoa owner invite --email bob@example.org --role editor --site Mine")]
    Invite {
        /// Address of the person
        #[arg(long)]
        email: String,
        /// What they may do
        #[arg(long, value_enum, default_value_t = RoleName::Owner)]
        role: RoleName,
    },
    /// Give a person another role; their sessions end
    #[command(after_help = "Examples:\n  stoa owner role ada@example.org editor\n  \
                            stoa owner role bob@example.org owner --site Mine")]
    Role {
        /// Address of the person
        email: String,
        /// What they may do from now on
        role: RoleName,
    },
    /// Take the site away from a person; a site keeps at least one owner
    #[command(after_help = "Examples:\n  stoa owner remove bob@example.org\n  \
                            stoa owner remove bob@example.org --site Mine --json")]
    Remove {
        /// Address of the person
        email: String,
    },
    /// End all sessions of a person on the site
    #[command(after_help = "Examples:\n  stoa owner sign-out ada@example.org\n  \
                            stoa owner sign-out ada@example.org --site Mine --json")]
    SignOut {
        /// Address of the person
        email: String,
    },
    /// Remove all second factors of a person who has lost them, for all sites, and end their sessions; the password alone then signs in
    #[command(after_help = "Examples:\n  stoa owner reset-factors ada@example.org\n  \
                            stoa owner reset-factors ada@example.org --site Mine --json")]
    ResetFactors {
        /// Address of the person
        email: String,
    },
    /// Refuse a person's password from now on, on all sites, and print a one-time link for another one
    #[command(after_help = "Examples:\n  stoa owner reset-password ada@example.org\n  \
                            stoa owner reset-password ada@example.org --site Mine --json")]
    ResetPassword {
        /// Address of the person
        email: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RoleName {
    Owner,
    Editor,
}
