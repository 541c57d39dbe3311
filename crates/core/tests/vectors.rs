//! The published behaviour of LeastCpu, as known right answers, and the generator's.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use idlest_core::algorithms::least_cpu::{LeastCpu, Missing};
use idlest_core::generator::Generator;
use idlest_core::layout::{self, TIME_BIAS};
use idlest_core::member::Member;
use idlest_core::memory::Owned;
use idlest_core::table::Table;
use serde_json::Value;
use support::Algorithm;

fn milli(percent: &Value) -> u32 {
    (percent.as_f64().unwrap() * 1_000.0).round() as u32
}

fn candidates(case: &Value) -> Vec<String> {
    let readings: BTreeMap<_, _> = case["readings"].as_object().unwrap().iter().collect();
    let slots = readings.len() as u32;
    let memory = Owned::zeroed(layout::HEADER_BYTES + readings.len() * layout::SLOT_BYTES);
    let table = Table::create(Arc::new(memory), 0.0, slots, slots).unwrap();
    for (slot, reading) in (0..).zip(readings.values()) {
        let (cpu, age) = match reading {
            Value::Null => continue,
            Value::Object(parts) => (&parts["cpu"], parts["age"].as_u64().unwrap()),
            cpu => (*cpu, 0),
        };
        table.write(slot, 0, TIME_BIAS - age, milli(cpu));
    }
    table.publish();
    let band = LeastCpu {
        threshold: milli(&case["threshold"]),
        missing: Missing::As(50_000),
    };
    let ttl = case
        .get("ttl")
        .map_or(10_000.0, |ttl| ttl.as_f64().unwrap());
    let algorithm = Algorithm::LeastCpu {
        band,
        ttl,
        smoothing: 0.0,
    };
    let mut pool = algorithm.pool(Generator::new(0, 0));
    pool.set_members((0..slots).map(|slot| Member {
        slot,
        generation: 0,
        up: true,
        weight: 1.0,
    }));
    pool.refresh(&table, TIME_BIAS as f64);
    let names: Vec<_> = readings.keys().map(|name| (*name).clone()).collect();
    pool.band()
        .iter()
        .map(|&index| names[index as usize].clone())
        .collect()
}

#[test]
fn least_cpu_has_the_published_candidates() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../test/vectors/least-cpu.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 10);
    for case in cases {
        let expected: Vec<_> = case["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap())
            .collect();
        assert_eq!(candidates(case), expected, "{case}");
    }
}

// Worked out by an implementation in Python of the definition; the TypeScript generator has the same numbers.
#[test]
fn the_generator_has_its_golden_numbers() {
    for (low, high, expected) in [
        (0, 0, [828638683, 3354902943, 284956477, 2595304071]),
        (1, 2, [457000909, 373388316, 1359776567, 1207737477]),
        (
            4294967295,
            4294967295,
            [1755391344, 1901033143, 1273358892, 1452198846],
        ),
        (
            3735928559,
            42,
            [3529021211, 1366258524, 1749639437, 1075789564],
        ),
    ] {
        let mut generator = Generator::new(low, high);
        assert_eq!(
            [0; 4].map(|_: u32| generator.next_u32()),
            expected,
            "{low}, {high}"
        );
    }
}
