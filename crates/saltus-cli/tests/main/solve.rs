//! `saltus solve` and `saltus info` on stored problems.

use crate::{Folder, Said};
use std::path::Path;

/// The command, in the folder of stored problems.
fn saltus(args: &[&str]) -> Said {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/problems");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_saltus"));
    Said::new(command.args(args).current_dir(problems).output().unwrap())
}

fn json(said: &Said) -> serde_json::Value {
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn one_line_each() {
    let said = saltus(&["solve", "lcp/dense.dat", "mlcp/both.dat", "relay/blocks.dat"]).done();
    assert_eq!(said.err, "");
    let lines: Vec<Vec<&str>> = said.out.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 3);
    for (line, expected) in lines.iter().zip([
        ["lcp/dense.dat", "lcp", "n", "=", "3", "solved"],
        ["mlcp/both.dat", "mlcp", "n", "=", "3", "solved"],
        ["relay/blocks.dat", "relay", "n", "=", "3", "solved"],
    ]) {
        assert_eq!(line[..6], expected);
        assert!(line.contains(&"residual"), "{line:?}");
    }
}

#[test]
fn settings() {
    for solver in ["auto", "pivoting", "lemke", "gauss-seidel", "enumeration", "Gauss_Seidel"] {
        let args = ["solve", "lcp/dense.dat", "--solver", solver, "--tol", "1e-12", "--json"];
        let document = json(&saltus(&args).done());
        assert_eq!(document[0]["status"], "solved", "{solver}");
        assert!(document[0]["residual"].as_f64().unwrap() <= 1e-12);
    }
    let args = ["solve", "lcp/dense.dat", "--solver", "gauss-seidel", "--max-iter", "0"];
    let said = saltus(&args);
    assert_eq!((said.status, said.err.as_str()), (1, ""));
    assert!(said.out.contains("max_iter"), "{}", said.out);
}

#[test]
fn one_json_document() {
    let said = saltus(&["solve", "--json", "lcp/dense.dat", "mlcp/older.dat"]).done();
    let document = json(&said);
    assert_eq!(document.as_array().unwrap().len(), 2);
    let first = &document[0];
    assert_eq!(first["file"], "lcp/dense.dat");
    assert_eq!((&first["name"], &first["kind"]), (&"dense".into(), &"lcp".into()));
    assert_eq!((&first["size"], &first["status"]), (&3.into(), &"solved".into()));
    assert_eq!(first["attempts"][0]["solver"], first["solver"]);
    for key in ["iterations", "residual", "seconds", "worst"] {
        assert!(first[key].is_number(), "{key}");
    }
}

#[test]
fn exit_statuses() {
    let folder = Folder::new();
    folder.write("none.dat", "1 0 1 1 1 1 0 -1"); // 0 ≤ −1
    folder.write("good.dat", "1 0 1 1 1 1 2 -1");
    folder.write("bad.dat", "1 0 1 1 1 1\n2 nan");
    let status = |files: &[&str]| {
        let args = [&["solve", "--kind", "lcp"], files].concat();
        folder.saltus(&args)
    };
    assert_eq!(status(&["good.dat"]).status, 0);
    let said = status(&["none.dat", "good.dat"]);
    assert_eq!((said.status, said.out.lines().count()), (1, 2));
    assert!(said.out.contains("infeasible"), "{}", said.out);
    // the others are solved all the same
    let said = status(&["bad.dat", "none.dat", "nope.dat", "good.dat"]);
    assert_eq!((said.status, said.out.lines().count()), (2, 2));
    assert_eq!(
        said.err,
        "saltus: bad.dat:2:3: `q[0]`: expected a number, found nan\nsaltus: nope.dat: no such file\n"
    );
    let said = status(&["bad.dat", "good.dat", "--json"]);
    assert_eq!(said.status, 2);
    assert_eq!(json(&said)[0]["error"], "bad.dat:2:3: `q[0]`: expected a number, found nan");
    assert_eq!(json(&said)[1]["status"], "solved");
}

/// Runs the command with these arguments, and expects these words on standard error.
#[track_caller]
fn check_wrong(args: &[&str], expected: &str) {
    let said = saltus(args);
    assert_eq!((said.status, said.out.as_str()), (2, ""), "{said:?}");
    assert_eq!(said.err.lines().next().unwrap_or_default(), expected);
}

