//! Collections: `/v2/collections…`.

use super::{DONE, IN_COLLECTION, PACKED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const ID: Parameter = Parameter::text("dataCollectionId", "The id, where it can't stand in the path.");
const FIELDS: Parameter = Parameter::texts("fields", "Members of the answer that are wanted; all without.");

const COLLECTION: &[Answer] = &[Answer::json("CollectionResponse", "The collection.")];
const CHANGED: &[Answer] = &[Answer::json("DataCollectionResponse", "The collection as it is now.")];
/// What is wrong with a definition, or a field of it.
const DEFINITION: &[Code] =
    &[Code::RequestInvalid, Code::FieldInvalid, Code::FieldNameDollar, Code::UniqueConflict, Code::NotSupported];
/// A field of that name was deleted a moment ago, and its values are still being removed.
const RETURNS: &[Code] = &[Code::FieldDeleted];
const INVALID: &[Code] = &[Code::RequestInvalid];
const NOT_SUPPORTED: &[Code] = &[Code::NotSupported];
/// The id of the collection of drafts is taken.
const PAIR: &[Code] = &[Code::CollectionExists];
/// A draft that is to be published with the others has a value that another item has.
const PUBLISHED: &[Code] = &[Code::UniqueConflict];

const fn collection(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Collections, callers, summary)
}

const fn change(id: &'static str, summary: &'static str) -> Operation {
    collection(id, Callers::Permitted, summary).answers(CHANGED)
}

pub(crate) const COLLECTION_CREATE: Operation =
    collection("collectionCreate", Callers::Permitted, "Makes a collection")
        .takes("CollectionCreateRequest")
        .answers(COLLECTION)
        .errors(&[&[Code::BadRequest, Code::PermissionDenied], DEFINITION, &[Code::CollectionExists]]);

pub(crate) const COLLECTION_LIST: Operation =
    collection("collectionList", Callers::Known, "Lists the collections that the caller may know of")
        .notes("Those who don't manage collections get a reduced form of each.")
        .query(&[
            Parameter::number("paging.limit", "As many on a page, at most 1000."),
            Parameter::number("paging.offset", "As many are left out before."),
            Parameter::one_of(
                "sort.fieldName",
                &["id", "_id", "displayName", "createdDate", "_createdDate", "updatedDate", "_updatedDate"],
                "By what they are sorted.",
            ),
            Parameter::one_of("sort.order", &["ASC", "DESC"], "In which direction."),
            FIELDS,
            PACKED,
        ])
        .answers(&[Answer::json("CollectionListResponse", "A page of collections."), super::UNCHANGED])
        .errors(&[&[Code::BadRequest, Code::PagingInvalid]]);

pub(crate) const COLLECTION_GET: Operation = collection("collectionGet", Callers::Known, "Reads a collection")
    .query(&[ID, FIELDS, Parameter::flag("includeAllowedDataPermissions", "Adds what the caller may do."), PACKED])
    .answers(&[Answer::json("CollectionResponse", "The collection."), super::UNCHANGED])
    .errors(&[&[Code::BadRequest, Code::CollectionNotText, Code::CollectionNotFound]]);

pub(crate) const COLLECTION_UPDATE: Operation =
    collection("collectionUpdate", Callers::Permitted, "Replaces what a collection is")
        .notes("Fields that are left out are deleted. The revision must be the current one.")
        .takes("CollectionUpdateRequest")
        .answers(COLLECTION)
        .errors(&[
            &[Code::BadRequest, Code::CollectionNotFound, Code::PermissionDenied],
            DEFINITION,
            RETURNS,
            &[Code::RevisionWrong],
            PAIR,
        ]);

pub(crate) const COLLECTION_PATCH: Operation = change("collectionPatch", "Changes members of a collection, or a field")
    .notes("A path that ends in `/patch-field` changes one field: it takes `dataCollectionId` and `field`.")
    .takes("CollectionPatchRequest")
    .errors(&[IN_COLLECTION, DEFINITION, RETURNS, &[Code::RevisionWrong], PAIR]);

pub(crate) const COLLECTION_DELETE: Operation =
    collection("collectionDelete", Callers::Permitted, "Deletes a collection with its items")
        .notes("It can be restored until its items are purged.")
        .query(&[ID, PACKED])
        .answers(DONE)
        .errors(&[IN_COLLECTION]);

