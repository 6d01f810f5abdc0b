//! A formula of time is evaluated without asking for memory.

#![allow(unsafe_code)] // an allocator cannot be written without

use super::{first_order, parse};
use saltus_linalg::Matrix;
use saltus_model::At;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

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
fn functions_of_time_allocate_nothing() {
    for A in
        ["[[\"k*t\", 1], [0, \"c*cos(k*t)\"]]", "{ rows = 2, cols = 2, entry = \"row + k*t\" }"]
    {
        let b = "b = [\"c*sin(k*t)\", 1]";
        let file = parse(&first_order("k = 2\nc = 3", &format!("x0 = [0, 0]\nA = {A}\n{b}")));
        let file = file.expect("it is right");
        let (_, system) = file.model.systems().next().expect("a system");
        let saltus_model::System::FirstOrder(system) = system else { panic!("not of first order") };
        let (mut A, mut b) = (Matrix::zeros(2, 2), [0.0; 2]);
        let count = allocations(|| {
            system.rhs_dx(At::new(1.0, &[0.0; 2], &[]), &mut A).expect("A");
            system.forcing(1.0, &mut b).expect("b");
        });
        assert_eq!(count, 0);
        assert_eq!(b[0], 3.0 * 2f64.sin());
    }
    assert_ne!(allocations(|| drop(vec![1.0])), 0);
}
