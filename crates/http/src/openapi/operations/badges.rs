//! Badges in both of their versions, and who has them.

use super::{CURSORS, DONE, EACH, FILTERED, INVALID, LIMIT, NOT_FOUND, OFFSET, PACKED, PAGED_BY_CURSOR, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const BADGE: &[Answer] = &[Answer::json("BadgeResponse", "The badge.")];
const BADGES: &[Answer] = &[Answer::json("BadgeQueryResponse", "A page of badges.")];
const ORDERED: &[Answer] = &[Answer::json("BadgeListResponse", "All badges in their order.")];
const MAKES: &[&[Code]] = &[REFUSED, &[Code::TooMany]];
const READS: &[&[Code]] = &[INVALID, &[Code::NotFound]];
const CHANGES: &[&[Code]] = &[NOT_FOUND, &[Code::RevisionOld]];
const ORDERS: &[&[Code]] = &[NOT_FOUND, &[Code::TooMany]];

const fn badge(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Badges, callers, summary)
}

pub(crate) const BADGE_LIST_V3: Operation = badge("badgeListV3", Callers::Known, "Lists badges by pages")
    .query(&[
        Parameter::text("filter.id", "Those of this id."),
        Parameter::text("filter.title", "Those of this title."),
        LIMIT,
        OFFSET,
        PACKED,
    ])
    .answers(BADGES)
    .errors(&[INVALID, FILTERED, CURSORS]);

pub(crate) const BADGE_CREATE_V3: Operation =
    badge("badgeCreateV3", Callers::Owners, "Makes a badge").takes("BadgeCreateRequest").answers(BADGE).errors(MAKES);

pub(crate) const BADGE_ORDER_UPDATE_V3: Operation =
    badge("badgeOrderUpdateV3", Callers::Owners, "Puts badges first, in this order")
        .takes("BadgeOrderUpdateV3Request")
        .answers(ORDERED)
        .errors(ORDERS);

pub(crate) const MEMBER_BADGE_LIST_V3: Operation =
    badge("memberBadgeListV3", Callers::Members, "Reads which badges members have")
        .takes("MemberIdsRequest")
        .answers(&[Answer::json("MemberBadgeListResponse", "The ids of badges by member.")])
        .errors(&[REFUSED]);

pub(crate) const BADGE_MEMBER_COUNT_V3: Operation =
    badge("badgeMemberCountV3", Callers::Members, "Counts the members that have each badge")
        .query(&[PACKED])
        .answers(&[Answer::json("BadgeMemberCountResponse", "Counts by badge.")])
        .errors(&[REFUSED]);

pub(crate) const BADGE_GET_V3: Operation =
    badge("badgeGetV3", Callers::Known, "Reads a badge").answers(BADGE).errors(READS);

pub(crate) const BADGE_UPDATE_V3: Operation = badge("badgeUpdateV3", Callers::Owners, "Changes a badge")
    .takes("BadgeUpdateRequest")
    .answers(BADGE)
    .errors(CHANGES);

pub(crate) const BADGE_DELETE_V3: Operation =
    badge("badgeDeleteV3", Callers::Owners, "Deletes a badge, which its members lose")
        .answers(DONE)
        .errors(&[NOT_FOUND]);

pub(crate) const BADGE_MEMBER_LIST_V3: Operation =
    badge("badgeMemberListV3", Callers::Members, "Lists the members that have a badge")
        .query(PAGED_BY_CURSOR)
        .answers(&[Answer::json("BadgeMemberListResponse", "A page of ids of members.")])
        .errors(&[NOT_FOUND, CURSORS]);

pub(crate) const BADGE_ASSIGN_V3: Operation = badge("badgeAssignV3", Callers::Owners, "Gives members a badge")
    .takes("MemberIdsRequest")
    .answers(&[Answer::json("BadgeMembersResponse", "The members that have it now, of those that were named.")])
    .errors(&[NOT_FOUND]);

