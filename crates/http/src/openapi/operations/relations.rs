//! What members show of themselves, and what they are to each other.

use super::{CURSORS, DONE, FILTERED, INVALID, NOT_FOUND, PACKED_ONLY, PAGED_BY_CURSOR, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation},
    subject::Subject,
};
use stoa_kernel::Code;

const PRIVACY: &[Answer] = &[Answer::json("PrivacySettingsResponse", "The settings.")];
const DEFAULT_PRIVACY: &[Answer] = &[Answer::json("DefaultPrivacyResponse", "The setting.")];
const IDS: &[Answer] = &[Answer::json("MemberIdPage", "A page of ids of members.")];
const CONNECTIONS: &[Answer] = &[Answer::json("ConnectionQueryResponse", "Who follows whom.")];
const REPORTED: &[Answer] = &[Answer::json("ReportedMembersResponse", "A page of members with their counts.")];
const ABOUT: &[Answer] = &[Answer::json("MemberAboutResponse", "The text.")];
/// Where a member is named whom the caller may not see.
const SEES: &[Code] = &[Code::Validation, Code::NotFound, Code::BlockedByMember];
const INTERACTS: &[&[Code]] = &[NOT_FOUND, &[Code::SelfBlock, Code::AlreadyExists, Code::TooMany]];

const fn relation(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Relations, callers, summary)
}

pub(crate) const DEFAULT_PRIVACY_GET: Operation =
    relation("defaultPrivacyGet", Callers::Known, "Reads whether new members are shown")
        .query(PACKED_ONLY)
        .answers(DEFAULT_PRIVACY)
        .errors(&[INVALID]);

pub(crate) const DEFAULT_PRIVACY_UPDATE: Operation =
    relation("defaultPrivacyUpdate", Callers::Owners, "Sets whether new members are shown")
        .takes("DefaultPrivacyUpdateRequest")
        .answers(DEFAULT_PRIVACY)
        .errors(&[REFUSED, &[Code::RevisionOld]]);

pub(crate) const PRIVACY_SETTINGS_GET: Operation =
    relation("privacySettingsGet", Callers::Known, "Reads how much members show of themselves")
        .query(PACKED_ONLY)
        .answers(PRIVACY)
        .errors(&[INVALID]);

pub(crate) const PRIVACY_SETTINGS_UPDATE: Operation =
    relation("privacySettingsUpdate", Callers::Owners, "Sets how much members show of themselves")
        .takes("PrivacySettingsUpdateRequest")
        .answers(PRIVACY)
        .errors(&[REFUSED, &[Code::RevisionOld]]);

pub(crate) const FOLLOWER_LIST_MY: Operation =
    relation("followerListMy", Callers::Members, "Lists who follows the calling member")
        .query(PAGED_BY_CURSOR)
        .answers(IDS)
        .errors(&[REFUSED, CURSORS]);

pub(crate) const FOLLOWING_LIST_MY: Operation =
    relation("followingListMy", Callers::Members, "Lists whom the calling member follows")
        .query(PAGED_BY_CURSOR)
        .answers(IDS)
        .errors(&[REFUSED, CURSORS]);

pub(crate) const CONNECTION_QUERY_MY: Operation =
    relation("connectionQueryMy", Callers::Members, "Tells which of these follow the calling member, or are followed")
        .takes("ConnectionQueryRequest")
        .answers(CONNECTIONS)
        .errors(&[REFUSED]);

pub(crate) const FOLLOWER_LIST: Operation = relation("followerList", Callers::Known, "Lists who follows a member")
    .query(PAGED_BY_CURSOR)
    .answers(IDS)
    .errors(&[SEES, CURSORS]);

pub(crate) const FOLLOWER_CREATE: Operation = relation("followerCreate", Callers::Members, "Follows a member")
    .notes("Who follows already goes on to.")
    .may_take("Empty")
    .answers(DONE)
    .errors(&[NOT_FOUND, &[Code::SelfBlock, Code::BlockedByMember, Code::TooMany]]);

pub(crate) const FOLLOWER_DELETE: Operation =
    relation("followerDelete", Callers::Members, "Follows a member no more").answers(DONE).errors(&[NOT_FOUND]);

pub(crate) const FOLLOWING_LIST: Operation = relation("followingList", Callers::Known, "Lists whom a member follows")
    .query(PAGED_BY_CURSOR)
    .answers(IDS)
    .errors(&[SEES, CURSORS]);

