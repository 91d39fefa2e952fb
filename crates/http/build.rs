//! Builds again when the web apps were built anew.

fn main() {
    for app in ["account", "atlas"] {
        println!("cargo:rerun-if-changed=../../web/apps/{app}/dist");
    }
}
