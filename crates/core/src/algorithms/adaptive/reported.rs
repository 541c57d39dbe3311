//! What reports say of members to draws that are learned from responses too.

use super::constants::LEAST_SPARE;
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