#[test]
fn wrong_use() {
    check_wrong(
        &["solve", "../problems/lcp/dense.dat", "--kind", "lpc"],
        "error: invalid value 'lpc' for '--kind <KIND>': there is no kind of problem `lpc`; did you mean `lcp`?",
    );
    check_wrong(
        &["solve", "lcp/dense.dat", "--solver", "simplex"],
        "saltus: there is no solver `simplex`; there are auto, pivoting, lemke, gauss-seidel, fischer-burmeister, enumeration, newton, interior-point, admm, extragradient",
    );
    check_wrong(
        &["solve", "lcp/dense.dat", "--tol", "0"],
        "saltus: setting `tol` = 0 is outside (0, 0.1]",
    );
    check_wrong(&["solve", "lcp"], "saltus: lcp: a directory, expected a stored problem");
    check_wrong(&["solve"], "error: the following required arguments were not provided:");
    let folder = Folder::new();
    folder.write("x.dat", "1 0 1 1 1 1 2 -1");
    let said = folder.saltus(&["solve", "x.dat", "--kind", "avi"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("kind `avi` cannot be read: the file does not say which set it is over")
    );
    let said = folder.saltus(&["solve", "x.dat"]);
    assert_eq!(said.status, 2);
    assert_eq!(
        said.err,
        "saltus: x.dat: the file does not say what kind of problem it holds, nor does its folder's name; give one of lcp, mlcp, relay, avi, fc2d, fc3d, gfc2d, gfc3d, rfc3d, grfc3d, gmp, soclcp, plasticity\n"
    );
}

#[test]
fn info() {
    let said = saltus(&["info", "mlcp/both.dat"]).done();
    assert_eq!(
        said.out,
        "both (mlcp problem)\n  size    3 unknowns\n  sets    1 equality, 2 complementarities\n  \
         matrix  7 nonzeros (77.778 %), largest 3.000e0, not symmetric (by 6.7e-1 of the largest entry)\n  \
         ‖q‖     8.062e0\n  answer  not stored\n"
    );
    let document = json(&saltus(&["info", "lcp/dense.dat", "--kind", "lcp", "--json"]).done());
    assert_eq!((&document["kind"], &document["problem_kind"]), (&"problem".into(), &"lcp".into()));
    assert_eq!(document["sets"]["complementarities"], 3);
    assert_eq!(document["nonzeros"], 7);
    assert_eq!(document["symmetric"], false);
    assert_eq!(document["reference"], serde_json::json!([1.0, 0.0, 2.0]));
    let said = saltus(&["info", "relay/dense.dat"]).done();
    assert!(said.out.contains("3 intervals"), "{}", said.out);
    let folder = Folder::new();
    folder.write("eye.txt", "2 0 2 2 2 2 1 0 0 1 1 1");
    let said = folder.saltus(&["info", "eye.txt", "--kind", "lcp"]).done();
    assert!(said.out.contains("2 nonzeros (50.000 %), largest 1.000e0, symmetric"), "{}", said.out);
    assert_eq!(folder.saltus(&["info", "eye.txt"]).status, 2);
}

/// Every kind with contacts or cones: what it is told to be.
#[test]
fn info_on_contacts() {
    let folder = Folder::new();
    let eye = "0 3 3 3 3  1 0 0  0 1 0  0 0 1";
    folder.write("reduced.dat", &format!("3 1 {eye}  -1 2 0  0.4"));
    let said = folder.saltus(&["info", "reduced.dat", "--kind", "fc3d"]).done();
    assert_eq!(
        said.out,
        "reduced (fc3d problem)\n  size        3 unknowns\n  sets        1 contact\n  \
         parameters  mu = 0.4\n  \
         matrix      3 nonzeros (33.333 %), largest 1.000e0, symmetric\n  \
         ‖q‖         2.236e0\n  answer      not stored\n"
    );
    folder.write("global.dat", &format!("3 1 {eye} {eye}  -1 2 0  0 0 0  0.4"));
    let said = folder.saltus(&["info", "global.dat", "--kind", "gfc3d"]).done();
    for line in [
        "velocities  3 degrees of freedom, 0.333 contacts each",
        "mass        3 nonzeros (33.333 %), largest 1.000e0, symmetric",
        "H           3 nonzeros (33.333 %), largest 1.000e0",
    ] {
        assert!(said.out.contains(&format!("  {line}\n")), "{}", said.out);
    }
    let document =
        json(&folder.saltus(&["info", "global.dat", "--kind", "gfc3d", "--json"]).done());
    assert_eq!((&document["dof"], &document["contacts"]), (&3.into(), &1.into()));
    assert_eq!(document["parameters"]["mu"], serde_json::json!([0.4, 0.4]));
    assert_eq!(document["mass"]["symmetric"], true);
    assert_eq!(document["h"]["nonzeros"], 3);
    assert_eq!(document["sets"]["contacts"], 1);

    folder.write("roll.dat", "3 1  0 3 3 3 3  1 0 0  0 1 0  0 0 1  -2 0.5 1  0.5  0.1");
    let said = folder.saltus(&["info", "roll.dat", "--kind", "rfc3d"]).done();
    assert!(said.out.contains("1 rolling contact\n"), "{}", said.out);
    assert!(said.out.contains("mu = 0.5, mu_r = 0.1\n"), "{}", said.out);
    folder.write("cone.dat", &format!("3 1 {eye} -1 0 0 0 3 2"));
    let said = folder.saltus(&["info", "cone.dat", "--kind", "soclcp"]).done();
    assert!(said.out.contains("1 cone\n"), "{}", said.out);
    folder.write("yield.dat", &format!("3 1 2 {eye} -1 0 0 2"));
    let said = folder.saltus(&["info", "yield.dat", "--kind", "plasticity"]).done();
    assert!(said.out.contains("1 von Mises surface\n"), "{}", said.out);
    assert!(said.out.contains("sigma_y = 2\n"), "{}", said.out);
}

/// Problems in HDF5, where the shared set is at hand.
#[test]
#[expect(clippy::print_stderr)] // a test says that it is skipped
fn fclib() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems");
    if !shared.exists() {
        eprintln!("skipped: ../shared not found");
        return;
    }
    let file = shared.join("gfc3d/Box_Stacks-i0122-82-5.hdf5");
    let file = file.to_str().unwrap();
    let said = saltus(&["info", file]).done();
    for piece in [
        "(gfc3d problem)",
        "246 unknowns",
        "82 contacts",
        "mu = 0.3\n",
        "450 degrees of freedom",
        "guesses      1",
    ] {
        assert!(said.out.contains(piece), "{piece}: {}", said.out);
    }
    check_wrong(
        &["solve", file, "--kind", "fc3d"],
        &format!("saltus: {file}: the file holds a problem of kind `gfc3d`, not `fc3d`"),
    );
}

