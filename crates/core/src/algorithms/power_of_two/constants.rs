//! What both languages have: `src/algorithms/power-of-two/constants.ts` says what each is.

/// Stands for no thread.
pub const NO_WORKER: f64 = -1.0;
