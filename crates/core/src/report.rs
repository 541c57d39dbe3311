//! The metrics of a slot's reports: each is one word with its value, the time of its sample and a tag of the slot's
//! owner. `src/table/layout.ts` describes the word, and how the whole time is found.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::layout::{self, Reading};
use crate::memory::{AtomicWord, Words};
use crate::table::{Table, WriteResult};

const TAG_BITS: u32 = 9;
const TAG_MASK: u32 = (1 << TAG_BITS) - 1;
// The low bits of a time, as a word has them.
const TIME_MASK: u64 = (1 << layout::METRIC_TIME_BITS) - 1;

/// A metric's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric(pub u64);

/// One metric of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it was taken: table time, ms.
    pub time: u64,
    /// What it says.
    pub value: f64,
}

impl Metric {
    /// A metric of `value` (none where that is not a number) sampled at `time` (table time, ms).
    #[must_use]
    pub fn new(time: u64, slot_generation: u32, value: f32) -> Self {
        let bits = if value.is_nan() { 0 } else { !value.to_bits() };
        let low = ((time & TIME_MASK) as u32) << TAG_BITS | layout::reading_tag(slot_generation);
        Self(u64::from(bits) << 32 | u64::from(low))
    }

    /// What a slot holds before its first report.
    #[must_use]
    pub const fn none(slot_generation: u32) -> Self {
        Self(layout::reading_tag(slot_generation) as u64)
    }

    /// The low 9 bits of the slot generation that it was written for.
    #[must_use]
    pub const fn tag(self) -> u32 {
        self.0 as u32 & TAG_MASK
    }

    /// The value, where there is one.
    #[must_use]
    pub fn value(self) -> Option<f32> {
        let value = f32::from_bits(!((self.0 >> 32) as u32));
        (!value.is_nan()).then_some(value)
    }

    /// How much later it was sampled than `time`, ms, given that it is less than 2^22 away.
    #[must_use]
    pub const fn later_by(self, time: u64) -> i64 {
        let low = self.0 as u32 >> TAG_BITS;
        let apart = low.wrapping_sub((time & TIME_MASK) as u32);
        ((apart << TAG_BITS) as i32 >> TAG_BITS) as i64
    }
}

impl<W: Words> Table<W> {
    #[inline]
    fn report_word(&self, slot: u32) -> Option<&W::Pair> {
        if slot == layout::NO_SLOT {
            return None;
        }
        self.memory
            .pair(layout::slot_word(slot) + layout::REPORT_WORD)
    }

    #[inline]
    fn metric_word(&self, slot: u32, metric: usize) -> Option<&W::Pair> {
        if slot == layout::NO_SLOT || metric >= layout::METRIC_COUNT {
            return None;
        }
        self.memory
            .pair(layout::slot_word(slot) + layout::METRICS_WORD + 2 * metric)
    }

    /// Table time of the slot's last report, ms; none where there is none, or the slot belongs to another node. Its
    /// metrics are read against it.
    #[inline]
    pub fn reported(&self, slot: u32, slot_generation: u32) -> Option<u64> {
        let reading = Reading(self.report_word(slot)?.load(Acquire));
        reading.cpu()?;
        (reading.tag() == layout::reading_tag(slot_generation)).then(|| reading.time())
    }

    /// One metric of a slot, however old; none where no report of its node has had it.
    ///
    /// `reported`: what [`Table::reported`] gave for the slot
    #[inline]
    pub fn metric(
        &self,
        slot: u32,
        slot_generation: u32,
        metric: usize,
        reported: u64,
    ) -> Option<Sample> {
        let word = Metric(self.metric_word(slot, metric)?.load(Relaxed));
        let value = word.value()?;
        (word.tag() == layout::reading_tag(slot_generation)).then(|| Sample {
            time: reported.saturating_add_signed(word.later_by(reported)),
            value: f64::from(value),
        })
    }

    /// Makes `time` (table time, ms) the time of the slot's last report, unless that is later.
    pub fn write_reported(&self, slot: u32, slot_generation: u32, time: u64) -> WriteResult {
        let Some(word) = self.report_word(slot) else {
            return WriteResult::Left;
        };
        if !self.is_of(slot, slot_generation) {
            return WriteResult::Left;
        }
        let new = Reading::new(time, slot_generation, 0);
        let mut before = Reading(word.load(Relaxed));
        loop {
            if before.tag() != new.tag() {
                return WriteResult::Left;
            }
            if before.cpu().is_some() && before.time() >= new.time() {
                return WriteResult::Older;
            }
            match word.compare_exchange(before.0, new.0, Release) {
                Ok(_) => return WriteResult::Stored,
                Err(now) => before = Reading(now),
            }
        }
    }

    /// Offers a metric to a slot. The sample taken last stays, and of two taken at once the one that came last. Right
    /// after [`Table::write_reported`]; `time` as there.
    pub fn write_metric(
        &self,
        slot: u32,
        slot_generation: u32,
        metric: usize,
        time: u64,
        value: f32,
    ) -> WriteResult {
        let Some(word) = self.metric_word(slot, metric) else {
            return WriteResult::Left;
        };
        if !self.is_of(slot, slot_generation) {
            return WriteResult::Left;
        }
        let new = Metric::new(time, slot_generation, value);
        let mut before = Metric(word.load(Relaxed));
        loop {
            if before.tag() != new.tag() {
                return WriteResult::Left;
            }
            if before.value().is_some() && before.later_by(time) > 0 {
                return WriteResult::Older;
            }
            match word.compare_exchange(before.0, new.0, Release) {
                Ok(_) => return WriteResult::Stored,
                Err(now) => before = Metric(now),
            }
        }
    }

    // For a slot's next owner. Swaps, for the reason that `give_back` has.
    pub(crate) fn clear_report(&self, slot: u32, slot_generation: u32) {
        if let Some(word) = self.report_word(slot) {
            word.swap(Reading::none(slot_generation).0, Release);
        }
        for metric in 0..layout::METRIC_COUNT {
            if let Some(word) = self.metric_word(slot, metric) {
                word.swap(Metric::none(slot_generation).0, Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_the_bits_of_the_layout() {
        assert_eq!(
            Metric::new(1, 3, 1.0).0,
            u64::from(!0x3f80_0000_u32) << 32 | 1 << 9 | 3
        );
        assert_eq!(Metric::none(0x2ff).0, 0xff);
        assert_eq!(Metric::new(1 << 23, 512, f32::NAN).0, 0);
    }

    #[test]
    fn a_metric_keeps_its_parts_apart() {
        for value in [0.0, -0.0, 1.5, -7e30, f32::MAX, f32::MIN_POSITIVE] {
            let metric = Metric::new(u64::MAX, u32::MAX, value);
            assert_eq!(metric.value(), Some(value));
            assert_eq!(metric.tag(), 511);
            assert_eq!(metric.later_by(u64::MAX), 0);
        }
        assert_eq!(Metric::new(5, 7, f32::NAN).value(), None);
        assert_eq!(Metric::none(7).value(), None);
    }

    #[test]
    fn times_are_told_apart_within_half_a_cycle() {
        const HALF: i64 = 1 << 22;
        for time in [0_u64, 1, 1 << 22, (1 << 23) - 1, 1 << 37, (1 << 38) - 1] {
            for apart in [0, 1, -1, HALF - 1, -HALF, 1_000_000] {
                let Some(other) = time.checked_add_signed(apart) else {
                    continue;
                };
                assert_eq!(Metric::new(other, 0, 1.0).later_by(time), apart);
            }
        }
    }
}
