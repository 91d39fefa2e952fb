//! Items: `/v2/items…`, `/v2/bulk/items/…`.

use super::{CURSORS, FILTER, ITEM_VALUES, ON_ITEMS, PAGING, SORT, UNCHANGED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const COLLECTION_ID: Parameter = Parameter::text("dataCollectionId", "The collection.").required();
const ITEM_ID: Parameter = Parameter::text(
    "dataItemId",
    "The id, where it is not the one in the path: ids with slashes, dots or nothing but them.",
);
const ENVIRONMENT: Parameter = Parameter::one_of(
    "environment",
    &["LIVE", "SANDBOX_PREFERRED", "SANDBOX"],
    "The data of which environment. `SANDBOX` is for those who work on the site, and apps; for others \
     `SANDBOX_PREFERRED` is `LIVE`.",
);
const ENVIRONMENT_OF_ALL: Parameter = Parameter::one_of(
    "environment",
    &["LIVE", "SANDBOX_PREFERRED", "SANDBOX"],
    "The data of which environment. `SANDBOX` is for those who work on the site, and apps; `SANDBOX_PREFERRED` is `LIVE`: \
     it is decided for a collection.",
);
const FIELDS: Parameter = Parameter::texts("fields", "Fields that are wanted, by dotted names; all without.");
const INCLUDES: Parameter =
    Parameter::texts("includeReferencedItems", "Reference fields whose items are wanted in the place of their ids.");
const PACKED_GET: Parameter =
    Parameter::packed(".r", "ItemGetRequest", "All that stands in the query. Dotted pairs may stand there as well.");
const PACKED_QUERY: Parameter =
    Parameter::packed(".r", "ItemQueryRequest", "All that stands in the query. Dotted pairs may stand there as well.");
const PACKED_DELETE: Parameter =
    Parameter::packed(".r", "ItemDeleteRequest", "All that stands in the query. Dotted pairs may stand there as well.");

const ITEM: &[Answer] = &[Answer::json("ItemResponse", "The item as it is stored.")];
const READ: &[Answer] = &[Answer::json("ItemResponse", "The item."), UNCHANGED];
const REMOVED: &[Answer] = &[Answer::json("ItemRemoveResponse", "The item as it was.")];
const RESULTS: &[Answer] =
    &[Answer::json("ItemBulkResponse", "What became of each item, in the order of the request.")];
const PAGE: &[Answer] = &[Answer::json("ItemQueryResponse", "A page of items.")];

const BEGUN: &[Answer] = &[Answer::json("AsyncJobResponse", "The job.")];
const JOB_ID: Parameter = Parameter::text("jobId", "The job, where it is not the one in the path.");

const ID: &[Code] = &[Code::ItemIdNotText];
const MISSING: &[Code] = &[Code::ItemNotFound];
const NAMES: &[Code] = &[Code::FieldNotText, Code::NameEmpty, Code::NotMultiReference];
/// What is wrong with how many items a reference brings.
const COUNTS: &[Code] = &[Code::NotNumber, Code::NotPositive, Code::NotInteger, Code::AboveMaximum];
const LONG: &[Code] = &[Code::PayloadTooLarge];
/// Calls of which a hook is asked.
const HOOKS: &[Code] = &[Code::HookThrew];
/// Those that write only what their hook has seen, into the fields that it knew.
const HOOKS_OF_CHANGES: &[Code] = &[Code::HookThrew, Code::RevisionWrong];
const READS: &[&[Code]] = &[ON_ITEMS, ID, MISSING, NAMES, COUNTS, LONG, HOOKS];
const INSERTS: &[&[Code]] =
    &[ON_ITEMS, ITEM_VALUES, MISSING, &[Code::ItemIdRefused, Code::ItemExists], HOOKS_OF_CHANGES];
const CHANGES: &[&[Code]] = &[ON_ITEMS, ITEM_VALUES, MISSING, FILTER, HOOKS_OF_CHANGES];
const SAVES: &[&[Code]] = &[ON_ITEMS, ITEM_VALUES, MISSING, &[Code::ItemIdRefused], HOOKS_OF_CHANGES];
const PATCHES: &[&[Code]] = &[ON_ITEMS, ID, MISSING, PATCH_VALUES, FILTER, HOOKS_OF_CHANGES];
const PATCH_VALUES: &[Code] = &[
    Code::ItemTooLarge,
    Code::ItemTooDeep,
    Code::FieldNameDollar,
    Code::RequestInvalid,
    Code::MultiReferenceValue,
    Code::NotSupported,
    Code::UniqueConflict,
];
/// What is wrong with the modifications of a patch that has no item yet.
const PATCH_BY_FILTER: &[Code] =
    &[Code::RequestInvalid, Code::ItemTooDeep, Code::FieldNameDollar, Code::MultiReferenceValue, Code::NotSupported];
const REMOVES: &[&[Code]] = &[ON_ITEMS, ID, MISSING, FILTER, HOOKS_OF_CHANGES];
const MANY: &[Code] = &[Code::ItemsNotObjects, Code::TooManyItems, Code::NotSupported];
const MANY_IDS: &[Code] = &[Code::RemoveIdsInvalid, Code::TooManyIds];

/// What is wrong with the names of an aggregation.
const RESULTS_NAMED: &[Code] = &[Code::FieldNotText, Code::NameEmpty, Code::FieldInvalid];
const RESULT_SORT: &[Code] = &[Code::SortNotText, Code::SortNotList, Code::SortElement, Code::SortDirection];
const STAGE_SORT: &[Code] = &[Code::SortNotText, Code::SortElement, Code::SortDirection, Code::SortSeveralArrays];
/// What an aggregation can't do: it keeps too much, or takes or answers too much.
const WORK: &[Code] = &[Code::SortTooLarge, Code::PayloadTooLarge];

const fn item(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Items, Callers::Permitted, summary)
}

