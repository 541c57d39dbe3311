//! The band against a model that follows the definition word by word.

use idlest_core::algorithms::least_cpu::{LeastCpu, Missing};
use idlest_core::band::{NOT_ELIGIBLE, Seen};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Out,
    Missing,
    Fresh(u32),
}

fn states() -> impl Strategy<Value = Vec<State>> {
    let close = (0_u32..=10).prop_map(|step| State::Fresh(30_000 + step * 1_000));
    let state = prop_oneof![
        1 => Just(State::Out),
        2 => Just(State::Missing),
        3 => (0_u32..=100_000).prop_map(State::Fresh),
        3 => close,
    ];
    prop::collection::vec(state, 0..=300)
}

fn policies() -> impl Strategy<Value = Missing> {
    prop_oneof![
        (0_u32..=100_000).prop_map(Missing::As),
        Just(Missing::Mean),
        Just(Missing::Exclude)
    ]
}

// What each member counts as, who is in the band, how many are fresh.
fn model(states: &[State], threshold: u32, policy: Missing) -> (Vec<f64>, Vec<u32>, u32) {
    let fresh: Vec<f64> = states
        .iter()
        .filter_map(|state| match state {
            State::Fresh(cpu) => Some(f64::from(*cpu)),
            _ => None,
        })
        .collect();
    let missing = match policy {
        Missing::As(value) => Some(value),
        Missing::Mean if fresh.is_empty() => Some(50_000),
        Missing::Mean => {
            Some((fresh.iter().sum::<f64>() / fresh.len() as f64 + 0.5).floor() as u32)
        }
        Missing::Exclude => fresh.is_empty().then_some(50_000),
    };
    let effective: Vec<Option<u32>> = states
        .iter()
        .map(|state| match state {
            State::Out => None,
            State::Missing => missing,
            State::Fresh(cpu) => Some(*cpu),
        })
        .collect();
    let least = effective.iter().flatten().min().copied();
    let band = (0..)
        .zip(&effective)
        .filter(|(_, value)| value.is_some_and(|value| value <= least.unwrap() + threshold))
        .map(|(index, _)| index)
        .collect();
    let values = effective
        .iter()
        .map(|value| value.map_or(NOT_ELIGIBLE, f64::from))
        .collect();
    (values, band, fresh.len() as u32)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_band_is_as_defined(states in states(), threshold in 0_u32..=100_000, missing in policies()) {
        let seen: Vec<_> = states.iter().map(|state| match state {
            State::Out => Seen::OUT,
            State::Missing => Seen::MISSING,
            State::Fresh(cpu) => Seen::fresh(*cpu),
        }).collect();
        let (mut values, mut band) = (vec![1.0; 5], vec![2; 5]);
        let fresh = LeastCpu { threshold, missing }.select(&seen, &mut values, &mut band);
        prop_assert_eq!((values, band, fresh), model(&states, threshold, missing));
    }
}