#[test]
fn the_document_tells_how_it_went() {
    let document = json(&saltus(&["solve", "lcp/dense.dat", "--json"]).done());
    let answer = &document[0];
    assert_eq!((&answer["status"], &answer["reason"]), (&"solved".into(), &"solved".into()));
    assert_eq!(answer["residual"], answer["class_residual"]);
    let history = answer["history"].as_array().unwrap();
    assert!(history.iter().all(|value| value.is_f64()), "{history:?}");
    assert!(answer["worst_block"].is_string() && answer["physical"].is_null());
}

#[test]
fn the_only_answer() {
    let folder = Folder::new();
    folder.write("one.dat", "2 0 2 2 2 2 2 1 1 2 -1 3");
    folder.write("many.dat", "2 0 2 2 2 2 1 1 1 1 -1 -1");
    let args = ["solve", "one.dat", "many.dat", "--kind", "lcp"];
    let said = folder.saltus(&[&args[..], &["--unique"]].concat()).done();
    assert!(said.out.lines().next().unwrap().ends_with(", the only answer"), "{}", said.out);
    let document = json(&folder.saltus(&[&args[..], &["--unique", "--json"]].concat()).done());
    let unique = |k: usize| document[k]["unique"].clone();
    assert_eq!((&unique(0)["word"], &unique(0)["dimension"]), (&"global".into(), &0.into()));
    // where one of the two supports carries all, the other is on its edge
    assert!(["not", "unknown"].contains(&unique(1)["word"].as_str().unwrap()), "{document}");
    assert!(unique(1)["claim"].is_string());
    assert!(json(&folder.saltus(&[&args[..], &["--json"]].concat()).done())[0]["unique"].is_null());
}

#[test]
fn the_answer_is_written() {
    let folder = Folder::new();
    folder.write("x.dat", "2 0 2 2 2 2 2 0 0 2 -1 3");
    folder.saltus(&["solve", "x.dat", "--kind", "lcp", "-o", "answer.csv"]).done();
    let written = std::fs::read_to_string(folder.path().join("answer.csv")).unwrap();
    assert_eq!(written, "z,w\n0.5,0.0\n0.0,3.0\n");
    // w = −1 whatever z is: no answer takes the place of the last one
    folder.write("none.dat", "1 0 1 1 1 1 0 -1");
    let said = folder.saltus(&["solve", "none.dat", "--kind", "lcp", "-o", "answer.csv"]);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("answer.csv: not written"), "{said:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("answer.csv")).unwrap(), written);
    let said = folder.saltus(&["solve", "x.dat", "x.dat", "--kind", "lcp", "-o", "answer.csv"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("`-o` takes the answer of one problem"), "{said:?}");
}
