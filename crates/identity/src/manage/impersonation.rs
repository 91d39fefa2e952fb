//! Owners who act as members (decision 54): begun with the owner's password and a reason, held to what a member sees or does
//! with items, short, and ended by either side.
//!
//! What is begun is one access token that says whose it is (`act`). Nothing renews it: no refresh token, cookie or code stands
//! for its session.

use crate::{
    Core, Identity, Impersonation, audit,
    defence::Attempt,
    limits::IMPERSONATION_LIFE,
    mail::{self, notice},
    member::{self, Member},
    operator,
    policy::{self, SignOnPolicy},
    session::{self, SessionSelector},
    sign_in::{operator_factor::proof, operator_password},
    token::{self, Access, Kind},
};
use serde_json::Value;
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{
    Area, Caller, Code, Email, Fault, Impersonator, MemberId, Millis, Result, Right, Role, Secret, SessionId, SiteId,
    TokenHash, Violation,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Characters of a reason.
const LONGEST_REASON: usize = 500;

/// What an owner asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpersonationRequest {
    access: Impersonation,
    reason: String,
}

/// An owner acts as a member.
#[derive(Debug, Clone)]
pub struct ImpersonationStart {
    pub session: SessionId,
    pub member: MemberId,
    pub access: Impersonation,
    /// UTC milliseconds.
    pub expires: Millis,
    pub token: Access,
}

impl ImpersonationRequest {
    /// Why an owner acts as a member, for the audit log, and whether they may change items.
    ///
    /// # Errors
    /// [`Code::Validation`] for a reason that says nothing, is longer than 500 characters or holds control characters.
    pub fn new(access: Impersonation, reason: &str) -> Result<Self> {
        let reason = reason.trim();
        let (rule, why) = match reason.chars().count() {
            0 => ("REQUIRED_FIELD", "a reason is required: it is kept in the audit log".to_owned()),
            it if it > LONGEST_REASON => ("MAX_LENGTH", format!("must be at most {LONGEST_REASON} characters")),
            _ if reason.contains(char::is_control) => ("FORMAT", "must be one line".to_owned()),
            _ => return Ok(Self { access, reason: reason.to_owned() }),
        };
        Err(Fault::invalid(vec![Violation::new("reason", rule, why)]))
    }

    /// Reads `{reason, access?}`; without `access` to read.
    ///
    /// # Errors
    /// As [`ImpersonationRequest::new`], and for an access that is neither `READ` nor `WRITE`.
    pub fn parse(body: &Value) -> Result<Self> {
        let wrong = |field, rule, why| Fault::invalid(vec![Violation::new(field, rule, why)]);
        let access = match &body["access"] {
            Value::Null => Impersonation::Read,
            Value::String(name) => {
                let named = [Impersonation::Read, Impersonation::Write].into_iter().find(|it| it.name() == name);
                named.ok_or_else(|| wrong("access", "INVALID_ENUM_VALUE", "READ or WRITE is expected"))?
            }
            _ => return Err(wrong("access", "FORMAT", "READ or WRITE is expected")),
        };
        match &body["reason"] {
            Value::Null => Self::new(access, ""),
            Value::String(reason) => Self::new(access, reason),
            _ => Err(wrong("reason", "FORMAT", "text is expected")),
        }
    }
}

impl Identity {
    /// Begins that the calling owner acts as a member. What they began with this member before ends. `password` is the
    /// owner's own; one who has a second factor has lately shown it in this session. The member is told by mail, unless the site says
    /// otherwise.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an owner in person, and where the site's policy allows less;
    /// [`Code::ProofNeeded`]; [`Code::PasswordWrong`]; [`Code::Throttled`]; [`Code::NotFound`]; [`Code::MemberBlocked`] for a member who could not
    /// sign in.
    pub async fn impersonation_start(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        attempt: &Attempt,
        password: &Secret,
        member: &MemberId,
        request: ImpersonationRequest,
    ) -> Result<ImpersonationStart> {
        let core = &self.core;
        let Caller::User { id, role: Role::Owner, session } = caller else {
            return Err(Fault::because(Code::Forbidden, "Only owners of the site, in person, act as members."));
        };
        let owner = operator::find(core, id).await?.ok_or_else(|| Fault::new(Code::Forbidden))?;
        proof::require_of_enrolled(core, id, session).await?;
        operator_password::confirm(core, site, &owner, attempt, password).await?;
        let by = Impersonator { owner: id.clone(), session: Some(session.clone()) };
        start(core, site, Begun { by, from: Some(attempt.address), member: member.clone(), request }).await
    }

