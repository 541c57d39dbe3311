//! Turns by weight: the static stride scheduler of gRPC.
//!
//! The exact rule is in `src/algorithms/weighted-round-robin/index.ts`.

mod turns;

use std::cell::Cell;

use super::constants::{LARGEST_WEIGHT, OFFSET, SEQUENCES};
use crate::band::{NOT_ELIGIBLE, Seen};
use crate::generator::Generator;
use crate::selection::Selection;
pub use turns::Turns;
use turns::{BLOCK, Quiet, SPARSE, round_from};

const LARGEST: f64 = LARGEST_WEIGHT as f64;

/// How far weights may be from their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamp {
    /// Largest multiple of the mean, at least 1.
    pub max: f64,
    /// Smallest part of the mean, 0-1.
    pub min: f64,
    /// Whether the smallest weight is rounded up; else to the nearest.
    pub round_up: bool,
}

/// Scaled weights: whole, and one of them [`LARGEST_WEIGHT`].
#[derive(Debug, Default)]
pub struct Stride {
    weights: Vec<u16>,
    // Those before the last build.
    before: Vec<u16>,
    // What has been found out of each block; empty where blocks are not passed over.
    quiet: Vec<Cell<Quiet>>,
}

impl Stride {
    /// Scales weights; those that are not known (not above 0) become the mean of the others.
    pub fn build(&mut self, weights: &[f64], clamp: Clamp) {
        std::mem::swap(&mut self.weights, &mut self.before);
        self.scale(weights, clamp);
        let total = self.total();
        let count = self.weights.len();
        let is_sparse = total * SPARSE < count as u64 * u64::from(LARGEST_WEIGHT);
        self.quiet.clear();
        if is_sparse {
            self.quiet.resize_with(count.div_ceil(BLOCK), Cell::default);
        }
    }

    fn scale(&mut self, weights: &[f64], clamp: Clamp) {
        let Self {
            weights: scaled, ..
        } = self;
        scaled.clear();
        let (mut known, mut sum, mut largest) = (0_u32, 0.0, 0.0_f64);
        for &weight in weights {
            if weight > 0.0 {
                known += 1;
                sum += weight;
                largest = largest.max(weight);
            }
        }
        // Nor are there weights that can't be added up and scaled: without a largest one no turn would end.
        if known < 2 || !(sum * LARGEST).is_finite() {
            scaled.resize(weights.len(), LARGEST_WEIGHT);
            return;
        }
        let mean = sum / f64::from(known);
        let cap = largest.min(clamp.max * mean);
        let scale = |weight: f64| (weight * LARGEST / cap + 0.5).floor();
        let mean = scale(mean).max(1.0);
        let least = clamp.min * mean;
        let floor = match clamp.round_up {
            true => least.ceil(),
            false => (least + 0.5).floor(),
        };
        let floor = floor.max(1.0);
        scaled.extend(weights.iter().map(|&weight| {
            let scaled = match weight > 0.0 {
                true => scale(weight.min(cap)).max(floor),
                false => mean,
            };
            scaled as u16
        }));
    }

    /// Where the sequence starts anew, since the weights are not those of the build before: a number at which an entry is
    /// picked. None where they are the same, or there are none.
    ///
    /// The chance of each entry is its share: from any number taken at random the first pick would be a heavy entry too
    /// often, since heavy entries also come next after the turns that light ones miss.
    pub fn start(&self, generator: &mut Generator) -> Option<u32> {
        if self.weights == self.before {
            return None;
        }
        let length = u32::try_from(self.weights.len()).ok()?;
        let rounds = u32::from(LARGEST_WEIGHT).min(u32::MAX.checked_div(length)?);
        let mut left = (f64::from(generator.next_u32()) / SEQUENCES * self.total() as f64) as u64;
        let (position, weight) = (0..length).zip(&self.weights).find(|(_, weight)| {
            let weight = u64::from(**weight);
            let is_here = left < weight;
            left = left.saturating_sub(weight);
            is_here
        })?;
        let round = generator.below(rounds);
        let round = round_from(*weight, u64::from(round), u64::from(position));
        let sequence = round * u64::from(length) + u64::from(position);
        Some(u32::try_from(sequence).unwrap_or(position))
    }

