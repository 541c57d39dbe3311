//! The layout of a table in memory, as `src/table/layout.ts` has it: that file describes it in full.

/// The bytes "idle", little-endian.
pub const MAGIC: u32 = 0x656c_6469;
/// Version of the layout.
pub const VERSION: u32 = 2;
/// Size of the header, bytes.
pub const HEADER_BYTES: usize = 128;
/// Size of one slot, bytes.
pub const SLOT_BYTES: usize = 128;
/// Size of the header, 32-bit words.
pub const HEADER_WORDS: usize = HEADER_BYTES / 4;
/// Size of one slot, 32-bit words.
pub const SLOT_WORDS: usize = SLOT_BYTES / 4;

/// Header word: [`MAGIC`].
pub const MAGIC_WORD: usize = 0;
/// Header word: [`VERSION`].
pub const VERSION_WORD: usize = 1;
/// Header word: [`HEADER_BYTES`].
pub const HEADER_BYTES_WORD: usize = 2;
/// Header word: [`SLOT_BYTES`].
pub const SLOT_BYTES_WORD: usize = 3;
/// Header word: most slots that the table can ever hold.
pub const MOST_SLOTS_WORD: usize = 4;
/// Header word: slots that the table has now.
pub const CAPACITY_WORD: usize = 5;
/// Header words 6 and 7: clock time that table time is counted from, ms, one f64.
pub const EPOCH_WORD: usize = 6;
/// Header word: one step a publication.
pub const GENERATION_WORD: usize = 16;

/// Slot word: one step each time the slot is given back.
pub const SLOT_GENERATION_WORD: usize = 0;
/// Slot word: tag and count of requests in flight.
pub const IN_FLIGHT_WORD: usize = 1;
/// Slot words 2 and 3: the CPU reading, one 64-bit word.
pub const CPU_WORD: usize = 2;

/// Slot words 4 and 5: time of the last report, as a reading of CPU 0.
pub const REPORT_WORD: usize = 4;
/// The first of the slot words of metrics, two each.
pub const METRICS_WORD: usize = 6;

/// Slot words 30 and 31: which thread writes the slot by its meters, as a reading.
pub const REGISTRATION_WORD: usize = 30;

/// Metrics of a slot: eight of a report's own, four of the user's.
pub const METRIC_COUNT: usize = 12;

/// Place among a slot's metrics: CPU, percent.
pub const CPU: usize = 0;
/// Place: application utilization, percent.
pub const APPLICATION: usize = 1;
/// Place: requests served per second.
pub const QPS: usize = 3;
/// Place: errors per second.
pub const EPS: usize = 4;
/// The first place of the user's own metrics.
pub const NAMED: usize = 8;
/// The metric of requests in flight at a node.
pub const IN_FLIGHT_METRIC: usize = 5;
/// The metric of latency, ms.
pub const LATENCY_METRIC: usize = 6;

/// Bits of a metric's time.
pub const METRIC_TIME_BITS: u32 = 23;

/// Bits of a reading's value.
pub const VALUE_BITS: u32 = 17;
/// Bits of a reading's tag.
pub const TAG_BITS: u32 = 9;
/// Highest time of a reading, table time in ms.
pub const TIME_MAX: u64 = (1 << 38) - 1;
/// Table time at the table's creation, ms.
pub const TIME_BIAS: u64 = 1 << 37;

const VALUE_MASK: u64 = (1 << VALUE_BITS) - 1;
const TAG_MASK: u32 = (1 << TAG_BITS) - 1;

/// Bits of the count in an in-flight word.
pub const COUNT_BITS: u32 = 20;
/// Most requests in flight that a slot can count.
pub const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;

/// Highest CPU, 1/1000 percentage points.
pub const CPU_MAX: u32 = 100_000;
/// What stands for "no slot": its reading is always missing.
pub const NO_SLOT: u32 = u32::MAX;

/// The first word of a slot.
#[must_use]
pub const fn slot_word(slot: u32) -> usize {
    HEADER_WORDS + slot as usize * SLOT_WORDS
}

