//! What slows an attacker down: throttling, lockout, known devices, captchas.

pub(crate) mod attempt;
pub mod captcha;
pub mod captcha_provider;
mod captcha_script;
pub mod captcha_widget;
pub(crate) mod code_limit;
pub(crate) mod device;
pub(crate) mod lockout;
pub mod throttle;

pub use attempt::Attempt;
