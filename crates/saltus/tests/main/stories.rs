//! What went wrong for users once, named after it.

use crate::models;
use saltus::io::model_file::ModelFile;
use saltus::numerics::Interrupt;
use saltus::prelude::*;
use saltus::sim::{Outcome, Progress};

#[test]
fn an_interrupted_run_ends_with_the_last_state_it_reached() {
    let case = models::ball(0.1, 0.1);
    let flag = Interrupt::default();
    let mut progress = |p: Progress| {
        if p.steps >= 20 {
            flag.stop();
        }
    };
    let options = RunOptions {
        every: 1_000_000,
        interrupt: Some(&flag),
        progress: Some(&mut progress),
        ..RunOptions::default()
    };
    let mut sim = case.sim();
    let run = sim.run_with(1e6, options).unwrap();
    assert_eq!(run.stats.outcome, Outcome::Interrupted);
    assert_eq!(run.frames.len(), 2);
    assert_eq!(run.frames.time[1], sim.t());
    let whole = case.sim().run(sim.t()).unwrap();
    let width = whole.layout.width();
    assert_eq!(run.frames.rows[width..], whole.frames.rows[run.stats.steps * width..]);
}

#[test]
fn a_state_that_is_set_starts_without_multipliers() {
    let mut model = Model::new("ball at rest");
    let ball = model.add("ball", LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext([-9.81]));
    let ball = ball.unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let floor = model.connect("floor", relation, Law::newton_impact(0.0), &[ball]).unwrap();
    let mut sim = TimeStepping::new(model, 0.01, []).unwrap();
    sim.step().unwrap();
    assert!(sim.lam(floor)[0] > 0.09);
    sim.set_qv(ball, Some(&[5.0]), None).unwrap();
    assert_eq!((sim.y(floor), sim.lam(floor)), (&[5.0][..], &[0.0][..]));
}

/// A circuit with a node that holds no charge: its equation must hold at every instant, for
/// every θ, also when the source jumps and when the start does not satisfy it.
#[test]
fn algebraic_equations_hold_at_every_instant_for_every_theta() {
    for (theta, gamma) in [(0.0, 1.0), (0.5, 1.0), (0.5, 0.5), (1.0, 1.0)] {
        for start in [-1.0, 0.3] {
            let source =
                |t: f64| if (std::f64::consts::TAU * t - 1e-9).sin() > 0.0 { 1.0 } else { -1.0 };
            let mut model = Model::new("rectifier");
            // C ẋ = λ,  0 = vs − n − λ,  0 ≤ x − n ⟂ λ ≥ 0
            let circuit = FirstOrderLinear::new([0.0, start], [[0.0, 0.0], [0.0, -1.0]])
                .M([[1.0, 0.0], [0.0, 0.0]])
                .b(Operator::vector_of_time(2, move |t, b| {
                    b[0] = 0.0;
                    b[1] = source(t);
                }));
            let circuit = model.add("circuit", circuit).unwrap();
            let diode = FirstOrderLinearRelation::new([[1.0, -1.0]], [[1.0], [-1.0]]);
            model.connect("diode", diode, Law::Complementarity, &[circuit]).unwrap();
            let scheme = EulerMoreau { theta, gamma, ..Default::default() };
            let run = TimeStepping::new(model, 0.01, [scheme.into()]).unwrap().run(1.0).unwrap();
            let (x, lam) = (run.signal("circuit.x[1]").unwrap(), run.signal("diode.lam").unwrap());
            for (k, &t) in run.frames.time.iter().enumerate().skip(1) {
                let balance = source(t) - x[k] - lam[k];
                assert!(balance.abs() < 1e-12, "θ = {theta}, γ = {gamma}, t = {t}: {balance:e}");
            }
        }
    }
}

