//! Roles of members.

use super::{DONE, FILTERED, INVALID, NOT_FOUND, PACKED, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const ROLE: &[Answer] = &[Answer::json("RoleResponse", "The role.")];

const fn role(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Roles, callers, summary)
}

pub(crate) const ROLE_LIST: Operation = role("roleList", Callers::Known, "Lists the roles of the site")
    .answers(&[Answer::json("RoleListResponse", "The roles.")])
    .errors(&[INVALID]);

pub(crate) const ROLE_CREATE: Operation = role("roleCreate", Callers::Owners, "Makes a role")
    .takes("RoleCreateRequest")
    .answers(ROLE)
    .errors(&[REFUSED, &[Code::AlreadyExists, Code::TooMany]]);

pub(crate) const ROLE_GET: Operation =
    role("roleGet", Callers::Known, "Reads a role").answers(ROLE).errors(&[INVALID, &[Code::NotFound]]);

pub(crate) const ROLE_UPDATE: Operation = role("roleUpdate", Callers::Owners, "Changes a role")
    .takes("RoleUpdateRequest")
    .answers(ROLE)
    .errors(&[NOT_FOUND, &[Code::RevisionOld]]);

pub(crate) const ROLE_DELETE: Operation =
    role("roleDelete", Callers::Owners, "Deletes a role, which its members lose").answers(DONE).errors(&[NOT_FOUND]);

pub(crate) const MEMBER_ROLE_QUERY: Operation =
    role("memberRoleQuery", Callers::Editors, "Reads the roles of many members")
        .takes("MemberRoleQueryRequest")
        .answers(&[Answer::json("MemberRoleQueryResponse", "Roles by the ids of members.")])
        .errors(&[REFUSED, FILTERED]);

pub(crate) const MEMBER_ROLE_LIST: Operation = role("memberRoleList", Callers::Members, "Lists the roles of a member")
    .answers(&[Answer::json("MemberRoleListResponse", "The roles.")])
    .errors(&[NOT_FOUND]);

const ROLE_CHANGED: &[Answer] = &[Answer::json("MemberRoleChangeResponse", "The role.")];

pub(crate) const MEMBER_ROLE_ASSIGN: Operation = role("memberRoleAssign", Callers::Owners, "Gives a member a role")
    .takes("MemberRoleAssignRequest")
    .answers(ROLE_CHANGED)
    .errors(&[NOT_FOUND]);

pub(crate) const MEMBER_ROLE_UNASSIGN: Operation =
    role("memberRoleUnassign", Callers::Owners, "Takes a role from a member")
        .query(&[Parameter::text("roleKey", "The role."), PACKED])
        .answers(ROLE_CHANGED)
        .errors(&[INVALID, &[Code::Forbidden, Code::NotFound]]);
