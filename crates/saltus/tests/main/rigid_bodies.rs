//! Rigid bodies without contact: free rotation, loads, prescribed motion, and what is refused.

use crate::support::{Csv, difference, order_within, testdata, within};
use saltus::model::{ModelError, Names, System, rotation};
use saltus::prelude::*;
use saltus::sim::{EventDriven, SimError};

const INERTIA: [f64; 3] = [1.0, 2.0, 3.0];

/// The body of the reference: close to a turn about its middle axis, from which it tumbles.
fn dzhanibekov() -> (Model, SystemId) {
    let mut model = Model::new("Dzhanibekov");
    let body = RigidBody::new(1.0, INERTIA).moving([0.3, 0.0, 0.0], [0.01, 1.0, 0.02]);
    let body = model.add("body", body).unwrap();
    (model, body)
}

fn free_run(h: f64) -> Run {
    let (model, _) = dzhanibekov();
    let mut sim = TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap();
    sim.run(30.0).unwrap()
}

fn row<const N: usize>(values: &[f64], k: usize) -> [f64; N] {
    values[N * k..N * (k + 1)].try_into().unwrap()
}

/// Order 2 in the angular velocity and in the quaternion.
#[test]
fn free_rotation_converges_at_second_order() {
    let csv = Csv::read(&testdata(), "free_body_and_top/reference_free.csv");
    let (mut of_w, mut of_p) = (Vec::new(), Vec::new());
    for h in [0.02, 0.01, 0.005] {
        let run = free_run(h);
        let (w, p) = (run.signal("body.omega").unwrap(), run.signal("body.orientation").unwrap());
        let (mut worst_w, mut worst_p) = (0.0_f64, 0.0_f64);
        for i in 0..3 {
            let error = difference(&csv, &format!("w{}", i + 1), h, |k| w[3 * k + i]);
            worst_w = worst_w.max(error.absolute);
        }
        for i in 0..4 {
            let error = difference(&csv, &format!("q{i}"), h, |k| p[4 * k + i]);
            worst_p = worst_p.max(error.absolute);
        }
        of_w.push((h, worst_w));
        of_p.push((h, worst_p));
    }
    order_within("omega", &of_w, 1.95..=2.05);
    order_within("quaternion", &of_p, 1.95..=2.05);
    // the errors of Siconos at h = 0.01 are 7.6e-6 and 3.3e-5
    within("omega at h = 0.01", of_w[1].1, 8e-6);
    within("quaternion at h = 0.01", of_p[1].1, 3.5e-5);
}

/// The same scheme and step as Siconos.
#[test]
fn free_rotation_is_that_of_siconos() {
    let csv = Csv::read(&testdata(), "free_body_and_top/siconos_free.csv");
    let run = free_run(0.01);
    for (name, signal, size) in
        [("q", "orientation", 4), ("w", "omega", 3), ("v", "v", 3), ("", "position", 3)]
    {
        let values = run.signal(&format!("body.{signal}")).unwrap();
        for i in 0..size {
            let column = match name {
                "q" => format!("q{i}"),
                "w" => format!("w{}", i + 1),
                axis => format!("{axis}{}", ["x", "y", "z"][i]),
            };
            let error = difference(&csv, &column, 0.01, |k| values[size * k + i]);
            within(&column, error.absolute, 2e-8);
        }
    }
}

/// Energy and momentum of the tumbling body: no drift, only the error of the order of `h²`, and a
/// quaternion of length 1 to the last bits.
#[test]
fn free_rotation_keeps_energy_momentum_and_length() {
    let (model, body) = dzhanibekov();
    let mut sim = TimeStepping::new(model, 0.01, [MoreauJean::default().into()]).unwrap();
    let momentum = |q: &[f64], v: &[f64]| {
        let L = [INERTIA[0] * v[3], INERTIA[1] * v[4], INERTIA[2] * v[5]];
        rotation::rotate([q[3], q[4], q[5], q[6]], L)
    };
    let before = momentum(sim.q(body).unwrap(), sim.v(body).unwrap());
    let (mut energy, mut off, mut length) = (0.0_f64, [0.0_f64; 2], 0.0_f64);
    let steps = 100_000;
    for step in 0..steps {
        sim.step().unwrap();
        let (q, v) = (sim.q(body).unwrap(), sim.v(body).unwrap());
        let kinetic: f64 = (0..3).map(|i| 0.5 * INERTIA[i] * v[3 + i] * v[3 + i]).sum();
        energy = energy.max((kinetic - 1.00065).abs());
        let L = momentum(q, v);
        let change = rotation::norm(rotation::sub(L, before));
        let half = usize::from(step >= steps / 2);
        off[half] = off[half].max(change);
        length = length.max((q[3..].iter().map(|x| x * x).sum::<f64>().sqrt() - 1.0).abs());
    }
    within("energy", energy, 1e-5);
    within("momentum, first half", off[0], 2e-4);
    within("momentum, second half", off[1], 2e-4);
    within("length of the quaternion", length, 4e-16);
    let ledger = sim.ledger().unwrap();
    within("energy that the ledger does not find", ledger.numerical.abs(), 1e-10);
}

