//! The best of some drawn members by one metric of their reports: `src/algorithms/power-of-two`.

use std::fmt::Debug;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::{Algorithm, Look};
use crate::band::{NOT_ELIGIBLE, Seen};
use crate::codes::unknown_draw;
use crate::fewest::{Candidates, MOST_DRAWN};
use crate::generator::Generator;
use crate::layout::{IN_FLIGHT_METRIC, METRIC_COUNT};
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Readings;
use crate::selected::{Select, boxed};
use crate::selection::{Cursor, Draws, Selection};
use crate::table::Table;

pub mod constants;

use constants::NO_WORKER;

/// How many numbers a generator gives.
const COIN_SIDES: u64 = 1 << 32;

/// Stands for a load of which nothing is known.
const UNKNOWN: f64 = f64::INFINITY;

/// What a pick is that compares nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// Any of the band, with equal chances.
    Random,
    /// The band's entry of this number, modulo its length: the picking thread's id.
    Worker(u32),
}

/// How draws are made: of which, how often, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Who is compared.
    candidates: Candidates,
    // A draw compares where the generator's number is below this: 0 never, 2^32 always.
    coin: u64,
    otherwise: Otherwise,
    fail_unknown: bool,
    live: bool,
}

/// The best of some by one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerOfTwo {
    /// The metric's place among a slot's.
    pub metric: usize,
    /// Members that are compared: 2 to 64.
    pub choices: u32,
    /// Share of the draws that compare, 0-1.
    pub choice_rate: f64,
    /// What the other draws are.
    pub otherwise: Otherwise,
    /// Whether a draw fails where no load of the compared is known.
    pub fail_unknown: bool,
    /// Oldest age of a fresh value, ms, inclusive.
    pub ttl: f64,
}

impl PowerOfTwo {
    /// How draws are made.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        Comparison {
            candidates: Candidates::Drawn(self.choices),
            coin: (self.choice_rate * COIN_SIDES as f64).floor() as u64,
            otherwise: self.otherwise,
            fail_unknown: self.fail_unknown,
            live: self.by_flights(),
        }
    }

    /// Reads the metric of a member: the time of its sample and its value, where it is fresh.
    #[inline]
    pub fn read<W: Words>(
        &self,
        table: &Table<W>,
        slot: u32,
        slot_generation: u32,
        now: f64,
    ) -> Option<(u64, f64)> {
        let reported = table.reported(slot, slot_generation)?;
        let sample = table.metric(slot, slot_generation, self.metric, reported)?;
        (now - sample.time as f64 <= self.ttl).then_some((sample.time, sample.value))
    }

    /// Computes what each member counts as, and the band. Returns how many members have a fresh value.
    ///
    /// `figures`: the metric of each member with a fresh value; whatever of the others. As long as `seen`.
    pub fn select_best(&self, seen: &[Seen], figures: &[f64], into: &mut Selection) -> u32 {
        // Requests in flight are always known: at least those that are counted here.
        let missing = if self.by_flights() { 0.0 } else { UNKNOWN };
        let values = seen.iter().zip(figures).map(|(&seen, &figure)| match seen {
            Seen::OUT => NOT_ELIGIBLE,
            Seen::MISSING => missing,
            _ => figure,
        });
        into.values.clear();
        into.values.extend(values);
        let up = (0..).zip(seen).filter(|&(_, &seen)| seen != Seen::OUT);
        into.band.clear();
        into.band.extend(up.map(|(index, _)| index));
        seen.iter().filter(|seen| seen.is_fresh()).count() as u32
    }

    fn by_flights(&self) -> bool {
        self.metric == IN_FLIGHT_METRIC
    }
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    Ok(boxed(Compared::new(PowerOfTwo {
        metric: options.whole("place", 0, METRIC_COUNT as u32 - 1)? as usize,
        choices: options.whole("choices", 2, MOST_DRAWN)?,
        choice_rate: options.number("choiceRate", 0.0, 1.0)?,
        otherwise: match options.number("worker", NO_WORKER, f64::from(u32::MAX))? {
            NO_WORKER => Otherwise::Random,
            _ => Otherwise::Worker(options.whole("worker", 0, u32::MAX)?),
        },
        fail_unknown: options.flag("failsUnknown")?,
        ttl: options.milliseconds("ttl")?,
    })))
}

