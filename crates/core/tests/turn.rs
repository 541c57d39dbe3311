//! Round robin over a table.

mod support;

use idlest_core::generator::Generator;
use support::Algorithm;
use support::Pool;

use support::{NOW, assert_takes_no_reading, fill, members, pool, table};

fn turns(count: u32) -> Pool {
    let mut turns = pool(Algorithm::RoundRobin, count);
    turns.refresh(&table(&[]), NOW);
    turns
}

// Where the turn begins: the first number of the generator.
fn start() -> u64 {
    u64::from(Generator::new(1, 2).next_u32())
}

#[test]
fn everyone_has_a_turn_from_a_drawn_start() {
    for count in [1, 2, 3, 7, 100] {
        let expected: Vec<_> = (start()..start() + 300)
            .map(|turn| (turn % u64::from(count)) as u32)
            .collect();
        assert_eq!(fill(&mut turns(count), 300), expected, "{count} members");
    }
}

#[test]
fn turns_take_no_reading() {
    let table = table(&[Some(90_000), Some(1), None]);
    assert_takes_no_reading(Algorithm::RoundRobin, &table);
}

#[test]
fn a_rewound_fill_goes_on_where_it_was_left() {
    let all = fill(&mut turns(7), 300);
    for kept in 0..=21 {
        let mut pool = turns(7);
        fill(&mut pool, 20);
        pool.rewind(kept);
        let kept = kept.min(20);
        assert_eq!(fill(&mut pool, 100), all[kept..kept + 100]);
    }
}

#[test]
fn turns_go_on_among_others() {
    let table = table(&[]);
    let mut turns = turns(5);
    // The generator's first number is 4 modulo 5 and 1 modulo 4.
    assert_eq!(fill(&mut turns, 4), [4, 0, 1, 2]);
    turns.set_members(members(4, |_| true));
    turns.refresh(&table, NOW);
    assert_eq!(fill(&mut turns, 2), [3, 0]);
    turns.set_members(members(4, |slot| slot % 2 == 1));
    turns.refresh(&table, NOW);
    assert_eq!(fill(&mut turns, 3), [3, 1, 3]);
    turns.set_members(members(4, |_| false));
    turns.refresh(&table, NOW);
    assert_eq!(fill(&mut turns, 3), []);
    turns.set_members(members(4, |_| true));
    turns.refresh(&table, NOW);
    assert_eq!(fill(&mut turns, 3), [2, 3, 0]);
}

#[test]
fn a_turn_passes_over_the_excluded() {
    let table = table(&[]);
    let mut turns = turns(5);
    assert_eq!(fill(&mut turns, 2), [4, 0]);
    assert_eq!(
        turns.pick_excluding(&table, [1, 2, 2, 9, u32::MAX]),
        Some(3)
    );
    turns.rewind(0);
    assert_eq!(turns.pick_excluding(&table, []), Some(4));
    assert_eq!(turns.pick_excluding(&table, [0, 1, 2, 3, 4]), None);
    assert_eq!(turns.pick_excluding(&table, [0]), Some(1));
    assert_eq!(fill(&mut turns, 3), [2, 3, 4]);
}

#[test]
fn no_one_is_picked_of_no_one() {
    let table = table(&[]);
    let mut nobody = turns(0);
    assert_eq!(nobody.pick_excluding(&table, []), None);
    assert_eq!(fill(&mut nobody, 3), []);
    nobody.rewind(0);
    nobody.set_members(members(3, |_| true));
    nobody.refresh(&table, NOW);
    assert_eq!(fill(&mut nobody, 1), [(start() % 3) as u32]);
}
