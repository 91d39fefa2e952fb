//! The schema of a site as one kind of caller sees it: its text, and what each name in it stands for.

use crate::{
    name::{self, COLLECTIONS, DATA, SHARED_TYPES, SYSTEM},
    print::Leaf,
    sdl,
    types::{CollectionType, FieldKind, FieldType, ItemField, ItemType, Write},
};
use apollo_compiler::{Name, Schema, collections::HashMap as NameMap, schema::Implementers, validation::Valid};
use std::collections::{HashMap, HashSet};

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

impl SiteSchema {
    /// The schema of these collections, the oldest first. It takes milliseconds for each hundred of them.
    ///
    /// # Errors
    /// What the text breaks of the language's rules: a fault of this crate.
    pub fn build(collections: &[CollectionType]) -> Result<Self, String> {
        let names = Names::of(collections);
        let by_id: HashMap<&str, usize> = collections.iter().enumerate().map(|(n, it)| (it.id.as_str(), n)).collect();
        let types: Vec<_> =
            collections.iter().zip(&names.types).map(|(it, name)| item_type(it, name, &by_id)).collect();
        let (mut uses, mut query, mut mutation) = (HashMap::new(), HashMap::new(), HashMap::new());
        uses.insert("Query".to_owned(), TypeUse::Query);
        uses.insert("Mutation".to_owned(), TypeUse::Mutation);
        query.insert(COLLECTIONS.to_owned(), QueryField::Collections);
        for (n, (it, root)) in collections.iter().zip(&names.roots).enumerate() {
            let name = &types[n].name;
            uses.insert(name.clone(), TypeUse::Item(n));
            uses.insert(name::page(name), TypeUse::Page(n));
            uses.insert(name::outcome(name), TypeUse::Outcome(n));
            if it.rights.read {
                query.insert(root.clone(), QueryField::Page(n));
                query.insert(name::one(root), QueryField::Item(n));
                query.insert(name::count(root), QueryField::Count(n));
            }
            for write in Write::ALL.into_iter().filter(|write| write.is_allowed(it.rights)) {
                mutation.insert(name::write(write, name), Mutation { write, item_type: n });
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
    let mut names = vec![name::one(root), name::count(root), name::page(&capital), name::outcome(&capital)];
    if root != capital {
        names.push(root.to_owned());
    }
    names.extend(Write::ALL.map(|it| name::write(it, &capital)));
    names.push(capital);
    names
}

fn field_names(collection: &CollectionType) -> Vec<Option<String>> {
    let mut taken: HashSet<String> = SYSTEM.iter().map(|it| it.0.to_owned()).collect();
    taken.insert(DATA.to_owned());
    let is_system = |key: &str| SYSTEM.iter().any(|it| it.0 == key);
    let name = |it: &FieldType| (!is_system(&it.key)).then(|| name::take(&name::of(&it.key), &mut taken));
    collection.fields.iter().map(name).collect()
}

fn item_type(collection: &CollectionType, name: &str, by_id: &HashMap<&str, usize>) -> ItemType {
    let mut fields = HashMap::new();
    for (key, leaf) in SYSTEM {
        fields.insert(key.to_owned(), ItemField::Value(key.to_owned(), leaf));
    }
    fields.insert(DATA.to_owned(), ItemField::Data);
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
