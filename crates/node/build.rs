//! Sets what the linker needs for a Node-API addon.

fn main() {
    napi_build::setup();
}
