//! The schemes held against closed forms: energy, constraints, transactions. Their orders are in
//! `orders.rs`, on the same models.
//!
//! ```text
//! oscillator  q̈ = −q                                   smooth
//! pendulum    q̈ = −g sin q, and the same as |q| = 1     smooth, with an equality
//! ball        0 ≤ y ⟂ λ ≥ 0 with e = 0.9               impacts before they accumulate
//! dry         q̈ = −q − 0.15 sgn q̇                      friction: at rest at −0.1 from 3π on
//! incline     q̈ = g (sin α − μ cos α)                  sliding
//! bead        (1 + 4 q²) q̈ + 4 q q̇² = −2 g q            smooth, with a mass that changes
//! ```

use crate::exact;
use crate::support::{ledgers, order, within};
use saltus::model::Names;
use saltus::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};

fn formulas(rows: usize, dof: usize, texts: &[&str]) -> Operator {
    let names = Names { first: ("q", dof), second: ("v", dof), ..Names::TIME };
    Operator::formulas(rows, 1, texts, &names, &[]).unwrap()
}

pub fn oscillator() -> Model {
    let mut model = Model::new("oscillator");
    model.add("mass", LagrangianLinear::new([1.0], [0.5], [[1.0]]).K([[1.0]])).unwrap();
    model
}

pub fn pendulum() -> Model {
    let mut model = Model::new("pendulum");
    let force = formulas(1, 1, &["9.81*sin(q[0])"]);
    model.add("mass", Lagrangian::new([-FRAC_PI_2], [0.0], [[1.0]]).F_int(force)).unwrap();
    model
}

/// The pendulum in the plane, on its rod.
pub fn rod() -> Model {
    let mut model = Model::new("rod");
    let mass = LagrangianLinear::new([-1.0, 0.0], [0.0, 0.0], Matrix::identity(2));
    let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
    let names = Names { first: ("q", 2), second: ("lam", 1), ..Names::TIME };
    let length = Operator::formulas(1, 1, &["sqrt(q[0]^2 + q[1]^2) - 1"], &names, &[]).unwrap();
    model.connect("rod", LagrangianRelation::new(length), Law::Equality, &[id]).unwrap();
    model
}

pub fn ball(e: f64) -> Model {
    let mut model = Model::new("ball");
    let mass = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]);
    let id = model.add("mass", mass).unwrap();
    let floor = LagrangianLinearRelation::new([[1.0]]);
    model.connect("floor", floor, Law::newton_impact(e), &[id]).unwrap();
    model
}

/// A mass on a spring, pressed on a table with friction.
pub fn dry() -> Model {
    let mut model = Model::new("dry friction");
    let mass = LagrangianLinear::new([0.0, 1.0], [0.0, 0.0], Matrix::identity(2));
    let mass = mass.K([[0.0, 0.0], [0.0, 1.0]]).F_ext([-1.5, 0.0]);
    let id = model.add("mass", mass).unwrap();
    let table = LagrangianLinearRelation::new(Matrix::identity(2));
    model.connect("table", table, Law::impact_friction(0.0, 0.1), &[id]).unwrap();
    model
}

pub fn incline(mu: f64) -> Model {
    let mut model = Model::new("incline");
    let block = LagrangianLinear::new([0.0, 0.0], [0.0, 0.0], Matrix::identity(2));
    let force = [-9.81 * 0.75f64.sqrt(), 9.81 * 0.5];
    let id = model.add("mass", block.F_ext(force)).unwrap();
    let plane = LagrangianLinearRelation::new(Matrix::identity(2));
    model.connect("plane", plane, Law::impact_friction(0.0, mu), &[id]).unwrap();
    model
}

/// A bead on the parabola `z = q²`.
pub fn bead() -> Model {
    let mut model = Model::new("bead");
    let M = Operator::matrix(1, 1, |at, M| M[0] = 1.0 + 4.0 * at.first[0] * at.first[0]);
    let force = formulas(1, 1, &["4*q[0]*v[0]^2 + 2*9.81*q[0]"]);
    model.add("mass", Lagrangian::new([0.8], [0.5], M).F_int(force)).unwrap();
    model
}

