//! The processes of a server that run code of its sites.

use crate::{Call, Called, Export, HookLimits, SourceRefusal, Version};
use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};
use stoa_kernel::{SiteId, World};

/// How the program is started that runs the code: this one, with a word that makes it do that.
#[derive(Debug, Clone)]
pub struct HostProgram {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
}

/// One for each server; cheap to clone.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

struct Inner {
    world: World,
    limits: HookLimits,
    program: HostProgram,
}

impl Host {
    pub fn new(world: World, limits: HookLimits, program: HostProgram) -> Self {
        Self { inner: Arc::new(Inner { world, limits, program }) }
    }

    pub fn limits(&self) -> &HookLimits {
        &self.inner.limits
    }
}
