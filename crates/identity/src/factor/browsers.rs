//! The browsers that a member enrolled, with what each is written to by, and the messages to them. Questions are sent in the
//! background; the first code is waited for, so that who enrols a browser learns when it can't be reached.

use crate::{
    Core,
    factor::{
        FactorType,
        push::{
            Content, Subscription, VapidKey, encrypt, key_of,
            question::{self, AskedFor},
        },
        row::{self, Factor},
        secret,
    },
    mail,
};
use std::sync::Arc;
use stoa_kernel::{MemberId, Millis, Result, Secret, TokenHash};
use stoa_outbound::{PushMessage, Unpushed};
use stoa_store::{ReaderPool, Site, boxed};
use tokio::task::JoinSet;

/// A browser that can be asked: the id of its factor, and its subscription.
pub(super) type Browser = (String, Subscription);

/// Those of a member that count and that their push services know, read beside the transaction in which they are asked.
pub(super) async fn standing(core: &Core, site: &Site, member: &MemberId) -> Result<Vec<Browser>> {
    let all = of_member(core, site, member).await?.into_iter();
    Ok(all.filter(|(it, _)| it.is_standing_browser()).map(|(it, of)| (it.id, of)).collect())
}

/// The ids of those that are confirmed and are the same browser as this one, which takes their place.
pub(super) async fn same_as(core: &Core, site: &Site, member: &MemberId, one: &Subscription) -> Result<Vec<String>> {
    let all = of_member(core, site, member).await?.into_iter();
    Ok(all.filter(|(it, of)| it.confirmed.is_some() && of.is_same_browser(one)).map(|(it, _)| it.id).collect())
}

/// The same of a factor that waits for its first code.
pub(super) async fn same_as_factor(core: &Core, site: &Site, member: &MemberId, id: &str) -> Result<Vec<String>> {
    let all = of_member(core, site, member).await?;
    let Some((_, one)) = all.iter().find(|(it, _)| it.id == id) else { return Ok(Vec::new()) };
    let same = all.iter().filter(|(it, of)| it.confirmed.is_some() && of.is_same_browser(one));
    Ok(same.map(|(it, _)| it.id.clone()).collect())
}

async fn of_member(core: &Core, site: &Site, member: &MemberId) -> Result<Vec<(Factor, Subscription)>> {
    let (id, who) = (site.id.clone(), member.clone());
    let factors = site.read(ReaderPool::Point, move |tx| boxed!(row::of_member(tx, &id, &who).await)).await?;
    let mut all = Vec::new();
    for factor in factors.into_iter().filter(|it| it.factor() == FactorType::Push) {
        let opened = secret::open(core, &site.id, member, &factor.id, &factor.sealed).await?;
        match opened.and_then(|it| Subscription::of_text(it.expose())) {
            Some(subscription) => all.push((factor, subscription)),
            // The others are asked all the same.
            None => tracing::warn!(site = %site.id, "the browser of factor {} doesn't open", factor.id),
        }
    }
    Ok(all)
}

/// A question that is on its way to these browsers.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub browsers: Vec<Browser>,
    pub member: MemberId,
    pub token: Secret,
    pub asked_for: AskedFor,
    /// UTC milliseconds.
    pub expires: Millis,
    /// The member's.
    pub language: Option<String>,
}

/// Sends a question to each browser in the background. One that its push service doesn't know any more is noted, and that no browser
/// was sent it; why is told to the log alone.
pub(super) fn ask(core: &Arc<Core>, site: &Arc<Site>, outgoing: Outgoing) {
    let (core, site) = (core.clone(), site.clone());
    tokio::spawn(async move {
        let asked = match send_question(&core, &site, &outgoing).await {
            Ok(true) => Ok(()),
            Ok(false) => unsent(&core, &site, outgoing).await,
            Err(fault) => {
                tracing::warn!(site = %site.id, "a question was sent to no browser: {fault:?}");
                unsent(&core, &site, outgoing).await
            }
        };
        if let Err(fault) = asked {
            tracing::warn!(site = %site.id, "a question that was sent to no browser was not noted: {fault:?}");
        }
    });
}

/// Whether any browser was sent it.
async fn send_question(core: &Arc<Core>, site: &Arc<Site>, outgoing: &Outgoing) -> Result<bool> {
    let Outgoing { browsers, token, asked_for, expires, language, .. } = outgoing;
    let (key, setting, name) = (key_of(core, site).await?, mail::setting_of(site).await?, site.name());
    let token = (token.expose(), *asked_for);
    let content = Content::question(&name, token, *expires, setting.choose([language.as_deref()]));
    let mut sends = JoinSet::new();
    for (id, subscription) in browsers {
        let message = message(core, &key, subscription, &content)?;
        let (core, site, id) = (core.clone(), site.clone(), id.clone());
        sends.spawn(async move {
            match core.push.service.ask(site.id.as_str(), message).await {
                Ok(()) => return true,
                Err(Unpushed::Gone) => {
                    if let Err(fault) = ended(&core, &site, id).await {
                        tracing::warn!(site = %site.id, "a browser that is there no more was not noted: {fault:?}");
                    }
                }
                Err(why) => tracing::warn!(site = %site.id, "a question was not sent to a browser: {why}"),
            }
            false
        });
    }
    Ok(sends.join_all().await.contains(&true))
}

async fn unsent(core: &Core, site: &Site, outgoing: Outgoing) -> Result<()> {
    let (hash, now) = (TokenHash::of(outgoing.token.expose()), core.now());
    let noted = site.write_with((site.id.clone(), outgoing.member, hash), move |tx, (site, member, hash)| {
        boxed!(question::unsent(tx, site, (member, hash), now).await)
    });
    noted.await
}

/// Sends the code that confirms a browser, and waits until its push service has it.
///
/// # Errors
/// What the engine answers; the inner one says why the push service has nothing.
pub(super) async fn send_code(
    core: &Core,
    site: &Site,
    to: &Subscription,
    (code, expires): (&Secret, Millis),
    language: Option<&str>,
) -> Result<Result<(), Unpushed>> {
    let (key, setting, name) = (key_of(core, site).await?, mail::setting_of(site).await?, site.name());
    let content = Content::code(&name, code.expose(), expires, setting.choose([language]));
    let message = message(core, &key, to, &content)?;
    Ok(core.push.service.send(site.id.as_str(), message).await)
}

fn message(core: &Core, key: &VapidKey, to: &Subscription, content: &Content<'_>) -> Result<PushMessage> {
    Ok(PushMessage {
        target: to.target().clone(),
        authorization: key.authorization(to.target(), &mail::url(core), core.now())?,
        body: encrypt(core.world(), to, content)?,
        topic: content.topic(),
    })
}

async fn ended(core: &Arc<Core>, site: &Site, id: String) -> Result<()> {
    let now = core.now();
    let noted = site
        .write_with((site.id.clone(), id), move |tx, (site, id)| boxed!(row::browser_ended(tx, site, id, now).await));
    noted.await
}
