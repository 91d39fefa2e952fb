//! Referenced items in the place of their ids (docs/protocol/content.md §3.8, §21.6; decision 10).
//!
//! A whole page is filled at once: for each included field of each level one statement reads the items,
//! and for a multi-reference one more the links. The scope of the other collection is in both. What
//! can't be shown, because it isn't there or isn't the caller's to read, stays the id that the document
//! has, or isn't among the items of a multi-reference.

use crate::{
    RequestContext,
    collection::{
        Collection, access,
        field_view::{self, FieldView},
        translation::Translation,
    },
    document::member,
    fault::not_a_reference,
    page::{budget::ResponseBudget, language},
    reference::{self, Reference, and_scope},
    schema::{field, level::Operation, relation::Link},
};
use serde_json::json;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{Scope, item::members, wire};
use stoa_sql::{Writer, json::quoted};
use stoa_store::{Tx, TxFuture};

/// Items of a multi-reference that are included without a word (docs/protocol/content.md §19).
const DEFAULT_LIMIT: u32 = 50;
/// Names in a dotted name.
const MAX_LEVELS: usize = 5;
/// No document is shorter than its system fields.
const LEAST_DOCUMENT: usize = 80;

/// What a caller wants included, resolved: which fields, where they lead, what of that is visible.
pub(crate) struct IncludePlan {
    site: String,
    fields: Vec<Included>,
}

struct Included {
    /// The field as it stands in canonical text.
    name: String,
    reference: Reference,
    /// Nothing when there is no such collection, or none that the caller may read.
    target: Option<ReadableCollection>,
    limit: u32,
    nested: IncludePlan,
}

/// The collection that a field leads to, and what the caller is shown of it.
pub(crate) struct ReadableCollection {
    pub collection: Arc<Collection>,
    pub scope: Scope,
    pub view: FieldView,
    /// The language of its items, if not their own.
    pub translation: Option<Translation>,
}

/// Names as they were sent, those with a common beginning together.
#[derive(Default)]
struct Tree(BTreeMap<String, Branch>);

#[derive(Default)]
struct Branch {
    limit: Option<u32>,
    nested: Tree,
}

impl Tree {
    fn add(&mut self, names: &[&str], limit: Option<u32>) {
        let Some((name, rest)) = names.split_first() else { return };
        let branch = self.0.entry((*name).to_owned()).or_default();
        match rest {
            [] => branch.limit = limit.or(branch.limit),
            rest => branch.nested.add(rest, limit),
        }
    }
}

/// Resolves what a request wants included.
///
/// # Errors
/// WDE0020 for a field that isn't a reference, WDE0080 for a name that leads too deep.
pub(crate) async fn plan(
    context: RequestContext<'_>,
    collection: &Collection,
    wanted: &[wire::Reference],
) -> Result<IncludePlan> {
    let mut tree = Tree::default();
    for it in wanted {
        let names: Vec<_> = it.field.split('.').collect();
        if names.len() > MAX_LEVELS {
            let text = format!("{} leads deeper than {MAX_LEVELS} levels.", it.field);
            return Err(Fault::because(Code::BadRequest, text));
        }
        tree.add(&names, it.limit);
    }
    resolve(context, collection, tree).await
}

/// All references of a collection, for answers of writes (`includeReferencedItems`).
pub(crate) async fn plan_all(context: RequestContext<'_>, collection: &Collection) -> Result<IncludePlan> {
    let fields = collection.definition.fields.iter().filter(|it| field::target_id(it).is_some());
    let mut tree = Tree::default();
    fields.for_each(|it| tree.add(&[field::key(it)], None));
    resolve(context, collection, tree).await
}

/// What a caller may read of a collection.
///
/// # Errors
/// WDE0027 when the caller may read nothing of it.
pub(crate) async fn readable(context: RequestContext<'_>, collection: Arc<Collection>) -> Result<ReadableCollection> {
    let scope = access::scope(context.caller, context.drafts, Operation::Read, &collection)?;
    let view = field_view::load(context.content, context.site, context.caller, &collection).await?;
    let translation = Translation::of(&context.site.id, &collection, context.language, &scope);
    Ok(ReadableCollection { collection, scope, view, translation })
}

