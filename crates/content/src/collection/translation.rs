//! Values of items in other languages, as they are stored and read (decision 38).
//!
//! `stoa.item_translation` has a row for each value of an item in a language, under the number of the item's row. A read
//! without a language never comes here. One in a language reads its documents as ever (scope, filter and order are about
//! the primary text), and then by one statement what they are in that language, which takes the place of their values.
//! Where a value isn't translated the language without its region is asked, and then the primary text stays.
//!
//! Only what the plugin lists at the moment is ever shown, and none of it is an encrypted field.

use crate::{
    collection::Collection, document::quoted_id, language::Language, schema::translatable::TranslatableFields,
};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use stoa_kernel::{Code, Fault, LanguageTag, Result, SiteId};
use stoa_query::item::{Edit, edit};
use stoa_sql::{Value, params};
use stoa_store::{Row, Tx};

/// Values by the names of their fields, both as they stand in canonical text.
pub(crate) type Values = BTreeMap<String, String>;

/// The language in which the items of a collection are read.
#[derive(Clone)]
pub(crate) struct Translation {
    site: SiteId,
    /// Of the collection.
    number: i64,
    items: String,
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
}

impl Translation {
    /// Nothing for the primary text: without a language, and where no field is translatable.
    pub(crate) fn of(site: &SiteId, collection: &Collection, language: Language<'_>) -> Option<Self> {
        let tag = language.tag().filter(|_| !collection.translatable.is_empty())?;
        Some(Self {
            site: site.clone(),
            number: collection.table.number,
            items: collection.statements.name.clone(),
            languages: tag.lookup(),
            fields: collection.translatable.clone(),
        })
    }

    /// Documents in this language. They must be canonical.
    ///
    /// # Errors
    /// WDE0109 when the values that take a place in them have more than `most` bytes.
    pub(crate) async fn show(&self, tx: &mut Tx<'_>, documents: Vec<&mut String>, most: usize) -> Result<()> {
        if documents.is_empty() {
            return Ok(());
        }
        let ids = documents.iter().map(|it| id_of(it)).collect::<Result<Vec<_>>>()?;
        let mut translated = self.values(tx, Some(&ids), &mut |bytes| bytes <= most).await?.ok_or_else(|| {
            let text = format!("The items are larger than {most} bytes in this language; ask for fewer.");
            Fault::because(Code::PayloadTooLarge, text)
        })?;
        for (document, id) in documents.into_iter().zip(&ids) {
            if let Some(values) = translated.remove(id) {
                *document = overlaid(document, &values)?;
            }
        }
        Ok(())
    }

    /// What these items, or all, are in this language, by their ids; nothing when `has_room` finds them too large, which
    /// is asked with the bytes of all so far.
    pub(crate) async fn values(
        &self,
        tx: &mut Tx<'_>,
        ids: Option<&[String]>,
        has_room: &mut (dyn FnMut(usize) -> bool + Send),
    ) -> Result<Option<HashMap<String, Values>>> {
        let among = match ids {
            Some(_) => format!(" and {}", tx.dialect().any_of("t.id", "$4")),
            None => String::new(),
        };
        let sql = format!(
            "select t.id, v.language, v.field, v.value from {} t join stoa.item_translation v on v.item = t.rid \
             where v.site = $1 and v.collection = $2 and {}{among}",
            self.items,
            tx.dialect().any_of("v.language", "$3")
        );
        let mut params: Vec<Value> = params![&self.site, self.number, self.languages.clone()].into();
        params.extend(ids.map(|it| Value::from(it.to_vec())));
        let (mut found, mut bytes, mut fits) = (HashMap::<String, BTreeMap<String, (usize, String)>>::new(), 0, true);
        tx.rows(&sql, &params, |row| {
            let Some(field) = self.fields.by_key(row.text(2)?).filter(|_| fits) else { return Ok(()) };
            let language = row.text(1)?;
            let rank = self.languages.iter().position(|it| it == language).unwrap_or(usize::MAX);
            let (item, value) = (row.get::<String>(0)?, row.text(3)?);
            bytes += item.len() + field.quoted.len() + value.len() + ENTRY;
            fits = has_room(bytes);
            let values = found.entry(item).or_default();
            if values.get(&field.quoted).is_none_or(|it| rank < it.0) {
                values.insert(field.quoted.clone(), (rank, value.to_owned()));
            }
            Ok(())
        })
        .await?;
        let without_rank =
            |it: BTreeMap<String, (usize, String)>| it.into_iter().map(|(name, it)| (name, it.1)).collect();
        Ok(fits.then(|| found.into_iter().map(|(id, it)| (id, without_rank(it))).collect()))
    }
}

/// Bytes that a value takes in memory beside its text.
const ENTRY: usize = 100;

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
    (site, collection): (&SiteId, &Collection),
    ids: &[String],
    languages: Option<&[String]>,
) -> Result<Vec<StoredValue>> {
    // Parameters are numbered in the order in which they come.
    let (value, at) = match languages {
        Some(_) => (format!("case when {} then v.value end", tx.dialect().any_of("v.language", "$1")), 2),
        None => ("v.value".to_owned(), 1),
    };
    let sql = format!(
        "select t.id, v.language, v.field, {value} from {} t join stoa.item_translation v on v.item = t.rid \
         where v.site = ${at} and v.collection = ${} and {} order by t.id, v.language, v.field",
        collection.statements.name,
        at + 1,
        tx.dialect().any_of("t.id", &format!("${}", at + 2))
    );
    let mut params: Vec<Value> = languages.map(|it| Value::from(it.to_vec())).into_iter().collect();
    params.extend(params![site, collection.table.number, ids.to_vec()]);
    let read = |row: &Row<'_>| {
        Ok(StoredValue { item: row.get(0)?, language: row.get(1)?, field: row.get(2)?, value: row.get(3)? })
    };
    Ok(tx.rows(&sql, &params, read).await?)
}

/// A value of an item in a language; without a value it is taken away.
pub(crate) struct NewValueIn {
    pub item: i64,
    pub language: String,
    pub field: String,
    pub value: Option<String>,
}

/// Writes values, each of another place.
pub(crate) async fn write(
    tx: &mut Tx<'_>,
    (site, collection): (&SiteId, &Collection),
    values: &[NewValueIn],
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
