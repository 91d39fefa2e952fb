//! Tests on multi-references, through the table of links.
//!
//! Who asks for ids gets the items from the index of the links, however many items there are; who asks
//! whether there are links at all looks once for each item.

use super::parts::published;
use crate::{
    plan::{Scalar, Scope, Test},
    schema::Links,
};
use stoa_sql::Writer;

/// `id` is the column with the item's id.
pub(super) fn condition(sql: &mut Writer<'_>, links: &Links, test: &Test, id: &str) -> String {
    match test {
        Test::Present | Test::Array => some(sql, links, id),
        Test::Empty => format!("not {}", some(sql, links, id)),
        Test::Equal(Scalar::Text(it)) => to(sql, links, vec![it.clone()], id),
        Test::In(list) => {
            let text = |it: &Scalar| if let Scalar::Text(it) = it { Some(it.clone()) } else { None };
            to(sql, links, list.iter().filter_map(text).collect(), id)
        }
        // Ids are texts.
        _ => "false".to_owned(),
    }
}

/// There is a link.
fn some(sql: &mut Writer<'_>, links: &Links, id: &str) -> String {
    format!(
        "exists (select 1 from stoa.item_link link where {} and link.{} = {id})",
        only(sql, links),
        links.source_column
    )
}

/// There is a link to one of these.
fn to(sql: &mut Writer<'_>, links: &Links, ids: Vec<String>, id: &str) -> String {
    if ids.is_empty() || links.scope == Scope::Nothing {
        return "false".to_owned();
    }
    let only = only(sql, links);
    let list = sql.param(ids);
    let among = sql.dialect().any_of(&format!("link.{}", links.target_column), &list);
    format!("{id} in (select link.{} from stoa.item_link link where {only} and {among})", links.source_column)
}

/// A link is one of this field's, and leads to what the caller may read.
fn only(sql: &mut Writer<'_>, links: &Links) -> String {
    if links.scope == Scope::Nothing {
        return "false".to_owned();
    }
    let (site, relation) = (sql.param(&links.site), sql.param(links.relation));
    let of_field = format!("link.site = {site} and link.relation = {relation}");
    match visible(sql, &links.scope) {
        None => of_field,
        Some(is_visible) => {
            let (table, target) = (sql.dialect().table(links.table), links.target_column);
            let is_theirs = format!("far.id = link.{target} and {is_visible}");
            format!("{of_field} and exists (select 1 from {table} far where {is_theirs})")
        }
    }
}

/// What a scope asks of an item of the table `far`; nothing if all of them are in it.
fn visible(sql: &mut Writer<'_>, scope: &Scope) -> Option<String> {
    match scope {
        Scope::Everything => None,
        Scope::Nothing => Some("false".to_owned()),
        Scope::OwnedBy(owner) => Some(format!("far.owner = {}", sql.param(owner))),
        Scope::Published { within, unmarked } => {
            let (within, is_published) = (visible(sql, within), published(sql, *unmarked));
            Some(within.map_or_else(|| is_published.clone(), |it| format!("{it} and {is_published}")))
        }
    }
}