/// The same, ready to draw.
#[derive(Debug)]
pub struct Compared {
    two: PowerOfTwo,
    comparison: Comparison,
}

impl Compared {
    /// Draws as the options say.
    #[must_use]
    pub fn new(two: PowerOfTwo) -> Self {
        Self {
            two,
            comparison: two.comparison(),
        }
    }
}

impl<W: Words> Select<W> for Compared {
    fn draws(&self) -> Draws {
        Draws::Own
    }

    fn live(&self) -> bool {
        self.comparison.live()
    }

    fn draws_pairs(&self, selection: &Selection) -> bool {
        self.comparison.draws_pairs(selection.length())
    }

    #[inline]
    fn draw(
        &self,
        selection: &Selection,
        cursor: &mut Cursor,
        in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let Selection { band, values, .. } = selection;
        if band.is_empty() {
            return None;
        }
        let generator = &mut cursor.generator;
        Some(self.comparison.draw(band, values, generator, in_flight))
    }

    fn fill(
        &self,
        selection: &Selection,
        into: &[AtomicU32],
        cursor: &mut Cursor,
        in_flight: impl Fn(u32) -> u32,
    ) {
        let Selection { band, values, .. } = selection;
        if band.is_empty() {
            return;
        }
        let mut generator = cursor.generator;
        for place in into {
            let drawn = self
                .comparison
                .draw(band, values, &mut generator, &in_flight);
            place.store(drawn, Relaxed);
        }
        cursor.generator = generator;
    }

    fn chances(&self, selection: &Selection) -> Vec<f64> {
        self.comparison.shares(&selection.band, &selection.values)
    }

    fn read(&mut self, look: &Look<'_, W>, into: &mut Readings) -> f64 {
        let Look { table, now, .. } = *look;
        into.see_figures(look.members, self.two.ttl, |_, member| {
            self.two.read(table, member.slot, member.generation, now)
        })
    }

    fn select(&mut self, seen: &[Seen], readings: &Readings, into: &mut Selection) -> u32 {
        self.two.select_best(seen, &readings.figures, into)
    }
}

impl Comparison {
    /// Whether loads change without a publication.
    #[must_use]
    pub fn live(self) -> bool {
        self.live
    }

    /// Whether each draw compares two of `length` by requests in flight.
    #[must_use]
    pub fn draws_pairs(self, length: u32) -> bool {
        self.live && self.coin == COIN_SIDES && self.candidates.are_pairs(length)
    }

    /// One draw from a band that is not empty: a member, or an [`unknown_draw`].
    ///
    /// `values`: of each member, as selected; `in_flight`: requests in flight at a member
    #[inline]
    pub fn draw(
        self,
        band: &[u32],
        values: &[f64],
        generator: &mut Generator,
        in_flight: impl Fn(u32) -> u32,
    ) -> u32 {
        let length = band.len() as u32;
        let member = |position: u32| band.get(position as usize).copied().unwrap_or(0);
        if length < 2 {
            return member(0);
        }
        if !self.compares(generator) {
            return member(match self.otherwise {
                Otherwise::Random => generator.below(length),
                Otherwise::Worker(thread) => thread % length,
            });
        }
        let value = |index: u32| values.get(index as usize).copied().unwrap_or(UNKNOWN);
        let index = member(if self.live {
            self.candidates.draw(length, generator, |position| {
                let index = member(position);
                value(index).max(f64::from(in_flight(index)))
            })
        } else {
            self.candidates
                .draw(length, generator, |position| value(member(position)))
        });
        if self.fail_unknown && value(index) == UNKNOWN {
            return unknown_draw(index);
        }
        index
    }

    #[inline]
    fn compares(self, generator: &mut Generator) -> bool {
        match self.coin {
            0 => false,
            COIN_SIDES.. => true,
            coin => u64::from(generator.next_u32()) < coin,
        }
    }

