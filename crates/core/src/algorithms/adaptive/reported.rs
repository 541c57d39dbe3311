//! What reports say of members to draws that are learned from responses too.

use super::constants::{BUSY_COST, BUSY_GAP, BUSY_SPARE, LEAST_SPARE};
use crate::algorithms::spare_capacity::FULL;
use crate::layout::IN_FLIGHT_METRIC;
use crate::member::Member;
use crate::memory::Words;
use crate::smoothing::Estimates;
use crate::table::Table;

/// What reports say of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reported {
    /// CPU to spare, 0-1.
    pub spare: Option<f64>,
    /// Requests in flight there.
    pub in_flight: Option<f64>,
}

/// Reads what the table has of each member that is up.
///
/// `estimates`: of their CPU
/// `now`: table time, ms
/// `ttl`: oldest age of what counts, ms, inclusive
pub fn read<W: Words>(
    members: &[Member],
    table: &Table<W>,
    estimates: &mut Estimates,
    now: f64,
    ttl: f64,
    into: &mut Vec<Reported>,
) {
    let read = |(index, member): (usize, &Member)| {
        let (slot, generation) = (member.slot, member.generation);
        if !member.up {
            return Reported::default();
        }
        let spare = table.read(slot, generation, now, ttl).map(|fresh| {
            let cpu = estimates.update(index, fresh.time, fresh.cpu);
            (1.0 - cpu / FULL).max(LEAST_SPARE)
        });
        let in_flight = table
            .reported(slot, generation)
            .and_then(|time| table.metric(slot, generation, IN_FLIGHT_METRIC, time))
            .filter(|sample| now - sample.time as f64 <= ttl)
            .map(|sample| sample.value);
        Reported { spare, in_flight }
    };
    into.clear();
    into.extend(members.iter().enumerate().map(read));
}

/// What reports say of all members together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spare {
    /// Members that have a fresh report.
    pub fresh: usize,
    /// The mean of what they have to spare, 0-1; 1 where none has a report.
    pub mean: f64,
    // At most this is far below the others; below 0 where no member is.
    busy: f64,
}

impl Spare {
    /// Looks at what all members have to spare.
    #[must_use]
    pub fn of(reported: &[Reported]) -> Self {
        let spare = reported.iter().filter_map(|it| it.spare);
        let (sum, fresh, least) = spare.fold((0.0, 0, 1.0_f64), |(sum, fresh, least), value| {
            (sum + value, fresh + 1, least.min(value))
        });
        if fresh == 0 {
            return Self {
                fresh,
                mean: 1.0,
                busy: -1.0,
            };
        }
        let busy = if least > BUSY_SPARE {
            -1.0
        } else {
            BUSY_SPARE.min(median(reported) - BUSY_GAP)
        };
        Self {
            fresh,
            mean: sum / fresh as f64,
            busy,
        }
    }

    /// How many times as slow a member counts by its reports.
    #[must_use]
    pub fn busy_cost(&self, reported: &Reported) -> f64 {
        match reported.spare {
            Some(spare) if spare <= self.busy => BUSY_COST,
            _ => 1.0,
        }
    }
}

fn median(reported: &[Reported]) -> f64 {
    let mut sorted: Vec<_> = reported.iter().filter_map(|it| it.spare).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(1.0)
}
