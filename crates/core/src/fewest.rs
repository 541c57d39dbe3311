//! Draws of whoever has the least load, such as the fewest requests in flight, of all or of some.

use std::hint::select_unpredictable;

use crate::generator::Generator;

/// Most entries that are drawn for one comparison.
pub const MOST_DRAWN: u32 = 64;

/// Which entries of a band are compared at each draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All, in order.
    All,
    /// As many, each set of them as likely as any other; all where the band has no more. 1 to [`MOST_DRAWN`]: what is
    /// below or above counts as these.
    Drawn(u32),
}

impl Candidates {
    /// Draws a position among `length`: one of the candidates with the least load, each of these as likely. 0 where
    /// `length` is 0.
    ///
    /// `load`: at a position, such as the requests in flight there
    #[inline]
    pub fn draw<L: PartialOrd>(
        self,
        length: u32,
        generator: &mut Generator,
        load: impl Fn(u32) -> L,
    ) -> u32 {
        match self {
            _ if self.are_pairs(length) => less_of_two(Pair::draw(length, generator), load),
            Self::Drawn(_) if self.count(length) < length => {
                let drawn = Drawn::draw(self.count(length), length, generator);
                least(drawn.positions(), generator, load)
            }
            _ => least(0..length, generator, load),
        }
    }

    /// Whether two of more are compared, which are drawn as a [`Pair`].
    #[must_use]
    pub fn are_pairs(self, length: u32) -> bool {
        self == Self::Drawn(2) && length > 2
    }

    // How many there are among `length`.
    pub(crate) fn count(self, length: u32) -> u32 {
        match self {
            Self::All => length,
            Self::Drawn(count) => count.clamp(1, MOST_DRAWN).min(length),
        }
    }
}

// What the others do, for the usual number. No processor can foresee which of the two it will be, and a wrong guess takes
// longer than the draw: so there is no branch on that.
#[inline]
fn less_of_two<L: PartialOrd>(pair: Pair, load: impl Fn(u32) -> L) -> u32 {
    let (one, other) = (load(pair.first), load(pair.second));
    let first_wins = one < other || (one == other && pair.first_wins);
    select_unpredictable(first_wins, pair.first, pair.second)
}

/// Two distinct positions, and which is taken where both have as much: three numbers, whatever comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The one drawn first.
    pub first: u32,
    /// The other.
    pub second: u32,
    /// Whether it is the first in a tie.
    pub first_wins: bool,
}

impl Pair {
    /// Draws two of `length`, at least 2.
    #[inline]
    #[must_use]
    pub fn draw(length: u32, generator: &mut Generator) -> Self {
        let last = length.saturating_sub(1);
        let first = generator.below(last);
        let drawn = generator.below(length);
        Self {
            first,
            second: select_unpredictable(drawn == first, last, drawn),
            first_wins: generator.below(2) == 1,
        }
    }
}

// Distinct positions.
struct Drawn {
    positions: [u32; MOST_DRAWN as usize],
    count: usize,
}

impl Drawn {
    // Draws `count` of `length` by Floyd's way: a number for each, whatever was drawn before.
    #[inline]
    fn draw(count: u32, length: u32, generator: &mut Generator) -> Self {
        let mut drawn = Self {
            positions: [0; MOST_DRAWN as usize],
            count: 0,
        };
        for last in length.saturating_sub(count)..length {
            let position = generator.below(last + 1);
            let again = drawn.positions().any(|before| before == position);
            drawn.push(if again { last } else { position });
        }
        drawn
    }

    fn push(&mut self, position: u32) {
        if let Some(place) = self.positions.get_mut(self.count) {
            *place = position;
            self.count += 1;
        }
    }

    fn positions(&self) -> impl Iterator<Item = u32> {
        self.positions.iter().copied().take(self.count)
    }
}

