//! Defects of other programs, each a test of what is right instead.
//!
//! Those of rigid bodies, their joints and their contacts are with these: small rotations, moments in either
//! frame, rows and signs of a second body, what a joint leaves, the mass of a sphere (`rigid_bodies`, `joints`,
//! `contacts`, and the tests of `saltus-mechanics`). Not here are defects of a program's own command and
//! buffers, such as plugins of a runner.

use crate::example_files;
use crate::support::within;
use saltus::io::model_file::ModelFile;
use saltus::model::Names;
use saltus::prelude::*;
use saltus::sim::{NewtonMode, NewtonSettings};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn run(model: Model, h: f64, scheme: &Integrator, until: f64) -> Run {
    TimeStepping::new(model, h, [scheme.clone()]).unwrap().run(until).unwrap()
}

fn last(run: &Run, signal: &str) -> f64 {
    *run.signal(signal).unwrap().last().unwrap()
}

/// The schemes for any mechanical system.
fn mechanical() -> Vec<Integrator> {
    let projected = |projection| MoreauJean { projection: Some(projection), ..Default::default() };
    vec![
        MoreauJean::default().into(),
        MoreauJean { theta: 1.0, ..Default::default() }.into(),
        projected(Projection::Direct).into(),
        projected(Projection::Combined).into(),
        projected(Projection::Ggl).into(),
        SchatzmanPaoli::default().into(),
        SchatzmanPaoli { theta: 0.0, ..Default::default() }.into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
    ]
}

/// A matrix of a compliant relation that misses a factor `h`: a mass on a soft floor would sink by
/// another length at every step size.
#[test]
fn a_compliant_relation_does_not_depend_on_the_step() {
    let (m, D, g) = (2.0, 0.01, 9.81);
    let depth = D * m * g;
    let schemes: [Integrator; 3] = [
        MoreauJean { theta: 1.0, ..Default::default() }.into(),
        MoreauJean::default().into(),
        GeneralizedAlpha { rho_inf: 0.5, ..Default::default() }.into(),
    ];
    for scheme in &schemes {
        for h in [1e-2, 1e-3, 1e-4] {
            for formula in [false, true] {
                let mut model = Model::new("soft floor");
                let mass = LagrangianLinear::new([-depth], [0.0], [[m]]).F_ext([-m * g]);
                let id = model.add("mass", mass).unwrap();
                let law = Law::Complementarity;
                if formula {
                    let names = Names { first: ("q", 1), second: ("lam", 1), ..Names::TIME };
                    let gap = ["q[0] + 0.01*lam[0]"];
                    let gap = Operator::formulas(1, 1, &gap, &names, &[]).unwrap();
                    model.connect("floor", LagrangianCompliant::new(gap), law, &[id]).unwrap();
                } else {
                    let floor = LagrangianLinearRelation::new([[1.0]]).D([[D]]);
                    model.connect("floor", floor, law, &[id]).unwrap();
                }
                let run = run(model, h, scheme, 200.0 * h);
                let what = format!("{}, h = {h}", scheme.name());
                within(&format!("{what}: depth"), (last(&run, "mass.q") + depth).abs(), 1e-10);
                let force = last(&run, "floor.lam") / h;
                within(&format!("{what}: force"), (force / (m * g) - 1.0).abs(), 1e-8);
            }
        }
    }
}

/// Mixed problems of more than 200 blocks, which overran arrays of a fixed size.
#[test]
fn a_mixed_problem_of_many_blocks() {
    let mut model = Model::new("many blocks");
    let start = |i: usize| 0.35 + (i / 2) as f64 * 1e-3; // the same in a pair
    let tanks: Vec<SystemId> = (0..300)
        .map(|i| {
            let tank = FirstOrderLinear::new([start(i)], [[0.0]]).b([-1.0]);
            model.add(&format!("tank{i}"), tank).unwrap()
        })
        .collect();
    for (i, tank) in tanks.iter().enumerate() {
        let floor = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
        model.connect(&format!("floor{i}"), floor, Law::Complementarity, &[*tank]).unwrap();
    }
    for (i, pair) in tanks.chunks(2).enumerate() {
        let pipe = FirstOrderLinearRelation::new([[1.0, -1.0]], [[1.0], [-1.0]]);
        model.connect(&format!("pipe{i}"), pipe, Law::Equality, pair).unwrap();
    }
    let mut sim = TimeStepping::new(model, 0.1, []).unwrap();
    for step in 1..=8 {
        sim.step().unwrap();
        let t = 0.1 * f64::from(step);
        for (i, &tank) in tanks.iter().enumerate() {
            let x = sim.x(tank).unwrap()[0];
            assert!((x - (start(i) - t).max(0.0)).abs() < 1e-8, "t = {t}: tank {i} has {x}");
        }
    }
}

