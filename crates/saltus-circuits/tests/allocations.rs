//! No allocation in a step of a circuit: a counting allocator watches one that switches all the time.

#![allow(clippy::unwrap_used)]
#![allow(unsafe_code, reason = "a global allocator is an unsafe trait")]

// the circuits are those of the other test binary, which uses more of them
#[allow(dead_code)]
#[path = "main/circuits.rs"]
mod circuits;

use saltus_sim::{EulerMoreau, TimeStepping};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The buck converter goes through three periods of its ramp.
#[test]
fn a_step_allocates_nothing() {
    let model = circuits::buck().model().unwrap();
    let scheme = EulerMoreau { theta: 1.0, ..EulerMoreau::default() };
    let mut sim = TimeStepping::new(model.model.clone(), 1e-9, [scheme.into()]).unwrap();
    let steps = |sim: &mut TimeStepping, n: usize| {
        let before = COUNT.load(Ordering::Relaxed);
        for _ in 0..n {
            sim.step().unwrap();
        }
        COUNT.load(Ordering::Relaxed) - before
    };
    steps(&mut sim, 5000);
    assert_eq!(steps(&mut sim, 5000), 0);

    // switches that are turned: all that is kept of a turn is its record
    let model = circuits::full_bridge().model().unwrap();
    let mut sim =
        TimeStepping::new(model.model.clone(), 1e-7, [EulerMoreau::default().into()]).unwrap();
    steps(&mut sim, 5000);
    let quiet = steps(&mut sim, 300); // within the first pulse
    assert_eq!(quiet, 0);
}