pub(crate) const COLLECTION_RESTORE: Operation = change("collectionRestore", "Restores a collection that was deleted")
    .may_take("CollectionRestoreRequest")
    .errors(&[IN_COLLECTION, &[Code::CollectionExists]]);

pub(crate) const FIELD_CREATE: Operation =
    change("fieldCreate", "Adds a field").takes("FieldCreateRequest").errors(&[IN_COLLECTION, DEFINITION, RETURNS]);
pub(crate) const FIELD_UPDATE: Operation = change("fieldUpdate", "Replaces a field")
    .takes("FieldUpdateRequest")
    .errors(&[IN_COLLECTION, INVALID, &[Code::FieldInvalid, Code::UniqueConflict], NOT_SUPPORTED]);
pub(crate) const FIELD_DELETE: Operation = change("fieldDelete", "Deletes a field with its values")
    .takes("FieldDeleteRequest")
    .errors(&[IN_COLLECTION, INVALID, &[Code::FieldInvalid]]);

pub(crate) const PLUGIN_ADD: Operation = change("pluginAdd", "Adds a plugin")
    .notes("With DRAFT_ITEMS comes a collection for the drafts.")
    .takes("PluginAddRequest")
    .errors(&[IN_COLLECTION, INVALID, NOT_SUPPORTED, PAIR]);
pub(crate) const PLUGIN_DELETE: Operation = change("pluginDelete", "Takes a plugin away")
    .takes("PluginDeleteRequest")
    .errors(&[IN_COLLECTION, INVALID, NOT_SUPPORTED, PUBLISHED]);

const fn add(id: &'static str, summary: &'static str, request: &'static str) -> Operation {
    change(id, summary).takes(request).errors(&[IN_COLLECTION, INVALID])
}

const fn remove(id: &'static str, summary: &'static str) -> Operation {
    change(id, summary).takes("TypedPluginDeleteRequest").errors(&[IN_COLLECTION])
}

pub(crate) const PUBLISH_PLUGIN_ADD: Operation = change("publishPluginAdd", "Adds the plugin PUBLISH")
    .takes("PublishPluginAddRequest")
    .errors(&[IN_COLLECTION, INVALID, NOT_SUPPORTED, PUBLISHED]);
pub(crate) const PUBLISH_PLUGIN_DELETE: Operation = remove("publishPluginDelete", "Takes the plugin PUBLISH away");
pub(crate) const URLIZED_PLUGIN_ADD: Operation =
    add("urlizedPluginAdd", "Adds the plugin URLIZED", "UrlizedPluginAddRequest");
pub(crate) const URLIZED_PLUGIN_DELETE: Operation = remove("urlizedPluginDelete", "Takes the plugin URLIZED away");
pub(crate) const MULTILINGUAL_PLUGIN_ADD: Operation = change("multilingualPluginAdd", "Adds the plugin MULTILINGUAL")
    .takes("MultilingualPluginAddRequest")
    .errors(&[IN_COLLECTION, INVALID, NOT_SUPPORTED]);
pub(crate) const MULTILINGUAL_PLUGIN_DELETE: Operation =
    remove("multilingualPluginDelete", "Takes the plugin MULTILINGUAL away");
pub(crate) const CMS_PLUGIN_ADD: Operation = add("cmsPluginAdd", "Adds the plugin CMS", "CmsPluginAddRequest");
pub(crate) const CMS_PLUGIN_DELETE: Operation = remove("cmsPluginDelete", "Takes the plugin CMS away");
pub(crate) const CATALOG_PLUGIN_ADD: Operation =
    add("catalogPluginAdd", "Adds the plugin CATALOG", "CatalogPluginAddRequest");
pub(crate) const CATALOG_PLUGIN_DELETE: Operation = remove("catalogPluginDelete", "Takes the plugin CATALOG away");
pub(crate) const DRAFT_ITEMS_PLUGIN_ADD: Operation =
    change("draftItemsPluginAdd", "Adds the plugin DRAFT_ITEMS, with a collection of drafts")
        .takes("DraftItemsPluginAddRequest")
        .errors(&[IN_COLLECTION, INVALID, NOT_SUPPORTED, PAIR]);
pub(crate) const DRAFT_ITEMS_PLUGIN_DELETE: Operation =
    change("draftItemsPluginDelete", "Takes the plugin DRAFT_ITEMS away, and the collection of drafts with it")
        .takes("TypedPluginDeleteRequest")
        .errors(&[IN_COLLECTION, INVALID, NOT_SUPPORTED, PUBLISHED]);