    /// The probability of each entry of the band at the next draw; where loads change at any moment, what it would be
    /// where all are the same.
    #[must_use]
    pub fn shares(self, band: &[u32], values: &[f64]) -> Vec<f64> {
        let length = band.len() as u32;
        let n = f64::from(length);
        if length < 2 {
            return vec![1.0; band.len()];
        }
        let compared = if self.live {
            vec![1.0 / n; band.len()]
        } else {
            let loads = band.iter().map(|&index| values.get(index as usize));
            let loads: Vec<_> = loads.map(|load| load.copied().unwrap_or(UNKNOWN)).collect();
            self.shares_by_rank(&loads)
        };
        let rate = self.coin as f64 / COIN_SIDES as f64;
        let rest = |position: u32| match self.otherwise {
            Otherwise::Random => 1.0 / n,
            Otherwise::Worker(thread) if thread % length == position => 1.0,
            Otherwise::Worker(_) => 0.0,
        };
        (0..)
            .zip(compared)
            .map(|(position, compared)| rate * compared + (1.0 - rate) * rest(position))
            .collect()
    }

    // The probability that each is the least of those drawn. Where m of n are no better than x, all that are drawn are
    // among them with the probability m (m - 1) ... / (n (n - 1) ...); those that are equal share the difference.
    fn shares_by_rank(self, loads: &[f64]) -> Vec<f64> {
        let n = loads.len() as u32;
        let mut order: Vec<_> = (0..).zip(loads.iter().copied()).collect();
        order.sort_unstable_by(|(_, one): &(usize, f64), (_, other)| one.total_cmp(other));
        let mut shares = vec![0.0; loads.len()];
        let mut left = n;
        for equals in order.chunk_by(|(_, one), (_, other)| one == other) {
            let count = equals.len() as u32;
            let all = self.all_among(left, n) - self.all_among(left - count, n);
            left -= count;
            for &(position, load) in equals {
                let fails = self.fail_unknown && load == UNKNOWN;
                if let Some(share) = shares.get_mut(position) {
                    *share = if fails { 0.0 } else { all / f64::from(count) };
                }
            }
        }
        shares
    }

    // The probability that all who are drawn of n are among m of them.
    fn all_among(self, m: u32, n: u32) -> f64 {
        let drawn = self.candidates.count(n);
        if m < drawn {
            return 0.0;
        }
        (0..drawn).fold(1.0, |probability, i| {
            probability * (f64::from(m - i) / f64::from(n - i))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALWAYS: PowerOfTwo = PowerOfTwo {
        metric: 0,
        choices: 2,
        choice_rate: 1.0,
        otherwise: Otherwise::Random,
        fail_unknown: false,
        ttl: 100.0,
    };

    #[test]
    fn a_coin_of_one_or_none_takes_no_number() {
        for (choice_rate, compares) in [(0.0, false), (1.0, true), (1e-10, false)] {
            let comparison = PowerOfTwo {
                choice_rate,
                ..ALWAYS
            }
            .comparison();
            let mut generator = Generator::new(1, 2);
            let before = generator;
            assert_eq!(comparison.compares(&mut generator), compares);
            assert_eq!(generator, before);
        }
    }

    #[test]
    fn shares_of_ranks_are_those_of_all_pairs() {
        let shares = ALWAYS
            .comparison()
            .shares_by_rank(&[3.0, 1.0, UNKNOWN, 1.0]);
        let expected = [1.0 / 6.0, 2.5 / 6.0, 0.0, 2.5 / 6.0];
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 1e-15, "{shares:?}");
        }
    }

    #[test]
    fn who_is_unknown_has_no_share_where_that_fails() {
        let failing = PowerOfTwo {
            fail_unknown: true,
            ..ALWAYS
        };
        let shares = failing
            .comparison()
            .shares_by_rank(&[UNKNOWN, 5.0, UNKNOWN]);
        assert_eq!(shares[0], 0.0);
        assert_eq!(shares[2], 0.0);
        assert!((shares[1] - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn as_many_choices_as_members_leave_the_least_alone() {
        let three = PowerOfTwo {
            choices: 64,
            ..ALWAYS
        };
        assert_eq!(
            three.comparison().shares_by_rank(&[2.0, 1.0, 3.0]),
            [0.0, 1.0, 0.0]
        );
    }
}
