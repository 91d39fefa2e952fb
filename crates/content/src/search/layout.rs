//! Which texts of an item are searched, and what they count.

use crate::schema::{
    definition::Definition,
    field::{self, Field},
    translatable::TranslatableFields,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use stoa_search::document::{FieldText, OTHER_FIELDS};

/// Fields with a bit of their own in the lists; the others share one.
const NAMED: usize = 7;

/// Types of fields whose values have words.
const TYPES: [&str; 4] = ["TEXT", "RICH_TEXT", "URL", "ARRAY_STRING"];

/// The fields of a collection that are searched. Segments made with one layout aren't read with another: the index is
/// built anew when it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The display field comes first, then the others as they are declared.
    fields: Vec<SearchedField>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SearchedField {
    key: String,
    is_display: bool,
    is_markup: bool,
    /// Whether it has values in other languages.
    is_translatable: bool,
}

impl Layout {
    pub fn of(definition: &Definition) -> Self {
        let translatable = TranslatableFields::of(definition);
        let is_searched = |it: &&Field| {
            TYPES.contains(&field::kind(it)) && !field::is_encrypted(it) && !field::is_system(field::key(it))
        };
        let display = definition.display_field.as_deref().unwrap_or_default();
        let searched = definition.fields.iter().filter(is_searched).map(|it| SearchedField {
            key: field::key(it).to_owned(),
            is_display: field::key(it) == display,
            is_markup: field::kind(it) == "RICH_TEXT",
            is_translatable: translatable.by_key(field::key(it)).is_some(),
        });
        let mut fields: Vec<_> = searched.collect();
        fields.sort_by_key(|it| !it.is_display);
        Self { fields }
    }

    /// The layout as it is stored: two are the same if their texts are.
    pub(super) fn text(&self) -> String {
        let each = |it: &SearchedField| {
            let mut field = vec![Value::from(it.key.as_str()), it.is_display.into(), it.is_markup.into()];
            field.extend(it.is_translatable.then_some(Value::Bool(true)));
            Value::Array(field)
        };
        Value::Array(self.fields.iter().map(each).collect()).to_string()
    }

    /// Whether any of the fields has values in other languages.
    pub(super) fn has_translations(&self) -> bool {
        self.fields.iter().any(|it| it.is_translatable)
    }

    /// Whether this one is, and has.
    pub(super) fn is_translatable(&self, key: &str) -> bool {
        self.fields.iter().any(|it| it.is_translatable && it.key == key)
    }

    /// The bits of fields; nothing for a field that isn't searched. Fields that share a bit are told apart when a hit is
    /// checked.
    pub fn bit(&self, key: &str) -> Option<u8> {
        self.fields.iter().position(|it| it.key == key).map(bit)
    }

    /// The bits of these fields, of all where none is named.
    ///
    /// # Errors
    /// The first name of no field that is searched.
    pub fn bits<'n>(&self, keys: &'n [String]) -> Result<u8, &'n str> {
        match keys {
            [] => Ok(u8::MAX),
            keys => keys.iter().try_fold(0, |bits, key| Ok(bits | self.bit(key).ok_or(key.as_str())?)),
        }
    }

    /// Whether lists tell the words of these fields, of all where none is named, from those of others.
    pub fn tells_apart(&self, keys: &[String]) -> bool {
        let is_named = |it: &SearchedField| keys.contains(&it.key);
        let mut sharing = self.fields.iter().skip(NAMED).map(is_named);
        let first = sharing.next();
        keys.is_empty() || sharing.all(|it| Some(it) == first)
    }

    /// Hands on the texts of a document, as they are indexed.
    pub fn with_texts<T>(&self, document: &Map<String, Value>, then: impl FnOnce(&[FieldText<'_>]) -> T) -> T {
        self.with_texts_of(&[], document, then)
    }

    /// The same of these fields alone, of all where none is named.
    pub fn with_texts_of<T>(
        &self,
        keys: &[String],
        document: &Map<String, Value>,
        then: impl FnOnce(&[FieldText<'_>]) -> T,
    ) -> T {
        let texts = self.texts(keys, document);
        let fields: Vec<_> = texts
            .iter()
            .map(|(bit, field, text)| FieldText { bit: *bit, is_display: field.is_display, text })
            .collect();
        then(&fields)
    }

    /// The names of these fields that a document has, of all where none is named, each with its text as it is indexed.
    pub fn named_texts<'d>(
        &'d self,
        keys: &[String],
        document: &'d Map<String, Value>,
    ) -> Vec<(&'d str, Cow<'d, str>)> {
        self.texts(keys, document).into_iter().map(|(_, field, text)| (field.key.as_str(), text)).collect()
    }

    fn texts<'d>(
        &'d self,
        keys: &[String],
        document: &'d Map<String, Value>,
    ) -> Vec<(u8, &'d SearchedField, Cow<'d, str>)> {
        let wanted = self.fields.iter().enumerate().filter(|it| keys.is_empty() || keys.contains(&it.1.key));
        let present = wanted.filter_map(|(n, it)| Some((bit(n), it, text(document.get(&it.key)?)?)));
        present.map(|(bit, it, text)| (bit, it, if it.is_markup { without_markup(text) } else { text })).collect()
    }
}

fn bit(position: usize) -> u8 {
    if position < NAMED { 1 << position } else { OTHER_FIELDS }
}

/// A text, or the texts of a list one under the other.
fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(it) => Some(it.as_str().into()),
        Value::Array(all) => Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n").into()),
        _ => None,
    }
}

