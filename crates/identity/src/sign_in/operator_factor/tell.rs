//! What is told of the second factors of somebody who runs sites: to the audit log of each of their sites, and to them by mail. The
//! change is in the catalogue and durable by then, so what can't be told is logged and takes nothing back.

use crate::{
    Core, audit,
    mail::{self, FactorChange, Message, QueuedMessage, Task, enqueue},
    operator::Operator,
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// Sites of a person that are told.
const MOST: i64 = 200;

/// What happened to the factors of a person.
#[derive(Debug, Clone)]
pub(super) struct Told {
    event: audit::Event,
    /// What the person is told, if anything.
    change: Option<FactorChange>,
    /// Who did it, where that was not the person.
    by: Option<Caller>,
    /// From where; the sites where it did not happen are not told.
    from: Option<IpAddr>,
}

impl Told {
    /// A factor was shown, or was tried: of a recovery code the person is told as well.
    pub(super) fn happened(event: audit::Event, from: IpAddr) -> Self {
        let change = (event == audit::Event::RecoveryCodeUsed).then_some(FactorChange::RecoveryCodeUsed);
        Self { event, change, by: None, from: Some(from) }
    }

    /// The person has changed something.
    pub(super) fn changed((event, change): (audit::Event, Option<FactorChange>), from: Option<IpAddr>) -> Self {
        Self { event, change, by: None, from }
    }

    /// Those who run the installation took the factors away.
    pub(super) fn reset(by: Caller) -> Self {
        let (event, change) = (audit::Event::FactorsReset, Some(FactorChange::Removed));
        Self { event, change, by: Some(by), from: None }
    }
}

/// Runs what is committed and then told of to its end, also where the request is dropped meanwhile: closing the connection keeps nobody
/// from being told.
///
/// # Errors
/// What the work answers.
pub(super) async fn to_its_end<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let ended = tokio::spawn(work).await;
    ended.unwrap_or_else(|it| Err(Fault::internal(format!("work on factors ended: {it}"))))
}

/// Writes the event into the log of each site, and the message into the queue of `at`.
pub(super) async fn tell(core: &Arc<Core>, at: &SiteId, operator: &Operator, told: Told) {
    let sites = sites_of(core, operator).await.unwrap_or_else(|fault| {
        tracing::warn!(operator = %operator.id, "the sites of a person could not be listed: {fault:?}");
        Vec::new()
    });
    // The one where it happened also when they have no role there any more.
    let others = sites.into_iter().filter(|it| it != at);
    for site in [at.clone()].into_iter().chain(others) {
        let is_here = site == *at;
        let told_there =
            Told { change: told.change.filter(|_| is_here), from: told.from.filter(|_| is_here), ..told.clone() };
        match record(core, &site, operator, told_there).await {
            Err(fault) if fault.code() != Code::SiteUnknown => {
                tracing::warn!(%site, operator = %operator.id, "a change of factors was not told of: {fault:?}");
            }
            _ => {}
        }
    }
    if told.change.is_some() {
        mail::deliver_soon(core, at).await;
    }
}

async fn record(core: &Arc<Core>, site: &SiteId, operator: &Operator, told: Told) -> Result<()> {
    let site = core.store().site(site).await?;
    let input = (core.clone(), site.id.clone(), operator.clone(), told);
    let written = site.write_with(input, |tx, (core, site, operator, told)| {
        boxed!({
            // Where another acted, the address says whose factors they were.
            let (actor, detail) = match &told.by {
                Some(by) => (audit::Actor::Caller(by), Some(operator.email.as_str())),
                None => (audit::Actor::Operator(&operator.id), None),
            };
            let entry = audit::Entry { event: told.event, actor, member: None, address: told.from, detail };
            audit::record(core, tx, site, entry).await?;
            let Some(change) = told.change else { return Ok(()) };
            let message = Message::OperatorFactorChanged { change, at: core.now() };
            let message = QueuedMessage { to: operator.email.clone(), language: None, own_language: None, message };
            enqueue(core, tx, site, None, &Task::Message(message)).await
        })
    });
    written.await
}

async fn sites_of(core: &Core, operator: &Operator) -> Result<Vec<SiteId>> {
    let person = operator.id.clone();
    let read = core.store().catalog().read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select site from stoa.person_role where person = $1 order by site limit $2";
            Ok(tx.rows(sql, &params![&person, MOST], |row| Ok(SiteId::from(row.text(0)?))).await?)
        })
    });
    read.await
}
