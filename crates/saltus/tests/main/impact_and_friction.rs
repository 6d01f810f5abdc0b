//! Impact and friction with few degrees of freedom, against numbers known in closed form.

use crate::example_files::run;
use crate::models::G;
use crate::support::{order_within, within};
use saltus::model::Names;
use saltus::prelude::*;
use std::f64::consts::PI;

fn ball(e: f64) -> Model {
    let mut model = Model::new("ball");
    let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-G]);
    let id = model.add("ball", ball).unwrap();
    let floor = LagrangianLinearRelation::new([[1.0]]);
    model.connect("floor", floor, Law::newton_impact(e), &[id]).unwrap();
    model
}

/// Infinitely many impacts before t₁ (1 + e)/(1 − e), and rest afterwards.
#[test]
fn zeno() {
    let t1 = (2.0 / G).sqrt();
    assert!((t1 - 0.4515236409857309).abs() < 1e-15);
    for (e, zeno) in [(0.9, 8.578949178728887), (0.5, 1.3545709229571927)] {
        assert!((t1 * (1.0 + e) / (1.0 - e) - zeno).abs() < 1e-12);
        let mut errors = Vec::new();
        for h in [1.6e-3, 8e-4, 4e-4, 2e-4, 1e-4, 5e-5] {
            let mut sim = TimeStepping::new(ball(e), h, []).unwrap();
            let (ball, mut rest) = (sim.model().system_id("ball").unwrap(), 0.0);
            while !sim.done(zeno + 0.5) {
                sim.step().unwrap();
                // below g h the flights are shorter than a step or two
                if sim.v(ball).unwrap()[0].abs() > G * h {
                    rest = sim.t();
                }
            }
            let (q, v) = (sim.q(ball).unwrap()[0], sim.v(ball).unwrap()[0]);
            assert!(v.abs() <= G * h && q.abs() <= 4.0 * G * h * h, "e = {e}: q = {q}, v = {v}");
            // it stays: neither sinks nor rises
            sim.run(sim.t() + 0.5).unwrap();
            assert!(sim.v(ball).unwrap()[0].abs() <= v.abs().max(1e-15));
            assert!((sim.q(ball).unwrap()[0] - q).abs() <= G * h * h);
            errors.push((h, (rest - zeno).abs()));
        }
        order_within(&format!("ball, e = {e}, time of rest"), &errors, 0.6..=1.6);
        within(&format!("ball, e = {e}, in steps"), errors[5].1 / 5e-5, 60.0);
    }
}

/// After the n-th impact the share e^(2n) of the energy is left.
#[test]
fn energy_of_a_bounce() {
    let e: f64 = 0.9;
    let mut errors = Vec::new();
    for h in [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5] {
        let run = TimeStepping::new(ball(e), h, []).unwrap().run(3.5).unwrap();
        let of = |signal| run.signal(signal).unwrap();
        let (q, v, lam) = (of("ball.q"), of("ball.v"), of("floor.lam"));
        let (mut impacts, mut worst) = (0, 0.0f64);
        for k in 1..q.len() {
            impacts += i32::from(lam[k] > 0.0);
            let share = (0.5 * v[k] * v[k] + G * q[k]) / G;
            worst = worst.max((share / e.powi(2 * impacts) - 1.0).abs());
        }
        assert!(impacts >= 5);
        errors.push((h, worst));
    }
    order_within("ball, energy after impacts", &errors, 0.7..=1.3);
    within("ball, energy after impacts", errors[5].1, 2e-3);
}

