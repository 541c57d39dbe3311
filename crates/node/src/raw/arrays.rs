//! Typed arrays of JavaScript as atomics. Their memory may be shared with other threads, so no slice of plain numbers is
//! formed over it.

use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use idlest_core::memory::Foreign;
use napi::bindgen_prelude::{FromNapiValue, Uint8Array};
use napi::{Error, Result, Status, check_status, sys};

use super::external::{Kept, mapped};

// Where a typed array's elements are, and how many.
struct Info {
    data: *mut u8,
    length: usize,
    buffer: sys::napi_value,
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Status::InvalidArg, message.into())
}

/// # Safety
/// `env` and `value` must be those of the call that is going on.
unsafe fn info(
    env: sys::napi_env,
    value: sys::napi_value,
    kind: sys::napi_typedarray_type,
    name: &str,
) -> Result<Info> {
    let (mut found, mut length, mut data) = (0, 0, ptr::null_mut());
    let mut buffer = ptr::null_mut();
    // SAFETY: as promised; the rest are places to write to.
    let status = unsafe {
        sys::napi_get_typedarray_info(
            env,
            value,
            &mut found,
            &mut length,
            &mut data,
            &mut buffer,
            ptr::null_mut(),
        )
    };
    if status != sys::Status::napi_ok || found != kind {
        return Err(invalid(format!("expected a {name}")));
    }
    Ok(Info {
        data: data.cast(),
        length,
        buffer,
    })
}

macro_rules! argument {
    ($(#[$doc:meta])* $name:ident, $atomic:ty, $kind:ident, $js:literal) => {
        $(#[$doc])*
        // The pointers are good for the call only: nothing keeps one of these.
        pub struct $name {
            data: *const $atomic,
            length: usize,
        }

        impl $name {
            /// The elements.
            pub fn as_slice(&self) -> &[$atomic] {
                // SAFETY: `data` and `length` came from the runtime for an argument of the call that is going on, which
                // keeps the array alive; no JavaScript runs meanwhile that could detach it. Typed arrays are aligned to
                // their elements, and atomics may be shared with whoever else has the memory.
                unsafe { slice::from_raw_parts(self.data, self.length) }
            }
        }

        impl FromNapiValue for $name {
            unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
                let kind = sys::TypedarrayType::$kind;
                // SAFETY: the caller's promise.
                let info = unsafe { info(env, value, kind, $js) };
                let Info { data, length, .. } = info?;
                // The runtime has no address for an empty array.
                if length == 0 || data.is_null() {
                    let data = ptr::NonNull::dangling().as_ptr();
                    return Ok(Self { data, length: 0 });
                }
                Ok(Self { data: data.cast_const().cast(), length })
            }
        }
    };
}

argument!(
    /// A `Uint32Array` argument, for the length of a call.
    Words, AtomicU32, uint32_array, "Uint32Array"
);
argument!(
    /// A `Uint8Array` argument, for the length of a call.
    Bytes, AtomicU8, uint8_array, "Uint8Array"
);
argument!(
    /// A `Float64Array` argument as the bits of its numbers, for the length of a call.
    Doubles, AtomicU64, float64_array, "Float64Array"
);

/// A view of a table's memory with a reference that keeps it.
pub struct TableView {
    // Held by the object that uses the memory, so by one environment; dropping it gives the reference back there.
    _reference: Uint8Array,
    // Where the memory is a file's.
    _mapping: Option<Kept>,
    data: *mut u8,
    length: usize,
}

impl FromNapiValue for TableView {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: the caller's promise.
        let Info {
            data,
            length,
            buffer,
        } = unsafe { info(env, value, sys::TypedarrayType::uint8_array, "Uint8Array")? };
        let mut plain = false;
        // SAFETY: `buffer` came from the runtime just now.
        check_status!(unsafe { sys::napi_is_arraybuffer(env, buffer, &mut plain) })?;
        let mapping = if plain { mapped(data, length) } else { None };
        if plain && mapping.is_none() {
            // It could be detached or shrunk under the pointer.
            return Err(invalid(
                "a table's memory must be a SharedArrayBuffer, or a file's",
            ));
        }
        // SAFETY: the caller's promise; the value was found to be a Uint8Array.
        let reference = unsafe { Uint8Array::from_napi_value(env, value)? };
        Ok(Self {
            _reference: reference,
            _mapping: mapping,
            data,
            length,
        })
    }
}

/// A view of a table's memory together with that memory's words.
pub struct Bound<T> {
    /// What uses the words.
    pub user: T,
    // After `user`, so that it is dropped last.
    _view: TableView,
}

impl TableView {
    /// Hands the memory's words to `attach`, and keeps the view for as long as what that returns.
    pub fn bind<T, E: std::fmt::Display>(
        self,
        attach: impl FnOnce(Foreign) -> std::result::Result<T, E>,
    ) -> Result<Bound<T>> {
        // SAFETY: the runtime said that so many bytes are there. `self` keeps a shared buffer, which can't be detached
        // nor shrink, or the mapping that the bytes are of, for as long as the `Bound`, whose `user` has the words. Whoever else writes to it does so with
        // `Atomics`, with the sizes of the table's layout.
        let words = unsafe { Foreign::new(self.data, self.length) }
            .ok_or_else(|| invalid("a table's memory must be aligned to 8 bytes"))?;
        let user = attach(words).map_err(|error| invalid(error.to_string()))?;
        Ok(Bound { user, _view: self })
    }
}
