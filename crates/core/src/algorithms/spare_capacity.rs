//! Every member that is up, with a share by its idle CPU: `src/algorithms/spare-capacity`.

use std::fmt::Debug;

use super::{Algorithm, Look};
use crate::band::{NEUTRAL, NOT_ELIGIBLE, Seen};
use crate::kept::Kept;
use crate::layout::CPU_MAX;
use crate::member::Member;
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Readings;
use crate::selected::{Select, boxed};
use crate::selection::{Draws, Selection};
use crate::smoothing::Estimates;

/// All CPU, 1/1000 percentage points.
pub const FULL: f64 = CPU_MAX as f64;

/// Every member with a share in proportion to its idle CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpareCapacity {
    /// What a full member keeps of an equal share, 0-1.
    pub min_share: f64,
    /// Whether a member without a fresh reading may be picked only where no one has one; else it counts as the mean of
    /// the others.
    pub exclude_missing: bool,
}

impl SpareCapacity {
    /// Computes what each member counts as, the band and its shares. Returns how many members have a fresh reading.
    ///
    /// `idle`: of each member with a fresh reading, 1/1000 percentage points; whatever of the others. As long as `seen`.
    pub fn select(&self, seen: &[Seen], idle: &[f64], into: &mut Selection) -> u32 {
        let fresh = self.weigh(seen, idle, into);
        self.share_out(&mut into.shares);
        fresh
    }

    /// Makes shares of weights, which are not all 0.
    pub fn share_out(&self, weights: &mut [f64]) {
        let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
        let count = f64::from(weights.len() as u32);
        let (shared, even) = (1.0 - self.min_share, self.min_share / count);
        for weight in weights {
            *weight = shared * (*weight / total) + even;
        }
    }

    /// The same, with weights in place of shares.
    pub fn weigh(&self, seen: &[Seen], idle: &[f64], into: &mut Selection) -> u32 {
        let Selection {
            values,
            band,
            shares,
            ..
        } = into;
        let (mut sum, mut fresh) = (0.0, 0_u32);
        for (seen, idle) in seen.iter().zip(idle) {
            if seen.is_fresh() {
                sum += idle;
                fresh += 1;
            }
        }
        let substitute = match fresh {
            0 => Some(1.0),
            _ if self.exclude_missing => None,
            fresh => Some(sum / f64::from(fresh)),
        };
        band.clear();
        shares.clear();
        for ((index, &seen), &idle) in (0_u32..).zip(seen).zip(idle) {
            let weight = match seen {
                Seen::OUT => None,
                Seen::MISSING => substitute,
                _ => Some(idle),
            };
            if let Some(weight) = weight {
                band.push(index);
                shares.push(weight);
            }
        }
        even_out(shares);
        values.clear();
        values.resize(seen.len(), NOT_ELIGIBLE);
        for (&index, weight) in band.iter().zip(shares) {
            if let Some(value) = values.get_mut(index as usize) {
                *value = match fresh {
                    0 => NEUTRAL,
                    _ => (FULL - *weight + 0.5).floor(),
                };
            }
        }
        fresh
    }
}

/// Makes weights alike where they are all 0.
pub fn even_out(weights: &mut [f64]) {
    let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
    // Also false for no one at all.
    let any_idle = total > 0.0;
    if !any_idle {
        weights.fill(1.0);
    }
}

/// These shares, of smoothed readings.
#[derive(Debug)]
pub struct BySpare {
    spare: SpareCapacity,
    ttl: f64,
    estimates: Estimates,
}

impl BySpare {
    /// Without members.
    ///
    /// `ttl`: oldest age of a fresh reading, ms, inclusive; `smoothing`: time constant, ms; 0: none
    #[must_use]
    pub fn new(spare: SpareCapacity, ttl: f64, smoothing: f64) -> Self {
        Self {
            spare,
            ttl,
            estimates: Estimates::new(smoothing),
        }
    }
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    let spare = SpareCapacity {
        min_share: options.number("minShare", 0.0, 1.0)?,
        exclude_missing: options.flag("excludesMissing")?,
    };
    let ttl = options.milliseconds("ttl")?;
    let smoothing = options.milliseconds("smoothing")?;
    Ok(boxed(BySpare::new(spare, ttl, smoothing)))
}

impl<W: Words> Select<W> for BySpare {
    fn draws(&self) -> Draws {
        Draws::Weighted
    }

    fn set_members(&mut self, before: &[Member], after: &[Member]) {
        self.estimates.set_members(&Kept::between(before, after));
    }

