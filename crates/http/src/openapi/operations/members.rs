//! The members of a site.

use super::{CURSOR, CURSOR_LIMIT, CURSORS, DONE, FILTERED, INVALID, LIMIT, NOT_FOUND, OFFSET, PACKED, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const FIELDSETS: Parameter = Parameter::some_of(
    "fieldsets",
    &["PUBLIC", "EXTENDED", "FULL"],
    "How much of a member is wanted. No one gets more than they may see.",
);
const MEMBER: &[Answer] = &[Answer::json("MemberResponse", "The member.")];
const PAGE: &[Answer] = &[Answer::json("MemberQueryResponse", "A page of members.")];
const JOB: &[Answer] = &[Answer::json("JobResponse", "It is done when the answer comes.")];
const PROFILE: &[Code] = &[Code::SlugTaken, Code::CommunityClosed];

const SEEN: &str = "Others than those who run the site see who shows themselves, and of them the public part. Visitors \
    are let in where the site's settings say so.";

const fn member(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Members, callers, summary)
}

/// What one decides about a member, who is answered.
const fn decision(id: &'static str, summary: &'static str) -> Operation {
    member(id, Callers::Owners, summary).may_take("Empty").answers(MEMBER).errors(&[NOT_FOUND])
}

pub(crate) const MEMBER_LIST: Operation = member("memberList", Callers::Members, "Lists members by pages")
    .notes(SEEN)
    .query(&[FIELDSETS, LIMIT, OFFSET, CURSOR_LIMIT, CURSOR, PACKED])
    .answers(PAGE)
    .errors(&[REFUSED, CURSORS, &[Code::PagingInvalid, Code::NotSupported]]);

pub(crate) const MEMBER_QUERY: Operation = member("memberQuery", Callers::Members, "Finds members by a filter")
    .notes(SEEN)
    .takes("MemberQueryRequest")
    .answers(PAGE)
    .errors(&[REFUSED, FILTERED, CURSORS, &[Code::PagingInvalid]]);

pub(crate) const MEMBER_CREATE: Operation = member("memberCreate", Callers::Owners, "Makes an account")
    .takes("MemberCreateRequest")
    .answers(MEMBER)
    .errors(&[REFUSED, PROFILE, &[Code::EmailTaken]]);

pub(crate) const MEMBER_GET: Operation = member("memberGet", Callers::Known, "Reads a member")
    .query(&[FIELDSETS, PACKED])
    .answers(MEMBER)
    .errors(&[INVALID, &[Code::NotFound, Code::BlockedByMember]]);

pub(crate) const MEMBER_GET_MY: Operation = member("memberGetMy", Callers::Known, "Reads the calling member")
    .notes("Others than members are told that there is none.")
    .query(&[FIELDSETS, PACKED])
    .answers(MEMBER)
    .errors(&[INVALID, &[Code::NotFound]]);

pub(crate) const MEMBER_UPDATE: Operation = member("memberUpdate", Callers::Members, "Changes a member")
    .notes("Members of the object that are not sent stay.")
    .takes("MemberUpdateRequest")
    .answers(MEMBER)
    .errors(&[NOT_FOUND, PROFILE]);

pub(crate) const MEMBER_DELETE: Operation =
    member("memberDelete", Callers::Members, "Deletes a member").answers(DONE).errors(&[NOT_FOUND]);

pub(crate) const MEMBER_DELETE_MY: Operation = member("memberDeleteMy", Callers::Members, "Deletes the calling member")
    .answers(DONE)
    .errors(&[NOT_FOUND, &[Code::NotSupported]]);

pub(crate) const MEMBER_SLUG_UPDATE: Operation =
    member("memberSlugUpdate", Callers::Members, "Changes a member's slug")
        .takes("MemberSlugUpdateRequest")
        .answers(MEMBER)
        .errors(&[NOT_FOUND, &[Code::SlugTaken]]);

pub(crate) const MEMBER_SLUG_UPDATE_MY: Operation =
    member("memberSlugUpdateMy", Callers::Members, "Changes the calling member's slug")
        .takes("MemberSlugUpdateRequest")
        .answers(MEMBER)
        .errors(&[NOT_FOUND, &[Code::SlugTaken]]);

