//! The one place that lets a session of somebody who runs sites be opened, and that opens it.

use super::{
    Known, known, person_of, still_waits,
    tell::{self, Told},
};
use crate::{
    Core, Identity,
    defence::throttle::AttemptKind,
    factor::{self, Compared, OperatorVerdict, Realm, Shown, Verdict},
    operator::{self, Operator, OperatorSession},
    password::Fingerprint,
    policy,
    sign_in::{
        challenge::{self, Challenge},
        passkey,
    },
    token::{self, Kind},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Fault, MemberId, Millis, Result, Role, Secret, SessionId, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed};

/// A browser of somebody who runs sites stays signed in for this long at most.
const SESSION_LIFE: Millis = 14 * 24 * 60 * 60 * 1000;

/// Somebody who may be given a session at a site. Only this file makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared {
    operator: Operator,
    role: Role,
    /// That of the factors of which one was shown; nothing where there are none.
    generation: Option<i64>,
}

impl Cleared {
    #[cfg(test)]
    pub(crate) fn sample(operator: Operator) -> Self {
        Self { operator, role: Role::Owner, generation: None }
    }
}

/// What is asked of somebody who has shown a first factor.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    /// Nothing more.
    Cleared(Cleared),
    Factor(Challenge),
    /// The site requires a factor of those who run it, and this person has none; `until` is how long they may put it off.
    Enrolment {
        challenge: Challenge,
        until: Option<Millis>,
    },
}

impl Identity {
    /// Opens a session of somebody who runs the site and has just shown the password; the secret is the cookie.
    ///
    /// # Errors
    /// [`Code::PasswordWrong`] when the password has become another one since; [`Code::FactorNeeded`] where more is asked than that.
    pub async fn operator_session_create(
        &self,
        site: &SiteId,
        operator: &Operator,
        role: Role,
    ) -> Result<(OperatorSession, Secret)> {
        let site = self.core.store().site(site).await?;
        match ask(&self.core, &site, operator.clone(), role).await? {
            Asked::Cleared(cleared) => open_session(&self.core, &site, &cleared).await,
            Asked::Factor(_) | Asked::Enrolment { .. } => Err(Fault::new(Code::FactorNeeded)),
        }
    }
}

/// What comes behind a first factor. Nothing is signed that could be replayed elsewhere: the answer stands in the flow.
///
/// # Errors
/// [`Code::PasswordWrong`] where there is no such person any more.
pub(crate) async fn ask(core: &Arc<Core>, site: &Site, operator: Operator, role: Role) -> Result<Asked> {
    let person = factor::person(&operator.id);
    let found = look(core, factor::person(&operator.id)).await?;
    let Known { created, password, generation, factors, .. } = found.ok_or_else(|| Fault::new(Code::PasswordWrong))?;
    let shown = operator.password.clone().unwrap_or(password);
    if let Some(generation) = generation {
        let until = core.now() + challenge::LIFE;
        let challenge = Challenge::of_operator(person, shown, generation, until);
        return Ok(Asked::Factor(Challenge { factors, ..challenge }));
    }
    let Some(due) = policy::of_site(site).await?.operator_factor_due(created) else {
        return Ok(Asked::Cleared(Cleared { operator, role, generation: None }));
    };
    let locked = core.store().catalog().write_with(person.clone(), |tx, person| {
        boxed!(factor::locked_generation(tx, &factor::operators(), person).await)
    });
    let challenge = Challenge::of_operator(person, shown, locked.await?, core.now() + challenge::ENROLMENT);
    Ok(Asked::Enrolment { challenge, until: (core.now() < due).then_some(due) })
}

async fn look(core: &Core, person: MemberId) -> Result<Option<Known>> {
    core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(known(tx, &person).await)).await
}

/// Checks the second factor of a sign-in that waits for it. `None` when that is over: the password or the factors have changed, or
/// it waited too long.
///
/// # Errors
/// [`Code::VerificationFailed`]; [`Code::Throttled`]; [`Code::PasswordWrong`] for one who does not run the site any more.
pub(crate) async fn verify(
    core: &Arc<Core>,
    site: &Arc<Site>,
    challenge: Challenge,
    shown: &Shown,
    from: IpAddr,
) -> Result<Option<Cleared>> {
    if core.now() >= challenge.until {
        return Ok(None);
    }
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, from, "")?;
    let (realm, for_use) = (Realm::of_operators(core), passkey::for_challenge(&challenge));
    let compared = factor::compare(core, &realm, &challenge.member, shown, None, for_use).await?;
    let generation = challenge.generation;
    let (work_core, work_site) = (core.clone(), site.id.clone());
    let counted =
        tell::to_its_end(async move { count(&work_core, &work_site, challenge, compared, from).await }).await?;
    let Some((operator, verdict)) = counted else { return Ok(None) };
    if let Verdict::Refused(fault) = verdict {
        return Err(fault);
    }
    core.throttle.refund(permit);
    cleared(core, site, operator, Some(generation)).await.map(Some)
}

