//! Permissions: `/v1/permissions…`.

use super::{DONE, IN_COLLECTION, PACKED, UNCHANGED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const COLLECTION_ID: Parameter = Parameter::text("dataCollectionId", "The collection.").required();
const SPECIAL: &[Answer] = &[Answer::json("SpecialPermissionResponse", "The special permissions as they are now.")];

const NAMED: &[&[Code]] = &[&[Code::BadRequest, Code::PermissionDenied, Code::RequestInvalid, Code::NotFound]];

const fn permission(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Permissions, Callers::Permitted, summary)
}

pub(crate) const PERMISSIONS_GET: Operation = permission("permissionsGet", "Reads who may do what with a collection")
    .query(&[COLLECTION_ID, PACKED])
    .answers(&[Answer::json("PermissionsResponse", "Its levels and special permissions."), UNCHANGED])
    .errors(&[IN_COLLECTION]);

pub(crate) const PERMISSIONS_UPDATE: Operation = permission("permissionsUpdate", "Sets levels of a collection")
    .notes("Levels that are not sent stay. No one gives what they don't have.")
    .takes("PermissionsUpdateRequest")
    .answers(&[Answer::json("PermissionsResponse", "Its levels and special permissions.")])
    .errors(&[&[Code::BadRequest, Code::CollectionNotFound, Code::PermissionDenied, Code::RequestInvalid]]);

pub(crate) const PERMISSIONS_GET_MY: Operation =
    Operation::new("permissionsGetMy", Subject::Permissions, Callers::Known, "Tells what the caller may do")
        .query(&[COLLECTION_ID, PACKED])
        .answers(&[Answer::json("AllowedPermissions", "Each as true or false."), UNCHANGED])
        .errors(&[&[Code::BadRequest, Code::CollectionNotText, Code::CollectionNotFound]]);

pub(crate) const SPECIAL_PERMISSION_CREATE: Operation =
    permission("specialPermissionCreate", "Gives a user or a role rights of their own")
        .takes("SpecialPermissionCreateRequest")
        .answers(SPECIAL)
        .errors(&[IN_COLLECTION, &[Code::RequestInvalid, Code::AlreadyExists]]);

pub(crate) const SPECIAL_PERMISSION_UPDATE: Operation =
    permission("specialPermissionUpdate", "Changes special permissions")
        .takes("SpecialPermissionUpdateRequest")
        .answers(SPECIAL)
        .errors(NAMED);

pub(crate) const SPECIAL_PERMISSION_DELETE: Operation =
    permission("specialPermissionDelete", "Takes special permissions back")
        .query(&[Parameter::text("specialPermissionsId", "The id, where it can't stand in the path."), PACKED])
        .answers(DONE)
        .errors(NAMED);
