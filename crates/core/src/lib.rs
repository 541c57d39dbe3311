//! Table, generator and selection algorithms of idlest, without Node-API.
//!
//! - [`layout`]: where everything stands in a table's memory, and how its words are made.
//! - [`memory`]: the words of memory that someone else owns. All `unsafe` of this crate is there.
//! - [`table`]: the lock-free protocol over those words.
//! - [`report`]: the metrics of a slot's reports, each with the time of its sample.
//! - [`generator`]: the random numbers, the same in both engines.
//! - [`band`]: which members may be picked: all that are up, and those of least CPU.
//! - [`weights`]: shares and loads by fixed weights.
//! - [`smoothing`], [`spare`]: smoothed readings, and shares by what they leave idle.
//! - [`adaptive`], [`reported`]: the least response time to expect, learned from how leases end and what reports say.
//! - [`probe_pool`], [`recent`]: what members said when they were asked just now.
//! - [`report_weights`], [`stride`]: weights by what is reported, and turns by weight.
//! - [`selection`], [`alias`], [`fewest`]: what a pool picks from, and how: with equal chances, in turn, by shares, or by
//!   the fewest requests in flight.
//! - [`power_of_two`]: the best of some by one metric.
//! - [`pairs`]: draws of the fewer of two whose comparison is left to the pick.
//! - [`ring`], [`maglev`]: tables in which keys are looked up, and [`murmur3`], the hash of a ring's points.
//! - [`member`], [`algorithm`]: the nodes that may be picked, and how.
//! - [`readings`]: what a refresh reads of the members.
//! - [`state`], [`kept`]: what is known of them beyond one refresh, and how it is kept as they are replaced.
//! - [`pool`]: all of this together: what a balancer picks with.
#![deny(unsafe_code)]

pub mod adaptive;
pub mod algorithm;
pub mod alias;
pub mod band;
pub mod fewest;
pub mod generator;
pub mod kept;
pub mod layout;
pub mod maglev;
pub mod member;
pub mod memory;
pub mod murmur3;
pub mod pairs;
pub mod pool;
pub mod power_of_two;
pub mod probe_pool;
pub mod readings;
pub mod recent;
pub mod report;
pub mod report_weights;
pub mod reported;
pub mod ring;
pub mod selection;
pub mod smoothing;
pub mod spare;
pub mod state;
pub mod stride;
pub mod table;
pub mod weights;
