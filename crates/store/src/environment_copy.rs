//! Copies between the environments of sites, as the catalogue has them: of a site one at a time, worked on by one node.
//! What is copied, and how, is known to `content`.

use crate::{Environment, Error, ReaderPool, Row, Store, boxed};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId};
use stoa_sql::{Value, params};

/// After so long without a sign of who works on it a copy is taken up by another, in milliseconds.
const LEASE: Millis = 10_000;
/// How many are told of.
const MOST_TOLD: i64 = 50;

/// How a copy stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStatus {
    Running,
    Succeeded,
    Failed,
    Undoing,
    Undone,
}

impl CopyStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Undoing => "UNDOING",
            Self::Undone => "UNDONE",
        }
    }

    fn parse(name: &str) -> Result<Self, Error> {
        let all = [Self::Running, Self::Succeeded, Self::Failed, Self::Undoing, Self::Undone];
        let found = all.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| Error::Other(format!("the status of a copy: {name}")))
    }
}

/// A copy of collections from one environment of a site to the other. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRecord {
    pub id: String,
    pub site: SiteId,
    /// What is copied; to the other one.
    pub source: Environment,
    pub status: CopyStatus,
    pub collections: Vec<String>,
    /// Items that were written so far.
    pub items: u64,
    pub started: Millis,
    pub ended: Option<Millis>,
    /// How often it was taken up.
    pub attempts: i64,
    /// Who works on it: a process, and which time it took it up. No two are alike, also in one process, so who was
    /// followed by another can be told.
    pub runner: String,
    /// The code and the sentence that it failed with, or that it failed to be undone with.
    pub fault: Option<(String, String)>,
}

const COLUMNS: &str =
    "id, site, source, status, collections, items, started, ended, attempts, fault_code, fault_text, runner";

impl Store {
    /// Writes a copy down that this node begins, and answers it with who works on it.
    ///
    /// # Errors
    /// [`Code::AlreadyExists`] while another one of the site is at work, [`Code::SandboxDisabled`] without a SANDBOX.
    pub async fn copy_begin(&self, copy: CopyRecord) -> Result<CopyRecord> {
        let collections = serde_json::to_string(&copy.collections).map_err(Fault::internal)?;
        let copy = CopyRecord { runner: self.new_runner(), attempts: 1, ..copy };
        let written = self.catalog().write_alone_with((copy.clone(), collections), |tx, (copy, collections)| {
            boxed!({
                let sql = "select 1 from stoa.site where sandbox_of = $1 and deleted is null";
                if tx.row(sql, &params![&copy.site], |_| Ok(())).await?.is_none() {
                    return Err(Fault::new(Code::SandboxDisabled));
                }
                let sql = "insert into stoa.environment_copy \
                           (id, site, source, status, collections, items, started, runner, touched, attempts) \
                           values ($1, $2, $3, $4, $5, 0, $6, $7, $6, $8) on conflict do nothing";
                let CopyRecord { id, site, source, status, started, runner, attempts, .. } = copy;
                let row = params![id, site, source.name(), status.name(), collections, *started, runner, *attempts];
                if tx.execute(sql, &row).await? == 0 { Err(Self::busy()) } else { Ok(()) }
            })
        });
        written.await.map(|()| copy)
    }

    /// Begins to undo a copy that succeeded, and answers it with who works on it.
    ///
    /// # Errors
    /// [`Code::AlreadyExists`] while another one of the site is at work, [`Code::NotFound`] for one that didn't succeed.
    pub async fn copy_undo_begin(&self, copy: CopyRecord, now: Millis) -> Result<CopyRecord> {
        let (status, runner) = (CopyStatus::Undoing, self.new_runner());
        let undo = CopyRecord { status, runner, attempts: 1, ended: None, ..copy };
        let written = self.catalog().write_alone_with(undo.clone(), move |tx, undo| {
            boxed!({
                let CopyRecord { id, site, status, runner, attempts, .. } = undo;
                let sql = "select 1 from stoa.environment_copy where site = $1 and ended is null";
                if tx.row(sql, &params![site], |_| Ok(())).await?.is_some() {
                    return Err(Self::busy());
                }
                let sql = "update stoa.environment_copy set status = $1, ended = null, runner = $2, touched = $3, \
                           attempts = $4 where site = $5 and id = $6 and status = $7";
                let before = CopyStatus::Succeeded.name();
                match tx.execute(sql, &params![status.name(), runner, now, *attempts, site, id, before]).await? {
                    0 => Err(Fault::because(Code::NotFound, format!("No copy {id} succeeded."))),
                    _ => Ok(()),
                }
            })
        });
        written.await.map(|()| undo)
    }

