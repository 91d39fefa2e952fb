//! The text of a schema, in the language of schemas.

use crate::{
    name::{COLLECTIONS, DATA, LIMIT, count, one, outcome, page, write},
    types::{CollectionType, ItemField, ItemType, Write},
};
use std::fmt::Write as _;

const SHARED: &str = r#"scalar JSON @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc8259")
scalar DateTime @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc3339")
enum SortOrder { ASC DESC }
"A field by its key in the collection, and a direction."
input Sort { field: String! order: SortOrder! = ASC }
"#;

const PATCHES: &str = r#""Changes of one item: each member of an object names a field, or a path with dots, and its value."
input Patch { id: ID! set: JSON inc: JSON append: JSON pull: JSON unset: [String!] }
type BulkError { code: String! message: String! data: JSON }
"#;

/// The text for these collections, whose types, roots and fields are named.
pub(crate) fn print(
    collections: &[CollectionType],
    types: &[ItemType],
    roots: &[String],
    fields: &[Vec<Option<String>>],
) -> String {
    let (mut out, mut query, mut mutation) = (SHARED.to_owned(), String::new(), String::new());
    let _ =
        writeln!(query, "type Query {{\n  \"Ids of the collections that can be read.\"\n  {COLLECTIONS}: [String!]!");
    for (n, collection) in collections.iter().enumerate() {
        let item = &types[n];
        print_item(collection, item, &fields[n], types, &mut out);
        if collection.rights.read {
            print_page(item, &mut out);
            print_reads(item, &roots[n], &mut query);
        }
        print_writes(collection, item, &mut mutation, &mut out);
    }
    query.push_str("}\n");
    out.push_str(&query);
    if !mutation.is_empty() {
        out.push_str(PATCHES);
        let _ = write!(out, "type Mutation {{\n{mutation}}}\n");
    }
    out
}

fn print_item(
    collection: &CollectionType,
    item: &ItemType,
    names: &[Option<String>],
    types: &[ItemType],
    out: &mut String,
) {
    let _ = writeln!(out, "{}\ntype {} {{", text(&format!("Items of the collection {}.", collection.id)), item.name);
    out.push_str("  _id: ID!\n  _createdDate: DateTime\n  _updatedDate: DateTime\n  _owner: ID\n");
    for (field, name) in collection.fields.iter().zip(names) {
        let Some(name) = name else { continue };
        let Some(it) = item.fields.get(name) else { continue };
        if *name != field.key {
            let _ = writeln!(out, "  {}", text(&format!("The field {}.", field.key)));
        }
        let _ = match it {
            ItemField::Data => Ok(()),
            ItemField::Value(_, leaf) => writeln!(out, "  {name}: {}", leaf.type_name()),
            ItemField::Single(_, target) => writeln!(out, "  {name}: {}", types[*target].name),
            ItemField::Multi(_, target) => {
                writeln!(out, "  {name}(limit: Int = {LIMIT}, offset: Int = 0): [{}!]!", types[*target].name)
            }
        };
    }
    let _ = writeln!(out, "  \"All of the item, also what is not declared.\"\n  {DATA}: JSON!\n}}");
}

fn print_page(item: &ItemType, out: &mut String) {
    let (name, page) = (&item.name, page(&item.name));
    let _ = writeln!(
        out,
        "type {page} {{\n  items: [{name}!]!\n  totalCount: Int\n  hasNext: Boolean!\n  next: String\n  prev: String\n}}"
    );
}

fn print_reads(item: &ItemType, root: &str, query: &mut String) {
    let page = page(&item.name);
    let _ = writeln!(
        query,
        "  {root}(filter: JSON, sort: [Sort!], limit: Int = {LIMIT}, offset: Int, cursor: String): {page}"
    );
    let _ = writeln!(query, "  {}(id: ID!): {}", one(root), item.name);
    let _ = writeln!(query, "  {}(filter: JSON): Int", count(root));
}

fn print_writes(collection: &CollectionType, item: &ItemType, mutation: &mut String, out: &mut String) {
    const ITEM: &str = "item: JSON!";
    const ITEMS: &str = "items: [JSON!]!";
    const CONDITION: &str = "condition: JSON";
    const LINKS: &str = "saveReferences: Boolean";
    let name = &item.name;
    let rights = collection.rights;
    let (mut one, mut many) = (Vec::new(), Vec::new());
    if rights.insert {
        one.push((Write::Insert, format!("{ITEM}, {LINKS}")));
        many.push((Write::BulkInsert, format!("{ITEMS}, {LINKS}")));
    }
    if rights.insert || rights.update {
        one.push((Write::Save, format!("{ITEM}, {LINKS}")));
        many.push((Write::BulkSave, format!("{ITEMS}, {LINKS}")));
    }
    if rights.update {
        one.push((Write::Update, format!("{ITEM}, {LINKS}, {CONDITION}")));
        many.push((Write::BulkUpdate, format!("{ITEMS}, {LINKS}, {CONDITION}")));
        let changes = "id: ID!, set: JSON, inc: JSON, append: JSON, pull: JSON, unset: [String!]";
        one.push((Write::Patch, format!("{changes}, {CONDITION}")));
        many.push((Write::BulkPatch, format!("patches: [Patch!]!, {CONDITION}")));
    }
    if rights.remove {
        one.push((Write::Remove, format!("id: ID!, {CONDITION}")));
        many.push((Write::BulkRemove, format!("ids: [ID!]!, {CONDITION}")));
    }
    let outcome = outcome(name);
    for (it, arguments) in one {
        let _ = writeln!(mutation, "  {}({arguments}): {name}", write(it, name));
    }
    if many.is_empty() {
        return;
    }
    for (it, arguments) in many {
        let _ = writeln!(mutation, "  {}({arguments}): [{outcome}!]", write(it, name));
    }
    let _ = writeln!(
        out,
        "\"What became of one item of a bulk call.\"\ntype {outcome} {{\n  action: String!\n  id: ID\n  error: BulkError\n  item: {name}\n}}"
    );
}

/// A text as the language has it, which JSON's texts are.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
