//! The schema of a site as one kind of caller sees it: its text, and what each name in it stands for.

use crate::{
    name,
    print::Leaf,
    sdl::{self, SHARED_TYPES},
};
use apollo_compiler::{Name, Schema, collections::HashMap as NameMap, schema::Implementers, validation::Valid};
use std::collections::{HashMap, HashSet};

/// A collection that a caller may know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionType {
    pub id: String,
    pub rights: Rights,
    /// The declared fields, the oldest first.
    pub fields: Vec<FieldType>,
}

/// What the caller may do with at least some items of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rights {
    pub read: bool,
    pub insert: bool,
    pub update: bool,
    pub remove: bool,
}

/// A declared field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldType {
    pub key: String,
    pub kind: FieldKind,
}

/// What a field declares of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    Text,
    Number,
    Boolean,
    /// A moment: `{"$date": …}`.
    DateTime,
    /// A list of texts.
    Texts,
    Any,
    /// A reference to one item of the collection of this id.
    Single(String),
    /// References to items of the collection of this id.
    Multi(String),
}

/// The schema that some callers of a site share.
pub struct SiteSchema {
    pub(crate) schema: Valid<Schema>,
    pub(crate) implementers: NameMap<Name, Implementers>,
    text: String,
    pub(crate) types: Vec<ItemType>,
    names: HashMap<String, TypeUse>,
    query: HashMap<String, QueryField>,
    mutation: HashMap<String, Mutation>,
    readable: Vec<String>,
}

/// The type of the items of a collection.
#[derive(Debug)]
pub(crate) struct ItemType {
    pub(crate) name: String,
    pub(crate) collection: String,
    pub(crate) fields: HashMap<String, ItemField>,
}

/// What a field of an item's type stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ItemField {
    /// The whole item.
    Data,
    /// The value that the item has at this key.
    Value(String, Leaf),
    /// The item of another type that is referred to; `usize` numbers the type.
    Single(String, usize),
    Multi(String, usize),
}

/// What a type's name stands for; `usize` numbers the type of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeUse {
    Query,
    Mutation,
    Item(usize),
    Page(usize),
    /// What became of one item of a bulk call.
    Outcome(usize),
    /// One of [`SHARED_TYPES`], or the language's own.
    Other,
}

/// A field at the top of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryField {
    /// `_collections`.
    Collections,
    Page(usize),
    Item(usize),
    Count(usize),
}

/// A field at the top of a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mutation {
    pub(crate) write: Write,
    pub(crate) item_type: usize,
}

/// What is done to items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Write {
    Insert,
    Update,
    Save,
    Patch,
    Remove,
    BulkInsert,
    BulkUpdate,
    BulkSave,
    BulkPatch,
    BulkRemove,
}

/// The field that every query type has: without a collection there is nothing else.
pub(crate) const COLLECTIONS: &str = "_collections";

impl Write {
    const ALL: [Self; 10] = [
        Self::Insert,
        Self::Update,
        Self::Save,
        Self::Patch,
        Self::Remove,
        Self::BulkInsert,
        Self::BulkUpdate,
        Self::BulkSave,
        Self::BulkPatch,
        Self::BulkRemove,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Save => "save",
            Self::Patch => "patch",
            Self::Remove => "remove",
            Self::BulkInsert => "bulkInsert",
            Self::BulkUpdate => "bulkUpdate",
            Self::BulkSave => "bulkSave",
            Self::BulkPatch => "bulkPatch",
            Self::BulkRemove => "bulkRemove",
        }
    }

    pub fn is_bulk(self) -> bool {
        matches!(self, Self::BulkInsert | Self::BulkUpdate | Self::BulkSave | Self::BulkPatch | Self::BulkRemove)
    }

    fn is_allowed(self, rights: Rights) -> bool {
        match self {
            Self::Insert | Self::BulkInsert => rights.insert,
            Self::Update | Self::Patch | Self::BulkUpdate | Self::BulkPatch => rights.update,
            Self::Save | Self::BulkSave => rights.insert || rights.update,
            Self::Remove | Self::BulkRemove => rights.remove,
        }
    }
}

impl SiteSchema {
    /// The schema of these collections, the oldest first. It takes milliseconds for each hundred of them.
    ///
    /// # Errors
    /// What the text breaks of the language's rules: a fault of this crate.
    pub fn build(collections: &[CollectionType]) -> Result<Self, String> {
        let names = Names::of(collections);
        let by_id: HashMap<&str, usize> = collections.iter().enumerate().map(|(n, it)| (it.id.as_str(), n)).collect();
        let types: Vec<_> = collections.iter().zip(&names.types).map(|(it, name)| item_type(it, name, &by_id)).collect();
        let (mut uses, mut query, mut mutation) = (HashMap::new(), HashMap::new(), HashMap::new());
        uses.insert("Query".to_owned(), TypeUse::Query);
        uses.insert("Mutation".to_owned(), TypeUse::Mutation);
        query.insert(COLLECTIONS.to_owned(), QueryField::Collections);
        for (n, (it, root)) in collections.iter().zip(&names.roots).enumerate() {
            let name = &types[n].name;
            uses.insert(name.clone(), TypeUse::Item(n));
            uses.insert(sdl::page(name), TypeUse::Page(n));
            uses.insert(sdl::outcome(name), TypeUse::Outcome(n));
            if it.rights.read {
                query.insert(root.clone(), QueryField::Page(n));
                query.insert(sdl::one(root), QueryField::Item(n));
                query.insert(sdl::count(root), QueryField::Count(n));
            }
            for write in Write::ALL.into_iter().filter(|write| write.is_allowed(it.rights)) {
                mutation.insert(sdl::write(write, name), Mutation { write, item_type: n });
            }
        }
        let text = sdl::print(collections, &types, &names.roots, &names.fields);
        let schema = Schema::parse_and_validate(text.as_str(), "schema.graphql").map_err(|it| it.errors.to_string())?;
        let implementers = schema.implementers_map();
        let readable = collections.iter().filter(|it| it.rights.read).map(|it| it.id.clone()).collect();
        Ok(Self { schema, implementers, text, types, names: uses, query, mutation, readable })
    }