/// Three equal balls, e = 1: (−1/3, 2/3, 2/3) where they touch, because the law of Moreau takes all
/// impacts of an instant at once; (0, 0, 1) where the last one stands off, however little.
#[test]
fn three_balls_in_both_ways() {
    let chain = |gap: f64, h: f64, steps: usize| {
        let mut model = Model::new("three balls");
        let ids: Vec<SystemId> = [(0.0, 1.0), (1.0, 0.0), (2.0 + gap, 0.0)]
            .into_iter()
            .enumerate()
            .map(|(i, (q, v))| {
                model.add(&format!("ball{i}"), LagrangianLinear::new([q], [v], [[1.0]])).unwrap()
            })
            .collect();
        for i in 0..2 {
            let relation = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-1.0]);
            let law = Law::newton_impact(1.0);
            model.connect(&format!("contact{i}"), relation, law, &ids[i..i + 2]).unwrap();
        }
        let mut sim = TimeStepping::new(model, h, []).unwrap();
        for _ in 0..steps {
            sim.step().unwrap();
        }
        ids.iter().map(|&id| sim.v(id).unwrap()[0]).collect::<Vec<f64>>()
    };
    let close = |what: &str, found: &[f64], expected: [f64; 3]| {
        let worst = found.iter().zip(expected).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
        within(what, worst, 1e-14);
    };
    for h in [1e-2, 1e-3, 1e-4] {
        close("all at once", &chain(0.0, h, 1), [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
        for steps in [2.0, 10.0] {
            // a gap of some steps' way
            close("one after the other", &chain(steps * h, h, 30), [0.0, 0.0, 1.0]);
        }
    }
}

/// Flights of one period of the table are stable up to Γ = 1.5268237005 for e = 1/2; above, long
/// and short flights alternate.
#[test]
fn period_doubling_on_a_vibrating_table() {
    let e = 0.5;
    let first = PI * (1.0 - e) / (1.0 + e);
    let second = (first.powi(2) + (2.0 * (1.0 + e * e) / (1.0f64 + e).powi(2)).powi(2)).sqrt();
    assert!((first - PI / 3.0).abs() < 1e-15 && (second - 1.5268237005).abs() < 1e-10);
    // alternation of the velocities after impacts, relative to their mean
    let alternation = |gamma: f64, h: f64| {
        // seen from the table: ÿ = −g + Γ g sin(t + φ), with g = 1 and the table's ω = 1
        let phase = (first / gamma).acos();
        let mut model = Model::new("ball on a table");
        let force = Operator::vector_of_time(1, move |t, F| F[0] = gamma * (t + phase).sin() - 1.0);
        let start = PI * 2.0 * e / (1.0 + e) * 1.05;
        let ball = LagrangianLinear::new([0.0], [start], [[1.0]]).F_ext(force);
        let id = model.add("ball", ball).unwrap();
        let table = LagrangianLinearRelation::new([[1.0]]);
        let table = model.connect("table", table, Law::newton_impact(e), &[id]).unwrap();
        let mut sim = TimeStepping::new(model, h, []).unwrap();
        let mut speeds = Vec::new();
        while !sim.done(2.0 * PI * 240.0) {
            sim.step().unwrap();
            if sim.lam(table)[0] > 0.0 {
                speeds.push(sim.v(id).unwrap()[0]);
            }
        }
        // one impact a period, but for what the start took
        assert!((230..=245).contains(&speeds.len()), "Γ = {gamma}: {} impacts", speeds.len());
        let last = &speeds[speeds.len() - 40..];
        let of = |odd: usize| last.iter().skip(odd).step_by(2).sum::<f64>() / 20.0;
        (of(0) - of(1)).abs() / (of(0) + of(1))
    };
    for h in [2.0 * PI / 1000.0, 2.0 * PI / 2000.0] {
        let below = alternation(second - 0.02, h);
        let above = alternation(second + 0.02, h);
        println!("h = {h:.4}: alternation {below:.4} below Γ = {second:.6}, {above:.4} above");
        assert!(below < 1e-3 && above > 0.015, "{below} below, {above} above");
    }
}

/// More friction at rest than in motion: the period is 2 Δ/v + 2π − 2 atan(Δ/v).
#[test]
fn stick_slip() {
    let expected = 2.0 + 2.0 * PI - 2.0 * 1f64.atan();
    assert!((expected - 6.71238898038469).abs() < 1e-14);
    let mut errors = Vec::new();
    for h in [2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3] {
        let mut model = Model::new("stick-slip");
        // pressed on the belt with a force of 1; the spring pulls along the belt
        let mass = LagrangianLinear::new([0.0, 0.0], [0.0, 1.0], Matrix::identity(2));
        let mass = mass.K([[0.0, 0.0], [0.0, 1.0]]).F_ext([-1.0, 0.0]);
        let id = model.add("mass", mass).unwrap();
        let names = Names { first: ("q", 2), second: ("lam", 2), ..Names::TIME };
        let belt = Operator::formulas(2, 1, &["q[0]", "q[1] - t"], &names, &[]).unwrap();
        let names = Names { first: ("q", 2), second: ("u", 2), ..Names::TIME };
        let mu = Operator::formulas(1, 1, &["if(abs(u[1]) < 1e-9, 2, 1)"], &names, &[]).unwrap();
        let law = Law::ImpactFriction { e: 0.0.into(), mu: mu.into(), et: 0.0 };
        model.connect("belt", LagrangianRelation::new(belt), law, &[id]).unwrap();
        let run = TimeStepping::new(model, h, []).unwrap().run(45.0).unwrap();
        let (t, u) = (&run.frames.time, run.signal("belt.u[1]").unwrap());
        let sticks = |k: usize| u[k].abs() < 1e-9;
        let caught: Vec<f64> =
            (1..t.len()).filter(|&k| sticks(k) && !sticks(k - 1)).map(|k| t[k]).collect();
        assert!(caught.len() >= 6, "{} times", caught.len());
        let period = (caught.last().unwrap() - caught[0]) / (caught.len() - 1) as f64;
        errors.push((h, (period - expected).abs()));
    }
    order_within("stick-slip, period", &errors, 0.7..=1.5);
    within("stick-slip, period", errors[4].1, 3e-3);
}

/// An impact of a slender block leaves 1 − (3/2) sin² α of its angular velocity: 0.9423… for 5 : 1.
#[test]
fn rocking_block() {
    let expected = 1.0 - 1.5 / 26.0;
    assert!((expected - 0.9423076923f64).abs() < 1e-10);
    let mut errors = Vec::new();
    for h in ["4e-4", "1e-4", "2.5e-5"] {
        let changes = [
            ("width", "1"),
            ("height", "5"),
            ("tilt", "0.1"),
            ("simulation.h", h),
            ("simulation.until", "0.85"),
        ];
        let run = run("rocking-block/model.toml", &changes);
        let omega = run.signal("block.v[2]").unwrap();
        // the step that jumps: everything else changes by O(h)
        let change = |k: usize| (omega[k] - omega[k - 1]).abs();
        let impact = (1..omega.len()).max_by(|&a, &b| change(a).total_cmp(&change(b))).unwrap();
        let share = omega[impact] / omega[impact - 1];
        errors.push((h.parse().unwrap(), (share - expected).abs()));
    }
    order_within("rocking block, restitution", &errors, 0.6..=1.6);
    within("rocking block, restitution", errors[2].1, 2e-4);
}

/// A bar that hits a wall stays for 2 L/c, pressed by E v/c: from 0.5 s to 1.16667 s, with 300.
#[test]
fn bar_on_a_wall() {
    let bar = |n: &str, h: &str| {
        let changes = [
            ("E", "900"),
            ("rho", "1"),
            ("S", "1"),
            ("length", "10"),
            ("gap", "5"),
            ("speed", "10"),
            ("n", n),
            ("simulation.h", h),
            ("simulation.until", "1.4"),
        ];
        let run = run("impacting-bar/model.toml", &changes);
        let (t, lam) = (run.frames.time.clone(), run.signal("wall.lam").unwrap());
        let closed: Vec<usize> = (0..t.len()).filter(|&k| lam[k] > 0.0).collect();
        let (first, last) = (t[closed[0]], t[closed[closed.len() - 1]]);
        // the mean pressure while it stays
        let inside = |t: f64| (0.55..1.1).contains(&t);
        let impulse: f64 = lam.iter().zip(&t).filter(|(_, t)| inside(**t)).map(|(l, _)| l).sum();
        let length = t.iter().filter(|t| inside(**t)).count() as f64;
        (first, last, impulse / length / h.parse::<f64>().unwrap())
    };
    let mut ends = Vec::new();
    for (n, h, size) in [("25", "2e-3", 0.4), ("50", "1e-3", 0.2), ("100", "5e-4", 0.1)] {
        let (first, last, pressure) = bar(n, h);
        println!("{n} elements: from {first:.4} to {last:.5}, pressure {pressure:.3}");
        within("contact begins", (first - 0.5).abs(), 2.0 * h.parse::<f64>().unwrap());
        within("pressure", (pressure / 300.0 - 1.0).abs(), 0.05 * size);
        ends.push((size, (last - 7.0 / 6.0).abs()));
    }
    within("contact ends", ends[2].1, 0.03);
    assert!(ends[2].1 < ends[0].1, "{ends:?}");
}

/// A ball thrown sliding rolls with 5/7 of its velocity from 2 v₀/(7 μ g) on.
#[test]
fn slide_to_roll() {
    let (v0, mu, r) = (3.0, 0.2, 0.5);
    let inertia = 2.0 / 5.0 * r * r;
    for scheme in [
        Integrator::from(MoreauJean::default()),
        MoreauJean { theta: 1.0, ..MoreauJean::default() }.into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
    ] {
        for h in [1e-2, 1e-3] {
            let mut model = Model::new("ball on a plane");
            // q = (x, height, angle), turning clockwise
            let M = Matrix::diagonal(&[1.0, 1.0, inertia]);
            let ball = LagrangianLinear::new([0.0, r, 0.0], [v0, 0.0, 0.0], M);
            let id = model.add("ball", ball.F_ext([0.0, -G, 0.0])).unwrap();
            let plane =
                LagrangianLinearRelation::new([[0.0, 1.0, 0.0], [1.0, 0.0, -r]]).b([-r, 0.0]);
            model.connect("plane", plane, Law::impact_friction(0.0, mu), &[id]).unwrap();
            let run = TimeStepping::new(model, h, [scheme.clone()]).unwrap().run(1.0).unwrap();
            let of = |signal| run.signal(signal).unwrap();
            let (t, v, u) = (&run.frames.time, of("ball.v[0]"), of("plane.u[1]"));
            let what = format!("{}, h = {h}", scheme.name());
            within(&format!("{what}: velocity"), (v.last().unwrap() - 5.0 / 7.0 * v0).abs(), 1e-12);
            let rolls = (0..t.len()).find(|&k| u[k].abs() < 1e-9).unwrap();
            let exact = 2.0 * v0 / (7.0 * mu * G);
            within(&format!("{what}: time, in steps"), (t[rolls] - exact).abs() / h, 1.5);
            // the momentum about the point of contact is that of the start, while it slides too
            let spin = of("ball.v[2]");
            for k in 0..t.len() {
                let momentum = r * v[k] + inertia * spin[k];
                assert!((momentum - r * v0).abs() < 1e-12, "{what}: {momentum} at t = {}", t[k]);
            }
        }
    }
}

/// Below the angle of friction a block does not creep, not by one bit in 10⁵ steps.
#[test]
fn no_creep() {
    for degrees in [10.0f64, 30.0] {
        let alpha = degrees.to_radians();
        for (across, mu) in [(0.0f64, 1.05 * alpha.tan()), (0.6, 0.7)] {
            let (sin, cos) = alpha.sin_cos();
            let mut model = Model::new("blocks");
            // in the plane, and in space with the slope at an angle to the tangents
            let force = [-G * cos, G * sin];
            let flat = LagrangianLinear::new([0.0, 0.25], [0.0; 2], Matrix::identity(2));
            let flat = model.add("flat", flat.F_ext(force)).unwrap();
            let relation = LagrangianLinearRelation::new(Matrix::identity(2));
            let law = Law::impact_friction(0.0, mu);
            model.connect("line", relation, law.clone(), &[flat]).unwrap();
            let force = [-G * cos, G * sin * across.cos(), G * sin * across.sin()];
            let solid = LagrangianLinear::new([0.0, 0.25, -0.75], [0.0; 3], Matrix::identity(3));
            let solid = model.add("solid", solid.F_ext(force)).unwrap();
            let relation = LagrangianLinearRelation::new(Matrix::identity(3));
            model.connect("plane", relation, law, &[solid]).unwrap();
            let mut sim = TimeStepping::new(model, 1e-3, []).unwrap();
            for _ in 0..100_000 {
                sim.step().unwrap();
            }
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            let (q, p) = (sim.q(flat).unwrap(), sim.q(solid).unwrap());
            assert_eq!(bits(&q[1..]), bits(&[0.25]), "μ = {mu}: {q:?}");
            assert_eq!(bits(&p[1..]), bits(&[0.25, -0.75]), "μ = {mu}: {p:?}");
        }
    }
}

/// A block sticks where tan α ≤ μ and slides where it is larger, by a share of 10⁻⁹ on either side.
#[test]
fn the_angle_of_friction() {
    let alpha = 30f64.to_radians();
    let speed = |mu: f64| {
        let mut model = Model::new("block");
        let block = LagrangianLinear::new([0.0; 2], [0.0; 2], Matrix::identity(2));
        let id = model.add("block", block.F_ext([-G * alpha.cos(), G * alpha.sin()])).unwrap();
        let relation = LagrangianLinearRelation::new(Matrix::identity(2));
        model.connect("plane", relation, Law::impact_friction(0.0, mu), &[id]).unwrap();
        let solver =
            Solver::Auto(saltus::numerics::AutoSettings { tol: 1e-14, ..Default::default() });
        let mut sim = TimeStepping::with_solver(model, 1e-2, [], &solver).unwrap();
        sim.run(1.0).unwrap();
        sim.v(id).unwrap()[1]
    };
    assert_eq!(speed(alpha.tan() * (1.0 + 1e-9)), 0.0);
    let slow = speed(alpha.tan() * (1.0 - 1e-9));
    let expected = G * alpha.sin() * 1e-9;
    within("just above the angle of friction", (slow / expected - 1.0).abs(), 1e-4);
}

/// A rod that is pushed along on its lower end, at tan θ = 2: up to μ = 4/3 it slides, with a force.
/// Above, there is no force that keeps it on the floor while it slides (Painlevé), and it is
/// stopped by an impulse, W⁻¹ of its velocity, however small the step.
#[test]
fn painleve() {
    let angle = 2f64.atan();
    let first_step = |mu: f64, h: f64| {
        let mut model = Model::new("rod");
        // q = (x, y, θ) of the centre; half length 1, mass 1
        let M = Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0]);
        let q0 = [0.0, angle.sin(), angle];
        let rod = LagrangianLinear::new(q0, [-1.0, 0.0, 0.0], M).F_ext([0.0, -G, 0.0]);
        let id = model.add("rod", rod).unwrap();
        let names = Names { first: ("q", 3), second: ("lam", 2), ..Names::TIME };
        let end = ["q[1] - sin(q[2])", "q[0] - cos(q[2])"];
        let end = Operator::formulas(2, 1, &end, &names, &[]).unwrap();
        let law = Law::impact_friction(0.0, mu);
        let floor = model.connect("floor", LagrangianRelation::new(end), law, &[id]).unwrap();
        let mut sim = TimeStepping::new(model, h, []).unwrap();
        let stats = sim.step().unwrap();
        assert!(stats.residual <= 1e-8);
        (sim.lam(floor).to_vec(), sim.u(floor).to_vec())
    };
    // W_NN = 1 + 3 cos² θ = 8/5, W_NT = 3 sin θ cos θ = 6/5, W_TT = 17/5
    for mu in [1.0, 1.3] {
        for h in [1e-4, 1e-5, 1e-6] {
            let (lam, u) = first_step(mu, h);
            assert!(u[1] < -0.9, "μ = {mu}: {u:?}");
            let force = G / (8.0 / 5.0 - mu * 6.0 / 5.0);
            let error = (lam[0] / h / force - 1.0).abs();
            within(&format!("rod that slides, μ = {mu}, h = {h}"), error, 0.1 * h);
        }
    }
    for mu in [1.36, 2.0, 10.0] {
        for h in [1e-4, 1e-5, 1e-6] {
            let (lam, u) = first_step(mu, h);
            // det W = 4: p = W⁻¹ (0, 1) = (6/5, 8/5)/4
            let worst = (lam[0] - 0.3).abs().max((lam[1] - 0.4).abs());
            within(&format!("rod that jams, μ = {mu}, h = {h}"), worst, 100.0 * h);
            within("its end stands", u[0].abs().max(u[1].abs()), 1e-9);
        }
    }
}