fn resolve<'a>(context: RequestContext<'a>, collection: &'a Collection, tree: Tree) -> TxFuture<'a, IncludePlan> {
    Box::pin(async move {
        let site = context.site.id.as_str();
        let mut fields = Vec::with_capacity(tree.0.len());
        for (key, branch) in tree.0 {
            let found = reference::target(context.content, context.site, collection, &key).await?;
            let found = found.ok_or_else(|| not_a_reference(collection.id.as_str(), &key, "reference"))?;
            let may_read =
                |it: &Arc<Collection>| access::scope(context.caller, context.drafts, Operation::Read, it).is_ok();
            let target = match found.collection.filter(may_read) {
                Some(it) => Some(readable(context, it).await?),
                None => None,
            };
            let nested = match &target {
                Some(target) if !branch.nested.0.is_empty() => {
                    resolve(context, &target.collection, branch.nested).await?
                }
                _ => IncludePlan { site: site.to_owned(), fields: Vec::new() },
            };
            let limit = branch.limit.unwrap_or(DEFAULT_LIMIT);
            fields.push(Included { name: quoted(&key), reference: found.reference, target, limit, nested });
        }
        Ok(IncludePlan { site: site.to_owned(), fields })
    })
}

/// What is known of an included field when its items have been read.
struct Found<'p> {
    field: &'p Included,
    /// For a multi-reference, where each item leads, in order.
    links: HashMap<String, Vec<String>>,
    items: HashMap<String, String>,
}

impl IncludePlan {
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The documents with what they refer to. All of them are canonical text, and so are the answers.
    ///
    /// # Errors
    /// WDE0109 when they grow too large.
    pub(crate) fn fill<'t>(
        &'t self,
        tx: &'t mut Tx<'_>,
        documents: Vec<String>,
        budget: &'t mut ResponseBudget,
    ) -> TxFuture<'t, Vec<String>> {
        Box::pin(async move {
            let mut found = Vec::with_capacity(self.fields.len());
            for field in &self.fields {
                found.push(field.find(tx, &self.site, &documents, budget).await?);
            }
            documents.iter().map(|it| compose(it, &found, budget)).collect()
        })
    }
}

impl Included {
    async fn find<'p>(
        &'p self,
        tx: &mut Tx<'_>,
        site: &str,
        documents: &[String],
        budget: &mut ResponseBudget,
    ) -> Result<Found<'p>> {
        let mut found = Found { field: self, links: HashMap::new(), items: HashMap::new() };
        let Some(target) = &self.target else { return Ok(found) };
        let wanted: HashSet<String> = match &self.reference {
            Reference::Single => documents.iter().filter_map(|it| text_of(it, &self.name)).collect(),
            Reference::Multi(link) => {
                let ids = documents.iter().filter_map(|it| text_of(it, "\"_id\"")).collect();
                found.links = links(tx, LinkQuery { site, link, target, ids, limit: self.limit }, budget).await?;
                found.links.values().flatten().cloned().collect()
            }
        };
        if wanted.is_empty() {
            return Ok(found);
        }
        found.items = items(tx, target, wanted.into_iter().collect(), budget).await?;
        if !self.nested.is_empty() {
            let (ids, documents): (Vec<_>, Vec<_>) = found.items.drain().unzip();
            let filled = self.nested.fill(tx, documents, budget).await?;
            found.items = ids.into_iter().zip(filled).collect();
        }
        Ok(found)
    }
}

/// Which links are looked for: those of the items with these ids.
struct LinkQuery<'q> {
    site: &'q str,
    link: &'q Link,
    target: &'q ReadableCollection,
    ids: Vec<String>,
    /// Links of one item.
    limit: u32,
}