    /// The schema in the language of schemas.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Ids of the collections that can be read.
    pub(crate) fn readable(&self) -> &[String] {
        &self.readable
    }

    pub(crate) fn type_use(&self, name: &str) -> TypeUse {
        self.names.get(name).copied().unwrap_or(TypeUse::Other)
    }

    pub(crate) fn query_field(&self, name: &str) -> Option<QueryField> {
        self.query.get(name).copied()
    }

    pub(crate) fn mutation_field(&self, name: &str) -> Option<Mutation> {
        self.mutation.get(name).copied()
    }
}

/// How all that needs a name is called.
struct Names {
    /// The type of the items of each collection.
    types: Vec<String>,
    /// The field at the top that brings a page of them.
    roots: Vec<String>,
    /// The declared fields of each, in order; nothing for those that have no place.
    fields: Vec<Vec<Option<String>>>,
}

impl Names {
    fn of(collections: &[CollectionType]) -> Self {
        let mut taken: HashSet<String> = SHARED_TYPES.iter().map(|it| (*it).to_owned()).collect();
        taken.insert(COLLECTIONS.to_owned());
        let (mut types, mut roots) = (Vec::new(), Vec::new());
        for it in collections {
            let plain = name::of(&it.id);
            // Types, and fields of queries and of mutations, are apart in the language; one list for all of them keeps a
            // collection's names alike.
            let root = name::numbered(&plain, |root| derived(root).iter().all(|it| !taken.contains(it)));
            taken.extend(derived(&root));
            types.push(name::capital(&root));
            roots.push(root);
        }
        Self { types, roots, fields: collections.iter().map(field_names).collect() }
    }
}

/// Every name that a collection takes whose page is called so.
fn derived(root: &str) -> Vec<String> {
    let capital = name::capital(root);
    let mut names = vec![sdl::one(root), sdl::count(root), sdl::page(&capital), sdl::outcome(&capital)];
    if root != capital {
        names.push(root.to_owned());
    }
    names.extend(Write::ALL.map(|it| sdl::write(it, &capital)));
    names.push(capital);
    names
}

fn field_names(collection: &CollectionType) -> Vec<Option<String>> {
    let mut taken: HashSet<String> = sdl::SYSTEM.iter().map(|it| it.0.to_owned()).collect();
    taken.insert(sdl::DATA.to_owned());
    let is_system = |key: &str| sdl::SYSTEM.iter().any(|it| it.0 == key);
    let name = |it: &FieldType| (!is_system(&it.key)).then(|| name::take(&name::of(&it.key), &mut taken));
    collection.fields.iter().map(name).collect()
}

fn item_type(collection: &CollectionType, name: &str, by_id: &HashMap<&str, usize>) -> ItemType {
    let mut fields = HashMap::new();
    for (key, leaf) in sdl::SYSTEM {
        fields.insert(key.to_owned(), ItemField::Value(key.to_owned(), leaf));
    }
    fields.insert(sdl::DATA.to_owned(), ItemField::Data);
    for (field, name) in collection.fields.iter().zip(field_names(collection)) {
        if let (Some(name), Some(it)) = (name, item_field(field, by_id)) {
            fields.insert(name, it);
        }
    }
    ItemType { name: name.to_owned(), collection: collection.id.clone(), fields }
}

/// Nothing for references to many items of a collection that isn't there for the caller.
fn item_field(field: &FieldType, by_id: &HashMap<&str, usize>) -> Option<ItemField> {
    let key = field.key.clone();
    let value = |leaf| Some(ItemField::Value(key.clone(), leaf));
    // Names in requests have dots between them.
    let target = |id: &str| by_id.get(id).copied().filter(|_| !key.contains('.'));
    match &field.kind {
        FieldKind::Text => value(Leaf::Text),
        FieldKind::Number => value(Leaf::Number),
        FieldKind::Boolean => value(Leaf::Boolean),
        FieldKind::DateTime => value(Leaf::DateTime),
        FieldKind::Texts => value(Leaf::Texts),
        FieldKind::Any => value(Leaf::Any),
        FieldKind::Single(id) => match target(id) {
            Some(target) => Some(ItemField::Single(key, target)),
            None => value(Leaf::Id),
        },
        FieldKind::Multi(id) => Some(ItemField::Multi(key.clone(), target(id)?)),
    }
}
