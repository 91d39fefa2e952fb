//! Values of items in other languages, as they are stored and read (decision 38).
//!
//! `stoa.item_translation` has a row for each value of an item in a language, under the number of the item's row. A read
//! without a language never comes here. One in a language reads its documents as ever (scope, filter and order are about
//! the primary text), and then by one statement what they are in that language, which takes the place of their values.
//! Where a value isn't translated the tags that the language narrows are asked, the nearest first (RFC 4647, section 3.4),
//! and then the primary text stays.
//!
//! Only what the plugin lists at the moment is ever shown, and none of it is an encrypted field.

use crate::{
    collection::Collection, document::quoted_id, language::Language, schema::translatable::TranslatableFields,
};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use stoa_kernel::{Fault, LanguageTag, Result, SiteId};
use stoa_query::{
    Filter, Scope, compile,
    item::{Edit, edit},
    plan::{Field, Scalar, Test},
};
use stoa_sql::{Dialect, Writer, params};
use stoa_store::{Error, Row, Tx};

/// Values by the names of their fields, both as they stand in canonical text.
pub(crate) type Values = BTreeMap<String, String>;

/// Values by language.
pub(crate) type AllValues = BTreeMap<String, Values>;

/// The member that files have for other languages of an item, as it stands in canonical text.
pub(crate) const FILE_MEMBER: &str = "\"_translations\"";

/// The language in which the items of a collection are read.
#[derive(Clone)]
pub(crate) struct Translation {
    site: SiteId,
    /// Of the collection.
    number: i64,
    items: String,
    /// What the caller may read, which is asked again: between two statements an item can be taken from the caller.
    scope: Scope,
    /// The one that is asked for, and those that stand in for it, the nearest first.
    languages: Vec<String>,
    fields: TranslatableFields,
}

/// A value of one item, as it is stored.
pub(crate) struct StoredValue {
    pub item: String,
    pub language: String,
    pub field: String,
    /// Canonical text; nothing in a language that wasn't asked for.
    pub value: Option<String>,
    /// What it counts for ([`value_bytes`]).
    pub bytes: usize,
}

/// Asked with the bytes of all values so far, and with their number, whether there is room for more.
pub(crate) type Room<'r> = &'r mut (dyn FnMut(usize, usize) -> Result<()> + Send);

impl Translation {
    /// Nothing for the primary text: without a language, and where no field is translatable.
    pub(crate) fn of(site: &SiteId, collection: &Collection, language: Language<'_>, scope: &Scope) -> Option<Self> {
        let tag = language.tag().filter(|_| !collection.translatable.is_empty())?;
        Some(Self {
            site: site.clone(),
            number: collection.table.number,
            items: collection.statements.name.clone(),
            scope: scope.clone(),
            languages: tag.lookup(),
            fields: collection.translatable.clone(),
        })
    }

    /// The one that is asked for, and those that stand in for it, the nearest first.
    pub(crate) fn languages(&self) -> &[String] {
        &self.languages
    }

    /// The same of a field alone, if it is translatable.
    pub(crate) fn of_field(self, key: &str) -> Option<Self> {
        let fields = self.fields.only(key);
        Some(Self { fields, ..self }).filter(|it| !it.fields.is_empty())
    }

    /// Whether any of these fields can be other than the primary text.
    pub(crate) fn is_about(&self, is_named: impl Fn(&str) -> bool) -> bool {
        self.fields.iter().any(|it| is_named(&it.key))
    }

    /// What those of the caller's items that pass a filter are in this language, by their ids.
    ///
    /// # Errors
    /// What `room` answers; no more is read then.
    pub(crate) async fn values(
        &self,
        tx: &mut Tx<'_>,
        filter: &Filter,
        room: Room<'_>,
    ) -> Result<HashMap<String, Values>> {
        let filter = Filter::all([self.scope.filter(), filter.clone()]);
        let place = Place { site: &self.site, number: self.number, items: &self.items };
        let mut sql = place.select(
            tx.dialect(),
            |sql| {
                sql.push("t.id, v.language, v.field, v.value");
            },
            &filter,
        );
        let languages = sql.param(self.languages.clone());
        let among = sql.dialect().any_of("v.language", &languages);
        sql.push(" and ").push(&among);
        let (sql, params) = sql.finish();
        let (mut found, mut bytes, mut count) = (HashMap::<String, BTreeMap<String, (usize, String)>>::new(), 0, 0);
        let mut refusal = None;
        let read = tx.rows(&sql, &params, |row| {
            let Some(field) = self.fields.by_key(row.text(2)?) else { return Ok(()) };
            let language = row.text(1)?;
            let rank = self.languages.iter().position(|it| it == language).unwrap_or(usize::MAX);
            let (values, value) = (found.entry(row.get(0)?).or_default(), row.text(3)?);
            match values.get(&field.quoted) {
                Some((nearer, _)) if *nearer <= rank => return Ok(()),
                Some((_, farther)) => bytes -= farther.len(),
                None => (bytes, count) = (bytes + field.quoted.len(), count + 1),
            }
            bytes += value.len();
            if let Err(fault) = room(bytes, count) {
                refusal = Some(fault);
                return Err(Error::Interrupted);
            }
            values.insert(field.quoted.clone(), (rank, value.to_owned()));
            Ok(())
        });
        let read = read.await;
        if let Some(fault) = refusal {
            return Err(fault);
        }
        read?;
        let without_rank =
            |it: BTreeMap<String, (usize, String)>| it.into_iter().map(|(name, it)| (name, it.1)).collect();
        Ok(found.into_iter().map(|(id, it)| (id, without_rank(it))).collect())
    }
}

