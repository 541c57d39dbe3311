//! Quantiles of the last values of something.

use std::collections::VecDeque;

use super::constants::RECENT;

/// The last values that came, and the same in ascending order.
#[derive(Debug, Default)]
pub struct Recent {
    values: VecDeque<f64>,
    sorted: Vec<f64>,
}

impl Recent {
    /// Takes another; of more than 128 the oldest goes.
    pub fn add(&mut self, value: f64) {
        if self.values.len() == RECENT
            && let Some(out) = self.values.pop_front()
        {
            let place = self.sorted.partition_point(|&other| other < out);
            if place < self.sorted.len() {
                self.sorted.remove(place);
            }
        }
        let place = self.sorted.partition_point(|&other| other <= value);
        self.sorted.insert(place, value);
        self.values.push_back(value);
    }

    /// The value at `floor(quantile * count)` of them in ascending order; infinite where that is beyond the last.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        let place = (quantile * self.sorted.len() as f64).floor() as usize;
        self.sorted.get(place).copied().unwrap_or(f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_of_the_last_values_alone() {
        let mut recent = Recent::default();
        assert_eq!(recent.quantile(0.0), f64::INFINITY);
        for _ in 0..RECENT {
            recent.add(9.0);
        }
        assert_eq!(recent.quantile(0.0), 9.0);
        assert_eq!(recent.quantile(1.0), f64::INFINITY);
        for value in 0..RECENT {
            recent.add(value as f64);
        }
        assert_eq!(recent.quantile(0.5), RECENT as f64 / 2.0);
        assert_eq!(recent.sorted.len(), RECENT);
        assert!(recent.sorted.is_sorted());
    }
}
