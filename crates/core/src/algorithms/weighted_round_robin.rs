//! Round robin over the members that are up, some more often: `src/algorithms/weighted-round-robin`.

use std::fmt::Debug;
use std::sync::atomic::AtomicU32;

use super::{Algorithm, Look};
use crate::band::Seen;
use crate::kept::Kept;
use crate::layout::METRIC_COUNT;
use crate::member::Member;
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Readings;
use crate::selected::{Select, boxed};
use crate::selection::{Cursor, Draws, Selection, Turn};

mod constants;
pub mod report_weights;
pub mod stride;

use report_weights::{ReportWeights, Weighing};
use stride::{Clamp, Stride};

/// Turns by weight.
#[derive(Debug)]
pub struct WeightedRoundRobin {
    // None where weights are fixed.
    reported: Option<ReportWeights>,
    clamp: Clamp,
    stride: Stride,
}

impl WeightedRoundRobin {
    /// Without members.
    ///
    /// `weighing`: how reports become weights; none where these are fixed
    #[must_use]
    pub fn new(weighing: Option<Weighing>, clamp: Clamp) -> Self {
        Self {
            reported: weighing.map(ReportWeights::new),
            clamp,
            stride: Stride::default(),
        }
    }
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    let clamp = Clamp {
        max: options.number("clampMax", 1.0, f64::MAX)?,
        min: options.number("clampMin", 0.0, 1.0)?,
        round_up: options.flag("roundsUp")?,
    };
    let weighing = match options.flag("weighted")? {
        true => None,
        false => Some(Weighing {
            blackout: options.milliseconds("blackoutPeriod")?,
            expiration: options.milliseconds("weightExpirationPeriod")?,
            update: options.number("weightUpdatePeriod", 1.0, f64::INFINITY)?,
            error_penalty: options.number("errorUtilizationPenalty", 0.0, f64::INFINITY)?,
            utilizations: options.whole("utilizations", 0, (1 << METRIC_COUNT) - 1)? as u16,
        }),
    };
    Ok(boxed(WeightedRoundRobin::new(weighing, clamp)))
}

impl<W: Words> Select<W> for WeightedRoundRobin {
    fn draws(&self) -> Draws {
        Draws::Own
    }

    fn set_members(&mut self, before: &[Member], after: &[Member]) {
        if let Some(reported) = &mut self.reported {
            reported.set_members(&Kept::between(before, after));
        }
    }

    fn read(&mut self, look: &Look<'_, W>, into: &mut Readings) -> f64 {
        let figures = &mut into.figures;
        let next = match &mut self.reported {
            Some(reported) => reported.refresh(look.members, look.table, look.now, figures),
            None => report_weights::take_fixed(look.members, figures),
        };
        report_weights::see(look.members, figures, &mut into.seen);
        next
    }

    fn select(&mut self, seen: &[Seen], readings: &Readings, into: &mut Selection) -> u32 {
        let known = stride::select(seen, &readings.figures, self.clamp, &mut self.stride, into);
        self.reported.as_ref().map_or(0, |_| known)
    }

    fn start(&self, _selection: &Selection, cursor: &mut Cursor) {
        if let Some(sequence) = self.stride.start(&mut cursor.generator) {
            cursor.turn = Turn(sequence);
        }
    }

    #[inline]
    fn draw(
        &self,
        selection: &Selection,
        cursor: &mut Cursor,
        _in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        if selection.band.is_empty() {
            return None;
        }
        let position = self.stride.pass(&mut cursor.turn.0);
        selection.band.get(position as usize).copied()
    }

    fn fill(
        &self,
        selection: &Selection,
        into: &[AtomicU32],
        cursor: &mut Cursor,
        _in_flight: impl Fn(u32) -> u32,
    ) {
        let mut turns = self.stride.turns(cursor.turn.0);
        selection.fill_with(into, cursor, |from| {
            let position = turns.pass();
            from.turn = Turn(turns.sequence);
            position
        });
    }

    // One sequence for all: of the members that are left alone, one would get the turns of those that are not.
    fn draw_without(
        &self,
        whole: &Selection,
        cursor: &mut Cursor,
        is_left: &dyn Fn(u32) -> bool,
    ) -> Option<Option<u32>> {
        let member = |position: u32| whole.band.get(position as usize).copied();
        let wanted = |position| member(position).is_some_and(is_left);
        let position = self.stride.pass_to(&mut cursor.turn.0, wanted);
        Some(position.and_then(member))
    }

    fn ignored(&self) -> u64 {
        self.reported.as_ref().map_or(0, ReportWeights::ignored)
    }
}
