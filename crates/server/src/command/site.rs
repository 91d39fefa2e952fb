//! `stoa site …`

use super::terminal::Terminal;
use crate::{
    cli::{AutoIndexState, Face, ImpersonationAccess, OperatorFactors, SecondFactors, SiteVerb, Verb},
    failure::Failure,
    print::{count, print},
    services::{Services, choose, operator},
};
use serde_json::{Value, json};
use stoa_content::ListOptions;
use stoa_identity::{
    Impersonation,
    face::FaceSetting,
    member::{Audience, MemberFilter, MemberQuery},
    policy::{OperatorFactorPolicy, PolicyChange, SecondFactorPolicy},
};
use stoa_kernel::{Code, date::iso_from_millis};
use stoa_store::{SITE_KEPT, SiteChange, SiteRecord};

pub async fn run(services: &Services, verb: &SiteVerb) -> Result<Value, Failure> {
    let store = &services.store;
    match verb {
        SiteVerb::Create { name, host_name, default } => {
            // What answers everywhere while it is alone goes on answering when a second one comes.
            let is_first = store.site_list(false).await?.is_empty();
            let wanted = SiteChange {
                name: Some(name.clone()),
                add_hosts: host_name.clone(),
                is_default: (*default || is_first).then_some(true),
                ..SiteChange::default()
            };
            Ok(json!({ "siteId": store.site_make(wanted, &services.world).await?.id }))
        }
        SiteVerb::List { deleted } => Ok(store.site_list(*deleted).await?.iter().map(view).collect()),
        SiteVerb::Show { named } => show(services, &services.choose(named.as_deref()).await?).await,
        SiteVerb::Update { named, name, host_name, no_host_name, default, no_default, face } => {
            let change = SiteChange {
                name: name.clone(),
                add_hosts: host_name.clone(),
                remove_hosts: no_host_name.clone(),
                is_default: match (default, no_default) {
                    (true, _) => Some(true),
                    (_, true) => Some(false),
                    _ => None,
                },
                is_demo: None,
            };
            let face = face_setting(face);
            if change == SiteChange::default() && face == FaceSetting::default() {
                return Err(Failure::usage("nothing is to be changed; see stoa site update --help"));
            }
            // All of it can be, before any of it is changed.
            face.check()?;
            let mut record = services.choose(Some(named)).await?;
            if change != SiteChange::default() {
                record = store.site_update(&record.id, change, services.world.now()).await?;
            }
            let site = store.site(&record.id).await?;
            let face = services.identity.site_face_change(&site, face).await?;
            Ok(with_face(view(&record), &face))
        }
        SiteVerb::Delete { named, yes } => {
            let site = services.choose(Some(named)).await?;
            if yes.as_deref() != Some(site.name.as_str()) {
                return Err(not_confirmed(&site.name));
            }
            store.site_delete(&site.id, services.world.now()).await?;
            let until = iso_from_millis(services.world.now() + SITE_KEPT);
            Ok(json!({ "deleted": site.id, "name": site.name, "canBeRestoredUntil": until }))
        }
        SiteVerb::Restore { named } => {
            let gone = choose(store.site_list(true).await?, Some(named))?;
            Ok(view(&store.site_restore(&gone.id, services.world.now()).await?))
        }
        SiteVerb::AutoIndex { state, site } => {
            let site = services.choose_site(site.site.as_deref()).await?;
            let is_on = match state {
                AutoIndexState::On => Some(true),
                AutoIndexState::Off => Some(false),
                AutoIndexState::Default => None,
            };
            services.content.auto_index_set(&site, is_on).await?;
            Ok(json!({ "autoIndex": services.content.auto_index_is_on(&site).await? }))
        }
        SiteVerb::SecondFactors { state, grace, role, by_telephone, site } => {
            let site = services.choose_site(site.site.as_deref()).await?;
            let second_factor = match state {
                SecondFactors::Off => SecondFactorPolicy::Off,
                SecondFactors::Optional => SecondFactorPolicy::Optional,
                SecondFactors::Required => SecondFactorPolicy::Required,
            };
            let mut change = json!({ "secondFactor": second_factor.name(), "secondFactorGraceDays": grace,
                "secondFactorByTelephone": by_telephone });
            if !role.is_empty() {
                let keys: Vec<&String> = role.iter().filter(|it| !it.is_empty()).collect();
                change["secondFactorRoles"] = json!(keys);
            }
            // Read as a call's is, so that what is wrong is named alike.
            let change = PolicyChange::parse(&json!({ "signOnPolicy": change }))?;
            let policy = services.identity.policy_update(&site, &operator(), change).await?;
            let mut view = json!({ "secondFactor": policy.second_factor.name() });
            if policy.second_factor_by_telephone {
                view["secondFactorByTelephone"] = json!(true);
            }
            if let Some(days) = policy.second_factor_grace_days {
                view["secondFactorGraceDays"] = json!(days);
                view["secondFactorRoles"] = json!(policy.second_factor_roles);
            }
            Ok(view)
        }
        SiteVerb::OperatorFactors { state, grace, site } => {
            let site = services.choose_site(site.site.as_deref()).await?;
            let factors = match state {
                OperatorFactors::Optional => OperatorFactorPolicy::Optional,
                OperatorFactors::Required => OperatorFactorPolicy::Required,
            };
            let change = json!({ "operatorSecondFactor": factors.name(), "operatorSecondFactorGraceDays": grace });
            let change = PolicyChange::parse(&json!({ "signOnPolicy": change }))?;
            let policy = services.identity.policy_update(&site, &operator(), change).await?;
            let mut view = json!({ "operatorSecondFactor": policy.operator_second_factor.name() });
            if let Some(days) = policy.operator_second_factor_grace_days {
                view["operatorSecondFactorGraceDays"] = json!(days);
            }
            Ok(view)
        }
        SiteVerb::AccountDeletion { days, site } => {
            let site = services.choose_site(site.site.as_deref()).await?;
            let change = PolicyChange::parse(&json!({ "signOnPolicy": { "accountDeletionDays": days } }))?;
            let policy = services.identity.policy_update(&site, &operator(), change).await?;
            Ok(json!({ "accountDeletionDays": policy.deletion_days() }))
        }
        SiteVerb::Impersonation { access, notice, site } => {
            let site = services.choose_site(site.site.as_deref()).await?;
            let access = match access {
                ImpersonationAccess::Off => Impersonation::Off,
                ImpersonationAccess::Read => Impersonation::Read,
                ImpersonationAccess::Write => Impersonation::Write,
            };
            let without = notice.map(|it| !it);
            let change = json!({ "impersonation": access.name(), "impersonationWithoutNotice": without });
            let change = PolicyChange::parse(&json!({ "signOnPolicy": change }))?;
            let policy = services.identity.policy_update(&site, &operator(), change).await?;
            let (access, notice) = (policy.impersonation.name(), !policy.impersonation_without_notice);
            Ok(json!({ "impersonation": access, "notice": notice }))
        }
        SiteVerb::Captcha(_) => Err("this command is about a captcha".into()),
        SiteVerb::Mail(_) => Err("this command is about mail".into()),
        SiteVerb::Provider(_) => Err("this command is about providers".into()),
    }
}

