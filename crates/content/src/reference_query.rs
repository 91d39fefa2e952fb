//! Which items an item refers to (protocol/content.md 3.6, 21.6, 21.9; decisions/0010).
//!
//! Both calls need the right to read both collections; items that the caller may not read are as if
//! they weren't there. A single reference that leads nowhere is told of as unresolved, because its id
//! stands in the document anyway.

use crate::{
    Collection, Content, Operation, Page,
    include::{self, Room},
    item,
    reference::{Link, Reference, and_scope, id_of, not_a_reference},
    reference_call::text,
    reference_link::visible,
    request, rule,
};
use serde_json::{Map, Value, json};
use std::{collections::HashSet, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Projection, Scope,
    plan::{Start, Window},
    resolve,
    wire::{self, Paging},
};
use stoa_sql::{Place, Writer, json::quoted};
use stoa_store::{Lane, Site, Tx, boxed};

/// The page's size when the request names none.
const DEFAULT_LIMIT: u32 = 50;

/// A reference field as a caller may read it.
struct Readable {
    key: String,
    reference: Reference,
    near: Arc<Collection>,
    near_scope: Scope,
    far: Arc<Collection>,
    far_scope: Scope,
}

/// A page of what items refer to.
struct Question {
    field: Readable,
    site: String,
    /// Different from each other.
    items: Vec<String>,
    /// Whether answers say which of the items refers.
    is_plural: bool,
    descending: bool,
    window: Window,
    offset: u64,
    projection: Projection,
    total: bool,
}

impl Content {
    /// Whether one item refers to another.
    ///
    /// # Errors
    /// WDE0019 for ids, WDE0020 when the field isn't a reference; WDE0025, WDE0027.
    pub async fn is_referenced(&self, site: &Site, caller: &Caller, members: &Map<String, Value>) -> Result<bool> {
        let (near, far) = (id(members.get("referringItemId"))?, id(members.get("referencedItemId"))?);
        let field = self.readable(site, caller, members).await?;
        let site_id = site.id.as_str().to_owned();
        let found = site.read(Lane::Point, move |tx| {
            boxed!({
                let is_there = |seen: HashSet<String>| !seen.is_empty();
                if !is_there(visible(tx, &field.near, &field.near_scope, vec![near.clone()]).await?)
                    || !is_there(visible(tx, &field.far, &field.far_scope, vec![far.clone()]).await?)
                {
                    return Ok(false);
                }
                let mut sql = Writer::new(tx.dialect());
                match &field.reference {
                    Reference::Single => {
                        let place = sql.dialect().text(&Place::field(std::slice::from_ref(&field.key)));
                        sql.push(&format!("select 1 from {} where id = ", field.near.texts.name)).bind(near);
                        sql.push(&format!(" and ({place}) = ")).bind(far);
                    }
                    Reference::Multi(link) => {
                        sql.push("select 1 from stoa.item_link link where link.site = ").bind(site_id);
                        sql.push(" and link.relation = ").bind(link.relation);
                        sql.push(&format!(" and link.{} = ", link.side.near())).bind(near);
                        sql.push(&format!(" and link.{} = ", link.side.far())).bind(far);
                    }
                }
                let (sql, params) = sql.finish();
                Ok(tx.row(&sql, &params, |_| Ok(())).await?.is_some())
            })
        });
        found.await
    }

    /// A page of the items that one or several items refer to, in the order in which the links were made.
    ///
    /// # Errors
    /// As for [`Content::is_referenced`], and what makes paging invalid.
    pub async fn references_query(&self, site: &Site, caller: &Caller, members: &Map<String, Value>) -> Result<Page> {
        let (items, is_plural) = self.referring(members)?;
        let sent = wire::Referenced::parse(members)?;
        let (limit, offset) = match sent.paging {
            Paging::Offset { limit, offset } => (limit, offset),
            Paging::Cursor { limit, cursor: None } => (limit, 0),
            Paging::Cursor { cursor: Some(_), .. } => {
                return Err(Fault::because(Code::CursorInvalid, "The cursor is not one of this server."));
            }
        };
        let question = Question {
            field: self.readable(site, caller, members).await?,
            site: site.id.as_str().to_owned(),
            items,
            is_plural,
            descending: sent.descending,
            window: Window { start: Start::Offset(offset), limit: limit.unwrap_or(DEFAULT_LIMIT) },
            offset,
            projection: resolve::projection(&sent.fields),
            total: sent.total,
        };
        let mut room = Room::new(self.limits().page_bytes);
        site.read(Lane::Scan, move |tx| boxed!(question.answer(tx, &mut room).await)).await
    }

