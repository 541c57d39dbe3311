//! The table's protocol under every interleaving that loom can make of it. The flag is in every crate's fingerprint, so
//! they have a target folder of their own:
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p idlest-core --test loom`
//!
//! Real memory can't be modelled, so the words are loom's atomics: a 64-bit word is one object, as the layout has it.
//!
//! Each model runs to its end, without a bound on preemptions, with the fewest threads that can show a fault.
//! `IDLEST_LOOM_DEPTH=2` adds one more of those that a model can have any number of, and takes a bound
//! (`LOOM_MAX_PREEMPTIONS`) to come to an end: `npm run loom` does that.
#![cfg(loom)]

mod counts;
mod owners;
mod readings;
mod words;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use idlest_core::layout::TIME_BIAS;
use idlest_core::table::Table;
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

use crate::words::{Memory, View};

const NOW: f64 = TIME_BIAS as f64;

fn table(slots: u32, most: u32) -> (View, Arc<Table<View>>) {
    let view = View {
        memory: Arc::new(Memory::new(most as usize)),
        slots,
    };
    let table = Table::create(view.clone(), 0.0, slots, most).unwrap();
    (view, Arc::new(table))
}

fn cpu(table: &Table<View>, slot: u32) -> Option<u32> {
    table.read(slot, 0, NOW, 1_000.0).map(|fresh| fresh.cpu)
}

/// How many threads play a part that any number of them can play.
fn depth() -> usize {
    static DEPTH: OnceLock<usize> = OnceLock::new();
    *DEPTH.get_or_init(|| match std::env::var("IDLEST_LOOM_DEPTH") {
        Ok(text) => text
            .parse()
            .ok()
            .filter(|depth| (1..=3).contains(depth))
            .expect("IDLEST_LOOM_DEPTH is 1, 2 or 3"),
        Err(_) => 1,
    })
}

/// Threads that play the same part, each told its index.
fn others<T: 'static>(part: impl Fn(usize) -> T + Clone + 'static) -> Vec<JoinHandle<T>> {
    (0..depth())
        .map(|index| {
            let part = part.clone();
            thread::spawn(move || part(index))
        })
        .collect()
}

fn join<T>(threads: Vec<JoinHandle<T>>) -> Vec<T> {
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

/// Runs the model, and checks that the outcomes that its threads had in all its interleavings are these, all of them: a
/// model that explores too little fails too.
///
/// Loom goes back to where an access could have come before another thread's *last* access of the same word, so what is
/// found out depends on who runs first: that is the thread of the model, which therefore writes.
fn outcomes<T: Ord + Debug + Send + 'static, R: IntoIterator<Item = T>>(
    expected: impl IntoIterator<Item = T>,
    run: impl Fn() -> R + Sync + Send + 'static,
) {
    let start = Instant::now();
    let seen = std::sync::Arc::new(Mutex::new((BTreeSet::new(), 0_u64)));
    let all = std::sync::Arc::clone(&seen);
    loom::model(move || {
        let outcome = run();
        let mut all = all.lock().unwrap();
        all.0.extend(outcome);
        all.1 += 1;
    });
    let (seen, interleavings) = std::mem::take(&mut *seen.lock().unwrap());
    let model = std::thread::current().name().unwrap_or("?").to_owned();
    println!(
        "{model}: {interleavings} interleavings, {:.1} s",
        start.elapsed().as_secs_f64()
    );
    assert_eq!(seen, expected.into_iter().collect());
}
