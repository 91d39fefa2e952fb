//! Pages of items: where a page begins, and how it is printed.

pub(crate) mod cursor;