/// A mass matrix that is singular without a zero row: the sum of the rows is algebraic.
#[test]
fn algebraic_equations_between_rows() {
    let mut model = Model::new("mixed rows");
    // x₁' + x₂' = −x₁ twice, so the difference of the rows, 0 = x₁ − x₂, is algebraic
    let system =
        FirstOrderLinear::new([1.0, 1.0], [[-1.0, 0.0], [0.0, -1.0]]).M([[1.0, 1.0], [1.0, 1.0]]);
    let pair = model.add("pair", system).unwrap();
    let scheme = EulerMoreau { theta: 0.5, gamma: 1.0, ..Default::default() };
    let mut sim = TimeStepping::new(model, 1e-3, [scheme.into()]).unwrap();
    sim.run(1.0).unwrap();
    let x = sim.x(pair).unwrap();
    assert!((x[0] - x[1]).abs() < 1e-12);
    // 2 x' = −x
    assert!((x[0] - (-0.5f64).exp()).abs() < 1e-6, "{x:?}");
}

/// Four legs carry a table; round-off in the gaps must not drop one of them for a step.
#[test]
fn a_table_on_four_legs_stays_where_it_is() {
    let mut model = Model::new("table");
    let mass = Matrix::diagonal(&[4.0, 1.0, 1.0]);
    let table = LagrangianLinear::new([0.0; 3], [0.0; 3], mass).F_ext([-4.0 * 9.81, 0.0, 0.0]);
    let table = model.add("table", table).unwrap();
    for (i, (a, b)) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)].iter().enumerate() {
        let leg = LagrangianLinearRelation::new([[1.0, *a, *b]]);
        let law = Law::newton_impact(0.0);
        model.connect(&format!("leg{i}"), leg, law, &[table]).unwrap();
    }
    let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
    sim.run(10.0).unwrap();
    let q = sim.q(table).unwrap();
    assert!(q.iter().all(|q| q.abs() < 1e-13), "{q:?}");
}

/// A picofarad beside a henry is a small capacitor, not an algebraic equation.
#[test]
fn a_small_mass_is_not_taken_for_none() {
    // C v' = −v/R with C = 1e-13, R = 1e13: v = exp(−t)
    let mut model = Model::new("small and large");
    let system = FirstOrderLinear::new([1.0, 1.0], [[-1e-13, 0.0], [0.0, -1.0]])
        .M([[1e-13, 0.0], [0.0, 1.0]]);
    let pair = model.add("pair", system).unwrap();
    let scheme = EulerMoreau { theta: 0.5, gamma: 1.0, ..Default::default() };
    let mut sim = TimeStepping::new(model, 1e-3, [scheme.into()]).unwrap();
    sim.run(1.0).unwrap();
    for x in sim.x(pair).unwrap() {
        assert!((x - (-1f64).exp()).abs() < 1e-6, "{x}");
    }
}

/// A box on four corners with friction, at rest on a plane or pushed.
fn box_on_corners(push: f64, mu: f64) -> (Model, SystemId) {
    let mut model = Model::new("box");
    // q = (x, y, z, small rotations about x, y, z), half height 1/2
    let M = Matrix::diagonal(&[1.0, 1.0, 1.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]);
    let force = [push, 0.0, -9.81, 0.0, 0.0, 0.0];
    let system = LagrangianLinear::new([0.0; 6], [0.0; 6], M).F_ext(force);
    let id = model.add("box", system).unwrap();
    for (i, (a, b)) in [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)].into_iter().enumerate()
    {
        // velocity of the corner (a, b, −1/2): v + ω × r
        let corner = LagrangianLinearRelation::new([
            [0.0, 0.0, 1.0, b, -a, 0.0],
            [1.0, 0.0, 0.0, 0.0, -0.5, -b],
            [0.0, 1.0, 0.0, 0.5, 0.0, a],
        ]);
        let law = Law::impact_friction(0.0, mu);
        model.connect(&format!("corner{i}"), corner, law, &[id]).unwrap();
    }
    (model, id)
}

