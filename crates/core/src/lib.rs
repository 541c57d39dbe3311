//! Table, generator and selection algorithms of idlest, without Node-API.
//!
//! - [`layout`]: where everything stands in a table's memory, and how its words are made.
//! - [`memory`]: the words of memory that someone else owns. All `unsafe` of this crate is there.
//! - [`table`]: the lock-free protocol over those words.
//! - [`report`]: the metrics of a slot's reports, each with the time of its sample.
//! - [`generator`]: the random numbers, the same in both engines.
//! - [`band`]: which members may be picked: all that are up, and those of least CPU.
//! - [`smoothing`], [`spare`]: smoothed readings, and shares by what they leave idle.
//! - [`selection`], [`alias`], [`fewest`]: what a pool picks from, and how: with equal chances, in turn, by shares, or by
//!   the fewest requests in flight.
//! - [`power_of_two`]: the best of some by one metric.
//! - [`pool`]: members, algorithm and generator together: what a balancer picks with.
#![deny(unsafe_code)]

pub mod alias;
pub mod band;
pub mod fewest;
pub mod generator;
pub mod layout;
pub mod memory;
pub mod pool;
pub mod power_of_two;
pub mod report;
pub mod selection;
pub mod smoothing;
pub mod spare;
pub mod table;
