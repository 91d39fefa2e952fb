//! Which items an item refers to (protocol/content.md 3.6, 21.6, 21.9; decisions/0010).
//!
//! Both calls need the right to read both collections; items that the caller may not read are as if
//! they weren't there. A single reference that leads nowhere is told of as unresolved, because its id
//! stands in the document anyway.
//!
//! A walk by cursor goes on behind a link by the number that it got when it was made, or, where the ids
//! stand in the documents, behind a referring item by its place in the request, which the cursor holds.

use crate::{
    Collection, Content, Operation, Page,
    item::{calls, query::Walking},
    page::cursor::{self, Kept},
    reference::{
        Link, Reference, and_scope,
        calls::text,
        id_of,
        include::{self, Far, Room},
        link::visible,
        not_a_reference,
    },
    schema::level,
    wire::request,
};
use serde_json::{Map, Value, json};
use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Projection, Scope,
    plan::{Mark, Position, Start, Window},
    resolve,
    wire::{self, Paging},
};
use stoa_sql::{Place, Writer, json::quoted};
use stoa_store::{Lane, Site, Tx, boxed};

/// The page's size when the request names none.
const DEFAULT_LIMIT: u32 = 50;

/// What a query leaves to its cursors.
const REFERENCED: Kept =
    Kept { outer: &["referringItemId", "referringItemIds", "referringItemFieldName", "order"], inner: &[] };

/// The first and the last place of a page.
type Ends = Option<(Position, Position)>;