/// The items of a collection, and where their values are.
struct Place<'p> {
    site: &'p SiteId,
    number: i64,
    items: &'p str,
}

impl<'p> Place<'p> {
    fn of((site, collection): (&'p SiteId, &'p Collection)) -> Self {
        Self { site, number: collection.table.number, items: &collection.statements.name }
    }

    /// A statement that reads values `v` of the items `t` that pass a filter. SQLite keeps the order of a cross join: it
    /// finds the items first, and the values of each by the primary key, and never looks at those of other items.
    fn select<'d>(
        &self,
        dialect: &'d dyn Dialect,
        columns: impl FnOnce(&mut Writer<'d>),
        filter: &Filter,
    ) -> Writer<'d> {
        let mut sql = Writer::new(dialect);
        sql.push("select ");
        columns(&mut sql);
        sql.push(" from (select id, rid from ").push(self.items).push(" where ");
        compile::condition(&mut sql, filter);
        sql.push(") t cross join stoa.item_translation v where v.site = ").bind(self.site.as_str());
        sql.push(" and v.collection = ").bind(self.number).push(" and v.item = t.rid");
        sql
    }
}

/// The items of these ids.
pub(crate) fn with_ids(ids: &[String]) -> Filter {
    Filter::Test(Field::Id, Test::In(ids.iter().cloned().map(Scalar::Text).collect()))
}

/// What a value counts for among the bytes that an item may have in other languages.
pub(crate) fn value_bytes(language: &str, field: &str, value: &str) -> usize {
    language.len() + field.len() + value.len() + VALUE_BYTES
}

/// What a value takes beside its texts.
const VALUE_BYTES: usize = 32;

/// [`value_bytes`] of a row.
fn stored_bytes() -> String {
    format!("octet_length(v.language) + octet_length(v.field) + octet_length(v.value) + {VALUE_BYTES}")
}

/// A document with these values in place of its own; those that it has none for stand at its end.
pub(crate) fn overlaid(document: &str, values: &Values) -> Result<String> {
    let mut rest: BTreeMap<&str, &str> = values.iter().map(|(name, it)| (name.as_str(), it.as_str())).collect();
    let mut shown = edit(document, |name, _| Ok(rest.remove(name).map_or(Edit::Keep, |it| Edit::Put(it.to_owned()))))?;
    for (name, value) in rest {
        shown.pop();
        shown.extend([if shown.len() > 1 { "," } else { "" }, name, ":", value, "}"]);
    }
    Ok(shown)
}

/// The id of the item of a document.
pub(crate) fn id_of(document: &str) -> Result<String> {
    serde_json::from_str(quoted_id(document)).map_err(Fault::internal)
}

/// What is stored of these items in any language, in the order of languages and fields. The values are read of those
/// languages that are asked for, or all.
pub(crate) async fn stored(
    tx: &mut Tx<'_>,
    place: (&SiteId, &Collection),
    ids: &[String],
    languages: Option<&[String]>,
) -> Result<Vec<StoredValue>> {
    let columns = |sql: &mut Writer<'_>| {
        sql.push("t.id, v.language, v.field, ");
        match languages {
            Some(it) => {
                let list = sql.param(it.to_vec());
                let among = sql.dialect().any_of("v.language", &list);
                sql.push(&format!("case when {among} then v.value end"));
            }
            None => {
                sql.push("v.value");
            }
        }
        sql.push(&format!(", cast({} as bigint)", stored_bytes()));
    };
    let mut sql = Place::of(place).select(tx.dialect(), columns, &with_ids(ids));
    sql.push(" order by t.id, v.language, v.field");
    let (sql, params) = sql.finish();
    let read = |row: &Row<'_>| {
        let bytes = usize::try_from(row.get::<i64>(4)?).unwrap_or_default();
        Ok(StoredValue { item: row.get(0)?, language: row.get(1)?, field: row.get(2)?, value: row.get(3)?, bytes })
    };
    Ok(tx.rows(&sql, &params, read).await?)
}

