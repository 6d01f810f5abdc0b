//! A model file of `examples/` runs bit by bit like the same model built in Rust.

use crate::models::{self, Case};
use saltus::io::model_file::ModelFile;
use saltus::prelude::*;
use std::path::Path;

fn same(file: &str, overrides: &[(&str, &str)], case: &Case) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(file);
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let ModelFile { model, simulation, .. } =
        ModelFile::read(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(simulation.h, case.h, "{file}: h");
    assert_eq!(simulation.until, case.until, "{file}: until");
    let mut from_file =
        TimeStepping::with_solver(model, simulation.h, simulation.integrators, &simulation.solver)
            .unwrap();
    let from_file = from_file.run(simulation.until).unwrap();
    let from_rust = case.sim().run(case.until).unwrap();
    assert_eq!(from_file.layout, from_rust.layout, "{file}");
    let bits = |run: &Run| -> Vec<u64> {
        run.frames.time.iter().chain(&run.frames.rows).map(|x| x.to_bits()).collect()
    };
    assert!(bits(&from_file) == bits(&from_rust), "{file}: the runs differ");
    assert_eq!(from_file.frames.iterations, from_rust.frames.iterations, "{file}");
    assert_eq!(from_file.frames.residual, from_rust.frames.residual, "{file}");
}

#[test]
fn run_like_rust() {
    same("bouncing-ball/model.toml", &[], &models::ball(0.1, 5e-3));
    same("column-of-beads/model.toml", &[], &models::beads(10, 5e-4, 2.0));
    same("diode-bridge/model.toml", &[], &models::bridge(0.5, 1e-6));
    same("filippov-square-spiral/model.toml", &[], &models::spiral([1.0, 1.0, 1.0], 1.0, 0.01));
    same("lzc-circuit/model.toml", &[], &models::lzc(0.5, 5e-3));
    same("rc-diode-ladder/model.toml", &[], &models::ladder(10, 1e-3));
    same("relay-oscillator/model.toml", &[], &models::relay_oscillator(1e-3));
    same("rlc-half-wave-rectifier/model.toml", &[], &models::rectifier(1e-5));
    same("sliding-mode/model.toml", &[], &models::sliding_mode(0.1));
    same("sliding-mode/sgn.toml", &[], &models::sign(0.1));
}

#[test]
fn run_like_rust_with_overrides() {
    same("bouncing-ball/model.toml", &[("floor.relation.b", "[0]")], &models::ball(0.0, 5e-3));
    let few = [("N", "100"), ("simulation.h", "1e-3"), ("simulation.until", "0.6")];
    same("column-of-beads/model.toml", &few, &models::beads(100, 1e-3, 0.6));
    same("rc-diode-ladder/model.toml", &[("n", "50")], &models::ladder(50, 1e-3));
    same("rc-diode-ladder/model.toml", &[("n", "3")], &models::ladder(3, 1e-3));
    let other = [("x0", "-4"), ("y0", "3"), ("z0", "0"), ("simulation.h", "1e-3")];
    let case = models::spiral([-4.0, 3.0, 0.0], 1.0, 1e-3);
    same("filippov-square-spiral/model.toml", &other, &case);
    let implicit = [("simulation.integrator.theta", "1")];
    same("lzc-circuit/model.toml", &implicit, &models::lzc(1.0, 5e-3));
}
