//! What goes around napi-rs, where that asks for `unsafe`: all such code of this crate is in here.
//!
//! - [`arrays`]: typed arrays of JavaScript as atomics, and a table's memory.
//! - [`external`]: a file's memory as buffers of JavaScript.
//! - [`function`]: functions that cost as little as a call can.
#![allow(unsafe_code)]

pub mod arrays;
pub mod external;
pub mod function;
