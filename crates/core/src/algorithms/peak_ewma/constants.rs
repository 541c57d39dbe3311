//! What both languages have: `src/algorithms/peak-ewma/constants.ts` says what each is.

pub const CHOICES: u32 = 2;
pub const REFRESH: f64 = 1_000.0;
