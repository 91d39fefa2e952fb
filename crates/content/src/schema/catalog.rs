//! Which fields say what an item is to a shop: what the plugin CATALOG names (docs/protocol/content.md §6.3).

use crate::{
    fault::{Faults, invalid},
    schema::{
        definition::Definition,
        field::{self, Field},
        plugin::{self, CATALOG},
    },
};
use serde_json::Value;
use stoa_kernel::Result;

/// Each option, its older name, and the types of the fields that it may name.
const OPTIONS: &[(&str, &str, &[&str])] = &[
    ("nameFieldKey", "name", &["TEXT"]),
    ("priceFieldKey", "price", &["NUMBER"]),
    ("urlFieldKey", "url", &["URL", "PAGE_LINK"]),
    ("descriptionFieldKey", "description", &["TEXT", "RICH_TEXT", "RICH_CONTENT"]),
    ("imageFieldKey", "image", &["IMAGE", "MEDIA_GALLERY"]),
    ("quantityFieldKey", "quantity", &["NUMBER"]),
    ("digitalFileFieldKey", "digitalFile", &["DOCUMENT", "AUDIO", "VIDEO", "IMAGE", "URL"]),
    ("weightFieldKey", "weight", &["NUMBER"]),
    ("skuFieldKey", "sku", &["TEXT"]),
    ("shippableFieldKey", "shippable", &["BOOLEAN"]),
];

/// A definition whose catalogue names such fields only. A field that was named and is deleted, or is of another type by
/// now, leaves the options.
///
/// # Errors
/// WDE0075 for a new name that is no such field, and for an option that has another value by its older name.
pub(crate) fn settle(before: Option<&Definition>, after: &mut Definition) -> Result<()> {
    let Some(catalog) = after.plugin(CATALOG) else { return Ok(()) };
    let named = |name: &str| plugin::option(catalog, name).and_then(Value::as_str);
    let was_named = |name: &str| plugin::option(before?.plugin(CATALOG)?, name)?.as_str();
    let (mut gone, mut faults) = (Vec::new(), Faults::default());
    for (name, older, types) in OPTIONS {
        for name in [name, older] {
            let Some(key) = named(name) else { continue };
            let fits = |it: &Field| types.contains(&field::kind(it)) && !field::is_encrypted(it);
            if after.fields.iter().any(|it| field::key(it) == key && fits(it)) {
                continue;
            }
            if was_named(name) == Some(key) {
                gone.push(*name);
                continue;
            }
            let rule = format!("must be the key of a field of the type {}, not encrypted", types.join(", "));
            faults.add(invalid(&format!("catalogOptions.{name}"), &rule));
        }
        if named(older).is_some_and(|it| named(name).is_some_and(|newer| newer != it)) {
            faults.add(invalid(&format!("catalogOptions.{older}"), &format!("must not be another than {name}")));
        }
    }
    faults.refuse()?;
    if let Some(options) =
        after.plugins.iter_mut().filter(|it| plugin::kind(it) == CATALOG).find_map(plugin::options_mut)
    {
        options.retain(|name, _| !gone.contains(&name.as_str()));
    }
    Ok(())
}
