//! What is known of members is kept as these are replaced: that of each that stays, by its slot and slot generation.

use std::collections::HashMap;

use crate::layout::NO_SLOT;
use crate::member::Member;

/// Which members stay as others take their places.
#[derive(Clone, Debug)]
pub struct Kept {
    // Where each member stood before; none for one that is new or has no slot.
    places: Vec<Option<usize>>,
}

impl Kept {
    /// Looks for each member of `after` in `before`.
    #[must_use]
    pub fn between(before: &[Member], after: &[Member]) -> Self {
        let mut finder = Finder::new(before);
        Self {
            places: after.iter().map(|member| finder.find(member)).collect(),
        }
    }

    /// Where each member stood before; none for one that is new or has no slot.
    pub fn places(&self) -> impl Iterator<Item = Option<usize>> {
        self.places.iter().copied()
    }

    /// Moves what is known, one a member, to where the members stand now.
    pub fn carry<T: Copy>(&self, known: &mut Vec<T>, newcomer: impl Fn() -> T) {
        let before = std::mem::take(known);
        let stayed = |place: Option<usize>| before.get(place?).copied();
        known.extend(
            self.places()
                .map(|place| stayed(place).unwrap_or_else(&newcomer)),
        );
    }
}

/// So many members are looked for one by one before they are hashed: in ten thousand each takes some microseconds, and
/// hashing all of them a millisecond.
const LOOKED_FOR: u32 = 32;

/// Finds members of a list when most of them are asked for in its order.
struct Finder<'a> {
    before: &'a [Member],
    // Where the next one is if nothing changed.
    next: usize,
    strays: u32,
    known: Option<HashMap<(u32, u32), usize>>,
}

impl<'a> Finder<'a> {
    fn new(before: &'a [Member]) -> Self {
        Self {
            before,
            next: 0,
            strays: 0,
            known: None,
        }
    }

    fn find(&mut self, member: &Member) -> Option<usize> {
        // Such members have no readings: nothing is known of them.
        if member.slot == NO_SLOT {
            return None;
        }
        let place = match self.before.get(self.next) {
            Some(next) if key(next) == key(member) => self.next,
            _ => self.look_for(member)?,
        };
        self.next = place + 1;
        Some(place)
    }

    fn look_for(&mut self, member: &Member) -> Option<usize> {
        self.strays += 1;
        if self.strays <= LOOKED_FOR {
            return self
                .before
                .iter()
                .position(|other| key(other) == key(member));
        }
        let known = self
            .known
            .get_or_insert_with(|| self.before.iter().map(key).zip(0..).collect());
        known.get(&key(member)).copied()
    }
}

fn key(member: &Member) -> (u32, u32) {
    (member.slot, member.generation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::member;

    fn carried(before: &[Member], after: &[Member]) -> Vec<i32> {
        let mut known: Vec<_> = (0..).take(before.len()).collect();
        Kept::between(before, after).carry(&mut known, || -1);
        known
    }

    #[test]
    fn who_stays_is_known_wherever_it_stands() {
        let before = [member(3, 1), member(5, 2)];
        let after = [member(9, 0), member(5, 2), member(3, 1)];
        assert_eq!(carried(&before, &after), [-1, 1, 0]);
        assert_eq!(carried(&before, &[]), []);
        assert_eq!(carried(&[], &before), [-1, -1]);
    }

    #[test]
    fn another_generation_of_a_slot_is_new() {
        // The same tag as far as readings go; yet another node.
        assert_eq!(carried(&[member(3, 1)], &[member(3, 513)]), [-1]);
    }

    #[test]
    fn any_change_of_a_long_list_keeps_who_stays() {
        let before: Vec<_> = (0..1_000).map(|slot| member(slot, 7)).collect();
        let odd = |slot: u32| slot % 2 == 1;
        let mut shuffled: Vec<_> = (0..1_000).map(|i| (i * 7_919 + 13) % 1_000).collect();
        shuffled.retain(|slot| !odd(*slot) || slot % 5 == 0);
        let changes: [Vec<u32>; 5] = [
            (1..1_000).collect(),
            (0..1_000).chain([5_000]).collect(),
            (0..1_000).filter(|slot| !odd(*slot)).collect(),
            (0..1_000).rev().chain(2_000..2_100).collect(),
            shuffled,
        ];
        for slots in changes {
            let after: Vec<_> = slots.iter().map(|slot| member(*slot, 7)).collect();
            let expected = slots
                .iter()
                .map(|slot| if *slot < 1_000 { *slot as i32 } else { -1 });
            assert_eq!(carried(&before, &after), expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn who_has_no_slot_is_always_new() {
        let nowhere = [member(NO_SLOT, 0), member(NO_SLOT, 0)];
        assert_eq!(carried(&nowhere, &nowhere), [-1, -1]);
    }

    #[test]
    fn whether_it_is_up_does_not_matter() {
        let down = Member {
            up: false,
            ..member(3, 1)
        };
        assert_eq!(carried(&[member(3, 1)], &[down]), [0]);
    }
}
