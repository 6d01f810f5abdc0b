//! A simulation that is taken up after every tenth step, each time by a new one from a file, is the
//! one that was never interrupted, bit for bit: all examples, all schemes, all solvers.

use saltus::io::checkpoint_file;
use saltus::io::model_file::ModelFile;
use saltus::numerics::Solver;
use saltus::prelude::*;
use saltus::sim::{CheckpointError, CheckpointEvery, Checkpoints, NewtonSettings, SimError};
use std::path::{Path, PathBuf};

/// All that a simulation needs.
struct Case {
    name: String,
    model: Model,
    steps: Steps,
    integrators: Vec<Integrator>,
    newton: NewtonSettings,
    solver: Solver,
    most: usize, // steps
}

impl Case {
    fn build(&self) -> Result<TimeStepping, SimError> {
        TimeStepping::with_methods(
            self.model.clone(),
            self.steps.clone(),
            self.integrators.clone(),
            &self.solver,
            self.newton,
        )
    }

    /// Compares after every step; false where the scheme is not made for the model.
    fn check(&self) -> bool {
        let path = self.file();
        let Ok(mut whole) = self.build() else { return false };
        let mut parts = self.build().unwrap();
        for step in 1..=self.most {
            let (a, b) = (whole.step(), parts.step());
            // a step that fails ends both alike
            assert_eq!(a.is_ok(), b.is_ok(), "{}: step {step}: {a:?} and {b:?}", self.name);
            let (Ok(a), Ok(b)) = (a, b) else { break };
            assert_eq!(a, b, "{}: step {step}", self.name);
            assert_eq!(bits(&whole), bits(&parts), "{}: step {step}", self.name);
            if step % 10 == 0 {
                checkpoint_file::save(&parts.checkpoint(), &path).unwrap();
                parts = self.build().unwrap();
                parts.restore(&checkpoint_file::load(&path).unwrap()).unwrap();
                assert_eq!(bits(&whole), bits(&parts), "{}: restored at {step}", self.name);
            }
        }
        assert_eq!(whole.totals(), parts.totals(), "{}", self.name);
        std::fs::remove_file(path).ok();
        true
    }

    fn file(&self) -> PathBuf {
        let name = self.name.replace(|c: char| !c.is_alphanumeric(), "-");
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.checkpoint"))
    }
}

/// The bits of all that can be seen.
fn bits(sim: &TimeStepping) -> Vec<u64> {
    let model = sim.model();
    let mut all = vec![sim.t()];
    for (name, _) in model.systems() {
        let id = model.system_id(name).unwrap();
        for state in [sim.x(id), sim.q(id), sim.v(id)].into_iter().flatten() {
            all.extend(state);
        }
    }
    for (name, _) in model.interactions() {
        let id = model.interaction_id(name).unwrap();
        [sim.y(id), sim.u(id), sim.lam(id)].into_iter().for_each(|values| all.extend(values));
    }
    all.extend(sim.ledger().into_iter().flat_map(|ledger| ledger.to_array()));
    all.into_iter().map(f64::to_bits).collect()
}

/// The model files of all examples.
fn examples() -> Vec<(String, ModelFile)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = Vec::new();
    for example in std::fs::read_dir(folder).unwrap() {
        let example = example.unwrap().path();
        for file in std::fs::read_dir(&example).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let name = example.file_name().unwrap().to_string_lossy().into_owned();
                let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
                found.push((format!("{name}/{stem}"), ModelFile::read(&path, &[]).unwrap()));
            }
        }
    }
    assert!(found.len() >= 17);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn case(name: &str, file: &ModelFile, most: usize) -> Case {
    let settings = &file.simulation;
    Case {
        name: name.to_string(),
        model: file.model.clone(),
        steps: settings.h.into(),
        integrators: settings.integrators.clone(),
        newton: settings.newton,
        solver: settings.solver.clone(),
        most,
    }
}

#[test]
fn every_example_as_it_is() {
    for (name, file) in examples() {
        assert!(case(&name, &file, 3000).check(), "{name}");
    }
}

/// All schemes, with settings that take another way through them.
fn schemes() -> Vec<Integrator> {
    let projected = |projection| MoreauJean { projection: Some(projection), ..Default::default() };
    vec![
        EulerMoreau::default().into(),
        EulerMoreau { theta: 0.5, gamma: 0.5, ..Default::default() }.into(),
        ZeroOrderHold::default().into(),
        MoreauJean::default().into(),
        MoreauJean { theta: 1.0, ..Default::default() }.into(),
        projected(Projection::Direct).into(),
        projected(Projection::Combined).into(),
        projected(Projection::Ggl).into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        GeneralizedAlpha { projection: Some(Projection::Direct), ..Default::default() }.into(),
        D1MinusLinear::default().into(),
        D1MinusLinear { variant: Variant::Velocity, ..Default::default() }.into(),
        MoreauJeanBilbao::default().into(),
    ]
}

#[test]
fn every_scheme_on_every_example() {
    for (k, scheme) in schemes().into_iter().enumerate() {
        let mut served = Vec::new();
        for (name, file) in examples() {
            let mut case = case(&format!("{name} by scheme {k}"), &file, 300);
            case.integrators = vec![scheme.clone()];
            if case.check() {
                served.push(name);
            }
        }
        assert!(!served.is_empty(), "{scheme:?}");
    }
}

#[test]
fn every_solver_on_every_example() {
    for solver in Solver::NAMES {
        let mut served = 0;
        for (name, file) in examples() {
            let mut case = case(&format!("{name} by {solver}"), &file, 150);
            case.solver = Solver::from_name(solver).unwrap();
            served += usize::from(case.check());
        }
        assert!(served > 0, "{solver}");
    }
}