/// The reaction of a support carries what pulls at it: springs, dampers, and forces from outside.
#[test]
fn the_reaction_to_a_prescribed_motion_includes_all_forces() {
    for scheme in mechanical() {
        for nonlinear in [false, true] {
            let mut model = Model::new("support");
            let id = if nonlinear {
                let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
                let force = Operator::formulas(1, 1, &["5*q[0] + 3*v[0]"], &names, &[]).unwrap();
                let mass = Lagrangian::new([0.4], [0.0], [[2.0]]).F_int(force).F_ext([-7.0]);
                model.add("mass", mass).unwrap()
            } else {
                let mass = LagrangianLinear::new([0.4], [0.0], [[2.0]]).K([[5.0]]).C([[3.0]]);
                model.add("mass", mass.F_ext([-7.0])).unwrap()
            };
            model.prescribe("support", id, [0], [0.0]).unwrap();
            let run = run(model, 1e-2, &scheme, 0.5);
            // held at 0.4: the spring pulls with 2, the force with 7
            let reaction = last(&run, "support.lam") / 1e-2;
            within(&format!("{}: reaction", scheme.name()), (reaction - 9.0).abs(), 1e-9);
            within(&format!("{}: place", scheme.name()), (last(&run, "mass.q") - 0.4).abs(), 1e-14);
        }
    }
}

/// A body in free fall for a thousand steps: an acceleration that is added to the last one instead
/// of replacing it would show as `t²` in the velocity.
#[test]
fn free_accelerations_do_not_accumulate() {
    for scheme in mechanical() {
        for nonlinear in [false, true] {
            let mut model = Model::new("fall");
            let (q, v, M) = ([0.0, 0.0], [1.0, 0.0], Matrix::diagonal(&[2.0, 4.0]));
            if nonlinear {
                let force = Operator::vector(2, |_, F| F.copy_from_slice(&[0.0, 8.0]));
                model.add("body", Lagrangian::new(q, v, M).F_int(force)).unwrap();
            } else {
                model.add("body", LagrangianLinear::new(q, v, M).F_ext([0.0, -8.0])).unwrap();
            }
            let run = run(model, 1e-2, &scheme, 10.0);
            let what = format!("{}, {nonlinear}", scheme.name());
            within(&format!("{what}: across"), (last(&run, "body.v[0]") - 1.0).abs(), 1e-12);
            // Schatzman-Paoli's velocity is that of the middle of the last two steps
            let slack = if matches!(scheme, Integrator::SchatzmanPaoli(_)) { 2e-2 } else { 1e-10 };
            let slack = slack + 1e-10;
            within(&format!("{what}: down"), (last(&run, "body.v[1]") + 20.0).abs(), slack);
        }
    }
}

/// The mass matrix of a nonlinear first-order system acts in every evaluation, not in the first
/// one only: `M ẋ = f` is `ẋ = M⁻¹ f`.
#[test]
fn a_constant_mass_acts_in_every_evaluation() {
    let names = Names { first: ("x", 2), ..Names::TIME };
    let of = |texts: &[&str]| Operator::formulas(2, 1, texts, &names, &[]).unwrap();
    for theta in [0.0, 0.5, 1.0] {
        let scheme: Integrator = EulerMoreau { theta, ..Default::default() }.into();
        let end = |system: FirstOrder| {
            let mut model = Model::new("mass");
            model.add("plant", system).unwrap();
            run(model, 1e-2, &scheme, 2.0).signal("plant.x").unwrap()
        };
        // M = [[2, 1], [0, 4]], M⁻¹ = [[1/2, −1/8], [0, 1/4]]
        let with = end(FirstOrder::new([1.0, 2.0], of(&["-x[0]^3 + x[1]", "-x[1]^3"]))
            .M([[2.0, 1.0], [0.0, 4.0]]));
        let without =
            end(FirstOrder::new([1.0, 2.0], of(&["(-x[0]^3 + x[1])/2 + x[1]^3/8", "-x[1]^3/4"])));
        let worst = with.iter().zip(&without).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
        within(&format!("θ = {theta}: M ẋ = f against ẋ = M⁻¹ f"), worst, 1e-9);
        let x1 = with[with.len() - 1]; // 4 ẋ = −x³: x = 2/√(1 + 2 t)
        within(&format!("θ = {theta}: x"), (x1 - 2.0 / 5f64.sqrt()).abs(), 5e-3);
    }
}