    /// The field that a request names, if the caller may read both sides.
    async fn readable(&self, site: &Site, caller: &Caller, members: &Map<String, Value>) -> Result<Readable> {
        let near = self.collection(site, request::collection(members, caller)?).await?;
        let near_scope = rule::scope(caller, Operation::Read, &near)?;
        let key = text(members, "referringItemFieldName")?;
        let target = self.reference(site, &near, &key).await?;
        let target = target.ok_or_else(|| not_a_reference(&near, &key, "reference"))?;
        let far = target.existing()?.clone();
        let far_scope = rule::scope(caller, Operation::Read, &far)?;
        Ok(Readable { key, reference: target.reference, near, near_scope, far, far_scope })
    }

    /// `referringItemId` or `referringItemIds`, and whether it is the latter.
    fn referring(&self, members: &Map<String, Value>) -> Result<(Vec<String>, bool)> {
        let Some(list) = members.get("referringItemIds").filter(|it| !it.is_null()) else {
            return Ok((vec![id(members.get("referringItemId"))?], false));
        };
        let list = list.as_array().filter(|it| !it.is_empty());
        let list =
            list.ok_or_else(|| Fault::because(Code::ReferenceIdInvalid, "referringItemIds must be a list of ids."))?;
        let most = self.limits().bulk;
        if list.len() > most {
            return Err(Fault::because(Code::TooManyIds, format!("At most {most} ids per request.")));
        }
        let mut seen = HashSet::with_capacity(list.len());
        let ids = list.iter().map(|it| id(Some(it))).collect::<Result<Vec<_>>>()?;
        Ok((ids.into_iter().filter(|it| seen.insert(it.clone())).collect(), true))
    }
}

impl Question {
    async fn answer(&self, tx: &mut Tx<'_>, room: &mut Room) -> Result<Page> {
        let mut page = Page::new(&self.window.start);
        let near = &self.field;
        let seen = visible(tx, &near.near, &near.near_scope, self.items.clone()).await?;
        let items: Vec<String> = self.items.iter().filter(|it| seen.contains(*it)).cloned().collect();
        if items.is_empty() {
            page.total = self.total.then_some(0);
            return Ok(page);
        }
        match &self.field.reference {
            Reference::Single => self.single(tx, items, &mut page, room).await?,
            Reference::Multi(link) => self.multi(tx, link, items, &mut page, room).await?,
        }
        Ok(page)
    }

