//! Builds again when the demo data were made anew.

fn main() {
    println!("cargo:rerun-if-changed=../../web/apps/atlas/demo/out");
}