    /// One turn that passes over those of the positions that are not wanted. None, and the sequence stays, where none is.
    pub fn pass_to(&self, sequence: &mut u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let next = |from| self.next_number(from, &wanted);
        let number = match next(*sequence)? {
            beyond if beyond > u64::from(u32::MAX) => next(0)?,
            number => number,
        };
        *sequence = u32::try_from(number + 1).unwrap_or(0);
        Some((number % self.weights.len() as u64) as u32)
    }

    // The first number from this one on at which a wanted entry is picked. Found by entry: to take the numbers one by one
    // could last 65,535 rounds.
    fn next_number(&self, sequence: u32, wanted: impl Fn(u32) -> bool) -> Option<u64> {
        let length = self.weights.len() as u64;
        let sequence = u64::from(sequence);
        let (round, position) = (sequence.checked_div(length)?, sequence.checked_rem(length)?);
        let of = |(index, &weight): (u32, &u16)| {
            let place = u64::from(index);
            let first = if place < position { round + 1 } else { round };
            wanted(index).then(|| round_from(weight, first, place) * length + place)
        };
        (0..).zip(&self.weights).filter_map(of).min()
    }

    /// The scaled weights.
    #[must_use]
    pub fn weights(&self) -> &[u16] {
        &self.weights
    }

    /// Their sum.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.weights.iter().copied().map(u64::from).sum()
    }

    /// Turns from this number of the sequence on.
    #[must_use]
    pub fn turns(&self, sequence: u32) -> Turns<'_> {
        // A length of 0 has no turns, whatever is said here.
        let length = (self.weights.len() as u32).max(1);
        Turns {
            weights: &self.weights,
            quiet: &self.quiet,
            sequence,
            position: sequence % length,
            round: sequence / length,
        }
    }

    /// One turn from this number of the sequence on, which is stepped on. Not where there are no weights.
    #[inline]
    pub fn pass(&self, sequence: &mut u32) -> u32 {
        let mut turns = self.turns(*sequence);
        let position = turns.pass();
        *sequence = turns.sequence;
        position
    }
}