/// A body that spins about an axis of symmetry turns by the exact angle, whatever the step.
#[test]
fn a_turn_about_a_principal_axis_is_exact() {
    let mut model = Model::new("spin");
    let body = RigidBody::new(2.0, [0.3, 0.2, 0.4]).moving([0.0; 3], [0.0, 0.0, 2.5]);
    let body = model.add("body", body).unwrap();
    let mut sim = TimeStepping::new(model, 0.1, [MoreauJean::default().into()]).unwrap();
    let run = sim.run(10.0).unwrap();
    let p: [f64; 4] = row(&run.signal("body.orientation").unwrap(), 100);
    let (sin, cos) = (0.5_f64 * 25.0).sin_cos();
    let sign = p[0].signum() * cos.signum();
    within("quaternion", (sign * p[0] - cos).abs().max((sign * p[3] - sin).abs()), 1e-13);
    assert_eq!(sim.v(body).unwrap()[3..], [0.0, 0.0, 2.5]);
}

fn names() -> Names {
    Names { first: ("q", 7), second: ("v", 6), ..Names::TIME }
}

fn formula(text: &str) -> Operator {
    Operator::formula(text, &names(), &[]).unwrap()
}

/// `∂F/∂q` along the ways of the body and `∂F/∂v` agree with differences, for loads of every frame.
#[test]
fn jacobians_of_loads_agree_with_differences() {
    let force = "[q[0]*v[2] + q[3]*q[4], sin(t) + v[3]*q[6], q[5]^2 - v[0]]";
    let moment = "[q[1]*v[4], q[3]*q[5] + v[1], q[2] + v[5]*q[4]]";
    for force_frame in [Frame::World, Frame::Body] {
        for moment_frame in [Frame::World, Frame::Body] {
            let inertia = [[1.0, 0.1, 0.0], [0.1, 1.2, -0.2], [0.0, -0.2, 0.9]];
            let body = RigidBody::new(1.5, inertia)
                .gravity([0.0, 0.0, -9.81])
                .force(formula(force), force_frame)
                .moment(formula(moment), moment_frame);
            let System::SecondOrder(body) = System::from(body) else { panic!() };
            body.check("body").unwrap();
            let mut q = vec![0.3, -0.2, 0.5, 0.5, -0.1, 0.7, 0.5];
            body.admit(&mut q).unwrap();
            let v = [0.1, -0.4, 0.8, 1.1, -0.7, 0.4];
            let F = |q: &[f64], v: &[f64]| {
                let mut F = [0.0; 6];
                body.force(At::new(0.7, q, v), &mut F, &mut []).unwrap();
                F
            };
            let (mut dq, mut dv, mut work) = <(Matrix, Matrix, Matrix)>::default();
            body.force_dq(At::new(0.7, &q, &v), &mut dq, &mut work).unwrap();
            body.force_dv(At::new(0.7, &q, &v), &mut dv, &mut work).unwrap();
            let step = 1e-5;
            for j in 0..6 {
                let moved = |sign: f64| {
                    let mut way = [0.0; 6];
                    way[j] = sign * step;
                    let mut to = vec![0.0; 7];
                    body.displace(&q, &way, &mut to);
                    let mut faster = v;
                    faster[j] += sign * step;
                    (F(&to, &v), F(&q, &faster))
                };
                let ((q1, v1), (q0, v0)) = (moved(1.0), moved(-1.0));
                for i in 0..6 {
                    let by_q = (q1[i] - q0[i]) / (2.0 * step);
                    let by_v = (v1[i] - v0[i]) / (2.0 * step);
                    assert!((dq[(i, j)] - by_q).abs() < 1e-8, "dq {i} {j}: {by_q}");
                    assert!((dv[(i, j)] - by_v).abs() < 1e-8, "dv {i} {j}: {by_v}");
                }
            }
        }
    }
}

