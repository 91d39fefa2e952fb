//! Going on with a sign-in by its state token.

use crate::{
    Core, Identity, audit,
    defence::attempt::Attempt,
    factor::FirstFactor,
    member::{self, Move, access::MemberWrite, profile::Profile},
    password::Fingerprint,
    policy::{self, Field},
    sign_in::{
        advance,
        enrolment::{self, CallOrigin},
        login,
        origin::Origin,
        outcome::Outcome,
        pending::{self, PendingAuthentication},
    },
};
use serde_json::{Map, Value, json};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Email, Fault, MemberId, Result, Secret, Violation, VisitorId};
use stoa_store::{Site, boxed};

/// What `login` sends with a state token.
#[derive(Debug, Clone, Copy)]
pub struct Resumption<'a> {
    pub state_token: &'a str,
    pub email: Option<&'a str>,
    pub password: Option<&'a Secret>,
    pub profile: &'a Value,
}

impl Identity {
    /// Begins a sign-in with nothing but an address: REQUIRE_FIRST_FACTOR with a state token. Nothing is
    /// looked up, so it reveals nothing about the address, and costs nothing.
    ///
    /// # Errors
    /// [`Code::EmailInvalid`].
    pub fn login_begin(&self, site: &Site, email: &str) -> Result<Outcome> {
        let email = Email::parse(email).ok_or_else(|| Fault::new(Code::EmailInvalid))?;
        let pending = PendingAuthentication::FirstFactor { email: email.as_str().to_owned() };
        Ok(Outcome::RequireFirstFactor { state_token: pending::issue(&self.core, &site.id, &pending)? })
    }

    /// Goes on with a sign-in: by the password after REQUIRE_FIRST_FACTOR, by the profile after
    /// REQUIRE_MISSING_FIELDS. Without what is missing it answers where the sign-in stands. `email`, when
    /// there is one, must be the one that the sign-in began with.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] for a token that is unknown, too old, finished or another account's;
    /// those of [`Identity::member_login`]; [`Code::ProfileInvalid`], its data naming the fields.
    pub async fn login_resume(
        &self,
        site: &Arc<Site>,
        attempt: &Attempt,
        resumption: Resumption<'_>,
    ) -> Result<Outcome> {
        let core = &self.core;
        let outcome = match pending::read(core, &site.id, resumption.state_token).ok_or_else(gone)? {
            PendingAuthentication::FirstFactor { email } => {
                if !resumption.email.is_none_or(|it| is_same_address(it, &email)) {
                    return Err(gone());
                }
                match resumption.password {
                    None => Outcome::RequireFirstFactor { state_token: Secret::new(resumption.state_token) },
                    Some(password) => login::login(core, site, attempt, &email, password).await?,
                }
            }
            // `POST /v2/{factorType}/verify` goes on with it.
            PendingAuthentication::SecondFactor { .. } => return Err(gone()),
            PendingAuthentication::MissingFields { member, password, visitor } => {
                let profile = missing_fields(resumption.profile)?;
                let fields = MissingFields { member, password, profile, visitor, address: attempt.address };
                complete(core, site, fields).await?.ok_or_else(gone)?
            }
        };
        enrolment::for_call(core, site, outcome, CallOrigin::of(attempt)).await
    }
}

/// The missing fields of a profile, given by a member who signs in.
pub(crate) struct MissingFields {
    pub member: MemberId,
    /// Of the hash of the password that was right.
    pub password: Fingerprint,
    pub profile: Profile,
    pub visitor: Option<VisitorId>,
    pub address: IpAddr,
}

/// Adds the missing fields to the profile of a pending member, and goes on with the sign-in. `None` when it is
/// over: the password is another one by now, or the member waits for no fields.
///
/// # Errors
/// [`Code::MemberBlocked`]; [`Code::SlugTaken`].
pub(crate) async fn complete(core: &Arc<Core>, site: &Arc<Site>, fields: MissingFields) -> Result<Option<Outcome>> {
    let advanced = site
        .write_with((core.clone(), site.clone(), fields), |tx, (core, site, fields)| {
            boxed!({
                let Some(mut member) = member::get(tx, &site.id, &fields.member).await? else { return Ok(None) };
                let is_same = Fingerprint::of(member.password_hash.as_deref()) == fields.password;
                if !is_same || !member.pending_fields {
                    return Ok(None);
                }
                let policy = policy::read(tx, &site.id).await?;
                member.profile.merge(fields.profile.clone());
                if policy.missing_fields(&member.profile).is_empty() && Move::Complete.apply(&mut member) {
                    let entry = audit::Entry::by_oneself(&fields.member, audit::Event::Moved(Move::Complete));
                    audit::record(core, tx, &site.id, entry).await?;
                }
                let write = MemberWrite::shown_to_be(&fields.member);
                member::update(tx, &write, &site.id, &mut member, core.now()).await?;
                let (visitor, address) = (fields.visitor.as_ref(), Some(fields.address));
                // What was shown first is not known any more, so it is the least.
                let first = FirstFactor::ProviderOfMailbox;
                let origin = Origin { visitor, address, first, ..Origin::default() };
                advance::advance(core, tx, site, member, origin).await.map(Some)
            })
        })
        .await?;
    match advanced {
        Some(advanced) => Ok(Some(advance::send_after(core, site, advanced).await)),
        None => Ok(None),
    }
}

/// Nothing but what can be asked for: the person is not signed in yet.
fn missing_fields(profile: &Value) -> Result<Profile> {
    let given = Field::ALL.map(|it| (it.name().to_owned(), profile[it.name()].clone()));
    let given: Map<String, Value> = given.into_iter().filter(|it| !it.1.is_null()).collect();
    // Clients look for an error's code here and break on one that has none but violations.
    let wrong = |it: Vec<Violation>| Fault::new(Code::ProfileInvalid).with("fieldViolations", json!(it));
    Profile::parse(&Value::Object(given), "profile").map_err(wrong)
}

fn is_same_address(one: &str, other: &str) -> bool {
    match (Email::parse(one), Email::parse(other)) {
        (Some(one), Some(other)) => one.folded() == other.folded(),
        _ => false,
    }
}

fn gone() -> Fault {
    Fault::new(Code::StateTokenInvalid)
}
