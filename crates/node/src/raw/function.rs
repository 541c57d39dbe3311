//! Functions without arguments that cost as little as a call can: a method of a class finds its object and takes a lock
//! first, which takes longer than a draw.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use napi::bindgen_prelude::ToNapiValue;
use napi::{Result, check_status, sys};

/// A JavaScript function that takes nothing and returns what this returns.
pub struct NumberFunction(Box<dyn Fn() -> i32>);

impl NumberFunction {
    /// Wraps what is to be called.
    pub fn new(function: impl Fn() -> i32 + 'static) -> Self {
        Self(Box::new(function))
    }
}

impl ToNapiValue for NumberFunction {
    unsafe fn to_napi_value(env: sys::napi_env, value: Self) -> Result<sys::napi_value> {
        let data = Box::into_raw(Box::new(value));
        let mut function = ptr::null_mut();
        // SAFETY: `env` is that of the call that is going on. `data` is what `call` expects, and stays so until
        // `finalize`.
        let created = unsafe {
            sys::napi_create_function(env, ptr::null(), 0, Some(call), data.cast(), &mut function)
        };
        let kept = match created {
            // SAFETY: `function` was made just now. `data` came from a box, and goes back to one in `finalize` alone,
            // which the runtime calls once: when the function was collected or its environment ends, so after its
            // last call.
            sys::Status::napi_ok => unsafe {
                sys::napi_add_finalizer(
                    env,
                    function,
                    data.cast(),
                    Some(finalize),
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            },
            failed => failed,
        };
        if kept != sys::Status::napi_ok {
            // SAFETY: from a box above. Nothing else frees it, since there is no finalizer; and nothing calls the
            // function, which no one has been given.
            drop(unsafe { Box::from_raw(data) });
        }
        check_status!(kept)?;
        Ok(function)
    }
}

unsafe extern "C" fn call(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let mut data = ptr::null_mut();
    // SAFETY: both are those of this call; no arguments are asked for.
    let found = unsafe {
        sys::napi_get_cb_info(
            env,
            info,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &mut data,
        )
    };
    if found != sys::Status::napi_ok {
        return ptr::null_mut();
    }
    // SAFETY: what `to_napi_value` gave this function, which lives as long as the function. Only shared references are
    // formed to it, and only on the environment's thread.
    let function = unsafe { &*data.cast::<NumberFunction>() };
    // A panic must not leave a function that C++ calls.
    let Ok(number) = catch_unwind(AssertUnwindSafe(|| (function.0)())) else {
        // SAFETY: `env` is that of this call, and both texts end with a zero.
        unsafe { sys::napi_throw_error(env, ptr::null(), c"panic in the addon".as_ptr()) };
        return ptr::null_mut();
    };
    let mut returned = ptr::null_mut();
    // SAFETY: `env` is that of this call; where it fails, what is returned stays null, for undefined.
    unsafe { sys::napi_create_int32(env, number, &mut returned) };
    returned
}

unsafe extern "C" fn finalize(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
    // SAFETY: from a box in `to_napi_value`; the runtime calls this once, and the function no more.
    let function = unsafe { Box::from_raw(data.cast::<NumberFunction>()) };
    // What it holds may have a destructor that panics, which must not leave this either.
    drop(catch_unwind(AssertUnwindSafe(|| drop(function))));
}
