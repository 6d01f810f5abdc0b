//! The models that are timed.

use cpu_time::ProcessTime;
use saltus::io::model_file::{ModelFile, Simulation};
use saltus::prelude::*;
use std::path::Path;

/// Runs before those that count: afterwards the allocator hands out memory that the system has
/// mapped before, here as in Python.
const WARM_UP: usize = 5;
/// Processor seconds that the runs of a round take at least, here as in Python.
const ENOUGH: f64 = 0.1;

/// A model, its scheme, and how many steps are timed.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Arguments of `siconos_peer.py` for the same model; none where it has none.
    pub peer: &'static [&'static str],
    /// Steps of a run.
    pub steps: usize,
    h: f64,
    build: Box<dyn Fn() -> Result<TimeStepping, SaltusError>>,
}

/// What the runs of a round took.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// Steps of a run.
    pub steps: usize,
    /// Processor seconds a step, recording included.
    pub seconds_per_step: f64,
    /// Worst residual of any step.
    pub residual: f64,
}

impl Case {
    /// Runs it some times without a clock.
    pub fn warm_up(&self) {
        for _ in 0..WARM_UP {
            self.run();
        }
    }

    /// As many runs as a round takes, each of a new simulation.
    pub fn round(&self) -> Measure {
        let (mut seconds, mut all_steps) = (0.0, 0);
        loop {
            let (spent, steps, residual) = self.run();
            (seconds, all_steps) = (seconds + spent, all_steps + steps);
            if seconds >= ENOUGH {
                return Measure { steps, seconds_per_step: seconds / all_steps as f64, residual };
            }
        }
    }

    /// Processor seconds of one run, its steps, and its worst residual.
    fn run(&self) -> (f64, usize, f64) {
        let mut sim = (self.build)().expect("a case of the bench is a valid model");
        let clock = ProcessTime::now();
        let run = sim.run(self.steps as f64 * self.h).expect("a case of the bench runs");
        (clock.elapsed().as_secs_f64(), run.stats.steps, run.stats.worst_residual)
    }
}

impl Case {
    /// Processor seconds of a step without recording, after the first: median of `repeats` runs.
    pub fn measure_steps(&self, repeats: usize) -> f64 {
        let mut sim = (self.build)().expect("a case of the bench is a valid model");
        let mut step = || sim.step().map(|_| ()).expect("a case of the bench runs");
        step();
        let mut seconds: Vec<f64> = (0..repeats)
            .map(|_| {
                let clock = ProcessTime::now();
                (0..self.steps).for_each(|_| step());
                clock.elapsed().as_secs_f64() / self.steps as f64
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    }
}

/// All cases but those of the scaling table.
pub fn all() -> Vec<Case> {
    vec![
        bouncing_ball(),
        diode_bridge(),
        beads_at_rest(1000),
        ladder(),
        example("woodpecker", &["woodpecker", "--steps", "15000"], 15_000),
        example("friction-oscillator", &["friction-oscillator", "--steps", "5000"], 5000),
        example("impacting-bar", &["impacting-bar", "--steps", "5000"], 5000),
        example("two-link-arm", &["two-link-arm", "--steps", "3000"], 3000),
        example("slider-crank", &["slider-crank", "--steps", "5000"], 5000),
        example("buck-converter", &["buck-converter", "--steps", "10000"], 10_000),
    ]
}

/// The model file of an example, as it stands there, every step recorded.
fn example(name: &'static str, peer: &'static [&'static str], steps: usize) -> Case {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let path = Path::new(folder).join(name).join("model.toml");
    let read = move || Ok::<_, SaltusError>(ModelFile::read(&path, &[])?);
    let h = read().expect("an example is a valid model").simulation.h;
    let build = move || {
        let ModelFile { model, simulation, .. } = read()?;
        let Simulation { integrators, solver, newton, .. } = simulation;
        Ok(TimeStepping::with_methods(model, h, integrators, &solver, newton)?)
    };
    Case { name, peer, steps, h, build: Box::new(build) }
}

fn bouncing_ball() -> Case {
    let h = 5e-3;
    let build = move || {
        let mut model = Model::new("bouncing ball");
        let mass = Matrix::diagonal(&[1.0, 1.0, 0.004]);
        let system = LagrangianLinear::new([1.0, 0.0, 0.0], [0.0; 3], mass);
        let ball = model.add("ball", system.F_ext([-9.81, 0.0, 0.0]))?;
        let floor = LagrangianLinearRelation::new([[1.0, 0.0, 0.0]]).b([-0.1]);
        model.connect("floor", floor, Law::newton_impact(0.9), &[ball])?;
        Ok(TimeStepping::new(model, h, [MoreauJean::default().into()])?)
    };
    let peer = &["bouncing-ball", "--steps", "100000"];
    Case { name: "bouncing-ball", peer, steps: 100_000, h, build: Box::new(build) }
}

fn diode_bridge() -> Case {
    let h = 1e-6;
    let build = move || {
        let mut model = Model::new("diode bridge");
        let tank = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1e6], [100.0, 0.0]]);
        let tank = model.add("tank", tank)?;
        let C = [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]];
        let B = [[0.0, 0.0, -1e6, 1e6], [0.0; 4]];
        let D = [
            [1e-3, 1e-3, -1.0, 0.0],
            [1e-3, 1e-3, 0.0, -1.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ];
        let bridge = FirstOrderLinearRelation::new(C, B).D(D);
        model.connect("bridge", bridge, Law::Complementarity, &[tank])?;
        let scheme = EulerMoreau { theta: 0.5, gamma: 1.0, ..Default::default() };
        Ok(TimeStepping::new(model, h, [scheme.into()])?)
    };
    let peer = &["diode-bridge", "--steps", "20000"];
    Case { name: "diode-bridge", peer, steps: 20_000, h, build: Box::new(build) }
}

