//! Builds a release again when the web apps were rebuilt. Other builds read the files when they are asked
//! for, so they stay as they are.

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script what it builds by the environment")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for app in ["account", "atlas"] {
        let folder = format!("../../web/apps/{app}/dist");
        // Where a folder is missing, cargo would build again each time, and what appears later would not be found.
        let _ = std::fs::create_dir_all(&folder);
        if std::env::var("PROFILE").as_deref() == Ok("release") {
            println!("cargo:rerun-if-changed={folder}");
        }
    }
}
