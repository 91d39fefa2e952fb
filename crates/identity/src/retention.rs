//! What is deleted because it is of no use any more: every table whose rows come to an end has its line here.

use crate::{
    Config, Identity, app_key, factor,
    limits::{LONGEST_ACCESS, PAST_KEYS, PAST_VISITOR_KEYS},
    manage::deletion,
    session::visitor_merge,
};
use std::collections::HashSet;
use stoa_kernel::{Millis, Result, SiteId};
use stoa_sql::Value;
use stoa_store::{Database, ReaderPool, Row, Site, boxed};

/// Rows that one transaction deletes: no other write waits long.
const CHUNK: usize = 500;

const DAY: Millis = 24 * 60 * 60_000;

/// Keys that only verified, and verify nothing any more.
const SHORT_KEYS: &str = "retired < $1 and purpose in ('access', 'stage', 'captcha')";
const VISITOR_KEYS: &str = "retired < $1 and purpose = 'visitor'";

/// What is over in a site.
fn of_site(config: &Config) -> [Rule; 24] {
    let id = Key::Text("id");
    [
        Rule { table: "audit", key: id, over: "created < $1", kept: 400 * DAY },
        // Used codes and tokens stay for a while, so that a second use is seen.
        Rule { table: "session_token", key: Key::Hash, over: "expires < $1", kept: DAY },
        Rule { table: "code", key: Key::Hash, over: "expires < $1", kept: DAY },
        Rule { table: "refresh_token", key: Key::Hash, over: "expires < $1", kept: DAY },
        Rule { table: "session", key: id, over: "ended < $1 or expires < $1", kept: DAY },
        Rule { table: "session", key: id, over: "used < $1", kept: config.session_idle + DAY },
        Rule { table: "device", key: Key::Hash, over: "expires < $1", kept: 0 },
        Rule { table: "remembered_browser", key: Key::Hash, over: "expires < $1", kept: 0 },
        // Authenticators of which no code was ever shown.
        Rule { table: "factor", key: id, over: "confirmed is null and created < $1", kept: DAY },
        // Nodes' clocks differ: none may take a challenge that another one has forgotten, nor ask once more where one was denied.
        Rule { table: "passkey_challenge", key: Key::Hash, over: "expires < $1", kept: DAY },
        Rule { table: "provider_answer", key: Key::Hash, over: "expires < $1", kept: DAY },
        Rule { table: "push_question", key: Key::Hash, over: "expires < $1", kept: DAY },
        Rule { table: "flow", key: Key::Hash, over: "expires < $1", kept: 0 },
        Rule { table: "redirect_session", key: Key::Hash, over: "expires < $1", kept: 0 },
        // How many there were lately is counted.
        Rule { table: "verification", key: Key::Hash, over: "expires < $1", kept: DAY },
        // Counts of codes by telephone start again after a day.
        Rule { table: "phone_count", key: Key::Hash, over: "since < $1", kept: DAY },
        Rule { table: "link", key: Key::Hash, over: "expires < $1", kept: DAY },
        Rule { table: "captcha", key: Key::Hash, over: "expires < $1", kept: 0 },
        Rule { table: "install_code", key: Key::Hash, over: "expires < $1", kept: 0 },
        // Messages that were given up.
        Rule { table: "mail", key: id, over: "due is null and created < $1", kept: 30 * DAY },
        // Events that were given up, and those that waited for as long with an endpoint that is paused or disabled; and
        // secrets that another has followed.
        Rule { table: "webhook_event", key: id, over: "died < $1 or (died is null and created < $1)", kept: 14 * DAY },
        Rule { table: "webhook_secret", key: id, over: "expires < $1", kept: 0 },
        // What became of jobs is asked for a while.
        Rule { table: "async_job", key: id, over: "ended < $1", kept: 7 * DAY },
        // What hooks said may be about persons.
        Rule { table: "hook_log", key: id, over: "created < $1", kept: 7 * DAY },
    ]
}

/// What is over of the second factors of those who run sites.
const OF_OPERATORS: [Rule; 2] = [
    Rule { table: "factor", key: Key::Text("id"), over: "confirmed is null and created < $1", kept: DAY },
    Rule { table: "passkey_challenge", key: Key::Hash, over: "expires < $1", kept: DAY },
];

/// What is over in the catalogue.
fn of_catalog(config: &Config) -> [Rule; 9] {
    let id = Key::Text("id");
    // Its row refuses the tokens of a session that was left alone for too long: it stays as long as they could live.
    let unused = config.operator_idle + LONGEST_ACCESS;
    [
        // The tokens have expired by themselves.
        Rule { table: "revocation", key: Key::Text("subject"), over: "expires < $1", kept: 0 },
        Rule { table: "app_key", key: id, over: "retired < $1", kept: app_key::RETIRED_SHOWN },
        // What these have signed has expired by itself. What applications refresh with has no end.
        Rule { table: "signing_key", key: id, over: SHORT_KEYS, kept: PAST_KEYS },
        Rule { table: "signing_key", key: id, over: VISITOR_KEYS, kept: PAST_VISITOR_KEYS },
        // How copies between environments ended is told for a while.
        Rule { table: "environment_copy", key: id, over: "ended < $1", kept: 30 * DAY },
        Rule { table: "person_session", key: id, over: "ended < $1 or expires < $1", kept: DAY },
        Rule { table: "person_session", key: id, over: "coalesce(used, created) < $1", kept: unused },
        // How many there were lately is counted.
        Rule { table: "person_link", key: Key::Hash, over: "used < $1 or expires < $1", kept: DAY },
        Rule { table: "invite", key: Key::Hash, over: "used < $1 or expires < $1", kept: DAY },
    ]
}