/// A constant moment in the frame of the body spins it up, and a force that turns with it leads it on
/// a curve; one in the frame of the world does neither.
#[test]
fn loads_of_either_frame() {
    let run = |frame| {
        let mut model = Model::new("rocket");
        let body = RigidBody::new(2.0, [1.0; 3])
            .moving([0.0; 3], [0.0, 0.0, 1.0])
            .force([1.0, 0.0, 0.0], frame);
        let body = model.add("body", body).unwrap();
        let mut sim = TimeStepping::new(model, 1e-3, [MoreauJean::default().into()]).unwrap();
        sim.run(1.0).unwrap();
        sim.v(body).unwrap().to_vec()
    };
    let v = run(Frame::World);
    within("straight", (v[0] - 0.5).abs() + v[1].abs(), 1e-12);
    let (sin, cos) = 1.0_f64.sin_cos();
    let v = run(Frame::Body);
    within("turned", (v[0] - 0.5 * sin).abs() + (v[1] - 0.5 * (1.0 - cos)).abs(), 1e-7);
}

/// A shaft that is driven about a fixed axis: the reaction is the moment that this takes.
#[test]
fn prescribed_degrees_of_freedom_of_a_body() {
    let mut model = Model::new("driven");
    let body = model.add("body", RigidBody::new(1.0, [1.0, 2.0, 2.5])).unwrap();
    let v = Operator::vector_of_time(2, |t, v| v.copy_from_slice(&[0.0, 3.0 * t]));
    let drive = model.prescribe("drive", body, [0, 5], v).unwrap();
    let mut sim = TimeStepping::new(model, 1e-2, [MoreauJean::default().into()]).unwrap();
    sim.run(1.0).unwrap();
    within("omega", (sim.v(body).unwrap()[5] - 3.0).abs(), 1e-12);
    within("moment", (sim.lam(drive)[1] / 1e-2 - 7.5).abs(), 1e-9);
}

/// A formula of the components of `q` is a relation of bodies too: `H = ∂h/∂q T`.
#[test]
fn formulas_of_q_are_turned_into_velocities() {
    let mut model = Model::new("height of a corner");
    let body = RigidBody::new(1.0, [1.0; 3]).orientation([0.9, 0.1, -0.3, 0.2]);
    let body = model.add("body", body.moving([0.1, 0.2, 0.3], [0.5, -1.0, 2.0])).unwrap();
    // z of the corner (1, 1, 1) of the body
    let text =
        "[q[2] + 2*(q[4]*q[6] - q[3]*q[5]) + 2*(q[5]*q[6] + q[3]*q[4]) + 1 - 2*(q[4]^2 + q[5]^2)]";
    let names = Names { first: ("q", 7), second: ("lam", 1), ..Names::TIME };
    let h = LagrangianRelation::new(Operator::formula(text, &names, &[]).unwrap());
    let corner = model.connect("corner", h, Law::newton_impact(0.0), &[body]).unwrap();
    let sim = TimeStepping::new(model, 1e-3, [MoreauJean::default().into()]).unwrap();
    let (q, v) = (sim.q(body).unwrap(), sim.v(body).unwrap());
    let p = [q[3], q[4], q[5], q[6]];
    let spin = rotation::rotate(p, rotation::cross([v[3], v[4], v[5]], [1.0; 3]));
    within("speed of the corner", (sim.u(corner)[0] - v[2] - spin[2]).abs(), 1e-14);
}

/// In the plane a body is a vector of three, and a thrown one follows its parabola exactly.
#[test]
fn a_body_in_the_plane() {
    let mut model = Model::new("thrown");
    let body = RigidBody2d::new(2.0, 0.5).at([1.0, 2.0], 0.3).moving([1.0, 4.0], 2.0);
    let body = model.add("disk", body.gravity([0.0, -9.81]).moment([0.25])).unwrap();
    let mut sim = TimeStepping::new(model, 1e-2, [MoreauJean::default().into()]).unwrap();
    let run = sim.run(1.0).unwrap();
    let last = |signal: &str| *run.signal(signal).unwrap().last().unwrap();
    within("x", (last("disk.position[0]") - 2.0).abs(), 1e-13);
    within("y", (last("disk.position[1]") - (6.0 - 0.5 * 9.81)).abs(), 1e-12);
    within("angle", (last("disk.angle") - (0.3 + 2.0 + 0.25)).abs(), 1e-13);
    within("omega", (last("disk.omega") - 2.5).abs(), 1e-13);
    assert_eq!(sim.q(body).unwrap().len(), 3);
}

