//! The page of a state with what the state doesn't hold: what is decrypted for it, and challenges for passkeys.

use crate::{
    Core, client,
    factor::{
        FactorType, Realm,
        passkey::{self, Account, Creation, RelyingParty, Request, Use},
    },
    flow::{
        record::Record,
        state::State,
        view::{self, Visit},
        wire::{PasskeyChallenge, Provider, Step},
    },
    provider::connection,
    sign_in::{challenge::Challenge, passkey as sign_in_passkey},
    token::opaque,
};
use stoa_kernel::{Code, Result, date::iso_from_millis};
use stoa_store::{ReaderPool, Site, boxed};

/// The page that a visit is shown.
pub(super) async fn of(core: &Core, visit: Visit<'_>, record: &Record) -> Result<Step> {
    let site = visit.site;
    let at = visit.browser.relying_party.as_ref();
    let mut step = match &record.state {
        State::EnrolFactor { challenge, draft, account, until } => {
            let (realm, site_name) = (realm(core, site, record), site.name());
            let whose = (&realm.id, &challenge.member);
            let Some(setup) = draft.setup(core, whose, &site_name, account).await? else {
                return Ok(view::gone());
            };
            let account = Account { realm: &realm.id, site_name: &site_name, id: &challenge.member, email: account };
            view::enrol(&setup, *until, creation(core, &realm, at, (challenge, account)).await?)
        }
        State::KeepCodes { challenge, codes } => {
            let realm = realm(core, site, record).id;
            Step::RecoveryCodes { codes: codes.open(core, &realm, &challenge.member).await? }
        }
        State::Consent(signed) => consent(core, visit, record, &signed.account).await?,
        state => view::of_state(state, &view::facts(record)),
    };
    if let Step::SignIn { providers, .. } | Step::SignUp { providers, .. } = &mut step
        && record.kind.is_of_members()
        && !visit.browser.is_at_sites_host
    {
        let all = connection::all(site).await?.into_iter().filter(|it| it.is_enabled);
        *providers = all.map(|it| Provider { id: it.id, label: it.label }).collect();
    }
    match (&mut step, &record.state, at) {
        (Step::SignIn { passkey, .. }, _, Some(at))
            if record.kind.is_of_members() && sign_in_passkey::is_offered(site).await? =>
        {
            let for_use = Use::FirstFactor { flow: &flow_name(record) };
            *passkey = Some(asked(&passkey::request(core, &site.id, at, for_use, Vec::new())));
        }
        (Step::SecondFactor { passkey, factors, .. }, State::SecondFactor { challenge, .. }, at)
            if factors.contains(&FactorType::Webauthn) =>
        {
            let request = match at {
                Some(at) => sign_in_passkey::asked(core, &realm(core, site, record), at, challenge).await?,
                None => None,
            };
            match request {
                Some(request) => *passkey = Some(asked(&request)),
                None => factors.retain(|it| *it != FactorType::Webauthn),
            }
        }
        _ => {}
    }
    Ok(step)
}

/// What a client of others asks for, by its name.
async fn consent(core: &Core, visit: Visit<'_>, record: &Record, account: &str) -> Result<Step> {
    let Some(request) = &record.context.authorization else { return Ok(view::gone()) };
    let client = match client::of_site(core, visit.site, &request.client).await {
        Err(fault) if fault.code() == Code::ClientUnknown => return Ok(view::gone()),
        found => found?,
    };
    Ok(Step::Consent {
        app_name: client.name.clone(),
        host: request.host(),
        account: account.to_owned(),
        scopes: request.granted().map(|it| it.texts()).unwrap_or_default(),
    })
}

/// What a challenge in the place of a password belongs to.
pub(super) fn flow_name(record: &Record) -> String {
    opaque::hex(&record.hash)
}

/// Whose factors a flow is about.
fn realm<'a>(core: &'a Core, site: &'a Site, record: &Record) -> Realm<'a> {
    match record.kind.is_of_operators() {
        true => Realm::of_operators(core),
        false => Realm::of_site(site),
    }
}

/// What a passkey is made with in the place of an authenticator.
async fn creation(
    core: &Core,
    realm: &Realm<'_>,
    at: Option<&RelyingParty>,
    (challenge, account): (&Challenge, Account<'_>),
) -> Result<Option<PasskeyChallenge>> {
    let Some(at) = at else { return Ok(None) };
    let (id, of, pages) = (realm.id.clone(), challenge.member.clone(), at.clone());
    let read =
        realm.database.read(ReaderPool::Point, move |tx| boxed!(passkey::descriptors(tx, &id, &of, &pages).await));
    let for_use = Use::SignInEnrolment { member: &challenge.member, generation: challenge.generation };
    Ok(Some(made(&passkey::creation(core, at, for_use, account, read.await?))))
}

fn asked(request: &Request) -> PasskeyChallenge {
    PasskeyChallenge {
        challenge_id: request.id(),
        options: request.options().to_string(),
        expires_date: iso_from_millis(request.expires()),
    }
}

fn made(creation: &Creation) -> PasskeyChallenge {
    PasskeyChallenge {
        challenge_id: creation.id(),
        options: creation.options().to_string(),
        expires_date: iso_from_millis(creation.expires()),
    }
}
