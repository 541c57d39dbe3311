//! The lower cost of two, by the peaks of their latency: `src/algorithms/peak-ewma`.

use std::fmt::Debug;

use super::{Algorithm, Found, Look};
use crate::band::{NOT_ELIGIBLE, without};
use crate::fewest::Candidates;
use crate::generator::Generator;
use crate::kept::Kept;
use crate::member::Member;
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Places;
use crate::selection::Cursor;
use crate::table::Table;

mod constants;

/// What is asked for. Times are ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Time constant with which a peak fades.
    pub decay: f64,
    /// What a member counts as that has not answered yet.
    pub initial_latency: f64,
    /// What a failed request counts as at least.
    pub error_latency: f64,
}

/// The peaks of the members' latency.
#[derive(Debug)]
pub struct PeakEwma {
    rules: Rules,
    peaks: Vec<f64>,
    refreshed: Option<f64>,
    places: Places,
    values: Vec<f64>,
    band: Vec<u32>,
}

impl PeakEwma {
    /// Without members.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            peaks: Vec::new(),
            refreshed: None,
            places: Places::default(),
            values: Vec::new(),
            band: Vec::new(),
        }
    }

    // The lower of two; none of none.
    #[inline]
    fn lower<W: Words>(
        &self,
        band: &[u32],
        table: &Table<W>,
        generator: &mut Generator,
    ) -> Option<u32> {
        let in_flight = self.places.in_flight(table);
        let cost = |position: u32| {
            let index = band.get(position as usize).copied().unwrap_or(0);
            let peak = self.peaks.get(index as usize).copied().unwrap_or(0.0);
            peak * (f64::from(in_flight(index)) + 1.0)
        };
        let candidates = Candidates::Drawn(constants::CHOICES);
        let position = candidates.draw(band.len() as u32, generator, cost);
        band.get(position as usize).copied()
    }
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    Ok(Box::new(PeakEwma::new(Rules {
        decay: options.number("decay", 1.0, f64::MAX)?,
        initial_latency: options.number("initialLatency", 0.001, f64::MAX)?,
        error_latency: options.number("errorLatency", 0.0, f64::MAX)?,
    })))
}

impl<W: Words> Algorithm<W> for PeakEwma {
    fn set_members(&mut self, before: &[Member], after: &[Member]) {
        let newcomer = self.rules.initial_latency;
        Kept::between(before, after).carry(&mut self.peaks, || newcomer);
    }

    fn refresh(&mut self, look: &Look<'_, W>, _cursor: &mut Cursor) -> Found {
        let Rules { decay, .. } = self.rules;
        let elapsed = (look.now - self.refreshed.unwrap_or(look.now)).max(0.0);
        self.refreshed = Some(look.now);
        let keep = decay / (decay + elapsed);
        self.places.take(look.members);
        self.values.clear();
        self.band.clear();
        for ((index, member), peak) in (0_u32..).zip(look.members).zip(&mut self.peaks) {
            *peak *= keep;
            if member.up {
                self.band.push(index);
                self.values.push(*peak);
            } else {
                self.values.push(NOT_ELIGIBLE);
            }
        }
        Found {
            next_expiry: look.now + constants::REFRESH,
            fresh: 0,
        }
    }

    fn values(&self) -> &[f64] {
        &self.values
    }

    fn band(&self) -> &[u32] {
        &self.band
    }

    #[inline]
    fn draw(&mut self, table: &Table<W>, cursor: &mut Cursor) -> Option<u32> {
        self.lower(&self.band, table, &mut cursor.generator)
    }

    fn draw_without(
        &mut self,
        table: &Table<W>,
        cursor: &mut Cursor,
        excluded: &[u32],
    ) -> Option<u32> {
        let left = without(&self.band, excluded);
        self.lower(&left, table, &mut cursor.generator)
    }

    fn ended(&mut self, index: u32, _left: f64, ok: bool, latency: f64, _alone: bool) {
        let Some(peak) = self.peaks.get_mut(index as usize) else {
            return;
        };
        let sample = match ok {
            true => latency,
            false => latency.max(self.rules.error_latency),
        };
        if sample > *peak {
            *peak = sample;
        }
    }
}