    /// The same for those who run the installation, in the name of an owner of the site.
    ///
    /// # Errors
    /// As [`Identity::impersonation_start`]; [`Code::Forbidden`] where the address is not that of an owner.
    pub async fn impersonation_start_for(
        &self,
        site: &Arc<Site>,
        owner: &Email,
        member: &MemberId,
        request: ImpersonationRequest,
    ) -> Result<ImpersonationStart> {
        let core = &self.core;
        let known = operator::find_by_email(core, owner).await?.map(|it| it.operator.id);
        let role = match &known {
            Some(id) => operator::role_at(core, id, &site.id).await?,
            None => None,
        };
        let Some(owner) = known.filter(|_| role == Some(Role::Owner)) else {
            return Err(Fault::because(Code::Forbidden, "No owner of this site has the address."));
        };
        let by = Impersonator { owner, session: None };
        start(core, site, Begun { by, from: None, member: member.clone(), request }).await
    }

    /// Ends that owners act as a member, and answers how many did until now: their tokens are refused from now on.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`].
    pub async fn impersonation_end(
        &self,
        site: &Site,
        caller: &Caller,
        member: &MemberId,
        from: Option<IpAddr>,
    ) -> Result<usize> {
        let core = &self.core;
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let which = SessionSelector::ImpersonationsOf(member.clone());
        let input = (core.clone(), site.id.clone(), caller.clone(), member.clone(), which.clone());
        let ended = session::end_in(core, site, Some(which), input, move |tx, (core, site, caller, member, which)| {
            boxed!({
                member::get(tx, site, member).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                session::impersonation::end(core, tx, site, which, audit::Actor::Caller(caller), from).await
            })
        });
        ended.await
    }

    /// Records that an owner who may change items as a member makes a call that can: before it is made, so that no change is
    /// without its record. Other callers are not recorded.
    ///
    /// # Errors
    /// What the database answers; the call is not to be made then.
    pub async fn impersonation_record(&self, site: &Site, caller: &Caller, call: &str, from: IpAddr) -> Result<()> {
        let (Some(by), Caller::Member { id, .. }) = (caller.impersonator(), caller.bare()) else { return Ok(()) };
        if !caller.scopes().is_some_and(|it| it.allow_somewhere(Area::Items, Right::Write)) {
            return Ok(());
        }
        let input = (self.core.clone(), site.id.clone(), by.owner.clone(), id.clone(), call.to_owned());
        let recorded = site.append_with(input, move |tx, (core, site, owner, member, call)| {
            boxed!({
                let entry = audit::Entry::by_operator(owner, audit::Event::ImpersonationWrote, member);
                audit::record(core, tx, site, entry.at_address(Some(from)).with_detail(call)).await
            })
        });
        recorded.await
    }
}

/// What is to begin.
struct Begun {
    by: Impersonator,
    from: Option<IpAddr>,
    member: MemberId,
    request: ImpersonationRequest,
}

async fn start(core: &Arc<Core>, site: &Arc<Site>, begun: Begun) -> Result<ImpersonationStart> {
    let (id, now) = (SessionId::from(core.world().uuid()), core.now());
    let expires = now + IMPERSONATION_LIFE.min(core.config().access_life);
    let Begun { by, member, request: ImpersonationRequest { access, .. }, .. } = &begun;
    let caller = Caller::Member { id: member.clone(), session: id.clone(), client: None };
    let caller = caller.impersonated(by.clone(), &access.scopes());
    let started = ImpersonationStart {
        session: id.clone(),
        member: member.clone(),
        access: *access,
        expires,
        token: token::issue_access(core, &site.id, &caller, None).await?,
    };
    // What is refused ends nothing.
    let (site_id, asked, access) = (site.id.clone(), member.clone(), *access);
    site.read(ReaderPool::Point, move |tx| boxed!(require_startable(tx, &site_id, &asked, access).await.map(drop)))
        .await?;
    let before = SessionSelector::ImpersonationsBy(member.clone(), by.owner.clone());
    let input = (core.clone(), site.clone(), id, begun, expires, before.clone());
    session::end_in(core, site, Some(before), input, |tx, (core, site, id, begun, expires, before)| {
        boxed!({
            let Begun { by, from, member, request } = begun;
            let (policy, known) = require_startable(tx, &site.id, member, request.access).await?;
            let actor = audit::Actor::Operator(&by.owner);
            let (_, ended) = session::impersonation::end(core, tx, &site.id, before, actor, *from).await?;
            insert(core, tx, site, id, begun, *expires).await?;
            // Whether the member was told is what a policy that is set back would hide.
            let told = if policy.impersonation_without_notice { ", member not told" } else { "" };
            let detail = format!("{}{told}: {}", request.access.name(), request.reason);
            let entry = audit::Entry::by_operator(&by.owner, audit::Event::ImpersonationStarted, member);
            audit::record(core, tx, &site.id, entry.at_address(*from).with_detail(&detail)).await?;
            if !policy.impersonation_without_notice {
                notice::impersonated(core, tx, &site.id, &known).await?;
            }
            Ok(((), ended))
        })
    })
    .await?;
    mail::deliver_soon(core, &site.id).await;
    Ok(started)
}

