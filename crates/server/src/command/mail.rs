//! `stoa mail …`

use super::terminal::Terminal;
use crate::{
    cli::{Mail, MailVerb, Verb},
    failure::Failure,
    print::print,
    services::{Services, operator},
};
use serde_json::{Value, json};
use std::{io::Read, path::Path};
use stoa_identity::mail::MailSetting;
use stoa_kernel::date::iso_from_millis;
use stoa_store::Site;

/// The file with the site's own words.
pub fn file(verb: &MailVerb) -> Option<&Path> {
    match verb {
        MailVerb::Set { file } => Some(file),
        _ => None,
    }
}

pub async fn run(
    services: &Services,
    site: &Site,
    verb: &MailVerb,
    input: Box<dyn Read + Send>,
) -> Result<Value, Failure> {
    match verb {
        MailVerb::Show => Ok(json!(services.identity.mail_setting(site).await?)),
        MailVerb::Set { .. } => {
            let text = std::io::read_to_string(input).map_err(|it| it.to_string())?;
            set(services, site, &text).await
        }
        MailVerb::Preview { .. } => preview(services, site).await,
        MailVerb::Failures => failures(services, site).await,
    }
}

async fn set(services: &Services, site: &Site, text: &str) -> Result<Value, Failure> {
    let setting = MailSetting::parse(text)?;
    services.identity.mail_setting_update(site, &operator(), &setting).await?;
    Ok(json!({ "templates": setting.templates.values().map(|it| it.len()).sum::<usize>() }))
}

async fn preview(services: &Services, site: &Site) -> Result<Value, Failure> {
    let all = services.identity.mail_preview(site).await?;
    let view = |(language, kind, mail)| json!({ "language": language, "kind": kind, "mail": json!(mail) });
    Ok(all.into_iter().map(view).collect())
}

async fn failures(services: &Services, site: &Site) -> Result<Value, Failure> {
    let all = services.identity.mail_failures(site).await?;
    let view = |it: stoa_identity::mail::Failure| {
        json!({ "id": it.id, "kind": it.kind, "memberId": it.member, "created": iso_from_millis(it.created),
            "attempts": it.attempts, "error": it.error })
    };
    Ok(all.into_iter().map(view).collect())
}

/// Writes the messages into the directory that was named.
pub fn preview_typed(terminal: &mut Terminal<'_>, typed: Mail) -> Result<(), Failure> {
    let directory = match &typed.verb {
        MailVerb::Preview { directory } => directory.clone(),
        _ => return Err("this command writes messages".into()),
    };
    let value = terminal.run(&Verb::Mail(typed), None)?;
    let count = write_preview(&value, &directory)?;
    print(&json!({ "messages": count }), terminal.as_json);
    Ok(())
}

/// One HTML and one text file a message: `verification.de.html`, `verification.de.txt`. Answers how many messages.
fn write_preview(value: &Value, directory: &Path) -> Result<usize, String> {
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
    Ok(all.len())
}
