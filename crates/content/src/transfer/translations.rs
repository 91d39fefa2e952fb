//! What items are in other languages, in files: one more member of an item, `_translations`, with an object for each
//! language, which has the values of its fields. In CSV it is a column whose cells are JSON.

use crate::{
    collection::{
        Collection,
        translation::{self, AllValues, FILE_MEMBER, Values, overlaid, value_bytes},
    },
    item::translation::{MOST_LANGUAGES, check_bytes, check_length},
    limits::ContentLimits,
};
use stoa_kernel::{Caller, Code, Fault, LanguageTag, Millis, Result, SiteId};
use stoa_query::{
    CanonicalItem,
    item::{Edit, ItemLimits, edit, members},
};
use stoa_sql::json::quoted;
use stoa_store::Tx;

/// The column of other languages.
pub(super) const COLUMN: &str = "_translations";

/// Puts the member into those of the documents, each with its id, whose items have other languages; one that an item has
/// of its own is left out. Documents that would have more bytes in all these languages than `most` are left for the next
/// read, but not the first.
pub(super) async fn append(
    tx: &mut Tx<'_>,
    (site, collection): (&SiteId, &Collection),
    documents: &mut Vec<(String, String)>,
    most: usize,
) -> Result<()> {
    if documents.is_empty() || collection.translatable.is_empty() {
        return Ok(());
    }
    let mut ids: Vec<String> = documents.iter().map(|it| it.0.clone()).collect();
    let (sizes, mut bytes) = (translation::sizes(tx, (site, collection), &ids).await?, 0);
    ids.retain(|id| {
        let fits = bytes <= most;
        bytes += sizes.get(id).copied().unwrap_or_default();
        fits
    });
    documents.truncate(ids.len());
    let mut all = translation::all(tx, (site, collection), &ids).await?;
    for (id, document) in documents {
        if document.contains(FILE_MEMBER) {
            *document = edit(document, |name, _| Ok(if name == FILE_MEMBER { Edit::Drop } else { Edit::Keep }))?;
        }
        let Some(languages) = all.remove(id) else { continue };
        let languages: Values = languages
            .iter()
            .map(|(language, values)| Ok((quoted(language), overlaid("{}", values)?)))
            .collect::<Result<_>>()?;
        *document = overlaid(document, &Values::from([(FILE_MEMBER.to_owned(), overlaid("{}", &languages)?)]))?;
    }
    Ok(())
}

/// Reads what items of a file are in other languages.
#[derive(Clone, Copy)]
pub(super) struct Reader<'r> {
    pub collection: &'r Collection,
    pub caller: &'r Caller,
    pub limits: &'r ContentLimits,
    pub now: Millis,
}

impl Reader<'_> {
    /// An item of a file, and what it is to be in other languages if it says so.
    ///
    /// # Errors
    /// What makes an item invalid; WDE0119 for a field that isn't translatable; WDE0080 for what is no language or doesn't
    /// have the form; WDE0009 for more than an item may have in one language, or in all.
    pub(super) fn item(self, text: &str) -> Result<(CanonicalItem, Option<AllValues>)> {
        let limits = self.limits.query.item();
        // Where no field is translatable it is a member like any other.
        if self.collection.translatable.is_empty() || !text.contains(FILE_MEMBER) {
            return Ok((stoa_query::canonical(text, limits)?, None));
        }
        // In all languages together an item has more bytes than in one.
        let wide = ItemLimits { bytes: usize::MAX, depth: limits.depth + 2 };
        let (mut whole, mut member) = (stoa_query::canonical(text, wide)?, None);
        whole.edit(|name, value| {
            if name != FILE_MEMBER {
                return Ok(Edit::Keep);
            }
            member = Some(value.to_owned()).filter(|it| it != "null");
            Ok(Edit::Drop)
        })?;
        let mut item = stoa_query::canonical(&whole.data(), limits)?;
        let all = member.map(|it| self.all(&it)).transpose()?;
        (item.id, item.owner, item.created) = (whole.id, whole.owner, whole.created);
        Ok((item, all))
    }

    fn all(self, member: &str) -> Result<AllValues> {
        // A cell of CSV is a text.
        if member.starts_with('"') {
            let text: String = serde_json::from_str(member).map_err(Fault::internal)?;
            let wide = ItemLimits { bytes: usize::MAX, depth: self.limits.query.item().depth + 1 };
            return match stoa_query::canonical(&text, wide) {
                Ok(it) => self.languages(&it.data()),
                Err(_) => Err(wrong("", "must be an object")),
            };
        }
        self.languages(member)
    }

    /// Each language is looked at by itself: what the primary text has become since is no matter.
    fn languages(self, member: &str) -> Result<AllValues> {
        let mut all = AllValues::new();
        for (name, values) in object("", member)? {
            let tag: String = serde_json::from_str(name).map_err(Fault::internal)?;
            let path = format!(".{tag}");
            let tag = LanguageTag::parse(&tag).ok_or_else(|| wrong(&path, "is not the tag of a language"))?;
            let language = check_length(&tag, "_translations")?;
            let values = self.values(&path, values)?;
            let item = stoa_query::canonical(&overlaid("{}", &values)?, self.limits.query.item())?;
            let is_one = |key: &str| values.contains_key(&quoted(key));
            self.collection.rules().validate_fields(&item, is_one, self.caller, self.now)?;
            if all.insert(language, values).is_some() {
                return Err(wrong(&path, "occurs twice"));
            }
        }
        match all.len() <= MOST_LANGUAGES {
            true => check_bytes(bytes_of(self.collection, &all), self.limits).map(|()| all),
            false => Err(wrong("", &format!("must have at most {MOST_LANGUAGES} languages"))),
        }
    }

    fn values(self, path: &str, values: &str) -> Result<Values> {
        let mut kept = Values::new();
        for (name, value) in object(path, values)? {
            if self.collection.translatable.by_quoted(name).is_none() {
                let key: String = serde_json::from_str(name).map_err(Fault::internal)?;
                let text = format!("{key} is no translatable field.");
                return Err(Fault::because(Code::NotSupported, text).with("propertyName", key));
            }
            if value != "null" {
                kept.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(kept)
    }
}

/// What these languages of an item count for.
pub(super) fn bytes_of(collection: &Collection, all: &AllValues) -> usize {
    let fields = &collection.translatable;
    let of_language = |(language, values): (&String, &Values)| -> usize {
        let bytes = |(name, it): (&String, &String)| Some(value_bytes(language, &fields.by_quoted(name)?.key, it));
        values.iter().filter_map(bytes).sum()
    };
    all.iter().map(of_language).sum()
}

fn object<'t>(path: &str, text: &'t str) -> Result<impl Iterator<Item = (&'t str, &'t str)>> {
    match text.starts_with('{') {
        true => Ok(members(text)),
        false => Err(wrong(path, "must be an object")),
    }
}

fn wrong(path: &str, rule: &str) -> Fault {
    let path = format!("_translations{path}");
    Fault::because(Code::BadRequest, format!("{path} {rule}.")).with("path", path)
}