/// siconos #214: a cube at rest took 100 000 iterations in every step.
#[test]
fn story_01_a_cube_at_rest_costs_nothing() {
    let (model, id) = box_on_corners(1.0, 0.5);
    let mut sim = TimeStepping::new(model, 5e-3, []).unwrap();
    let run = sim.run(5.0).unwrap();
    let settled = run.frames.iterations.iter().skip(2).max().unwrap();
    assert!(*settled <= 1, "{settled} iterations in a step that changes nothing");
    let moved = sim.q(id).unwrap().iter().fold(0.0f64, |a, q| a.max(q.abs()));
    assert!(moved <= 1e-12, "{moved:e}");
}

/// rapier #992: reported impulses were off by 1/(n + 1). They add up to the weight, however many
/// contacts carry it.
#[test]
fn story_35_reported_impulses_add_up_to_the_weight() {
    for n in 1..=8 {
        let mut model = Model::new("many feet");
        let M = Matrix::diagonal(&[3.0, 1.0]);
        let table = LagrangianLinear::new([0.0; 2], [0.0; 2], M).F_ext([-3.0 * 9.81, 0.0]);
        let id = model.add("table", table).unwrap();
        let feet: Vec<InteractionId> = (0..n)
            .map(|i| {
                // feet on either side of the middle, or one below it
                let place = if n == 1 { 0.0 } else { 2.0 * f64::from(i) / f64::from(n - 1) - 1.0 };
                let foot = LagrangianLinearRelation::new([[1.0, place]]);
                let law = Law::newton_impact(0.0);
                model.connect(&format!("foot{i}"), foot, law, &[id]).unwrap()
            })
            .collect();
        let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
        for _ in 0..20 {
            sim.step().unwrap();
            let sum: f64 = feet.iter().map(|foot| sim.lam(*foot)[0]).sum();
            assert!((sum - 3.0 * 9.81 * 1e-2).abs() < 1e-12, "{n} feet carry {sum}");
        }
    }
}

/// drake #1772: a faceted cone is a network of grooves. Friction acts against the velocity in every
/// direction, with the same force.
#[test]
fn friction_has_no_grooves() {
    for k in 0..48 {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 48.0 + 0.01).sin_cos();
        let mut model = Model::new("puck");
        let puck =
            LagrangianLinear::new([0.0; 3], [0.0, 2.0 * cos, 2.0 * sin], Matrix::identity(3));
        let id = model.add("puck", puck.F_ext([-9.81, 0.0, 0.0])).unwrap();
        let relation = LagrangianLinearRelation::new(Matrix::identity(3));
        model.connect("ice", relation, Law::impact_friction(0.0, 0.3), &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
        sim.run(0.5).unwrap();
        let v = sim.v(id).unwrap();
        let (along, across) = (v[1] * cos + v[2] * sin, v[2] * cos - v[1] * sin);
        assert!((along - (2.0 - 0.3 * 9.81 * 0.5)).abs() < 1e-9, "direction {k}: {along}");
        assert!(across.abs() < 1e-9, "direction {k}: pushed aside by {across:e}");
    }
}

/// dart #841: friction that differs with the direction kept a cube from moving. A force just above
/// the friction moves it, whatever its direction.
#[test]
fn story_34_a_force_above_the_friction_moves_a_box() {
    for (share, moves) in [(0.99, false), (1.01, true)] {
        let (model, id) = box_on_corners(share * 0.3 * 9.81, 0.3);
        let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
        sim.run(1.0).unwrap();
        let v = sim.v(id).unwrap();
        let expected = if moves { 0.01 * 0.3 * 9.81 } else { 0.0 };
        assert!((v[0] - expected).abs() < 1e-6, "share {share}: {v:?}");
        assert!(v[1..].iter().all(|v| v.abs() < 1e-6), "share {share}: {v:?}");
    }
}

