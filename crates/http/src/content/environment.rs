//! Calls on items taken to the environment that they name.

use crate::{App, Call, Problem, body};
use serde_json::{Map, Value};
use stoa_content::Request;

/// A call with its body, on the site that holds what the body means.
pub(super) async fn with_request<'b>(
    app: &App,
    call: Call,
    body: &'b body::Raw,
) -> Result<(Call, Request<'b>), Problem> {
    let mut request = body.request().await?;
    let call = with_members(app, call, &mut request.members).await?;
    Ok((call, request))
}

/// The same of members that came in the address.
pub(super) async fn with_members(app: &App, mut call: Call, members: &mut Map<String, Value>) -> Result<Call, Problem> {
    call.site = app.content.environment_of(&app.store, &call.site, &call.caller, members).await?;
    Ok(call)
}
