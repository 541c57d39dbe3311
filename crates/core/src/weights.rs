//! Fixed weights: shares in proportion to them, and loads that are compared by them.

use std::cmp::Ordering;

use crate::band::{self, Seen};
use crate::selection::Selection;

/// How loaded a member is for what it can take: (in flight + 1) / weight, compared without a division.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Requests in flight.
    pub in_flight: u32,
    /// Above 0 and finite.
    pub weight: f64,
}

impl Load {
    fn times(self, weight: f64) -> f64 {
        (f64::from(self.in_flight) + 1.0) * weight
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.times(other.weight)
            .partial_cmp(&other.times(self.weight))
    }
}

/// Lists every member that is up, with its weight and its share of all weights.
///
/// `weights`: of each member, as many as `seen`
pub fn select(seen: &[Seen], weights: &[f64], into: &mut Selection) {
    band::select_up(seen, &mut into.values, &mut into.band);
    into.weights.clear();
    let up = seen
        .iter()
        .zip(weights)
        .filter(|(seen, _)| **seen != Seen::OUT);
    into.weights.extend(up.map(|(_, &weight)| weight));
    let total = into.weights.iter().fold(0.0, |sum, weight| sum + weight);
    into.shares.clear();
    into.shares
        .extend(into.weights.iter().map(|weight| weight / total));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::band::NOT_ELIGIBLE;
    use crate::selection::Draws;

    fn load(in_flight: u32, weight: f64) -> Load {
        Load { in_flight, weight }
    }

    #[test]
    fn loads_compare_by_what_is_in_flight_for_the_weight() {
        assert!(load(0, 1.0) < load(1, 1.0));
        assert!(load(3, 2.0) == load(1, 1.0));
        assert!(load(2, 2.0) < load(1, 1.0));
        assert!(load(4, 2.0) > load(1, 1.0));
        // Nobody has anything: the heavier one comes first.
        assert!(load(0, 2.0) < load(0, 1.0));
        assert!(load(0, 0.1) > load(1_048_575, 1e12));
    }

    #[test]
    fn a_weight_that_is_no_number_is_neither_more_nor_less() {
        let no_number = load(0, f64::NAN);
        for other in [load(0, 1.0), no_number] {
            assert!(no_number != other);
            assert_eq!(no_number.partial_cmp(&other), None);
        }
    }

    #[test]
    fn shares_are_in_proportion_among_those_up() {
        let mut selection = Selection::new(Draws::Weighted);
        let seen = [Seen::MISSING, Seen::OUT, Seen::MISSING];
        select(&seen, &[3.0, 7.0, 1.0], &mut selection);
        assert_eq!(selection.band, [0, 2]);
        assert_eq!(selection.weights, [3.0, 1.0]);
        assert_eq!(selection.shares, [0.75, 0.25]);
        assert_eq!(selection.values, [0.0, NOT_ELIGIBLE, 0.0]);
        select(&[Seen::OUT], &[1.0], &mut selection);
        assert!(selection.band.is_empty() && selection.shares.is_empty());
    }
}
