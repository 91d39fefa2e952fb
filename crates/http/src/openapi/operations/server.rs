//! Health, what the website needs to start, and the description of the interface.

use super::{UNCHANGED, page};
use crate::{
    openapi::{Answer, Callers, Media, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const fn server(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Server, Callers::Open, summary)
}

pub(crate) const HEALTH_GET: Operation =
    server("healthGet", "Tells that the process lives").answers(&[Answer::json("ServerStatus", "It lives.")]);

pub(crate) const READINESS_GET: Operation = server("readinessGet", "Tells that requests can be served")
    .answers(&[Answer::json("ServerStatus", "The database answers.")]);

pub(crate) const ROBOTS_GET: Operation =
    server("robotsGet", "Tells crawlers what to leave out").answers(&[Answer::other(Media::Text, "robots.txt.")]);

pub(crate) const SITE_PUBLIC_SETTINGS_GET: Operation =
    server("sitePublicSettingsGet", "Reads what a website needs to start")
        .notes("Of the site that the host name shows.")
        .answers(&[Answer::json("SitePublicSettings", "The settings.")])
        .errors(&[&[Code::SiteUnknown]]);

pub(crate) const DOCUMENT_GET: Operation =
    server("documentGet", "Reads this document").answers(&[Answer::json("OpenApiDocument", "OpenAPI 3.1."), UNCHANGED]);

pub(crate) const REFERENCE_PAGE_GET: Operation = server("referencePageGet", "Shows this document as a page")
    .query(&[Parameter::text("filter", "Words of what is looked for.")])
    .answers(&[page("The page."), UNCHANGED]);

pub(crate) const SITE_DOCUMENT_GET: Operation = Operation::new(
    "siteDocumentGet",
    Subject::Server,
    Callers::Known,
    "Reads this document with the types of the site's items",
)
.notes("Of the collections that the caller may know of, as `collectionList` shows them.")
.answers(&[Answer::json("OpenApiDocument", "OpenAPI 3.1."), UNCHANGED]);
