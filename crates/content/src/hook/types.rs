//! What the hooks of a site are given, as types for an editor.

use super::deploy::may_manage;
use crate::{Content, KnownCollection, KnownField};
use std::fmt::Write;
use stoa_kernel::{Caller, Result};
use stoa_sql::json::quoted;
use stoa_store::Site;

/// What is the same for all sites.
const BEGIN: &str = "\
// Made by `stoa hooks types` of the site's collections. Make it again when they change.

export interface HookContext {
  collectionName: string;
  userId?: string;
  userRole: 'siteOwner' | 'siteContributor' | 'siteMember' | 'anonymous';
  requestId?: string;
}

/** What hooks of updates and removals are told beside it. */
export interface ChangeContext<Item> extends HookContext {
  currentItem: Item;
}

interface SystemFields {
  _id: string;
  _owner?: string;
  _createdDate?: Date;
  _updatedDate?: Date;
  [field: string]: unknown;
}

/** A hook that answers nothing leaves things as they are. */
export type Answer<Value> = Value | void | Promise<Value | void>;
export type ItemHook<C extends keyof Items> = (item: Items[C], context: HookContext) => Answer<Items[C]>;
export type ChangeHook<C extends keyof Items> = (item: Items[C], context: ChangeContext<Items[C]>) => Answer<Items[C]>;
export type RemovalHook<C extends keyof Items> = (id: string, context: ChangeContext<Items[C]>) => Answer<string>;
export type IdHook = (id: string, context: HookContext) => Answer<string>;
export type FailureHook = (error: Error & { code?: string | number }, context: HookContext) => unknown;
export type CountHook = (count: number, context: HookContext) => Answer<number>;

/** The items of each collection. */
export interface Items {
";

impl Content {
    /// Types of the site's items and hooks, in TypeScript.
    ///
    /// # Errors
    /// PERMISSION_DENIED for all but owners and apps.
    pub async fn hook_types(&self, site: &Site, caller: &Caller) -> Result<String> {
        may_manage(caller)?;
        let mut text = BEGIN.to_owned();
        for it in self.collections_known(site, caller).await?.iter() {
            print(&it, &mut text);
        }
        text.push_str("}\n");
        Ok(text)
    }
}

fn print(collection: &KnownCollection<'_>, text: &mut String) {
    let _ = writeln!(text, "  {}: SystemFields & {{", quoted(collection.id));
    // Links of multi-references are no part of what hooks see.
    for it in collection.fields.iter().filter(|it| it.kind != "MULTI_REFERENCE" && !it.key.starts_with('_')) {
        let _ = writeln!(text, "    {}?: {};", quoted(it.key), type_of(it));
    }
    text.push_str("  };\n");
}

fn type_of(field: &KnownField<'_>) -> &'static str {
    match field.kind {
        "NUMBER" => "number",
        "BOOLEAN" => "boolean",
        "DATETIME" => "Date",
        "ARRAY_STRING" => "string[]",
        "ARRAY" => "unknown[]",
        "OBJECT" => "Record<string, unknown>",
        "TEXT" | "REFERENCE" | "DATE" | "TIME" | "URL" | "SLUG" | "EMAIL" | "LANGUAGE" | "IMAGE" | "DOCUMENT"
        | "VIDEO" | "AUDIO" | "RICH_TEXT" | "PAGE_LINK" => "string",
        _ => "unknown",
    }
}
