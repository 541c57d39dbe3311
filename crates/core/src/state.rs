//! What an algorithm knows beyond one refresh.

use crate::adaptive::Adaptive;
use crate::algorithm::Algorithm;
use crate::kept::Kept;
use crate::member::Member;
use crate::probe_pool::ProbePool;
use crate::readings::Readings;
use crate::report_weights::ReportWeights;
use crate::selection::{Cursor, Selection};
use crate::smoothing::Estimates;
use crate::table::Fresh;

/// What an algorithm knows of the members from refresh to refresh, and some from draw to draw.
// Each draw asks which it is: a tag of its own answers soonest.
#[derive(Debug)]
#[repr(u8)]
pub enum State {
    /// Nothing.
    None,
    /// Their readings, smoothed.
    Smoothed(Estimates),
    /// Weights by their reports.
    Weighed(ReportWeights),
    /// What they said when they were asked.
    Probed(ProbePool),
    /// What leases on them told.
    Learned {
        /// Of readings.
        estimates: Estimates,
        /// Of leases.
        adaptive: Adaptive,
    },
}

impl State {
    /// Without members.
    #[must_use]
    pub fn new(algorithm: &Algorithm) -> Self {
        match *algorithm {
            Algorithm::LeastCpu { smoothing, .. } | Algorithm::SpareCapacity { smoothing, .. } => {
                Self::Smoothed(Estimates::new(smoothing))
            }
            Algorithm::Prequal(rules) => Self::Probed(ProbePool::new(rules)),
            Algorithm::Adaptive {
                rules, smoothing, ..
            } => Self::Learned {
                estimates: Estimates::new(smoothing),
                adaptive: Adaptive::new(rules),
            },
            Algorithm::WeightedRoundRobin { weighing, .. } => {
                weighing.map_or(Self::None, |it| Self::Weighed(ReportWeights::new(it)))
            }
            Algorithm::Random
            | Algorithm::RandomByWeight
            | Algorithm::RoundRobin
            | Algorithm::LeastConnections(_)
            | Algorithm::LeastConnectionsByWeight(_)
            | Algorithm::PowerOfTwo(_) => Self::None,
        }
    }

    /// Replaces the members; what is known of those that stay is kept.
    pub fn set_members(&mut self, before: &[Member], after: &[Member]) {
        let kept = || Kept::between(before, after);
        match self {
            Self::None => {}
            Self::Smoothed(estimates) => estimates.set_members(&kept()),
            Self::Probed(probes) => probes.set_members(after, &kept()),
            Self::Learned {
                estimates,
                adaptive,
            } => {
                let kept = kept();
                estimates.set_members(&kept);
                adaptive.set_members(after, &kept);
            }
            Self::Weighed(weights) => weights.set_members(&kept()),
        }
    }

    /// Takes a fresh reading of a member, and returns what it counts as: 1/1000 percentage points.
    #[inline]
    pub fn take(&mut self, index: usize, fresh: Fresh) -> f64 {
        match self {
            Self::Smoothed(estimates) => estimates.update(index, fresh.time, fresh.cpu),
            _ => f64::from(fresh.cpu),
        }
    }

    /// Learns from all that a refresh has read at `now` (table time, ms), and makes of the selection what is drawn from.
    ///
    /// `in_flight`: requests in flight at a member
    pub fn refresh(
        &mut self,
        readings: &Readings,
        selection: &mut Selection,
        now: f64,
        in_flight: impl Fn(u32) -> u32,
    ) {
        match self {
            Self::Learned { adaptive, .. } => {
                adaptive.refresh(now, &readings.reported, &selection.band, in_flight);
                selection.values.clear();
                selection.values.extend(adaptive.costs());
            }
            Self::None | Self::Smoothed(_) | Self::Probed(_) | Self::Weighed(_) => {}
        }
    }

    /// Whether draws are made by what is known here, so that each is to be made as the one before has left it.
    #[must_use]
    pub fn draws(&self) -> bool {
        match self {
            Self::Probed(_) | Self::Learned { .. } => true,
            Self::None | Self::Smoothed(_) | Self::Weighed(_) => false,
        }
    }

    /// One draw; none where nobody may be picked.
    ///
    /// `in_flight`: requests in flight at a member
    #[inline]
    pub fn draw(
        &mut self,
        selection: &Selection,
        cursor: &mut Cursor,
        in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        match self {
            Self::Probed(probes) => draw_probed(probes, selection, cursor, |_| true),
            Self::Learned { adaptive, .. } => {
                let generator = &mut cursor.generator;
                adaptive.draw(&selection.band, generator, |_| true, in_flight)
            }
            // All others at once: no jump by a table, which takes longer.
            _ => selection.draw(cursor, in_flight),
        }
    }

    /// The same from a selection without some members.
    ///
    /// `is_left`: whether a member is in the selection
    pub fn draw_left(
        &mut self,
        left: &Selection,
        cursor: &mut Cursor,
        is_left: impl Fn(u32) -> bool,
        in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        match self {
            Self::Probed(probes) => draw_probed(probes, left, cursor, is_left),
            Self::Learned { adaptive, .. } => {
                adaptive.draw(&left.band, &mut cursor.generator, is_left, in_flight)
            }
            Self::None | Self::Smoothed(_) | Self::Weighed(_) => left.draw(cursor, in_flight),
        }
    }
}

// By what members said; from the band where that is too little to go by.
fn draw_probed(
    probes: &mut ProbePool,
    selection: &Selection,
    cursor: &mut Cursor,
    allowed: impl Fn(u32) -> bool,
) -> Option<u32> {
    if selection.length() == 0 {
        return None;
    }
    probes
        .pick(allowed)
        .or_else(|| selection.draw(cursor, |_| 0))
}