pub(crate) const CONNECTION_QUERY: Operation =
    relation("connectionQuery", Callers::Known, "Tells which of these follow a member, or are followed")
        .takes("ConnectionQueryRequest")
        .answers(CONNECTIONS)
        .errors(&[SEES]);

pub(crate) const MEMBER_BLOCK_LIST_MY: Operation =
    relation("memberBlockListMy", Callers::Members, "Lists whom the calling member has blocked")
        .query(PAGED_BY_CURSOR)
        .answers(&[Answer::json("MemberBlockListMyResponse", "A page of ids of members.")])
        .errors(&[REFUSED, CURSORS]);

pub(crate) const MEMBER_BLOCK_CREATE: Operation =
    relation("memberBlockCreate", Callers::Members, "Blocks a member for the calling one")
        .takes("MemberBlockCreateRequest")
        .answers(DONE)
        .errors(INTERACTS);

pub(crate) const MEMBER_BLOCK_DELETE: Operation =
    relation("memberBlockDelete", Callers::Members, "Takes such a block back").answers(DONE).errors(&[NOT_FOUND]);

pub(crate) const MEMBER_BLOCK_LIST: Operation =
    relation("memberBlockList", Callers::Members, "Lists whom a member has blocked, and by whom they are")
        .query(PAGED_BY_CURSOR)
        .answers(&[Answer::json("MemberBlockListResponse", "A page of blocks.")])
        .errors(&[NOT_FOUND, CURSORS]);

pub(crate) const MEMBER_REPORT_CREATE: Operation = relation("memberReportCreate", Callers::Members, "Reports a member")
    .takes("MemberReportCreateRequest")
    .answers(&[Answer::json("MemberReportResponse", "The report.")])
    .errors(INTERACTS);

pub(crate) const MEMBER_REPORT_QUERY: Operation = relation("memberReportQuery", Callers::Editors, "Finds reports")
    .takes("MemberReportQueryRequest")
    .answers(&[Answer::json("MemberReportQueryResponse", "A page of reports.")])
    .errors(&[REFUSED, FILTERED, CURSORS]);

pub(crate) const REPORTED_MEMBER_LIST: Operation =
    relation("reportedMemberList", Callers::Owners, "Lists the members that were reported")
        .query(PAGED_BY_CURSOR)
        .answers(REPORTED)
        .errors(&[REFUSED, FILTERED, CURSORS]);

pub(crate) const REPORTED_MEMBER_QUERY: Operation =
    relation("reportedMemberQuery", Callers::Owners, "Lists the members that were reported, asked in the body")
        .takes("MemberReportQueryRequest")
        .answers(REPORTED)
        .errors(&[REFUSED, FILTERED, CURSORS]);

pub(crate) const MEMBER_REPORT_DELETE: Operation =
    relation("memberReportDelete", Callers::Owners, "Deletes the reports of a member")
        .answers(DONE)
        .errors(&[NOT_FOUND]);

pub(crate) const MEMBER_ABOUT_CREATE: Operation =
    relation("memberAboutCreate", Callers::Members, "Writes about the calling member")
        .takes("MemberAboutWriteRequest")
        .answers(ABOUT)
        .errors(&[NOT_FOUND, &[Code::AlreadyExists]]);

pub(crate) const MEMBER_ABOUT_GET_MY: Operation =
    relation("memberAboutGetMy", Callers::Members, "Reads what the calling member wrote")
        .query(PACKED_ONLY)
        .answers(ABOUT)
        .errors(&[NOT_FOUND]);

pub(crate) const MEMBER_ABOUT_QUERY: Operation =
    relation("memberAboutQuery", Callers::Known, "Reads what members wrote")
        .takes("MemberAboutQueryRequest")
        .answers(&[Answer::json("MemberAboutQueryResponse", "What each wrote who shows themselves.")])
        .errors(&[INVALID, FILTERED]);

pub(crate) const MEMBER_ABOUT_GET: Operation =
    relation("memberAboutGet", Callers::Known, "Reads what a member wrote").answers(ABOUT).errors(&[SEES]);

pub(crate) const MEMBER_ABOUT_UPDATE: Operation =
    relation("memberAboutUpdate", Callers::Members, "Changes what a member wrote")
        .takes("MemberAboutWriteRequest")
        .answers(ABOUT)
        .errors(&[NOT_FOUND, &[Code::RevisionOld]]);

pub(crate) const MEMBER_ABOUT_DELETE: Operation =
    relation("memberAboutDelete", Callers::Members, "Deletes what a member wrote").answers(DONE).errors(&[NOT_FOUND]);
