//! Indexes: `/v2/indexes…`.

use super::{DONE, IN_COLLECTION, PACKED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const COLLECTION_ID: Parameter = Parameter::text("dataCollectionId", "The collection.").required();

const fn index(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Indexes, Callers::Permitted, summary)
}

pub(crate) const INDEX_LIST: Operation = index("indexList", "Lists the indexes of a collection")
    .query(&[
        COLLECTION_ID,
        Parameter::number("paging.limit", "As many on a page, at most."),
        Parameter::number("paging.offset", "As many are left out before."),
        PACKED,
    ])
    .answers(&[Answer::json("IndexListResponse", "A page of indexes."), super::UNCHANGED])
    .errors(&[IN_COLLECTION, &[Code::PagingInvalid]]);

pub(crate) const INDEX_CREATE: Operation = index("indexCreate", "Makes an index")
    .notes("It is built after the answer; `status` says when it serves.")
    .takes("IndexCreateRequest")
    .answers(&[Answer::json("IndexResponse", "The index.")])
    .errors(&[
        IN_COLLECTION,
        &[
            Code::CollectionDeleted,
            Code::RequestInvalid,
            Code::FilterInvalid,
            Code::FieldNameDollar,
            Code::IndexLimit,
            Code::IndexExists,
            Code::NotSupported,
        ],
    ]);

pub(crate) const INDEX_DROP: Operation = index("indexDrop", "Drops an index")
    .query(&[COLLECTION_ID, Parameter::text("indexName", "The index.").required(), PACKED])
    .answers(DONE)
    .errors(&[IN_COLLECTION, &[Code::CollectionDeleted, Code::RequestInvalid, Code::IndexNotFound]]);

pub(crate) const INDEX_AVAILABLE_GET: Operation =
    index("indexAvailableGet", "Tells how many indexes a collection may still have")
        .query(&[COLLECTION_ID, PACKED])
        .answers(&[Answer::json("IndexAvailableResponse", "As many of each kind."), super::UNCHANGED])
        .errors(&[IN_COLLECTION]);
