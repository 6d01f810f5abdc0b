//! Joints on statics that move as they are told: pendulums on shaken supports, beads in tubes that turn.

use crate::support::{order_within, within};
use saltus::mechanics::{
    BodySpec, ContactPair, Coordinate, DriveSpec, Fitting, Follows, Friction, Given, Joint,
    Joint2d, JointLink, Scene, Shape, Spring, StaticSpec,
};
use saltus::prelude::*;
use saltus::sim::Projection;

const X: [f64; 3] = [1.0, 0.0, 0.0];

fn body(name: &str, mass: f64, place: [f64; 3]) -> BodySpec {
    let inertia = Some([[0.05, 0.0, 0.0], [0.0, 0.07, 0.0], [0.0, 0.0, 0.04]]);
    BodySpec { inertia, ..BodySpec::without_shape(name).mass(mass).at(place) }
}

fn formulas(formulas: &[&str]) -> Option<Given> {
    Some(Given::Formulas(formulas.iter().map(|one| one.to_string()).collect()))
}

fn driven(position: Option<Given>, omega: Option<Given>) -> StaticSpec {
    let drive = Some(DriveSpec { position, omega, ..DriveSpec::default() });
    StaticSpec { drive, ..StaticSpec::new("support", Shape::Sphere { radius: 0.1 }) }
}

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model().unwrap(), h, [MoreauJean::default().into()]).unwrap()
}

fn run(scene: &Scene, h: f64, t: f64) -> TimeStepping {
    let mut sim = simulation(scene, h);
    for _ in 0..(t / h).round() as usize {
        sim.step().unwrap();
    }
    sim
}

fn state(sim: &TimeStepping, name: &str) -> (Vec<f64>, Vec<f64>) {
    let id = sim.model().system_id(name).unwrap();
    (sim.q(id).unwrap().to_vec(), sim.v(id).unwrap().to_vec())
}

