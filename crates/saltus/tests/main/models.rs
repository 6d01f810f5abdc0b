//! The models of the reference cases, built in Rust. Names and numbers are those of the model
//! files in `examples/`, so that the runs can be compared bit by bit.

use saltus::prelude::*;
use std::f64::consts::PI;

/// A model and how it is run.
#[derive(Debug, Clone)]
pub struct Case {
    pub model: Model,
    pub h: f64,
    pub until: f64,
    pub integrator: Integrator,
}

impl Case {
    pub fn sim(&self) -> TimeStepping {
        TimeStepping::new(self.model.clone(), self.h, [self.integrator.clone()]).unwrap()
    }
}

fn euler_moreau(theta: f64) -> Integrator {
    EulerMoreau { theta, ..EulerMoreau::default() }.into()
}

pub const G: f64 = 9.81;

/// Three degrees of freedom, of which one moves.
pub fn ball(radius: f64, h: f64) -> Case {
    let mut model = Model::new("bouncing ball");
    let inertia = 2.0 / 5.0 * (0.1 * 0.1);
    let M = Matrix::diagonal(&[1.0, 1.0, inertia]);
    let system = LagrangianLinear::new([1.0, 0.0, 0.0], [0.0; 3], M).F_ext([-G, 0.0, 0.0]);
    let id = model.add("ball", system).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0, 0.0, 0.0]]).b([-radius]);
    model.connect("floor", relation, Law::newton_impact(0.9), &[id]).unwrap();
    Case { model, h, until: 10.0, integrator: MoreauJean::default().into() }
}

pub fn beads(n: usize, h: f64, until: f64) -> Case {
    let mut model = Model::new("column of beads");
    let (m, R, e) = (1.0, 0.1, 0.9);
    let mut ids = Vec::new();
    for i in 0..n {
        let system = LagrangianLinear::new([1.0 + 0.25 * i as f64], [0.0], [[m]]).F_ext([-m * G]);
        ids.push(model.add(&format!("bead{i}"), system).unwrap());
    }
    let law = Law::newton_impact(e);
    let floor = LagrangianLinearRelation::new([[1.0]]).b([-R]);
    model.connect("floor", floor, law.clone(), &ids[..1]).unwrap();
    for i in 0..n - 1 {
        let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-2.0 * R]);
        model.connect(&format!("contact{i}"), gap, law.clone(), &ids[i..i + 2]).unwrap();
    }
    Case { model, h, until, integrator: MoreauJean::default().into() }
}

pub fn rectifier(h: f64) -> Case {
    let mut model = Model::new("RLC circuit with a half-wave rectifier");
    let (L, C, R) = (1e-2, 1e-6, 1e3);
    let tank = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1.0 / C], [1.0 / L, 0.0]]);
    let id = model.add("tank", tank).unwrap();
    let relation = FirstOrderLinearRelation::new([[-1.0, 0.0]], [[-1.0 / C], [0.0]]).D([[R]]);
    model.connect("diode", relation, Law::Complementarity, &[id]).unwrap();
    Case { model, h, until: 5e-3, integrator: euler_moreau(0.5) }
}

pub fn bridge(theta: f64, h: f64) -> Case {
    let mut model = Model::new("diode bridge");
    let (L, C, R) = (1e-2, 1e-6, 1e3);
    let tank = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1.0 / C], [1.0 / L, 0.0]]);
    let id = model.add("tank", tank).unwrap();
    let relation = FirstOrderLinearRelation::new(
        [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]],
        [[0.0, 0.0, -1.0 / C, 1.0 / C], [0.0; 4]],
    )
    .D([
        [1.0 / R, 1.0 / R, -1.0, 0.0],
        [1.0 / R, 1.0 / R, 0.0, -1.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
    ]);
    model.connect("bridge", relation, Law::Complementarity, &[id]).unwrap();
    Case { model, h, until: 5e-3, integrator: euler_moreau(theta) }
}