/// What the policy and the member allow, inside a transaction.
async fn require_startable(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    access: Impersonation,
) -> Result<(SignOnPolicy, Member)> {
    let policy = policy::read(tx, site).await?;
    require_allowed(policy.impersonation, access)?;
    let known = member::get(tx, site, member).await?.filter(Member::is_there);
    let known = known.ok_or_else(|| Fault::new(Code::NotFound))?;
    member::require_active(tx, site, member).await?;
    Ok((policy, known))
}

/// # Errors
/// [`Code::Forbidden`], which names the member of the policy.
fn require_allowed(allowed: Impersonation, asked: Impersonation) -> Result<()> {
    if asked <= allowed && !asked.is_off() {
        return Ok(());
    }
    let why =
        format!("The sign-on policy of this site has impersonation {}; {} is needed.", allowed.name(), asked.name());
    Err(Fault::because(Code::Forbidden, why).with("policy", "signOnPolicy.impersonation"))
}

/// A session like those of members, but for what makes more of one: its secret is thrown away, the visitor is none, and the
/// member's own first session is still to come.
async fn insert(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    id: &SessionId,
    begun: &Begun,
    expires: Millis,
) -> Result<()> {
    let thrown_away = token::opaque(core.world(), Kind::Cookie, site.number);
    let sql = "insert into stoa.session (site, id, root, member, hash, created, used, expires, scopes, impersonator) \
               values ($1, $2, $2, $3, $4, $5, $5, $6, $7, $8)";
    let values = params![
        &site.id,
        id,
        &begun.member,
        TokenHash::of(thrown_away.expose()),
        core.now(),
        expires,
        begun.request.access.scopes().to_string(),
        &begun.by.owner
    ];
    tx.send(sql, values).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn policy_decides_how_far_it_goes() {
        use Impersonation::{Off, Read, Write};
        for (allowed, asked, is_allowed) in [
            (Off, Read, false),
            (Off, Write, false),
            (Off, Off, false),
            (Read, Read, true),
            (Read, Write, false),
            (Write, Read, true),
            (Write, Write, true),
            (Write, Off, false),
        ] {
            assert_eq!(require_allowed(allowed, asked).is_ok(), is_allowed, "{allowed:?} {asked:?}");
        }
        let told = require_allowed(Read, Write).unwrap_err();
        assert!(told.message().contains("impersonation READ; WRITE is needed"), "{}", told.message());
    }

    #[test]
    fn requests_are_refused_by_what_is_wrong() {
        let good = ImpersonationRequest::parse(&json!({ "reason": " to help \u{20ac} ", "password": "x" })).unwrap();
        assert_eq!((good.access, good.reason.as_str()), (Impersonation::Read, "to help \u{20ac}"));
        let longest = "r".repeat(LONGEST_REASON);
        assert!(ImpersonationRequest::parse(&json!({ "reason": longest, "access": "WRITE" })).is_ok());
        for (body, field, rule) in [
            (json!({}), "reason", "REQUIRED_FIELD"),
            (json!({ "reason": "  " }), "reason", "REQUIRED_FIELD"),
            (json!({ "reason": 1 }), "reason", "FORMAT"),
            (json!({ "reason": "a\u{0}b" }), "reason", "FORMAT"),
            (json!({ "reason": "a\nb" }), "reason", "FORMAT"),
            (json!({ "reason": format!("{longest}r") }), "reason", "MAX_LENGTH"),
            (json!({ "reason": "r", "access": "OFF" }), "access", "INVALID_ENUM_VALUE"),
            (json!({ "reason": "r", "access": "read" }), "access", "INVALID_ENUM_VALUE"),
            (json!({ "reason": "r", "access": true }), "access", "FORMAT"),
        ] {
            let fault = ImpersonationRequest::parse(&body).unwrap_err();
            let told: Vec<_> = fault.violations().iter().map(|it| (it.field.as_str(), it.violated_rule)).collect();
            assert_eq!(told, [(field, rule)], "{body}");
        }
    }
}