#[track_caller]
fn refused(body: impl Into<System>) -> ModelError {
    Model::new("bad").add("body", body).unwrap_err()
}

#[test]
fn impossible_bodies_are_refused() {
    let cases: [(RigidBody, &str); 7] = [
        (RigidBody::new(-1.0, [1.0; 3]), "`mass` = -1 is outside (0, inf)"),
        (RigidBody::new(f64::NAN, [1.0; 3]), "`mass` = NaN is outside"),
        (RigidBody::new(1.0, [1.0, 1.0, 2.5]), "larger than the sum of the other two"),
        (RigidBody::new(1.0, [1.0, 0.0, 1.0]), "must be positive"),
        (RigidBody::new(1.0, [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "not symmetric"),
        (RigidBody::new(1.0, [1.0; 3]).orientation([0.0; 4]), "any length but zero"),
        (RigidBody::new(1.0, [1.0; 3]).force([1.0, 2.0], Frame::World), "`force` has length 2"),
    ];
    for (body, expected) in cases {
        let error = refused(body).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = refused(RigidBody2d::new(1.0, 0.0)).to_string();
    assert!(error.contains("`inertia` = 0 is outside (0, inf)"), "{error}");
    // a flat body is no mistake
    Model::new("plate").add("plate", RigidBody::new(1.0, [1.0, 2.0, 3.0])).unwrap();
}

/// What is set is a rotation, and what is none changes nothing.
#[test]
fn orientations_that_are_set_become_rotations() {
    let (model, body) = dzhanibekov();
    let mut sim = TimeStepping::new(model, 0.01, [MoreauJean::default().into()]).unwrap();
    sim.set_qv(body, Some(&[1.0, 2.0, 3.0, 2.0, 0.0, 0.0, 0.0]), None).unwrap();
    assert_eq!(sim.q(body).unwrap(), [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]);
    let error = sim.set_qv(body, Some(&[0.0; 7]), None).unwrap_err();
    assert!(matches!(error, SimError::Configuration { .. }), "{error}");
    assert_eq!(sim.q(body).unwrap()[..3], [1.0, 2.0, 3.0]);
    let error = sim.set_qv(body, Some(&[0.0; 6]), None).unwrap_err();
    assert!(error.to_string().contains("length 6, expected 7"), "{error}");
}

/// Schemes that move configurations as vectors say so.
#[test]
fn other_schemes_refuse_bodies_in_space() {
    let schemes: [Integrator; 2] =
        [SchatzmanPaoli::default().into(), D1MinusLinear::default().into()];
    for scheme in schemes {
        let error = TimeStepping::new(dzhanibekov().0, 0.01, [scheme]).unwrap_err();
        assert!(matches!(error, SimError::Unsuited { .. }), "{error}");
    }
    let error = EventDriven::new(dzhanibekov().0).unwrap_err();
    assert!(error.to_string().contains("event-driven needs the configuration"), "{error}");
}

/// A body beside other systems, with an event that turns it round.
#[test]
fn bodies_stand_beside_other_systems_and_events_set_their_parts() {
    let (mut model, body) = dzhanibekov();
    let mass = LagrangianLinear::new([1.0, 0.0], [0.0; 2], [[1.0, 0.0], [0.0, 1.0]]);
    let mass = model.add("mass", mass.K([[1.0, 0.0], [0.0, 4.0]])).unwrap();
    model.add("decay", FirstOrderLinear::new([1.0], [[-1.0]])).unwrap();
    let event = Event::at([0.5]).set_state("body", "omega", ["0", "0", "-2*body.omega[1]"]);
    model.add_event(event).unwrap();
    let mut sim = TimeStepping::new(model, 1e-2, [MoreauJean::default().into()]).unwrap();
    let run = sim.run(1.0).unwrap();
    let omega: [f64; 3] = row(&run.signal("body.omega").unwrap(), 100);
    within("omega", (omega[2] + 2.0).abs() + omega[0].abs(), 1e-2);
    within("v", (sim.v(body).unwrap()[0] - 0.3).abs(), 1e-15);
    within("mass", (sim.q(mass).unwrap()[0] - 1.0_f64.cos()).abs(), 1e-4);
    assert_eq!(run.events.len(), 1);
}