/// mujoco #954: another step size, another motion, or none. Over three decades of steps nothing
/// gains energy, and the ball ends where it should.
#[test]
fn the_step_size_does_not_change_the_story() {
    for h in [0.1, 0.03, 0.01, 0.003, 0.001, 0.0001] {
        for e in [0.0, 0.5, 0.9] {
            let mut model = Model::new("ball");
            let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]);
            let id = model.add("ball", ball).unwrap();
            let floor = LagrangianLinearRelation::new([[1.0]]);
            model.connect("floor", floor, Law::newton_impact(e), &[id]).unwrap();
            let run = TimeStepping::new(model, h, []).unwrap().run(3.0).unwrap();
            let (q, v) = (run.signal("ball.q").unwrap(), run.signal("ball.v").unwrap());
            let highest = q.iter().zip(&v).fold(0.0f64, |a, (q, v)| a.max(9.81 * q + v * v / 2.0));
            assert!(highest <= 9.81 * (1.0 + 1e-12), "h = {h}, e = {e}: energy {highest}");
            // no deeper than the way of a step
            let deepest = q.iter().fold(0.0f64, |a, q| a.max(-q));
            let fastest = v.iter().fold(0.0f64, |a, v| a.max(v.abs()));
            assert!(deepest <= h * fastest, "h = {h}, e = {e}: {deepest} deep");
        }
    }
}