/// Where the bead is after two seconds, by the classical scheme of Runge and Kutta.
pub fn bead_end() -> f64 {
    let rate = |[q, v]: [f64; 2]| [v, -(4.0 * q * v * v + 2.0 * 9.81 * q) / (1.0 + 4.0 * q * q)];
    let h = 1e-4;
    let mut x = [0.8, 0.5];
    for _ in 0..20_000 {
        let along = |k: [f64; 2], s: f64| [x[0] + s * k[0], x[1] + s * k[1]];
        let k1 = rate(x);
        let k2 = rate(along(k1, 0.5 * h));
        let k3 = rate(along(k2, 0.5 * h));
        let k4 = rate(along(k3, h));
        x = [0, 1].map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    x[0]
}

pub fn run(model: Model, h: f64, scheme: &Integrator, until: f64) -> Run {
    TimeStepping::new(model, h, [scheme.clone()]).unwrap().run(until).unwrap()
}

pub fn last(run: &Run, signal: &str) -> f64 {
    *run.signal(signal).unwrap().last().unwrap()
}

/// Largest error of a signal against `exact(t)`.
pub fn sup(run: &Run, signal: &str, exact: impl Fn(f64) -> f64) -> f64 {
    let values = run.signal(signal).unwrap();
    let rows = run.frames.time.iter().zip(&values);
    rows.fold(0.0f64, |worst, (&t, x)| worst.max((x - exact(t)).abs()))
}

/// A mass that slides down inside of a bowl and stays on it: forces of contacts that stay closed.
#[test]
fn d1_minus_keeps_contacts_closed() {
    for variant in [Variant::Acceleration, Variant::Velocity] {
        let mut model = Model::new("bowl");
        let mass = LagrangianLinear::new([-1.0, 0.0], [0.0, 0.0], Matrix::identity(2));
        let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
        let names = Names { first: ("q", 2), second: ("lam", 1), ..Names::TIME };
        let gap = ["1 - sqrt(q[0]^2 + q[1]^2)"];
        let gap = Operator::formulas(1, 1, &gap, &names, &[]).unwrap();
        model
            .connect("bowl", LagrangianRelation::new(gap), Law::newton_impact(0.0), &[id])
            .unwrap();
        let scheme = D1MinusLinear { variant, tol: 1e-4, ..Default::default() };
        let run = run(model, 1e-3, &scheme.into(), 1.0);
        // energy: v² = 2 g |y|, and the force 3 g |y| at the end
        let (y, lam): (f64, f64) = (last(&run, "mass.q[1]"), last(&run, "bowl.lam") / 1e-3);
        within(&format!("{variant:?}: force"), (lam + 3.0 * 9.81 * y).abs(), 0.3);
        within(&format!("{variant:?}: gap"), sup(&run, "bowl.y", |_| 0.0), 1e-4);
    }
}

/// `ẋ = A x + b` with constant `b` is exact for every step, also where rates are far apart.
#[test]
fn zero_order_hold_is_exact() {
    for h in [1e-3, 0.1, 2.0] {
        let mut model = Model::new("spring and decay");
        let A = [[0.0, 1.0, 0.0], [-4.0, 0.0, 0.0], [0.0, 0.0, -1e3]];
        let mut M = Matrix::diagonal(&[2.0, 2.0, 1.0]);
        M[(0, 1)] = 0.5;
        // M ẋ = (M A) x + M b
        let MA = M.mul(&Matrix::from(A));
        let mut Mb = vec![0.0; 3];
        M.apply(&[0.0, 4.0, 5.0], &mut Mb);
        let system = FirstOrderLinear::new([0.0, 1.0, 1.0], MA).b(Mb).M(M);
        model.add("plant", system).unwrap();
        let run = run(model, h, &ZeroOrderHold::default().into(), 10.0);
        let exact = [
            |t: f64| 1.0 - (2.0 * t).cos() + 0.5 * (2.0 * t).sin(),
            |t: f64| 2.0 * (2.0 * t).sin() + (2.0 * t).cos(),
            |t: f64| 5e-3 + 0.995 * (-1e3 * t).exp(),
        ];
        for (i, exact) in exact.into_iter().enumerate() {
            within(&format!("h = {h}, x{i}"), sup(&run, &format!("plant.x[{i}]"), exact), 1e-10);
        }
    }
}

/// With a relay the hold reaches the sliding mode and stays there, and forcing that changes with
/// time is held: first order.
#[test]
fn zero_order_hold_with_relays_and_forcing() {
    let sliding = crate::models::sliding_mode(0.01);
    let run_hold = run(sliding.model, 0.01, &ZeroOrderHold::default().into(), 10.0);
    for i in 0..2 {
        let error = sup(&run_hold, &format!("plant.x[{i}]"), |t| exact::sliding_mode(t)[i]);
        within("sliding mode", error, 0.01);
    }
    let errors: Vec<(f64, f64)> = [0.1, 0.05, 0.025, 0.0125]
        .map(|h| {
            let mut model = Model::new("forced");
            let b = Operator::vector_of_time(1, |t, b| b[0] = t.cos());
            model.add("plant", FirstOrderLinear::new([0.5], [[-1.0]]).b(b)).unwrap();
            let run = run(model, h, &ZeroOrderHold::default().into(), 5.0);
            (h, sup(&run, "plant.x", |t| 0.5 * (t.cos() + t.sin())))
        })
        .to_vec();
    let found = order(&errors);
    println!("zero-order-hold, forced: order {found:.2}");
    assert!((0.9..1.1).contains(&found));
}

/// The free vibration of damped modes is exact, whatever the step.
#[test]
fn modes_of_bilbao_are_exact() {
    // ω² and σ: slow, fast, strongly damped, free, and free with damping
    let modes = [(1.0, 0.01), (900.0, 0.5), (4.0, 3.0), (0.0, 0.0), (0.0, 0.7)];
    let of = |f: fn(&(f64, f64)) -> f64| Matrix::diagonal(&modes.map(|mode| f(&mode)));
    let (q0, v0) = ([1.0, -0.5, 0.3, 0.1, 0.2], [0.5, 1.0, -1.0, 0.2, 0.7]);
    for h in [1e-3, 0.05, 0.5] {
        let mut model = Model::new("modes");
        let system = LagrangianLinear::new(q0, v0, Matrix::diagonal(&[2.0; 5]));
        let system = system.K(of(|mode| 2.0 * mode.0)).C(of(|mode| 4.0 * mode.1));
        model.add("string", system).unwrap();
        let run = run(model, h, &MoreauJeanBilbao::default().into(), 20.0);
        for (i, (omega2, sigma)) in modes.into_iter().enumerate() {
            let exact = |t: f64| {
                let s = sigma * sigma - omega2;
                let (C, S) = match s {
                    s if s > 0.0 => ((s.sqrt() * t).cosh(), (s.sqrt() * t).sinh() / s.sqrt()),
                    s if s < 0.0 => {
                        let nu = f64::sqrt(-s);
                        ((nu * t).cos(), (nu * t).sin() / nu)
                    }
                    _ => (1.0, t),
                };
                (-sigma * t).exp() * (q0[i] * C + (v0[i] + sigma * q0[i]) * S)
            };
            let error = sup(&run, &format!("string.q[{i}]"), exact);
            within(&format!("h = {h}, mode {i}"), error, 1e-9);
        }
    }
}

/// A mode under gravity falls on a floor: impacts as in the scheme of Moreau and Jean.
#[test]
fn modes_of_bilbao_bounce() {
    let errors: Vec<(f64, f64)> = [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4]
        .map(|h| {
            let run = run(ball(0.9), h, &MoreauJeanBilbao::default().into(), 3.0);
            let q = run.signal("mass.q").unwrap();
            let rows = run.frames.time.iter().zip(&q);
            (h, rows.map(|(&t, q)| h * (q - exact::ball(1.0, 0.9, t).0).abs()).sum())
        })
        .to_vec();
    let found = order(&errors);
    println!("moreau-jean-bilbao, ball: order {found:.2}");
    assert!(found > 0.7, "{errors:?}");
}

/// Models that a scheme is not made for are refused by name.
#[test]
fn schemes_refuse_what_they_cannot_do() {
    let refused = |model: Model, scheme: Integrator, expected: &str| {
        let error = TimeStepping::new(model, 1e-3, [scheme]).and_then(|mut sim| sim.step());
        let found = error.unwrap_err().to_string();
        assert_eq!(found, expected);
    };
    let mut coupled = Model::new("coupled");
    let K = [[2.0, -1.0], [-1.0, 2.0]];
    let masses = LagrangianLinear::new([0.0, 0.0], [0.0, 0.0], Matrix::identity(2)).K(K);
    coupled.add("masses", masses).unwrap();
    let expected = "`masses`: moreau-jean-bilbao needs K to be diagonal";
    refused(coupled, MoreauJeanBilbao::default().into(), expected);
    let expected = "`mass`: moreau-jean-bilbao needs the system to be linear";
    refused(pendulum(), MoreauJeanBilbao::default().into(), expected);
    let expected =
        "`table`: d1-minus-linear needs the law to be without friction, or the variant `velocity`";
    refused(dry(), D1MinusLinear::default().into(), expected);
    let mut curved = Model::new("curved");
    let f = Operator::vector(1, |at, f| f[0] = -at.first[0].powi(3));
    curved.add("plant", FirstOrder::new([1.0], f)).unwrap();
    let expected = "`plant`: zero-order-hold needs the system to be linear";
    refused(curved, ZeroOrderHold::default().into(), expected);
    let mut descriptor = Model::new("descriptor");
    let M = Matrix::diagonal(&[1.0, 0.0]);
    let plant = FirstOrderLinear::new([1.0, 0.0], Matrix::identity(2)).M(M);
    descriptor.add("plant", plant).unwrap();
    let error = TimeStepping::new(descriptor, 1e-3, [ZeroOrderHold::default().into()]);
    let error = error.and_then(|mut sim| sim.step()).unwrap_err().to_string();
    assert!(error.contains("`plant`") && error.contains("M is singular"), "{error}");
}

/// Dry friction stops a mass, and it stays stopped; a steep block slides, a flat one does not.
#[test]
fn friction_holds() {
    let schemes: [Integrator; 5] = [
        MoreauJean::default().into(),
        MoreauJean { projection: Some(Projection::Combined), ..MoreauJean::default() }.into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
    ];
    for scheme in &schemes {
        let stopped = run(dry(), 1e-3, scheme, 12.0);
        let x = stopped.signal("mass.q[1]").unwrap();
        let name = scheme.name();
        within(&format!("{name}: rest"), (last(&stopped, "mass.q[1]") + 0.1).abs(), 5e-3);
        let creep = x.iter().skip(10_000).fold(0.0f64, |worst, q| worst.max((q - x[10_000]).abs()));
        within(&format!("{name}: creep after 10 s"), creep, 1e-12);
        let held = run(incline(0.7), 2e-3, scheme, 1.0);
        within(&format!("{name}: a held block"), sup(&held, "mass.q[1]", |_| 0.0), 1e-12);
    }
}

/// How far a rod is from its length in so many steps, and how fast it changes it.
fn drift(scheme: impl Into<Integrator>, steps: usize) -> (f64, f64) {
    let mut sim = TimeStepping::new(rod(), 1e-3, [scheme.into()]).unwrap();
    let rod = sim.model().interaction_id("rod").unwrap();
    let (mut worst, mut speed) = (0.0f64, 0.0f64);
    for _ in 0..steps {
        sim.step().unwrap();
        worst = worst.max(sim.y(rod)[0].abs());
        speed = speed.max(sim.u(rod)[0].abs());
    }
    (worst, speed)
}

/// A rod keeps its length over many steps where positions are projected, and drifts where not.
#[test]
fn a_rod_drifts_without_projection() {
    assert!(drift(MoreauJean::default(), 10_000).0 > 1e-6);
}

#[test]
fn a_rod_keeps_its_length_by_direct_projection() {
    let scheme = MoreauJean { projection: Some(Projection::Direct), ..MoreauJean::default() };
    within("direct: length", drift(scheme, 100_000).0, 1e-10);
}

#[test]
fn a_rod_keeps_its_length_by_combined_projection() {
    let scheme = MoreauJean { projection: Some(Projection::Combined), ..MoreauJean::default() };
    within("combined: length", drift(scheme, 100_000).0, 1e-10);
}

#[test]
fn a_rod_keeps_its_length_by_ggl() {
    let scheme = MoreauJean { projection: Some(Projection::Ggl), ..MoreauJean::default() };
    let (gap, speed) = drift(scheme, 100_000);
    within("GGL: length", gap, 1e-10);
    within("GGL: speed along the rod", speed, 1e-9);
    let scheme = GeneralizedAlpha { projection: Some(Projection::Ggl), ..Default::default() };
    within("generalized-α, GGL: length", drift(scheme, 20_000).0, 1e-10);
}

#[test]
fn a_rod_keeps_its_length_by_positions() {
    within("Schatzman-Paoli: length", drift(SchatzmanPaoli::default(), 100_000).0, 1e-10);
}

/// A projected ball does not stay in the floor, and one on a curved bowl neither.
#[test]
fn projected_contacts_do_not_penetrate() {
    let bowl = || {
        let mut model = Model::new("bowl");
        let mass = LagrangianLinear::new([0.5, 0.0], [0.0, 0.3], Matrix::diagonal(&[1.0, 2.0]));
        let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
        let names = Names { first: ("q", 2), second: ("lam", 2), ..Names::TIME };
        let texts = ["1 - sqrt(q[0]^2 + q[1]^2)", "atan2(q[1], q[0])"];
        let gap = Operator::formulas(2, 1, &texts, &names, &[]).unwrap();
        let law = Law::impact_friction(0.0, 0.2);
        model.connect("floor", LagrangianRelation::new(gap), law, &[id]).unwrap();
        model
    };
    let deepest = |model: Model, projection| {
        let scheme = MoreauJean { projection, ..MoreauJean::default() };
        let run = run(model, 2e-3, &scheme.into(), 3.0);
        let y = run.signal("floor.y").unwrap();
        let size = y.len() / run.frames.len();
        y.iter().step_by(size).fold(0.0f64, |worst, y| worst.max(-y))
    };
    for model in [ball(0.5), ball(0.0), bowl()] {
        let title = model.title().to_string();
        let without = deepest(model.clone(), None);
        let combined = deepest(model, Some(Projection::Combined));
        println!("{title}: penetration {without:.1e} without, {combined:.1e} with projection");
        assert!(without > 1e-4, "{title}");
        within("combined", combined, 1e-9);
    }
}

/// Energy of free vibrations over a thousand periods: kept, or lost on purpose.
#[test]
fn energy_of_vibrations() {
    let energy = |scheme: &Integrator| {
        let run = run(oscillator(), 0.1, scheme, 2000.0 * PI);
        let ledgers = ledgers(&run);
        let of = |k: usize| ledgers[k].kinetic + ledgers[k].potential;
        of(ledgers.len() - 1) / of(1)
    };
    let kept: [Integrator; 3] = [
        MoreauJean::default().into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha { rho_inf: 1.0, ..Default::default() }.into(),
    ];
    for scheme in &kept {
        let left = energy(scheme);
        println!("{}: {left:.6} of the energy is left", scheme.name());
        assert!((left - 1.0).abs() < 0.1, "{}: {left}", scheme.name());
    }
    let left = energy(&GeneralizedAlpha { rho_inf: 0.5, ..Default::default() }.into());
    assert!(left < 0.9, "generalized-alpha, rho = 0.5: {left}");
}

/// A step that fails changes nothing: the next attempt goes on as if it had not been.
#[test]
fn failed_steps_change_nothing() {
    let schemes: [Integrator; 7] = [
        D1MinusLinear::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
        MoreauJean { projection: Some(Projection::Direct), ..Default::default() }.into(),
        MoreauJean { projection: Some(Projection::Combined), ..Default::default() }.into(),
        MoreauJean { projection: Some(Projection::Ggl), ..Default::default() }.into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
    ];
    for scheme in schemes {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};
        let broken = Arc::new(AtomicBool::new(false));
        let model = |broken: Arc<AtomicBool>| {
            let mut model = Model::new("fragile");
            let force = Operator::vector(2, move |at, F| {
                F[0] = if broken.load(Ordering::Relaxed) { f64::NAN } else { at.first[0] };
                F[1] = 9.81;
            });
            let mass = Lagrangian::new([-1.0, 0.0], [0.0, 0.0], Matrix::identity(2)).F_int(force);
            let id = model.add("mass", mass).unwrap();
            let names = Names { first: ("q", 2), second: ("lam", 1), ..Names::TIME };
            let length = ["sqrt(q[0]^2 + q[1]^2) - 1"];
            let length = Operator::formulas(1, 1, &length, &names, &[]).unwrap();
            model.connect("rod", LagrangianRelation::new(length), Law::Equality, &[id]).unwrap();
            model
        };
        let sim = |model| TimeStepping::new(model, 1e-2, [scheme.clone()]).unwrap();
        let (mut one, mut other) = (sim(model(broken.clone())), sim(model(Arc::default())));
        for k in 0..50 {
            if k % 7 == 3 {
                broken.store(true, Ordering::Relaxed);
                one.step().unwrap_err();
                broken.store(false, Ordering::Relaxed);
            }
            one.step().unwrap();
            other.step().unwrap();
        }
        let id = one.model().system_id("mass").unwrap();
        assert_eq!(one.q(id).unwrap(), other.q(id).unwrap(), "{}", scheme.name());
        assert_eq!(one.v(id).unwrap(), other.v(id).unwrap(), "{}", scheme.name());
    }
}

