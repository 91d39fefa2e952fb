//! Every route by its canonical path, a page an area: method, path, handler, operation. Other prefixes are in
//! `aliases.rs`.

mod account;
mod community;
mod content;
mod graphql;
mod hooks;
mod members;
mod site;
mod webhooks;

use crate::{endpoint::Line, opening::Opening, traffic::Kind};
use stoa_kernel::Area;

/// Lines of the table that are about the same.
pub(crate) struct Group {
    pub(crate) kind: Kind,
    /// Whom scopes let in.
    pub(crate) opening: Opening,
    pub(crate) lines: Vec<Line>,
}

/// The whole table.
pub(crate) fn groups() -> Vec<Group> {
    let group = |kind, opening, lines| Group { kind, opening, lines };
    vec![
        group(Kind::Public, Opening::Whole, site::server()),
        group(Kind::Identity, Opening::Whole, account::routes()),
        group(Kind::Identity, Opening::Area(Area::Site), site::settings()),
        group(Kind::Identity, Opening::Whole, site::sender()),
        group(Kind::Identity, Opening::Area(Area::Members), members::routes()),
        group(Kind::Identity, Opening::Area(Area::Members), community::routes()),
        group(Kind::Identity, Opening::Own(Area::Site), webhooks::routes()),
        group(Kind::Content, Opening::Whole, hooks::routes()),
        group(Kind::Content, Opening::Collections, content::routes()),
        group(Kind::Content, Opening::Collections, graphql::routes()),
    ]
}

/// Calls of the protocol that answer WDE0119 until they are built.
pub(crate) const NOT_BUILT: &[&str] = &[
    "/v2/backups",
    "/v2/backups/{*rest}",
    "/v1/jobs",
    "/v1/jobs/{*rest}",
    "/v1/temporary-files/upload-url",
    "/v1/data-collection-sharing/{*rest}",
    "/v1/external-database-connections",
    "/v1/external-database-connections/{*name}",
    "/v1/scheduled-data-workflows",
    "/v1/scheduled-data-workflows/{*rest}",
];
