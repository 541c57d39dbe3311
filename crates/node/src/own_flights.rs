//! The requests in flight that a thread counted in the table of another: `OwnFlights` of `src/table/own-flights.ts`.

use idlest_core::memory::Foreign;
use idlest_core::table::Table;
use napi::Result;
use napi_derive::napi;

use crate::raw::arrays::{Bound, TableView};

/// Takes back what a thread has in flight when that thread ends, also where it is terminated: the runtime finalizes all
/// objects of an environment with it.
#[napi]
pub struct OwnFlights {
    bound: Flights,
}

struct Flights {
    table: Bound<Table<Foreign>>,
    ledger: Bound<Foreign>,
}

impl Flights {
    fn bind(table: TableView, ledger: TableView) -> Result<Self> {
        Ok(Self {
            table: table.bind(Table::attach)?,
            ledger: ledger.bind(Ok::<_, String>)?,
        })
    }
}

#[napi]
impl OwnFlights {
    /// `table`: all of a table's memory; `ledger`: two words a slot, which the thread writes.
    #[napi(
        constructor,
        catch_unwind,
        ts_args_type = "table: Uint8Array, ledger: Uint8Array"
    )]
    pub fn new(table: TableView, ledger: TableView) -> Result<Self> {
        Ok(Self {
            bound: Flights::bind(table, ledger)?,
        })
    }

    /// Goes on with longer views of the same memory, after the table has grown.
    #[napi(catch_unwind, ts_args_type = "table: Uint8Array, ledger: Uint8Array")]
    pub fn rebind(&mut self, table: TableView, ledger: TableView) -> Result<()> {
        self.bound = Flights::bind(table, ledger)?;
        Ok(())
    }
}

impl Drop for OwnFlights {
    fn drop(&mut self) {
        let Flights { table, ledger } = &self.bound;
        table.user.take_back(&ledger.user);
    }
}
