//! Applications that are asked about hooks in place of a site's code: what is sent is signed as messages are, and asks
//! what a service plug-in of the kind `STOA_DATA_HOOKS` is asked (docs/protocol/identity.md §15).

use crate::{
    Core, Webhooks,
    delivery::attempt::{NOT_INSTALLED, is_installed},
    endpoint::manage::app,
    message::envelope::LIFE,
};
use bytes::Bytes;
use hyper::{
    HeaderMap, Method,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::{Arc, Weak};
use stoa_hooks::{Asking, Failure, Plugin, PluginAnswer, Plugins, Question};
use stoa_identity::app_key::{AppSigner, SigningKey};
use stoa_kernel::{ClientId, Code, Fault, Result, SiteId, Violation, limit::SECOND};
use stoa_outbound::{Call, Target, Unreached};
use tokio::{sync::Semaphore, time::Instant};

/// The kind of service plug-in, as the public client finds who answers.
const KIND: &str = "STOA_DATA_HOOKS";
/// Who signs, as the public client expects it of service plug-ins.
const ISSUER: &str = "wix.com";

/// Requests that are signed at the same time: each keeps a core busy for a millisecond.
pub(crate) struct Signing(Semaphore);

impl Default for Signing {
    fn default() -> Self {
        Self(Semaphore::new(1))
    }
}

impl Webhooks {
    /// Who asks applications about hooks, as long as these webhooks are there.
    pub fn plugins(&self) -> Weak<dyn Plugins> {
        Arc::downgrade(&(self.core.clone() as Arc<dyn Plugins>))
    }
}

impl Plugins for Core {
    fn ask<'a>(&'a self, question: Question<'a>) -> Asking<'a, Result<PluginAnswer, Failure>> {
        Box::pin(ask(self, question))
    }

    fn check<'a>(&'a self, site: &'a SiteId, plugin: &'a Plugin) -> Asking<'a, Result<()>> {
        Box::pin(check(self, site, plugin))
    }
}

async fn ask(core: &Core, question: Question<'_>) -> Result<PluginAnswer, Failure> {
    let site = question.site;
    let unsent = |fault: Fault| {
        tracing::warn!(%site, "a request about hooks can't be made: {fault:?}");
        Failure::NotStarted
    };
    let body = signed(core, &question).await.map_err(unsent)?;
    let target = target(question.plugin, question.hook.name());
    let target = target.map_err(|why| unsent(Fault::internal(why)))?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    let call = Call {
        target: &target,
        method: Method::POST,
        headers,
        body: Bytes::from(body),
        timeout: question.until.saturating_duration_since(Instant::now()),
        answer_bytes: question.answer_bytes,
    };
    match core.reach.call(call).await {
        Ok(it) => Ok(PluginAnswer { status: it.status, body: it.body, is_whole: it.is_whole }),
        Err(unreached) => {
            tracing::debug!(%site, "a request about hooks did not reach {target}: {unreached:?}");
            Err(match unreached {
                Unreached::Busy => Failure::Busy,
                Unreached::TimedOut(_) => Failure::TimedOut,
                _ => Failure::Died,
            })
        }
    }
}

/// The token that is sent.
async fn signed(core: &Core, question: &Question<'_>) -> Result<String> {
    let app_id = ClientId::from(question.plugin.app_id.as_str());
    let signer = signer(core, question.site, &app_id).await?;
    let issued = core.world.now() / SECOND;
    let claims = Claims {
        iss: ISSUER,
        aud: &question.plugin.app_id,
        jti: core.world.uuid(),
        iat: issued,
        exp: issued + LIFE,
        data: Data {
            metadata: Metadata {
                app_extension_type: KIND,
                request_id: question.context.request_id.as_deref(),
                instance_id: question.site.as_str(),
                identity: &question.context.identity,
            },
            request: &question.request,
        },
    };
    let claims = serde_json::to_vec(&claims).map_err(Fault::internal)?;
    let _turn = core.signing.0.acquire().await.map_err(Fault::internal)?;
    tokio::task::spawn_blocking(move || signer.token(&claims)).await.map_err(Fault::internal)?
}

/// What signs for an application of the site, if it may be sent anything.
async fn signer(core: &Core, site: &SiteId, id: &ClientId) -> Result<AppSigner> {
    let none = || Fault::because(Code::NotFound, "The site has no application with a secret of this id.");
    let app = app(core, site, id).await?.ok_or_else(none)?;
    if app.is_third_party && !is_installed(core, &app).await? {
        return Err(Fault::because(Code::NotFound, NOT_INSTALLED));
    }
    core.identity.app_signer(id, SigningKey::Active).await
}

/// Whether an application may be asked, as far as that can be said before it is.
async fn check(core: &Core, site: &SiteId, plugin: &Plugin) -> Result<()> {
    let mut wrong = Vec::new();
    match target(plugin, "") {
        Err(why) => wrong.push(Violation::new("plugin.url", "FORMAT", why)),
        // Why not would tell which names there are inside.
        Ok(it) if core.reach.check(&it).is_err() => {
            wrong.push(Violation::new("plugin.url", "OTHER", "the host has no address that may be called"));
        }
        Ok(_) => {}
    }
    match signer(core, site, &ClientId::from(plugin.app_id.as_str())).await {
        Ok(_) => {}
        Err(fault) if fault.code() == Code::NotFound => {
            wrong.push(Violation::new("plugin.appId", "OTHER", fault.message()));
        }
        Err(fault) => return Err(fault),
    }
    if wrong.is_empty() { Ok(()) } else { Err(Fault::invalid(wrong)) }
}

fn target(plugin: &Plugin, hook: &str) -> Result<Target, &'static str> {
    if plugin.url.contains(['?', '#']) {
        return Err("an address without a query (?) is expected");
    }
    Target::parse(&format!("{}/v1/data-hooks/{hook}", plugin.url.trim_end_matches('/')))
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'static str,
    aud: &'a str,
    jti: String,
    iat: i64,
    exp: i64,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    metadata: Metadata<'a>,
    request: &'a RawValue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    app_extension_type: &'static str,
    request_id: Option<&'a str>,
    instance_id: &'a str,
    identity: &'a serde_json::Value,
}
