//! Prints `wire.rs` as TypeScript and fails when the file in `web/` is stale.
//!
//! To write it again: `STOA_WRITE_TYPESCRIPT=1 cargo test -p stoa-identity typescript`.

use crate::{factor::FactorType, flow::wire::*};
use std::{fmt::Write, path::Path};
use ts_rs::{Config, TS};

const HEADER: &str = "\
// Printed from the Rust types in crates/identity/src/flow/wire.rs. Do not edit by hand; print it again with
// STOA_WRITE_TYPESCRIPT=1 cargo test -p stoa-identity typescript
";

macro_rules! declarations {
    ($($name:ident),+ $(,)?) => {{
        let config = Config::new();
        let mut text = HEADER.to_owned();
        $(declare::<$name>(&config, &mut text);)+
        text
    }};
}

fn declare<T: TS>(config: &Config, text: &mut String) {
    let docs = T::docs().unwrap_or_default();
    write!(text, "\n{docs}export {}\n", T::decl(config)).expect("writing to a string");
}

fn typescript() -> String {
    declarations![
        FlowView,
        FlowKind,
        SiteFace,
        SiteColours,
        Palette,
        Step,
        PasskeyChallenge,
        Provider,
        ProviderFailure,
        DoneMessage,
        FactorType,
        FlowInput,
        ProfileInput,
        ProfileField,
        Problem,
        FlowStart,
    ]
}

#[test]
fn typescript_is_what_the_rust_types_print() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/packages/api/src/flow.ts");
    let printed = typescript();
    #[expect(clippy::disallowed_methods, reason = "asks for the file to be written; no setting of the product")]
    let is_asked = std::env::var_os("STOA_WRITE_TYPESCRIPT").is_some();
    if is_asked {
        std::fs::write(&file, &printed).expect("the file can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == printed, "web/packages/api/src/flow.ts is stale; its first line says how to print it again");
}
