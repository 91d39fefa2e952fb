//! Fields that become encrypted: whether items have clear values under their keys (decision 13).

use crate::{
    collection::Collection,
    schema::{
        definition::Definition,
        encrypted::{added, refused},
    },
};
use stoa_kernel::Result;
use stoa_query::{
    Filter, compile,
    plan::{Field, Test},
};
use stoa_sql::Writer;
use stoa_store::{ReaderPool, Site, boxed};

/// Looks whether items have values already under the keys of new encrypted fields. It may look at all
/// items, so no write waits for it: what is written meanwhile stays clear, and is shown to no caller.
///
/// # Errors
/// WDE0119 when there are such values.
pub(crate) async fn refuse_clear(site: &Site, collection: &Collection, after: &Definition) -> Result<()> {
    for (n, key) in added(&collection.definition, after) {
        let mut sql = Writer::new(site.dialect());
        sql.push("select 1 from ").push(&collection.statements.name).push(" where ");
        let there = Filter::Test(Field::Path(vec![key.to_owned()]), Test::Empty).negated();
        compile::condition(&mut sql, &there);
        sql.push(" limit 1");
        let (sql, params) = sql.finish();
        let found = site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(&sql, &params, |_| Ok(())).await?)));
        if found.await?.is_some() {
            return Err(refused(n, &format!("can't be, for items have values under {key} already")));
        }
    }
    Ok(())
}
