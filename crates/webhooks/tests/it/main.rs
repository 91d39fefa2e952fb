//! Webhooks on both engines, sent to real receivers on this machine.
