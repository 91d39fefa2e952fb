//! Content over HTTP: one file an entity, each handler a few lines that extract, call and answer.

pub(crate) mod async_jobs;
pub(crate) mod bulk;
mod cache;
pub(crate) mod collections;
mod environment;
pub(crate) mod hooks;
pub(crate) mod indexes;
pub(crate) mod items;
pub(crate) mod lost;
mod params;
pub(crate) mod permissions;
pub(crate) mod read;
pub(crate) mod realtime;
pub(crate) mod references;
pub(crate) mod tasks;

use crate::{App, Call, Problem, body::Raw};
use axum::extract::{FromRequest, Request};
use serde_json::Value;
use stoa_kernel::{Code, Fault, Result};

/// The body of a call that has no items.
pub(crate) struct Json(pub Value);

impl FromRequest<App> for Json {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        Ok(Self(Raw::from_request(request, app).await?.parse(stoa_content::json).await?))
    }
}

impl Raw {
    /// The body as a request whose items stay text.
    ///
    /// # Errors
    /// As for [`stoa_content::Request::parse_within`] and [`Raw::parse`].
    async fn request(&self) -> Result<stoa_content::Request<'_>> {
        self.parse(stoa_content::Request::parse_within).await
    }
}

/// Calls of content that this server does not have yet: WDE0119 in the documented form, to known callers.
pub(crate) async fn not_supported(_: Call) -> Problem {
    Problem(Fault::new(Code::NotSupported))
}
