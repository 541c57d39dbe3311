//! Node-API binding of `idlest-core`: thin, no logic.
//!
//! Nothing here may panic: arguments are checked, and where a panic came nevertheless it becomes a JavaScript error.
#![deny(unsafe_code)]

mod core;
mod events;
pub mod file;
pub mod floor;
pub mod key_tables;
pub mod own_flights;
mod raw;

use napi_derive::napi;

/// The version of this binding's interface. The loader refuses an addon of another version.
#[napi]
pub fn abi() -> u32 {
    include!(concat!(env!("OUT_DIR"), "/abi.rs"))
}