pub fn sign(h: f64) -> Case {
    let mut model = Model::new("sign function");
    let id = model.add("point", FirstOrderLinear::new([1.01], [[0.0]])).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    model.connect("sign", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    Case { model, h, until: 3.0, integrator: euler_moreau(1.0) }
}

pub fn sliding_mode(h: f64) -> Case {
    let mut model = Model::new("sliding mode");
    let (c1, alpha) = (1.0, 1.0);
    let plant = FirstOrderLinear::new([0.0, 2.21], [[0.0, 1.0], [0.0, -c1]]);
    let id = model.add("plant", plant).unwrap();
    let relation = FirstOrderLinearRelation::new([[c1, 1.0]], [[0.0], [alpha]]);
    model.connect("surface", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    // whole steps only, as the reference has them
    let until = (10.0 / h * (1.0 + 1e-12)).floor() * h;
    Case { model, h, until, integrator: euler_moreau(1.0) }
}

pub fn spiral(start: [f64; 3], theta: f64, h: f64) -> Case {
    let mut model = Model::new("Filippov's square spiral");
    let id = model.add("point", FirstOrderLinear::new(start, [[0.0; 3]; 3])).unwrap();
    let relation = FirstOrderLinearRelation::new(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[1.0, -2.0], [2.0, 1.0], [-1.0, -1.0]],
    );
    model.connect("signs", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    Case { model, h, until: 10.0, integrator: euler_moreau(theta) }
}

pub fn lzc(theta: f64, h: f64) -> Case {
    let mut model = Model::new("LZC circuit");
    let (L, C, Vz) = (1.0, 1.0 / (2.0 * PI).powi(2), 5.0);
    let circuit = FirstOrderLinear::new([17.0, 0.0], [[0.0, 1.0 / C], [-1.0 / L, 0.0]]);
    let id = model.add("circuit", circuit).unwrap();
    let relation = FirstOrderLinearRelation::new([[0.0, 1.0]], [[0.0], [1.0 / L]]);
    model.connect("zener", relation, Law::relay(-Vz, 0.0), &[id]).unwrap();
    Case { model, h, until: 3.0, integrator: euler_moreau(theta) }
}

pub fn ladder(n: usize, h: f64) -> Case {
    let mut model = Model::new("RC ladder with diodes");
    let (R, S, C, D, w0) = (100.0, 10.0, 1e-3, 1e-4, 10.0);
    let N = 2 * n;
    let capacity = |row: usize| if row < n { C } else { D };
    let (mut A, mut b, mut x0) = (Matrix::zeros(N, N), vec![0.0; N], vec![0.0; N]);
    for row in 0..N {
        let cell = row % n;
        let sign = if row < n { 1.0 } else { -1.0 };
        x0[row] = sign * (2.5 + cell as f64 * (2.5 / (n - 1).max(1) as f64));
        b[row] = (if cell == 0 { w0 / R } else { 0.0 }) / capacity(row);
        for col in 0..N {
            let current = match cell.abs_diff(col % n) {
                0 if cell == n - 1 => -1.0,
                0 => -2.0,
                1 => 1.0,
                _ => 0.0,
            };
            A[(row, col)] = current / R / capacity(row);
        }
    }
    let id = model.add("ladder", FirstOrderLinear::new(x0, A).b(b)).unwrap();
    let (mut output, mut input) = (Matrix::zeros(n, N), Matrix::zeros(N, n));
    for i in 0..n {
        output[(i, i + n)] = -1.0;
        input[(i + n, i)] = -1.0 / D;
    }
    let relation = FirstOrderLinearRelation::new(output, input).D(Matrix::diagonal(&vec![S; n]));
    model.connect("diodes", relation, Law::Complementarity, &[id]).unwrap();
    Case { model, h, until: 4.0, integrator: euler_moreau(0.5) }
}

/// Half a period of the source of [`converter`].
pub const HALF_PERIOD: f64 = 0.5 / 55e3;

/// The source of [`converter`]: sgn sin 2πft.
pub fn square_wave(t: f64) -> f64 {
    let s = (2.0 * PI * 55e3 * t).sin();
    if s > 0.0 {
        1.0
    } else if s < 0.0 {
        -1.0
    } else {
        0.0
    }
}

pub fn converter(h: f64, until: f64, source: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Case {
    let mut model = Model::new("parallel resonant converter");
    let (Lf, Cf, Lr, Cr, R) = (0.4e-3, 2.2e-6, 150e-6, 68e-9, 33.0);
    let A = [
        [0.0, -1.0 / Lr, 0.0, 0.0],
        [1.0 / Cr, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, -1.0 / Lf],
        [0.0, 0.0, 1.0 / Cf, -1.0 / (R * Cf)],
    ];
    let b = Operator::vector_of_time(4, move |t, b| {
        b.fill(0.0);
        b[0] = source(t) / Lr;
    });
    let id = model.add("circuit", FirstOrderLinear::new([0.0; 4], A).b(b)).unwrap();
    let relation = FirstOrderLinearRelation::new(
        [[0.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
        [[0.0; 4], [-1.0 / Cr, 1.0 / Cr, 0.0, 0.0], [0.0, 0.0, 1.0 / Lf, 1.0 / Lf], [0.0; 4]],
    )
    .D([
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [-1.0, 0.0, 0.0, 0.0],
        [0.0, -1.0, 0.0, 0.0],
    ]);
    model.connect("bridge", relation, Law::Complementarity, &[id]).unwrap();
    Case { model, h, until, integrator: euler_moreau(0.5) }
}

/// `ẍ + x = λ`, `−λ ∈ Sgn ẋ`.
pub fn dry_oscillator(h: f64) -> Case {
    let mut model = Model::new("oscillator with dry friction");
    let system = LagrangianLinear::new([12.0], [6.0], [[1.0]]).K([[1.0]]);
    let id = model.add("mass", system).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    model.connect("friction", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    Case { model, h, until: 50.0, integrator: MoreauJean::default().into() }
}

/// Speed of the belt.
pub const BELT: f64 = 0.5;

/// `ẍ + x = λ`, `−λ ∈ Sgn(ẋ − v_b)`, in the frame of the belt: `q = x − v_b t`.
pub fn belt(h: f64) -> Case {
    let mut model = Model::new("mass on a belt");
    let pull = Operator::vector_of_time(1, |t, F| F[0] = -BELT * t);
    let system = LagrangianLinear::new([0.0], [0.0], [[1.0]]).K([[1.0]]).F_ext(pull);
    let id = model.add("mass", system).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    model.connect("friction", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    Case { model, h, until: 40.0, integrator: MoreauJean::default().into() }
}

/// The same at rest, as a first-order system with the belt's speed as an offset.
pub fn belt_first_order(h: f64) -> Case {
    let mut model = Model::new("mass on a belt");
    let system = FirstOrderLinear::new([0.0, BELT], [[0.0, 1.0], [-1.0, 0.0]]);
    let id = model.add("mass", system).unwrap();
    let relation = FirstOrderLinearRelation::new([[0.0, 1.0]], [[0.0], [1.0]]).e([-BELT]);
    model.connect("friction", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    Case { model, h, until: 40.0, integrator: euler_moreau(0.5) }
}

pub fn relay_oscillator(h: f64) -> Case {
    let mut model = Model::new("relay oscillator");
    let A = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-6.0, -11.0, -6.0]];
    let id = model.add("plant", FirstOrderLinear::new([1.0, 0.0, 0.0], A)).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0, 0.0, 0.0]], [[0.0], [0.0], [6.0]]);
    model.connect("relay", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    Case { model, h, until: 20.0, integrator: euler_moreau(0.5) }
}
