//! The site that a command is about, and which of its environments.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// The site that a command is about.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct SiteChoice {
    /// Name, id or the beginning of an id of the site; needed only where several could be meant
    #[arg(long, global = true, value_name = "SITE")]
    pub site: Option<String>,
}

/// The site that a command on content is about, and which of its environments.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct ContentChoice {
    #[command(flatten)]
    pub site: SiteChoice,
    /// Which environment of the site [default: live]
    #[arg(long, global = true, value_enum, ignore_case = true, value_name = "ENVIRONMENT")]
    pub environment: Option<EnvironmentName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EnvironmentName {
    /// What visitors see
    Live,
    /// What those who work on the site try things on
    Sandbox,
}

impl From<EnvironmentName> for stoa_store::Environment {
    fn from(name: EnvironmentName) -> Self {
        match name {
            EnvironmentName::Live => Self::Live,
            EnvironmentName::Sandbox => Self::Sandbox,
        }
    }
}
