//! The fewest requests in flight among some of the members that are up: `src/algorithms/least-connections`.

use std::fmt::Debug;

use super::{Algorithm, Look};
use crate::band::{self, Seen};
use crate::fewest::{Candidates, MOST_DRAWN};
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Readings;
use crate::selected::{Select, boxed};
use crate::selection::{Draws, Selection};
use crate::weights;

/// The fewest requests in flight among some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastConnections {
    /// Which are compared.
    pub candidates: Candidates,
    /// Whether (in flight + 1) / weight is compared.
    pub by_weight: bool,
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    let choices = options.whole("choices", 1, MOST_DRAWN)?;
    Ok(boxed(LeastConnections {
        candidates: match options.flag("exact")? {
            true => Candidates::All,
            false => Candidates::Drawn(choices),
        },
        by_weight: options.flag("weighted")?,
    }))
}

impl<W: Words> Select<W> for LeastConnections {
    fn draws(&self) -> Draws {
        match self.by_weight {
            true => Draws::LeastLoaded(self.candidates),
            false => Draws::Fewest(self.candidates),
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