    async fn multi(
        &self,
        tx: &mut Tx<'_>,
        link: &Link,
        mut items: Vec<String>,
        page: &mut Page,
        room: &mut Room,
    ) -> Result<()> {
        let (near, far) = (link.side.near(), link.side.far());
        let document = tx.dialect().read_doc();
        let one = if items.len() == 1 { items.pop() } else { None };
        let from = |sql: &mut Writer<'_>| {
            let table = &self.field.far.texts.name;
            sql.push(&format!(" from stoa.item_link link cross join {table} t where link.site = ")).bind(&self.site);
            sql.push(" and link.relation = ").bind(link.relation);
            match &one {
                Some(it) => drop(sql.push(&format!(" and link.{near} = ")).bind(it)),
                None => {
                    let list = sql.param(items.clone());
                    let among = sql.dialect().any_of(&format!("link.{near}"), &list);
                    sql.push(" and ").push(&among);
                }
            }
            sql.push(&format!(" and t.id = link.{far}"));
            and_scope(sql, "t", &self.field.far_scope);
        };
        let mut sql = Writer::new(tx.dialect());
        sql.push(&format!("select link.{near}, {document}"));
        from(&mut sql);
        sql.push(if self.descending { " order by link.seq desc limit " } else { " order by link.seq limit " });
        sql.bind(i64::from(self.window.limit) + 1);
        sql.push(" offset ").bind(i64::try_from(self.offset).unwrap_or(i64::MAX));
        let (sql, params) = sql.finish();
        let (mut count, mut fits) = (0, Ok(()));
        tx.rows(&sql, &params, |row| {
            count += 1;
            if count <= self.window.limit as usize && fits.is_ok() {
                let shown = stoa_query::project(row.text(1)?, &self.projection);
                fits = room.take(shown.len());
                self.print(row.text(0)?, &shown, page);
            }
            Ok(())
        })
        .await?;
        fits?;
        page.has_next = count > self.window.limit as usize;
        if self.total {
            let mut sql = Writer::new(tx.dialect());
            sql.push("select count(*)");
            from(&mut sql);
            let (sql, params) = sql.finish();
            page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
        }
        Ok(())
    }

    /// The ids stand in the documents, one each; their order is that of the request.
    async fn single(&self, tx: &mut Tx<'_>, items: Vec<String>, page: &mut Page, room: &mut Room) -> Result<()> {
        let field = &self.field;
        let mut sql = Writer::new(tx.dialect());
        let place = sql.dialect().text(&Place::field(std::slice::from_ref(&field.key)));
        sql.push(&format!("select id, {place} from {} where ", field.near.texts.name));
        let list = sql.param(items.clone());
        let among = sql.dialect().any_of("id", &list);
        sql.push(&among);
        let (sql, params) = sql.finish();
        let read = |row: &stoa_store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?));
        let leads: std::collections::HashMap<_, _> = tx.rows(&sql, &params, read).await?.into_iter().collect();
        let lead = |it: String| leads.get(&it).cloned().flatten().map(|far| (it, far));
        let mut pairs: Vec<_> = items.into_iter().filter_map(lead).collect();
        if self.descending {
            pairs.reverse();
        }
        page.total = self.total.then(|| i64::try_from(pairs.len()).unwrap_or(i64::MAX));
        let limit = self.window.limit as usize;
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        page.has_next = pairs.len().saturating_sub(offset) > limit;
        let pairs: Vec<_> = pairs.into_iter().skip(offset).take(limit).collect();
        let wanted: HashSet<_> = pairs.iter().map(|it| it.1.clone()).collect();
        let found = include::items(tx, &field.far, &field.far_scope, wanted.into_iter().collect(), room).await?;
        for (near, far) in pairs {
            match found.get(&far) {
                Some(document) => {
                    let shown = stoa_query::project(document, &self.projection);
                    room.take(shown.len())?;
                    self.print(&near, &shown, page);
                }
                None => self.print_unresolved(&near, &far, page),
            }
        }
        Ok(())
    }

    fn print(&self, near: &str, document: &str, page: &mut Page) {
        begin(page);
        page.elements.push('{');
        if self.is_plural {
            page.elements.extend(["\"referringItemId\":", &quoted(near), ","]);
        }
        page.elements.push_str("\"dataItem\":");
        item::print(&self.field.far, document, &mut page.elements);
        page.elements.push('}');
    }

    /// Whether the item isn't there or isn't the caller's is only told where all that is there is visible.
    fn print_unresolved(&self, near: &str, far: &str, page: &mut Page) {
        begin(page);
        let unresolved = json!({
            "referringItemId": near, "referringItemFieldName": self.field.key, "referencedItemId": far,
            "unauthorized": self.field.far_scope != Scope::Everything,
        });
        let mut element = json!({ "unresolvedReference": unresolved });
        if self.is_plural {
            element["referringItemId"] = near.into();
        }
        page.elements.push_str(&element.to_string());
    }
}

fn begin(page: &mut Page) {
    if page.count > 0 {
        page.elements.push(',');
    }
    page.count += 1;
}

fn id(value: Option<&Value>) -> Result<String> {
    match value.and_then(id_of) {
        Some(it) if !it.is_empty() && !it.contains('\0') => Ok(it.to_owned()),
        _ => Err(Fault::new(Code::ReferenceIdInvalid)),
    }
}
