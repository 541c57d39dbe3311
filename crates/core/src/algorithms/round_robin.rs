//! The members that are up, one after the other: `src/algorithms/round-robin`.

use std::fmt::Debug;

use super::{Algorithm, Look};
use crate::band::{self, Seen};
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Readings;
use crate::selected::{Select, boxed};
use crate::selection::{Cursor, Draws, Selection};

/// The members that are up, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRobin;

pub(super) fn make<W: Words + Debug>(
    _options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    Ok(boxed(RoundRobin))
}

impl<W: Words> Select<W> for RoundRobin {
    fn draws(&self) -> Draws {
        Draws::InTurn
    }

    fn read(&mut self, look: &Look<'_, W>, into: &mut Readings) -> f64 {
        into.see_states(look.members);
        f64::INFINITY
    }

    fn select(&mut self, seen: &[Seen], _readings: &Readings, into: &mut Selection) -> u32 {
        band::select_up(seen, &mut into.values, &mut into.band);
        0
    }

    // Turns count in the whole band: a member that is left out keeps its place there.
    fn draw_without(
        &self,
        whole: &Selection,
        cursor: &mut Cursor,
        is_left: &dyn Fn(u32) -> bool,
    ) -> Option<Option<u32>> {
        let member = |position: u32| whole.band.get(position as usize).copied();
        let wanted = |position| member(position).is_some_and(is_left);
        let position = cursor.turn.pass_to(whole.length(), wanted);
        Some(position.and_then(member))
    }
}
