//! What items are in other languages, in files: one more member of an item, `_translations`, with an object for each
//! language, which has the values of its fields. In CSV it is a column whose cells are JSON.

use crate::{
    collection::{
        Collection,
        translation::{self, Values, overlaid},
    },
    item::translation::{AllValues, MOST_LANGUAGES, check_length},
};
use std::collections::HashMap;
use stoa_kernel::{Caller, Code, Fault, LanguageTag, Millis, Result, SiteId};
use stoa_query::{
    CanonicalItem,
    item::{Edit, ItemLimits, members},
};
use stoa_sql::json::quoted;
use stoa_store::Tx;

/// The member, as it stands in canonical text.
const MEMBER: &str = "\"_translations\"";

/// Puts the member into those of the documents, each with its id, whose items have other languages.
pub(super) async fn append(
    tx: &mut Tx<'_>,
    (site, collection): (&SiteId, &Collection),
    documents: &mut [(String, String)],
) -> Result<()> {
    if documents.is_empty() || collection.translatable.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = documents.iter().map(|it| it.0.clone()).collect();
    let mut all = HashMap::<String, AllValues>::new();
    for it in translation::stored(tx, (site, collection), &ids, None).await? {
        let (Some(field), Some(value)) = (collection.translatable.by_key(&it.field), it.value) else { continue };
        all.entry(it.item).or_default().entry(it.language).or_default().insert(field.quoted.clone(), value);
    }
    for (id, document) in documents {
        let Some(languages) = all.remove(id) else { continue };
        let languages: Values = languages
            .iter()
            .map(|(language, values)| Ok((quoted(language), overlaid("{}", values)?)))
            .collect::<Result<_>>()?;
        *document = overlaid(document, &Values::from([(MEMBER.to_owned(), overlaid("{}", &languages)?)]))?;
    }
    Ok(())
}

/// Reads what items of a file are in other languages.
#[derive(Clone, Copy)]
pub(super) struct Reader<'r> {
    pub collection: &'r Collection,
    pub caller: &'r Caller,
    pub limits: ItemLimits,
    pub now: Millis,
}

impl Reader<'_> {
    /// An item of a file, and what it is to be in other languages if it says so.
    ///
    /// # Errors
    /// What makes an item invalid; WDE0119 for a collection, and a field, that has no translations; WDE0080 for what is
    /// no language or doesn't have the form; WDE0009 for more than an item may have in one language.
    pub(super) fn item(self, text: &str) -> Result<(CanonicalItem, Option<AllValues>)> {
        if !text.contains(MEMBER) {
            return Ok((stoa_query::canonical(text, self.limits)?, None));
        }
        // In all languages together an item has more bytes than in one.
        let wide = ItemLimits { bytes: usize::MAX, depth: self.limits.depth + 2 };
        let (mut whole, mut member) = (stoa_query::canonical(text, wide)?, None);
        whole.edit(|name, value| {
            if name != MEMBER {
                return Ok(Edit::Keep);
            }
            member = Some(value.to_owned()).filter(|it| it != "null");
            Ok(Edit::Drop)
        })?;
        let mut item = stoa_query::canonical(&whole.data(), self.limits)?;
        let all = member.map(|it| self.all(&it, &item.data())).transpose()?;
        (item.id, item.owner, item.created) = (whole.id, whole.owner, whole.created);
        Ok((item, all))
    }

    fn all(self, member: &str, primary: &str) -> Result<AllValues> {
        if self.collection.translatable.is_empty() {
            let text = format!("The {} collection has no translatable fields.", self.collection.id);
            return Err(Fault::because(Code::NotSupported, text).with("path", "_translations"));
        }
        // A cell of CSV is a text.
        if member.starts_with('"') {
            let text: String = serde_json::from_str(member).map_err(Fault::internal)?;
            let wide = ItemLimits { bytes: usize::MAX, depth: self.limits.depth + 1 };
            return match stoa_query::canonical(&text, wide) {
                Ok(it) => self.languages(&it.data(), primary),
                Err(_) => Err(wrong("", "must be an object")),
            };
        }
        self.languages(member, primary)
    }

    fn languages(self, member: &str, primary: &str) -> Result<AllValues> {
        let mut all = AllValues::new();
        for (name, values) in object("", member)? {
            let tag: String = serde_json::from_str(name).map_err(Fault::internal)?;
            let path = format!(".{tag}");
            let tag = LanguageTag::parse(&tag).ok_or_else(|| wrong(&path, "is not the tag of a language"))?;
            let language = check_length(&tag, "_translations")?;
            let values = self.values(&path, values)?;
            let item = stoa_query::canonical(&overlaid(primary, &values)?, self.limits)?;
            let is_one = |key: &str| values.contains_key(&quoted(key));
            self.collection.rules().validate_fields(&item, is_one, self.caller, self.now)?;
            if all.insert(language, values).is_some() {
                return Err(wrong(&path, "occurs twice"));
            }
        }
        match all.len() <= MOST_LANGUAGES {
            true => Ok(all),
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