/// What is read of a text with markup: each tag stands for a space, and the commonest entities for their characters.
fn without_markup(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(['<', '&']) {
        return text;
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), &*text);
    while let Some(at) = rest.find(['<', '&']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.starts_with('<') {
            true => tag(rest).inspect(|_| plain.push(' ')),
            false => entity(rest).map(|(character, length)| {
                plain.push(character);
                length
            }),
        };
        // A sign that begins neither is one.
        let length = length.unwrap_or_else(|| {
            plain.push_str(&rest[..1]);
            1
        });
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain.into()
}

/// The length of the tag with which a text begins.
fn tag(text: &str) -> Option<usize> {
    let begins = text[1..].starts_with(|it: char| it.is_ascii_alphabetic() || matches!(it, '/' | '!'));
    text.find('>').filter(|_| begins).map(|it| it + 1)
}

/// The character of the entity with which a text begins, and the length of that.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(12).position(|it| it == b';')?;
    let name = text.get(1..end)?;
    let number = || match name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => name.strip_prefix('#')?.parse().ok(),
    };
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => char::from_u32(number()?)?,
    };
    Some((character, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn layout(display: &str, fields: Value) -> Layout {
        let definition = json!({ "displayField": display, "fields": fields, "levels": {
            "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" } });
        Layout::of(&serde_json::from_value(definition).expect("a definition"))
    }

    #[test]
    fn declared_texts_are_searched_and_the_display_field_is_first() {
        let fields = json!([
            { "key": "a", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, { "key": "pin", "type": "TEXT", "encrypted": true },
            { "key": "t", "type": "TEXT" }, { "key": "tags", "type": "ARRAY_STRING" }, { "key": "r", "type": "RICH_TEXT" },
        ]);
        let layout = layout("t", fields);
        assert_eq!(layout.text(), r#"[["t",true,false],["a",false,false],["tags",false,false],["r",false,true]]"#);
        assert_eq!(
            ["t", "a", "tags", "r", "n", "pin"].map(|it| layout.bit(it)),
            [Some(1), Some(2), Some(4), Some(8), None, None]
        );
        let item =
            json!({ "a": 1, "pin": "x", "t": "one", "tags": ["two", 3, "four"], "r": "<p>five</p>", "other": "six" });
        let read = |all: &[FieldText<'_>]| {
            all.iter().map(|it| (it.bit, it.is_display, it.text.to_owned())).collect::<Vec<_>>()
        };
        let texts = layout.with_texts(item.as_object().expect("an object"), read);
        assert_eq!(texts, [(1, true, "one".into()), (4, false, "two\nfour".into()), (8, false, " five ".into())]);
    }

    #[test]
    fn translatable_fields_make_another_layout() {
        let plugin = json!({ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": ["a", "n"] } });
        let definition = |plugins: Value| {
            json!({ "fields": [{ "key": "a", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }], "plugins": plugins,
                "levels": { "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" } })
        };
        let layout = |plugins| Layout::of(&serde_json::from_value(definition(plugins)).expect("a definition"));
        let (without, with) = (layout(json!([])), layout(json!([plugin])));
        assert_eq!(
            (without.text(), with.text()),
            (r#"[["a",false,false]]"#.into(), r#"[["a",false,false,true]]"#.into())
        );
        assert!(with.is_translatable("a") && !with.is_translatable("n") && !without.has_translations());
    }

    #[test]
    fn many_fields_share_a_bit() {
        let fields: Vec<Value> = (0..9).map(|n| json!({ "key": format!("f{n}"), "type": "URL" })).collect();
        let layout = layout("none", fields.into());
        assert_eq!(["f0", "f6", "f7", "f8"].map(|it| layout.bit(it)), [Some(1), Some(64), Some(128), Some(128)]);
        let tells_apart = |layout: &Layout, keys: &[&str]| {
            layout.tells_apart(&keys.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        for (keys, expected) in
            [(&[][..], true), (&["f0"], true), (&["f7"], false), (&["f0", "f8"], false), (&["f8", "f0", "f7"], true)]
        {
            assert_eq!(tells_apart(&layout, keys), expected, "{keys:?}");
        }
        let eight: Vec<Value> = (0..8).map(|n| json!({ "key": format!("f{n}"), "type": "URL" })).collect();
        let eight = self::layout("none", eight.into());
        assert!(tells_apart(&eight, &["f7"]), "alone behind its bit");
    }

    #[test]
    fn markup_is_not_searched() {
        for (text, plain) in [
            ("a <b class=\"x\">c</b>d<br/>e", "a  c d e"),
            (
                "1 < 2 & 3 &amp;amp; &lt;b&gt; &#228;&#xE4;&nbsp;&unknown; &#x110000; &",
                "1 < 2 & 3 &amp; <b> ää &unknown; &#x110000; &",
            ),
            ("<!-- no --><p", " <p"),
            ("&ü;ß<ü>", "&ü;ß<ü>"),
        ] {
            assert_eq!(without_markup(text.into()), plain);
        }
    }
}
