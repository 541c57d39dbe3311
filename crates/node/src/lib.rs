//! Node-API binding of `idlest-core`: thin, no logic.

use napi_derive::napi;

/// The version of this binding's interface. The loader refuses an addon of another version.
#[napi]
pub fn abi() -> u32 {
    1
}

#[napi]
pub fn probe(view: napi::bindgen_prelude::Uint8Array) -> Vec<u32> {
    vec![
        view.len() as u32,
        (view.as_ref().as_ptr() as usize & 63) as u32,
        view.as_ref()[64] as u32,
    ]
}
