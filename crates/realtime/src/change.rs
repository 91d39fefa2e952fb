//! A change as it is told, made once for all who are told it.

use stoa_content::feed::{FeedItem, FeedView, Judgement};
use stoa_store::outbox::Position;

/// What one row tells of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The item's.
    pub id: String,
    /// Behind its row.
    pub position: Position,
    /// The first of the row's items that comes after; nothing when this is the last.
    pub delivered: Option<u32>,
    pub net: Net,
    /// The item as it is shown; nothing for one that was deleted.
    pub document: Option<Box<str>>,
    /// The names of fields that an update changed, as JSON strings.
    pub modified: Vec<Box<str>>,
    pub is_deleted: bool,
}

/// What it comes to for those who hold the items that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Net {
    Enter,
    Update,
    Leave,
}

/// The fields that a message says have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modified<'m> {
    Fields(&'m [Box<str>]),
    /// It doesn't say.
    Unknown,
}

/// What a row tells of an item.
pub(crate) enum Told {
    Nothing,
    Change(Change),
    /// Whether those who hold the item must let it go can't be told.
    Unknown,
}

impl Net {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Enter => "enter",
            Self::Update => "update",
            Self::Leave => "leave",
        }
    }
}

impl Change {
    /// What a view tells of an item: the `n`th of `count` in its row.
    pub(crate) fn of(view: &FeedView, item: &FeedItem, position: Position, n: usize, count: usize) -> Told {
        let net = match view.judge(item) {
            Judgement::Nothing => return Told::Nothing,
            Judgement::Unknown => return Told::Unknown,
            Judgement::Enter => Net::Enter,
            Judgement::Update => Net::Update,
            Judgement::Leave => Net::Leave,
        };
        let document = view.document(item);
        let modified = match net {
            Net::Update => view.modified(item).map(Into::into).collect(),
            Net::Enter | Net::Leave => Vec::new(),
        };
        Told::Change(Self {
            id: item.id.clone(),
            position,
            delivered: u32::try_from(n + 1).ok().filter(|_| n + 1 < count),
            net,
            is_deleted: document.is_none(),
            document: document.filter(|_| net != Net::Leave).map(Into::into),
            modified,
        })
    }

    /// Bytes that it holds.
    pub(crate) fn size(&self) -> usize {
        let modified: usize = self.modified.iter().map(|it| it.len() + 16).sum();
        self.id.len() + self.document.as_ref().map_or(0, |it| it.len()) + modified + 200
    }
}