/// How many bytes these items have in other languages ([`value_bytes`]), of those that have any.
pub(crate) async fn sizes(
    tx: &mut Tx<'_>,
    place: (&SiteId, &Collection),
    ids: &[String],
) -> Result<HashMap<String, usize>> {
    let columns = |sql: &mut Writer<'_>| {
        sql.push(&format!("t.id, cast(sum({}) as bigint)", stored_bytes()));
    };
    let mut sql = Place::of(place).select(tx.dialect(), columns, &with_ids(ids));
    sql.push(" group by t.id");
    let (sql, params) = sql.finish();
    let read = |row: &Row<'_>| Ok((row.get(0)?, usize::try_from(row.get::<i64>(1)?).unwrap_or_default()));
    Ok(tx.rows(&sql, &params, read).await?.into_iter().collect())
}

/// All that these items are in other languages, as far as the plugin lists it, by their ids.
pub(crate) async fn all(
    tx: &mut Tx<'_>,
    place: (&SiteId, &Collection),
    ids: &[String],
) -> Result<HashMap<String, AllValues>> {
    let mut all = HashMap::<String, AllValues>::new();
    for it in stored(tx, place, ids, None).await? {
        let (Some(field), Some(value)) = (place.1.translatable.by_key(&it.field), it.value) else { continue };
        all.entry(it.item).or_default().entry(it.language).or_default().insert(field.quoted.clone(), value);
    }
    Ok(all)
}

/// A value of an item in a language; without a value it is taken away.
pub(crate) struct TranslationUpdate {
    pub item: i64,
    pub language: String,
    pub field: String,
    pub value: Option<String>,
}

/// Writes values, each of another place.
pub(crate) async fn write(
    tx: &mut Tx<'_>,
    (site, collection): (&SiteId, &Collection),
    values: &[TranslationUpdate],
) -> Result<()> {
    let (kept, removed): (Vec<_>, Vec<_>) = values.iter().partition(|it| it.value.is_some());
    if !removed.is_empty() {
        let listed = tx.dialect().listed("$3", 3);
        let sql = format!(
            "delete from stoa.item_translation where site = $1 and collection = $2 and (item, language, field) in \
             (select cast(k.c0 as bigint), k.c1, k.c2 from {listed})"
        );
        let list: Vec<_> = removed.iter().map(|it| json!([it.item.to_string(), it.language, it.field])).collect();
        tx.send(&sql, params![site, collection.table.number, json!(list).to_string()]).await?;
    }
    if !kept.is_empty() {
        let listed = tx.dialect().listed("$3", 4);
        let sql = format!(
            "insert into stoa.item_translation (site, collection, item, language, field, value) \
             select $1, $2, cast(k.c0 as bigint), k.c1, k.c2, k.c3 from {listed} where true \
             on conflict (site, collection, item, language, field) do update set value = excluded.value"
        );
        let list: Vec<_> =
            kept.iter().map(|it| json!([it.item.to_string(), it.language, it.field, it.value])).collect();
        tx.send(&sql, params![site, collection.table.number, json!(list).to_string()]).await?;
    }
    Ok(())
}

/// Removes what items are in other languages, by the numbers of their rows.
pub(crate) async fn remove(tx: &mut Tx<'_>, site: &SiteId, collection: i64, items: &[i64]) -> Result<()> {
    let among = tx.dialect().any_row_of("item", "$3");
    let sql = format!("delete from stoa.item_translation where site = $1 and collection = $2 and {among}");
    let items: Vec<String> = items.iter().map(i64::to_string).collect();
    tx.send(&sql, params![site, collection, items]).await?;
    Ok(())
}

/// Removes the values of a field from the items of these rows, behind the first, up to the second.
pub(crate) async fn remove_field(
    tx: &mut Tx<'_>,
    (site, collection): (&SiteId, i64),
    field: &str,
    (after, upto): (i64, i64),
) -> Result<()> {
    let sql = "delete from stoa.item_translation \
               where site = $1 and collection = $2 and item > $3 and item <= $4 and field = $5";
    tx.send(sql, params![site, collection, after, upto, field]).await?;
    Ok(())
}

/// A tag as it is stored.
pub(crate) fn stored_tag(tag: &LanguageTag) -> String {
    tag.as_str().to_ascii_lowercase()
}