/// A Jacobian of the gyroscopic force by `v` is used whether or not the one by `q` is given, and
/// each of four Jacobians stays what it is: one linear iteration has to be the whole of the step.
#[test]
fn each_jacobian_is_used_and_none_overwrites_another() {
    let (h, theta) = (0.05, 0.5);
    // v̇ = −(a + b) v − (c + d) q, with F_gyr = a v + c q and F_int = b v + d q
    let (a, b, c, d) = (3.0, 20.0, 50.0, 700.0);
    for given in 0..16u32 {
        let calls = Arc::new(AtomicUsize::new(0));
        let constant = |value: f64, bit: u32| {
            let calls = Arc::clone(&calls);
            (given & (1 << bit) != 0).then(|| {
                Operator::matrix(1, 1, move |_, J| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    J[0] = value;
                })
            })
        };
        let force = |v: f64, q: f64| {
            Operator::vector(1, move |at, F| F[0] = v * at.second[0] + q * at.first[0])
        };
        let mass = Lagrangian {
            dF_gyr_dv: constant(a, 0),
            dF_gyr_dq: constant(c, 1),
            dF_int_dv: constant(b, 2),
            dF_int_dq: constant(d, 3),
            ..Lagrangian::new([1.0], [0.5], [[1.0]]).F_gyr(force(a, c)).F_int(force(b, d))
        };
        let mut model = Model::new("jacobians");
        let id = model.add("mass", mass).unwrap();
        let newton = NewtonSettings { mode: NewtonMode::Linear, ..Default::default() };
        let scheme: Integrator = MoreauJean { theta, ..Default::default() }.into();
        let mut sim =
            TimeStepping::with_methods(model, h, [scheme], &Solver::default(), newton).unwrap();
        let (mut q, mut v) = (1.0, 0.5);
        for step in 0..20 {
            sim.step().unwrap();
            // (1 + hθ(a+b) + h²θ²(c+d)) v⁺ = (1 − h(1−θ)(a+b) − h²θ(1−θ)(c+d)) v − h (c+d) q
            let (damping, spring) = (a + b, c + d);
            let left = 1.0 + h * theta * damping + h * h * theta * theta * spring;
            let right = 1.0 - h * (1.0 - theta) * damping - h * h * theta * (1.0 - theta) * spring;
            let next = (right * v - h * spring * q) / left;
            q += h * (theta * next + (1.0 - theta) * v);
            v = next;
            // differences are exact to about 1e-8
            let error = (sim.v(id).unwrap()[0] - v).abs().max((sim.q(id).unwrap()[0] - q).abs());
            assert!(error < 1e-6, "given {given:04b}, step {step}: off by {error:e}");
        }
        assert_eq!(calls.load(Ordering::Relaxed) > 0, given != 0, "given {given:04b}");
    }
}

/// A system with diagonal matrices moves as the same one does seen in turned coordinates.
#[test]
fn diagonal_systems_are_systems() {
    let (sin, cos) = 0.6f64.sin_cos();
    let R = Matrix::from([[cos, -sin], [sin, cos]]);
    let turned = |A: &Matrix| R.mul(A).mul(&R.transpose());
    let turn = |x: &[f64]| {
        let mut y = vec![0.0; 2];
        R.apply(x, &mut y);
        y
    };
    let of = |x: [f64; 2]| Matrix::diagonal(&x);
    let (M, C, K) = (of([2.0, 1.0]), of([0.3, 0.1]), of([5.0, 9.0]));
    let (q0, v0, F) = ([1.0, -0.5], [0.2, 0.4], [1.5, -2.5]);
    for scheme in mechanical() {
        let end = |M: &Matrix, C: &Matrix, K: &Matrix, q0: &[f64], v0: &[f64], F: &[f64]| {
            let mut model = Model::new("two modes");
            let system = LagrangianLinear::new(q0, v0, M.clone()).C(C.clone()).K(K.clone());
            model.add("modes", system.F_ext(F.to_vec())).unwrap();
            let run = run(model, 1e-2, &scheme, 10.0);
            [last(&run, "modes.q[0]"), last(&run, "modes.q[1]")]
        };
        let straight = turn(&end(&M, &C, &K, &q0, &v0, &F));
        let (q0, v0, F) = (turn(&q0), turn(&v0), turn(&F));
        let turned = end(&turned(&M), &turned(&C), &turned(&K), &q0, &v0, &F);
        let worst = straight.iter().zip(turned).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
        within(&format!("{}: diagonal against full", scheme.name()), worst, 1e-11);
    }
    // at rest where K q = F: nothing adds up over the steps, in Bilbao's scheme neither
    for scheme in mechanical().into_iter().chain([MoreauJeanBilbao::default().into()]) {
        let mut model = Model::new("at rest");
        let rest = [0.3, -2.5 / 9.0];
        let system = LagrangianLinear::new(rest, [0.0; 2], M.clone()).C(C.clone()).K(K.clone());
        model.add("modes", system.F_ext([1.5, -2.5])).unwrap();
        let run = run(model, 1e-2, &scheme, 50.0);
        for (i, rest) in rest.iter().enumerate() {
            let moved = (last(&run, &format!("modes.q[{i}]")) - rest).abs();
            within(&format!("{}: at rest", scheme.name()), moved, 1e-12);
        }
    }
}

