//! `saltus run` writes what the library computes, bit by bit, for the models of the reference runs.

use crate::Folder;
use saltus::io::ModelFile;
use saltus::io::run_file::read_run;
use saltus::prelude::*;
use std::path::Path;

const FILES: [&str; 20] = [
    "examples/bouncing-ball/model.toml",
    "examples/buck-converter/model.toml",
    "examples/column-of-beads/model.toml",
    "examples/diode-bridge/model.toml",
    "examples/filippov-square-spiral/model.toml",
    "examples/friction-oscillator/belt.toml",
    "examples/friction-oscillator/model.toml",
    "examples/lzc-circuit/model.toml",
    "examples/rc-diode-ladder/model.toml",
    "examples/relay-oscillator/model.toml",
    "examples/rlc-half-wave-rectifier/model.toml",
    "examples/slider-crank/friction.toml",
    "examples/slider-crank/model.toml",
    "examples/sliding-mode/model.toml",
    "examples/sliding-mode/sgn.toml",
    "examples/two-link-arm/model.toml",
    "examples/woodpecker/model.toml",
    "testdata/models/block-on-corners.toml",
    "testdata/models/block-on-incline.toml",
    "testdata/models/power-converter.toml",
];

#[test]
fn the_command_and_the_library_give_the_same_run() {
    let folder = Folder::new();
    for file in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let ModelFile { model, simulation, .. } = ModelFile::read(&path, &[]).unwrap();
        // as many steps as the shorter ones have
        let until = simulation.until.min(model.t0() + 4000.0 * simulation.h);
        let path = path.display().to_string();
        let until_text = format!("{until}");
        let args = ["run", &path, "-o", "run.h5", "--quiet", "--no-plot", "--until", &until_text];
        folder.saltus(&args).done();
        let by_command = read_run(folder.path().join("run.h5")).unwrap();

        let (h, solver, newton) = (simulation.h, &simulation.solver, simulation.newton);
        let integrators = simulation.integrators;
        let mut sim = TimeStepping::with_methods(model, h, integrators, solver, newton).unwrap();
        let (every, signals) = (simulation.output.every, simulation.output.signals.as_deref());
        let options = RunOptions { every, signals, ..RunOptions::default() };
        let by_library = sim.run_with(until, options).unwrap();

        assert_eq!(by_command.layout, by_library.layout, "{file}");
        let bits = |run: &Run| -> Vec<u64> {
            let frames = &run.frames;
            let all = frames.time.iter().chain(&frames.rows).chain(&frames.residual);
            all.map(|x| x.to_bits()).collect()
        };
        assert!(bits(&by_command) == bits(&by_library), "{file}: the runs differ");
        assert_eq!(by_command.frames.iterations, by_library.frames.iterations, "{file}");
    }
}