pub(crate) const ITEM_INSERT: Operation =
    item("itemInsert", "Inserts an item").takes("ItemInsertRequest").answers(ITEM).errors(INSERTS);

pub(crate) const ITEM_GET: Operation = item("itemGet", "Reads an item")
    .notes("An id may hold slashes. What can't stand in a path goes into `dataItemId`.")
    .query(&[COLLECTION_ID, ITEM_ID, ENVIRONMENT, FIELDS, INCLUDES, PACKED_GET])
    .answers(READ)
    .errors(&[ON_ITEMS, ID, MISSING, NAMES, COUNTS, LONG, HOOKS]);

pub(crate) const ITEM_GET_BY_QUERY: Operation =
    item("itemGetByQuery", "Reads an item whose id stands in the query alone")
        .query(&[COLLECTION_ID, ITEM_ID.required(), ENVIRONMENT, FIELDS, INCLUDES, PACKED_GET])
        .answers(READ)
        .errors(READS);

pub(crate) const ITEM_QUERY: Operation = item("itemQuery", "Finds items by a filter, in an order, by pages")
    .notes("Of the page that follows, the answer has the cursor. The language of filters: docs/semantics.md.")
    .takes("ItemQueryRequest")
    .answers(PAGE)
    .errors(&[ON_ITEMS, FILTER, PAGING, SORT, CURSORS, NAMES, HOOKS]);

pub(crate) const ITEM_QUERY_BY_GET: Operation =
    item("itemQueryByGet", "Finds items, asked in the query of the address")
        .notes(
            "What `itemQuery` takes, in dotted pairs or whole in `.r`; its answer can be kept by its tag. With \
             `dataItemId` it reads the item that is called `query`.",
        )
        .query(&[COLLECTION_ID, ITEM_ID, ENVIRONMENT, PACKED_QUERY])
        .answers(&[Answer::json("ItemQueryByGetResponse", "A page of items."), UNCHANGED])
        .errors(&[ON_ITEMS, FILTER, PAGING, SORT, CURSORS, NAMES, MISSING, LONG, HOOKS]);

pub(crate) const ITEM_COUNT: Operation = item("itemCount", "Counts the items that a filter finds")
    .takes("ItemCountRequest")
    .answers(&[Answer::json("ItemCountResponse", "How many there are.")])
    .errors(&[ON_ITEMS, FILTER, HOOKS]);

pub(crate) const ITEM_DISTINCT_QUERY: Operation =
    item("itemDistinctQuery", "Reads the values that a field has, each once")
        .takes("ItemDistinctQueryRequest")
        .answers(&[Answer::json("ItemDistinctQueryResponse", "A page of values.")])
        .errors(&[ON_ITEMS, FILTER, PAGING, &[Code::SortDirection, Code::FieldNotText], HOOKS]);