/// Where items lead, in the order in which the links were made.
async fn links(tx: &mut Tx<'_>, query: LinkQuery<'_>, budget: &ResponseBudget) -> Result<HashMap<String, Vec<String>>> {
    let LinkQuery { site, link, target: ReadableCollection { collection, scope, .. }, ids, limit } = query;
    let (source, other, table) = (link.side.source_column(), link.side.target_column(), &collection.statements.name);
    let is_scoped = *scope != Scope::Everything;
    let mut sql = Writer::new(tx.dialect());
    // For each item the last link that is wanted: nothing behind it is looked at. Worked out on its own,
    // whatever an engine knows of the tables, for beside the links it would be asked for each of them.
    sql.push("with wanted as materialized (select k.c0, coalesce((select one.seq from stoa.item_link one");
    if is_scoped {
        sql.push(&format!(" cross join {table} seen"));
    }
    let site = sql.param(site);
    sql.push(&format!(" where one.site = {site}"));
    let relation = sql.param(link.relation);
    sql.push(&format!(" and one.relation = {relation} and one.{source} = k.c0"));
    if is_scoped {
        sql.push(&format!(" and seen.id = one.{other}"));
        and_scope(&mut sql, "seen", scope);
    }
    sql.push(" order by one.seq limit 1 offset ").bind(i64::from(limit) - 1);
    sql.push("), 9223372036854775807) as last from ");
    let ids: Vec<[String; 1]> = ids.into_iter().map(|it| [it]).collect();
    let list = sql.param(json!(ids).to_string());
    let listed = sql.dialect().listed(&list, 1);
    sql.push(&listed).push(&format!(") select link.{source}, link.{other} from wanted cross join stoa.item_link link"));
    if is_scoped {
        sql.push(&format!(" cross join {table} target"));
    }
    sql.push(&format!(" where link.site = {site} and link.relation = {relation} and link.{source} = wanted.c0"));
    sql.push(" and link.seq <= wanted.last");
    if is_scoped {
        sql.push(&format!(" and target.id = link.{other}"));
        and_scope(&mut sql, "target", scope);
    }
    let most = budget.left / LEAST_DOCUMENT + 1;
    sql.push(" order by link.seq limit ").bind(i64::try_from(most).unwrap_or(i64::MAX));
    let (sql, params) = sql.finish();
    let (mut links, mut count) = (HashMap::<String, Vec<String>>::new(), 0);
    tx.rows(&sql, &params, |row| {
        count += 1;
        links.entry(row.get(0)?).or_default().push(row.get(1)?);
        Ok(())
    })
    .await?;
    if count >= most { Err(budget.exceeded()) } else { Ok(links) }
}

/// The documents of items that are there and covered by the scope, by id, as the caller is shown them.
///
/// # Errors
/// WDE0109.
pub(crate) async fn items(
    tx: &mut Tx<'_>,
    ReadableCollection { collection, scope, view, translation }: &ReadableCollection,
    ids: Vec<String>,
    budget: &mut ResponseBudget,
) -> Result<HashMap<String, String>> {
    let mut sql = Writer::new(tx.dialect());
    sql.push(&format!("select t.id, t.doc from {} t where ", collection.statements.name));
    // What no id can be would be refused by an engine.
    let list = sql.param(ids.into_iter().filter(|it| !it.contains('\0')).collect::<Vec<_>>());
    let among = sql.dialect().any_of("t.id", &list);
    sql.push(&among);
    and_scope(&mut sql, "t", scope);
    let (sql, params) = sql.finish();
    let (mut found, mut size) = (HashMap::<String, String>::new(), 0);
    tx.rows(&sql, &params, |row| {
        let document = row.doc(1)?;
        size += document.len();
        if size <= budget.left {
            found.insert(row.get(0)?, document.into_owned());
        }
        Ok(())
    })
    .await?;
    let mut rest = budget.beside(size)?;
    view.show_all(found.values_mut())?;
    if let Some(it) = translation {
        language::show(it, tx, found.values_mut().collect(), &mut rest).await?;
    }
    Ok(found)
}

fn compose(document: &str, found: &[Found<'_>], budget: &mut ResponseBudget) -> Result<String> {
    let mut out = String::with_capacity(document.len() * 2);
    out.push('{');
    for (name, value) in members(document) {
        let included = found.iter().find(|it| it.field.name == name);
        let value = match included.map(|it| (&it.field.reference, it)) {
            Some((Reference::Multi(_), _)) => continue,
            Some((Reference::Single, it)) => text(value).and_then(|id| it.items.get(&id)).map_or(value, String::as_str),
            None => value,
        };
        append(name, &mut out);
        budget.take(value.len())?;
        out.push_str(value);
    }
    let id = text_of(document, "\"_id\"").unwrap_or_default();
    for it in found.iter().filter(|it| matches!(it.field.reference, Reference::Multi(_))) {
        append(&it.field.name, &mut out);
        out.push('[');
        let shown = it.links.get(&id).into_iter().flatten().filter_map(|id| it.items.get(id));
        for (n, item) in shown.enumerate() {
            budget.take(item.len() + 1)?;
            out.extend([if n > 0 { "," } else { "" }, item]);
        }
        out.push(']');
    }
    out.push('}');
    Ok(out)
}

fn append(name: &str, out: &mut String) {
    out.extend([if out.len() > 1 { "," } else { "" }, name, ":"]);
}

/// The text that a document has in a field, if it is text.
fn text_of(document: &str, quoted_name: &str) -> Option<String> {
    member(document, quoted_name).and_then(text)
}

fn text(value: &str) -> Option<String> {
    if value.starts_with('"') { serde_json::from_str(value).ok() } else { None }
}
