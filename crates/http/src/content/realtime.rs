//! Items that are followed: `/_api/realtime/v1/stream`.

use crate::{App, Call, Problem, body::StreamRaw, extract::Authorization};
use axum::{extract::State, http::Uri, response::Response};
use futures_util::stream;
use std::sync::Arc;
use stoa_identity::Identity;
use stoa_kernel::{Caller, Code, Fault, Millis, Result, SiteId};
use stoa_realtime::{Asker, StreamOpening, StreamRequest};
use stoa_store::{Store, TxFuture, boxed};

/// Names under which tokens are sent in addresses elsewhere. Addresses are kept by logs, histories and `Referer`.
const TOKENS: [&str; 6] = ["access_token", "accessToken", "apiKey", "api_key", "authorization", "token"];

/// `POST /_api/realtime/v1/stream`.
pub(crate) async fn stream(
    State(app): State<App>,
    call: Call,
    authorization: Authorization,
    uri: Uri,
    body: StreamRaw,
) -> Result<Response, Problem> {
    refuse_tokens(&uri)?;
    let request = StreamRequest::parse(&body.value().await?, app.realtime.limits(), app.content.limits())?;
    let events = Box::new(app.realtime.open(opening(&app, call, authorization, request)).await?);
    let messages = stream::unfold(events, |mut events| async { events.next().await.map(|it| (it, events)) });
    Ok(body.answer(messages))
}

fn opening(app: &App, call: Call, authorization: Authorization, request: StreamRequest) -> StreamOpening {
    let (network, origin, session) = (call.network, call.origin(), session(&call.caller));
    let asker = TokenAsker {
        store: app.store.clone(),
        identity: app.identity.clone(),
        site: call.site.id.clone(),
        authorization,
    };
    let until = call.ends.unwrap_or(Millis::MAX);
    StreamOpening { site: call.site, asker: Arc::new(asker), network, origin, session, request, until }
}

/// Asks again who it is that follows, and whether there still is what they follow.
struct TokenAsker {
    store: Arc<Store>,
    identity: Identity,
    site: SiteId,
    authorization: Authorization,
}

impl Asker for TokenAsker {
    fn caller<'t>(&'t self) -> TxFuture<'t, Caller> {
        boxed!({
            let (site, caller) = self.authorization.authenticate(&self.identity).await?;
            if site != self.site {
                return Err(Fault::new(Code::Unauthenticated));
            }
            self.store.site(&site).await?;
            Ok(caller)
        })
    }
}

/// What streams are counted by beside their network: a session, or a visitor, who has one for life. Keys are those of
/// servers, which may have many.
fn session(caller: &Caller) -> Option<String> {
    match caller.bare() {
        Caller::Member { session, .. } | Caller::User { session, .. } => Some(session.as_str().to_owned()),
        Caller::Visitor { id, .. } => Some(id.as_str().to_owned()),
        Caller::App { .. } | Caller::Scoped(_) => None,
    }
}

/// # Errors
/// WDE0080.
fn refuse_tokens(uri: &Uri) -> Result<()> {
    let mut names = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).map(|it| it.0);
    match names.find(|name| TOKENS.iter().any(|it| name.eq_ignore_ascii_case(it))) {
        Some(name) => {
            let text = format!("{name} stands in the address, where it is kept by others; send it as a header.");
            Err(Fault::because(Code::BadRequest, text))
        }
        None => Ok(()),
    }
}