pub(crate) const ITEM_AGGREGATE: Operation =
    item("itemAggregate", "Groups items and counts, sums or compares their values")
        .notes(
            "Results leave in the order of their groups unless `sort` says otherwise. Arithmetic, and what is missing: \
         docs/semantics.md.",
        )
        .takes("ItemAggregateRequest")
        .answers(&[Answer::json("ItemAggregateResponse", "A page of groups.")])
        .errors(&[ON_ITEMS, FILTER, PAGING, RESULT_SORT, CURSORS, RESULTS_NAMED, WORK]);

pub(crate) const ITEM_PIPELINE: Operation = item("itemAggregatePipeline", "Passes items through stages")
    .notes(
        "Each stage takes the rows of the one before it: the first takes the items that the caller may read. \
         Arithmetic, and what is missing: docs/semantics.md.",
    )
    .takes("ItemPipelineRequest")
    .answers(&[Answer::json("ItemPipelineResponse", "A page of results.")])
    .errors(&[ON_ITEMS, FILTER, PAGING, STAGE_SORT, CURSORS, RESULTS_NAMED, WORK]);

pub(crate) const ITEM_SEARCH: Operation = item("itemSearch", "Finds items by words, the best first or in an order")
    .notes(
        "`word*` stands for all words that begin so, `word~` for those that are like it. The index is late by a moment \
         (`searchLagGet`). `search.highlight` and `returnSuggestions` are extensions of this server. What a word is, and \
         what makes an item the better one: docs/search.md.",
    )
    .takes("ItemSearchRequest")
    .answers(&[Answer::json("ItemSearchResponse", "A page of items.")])
    .errors(&[
        ON_ITEMS,
        FILTER,
        PAGING,
        SORT,
        CURSORS,
        NAMES,
        &[Code::FieldInvalid, Code::SearchOff, Code::SortTooLarge],
        HOOKS,
    ]);

pub(crate) const SEARCH_LAG_GET: Operation =
    Operation::new("searchLagGet", Subject::Search, Callers::Known, "Reads how late the index of words is")
        .notes("When `isCurrent` is true, a search finds all that was written before this call.")
        .query(&[ENVIRONMENT_OF_ALL])
        .answers(&[Answer::json("SearchLag", "How late it is."), UNCHANGED])
        .errors(&[&[Code::BadRequest, Code::OptionsInvalid, Code::PermissionDenied, Code::SandboxDisabled]]);

pub(crate) const ITEM_UPDATE: Operation =
    item("itemUpdate", "Replaces an item that is there").takes("ItemUpdateRequest").answers(ITEM).errors(CHANGES);

pub(crate) const ITEM_PUT: Operation = item("itemPut", "Replaces an item that is there, by its path")
    .notes("The id in `dataItem` says which; the one in the path is not looked at.")
    .takes("ItemUpdateRequest")
    .answers(ITEM)
    .errors(CHANGES);

pub(crate) const ITEM_SAVE: Operation = item("itemSave", "Inserts an item, or replaces the one that has its id")
    .takes("ItemSaveRequest")
    .answers(&[Answer::json("ItemSaveResponse", "The item as it is stored, and whether it is new.")])
    .errors(SAVES);

pub(crate) const ITEM_PATCH: Operation =
    item("itemPatch", "Changes fields of an item").takes("ItemPatchRequest").answers(ITEM).errors(PATCHES);

pub(crate) const ITEM_PATCH_BY_ID: Operation = item("itemPatchById", "Changes fields of the item in the path")
    .takes("ItemPatchRequest")
    .answers(ITEM)
    .errors(PATCHES);

pub(crate) const ITEM_REMOVE: Operation =
    item("itemRemove", "Removes an item").takes("ItemRemoveRequest").answers(REMOVED).errors(REMOVES);

pub(crate) const ITEM_DELETE: Operation = item("itemDelete", "Removes the item in the path")
    .query(&[COLLECTION_ID, ITEM_ID, ENVIRONMENT, PACKED_DELETE])
    .answers(REMOVED)
    .errors(REMOVES);

pub(crate) const ITEM_DRAFT_CREATE: Operation = item("itemDraftCreate", "Copies a published item into a draft")
    .notes(
        "Of a collection with the plugin DRAFT_ITEMS. The draft has the id of the item, in the collection of drafts.",
    )
    .takes("ItemDraftRequest")
    .answers(&[Answer::json("ItemResponse", "The draft.")])
    .errors(&[ON_ITEMS, ID, MISSING, &[Code::NotSupported, Code::AlreadyExists]]);

