//! Links between items: `/v2/bulk/items/…-references`, `/v2/items/replace-references`, `/is-referenced`,
//! `/query-referenced`.

use super::{CURSORS, ON_ITEMS, PAGING};
use crate::{
    openapi::{Answer, Callers, Operation},
    subject::Subject,
};
use stoa_kernel::Code;

const RESULTS: &[Answer] =
    &[Answer::json("ReferenceBulkResponse", "What became of each link, in the order of the request.")];
const FIELD: &[Code] = &[Code::NotMultiReference, Code::FieldNotText, Code::NameEmpty];
const ID: &[Code] = &[Code::ReferenceIdInvalid];
const LINKS: &[Code] =
    &[Code::ReferencesInvalid, Code::FieldDeleted, Code::ItemNotFound, Code::NotSupported, Code::TooManyItems];
const WRITES: &[&[Code]] = &[ON_ITEMS, FIELD, LINKS];

const fn reference(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::References, Callers::Permitted, summary)
}

pub(crate) const REFERENCE_BULK_INSERT: Operation = reference("referenceBulkInsert", "Links items with others")
    .takes("ReferenceBulkInsertRequest")
    .answers(RESULTS)
    .errors(&[ON_ITEMS, FIELD, LINKS, &[Code::ReferenceExists]]);

pub(crate) const REFERENCE_BULK_REMOVE: Operation = reference("referenceBulkRemove", "Takes links away")
    .notes("One that is not there counts as taken away.")
    .takes("ReferenceBulkRemoveRequest")
    .answers(RESULTS)
    .errors(WRITES);

pub(crate) const REFERENCE_REPLACE: Operation = reference("referenceReplace", "Sets all links of an item's field")
    .takes("ReferenceReplaceRequest")
    .answers(&[Answer::json("ReferenceReplaceResponse", "The links that the field has now.")])
    .errors(WRITES);

pub(crate) const REFERENCE_CHECK: Operation = reference("referenceCheck", "Tells whether two items are linked")
    .takes("ReferenceCheckRequest")
    .answers(&[Answer::json("ReferenceCheckResponse", "Whether they are.")])
    .errors(&[ON_ITEMS, FIELD, ID]);

pub(crate) const REFERENCED_ITEM_QUERY: Operation =
    reference("referencedItemQuery", "Reads the items that an item's field links to, by pages")
        .takes("ReferencedItemQueryRequest")
        .answers(&[Answer::json("ReferencedItemQueryResponse", "A page of them.")])
        .errors(&[ON_ITEMS, FIELD, ID, PAGING, CURSORS, &[Code::SortDirection, Code::TooManyIds]]);