/// `n` beads resting on each other and on the floor.
pub fn beads_at_rest(n: usize) -> Case {
    let h = 1e-3;
    let build = move || {
        let mut model = Model::new("beads at rest");
        let law = Law::newton_impact(0.9);
        let mut below = None;
        for i in 0..n {
            let system = LagrangianLinear::new([0.1 + 0.2 * i as f64], [0.0], [[1.0]]);
            let bead = model.add(&format!("bead{i}"), system.F_ext([-9.81]))?;
            let name = format!("contact{i}");
            match below {
                None => {
                    let floor = LagrangianLinearRelation::new([[1.0]]).b([-0.1]);
                    model.connect(&name, floor, law.clone(), &[bead])?
                }
                Some(below) => {
                    let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-0.2]);
                    model.connect(&name, gap, law.clone(), &[below, bead])?
                }
            };
            below = Some(bead);
        }
        let scheme = MoreauJean { threshold: 1e-9, ..MoreauJean::default() };
        Ok(TimeStepping::new(model, h, [scheme.into()])?)
    };
    // of Siconos' methods for it, the one that solves it fastest
    let peer = &["beads", "--n", "1000", "--solver", "NEWTON_FB", "--tolerance", "1e-8"];
    Case { name: "beads", peer, steps: 200, h, build: Box::new(build) }
}

/// The ladder of 50 cells: `C uᵢ' = pᵢ`, `D vᵢ' = pᵢ − kᵢ`, with `pᵢ` the current that leaves the
/// line of resistors at node `i`, and `0 ≤ kᵢ ⟂ S kᵢ − vᵢ ≥ 0`.
fn ladder() -> Case {
    let (n, h) = (50, 1e-3);
    let (R, S, C, D, w0) = (100.0, 10.0, 1e-3, 1e-4, 10.0);
    let build = move || {
        let (mut A, mut b) = (Matrix::zeros(2 * n, 2 * n), vec![0.0; 2 * n]);
        for i in 0..n {
            // pᵢ = (wᵢ₋₁ − wᵢ)/R − (wᵢ − wᵢ₊₁)/R, wᵢ = uᵢ + vᵢ; nothing flows out of the last node
            let mut current = vec![0.0; n];
            current[i] -= 1.0 / R;
            match i {
                0 => (b[0], b[n]) = (w0 / R / C, w0 / R / D),
                _ => current[i - 1] += 1.0 / R,
            }
            if i + 1 < n {
                current[i] -= 1.0 / R;
                current[i + 1] += 1.0 / R;
            }
            for j in 0..n {
                for (row, capacity) in [(i, C), (n + i, D)] {
                    A[(row, j)] = current[j] / capacity;
                    A[(row, n + j)] = current[j] / capacity;
                }
            }
        }
        let (mut output, mut input) = (Matrix::zeros(n, 2 * n), Matrix::zeros(2 * n, n));
        for i in 0..n {
            output[(i, n + i)] = -1.0;
            input[(n + i, i)] = -1.0 / D;
        }
        let mut x0: Vec<f64> = (0..n).map(|i| 2.5 + 2.5 * i as f64 / (n - 1) as f64).collect();
        x0.extend_from_within(..);
        x0[n..].iter_mut().for_each(|v| *v = -*v);

        let mut model = Model::new("ladder");
        let line = model.add("line", FirstOrderLinear::new(x0, A).b(b))?;
        let diodes = FirstOrderLinearRelation::new(output, input).D(Matrix::diagonal(&[S; 50]));
        model.connect("diodes", diodes, Law::Complementarity, &[line])?;
        let scheme = EulerMoreau { theta: 0.5, gamma: 1.0, ..Default::default() };
        Ok(TimeStepping::new(model, h, [scheme.into()])?)
    };
    let peer = &["rc-diode-ladder", "--steps", "1000"];
    Case { name: "rc-diode-ladder", peer, steps: 4000, h, build: Box::new(build) }
}