/// ẋ = A x that turns the other way outside of the unit circle, reached at t = 1.
#[test]
fn switched_oscillator() {
    let exact = [-1.5974603774506984, 0.7614936206060108];
    let mut errors = Vec::new();
    for n in [500, 1000, 2000, 4000, 8000] {
        let mut model = Model::new("oscillator");
        let names = Names { first: ("x", 2), second: ("lam", 1), ..Names::TIME };
        let of = |rows: usize, texts: &[&str]| Operator::formulas(rows, 1, texts, &names, &[]);
        // x + s D x with s = sgn(‖x‖² − 1) = −λ
        let start = [(-1f64).exp(), 0.0];
        let plant = FirstOrder::new(start, of(2, &["x[0]", "x[1]"]).unwrap());
        let id = model.add("plant", plant).unwrap();
        let relation = FirstOrderRelation::new(
            of(1, &["x[0]^2 + x[1]^2 - 1"]).unwrap(),
            of(2, &["-2*pi*lam[0]*x[1]", "2*pi*lam[0]*x[0]"]).unwrap(),
        );
        model.connect("circle", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
        let h = PI / 2.0 / f64::from(n);
        let scheme = EulerMoreau { theta: 0.5, ..EulerMoreau::default() };
        let mut sim = TimeStepping::new(model, h, [scheme.into()]).unwrap();
        sim.run(PI / 2.0).unwrap();
        let x = sim.x(id).unwrap();
        errors.push((h, (x[0] - exact[0]).hypot(x[1] - exact[1])));
    }
    order_within("switched oscillator", &errors, 0.8..=1.5);
}
