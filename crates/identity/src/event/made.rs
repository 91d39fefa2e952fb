//! What events tell of people, by what rows of the log name.

use crate::{
    community::{
        entity,
        kind::{ABOUT, BADGE, Kind},
        relation::{self, Interaction, Relation},
        report,
    },
    event::entry::IdentityChange,
    log::RelationIds,
    member::{self, Member},
};
use serde_json::{Value, json};
use std::collections::HashMap;
use stoa_kernel::{EntryKind, Result};
use stoa_store::{ReaderPool, Site, boxed};

/// For each type of event of the row's kind, of which entity it tells and what.
type Changes = Vec<(String, Value)>;

/// What a row tells of each entity that it names; nothing of one that is no longer there to be told of.
pub(super) async fn changes(site: &Site, kind: EntryKind, change: IdentityChange) -> Result<Vec<Changes>> {
    match change {
        IdentityChange::Entities(ids) => entities(site, kind, ids).await,
        IdentityChange::Relations(relations) => of_relations(site, kind, relations).await,
        IdentityChange::Policy(policy) => Ok(vec![vec![(site.id.to_string(), json!({ "currentEntity": policy }))]]),
    }
}

async fn entities(site: &Site, kind: EntryKind, ids: Vec<String>) -> Result<Vec<Changes>> {
    let now_there = match kind {
        EntryKind::MemberCreated | EntryKind::MemberUpdated => members(site, &ids).await?,
        EntryKind::BadgeCreated | EntryKind::BadgeUpdated => read_entities(site, &BADGE, &ids).await?,
        EntryKind::AboutCreated | EntryKind::AboutUpdated => read_entities(site, &ABOUT, &ids).await?,
        EntryKind::FirstReported => reported(site, &ids).await?,
        _ => HashMap::new(),
    };
    let change = |id: String| {
        let change = match kind {
            EntryKind::MemberCreated | EntryKind::BadgeCreated | EntryKind::AboutCreated => now_there.get(&id)?.clone(),
            EntryKind::MemberUpdated | EntryKind::BadgeUpdated | EntryKind::AboutUpdated => {
                json!({ "currentEntity": now_there.get(&id)? })
            }
            EntryKind::FirstReported => json!({ "reportedMember": now_there.get(&id)? }),
            EntryKind::ReportsDeleted => json!({ "reportedMemberId": id }),
            EntryKind::RedirectSessionCreated => json!({ "id": id }),
            // An instance that was made as a copy of another names it here; there are none.
            EntryKind::AppInstalled => json!({ "appId": id, "originInstanceId": "" }),
            EntryKind::AppRemoved => json!({ "appId": id }),
            // Of what was deleted only the id is told.
            _ => Value::Null,
        };
        Some(vec![(id, change)])
    };
    Ok(ids.into_iter().map(|id| change(id).unwrap_or_default()).collect())
}

async fn of_relations(site: &Site, kind: EntryKind, relations: Vec<RelationIds>) -> Result<Vec<Changes>> {
    let (name, show): (_, fn(&Relation) -> Value) = match kind {
        EntryKind::BadgeAssigned => (Some(BADGE.name), Relation::assignment_json),
        EntryKind::MemberReported => (Some(Interaction::Report.name()), Relation::report_json),
        _ => (None, Relation::assignment_json),
    };
    let now_there = match name {
        Some(name) => read_relations(site, name, &relations).await?,
        None => HashMap::new(),
    };
    let change = |it: RelationIds| {
        let RelationIds { id, holder, target } = it;
        Some(match kind {
            EntryKind::BadgeAssigned => {
                let shown = show(now_there.get(&id)?);
                vec![(id, shown), (target, json!({ "memberId": holder }))]
            }
            EntryKind::BadgeUnassigned => {
                let gone = json!({ "id": id, "badgeId": target, "memberId": holder });
                vec![(id, gone), (target, json!({ "memberId": holder }))]
            }
            EntryKind::MemberReported => {
                let shown = show(now_there.get(&id)?);
                vec![(id, shown)]
            }
            EntryKind::ReportDeleted => {
                let gone = json!({ "id": id, "reportedMemberId": target, "reportingMemberId": holder });
                vec![(id, gone)]
            }
            _ => {
                vec![(id, json!({ "memberConnection": { "memberId": holder, "affectedMemberId": target } }))]
            }
        })
    };
    Ok(relations.into_iter().map(|it| change(it).unwrap_or_default()).collect())
}

/// The members with these ids who are there, as apps are shown them.
async fn members(site: &Site, ids: &[String]) -> Result<HashMap<String, Value>> {
    let view = |it: Member| {
        let mut view = it.shown(true);
        view["contact"] = it.contact();
        (it.id.to_string(), view)
    };
    let found = member::find_some(site, ids.to_vec()).await?;
    Ok(found.into_iter().filter(Member::is_there).map(view).collect())
}

async fn read_entities(site: &Site, kind: &'static Kind, ids: &[String]) -> Result<HashMap<String, Value>> {
    let (site_id, ids) = (site.id.clone(), ids.to_vec());
    let read = site.read(ReaderPool::Point, move |tx| boxed!(entity::some(tx, &site_id, kind, &ids).await));
    Ok(read.await?.into_iter().map(|it| (it.id.clone(), it.to_json())).collect())
}

/// The members with these ids who are reported, as the reports API shows them.
async fn reported(site: &Site, ids: &[String]) -> Result<HashMap<String, Value>> {
    let (site_id, ids) = (site.id.clone(), ids.to_vec());
    let read = site.read(ReaderPool::Point, move |tx| boxed!(report::reported_some(tx, &site_id, ids).await));
    Ok(read.await?.into_iter().map(|it| (it.id.clone(), it.to_json())).collect())
}

/// The relations of a kind that are there, by their own ids.
async fn read_relations(
    site: &Site,
    kind: &'static str,
    relations: &[RelationIds],
) -> Result<HashMap<String, Relation>> {
    let (site_id, ids) = (site.id.clone(), relations.iter().map(|it| it.id.clone()).collect::<Vec<_>>());
    let read = site.read(ReaderPool::Point, move |tx| boxed!(relation::some(tx, &site_id, kind, ids).await));
    Ok(read.await?.into_iter().map(|it| (it.id.clone(), it)).collect())
}