/// Two oscillators that never touch, so that each one moves as if it were alone.
fn two_oscillators(linked: bool) -> Model {
    let mut model = Model::new("two oscillators");
    let mass = |x: f64| LagrangianLinear::new([x], [0.5], [[1.0]]).K([[1.0]]);
    let left = model.add("left", mass(1.0)).unwrap();
    let right = model.add("right", mass(0.7)).unwrap();
    if linked {
        let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([100.0]);
        model.connect("gap", gap, Law::newton_impact(0.5), &[left, right]).unwrap();
    }
    model
}

/// Every system has its own scheme: the trajectories are those that each would have alone.
#[test]
fn a_scheme_for_each_system() {
    let alone = |name: &str, x: f64, scheme: Integrator| {
        let mut model = Model::new("alone");
        model.add(name, LagrangianLinear::new([x], [0.5], [[1.0]]).K([[1.0]])).unwrap();
        run(model, 0.05, &scheme, 10.0).signal(&format!("{name}.q")).unwrap()
    };
    let of = |name: &str| vec![name.to_string()];
    let damped = |systems| MoreauJean { theta: 1.0, systems, ..MoreauJean::default() };
    let paoli = |systems| SchatzmanPaoli { systems, ..SchatzmanPaoli::default() };
    let both = |linked, integrators: [Integrator; 2]| {
        let mut sim = TimeStepping::new(two_oscillators(linked), 0.05, integrators).unwrap();
        let first = sim.run(10.0).unwrap();
        sim.reset().unwrap();
        let second = sim.run(10.0).unwrap();
        assert_eq!(first.frames.rows, second.frames.rows);
        (first.signal("left.q").unwrap(), first.signal("right.q").unwrap())
    };
    let close = |a: &[f64], b: &[f64]| {
        let worst = a.iter().zip(b).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
        within("two schemes against one", worst, 1e-12);
    };
    // θ may differ across an interaction
    let schemes = [damped(of("left")).into(), MoreauJean::default().into()];
    let (left, right) = both(true, schemes);
    close(&left, &alone("left", 1.0, damped(Vec::new()).into()));
    close(&right, &alone("right", 0.7, MoreauJean::default().into()));
    // anything may differ where there is none
    let schemes = [damped(of("right")).into(), paoli(of("left")).into()];
    let (left, right) = both(false, schemes);
    close(&left, &alone("left", 1.0, paoli(Vec::new()).into()));
    close(&right, &alone("right", 0.7, damped(Vec::new()).into()));
}

