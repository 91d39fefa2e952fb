//! Code that a site deployed, or an application that it named in place of code.

use crate::{
    hook::{Export, Hook, Hooks},
    plugin::Plugin,
};
use std::{collections::HashMap, sync::Arc};
use stoa_kernel::SiteId;

/// One that was deployed. A request holds one from its start to its end, so that it runs one version.
#[derive(Debug)]
pub struct Version {
    pub site: SiteId,
    /// Counted from 1 in each site; 0 is what was not deployed (a trial).
    pub number: i64,
    /// One module of JavaScript; empty where an application is asked instead.
    pub source: Arc<str>,
    pub plugin: Option<Plugin>,
    pub exports: Vec<Export>,
    hooks: HashMap<String, Hooks>,
}

impl Version {
    pub fn new(site: SiteId, number: i64, source: impl Into<Arc<str>>, exports: Vec<Export>) -> Self {
        let mut hooks = HashMap::<String, Hooks>::new();
        for export in &exports {
            hooks.entry(export.collection.clone()).or_default().add(export.hook);
        }
        Self { site, number, source: source.into(), plugin: None, exports, hooks }
    }

    /// One whose hooks an application answers.
    pub fn of_plugin(site: SiteId, number: i64, plugin: Plugin, exports: Vec<Export>) -> Self {
        Self { plugin: Some(plugin), ..Self::new(site, number, "", exports) }
    }

    /// The hooks of a collection; empty where it has none.
    pub fn hooks_of(&self, collection: &str) -> Hooks {
        self.hooks.get(collection).copied().unwrap_or_default()
    }

    pub fn has(&self, collection: &str, hook: Hook) -> bool {
        self.hooks_of(collection).has(hook)
    }
}