pub(crate) const ITEM_DRAFT_PUBLISH: Operation = item("itemDraftPublish", "Publishes a draft")
    .notes("It takes the place of the published item, if there is one, and is a draft no longer.")
    .takes("ItemDraftRequest")
    .answers(&[Answer::json("ItemResponse", "The published item.")])
    .errors(&[ON_ITEMS, ID, MISSING, DRAFT_VALUES]);

/// What is wrong with a draft that is published, or there is none.
const DRAFT_VALUES: &[Code] = &[Code::NotSupported, Code::NotFound, Code::RequestInvalid, Code::UniqueConflict];

pub(crate) const ITEM_UNPUBLISH: Operation = item("itemUnpublish", "Takes a published item back")
    .notes("It becomes a draft, in the place of the one that is there; without `copyToDraft` it is gone.")
    .takes("ItemUnpublishRequest")
    .answers(&[Answer::json("ItemRemoveResponse", "The draft, if there is one.")])
    .errors(&[ON_ITEMS, ID, MISSING, &[Code::NotSupported]]);

pub(crate) const ITEM_TRUNCATE: Operation = item("itemTruncate", "Removes all items of a collection")
    .notes("They are gone when the call answers; their space is given back in pieces afterwards.")
    .takes("ItemTruncateRequest")
    .answers(super::DONE)
    .errors(&[ON_ITEMS, &[Code::NotSupported]]);

pub(crate) const ITEM_BULK_INSERT: Operation = item("itemBulkInsert", "Inserts many items")
    .notes("What is wrong with one item stands in its result.")
    .takes("ItemBulkInsertRequest")
    .answers(RESULTS)
    .errors(&[ON_ITEMS, MANY]);

pub(crate) const ITEM_BULK_UPDATE: Operation = item("itemBulkUpdate", "Replaces many items")
    .takes("ItemBulkUpdateRequest")
    .answers(RESULTS)
    .errors(&[ON_ITEMS, MANY, FILTER]);

pub(crate) const ITEM_BULK_SAVE: Operation = item("itemBulkSave", "Inserts or replaces many items")
    .takes("ItemBulkSaveRequest")
    .answers(RESULTS)
    .errors(&[ON_ITEMS, MANY]);

pub(crate) const ITEM_BULK_PATCH: Operation = item("itemBulkPatch", "Changes fields of many items")
    .takes("ItemBulkPatchRequest")
    .answers(RESULTS)
    .errors(&[ON_ITEMS, &[Code::TooManyItems], FILTER]);

pub(crate) const ITEM_BULK_REMOVE: Operation = item("itemBulkRemove", "Removes many items")
    .takes("ItemBulkRemoveRequest")
    .answers(RESULTS)
    .errors(&[ON_ITEMS, MANY_IDS, FILTER]);

pub(crate) const ITEM_PATCH_BY_FILTER: Operation = item(
    "itemPatchByFilter",
    "Changes fields of all items that a filter finds, in the background",
)
.notes(
    "Those among them that the caller may read and change at that moment. The answer has the id of a job, which \
             fails when the caller is no longer let in. Encrypted fields and calculated page links are refused.",
)
.takes("ItemPatchByFilterRequest")
.answers(BEGUN)
.errors(&[ON_ITEMS, FILTER, PATCH_BY_FILTER]);

pub(crate) const ITEM_REMOVE_BY_FILTER: Operation = item(
    "itemRemoveByFilter",
    "Removes all items that a filter finds, in the background",
)
.notes(
    "Those among them that the caller may read and remove at that moment. The answer has the id of a job, which \
             fails when the caller is no longer let in. A filter that holds always is for those who may truncate.",
)
.takes("ItemRemoveByFilterRequest")
.answers(BEGUN)
.errors(&[ON_ITEMS, FILTER]);

pub(crate) const ASYNC_JOB_STATUS_GET: Operation =
    Operation::new("asyncJobStatusGet", Subject::AsyncJobs, Callers::Known, "Reads how a job stands")
        .notes("For who asked for the job, and for those who run the site.")
        .query(&[JOB_ID, super::PACKED])
        .answers(&[
            Answer::json("AsyncJobStatusResponse", "How it stands, and how many items were changed."),
            UNCHANGED,
        ])
        .errors(&[&[Code::BadRequest, Code::NameEmpty, Code::NotFound]]);
