//! The least that a call costs that takes something: what the bench compares keyed picks with. [`abi`](crate::abi) is
//! the least that takes nothing.

use napi_derive::napi;

/// Takes a string in, and gives its length in UTF-8.
#[napi]
pub fn take_string(text: String) -> u32 {
    text.len() as u32
}

/// Takes a number in, and gives it back.
#[napi]
pub fn take_number(number: u32) -> u32 {
    number
}
