//! What a caller who follows a collection is told of its changes.
//!
//! ```text
//! FeedRequest ─ feed_view: collection, caller ─▶ FeedView ─ feed_snapshot ─▶ items, and where the log stood
//! row of the log ─ FeedRow::parse ─▶ FeedItem ─ FeedView::judge ─▶ enter, update, leave or nothing
//! ```
//!
//! A view is made as a query's plan is, of the caller's scope and the filter, and judges an item before and after a
//! change by both: an id that the caller never might see is never told. Two views with the same [`FeedKey`] judge all
//! rows alike, whoever they are for.

mod request;
mod row;
mod snapshot;
mod view;

pub use request::FeedRequest;
pub use row::{Before, FeedChange, FeedItem, FeedRow, Interruption, KINDS, RIGHTS};
pub use snapshot::FeedSnapshot;
pub use view::{FeedKey, FeedView, Judgement};
