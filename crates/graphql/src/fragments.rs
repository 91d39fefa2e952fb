//! In which order fragments can be looked at so that each comes after those that it uses.

use apollo_compiler::ast::{Definition, Document, FragmentDefinition, Selection};
use std::collections::HashMap;

/// The fragments of a document by their names. Of two with one name the first counts; validation refuses the other.
pub(crate) struct Fragments<'d> {
    by_name: HashMap<&'d str, &'d FragmentDefinition>,
    /// Names, each behind those that its fragment uses.
    pub(crate) ordered: Vec<&'d str>,
}

impl<'d> Fragments<'d> {
    /// The fragments of a document; `Err` names one that uses itself.
    ///
    /// Nothing here calls itself for a fragment within a fragment: a chain of them would be as deep as the document is
    /// long.
    pub(crate) fn of(document: &'d Document) -> Result<Self, &'d str> {
        let mut by_name = HashMap::new();
        for it in &document.definitions {
            if let Definition::FragmentDefinition(it) = it {
                by_name.entry(it.name.as_str()).or_insert(&**it);
            }
        }
        let mut uses: HashMap<&str, Vec<&str>> = HashMap::new();
        let (mut waiting_for, mut ready) = (HashMap::new(), Vec::new());
        let mut names: Vec<&'d str> = by_name.keys().copied().collect();
        names.sort_unstable();
        for name in names {
            let mut used = Vec::new();
            spreads(&by_name[name].selection_set, &mut used);
            used.retain(|it| by_name.contains_key(it));
            used.sort_unstable();
            used.dedup();
            match used.len() {
                0 => ready.push(name),
                count => drop(waiting_for.insert(name, count)),
            }
            for it in used {
                uses.entry(it).or_default().push(name);
            }
        }
        let mut ordered = Vec::with_capacity(by_name.len());
        while let Some(name) = ready.pop() {
            ordered.push(name);
            for user in uses.get(name).into_iter().flatten() {
                if let Some(left) = waiting_for.get_mut(user) {
                    *left -= 1;
                    if *left == 0 {
                        waiting_for.remove(user);
                        ready.push(user);
                    }
                }
            }
        }
        match waiting_for.keys().min() {
            Some(name) => Err(name),
            None => Ok(Self { by_name, ordered }),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    pub(crate) fn selections(&self, name: &str) -> &'d [Selection] {
        self.by_name.get(name).map_or(&[], |it| &it.selection_set)
    }
}

/// The fragments that selections name, at any depth; the parser has bounded that.
fn spreads<'d>(selections: &'d [Selection], found: &mut Vec<&'d str>) {
    for it in selections {
        match it {
            Selection::Field(it) => spreads(&it.selection_set, found),
            Selection::InlineFragment(it) => spreads(&it.selection_set, found),
            Selection::FragmentSpread(it) => found.push(&it.fragment_name),
        }
    }
}