/// A reference field as a caller may read it.
struct Readable {
    key: String,
    reference: Reference,
    near: Arc<Collection>,
    near_scope: Scope,
    far: Far,
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
        let collection = self.collection(site, request::collection(members, caller)?).await?;
        let field = self.readable(site, caller, collection, members).await?;
        let site_id = site.id.as_str().to_owned();
        let found = site.read(Lane::Point, move |tx| {
            boxed!({
                let is_there = |seen: HashSet<String>| !seen.is_empty();
                if !is_there(visible(tx, &field.near, &field.near_scope, vec![near.clone()]).await?)
                    || !is_there(visible(tx, &field.far.collection, &field.far.scope, vec![far.clone()]).await?)
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
        let near = self.collection(site, request::collection(members, caller)?).await?;
        let (walking, members) = self.walking(site, caller, &near, "referenced", &REFERENCED, members).await?;
        let (items, is_plural) = self.referring(&members)?;
        let sent = wire::Referenced::parse(&members, &self.limits().query)?;
        let (limit, first) = match sent.paging {
            Paging::Offset { limit, offset } => (limit, Start::Offset(offset)),
            Paging::Cursor { limit, .. } => (limit, Start::First),
        };
        let start = match walking.as_ref().and_then(|it| it.from.as_ref()) {
            Some(walk) => walk.start(None)?,
            None => first,
        };
        let question = Question {
            field: self.readable(site, caller, near, &members).await?,
            site: site.id.as_str().to_owned(),
            items,
            is_plural,
            descending: sent.descending,
            window: Window { start: start.clone(), limit: limit.unwrap_or(DEFAULT_LIMIT) },
            projection: resolve::projection(&sent.fields),
            total: sent.total,
        };
        let most = self.limits().page_bytes;
        // A transaction may be run again, and begins with all the room then.
        let question = Arc::new(question);
        let found = site.query(Lane::Scan, move |tx| boxed!(question.answer(tx, &mut Room::new(most)).await));
        let (mut page, ends) = found.await?;
        if let Some(Walking { sealer, from }) = walking {
            let request = from.map_or_else(|| REFERENCED.take(&members), |it| it.request);
            page.walk(&sealer, &request, &start, ends)?;
        }
        Ok(page)
    }

    /// The field that a request names, if the caller may read both sides.
    async fn readable(
        &self,
        site: &Site,
        caller: &Caller,
        near: Arc<Collection>,
        members: &Map<String, Value>,
    ) -> Result<Readable> {
        let near_scope = level::scope(caller, Operation::Read, &near)?;
        let key = text(members, "referringItemFieldName")?;
        let target = self.reference(site, &near, &key).await?;
        let target = target.ok_or_else(|| not_a_reference(&near, &key, "reference"))?;
        let far = target.existing()?.clone();
        let scope = level::scope(caller, Operation::Read, &far)?;
        let far = Far { sight: self.sight(site, caller, &far).await?, collection: far, scope };
        Ok(Readable { key, reference: target.reference, near, near_scope, far })
    }

    /// `referringItemId` or `referringItemIds`, and whether it is the latter.
    fn referring(&self, members: &Map<String, Value>) -> Result<(Vec<String>, bool)> {
        let Some(list) = members.get("referringItemIds").filter(|it| !it.is_null()) else {
            return Ok((vec![id(members.get("referringItemId"))?], false));
        };
        let list = list.as_array().filter(|it| !it.is_empty());
        let list =
            list.ok_or_else(|| Fault::because(Code::ReferenceIdInvalid, "referringItemIds must be a list of ids."))?;
        let most = self.limits().bulk_items;
        if list.len() > most {
            return Err(Fault::because(Code::TooManyIds, format!("At most {most} ids per request.")));
        }
        let mut seen = HashSet::with_capacity(list.len());
        let ids = list.iter().map(|it| id(Some(it))).collect::<Result<Vec<_>>>()?;
        Ok((ids.into_iter().filter(|it| seen.insert(it.clone())).collect(), true))
    }
}

impl Question {
    async fn answer(&self, tx: &mut Tx<'_>, room: &mut Room) -> Result<(Page, Ends)> {
        let mut page = Page::new(&self.window.start);
        let near = &self.field;
        let seen = visible(tx, &near.near, &near.near_scope, self.items.clone()).await?;
        let items: Vec<String> = self.items.iter().filter(|it| seen.contains(*it)).cloned().collect();
        if items.is_empty() {
            page.total = self.total.then_some(0);
            return Ok((page, None));
        }
        let ends = match &self.field.reference {
            Reference::Single => self.single(tx, items, &mut page, room).await?,
            Reference::Multi(link) => self.multi(tx, link, items, &mut page, room).await?,
        };
        Ok((page, ends))
    }

    async fn multi(
        &self,
        tx: &mut Tx<'_>,
        link: &Link,
        mut items: Vec<String>,
        page: &mut Page,
        room: &mut Room,
    ) -> Result<Ends> {
        let (near, far) = (link.side.near(), link.side.far());
        let one = if items.len() == 1 { items.pop() } else { None };
        let from = |sql: &mut Writer<'_>| {
            let table = &self.field.far.collection.texts.name;
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
            and_scope(sql, "t", &self.field.far.scope);
        };
        let (start, limit) = (&self.window.start, self.window.limit as usize);
        let falling = self.descending != start.is_backward();
        let mut sql = Writer::new(tx.dialect());
        sql.push(&format!("select link.{near}, t.doc, link.seq"));
        from(&mut sql);
        if let Some(Position { marks, is_included, .. }) = start.position() {
            let [Mark::Time(seq)] = marks.as_slice() else { return Err(cursor::invalid()) };
            let (beyond, at) = (if falling { "<" } else { ">" }, if *is_included { "=" } else { "" });
            sql.push(&format!(" and link.seq {beyond}{at} ")).bind(*seq);
        }
        sql.push(if falling { " order by link.seq desc limit " } else { " order by link.seq limit " });
        sql.bind(i64::from(self.window.limit) + 1);
        sql.push(" offset ").bind(i64::try_from(start.offset()).unwrap_or(i64::MAX));
        let (sql, params) = sql.finish();
        let (mut count, mut fits) = (0, Ok(()));
        let mut found = Vec::new();
        tx.rows(&sql, &params, |row| {
            count += 1;
            if count <= limit && fits.is_ok() {
                match self.shown(row.doc(1)?, room) {
                    Ok(shown) => found.push((row.get::<i64>(2)?, self.print(row.text(0)?, &shown))),
                    Err(fault) => fits = Err(fault),
                }
            }
            Ok(())
        })
        .await?;
        fits?;
        if start.is_backward() {
            found.reverse();
        }
        page.has_next = count > limit;
        page.count = found.len();
        let at = |it: &(i64, String)| place(vec![Mark::Time(it.0)], String::new());
        let ends = found.first().map(at).zip(found.last().map(at));
        join(page, found.into_iter().map(|it| it.1));
        if self.total {
            let mut sql = Writer::new(tx.dialect());
            sql.push("select count(*)");
            from(&mut sql);
            let (sql, params) = sql.finish();
            page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
        }
        Ok(ends)
    }

    /// The ids stand in the documents, one each; their order is that of the request.
    async fn single(&self, tx: &mut Tx<'_>, items: Vec<String>, page: &mut Page, room: &mut Room) -> Result<Ends> {
        let field = &self.field;
        let mut sql = Writer::new(tx.dialect());
        let lead = sql.dialect().text(&Place::field(std::slice::from_ref(&field.key)));
        sql.push(&format!("select id, {lead} from {} where ", field.near.texts.name));
        let list = sql.param(items.clone());
        let among = sql.dialect().any_of("id", &list);
        sql.push(&among);
        let (sql, params) = sql.finish();
        let read = |row: &stoa_store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?));
        let leads: HashMap<_, _> = tx.rows(&sql, &params, read).await?.into_iter().collect();
        let lead = |it: String| leads.get(&it).cloned().flatten().map(|far| (it, far));
        let mut pairs: Vec<_> = items.into_iter().filter_map(lead).collect();
        if self.descending {
            pairs.reverse();
        }
        page.total = self.total.then(|| i64::try_from(pairs.len()).unwrap_or(i64::MAX));
        let pairs = self.cut(pairs, page)?;
        let wanted: HashSet<_> = pairs.iter().map(|it| it.1.clone()).collect();
        let found = include::items(tx, &field.far, wanted.into_iter().collect(), room).await?;
        let mut elements = Vec::with_capacity(pairs.len());
        for (near, far) in &pairs {
            elements.push(match found.get(far) {
                Some(document) => {
                    let shown = stoa_query::project(document, &self.projection);
                    room.take(shown.len())?;
                    self.print(near, &shown)
                }
                None => self.print_unresolved(near, far),
            });
        }
        page.count = elements.len();
        join(page, elements);
        let at = |it: &(String, String)| place(Vec::new(), it.0.clone());
        Ok(pairs.first().map(at).zip(pairs.last().map(at)))
    }