/// Which rows of a table are of no use any more.
#[derive(Clone, Copy)]
struct Rule {
    table: &'static str,
    key: Key,
    /// A condition; `$1` is the time before which a row was over for long enough.
    over: &'static str,
    /// How long that is.
    kept: Millis,
}

/// The column that tells the rows of a site, or of the catalogue, apart.
#[derive(Clone, Copy)]
enum Key {
    /// `hash`, which is bytes.
    Hash,
    Text(&'static str),
}

impl Identity {
    /// Finishes what was too much for one transaction and deletes what is over in a site. For the housekeeping
    /// of a running server: what fails is logged, stops nothing else, and is tried again the next time.
    pub async fn retention_run(&self, site: &Site) {
        let core = &self.core;
        if let Err(fault) = visitor_merge::finish(core, site).await {
            tracing::warn!(site = %site.id, "what visitors owned was not all passed on: {fault:?}");
        }
        if let Err(fault) = deletion::finish(core, site).await {
            tracing::warn!(site = %site.id, "not all members were deleted who wanted to be: {fault:?}");
        }
        for rule in of_site(core.config()) {
            if let Err(fault) = prune(site, Some(&site.id), rule, core.now()).await {
                tracing::warn!(site = %site.id, table = rule.table, "what is over was not all deleted: {fault:?}");
            }
        }
    }

    /// Deletes the members whose time has come in all sites but those that were seen to, one site after another: what they
    /// were promised doesn't wait for a visitor of the site. It doesn't ask which are open: other work may have one open
    /// for a moment, which would then wait for another day.
    pub async fn retention_run_others(&self, seen_to: &HashSet<SiteId>) {
        let store = self.core.store();
        let all = store.sites_for_work().await.unwrap_or_else(|fault| {
            tracing::warn!("sites could not be listed: {fault:?}");
            Vec::new()
        });
        for id in all.into_iter().filter(|it| !seen_to.contains(it)) {
            let finished = async { deletion::finish(&self.core, &*store.site_for_work(&id).await?).await };
            if let Err(fault) = finished.await {
                tracing::warn!(site = %id, "not all members were deleted who wanted to be: {fault:?}");
            }
        }
    }

    /// [`Identity::retention_run`] for the catalogue.
    pub async fn retention_run_catalog(&self) {
        let (core, realm) = (&self.core, factor::operators());
        let of_operators = OF_OPERATORS.into_iter().map(|it| (Some(&realm), it));
        for (realm, rule) in of_catalog(core.config()).into_iter().map(|it| (None, it)).chain(of_operators) {
            if let Err(fault) = prune(core.store().catalog(), realm, rule, core.now()).await {
                tracing::warn!(table = rule.table, "what is over was not all deleted: {fault:?}");
            }
        }
    }
}

/// Deletes what a rule says piece by piece, each piece a transaction of its own. Rows are searched for beside the
/// writer, which then only deletes by key what still is over.
async fn prune(database: &Database, site: Option<&SiteId>, rule: Rule, now: Millis) -> Result<()> {
    let Rule { table, key, over, kept } = rule;
    let (and_site, key_param) = if site.is_some() { (" and site = $2", "$3") } else { ("", "$2") };
    let scope: Vec<Value> = [Value::from(now - kept)].into_iter().chain(site.map(Value::from)).collect();
    let column = key.column();
    let rest = format!("from stoa.{table} where ({over}){and_site}");
    let (find, delete) =
        (format!("select {column} {rest} limit {CHUNK}"), format!("delete {rest} and {column} = {key_param}"));
    loop {
        let (find, values) = (find.clone(), scope.clone());
        let found = database
            .read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.rows(&find, &values, |row| key.read(row)).await?)))
            .await?;
        let (count, input) = (found.len(), (delete.clone(), scope.clone(), found));
        let deleted = database.append_with(input, |tx, (delete, scope, found)| {
            boxed!({
                for key in found {
                    tx.send(delete, [scope.clone(), vec![key.clone()]].concat()).await?;
                }
                Ok(())
            })
        });
        deleted.await?;
        if count < CHUNK {
            return Ok(());
        }
    }
}

impl Key {
    fn column(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Text(column) => column,
        }
    }

    fn read(self, row: &Row<'_>) -> Result<Value, stoa_store::Error> {
        match self {
            Self::Hash => row.get(0).map(Value::Bytes),
            Self::Text(_) => row.get(0).map(Value::Text),
        }
    }
}
