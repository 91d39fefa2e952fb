//! `stoa member …`, but for the import.

use super::terminal::Terminal;
use crate::{
    cli::{Member as Typed, MemberVerb, Verb},
    failure::Failure,
    print::print,
    services::{Services, operator},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_identity::{
    Impersonation,
    manage::ImpersonationRequest,
    member::{Audience, Member, MemberField, MemberFilter, MemberQuery, Operand, Status},
};
use stoa_kernel::{Code, Email, Fault, MemberId, date::iso_from_millis};
use stoa_store::Site;

pub async fn run(services: &Services, site: &Arc<Site>, verb: &MemberVerb) -> Result<Value, Failure> {
    let identity = &services.identity;
    match verb {
        MemberVerb::List { pending, limit } => list(services, site, *pending, *limit).await,
        MemberVerb::Show { member } => Ok(view(&find(services, site, member).await?)),
        MemberVerb::Approve { member } => {
            let id = id_of(services, site, member).await?;
            let approved = identity.member_approve(site, &operator(), &id).await;
            let member = approved.map_err(|it| unknown(it, member))?;
            Ok(json!({ "memberId": member.id, "email": member.email, "status": member.status.name() }))
        }
        MemberVerb::Block { member, undo } => {
            let id = id_of(services, site, member).await?;
            let moved = match undo {
                true => identity.member_unblock(site, &operator(), &id).await,
                false => identity.member_block(site, &operator(), &id).await,
            };
            let member = moved.map_err(|it| unknown(it, member))?;
            Ok(json!({ "memberId": member.id, "email": member.email, "status": member.status.name() }))
        }
        MemberVerb::Delete { member, yes } => {
            if !yes {
                return Err(not_confirmed());
            }
            let found = find(services, site, member).await?;
            identity.member_delete(site, &operator(), &found.id).await?;
            Ok(json!({ "deleted": found.id, "email": found.email }))
        }
        MemberVerb::Keep { member } => {
            let id = id_of(services, site, member).await?;
            let kept = identity.deletion_undo_for(site, &operator(), &id).await;
            let member = kept.map_err(|it| unknown(it, member))?;
            Ok(json!({ "memberId": member.id, "email": member.email, "status": member.status.name() }))
        }
        MemberVerb::ResetPassword { member } => {
            let found = find(services, site, member).await?;
            identity.password_refuse(site, &operator(), &found.id).await?;
            // Whose deletion waits gets no link that signs in: they ask for one once the account is kept.
            let is_sent = found.deletion.is_none();
            if is_sent {
                identity.activation_send(site, &operator(), &json!({ "identityId": found.id })).await?;
            }
            Ok(json!({ "memberId": found.id, "sentTo": is_sent.then_some(found.email) }))
        }
        MemberVerb::Impersonate { member, end: true, .. } => {
            let found = find(services, site, member).await?;
            let ended = identity.impersonation_end(site, &operator(), &found.id, None).await?;
            Ok(json!({ "memberId": found.id, "email": found.email, "ended": ended }))
        }
        MemberVerb::Impersonate { member, owner, reason, write, .. } => {
            let access = if *write { Impersonation::Write } else { Impersonation::Read };
            let (owner, reason) = (owner.as_deref().unwrap_or_default(), reason.as_deref().unwrap_or_default());
            let request = ImpersonationRequest::new(access, reason)?;
            let owner = Email::parse(owner)
                .ok_or_else(|| Failure::new(Code::Validation, format!("{owner:?} is no address of an owner")))?;
            let found = find(services, site, member).await?;
            let started = identity.impersonation_start_for(site, &owner, &found.id, request).await?;
            Ok(json!({
                "memberId": found.id, "email": found.email, "access": started.access.name(),
                "expires": iso_from_millis(started.expires), "accessToken": started.token.token,
            }))
        }
        MemberVerb::ResetFactors { member } => {
            let found = find(services, site, member).await?;
            let removed = identity.factors_reset(site, &operator(), &found.id).await?;
            Ok(json!({ "memberId": found.id, "email": found.email, "removed": removed }))
        }
        MemberVerb::Import { .. } => Err("this command imports members".into()),
    }
}

/// The id of a member who is named by it or by an address.
pub async fn id_of(services: &Services, site: &Site, named: &str) -> Result<MemberId, Failure> {
    match Email::parse(named) {
        Some(email) => {
            let found = services.identity.member_by_email(site, &email).await?;
            let unknown = || Failure::new(Code::NotFound, format!("nobody has the address {named}"));
            Ok(found.ok_or_else(unknown)?.id)
        }
        None => Ok(MemberId::from(named)),
    }
}

async fn find(services: &Services, site: &Site, named: &str) -> Result<Member, Failure> {
    let id = id_of(services, site, named).await?;
    let found = services.identity.member_get(site, &id).await?.filter(Member::is_there);
    found.ok_or_else(|| unknown(Fault::new(Code::NotFound), named))
}

fn unknown(fault: Fault, named: &str) -> Failure {
    match fault.code() {
        Code::NotFound => Failure::new(Code::NotFound, format!("no member has the id {named}; see stoa member list")),
        _ => fault.into(),
    }
}

async fn list(services: &Services, site: &Site, pending: bool, limit: u32) -> Result<Value, Failure> {
    let status = Operand::Text(Status::Pending.name().to_owned());
    let filter = if pending { MemberFilter::equal(MemberField::Status, status) } else { MemberFilter::default() };
    let query = MemberQuery { filter, limit, ..MemberQuery::default() };
    let members = services.identity.member_query(site, Audience::Staff, &query).await?.members;
    let view = |it: Member| {
        json!({ "memberId": it.id, "email": it.email, "status": it.status.name(), "waitsFor": waits_for(&it),
            "created": iso_from_millis(it.created) })
    };
    Ok(members.into_iter().map(view).collect())
}

fn waits_for(member: &Member) -> String {
    let reasons =
        [(member.pending_email, "email"), (member.pending_fields, "fields"), (member.pending_approval, "approval")];
    reasons.into_iter().filter(|it| it.0).map(|it| it.1).collect::<Vec<_>>().join("+")
}

fn view(member: &Member) -> Value {
    json!({
        "memberId": member.id, "email": member.email, "emailVerified": member.email_verified,
        "status": member.status.name(), "waitsFor": waits_for(member), "muted": member.muted,
        "isPublic": member.is_public, "mustResetPassword": member.must_reset,
        "created": iso_from_millis(member.created), "updated": iso_from_millis(member.updated),
        "lastLogin": member.last_login.map(iso_from_millis),
        "deletion": member.deletion.map(|it| iso_from_millis(it.due)),
    })
}

/// Says who goes, and asks once more.
pub fn delete_typed(terminal: &mut Terminal<'_>, mut typed: Typed) -> Result<(), Failure> {
    let MemberVerb::Delete { member, yes } = &mut typed.verb else { return Err("this command deletes".into()) };
    if !*yes {
        let show = Typed { site: typed.site.clone(), verb: MemberVerb::Show { member: member.clone() } };
        let shown = terminal.run(&Verb::Member(show), None)?;
        let email = shown["email"].as_str().unwrap_or_default();
        let question = format!("The account {email} goes for good. Type the address to delete it:");
        if terminal.ask(&question, &not_confirmed().message)? != email {
            return Err(not_confirmed());
        }
        *yes = true;
    }
    let value = terminal.run(&Verb::Member(typed), None)?;
    print(&value, terminal.as_json);
    Ok(())
}

fn not_confirmed() -> Failure {
    Failure::new(Code::Validation, "no one was deleted; to delete the account without being asked add --yes")
}
