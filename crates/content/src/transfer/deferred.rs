//! Values of an import whose links are deferred until the file has been read.
//!
//! They are few where a file has what is referred to before what refers to it, and as many as the file has
//! items in the worst case. So what doesn't fit into a little memory goes into a file without a name, which
//! is gone when the process is.

use serde::{Deserialize, Serialize};
use std::{
    io::{BufRead, BufReader, Seek, Write},
    path::Path,
};
use stoa_kernel::{Fault, Result};
use tempfile::SpooledTempFile;

/// Bytes that are kept in memory.
const MEMORY: usize = 4 * 1024 * 1024;

/// The ids that an item has in a multi-reference.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeferredValue {
    /// Where in the file it stands.
    pub line: u64,
    pub item: String,
    pub field: String,
    pub ids: Vec<String>,
    /// Whether its links were made before: it stands here only because it comes after one that is deferred.
    pub is_linked: bool,
}

/// Values in the order in which they were put here.
pub struct DeferredLinks {
    values: SpooledTempFile,
    pub is_empty: bool,
}

impl DeferredLinks {
    /// What doesn't fit into memory goes into this directory.
    pub fn new(directory: &Path) -> Self {
        Self { values: SpooledTempFile::new_in(MEMORY, directory), is_empty: true }
    }

    /// # Errors
    /// An internal fault when it can't be written down.
    pub fn put(&mut self, value: &DeferredValue) -> Result<()> {
        let mut line = serde_json::to_vec(value).map_err(Fault::internal)?;
        line.push(b'\n');
        self.is_empty = false;
        self.values.write_all(&line).map_err(unkept)
    }

    /// All values, one after another.
    ///
    /// # Errors
    /// An internal fault when they can't be read back.
    pub fn read(mut self) -> Result<impl Iterator<Item = Result<DeferredValue>>> {
        self.values.rewind().map_err(unkept)?;
        let lines = BufReader::with_capacity(1 << 16, self.values).lines();
        Ok(lines.map(|it| serde_json::from_str(&it.map_err(unkept)?).map_err(Fault::internal)))
    }
}

fn unkept(error: std::io::Error) -> Fault {
    Fault::internal(format!("keeping the deferred links of an import: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deferred_values_come_back_in_order_from_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut deferred = DeferredLinks::new(directory.path());
        let ids: Vec<String> = (0..1000).map(|n| format!("{n:036}")).collect();
        for line in 0..200 {
            let value = DeferredValue {
                line,
                item: format!("i\n{line}"),
                field: "f".into(),
                ids: ids.clone(),
                is_linked: false,
            };
            deferred.put(&value).unwrap();
        }
        assert!(deferred.values.is_rolled(), "7 MB are too much for memory");
        assert_eq!(directory.path().read_dir().unwrap().count(), 0, "the file has no name");
        for (n, it) in deferred.read().unwrap().enumerate() {
            let it = it.unwrap();
            assert_eq!((it.line, it.item, it.ids.len()), (n as u64, format!("i\n{n}"), 1000));
        }
    }
}
