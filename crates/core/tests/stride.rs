//! Turns by weight: the known right answers of `test/vectors/stride.json`.

use idlest_core::algorithms::weighted_round_robin::stride::{Clamp, Stride};
use proptest::prelude::*;
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../test/vectors/stride.json")).unwrap()
}

fn cases<'a>(vectors: &'a Value, kind: &str) -> &'a [Value] {
    let cases = vectors[kind].as_array().unwrap();
    assert!(cases.len() >= 4);
    cases
}

fn clamp(case: &Value) -> Clamp {
    let is_java = case["preset"] == "java";
    Clamp {
        max: 10.0,
        min: if is_java { 0.1 } else { 0.01 },
        round_up: is_java,
    }
}

fn stride(case: &Value) -> Stride {
    let weights: Vec<_> = case["weights"]
        .as_array()
        .unwrap()
        .iter()
        .map(|weight| weight.as_f64().unwrap_or(0.0))
        .collect();
    let mut stride = Stride::default();
    stride.build(&weights, clamp(case));
    stride
}

fn whole<T: TryFrom<u64>>(value: &Value) -> T
where
    T::Error: std::fmt::Debug,
{
    value.as_u64().unwrap().try_into().unwrap()
}

fn list<T: TryFrom<u64>>(value: &Value) -> Vec<T>
where
    T::Error: std::fmt::Debug,
{
    value.as_array().unwrap().iter().map(whole).collect()
}

fn count(stride: &Stride, from: u32, picks: u32) -> Vec<u32> {
    let mut counts = vec![0; stride.weights().len()];
    let mut turns = stride.turns(from);
    for _ in 0..picks {
        counts[turns.pass() as usize] += 1;
    }
    counts
}

#[test]
fn picks_are_shared_out_exactly() {
    for case in cases(&vectors(), "counts") {
        let counts = count(&stride(case), whole(&case["from"]), whole(&case["picks"]));
        assert_eq!(counts, list::<u32>(&case["counts"]), "{}", case["id"]);
    }
}

#[test]
fn from_any_other_start_each_count_is_within_one_of_that() {
    for case in cases(&vectors(), "counts") {
        let (stride, picks) = (stride(case), whole::<u32>(&case["picks"]));
        let expected = list::<u32>(&case["counts"]);
        let last = u32::MAX - picks * expected.len() as u32;
        // Spread over all starts, and all that are near the first.
        let starts = (0..200).map(|i| last / 200 * i).chain(0..200);
        for from in starts.step_by(if picks > 1_000 { 40 } else { 1 }) {
            for (found, expected) in count(&stride, from, picks).iter().zip(&expected) {
                assert!(found.abs_diff(*expected) <= 1, "{} {from}", case["id"]);
            }
        }
    }
}

#[test]
fn picks_and_the_sequence_are_the_known_ones() {
    for case in cases(&vectors(), "sequences") {
        let stride = stride(case);
        if let Some(scaled) = case.get("scaled") {
            assert_eq!(stride.weights(), list::<u16>(scaled));
        }
        let picks = list::<u32>(&case["picks"]);
        let mut sequence = whole(&case["from"]);
        let mut turns = stride.turns(sequence);
        let mut after = vec![];
        for &pick in &picks {
            assert_eq!(stride.pass(&mut sequence), pick, "{}", case["id"]);
            assert_eq!((turns.pass(), turns.sequence), (pick, sequence));
            after.push(sequence);
        }
        if let Some(each) = case.get("sequenceAfterEach") {
            assert_eq!(after, list::<u32>(each));
        } else {
            assert_eq!(sequence, whole::<u32>(&case["sequenceAtEnd"]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_pick_takes_at_most_as_many_numbers_as_there_are_entries_and_two_more_across_the_wrap(
        weights in prop::collection::vec(prop_oneof![Just(0.0), 1e-12..1e12, (1..10).prop_map(f64::from)], 1..60),
        max in prop_oneof![Just(10.0), 1.0..1e9],
        min in 0.0..=1.0,
        round_up in any::<bool>(),
        from in prop_oneof![any::<u32>(), u32::MAX - 100..=u32::MAX],
    ) {
        let mut stride = Stride::default();
        stride.build(&weights, Clamp { max, min, round_up });
        prop_assert_eq!(stride.weights().iter().max(), Some(&u16::MAX));
        prop_assert!(stride.weights().iter().all(|&weight| weight >= 1));
        let (n, mut sequence) = (weights.len() as u32, from);
        for _ in 0..100 {
            let before = sequence;
            let picked = stride.pass(&mut sequence);
            let wraps = sequence < before;
            let most = n + if wraps { 2 } else { 0 };
            prop_assert!(sequence.wrapping_sub(before) <= most);
            if !wraps {
                prop_assert_eq!(picked, (sequence - 1) % n);
            }
        }
    }

    // Also where blocks of entries are passed over.
    #[test]
    fn turns_are_those_of_the_rule(
        (large, count) in (0_usize..4, 1_usize..300),
        smallest in prop_oneof![Just(0.0), 0.0..0.1],
        from in prop_oneof![any::<u32>(), u32::MAX - 2_000..=u32::MAX, 0_u32..2_000],
        places in prop::collection::vec(any::<prop::sample::Index>(), 4),
    ) {
        let mut weights: Vec<f64> = (0..count).map(|i| (i % 7 + 1) as f64).collect();
        for place in &places[..large] {
            weights[place.index(count)] = 1e7;
        }
        let mut stride = Stride::default();
        stride.build(&weights, Clamp { max: 1e6, min: smallest, round_up: false });
        let scaled: Vec<u64> = stride.weights().iter().copied().map(u64::from).collect();
        let n = count as u64;
        // Twice from the same place, since the second time knows what the first found out.
        for _ in 0..2 {
            let (mut turns, mut sequence) = (stride.turns(from), u64::from(from));
            for _ in 0..300 {
                let expected = loop {
                    let (i, g) = (sequence % n, sequence / n);
                    sequence = (sequence + 1) % (1 << 32);
                    let weight = scaled[i as usize];
                    if (weight * g + i * 32_767) % 65_535 >= 65_535 - weight {
                        break i as u32;
                    }
                };
                prop_assert_eq!((turns.pass(), u64::from(turns.sequence)), (expected, sequence));
            }
        }
    }
}
