//! Whether load is low: `calm.ts` says how it is known, and why that matters.

use super::constants::{CALM_CPU, CALM_FADING, CALM_LEAST, CALM_MOST, CALM_OWN_SHARE, CALM_PAIRS};

/// Pairs of responses that follow each other at a member: how many, the sum of their products, and of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pairs {
    /// How many.
    pub count: f64,
    /// Sum of their products.
    pub products: f64,
    /// Sum of their mean squares.
    pub squares: f64,
}

impl Pairs {
    /// Takes in that of two responses the second differed so much, as a part of what was expected, and the first so much.
    pub fn add(&mut self, difference: f64, before: f64) {
        self.count += 1.0;
        self.products += difference * before;
        self.squares += (difference * difference + before * before) / 2.0;
    }

    /// Forgets with time.
    ///
    /// `elapsed`: ms
    pub fn fade(&mut self, elapsed: f64) {
        let keep = CALM_FADING / (CALM_FADING + elapsed);
        self.count *= keep;
        self.products *= keep;
        self.squares *= keep;
    }

    /// How sure it is that load is low, 0-1.
    ///
    /// `cpu`: mean CPU, 0-1, where enough members report it
    /// `own_share`: this process's part of all requests in flight, 0-1; 0 where no report says
    /// `is_few`: whether all members are compared at each draw
    #[must_use]
    pub fn calm(&self, cpu: Option<f64>, own_share: f64, is_few: bool) -> f64 {
        if let Some(cpu) = cpu {
            if cpu < CALM_CPU {
                return 1.0;
            }
            if own_share < CALM_OWN_SHARE {
                return 0.0;
            }
        }
        if !is_few || self.count < CALM_PAIRS {
            return 0.0;
        }
        // Responses that are nearly the same each time correlate by trifles.
        let squares = self.squares.max(CALM_LEAST * self.count);
        let highest = self.products / squares + 1.0 / (self.count + 1.0).sqrt();
        (1.0 - highest / CALM_MOST).clamp(0.0, 1.0)
    }
}
