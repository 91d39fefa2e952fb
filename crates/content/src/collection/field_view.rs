//! What a caller is shown of stored documents: encrypted fields opened or left out (decision 13), page links calculated
//! (decision 39).

use crate::{
    Content,
    collection::{
        Collection,
        cipher::{self, FieldCipher},
    },
    schema::{encrypted::EncryptedFields, page_link::PageLinks},
};
use std::{borrow::Cow, sync::Arc};
use stoa_kernel::{Caller, Result};
use stoa_store::Site;

/// What a caller is shown of the documents of a collection. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct FieldView {
    secrets: Secrets,
    links: PageLinks,
}

/// What becomes of encrypted fields.
#[derive(Clone, Default)]
enum Secrets {
    /// There are none.
    #[default]
    Absent,
    /// They are left out.
    Hidden(EncryptedFields),
    /// They are shown.
    Open(Arc<FieldCipher>),
}

impl FieldView {
    /// What a caller is shown, beside what it takes to write.
    pub(crate) fn new(caller: &Caller, collection: &Collection, cipher: Option<&Arc<FieldCipher>>) -> Self {
        let secrets = match cipher {
            None => Secrets::Absent,
            Some(it) if caller.bare().is_privileged() => Secrets::Open(it.clone()),
            Some(it) => Secrets::Hidden(it.fields.clone()),
        };
        Self { secrets, links: collection.page_links.clone() }
    }

    /// Whether documents are shown as they are stored.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.secrets, Secrets::Absent) && self.links.is_empty()
    }

    /// A stored document as the caller is shown it; canonical text again.
    ///
    /// # Errors
    /// An internal fault when an encrypted value doesn't open.
    pub(crate) fn show<'d>(&self, document: impl Into<Cow<'d, str>>) -> Result<Cow<'d, str>> {
        let readable = match &self.secrets {
            Secrets::Absent => document.into(),
            Secrets::Hidden(fields) => fields.hide(document),
            Secrets::Open(cipher) => cipher.opened(&document.into()).map(Cow::Owned)?,
        };
        Ok(self.links.put(readable))
    }

    /// The same of an item that is being removed: what doesn't open is left out, for it can't be lost.
    pub(crate) fn show_last(&self, document: &str) -> String {
        let shown = self.show(document).unwrap_or_else(|fault| {
            tracing::error!("an item is removed: {fault:?}");
            match &self.secrets {
                Secrets::Open(cipher) => self.links.put(cipher.fields.hide(document)),
                Secrets::Absent | Secrets::Hidden(_) => document.into(),
            }
        });
        shown.into_owned()
    }

    pub(crate) fn show_all<'d>(&self, documents: impl Iterator<Item = &'d mut String>) -> Result<()> {
        if self.is_plain() {
            return Ok(());
        }
        for it in documents {
            *it = self.show(std::mem::take(it))?.into_owned();
        }
        Ok(())
    }
}

/// What a caller is shown of a collection's documents.
pub(crate) async fn load(
    content: &Content,
    site: &Site,
    caller: &Caller,
    collection: &Collection,
) -> Result<FieldView> {
    // Keys are for those who are shown what they open.
    if !collection.encrypted.is_empty() && !caller.bare().is_privileged() {
        let (secrets, links) = (Secrets::Hidden(collection.encrypted.clone()), collection.page_links.clone());
        return Ok(FieldView { secrets, links });
    }
    Ok(FieldView::new(caller, collection, cipher::load(content, site, collection).await?.as_ref()))
}