/// The tag of a slot generation that is kept in a reading, 9 bits.
#[must_use]
pub const fn reading_tag(slot_generation: u32) -> u32 {
    slot_generation & TAG_MASK
}

/// An in-flight word with a count of zero, tagged for a slot generation.
#[must_use]
pub const fn no_flights(slot_generation: u32) -> u32 {
    slot_generation << COUNT_BITS
}

/// Whether an in-flight word was tagged for this slot generation.
#[must_use]
pub const fn flights_of(word: u32, slot_generation: u32) -> bool {
    (word ^ no_flights(slot_generation)) >> COUNT_BITS == 0
}

/// A CPU reading: one 64-bit word of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading(pub u64);

impl Reading {
    /// A reading of `cpu` (1/1000 percentage points, at most [`CPU_MAX`]) sampled at `time` (table time, ms, at most
    /// [`TIME_MAX`]); what is beyond is clamped.
    #[must_use]
    pub fn new(time: u64, slot_generation: u32, cpu: u32) -> Self {
        let time = time.min(TIME_MAX);
        let value = u64::from(cpu.min(CPU_MAX)) + 1;
        Self(time << (VALUE_BITS + TAG_BITS) | tag_bits(slot_generation) | value)
    }

    /// What a slot holds before its first reading.
    #[must_use]
    pub const fn none(slot_generation: u32) -> Self {
        Self(tag_bits(slot_generation))
    }

    /// When the sample was taken: table time, ms.
    #[must_use]
    pub const fn time(self) -> u64 {
        self.0 >> (VALUE_BITS + TAG_BITS)
    }

    /// The low 9 bits of the slot generation that it was written for.
    #[must_use]
    pub const fn tag(self) -> u32 {
        (self.0 >> VALUE_BITS) as u32 & TAG_MASK
    }

    /// CPU in 1/1000 percentage points, where there is a reading.
    #[must_use]
    pub const fn cpu(self) -> Option<u32> {
        ((self.0 & VALUE_MASK) as u32).checked_sub(1)
    }
}

const fn tag_bits(slot_generation: u32) -> u64 {
    (reading_tag(slot_generation) as u64) << VALUE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_keeps_its_parts_apart() {
        for (time, generation, cpu) in [
            (0, 0, 0),
            (TIME_MAX, 511, CPU_MAX),
            (TIME_BIAS, 513, 1),
            (1, 256, 50_000),
        ] {
            let reading = Reading::new(time, generation, cpu);
            assert_eq!(reading.time(), time);
            assert_eq!(reading.tag(), generation & 511);
            assert_eq!(reading.cpu(), Some(cpu));
        }
    }

    #[test]
    fn a_reading_has_the_bits_of_the_layout() {
        assert_eq!(Reading::new(1, 0, 0).0, 1 << 26 | 1);
        assert_eq!(Reading::new(0, 1, 0).0, 1 << 17 | 1);
        assert_eq!(Reading::new(0, 0, CPU_MAX).0, 100_001);
        assert_eq!(Reading::none(0x2ff).0, 0xff << 17);
    }

    #[test]
    fn what_is_out_of_range_is_clamped() {
        assert_eq!(
            Reading::new(u64::MAX, 0, u32::MAX),
            Reading::new(TIME_MAX, 0, CPU_MAX)
        );
    }

    #[test]
    fn no_reading_has_no_cpu() {
        assert_eq!(Reading::none(7).cpu(), None);
        assert_eq!(Reading::none(7).tag(), 7);
        assert_eq!(Reading::none(7).time(), 0);
    }

    #[test]
    fn flights_are_tagged_with_twelve_bits() {
        assert_eq!(no_flights(0x1001), 1 << 20);
        assert!(flights_of(no_flights(5) | 17, 5));
        assert!(flights_of(no_flights(5), 5 + 4096));
        assert!(!flights_of(no_flights(5) | 17, 6));
    }

    #[test]
    fn slots_follow_the_header() {
        assert_eq!(slot_word(0), 32);
        assert_eq!(slot_word(3), 128);
    }
}
