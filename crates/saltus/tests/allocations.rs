//! No allocation in a step: a counting allocator watches runs through changes of mode.

#![allow(clippy::unwrap_used, clippy::print_stdout)]
#![allow(unsafe_code, reason = "a global allocator is an unsafe trait")]

// the cases are those of the other test binary, which uses more of them
#[allow(dead_code)]
#[path = "main/models.rs"]
mod models;

use models::Case;
use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;

struct Counting;

thread_local! {
    static WATCH: Cell<bool> = const { Cell::new(false) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts on the watching thread; says where the first few come from.
fn note(size: usize) {
    let watching = WATCH.try_with(|watch| watch.replace(false)).unwrap_or(false);
    if !watching {
        return;
    }
    let count = COUNT.with(|count| count.replace(count.get() + 1));
    if count < 3 {
        let trace = Backtrace::force_capture().to_string();
        let ours: Vec<&str> = (trace.lines())
            .filter(|line| line.contains("saltus_") || line.contains("crates/saltus-"))
            .take(12)
            .collect();
        println!("allocation of {size} bytes:\n{}", ours.join("\n"));
    }
    WATCH.with(|watch| watch.set(true));
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations in all steps after the first.
fn allocations(case: &Case, steps: usize) -> usize {
    allocations_of(case.sim(), steps)
}

fn allocations_of(mut sim: saltus::prelude::TimeStepping, steps: usize) -> usize {
    sim.step().unwrap();
    COUNT.with(|count| count.set(0));
    for k in 1..steps {
        let before = COUNT.with(Cell::get);
        WATCH.with(|watch| watch.set(true));
        let done = sim.step();
        WATCH.with(|watch| watch.set(false));
        done.unwrap();
        let new = COUNT.with(Cell::get) - before;
        if new > 0 {
            println!("step {} of {steps}: {new} allocations", k + 1);
        }
    }
    COUNT.with(Cell::get)
}

#[test]
fn the_allocator_counts() {
    COUNT.with(|count| count.set(0));
    WATCH.with(|watch| watch.set(true));
    let numbers = std::hint::black_box(vec![1.0f64; 10]);
    WATCH.with(|watch| watch.set(false));
    assert_eq!(numbers.len(), 10);
    assert_eq!(COUNT.with(Cell::get), 1);
}

#[test]
fn ball_through_its_bounces() {
    assert_eq!(allocations(&models::ball(0.1, 5e-3), 2000), 0);
}

/// Conditions are looked at in every step; steps in which nothing happens take no memory.
#[test]
fn steps_without_an_event() {
    use saltus::prelude::Event;
    let mut case = models::ball(0.1, 5e-3);
    let condition = "max(ball.q[0], floor.lam[0]) > 100 or ball.v[0]*t > 100";
    case.model.add_event(Event::when(condition).disconnect("floor")).unwrap();
    case.model.add_event(Event::at([1e3]).disconnect("floor")).unwrap();
    assert_eq!(allocations(&case, 2000), 0);
}

#[test]
fn bridge_over_half_waves() {
    assert_eq!(allocations(&models::bridge(0.5, 1e-6), 5000), 0);
}

#[test]
fn beads_in_fall_and_contact() {
    assert_eq!(allocations(&models::beads(100, 1e-3, 1.0), 1000), 0);
}

#[test]
fn ladder_of_50() {
    assert_eq!(allocations(&models::ladder(50, 1e-3), 4000), 0);
}

#[test]
fn spiral_into_the_corner() {
    assert_eq!(allocations(&models::spiral([-4.0, 3.0, 0.0], 1.0, 0.01), 1000), 0);
}

#[test]
fn forced_converter() {
    assert_eq!(allocations(&models::converter(1e-7, 1e-3, models::square_wave), 5000), 0);
}

#[test]
fn dry_friction() {
    assert_eq!(allocations(&models::dry_oscillator(0.01), 5000), 0);
}

#[test]
fn mass_on_a_belt() {
    assert_eq!(allocations(&models::belt(0.01), 4000), 0);
}

/// A ball, dry friction, and a mass on a rod, by every scheme for mechanics.
#[test]
fn mechanics_by_every_scheme() {
    use saltus::prelude::*;
    let projected =
        |projection| MoreauJean { projection: Some(projection), ..MoreauJean::default() };
    let schemes: [Integrator; 8] = [
        projected(Projection::Direct).into(),
        projected(Projection::Combined).into(),
        projected(Projection::Ggl).into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
        MoreauJeanBilbao::default().into(),
    ];
    for integrator in schemes {
        let name = integrator.name();
        let case = Case { integrator: integrator.clone(), ..models::ball(0.1, 5e-3) };
        assert_eq!(allocations(&case, 2000), 0, "{name}, ball");
        let smooth = matches!(
            &integrator,
            Integrator::D1MinusLinear(D1MinusLinear { variant: Variant::Acceleration, .. })
        );
        if !smooth {
            let case = Case { integrator: integrator.clone(), ..models::dry_oscillator(0.01) };
            assert_eq!(allocations(&case, 2000), 0, "{name}, dry friction");
        }
        if integrator.name() == "moreau-jean-bilbao" {
            continue;
        }
        let mut model = Model::new("rod");
        let mass = LagrangianLinear::new([-1.0, 0.0], [0.0, 0.0], Matrix::identity(2));
        let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
        let length = Operator::vector(1, |at, y| y[0] = at.first[0].hypot(at.first[1]) - 1.0);
        let turn = Operator::matrix(1, 2, |at, H| {
            let length = at.first[0].hypot(at.first[1]);
            (H[0], H[1]) = (at.first[0] / length, at.first[1] / length);
        });
        let relation = LagrangianRelation::new(length).H(turn).dh_dt(vec![0.0]);
        model.connect("rod", relation, Law::Equality, &[id]).unwrap();
        let case = Case { model, h: 1e-2, until: 1.0, integrator };
        assert_eq!(allocations(&case, 500), 0, "{name}, rod");
    }
}

#[test]
fn zero_order_hold() {
    use saltus::prelude::*;
    let integrator = Integrator::from(ZeroOrderHold::default());
    let case = Case { integrator, ..models::sliding_mode(0.01) };
    assert_eq!(allocations(&case, 1000), 0);
}

/// Two schemes in one model.
#[test]
fn mixed_schemes() {
    use saltus::prelude::*;
    let mut model = Model::new("two");
    for name in ["left", "right"] {
        let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]);
        let id = model.add(name, ball).unwrap();
        let floor = LagrangianLinearRelation::new([[1.0]]);
        let law = Law::newton_impact(0.9);
        model.connect(&format!("{name} floor"), floor, law, &[id]).unwrap();
    }
    let left = SchatzmanPaoli { systems: vec!["left".to_string()], ..Default::default() };
    let mut sim = TimeStepping::new(model, 5e-3, [left.into()]).unwrap();
    sim.step().unwrap();
    COUNT.with(|count| count.set(0));
    WATCH.with(|watch| watch.set(true));
    let done = (0..1000).all(|_| sim.step().is_ok());
    WATCH.with(|watch| watch.set(false));
    assert!(done);
    assert_eq!(COUNT.with(Cell::get), 0);
}

/// Algebraic equations with θ below 1, and matrices that change with time, by Newton's method.
#[test]
fn singular_mass_and_moving_matrices() {
    use saltus::prelude::*;
    let mut model = Model::new("algebraic");
    let f = Operator::vector(2, |at, f| {
        let x = at.first;
        (f[0], f[1]) = (-x[1], x[1] - x[0] - x[0].powi(3));
    });
    let df = Operator::matrix(2, 2, |at, J| {
        J.copy_from_slice(&[0.0, -1.0, -1.0 - 3.0 * at.first[0].powi(2), 1.0]);
    });
    let mut system = FirstOrder::new([1.0, 2.0], f).df_dx(df);
    system.M = Some(Matrix::from([[1.0, 0.0], [0.0, 0.0]]).into());
    let id = model.add("algebraic", system).unwrap();
    let moving = Operator::matrix_of_time(1, 2, |t, C| (C[0], C[1]) = (1.0, 0.1 * t.sin()));
    let relation = FirstOrderLinearRelation::new(moving, [[1.0], [0.0]]);
    model.connect("stop", relation, Law::relay(-0.2, 0.2), &[id]).unwrap();
    let spring = Operator::matrix_of_time(2, 2, |t, A| {
        A.copy_from_slice(&[0.0, 1.0, -9.0 - t.cos(), -0.1]);
    });
    model.add("spring", FirstOrderLinear::new([1.0, 0.0], spring)).unwrap();
    let integrator = EulerMoreau { theta: 0.5, gamma: 0.5, ..Default::default() }.into();
    let case = Case { model, h: 1e-2, until: 1.0, integrator };
    assert_eq!(allocations(&case, 500), 0);
}

/// A bond that vibrates, is damaged and breaks.
#[test]
fn a_bond_that_breaks() {
    use saltus::prelude::*;
    let mut model = Model::new("bond");
    let load = Operator::vector_of_time(1, |t, F| F[0] = 30.0 * t);
    let mass = LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext(load);
    let id = model.add("mass", mass).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let law = Law::cohesive(Bond::new(1e4, 20.0, 0.1), 0.0);
    model.connect("bond", relation, law, &[id]).unwrap();
    let integrator = MoreauJean::default().into();
    let case = Case { model, h: 1e-3, until: 1.0, integrator };
    assert_eq!(allocations(&case, 1000), 0);
}

/// Balls between walls under the law of several impacts, once the first of them is over.
#[test]
fn several_impacts() {
    use saltus::prelude::*;
    let mut model = Model::new("balls between walls");
    let balls = [0, 1, 2].map(|i| {
        let ball = LagrangianLinear::new([i as f64], [1.0 - i as f64 * 0.5], [[1.0]]);
        model.add(&format!("ball{i}"), ball).unwrap()
    });
    let law = || Law::multiple_impact(1.0, 1.0);
    let pairs = [(0, 1), (1, 2)];
    for (a, b) in pairs {
        let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]);
        model.connect(&format!("pair{a}"), gap, law(), &[balls[a], balls[b]]).unwrap();
    }
    for (name, sign, ball) in [("left", 1.0, balls[0]), ("right", -1.0, balls[2])] {
        let mut wall = LagrangianLinearRelation::new([[sign]]);
        wall.b = Some(vec![2.5]);
        model.connect(name, wall, law(), &[ball]).unwrap();
    }
    let mut sim = TimeStepping::new(model, 1e-2, [MoreauJean::default().into()]).unwrap();
    sim.run(60.0).unwrap();
    COUNT.with(|count| count.set(0));
    WATCH.with(|watch| watch.set(true));
    let done = (0..3000).all(|_| sim.step().is_ok());
    WATCH.with(|watch| watch.set(false));
    assert!(done);
    assert_eq!(COUNT.with(Cell::get), 0);
}

