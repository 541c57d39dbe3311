//! Files that processes of one machine share as memory. Linux alone has all that it takes: locks of an open file that the
//! kernel drops with it, however its process ends.
//!
//! - [`header`]: what a file says of itself, and what of it must be so.
//! - [`fault`]: why a file can't be used.
//! - [`shared_file`]: one file, opened or made.
//! - [`leftovers`]: what is left of files that were never finished.
//! - [`locks`]: its locks.
//! - [`mapping`]: its memory, which stays readable also where the file is cut short.
//!
//! All `unsafe` code of this crate is in the last two.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod fault;
pub mod header;
pub mod leftovers;
pub mod locks;
pub mod mapping;
pub mod shared_file;
