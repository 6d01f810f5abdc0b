//! Wrong use and wrong input: exit status 2, nothing written, and exactly these words.

use crate::{BALL, Folder};

/// Runs the ball with one thing changed, and expects these words on standard error.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    assert!(BALL.contains(old), "{old}");
    let folder = Folder::new();
    folder.write("ball.toml", &BALL.replacen(old, new, 1));
    let said = folder.saltus(&["run", "ball.toml"]);
    let first = said.err.lines().next().unwrap_or_default();
    assert_eq!(first, expected, "{}", said.err);
    assert_eq!((said.status, said.out.as_str()), (2, ""));
    assert_eq!(folder.names(), ["ball.toml"]);
}

/// Runs the command with these arguments beside a file `ball.toml`.
#[track_caller]
fn check_use(args: &[&str], expected: &str) {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let said = folder.saltus(args);
    let first = said.err.lines().next().unwrap_or_default();
    assert_eq!(first, expected, "{}", said.err);
    assert_eq!((said.status, said.out.as_str()), (2, ""));
    assert_eq!(folder.names(), ["ball.toml"]);
}

#[test]
fn model_files() {
    check(
        r#"theta = 0.5"#,
        r#"thta = 0.5"#,
        r#"saltus: ball.toml:8:38: unknown key `thta`; did you mean `theta`?"#,
    );
    check(
        r#"theta = 0.5"#,
        r#"theta = 1.5"#,
        r#"saltus: ball.toml:8:38: `theta` is 1.5, expected [0, 1]"#,
    );
    check(
        r#"theta = 0.5"#,
        r#"theta = nan"#,
        r#"saltus: ball.toml:8:46: `theta`: expected a finite number, found NaN"#,
    );
    check(
        r#""moreau-jean""#,
        r#""moreau-jeann""#,
        r#"saltus: ball.toml:8:23: unknown integrator `moreau-jeann`; did you mean `moreau-jean`?"#,
    );
    check(
        r#"h = 5e-3"#,
        r#"h = -5e-3"#,
        r#"saltus: ball.toml:9:1: `h` is -0.005, expected a positive number"#,
    );
    check(
        r#"h = 5e-3"#,
        r#"h = 0"#,
        r#"saltus: ball.toml:9:1: `h` is 0, expected a positive number"#,
    );
    check(
        r#"until = 1.0"#,
        r#"until = -1.0"#,
        r#"saltus: ball.toml:10:1: `until` is -1, expected at least t0 = 0"#,
    );
    check(
        r#"until = 1.0
"#,
        r#"
"#,
        r#"saltus: ball.toml:7:1: [simulation]: missing key `until`, the time at which the simulation ends"#,
    );
    check(
        r#"q0 = [1.0]"#,
        r#"q0 = [nan]"#,
        r#"saltus: ball.toml:15:7: `q0[0]`: expected a finite number, found NaN"#,
    );
    check(
        r#"q0 = [1.0]"#,
        r#"q0 = []"#,
        r#"saltus: ball.toml:15:1: system `ball`: `q0` is empty, expected at least one entry"#,
    );
    check(
        r#"v0 = [0.0]"#,
        r#"v0 = [0.0, 0.0]"#,
        r#"saltus: ball.toml:16:1: system `ball`: `v0` has length 2, expected 1 (the length of `q0`)"#,
    );
    check(
        r#"M = [[1.0]]"#,
        r#"M = [[0.0]]"#,
        r#"saltus: ball.toml:17:1: system `ball`: the mass matrix `M` is singular; a Lagrangian system needs it symmetric positive definite"#,
    );
    check(
        r#"M = [[1.0]]"#,
        r#"M = [[-1.0]]"#,
        r#"saltus: ball.toml:17:1: system `ball`: the mass matrix `M` is not positive definite; a Lagrangian system needs it symmetric positive definite"#,
    );
    check(
        r#"M = [[1.0]]"#,
        r#"M = [[1.0, 0.0]]"#,
        r#"saltus: ball.toml:17:1: system `ball`: `M` is 1 × 2, expected 1 × 1 (the length of `q0`)"#,
    );
    check(
        r#"["-g"]"#,
        r#"["-gg"]"#,
        r#"saltus: ball.toml:18:12: unknown name `gg`; did you mean `g`?"#,
    );
    check(
        r#"["-g"]"#,
        r#"["-g +"]"#,
        r#"saltus: ball.toml:18:15: expected a value, found the end"#,
    );
    check(
        r#"kind = "lagrangian-linear"
q0"#,
        r#"kind = "lagrangian-liner"
q0"#,
        r#"saltus: ball.toml:14:8: unknown kind of system `lagrangian-liner`; did you mean `lagrangian-linear`?"#,
    );
    check(
        r#"systems = ["ball"]"#,
        r#"systems = ["bal"]"#,
        r#"saltus: ball.toml:22:12: there is no system named `bal`; did you mean `ball`?"#,
    );
    check(
        r#"systems = ["ball"]"#,
        r#"systems = []"#,
        r#"saltus: ball.toml:22:1: interaction `floor` links 0 systems, expected one or two"#,
    );
    check(
        r#"H = [[1]]"#,
        r#"H = [[1, 2]]"#,
        r#"saltus: ball.toml:23:42: interaction `floor`: `H` is 1 × 2, expected 1 × 1 (rows of `H`, degrees of freedom of the linked systems)"#,
    );
    check(
        r#"e = 0.9"#,
        r#"e = 1.2"#,
        r#"saltus: ball.toml:24:33: interaction `floor`, law NewtonImpact: `e` = 1.2 is outside [0, 1]"#,
    );
    check(
        r#"e = 0.9"#,
        r#"e = -0.1"#,
        r#"saltus: ball.toml:24:33: interaction `floor`, law NewtonImpact: `e` = -0.1 is outside [0, 1]"#,
    );
    check(
        r#""newton-impact", e = 0.9"#,
        r#""complementarity""#,
        r#"saltus: ball.toml:24:1: interaction `floor`: the law Complementarity does not apply to a Lagrangian relation; use NewtonImpact(e=0) for a contact"#,
    );
    check(
        r#"name = "floor""#,
        r#"name = "ball""#,
        r#"saltus: ball.toml:21:1: the name `ball` is used twice; names of systems and interactions must differ"#,
    );
    check(
        r#"name = "ball"
kind"#,
        r#"name = "ba.ll"
kind"#,
        r#"saltus: ball.toml:13:1: `ba.ll` cannot be a name: the characters . / [ ] { } , and quotes have a meaning in signal paths"#,
    );
    check(
        r#"g = 9.81"#,
        r#"g = "2*g""#,
        r#"saltus: ball.toml:4:1: parameters refer to each other in a circle: g → g"#,
    );
    check(
        r#"[parameters]"#,
        r#"[paramters]"#,
        r#"saltus: ball.toml:3:2: unknown key `paramters`; did you mean `parameters`?"#,
    );
    check(r#"title = "#, r#"title "#, r#"saltus: ball.toml:1:7: key with no value, expected `=`"#);
    check(r#"M = [[1.0]]"#, r#"M = "one""#, r#"saltus: ball.toml:17:6: unknown name `one`"#);
    check(
        r#"name = "ball"
kind"#,
        r#"kind"#,
        r#"saltus: ball.toml:12:1: system: missing key `name`, the system's name"#,
    );
}

#[test]
fn uses() {
    check_use(&["run", "nope.toml"], r#"saltus: nope.toml: no such file"#);
    #[cfg(target_os = "linux")]
    check_use(
        &["run", "ball.toml", "-o", "/proc/x.h5"],
        "saltus: cannot write `/proc/x.h5`: No such file or directory (os error 2)",
    );
    check_use(&["run", "."], r#"saltus: .: a directory, expected a model file (.toml)"#);
    check_use(
        &["run", "ball.toml", "-o", "nowhere/x.h5"],
        r#"saltus: cannot write `nowhere/x.h5`: there is no folder `nowhere`"#,
    );
    check_use(
        &["run", "ball.toml", "--plot", "x.jpg"],
        r#"saltus: cannot tell the kind of picture from `x.jpg`: its name must end in .png or .svg"#,
    );
    check_use(
        &["run", "ball.toml", "--plot", "nowhere/x.png"],
        r#"saltus: cannot write `nowhere/x.png`: there is no folder `nowhere`"#,
    );
    check_use(
        &["run", "ball.toml", "--set", "gg=1"],
        r#"saltus: --set gg=1: there is no `gg` in the model; did you mean `g`?"#,
    );
    check_use(
        &["run", "ball.toml", "--set", "g"],
        r#"saltus: --set g: expected PATH=VALUE, for example --set parameters.g=1.62"#,
    );
    check_use(
        &["run", "ball.toml", "--set", "floor.law.e=2"],
        r#"saltus: --set floor.law.e=2: interaction `floor`, law NewtonImpact: `e` = 2 is outside [0, 1]"#,
    );
    check_use(&["plot", "nope.h5"], r#"saltus: there is no file `nope.h5`"#);
    check_use(&["plot", "ball.toml"], r#"saltus: `ball.toml` is not an HDF5 file"#);
    check_use(
        &["info", "ball.txt"],
        r#"saltus: ball.txt: expected a model file (.toml), a scene (.hdf5, .urdf, .xml, .mjcf), a netlist (.cir), a run file (.h5) or a stored problem (.dat, .hdf5)"#,
    );
    check_use(&["export", "nope.h5", "--to", "csv"], r#"saltus: there is no file `nope.h5`"#);
    check_use(
        &["export", "nope.h5", "--to", "vtk", "--every", "0"],
        "saltus: --every is 0, expected 1, 2, 3 …",
    );
    check_use(&["compare", "a.h5", "b.h5"], r#"saltus: there is no file `a.h5`"#);
    check_use(
        &["examples", "nope"],
        r#"saltus: there is no example `nope`; there are boost-converter, bouncing-ball, buck-converter, cam-follower, chain, charge-pump, chua, cohesive-bar, colpitts, column-of-beads, cube-on-slope, delta-sigma, diode-bridge, domino-row, dzhanibekov, falling-arm, filippov-square-spiral, flip-flop, fluid-queues, four-bar, friction-oscillator, full-bridge, gene-network, granular-chute, granular-column, gripper, guitar-string, hopper, impacting-bar, inverter-chain, kapla-tower, latch, llc-converter, lzc-circuit, masonry-arch, masonry-wall, modular-multilevel-arm, newtons-cradle, optimal-control, power-converter, rc-diode-ladder, relay-oscillator, rlc-half-wave-rectifier, rock-fall, rocking-block, rolling-sphere, rover-wheel, slider-crank, sliding-mode, spinning-top, stick-slip-belt, swing-door, three-phase-rectifier, tilted-stack, tippe-top, two-fuses, two-link-arm, vibrating-table, walking-toy, woodpecker"#,
    );
    check_use(&["run", "ball.toml", "--h", "nan"], r#"saltus: --h NaN: expected a finite number"#);
    check_use(&["run"], r#"error: the following required arguments were not provided:"#);
    check_use(&["fly"], r#"error: unrecognized subcommand 'fly'"#);
}

#[test]
fn a_truncated_run_file() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    folder.saltus(&["run", "ball.toml", "--no-plot", "--quiet"]).done();
    let bytes = std::fs::read(folder.path().join("ball.h5")).unwrap();
    std::fs::write(folder.path().join("cut.h5"), &bytes[..bytes.len() / 2]).unwrap();
    for args in [&["info", "cut.h5"][..], &["plot", "cut.h5"], &["compare", "cut.h5", "cut.h5"]] {
        let said = folder.saltus(args);
        assert_eq!((said.status, said.out.as_str()), (2, ""), "{said:?}");
        let cut = bytes.len() / 2;
        let expected =
            format!("saltus: `cut.h5` is cut off: it has {cut} of {} bytes\n", bytes.len());
        assert_eq!(said.err, expected);
    }
    let said = folder.saltus(&["plot", "ball.h5", "ball.z"]);
    assert_eq!(said.status, 2);
    assert_eq!(
        said.err,
        "saltus: the run has no signal `ball.z`; it has ball.q, ball.v, floor.y, floor.u, floor.lam\n"
    );
}

#[test]
fn a_file_with_no_system() {
    let folder = Folder::new();
    folder.write("empty.toml", "title = \"nothing\"\n[simulation]\nh = 0.1\nuntil = 1\n");
    let said = folder.saltus(&["run", "empty.toml"]);
    assert_eq!(said.status, 2);
    assert_eq!(
        said.err.lines().next(),
        Some(
            "saltus: empty.toml:1:1: the model has no system; expected at least one [[system]] or [[body]]"
        )
    );
    folder.write("blank.toml", "");
    let said = folder.saltus(&["run", "blank.toml"]);
    assert_eq!(said.status, 2);
    assert_eq!(
        said.err.lines().next(),
        Some(
            "saltus: blank.toml: the file is empty; \
             expected a model with [simulation] and at least one [[system]] or [[body]]"
        )
    );
    assert_eq!(folder.names(), ["blank.toml", "empty.toml"]);
}
