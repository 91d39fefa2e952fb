//! Items that others refer to, as their hooks would have them shown: as they are in a query.

use super::CallHooks;
use serde_json::value::RawValue;
use stoa_hooks::Hook;
use stoa_kernel::{Fault, Result};

/// An element of a page of referenced items.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Referenced<'a> {
    #[serde(borrow, default)]
    referring_item_id: Option<&'a RawValue>,
    /// Nothing for what can't be shown.
    #[serde(borrow, default)]
    data_item: Option<&'a RawValue>,
}

impl CallHooks {
    /// The elements of such a page.
    pub(crate) async fn after_referenced(&self, elements: String) -> Result<String> {
        if !self.has(Hook::AfterQuery) {
            return Ok(elements);
        }
        let list = format!("[{elements}]");
        let elements: Vec<&RawValue> = serde_json::from_str(&list).map_err(Fault::internal)?;
        let referenced: Vec<Referenced<'_>> = serde_json::from_str(&list).map_err(Fault::internal)?;
        let items: Vec<&str> = referenced.iter().filter_map(|it| it.data_item.map(RawValue::get)).collect();
        let shown = format!("[{}]", self.after_each(Hook::AfterQuery, items.join(",")).await?);
        let mut shown = serde_json::from_str::<Vec<&RawValue>>(&shown).map_err(Fault::internal)?.into_iter();
        let mut out = String::with_capacity(list.len());
        for (element, it) in elements.into_iter().zip(referenced) {
            let item = if it.data_item.is_some() { shown.next() } else { None };
            out.push_str(if out.is_empty() { "" } else { "," });
            match (item, it.referring_item_id) {
                (None, _) => out.push_str(element.get()),
                (Some(item), None) => out.extend(["{\"dataItem\":", item.get(), "}"]),
                (Some(item), Some(id)) => {
                    out.extend(["{\"referringItemId\":", id.get(), ",\"dataItem\":", item.get(), "}"]);
                }
            }
        }
        Ok(out)
    }
}