// The candidate with the least; of many such, each with equal chances, by a number for each beyond the first that is
// met. 0 where there is none.
#[inline]
fn least<L: PartialOrd>(
    mut candidates: impl Iterator<Item = u32>,
    generator: &mut Generator,
    load_of: impl Fn(u32) -> L,
) -> u32 {
    let Some(mut best) = candidates.next() else {
        return 0;
    };
    let (mut least, mut equals) = (load_of(best), 1);
    for candidate in candidates {
        let load = load_of(candidate);
        if load < least {
            (best, least, equals) = (candidate, load, 1);
        } else if load == least {
            equals += 1;
            if generator.below(equals) == 0 {
                (best, least) = (candidate, load);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(count: u32, length: u32, generator: &mut Generator) -> Vec<u32> {
        Drawn::draw(count, length, generator).positions().collect()
    }

    #[test]
    fn draws_are_distinct_and_take_a_number_each() {
        let mut generator = Generator::new(1, 2);
        for length in 1..70 {
            for count in 1..=length.min(64) {
                let mut numbers = generator;
                let positions = drawn(count, length, &mut generator);
                let mut distinct = positions.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(
                    (positions.len(), distinct.len()),
                    (count as usize, count as usize)
                );
                assert!(distinct.iter().all(|&position| position < length));
                for _ in 0..count {
                    numbers.next_u32();
                }
                assert_eq!(generator, numbers);
            }
        }
    }

    #[test]
    fn a_position_that_is_drawn_again_gives_way_to_the_last() {
        let mut seen = 0;
        for seed in 0..100 {
            let mut generator = Generator::new(seed, 0);
            let mut numbers = generator;
            let (first, second) = (numbers.below(3), numbers.below(4));
            let expected = [first, if second == first { 3 } else { second }];
            seen += u32::from(second == first);
            assert_eq!(drawn(2, 4, &mut generator), expected);
        }
        assert!(seen > 0);
    }

    #[test]
    fn two_are_compared_as_more_would_be() {
        for length in 3..40 {
            for seed in 0..50 {
                let mut generator = Generator::new(seed, length);
                let mut other = generator;
                let in_flight = |position: u32| position % 3;
                let pick = Candidates::Drawn(2).draw(length, &mut generator, in_flight);
                let drawn = Drawn::draw(2, length, &mut other);
                // The number for a tie is taken in any case.
                let mut after = other;
                after.below(2);
                let expected = least(drawn.positions(), &mut other, in_flight);
                assert_eq!((pick, generator), (expected, after));
            }
        }
    }

    #[test]
    fn counts_are_kept_to_what_can_be_drawn() {
        for (candidates, length, count) in [
            (Candidates::All, 1_000, 1_000),
            (Candidates::All, 0, 0),
            (Candidates::Drawn(0), 5, 1),
            (Candidates::Drawn(2), 1, 1),
            (Candidates::Drawn(2), 0, 0),
            (Candidates::Drawn(64), 1_000, 64),
            (Candidates::Drawn(u32::MAX), 1_000, 64),
        ] {
            assert_eq!(
                candidates.count(length),
                count,
                "{candidates:?} of {length}"
            );
        }
    }

    #[test]
    fn the_first_of_the_fewest_takes_no_number() {
        let mut generator = Generator::new(1, 2);
        let before = generator;
        let counts = [5, 4, 7, 3, 9];
        let pick = Candidates::All.draw(5, &mut generator, |position| counts[position as usize]);
        assert_eq!((pick, generator), (3, before));
        assert_eq!(Candidates::All.draw(0, &mut generator, |_| 0), 0);
        assert_eq!(Candidates::Drawn(2).draw(0, &mut generator, |_| 0), 0);
        assert_eq!(Candidates::Drawn(2).draw(1, &mut generator, |_| 0), 0);
        assert_eq!(generator, before);
    }

    #[test]
    fn fewer_anew_ends_a_row_of_equals() {
        for seed in 0..50 {
            let mut generator = Generator::new(seed, 0);
            let mut numbers = generator;
            let counts = [5, 5, 5, 2, 2, 6];
            let pick = Candidates::All.draw(6, &mut generator, |at| counts[at as usize]);
            numbers.below(2);
            numbers.below(3);
            let expected = if numbers.below(2) == 0 { 4 } else { 3 };
            assert_eq!((pick, generator), (expected, numbers));
        }
    }
}