/// A scene with a spring and a motor in its joint, above the ground.
#[test]
fn a_scene_with_a_spring() {
    use saltus::mechanics::{
        BodySpec, ContactPair, Coordinate, Fitting, Given, Joint, JointLink, MotorSpec, Scene,
        Shape, Spring, StaticSpec,
    };
    use saltus::prelude::*;
    let mut scene = Scene::new("spring").gravity([0.0, 0.0, -9.81]);
    scene.contacts.push(ContactPair::new("default", "default").friction(0.5));
    let ground = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
    scene.statics.push(StaticSpec::new("ground", ground));
    let bob = Shape::Sphere { radius: 0.1 };
    scene.bodies.push(BodySpec::new("bob", bob).at([1.0, 0.0, 5.0]).mass(1.0));
    let hinge = Joint::Pivot { point: [0.0, 0.0, 5.0], axis: [0.0, 1.0, 0.0] };
    let mut hinge = JointLink::new("hinge", hinge, &["bob"]);
    let spring = Some(Spring { stiffness: 20.0, damping: 0.1, rest: 0.0 });
    let motor = Some(MotorSpec::Force(Given::Formulas(vec!["sin(t)".to_string()])));
    hinge.fittings.push(Fitting { spring, motor, ..Fitting::new(Coordinate::Angle) });
    scene.joints.push(hinge);
    let scheme = MoreauJean::default();
    let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [scheme.into()]).unwrap();
    sim.run(3e-3).unwrap();
    assert_eq!(allocations_of(sim, 1000), 0);
}