/// Computes the turns, the band, the shares and what each member counts as. Returns how many of the band have a known weight.
///
/// `weights`: of each member that is not out; not above 0 where it is not known. As long as `seen`.
pub fn select(
    seen: &[Seen],
    weights: &[f64],
    clamp: Clamp,
    stride: &mut Stride,
    into: &mut Selection,
) -> u32 {
    let Selection {
        values,
        band,
        shares,
        ..
    } = into;
    band.clear();
    values.clear();
    // The weights, until they have been scaled.
    shares.clear();
    for ((index, &seen), &weight) in (0_u32..).zip(seen).zip(weights) {
        if seen == Seen::OUT {
            values.push(NOT_ELIGIBLE);
            continue;
        }
        values.push(weight.max(0.0));
        band.push(index);
        shares.push(weight);
    }
    let known = shares.iter().filter(|&&weight| weight > 0.0).count() as u32;
    stride.build(shares, clamp);
    let total = stride.total();
    for (share, &scaled) in shares.iter_mut().zip(stride.weights()) {
        *share = f64::from(scaled) / total as f64;
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: Clamp = Clamp {
        max: 10.0,
        min: 0.01,
        round_up: false,
    };
    const JAVA: Clamp = Clamp {
        max: 10.0,
        min: 0.1,
        round_up: true,
    };

    fn scaled(weights: &[f64], clamp: Clamp) -> Vec<u16> {
        let mut stride = Stride::default();
        // What was there before must not matter.
        stride.build(&[1.0, 2.0, 3.0], clamp);
        stride.build(weights, clamp);
        stride.weights().to_vec()
    }

    #[test]
    fn the_largest_weight_is_scaled_to_the_largest() {
        assert_eq!(scaled(&[2.0, 3.0, 6.0], CORE), [21_845, 32_768, 65_535]);
        for unit in [f64::from_bits(1), 1e-300, 1e-9, 1.0, 1e12, 1e300] {
            let weights = [2.0, 3.0, 6.0].map(|weight| weight * unit);
            assert_eq!(scaled(&weights, CORE)[2], 65_535, "{unit}");
        }
    }

    #[test]
    fn who_is_not_known_has_the_mean() {
        assert_eq!(scaled(&[3.0, 0.0, 1.0], CORE), [65_535, 43_690, 21_845]);
        assert_eq!(scaled(&[3.0, -1.0, 1.0], JAVA), [65_535, 43_690, 21_845]);
    }

    #[test]
    fn fewer_than_two_known_are_alike() {
        assert_eq!(scaled(&[0.0, 5.0, 0.0], CORE), [65_535; 3]);
        assert_eq!(scaled(&[0.0; 2], CORE), [65_535; 2]);
        assert_eq!(scaled(&[7.0], JAVA), [65_535]);
        assert!(scaled(&[], CORE).is_empty());
    }

    #[test]
    fn weights_too_large_to_add_up_are_alike() {
        for huge in [f64::INFINITY, f64::MAX, 1e305] {
            assert_eq!(scaled(&[huge, 1.0, huge], CORE), [65_535; 3], "{huge}");
        }
    }

    #[test]
    fn weights_are_kept_near_their_mean() {
        // The mean is 5, so that 50 is the most; 6,553.5 for the mean.
        let mut weights = [1.0; 20];
        weights[0] = 81.0;
        assert_eq!(scaled(&weights, CORE)[..2], [65_535, 1_311]);
        // At least a hundredth of the mean, 32,768; or a tenth, rounded up.
        assert_eq!(scaled(&[100.0, 1e-10], CORE), [65_535, 328]);
        assert_eq!(scaled(&[100.0, 1e-10], JAVA), [65_535, 3_277]);
        let own = |max, min| Clamp {
            max,
            min,
            round_up: false,
        };
        assert_eq!(scaled(&[100.0, 1e-10], own(10.0, 0.0)), [65_535, 1]);
        assert_eq!(scaled(&[1.0, 2.0, 9.0], own(1.0, 1.0)), [65_535; 3]);
        // Whatever the mean is, no one weighs nothing.
        let mut weights = vec![1e-9; 300_000];
        (weights[0], weights[1]) = (1.0, 0.0);
        assert_eq!(scaled(&weights, own(1e9, 0.0))[..3], [65_535, 1, 1]);
    }

    #[test]
    fn the_sequence_goes_on_after_its_last_number() {
        let mut stride = Stride::default();
        stride.build(&[2.0, 3.0, 6.0], CORE);
        let mut turns = stride.turns(u32::MAX);
        assert_eq!([0; 6].map(|_: u32| turns.pass()), [1, 2, 2, 0, 1, 2]);
        assert_eq!(turns.sequence, 9);
    }

    #[test]
    fn no_one_has_no_turn() {
        let mut sequence = 7;
        assert_eq!(Stride::default().pass(&mut sequence), 0);
        assert_eq!(sequence, 7);
    }

    #[test]
    fn shares_are_those_of_the_scaled_weights() {
        let mut selection = Selection::new(crate::selection::Draws::Own);
        let seen = [Seen::MISSING, Seen::OUT, Seen::MISSING, Seen::MISSING];
        let mut stride = Stride::default();
        let known = select(
            &seen,
            &[1.0, 9.0, 0.0, 3.0],
            CORE,
            &mut stride,
            &mut selection,
        );
        assert_eq!(known, 2);
        assert_eq!(selection.band, [0, 2, 3]);
        assert_eq!(selection.values, [1.0, NOT_ELIGIBLE, 0.0, 3.0]);
        let total = 21_845.0 + 43_690.0 + 65_535.0;
        assert_eq!(
            selection.shares,
            [21_845.0 / total, 43_690.0 / total, 65_535.0 / total]
        );
    }
}
