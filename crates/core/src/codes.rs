//! Numbers with which the addon and JavaScript refer to members, views and draws: `src/engine/engine.ts` has the same.

/// State of a member that is not picked.
pub const MEMBER_OUT: u8 = 0;
/// State of a member that may be picked.
pub const MEMBER_UP: u8 = 1;

/// Index of a view's facts: the table's generation.
pub const FACT_GENERATION: usize = 0;
/// Index: table time, ms, from which the view is out of date.
pub const FACT_NEXT_EXPIRY: usize = 1;
/// Index: members in the band.
pub const FACT_BAND: usize = 2;
/// Index: members with a fresh reading.
pub const FACT_FRESH: usize = 3;
/// How many facts there are.
pub const FACT_COUNT: usize = 4;

/// Value of a member that may not be picked now.
pub const NOT_ELIGIBLE: f64 = f64::INFINITY;

/// What a draw gives in place of an index where no member may be picked.
pub const NO_ONE: i32 = -1;
/// What a draw gives for the member at 0 where it fails for want of a load; one less for each further index.
pub const UNKNOWN_LOAD: i32 = -2;

/// What a draw gives in place of a member where it compares members of which no load is known and has to fail: it names
/// one of them. The inverse of itself.
#[must_use]
pub const fn unknown_draw(index: u32) -> u32 {
    (UNKNOWN_LOAD as u32).wrapping_sub(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_draw_is_no_index_and_names_one() {
        for index in [0, 1, 77, 1 << 20] {
            assert_eq!(unknown_draw(unknown_draw(index)), index);
            assert_eq!(unknown_draw(index) as i32, -2 - index as i32);
        }
    }
}