pub(crate) const COMMUNITY_JOIN: Operation =
    member("communityJoin", Callers::Members, "Shows the calling member to others")
        .may_take("Empty")
        .answers(MEMBER)
        .errors(&[NOT_FOUND, &[Code::CommunityClosed]]);

pub(crate) const COMMUNITY_LEAVE: Operation =
    member("communityLeave", Callers::Members, "Hides the calling member from others")
        .may_take("Empty")
        .answers(MEMBER)
        .errors(&[NOT_FOUND]);

pub(crate) const MEMBER_BULK_DELETE: Operation = member("memberBulkDelete", Callers::Members, "Deletes many members")
    .notes("Who may not delete one of them deletes none.")
    .takes("MemberBulkDeleteRequest")
    .answers(super::EACH)
    .errors(&[REFUSED]);

pub(crate) const MEMBER_BULK_DELETE_BY_FILTER: Operation =
    member("memberBulkDeleteByFilter", Callers::Owners, "Deletes the members that a filter finds")
        .takes("MemberFilterRequest")
        .answers(JOB)
        .errors(&[REFUSED, FILTERED]);

pub(crate) const MEMBER_BULK_APPROVE_BY_FILTER: Operation =
    member("memberBulkApproveByFilter", Callers::Owners, "Lets the members in that a filter finds")
        .takes("MemberFilterRequest")
        .answers(JOB)
        .errors(&[REFUSED, FILTERED]);

pub(crate) const MEMBER_BULK_BLOCK_BY_FILTER: Operation =
    member("memberBulkBlockByFilter", Callers::Owners, "Blocks the members that a filter finds")
        .takes("MemberFilterRequest")
        .answers(JOB)
        .errors(&[REFUSED, FILTERED]);

pub(crate) const MEMBER_APPROVE: Operation = decision("memberApprove", "Lets a member in");
pub(crate) const MEMBER_BLOCK: Operation = decision("memberBlock", "Blocks a member, whose sessions end");
pub(crate) const MEMBER_DISCONNECT: Operation = decision("memberDisconnect", "Puts a member outside the site");
pub(crate) const MEMBER_MUTE: Operation = decision("memberMute", "Mutes a member");
pub(crate) const MEMBER_UNMUTE: Operation = decision("memberUnmute", "Unmutes a member");

pub(crate) const MEMBER_PHONES_DELETE: Operation =
    member("memberPhonesDelete", Callers::Members, "Deletes a member's phone numbers")
        .answers(MEMBER)
        .errors(&[NOT_FOUND]);

pub(crate) const MEMBER_EMAILS_DELETE: Operation =
    member("memberEmailsDelete", Callers::Members, "Deletes a member's other addresses")
        .answers(MEMBER)
        .errors(&[NOT_FOUND]);

pub(crate) const MEMBER_ADDRESSES_DELETE: Operation =
    member("memberAddressesDelete", Callers::Members, "Deletes a member's postal addresses")
        .answers(MEMBER)
        .errors(&[NOT_FOUND]);

pub(crate) const USER_MEMBER_QUERY: Operation =
    member("userMemberQuery", Callers::Editors, "Finds people as members, by their user ids")
        .takes("UserMemberQueryRequest")
        .answers(&[Answer::json("UserMemberQueryResponse", "A page of them.")])
        .errors(&[REFUSED, FILTERED, CURSORS]);

pub(crate) const MEMBER_LOGIN_EMAIL_UPDATE: Operation =
    member("memberLoginEmailUpdate", Callers::Owners, "Changes the address that a member signs in with")
        .takes("MemberLoginEmailUpdateRequest")
        .answers(&[Answer::json("SiteMemberResponse", "The member, in the form of the members package.")])
        .errors(&[NOT_FOUND, &[Code::EmailTaken, Code::ProofNeeded]]);

pub(crate) const MEMBER_APPROVE_BY_ANY: Operation =
    member("memberApproveByAny", Callers::Owners, "Lets a member in, by id, address or token")
        .takes("MemberApproveByAnyRequest")
        .answers(&[Answer::json("SessionPlaceholder", "It is done.")])
        .errors(&[NOT_FOUND, &[Code::LinkInvalid]]);

pub(crate) const MEMBER_BLOCK_BY_ANY: Operation =
    member("memberBlockByAny", Callers::Owners, "Blocks a member, by id or address")
        .takes("MemberNamedRequest")
        .answers(DONE)
        .errors(&[NOT_FOUND]);