pub(crate) const BADGE_UNASSIGN_V3: Operation = badge("badgeUnassignV3", Callers::Owners, "Takes a badge from members")
    .query(&[Parameter::texts("memberIds", "The members."), PACKED])
    .answers(DONE)
    .errors(&[NOT_FOUND]);

pub(crate) const BADGE_CREATE: Operation =
    badge("badgeCreate", Callers::Owners, "Makes a badge").takes("BadgeCreateRequest").answers(BADGE).errors(MAKES);

pub(crate) const BADGE_QUERY: Operation = badge("badgeQuery", Callers::Known, "Finds badges by a filter")
    .takes("BadgeQueryRequest")
    .answers(BADGES)
    .errors(&[INVALID, FILTERED, CURSORS]);

pub(crate) const BADGE_ORDER_UPDATE: Operation =
    badge("badgeOrderUpdate", Callers::Owners, "Puts badges first, in this order")
        .takes("BadgeOrderUpdateRequest")
        .answers(ORDERED)
        .errors(ORDERS);

pub(crate) const BADGE_GET: Operation = badge("badgeGet", Callers::Known, "Reads a badge").answers(BADGE).errors(READS);

pub(crate) const BADGE_UPDATE: Operation =
    badge("badgeUpdate", Callers::Owners, "Changes a badge").takes("BadgeUpdateRequest").answers(BADGE).errors(CHANGES);

pub(crate) const BADGE_DELETE: Operation =
    badge("badgeDelete", Callers::Owners, "Deletes a badge, which its members lose").answers(DONE).errors(&[NOT_FOUND]);

pub(crate) const BADGE_MOVE: Operation = badge("badgeMove", Callers::Owners, "Moves a badge within the order")
    .takes("BadgeMoveRequest")
    .answers(DONE)
    .errors(&[NOT_FOUND]);

pub(crate) const BADGE_ASSIGNMENT_CREATE: Operation =
    badge("badgeAssignmentCreate", Callers::Owners, "Gives a member a badge")
        .takes("BadgeAssignmentCreateRequest")
        .answers(&[Answer::json("BadgeAssignmentResponse", "The assignment.")])
        .errors(&[NOT_FOUND, &[Code::AlreadyExists]]);

pub(crate) const BADGE_ASSIGNMENT_QUERY: Operation =
    badge("badgeAssignmentQuery", Callers::Members, "Finds assignments by member and badge")
        .takes("BadgeAssignmentQueryRequest")
        .answers(&[Answer::json("BadgeAssignmentQueryResponse", "A page of assignments.")])
        .errors(&[REFUSED, FILTERED, CURSORS]);

pub(crate) const BADGE_ASSIGNMENT_DELETE: Operation =
    badge("badgeAssignmentDelete", Callers::Owners, "Takes a badge from a member").answers(DONE).errors(&[NOT_FOUND]);

pub(crate) const BADGE_ASSIGNMENT_BULK_CREATE: Operation =
    badge("badgeAssignmentBulkCreate", Callers::Owners, "Gives many members badges")
        .takes("BadgeAssignmentBulkCreateRequest")
        .answers(EACH)
        .errors(&[REFUSED]);

pub(crate) const BADGE_ASSIGNMENT_BULK_DELETE: Operation =
    badge("badgeAssignmentBulkDelete", Callers::Owners, "Takes many badges away")
        .takes("BadgeAssignmentBulkDeleteRequest")
        .answers(EACH)
        .errors(&[REFUSED]);

pub(crate) const BADGE_ASSIGNMENT_BULK_TAG: Operation =
    badge("badgeAssignmentBulkTag", Callers::Owners, "Tags assignments")
        .takes("BadgeAssignmentBulkTagRequest")
        .answers(EACH)
        .errors(&[REFUSED]);

pub(crate) const BADGE_ASSIGNMENT_BULK_TAG_BY_FILTER: Operation =
    badge("badgeAssignmentBulkTagByFilter", Callers::Owners, "Tags the assignments that a filter finds")
        .takes("BadgeAssignmentBulkTagByFilterRequest")
        .answers(&[Answer::json("JobResponse", "It is done when the answer comes.")])
        .errors(&[REFUSED, FILTERED]);
