//! `stoa hooks …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Hooks {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: HooksVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HooksVerb {
    /// Deploy code, which runs from now on in place of what ran before
    #[command(after_help = "Examples:\n  stoa hooks deploy data.js\n  stoa hooks deploy data.js --site Mine --json")]
    Deploy {
        /// File with one module of JavaScript; - for standard input
        #[serde(skip)]
        file: PathBuf,
    },
    /// Have an application asked in place of code, by signed requests to URL/v1/data-hooks/HOOK
    #[command(
        after_help = "Examples:\n  stoa hooks connect https://app.example/hooks --app ID --hook cars_beforeInsert\n  \
                            stoa hooks connect https://app.example --app ID --hook cars_beforeInsert --hook cars_afterInsert --json"
    )]
    Connect {
        /// Address, without a query
        url: String,
        /// Id of the application: a client of the site with a secret and an active key
        #[arg(long, value_name = "ID")]
        app: String,
        /// Hook that it answers, such as cars_beforeInsert; as often as there are hooks
        #[arg(long = "hook", value_name = "NAME", required = true)]
        hooks: Vec<String>,
    },
    /// Have another version run: the way back
    #[command(after_help = "Examples:\n  stoa hooks activate 3\n  stoa hooks activate 3 --site Mine --json")]
    Activate {
        /// Number of the version, from `stoa hooks list`
        number: i64,
    },
    /// List the versions that are kept, and which of them runs
    #[command(after_help = "Examples:\n  stoa hooks list\n  stoa hooks list --site Mine --json")]
    List,
    /// Let hooks be asked again, after so many of their processes died that none is
    #[command(after_help = "Examples:\n  stoa hooks resume\n  stoa hooks resume --site Mine --json")]
    Resume,
    /// Ask one hook, and write nothing
    #[command(after_help = "Examples:\n  stoa hooks try cars beforeInsert item.json\n  \
                            stoa hooks try cars beforeUpdate item.json --current before.json --source data.js")]
    Try(Trial),
    /// Run tests of code that is not deployed; fails when one of them does
    #[command(
        after_help = "Examples:\n  stoa hooks test data.test.js\n  stoa hooks test rules.test.js --source rules.js --json"
    )]
    Test {
        /// File with the tests, one module of JavaScript: `test(name, function)`, `equal(actual, expected)`
        #[serde(skip)]
        file: PathBuf,
        /// File with the code, imported as ./data.js [default: data.js beside the tests]
        #[serde(skip)]
        #[arg(long, value_name = "FILE")]
        source: Option<PathBuf>,
    },
    /// Show calls of hooks that failed or said something, the oldest first
    #[command(after_help = "Examples:\n  stoa hooks log\n  stoa hooks log --follow --json")]
    Log {
        /// How many at most
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// The id of an entry: show those after it
        #[arg(long, value_name = "ID")]
        after: Option<String>,
        /// Go on with what is said from now on, until Ctrl-C
        #[serde(skip)]
        #[arg(short, long)]
        follow: bool,
    },
    /// Print types of the site's items and hooks, for an editor (TypeScript)
    #[command(after_help = "Examples:\n  stoa hooks types > data.d.ts\n  stoa hooks types --site Mine > data.d.ts")]
    Types,
    /// `try` with what its files hold, where it is carried out.
    #[command(skip)]
    Ask(serde_json::Value),
    /// `test` with what its files hold.
    #[command(skip)]
    RunTests { source: String, tests: String },
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Trial {
    /// Id of the collection
    pub collection: String,
    /// Name of the hook, such as beforeInsert
    pub hook: String,
    /// File with what the hook is given, as JSON: an item, an id, a query; - for standard input
    #[serde(skip)]
    pub argument: PathBuf,
    /// File with the item as it is stored, for an update or a removal
    #[serde(skip)]
    #[arg(long, value_name = "FILE")]
    pub current: Option<PathBuf>,
    /// File with code that is not deployed [default: the version that runs]
    #[serde(skip)]
    #[arg(long, value_name = "FILE")]
    pub source: Option<PathBuf>,
}
