//! Filled by the identity flow slice.
