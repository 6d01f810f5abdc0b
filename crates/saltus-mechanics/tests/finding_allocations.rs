//! No allocation in a search once sizes have settled: a counting allocator watches bodies that move.

#![allow(clippy::unwrap_used)]
#![allow(unsafe_code, reason = "a global allocator is an unsafe trait")]

use saltus_mechanics::{Collider, Colliders, Finder, PairLaws, Shape};
use saltus_model::{Body, ContactFinder, FoundContact, LagrangianLinear, Law, Model, Moment, Side};
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

/// Spheres, boxes and capsules, on a plane, a wall and hilly ground, there and back again.
#[test]
fn searches_allocate_nothing() {
    let laws =
        PairLaws { laws: vec![Law::newton_impact(0.0)], elastic: vec![], of_pair: vec![Some(0)] };
    let mut colliders = Colliders {
        sides: Vec::new(),
        drives: Vec::new(),
        shapes: Vec::new(),
        laws,
        apart: Vec::new(),
    };
    let mut model = Model::new("handles");
    let (mut q, mut v, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    let shapes = [
        Shape::Sphere { radius: 0.5 },
        Shape::Box { edges: [1.0, 0.9, 0.8] },
        Shape::Capsule { radius: 0.4, length: 0.5 },
    ];
    for k in 0..216_usize {
        let name = k.to_string();
        let system = LagrangianLinear::new([1.0], [0.0], [[1.0]]);
        let system = Some(model.add(&name, system).unwrap());
        starts.push(Some([q.len(), v.len()]));
        let place = [k % 6, k / 6 % 6, k / 36].map(|x| 0.95 * x as f64 - 2.0);
        q.extend(place.iter().map(|x| x + 0.05 * (7.0 * k as f64 + x).sin()));
        q.extend([0.8, 0.6 * (k as f64).sin(), 0.6 * (k as f64).cos(), 0.0]);
        v.extend((0..6).map(|i| 0.5 * (3.0 * k as f64 + f64::from(i)).sin()));
        colliders.sides.push(Side { name: name.into(), system });
        let placed = shapes[k % 3].clone().into();
        colliders.shapes.push(Collider { side: k, placed, material: 0 });
    }
    let heights =
        (0..20).map(|i| (0..20).map(|j| 0.2 * f64::sin(f64::from(i * j)) - 2.3).collect());
    let grounds = [
        Shape::Plane { normal: [0.0, 0.1, 1.0], offset: -2.2 },
        Shape::Box { edges: [0.3, 8.0, 8.0] },
        Shape::HeightField { heights: heights.collect(), size: [8.0, 8.0] },
    ];
    for (k, shape) in grounds.into_iter().enumerate() {
        let side = colliders.sides.len();
        colliders.sides.push(Side { name: format!("ground {k}").into(), system: None });
        colliders.shapes.push(Collider { side, placed: shape.into(), material: 0 });
        starts.push(None);
    }
    colliders.drives = vec![None; colliders.sides.len()];
    let mut search = Finder::new(Body::Space, &colliders).unwrap().begin(&starts);
    let mut found: Vec<FoundContact> = Vec::new();
    let mut contacts = 0;
    let mut count = 0;
    for step in 0..400 {
        // the same way again and again
        let back = step / 20 % 2 == 1;
        for body in 0..216 {
            for i in 0..3 {
                q[7 * body + i] += if back { -5e-3 } else { 5e-3 } * v[6 * body + i];
            }
        }
        let before = COUNT.load(Ordering::Relaxed);
        search.find(Moment { t: 0.0, h: 5e-3, q: &q, v: &v }, &mut found).unwrap();
        if step >= 200 {
            count += COUNT.load(Ordering::Relaxed) - before;
            contacts += found.len();
        }
    }
    assert!(contacts > 200 * 200, "{contacts}");
    assert_eq!(count, 0);
}
