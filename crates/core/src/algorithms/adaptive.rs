//! The least response time to expect: `src/algorithms/adaptive`.

use std::fmt::Debug;

use super::{Algorithm, Found, Look};
use crate::band::without;
use crate::generator::Generator;
use crate::kept::Kept;
use crate::member::Member;
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::readings::Places;
use crate::selection::Cursor;
use crate::smoothing::Estimates;
use crate::table::Table;

mod calm;
pub mod constants;
mod learned;
mod reported;
mod shared;

pub use learned::{Adaptive as Learned, COMMON, EACH, Rules};
pub use reported::Reported;
use shared::Shared;

/// What is learned from leases and read from reports.
#[derive(Debug)]
pub struct Adaptive {
    learned: Learned,
    estimates: Estimates,
    ttl: f64,
    reported: Vec<Reported>,
    places: Places,
    values: Vec<f64>,
    band: Vec<u32>,
}

impl Adaptive {
    /// Without members.
    ///
    /// `ttl`: oldest age of a fresh reading, ms, inclusive; `smoothing`: time constant of CPU, ms
    #[must_use]
    pub fn new(rules: Rules, ttl: f64, smoothing: f64) -> Self {
        Self {
            learned: Learned::new(rules),
            estimates: Estimates::new(smoothing),
            ttl,
            reported: Vec::new(),
            places: Places::default(),
            values: Vec::new(),
            band: Vec::new(),
        }
    }
}

pub(super) fn make<W: Words + Debug>(
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    let rules = Rules {
        fading: options.number("fading", 1.0, f64::MAX)?,
        error_cost: options.number("errorCost", 0.0, 1e6)?,
    };
    let ttl = options.milliseconds("ttl")?;
    let smoothing = options.milliseconds("smoothing")?;
    Ok(Box::new(Adaptive::new(rules, ttl, smoothing)))
}

impl<W: Words> Algorithm<W> for Adaptive {
    fn set_members(&mut self, before: &[Member], after: &[Member]) {
        let kept = Kept::between(before, after);
        self.estimates.set_members(&kept);
        self.learned.set_members(after, &kept);
    }

    fn refresh(&mut self, look: &Look<'_, W>, _cursor: &mut Cursor) -> Found {
        let Look {
            members,
            table,
            now,
        } = *look;
        let Self {
            learned,
            estimates,
            reported,
            places,
            ..
        } = self;
        places.take(members);
        reported::read(members, table, estimates, now, self.ttl, reported);
        self.band.clear();
        let up = (0..).zip(members).filter(|(_, member)| member.up);
        self.band.extend(up.map(|(index, _): (u32, _)| index));
        learned.refresh(now, reported, &self.band, places.in_flight(table));
        self.values.clear();
        self.values.extend(learned.costs());
        Found {
            next_expiry: now + learned.longest_wait(),
            fresh: reported.iter().filter(|it| it.spare.is_some()).count() as u32,
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
        let in_flight = self.places.in_flight(table);
        let generator = &mut cursor.generator;
        self.learned.next(&self.band, generator, in_flight)
    }

    fn draw_without(
        &mut self,
        table: &Table<W>,
        cursor: &mut Cursor,
        excluded: &[u32],
    ) -> Option<u32> {
        let left = without(&self.band, excluded);
        let is_left = |index| left.binary_search(&index).is_ok();
        let in_flight = self.places.in_flight(table);
        self.learned
            .draw(&left, &mut cursor.generator, is_left, in_flight)
    }

    fn sent(&mut self, index: u32) {
        self.learned.sent(index);
    }

    fn ended(&mut self, index: u32, left: f64, ok: bool, latency: f64, alone: bool) {
        self.learned.ended(index, left, ok, latency, alone);
    }

    fn set_aside(&mut self, index: u32, count: f64) {
        self.learned.set_aside(index, count);
    }

    fn take_shared(&mut self, memory: &W, generator: &mut Generator) {
        Shared(memory).take(&mut self.learned, generator);
    }

    fn give_shared(&self, memory: &W, generator: &Generator) {
        Shared(memory).give(&self.learned, generator);
    }
}
