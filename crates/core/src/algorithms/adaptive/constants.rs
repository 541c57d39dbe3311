//! What both languages have: `src/algorithms/adaptive/constants.ts` says what each is.
#![allow(missing_docs, reason = "they are there")]

pub const MEMORY: f64 = 128.0;
pub const PRIOR: f64 = 5.0;
pub const ERROR_GAIN: f64 = 0.125;
pub const FORGIVING: f64 = 5_000.0;
pub const WITHIN: f64 = 10.0;
pub const BAND: f64 = 0.2;
pub const OWN_SHARE: f64 = 0.25;
pub const SMOOTHING: f64 = 10_000.0;
pub const OWN_TIME: f64 = 0.5;
pub const ALL: usize = 16;
pub const CHEAPEST: usize = 4;
pub const EMPTIED: usize = 8;
pub const DRAWN: usize = 4;
pub const REFRESH: f64 = 1_000.0;
pub const LEAST_SPARE: f64 = 0.01;

pub const KNOWN: usize = 8;
pub const LOADS: usize = 0;
pub const TIMES: usize = 1;
pub const ERRORS: usize = 2;
pub const AHEAD: usize = 3;
pub const COST: usize = 4;

pub const MOST_SHARED: usize = 16;
pub const TURN_WORD: usize = 0;
pub const GENERATOR_WORD: usize = 2;
pub const MEAN_WORD: usize = 6;
pub const SCATTER_WORD: usize = 8;
pub const MEMBERS_WORD: usize = 16;
