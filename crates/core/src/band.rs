//! Which members may be picked, and what each counts as.

pub use crate::codes::NOT_ELIGIBLE;

/// CPU that stands for a missing reading where nothing better is known: 50 %, in 1/1000 percentage points.
pub const NEUTRAL: f64 = 50_000.0;

/// What is known of a member at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(pub(crate) u32);

impl Seen {
    /// Not up, or excluded by the caller.
    pub const OUT: Self = Self(u32::MAX);
    /// Up, with no fresh reading.
    pub const MISSING: Self = Self(u32::MAX - 1);

    /// Up, with a fresh reading of so many 1/1000 percentage points (below 2^17, as readings are).
    #[must_use]
    pub fn fresh(cpu: u32) -> Self {
        Self(cpu.min(Self::MISSING.0 - 1))
    }

    /// Whether it is up, with a fresh reading.
    #[must_use]
    pub fn is_fresh(self) -> bool {
        self.0 < Self::MISSING.0
    }
}

/// What members count as and who may be picked where no reading counts: every member that is up counts as 0 and may be picked.
pub fn select_up(seen: &[Seen], values: &mut Vec<f64>, band: &mut Vec<u32>) {
    values.clear();
    values.extend(
        seen.iter()
            .map(|&seen| if seen == Seen::OUT { NOT_ELIGIBLE } else { 0.0 }),
    );
    collect(values, f64::MAX, band);
}

// Writes each index and keeps it by stepping on: no branch for the processor to guess.
pub(crate) fn collect(values: &[f64], most: f64, band: &mut Vec<u32>) {
    band.clear();
    band.resize(values.len(), 0);
    let mut length = 0;
    for (index, &value) in (0_u32..).zip(values) {
        if let Some(entry) = band.get_mut(length) {
            *entry = index;
        }
        length += usize::from(value <= most);
    }
    band.truncate(length);
}

/// The members of a band except the excluded ones. Both are indices in ascending order.
pub(crate) fn without(band: &[u32], excluded: &[u32]) -> Vec<u32> {
    band.iter()
        .copied()
        .filter(|index| excluded.binary_search(index).is_err())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_readings_all_are_taken_who_are_up() {
        let (mut values, mut band) = (vec![], vec![]);
        select_up(
            &[Seen(10_000), Seen::OUT, Seen::MISSING],
            &mut values,
            &mut band,
        );
        assert_eq!(values, [0.0, NOT_ELIGIBLE, 0.0]);
        assert_eq!(band, [0, 2]);
    }
}
