//! Compiled functions, called at their address without the interpreter.
#![allow(unsafe_code)] // the user vouches for the address

use pyo3::prelude::*;
use saltus::model::{Argument, At, Function};
use std::fmt;
use std::num::NonZeroUsize;

/// The one signature: each array is followed by its length, and zero means done.
type Signature = unsafe extern "C" fn(
    t: f64,
    first: *const f64,
    first_len: i64,
    second: *const f64,
    second_len: i64,
    z: *const f64,
    z_len: i64,
    out: *mut f64,
    out_len: i64,
) -> i32;

/// A compiled function.
pub struct Compiled {
    function: Signature,
    arguments: Vec<Argument>,
    _owner: Py<PyAny>, // the library, or what made the code
}

impl Compiled {
    /// The function at this address, which `owner` keeps alive; nothing at address zero.
    pub fn new(address: usize, owner: Py<PyAny>, arguments: Vec<Argument>) -> Option<Compiled> {
        let address = NonZeroUsize::new(address)?;
        // SAFETY: that a function of this signature lives there as long as `owner` is what
        // whoever gives the address vouches for, as with every foreign function
        let function = unsafe { std::mem::transmute::<NonZeroUsize, Signature>(address) };
        Some(Compiled { function, arguments, _owner: owner })
    }
}

impl Function for Compiled {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        let [first, second, z] = [at.first, at.second, at.inputs];
        let (first_len, second_len) = (first.len() as i64, second.len() as i64);
        let (z_len, out_len) = (z.len() as i64, out.len() as i64);
        let (first, second, z) = (first.as_ptr(), second.as_ptr(), z.as_ptr());
        // SAFETY: pointers and lengths are those of slices that live through the call
        let status = unsafe {
            let out = out.as_mut_ptr();
            (self.function)(at.t, first, first_len, second, second_len, z, z_len, out, out_len)
        };
        match status {
            0 => Ok(()),
            status => Err(format!("the compiled function returned {status}, 0 means success")),
        }
    }

    fn uses(&self, argument: Argument) -> bool {
        self.arguments.contains(&argument)
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("compiled function")
    }
}
