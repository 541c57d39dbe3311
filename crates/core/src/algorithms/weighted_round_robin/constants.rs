//! What both languages have: `src/algorithms/weighted-round-robin/constants.ts` says what each is.

pub const LARGEST_WEIGHT: u16 = 65_535;
pub const OFFSET: u64 = 32_767;
pub const SEQUENCES: f64 = 4_294_967_296.0;
