//! To whom messages about a site go.

use crate::{Core, operator::role::role_name};
use stoa_kernel::{Result, Role, SiteId, UserId};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// Owners who are notified.
const MOST: i64 = 20;

/// The owners of a site: id and address.
pub(crate) async fn owners(core: &Core, site: &SiteId) -> Result<Vec<(UserId, String)>> {
    let site = site.clone();
    let sql = "select p.id, p.email from stoa.person_role r join stoa.person p on p.id = r.person \
               where r.site = $1 and r.role = $2 order by p.created, p.id limit $3";
    core.store()
        .catalog()
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let values = params![&site, role_name(Role::Owner), MOST];
                Ok(tx.rows(sql, &values, |row| Ok((UserId::from(row.text(0)?), row.get(1)?))).await?)
            })
        })
        .await
}
