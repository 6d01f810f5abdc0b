//! Evaluation asks for no memory.

#![allow(unsafe_code)] // an allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use saltus_expr::{Formula, Function};

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
    let text = format!("{}x{}", "x+(".repeat(31), ")".repeat(31));
    let formula = Formula::parse(&text, &["x"]).expect("a formula");
    assert_eq!(allocations(|| assert_eq!(formula.eval(&[1.0]), 32.0)), 0);
    assert_ne!(allocations(|| drop(vec![1.0])), 0);

    let text = "[table(x, 0, 1, 2, 3), sin(x)*cos(x), if(x > 0, x^1.5, exp(x)), hypot(x, 1)]";
    let (function, _) = Function::parse_array(text, &["x"]).expect("a vector");
    let both = function.join(&function.jacobian(&[0]));
    let mut out = [0.0; 8];
    assert_eq!(allocations(|| both.eval(&[1.0], &mut out)), 0);

    both.compile();
    assert_eq!(allocations(|| (0..20_000).for_each(|_| both.eval(&[1.0], &mut out))), 0);
}

/// With more registers than a byte can name, the first evaluation on a thread may allocate.
#[test]
fn a_second_eval_of_many_registers_allocates_nothing() {
    let names: Vec<String> = (0..400).map(|i| format!("x[{i}]")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let function = Function::parse(&[&names.join("*")], &names).expect("a formula");
    let gradient = function.jacobian(&(0..400).collect::<Vec<_>>());
    let (values, mut out) = ([1.0; 400], [0.0; 400]);
    gradient.eval(&values, &mut out);
    assert_eq!(allocations(|| gradient.eval(&values, &mut out)), 0);
    assert_eq!(out, [1.0; 400]);
}
