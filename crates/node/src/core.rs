//! The class that JavaScript picks with.

use std::cell::{RefCell, RefMut};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use idlest_core::algorithms::{self, Probe};
use idlest_core::codes::{
    FACT_BAND, FACT_COUNT, FACT_FRESH, FACT_GENERATION, FACT_NEXT_EXPIRY, MEMBER_UP, NO_ONE,
};
use idlest_core::generator::Generator;
use idlest_core::member::Member;
use idlest_core::memory::Foreign;
use idlest_core::options::Options;
use idlest_core::pool::Pool;
use idlest_core::table::Table;
use napi::{Error, Result, Status};
use napi_derive::napi;

use crate::events::Events;
use crate::raw::arrays::{Bound, Bytes, Doubles, TableView, Words};
use crate::raw::function::NumberFunction;

/// An engine core over one table: `EngineCore` of `src/engine/engine.ts`.
#[napi]
pub struct Core {
    // With its picker, which may be kept for longer.
    state: Rc<RefCell<State>>,
}

struct State {
    table: Bound<Table<Foreign>>,
    pool: Pool<Foreign>,
    events: Option<Bound<Events>>,
    shared: Option<Bound<Foreign>>,
}

impl State {
    // What becomes of picks is known before the next is made.
    fn learn(&mut self) {
        if let Some(events) = &self.events {
            events.user.take(&mut self.pool);
        }
        if let Some(shared) = &self.shared {
            self.pool.take_shared(&shared.user);
        }
    }

    // What is known now is what JavaScript goes on with.
    fn give(&mut self) {
        if let Some(shared) = &self.shared {
            self.pool.give_shared(&shared.user);
        }
    }
}

