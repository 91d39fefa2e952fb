//! `stoa site mail …`: in whose name the messages of a site are sent. Domains are allowed here and nowhere else: the mail
//! server of this server speaks for them.

use crate::{
    cli::SiteMailVerb,
    failure::Failure,
    services::{Services, operator},
};
use serde_json::{Map, Value, json};
use std::net::Ipv4Addr;
use stoa_identity::mail::{SenderChange, SenderPart};
use stoa_store::Site;

pub async fn run(services: &Services, site: &Site, verb: &SiteMailVerb) -> Result<Value, Failure> {
    let (identity, caller) = (&services.identity, operator());
    let sender = match verb {
        SiteMailVerb::Show => identity.mail_sender(site, &caller).await?,
        SiteMailVerb::Set { name, address, reply_to } => {
            let parts = [(SenderPart::Name, name), (SenderPart::Address, address), (SenderPart::ReplyTo, reply_to)];
            // Read as a call's is, so that what is wrong is named alike.
            let change = SenderChange::parse(&json!({ "mailSender": given(&parts)? }))?;
            identity.mail_sender_update(site, &caller, Ipv4Addr::LOCALHOST.into(), change, None).await?
        }
        SiteMailVerb::Allow { domains } => identity.mail_domains_change(site, &caller, domains, &[]).await?,
        SiteMailVerb::Disallow { domains } => identity.mail_domains_change(site, &caller, &[], domains).await?,
    };
    Ok(json!(sender))
}

/// What was typed, by the names of a call; an empty text removes.
fn given(parts: &[(SenderPart, &Option<String>)]) -> Result<Map<String, Value>, Failure> {
    let texts = parts.iter().filter_map(|(part, text)| Some((part.name().to_owned(), text.as_deref()?)));
    let given: Map<String, Value> =
        texts.map(|(name, text)| (name, if text.is_empty() { Value::Null } else { json!(text) })).collect();
    if given.is_empty() {
        return Err(Failure::usage("nothing is to be changed; see stoa site mail set --help"));
    }
    Ok(given)
}
