//! The least busy members, with equal chances: `src/algorithms/least-cpu`.

use std::fmt::Debug;

use super::{Algorithm, Look};
use crate::band::{NEUTRAL, NOT_ELIGIBLE, Seen, collect};
use crate::kept::Kept;
use crate::layout::CPU_MAX;
use crate::member::Member;
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Readings;
use crate::selected::{Select, boxed};
use crate::selection::{Draws, Selection};
use crate::smoothing::Estimates;

pub mod constants;

use constants::{EXCLUDE, MEAN};

/// What a missing reading counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// So many 1/1000 percentage points.
    As(u32),
    /// The mean of the fresh ones, rounded half up; [`NEUTRAL`] where none is fresh.
    Mean,
    /// Not eligible, unless no member has a fresh reading: then [`NEUTRAL`] for all.
    Exclude,
}

/// The members within `threshold` of the least busy one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastCpu {
    /// Width of the band, inclusive, in 1/1000 percentage points.
    pub threshold: u32,
    /// What a missing reading counts as.
    pub missing: Missing,
}

impl LeastCpu {
    /// Computes what each member counts as (1/1000 percentage points, or [`NOT_ELIGIBLE`]) and the band: the indices
    /// of those that may be picked, in order. Returns how many members have a fresh reading.
    pub fn select(&self, seen: &[Seen], values: &mut Vec<f64>, band: &mut Vec<u32>) -> u32 {
        let (mut sum, mut fresh, mut least) = (0_u64, 0_u32, u32::MAX);
        let mut missing = false;
        for &member in seen {
            let Seen(value) = member;
            if member.is_fresh() {
                sum += u64::from(value);
                fresh += 1;
                least = least.min(value);
            } else {
                missing |= value == Seen::MISSING.0;
            }
        }
        let substitute = match self.missing {
            Missing::As(value) => f64::from(value),
            _ if fresh == 0 => NEUTRAL,
            Missing::Mean => (sum as f64 / f64::from(fresh) + 0.5).floor(),
            Missing::Exclude => NOT_ELIGIBLE,
        };
        let mut least = if fresh == 0 {
            NOT_ELIGIBLE
        } else {
            f64::from(least)
        };
        if missing {
            least = least.min(substitute);
        }
        values.clear();
        values.extend(seen.iter().map(|&member| match member {
            Seen::OUT => NOT_ELIGIBLE,
            Seen::MISSING => substitute,
            Seen(cpu) => f64::from(cpu),
        }));
        // Finite, so that no width of the band lets in who is not eligible.
        let most = (least + f64::from(self.threshold)).min(f64::MAX);
        collect(values, most, band);
        fresh
    }
}

/// The band, of smoothed readings.
#[derive(Debug)]
pub struct LeastBusy {
    band: LeastCpu,
    ttl: f64,
    estimates: Estimates,
}

impl LeastBusy {
    /// Without members.
    ///
    /// `ttl`: oldest age of a fresh reading, ms, inclusive; `smoothing`: time constant, ms; 0: none
    #[must_use]
    pub fn new(band: LeastCpu, ttl: f64, smoothing: f64) -> Self {
        Self {
            band,
            ttl,
            estimates: Estimates::new(smoothing),
        }
    }
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    let band = LeastCpu {
        threshold: options.whole("threshold", 0, CPU_MAX)?,
        missing: match options.number("missing", EXCLUDE, f64::from(CPU_MAX))? {
            MEAN => Missing::Mean,
            EXCLUDE => Missing::Exclude,
            _ => Missing::As(options.whole("missing", 0, CPU_MAX)?),
        },
    };
    let ttl = options.milliseconds("ttl")?;
    let smoothing = options.milliseconds("smoothing")?;
    Ok(boxed(LeastBusy::new(band, ttl, smoothing)))
}

impl<W: Words> Select<W> for LeastBusy {
    fn draws(&self) -> Draws {
        Draws::Equal
    }

    fn set_members(&mut self, before: &[Member], after: &[Member]) {
        self.estimates.set_members(&Kept::between(before, after));
    }

    fn read(&mut self, look: &Look<'_, W>, into: &mut Readings) -> f64 {
        let Self { ttl, estimates, .. } = self;
        let Look { table, now, .. } = *look;
        into.see(look.members, *ttl, |index, member| {
            let fresh = table.read(member.slot, member.generation, now, *ttl)?;
            let estimate = estimates.update(index, fresh.time, fresh.cpu);
            Some((fresh.time, Seen::fresh((estimate + 0.5).floor() as u32)))
        })
    }

    fn select(&mut self, seen: &[Seen], _readings: &Readings, into: &mut Selection) -> u32 {
        self.band.select(seen, &mut into.values, &mut into.band)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(missing: Missing, threshold: u32, seen: &[Seen]) -> (Vec<f64>, Vec<u32>) {
        let (mut values, mut band) = (vec![9.0; 3], vec![9; 3]);
        LeastCpu { threshold, missing }.select(seen, &mut values, &mut band);
        (values, band)
    }

    const A: Seen = Seen(10_000);
    const B: Seen = Seen(15_000);
    const C: Seen = Seen(15_001);

    #[test]
    fn the_edge_is_in_the_band() {
        assert_eq!(band(Missing::As(50_000), 5_000, &[A, B, C]).1, [0, 1]);
        assert_eq!(band(Missing::As(50_000), 0, &[B, A, A]).1, [1, 2]);
    }

    #[test]
    fn who_is_out_is_not_looked_at() {
        let (values, band) = band(Missing::Mean, 5_000, &[Seen::OUT, B, Seen::MISSING, C]);
        assert_eq!(values, [NOT_ELIGIBLE, 15_000.0, 15_001.0, 15_001.0]);
        assert_eq!(band, [1, 2, 3]);
    }

    #[test]
    fn the_mean_is_rounded_half_up() {
        let values = |seen: &[Seen]| band(Missing::Mean, 0, seen).0;
        assert_eq!(values(&[Seen(1), Seen(2), Seen::MISSING])[2], 2.0);
        assert_eq!(values(&[Seen(1), Seen(1), Seen(2), Seen::MISSING])[3], 1.0);
        assert_eq!(values(&[Seen::MISSING, Seen::OUT]), [NEUTRAL, NOT_ELIGIBLE]);
    }

    #[test]
    fn the_missing_are_excluded_unless_all_are() {
        assert_eq!(band(Missing::Exclude, 100_000, &[Seen::MISSING, C]).1, [1]);
        assert_eq!(
            band(
                Missing::Exclude,
                0,
                &[Seen::MISSING, Seen::OUT, Seen::MISSING]
            )
            .1,
            [0, 2]
        );
    }

    #[test]
    fn nobody_up_is_nobody_in_the_band() {
        for missing in [Missing::As(0), Missing::Mean, Missing::Exclude] {
            let all_out = band(missing, u32::MAX, &[Seen::OUT, Seen::OUT]);
            assert_eq!(all_out, (vec![NOT_ELIGIBLE; 2], vec![]));
            assert_eq!(band(missing, 0, &[]), (vec![], vec![]));
        }
    }

    #[test]
    fn the_widest_band_holds_all_who_are_up() {
        let all = band(
            Missing::As(u32::MAX),
            u32::MAX,
            &[A, Seen::OUT, Seen::MISSING, C],
        )
        .1;
        assert_eq!(all, [0, 2, 3]);
    }
}
