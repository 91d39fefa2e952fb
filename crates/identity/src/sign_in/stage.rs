//! Where a sign-in stands that waits for more from the person: a `stateToken` that is signed, not stored.
//!
//! It gives nothing by itself. One that waits for a password only says for which address. One that waits
//! for fields of the profile says that the password was right; it is good until the password changes or
//! the fields are told, whichever comes first, and so only once. Codes by e-mail are in `verification`.

use crate::{
    Core, Identity, SignIn, audit,
    defence::attempt::Attempt,
    member::{self, Move, access::MemberWrite, profile::Profile},
    password,
    policy::{self, Field},
    sign_in::{
        login,
        outcome::{self, Origin},
    },
    token::signing::Purpose,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Email, Fault, MemberId, Millis, Result, Secret, SiteId, Violation, VisitorId};
use stoa_store::{Site, boxed};

/// Life of a state token of this kind.
const LIFE: Millis = 30 * 60_000;

/// What a sign-in waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "use", rename_all = "snake_case")]
pub(crate) enum Stage {
    /// The first factor of whoever has this address, if anybody has.
    Begin { email: String },
    /// Fields of the profile. `password` is the [`password::digest`] of the hash that was right.
    Complete { member: MemberId, password: String, visitor: Option<VisitorId> },
}

#[derive(Serialize, Deserialize)]
struct Claims {
    aud: SiteId,
    /// UTC milliseconds.
    until: Millis,
    #[serde(flatten)]
    stage: Stage,
}

/// How `login` goes on with a state token.
#[derive(Debug)]
pub enum Resumed {
    Signed(Box<SignIn>),
    /// The password is still missing.
    FirstFactor {
        state_token: Secret,
    },
}

impl Identity {
    /// Begins a sign-in with nothing but an address: REQUIRE_FIRST_FACTOR with this state token. Nothing is
    /// looked up, so it tells nothing about the address, and costs nothing.
    ///
    /// # Errors
    /// [`Code::EmailInvalid`].
    pub fn login_begin(&self, site: &Site, email: &str) -> Result<Secret> {
        let core = &self.core;
        let email = Email::parse(email).ok_or_else(|| Fault::new(Code::EmailInvalid))?;
        issue(core, &site.id, &Stage::Begin { email: email.as_str().to_owned() })
    }

    /// Goes on with a sign-in: by the password after REQUIRE_FIRST_FACTOR, by the profile after
    /// REQUIRE_MISSING_FIELDS. Without what is missing it answers where the sign-in stands. `email`, when
    /// there is one, must be the one that the sign-in began with.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] for a token that is unknown, too old, finished or somebody else's;
    /// those of [`Identity::member_login`]; [`Code::ProfileInvalid`], its data naming the fields.
    pub async fn login_resume(
        &self,
        site: &Arc<Site>,
        attempt: &Attempt,
        state_token: &str,
        email: Option<&str>,
        password: Option<&Secret>,
        profile: &Value,
    ) -> Result<Resumed> {
        let core = &self.core;
        match read(core, &site.id, state_token).ok_or_else(gone)? {
            Stage::Begin { email: known } => {
                let is_same = |it: &str| match (Email::parse(it), Email::parse(&known)) {
                    (Some(a), Some(b)) => a.folded() == b.folded(),
                    _ => false,
                };
                if !email.is_none_or(is_same) {
                    return Err(gone());
                }
                match password {
                    None => Ok(Resumed::FirstFactor { state_token: Secret::new(state_token) }),
                    Some(password) => {
                        let signed = login::login(core, site, attempt, &known, password).await?;
                        Ok(Resumed::Signed(Box::new(signed)))
                    }
                }
            }
            Stage::Complete { member, password, visitor } => {
                // Nothing but what can be asked for: the person is not signed in yet.
                let told = Field::ALL.map(|it| (it.name().to_owned(), profile[it.name()].clone()));
                let told: Map<String, Value> = told.into_iter().filter(|it| !it.1.is_null()).collect();
                // Clients look for an error's code here and break on one that has none but violations.
                let wrong = |it: Vec<Violation>| Fault::new(Code::ProfileInvalid).with("fieldViolations", json!(it));
                let profile = Profile::parse(&Value::Object(told), "profile").map_err(wrong)?;
                let signed = complete(core, site, &member, &password, profile, visitor, attempt.address).await?;
                Ok(Resumed::Signed(Box::new(signed.ok_or_else(gone)?)))
            }
        }
    }
}

/// Adds what a waiting member tells to the profile, and goes on with the sign-in. `None` when it is
/// over: the password is another one by now, or the member waits for no fields.
///
/// # Errors
/// [`Code::MemberBlocked`]; [`Code::SlugTaken`].
pub(crate) async fn complete(
    core: &Arc<Core>,
    site: &Arc<Site>,
    id: &MemberId,
    password: &str,
    told: Profile,
    visitor: Option<VisitorId>,
    address: IpAddr,
) -> Result<Option<SignIn>> {
    let (me, place, id, password) = (core.clone(), site.clone(), id.clone(), password.to_owned());
    let advanced = site
        .write(move |tx| {
            let (me, site, id, password) = (me.clone(), place.clone(), id.clone(), password.clone());
            let (told, visitor) = (told.clone(), visitor.clone());
            boxed!({
                let Some(mut member) = member::get(tx, &site.id, &id).await? else { return Ok(None) };
                if password::digest(member.password_hash.as_deref()) != password || !member.pending_fields {
                    return Ok(None);
                }
                let policy = policy::read(tx, &site.id).await?;
                member.profile.merge(told);
                if policy.lacking(&member.profile).is_empty() && Move::Complete.apply(&mut member) {
                    let entry = audit::Entry::by_oneself(&id, audit::Event::Moved(Move::Complete));
                    audit::note(&me, tx, &site.id, entry).await?;
                }
                let write = MemberWrite::shown_to_be(&id);
                member::update(tx, &write, &site.id, &mut member, me.now()).await?;
                let origin = Origin { visitor: visitor.as_ref(), address: Some(address), app: None };
                outcome::advance(&me, tx, &site, member, origin).await.map(Some)
            })
        })
        .await?;
    match advanced {
        Some(advanced) => Ok(Some(outcome::send_after(core, site, advanced).await)),
        None => Ok(None),
    }
}

pub(crate) fn issue(core: &Core, site: &SiteId, stage: &Stage) -> Result<Secret> {
    let claims = Claims { aud: site.clone(), until: core.now() + LIFE, stage: stage.clone() };
    core.keys.sign(Purpose::Stage, &claims).map(Secret::new)
}

fn read(core: &Core, site: &SiteId, token: &str) -> Option<Stage> {
    let claims: Claims = serde_json::from_slice(&core.keys.verify(Purpose::Stage, token)?).ok()?;
    (claims.aud == *site && core.now() < claims.until).then_some(claims.stage)
}

fn gone() -> Fault {
    Fault::new(Code::StateTokenInvalid)
}