/// A stack on springs that sways: contacts open and close, slide and stick.
#[test]
fn a_stack_on_springs() {
    use saltus::mechanics::{BodySpec, ContactPair, Scene, Shape, StaticSpec};
    use saltus::prelude::*;
    let mut scene = Scene::new("stack").gravity([0.0, 0.0, -9.81]);
    scene.contacts.push(ContactPair::new("default", "default").friction(0.5).elastic(2e4, 5.0));
    let ground = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
    scene.statics.push(StaticSpec::new("ground", ground));
    for k in 0..4 {
        let shape = Shape::Box { edges: [0.2; 3] };
        let body = BodySpec::new(format!("box-{k}"), shape).mass(1.0);
        let place = [0.01 * f64::from(k % 2), 0.0, 0.101 + 0.202 * f64::from(k)];
        scene.bodies.push(body.at(place).moving([0.1, 0.0, 0.0], [0.2, 0.0, 0.0]));
    }
    let scheme = MoreauJean::default();
    let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [scheme.into()]).unwrap();
    sim.run(0.3).unwrap();
    assert_eq!(allocations_of(sim, 300), 0);
}

/// A block of balls on springs in a bin, one of which is hit: one island of some five hundred contacts, which is swept, and where impulses
/// still change in parts.
#[test]
fn a_block_on_springs() {
    use saltus::mechanics::{BodySpec, ContactPair, Scene, Shape, StaticSpec};
    use saltus::prelude::*;
    let mut scene = Scene::new("block").gravity([0.0, 0.0, -9.81]);
    scene.contacts.push(ContactPair::new("default", "default").friction(0.5).elastic(1e5, 50.0));
    let width = 0.1 + 5.0 * 0.0999;
    let walls = [
        ("ground", [0.0, 0.0, 1.0], 0.0),
        ("west", [1.0, 0.0, 0.0], 0.0),
        ("east", [-1.0, 0.0, 0.0], -width),
        ("south", [0.0, 1.0, 0.0], 0.0),
        ("north", [0.0, -1.0, 0.0], -width),
    ];
    for (name, normal, offset) in walls {
        scene.statics.push(StaticSpec::new(name, Shape::Plane { normal, offset }));
    }
    for k in 0..216 {
        let place = [k % 6, k / 6 % 6, k / 36].map(|i| 0.05 + 0.0999 * f64::from(i));
        let ball = BodySpec::new(format!("ball-{k}"), Shape::Sphere { radius: 0.05 }).mass(1.0);
        let speed = if k == 215 { [0.0, 0.0, -0.5] } else { [0.0; 3] };
        scene.bodies.push(ball.at(place).moving(speed, [0.0; 3]));
    }
    let scheme = MoreauJean::default();
    let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [scheme.into()]).unwrap();
    sim.run(2e-2).unwrap();
    assert!(sim.contacts().len() > 200);
    assert_eq!(allocations_of(sim, 20), 0);
}