/// Counts what was shown, and tells of it: who it is, and whether it was right. `None` when the sign-in is over.
async fn count(
    core: &Arc<Core>,
    site: &SiteId,
    challenge: Challenge,
    compared: Compared,
    from: IpAddr,
) -> Result<Option<(Operator, Verdict)>> {
    let counted = core.store().catalog().write_with(
        (core.clone(), challenge.clone(), compared),
        |tx, (core, challenge, compared)| {
            boxed!({
                let Some(known) = still_waits(tx, challenge, core.now()).await? else { return Ok(None) };
                if known.generation != Some(challenge.generation) {
                    return Ok(None);
                }
                // Not an error, so that the count of attempts is kept.
                let (realm, person) = (factor::operators(), &challenge.member);
                Ok(Some((known, factor::count_operator(core, tx, &realm, person, compared).await?)))
            })
        },
    );
    let Some((known, OperatorVerdict { verdict, told })) = counted.await? else { return Ok(None) };
    let operator = operator_of(&challenge, known);
    if let Some(event) = told {
        tell::tell(core, site, &operator, Told::happened(event, from)).await;
    }
    Ok(Some((operator, verdict)))
}

/// The person of a sign-in, who has shown its password.
pub(super) fn operator_of(challenge: &Challenge, known: Known) -> Operator {
    Operator { password: Some(challenge.password.clone()), ..Operator::new(person_of(challenge), known.email) }
}

/// Who may go on at a site, in the role that they have there now.
///
/// # Errors
/// [`Code::PasswordWrong`] for one who does not run the site any more.
pub(super) async fn cleared(core: &Core, site: &Site, operator: Operator, generation: Option<i64>) -> Result<Cleared> {
    let role = operator::role_at(core, &operator.id, &site.id).await?;
    let role = role.ok_or_else(|| Fault::new(Code::PasswordWrong))?;
    Ok(Cleared { operator, role, generation })
}

/// Opens a session; the secret is the cookie.
///
/// # Errors
/// [`Code::PasswordWrong`] when the password has become another one since; [`Code::StateTokenInvalid`] when the factors are others.
pub(crate) async fn open_session(core: &Core, site: &Site, cleared: &Cleared) -> Result<(OperatorSession, Secret)> {
    let Cleared { operator, role, generation } = cleared;
    let secret = token::opaque(core.world(), Kind::Operator, site.number);
    let id = SessionId::from(core.world().uuid());
    let person = Operator::new(operator.id.clone(), operator.email.as_str());
    let session = OperatorSession { id, site: site.id.clone(), operator: person, role: *role };
    let written = core.store().catalog().write_with(
        (session.clone(), TokenHash::of(secret.expose()), core.now(), operator.password.clone(), *generation),
        |tx, (session, hash, now, shown, generation)| {
            boxed!({
                let person = &session.operator.id;
                if let Some(shown) = shown {
                    let sql = "select password_hash from stoa.person where id = $1";
                    let stored: Option<Option<String>> = tx.row(sql, &params![person], |row| row.get(0)).await?;
                    // A link was used while this one was checked: sessions opened by it have ended.
                    if Fingerprint::of(stored.flatten().as_deref()) != *shown {
                        return Err(Fault::new(Code::PasswordWrong));
                    }
                }
                // A factor was added or taken away meanwhile.
                if factor::generation(tx, &factor::operators(), &factor::person(person)).await? != *generation {
                    return Err(Fault::new(Code::StateTokenInvalid));
                }
                let sql = "insert into stoa.person_session (id, hash, person, site, created, used, expires) \
                       values ($1, $2, $3, $4, $5, $5, $6)";
                tx.send(sql, params![&session.id, hash, person, &session.site, *now, now + SESSION_LIFE]).await?;
                Ok(())
            })
        },
    );
    written.await?;
    Ok((session, secret))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// The files below a folder that hold a text.
    fn holding(folder: &Path, text: &str) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
        let all = entries.flat_map(|it| match it.is_dir() {
            true => holding(&it, text),
            false if fs::read_to_string(&it).is_ok_and(|it| it.contains(text)) => vec![it.display().to_string()],
            false => Vec::new(),
        });
        all.collect()
    }

    #[test]
    fn sessions_of_operators_are_opened_in_one_place() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for text in
            [concat!("insert into stoa.person_", "session"), concat!("Cleared { ", "operator, role, generation")]
        {
            let files = holding(&sources, text);
            assert!(files.len() == 1 && files[0].ends_with("operator_factor/ask.rs"), "{text}: {files:?}");
        }
    }
}
