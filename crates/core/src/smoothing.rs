//! Estimates of readings, smoothed: a first-order lag, by the implicit Euler step, so that an estimate is a matter of
//! time and not of how often samples come.

use crate::kept::Kept;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    // 1/1000 percentage points.
    value: f64,
    // Table time of the last sample that counted, ms.
    time: u64,
}

/// The estimates of a pool's members.
#[derive(Debug)]
pub struct Estimates {
    // Time constant, ms.
    smoothing: f64,
    // As many as the members; none before a member's first sample.
    estimates: Vec<Option<Estimate>>,
}

impl Estimates {
    /// Without members.
    ///
    /// `smoothing`: time constant, ms; 0: none
    #[must_use]
    pub fn new(smoothing: f64) -> Self {
        Self {
            smoothing,
            estimates: Vec::new(),
        }
    }

    /// Replaces the members; those that stay go on from where they were.
    pub fn set_members(&mut self, kept: &Kept) {
        kept.carry(&mut self.estimates, || None);
    }

    /// Takes a fresh reading of a member, and returns the estimate, 1/1000 percentage points. A sample that is no later
    /// than the last changes nothing; without smoothing the reading is the estimate.
    ///
    /// `time`: table time, ms
    /// `cpu`: 1/1000 percentage points
    #[inline]
    pub fn update(&mut self, index: usize, time: u64, cpu: u32) -> f64 {
        let cpu = f64::from(cpu);
        if self.smoothing == 0.0 {
            return cpu;
        }
        let Some(place) = self.estimates.get_mut(index) else {
            return cpu;
        };
        let value = match *place {
            None => cpu,
            Some(last) if time <= last.time => return last.value,
            Some(last) => {
                // Times have 38 bits: the difference is exact.
                let step = (time - last.time) as f64;
                last.value + (cpu - last.value) * (step / (self.smoothing + step))
            }
        };
        *place = Some(Estimate { value, time });
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::NO_SLOT;
    use crate::member::Member;
    use crate::member::member;

    fn estimates(smoothing: f64, members: &[Member]) -> Estimates {
        let mut estimates = Estimates::new(smoothing);
        estimates.set_members(&Kept::between(&[], members));
        estimates
    }

    fn replace(estimates: &mut Estimates, before: &[Member], after: &[Member]) {
        estimates.set_members(&Kept::between(before, after));
    }

    #[test]
    fn the_first_sample_is_the_estimate() {
        assert_eq!(
            estimates(10_000.0, &[member(0, 0)]).update(0, 77, 40_000),
            40_000.0
        );
    }

    #[test]
    fn a_constant_load_stays_what_it_is() {
        for smoothing in [0.0, 0.3, 1_000.0, 1e9] {
            let mut estimates = estimates(smoothing, &[member(0, 0)]);
            for step in 1..1_000 {
                assert_eq!(estimates.update(0, step * step, 33_333), 33_333.0);
            }
        }
    }

    // y' = (x - y) / T, stepped implicitly by h: what is left of a step of the input after k samples is (T / (T + h))^k.
    #[test]
    fn a_step_is_answered_as_the_implicit_euler_step_has_it() {
        for (smoothing, every) in [(10_000.0, 5_000), (1_000.0, 1), (100.0, 10_000)] {
            let mut estimates = estimates(smoothing, &[member(0, 0)]);
            estimates.update(0, 0, 20_000);
            for k in 1..=50_i32 {
                let found = estimates.update(0, k as u64 * every, 80_000);
                let left = (smoothing / (smoothing + every as f64)).powi(k);
                let expected = 80_000.0 - 60_000.0 * left;
                assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
            }
        }
    }

    #[test]
    fn without_smoothing_the_last_sample_counts() {
        let mut estimates = estimates(0.0, &[member(0, 0)]);
        for (time, cpu) in [(1, 100_000), (2, 0), (2, 12_345), (1_000_000, 99_999)] {
            assert_eq!(estimates.update(0, time, cpu), f64::from(cpu));
        }
    }

    #[test]
    fn samples_that_are_no_later_change_nothing() {
        let mut one = estimates(1_000.0, &[member(0, 0)]);
        let mut other = estimates(1_000.0, &[member(0, 0)]);
        for (time, cpu) in [(1_000, 20_000), (2_000, 80_000), (4_000, 0)] {
            let value = one.update(0, time, cpu);
            assert_eq!(one.update(0, time, 50_000), value);
            assert_eq!(one.update(0, time - 500, 50_000), value);
            assert_eq!(other.update(0, time, cpu), value);
        }
    }

    #[test]
    fn who_stays_goes_on_wherever_it_stands() {
        let before = [member(3, 1), member(5, 2), member(NO_SLOT, 0)];
        let mut estimates = estimates(1_000.0, &before);
        estimates.update(0, 1_000, 20_000);
        estimates.update(1, 1_000, 60_000);
        estimates.update(2, 1_000, 90_000);
        let after = [member(NO_SLOT, 0), member(9, 0), member(5, 2), member(3, 1)];
        replace(&mut estimates, &before, &after);
        assert_eq!(estimates.update(3, 2_000, 40_000), 30_000.0);
        assert_eq!(estimates.update(2, 2_000, 40_000), 50_000.0);
        assert_eq!(estimates.update(1, 2_000, 40_000), 40_000.0);
        assert_eq!(estimates.update(0, 2_000, 40_000), 40_000.0);
    }

    #[test]
    fn who_was_away_starts_anew() {
        let here = [member(3, 1)];
        let mut estimates = estimates(1_000.0, &here);
        estimates.update(0, 1_000, 20_000);
        replace(&mut estimates, &here, &[]);
        replace(&mut estimates, &[], &here);
        assert_eq!(estimates.update(0, 2_000, 40_000), 40_000.0);
    }
}