/// `θ` at an instant by the method of Runge and Kutta of order four, in steps that leave round-off alone:
///
/// ```text
/// (J + m l²) θ̈ = −m l ((g + ÿ) sin θ + ẍ cos θ)
/// ```
fn swung(theta: f64, l: f64, inertia: f64, t: f64, shaken: impl Fn(f64) -> [f64; 2]) -> f64 {
    let rate = |t: f64, [theta, omega]: [f64; 2]| {
        let [x, y] = shaken(t);
        let moment = (9.81 + y) * theta.sin() + x * theta.cos();
        [omega, -l * moment / (inertia + l * l)]
    };
    let steps = 4000;
    let (h, mut s) = (t / f64::from(steps), [theta, 0.0]);
    for k in 0..steps {
        let t = h * f64::from(k);
        let on = |a: f64, k: [f64; 2]| [s[0] + a * k[0], s[1] + a * k[1]];
        let k1 = rate(t, s);
        let k2 = rate(t + 0.5 * h, on(0.5 * h, k1));
        let k3 = rate(t + 0.5 * h, on(0.5 * h, k2));
        let k4 = rate(t + h, on(h, k3));
        s = [0, 1].map(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    s[0]
}

const L: f64 = 0.6;
const THETA: f64 = 0.4;

/// A pendulum of one kilogram that hangs on the support in `at`, at rest beside it.
fn pendulum(support: StaticSpec, at: [f64; 2], speed: [f64; 2], plane: bool) -> Scene {
    let (s, c) = THETA.sin_cos();
    let (x, y) = (at[0] + L * s, at[1] - L * c);
    let [vx, vy] = speed;
    match plane {
        true => {
            let mut scene = Scene::new("pendulum").in_plane().gravity([0.0, -9.81, 0.0]);
            let support = StaticSpec { parts: vec![Shape::Disk { radius: 0.1 }.into()], ..support };
            scene.bodies.push(BodySpec { v: [vx, vy, 0.0], ..body("bob", 1.0, [x, y, 0.0]) });
            let joint = Joint2d::Pivot { point: at };
            scene.joints.push(JointLink::new("hinge", joint, &["bob", "support"]));
            scene.statics.push(support);
            scene
        }
        false => {
            let mut scene = Scene::new("pendulum").gravity([0.0, 0.0, -9.81]);
            scene.bodies.push(BodySpec { v: [vx, 0.0, vy], ..body("bob", 1.0, [x, 0.0, y]) });
            let joint = Joint::Pivot { point: [at[0], 0.0, at[1]], axis: [0.0, 1.0, 0.0] };
            scene.joints.push(JointLink::new("hinge", joint, &["support", "bob"]));
            scene.statics.push(support);
            scene
        }
    }
}

/// The angle at which a pendulum hangs.
fn angle(sim: &TimeStepping, plane: bool) -> f64 {
    let (q, _) = state(sim, "bob");
    match plane {
        true => THETA + q[2],
        false => THETA - 2.0 * q[5].atan2(q[3]),
    }
}

/// A support that is shaken along both axes: of second order, in the plane and in space.
#[test]
fn a_pendulum_on_a_shaken_support() {
    let known = swung(THETA, L, 0.04, 1.5, |t| {
        [-0.1 * 49.0 * (7.0 * t).sin(), 0.05 * 81.0 * (9.0 * t).cos()]
    });
    let in_space = swung(THETA, L, 0.07, 1.5, |t| {
        [-0.1 * 49.0 * (7.0 * t).sin(), 0.05 * 81.0 * (9.0 * t).cos()]
    });
    for (plane, known) in [(true, known), (false, in_space)] {
        let (x, y) = ("0.1*sin(7*t)", "0.05*(1 - cos(9*t))");
        let given = if plane { formulas(&[x, y]) } else { formulas(&[x, "0", y]) };
        let scene = pendulum(driven(given, None), [0.0; 2], [0.7, 0.0], plane);
        let mut errors = Vec::new();
        for h in [4e-3, 2e-3, 1e-3] {
            let sim = run(&scene, h, 1.5);
            errors.push((h, (angle(&sim, plane) - known).abs()));
            let hinge = sim.model().interaction_id("hinge").unwrap();
            let gap = sim.y(hinge).iter().fold(0.0_f64, |most, y| most.max(y.abs()));
            within("gap", gap, 1e-14);
        }
        order_within("shaken support", &errors, 1.9..=2.1);
        within("at 1 ms", errors[2].1, 1e-4);
    }
}

/// The pin of a disk that turns, evenly or not.
#[test]
fn a_pendulum_on_a_crank() {
    let radius = 0.2;
    for (omega, turn) in [
        ("3", (|t| [3.0 * t, 3.0, 0.0]) as fn(f64) -> [f64; 3]),
        ("4*cos(2*t)", |t| [2.0 * (2.0 * t).sin(), 4.0 * (2.0 * t).cos(), -8.0 * (2.0 * t).sin()]),
    ] {
        let pin = |t: f64| {
            let [phi, w, dw] = turn(t);
            let (s, c) = phi.sin_cos();
            [radius * (-dw * s - w * w * c), radius * (dw * c - w * w * s)]
        };
        let known = swung(THETA, L, 0.04, 1.0, pin);
        let [_, w, _] = turn(0.0);
        let support = driven(None, formulas(&[omega]));
        let scene = pendulum(support, [radius, 0.0], [0.0, radius * w], true);
        let mut errors = Vec::new();
        for h in [4e-3, 2e-3, 1e-3] {
            errors.push((h, (angle(&run(&scene, h, 1.0), true) - known).abs()));
        }
        order_within(omega, &errors, 1.9..=2.1);
        within("at 1 ms", errors[2].1, 1e-4);
    }
}

/// What a drive brings is work, all of it: `E − E₀ = W`.
#[test]
fn drives_work() {
    let given = formulas(&["0.1*sin(7*t)", "0.05*(1 - cos(9*t))"]);
    let scene = pendulum(driven(given, None), [0.0; 2], [0.7, 0.0], true);
    let mut errors = Vec::new();
    for h in [4e-3, 2e-3, 1e-3] {
        let mut sim = simulation(&scene, h);
        let before = sim.ledger().unwrap();
        let (mut most, mut worst) = (0.0_f64, 0.0_f64);
        for _ in 0..(1.5 / h).round() as usize {
            sim.step().unwrap();
            let now = sim.ledger().unwrap();
            let gained = now.kinetic + now.potential - before.kinetic - before.potential;
            worst = worst.max((now.work - gained).abs());
            most = most.max(gained.abs());
        }
        assert!(most > 1.0, "{most}");
        errors.push((h, worst));
    }
    within("work at 1 ms", errors[2].1, 1e-4);
    assert!(errors[2].1 < 0.3 * errors[1].1, "{errors:?}");
}

/// The force of a joint is what moves the body: `f = m (a − g)`.
#[test]
fn a_joint_bears_what_it_moves() {
    let mut scene = Scene::new("ride").gravity([0.0, 0.0, -9.81]);
    scene.statics.push(driven(formulas(&["0.1*sin(7*t)", "0.3*t", "0"]), None));
    scene.bodies.push(BodySpec { v: [0.7, 0.3, 0.0], ..body("bob", 2.0, X) });
    scene.joints.push(JointLink::new("ride", Joint::Fixed, &["bob", "support"]));
    let h = 1e-3;
    let sim = run(&scene, h, 0.5);
    let (q, v) = state(&sim, "bob");
    within("way", (q[0] - 1.0 - 0.1 * 3.5_f64.sin()).abs(), 1e-14);
    within("way across", (q[1] - 0.15).abs(), 1e-14);
    within("speed", (v[0] - 0.7 * 3.5_f64.cos()).abs(), 1e-12);
    let lam = sim.lam(sim.model().interaction_id("ride").unwrap());
    let known = [-2.0 * 4.9 * (7.0 * (0.5 - 0.5 * h)).sin(), 0.0, 2.0 * 9.81];
    for k in 0..3 {
        within("force", (lam[k] / h - known[k]).abs(), 1e-4);
    }
}

/// A bead in a tube that turns: `r̈ = Ω² r`.
#[test]
fn a_bead_in_a_tube() {
    let (omega, r) = (1.5, 0.3);
    let mut scene = Scene::new("tube");
    scene.statics.push(driven(None, formulas(&["0", "0", "1.5"])));
    let bead = BodySpec { omega: [0.0, 0.0, omega], ..body("bead", 0.7, [r, 0.0, 0.0]) };
    scene.bodies.push(BodySpec { v: [0.0, omega * r, 0.0], ..bead });
    let tube = Joint::Prismatic { axis: X };
    scene.joints.push(JointLink::new("tube", tube, &["bead", "support"]));
    let mut errors = Vec::new();
    for h in [4e-3, 2e-3, 1e-3] {
        let (q, _) = state(&run(&scene, h, 1.2), "bead");
        errors.push((h, (q[0].hypot(q[1]) - r * (omega * 1.2_f64).cosh()).abs()));
        within("turn", (q[1].atan2(q[0]) - omega * 1.2).abs(), 1e-12);
    }
    order_within("a bead in a tube", &errors, 1.9..=2.1);
}

/// A mass on a spring whose other end is moved, `m ẍ = −k (x − a sin w t)`; and one that dry friction takes along.
#[test]
fn springs_and_friction_of_a_joint_that_is_carried() {
    let (a, w, k, m) = (0.02, 5.0, 50.0, 2.0);
    let mut scene = Scene::new("base");
    scene.statics.push(driven(formulas(&["0.02*sin(5*t)", "0", "0"]), None));
    for name in ["soft", "rough"] {
        let mut slide = JointLink::new(
            format!("{name} slide"),
            Joint::Prismatic { axis: X },
            &[name, "support"],
        );
        let mut fitting = Fitting::new(Coordinate::Way);
        match name {
            "soft" => fitting.spring = Some(Spring { stiffness: k, damping: 0.0, rest: 0.0 }),
            _ => fitting.friction = Some(Friction { force: 5.0, stiction: None, rest_speed: 1e-6 }),
        }
        slide.fittings.push(fitting);
        scene.joints.push(slide);
    }
    scene.bodies.push(body("soft", m, [0.0, 1.0, 0.0]));
    scene.bodies.push(BodySpec { v: [a * w, 0.0, 0.0], ..body("rough", m, [0.0, 2.0, 0.0]) });
    let known = |t: f64| {
        // w = √(k/m): resonance, from rest
        a / 2.0 * ((w * t).sin() - w * t * (w * t).cos())
    };
    let (mut errors, mut taken) = (Vec::new(), Vec::new());
    for h in [4e-3, 2e-3, 1e-3] {
        let sim = run(&scene, h, 1.5);
        errors.push((h, (state(&sim, "soft").0[0] - known(1.5)).abs()));
        let (rough, _) = state(&sim, "rough");
        taken.push((h, (rough[0] - a * (w * 1.5).sin()).abs()));
    }
    // a law on velocities takes that in the middle of the step, as contacts with what is driven do
    order_within("what friction takes along", &taken, 0.95..=1.05);
    within("what friction takes along at 1 ms", taken[2].1, 2e-5);
    order_within("a spring that is moved", &errors, 1.9..=2.1);
}

/// A joint that begins later begins where the support then is; one that follows counts from there.
#[test]
fn what_is_born_on_a_support() {
    let mut scene = Scene::new("late");
    scene.statics.push(driven(formulas(&["0.2*t", "0", "0"]), None));
    let late = BodySpec { v: [0.2, 0.0, 0.0], ..body("late", 1.0, X) };
    scene.bodies.push(BodySpec { birth: Some(0.5), ..late });
    scene.joints.push(JointLink::new("ride", Joint::Fixed, &["support", "late"]));
    let place = [0.0, 1.0, 0.0];
    scene.bodies.push(BodySpec { v: [0.2, 0.0, 0.0], ..body("one", 1.0, place) });
    scene.bodies.push(BodySpec { v: [0.2, 0.0, 0.0], ..body("two", 1.0, [0.0, 2.0, 0.0]) });
    for name in ["one", "two"] {
        let slide = Joint::Prismatic { axis: [0.0, 0.0, 1.0] };
        scene.joints.push(JointLink::new(format!("{name} slide"), slide, &[name, "support"]));
    }
    scene.bodies[1].force = formulas(&["0", "0", "0.5"]);
    scene.joints[2].follows = Some(Follows { joint: "one slide".to_string(), ratio: 2.0 });
    let sim = run(&scene, 1e-3, 1.0);
    let (q, _) = state(&sim, "late");
    within("late", (q[0] - 1.1).abs(), 1e-12);
    let ((one, _), (two, _)) = (state(&sim, "one"), state(&sim, "two"));
    // (1 + 4) z̈ = 0.5
    within("one", (one[2] - 0.05).abs(), 1e-12);
    within("two", (two[2] - 0.1).abs(), 1e-12);
    within("along", (two[0] - 0.2).abs(), 1e-12);
}

/// A bar that is hinged on a lift and lies on it: joint and contact take it along alike.
#[test]
fn joints_and_contacts_go_along_alike() {
    let mut scene = Scene::new("lift").gravity([0.0, 0.0, -9.81]);
    scene.contacts.push(ContactPair::new("default", "default").friction(0.3));
    let lift = driven(formulas(&["0", "0", "-0.05 + 0.2*(1 - cos(2*t))"]), None);
    let floor = Shape::Box { edges: [3.0, 3.0, 0.1] };
    scene.statics.push(StaticSpec { name: "lift".to_string(), parts: vec![floor.into()], ..lift });
    let bar = Shape::Box { edges: [1.0, 0.1, 0.1] };
    scene.bodies.push(BodySpec::new("bar", bar).mass(1.0).at([0.5, 0.0, 0.05]));
    let hinge = Joint::Pivot { point: [0.0, 0.0, 0.05], axis: [0.0, 1.0, 0.0] };
    let mut hinge = JointLink::new("hinge", hinge, &["bar", "lift"]);
    hinge.touch = true;
    scene.joints.push(hinge);
    let sim = run(&scene, 1e-3, 1.0);
    let (q, _) = state(&sim, "bar");
    within("height", (q[2] - 0.05 - 0.2 * (1.0 - 2.0_f64.cos())).abs(), 1e-6);
    within("tilt", q[5].abs(), 1e-6);
}

/// Other schemes see the same constraint, of `t` and `q`.
#[test]
fn other_schemes_on_a_shaken_support() {
    let known = swung(THETA, L, 0.04, 1.0, |t| {
        [-0.1 * 49.0 * (7.0 * t).sin(), 0.05 * 81.0 * (9.0 * t).cos()]
    });
    let given = formulas(&["0.1*sin(7*t)", "0.05*(1 - cos(9*t))"]);
    let scene = pendulum(driven(given, None), [0.0; 2], [0.7, 0.0], true);
    let projected = MoreauJean { projection: Some(Projection::Direct), ..MoreauJean::default() };
    for (integrator, tolerance) in
        [(GeneralizedAlpha::default().into(), 1e-4), (projected.into(), 1e-2)]
    {
        let integrator: Integrator = integrator;
        let name = integrator.name();
        let mut sim = TimeStepping::new(scene.model().unwrap(), 1e-3, [integrator]).unwrap();
        for _ in 0..1000 {
            sim.step().unwrap();
        }
        within(name, (angle(&sim, true) - known).abs(), tolerance);
    }
}
