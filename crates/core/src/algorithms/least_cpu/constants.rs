//! What both languages have: `src/algorithms/least-cpu/constants.ts` says what each is.

/// Stands for `mean`.
pub const MEAN: f64 = -1.0;
/// Stands for `exclude`.
pub const EXCLUDE: f64 = -2.0;
