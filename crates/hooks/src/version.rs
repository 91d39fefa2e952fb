//! Code that a site deployed.

use crate::hook::{Export, Hook, Hooks};
use std::{collections::HashMap, sync::Arc};
use stoa_kernel::SiteId;

/// One deployed source. A request holds one from its start to its end, so that it runs one version.
#[derive(Debug)]
pub struct Version {
    pub site: SiteId,
    /// Counted from 1 in each site; 0 is what was not deployed (a trial).
    pub number: i64,
    /// One module of JavaScript.
    pub source: Arc<str>,
    pub exports: Vec<Export>,
    hooks: HashMap<String, Hooks>,
}

impl Version {
    pub fn new(site: SiteId, number: i64, source: impl Into<Arc<str>>, exports: Vec<Export>) -> Self {
        let mut hooks = HashMap::<String, Hooks>::new();
        for export in &exports {
            hooks.entry(export.collection.clone()).or_default().add(export.hook);
        }
        Self { site, number, source: source.into(), exports, hooks }
    }

    /// The hooks of a collection; empty where it has none.
    pub fn hooks_of(&self, collection: &str) -> Hooks {
        self.hooks.get(collection).copied().unwrap_or_default()
    }

    pub fn has(&self, collection: &str, hook: Hook) -> bool {
        self.hooks_of(collection).has(hook)
    }
}
