//! Evaluation asks for no memory.

#![allow(unsafe_code)] // an allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use saltus_expr::Formula;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting by thread.
struct Counting;

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn eval_allocates_nothing() {
    let text = format!("{}x{}", "x+(".repeat(31), ")".repeat(31)); // a stack of 32
    let formula = Formula::parse(&text, &["x"]).expect("a formula");
    assert_eq!(allocations(|| assert_eq!(formula.eval(&[1.0]), 32.0)), 0);
    assert_ne!(allocations(|| drop(vec![1.0])), 0);
}