fn view(site: &SiteRecord) -> Value {
    let mut view = json!({ "siteId": site.id, "name": site.name, "hosts": site.hosts, "isDefault": site.is_default });
    view["isDemo"] = json!(site.is_demo);
    view["hasSandbox"] = json!(site.has_sandbox);
    view["created"] = json!(iso_from_millis(site.created));
    if let Some(deleted) = site.deleted {
        view["deleted"] = json!(iso_from_millis(deleted));
        view["canBeRestoredUntil"] = json!(iso_from_millis(deleted + SITE_KEPT));
    }
    view
}

/// What is to be changed of the looks.
fn face_setting(face: &Face) -> FaceSetting {
    let Face { logo, colour, terms, privacy, language } = face.clone();
    FaceSetting { logo, colour, terms, privacy, language }
}

/// The same site with what it has chosen of its looks.
fn with_face(mut view: Value, face: &FaceSetting) -> Value {
    let FaceSetting { logo, colour, terms, privacy, language } = face;
    let all = [("logo", logo), ("colour", colour), ("terms", terms), ("privacy", privacy), ("language", language)];
    for (name, value) in all {
        if let Some(value) = value {
            view[name] = json!(value);
        }
    }
    view
}

/// A site with how much is in it.
async fn show(services: &Services, record: &SiteRecord) -> Result<Value, Failure> {
    let site = services.store.site(&record.id).await?;
    let options = ListOptions { limit: Some(0), ..ListOptions::default() };
    let collections = services.content.collection_list(&site, &operator(), &options).await?.total;
    let query = MemberQuery { filter: MemberFilter::default(), limit: 1, ..MemberQuery::default() };
    let members = services.identity.member_query(&site, Audience::Staff, &query).await?.total;
    let keys = services.identity.api_key_list(&site.id).await?;
    let mut view = with_face(view(record), &services.identity.site_face_setting(&site).await?);
    view["collections"] = json!(collections);
    view["members"] = json!(members);
    view["clients"] = json!(services.identity.client_list(&site.id).await?.len());
    view["keys"] = json!(keys.iter().filter(|it| it.revoked.is_none()).count());
    view["owners"] = json!(services.identity.owner_count(&site.id).await?);
    Ok(view)
}

/// Says what goes, and wants the name typed.
pub fn delete_typed(terminal: &mut Terminal<'_>, named: String, yes: Option<String>) -> Result<(), Failure> {
    let shown = terminal.run(&Verb::Site(SiteVerb::Show { named: Some(named) }), None)?;
    let name = shown["name"].as_str().unwrap_or_default().to_owned();
    let yes = match yes {
        Some(yes) => yes,
        None => {
            let parts = ["collections", "members", "clients", "keys", "owners"];
            let parts = parts.map(|it| format!("{} {it}", count(shown[it].as_u64().unwrap_or_default())));
            let question = format!(
                "{name} goes with all it has: {}. It can be restored for 30 days.\nType its name to delete it:",
                parts.join(", ")
            );
            terminal.ask(&question, &not_confirmed(&name).message)?
        }
    };
    if yes != name {
        return Err(not_confirmed(&name));
    }
    let id = shown["siteId"].as_str().unwrap_or_default().to_owned();
    let deleted = terminal.run(&Verb::Site(SiteVerb::Delete { named: id, yes: Some(yes) }), None)?;
    print(&deleted, terminal.as_json);
    Ok(())
}

fn not_confirmed(name: &str) -> Failure {
    Failure::new(Code::Validation, format!("nothing was deleted; to delete this site give its name: --yes {name:?}"))
}
