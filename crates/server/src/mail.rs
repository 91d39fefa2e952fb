//! Commands about members who wait and about messages.

#![expect(clippy::print_stdout, reason = "this is what commands print")]

use crate::services::{Services, operator, sentence};
use serde_json::{Value, json};
use std::path::Path;
use stoa_identity::{
    mail::MailSetting,
    member::{Audience, MemberField, MemberFilter, MemberQuery, Operand, Status},
};
use stoa_kernel::{Code, Email, MemberId, date::iso_from_millis};
use stoa_store::Site;

pub async fn member_list(services: &Services, site: &Site, pending: bool, limit: u32) -> Result<Value, String> {
    let status = Operand::Text(Status::Pending.name().to_owned());
    let filter = if pending { MemberFilter::Is(MemberField::Status, "=", status) } else { MemberFilter::default() };
    let query = MemberQuery { filter, limit, ..MemberQuery::default() };
    let members = services.identity.member_query(site, Audience::Staff, &query).await.map_err(sentence)?.members;
    let waits_for = |it: &stoa_identity::member::Member| {
        let reasons = [(it.pending_email, "email"), (it.pending_fields, "fields"), (it.pending_approval, "approval")];
        reasons.into_iter().filter(|it| it.0).map(|it| it.1).collect::<Vec<_>>().join("+")
    };
    let view = |it: stoa_identity::member::Member| {
        let waits_for = waits_for(&it);
        json!({ "memberId": it.id, "email": it.email, "status": it.status.name(), "waitsFor": waits_for,
            "created": iso_from_millis(it.created) })
    };
    Ok(members.into_iter().map(view).collect())
}

pub async fn member_approve(services: &Services, site: &Site, named: &str) -> Result<Value, String> {
    let identity = &services.identity;
    let id = match Email::parse(named) {
        Some(email) => {
            let found = identity.member_by_email(site, &email).await.map_err(sentence)?;
            found.map(|it| it.id).ok_or_else(|| format!("nobody has the address {named}"))?
        }
        None => MemberId::from(named),
    };
    let approved = identity.member_approve(site, &operator(), &id).await;
    let member = approved.map_err(|it| match it.code() {
        Code::NotFound => format!("no member has the id {named}; see stoa member list --pending"),
        _ => sentence(it),
    })?;
    Ok(json!({ "memberId": member.id, "email": member.email, "status": member.status.name() }))
}

pub async fn set(services: &Services, site: &Site, text: &str) -> Result<Value, String> {
    let setting = MailSetting::parse(text).map_err(sentence)?;
    services.identity.mail_setting_update(site, &operator(), &setting).await.map_err(sentence)?;
    Ok(json!({ "templates": setting.templates.values().map(|it| it.len()).sum::<usize>() }))
}

pub async fn preview(services: &Services, site: &Site) -> Result<Value, String> {
    let all = services.identity.mail_preview(site).await.map_err(sentence)?;
    let view = |(language, kind, mail)| json!({ "language": language, "kind": kind, "mail": json!(mail) });
    Ok(all.into_iter().map(|(language, kind, mail)| view((language, kind, mail))).collect())
}

pub async fn failures(services: &Services, site: &Site) -> Result<Value, String> {
    let all = services.identity.mail_failures(site).await.map_err(sentence)?;
    let view = |it: stoa_identity::mail::Failure| {
        json!({ "id": it.id, "kind": it.kind, "memberId": it.member, "created": iso_from_millis(it.created),
            "attempts": it.attempts, "error": it.error })
    };
    Ok(all.into_iter().map(view).collect())
}

/// One HTML and one text file a message: `verification.de.html`, `verification.de.txt`.
pub fn write_preview(value: &Value, directory: &Path, as_json: bool) -> Result<(), String> {
    let failed = |it: std::io::Error| format!("{}: {it}", directory.display());
    std::fs::create_dir_all(directory).map_err(failed)?;
    let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    for message in all {
        let name = format!("{}.{}", text(&message["kind"]), text(&message["language"]));
        std::fs::write(directory.join(format!("{name}.html")), text(&message["mail"]["html"])).map_err(failed)?;
        let plain = format!("Subject: {}\n\n{}", text(&message["mail"]["subject"]), text(&message["mail"]["text"]));
        std::fs::write(directory.join(format!("{name}.txt")), plain).map_err(failed)?;
    }
    match as_json {
        true => println!("{}", json!({ "messages": all.len() })),
        false => println!("{} messages in {}", all.len(), directory.display()),
    }
    Ok(())
}