#[test]
fn schemes_that_do_not_go_together_are_refused() {
    let of = |name: &str| vec![name.to_string()];
    let paoli = |systems| Integrator::from(SchatzmanPaoli { systems, ..Default::default() });
    let refused = |integrators: Vec<Integrator>, expected: &str| {
        let found = TimeStepping::new(two_oscillators(true), 0.1, integrators).unwrap_err();
        assert!(found.to_string().contains(expected), "{found}");
    };
    let links = "interaction `gap` links `left`, which has schatzman-paoli, and `right`, which has moreau-jean";
    refused(vec![paoli(of("left"))], links);
    refused(vec![paoli(of("left")), paoli(of("left"))], "system `left` has two integrators");
    refused(vec![paoli(of("middle"))], "`middle`");
    refused(vec![paoli(Vec::new()), paoli(Vec::new())], "two integrators for Lagrangian systems");
}

/// Two masses on springs, of which the first is shaken: the second answers, and the reaction is
/// what moves the first.
#[test]
fn prescribed_degrees_of_freedom() {
    // q0 = sin t is given; q̈1 = −2 q1 + q0 has the answer q1 = sin t
    let model = |v: Operator| {
        let mut model = Model::new("shaker");
        let K = [[2.0, -1.0], [-1.0, 2.0]];
        let masses = LagrangianLinear::new([0.0, 0.0], [1.0, 1.0], Matrix::identity(2)).K(K);
        let id = model.add("masses", masses).unwrap();
        model.prescribe("shaker", id, [0], v).unwrap();
        model
    };
    let given = || Operator::vector_of_time(1, |t, v| v[0] = t.cos());
    let schemes: [Integrator; 6] = [
        MoreauJean::default().into(),
        MoreauJean { projection: Some(Projection::Ggl), ..Default::default() }.into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
    ];
    for scheme in &schemes {
        let errors: Vec<(f64, f64)> = [0.04, 0.02, 0.01]
            .map(|h| {
                let run = run(model(given()), h, scheme, 10.0);
                let of = |i: usize| sup(&run, &format!("masses.q[{i}]"), f64::sin);
                (h, of(0).max(of(1)))
            })
            .to_vec();
        let found = order(&errors);
        println!("{}: prescribed motion, order {found:.2} {errors:?}", scheme.name());
        assert!(found > 1.8, "{}: {errors:?}", scheme.name());
        // m q̈0 + 2 q0 − q1 = 0 along q0 = q1 = sin t: no reaction is needed
        let run_fine = run(model(given()), 0.01, scheme, 10.0);
        within("reaction", sup(&run_fine, "shaker.lam", |_| 0.0) / 0.01, 0.1);
        // a degree of freedom that is held
        let held = run(model(Operator::from([0.0])), 0.01, scheme, 1.0);
        let force = last(&held, "shaker.lam") / 0.01;
        // at rest in q0, q̈1 = −2 q1: the reaction is −q1
        let q1 = 2f64.sqrt().recip() * 2f64.sqrt().sin();
        within("reaction of a support", (force + q1).abs(), 0.02);
    }
    let mut model = Model::new("none");
    let id = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
    let error = model.prescribe("shaker", id, [1], [0.0]).unwrap_err().to_string();
    assert!(error.contains("entry 0 of `dofs` is 1"), "{error}");
}

