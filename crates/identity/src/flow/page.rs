//! The page of a state with what the state doesn't hold: what is decrypted for it, and challenges for passkeys.

use crate::{
    Core,
    factor::{
        FactorType,
        passkey::{self, Creation, RelyingParty, Request, Use},
    },
    flow::{
        record::Record,
        state::State,
        view::{self, Visit},
        wire::{PasskeyChallenge, Step},
    },
    member,
    sign_in::{challenge::Challenge, passkey as sign_in_passkey},
    token::opaque,
};
use stoa_kernel::{Result, date::iso_from_millis};
use stoa_store::{ReaderPool, boxed};

/// The page that a visit is shown.
pub(super) async fn of(core: &Core, visit: Visit<'_>, record: &Record) -> Result<Step> {
    let site = visit.site;
    let at = visit.browser.relying_party.as_ref();
    let mut step = match &record.state {
        State::EnrolFactor { challenge, draft, account, until } => {
            let Some(setup) = draft.setup(core, site, &challenge.member, account).await? else {
                return Ok(view::gone());
            };
            view::enrol(&setup, *until, creation(core, visit, at, challenge).await?)
        }
        State::KeepCodes { challenge, codes } => {
            Step::RecoveryCodes { codes: codes.open(core, &site.id, &challenge.member).await? }
        }
        state => view::of_state(state, &view::facts(record)),
    };
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
                Some(at) => sign_in_passkey::asked(core, site, at, challenge).await?,
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

/// What a challenge in the place of a password belongs to.
pub(super) fn flow_name(record: &Record) -> String {
    opaque::hex(&record.hash)
}

/// What a passkey is made with in the place of an authenticator.
async fn creation(
    core: &Core,
    visit: Visit<'_>,
    at: Option<&RelyingParty>,
    challenge: &Challenge,
) -> Result<Option<PasskeyChallenge>> {
    let Some(at) = at else { return Ok(None) };
    let (id, of, pages) = (visit.site.id.clone(), challenge.member.clone(), at.clone());
    let read = visit.site.read(ReaderPool::Point, move |tx| {
        boxed!(Ok((member::get(tx, &id, &of).await?, passkey::descriptors(tx, &id, &of, &pages).await?)))
    });
    let (Some(member), present) = read.await? else { return Ok(None) };
    let for_use = Use::SignInEnrolment { member: &challenge.member, generation: challenge.generation };
    Ok(Some(made(&passkey::creation(core, visit.site, at, for_use, &member, present))))
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