/// mujoco #3328: a pinched body with a large margin creeps. Between two jaws that press with twenty
/// times the force that is needed it stays, to the last bit; also when it is shaken (#2638).
#[test]
fn story_13_a_pinched_body_does_not_creep() {
    for shaken in [false, true] {
        let mut model = Model::new("pinched");
        // q = (x of the left jaw, x and z of the body, x of the right jaw)
        let load = Operator::vector_of_time(4, move |t, F| {
            let shake = if shaken { 5.0 * (2000.0 * t).sin() } else { 0.0 };
            F.copy_from_slice(&[200.0, 0.0, -9.81 + shake, -200.0]);
        });
        let system = LagrangianLinear::new([0.0; 4], [0.0; 4], Matrix::identity(4)).F_ext(load);
        let id = model.add("all", system).unwrap();
        let left = LagrangianLinearRelation::new([[-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
        let right = LagrangianLinearRelation::new([[0.0, -1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]);
        model.connect("left", left, Law::impact_friction(0.0, 0.5), &[id]).unwrap();
        model.connect("right", right, Law::impact_friction(0.0, 0.5), &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 1e-3, []).unwrap();
        for _ in 0..20_000 {
            sim.step().unwrap();
        }
        let creep = sim.q(id).unwrap()[2].abs();
        assert!(creep <= 1e-15, "shaken {shaken}: {creep:e} in 20 s");
    }
}

/// mujoco #1649, #2430: more friction made contacts softer, and friction in a joint broke an
/// equality. The gap is the same for every friction, and constraints hold beside it.
#[test]
fn story_16_friction_does_not_soften_constraints() {
    let depth = |mu: f64| {
        let mut model = Model::new("falling block");
        let block = LagrangianLinear::new([0.1, 0.0], [0.0, 1.0], Matrix::identity(2));
        let id = model.add("block", block.F_ext([-9.81, 0.0])).unwrap();
        let relation = LagrangianLinearRelation::new(Matrix::identity(2));
        model.connect("floor", relation, Law::impact_friction(0.0, mu), &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 1e-3, []).unwrap();
        sim.run(1.0).unwrap();
        sim.q(id).unwrap()[0]
    };
    let without = depth(0.0);
    for mu in [0.1, 1.0, 10.0, 1000.0] {
        assert_eq!(depth(mu), without, "μ = {mu}");
    }
    let mut model = Model::new("joint with friction");
    let masses = LagrangianLinear::new([0.0, 0.0], [1.0, 1.0], Matrix::diagonal(&[1.0, 50.0]));
    let id = model.add("masses", masses).unwrap();
    let weld = LagrangianLinearRelation::new([[1.0, -1.0]]);
    model.connect("weld", weld, Law::Equality, &[id]).unwrap();
    let joint = LagrangianLinearRelation::new([[1.0, 0.0]]);
    model.connect("friction", joint, Law::relay(-20.0, 20.0), &[id]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
    sim.run(5.0).unwrap();
    let (q, v) = (sim.q(id).unwrap(), sim.v(id).unwrap());
    assert!((q[0] - q[1]).abs() < 1e-13 && v.iter().all(|v| v.abs() < 1e-13), "{q:?} {v:?}");
    // 51 v̇ = −20: it stops after 51/40
    assert!((q[0] - 51.0 / 40.0).abs() < 1e-2);
}

/// DifferentialEquations.jl #516: events at one instant. Two balls hit, a relay switches and a
/// diode closes in one step, as each would alone.
#[test]
fn simultaneous_events_are_no_matter() {
    let build = |which: &[usize]| {
        let mut model = Model::new("together");
        for &i in which {
            let name = format!("member{i}");
            if i < 2 {
                let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-8.0]);
                let id = model.add(&name, ball).unwrap();
                let floor = LagrangianLinearRelation::new([[1.0]]);
                model.connect(&format!("law{i}"), floor, Law::newton_impact(0.5), &[id]).unwrap();
            } else {
                let law = if i == 2 { Law::relay(-1.0, 1.0) } else { Law::Complementarity };
                let tank = FirstOrderLinear::new([0.5], [[0.0]]);
                let tank = if i == 2 { tank } else { tank.b([-1.0]) };
                let id = model.add(&name, tank).unwrap();
                let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
                model.connect(&format!("law{i}"), relation, law, &[id]).unwrap();
            }
        }
        TimeStepping::new(model, 1.0 / 64.0, []).unwrap().run(2.0).unwrap()
    };
    let all = build(&[0, 1, 2, 3]);
    for i in 0..4 {
        let alone = build(&[i]);
        let quantities: &[&str] = if i < 2 { &["q", "v"] } else { &["x"] };
        for quantity in quantities {
            let signal = format!("member{i}.{quantity}");
            let (a, b) = (all.signal(&signal).unwrap(), alone.signal(&signal).unwrap());
            let worst = a.iter().zip(&b).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            assert!(worst < 1e-13, "{signal}: {worst:e}");
        }
    }
}

/// OpenModelica #7581: an inverter was stuck at 10 000 Hz and ran at 10 000.1 Hz. Round and odd
/// frequencies run alike.
#[test]
fn a_round_frequency_is_no_matter() {
    let end = |frequency: f64| {
        let h = 1e-7;
        let source = move |t: f64| {
            if (std::f64::consts::TAU * frequency * t).sin() > 0.0 { 1.0 } else { -1.0 }
        };
        let case = models::converter(h, 1e-3, source);
        let run = case.sim().run(case.until).unwrap();
        assert_eq!(run.stats.outcome, Outcome::Complete, "{frequency} Hz");
        *run.signal("circuit.x[3]").unwrap().last().unwrap()
    };
    let round = end(10_000.0);
    for odd in [10_000.1, 9_999.9] {
        let odd_end = end(odd);
        assert!((round - odd_end).abs() < 0.05 * round.abs().max(0.1), "{round} and {odd_end}");
    }
}

/// RoboDojo.jl #5: high friction, and contacts with different friction.
#[test]
fn contacts_with_any_friction() {
    let mut model = Model::new("two feet");
    // a bar on two feet, of which one is on ice: it is pulled along, and only one foot resists
    let M = Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0]);
    let force = [-9.81, 3.0, 0.0];
    let bar = model.add("bar", LagrangianLinear::new([0.0; 3], [0.0; 3], M).F_ext(force)).unwrap();
    for (name, place, mu) in [("rubber", -1.0, 10.0), ("ice", 1.0, 0.0)] {
        let foot = LagrangianLinearRelation::new([[1.0, 0.0, place], [0.0, 1.0, 0.0]]);
        model.connect(name, foot, Law::impact_friction(0.0, mu), &[bar]).unwrap();
    }
    let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
    let run = sim.run(1.0).unwrap();
    assert!(sim.q(bar).unwrap().iter().all(|q| q.abs() < 1e-10), "{:?}", sim.q(bar));
    let (rubber, ice) = (run.signal("rubber.lam").unwrap(), run.signal("ice.lam").unwrap());
    let last = rubber.len() - 2;
    assert!((rubber[last + 1] + 3e-2).abs() < 1e-10 && ice[last + 1] == 0.0);
}

/// drake #19322: garbage goes in, and nobody is told why the solver failed. What is not finite is
/// named, with its time, and the state is that before it.
#[test]
fn garbage_is_named() {
    for (value, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let mut model = Model::new("garbage");
        let force = Operator::vector_of_time(1, move |t, F| {
            F[0] = if t > 0.45 { value } else { -9.81 };
        });
        let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext(force);
        let id = model.add("ball", ball).unwrap();
        let floor = LagrangianLinearRelation::new([[1.0]]);
        model.connect("floor", floor, Law::newton_impact(0.5), &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 0.1, []).unwrap();
        let message = sim.run(1.0).unwrap_err().to_string();
        assert!(message.contains("F_ext") && message.contains("ball"), "{word}: {message}");
        assert!(message.contains("0.5"), "{word}: {message}");
        assert!((sim.t() - 0.4).abs() < 1e-12 && sim.q(id).unwrap()[0].is_finite());
    }
}

/// siconos #106: things sink into the floor while they sit and slide. The gap of a contact that
/// stays closed does not change over many steps.
#[test]
fn story_04_nothing_sinks_while_it_sits_or_slides() {
    for push in [1.0, 6.0] {
        let (model, id) = box_on_corners(push, 0.5);
        let corner = model.interaction_id("corner0").unwrap();
        let mut sim = TimeStepping::new(model, 1e-3, []).unwrap();
        sim.step().unwrap();
        let gap = sim.y(corner)[0];
        for _ in 0..30_000 {
            sim.step().unwrap();
        }
        let sunk = (sim.y(corner)[0] - gap).abs();
        println!("push {push}: sinks by {sunk:.1e} in 30 s");
        let slides = sim.v(id).unwrap()[0];
        // while it slides, by no more than the residual of its steps
        assert!(sunk <= if push > 5.0 { 1e-6 } else { 1e-12 }, "push {push}: sinks by {sunk:e}");
        assert!(if push > 5.0 { slides > 30.0 } else { slides.abs() < 1e-9 }, "{slides}");
    }
}

/// A chassis on four driven wheels.
const CAR: &str = r#"
title = "car"

[simulation]
h = 2e-3
until = 3.0

[scene]
gravity = [0, 0, -9.81]

[[material]]
name = "rubber"
density = 1000

[[contact]]
materials = ["rubber", "rubber"]
mu = 0.8

[[static]]
name = "road"
shape = { kind = "plane" }
material = "rubber"

[[body]]
name = "chassis"
shape = { kind = "box", size = [0.6, 0.3, 0.1] }
mass = 10
material = "rubber"
position = [0, 0, 0.15]

[[body]]
name = "wheel{k}"
for = "k in 0..4"
shape = { kind = "cylinder", radius = 0.1, length = 0.05, orientation = ["sqrt(1/2)", "sqrt(1/2)", 0, 0] }
mass = 1
material = "rubber"
position = ["0.25*(2*mod(k, 2) - 1)", "0.2*(2*floor(k/2) - 1)", 0.1]

[[joint]]
name = "axle{k}"
for = "k in 0..4"
kind = "pivot"
bodies = ["wheel{k}", "chassis"]
point = ["0.25*(2*mod(k, 2) - 1)", "0.2*(2*floor(k/2) - 1)", 0.1]
axis = [0, 1, 0]
motor = { kind = "velocity", v = "10*min(t, 1)", max_force = 2 }
"#;

/// siconos #102: a car with four wheels flew away after a failed solve. It drives as its motors say, with all wheels on the
/// road; and where a step is not solved the run ends there, with what was not, and nothing has moved.
#[test]
fn story_02_a_car_with_four_wheels_drives_or_says_why_not() {
    let read = |overrides: &[(String, String)]| {
        let ModelFile { model, simulation, .. } =
            ModelFile::parse(CAR, "car.toml", overrides).unwrap();
        let (h, integrators) = (simulation.h, simulation.integrators);
        TimeStepping::with_methods(model, h, integrators, &simulation.solver, simulation.newton)
            .unwrap()
    };
    let mut sim = read(&[]);
    let run = sim.run(3.0).unwrap();
    assert!(run.stats.worst_penetration < 1e-9 && run.stats.worst_residual <= 1e-8);
    let height = run.signal("chassis.position[2]").unwrap();
    assert!(height.iter().all(|z| (z - 0.15).abs() < 1e-9));
    let end = |name: &str| *run.signal(name).unwrap().last().unwrap();
    // r ω, and the way of that: 1/2 + 2
    assert!((end("chassis.v[0]") - 1.0).abs() < 1e-8, "{}", end("chassis.v[0]"));
    let way = end("chassis.position[0]");
    assert!((way - 2.5).abs() < 1e-4, "{way}");
    for k in 0..4 {
        let gap = run.signal(&format!("axle{k}.y")).unwrap();
        assert!(gap.iter().all(|y| y.abs() < 1e-12), "axle{k}");
    }

    // no answer is good enough
    let mut sim = read(&[("simulation.solver.tol".to_string(), "1e-30".to_string())]);
    let failure = sim.run(3.0).unwrap_err();
    let text = failure.source.to_string();
    assert!(text.contains("t = 0.002") && text.contains("not solved"), "{text}");
    assert!(text.contains("worst at"), "{text}");
    let named = ["axle", "contact of `"].iter().any(|name| text.contains(name));
    assert!(named, "{text}");
    assert_eq!(failure.run.frames.len(), 1);
    assert_eq!(sim.t(), 0.0);
}

/// mujoco #2430: friction in a joint broke an equality. A four-bar linkage whose pivots rub as much as they like stays
/// closed, and comes to rest or stands.
#[test]
fn story_16_friction_of_joints_does_not_break_a_loop() {
    for friction in [0.0, 0.3, 15.0, 3e5] {
        let text = format!(
            r#"
title = "loop"

[simulation]
h = 1e-3
until = 1.0

[scene]
dim = 2
gravity = [0, -9.81]

[[body]]
name = "left"
shape = {{ kind = "box", size = [0.02, 1] }}
mass = 1
position = [0, 0.5]

[[body]]
name = "top"
shape = {{ kind = "box", size = [1, 0.02] }}
mass = 50
position = [0.5, 1]
force = ["if(t < 0.2, 100, 0)", 0]

[[body]]
name = "right"
shape = {{ kind = "box", size = [0.02, 1.2] }}
mass = 1
position = [1, 0.4]

[[joint]]
name = "a"
kind = "pivot-2d"
bodies = ["left"]
point = [0, 0]
friction = {friction}

[[joint]]
name = "b"
kind = "pivot-2d"
bodies = ["top", "left"]
point = [0, 1]
friction = {friction}

[[joint]]
name = "c"
kind = "pivot-2d"
bodies = ["right", "top"]
point = [1, 1]
friction = {friction}

[[joint]]
name = "d"
kind = "pivot-2d"
bodies = ["right"]
point = [1, -0.2]
friction = {friction}
"#
        );
        let ModelFile { model, simulation, .. } =
            ModelFile::parse(&text, "loop.toml", &[]).unwrap();
        let mut sim = TimeStepping::new(model, simulation.h, simulation.integrators).unwrap();
        let run = sim.run(1.0).unwrap();
        for joint in ["a", "b", "c", "d"] {
            let gap = run.signal(&format!("{joint}.y")).unwrap();
            let worst = gap.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
            assert!(worst < 1e-12, "friction {friction}, joint {joint}: {worst:e}");
        }
        let moved = run.signal("left.angle").unwrap().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert_eq!(moved < 1e-9, friction > 100.0, "friction {friction}: {moved}");
    }
}
