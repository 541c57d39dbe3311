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
        let key = |member: &Member| (member.slot, member.generation);
        let known: HashMap<_, _> = before.iter().map(key).zip(0..).collect();
        // Such members have no readings: nothing is known of them.
        let has_slot = |member: &&Member| member.slot != NO_SLOT;
        let place = |member| {
            let member = Some(member).filter(has_slot)?;
            known.get(&key(member)).copied()
        };
        Self {
            places: after.iter().map(place).collect(),
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