#[napi]
impl Core {
    /// Binds a core to a table. `view` is all of the table's memory.
    #[napi(
        constructor,
        catch_unwind,
        ts_args_type = "view: Uint8Array, kind: string, options: Record<string, number>, seedLow: number, seedHigh: number"
    )]
    pub fn new(
        view: TableView,
        kind: String,
        options: HashMap<String, f64>,
        seed_low: u32,
        seed_high: u32,
    ) -> Result<Self> {
        let algorithm = algorithms::make(&kind, &Options::from(options))
            .map_err(|bad| invalid(&bad.to_string()))?;
        let pool = Pool::new(algorithm, Generator::new(seed_low, seed_high));
        let table = view.bind(Table::attach)?;
        let state = Rc::new(RefCell::new(State {
            table,
            pool,
            events: None,
            shared: None,
        }));
        Ok(Self { state })
    }

    // No JavaScript runs during a call, so that there is never another; without this such a fault would be a panic.
    fn state(&self) -> Result<RefMut<'_, State>> {
        let busy = |_| Error::new(Status::GenericFailure, "the core is in use");
        self.state.try_borrow_mut().map_err(busy)
    }

    /// Takes the table's memory anew, after it has grown.
    #[napi(catch_unwind, ts_args_type = "view: Uint8Array")]
    pub fn rebind(&self, view: TableView) -> Result<()> {
        self.state()?.table = view.bind(Table::attach)?;
        Ok(())
    }

    /// Replaces the members; the four arrays have one length.
    #[napi(
        catch_unwind,
        ts_args_type = "slots: Uint32Array, generations: Uint32Array, states: Uint8Array, weights: Float64Array"
    )]
    pub fn set_members(
        &self,
        slots: Words,
        generations: Words,
        states: Bytes,
        weights: Doubles,
    ) -> Result<()> {
        let (slots, generations) = (slots.as_slice(), generations.as_slice());
        let (states, weights) = (states.as_slice(), weights.as_slice());
        let count = slots.len();
        if [generations.len(), states.len(), weights.len()] != [count; 3] {
            return Err(invalid(
                "slots, generations, states and weights must have one length",
            ));
        }
        let mut state = self.state()?;
        // These are of the members before.
        state.learn();
        let members = slots.iter().zip(generations).zip(states).zip(weights);
        state
            .pool
            .set_members(members.map(|(((slot, generation), state), weight)| Member {
                slot: slot.load(Relaxed),
                generation: generation.load(Relaxed),
                up: state.load(Relaxed) == MEMBER_UP,
                weight: f64::from_bits(weight.load(Relaxed)),
            }));
        Ok(())
    }

    /// Reads the table at `now` (table time, ms), computes anew what draws are made from and fills the view: `values`,
    /// at least as long as the members, and `facts`, at the indices of [`idlest_core::codes`].
    #[napi(
        catch_unwind,
        ts_args_type = "now: number, values: Float64Array, facts: Float64Array"
    )]
    pub fn refresh(&self, now: f64, values: Doubles, facts: Doubles) -> Result<()> {
        let (values, places) = (values.as_slice(), facts.as_slice());
        let mut state = self.state()?;
        state.learn();
        let State { table, pool, .. } = &mut *state;
        if values.len() < pool.members() || places.len() < FACT_COUNT {
            return Err(invalid(
                "values must be at least as long as the members, and facts as many as there are",
            ));
        }
        let facts = pool.refresh(&table.user, now);
        for (place, value) in values.iter().zip(pool.values()) {
            place.store(value.to_bits(), Relaxed);
        }
        for (at, fact) in [
            (FACT_GENERATION, f64::from(facts.generation)),
            (FACT_NEXT_EXPIRY, facts.next_expiry),
            (FACT_BAND, f64::from(facts.band)),
            (FACT_FRESH, f64::from(facts.fresh)),
        ] {
            if let Some(place) = places.get(at) {
                place.store(fact.to_bits(), Relaxed);
            }
        }
        state.give();
        Ok(())
    }

    /// Draws `into.length` decisions; returns how many were drawn: all or 0.
    #[napi(catch_unwind, ts_args_type = "into: Uint32Array")]
    pub fn fill(&self, into: Words) -> Result<u32> {
        let mut state = self.state()?;
        state.learn();
        let State { table, pool, .. } = &mut *state;
        let filled = pool.fill(&table.user, into.as_slice()) as u32;
        state.give();
        Ok(filled)
    }

    /// Draws pairs in place of picks; returns how many: as many as there is room for, or 0 where draws compare no pairs.
    #[napi(catch_unwind, ts_args_type = "into: Uint32Array")]
    pub fn fill_pairs(&self, into: Words) -> Result<u32> {
        let mut state = self.state()?;
        let State { table, pool, .. } = &mut *state;
        Ok(pool.fill_pairs(&table.user, into.as_slice()) as u32)
    }

    /// A function that makes one draw and returns it; -1 where the band is empty, below that where the draw failed. For
    /// draws that can't be made ahead: it costs far less than a fill. It goes on to work where the core is no longer held.
    #[napi(ts_return_type = "() => number")]
    pub fn picker(&self) -> NumberFunction {
        let state = Rc::clone(&self.state);
        NumberFunction::new(move || {
            let Ok(mut state) = state.try_borrow_mut() else {
                return NO_ONE;
            };
            state.learn();
            let State { table, pool, .. } = &mut *state;
            index(pool.pick(&table.user))
        })
    }

    /// Takes what a member said: `latency` in ms, not a number where it is unknown; `time` of the sample, table time in ms.
    /// Returns the table time from which the view is out of date because an entry expires.
    #[napi(catch_unwind)]
    pub fn probed(&self, member: u32, in_flight: f64, latency: f64, time: f64) -> Result<f64> {
        Ok(self.state()?.pool.probed(Probe {
            member,
            in_flight,
            latency,
            time,
        }))
    }

    /// Draws so far that were made at random for want of entries.
    #[napi(catch_unwind)]
    pub fn at_random(&self) -> Result<f64> {
        Ok(self.state()?.pool.at_random() as f64)
    }

    /// Makes the core read events from this memory.
    #[napi(catch_unwind, ts_args_type = "events: Uint8Array")]
    pub fn listen(&self, events: TableView) -> Result<()> {
        self.state()?.events = Some(events.bind(Events::new)?);
        Ok(())
    }

    /// Makes the core share what it learns of few members in this memory, after each call that changes it.
    #[napi(catch_unwind, ts_args_type = "memory: Uint8Array")]
    pub fn share(&self, memory: TableView) -> Result<()> {
        self.state()?.shared = Some(memory.bind(Ok::<_, String>)?);
        Ok(())
    }

    /// Reads the events that wait.
    #[napi(catch_unwind)]
    pub fn take_events(&self) -> Result<()> {
        self.state()?.learn();
        Ok(())
    }

    /// Undoes the last `fill` beyond its first `kept` draws.
    #[napi(catch_unwind)]
    pub fn rewind(&self, kept: u32) -> Result<()> {
        self.state()?.pool.rewind(kept as usize);
        Ok(())
    }

    /// One draw as though the members at `excluded` were not up; -1 where none is left.
    #[napi(catch_unwind, ts_args_type = "excluded: Uint32Array")]
    pub fn pick_excluding(&self, excluded: Words) -> Result<i32> {
        let excluded = excluded.as_slice().iter().map(|index| index.load(Relaxed));
        let mut state = self.state()?;
        state.learn();
        let State { table, pool, .. } = &mut *state;
        let picked = index(pool.pick_excluding(&table.user, excluded));
        state.give();
        Ok(picked)
    }

    /// The probability of each member at the next draw, as of the last refresh. `shares`: at least as long as the
    /// members.
    #[napi(catch_unwind, ts_args_type = "shares: Float64Array")]
    pub fn fill_shares(&self, shares: Doubles) -> Result<()> {
        let places = shares.as_slice();
        let pool = &self.state()?.pool;
        if places.len() < pool.members() {
            return Err(invalid("shares must be at least as long as the members"));
        }
        for place in places {
            place.store(0.0_f64.to_bits(), Relaxed);
        }
        for (index, share) in pool.shares() {
            if let Some(place) = places.get(index as usize) {
                place.store(share.to_bits(), Relaxed);
            }
        }
        Ok(())
    }

    /// Reports that refreshes have passed over so far because the algorithm can't go by them.
    #[napi(catch_unwind)]
    pub fn ignored(&self) -> Result<f64> {
        Ok(self.state()?.pool.ignored() as f64)
    }
}

fn index(picked: Option<u32>) -> i32 {
    picked.map_or(NO_ONE, |index| index as i32)
}

fn invalid(message: &str) -> Error {
    Error::new(Status::InvalidArg, message)
}
