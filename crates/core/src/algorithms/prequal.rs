//! By what some members said of their requests in flight and latency: `src/algorithms/prequal`.

use std::fmt::Debug;

use super::{Algorithm, Found, Look, Probe};
use crate::band;
use crate::generator::Generator;
use crate::kept::Kept;
use crate::member::Member;
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::selection::Cursor;
use crate::table::Table;

mod constants;
mod pool;
mod recent;

pub use pool::{ProbePool, Rules};
pub use recent::Recent;

/// A pool of what was said, and everyone where that is too little.
#[derive(Debug)]
pub struct Prequal {
    probes: ProbePool,
    values: Vec<f64>,
    band: Vec<u32>,
}

impl Prequal {
    /// Without members.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            probes: ProbePool::new(rules),
            values: Vec::new(),
            band: Vec::new(),
        }
    }
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    Ok(Box::new(Prequal::new(Rules {
        quantile: options.number("quantile", 0.0, 1.0)?,
        pool: options.whole("pool", 2, 1_024)?,
        max_age: options.milliseconds("maxAge")?,
        probes: options.number("probes", 0.0, 64.0)?,
        removals: options.number("removals", 0.0, 64.0)?,
    })))
}

// By what members said; any of the band where that is too little to go by.
fn draw(
    probes: &mut ProbePool,
    band: &[u32],
    cursor: &mut Cursor,
    allowed: impl Fn(u32) -> bool,
) -> Option<u32> {
    if band.is_empty() {
        return None;
    }
    if let Some(picked) = probes.pick(allowed) {
        return Some(picked);
    }
    let position = cursor.generator.below(band.len() as u32);
    band.get(position as usize).copied()
}

impl<W: Words> Algorithm<W> for Prequal {
    fn set_members(&mut self, before: &[Member], after: &[Member]) {
        self.probes
            .set_members(after, &Kept::between(before, after));
    }

    fn refresh(&mut self, look: &Look<'_, W>, cursor: &mut Cursor) -> Found {
        let seen: Vec<_> = look
            .members
            .iter()
            .map(Member::seen_without_reading)
            .collect();
        band::select_up(&seen, &mut self.values, &mut self.band);
        self.probes
            .refresh(look.table, look.members, look.now, &mut cursor.generator);
        Found {
            next_expiry: self.probes.next_expiry(),
            fresh: 0,
        }
    }

    fn values(&self) -> &[f64] {
        &self.values
    }

    fn band(&self) -> &[u32] {
        &self.band
    }

    fn draw(&mut self, _table: &Table<W>, cursor: &mut Cursor) -> Option<u32> {
        draw(&mut self.probes, &self.band, cursor, |_| true)
    }

    fn draw_without(
        &mut self,
        _table: &Table<W>,
        cursor: &mut Cursor,
        excluded: &[u32],
    ) -> Option<u32> {
        let left = band::without(&self.band, excluded);
        let allowed = |index| left.binary_search(&index).is_ok();
        draw(&mut self.probes, &left, cursor, allowed)
    }

    fn probed(&mut self, probe: Probe, generator: &mut Generator) -> f64 {
        self.probes.probed(probe, generator);
        self.probes.next_expiry()
    }

    fn at_random(&self) -> u64 {
        self.probes.at_random()
    }
}
