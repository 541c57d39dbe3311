//! Sets up the build of a Node-API addon, with the number of its interface.

use std::{env, fs};

// What .ci/shared.mjs writes.
const ABI: &str = "../../src/engine/abi.ts";

fn main() {
    napi_build::setup();
    println!("cargo:rerun-if-changed={ABI}");
    let source = fs::read_to_string(ABI).expect("the number of the interface");
    let (_, number) = source
        .split_once("ABI = ")
        .expect("the number in its module");
    let out = env::var("OUT_DIR").expect("a folder for what is made");
    fs::write(format!("{out}/abi.rs"), number.trim()).expect("room for the number");
}