    /// The pairs of the page, of all of them in order.
    fn cut(&self, mut pairs: Vec<(String, String)>, page: &mut Page) -> Result<Vec<(String, String)>> {
        let (start, limit) = (&self.window.start, self.window.limit as usize);
        if let Some(Position { marks, id, is_included }) = start.position() {
            let places: HashMap<&str, usize> = self.items.iter().enumerate().map(|(n, it)| (it.as_str(), n)).collect();
            // The item may have lost its reference since, or not be the caller's: its place is still known.
            let here = places.get(id.as_str()).filter(|_| marks.is_empty()).ok_or_else(cursor::invalid)?;
            let beyond = if self.descending != start.is_backward() { Ordering::Less } else { Ordering::Greater };
            pairs.retain(|(near, _)| {
                let order = places.get(near.as_str()).map(|it| it.cmp(here));
                order == Some(beyond) || *is_included && order == Some(Ordering::Equal)
            });
        }
        if start.is_backward() {
            page.has_next = pairs.len() > limit;
            return Ok(pairs.split_off(pairs.len().saturating_sub(limit)));
        }
        let offset = usize::try_from(start.offset()).unwrap_or(usize::MAX);
        page.has_next = pairs.len().saturating_sub(offset) > limit;
        Ok(pairs.into_iter().skip(offset).take(limit).collect())
    }

    /// What the caller wants of a stored document and is shown.
    fn shown(&self, document: Cow<'_, str>, room: &mut Room) -> Result<String> {
        let shown = stoa_query::project(&self.field.far.sight.show(document)?, &self.projection);
        room.take(shown.len())?;
        Ok(shown)
    }

    fn print(&self, near: &str, document: &str) -> String {
        let mut out = String::from("{");
        if self.is_plural {
            out.extend(["\"referringItemId\":", &quoted(near), ","]);
        }
        out.push_str("\"dataItem\":");
        calls::print(&self.field.far.collection, document, &mut out);
        out.push('}');
        out
    }

    /// Whether the item isn't there or isn't the caller's is only told where all that is there is visible.
    fn print_unresolved(&self, near: &str, far: &str) -> String {
        let unresolved = json!({
            "referringItemId": near, "referringItemFieldName": self.field.key, "referencedItemId": far,
            "unauthorized": self.field.far.scope != Scope::Everything,
        });
        let mut element = json!({ "unresolvedReference": unresolved });
        if self.is_plural {
            element["referringItemId"] = near.into();
        }
        element.to_string()
    }
}

/// Where a cursor goes on, the place itself not among it.
fn place(marks: Vec<Mark>, id: String) -> Position {
    Position { marks, id, is_included: false }
}

fn join(page: &mut Page, elements: impl IntoIterator<Item = String>) {
    for (n, it) in elements.into_iter().enumerate() {
        page.elements.push_str(if n > 0 { "," } else { "" });
        page.elements.push_str(&it);
    }
}

fn id(value: Option<&Value>) -> Result<String> {
    match value.and_then(id_of) {
        Some(it) if !it.is_empty() && !it.contains('\0') => Ok(it.to_owned()),
        _ => Err(Fault::new(Code::ReferenceIdInvalid)),
    }
}