/// A long column of beads falls on a floor: many contacts, a sparse problem, waves of impacts.
#[test]
fn a_column_by_every_scheme() {
    let projected = |projection| MoreauJean { projection: Some(projection), ..Default::default() };
    let schemes: [Integrator; 8] = [
        MoreauJean::default().into(),
        projected(Projection::Direct).into(),
        projected(Projection::Combined).into(),
        projected(Projection::Ggl).into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
    ];
    for integrator in schemes {
        let case = crate::models::beads(80, 2e-3, 1.0);
        let name = format!("{integrator:?}");
        let run = run(case.model, 2e-3, &integrator, 1.0);
        let deepest = run.stats.worst_penetration;
        println!("{name}: deepest {deepest:.1e}, {} iterations", run.stats.iterations);
        if integrator == projected(Projection::Combined).into() {
            assert!(deepest < 1e-9, "{name}");
        }
        let energy = |ledger: &saltus::sim::Ledger| ledger.kinetic - ledger.work;
        let ledgers = ledgers(&run);
        let lost = energy(&ledgers[0]) - energy(&ledgers[ledgers.len() - 1]);
        assert!(lost > 0.0, "{name}: impacts gave {:e}", -lost);
    }
}

/// What a scheme has no right answer for is refused: restitution along tangents, which Schatzman and Paoli's would give
/// in several steps, and contacts with a law on velocities where the gap gives way.
#[test]
fn restitution_and_compliance_are_refused_where_they_have_no_meaning() {
    for law in [
        Law::ImpactFriction { e: 0.5.into(), mu: 5.0.into(), et: 1.0 },
        Law::Fremond { e: 0.5.into(), mu: 0.3.into() },
    ] {
        let mut model = Model::new("puck");
        let id =
            model.add("puck", LagrangianLinear::new([0.0; 2], [-1.0, 0.6], Matrix::identity(2)));
        let contact = LagrangianLinearRelation::new(Matrix::identity(2));
        model.connect("floor", contact, law, &[id.unwrap()]).unwrap();
        assert!(TimeStepping::new(model.clone(), 1e-3, []).is_ok());
        let refused = TimeStepping::new(model, 1e-3, [SchatzmanPaoli::default().into()]);
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("`floor`") && said.contains("along tangents"), "{said}");
    }
    for law in [Law::newton_impact(0.0), Law::impact_friction(0.0, 0.5)] {
        let mut model = Model::new("soft");
        let id = model.add("mass", LagrangianLinear::new([0.0; 2], [0.0; 2], Matrix::identity(2)));
        let soft = LagrangianLinearRelation::new(Matrix::identity(2)).D(Matrix::identity(2));
        let said = model.connect("floor", soft, law, &[id.unwrap()]).unwrap_err().to_string();
        assert!(said.contains("`floor`") && said.contains("Complementarity"), "{said}");
    }
}

/// A polyhedron without points: the interaction is named, not the unknowns that its law adds.
#[test]
fn an_empty_polyhedron_is_told_by_its_interaction() {
    let mut model = Model::new("nowhere");
    let id = model.add("x", FirstOrderLinear::new([0.0; 2], Matrix::zeros(2, 2))).unwrap();
    let identity = || Matrix::identity(2);
    let relation = FirstOrderLinearRelation::new(identity(), identity());
    let law = Law::NormalCone { A: [[1.0, 0.0], [-1.0, 0.0]].into(), b: vec![-1.0, -1.0] };
    model.connect("cone", relation, law, &[id]).unwrap();
    let said = TimeStepping::new(model, 0.1, []).unwrap().step().unwrap_err().to_string();
    assert!(said.contains("worst at `cone`"), "{said}");
}