/// Rigid bodies: a chain on pivots with every projection, and a ball that bounces, slides and rolls.
#[test]
fn bodies_on_joints_and_planes() {
    use saltus::mechanics::{Joint, PointPlane};
    use saltus::prelude::*;
    let projections = [Projection::Direct, Projection::Combined, Projection::Ggl];
    for projection in projections.map(Some).into_iter().chain([None]) {
        let mut model = Model::new("bodies");
        let gravity = [0.0, 0.0, -9.81];
        let link = |x: f64| RigidBody::cuboid(1.0, [1.0, 0.1, 0.1]).at([x, 0.0, 2.0]);
        let a = model.add("a", link(0.5).gravity(gravity)).unwrap();
        let b = model.add("b", link(1.5).gravity(gravity)).unwrap();
        let axis = [0.0, 1.0, 0.0];
        let pivot = Joint::Pivot { point: [0.0, 0.0, 2.0], axis };
        model.connect("first", pivot, Law::Equality, &[a]).unwrap();
        let pivot = Joint::Pivot { point: [1.0, 0.0, 2.0], axis };
        model.connect("second", pivot, Law::Equality, &[b, a]).unwrap();
        let scheme = MoreauJean { projection, ..MoreauJean::default() };
        let sim = TimeStepping::new(model, 1e-3, [scheme.into()]).unwrap();
        assert_eq!(allocations_of(sim, 1000), 0, "joints, {projection:?}");
        let mut model = Model::new("ball");
        let ball = RigidBody::ball(1.0, 0.1).at([0.0, 3.0, 0.15]).gravity(gravity);
        let ball = model.add("ball", ball.moving([1.0, 0.0, 0.0], [0.0; 3])).unwrap();
        let law = Law::impact_friction(0.3, 0.2);
        model.connect("floor", PointPlane::sphere(0.1), law, &[ball]).unwrap();
        let scheme = MoreauJean { projection, ..MoreauJean::default() };
        let sim = TimeStepping::new(model, 1e-3, [scheme.into()]).unwrap();
        assert_eq!(allocations_of(sim, 1000), 0, "ball, {projection:?}");
    }
}
