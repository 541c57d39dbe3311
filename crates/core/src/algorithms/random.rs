//! Every member that is up, with equal chances or by fixed weights: `src/algorithms/random`.

use std::fmt::Debug;

use super::{Algorithm, Look};
use crate::band::{self, Seen};
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Readings;
use crate::selected::{Select, boxed};
use crate::selection::{Draws, Selection};
use crate::weights;

/// Every member that is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// Whether chances go by the members' weights.
    pub by_weight: bool,
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    let by_weight = options.flag("weighted")?;
    Ok(boxed(Random { by_weight }))
}

impl<W: Words> Select<W> for Random {
    fn draws(&self) -> Draws {
        match self.by_weight {
            true => Draws::Weighted,
            false => Draws::Equal,
        }
    }

    fn read(&mut self, look: &Look<'_, W>, into: &mut Readings) -> f64 {
        into.see_states(look.members);
        into.take_weights(look.members);
        f64::INFINITY
    }

    fn select(&mut self, seen: &[Seen], readings: &Readings, into: &mut Selection) -> u32 {
        match self.by_weight {
            true => weights::select(seen, &readings.weights, into),
            false => band::select_up(seen, &mut into.values, &mut into.band),
        }
        0
    }
}