/// `q̈ = −4 q` swings with 2, not with 1: the stiffness counts with its value.
#[test]
fn every_scheme_uses_the_stiffness() {
    for scheme in mechanical().into_iter().chain([MoreauJeanBilbao::default().into()]) {
        for nonlinear in [false, true] {
            let mut model = Model::new("spring");
            if nonlinear {
                if matches!(scheme, Integrator::MoreauJeanBilbao(_)) {
                    continue; // for linear systems
                }
                let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
                let force = Operator::formulas(1, 1, &["12*q[0]"], &names, &[]).unwrap();
                model.add("mass", Lagrangian::new([1.0], [0.0], [[3.0]]).F_int(force)).unwrap();
            } else {
                let mass = LagrangianLinear::new([1.0], [0.0], [[3.0]]).K([[12.0]]);
                model.add("mass", mass).unwrap();
            }
            let run = run(model, 1e-3, &scheme, 3.0);
            let error = (last(&run, "mass.q") - 6f64.cos()).abs();
            within(&format!("{}: spring", scheme.name()), error, 1e-2);
        }
    }
}

/// A key of a model file is that key and no other: a file with one value changed runs as the same
/// model built in Rust with that value changed.
#[test]
fn every_key_of_a_model_file_is_what_it_is_called() {
    let text = r#"
[simulation]
integrator = [{ kind = "moreau-jean", theta = 0.5 }, { kind = "euler-moreau", theta = 0.5 }]
h = 0.01
until = 0.5
[[system]]
name = "linear"
kind = "lagrangian-linear"
q0 = [0.1]
v0 = [0.2]
M = [[3]]
C = [[0.4]]
K = [[5]]
F_ext = [0.6]
[[system]]
name = "nonlinear"
kind = "lagrangian"
q0 = [0.1]
v0 = [0.2]
M = [["3"]]
F_gyr = ["0.4*v[0]"]
F_int = ["5*q[0]"]
F_ext = [0.6]
[[system]]
name = "plant"
kind = "first-order-linear"
x0 = [0.1]
A = [[-0.2]]
b = [0.3]
M = [[4]]
"#;
    let rust = |changed: &str, value: f64| {
        let of = |key: &str, usual: f64| if key == changed { value } else { usual };
        let mut model = Model::new("");
        let linear = LagrangianLinear::new(
            [of("linear.q0", 0.1)],
            [of("linear.v0", 0.2)],
            [[of("linear.M", 3.0)]],
        );
        let linear = linear.C([[of("linear.C", 0.4)]]).K([[of("linear.K", 5.0)]]);
        model.add("linear", linear.F_ext([of("linear.F_ext", 0.6)])).unwrap();
        let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
        let force = |text: String| Operator::formulas(1, 1, &[&text], &names, &[]).unwrap();
        let nonlinear = Lagrangian::new(
            [of("nonlinear.q0", 0.1)],
            [of("nonlinear.v0", 0.2)],
            [[of("nonlinear.M", 3.0)]],
        )
        .F_gyr(force(format!("{}*v[0]", of("nonlinear.F_gyr", 0.4))))
        .F_int(force(format!("{}*q[0]", of("nonlinear.F_int", 5.0))))
        .F_ext([of("nonlinear.F_ext", 0.6)]);
        model.add("nonlinear", nonlinear).unwrap();
        let plant = FirstOrderLinear::new([of("plant.x0", 0.1)], [[of("plant.A", -0.2)]]);
        let plant = plant.b([of("plant.b", 0.3)]).M([[of("plant.M", 4.0)]]);
        model.add("plant", plant).unwrap();
        let schemes: [Integrator; 2] =
            [MoreauJean::default().into(), EulerMoreau { theta: 0.5, ..Default::default() }.into()];
        TimeStepping::new(model, 0.01, schemes).unwrap().run(0.5).unwrap().frames.rows
    };
    let file = |overrides: &[(String, String)]| {
        let ModelFile { model, simulation, .. } =
            ModelFile::parse(text, "model.toml", overrides).unwrap_or_else(|e| panic!("{e}"));
        let (h, solver) = (simulation.h, &simulation.solver);
        let integrators = simulation.integrators;
        let mut sim =
            TimeStepping::with_methods(model, h, integrators, solver, simulation.newton).unwrap();
        sim.run(simulation.until).unwrap().frames.rows
    };
    let usual = file(&[]);
    assert_eq!(usual, rust("", 0.0));
    let vectors = ["q0", "v0", "F_ext", "x0", "b"];
    for key in [
        "linear.q0",
        "linear.v0",
        "linear.M",
        "linear.C",
        "linear.K",
        "linear.F_ext",
        "nonlinear.q0",
        "nonlinear.v0",
        "nonlinear.M",
        "nonlinear.F_gyr",
        "nonlinear.F_int",
        "nonlinear.F_ext",
        "plant.x0",
        "plant.A",
        "plant.b",
        "plant.M",
    ] {
        let name = key.split('.').nth(1).unwrap();
        let value = match name {
            "F_gyr" => "[\"1.25*v[0]\"]",
            "F_int" => "[\"1.25*q[0]\"]",
            name if vectors.contains(&name) => "[1.25]",
            _ => "[[1.25]]",
        };
        let changed = file(&[(key.to_string(), value.to_string())]);
        assert_ne!(changed, usual, "{key} has no effect");
        assert_eq!(changed, rust(key, 1.25), "{key} is another one");
    }
}