    fn read(&mut self, look: &Look<'_, W>, into: &mut Readings) -> f64 {
        let Self { ttl, estimates, .. } = self;
        let Look { table, now, .. } = *look;
        into.see_figures(look.members, *ttl, |index, member| {
            let fresh = table.read(member.slot, member.generation, now, *ttl)?;
            let estimate = estimates.update(index, fresh.time, fresh.cpu);
            Some((fresh.time, FULL - estimate))
        })
    }

    fn select(&mut self, seen: &[Seen], readings: &Readings, into: &mut Selection) -> u32 {
        self.spare.select(seen, &readings.figures, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Draws;

    // Idle CPU in 1/1000 points; `M`: no fresh reading, `O`: out.
    const M: f64 = -1.0;
    const O: f64 = -2.0;

    fn select(min_share: f64, exclude_missing: bool, idle: &[f64]) -> (u32, Selection) {
        let seen: Vec<_> = idle
            .iter()
            .map(|&idle| match idle {
                O => Seen::OUT,
                M => Seen::MISSING,
                _ => Seen::fresh(0),
            })
            .collect();
        let mut selection = Selection::new(Draws::Weighted);
        let spare = SpareCapacity {
            min_share,
            exclude_missing,
        };
        // What was there before must not matter.
        spare.select(
            &[Seen::fresh(1), Seen::MISSING],
            &[1.0, 1.0],
            &mut selection,
        );
        let fresh = spare.select(&seen, idle, &mut selection);
        (fresh, selection)
    }

    #[test]
    fn shares_are_in_proportion_to_what_is_idle() {
        let (fresh, selection) = select(0.0, false, &[60_000.0, 20_000.0, O, 0.0]);
        assert_eq!(fresh, 3);
        assert_eq!(selection.band, [0, 1, 3]);
        assert_eq!(selection.shares, [0.75, 0.25, 0.0]);
        assert_eq!(
            selection.values,
            [40_000.0, 80_000.0, NOT_ELIGIBLE, 100_000.0]
        );
    }

    #[test]
    fn a_full_member_keeps_its_part_of_an_equal_share() {
        for min_share in [0.0, 0.01, 0.1, 0.5, 1.0] {
            let (_, selection) = select(min_share, false, &[60_000.0, 0.0, 20_000.0]);
            assert_eq!(selection.shares[1], min_share / 3.0);
            let sum: f64 = selection.shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn who_is_missing_counts_as_the_mean() {
        let (fresh, selection) = select(0.0, false, &[M, 60_000.0, 20_001.0, M]);
        assert_eq!(fresh, 2);
        assert_eq!(selection.band, [0, 1, 2, 3]);
        // 59,999.5, rounded half up.
        assert_eq!(selection.values, [60_000.0, 40_000.0, 79_999.0, 60_000.0]);
        assert_eq!(selection.shares[0], 40_000.5 / 160_002.0);
    }

    #[test]
    fn who_is_missing_is_excluded_unless_all_are() {
        let (fresh, selection) = select(0.1, true, &[M, 60_000.0, O]);
        assert_eq!((fresh, &selection.band[..]), (1, &[1][..]));
        assert_eq!(selection.values, [NOT_ELIGIBLE, 40_000.0, NOT_ELIGIBLE]);
        let (fresh, selection) = select(0.0, true, &[M, O, M]);
        assert_eq!((fresh, &selection.band[..]), (0, &[0, 2][..]));
        assert_eq!(selection.shares, [0.5, 0.5]);
        assert_eq!(selection.values, [NEUTRAL, NOT_ELIGIBLE, NEUTRAL]);
    }

    #[test]
    fn where_all_are_full_shares_are_equal() {
        for exclude in [false, true] {
            let (_, selection) = select(0.0, exclude, &[0.0, O, 0.0, 0.0, 0.0]);
            assert_eq!(selection.shares, [0.25; 4]);
        }
        // Such a member's weight is 1 by definition.
        let (_, selection) = select(0.0, false, &[0.0, M]);
        assert_eq!(selection.shares, [0.5; 2]);
        assert_eq!(selection.values, [99_999.0; 2]);
    }

    #[test]
    fn nobody_up_is_nobody_in_the_band() {
        for exclude in [false, true] {
            let (fresh, selection) = select(0.01, exclude, &[O, O]);
            assert_eq!(fresh, 0);
            assert_eq!(selection.values, [NOT_ELIGIBLE; 2]);
            assert!(selection.band.is_empty() && selection.shares.is_empty());
            assert!(select(0.01, exclude, &[]).1.values.is_empty());
        }
    }
}
