//! Laws of the user's own in a model: beside the laws that they repeat, and in closed form.

use crate::support::within;
use saltus::prelude::*;

/// `{ λ : ‖λ‖ ≤ radius }`.
#[derive(Debug)]
struct Ball {
    radius: f64,
    size: usize,
}

impl UserLaw for Ball {
    fn size(&self) -> usize {
        self.size
    }

    fn project(&self, x: &mut [f64]) {
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > self.radius {
            x.iter_mut().for_each(|x| *x *= self.radius / length);
        }
    }
}

fn puck(law: Law, formulas: bool) -> Model {
    let mut model = Model::new("puck");
    let M = Matrix::diagonal(&[2.0, 2.0]);
    let id = model.add("puck", LagrangianLinear::new([0.0; 2], [3.0, 4.0], M)).unwrap();
    if formulas {
        // a closure: the part for what is not linear
        let h = Operator::vector(2, |at, y| y.copy_from_slice(at.first));
        model.connect("floor", LagrangianRelation::new(h), law, &[id]).unwrap();
    } else {
        let H = LagrangianLinearRelation::new(Matrix::identity(2));
        model.connect("floor", H, law, &[id]).unwrap();
    }
    model
}

/// Friction of a disk brakes in a straight line: 5 m/s with 2 N on 2 kg take five seconds.
#[test]
fn a_disk_of_forces_brakes_straight() {
    for formulas in [false, true] {
        let model = puck(Law::user(Ball { radius: 2.0, size: 2 }), formulas);
        let mut sim = TimeStepping::new(model, 0.01, [MoreauJean::default().into()]).unwrap();
        let run = sim.run(6.0).unwrap();
        let v = run.signal("puck.v").unwrap();
        for (k, speed) in [(100, 4.0), (400, 1.0), (550, 0.0)] {
            within("along", (v[2 * k] - 0.6 * speed).abs(), 1e-6);
            within("across", (v[2 * k + 1] - 0.8 * speed).abs(), 1e-6);
        }
        within("energy", (sim.ledger().unwrap().contact() - 25.0).abs(), 1e-6);
        // another step, another impulse: the law is one of forces
        sim.reset().unwrap();
        within("long step", (sim.step().unwrap().h - 0.01).abs(), 1e-15);
    }
}

/// An interval is a relay: `ẋ = 0.7 sin t + λ` under `λ ∈ −[1, 1]`.
#[test]
fn an_interval_is_a_relay() {
    let run = |law: Law| {
        let mut model = Model::new("relay");
        let b = Operator::vector_of_time(1, |t, b| b[0] = 1.7 * t.sin());
        let system = FirstOrderLinear { b: Some(b), ..FirstOrderLinear::new([1.0], [[0.0]]) };
        let id = model.add("x", system).unwrap();
        let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
        model.connect("relay", relation, law, &[id]).unwrap();
        let mut sim = TimeStepping::new(model, 0.01, [EulerMoreau::default().into()]).unwrap();
        sim.run(8.0).unwrap().signal("x.x").unwrap()
    };
    let relay = run(Law::relay(-1.0, 1.0));
    let own = run(Law::user(Ball { radius: 1.0, size: 1 }));
    for (a, b) in relay.iter().zip(&own) {
        assert!((a - b).abs() <= 1e-6, "{a} {b}");
    }
}

#[test]
fn sizes_must_fit() {
    let mut model = Model::new("puck");
    let id = model.add("puck", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
    let law = Law::user(Ball { radius: 1.0, size: 2 });
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let error = model.connect("floor", relation, law, &[id]).unwrap_err();
    assert!(error.to_string().contains("law User"), "{error}");
}