/// What a contact is said to be: open contacts carry nothing, to the last bit, and none pulls.
#[test]
fn a_contact_is_reported_as_it_is() {
    for scheme in mechanical() {
        let case = crate::models::beads(10, 1e-3, 1.0);
        let run = run(case.model, 1e-3, &scheme, 1.0);
        let (mut carried, mut open) = (0, 0);
        for i in 0..9 {
            let of = |quantity| run.signal(&format!("contact{i}.{quantity}")).unwrap();
            let (y, u, lam) = (of("y"), of("u"), of("lam"));
            for k in 1..y.len() {
                assert!(lam[k] >= 0.0, "{}: a contact pulls with {}", scheme.name(), lam[k]);
                carried += usize::from(lam[k] > 0.0);
                // open before and after, and far from closing
                if y[k - 1] > 5e-3 * (1.0 + u[k - 1].abs()) && y[k] > 5e-3 {
                    open += 1;
                    assert_eq!(lam[k].to_bits(), 0, "{}: step {k}", scheme.name());
                }
            }
        }
        assert!(carried > 20 && open > 1000, "{}: {carried} closed, {open} open", scheme.name());
    }
}

/// A constant force stays what it is, however often it is evaluated: runs after a reset are equal
/// to the last bit, also where Newton's method evaluates it many times a step.
#[test]
fn a_constant_force_stays_constant() {
    for (file, until) in [("two-link-arm/model.toml", "1"), ("slider-crank/friction.toml", "5e-3")]
    {
        let one = example_files::run(file, &[("simulation.until", until)]);
        let other = example_files::run(file, &[("simulation.until", until)]);
        assert_eq!(one.frames.rows, other.frames.rows, "{file}");
    }
    let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
    let spring = Operator::formulas(1, 1, &["q[0]^3"], &names, &[]).unwrap();
    let mut model = Model::new("cubic spring");
    let mass = Lagrangian::new([1.0], [0.0], [[1.0]]).F_int(spring).F_ext([-1.0]);
    model.add("mass", mass).unwrap();
    let mut sim = TimeStepping::new(model, 1e-2, []).unwrap();
    let first = sim.run(5.0).unwrap();
    sim.reset().unwrap();
    assert_eq!(first.frames.rows, sim.run(5.0).unwrap().frames.rows);
    // energy: ½ v² + ¼ q⁴ + q stays
    let (q, v) = (last(&first, "mass.q"), last(&first, "mass.v"));
    let energy = 0.5 * v * v + 0.25 * q.powi(4) + q;
    within("energy of the cubic spring", (energy - 1.25).abs(), 1e-3);
}