    /// Takes up a copy that was found open, when no process works on it any more. Nothing unless it is this node's now.
    ///
    /// # Errors
    /// When the catalogue can't be written.
    pub async fn copy_claim(&self, copy: CopyRecord, now: Millis) -> Result<Option<CopyRecord>> {
        // Where no other process can be, one of another name is gone.
        let is_gone = i64::from(!self.catalog().is_shared() && !copy.runner.starts_with(self.node()));
        let next = CopyRecord { runner: self.new_runner(), attempts: copy.attempts + 1, ..copy.clone() };
        let written = self.catalog().write_with((copy, next.clone()), move |tx, (copy, next)| {
            boxed!({
                let sql = "update stoa.environment_copy set runner = $1, touched = $2, attempts = $3 \
                           where id = $4 and runner = $5 and ended is null and (touched < $6 or $7 = 1)";
                let row = params![&next.runner, now, next.attempts, &copy.id, &copy.runner, now - LEASE, is_gone];
                Ok(tx.execute(sql, &row).await? == 1)
            })
        });
        Ok(written.await?.then_some(next))
    }

    /// Says that this copy is being worked on, and how far it is; answers whether it is still that worker's.
    ///
    /// # Errors
    /// When the catalogue can't be written.
    pub async fn copy_touch(&self, copy: &CopyRecord, items: u64, now: Millis) -> Result<bool> {
        let written = self.catalog().write_with((copy.id.clone(), copy.runner.clone()), move |tx, (id, runner)| {
            boxed!({
                let sql = "update stoa.environment_copy set items = $1, touched = $2 \
                           where id = $3 and runner = $4 and ended is null";
                let items = i64::try_from(items).unwrap_or(i64::MAX);
                Ok(tx.execute(sql, &params![items, now, id, runner]).await? == 1)
            })
        });
        written.await
    }

    /// Writes down how a copy ended, unless another works on it by now.
    ///
    /// # Errors
    /// When the catalogue can't be written.
    pub async fn copy_end(
        &self,
        copy: &CopyRecord,
        status: CopyStatus,
        items: Option<u64>,
        fault: Option<(String, String)>,
        now: Millis,
    ) -> Result<()> {
        let input = (copy.id.clone(), copy.runner.clone(), fault);
        let written = self.catalog().write_with(input, move |tx, (id, runner, fault)| {
            boxed!({
                let sql = "update stoa.environment_copy set status = $1, items = coalesce($2, items), ended = $3, \
                           fault_code = $4, fault_text = $5 where id = $6 and runner = $7 and ended is null";
                let (code, text) = fault.clone().unzip();
                let items = items.map(|it| i64::try_from(it).unwrap_or(i64::MAX));
                tx.execute(sql, &params![status.name(), items, now, code, text, id, runner]).await?;
                Ok(())
            })
        });
        written.await
    }

    /// The name of one who takes up a copy in this process.
    fn new_runner(&self) -> String {
        format!("{}/{}", self.node(), self.world.uuid())
    }

    /// The latest copies of a site, the last one first.
    ///
    /// # Errors
    /// When the catalogue can't be asked.
    pub async fn copies(&self, site: &SiteId) -> Result<Vec<CopyRecord>> {
        let clause = "where site = $1 order by started desc, id desc limit $2";
        self.copies_where(clause, params![site, MOST_TOLD].into()).await
    }

    /// A copy of a site by its id, however many were begun since; without one the latest that succeeded.
    ///
    /// # Errors
    /// When the catalogue can't be asked.
    pub async fn copy(&self, site: &SiteId, id: Option<&str>) -> Result<Option<CopyRecord>> {
        let found = match id {
            Some(id) => self.copies_where("where site = $1 and id = $2", params![site, id].into()).await?,
            None => {
                let clause = "where site = $1 and status = $2 order by started desc, id desc limit 1";
                self.copies_where(clause, params![site, CopyStatus::Succeeded.name()].into()).await?
            }
        };
        Ok(found.into_iter().next())
    }

    /// The copies of all sites that have not ended.
    ///
    /// # Errors
    /// When the catalogue can't be asked.
    pub async fn copies_open(&self) -> Result<Vec<CopyRecord>> {
        self.copies_where("where ended is null order by started", Vec::new()).await
    }

    async fn copies_where(&self, clause: &'static str, params: Vec<Value>) -> Result<Vec<CopyRecord>> {
        let read = self.catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = format!("select {COLUMNS} from stoa.environment_copy {clause}");
                Ok(tx.rows(&sql, &params, record).await?)
            })
        });
        read.await
    }
}

fn record(row: &Row<'_>) -> Result<CopyRecord, Error> {
    let collections = serde_json::from_str(row.text(4)?);
    let code: Option<String> = row.get(9)?;
    Ok(CopyRecord {
        id: row.get(0)?,
        site: SiteId::from(row.text(1)?),
        source: Environment::parse(row.text(2)?),
        status: CopyStatus::parse(row.text(3)?)?,
        collections: collections.map_err(|it| Error::Other(format!("the collections of a copy: {it}")))?,
        items: u64::try_from(row.get::<i64>(5)?).unwrap_or(0),
        started: row.get(6)?,
        ended: row.get(7)?,
        attempts: row.get(8)?,
        fault: code.zip(row.get::<Option<String>>(10)?),
        runner: row.get(11)?,
    })
}
