//! Settings of a site, and its audit log.

use super::{INVALID, LIMIT, PACKED, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const POLICY: &[Answer] = &[Answer::json("SignOnPolicyResponse", "The policy.")];
const PAGES: &[Answer] = &[Answer::json("SitePages", "The site's own pages by intent.")];
const SENDER: &[Answer] = &[Answer::json("MailSenderResponse", "In whose name messages are sent.")];
const FORBIDDEN: &[Code] = &[Code::Forbidden];

const fn setting(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Settings, Callers::Owners, summary)
}

pub(crate) const SIGN_ON_POLICY_GET: Operation =
    setting("signOnPolicyGet", "Reads who may become a member, and how").answers(POLICY).errors(&[FORBIDDEN]);

pub(crate) const SIGN_ON_POLICY_UPDATE: Operation = setting("signOnPolicyUpdate", "Changes the policy of sign-on")
    .notes(
        "Members that are not sent stay. Owners who change what it says of second factors, or let owners do more as members, have \
         shown lately, in their session, who they are.",
    )
    .takes("SignOnPolicyUpdateRequest")
    .answers(POLICY)
    .errors(&[INVALID, FORBIDDEN, &[Code::ProofNeeded]]);

pub(crate) const SITE_PAGES_GET: Operation =
    setting("sitePagesGet", "Reads the site's own pages").answers(PAGES).errors(&[FORBIDDEN]);

pub(crate) const SITE_PAGES_UPDATE: Operation = setting("sitePagesUpdate", "Sets the site's own pages")
    .takes("SitePages")
    .answers(PAGES)
    .errors(&[INVALID, FORBIDDEN]);

pub(crate) const MAIL_SENDER_GET: Operation =
    setting("mailSenderGet", "Reads in whose name the site's messages are sent").answers(SENDER).errors(&[FORBIDDEN]);

pub(crate) const MAIL_SENDER_UPDATE: Operation =
    setting("mailSenderUpdate", "Changes in whose name the site's messages are sent")
        .notes(
            "Members that are not sent stay, `null` removes one. Owners show their password; apps have none to show.",
        )
        .takes("MailSenderUpdateRequest")
        .answers(SENDER)
        .errors(&[INVALID, FORBIDDEN, &[Code::PasswordWrong, Code::ProofNeeded]])
        .counts(Throttle::SignIn);

pub(crate) const AUDIT_LIST: Operation = setting("auditList", "Lists what happened to accounts, the latest first")
    .query(&[
        Parameter::text("member", "The member that it is about."),
        Parameter::text("event", "The kind of event."),
        Parameter::number("since", "From this time on, in milliseconds since 1970."),
        Parameter::number("before", "Before this time, in milliseconds since 1970."),
        LIMIT,
        PACKED,
    ])
    .answers(&[Answer::json("AuditListResponse", "The entries.")])
    .errors(&[REFUSED]);
