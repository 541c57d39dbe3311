//! What both languages have: `src/algorithms/prequal/constants.ts` says what each is.

pub const SURPLUS: f64 = 1.0;
pub const FEWEST: usize = 2;
pub const RECENT: usize = 128;
