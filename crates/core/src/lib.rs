//! Table, generator and selection algorithms of idlest, without Node-API.
//!
//! - [`layout`]: where everything stands in a table's memory, and how its words are made.
//! - [`memory`]: the words of memory that someone else owns. All `unsafe` of this crate is there.
//! - [`table`]: the lock-free protocol over those words.
//! - [`codes`]: numbers with which the addon and JavaScript refer to members, views and draws.
//! - [`report`]: the metrics of a slot's reports, each with the time of its sample.
//! - [`generator`]: the random numbers, the same in both engines.
//! - [`algorithms`]: how pools pick, each in a module of its own, and [`options`], what they are told.
//! - [`member`], [`readings`], [`kept`]: the nodes that may be picked, what a refresh reads of them, and how what is known is
//!   kept as they are replaced.
//! - [`band`], [`weights`], [`smoothing`]: who may be picked, shares and loads by fixed weights, smoothed readings.
//! - [`selected`], [`selection`], [`alias`], [`fewest`]: algorithms whose draws follow from what was read, and their draws:
//!   with equal chances, in turn, by shares, or by the fewest requests in flight.
//! - [`pairs`]: draws of the fewer of two whose comparison is left to the pick.
//! - [`murmur3`]: the hash of a ring's points.
//! - [`pool`]: all of this together: what a balancer picks with.
#![deny(unsafe_code)]

pub mod algorithms;
pub mod alias;
pub mod band;
pub mod codes;
pub mod fewest;
pub mod generator;
pub mod kept;
pub mod layout;
pub mod member;
pub mod memory;
pub mod murmur3;
pub mod options;
pub mod pairs;
pub mod pool;
pub mod readings;
pub mod report;
pub mod selected;
pub mod selection;
pub mod smoothing;
pub mod table;
pub mod weights;
