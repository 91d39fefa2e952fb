//! Custom fields of members, and to whom they apply.

use super::{DONE, FILTERED, INVALID, NOT_FOUND, PACKED, PAGED, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const FIELD: &[Answer] = &[Answer::json("CustomFieldResponse", "The field.")];
const SUGGESTIONS: &[Answer] = &[Answer::json("CustomFieldSuggestionsResponse", "A page of suggestions.")];
const APPLICATION: &[Answer] = &[Answer::json("FieldApplicationResponse", "To whom the field applies.")];
const APPLIED: &[Answer] = &[Answer::json("AppliedFieldsResponse", "For each, which fields apply.")];
const CHANGES: &[&[Code]] = &[NOT_FOUND, &[Code::RevisionOld]];

const fn field(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::CustomFields, callers, summary)
}

pub(crate) const CUSTOM_FIELD_LIST: Operation = field("customFieldList", Callers::Known, "Lists fields by pages")
    .query(PAGED)
    .answers(&[Answer::json("CustomFieldListResponse", "A page of fields.")])
    .errors(&[INVALID]);

pub(crate) const CUSTOM_FIELD_CREATE: Operation = field("customFieldCreate", Callers::Owners, "Makes a field")
    .takes("CustomFieldCreateRequest")
    .answers(FIELD)
    .errors(&[REFUSED, &[Code::TooMany]]);

pub(crate) const CUSTOM_FIELD_ORDER_UPDATE: Operation =
    field("customFieldOrderUpdate", Callers::Owners, "Puts fields first, in this order")
        .takes("CustomFieldOrderUpdateRequest")
        .answers(&[Answer::json("CustomFieldOrderUpdateResponse", "All fields in their order.")])
        .errors(&[NOT_FOUND, &[Code::TooMany]]);

pub(crate) const CUSTOM_FIELD_GET: Operation =
    field("customFieldGet", Callers::Known, "Reads a field").answers(FIELD).errors(&[INVALID, &[Code::NotFound]]);

pub(crate) const CUSTOM_FIELD_UPDATE: Operation = field("customFieldUpdate", Callers::Owners, "Changes a field")
    .takes("CustomFieldUpdateRequest")
    .answers(FIELD)
    .errors(CHANGES);

pub(crate) const CUSTOM_FIELD_DELETE: Operation = field("customFieldDelete", Callers::Owners, "Deletes a field")
    .query(&[Parameter::text("revision", "The revision that is deleted."), PACKED])
    .answers(DONE)
    .errors(CHANGES);

pub(crate) const CUSTOM_FIELD_HIDE: Operation = field("customFieldHide", Callers::Owners, "Hides a field")
    .may_take("CustomFieldHideRequest")
    .answers(DONE)
    .errors(CHANGES);

pub(crate) const CUSTOM_FIELD_SUGGESTION_LIST: Operation =
    field("customFieldSuggestionList", Callers::Editors, "Lists fields that sites usually have and this one doesn't")
        .query(PAGED)
        .answers(SUGGESTIONS)
        .errors(&[REFUSED, FILTERED]);

pub(crate) const CUSTOM_FIELD_SUGGESTION_QUERY: Operation =
    field("customFieldSuggestionQuery", Callers::Editors, "Finds fields that sites usually have and this one doesn't")
        .takes("CustomFieldSuggestionQueryRequest")
        .answers(SUGGESTIONS)
        .errors(&[REFUSED, FILTERED]);

pub(crate) const FIELD_APPLICATION_CREATE: Operation =
    field("fieldApplicationCreate", Callers::Owners, "Says to whom a field applies")
        .takes("FieldApplicationCreateRequest")
        .answers(APPLICATION)
        .errors(&[NOT_FOUND, &[Code::AlreadyExists, Code::TooMany]]);

pub(crate) const FIELD_APPLICATION_LIST: Operation =
    field("fieldApplicationList", Callers::Editors, "Reads to whom fields apply")
        .takes("FieldApplicationListRequest")
        .answers(&[Answer::json("FieldApplicationListResponse", "For each field.")])
        .errors(&[REFUSED]);

pub(crate) const FIELD_APPLICATION_LIST_OF_MEMBERS: Operation =
    field("fieldApplicationListOfMembers", Callers::Editors, "Reads which fields apply to members")
        .takes("MemberIdsRequest")
        .answers(APPLIED)
        .errors(&[REFUSED]);

pub(crate) const FIELD_APPLICATION_LIST_OF_ROLES: Operation =
    field("fieldApplicationListOfRoles", Callers::Editors, "Reads which fields apply to roles")
        .takes("FieldApplicationListOfRolesRequest")
        .answers(APPLIED)
        .errors(&[REFUSED]);

pub(crate) const FIELD_APPLICATION_GET: Operation =
    field("fieldApplicationGet", Callers::Editors, "Reads to whom a field applies")
        .answers(APPLICATION)
        .errors(&[NOT_FOUND]);

pub(crate) const FIELD_APPLICATION_UPDATE: Operation =
    field("fieldApplicationUpdate", Callers::Owners, "Changes to whom a field applies")
        .takes("FieldApplicationUpdateRequest")
        .answers(APPLICATION)
        .errors(CHANGES);

pub(crate) const FIELD_APPLICATION_DELETE: Operation =
    field("fieldApplicationDelete", Callers::Owners, "Lets a field apply to all again")
        .answers(DONE)
        .errors(&[NOT_FOUND]);
