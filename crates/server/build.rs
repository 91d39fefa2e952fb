//! Builds a release again when the demo data were rebuilt. Other builds read the files when they are asked
//! for, so they stay as they are.

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script what it builds by the environment")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = "../../web/apps/atlas/demo/out";
    // Where the folder is missing, cargo would build again each time, and what appears later would not be found.
    let _ = std::fs::create_dir_all(folder);
    if std::env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo:rerun-if-changed={folder}");
    }
}
