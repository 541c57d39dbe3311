//! A file's memory as buffers of JavaScript. They can't be shared buffers, which a runtime makes by itself alone, but atomics
//! work on plain ones as well; and such a buffer can't be transferred to another thread.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

#[cfg(target_os = "linux")]
use idlest_file::mapping::Mapping;
use napi::bindgen_prelude::ToNapiValue;
use napi::{Error, Result, check_status, sys};

/// Nothing, where files can't be mapped.
#[cfg(not(target_os = "linux"))]
pub struct Mapping;

/// A mapping, kept.
pub type Kept = Arc<Mapping>;

/// The mapping that has all of these bytes.
#[cfg(target_os = "linux")]
pub fn mapped(data: *const u8, length: usize) -> Option<Kept> {
    Mapping::of(data, length)
}

/// No memory is a file's here.
#[cfg(not(target_os = "linux"))]
pub fn mapped(_: *const u8, _: usize) -> Option<Kept> {
    None
}

/// A part of a file's memory, to become an `ArrayBuffer` that keeps the mapping.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub struct External {
    mapping: Kept,
    data: ptr::NonNull<u8>,
    length: usize,
}

#[cfg(target_os = "linux")]
impl External {
    /// A part of the mapping; none where it is not all inside.
    pub fn of(mapping: &Kept, at: u64, length: u64) -> Option<Self> {
        let (at, length) = (usize::try_from(at).ok()?, usize::try_from(length).ok()?);
        Some(Self {
            data: mapping.part(at, length)?,
            mapping: Arc::clone(mapping),
            length,
        })
    }
}

impl ToNapiValue for External {
    unsafe fn to_napi_value(env: sys::napi_env, value: Self) -> Result<sys::napi_value> {
        let Self {
            mapping,
            data,
            length,
        } = value;
        let kept = Box::into_raw(Box::new(mapping));
        let mut buffer = ptr::null_mut();
        // SAFETY: `env` is that of the call that is going on. The bytes stay where they are until `finalize` lets go of
        // the mapping, and whoever writes to them does so with `Atomics`.
        let status = unsafe {
            sys::napi_create_external_arraybuffer(
                env,
                data.as_ptr().cast(),
                length,
                Some(finalize),
                kept.cast(),
                &mut buffer,
            )
        };
        if status != sys::Status::napi_ok {
            // SAFETY: from a box above, and no buffer has it.
            drop(unsafe { Box::from_raw(kept) });
        }
        if status == sys::Status::napi_no_external_buffers_allowed {
            return Err(Error::from_reason(
                "this runtime (Electron?) has no buffers over memory that is not its own",
            ));
        }
        check_status!(status)?;
        Ok(buffer)
    }
}

unsafe extern "C" fn finalize(_: sys::napi_env, _: *mut c_void, hint: *mut c_void) {
    // SAFETY: from a box in `to_napi_value`; the runtime calls this once, when it has let go of the buffer.
    drop(unsafe { Box::from_raw(hint.cast::<Kept>()) });
}
