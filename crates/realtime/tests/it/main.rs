//! Streams without HTTP, on both engines.
