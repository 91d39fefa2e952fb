//! The items that a follower begins with.

use crate::{Content, Origin, feed::FeedView};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::compile;
use stoa_store::{Site, boxed, outbox::ReadPoint};

/// Items as they were at one point of the log.
#[derive(Debug)]
pub struct FeedSnapshot {
    /// The first ones in the order asked for, as JSON texts.
    pub items: Vec<String>,
    /// How many there are in all.
    pub total: i64,
    pub point: ReadPoint,
}

impl Content {
    /// The items that a view shows now, at most `most` bytes of them, and where the log stands.
    ///
    /// # Errors
    /// WDE0109 when they are larger; THROTTLED_FEATURE when it waited too long for its turn.
    pub async fn feed_snapshot(
        &self,
        site: &Site,
        caller: &Caller,
        origin: Origin,
        view: Arc<FeedView>,
        most: usize,
    ) -> Result<FeedSnapshot> {
        let read = site.read_at_point(self.requester(caller, origin), move |tx| {
            boxed!({
                let (plan, table) = (&view.plan, view.collection.table);
                let (limit, mut items, mut held, mut count) = (plan.page.limit as usize, Vec::new(), 0, 0);
                let (sql, params) = compile::find(tx.dialect(), table, plan);
                tx.rows(&sql, &params, |row| {
                    count += 1;
                    if count <= limit && held <= most {
                        let item = view.show(&row.doc(0)?);
                        held += item.len();
                        items.push(item);
                    }
                    Ok(())
                })
                .await?;
                if held > most {
                    let text = format!("The items are larger than {most} bytes; ask for fewer, or for some fields.");
                    return Err(Fault::because(Code::PayloadTooLarge, text));
                }
                let total = match count > limit {
                    false => i64::try_from(count).unwrap_or(i64::MAX),
                    true => {
                        let (sql, params) = compile::count(tx.dialect(), table, &plan.count());
                        tx.row(&sql, &params, |row| row.get(0)).await?.unwrap_or_default()
                    }
                };
                Ok((items, total))
            })
        });
        let ((items, total), point) = read.await?;
        Ok(FeedSnapshot { items, total, point })
    }

    /// Where the log stands, for one who begins without the items: what was written before this call is told to them no
    /// more, also where readers of the log haven't come to it yet.
    ///
    /// # Errors
    /// THROTTLED_FEATURE when it waited too long for its turn.
    pub async fn feed_point(&self, site: &Site, caller: &Caller, origin: Origin) -> Result<ReadPoint> {
        let read = site.read_at_point(self.requester(caller, origin), |_| boxed!(Ok(()))).await?;
        Ok(read.1)
    }
}
