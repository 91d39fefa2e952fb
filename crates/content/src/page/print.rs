//! The wire form of an item, printed from its document without parsing it.

use crate::{collection::Collection, document::quoted_id};
use stoa_sql::jsonb;
use stoa_store::Document;

/// `{"id":…,"dataCollectionId":…,"data":…}`, appended to an answer.
pub(crate) fn print(collection: &Collection, document: &str, out: &mut String) {
    let (id, name) = (quoted_id(document), &collection.statements.quoted_id);
    out.reserve(document.len() + id.len() + name.len() + 40);
    out.extend(["{\"id\":", id, ",\"dataCollectionId\":", name, ",\"data\":", document, "}"]);
}

/// The same from what is stored, without a text of it in between. What is appended is still to be checked
/// for being UTF-8.
pub(crate) fn print_stored(
    collection: &Collection,
    document: Document<'_>,
    out: &mut Vec<u8>,
) -> Result<(), stoa_store::Error> {
    out.extend_from_slice(b"{\"id\":");
    match document {
        Document::Text(it) => out.extend_from_slice(quoted_id(it).as_bytes()),
        Document::Jsonb(it) => jsonb::print_first_member_to(it, out).ok_or_else(Document::unreadable)?,
    }
    out.extend_from_slice(b",\"dataCollectionId\":");
    out.extend_from_slice(collection.statements.quoted_id.as_bytes());
    out.extend_from_slice(b",\"data\":");
    document.print(out)?;
    out.push(b'}');
    Ok(())
}
